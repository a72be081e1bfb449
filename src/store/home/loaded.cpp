#include "store/home/loaded.hpp"

#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "format/bare.hpp"
#include "format/checksums.hpp"
#include "format/sections.hpp"
#include "store/file/evidence.hpp"
#include "store/file/header.hpp"
#include "store/file/refusals.hpp"
#include "store/file/secret.hpp"
#include "store/home/embedded.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using Bytes = std::span<const std::byte>;

constexpr const char* kName = "the bytes";  // in messages, where a file has its path
constexpr std::align_val_t kLine{64};

// A body in memory that lookups can use.
class OwnWords {
 public:
  // kNoMemory if there is not enough.
  static Result<OwnWords> copy_of(Bytes body);

  [[nodiscard]] std::uint64_t* words() const noexcept { return words_.get(); }

 private:
  struct Free {
    void operator()(std::uint64_t* words) const noexcept { ::operator delete(words, kLine); }
  };
  std::unique_ptr<std::uint64_t, Free> words_;
};

struct Loaded {
  OwnWords body;
  Shape shape{};
  std::uint64_t body_bytes = 0;
  std::optional<format::Identity> identity;  // none in the bare form
  std::optional<format::Slot> slot;          // for a file's marks
  std::vector<std::byte> live_page;          // for a file's counters
};

class InOwnMemory final : public Home {
 public:
  explicit InOwnMemory(Loaded loaded) noexcept : loaded_(std::move(loaded)) {}

  [[nodiscard]] std::byte* live_page() noexcept { return loaded_.slot ? loaded_.live_page.data() : nullptr; }

  [[nodiscard]] const format::Identity* identity() const noexcept override {
    return loaded_.identity ? &*loaded_.identity : nullptr;
  }
  [[nodiscard]] Result<Moment> moment() const override {
    Moment now;
    if (!loaded_.slot) return now;
    const std::byte* const stripes = loaded_.live_page.data() + format::kStripesField.offset;
    now.keys_added = format::keys_left(sum_of_stripes(stripes, format::kKeysAddedInStripe),
                                       sum_of_stripes(stripes, format::kKeysRemovedInStripe));
    now.lanes.assign(loaded_.slot->lanes.begin(), loaded_.slot->lanes.end());
    now.turned = {{base::load<std::uint64_t>(loaded_.live_page.data() + format::kLiveEpochField.offset)},
                  loaded_.slot->turned_at};
    return now;
  }
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept override {
    return loaded_.slot ? format::mark_of(*loaded_.slot, owner, epoch) : 0;
  }
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const override {
    if (!loaded_.slot) return Home::list_marks();
    return format::marks_of(*loaded_.slot);
  }

 private:
  Loaded loaded_;
};

bool says_it_is_a_file(Bytes bytes) noexcept {
  constexpr std::size_t kEnd = format::kFormField.offset + format::kFormField.bytes;
  if (bytes.size() < kEnd || std::memcmp(bytes.data(), format::kMagic.data(), format::kMagic.size()) != 0) return false;
  return format::get<std::uint16_t>(bytes, format::kFormField) == static_cast<std::uint16_t>(format::Form::kFile);
}

// Judges the state that the file was in when its bytes were read, as a process does that finds no writer, and not this
// place. An error unless it was clean.
[[gnu::noinline]] Result<Evidence> clean_evidence(const HeaderBytes& header, const format::FileId& file_id) {
  Evidence evidence = evidence_in(header, file_id);
  const FileState state = judge(evidence);
  if (state == FileState::kClean && evidence.live_word.is_understood(file_id)) return evidence;
  return refused(kName, file_id, state, evidence);
}

// True if the bytes have the checksums of the seal. A few bytes that were damaged on the way make a wrong no. `body` is
// the copy that lookups use, because the caller's bytes may have changed since.
bool as_sealed(Bytes bytes, Bytes body, const format::Identity& identity, std::uint64_t keys_added) {
  const Bytes there =
      bytes.subspan(identity.seal->checksums_offset, format::checksums_bytes_of(identity.seal->num_chunks));
  const std::vector<std::byte> checksums(there.begin(), there.end());
  if (format::checksum_of_checksums(checksums, identity) != identity.seal->checksum) return false;
  for (std::uint64_t number = 0; number < identity.seal->num_chunks; ++number) {
    const format::Section section = format::chunk_of(identity, number);
    const Bytes chunk = body.subspan(section.offset - identity.body_offset, section.bytes);
    const std::uint64_t found = format::chunk_checksum(chunk, number, identity);
    if (found != base::load<std::uint64_t>(checksums.data() + format::checksums_bytes_of(number))) return false;
  }
  return keys_added == identity.seal->keys_added;
}

Result<Loaded> with_body(Bytes body, const Shape& shape) {
  auto words = OwnWords::copy_of(body);
  if (!words) return words.error();
  Loaded made;
  made.body = std::move(*words);
  made.shape = shape;
  made.body_bytes = body.size();
  return made;
}

// Each of these has a frame of its own: together they would need too much stack (see tests/capi/stack_test.cpp).
[[gnu::noinline]] Result<Loaded> load_bare(Bytes bytes, const std::optional<Secret>& secret) {
  const auto shape = trusted_bare(bytes, secret);
  if (!shape) return shape.error();
  return with_body(bytes.first(bytes.size() - format::kTrailerBytes), *shape);
}

[[gnu::noinline]] Result<Loaded> load_embedded(Bytes bytes, bool writing, const std::optional<Secret>& secret) {
  auto found = find_embedded(bytes, writing, secret);
  if (!found) return found.error();
  const format::Section body = format::sections_of(found->identity).body;
  auto made = with_body(bytes.subspan(body.offset, body.bytes), found->identity.shape);
  if (made) made->identity = std::move(found->identity);
  return made;
}

// 0: a number that no body can have.
std::uint32_t num_slices_in(Bytes bytes, const format::Identity& identity) noexcept {
  if (!identity.growth) return 1;
  const auto number =
      base::load<std::uint64_t>(bytes.data() + format::kLivePageOffset + format::kLiveNumSlicesField.offset);
  return number <= kMaxSlices ? static_cast<std::uint32_t>(number) : 0;
}

[[gnu::noinline]] Result<Loaded> load_file(Bytes bytes, bool writing, const std::optional<Secret>& secret) {
  const std::string where = std::string(kName) + ": ";
  auto identity = trusted_identity(bytes, format::Form::kFile, bytes.size(), writing, secret, where);
  if (!identity) return identity.error();
  if (writing && identity->seal)
    return fail(Code::kSealed, where + "a sealed file, to which nothing is added. Load it for reading.");
  const std::uint32_t num_slices = num_slices_in(bytes, *identity);
  const format::Sections sections = format::sections_of(*identity, std::max(num_slices, 1U));
  const auto has_end_word_of = [&](std::uint32_t slice) {
    const std::uint64_t at = format::sections_of(*identity, slice + 1).end_word.offset;
    return base::load<std::uint64_t>(bytes.data() + at) == format::end_word(identity->file_id, slice);
  };
  const bool uncut =
      num_slices != 0 && bytes.size() >= sections.end && has_end_word_of(0) && has_end_word_of(num_slices - 1);
  if (!uncut) {
    return fail(Code::kLiveWord, where + "the word at the end is not the file's own: the bytes were cut or changed.");
  }
  const HeaderBytes header(bytes.begin(), bytes.begin() + format::kFileHeaderBytes);
  const auto evidence = clean_evidence(header, identity->file_id);
  if (!evidence) return evidence.error();
  if (filling(*evidence)) return still_filling(kName);
  const Bytes live_page = Bytes(header).subspan(format::kLivePageOffset, format::kPageBytes);
  const format::Section last = format::slice_of(*identity, num_slices - 1).body;
  auto made = with_body(bytes.subspan(sections.body.offset, last.end() - sections.body.offset), identity->shape);
  if (!made) return made;
  made->body_bytes = sections.body.bytes;
  const Bytes body(reinterpret_cast<const std::byte*>(made->body.words()), made->body_bytes);
  if (identity->seal && !as_sealed(bytes, body, *identity, format::keys_added_in(live_page)))
    return fail(Code::kDamaged, where + "a sealed file with other bytes than were sealed. Get them again.");
  made->identity = std::move(*identity);
  made->slot = *evidence->slots.newest();
  made->live_page.assign(live_page.begin(), live_page.end());
  return made;
}

Result<OwnWords> OwnWords::copy_of(Bytes body) {
  void* const memory = ::operator new(body.size(), kLine, std::nothrow);
  if (memory == nullptr) {
    return fail(Code::kNoMemory,
                "a filter with a body of " + std::to_string(body.size()) + " bytes does not fit in memory");
  }
  OwnWords own;
  own.words_.reset(static_cast<std::uint64_t*>(memory));
  std::memcpy(memory, body.data(), body.size());
  return own;
}

Result<Loaded> load_any(Bytes bytes, bool bare, bool writing, const std::optional<Secret>& secret) {
  if (bytes.data() == nullptr) return fail(Code::kInvalid, "the bytes are null. Give those of a filter.");
  if (bare) return load_bare(bytes, secret);
  return says_it_is_a_file(bytes) ? load_file(bytes, writing, secret) : load_embedded(bytes, writing, secret);
}

}  // namespace

Result<std::unique_ptr<Ask>> load(Bytes bytes, bool bare, bool writing, const std::optional<Secret>& secret) {
  auto loaded = load_any(bytes, bare, writing, secret);
  if (!loaded) return loaded.error();
  const Adding how = writing ? Adding::kShared : Adding::kNever;
  if (Error error = check_memory_takes_keys(loaded->shape.layout, how); !error.ok()) return error;
  const auto functions = functions_for(loaded->shape.layout, how);
  if (!functions) return functions.error();
  const BodyWords body{loaded->body.words(), loaded->shape, loaded->body_bytes};
  auto home = std::make_unique<InOwnMemory>(std::move(*loaded));
  std::byte* const live_page = home->live_page();
  auto ask = std::make_unique<Ask>(*functions, body, how, std::move(home));
  if (ask->identity() != nullptr) ask->settle(*ask->identity());
  ask->secret.keep(secret);
  if (live_page != nullptr)
    ask->see_slices(*ask->identity(), word_at(live_page + format::kLiveNumSlicesField.offset), false);
  if (live_page != nullptr) ask->stripes = live_page + format::kStripesField.offset;
  if (live_page != nullptr && ask->row.info.epochs != 0)
    ask->target.geometry.epoch = word_at(live_page + format::kLiveEpochField.offset);
  return ask;
}

}  // namespace bfstore::store
