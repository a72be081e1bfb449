#include "keys.hpp"

namespace store_test {

bfstore::Options small_options() {
  bfstore::Options options;
  options.capacity = 4000;
  options.bits_per_key = 16;
  return options;
}

std::string key_of(unsigned writer, std::uint64_t number) {
  return "writer " + std::to_string(writer) + " key " + std::to_string(number);
}

std::uint64_t maybes(const bfstore::Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count) {
  std::uint64_t found = 0;
  for (std::uint64_t i = from; i < from + count; ++i) found += filter.contains(key_of(writer, i)) ? 1U : 0U;
  return found;
}

}  // namespace store_test
