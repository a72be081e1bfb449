// Dumps a filter, wherever it is, as bytes in memory, and loads a filter from such bytes.
#include <cstring>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "format/bare.hpp"
#include "format/sections.hpp"
#include "store/derive/content.hpp"
#include "store/home/followed.hpp"
#include "store/home/loaded.hpp"

namespace bfstore {
namespace {

using base::fail;
using format::Form;
using format::Identity;
using store::Content;

// Returns what the bare form would lose or answer otherwise, or nullptr. Of a filter that has an embedded form.
const char* not_for_bare(const Content& content) noexcept {
  const Shape& shape = content.identity.shape;
  const HashInfo& hash = hash::row_of(shape.hash).info;
  if (hash.takes_secret) return "its hash is siphash, for which the bare form has no secret check";
  if (!hash.fits_bare) return "its hash has parameters, for which the bare form has no room";
  if (content.identity.window_ms) return "its keys expire, and the bare form has no room for the length of its window";
  if (layout::row_of(shape.layout).info.can.build) return "a layout that is built once has no bare form";
  if (shape.seed != 0) return "its seed is not 0, and the bare form has none";
  if (content.identity.part) return "it is a part of a whole filter, and the bare form does not say of which";
  if (content.identity.note) return "it has a note, and the bare form has none";
  const bool whole = shape.num_bits == layout::bits_in(layout::row_of(shape.layout), content.identity.body_bytes);
  if (whole && format::fits_bare(layout::row_of(shape.layout), content.identity.body_bytes)) return nullptr;
  return "its number of bits is not a whole number of words, and the bare form has no other";
}

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.data() < other.data() + other.size() && other.data() < one.data() + one.size();
}

// Writes a filter to the caller's memory, at any address. Its proof is written last: the bytes are a whole filter or
// none.
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

Result<Dump> dump_of(const store::Ask& ask, const Content& content, const DumpOptions& options) {
  if (options.bare && options.same_file_id) return fail(Code::kInvalid, "the bare form has no file_id. Leave it out.");
  auto identity = store::identity_in(content, Form::kEmbedded, options.same_file_id);
  if (!identity) {
    const Error& error = identity.error();
    return error.code == Code::kUnsupported ? fail(error.code, ask.home->name("the filter") + ": " + error.message)
                                            : error;
  }
  if (!options.bare) return Dump(content, std::move(*identity), false);
  if (const char* const lost = not_for_bare(content); lost != nullptr)
    return fail(Code::kInvalid,
                ask.home->name("the filter") + ": does not fit in the bare form: " + lost + ". Dump it embedded.");
  return Dump(content, {}, true);
}

}  // namespace

Result<std::uint64_t> Filter::dumped_bytes(const DumpOptions& options) const {
  const store::Pinned ask(*ask_);
  const auto content = store::content_of(*ask);
  if (!content) return content.error();
  const auto dump = dump_of(*ask, *content, options);
  if (!dump) return dump.error();
  return dump->bytes();
}

Error Filter::dump(std::span<std::byte> buffer, const DumpOptions& options, std::uint64_t* bytes) const {
  if (buffer.data() == nullptr) return fail(Code::kInvalid, "the buffer is null. Give one of dumped_bytes() bytes.");
  const store::Pinned ask(*ask_);
  const auto content = store::content_of(*ask);
  if (!content) return content.error();
  const auto dump = dump_of(*ask, *content, options);
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
                            const std::optional<Secret>& secret) {
  const bool writing = mode == OpenMode::kWrite;
  if (!writing && mode != OpenMode::kRead)
    return fail(Code::kInvalid, "a filter is loaded for reading or for writing. Give one of these modes.");
  return made_of(store::load(bytes, bare, writing, secret));
}

}  // namespace bfstore
