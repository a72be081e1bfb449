// A filter that is built once from all its digests, in bfstatic. Its loops are in it, so that no virtual call is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

class StaticSubject {
 public:
  StaticSubject() = default;
  StaticSubject(const StaticSubject&) = delete;
  StaticSubject& operator=(const StaticSubject&) = delete;
  virtual ~StaticSubject() = default;

  virtual void build(std::span<const std::uint64_t> digests) = 0;
  // Returns the number that may be present.
  virtual std::uint64_t ask_each(std::span<const std::uint64_t> digests) const = 0;
  virtual std::uint64_t ask_many(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const = 0;
  [[nodiscard]] virtual std::size_t num_bytes() const = 0;
  // The pages of 4 KiB that a lookup reads, if the filter is not in memory, on average over these.
  [[nodiscard]] virtual double num_pages(std::span<const std::uint64_t> digests) const = 0;
};

struct NamedSubject {
  std::string name;
  double most_false;  // the rate that it promises
  std::unique_ptr<StaticSubject> subject;
};

// Binary fuse filters of xor_singleheader; RocksDB's ribbon. Each if its library was there when this was built.
std::vector<NamedSubject> make_fuse();
std::vector<NamedSubject> make_rocksdb_ribbon();

// Asks with `ahead` lookups under way: place_of(digest) says where a lookup reads, prefetch(place) asks for it, and
// test(place) answers.
template <std::size_t ahead, class PlaceOf, class Prefetch, class Test>
std::uint64_t ask_rolling(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers, PlaceOf place_of,
                          Prefetch prefetch, Test test) {
  decltype(place_of(digests[0])) places[ahead];
  std::uint64_t maybes = 0;
  for (std::size_t i = 0; i < digests.size() + ahead; ++i) {
    auto& place = places[i % ahead];
    if (i >= ahead) maybes += answers[i - ahead] = test(place) ? 1 : 0;
    if (i >= digests.size()) continue;
    place = place_of(digests[i]);
    prefetch(place);
  }
  return maybes;
}

}  // namespace bench
