// Large batches, partition by partition. Digests and lines ascend together, so the digests of a batch are first sorted
// by the partition of the body that they lead to. Then one partition is asked after another: its lines stay in the
// caches, and its pages in the TLB (Polychroniou and Ross, "A Comprehensive Study of Main-Memory Partitioning", SIGMOD
// 2014, has the gathering in buffers of some lines).
//
// The sort is stable, and keeps the partition of each key. So the answers come in the caller's order when the next
// answer of each key's partition is taken, and what other threads write over the caller's keys meanwhile moves no
// answer to another key. The memory for all that is the caller's.
#pragma once

#include <bfstore/keys.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "layout/stream.hpp"

namespace bfstore::store {

// The number of partitions of a body, a power of 2.
inline std::size_t partitions_of(std::uint64_t body_bytes) noexcept {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 19;  // of a partition, for a second-level cache
  return std::clamp<std::uint64_t>(std::bit_ceil(body_bytes / kBytes), 256, 1024);
}

// How a batch is divided.
struct Partitioning {
  static constexpr std::size_t kTogether = 32;  // digests that are written to their partition at once
  static constexpr std::size_t kAlignment = 64;

  std::size_t count;  // of partitions, a power of 2
  std::size_t room;   // digests of one partition

  static Partitioning of(std::uint64_t body_bytes, std::size_t keys) noexcept {
    const std::size_t count = partitions_of(body_bytes);
    // Eight standard deviations above the mean. What finds no room is asked alone.
    const double mean = static_cast<double>(keys) / static_cast<double>(count);
    const auto most = static_cast<std::size_t>(mean + 8 * std::sqrt(mean));
    return {count, (most / kTogether + 1) * kTogether};
  }

  // The memory that so many keys take.
  [[nodiscard]] std::size_t bytes(std::size_t keys) const noexcept {
    return kAlignment + count * ((room + kTogether) * sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
           keys * sizeof(std::uint16_t);
  }
};

// Measured: in a smaller body, with fewer keys, or with fewer of them in each line, sorting costs more than it saves.
inline constexpr std::uint64_t kSmallestBody = std::uint64_t{1} << 25;
inline constexpr std::uint64_t kMostBytesForAKey = 128;
// In a body that does not fit in memory, each key may read a page of 4 KiB from the disk.
inline constexpr std::uint64_t kMostBytesForAColdKey = 4 * 4096;

// How many of so many keys are sorted at once with so much memory. 0: none are.
inline std::size_t sorted_at_once(std::uint64_t body_bytes, bool cold, std::size_t keys,
                                  std::size_t scratch_bytes) noexcept {
  if (body_bytes < kSmallestBody) return 0;
  const std::uint64_t most = cold ? kMostBytesForAColdKey : kMostBytesForAKey;
  const std::size_t fewest = std::max<std::size_t>(Keys::kFewestSorted, body_bytes / most);
  for (std::size_t pieces = 1; keys / pieces >= fewest; ++pieces) {
    const std::size_t piece = (keys + pieces - 1) / pieces;
    if (Partitioning::of(body_bytes, piece).bytes(piece) <= scratch_bytes) return piece;
  }
  return 0;
}

// The digests of some keys, sorted by partition, and then their answers.
class Partitioned {
 public:
  // `memory` has partitioning.bytes(keys) bytes.
  Partitioned(const Partitioning& partitioning, std::size_t keys, std::byte* memory) noexcept
      : count_(partitioning.count), room_(partitioning.room) {
    std::size_t space = partitioning.bytes(keys);
    void* at = memory;
    digests_ = static_cast<std::uint64_t*>(std::align(Partitioning::kAlignment, 1, at, space));
    gathered_ = digests_ + count_ * room_;
    sizes_ = reinterpret_cast<std::uint32_t*>(gathered_ + count_ * Partitioning::kTogether);
    partition_of_ = reinterpret_cast<std::uint16_t*>(sizes_ + count_);
  }

  // digest_at(i) is called once for each key. If the filter is a part of a whole one, `parts` is the number of parts.
  template <class DigestAt>
  void sort(std::size_t keys, std::uint32_t parts, DigestAt digest_at) noexcept {
    constexpr std::size_t kTogether = Partitioning::kTogether;
    const int shift = 64 - std::countr_zero(count_);
    std::fill_n(sizes_, count_, 0U);
    for (std::size_t i = 0; i < keys; ++i) {
      const std::uint64_t digest = digest_at(i);
      const std::size_t partition =
          digest * parts >> shift;  // without the number of the part, which is the same for all
      partition_of_[i] = static_cast<std::uint16_t>(partition);
      const std::uint32_t size = sizes_[partition];
      if (size == room_) [[unlikely]]
        continue;
      std::uint64_t* const gathered = gathered_ + partition * kTogether;
      gathered[size % kTogether] = digest;
      sizes_[partition] = size + 1;
      if ((size + 1) % kTogether == 0) [[unlikely]]
        layout::stream(digests_ + partition * room_ + (size + 1 - kTogether), gathered, kTogether);
    }
    for (std::size_t partition = 0; partition < count_; ++partition) {
      const std::size_t rest = sizes_[partition] % kTogether;
      std::copy_n(gathered_ + partition * kTogether, rest, digests_ + partition * room_ + (sizes_[partition] - rest));
    }
    layout::end_of_stream();
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // If none is, every key found room.
  [[nodiscard]] bool any_is_full() const noexcept {
    return std::any_of(sizes_, sizes_ + count_, [this](std::uint32_t size) { return size == room_; });
  }
  [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t partition) const noexcept {
    return {digests_ + partition * room_, sizes_[partition]};
  }

  // Puts the answers of a partition's digests from `first` on in the place of digests before them, which were asked.
  void put(std::size_t partition, std::size_t first, std::span<const std::uint8_t> answers) noexcept {
    std::memcpy(answers_of(partition) + first, answers.data(), answers.size());
  }

  // The answers in the order of the keys. Each call returns that of the next key, and nullptr for one that found no
  // room.
  class Answers {
   public:
    explicit Answers(Partitioned& from) noexcept
        : from_(from), next_(reinterpret_cast<std::uint32_t*>(from.gathered_)), partition_(from.partition_of_) {
      std::fill_n(next_, from.count_, 0U);
    }
    const std::uint8_t* next() noexcept {
      const std::size_t partition = *partition_++;
      const std::uint32_t number = next_[partition];
      if (number == from_.room_) [[unlikely]]
        return nullptr;
      next_[partition] = number + 1;
      return from_.answers_of(partition) + number;
    }

   private:
    Partitioned& from_;
    std::uint32_t* next_;  // of each partition, where its digests were gathered
    const std::uint16_t* partition_;
  };

 private:
  [[nodiscard]] std::uint8_t* answers_of(std::size_t partition) const noexcept {
    return reinterpret_cast<std::uint8_t*>(digests_ + partition * room_);
  }

  std::size_t count_;
  std::size_t room_;
  std::uint64_t* digests_;       // room_ for each partition
  std::uint64_t* gathered_;      // kTogether for each partition: those that are not yet written
  std::uint32_t* sizes_;         // of each partition
  std::uint16_t* partition_of_;  // of each key
};

}  // namespace bfstore::store
