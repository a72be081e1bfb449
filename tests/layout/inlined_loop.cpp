// An engine's inlined lookups, whose machine code machine_code_test.py reads. Compiled for each instruction set.
#include <bfstore/inline.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

std::size_t count_maybes(const bfstore::Filter& filter, std::span<const std::uint64_t> digests) {
  const bfstore::Lookup lookup = filter.lookup();
  std::size_t maybes = 0;
  for (const std::uint64_t digest : digests) maybes += lookup.contains_digest(digest) ? 1U : 0U;
  return maybes;
}

// The compiler may leave a call of what it does not have to inline here.
[[gnu::cold]] bool ask_once(const bfstore::Filter& filter, std::uint64_t digest) {
  bfstore::Lookup lookup = filter.lookup();
  lookup.prefetch(digest);
  return lookup.contains_digest(digest) && lookup.call(digest) != 0 && filter.contains_digest(digest);
}
