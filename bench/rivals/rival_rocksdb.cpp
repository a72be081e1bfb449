// RocksDB's FastLocalBloom as rivals, in three ways:
//   rocksdb         librocksdb as its tables use it: a digest is a key of 8 bytes, which it hashes once more; many at
//                   once is its own call, for 32 keys; the filter is made of all keys at once
//   rocksdb-digest  librocksdb's test of a key that is hashed already, which exists for single keys only
//   rocksdb-avx2    the same filter with the vector code of a RocksDB built for AVX2 (local_bloom.hpp)
#include <rocksdb/table.h>

#include <algorithm>
#include <array>

#include "rival.hpp"
#include "rocksdb_internal.hpp"
#ifdef __AVX2__
#include "local_bloom.hpp"
#endif

namespace bench {
namespace {

constexpr std::size_t kMostAtOnce = 32;
constexpr std::size_t kTail = 5;  // bytes after the lines: the kind of filter, and its number of probes

rocksdb::Slice slice_of(const std::uint64_t& digest) noexcept {
  return {reinterpret_cast<const char*>(&digest), sizeof digest};
}

// A policy, and the reader of one filter in a buffer with huge pages.
class Policy {
 public:
  explicit Policy(double bits_per_key) : policy_(rocksdb::NewBloomFilterPolicy(bits_per_key)) {}

  // Builds a filter of the keys with the policy's own builder.
  rocksdb::Slice build(std::span<const std::uint64_t> digests, std::unique_ptr<const char[]>& owner) const {
    const rocksdb::BlockBasedTableOptions options;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
    for (const std::uint64_t& digest : digests) builder->AddKey(slice_of(digest));
    return builder->Finish(&owner);
  }

  [[nodiscard]] std::unique_ptr<rocksdb::FilterBitsReader> read(std::span<const std::byte> filter) const {
    return std::unique_ptr<rocksdb::FilterBitsReader>(
        policy_->GetFilterBitsReader({reinterpret_cast<const char*>(filter.data()), filter.size()}));
  }

 private:
  std::unique_ptr<const rocksdb::FilterPolicy> policy_;
};

std::uint32_t num_probes_of(std::span<const std::byte> filter) noexcept {
  return std::to_integer<std::uint32_t>(filter[filter.size() - kTail + 2]) & 31;
}

class RocksdbSubject {
 public:
  explicit RocksdbSubject(double bits_per_key) : policy_(bits_per_key) {}

  bool contains_digest(std::uint64_t digest) const { return reader_->MayMatch(slice_of(digest)); }

  std::uint64_t contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    std::array<rocksdb::Slice, kMostAtOnce> keys;
    std::array<rocksdb::Slice*, kMostAtOnce> pointers;
    for (std::size_t i = 0; i < kMostAtOnce; ++i) pointers[i] = &keys[i];
    std::array<bool, kMostAtOnce> maybe{};
    std::uint64_t maybes = 0;
    for (std::size_t begin = 0; begin < digests.size(); begin += kMostAtOnce) {
      const std::size_t count = std::min(kMostAtOnce, digests.size() - begin);
      for (std::size_t i = 0; i < count; ++i) keys[i] = slice_of(digests[begin + i]);
      reader_->MayMatch(static_cast<int>(count), pointers.data(), maybe.data());
      for (std::size_t i = 0; i < count; ++i) maybes += answers[begin + i] = maybe[i] ? 1 : 0;
    }
    return maybes;
  }

  std::uint64_t add_digests(std::span<const std::uint64_t> digests) {
    std::unique_ptr<const char[]> owner;
    const rocksdb::Slice made = policy_.build(digests, owner);
    // Puts the filter into huge pages, as for all subjects. The copy is a small part of making it.
    if (buffer_ == nullptr || buffer_->bytes().size() != made.size())
      buffer_ = std::make_unique<HeapBuffer>(made.size());
    std::copy_n(made.data(), made.size(), reinterpret_cast<char*>(buffer_->bytes().data()));
    reader_ = policy_.read(buffer_->bytes());
    return 0;
  }
  void clear() noexcept { reader_ = nullptr; }

  [[nodiscard]] RivalFacts facts() const noexcept {
    const std::span<const std::byte> filter = buffer_->bytes();
    return {static_cast<double>(num_probes_of(filter)), static_cast<double>(filter.size()), filter.data()};
  }

 private:
  Policy policy_;
  std::unique_ptr<HeapBuffer> buffer_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

#ifdef __AVX2__

std::uint32_t probes_for(const Policy& policy) {
  const std::uint64_t one = 1;
  std::unique_ptr<const char[]> owner;
  const rocksdb::Slice filter = policy.build(std::span(&one, 1), owner);
  return num_probes_of({reinterpret_cast<const std::byte*>(filter.data()), filter.size()});
}

// A filter whose bits are set here, and tested here and by librocksdb.
class LocalBloomSubject {
 public:
  LocalBloomSubject(const Hasher& hasher, std::uint64_t num_keys, double bits_per_key)
      : hasher_(&hasher),
        policy_(bits_per_key),
        num_lines_(static_cast<std::uint32_t>(static_cast<double>(num_keys) * bits_per_key / 512 + 1)),
        buffer_(std::uint64_t{num_lines_} * 64 + kTail),
        lines_{buffer_.bytes().data(), num_lines_, probes_for(policy_)} {
    clear();
    // The tail marks the filter as cache-local, in 64-byte lines.
    const std::span<std::byte> tail = buffer_.bytes().last(kTail);
    std::fill(tail.begin(), tail.end(), std::byte{0});
    tail[0] = std::byte{0xff};
    tail[2] = static_cast<std::byte>(lines_.num_probes);
    reader_ = policy_.read(buffer_.bytes());
  }

  bool contains_digest(std::uint64_t digest) const noexcept {
    return LocalBloom::test(lines_.line(digest), digest, lines_.num_probes);
  }
  bool contains(std::string_view key) const noexcept { return contains_digest((*hasher_)(key)); }
  std::uint64_t contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    return ask(
        digests.size(), [digests](std::size_t i) { return digests[i]; }, answers);
  }
  std::uint64_t contains_column(const Column& keys, std::span<std::uint8_t> answers) const {
    return ask(
        keys.size(), [&keys, this](std::size_t i) { return (*hasher_)(keys[i]); }, answers);
  }

  std::uint64_t add_digest(std::uint64_t digest) noexcept {
    LocalBloom::add(lines_.line(digest), digest, lines_.num_probes);
    return 0;
  }
  // Adds with a prefetch 8 keys ahead, as in RocksDB's builder.
  std::uint64_t add_digests(std::span<const std::uint64_t> digests) noexcept {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (i + kAhead < digests.size()) __builtin_prefetch(lines_.line(digests[i + kAhead]), 1);
      add_digest(digests[i]);
    }
    return 0;
  }
  void clear() noexcept { std::fill_n(lines_.body, std::uint64_t{num_lines_} * 64, std::byte{0}); }

  [[nodiscard]] rocksdb::FilterBitsReader& reader() const noexcept { return *reader_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return *hasher_; }
  [[nodiscard]] RivalFacts facts() const noexcept {
    return {static_cast<double>(lines_.num_probes), static_cast<double>(buffer_.bytes().size()), lines_.body};
  }

 private:
  // Prefetches the lines of 32 keys, then tests them, as in RocksDB's own call for many keys.
  template <class DigestOf>
  std::uint64_t ask(std::size_t count, DigestOf digest_of, std::span<std::uint8_t> answers) const {
    std::array<std::uint64_t, kMostAtOnce> digests;
    std::array<const std::byte*, kMostAtOnce> starts;
    std::uint64_t maybes = 0;
    for (std::size_t begin = 0; begin < count; begin += kMostAtOnce) {
      const std::size_t now = std::min(kMostAtOnce, count - begin);
      for (std::size_t i = 0; i < now; ++i) {
        digests[i] = digest_of(begin + i);
        starts[i] = lines_.line(digests[i]);
        __builtin_prefetch(starts[i]);
      }
      for (std::size_t i = 0; i < now; ++i)
        maybes += answers[begin + i] = LocalBloom::test(starts[i], digests[i], lines_.num_probes) ? 1 : 0;
    }
    return maybes;
  }

  const Hasher* hasher_;
  Policy policy_;
  std::uint32_t num_lines_;
  HeapBuffer buffer_;
  LocalBloom lines_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

// Asks librocksdb about the same filter.
class HashedSubject {
 public:
  explicit HashedSubject(std::shared_ptr<const LocalBloomSubject> filter) : filter_(std::move(filter)) {}
  bool contains_digest(std::uint64_t digest) const { return filter_->reader().HashMayMatch(digest); }
  bool contains(std::string_view key) const { return contains_digest(filter_->hasher()(key)); }

 private:
  std::shared_ptr<const LocalBloomSubject> filter_;
};

void check_same(const std::string& name, const HashedSubject& library, const LocalBloomSubject& ours,
                std::span<const std::uint64_t> digests) {
  for (const std::uint64_t digest : digests) {
    if (library.contains_digest(digest) != ours.contains_digest(digest))
      fail(name + ": librocksdb and the same filter with vectors differ for digest " + std::to_string(digest));
  }
}

void add_hashed(RivalSite& site) {
  const auto filter = std::make_shared<LocalBloomSubject>(site.hasher, site.num_keys(), site.bits_per_key);
  const Truth truth = add_rival(site, "rocksdb-avx2", filter);
  const auto library = std::make_shared<HashedSubject>(filter);
  const Population& population = site.population;
  check_same(site.place, *library, *filter, population.present_queries);
  check_same(site.place, *library, *filter, population.absent);
  // The rows have the facts of the filter that they ask.
  RowMaker maker{site.place, "rocksdb-digest", site.rows.back().facts, {}};
  for (Row& row : subject_rows(std::move(maker), *library, population, truth, site.answers))
    site.rows.push_back(std::move(row));
  site.subjects.push_back(library);
}

#endif

}  // namespace

void add_rocksdb(RivalSite& site) {
  add_rival(site, "rocksdb", std::make_shared<RocksdbSubject>(site.bits_per_key));
#ifdef __AVX2__
  add_hashed(site);
#else
  site.not_measured["RocksDB, hashed keys"] = "this was built for a machine without AVX2";
#endif
}

}  // namespace bench
