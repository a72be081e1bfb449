// RocksDB's ribbon filter, as its tables use it, as a rival of the static layout. A digest is a key of 8 bytes, which
// it hashes once more.
#include <rocksdb/table.h>

#include <algorithm>
#include <array>

#include "memory.hpp"
#include "rocksdb_internal.hpp"
#include "static_subject.hpp"

namespace bench {
namespace {

constexpr double kBitsOfBloom = 10;  // with a ribbon it keeps the rate that a Bloom filter of so many bits would have
constexpr double kMostFalse = 0.01;
constexpr std::size_t kMostAtOnce = 32;

rocksdb::Slice slice_of(const std::uint64_t& digest) noexcept {
  return {reinterpret_cast<const char*>(&digest), sizeof digest};
}

class Ribbon : public StaticSubject {
 public:
  void build(std::span<const std::uint64_t> digests) override {
    const rocksdb::BlockBasedTableOptions options;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
    for (const std::uint64_t& digest : digests) builder->AddKey(slice_of(digest));
    std::unique_ptr<const char[]> owner;
    const rocksdb::Slice made = builder->Finish(&owner);
    buffer_ = std::make_unique<HeapBuffer>(made.size());
    std::copy_n(made.data(), made.size(), reinterpret_cast<char*>(buffer_->bytes().data()));
    reader_.reset(policy_->GetFilterBitsReader({reinterpret_cast<const char*>(buffer_->bytes().data()), made.size()}));
  }

  std::uint64_t ask_each(std::span<const std::uint64_t> digests) const override {
    std::uint64_t maybes = 0;
    for (const std::uint64_t& digest : digests) maybes += reader_->MayMatch(slice_of(digest)) ? 1U : 0U;
    return maybes;
  }

  std::uint64_t ask_many(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const override {
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

  [[nodiscard]] std::size_t num_bytes() const override { return buffer_->bytes().size(); }
  // Its two windows of 128 slots lie next to each other. What RocksDB reads is not told, so this is not measured.
  [[nodiscard]] double num_pages(std::span<const std::uint64_t>) const override { return 1; }

 private:
  std::unique_ptr<const rocksdb::FilterPolicy> policy_{rocksdb::NewRibbonFilterPolicy(kBitsOfBloom)};
  std::unique_ptr<HeapBuffer> buffer_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

}  // namespace

std::vector<NamedSubject> make_rocksdb_ribbon() {
  std::vector<NamedSubject> made;
  made.push_back({"rocksdb-ribbon", kMostFalse, std::make_unique<Ribbon>()});
  return made;
}

}  // namespace bench
