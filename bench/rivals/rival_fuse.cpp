// Binary fuse filters of xor_singleheader (Graf, Lemire: "Binary Fuse Filters", 2022) as rivals of the static layout.
// The library asks one key at a time; here many are under way, with its own functions.
#include <binaryfusefilter.h>

#include <array>
#include <set>

#include "fail.hpp"
#include "static_subject.hpp"

namespace bench {
namespace {

constexpr std::size_t kAhead = 32;
constexpr std::uintptr_t kPage = 4096;

// The functions that the library has twice, for each size of fingerprints.
struct Bytes {
  using Filter = binary_fuse8_t;
  using Fingerprint = std::uint8_t;
  static constexpr auto kAllocate = binary_fuse8_allocate;
  static constexpr auto kPopulate = binary_fuse8_populate;
  static constexpr auto kContain = binary_fuse8_contain;
  static constexpr auto kFree = binary_fuse8_free;
  static constexpr auto kHashes = binary_fuse8_hash_batch;
  static constexpr auto kFingerprint = binary_fuse8_fingerprint;
};
struct Pairs {
  using Filter = binary_fuse16_t;
  using Fingerprint = std::uint16_t;
  static constexpr auto kAllocate = binary_fuse16_allocate;
  static constexpr auto kPopulate = binary_fuse16_populate;
  static constexpr auto kContain = binary_fuse16_contain;
  static constexpr auto kFree = binary_fuse16_free;
  static constexpr auto kHashes = binary_fuse16_hash_batch;
  static constexpr auto kFingerprint = binary_fuse16_fingerprint;
};

template <class Of>
class Fuse : public StaticSubject {
 public:
  ~Fuse() override { Of::kFree(&filter_); }

  void build(std::span<const std::uint64_t> digests) override {
    std::vector<std::uint64_t> keys(digests.begin(), digests.end());  // it may change their order
    const auto count = static_cast<std::uint32_t>(keys.size());
    if (!Of::kAllocate(count, &filter_) || !Of::kPopulate(keys.data(), count, &filter_))
      fail("a binary fuse filter could not be built");
  }

  std::uint64_t ask_each(std::span<const std::uint64_t> digests) const override {
    std::uint64_t maybes = 0;
    for (const std::uint64_t digest : digests) maybes += Of::kContain(digest, &filter_) ? 1U : 0U;
    return maybes;
  }

  std::uint64_t ask_many(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const override {
    const auto test = [](const Place& place) {
      return (place.fingerprint ^ *place.at[0] ^ *place.at[1] ^ *place.at[2]) == 0;
    };
    const auto prefetch = [](const Place& place) {
      for (const auto* at : place.at) __builtin_prefetch(at);
    };
    return ask_rolling<kAhead>(
        digests, answers, [this](std::uint64_t digest) { return place_of(digest); }, prefetch, test);
  }

  [[nodiscard]] std::size_t num_bytes() const override {
    return filter_.ArrayLength * sizeof(typename Of::Fingerprint);
  }
  [[nodiscard]] double num_pages(std::span<const std::uint64_t> digests) const override {
    std::size_t sum = 0;
    for (const std::uint64_t digest : digests) {
      std::set<std::uintptr_t> pages;
      for (const auto* at : place_of(digest).at) pages.insert(reinterpret_cast<std::uintptr_t>(at) / kPage);
      sum += pages.size();
    }
    return static_cast<double>(sum) / static_cast<double>(digests.size());
  }

 private:
  struct Place {
    std::array<const typename Of::Fingerprint*, 3> at;
    typename Of::Fingerprint fingerprint;
  };

  [[nodiscard]] Place place_of(std::uint64_t digest) const {
    const std::uint64_t hash = binary_fuse_mix_split(digest, filter_.Seed);
    const binary_hashes_t hashes = Of::kHashes(hash, &filter_);
    const typename Of::Fingerprint* const all = filter_.Fingerprints;
    return {{all + hashes.h0, all + hashes.h1, all + hashes.h2},
            static_cast<typename Of::Fingerprint>(Of::kFingerprint(hash))};
  }

  typename Of::Filter filter_{};
};

}  // namespace

std::vector<NamedSubject> make_fuse() {
  std::vector<NamedSubject> made;
  made.push_back({"fuse8", 1.0 / 256, std::make_unique<Fuse<Bytes>>()});
  made.push_back({"fuse16", 1.0 / 65536, std::make_unique<Fuse<Pairs>>()});
  return made;
}

}  // namespace bench
