// Imports the bits of other programs' filters into a filter or a new file, and exports the bits of a filter. Bit i of
// the array is bit i of a filter whose layout takes positions, so that a hash of the other program (hash/positions.hpp)
// finds its bits again. The format says what is around the array, and which hash it is (src/interop).
//
// Imported bits come as the keys of a merge do: they only ever appear, so a filter in use may take them in, and an
// error in the middle leaves more answers "maybe".
#include <bfstore/filter.hpp>
#include <bfstore/interop.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "interop/interop.hpp"
#include "store/derive/content.hpp"
#include "store/derive/foreign.hpp"
#include "store/derive/union.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"

namespace bfstore {
namespace {

using base::fail;
using interop::Array;
using interop::kWordBytes;

// Returns what a filter says to other programs. Reads the counter before the bits: keys that are added meanwhile only
// make it low.
interop::Saying saying_of(const store::Ask& ask) { return {ask.shape, ask.seeds(), ask.keys_added()}; }

ForeignForm raw_form(BitOrder order, const std::string& name) { return {"raw", order, name}; }

// Copies the filter's m bits to the array. Spare bits of the last word become 0.
Error copy_bits(const store::Ask& ask, std::span<std::byte> into, interop::Turn turn) {
  const auto content = store::content_of(ask);
  if (!content) return content.error();
  const std::uint64_t last_word = ask.shape.num_bits / 64;
  Error error = store::each_piece_of_body(ask, [&](std::uint64_t offset, std::span<const std::byte> piece) {
    for (std::size_t at = 0; at < piece.size(); at += kWordBytes) {
      const std::uint64_t number = (offset + at) / kWordBytes;
      auto word = base::load<std::uint64_t>(piece.data() + at);
      if (number == last_word) word &= interop::last_mask(ask.shape.num_bits);
      interop::put_word(into, number, word, turn);
    }
    return Error{};
  });
  return error.ok() ? store::check_copied(ask, *content) : error;
}

// Makes every bit of an array 1, which is "maybe" for every key, unless the array became whole.
class OnesUnlessWhole {
 public:
  explicit OnesUnlessWhole(std::span<std::byte> bits) noexcept : bits_(bits) {}
  OnesUnlessWhole(const OnesUnlessWhole&) = delete;
  OnesUnlessWhole& operator=(const OnesUnlessWhole&) = delete;
  ~OnesUnlessWhole() {
    if (!whole_ && bits_.data() != nullptr) std::fill(bits_.begin(), bits_.end(), std::byte{0xff});
  }
  void is_whole() noexcept { whole_ = true; }

 private:
  std::span<std::byte> bits_;
  bool whole_ = false;
};

// Adds to the filter the bits that are set in the array, which is as long as the filter's. Counts as many keys as the
// bytes say, or an estimate from the bits.
Error take_in(store::Ask& into, const Array& array, const std::string& name, std::optional<std::uint64_t> keys = {}) {
  constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 15;
  const auto united = std::make_unique<store::Union>(into);  // on the heap, as stacks are small
  std::vector<std::uint64_t> words;
  for (std::uint64_t first = 0; first < array.num_words(); first += words.size()) {
    if (Error error = first == 0 ? Error{} : store::not_united(into.may_add(true), name); !error.ok()) return error;
    words.resize(std::min(kPieceWords, array.num_words() - first));
    for (std::uint64_t i = 0; i < words.size(); ++i) words[i] = array.word(first + i);
    united->take(first, words);
  }
  // If all bits are set, counts as many keys as there are bits: the filter is above its capacity.
  // A key that was counted set a bit.
  into.count_keys(keys ? std::min(*keys, into.shape.num_bits) : united->new_keys(into.shape.num_bits));
  return store::not_united(into.was_added(), name);
}

// Writes all of the foreign bytes: `bytes` is exactly as long as they are.
Error write_foreign(const store::Ask& ask, std::span<std::byte> bytes, const interop::Outline& outline) {
  std::copy(outline.head.begin(), outline.head.end(), bytes.begin());
  std::copy(outline.tail.begin(), outline.tail.end(), bytes.end() - std::ssize(outline.tail));
  return copy_bits(ask, bytes.subspan(outline.head.size(), outline.turn.bytes(ask.shape.num_bits)), outline.turn);
}

Result<interop::Outline> outline_for(const store::Ask& ask, const ForeignForm& form) {
  const std::string name = ask.home->name("the filter");
  if (Error error = interop::check_written(form, name); !error.ok()) return error;
  const auto row = interop::row_of(form);
  if (!row) return row.error();
  return interop::outline_of(**row, saying_of(ask), form, name);
}

// True if a key has the same bits in both. Does not compare secrets, because create() did.
bool has_bits_alike(const Shape& a, const Shape& b) noexcept {
  return a.layout == b.layout && a.hash == b.hash && a.num_bits == b.num_bits && a.num_probes == b.num_probes &&
         a.seed == b.seed;
}

}  // namespace

Error Filter::import_bits(std::span<const std::byte> bits, BitOrder order) {
  const std::string name = ask_->home->name("the filter");
  if (Error error = store::not_united(ask_->may_add(), name); !error.ok()) return error;
  std::unique_lock lock(ask_->one_at_a_time, std::defer_lock);
  if (ask_->alone) lock.lock();
  if (bits.data() == nullptr) return fail(Code::kInvalid, "the bit array is null. Give one.");
  const ForeignForm form = raw_form(order, name);
  const auto outline = outline_for(*ask_, form);
  if (!outline) return outline.error();
  const auto array =
      interop::array_in(interop::kBitArrayRow, {.turn = outline->turn}, bits, ask_->shape.num_bits, form);
  return array ? take_in(*ask_, *array, name) : array.error();
}

Error Filter::export_bits(std::span<std::byte> bits, BitOrder order) const {
  OnesUnlessWhole array(bits);
  const store::Pinned ask(*ask_);
  if (bits.data() == nullptr) return fail(Code::kInvalid, "the bit array is null. Give one.");
  const ForeignForm form = raw_form(order, ask->home->name("the filter"));
  const auto outline = outline_for(*ask, form);
  if (!outline) return outline.error();
  Error error = interop::check_length(interop::kBitArrayRow, bits.size(), outline->bytes(ask->shape.num_bits),
                                      ask->shape.num_bits, form);
  if (error.ok()) error = write_foreign(*ask, bits, *outline);
  if (error.ok()) array.is_whole();
  return error;
}

Result<Filter> Filter::import_foreign(const std::string& path, std::span<const std::byte> bytes,
                                      const ForeignForm& form, const Options& options) {
  if (options.filling)
    return fail(Code::kInvalid, path + ": an imported filter has its keys already. Make it without a filling.");
  const auto row = interop::row_of(form);
  if (!row) return row.error();
  auto found = interop::find(**row, interop::SourceInMemory(bytes), form);
  if (!found) return found.error();
  auto told = interop::choose(**row, std::move(*found), form);
  if (!told) return told.error();
  store::CompletedOptions all(options);
  const auto identity = store::foreign_identity(**row, *told, form, all.options);
  if (!identity) return identity.error();
  // Checked before a file of this size is made, because the bytes may be hostile.
  const auto array = interop::array_in(**row, *told, bytes, identity->shape.num_bits, form);
  if (!array) return array.error();
  all.options.unpublished = true;
  auto made = create(path, all.options);
  if (!made) return made;
  store::Ask& ask = *made->ask_;
  // Another file may be at `like` by now.
  if (!has_bits_alike(ask.shape, identity->shape) || ask.identity()->seeds != identity->seeds)
    return fail(Code::kBusy, options.like + ": became another filter meanwhile. Import again.");
  if (Error error = take_in(ask, *array, path, told->keys); !error.ok()) return error;
  if (options.unpublished) return made;
  if (Error error = made->publish(); !error.ok()) return error;
  return made;
}

Error Filter::export_foreign(std::span<std::byte> buffer, const ForeignForm& form, std::uint64_t* bytes) const {
  OnesUnlessWhole given(buffer);
  const store::Pinned ask(*ask_);
  const auto outline = outline_for(*ask, form);
  if (!outline) return outline.error();
  const std::uint64_t needed = outline->bytes(ask->shape.num_bits);
  if (bytes != nullptr) *bytes = needed;
  if (buffer.size() < needed) {
    return fail(Code::kInvalid, ask->home->name("the filter") + ": needs " + std::to_string(needed) +
                                    " bytes in the format " + form.format + ", and the buffer has " +
                                    std::to_string(buffer.size()) + ".");
  }
  Error error = write_foreign(*ask, buffer.first(needed), *outline);
  if (error.ok()) given.is_whole();
  return error;
}

Result<std::uint64_t> Filter::exported_bytes(const ForeignForm& form) const {
  const store::Pinned ask(*ask_);
  const auto outline = outline_for(*ask, form);
  if (!outline) return outline.error();
  return outline->bytes(ask->shape.num_bits);
}

}  // namespace bfstore
