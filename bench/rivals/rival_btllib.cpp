// The counting Bloom filter of btllib as a rival: k counters of 8 bits anywhere in the filter. It counts keys and
// removes none, because an add raises only the least of a key's counters. It takes the k hashes of a key. Here they are
// made of the digest as Kirsch and Mitzenmacher do ("Less hashing, same performance", 2006), which costs next to
// nothing.
#include <btllib/counting_bloom_filter.hpp>

#include <array>
#include <cmath>

#include "rival.hpp"

namespace bench {
namespace {

constexpr unsigned kMostProbes = 16;

class BtllibSubject {
 public:
  static constexpr bool kCounts = true;

  BtllibSubject(std::uint64_t num_keys, double bits_per_key)
      : bytes_(static_cast<std::size_t>(static_cast<double>(num_keys) * bits_per_key / 8)),
        num_probes_(best_probes(bits_per_key / 8)) {
    clear();
  }

  bool contains_digest(std::uint64_t digest) const { return filter_->contains(hashes(digest).data()) != 0; }
  std::uint64_t add_digest(std::uint64_t digest) {
    return filter_->contains_insert(hashes(digest).data()) == 0 ? 1U : 0U;
  }
  // btllib has no call that empties a filter.
  void clear() { filter_ = std::make_unique<btllib::CountingBloomFilter8>(bytes_, num_probes_); }

  [[nodiscard]] RivalFacts facts() const {
    return {static_cast<double>(num_probes_), static_cast<double>(filter_->get_bytes()), nullptr};
  }

 private:
  // Bloom's k for that many counters a key.
  static unsigned best_probes(double counters_per_key) {
    return std::clamp(static_cast<unsigned>(std::lround(counters_per_key * std::log(2.0))), 1U, kMostProbes);
  }

  // btllib's index is a remainder, so all bits of a hash count.
  [[nodiscard]] std::array<std::uint64_t, kMostProbes> hashes(std::uint64_t digest) const noexcept {
    std::array<std::uint64_t, kMostProbes> all;
    const std::uint64_t step = (digest << 32 | digest >> 32) * 0x9e3779b97f4a7c15U | 1U;
    for (unsigned i = 0; i < num_probes_; ++i) all[i] = digest + i * step;
    return all;
  }

  std::size_t bytes_;
  unsigned num_probes_;
  std::unique_ptr<btllib::CountingBloomFilter8> filter_;
};

}  // namespace

void add_btllib(RivalSite& site) {
  add_rival(site, "btllib", std::make_shared<BtllibSubject>(site.num_keys(), site.bits_per_key));
}

}  // namespace bench
