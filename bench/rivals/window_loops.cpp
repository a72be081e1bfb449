// An age-partitioned Bloom filter, for bench/windows_rivals.py. It is the algorithm of Shtul, Baquero & Almeida,
// "Age-Partitioned Bloom Filters" (2020, arXiv:2001.03147): k + l slices, each with a hash function of its own. A key
// is added to the k youngest. A turn makes the oldest slice the youngest one, and empties it. A key is in the filter if
// k slices of consecutive ages have it. A slice is half full after the k epochs in which keys are added to it.
#include "key_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

class AgePartitioned {
 public:
  AgePartitioned(std::uint32_t k, std::uint32_t l, std::uint64_t keys_of_an_epoch)
      : k_(k),
        l_(l),
        slices_(k + l),
        slice_bits_(static_cast<std::uint64_t>(
            std::ceil(static_cast<double>(k) * static_cast<double>(keys_of_an_epoch) / std::log(2.0)))),
        slice_words_((slice_bits_ + 63) / 64),
        words_(slices_ * slice_words_) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept { return words_.size() * sizeof words_[0]; }

  void turn() noexcept {
    youngest_ = (youngest_ + slices_ - 1) % slices_;
    std::fill_n(words_.begin() + static_cast<std::ptrdiff_t>(youngest_ * slice_words_), slice_words_, 0);
  }

  void add(const char* key) noexcept {
    const Hashed hashed(key);
    for (std::uint32_t age = 0; age < k_; ++age) {
      const Place place = place_of(hashed, age);
      words_[place.word] |= place.mask;
    }
  }

  // Looks at the oldest k slices first. If a slice has not got the key, none of the k ages that end with it can have it
  // all: it goes on k ages before, and counts those that it has seen between.
  [[nodiscard]] bool contains(const char* key) const noexcept {
    const Hashed hashed(key);
    std::int64_t age = l_;
    std::uint32_t seen_before = 0;
    std::uint32_t seen = 0;
    while (age >= 0) {
      const Place place = place_of(hashed, static_cast<std::uint32_t>(age));
      if ((words_[place.word] & place.mask) != 0) {
        ++seen;
        ++age;
        if (seen + seen_before == k_) return true;
      } else {
        age -= k_;
        seen_before = seen;
        seen = 0;
      }
    }
    return false;
  }

 private:
  struct Hashed {
    explicit Hashed(const char* key) noexcept {
      std::uint64_t words[2];
      std::memcpy(words, key, sizeof words);
      first = mixed(words[0] ^ mixed(words[1]));
      step = mixed(first) | 1;
    }
    std::uint64_t first;
    std::uint64_t step;
  };
  struct Place {
    std::uint64_t word;
    std::uint64_t mask;
  };

  [[nodiscard]] Place place_of(const Hashed& hashed, std::uint32_t age) const noexcept {
    __extension__ using Wide = unsigned __int128;
    std::uint32_t slice = youngest_ + age;
    if (slice >= slices_) slice -= slices_;
    const std::uint64_t hash = hashed.first + slice * hashed.step;
    const auto bit = static_cast<std::uint64_t>(static_cast<Wide>(hash) * slice_bits_ >> 64U);
    return {slice * slice_words_ + bit / 64, std::uint64_t{1} << bit % 64};
  }

  std::uint32_t k_;
  std::uint32_t l_;
  std::uint32_t slices_;
  std::uint64_t slice_bits_;
  std::uint64_t slice_words_;
  std::vector<std::uint64_t> words_;
  std::uint32_t youngest_ = 0;
};

AgePartitioned& of(void* filter) noexcept { return *static_cast<AgePartitioned*>(filter); }

}  // namespace

extern "C" {

void* loops_age_make(std::uint32_t k, std::uint32_t l, std::uint64_t keys_of_an_epoch) {
  return new AgePartitioned(k, l, keys_of_an_epoch);
}
void loops_age_free(void* filter) { delete static_cast<AgePartitioned*>(filter); }
std::uint64_t loops_age_bytes(void* filter) { return of(filter).bytes(); }
void loops_age_turn(void* filter) { of(filter).turn(); }

std::int64_t loops_age_add(void* filter, const char* keys, std::uint64_t count) {
  const std::int64_t began = cpu_now();
  for (std::uint64_t i = 0; i < count; ++i) of(filter).add(keys + i * KEY_BYTES);
  return cpu_now() - began;
}

std::int64_t loops_age_ask(void* filter, const char* keys, std::uint64_t count, std::uint8_t* answers) {
  const std::int64_t began = cpu_now();
  for (std::uint64_t i = 0; i < count; ++i) answers[i] = of(filter).contains(keys + i * KEY_BYTES) ? 1 : 0;
  return cpu_now() - began;
}

}  // extern "C"
