// The results of Filter::compare. Plain values, no behavior.
#pragma once

#include <cstdint>

namespace bfstore {

// Values that decide where a key's bits are: true where two filters differ.
struct Differences {
  bool layout = false;
  bool hash = false;
  bool seed = false;
  bool secret = false;
  bool num_probes = false;  // k
  bool num_bits = false;    // m
  bool part = false;        // which part of the whole filter, or the number of parts

  // True if the filters differ in nothing but the number of bits.
  [[nodiscard]] bool but_for_the_size() const noexcept {
    return !(layout || hash || seed || secret || num_probes || part);
  }
};

// An estimate, and the interval that has the true number in 95 of 100 cases.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;  // infinite where the bits set no bound
};

struct Comparison {
  Differences differ;
  // The sets of keys can be compared: the filters differ in num_bits at most, and one number of bits is a multiple of
  // the other. Otherwise only keys_a and keys_b of the following fields are known, each in its own size.
  bool comparable = false;
  bool equal = false;  // the same number of bits, and the same bits: both give every key the same answer
  // Every bit of the first is a bit of the second: nothing shows that the first has a key that the second lacks. With
  // equal numbers of bits the second answers "maybe" wherever the first does. Counting: no counter of the first is
  // higher.
  bool a_in_b = false;
  bool b_in_a = false;
  // keys_both is more than 3 of its standard deviations above 0. Otherwise it cannot be distinguished from none.
  bool some_in_both = false;
  std::uint64_t num_bits = 0;  // of the smaller filter. The larger one counts as folded (FORMAT.md, "Folding")
  std::uint64_t set_bits_a = 0;
  std::uint64_t set_bits_b = 0;
  std::uint64_t set_bits_both = 0;  // of the intersection. 0: certainly no key is in both
  // Computed as in FORMAT.md, "Rates and estimates". Counting: from the counters that are not 0, so that a key counts
  // once, however often it was added (if the filters are not comparable: each time). keys_both is not the number of
  // keys that the intersection's bits suggest, because some of those bits are set by chance.
  Interval keys_a;
  Interval keys_b;
  Interval keys_either;  // of the union
  Interval keys_both;
  Interval jaccard;  // keys_both / keys_either
};

}  // namespace bfstore
