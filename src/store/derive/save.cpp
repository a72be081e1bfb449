// From one form to another: a filter, wherever it is, as a new file or as bytes in memory; and bytes as a filter.
#include <cmath>
#include <cstring>
#include <memory>

#include "base/fail.hpp"
#include "format/bare.hpp"
#include "format/identity.hpp"
#include "format/sections.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/content.hpp"
#include "store/file/copy_place.hpp"
#include "store/file/session.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"
#include "store/home/loaded.hpp"
#include "store/plan/plan.hpp"

namespace bfstore {
namespace {

using base::fail;
using format::Form;
using format::Identity;
using store::Content;

constexpr const char* kUnnamed = "the filter";

// Divisors come in pairs, of which one is at most the root.
template <class Take>
void each_divisor(std::uint64_t number, Take take) {
  for (std::uint64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    take(i);
    take(number / i);
  }
}

// How often the filter is folded, so that with its keys of now the rate is at most `fpr`.
Result<std::uint64_t> times_to_fold(const store::Ask& ask, const Shape& shape, double fpr) {
  if (!(fpr > 0 && fpr < 1)) return fail(Code::kInvalid, "the fpr is out of range. Give one such as 0.01.");
  if (!ask.folds())
    return fail(Code::kUnsupported, ask.home->name(kUnnamed) + ": filters of the layout " + ask.row.info.name +
                                        " with the hash " + hash_of(shape.hash)->name +
                                        " cannot be folded. Build a smaller one from all keys.");
  const auto counter = std::make_unique<layout::FillCounter>(ask.row, ask.target.geometry);  // stacks are small
  Error error = store::each_piece_of_body(ask, [&](std::uint64_t, std::span<const std::byte> piece) {
    counter->take(store::words_of(piece).data(), store::words_of(piece).size());
    return Error{};
  });
  if (!error.ok()) return error;
  const double keys = std::ceil(counter->fill().estimated_keys);
  const auto rate = [&](std::uint64_t times) {
    if (!(keys < static_cast<double>(shape.num_bits))) return 1.0;
    return sizing::false_positive_rate(ask.row, static_cast<std::uint64_t>(std::max(keys, 1.0)), shape.num_bits / times,
                                       shape.num_probes);
  };
  std::uint64_t most = 0;
  each_divisor(shape.num_bits / ask.row.unit_bits, [&](std::uint64_t times) {
    if (times > most && shape.num_bits / times >= ask.row.fewest_bits && rate(times) <= fpr) most = times;
  });
  if (most != 0) return most;
  return fail(Code::kSizing, ask.home->name(kUnnamed) + ": its rate with these keys is " + sizing::number(rate(1)) +
                                 " already. Give a higher fpr, or build a larger filter from all keys.");
}

// n of the whole filter that has so many parts of this shape.
std::uint64_t whole_capacity(const layout::Row& row, const Shape& part, std::uint32_t parts) {
  return std::max<std::uint64_t>(sizing::most_keys(row, part.num_bits * parts, part.num_probes, part.fpr), 1);
}

// Makes the content that of the filter folded as SaveOptions::fpr says: n and p become what the smaller filter can
// promise. How often it is folded.
Result<std::uint64_t> fold(const store::Ask& ask, Content& content, double fpr) {
  if (!sizing::is_given(fpr)) return std::uint64_t{1};
  Shape& shape = content.identity.shape;
  const auto times = times_to_fold(ask, shape, fpr);
  if (!times) return times;
  shape.num_bits /= *times;
  shape.capacity = std::max<std::uint64_t>(sizing::most_keys(ask.row, shape.num_bits, shape.num_probes, fpr), 1);
  shape.fpr = fpr;
  if (auto& part = content.identity.part) part->capacity = whole_capacity(ask.row, shape, part->part.parts);
  content.identity.body_bytes = layout::body_bytes(ask.row, shape.num_bits);
  return times;
}

// The body of the filter, which is folded so often, as that of the new file.
Error write_body(const store::Ask& ask, std::uint64_t times, const store::OpenFile& file) {
  return store::each_folded_piece(ask, times, [&](std::uint64_t first, std::span<const std::uint64_t> words) {
    return file.file().write_at(std::as_bytes(words), file.identity().body_offset + first * sizeof(std::uint64_t));
  });
}

Result<Identity> identity_in(const Content& content, Form form, bool same_file_id) {
  if (!same_file_id) return store::as_new(content.identity, form, {});
  if (content.has_file_id) return store::as_new(content.identity, form, content.identity.file_id);
  return fail(Code::kInvalid, "a bare filter has no file_id that the new filter could have. Leave it out.");
}

// What the bare form would lose, or answer otherwise.
const char* not_for_bare(const Content& content) noexcept {
  const Shape& shape = content.identity.shape;
  const HashInfo& hash = hash::row_of(shape.hash).info;
  if (hash.takes_secret) return "its hash is siphash, for which the bare form has no key check";
  if (!hash.fits_bare) return "its hash has parameters, for which the bare form has no room";
  if (shape.seed != 0) return "its seed is not 0, and the bare form has none";
  if (content.identity.part) return "it is a part of a whole filter, and the bare form does not say of which";
  if (content.identity.note) return "it has a note, and the bare form has none";
  const bool whole = shape.num_bits == layout::bits_in(layout::row_of(shape.layout), content.identity.body_bytes);
  if (whole && format::fits_bare(layout::row_of(shape.layout), content.identity.body_bytes)) return nullptr;
  return "its number of bits is not a whole number of words, and the bare form has no other";
}

Error check_form(const Content& content, const DumpOptions& options) {
  if (!options.bare) return {};
  if (options.same_file_id) return fail(Code::kInvalid, "the bare form has no file_id. Leave it out.");
  const char* const lost = not_for_bare(content);
  if (lost == nullptr) return {};
  return fail(Code::kInvalid, std::string("the filter does not fit in the bare form: ") + lost + ". Dump it embedded.");
}

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.data() < other.data() + other.size() && other.data() < one.data() + one.size();
}

// A filter in the caller's memory, at any address. What makes it one is written last: it is a whole filter or none.
class Dump {
 public:
  Dump(const Content& content, Identity identity, bool bare) : identity_(std::move(identity)), bare_(bare) {
    if (bare) {
      const auto trailer = format::encode_trailer(content.identity.shape, content.identity.body_bytes);
      proof_.assign(trailer.begin(), trailer.end());
      body_ = {0, content.identity.body_bytes};
      bytes_ = body_.bytes + proof_.size();
    } else {
      proof_ = format::encode_identity(identity_);
      const format::Sections sections = format::sections_of(identity_);
      body_ = sections.body;
      bytes_ = sections.end;
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  void begin(std::byte* to) const noexcept { std::memset(to + proof_offset(), 0, proof_.size()); }
  void put(std::byte* to, std::uint64_t offset, std::span<const std::byte> piece) const noexcept {
    std::memcpy(to + body_.offset + offset, piece.data(), piece.size());
  }
  void end(std::byte* to) const noexcept {
    if (!bare_) base::store(to + body_.end(), format::end_word(identity_.file_id));
    std::memcpy(to + proof_offset(), proof_.data(), proof_.size());
  }

 private:
  [[nodiscard]] std::uint64_t proof_offset() const noexcept { return bare_ ? body_.end() : 0; }

  Identity identity_;
  bool bare_;
  std::vector<std::byte> proof_;  // the identity, or the trailer
  format::Section body_;
  std::uint64_t bytes_ = 0;
};

Result<Dump> dump_of(const Content& content, const DumpOptions& options) {
  if (Error error = check_form(content, options); !error.ok()) return error;
  if (options.bare) return Dump(content, {}, true);
  auto identity = identity_in(content, Form::kEmbedded, options.same_file_id);
  if (!identity) return identity.error();
  return Dump(content, std::move(*identity), false);
}

}  // namespace

Error Filter::save(const std::string& path, const SaveOptions& options) const {
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  const store::InUse ask(*ask_);
  auto content = store::content_of(*ask);
  if (!content) return content.error();
  const auto times = fold(*ask, *content, options.fpr);
  if (!times) return times.error();
  const auto identity = identity_in(*content, Form::kFile, options.same_file_id);
  if (!identity) return identity.error();
  if (Error error = options.replace ? ask->home->check_is_another(path) : Error{}; !error.ok()) return error;
  const auto made = store::Session::make(path, *identity, *making);
  if (!made) return made.error();
  const store::OpenFile& file = (*made)->unpublished();
  Error error = write_body(*ask, *times, file);
  if (error.ok()) error = store::write_keys_added(file, content->keys_added);
  if (error.ok()) error = store::write_marks(file, content->lanes);
  // The source is looked at last: if its path was given to it meanwhile, it is the one that is superseded.
  if (error.ok()) error = (*made)->supersede_found();
  if (error.ok()) error = store::check_copied(*ask, *content);
  return error.ok() ? (*made)->publish() : error;
}

Result<std::uint64_t> Filter::dumped_bytes(const DumpOptions& options) const {
  const store::InUse ask(*ask_);
  const auto content = store::content_of(*ask);
  if (!content) return content.error();
  const auto dump = dump_of(*content, options);
  if (!dump) return dump.error();
  return dump->bytes();
}

Error Filter::dump(std::span<std::byte> buffer, const DumpOptions& options, std::uint64_t* bytes) const {
  if (buffer.data() == nullptr) return fail(Code::kInvalid, "the buffer is null. Give one of dumped_bytes() bytes.");
  const store::InUse ask(*ask_);
  const auto content = store::content_of(*ask);
  if (!content) return content.error();
  const auto dump = dump_of(*content, options);
  if (!dump) return dump.error();
  if (bytes != nullptr) *bytes = dump->bytes();
  if (buffer.size() < dump->bytes()) {
    return fail(Code::kInvalid, "the buffer has " + std::to_string(buffer.size()) + " bytes, and the filter needs " +
                                    std::to_string(dump->bytes()));
  }
  const std::span<const std::byte> source(reinterpret_cast<const std::byte*>(ask->words), ask->body_bytes);
  if (overlap(buffer.first(dump->bytes()), source))
    return fail(Code::kInvalid, "the buffer is the one that the filter is in. Give another one.");
  dump->begin(buffer.data());
  Error error = store::each_piece_of_body(*ask, [&](std::uint64_t offset, std::span<const std::byte> piece) {
    dump->put(buffer.data(), offset, piece);
    return Error{};
  });
  if (error.ok()) error = store::check_copied(*ask, *content);
  if (error.ok()) dump->end(buffer.data());
  return error;
}

Result<Filter> Filter::load(std::span<const std::byte> bytes, OpenMode mode, bool bare,
                            const std::optional<SecretKey>& key) {
  const bool writing = mode == OpenMode::kWrite;
  if (!writing && mode != OpenMode::kRead)
    return fail(Code::kInvalid, "a filter is loaded for reading or for writing. Give one of these modes.");
  return made_of(store::load(bytes, bare, writing, key));
}

}  // namespace bfstore
