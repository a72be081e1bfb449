// Bulk loading by several threads that add with plain stores: the lines are cut into ranges, and no two threads ever
// write into the same range at once.
//
// It works in rounds. Every thread turns its share of the round's keys into digests and sorts them by range. When all
// have done so, each thread takes one range after another and adds the digests that all threads have for it, until none
// is left: a thread that the system stops holds one range back, and not a fixed half of the work. A range fits into a
// second-level cache, as a partition does (partition.hpp).
#pragma once

#include <bfstore/error.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "layout/layout.hpp"
#include "store/ask/partition.hpp"

namespace bfstore::store {

// Digests as the caller has them.
struct GivenDigests {
  std::span<const std::uint64_t> digests;
  [[nodiscard]] std::size_t size() const noexcept { return digests.size(); }
  // Loads once, even if other threads write there: a part uses the digest that it has checked.
  [[nodiscard]] std::uint64_t digest(std::size_t i) const noexcept {
    return __atomic_load_n(&digests[i], __ATOMIC_RELAXED);
  }
};

// With fewer keys for each thread, starting the threads costs more than they save.
inline constexpr std::size_t kFewestForAThread = std::size_t{1} << 14;

inline constexpr unsigned kMostThreads = 64;

// The lines of a filter, which may be a part of a whole one.
struct Lines {
  std::uint64_t count;
  Part part;
  [[nodiscard]] bool has(std::uint64_t digest) const noexcept {
    return Part::number_of(digest, part.parts) == part.number;
  }
};

// Equal ranges of lines, of at least two lines each.
class Ranges {
 public:
  Ranges(const Lines& lines, std::size_t count);

  [[nodiscard]] std::size_t count() const noexcept { return first_digests_.size(); }
  // Returns the range of the line of this digest. Digests and lines ascend together, so ranges begin at digests.
  [[nodiscard]] std::size_t of(std::uint64_t digest) const noexcept {
    const std::uint64_t in_part = digest * parts_;  // without the number of the part, which is the same for all
    const auto near = static_cast<std::size_t>((static_cast<layout::Product>(in_part) * first_digests_.size()) >> 64);
    return near - (digest < first_digests_[near] ? 1U : 0U);  // a range begins at a whole line
  }

 private:
  std::uint32_t parts_;
  std::vector<std::uint64_t> first_digests_;
};

// One thread's digests of one round, sorted by range.
class Share {
 public:
  Share(std::size_t most, std::size_t ranges)
      : unsorted_(std::make_unique_for_overwrite<std::uint64_t[]>(most)),
        sorted_(std::make_unique_for_overwrite<std::uint64_t[]>(most)),
        ends_(ranges + 1) {}

  [[nodiscard]] std::uint64_t* digests() noexcept { return unsorted_.get(); }
  void sort(std::size_t count, const Ranges& ranges) noexcept;
  [[nodiscard]] std::span<const std::uint64_t> of(std::size_t range) const noexcept {
    return {sorted_.get() + ends_[range], ends_[range + 1] - ends_[range]};
  }

 private:
  std::unique_ptr<std::uint64_t[]> unsorted_;
  std::unique_ptr<std::uint64_t[]> sorted_;
  std::vector<std::size_t> ends_;  // the end of the range before
};

// How an add is divided.
struct Division {
  static constexpr std::size_t kRound = std::size_t{1} << 22;  // keys: 64 MiB of digests, unsorted and sorted

  unsigned threads;
  std::size_t ranges;
  std::size_t round;  // keys that all threads together sort at once

  static Division of(const Lines& lines, std::uint64_t body_bytes, unsigned threads, std::size_t keys) noexcept {
    const auto ranges = std::min<std::uint64_t>(lines.count / 2, partitions_of(body_bytes));
    return {threads, static_cast<std::size_t>(ranges), std::min(keys, kRound)};
  }
};

// Calls work(0) to work(threads - 1) concurrently, one of them in the calling thread. Returns false, and calls nothing,
// if the system has no more threads.
bool run_at_once(unsigned threads, const std::function<void(unsigned)>& work);

// `source` has digests, or computes them. `add(digests)` adds digests of lines that no other thread writes to
// meanwhile. Throws, before anything was added, if threads or memory are lacking.
template <class Source, class Add>
Count add_divided(const Lines& lines, const Division& division, const Source& source, Add add) {
  const unsigned threads = division.threads;
  const std::size_t count = source.size();
  const Ranges ranges(lines, division.ranges);
  std::vector<Share> shares;
  for (unsigned self = 0; self < threads; ++self) shares.emplace_back(division.round / threads + 1, ranges.count());
  std::atomic<std::size_t> next_range{0};
  const auto begin_again = [&]() noexcept { next_range = 0; };
  std::barrier meeting(static_cast<std::ptrdiff_t>(threads), begin_again);
  std::atomic<std::uint64_t> added{0};
  std::atomic<Code> refused{Code::kOk};
  const auto sort_own = [&](unsigned self, std::size_t first, std::size_t size) noexcept {
    std::uint64_t* digests = shares[self].digests();
    bool all_here = true;
    for (std::size_t i = 0; i < size; ++i) {
      digests[i] = source.digest(first + i);
      all_here &= lines.has(digests[i]);
    }
    if (!all_here) refused = Code::kPart;
    shares[self].sort(all_here ? size : 0, ranges);
  };
  const auto add_ranges = [&]() noexcept {
    std::uint64_t added_here = 0;
    for (std::size_t range = next_range++; range < ranges.count(); range = next_range++) {
      for (const Share& share : shares) {
        const Count outcome = add(share.of(range));
        if (!outcome.ok()) refused = outcome.code();
        added_here += outcome.ok() ? outcome.keys() : 0;
      }
    }
    added += added_here;
  };
  const auto work = [&](unsigned self) noexcept {
    for (std::size_t round = 0; round < count; round += division.round) {
      const std::size_t size = std::min(count - round, division.round);
      const std::size_t begin = size * self / threads;
      sort_own(self, round + begin, size * (self + 1) / threads - begin);
      meeting.arrive_and_wait();
      add_ranges();
      meeting.arrive_and_wait();
    }
  };
  if (!run_at_once(threads, work)) throw std::bad_alloc();
  if (refused != Code::kOk) return refused.load();
  return added.load();
}

}  // namespace bfstore::store
