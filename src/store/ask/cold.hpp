// Many keys in a file that does not fit in memory. Where lookups wait for the disk, the pages of later keys are asked
// for before, so that many reads are under way at once; and a sorted batch reads the whole file in order, if that is
// less work than to read a page for each key.
#pragma once

#include <sys/resource.h>

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
    if (mapping != nullptr && mapping->is_larger_than_memory()) mapping_ = mapping;
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

  // Calls `answer()`, which asks the digests of step.now, and begins to read the lines of step.later if lookups waited
  // for the disk lately. Where all pages are in memory that costs a look at the clock.
  template <class Answer>
  std::size_t ahead_of(const layout::Step& step, Answer answer) noexcept {
    if (waits_ > 0) {
      for (const std::uint64_t digest : std::span(step.later, step.num_later)) {
        const layout::Located at = layout::Blocked::locate(ask_.target.geometry, digest);
        if (ask_.target.has(digest)) read_lines(ask_.lines + at.word, 1);
      }
    }
    const auto began = std::chrono::steady_clock::now();
    const std::size_t found = answer();
    if (std::chrono::steady_clock::now() - began > kSlow) {
      notice_waits();
    } else if (waits_ > 0) {
      --waits_;
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kLineBytes = 64;
  static constexpr std::uint64_t kLineWords = kLineBytes / sizeof(std::uint64_t);
  // A step of 64 lookups in memory takes a tenth of that. A page of a fast disk takes twice as long.
  static constexpr std::chrono::microseconds kSlow{40};
  static constexpr unsigned kSteps = 16;  // so many steps without a wait end the reading ahead

  void read_lines(const std::uint64_t* first, std::uint64_t count) const noexcept {
    const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(first) - mapping_->data());
    mapping_->read_ahead(offset, std::min(count * kLineBytes, mapping_->bytes() - offset));
  }

  // A step was slow. If the thread waited for a page, so will it for the next ones.
  void notice_waits() noexcept {
    struct rusage used {};
    if (getrusage(RUSAGE_THREAD, &used) != 0) return;
    if (used.ru_majflt != faults_) waits_ = kSteps;
    faults_ = used.ru_majflt;
  }

  const Ask& ask_;
  const region::Mapping* mapping_ = nullptr;
  unsigned waits_ = 0;
  long faults_ = 0;  // pages for which this thread has waited, when it looked last
};

}  // namespace bfstore::store
