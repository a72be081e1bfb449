// Bulk loading by several threads that add with plain stores: each thread owns a part of the lines, so no two ever
// write to the same one.
//
// It works in rounds. Every thread turns a share of the keys into digests and sorts them by owner. When all have done
// so, every thread adds the digests that all threads have for its lines. Two sets of shares alternate, so one barrier a
// round is enough.
#pragma once

#include <bfstore/error.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "layout/layout.hpp"

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

// The number of keys of one thread in one round. Their digests stay in the thread's second-level cache.
inline constexpr std::size_t kShare = std::size_t{1} << 14;

inline constexpr unsigned kMostThreads = 64;

// The lines of a filter, which may be a part of a whole one.
struct Lines {
  std::uint64_t count;
  Part part;
  [[nodiscard]] bool has(std::uint64_t digest) const noexcept {
    return Part::number_of(digest, part.parts) == part.number;
  }
};

// Says which thread adds which digests. The lines are cut into as many equal parts as there are threads, of at least
// two lines each.
class Owners {
 public:
  Owners(const Lines& lines, unsigned threads);

  // Returns the owner of the line of this digest. Digests and lines ascend together, so owners begin at digests.
  [[nodiscard]] unsigned of(std::uint64_t digest) const noexcept {
    const std::uint64_t in_part = digest * parts_;  // without the number of the part, which is the same for all
    const auto near = static_cast<unsigned>((static_cast<layout::Product>(in_part) * first_digests_.size()) >> 64);
    return near - (digest < first_digests_[near] ? 1U : 0U);  // a part begins at a whole line
  }

 private:
  std::uint32_t parts_;
  std::vector<std::uint64_t> first_digests_;
};

// One thread's digests of one round, sorted by owner.
class Share {
 public:
  explicit Share(unsigned threads) : unsorted_(kShare), sorted_(kShare), ends_(threads + 1) {}

  [[nodiscard]] std::uint64_t* digests() noexcept { return unsorted_.data(); }
  void sort(std::size_t count, const Owners& owners) noexcept;
  [[nodiscard]] std::span<const std::uint64_t> of(unsigned owner) const noexcept {
    return std::span(sorted_).subspan(ends_[owner], ends_[owner + 1] - ends_[owner]);
  }

 private:
  std::vector<std::uint64_t> unsorted_;
  std::vector<std::uint64_t> sorted_;
  std::vector<std::size_t> ends_;  // the end of the owner before
};

// Calls work(0) to work(threads - 1) concurrently, one of them in the calling thread. Returns false, and calls nothing,
// if the system has no more threads.
bool run_at_once(unsigned threads, const std::function<void(unsigned)>& work);

// `source` has digests, or computes them. `add(digests)` adds digests of lines that the calling thread owns. Throws,
// before anything was added, if threads or memory are lacking.
template <class Source, class Add>
Count add_divided(const Lines& lines, unsigned threads, const Source& source, Add add) {
  const std::size_t count = source.size();
  const Owners owners(lines, threads);
  std::vector<Share> shares(std::size_t{2} * threads, Share(threads));
  std::barrier meeting(static_cast<std::ptrdiff_t>(threads));
  std::atomic<std::uint64_t> added{0};
  std::atomic<Code> refused{Code::kOk};
  const auto work = [&](unsigned self) noexcept {
    Share* now = shares.data();
    Share* other = now + threads;
    for (std::size_t round = 0; round < count; round += kShare * threads, std::swap(now, other)) {
      const std::size_t begin = std::min(count, round + self * kShare);
      const std::size_t size = std::min(count - begin, kShare);
      std::uint64_t* digests = now[self].digests();
      bool all_here = true;
      for (std::size_t i = 0; i < size; ++i) {
        digests[i] = source.digest(begin + i);
        all_here &= lines.has(digests[i]);
      }
      if (!all_here) refused = Code::kPart;
      now[self].sort(all_here ? size : 0, owners);
      meeting.arrive_and_wait();
      for (unsigned from = 0; from < threads; ++from) {
        const Count outcome = add(now[from].of(self));
        if (outcome.ok()) {
          added += outcome.keys();
        } else {
          refused = outcome.code();
        }
      }
    }
  };
  if (!run_at_once(threads, work)) throw std::bad_alloc();
  if (refused != Code::kOk) return refused.load();
  return added.load();
}

}  // namespace bfstore::store
