// Does the same work on every part of a source of keys at once.
#pragma once

#include "key_source.hpp"

#include <cstddef>
#include <future>
#include <optional>
#include <vector>

namespace bf {

// Calls `work(part, number)` for every range of the source, each in its own thread; the first, number 0, in this
// thread. A source without ranges is one part, nullopt. Returns when all are done. Throws the exception of one of them,
// if any threw.
template <class Work>
void in_parallel(const KeySource& source, Work work) {
  const std::vector<Range> ranges = source.ranges();
  if (ranges.empty()) return work(std::optional<Range>(), std::size_t{0});
  std::vector<std::future<void>> others;  // their destructors wait for the threads
  for (std::size_t i = 1; i < ranges.size(); ++i)
    others.push_back(std::async([&work, range = ranges[i], i] { work(std::optional(range), i); }));
  work(std::optional(ranges[0]), std::size_t{0});
  for (std::future<void>& other : others) other.get();
  source.skip_to_end();
}

}  // namespace bf
