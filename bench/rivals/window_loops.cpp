// The loops that bench/windows_rivals.py times, and an age-partitioned Bloom filter. Keys are 16 bytes each, one after
// the other. Each function that takes keys returns the nanoseconds of CPU time that it took, or -1 if a call failed.
//
// The age-partitioned filter is the algorithm of Shtul, Baquero & Almeida, "Age-Partitioned Bloom Filters" (2020,
// arXiv:2001.03147): k + l slices, each with a hash function of its own. A key is added to the k youngest. A turn makes
// the oldest slice the youngest one, and empties it. A key is in the filter if k slices of consecutive ages have it. A
// slice is half full after the k epochs in which keys are added to it.
#include <bfstore_engine.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr std::size_t kKeyBytes = 16;

// Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
std::uint64_t mixed(std::uint64_t number) noexcept {
  std::uint64_t z = number * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

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

void loops_make_keys(std::uint64_t first, std::uint64_t count, char* keys) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t words[2] = {mixed(2 * (first + i) + 1), mixed(2 * (first + i) + 2)};
    std::memcpy(keys + i * kKeyBytes, words, kKeyBytes);
  }
}

void* loops_age_make(std::uint32_t k, std::uint32_t l, std::uint64_t keys_of_an_epoch) {
  return new AgePartitioned(k, l, keys_of_an_epoch);
}
void loops_age_free(void* filter) { delete static_cast<AgePartitioned*>(filter); }
std::uint64_t loops_age_bytes(void* filter) { return of(filter).bytes(); }
void loops_age_turn(void* filter) { of(filter).turn(); }

std::int64_t loops_age_add(void* filter, const char* keys, std::uint64_t count) {
  const std::int64_t began = now();
  for (std::uint64_t i = 0; i < count; ++i) of(filter).add(keys + i * kKeyBytes);
  return now() - began;
}

std::int64_t loops_age_ask(void* filter, const char* keys, std::uint64_t count, std::uint8_t* answers) {
  const std::int64_t began = now();
  for (std::uint64_t i = 0; i < count; ++i) answers[i] = of(filter).contains(keys + i * kKeyBytes) ? 1 : 0;
  return now() - began;
}

std::int64_t loops_add(bfs_filter* filter, const char* keys, std::uint64_t count) {
  bool good = true;
  const std::int64_t began = now();
  for (std::uint64_t i = 0; i < count; ++i) good = bfs_add(filter, keys + i * kKeyBytes, kKeyBytes) >= 0 && good;
  const std::int64_t ended = now();
  return good ? ended - began : -1;
}

// Any of one or two filters.
std::int64_t loops_ask(bfs_filter* const* filters, std::uint32_t number, const char* keys, std::uint64_t count,
                       std::uint8_t* answers) {
  const std::int64_t began = now();
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* const key = keys + i * kKeyBytes;
    answers[i] =
        bfs_contains(filters[0], key, kKeyBytes) != 0 || (number == 2 && bfs_contains(filters[1], key, kKeyBytes) != 0)
            ? 1
            : 0;
  }
  return now() - began;
}

std::int64_t loops_ask_many(bfs_filter* const* filters, std::uint32_t number, const char* keys, std::uint64_t count,
                            std::uint8_t* answers) {
  const bfs_keys all = bfs_keys_fixed(keys, kKeyBytes, count);
  std::vector<std::uint8_t> others(number == 2 ? count : 0);
  const std::int64_t began = now();
  bool good = bfs_contains_keys(filters[0], &all, answers) >= 0;
  if (number == 2) {
    good = bfs_contains_keys(filters[1], &all, others.data()) >= 0 && good;
    for (std::uint64_t i = 0; i < count; ++i) answers[i] |= others[i];
  }
  const std::int64_t ended = now();
  return good ? ended - began : -1;
}

}  // extern "C"
