// The layouts whose keys expire (FORMAT.md, "Layouts"): their rows in the table, and their scalar kernel.
#include "layout/window.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "layout/occupancy.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

template <std::uint32_t kNumEpochs>
struct WindowKernel {
  using Rules = Window<kNumEpochs>;
  static constexpr std::uint32_t kMostOfFew = 0;

  template <bool kFew>
  static BFSTORE_ALWAYS_INLINE typename Rules::Bits key_of(const Geometry& geometry, const Located& at) noexcept {
    return Rules::bits_of(geometry, at);
  }
  static BFSTORE_ALWAYS_INLINE typename Rules::Bits bits_of(const typename Rules::Bits& key) noexcept { return key; }

  // Bit i * kParts of the result is 1 if word i of the key's line has all bits of the key. All ones in doubt.
  template <class Doubt>
  static BFSTORE_ALWAYS_INLINE unsigned words_with(const std::uint64_t* words, const Located& at,
                                                   const typename Rules::Bits& key, Doubt doubt) noexcept {
    unsigned parts = 0;
    for (std::uint32_t i = 0; i < kLineBits / 64; ++i) {
      const std::uint64_t part = load_word(words, (at.word + i) * 64);
      parts |= static_cast<unsigned>((key.parts[i % Rules::kParts] & ~part) == 0) << i;
    }
    return doubt() ? ~0U : Rules::whole_words(parts);
  }
};
#include "layout/window_kernel.inc"

constexpr Functions kScalar = eight::functions("scalar");
constexpr Functions kScalar4 = four::functions("scalar");
constexpr Functions kScalar2 = two::functions("scalar");

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits / kLineBits, num_probes};
}

// What depends on the number of epochs.
template <std::uint32_t kEpochs>
struct Epochs {
  static constexpr std::uint32_t kWordBits = Window<kEpochs>::kWordBits;
  static constexpr std::uint32_t kParts = Window<kEpochs>::kParts;
  static constexpr auto kBins = static_cast<double>(kWordBits);

  // Just before a turn each word has an epoch's share of the window's keys: the oldest epoch is whole, too, and so is
  // the current one. An epoch lasts a part of kEpochs - 1 of the window. Words of a line are filters of their own.
  static double rate(double keys, double bits, double probes) noexcept {
    const double of_word = line_rate(kBins, keys / (kEpochs - 1), bits / kEpochs, probes);
    return of_any(of_word);
  }

  static double expected_fill(double keys, double bits, double probes) noexcept {
    return line_fill(kBins, keys / (kEpochs - 1), bits / kEpochs, probes);
  }

  // The best k grows with the logarithm of the bits for a key: more slowly in a short word, where probes of a key
  // meet. These lines are within one or two of it from 5 to 500 bits a key.
  static Guess best_probes(double keys, double bits) noexcept {
    constexpr double kSlope = kEpochs == 8 ? 2.2 : kEpochs == 4 ? 3.9 : 4.6;
    constexpr double kFirst = kEpochs == 8 ? -0.2 : kEpochs == 4 ? -4.5 : -7.5;
    const double wanted = std::round(kSlope * std::log(bits / keys) + kFirst);
    return {static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxProbes))), false};
  }

  static void clear(std::uint64_t* words, std::uint64_t num_words, std::uint64_t epoch) noexcept {
    const std::uint64_t first = epoch % kEpochs * kParts;
    for (std::uint64_t line = 0; line < num_words; line += kLineBits / 64) {
      for (std::uint64_t i = first; i < first + kParts; ++i) Shared::clear(words + line + i);
    }
  }

  static void take(Tally& tally, const Geometry&, const std::uint64_t* words, std::uint64_t num_words) noexcept {
    for (std::uint64_t bit = 0; bit < num_words * 64; bit += kWordBits) {
      const std::uint64_t set = count_bits(words, bit, kWordBits);
      tally.set_bits += set;
      ++tally.epoch_words_with[bit / kWordBits % kEpochs * (kWordBits + 1) + set];
    }
  }

  // Estimates word by word, as the blocked layout does line by line.
  static Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
    Fill fill;
    fill.set_bits = tally.set_bits;
    fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
    const std::uint64_t epoch = geometry.epoch != nullptr ? load_epoch(geometry.epoch) / 2 : 0;
    Sums all;
    double of_none = 1;
    for (std::uint32_t age = 0; age < kEpochs; ++age) {
      const Sums of_epoch = sums(tally, (epoch + kEpochs - age) % kEpochs, geometry);
      fill.keys_of_epochs[age] = of_epoch.throws / geometry.num_probes;
      all.throws += of_epoch.throws;
      all.variance += of_epoch.variance;
      of_none *= 1 - std::min(1.0, of_epoch.rate);
    }
    const double probes = geometry.num_probes;
    set_estimate(fill, all.throws / probes, all.variance / (probes * probes));
    fill.estimated_fpr = 1 - of_none;
    return fill;
  }

 private:
  struct Sums {
    double throws = 0;
    double variance = 0;
    double rate = 0;  // the mean of the words' rates
  };

  static Sums sums(const Tally& tally, std::uint64_t word, const Geometry& geometry) noexcept {
    const double all_lines = static_cast<double>(geometry.num_bits) / kLineBits;
    Sums sums;
    for (std::uint64_t set = 0; set <= kWordBits; ++set) {
      const auto lines = static_cast<double>(tally.epoch_words_with[word * (kWordBits + 1) + set]);
      if (lines == 0) continue;
      const auto in_word = static_cast<double>(set);
      sums.throws += lines * estimated_throws(kBins, in_word);
      sums.variance += lines * variance_of_throws(kBins, in_word);
      sums.rate += lines * rate_of_line(kBins, in_word, all_lines, geometry.num_probes) / all_lines;
    }
    return sums;
  }

  // The chance that at least one of the words has all bits, 1 - (1 - p)^kEpochs.
  static double of_any(double of_word) noexcept { return -std::expm1(kEpochs * std::log1p(-of_word)); }
};

template <std::uint32_t kEpochs>
constexpr Row row(Layout layout, const char* name, const Functions& scalar, const Kernels& kernels) noexcept {
  using Of = Epochs<kEpochs>;
  return {
      .info = {layout, name, {.add = true, .add_alone = true, .expire = true, .ones_are_maybe = true}, 1, kEpochs},
      .in_lines = true,
      .inlined = false,
      .unit_bits = kLineBits,
      .body_unit = kLineBits,
      .fewest_bits = kLineBits,
      .least_rate = kEpochs == 8 ? 1e-7 : 1e-8,  // in short words that takes a thousand bits a key
      .geometry = geometry,
      .rate = Of::rate,
      .best_probes = Of::best_probes,
      .expected_fill = Of::expected_fill,
      .clear = Of::clear,
      .take = Of::take,
      .fill = Of::fill,
      .scalar = &scalar,
      .kernels = kernels,
  };
}

#if defined(__x86_64__)
constexpr Kernels kKernels{&kWindowAvx512, &kWindowAvx2, nullptr};
constexpr Kernels kKernels4{&kWindow4Avx512, &kWindow4Avx2, nullptr};
constexpr Kernels kKernels2{&kWindow2Avx512, &kWindow2Avx2, nullptr};
#else
constexpr Kernels kKernels{}, kKernels4{}, kKernels2{};
#endif

}  // namespace

constexpr Row kWindowRow = row<8>(Layout::kWindow, "window", kScalar, kKernels);
constexpr Row kWindow4Row = row<4>(Layout::kWindow4, "window-4", kScalar4, kKernels4);
constexpr Row kWindow2Row = row<2>(Layout::kWindow2, "window-2", kScalar2, kKernels2);

}  // namespace bfstore::layout
