// Boost.Bloom as rivals: the fastest of its kinds of filter, with digests, and with its own calls for many keys at
// once.
//
// Compiled for all vector instructions of the machine that builds it (Boost.Bloom chooses at compile time, not at run
// time), and with the headers of a newer Boost than the rest of this program. So no other use of Boost belongs into
// this file.
#include <boost/bloom.hpp>
#include <boost/version.hpp>

#include <cmath>
#include <iterator>

#include "bulk_rival.hpp"
#include "rival.hpp"

static_assert(BOOST_VERSION >= 109000, "Boost.Bloom has calls for many keys from Boost 1.90 on");

namespace bench {
namespace {

// Passes a digest on, because it is mixed well already. Hashes a key as for all other filters.
struct PassOn {
  using is_avalanching = void;  // otherwise Boost.Bloom would mix it again
  using is_transparent = void;
  const Hasher* hasher;
  std::size_t operator()(std::uint64_t digest) const noexcept { return digest; }
  std::size_t operator()(std::string_view key) const noexcept { return (*hasher)(key); }
};

// Asks for pages as the buffers of bfstore's filters in this benchmark do.
template <class T, Pages kPages>
struct PageAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = PageAllocator<U, kPages>;
  };
  PageAllocator() = default;
  template <class U>
  explicit PageAllocator(const PageAllocator<U, kPages>&) noexcept {}
  T* allocate(std::size_t count) { return reinterpret_cast<T*>(allocate_pages(count * sizeof(T), kPages)); }
  void deallocate(T* start, std::size_t count) noexcept {
    free_pages(reinterpret_cast<std::byte*>(start), count * sizeof(T));
  }
  friend bool operator==(const PageAllocator&, const PageAllocator&) noexcept { return true; }
};

// The keys of a column, one by one.
class KeyIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::string_view;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::string_view*;
  using reference = std::string_view;

  KeyIterator() = default;
  KeyIterator(const Column& keys, std::size_t i) noexcept : keys_(&keys), i_(i) {}
  std::string_view operator*() const noexcept { return (*keys_)[i_]; }
  KeyIterator& operator++() noexcept {
    ++i_;
    return *this;
  }
  KeyIterator operator++(int) noexcept {
    const KeyIterator before = *this;
    ++i_;
    return before;
  }
  friend bool operator==(const KeyIterator&, const KeyIterator&) = default;

 private:
  const Column* keys_ = nullptr;
  std::size_t i_ = 0;
};

template <std::size_t kK, class Subfilter, Pages kPages = Pages::kHuge>
class BoostSubject {
 public:
  using Filter = boost::bloom::filter<std::uint64_t, kK, Subfilter, 0, PassOn, PageAllocator<unsigned char, kPages>>;
  static constexpr std::size_t kNumProbes = kK * Subfilter::k;

  BoostSubject(const Hasher& hasher, std::size_t num_bits) : filter_(num_bits, PassOn{&hasher}) {}

  bool contains_digest(std::uint64_t digest) const noexcept { return filter_.may_contain(digest); }
  std::uint64_t contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    return ask(digests.begin(), digests.end(), answers);
  }
  bool contains(std::string_view key) const noexcept { return filter_.may_contain(key); }
  std::uint64_t contains_column(const Column& keys, std::span<std::uint8_t> answers) const {
    return ask(KeyIterator(keys, 0), KeyIterator(keys, keys.size()), answers);
  }
  std::uint64_t add_digest(std::uint64_t digest) noexcept {
    filter_.insert(digest);
    return 0;
  }
  std::uint64_t add_digests(std::span<const std::uint64_t> digests) {
    filter_.insert(digests.begin(), digests.end());
    return 0;
  }
  void clear() noexcept { filter_.clear(); }

  [[nodiscard]] RivalFacts facts() const noexcept {
    const auto array = filter_.array();
    return {static_cast<double>(kNumProbes), static_cast<double>(array.size()), array.data()};
  }

 private:
  template <class Iterator>
  std::uint64_t ask(Iterator first, Iterator last, std::span<std::uint8_t> answers) const {
    std::uint8_t* answer = answers.data();
    std::uint64_t maybes = 0;
    filter_.may_contain(first, last, [&](const auto&, bool maybe) {
      *answer++ = maybe ? 1 : 0;
      maybes += maybe ? 1U : 0U;
    });
    return maybes;
  }

  Filter filter_;
};

template <std::size_t kK, class Subfilter>
void add_one(RivalSite& site, const std::string& name, double bits_per_key) {
  const auto num_bits = static_cast<std::size_t>(static_cast<double>(site.num_keys()) * bits_per_key);
  add_rival(site, name, std::make_shared<BoostSubject<kK, Subfilter>>(site.hasher, num_bits));
}

// The rate of a filter of blocks of 8 words, in each of which a key sets one bit: the mean over the numbers of keys
// that chance puts into a block (Poisson).
double multiblock_rate(double word_bits, double bits_per_key) noexcept {
  constexpr int kWords = 8;
  const double mean = kWords * word_bits / bits_per_key;
  double chance = std::exp(-mean);
  double rate = 0;
  for (int keys = 1; keys < 10 * mean + 50; ++keys) {
    chance *= mean / keys;
    rate += chance * std::pow(1 - std::pow(1 - 1 / word_bits, keys), kWords);
  }
  return rate;
}

// The bits a key with which such a filter has that rate.
double multiblock_bits(double word_bits, double rate) noexcept {
  double few = 2;
  double many = 128;
  for (int i = 0; i < 50; ++i) {
    const double middle = (few + many) / 2;
    (multiblock_rate(word_bits, middle) > rate ? few : many) = middle;
  }
  return many;
}

// Uses as many probes as bfstore's blocked and classic filters have at that many bits a key.
template <std::size_t kBlockK, std::size_t kClassicK>
void add_all(RivalSite& site) {
  using Fast32 = boost::bloom::fast_multiblock32<8>;
  using Fast64 = boost::bloom::fast_multiblock64<8>;
  add_one<1, Fast32>(site, "boost-fast32x8", site.bits_per_key);
  add_one<1, Fast64>(site, "boost-fast64x8", site.bits_per_key);
  add_one<1, Fast32>(site, "boost-fast32x8-equal", multiblock_bits(32, site.rate));
  add_one<1, Fast64>(site, "boost-fast64x8-equal", multiblock_bits(64, site.rate));
  add_one<1, boost::bloom::block<std::uint64_t[8], kBlockK>>(site, "boost-block512", site.bits_per_key);
  add_one<kClassicK, boost::bloom::block<unsigned char, 1>>(site, "boost-classic", site.bits_per_key);
}

template <class Subfilter, Pages kPages>
BulkRival bulk_rival(const std::string& name, const Hasher& hasher, std::size_t num_bits) {
  const auto subject = std::make_shared<BoostSubject<1, Subfilter, kPages>>(hasher, num_bits);
  return {name, [subject](std::span<const std::uint64_t> digests) { subject->add_digests(digests); },
          [subject](std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) {
            return subject->contains_digests(digests, answers);
          },
          [subject] { subject->clear(); }, [subject] { return subject->facts(); }};
}

template <Pages kPages>
std::vector<BulkRival> bulk_rivals(const Hasher& hasher, std::uint64_t num_keys, double rate) {
  const auto num_bits = [&](double word_bits) {
    return static_cast<std::size_t>(static_cast<double>(num_keys) * multiblock_bits(word_bits, rate));
  };
  return {
      bulk_rival<boost::bloom::fast_multiblock32<8>, kPages>("boost-fast32x8-equal", hasher, num_bits(32)),
      bulk_rival<boost::bloom::fast_multiblock64<8>, kPages>("boost-fast64x8-equal", hasher, num_bits(64)),
  };
}

}  // namespace

std::vector<BulkRival> boost_for_bulk(const Hasher& hasher, std::uint64_t num_keys, double rate, Pages pages) {
  return pages == Pages::kHuge ? bulk_rivals<Pages::kHuge>(hasher, num_keys, rate)
                               : bulk_rivals<Pages::kSmall>(hasher, num_keys, rate);
}

void add_boost_bloom(RivalSite& site) {
  if (site.bits_per_key == 10) {
    add_all<6, 7>(site);
  } else if (site.bits_per_key == 16) {
    add_all<9, 11>(site);
  } else {
    site.not_measured["Boost.Bloom"] = "its number of probes is compiled in, for 10 and 16 bits a key alone";
  }
}

}  // namespace bench
