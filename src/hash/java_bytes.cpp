// The positions of ByteBufferBloomFilter of tutorials in Java: eight polynomials over the UTF-16 units of the key, each
// of which chooses the byte for one bit of a byte.
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include <array>
#include <cstddef>
#include <utility>

#include "base/bytes.hpp"
#include "hash/hash.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

constexpr std::array<std::uint32_t, 8> kSeeds{33, 53, 79, 97, 113, 137, 163, 181};
constexpr std::uint32_t kStart = 5381;
using Hashes = std::array<std::uint32_t, kSeeds.size()>;

// Java's `h = seed * h + charAt(i)`, for all seeds.
Hashes hashes_of(std::string_view key) noexcept {
  Hashes hashes;
  hashes.fill(kStart);
  each_utf16_unit(key, [&hashes](std::uint16_t unit) {
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = hashes[i] * kSeeds[i] + unit;
  });
  return hashes;
}

constexpr std::uint32_t power(std::uint32_t seed, std::size_t exponent) noexcept {
  std::uint32_t product = 1;
  for (std::size_t i = 0; i < exponent; ++i) product *= seed;
  return product;
}

// A key in words of eight bytes. The first word has what is left after whole ones, with zeros before it: those add
// nothing to a polynomial.
class Words {
 public:
  static constexpr std::size_t kBytes = sizeof(std::uint64_t);

  explicit Words(std::string_view key) noexcept
      : begin_(reinterpret_cast<const std::byte*>(key.data())),
        in_first_(key.size() % kBytes),
        num_(key.size() / kBytes) {
    const auto start = num_ != 0 ? base::load<std::uint64_t>(begin_) : base::load_rest(begin_, in_first_);
    first_ = start << 8 << 8 * (kBytes - 1 - in_first_);
  }

  [[nodiscard]] std::size_t bytes_in_first() const noexcept { return in_first_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::size_t num_whole() const noexcept { return num_; }
  [[nodiscard]] std::uint64_t whole(std::size_t i) const noexcept {
    return base::load<std::uint64_t>(begin_ + in_first_ + i * kBytes);
  }
  [[nodiscard]] bool are_ascii() const noexcept {
    std::uint64_t all = first_;
    for (std::size_t i = 0; i < num_; ++i) all |= whole(i);
    return (all & 0x8080808080808080) == 0;
  }

 private:
  const std::byte* begin_;
  std::size_t in_first_;
  std::size_t num_;
  std::uint64_t first_;
};

// The polynomials of a seed over both halves of eight characters of ASCII, whose bytes are their units. No term
// overflows: that of two characters is at most 127 * 181 + 127, and 181 * 181 is below 2^15, as SSE2 needs it.
template <std::uint32_t kSeed>
BFSTORE_ALWAYS_INLINE std::uint64_t polynomials_of(std::uint64_t units) noexcept {
#ifdef __x86_64__
  const __m128i all = _mm_cvtsi64_si128(static_cast<std::int64_t>(units));
  const __m128i firsts = _mm_mullo_epi16(_mm_and_si128(all, _mm_set1_epi16(0xff)), _mm_set1_epi16(kSeed));
  const __m128i twos = _mm_add_epi16(firsts, _mm_srli_epi16(all, 8));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | power(kSeed, 2)));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(fours));
#else
  constexpr std::uint64_t kBytes = 0x00ff00ff00ff00ff, kHalves = 0x0000ffff0000ffff;
  const std::uint64_t twos = (units & kBytes) * kSeed + (units >> 8 & kBytes);
  return (twos & kHalves) * power(kSeed, 2) + (twos >> 16 & kHalves);
#endif
}

template <std::uint32_t kSeed>
BFSTORE_ALWAYS_INLINE std::uint32_t polynomial_of(std::uint64_t units) noexcept {
  const std::uint64_t fours = polynomials_of<kSeed>(units);
  return static_cast<std::uint32_t>(fours) * power(kSeed, 4) + static_cast<std::uint32_t>(fours >> 32);
}

// What the start adds to the hash of a first word, by the number of its bytes.
template <std::uint32_t kSeed>
constexpr std::array<std::uint32_t, Words::kBytes> kStarts = [] {
  std::array<std::uint32_t, Words::kBytes> starts{};
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = kStart * power(kSeed, i);
  return starts;
}();

// The hashes of ASCII by some of the seeds.
template <std::size_t... kNumbers>
BFSTORE_ALWAYS_INLINE auto hashes_of(const Words& ascii, std::index_sequence<kNumbers...>) noexcept {
  std::array hashes{kStarts<kSeeds[kNumbers]>[ascii.bytes_in_first()] +
                    polynomial_of<kSeeds[kNumbers]>(ascii.first())...};
  for (std::size_t i = 0; i < ascii.num_whole(); ++i) {
    const std::uint64_t units = ascii.whole(i);
    std::size_t at = 0;
    ((hashes[at] = hashes[at] * power(kSeeds[kNumbers], Words::kBytes) + polynomial_of<kSeeds[kNumbers]>(units), ++at),
     ...);
  }
  return hashes;
}

// Java's `((h ^ h >>> 16) & 0x7fffffff) % size`, as the position of a bit of that byte. The remainder of a multiple of
// 8 by m, another one, is 8 times that of the eighths.
std::uint64_t position_of(std::uint32_t hash, std::size_t bit, const ProbeNumbers& numbers) noexcept {
  return numbers.remainder(8 * std::uint64_t{(hash ^ hash >> 16) & 0x7fffffff}) + bit;
}

// Uses the positions by some of the seeds before it looks at an answer, as each_after_four() in hash.hpp does.
template <std::size_t... kNumbers, class Use>
bool each_of(const Words& ascii, const ProbeNumbers& numbers, Use use, std::index_sequence<kNumbers...> some) noexcept {
  const auto hashes = hashes_of(ascii, some);
  unsigned all = 1;
  std::size_t at = 0;
  ((all &= use(position_of(hashes[at++], kNumbers, numbers)) ? 1U : 0U), ...);
  return all != 0;
}

// Two at once, because each seed costs as much as half of a wrong prediction.
constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  if (const Words words(key); words.are_ascii()) [[likely]] {
    return each_of(words, numbers, use, std::index_sequence<0, 1>()) &&
           each_of(words, numbers, use, std::index_sequence<2, 3>()) &&
           each_of(words, numbers, use, std::index_sequence<4, 5, 6, 7>());
  }
  const Hashes hashes = hashes_of(key);
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (!use(position_of(hashes[i], i, numbers))) return false;
  return true;
};

// Java's largest array.
constexpr std::uint64_t kMostBytes = INT32_MAX;

}  // namespace

constinit const Row kJavaBytesRow{.info = gives_positions(Hash::kJavaBytes, "java-bytes"),
                                  .probes = probes_of(kEach),
                                  .most_bits = 8 * kMostBytes,
                                  .unit_bits = 8,
                                  .only_probes = kSeeds.size()};

}  // namespace bfstore::hash
