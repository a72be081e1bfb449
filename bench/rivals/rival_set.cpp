// std::unordered_set of the digests as the floor: what a program without a filter does, in the pages that malloc gives.
#include <unordered_set>

#include "rival.hpp"

namespace bench {
namespace {

// glibc's malloc takes 32 bytes for the 16 of a node; a bucket is a pointer.
constexpr std::uint64_t kNodeBytes = 32;
constexpr std::uint64_t kBucketBytes = sizeof(void*);

// More keys take minutes to add, in a full run of an hour.
constexpr std::uint64_t kMostKeys = 20'000'000;

class SetSubject {
 public:
  explicit SetSubject(std::uint64_t num_keys) { set_.reserve(num_keys); }

  bool contains_digest(std::uint64_t digest) const noexcept { return set_.contains(digest); }
  std::uint64_t add_digest(std::uint64_t digest) { return set_.insert(digest).second ? 1U : 0U; }
  std::uint64_t remove_digest(std::uint64_t digest) { return set_.erase(digest); }
  void clear() noexcept { set_.clear(); }

  [[nodiscard]] RivalFacts facts() const noexcept {
    const std::uint64_t bytes = set_.size() * kNodeBytes + set_.bucket_count() * kBucketBytes;
    return {0, static_cast<double>(bytes), &*set_.begin()};
  }

 private:
  std::unordered_set<std::uint64_t> set_;
};

}  // namespace

void add_unordered_set(RivalSite& site) {
  const std::uint64_t needed = site.num_keys() * (kNodeBytes + 2 * kBucketBytes);
  const std::uint64_t spare = std::uint64_t{2} << 30;
  if (!site.first_of_its_size) {
    site.not_measured["std::unordered_set"] = "measured once for this number of keys: it has no bits a key";
  } else if (site.num_keys() > kMostKeys) {
    site.not_measured["std::unordered_set"] = "adding so many keys takes minutes, and its memory is 50 bytes a key";
  } else if (available_memory() < needed + spare) {
    site.not_measured["std::unordered_set"] =
        "would need " + std::to_string(needed >> 20) + " MiB, which this machine did not have left";
  } else {
    add_rival(site, "std-set", std::make_shared<SetSubject>(site.num_keys()));
  }
}

}  // namespace bench
