// The ribbon (ribbon.hpp) as a filter of many shards: the highest bits of a digest choose the shard.
#pragma once

#include <bit>
#include <cstring>
#include <memory>

#include "fail.hpp"
#include "memory.hpp"
#include "ribbon.hpp"
#include "static_subject.hpp"

namespace bench {

class RibbonSubject : public StaticSubject {
 public:
  explicit RibbonSubject(std::uint32_t columns) : columns_(columns) {}

  void build(std::span<const std::uint64_t> digests) override {
    shard_bits_ = static_cast<unsigned>(std::bit_width((digests.size() - 1) / kMostKeys));
    std::vector<std::vector<std::uint64_t>> parts(std::size_t{1} << shard_bits_);
    for (const std::uint64_t digest : digests) parts[part_of(digest)].push_back(digest);
    std::size_t most = 0;
    for (const auto& part : parts) most = std::max(most, part.size());
    shape_ = ribbon::shape_for(most, columns_);
    reserve(parts.size());
    ribbon::Builder builder(shape_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::ranges::sort(parts[i]);
      if (!builder.build(parts[i], 0)) fail("a shard of the ribbon could not be solved");
      store(i, builder.shard());
    }
  }

  std::uint64_t ask_each(std::span<const std::uint64_t> digests) const override {
    std::uint64_t maybes = 0;
    for (const std::uint64_t digest : digests) {
      const ribbon::Shard& shard = shards_[part_of(digest)];
      maybes += shard.contains(shard.place(digest)) ? 1U : 0U;
    }
    return maybes;
  }

  std::uint64_t ask_many(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const override {
    struct Asked {
      const ribbon::Shard* shard;
      ribbon::Shard::Place place;
    };
    const auto place_of = [this](std::uint64_t digest) {
      const ribbon::Shard* const shard = &shards_[part_of(digest)];
      return Asked{shard, shard->place(digest)};
    };
    const auto prefetch = [](const Asked& asked) {
      __builtin_prefetch(asked.place.at);
      __builtin_prefetch(asked.place.at + asked.shard->window_bytes() - 1);
    };
    return ask_rolling<kAhead>(digests, answers, place_of, prefetch,
                               [](const Asked& asked) { return asked.shard->contains(asked.place); });
  }

  [[nodiscard]] std::size_t num_bytes() const override {
    return shards_.size() * (shape_.solution_bytes() + shape_.threshold_bytes() + sizeof(std::uint64_t));
  }

  // The pages that a lookup of a cold file reads, the thresholds aside, which are in the cache after some thousand.
  [[nodiscard]] double num_pages(std::uint64_t digest) const override {
    const ribbon::Shard& shard = shards_[part_of(digest)];
    const auto first = reinterpret_cast<std::uintptr_t>(shard.place(digest).at);
    return static_cast<double>((first + shard.window_bytes() - 1) / kPage - first / kPage + 1);
  }

 private:
  static constexpr std::size_t kMostKeys = 2'000'000;
  static constexpr std::uintptr_t kPage = 4096;
  static constexpr std::size_t kAhead = 32;
  static constexpr std::size_t kOver = 64;  // read by vectors after the last shard

  [[nodiscard]] std::size_t part_of(std::uint64_t digest) const noexcept {
    return shard_bits_ == 0 ? 0 : digest >> (64 - shard_bits_);
  }

  void reserve(std::size_t num_shards) {
    solutions_ = std::make_unique<HeapBuffer>(num_shards * shape_.solution_bytes() + kOver);
    thresholds_.assign(num_shards * shape_.threshold_bytes(), std::byte{0});
    shards_.resize(num_shards);
  }

  void store(std::size_t i, const ribbon::Shard& built) {
    std::byte* const solution = solutions_->bytes().data() + i * shape_.solution_bytes();
    std::byte* const thresholds = thresholds_.data() + i * shape_.threshold_bytes();
    std::memcpy(solution, built.solution, shape_.solution_bytes());
    std::memcpy(thresholds, built.thresholds, shape_.threshold_bytes());
    shards_[i] = {&shape_, built.seed, thresholds, solution};
  }

  std::uint32_t columns_;
  unsigned shard_bits_ = 0;
  ribbon::Shape shape_;
  std::unique_ptr<HeapBuffer> solutions_;
  std::vector<std::byte> thresholds_;
  std::vector<ribbon::Shard> shards_;
};

}  // namespace bench
