// libbloom (by Jyri J. Virkki) as a rival. It takes only keys as bytes, so a digest is a key of 8 bytes, which it
// hashes twice more (MurmurHash2). It has no call for many keys.
#include <bloom.h>

#include <cmath>

#include "rival.hpp"

namespace bench {
namespace {

class LibbloomSubject {
 public:
  // Its size follows from the requested rate: ln(rate) = -bits * ln(2)^2.
  LibbloomSubject(int num_keys, double bits_per_key) {
    const double ln2 = std::log(2.0);
    if (bloom_init(&bloom_, num_keys, std::exp(-bits_per_key * ln2 * ln2)) != 0) fail("libbloom: bloom_init failed");
    ask_for_huge_pages(bloom_.bf, static_cast<std::uint64_t>(bloom_.bytes));
  }
  LibbloomSubject(const LibbloomSubject&) = delete;
  LibbloomSubject& operator=(const LibbloomSubject&) = delete;
  ~LibbloomSubject() { bloom_free(&bloom_); }

  bool contains_digest(std::uint64_t digest) const noexcept {
    return bloom_check(&bloom_, &digest, sizeof digest) != 0;
  }
  std::uint64_t add_digest(std::uint64_t digest) noexcept {
    return bloom_add(&bloom_, &digest, sizeof digest) == 0 ? 1U : 0U;
  }
  void clear() noexcept { static_cast<void>(bloom_reset(&bloom_)); }

  [[nodiscard]] RivalFacts facts() const noexcept {
    return {static_cast<double>(bloom_.hashes), static_cast<double>(bloom_.bytes), bloom_.bf};
  }

 private:
  mutable struct bloom bloom_ {};  // bloom_check changes nothing, but its declaration does not say so
};

}  // namespace

void add_libbloom(RivalSite& site) {
  // It counts bits in an int.
  if (static_cast<double>(site.num_keys()) * site.bits_per_key > INT32_MAX) {
    site.not_measured["libbloom"] = "it counts bits in an int, and so many do not fit";
  } else {
    add_rival(site, "libbloom",
              std::make_shared<LibbloomSubject>(static_cast<int>(site.num_keys()), site.bits_per_key));
  }
}

}  // namespace bench
