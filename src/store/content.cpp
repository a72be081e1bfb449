// Reading a filter that others may add to: marks first, then the bits, then whether they count.
#include "store/content.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/fail.hpp"
#include "store/core.hpp"
#include "store/plan.hpp"
#include "store/refusals.hpp"
#include "store/sealed.hpp"

namespace bfstore {
namespace {

using base::fail;

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 18;

// Other threads and processes set bits of these words meanwhile.
void copy_words(const std::uint64_t* words, std::span<std::byte> into) noexcept {
  for (std::size_t at = 0; at < into.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = layout::load_word(words, at * 8);
    std::memcpy(into.data() + at, &word, sizeof word);
  }
}

Result<store::Content> bare_content(const Shape& bare, std::uint64_t body_bytes) {
  const auto shape = store::with_a_promise(bare);
  if (!shape) return shape.error();
  store::Content found;
  found.identity.shape = *shape;
  found.identity.body_bytes = body_bytes;
  found.has_file_id = false;
  return found;
}

}  // namespace

// A bit only ever appears. So a copy that begins after the marks were read has every key up to them, whatever is added
// meanwhile. The fence is for machines whose loads may overtake each other.
Result<store::Content> Filter::Core::content() const {
  if (Error error = check_copyable(); !error.ok()) return error;
  store::Content found;
  if (session != nullptr) {
    const auto slot = session->slot_for_copy();
    if (!slot) return slot.error();
    if (Error error = store::check_damage_is_covered(session->file()); !error.ok()) return error;
    found.identity = session->file().identity();
    found.lanes = slot->lanes;
  } else if (range != nullptr) {
    found.identity = range->embedded().identity;
  } else if (own_identity) {
    found.identity = *own_identity;
    if (loaded != nullptr && loaded->slot) found.lanes = loaded->slot->lanes;
  } else {
    auto bare = bare_content(shape, body_bytes);
    if (!bare) return bare;
    found = std::move(*bare);
  }
  found.keys_added = keys_added();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return found;
}

// A file is read through its descriptor: what cannot be read is an error then, and no signal. But a copy in memory, and
// the ones that cover the damage of a sealed file, are in the mapping alone.
Error Filter::Core::read_body(std::span<std::byte> into, std::uint64_t offset) const {
  const bool by_descriptor =
      session != nullptr && !session->file().mapping().is_copy() && !session->file().identity().seal;
  if (!by_descriptor) {
    copy_words(words + offset / sizeof *words, into);
    return {};
  }
  const region::File& file = session->file().file();
  const auto got = file.read_at(into, session->file().identity().body_offset + offset);
  if (!got) return got.error();
  if (*got == into.size()) return {};
  return fail(Code::kLost, file.path() + ": truncated while it was read. Rebuild it.");
}

Error Filter::Core::each_piece_of_body(const TakePiece& take) const {
  std::vector<std::byte> piece(std::min(kPieceBytes, body_bytes));
  for (std::uint64_t offset = 0; offset < body_bytes; offset += piece.size()) {
    const std::span<std::byte> part =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), body_bytes - offset));
    if (Error error = read_body(part, offset); !error.ok()) return error;
    if (Error error = take(offset, part); !error.ok()) return error;
  }
  return {};
}

// The kernel is asked for failed writes: it may have dropped bits of its pages.
Error Filter::Core::check_copyable() const {
  const bool in_file = session != nullptr;
  if (!born.here())
    return in_file ? store::forked(session->file().file()) : fail(Code::kForked, "opened before a fork");
  if (in_file) session->check_writeback();
  if (in_file && !session->file().mapping().is_copy()) {
    if (Error error = session->file().check_file_is_whole(); !error.ok()) return error;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Code code = health();
  if (code == Code::kOk) return {};
  const std::string name = in_file ? session->file().file().path() : "the filter";
  return fail(code, name + ": not copied, for it is in doubt: " + code_text(code));
}

}  // namespace bfstore
