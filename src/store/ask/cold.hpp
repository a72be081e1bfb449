// Many keys in a file that does not fit in memory. Where lookups wait for the disk, the pages of later keys are asked
// for before, so that many reads are under way at once; and a sorted batch reads the whole file in order, if that is
// less work than to read a page for each key.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "region/mapping.hpp"
#include "store/ask/partition.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// The pages of a body that does not fit in memory. Of every other filter it is false, and does nothing.
class ColdPages {
 public:
  explicit ColdPages(const Ask& ask) noexcept : ask_(ask) {
    const region::Mapping* const mapping = ask.row.in_lines ? ask.home->mapping() : nullptr;
    if (mapping == nullptr || !mapping->is_larger_than_memory()) return;
    mapping_ = mapping;
    static_cast<void>(has_read());
  }

  explicit operator bool() const noexcept { return mapping_ != nullptr; }

  // Begins to read a partition of the body.
  void read(std::size_t partition, std::size_t partitions) const noexcept {
    const std::uint64_t lines = ask_.body_bytes / kLineBytes;
    const auto first_of = [&](std::uint64_t number) {
      return static_cast<std::uint64_t>(static_cast<layout::Product>(lines) * number / partitions);
    };
    const std::uint64_t first = first_of(partition);
    read_lines(ask_.words + first * kLineWords, first_of(partition + 1) - first + 1);
  }

  // Calls `answer()`, which asks the digests of step.now, and begins to read the lines of step.later if lookups of this
  // filter waited for the disk lately. Where all pages are in memory that costs two looks at the clock.
  template <class Answer>
  std::size_t ahead_of(const layout::Step& step, Answer answer) noexcept {
    const unsigned steps = ask_.cold_steps.load(std::memory_order_relaxed);
    if (steps > 0) {
      for (const std::uint64_t digest : std::span(step.later, step.num_later)) {
        const layout::Located at = layout::Blocked::locate(ask_.target.geometry, digest);
        if (ask_.target.has(digest)) read_lines(ask_.lines + at.word, 1);
      }
    }
    const auto began = std::chrono::steady_clock::now();
    const std::size_t found = answer();
    const bool slow = std::chrono::steady_clock::now() - began > kSlow;
    if (steps > 0 || slow) {
      const bool goes_on = (steps == 1 || slow) && has_read();
      ask_.cold_steps.store(goes_on ? kSteps : steps - std::min(steps, 1U), std::memory_order_relaxed);
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kLineBytes = 64;
  static constexpr std::uint64_t kLineWords = kLineBytes / sizeof(std::uint64_t);
  // A step of 64 lookups in memory takes a tenth of that. A page of a fast disk takes twice as long.
  static constexpr std::chrono::microseconds kSlow{40};
  // So many steps ask for pages before, and the last of them looks whether that read any.
  static constexpr unsigned kSteps = 16;

  void read_lines(const std::uint64_t* first, std::uint64_t count) const noexcept {
    const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(first) - mapping_->data());
    mapping_->read_ahead(offset, std::min(count * kLineBytes, mapping_->bytes() - offset));
  }

  // True if this thread has waited for a page, or begun to read one, since it looked last.
  bool has_read() noexcept {
    struct rusage used {};
    if (getrusage(RUSAGE_THREAD, &used) != 0) return false;
    const bool has = used.ru_majflt != faults_ || used.ru_inblock != blocks_;
    faults_ = used.ru_majflt;
    blocks_ = used.ru_inblock;
    return has;
  }

  const Ask& ask_;
  const region::Mapping* mapping_ = nullptr;
  long faults_ = 0;
  long blocks_ = 0;
};

}  // namespace bfstore::store
