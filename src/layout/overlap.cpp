#include "layout/overlap.hpp"

#include <bfstore/layout/words.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace bfstore::layout {
namespace {

constexpr double kReach = 1.96;  // standard deviations: 95 %
constexpr double kTold = 3;      // standard deviations

Interval interval(double estimate, double variance, double most) noexcept {
  const double reach = kReach * std::sqrt(std::max(variance, 0.0));
  Interval made;
  made.estimate = std::clamp(estimate, 0.0, most);
  made.low = std::isfinite(reach) ? std::clamp(estimate - reach, 0.0, most) : 0;
  made.high = std::isfinite(reach) ? std::clamp(estimate + reach, 0.0, most) : most;
  return made;
}

}  // namespace

SetBits& SetBits::operator+=(const SetBits& more) noexcept {
  a += more.a;
  b += more.b;
  either += more.either;
  return *this;
}

SetBits set_bits_of(std::uint64_t one, std::uint64_t other) noexcept {
  const auto number = [](std::uint64_t bits) { return static_cast<std::uint64_t>(std::popcount(bits)); };
  return {number(one), number(other), number(one | other)};
}

SetBits count_both(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t first_bit,
                   std::uint64_t num_bits) noexcept {
  SetBits set;
  for (std::uint64_t bit = first_bit; bit < first_bit + num_bits; bit += 64) {
    const std::uint64_t left = first_bit + num_bits - bit;
    const std::uint64_t counted = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    const std::uint64_t one = little_endian(load_word(a, bit)) >> bit % 64 & counted;
    const std::uint64_t other = little_endian(load_word(b, bit)) >> bit % 64 & counted;
    set += set_bits_of(one, other);
  }
  return set;
}

Overlap::Throws Overlap::throws_of(std::uint64_t bins, std::uint64_t set) noexcept {
  const auto number = static_cast<double>(bins);
  const auto estimated = [number](std::uint64_t in_group) {
    const auto bits = static_cast<double>(in_group);
    const double not_all = std::min(bits, number - 0.5);
    return Throws{estimated_throws(number, bits), raw_throws(number, not_all), variance_of_throws(number, not_all)};
  };
  if (bins > kFewBins) return estimated(set);
  if (known_bins_ != bins) {
    for (std::uint64_t i = 0; i <= bins; ++i) known_[i] = estimated(i);
    known_bins_ = bins;
  }
  return known_[std::min(set, bins)];  // a foreign array may have bits that no key reaches
}

void Overlap::take_group(std::uint64_t bins, const SetBits& set) noexcept {
  all_ += set;
  bins_taken_ += bins;
  const auto add = [](Throws& to, const Throws& more) {
    to.number += more.number;
    to.variance += more.variance;
  };
  const Throws a = throws_of(bins, set.a);
  const Throws b = throws_of(bins, set.b);
  const Throws either = throws_of(bins, set.either);
  add(a_, a);
  add(b_, b);
  add(either_, either);
  // The number of common throws may be below 0 by chance.
  const double both = std::max(0.0, a.raw + b.raw - either.raw);
  if (both > 0) covariance_ += variance_after(static_cast<double>(bins), both);
}

void Overlap::take_groups(std::uint64_t bits, const std::uint64_t* a, const std::uint64_t* b,
                          std::uint64_t num_words) noexcept {
  for (std::uint64_t bit = 0; bit < num_words * 64; bit += bits) take_group(bits, count_both(a, b, bit, bits));
}

void Overlap::take_piece(const Geometry& geometry, std::uint64_t bits_of_piece, const SetBits& set) noexcept {
  pieces_ += set;
  bits_taken_ += bits_of_piece;
  if (bits_taken_ == geometry.num_bits) take_group(geometry.range, pieces_);
}

void Overlap::take_counters(std::uint64_t a, std::uint64_t b) noexcept {
  if (a == b) return;
  for (std::uint64_t cell = 0; cell < Counters::kInWord; ++cell) {
    a_is_higher_ = a_is_higher_ || Counters::at(a, cell) > Counters::at(b, cell);
    b_is_higher_ = b_is_higher_ || Counters::at(b, cell) > Counters::at(a, cell);
  }
}

// The delta method gives the ratio's variance, with R = (t_A + t_B) / t_U = 1 + Jaccard.
void Overlap::estimate(double probes, Comparison& into) const noexcept {
  const double square = probes * probes;
  constexpr double kNoBound = HUGE_VAL;
  const auto keys_of = [&](const Throws& throws, std::uint64_t set) {
    return interval(throws.number / probes, set < bins_taken_ ? throws.variance / square : kNoBound, kNoBound);
  };
  into.keys_a = keys_of(a_, all_.a);
  into.keys_b = keys_of(b_, all_.b);
  into.keys_either = keys_of(either_, all_.either);
  const double both = a_.number + b_.number - either_.number;
  const double single = a_.variance + b_.variance;
  const double variance = either_.variance + 2 * covariance_ - single;
  const bool bounded = all_.either < bins_taken_;
  const double most = std::min(into.keys_a.high, into.keys_b.high);
  into.keys_both = interval(both / probes, bounded ? variance / square : kNoBound, most);
  into.some_in_both = bounded && both > 0 && both * both > kTold * kTold * variance;
  if (either_.number <= 0) {
    into.jaccard = {1, 1, 1};  // two sets without keys
    return;
  }
  const double ratio = (a_.number + b_.number) / either_.number;
  const double spread = single + 2 * covariance_ + ratio * ratio * either_.variance - 2 * ratio * single;
  into.jaccard = interval(ratio - 1, bounded ? spread / (either_.number * either_.number) : kNoBound, 1);
}

}  // namespace bfstore::layout
