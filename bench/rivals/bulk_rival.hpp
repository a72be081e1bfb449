// A rival in bfbulk, which calls it for many keys alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hasher.hpp"
#include "memory.hpp"
#include "rival.hpp"

namespace bench {

// Its lines ascend with the digest, so a caller may sort digests for it.
struct BulkRival {
  std::string name;
  std::function<void(std::span<const std::uint64_t>)> add;
  std::function<std::uint64_t(std::span<const std::uint64_t>, std::span<std::uint8_t>)> ask;
  std::function<void()> clear;
  std::function<RivalFacts()> facts;
};

// Boost.Bloom's fastest filters, with as many bits as that rate takes. The hasher outlives them.
std::vector<BulkRival> boost_for_bulk(const Hasher& hasher, std::uint64_t num_keys, double rate, Pages pages);

}  // namespace bench
