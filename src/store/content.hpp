// What a filter is, wherever it is, and reading it for a copy in another form while others may add to it: content_of(),
// then each_piece_of_body(), then check_copyable(). `Core` is Filter::Core.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "format/identity.hpp"
#include "format/state.hpp"
#include "layout/layout.hpp"
#include "store/plan.hpp"
#include "store/refusals.hpp"
#include "store/sealed.hpp"
#include "store/session.hpp"

namespace bfstore::store {

// Everything but the bits.
struct Content {
  format::Identity identity;  // of a bare filter: without an id, and with n and p as they follow from m and k
  std::array<LogPosition, format::kNumLanes> lanes{};  // none where the filter keeps no marks
  std::uint64_t keys_added = 0;                        // 0 where it has no counter
  bool has_file_id = true;
};

// An error where the filter is in doubt, or is the parent's. The kernel is asked for failed writes: it may have dropped
// bits of its pages.
template <class Core>
Error check_copyable(const Core& core) {
  const Session* const session = core.session.get();
  if (!core.born.here()) return forked(session->file().file());  // what is in no file is at home everywhere
  if (session != nullptr) session->check_writeback();
  if (session != nullptr && !session->file().mapping().is_copy()) {
    if (Error error = session->file().check_file_is_whole(); !error.ok()) return error;
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // after the bits, as in a lookup
  const Code code = core.health();
  if (code == Code::kOk) return {};
  const std::string name = session != nullptr ? session->file().file().path() : "the filter";
  return base::fail(code, name + ": not copied, for it is in doubt: " + code_text(code));
}

// Identity and marks.
template <class Core>
Result<Content> content_without_counter(const Core& core) {
  Content found;
  if (core.session != nullptr) {
    const auto slot = core.session->slot_for_copy();
    if (!slot) return slot.error();
    found.identity = core.session->file().identity();
    found.lanes = slot->lanes;
  } else if (core.range != nullptr) {
    found.identity = core.range->embedded().identity;
  } else if (core.own_identity) {
    found.identity = *core.own_identity;
    if (core.loaded != nullptr && core.loaded->slot) found.lanes = core.loaded->slot->lanes;
  } else {
    const auto shape = with_a_promise(core.shape);
    if (!shape) return shape.error();
    found.identity.shape = *shape;
    found.identity.body_bytes = core.body_bytes;
    found.has_file_id = false;
  }
  return found;
}

// A bit only ever appears. So a copy that begins after the marks were read has every key up to them, whatever is added
// meanwhile. The fence is for machines whose loads may overtake each other.
template <class Core>
Result<Content> content_of(const Core& core) {
  if (Error error = check_copyable(core); !error.ok()) return error;
  auto found = content_without_counter(core);
  if (!found) return found;
  found->keys_added = core.keys_added();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return found;
}

// Other threads and processes set bits of these words meanwhile.
inline void copy_words(const std::uint64_t* words, std::span<std::byte> into) noexcept {
  for (std::size_t at = 0; at < into.size(); at += sizeof *words) {
    const std::uint64_t word = layout::load_word(words, at * 8);
    std::memcpy(into.data() + at, &word, sizeof word);
  }
}

// A file is read through its descriptor: what cannot be read is an error then, and no signal. But a copy in memory, and
// the ones that cover the damage of a sealed file, are in the mapping alone.
template <class Core>
Error read_body(const Core& core, std::span<std::byte> into, std::uint64_t offset) {
  const OpenFile* const opened = core.session != nullptr ? &core.session->file() : nullptr;
  if (opened == nullptr || opened->mapping().is_copy() || opened->identity().seal) {
    copy_words(core.words + offset / sizeof *core.words, into);
    return {};
  }
  const auto got = opened->file().read_at(into, opened->identity().body_offset + offset);
  if (!got) return got.error();
  if (*got == into.size()) return {};
  return base::fail(Code::kLost, opened->file().path() + ": truncated while it was read. Rebuild it.");
}

// Calls take(offset in the body, piece) for all of it, in order, until that is an error.
template <class Core, class Take>
Error each_piece_of_body(const Core& core, Take take) {
  if (core.session != nullptr) {
    if (Error error = check_damage_is_covered(core.session->file()); !error.ok()) return error;
  }
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 18;
  std::vector<std::byte> memory(std::min(kPieceBytes, core.body_bytes));
  for (std::uint64_t offset = 0; offset < core.body_bytes; offset += memory.size()) {
    const std::uint64_t left = core.body_bytes - offset;
    const std::span<std::byte> piece = std::span(memory).first(std::min<std::uint64_t>(memory.size(), left));
    if (Error error = read_body(core, piece, offset); !error.ok()) return error;
    if (Error error = take(offset, std::span<const std::byte>(piece)); !error.ok()) return error;
  }
  return {};
}

}  // namespace bfstore::store
