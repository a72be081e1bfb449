// LevelDB's built-in filter as a rival. It takes only keys as bytes, so a digest is a key of 8 bytes, which it hashes
// once more. It is made of all its keys at once, and is asked one by one.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>

#include "rival.hpp"

namespace bench {
namespace {

leveldb::Slice slice_of(const std::uint64_t& digest) noexcept {
  return {reinterpret_cast<const char*>(&digest), sizeof digest};
}

class LeveldbSubject {
 public:
  explicit LeveldbSubject(int bits_per_key) : policy_(leveldb::NewBloomFilterPolicy(bits_per_key)) {}

  bool contains_digest(std::uint64_t digest) const { return policy_->KeyMayMatch(slice_of(digest), filter_); }

  std::uint64_t add_digests(std::span<const std::uint64_t> digests) {
    std::vector<leveldb::Slice> slices;
    slices.reserve(digests.size());
    for (const std::uint64_t& digest : digests) slices.push_back(slice_of(digest));
    std::string made;
    policy_->CreateFilter(slices.data(), static_cast<int>(slices.size()), &made);
    // Puts the filter into huge pages, as for all subjects. The copy is a small part of making it.
    if (buffer_ == nullptr || buffer_->bytes().size() != made.size())
      buffer_ = std::make_unique<HeapBuffer>(made.size());
    char* start = reinterpret_cast<char*>(buffer_->bytes().data());
    std::copy(made.begin(), made.end(), start);
    filter_ = leveldb::Slice(start, made.size());
    return 0;
  }
  void clear() noexcept { filter_.clear(); }

  // The last byte is the number of probes.
  [[nodiscard]] RivalFacts facts() const noexcept {
    return {static_cast<double>(filter_[filter_.size() - 1]), static_cast<double>(filter_.size()), filter_.data()};
  }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> policy_;
  std::unique_ptr<HeapBuffer> buffer_;
  leveldb::Slice filter_;
};

}  // namespace

void add_leveldb(RivalSite& site) {
  const int bits_per_key = static_cast<int>(site.bits_per_key);
  if (bits_per_key != site.bits_per_key) {
    site.not_measured["LevelDB"] = "it takes only whole numbers of bits a key";
  } else if (site.num_keys() > INT32_MAX) {
    site.not_measured["LevelDB"] = "it counts keys in an int";
  } else {
    add_rival(site, "leveldb", std::make_shared<LeveldbSubject>(bits_per_key));
  }
}

}  // namespace bench
