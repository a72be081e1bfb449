// The limit that memory sets: the same loops over the same digests in the same mapping. Per key they only touch one
// 64-byte line, in every way in which a filter could do that.
#pragma once

#include <cstdint>
#include <string>

#include "keys.hpp"
#include "row.hpp"

namespace bench {

// The lines of a filter's body.
struct Lines {
  std::uint64_t* words = nullptr;
  std::uint64_t count = 0;
  std::uint32_t num_probes = 0;  // per key, for limit-atomic
};

// The limits in one place. Nothing in the lines changes. The population, the hasher and `answers` outlive the rows.
//   limit         contains: touches a word of the line, and stores an answer where it prefetches
//                 add: reads all 64 bytes and writes them back, as only a single writer may
//   limit-line    contains: reads all 64 bytes, like a filter that cannot know which of them it needs
//   limit-atomic  add: a fetch_or for each probe, as concurrent writers need
// The library's own hash hashes keys on the way.
Rows limit_rows(const std::string& place, const Lines& lines, const Population& population, const Hasher& hasher,
                std::span<std::uint8_t> answers);

}  // namespace bench
