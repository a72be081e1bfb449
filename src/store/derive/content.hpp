// Reads a filter, wherever it is, while other handles may add to it: content_of(), then Body or each_..._piece(), then
// check_copied(). All of them need the same Ask: a handle that follows its path has another one later.
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
#include "format/checksums.hpp"
#include "format/identity.hpp"
#include "format/state.hpp"
#include "layout/fold.hpp"
#include "layout/layout.hpp"
#include "store/file/refusals.hpp"
#include "store/file/sealed.hpp"
#include "store/home/ask.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore::store {

// Everything of a filter except its bits.
struct Content {
  format::Identity identity;       // of a bare filter: without an id, and with n and p that follow from m and k
  std::vector<LogPosition> lanes;  // none if the filter keeps no marks
  std::uint64_t keys_added = 0;    // minus those removed; 0 if it has no counter
  bool has_file_id = true;
  std::uint32_t recoveries = 0;  // of a file, before its first bit is read
  Turned turned;                 // of a file whose keys expire, before its first bit is read
  std::uint32_t num_slices = 1;  // after its marks and before its first bit is read
};

// Returns what the filter says of itself now. An error if it is in doubt, or was opened before a fork. Asks the kernel
// for failed writes, because the kernel may have dropped pages with bits.
inline Result<Moment> moment_of(const Ask& ask) {
  Result<Moment> found = ask.home->moment();
  if (!found) return found;
  std::atomic_thread_fence(std::memory_order_acquire);  // the words are read after the bits, as in a lookup
  const auto health = ask.home->read_health(ask.sentinel());
  if (!health.ok()) return health.error();
  const Code code = *health;
  if (code == Code::kOk) return found;
  if (code == Code::kFilling) return still_filling(ask.home->name("the filter"));
  return base::fail(code, ask.home->name("the filter") + ": not copied, for it is in doubt: " + code_text(code));
}

// Returns identity, marks and counters.
inline Result<Content> content_at(const Ask& ask, Moment moment) {
  Content found;
  found.lanes = std::move(moment.lanes);
  found.keys_added = moment.keys_added;
  found.recoveries = moment.recoveries;
  found.turned = moment.turned;
  if (ask.identity() != nullptr) {
    found.identity = *ask.identity();
  } else {
    const auto shape = with_a_promise(ask.shape);
    if (!shape) return shape.error();
    found.identity.shape = *shape;
    found.identity.body_bytes = ask.body_bytes;
    found.has_file_id = false;
  }
  return found;
}

// Returns the content, before the first bit is read. A bit only ever appears. So a copy that begins after the marks
// were read has every key up to them, whatever is added meanwhile. The fence is for machines whose loads may overtake
// each other.
inline Result<Content> content_of(const Ask& ask) {
  auto moment = moment_of(ask);
  if (!moment) return moment.error();
  auto found = content_at(ask, std::move(*moment));
  if (found) found->num_slices = ask.num_slices();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return found;
}

// Checks, after the last bit was read, that no keys can be missing.
inline Error check_copied(const Ask& ask, const Content& content) {
  const auto moment = moment_of(ask);
  if (!moment) return moment.error();
  if (nothing_between(content.recoveries, moment->recoveries)) return {};
  return base::fail(Code::kBusy, ask.home->name("the filter") +
                                     ": recovered while it was copied, so that the copy may lack keys. Copy it again.");
}

// An embedded filter does not say which of its words is that of now, so no file can be made of it.
inline Error check_has_epoch(const Ask& ask) {
  const format::Identity* const its = ask.identity();
  if (ask.row.info.epochs == 0 || (its != nullptr && its->form == format::Form::kFile)) return {};
  return base::fail(Code::kUnsupported, ask.home->name("the filter") +
                                            ": an embedded filter whose keys expire does not say in which epoch they "
                                            "were added, so it cannot become a file. Copy the file that it came from.");
}

// Returns the identity of a copy in that form. kInvalid if it is to have the file_id of a bare filter.
inline Result<format::Identity> identity_in(const Content& content, format::Form form, bool same_file_id) {
  if (!same_file_id) return as_new(content.identity, form, {});
  if (content.has_file_id) return as_new(content.identity, form, content.identity.file_id);
  return base::fail(Code::kInvalid, "a bare filter has no file_id that the new filter could have. Leave it out.");
}

// Reads all of the body, piece by piece and in order: if it grows, its first `num_slices` slices, without what is
// between them. Each piece is a whole number of lines, and of the chunks of a sealed file, except for the last one of a
// slice.
class Body {
 public:
  explicit Body(const Ask& ask, std::uint32_t num_slices = 1)
      : ask_(ask), sealed_(ask.home->sealed_pieces()), num_slices_(num_slices) {
    constexpr std::uint64_t kPieceBytes = 4 * format::kChunkBytes;
    if (!sealed_) memory_.resize(num_slices > 1 ? kPieceBytes : std::min(kPieceBytes, ask.body_bytes));
  }

  // Returns the next piece, valid until the one after it is read. Empty after the last one.
  Result<std::span<const std::byte>> next() {
    if (sealed_) return sealed_->next();
    if (slice_ + 1 < num_slices_ && offset_ == bytes_of(slice_)) {
      ++slice_;
      offset_ = 0;
    }
    const std::uint64_t left = bytes_of(slice_) - offset_;
    const std::span<std::byte> piece = std::span(memory_).first(std::min<std::uint64_t>(memory_.size(), left));
    const std::uint64_t at = first_byte_of(slice_) + offset_;
    if (Error error = piece.empty() ? Error{} : ask_.home->read_body(ask_.words, piece, at); !error.ok()) return error;
    offset_ += piece.size();
    return std::span<const std::byte>(piece);
  }

 private:
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t slice) const noexcept {
    return ask_.slices == nullptr ? ask_.body_bytes : ask_.slices->of[slice].lines * (kLineBits / 8);
  }
  [[nodiscard]] std::uint64_t first_byte_of(std::uint32_t slice) const noexcept {
    return ask_.slices == nullptr ? 0 : ask_.slices->of[slice].first_word * sizeof(std::uint64_t);
  }

  const Ask& ask_;
  std::optional<SealedPieces> sealed_;
  std::vector<std::byte> memory_;
  std::uint32_t num_slices_;
  std::uint32_t slice_ = 0;
  std::uint64_t offset_ = 0;  // in the slice
};

// Calls take(offset in the body, piece) for all of it, in order, until take() returns an error. Offsets do not count
// what is between slices.
template <class Take>
Error each_piece_of_body(const Ask& ask, Take take, std::uint32_t num_slices = 1) {
  Body body(ask, num_slices);
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

// Calls take(first word, words) for all of the body, folded to 1/`times` of its size, in order, until take() returns an
// error. Calls `watch`, if it is not empty, with the words before they are folded.
template <class Take>
Error each_folded_piece(const Ask& ask, std::uint64_t times, Take take, const WatchWords& watch = {},
                        std::uint32_t num_slices = 1) {
  layout::Folding folding(ask.row, ask.shape.num_bits, times);
  Error wrong;
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
    if (wrong.ok()) wrong = take(first, words);
  };
  const auto take_piece = [&](std::uint64_t, std::span<const std::byte> piece) {
    if (watch) watch(words_of(piece));
    folding.take(words_of(piece), give);
    return wrong;
  };
  Error error = each_piece_of_body(ask, take_piece, num_slices);
  if (error.ok()) folding.end(give);
  return error.ok() ? wrong : error;
}

}  // namespace bfstore::store
