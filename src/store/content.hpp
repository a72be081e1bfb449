// What a filter is, wherever it is, and reading it for a copy in another form while others may add to it: content_of(),
// then Body or each_..._piece(), then check_copied(). `Core` is Filter::Core, and one for all three: a handle that
// follows its path has another one at another time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "format/identity.hpp"
#include "format/state.hpp"
#include "layout/fold.hpp"
#include "layout/layout.hpp"
#include "store/plan.hpp"
#include "store/refusals.hpp"
#include "store/sealed.hpp"
#include "store/session.hpp"

namespace bfstore::store {

// Everything but the bits.
struct Content {
  format::Identity identity;       // of a bare filter: without an id, and with n and p as they follow from m and k
  std::vector<LogPosition> lanes;  // none where the filter keeps no marks
  std::uint64_t keys_added = 0;    // less those removed; 0 where it has no counter
  bool has_file_id = true;
  std::uint32_t recoveries = 0;  // of a file, before its first bit is read
};

// The difference of the two words, which the kernel reads: the file may have been cut since its header was read, which
// is an error here, and no signal.
inline Result<std::uint64_t> differing_in(const region::Mapping& mapping, const layout::Sentinel& sentinel) {
  const auto read = [&](const std::uint64_t* from, std::uint64_t& word) {
    const std::ptrdiff_t offset = reinterpret_cast<const std::byte*>(from) - mapping.data();
    return mapping.read(std::as_writable_bytes(std::span(&word, 1)), static_cast<std::uint64_t>(offset));
  };
  std::uint64_t front = 0;
  std::uint64_t end = 0;
  if (Error error = read(sentinel.front, front); !error.ok()) return error;
  if (Error error = read(sentinel.end, end); !error.ok()) return error;
  return sentinel.differing(front, end);
}

// As Core::health(), but for the two words. Another thread may shut the handle while they are read: what was read then
// says nothing.
template <class Core>
Result<Code> health_of(const Core& core) {
  const region::Mapping* const mapping = core.mapping();
  if (mapping == nullptr) return core.health();
  const auto differing = differing_in(*mapping, core.target.sentinel);
  if (core.is_shut()) return Code::kShut;
  if (!differing) return differing.error();
  return mapping->faulted() ? Code::kFault : core.why_in_doubt(*differing);
}

// What the filter says of itself now, or an error where it is in doubt, or is the parent's. The kernel is asked for
// failed writes: it may have dropped bits of its pages.
template <class Core>
Result<Moment> moment_of(const Core& core) {
  if (Error error = core.check_one_body(); !error.ok()) return error;
  const Session* const session = core.session.get();
  if (session != nullptr && !core.born.here()) return forked(session->file().file());
  Result<Moment> found = session != nullptr ? session->moment_for_copy() : Result<Moment>(Moment{});
  if (!found) return found;
  if (core.range != nullptr) {
    if (Error error = core.range->check_readable(); !error.ok()) return error;
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // after the bits, as in a lookup
  const auto health = health_of(core);
  if (!health.ok()) return health.error();
  const Code code = *health;
  if (code == Code::kOk) return found;
  const std::string name = session != nullptr ? session->file().file().path() : "the filter";
  return base::fail(code, name + ": not copied, for it is in doubt: " + code_text(code));
}

// Identity and marks.
template <class Core>
Result<Content> content_at(const Core& core, Moment moment) {
  Content found;
  if (core.session != nullptr) {
    found.identity = core.session->file().identity();
    found.lanes = std::move(moment.lanes);
    found.keys_added = moment.keys_added;
    found.recoveries = moment.recoveries;
  } else if (core.range != nullptr) {
    found.identity = core.range->embedded().identity;
  } else if (core.own_identity) {
    found.identity = *core.own_identity;
    if (core.loaded != nullptr && core.loaded->slot)
      found.lanes.assign(core.loaded->slot->lanes.begin(), core.loaded->slot->lanes.end());
    found.keys_added = core.keys_left();
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
  auto moment = moment_of(core);
  if (!moment) return moment.error();
  auto found = content_at(core, std::move(*moment));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return found;
}

// After the last bit was read.
template <class Core>
Error check_copied(const Core& core, const Content& content) {
  const auto moment = moment_of(core);
  if (!moment) return moment.error();
  if (nothing_between(content.recoveries, moment->recoveries)) return {};
  return base::fail(Code::kBusy, core.session->file().file().path() +
                                     ": recovered while it was copied, so that the copy may lack keys. Copy it again.");
}

// Other threads and processes set bits of these words meanwhile.
inline void copy_words(const std::uint64_t* words, std::span<std::byte> into) noexcept {
  for (std::size_t at = 0; at < into.size(); at += sizeof *words) {
    const std::uint64_t word = layout::load_word(words, at * 8);
    std::memcpy(into.data() + at, &word, sizeof word);
  }
}

// A file is read through its descriptor, and a range of one by the kernel: what cannot be read is an error then, and no
// signal. A copy in memory is in the mapping alone.
template <class Core>
Error read_body(const Core& core, std::span<std::byte> into, std::uint64_t offset) {
  const region::Mapping* const mapping = core.mapping();
  if (mapping == nullptr || mapping->is_copy()) {
    copy_words(core.words + offset / sizeof *core.words, into);
    return {};
  }
  if (core.range != nullptr) return core.range->read_body(into, offset);
  const OpenFile* const opened = &core.session->file();
  const auto got = opened->file().read_at(into, opened->identity().body_offset + offset);
  if (!got) return got.error();
  if (*got == into.size()) return {};
  return base::fail(Code::kLost, opened->file().path() + ": truncated while it was read. Rebuild it.");
}

// All of the body, piece by piece and in order. Each piece is a whole number of lines, except for the last one.
template <class Core>
class Body {
 public:
  explicit Body(const Core& core) : core_(core) {
    constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 18;
    if (core.session != nullptr && core.session->file().identity().seal)
      sealed_.emplace(core.session->file());
    else
      memory_.resize(std::min(kPieceBytes, core.body_bytes));
  }

  // Valid until the next one is read. Empty after the last one.
  Result<std::span<const std::byte>> next() {
    if (sealed_) return sealed_->next();
    const std::uint64_t left = core_.body_bytes - offset_;
    const std::span<std::byte> piece = std::span(memory_).first(std::min<std::uint64_t>(memory_.size(), left));
    if (Error error = piece.empty() ? Error{} : read_body(core_, piece, offset_); !error.ok()) return error;
    offset_ += piece.size();
    return std::span<const std::byte>(piece);
  }

 private:
  const Core& core_;
  std::optional<SealedPieces> sealed_;
  std::vector<std::byte> memory_;
  std::uint64_t offset_ = 0;
};

// Calls take(offset in the body, piece) for all of it, in order, until that is an error.
template <class Core, class Take>
Error each_piece_of_body(const Core& core, Take take) {
  Body<Core> body(core);
  for (std::uint64_t offset = 0;;) {
    const auto piece = body.next();
    if (!piece) return piece.error();
    if (piece->empty()) return {};
    if (Error error = take(offset, *piece); !error.ok()) return error;
    offset += piece->size();
  }
}

inline std::span<const std::uint64_t> words_of(std::span<const std::byte> piece) noexcept {
  return {reinterpret_cast<const std::uint64_t*>(piece.data()), piece.size() / sizeof(std::uint64_t)};
}

// Calls take(first word, words) for all of the body folded so often, in order, until that is an error.
template <class Core, class Take>
Error each_folded_piece(const Core& core, std::uint64_t times, Take take) {
  layout::Folding folding(core.row, core.shape.num_bits, times);
  Error wrong;
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
    if (wrong.ok()) wrong = take(first, words);
  };
  Error error = each_piece_of_body(core, [&](std::uint64_t, std::span<const std::byte> piece) {
    folding.take(words_of(piece), give);
    return wrong;
  });
  if (error.ok()) folding.end(give);
  return error.ok() ? wrong : error;
}

}  // namespace bfstore::store
