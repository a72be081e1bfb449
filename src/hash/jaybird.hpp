// The positions of keys in python-bloomfilter (Jay Baird; BloomFilter of the packages pybloom and pybloom-live): m bits
// are k slices of one length, and a key has one bit in each. Salted message digests of the key are cut into words. Each
// word, modulo the slice's length, is the position of a bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hash/hash.hpp"
#include "hash/md5.hpp"
#include "hash/sha1.hpp"
#include "hash/sha2.hpp"

namespace bfstore::hash {

// MD5's size: MD5 is used if the words of all slices together have at most this many bits.
inline constexpr std::size_t kMd5Bits = 128;

inline constexpr std::size_t jaybird_word_bytes(std::uint64_t slice_bits) noexcept {
  return slice_bits >= std::uint64_t{1} << 31 ? 8 : slice_bits >= std::uint64_t{1} << 15 ? 4 : 2;
}

// Python's struct.pack("I", number) on a little-endian machine.
inline constexpr std::array<std::uint8_t, 4> packed_number(std::uint32_t number) noexcept {
  return {static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number >> 16), static_cast<std::uint8_t>(number >> 24)};
}

// The digest of a salt and the key. The salt is the digest of its number. One salt is enough for every algorithm but
// the largest one.
template <class Algorithm, std::size_t kSalts = 1>
struct Salted {
  using Digest = typename MessageDigest<Algorithm>::Digest;

  static Digest digest(std::uint32_t salt, std::string_view key) noexcept {
    MessageDigest<Algorithm> digest;
    digest.put(kDigestsOfNumbers[salt]);
    digest.put(key);
    return digest.finish();
  }

 private:
  static constexpr std::array<Digest, kSalts> kDigestsOfNumbers = [] {
    std::array<Digest, kSalts> salts{};
    for (std::uint32_t i = 0; i < kSalts; ++i) {
      MessageDigest<Algorithm> digest;
      digest.put(packed_number(i));
      salts[i] = digest.finish();
    }
    return salts;
  }();
};

// XXH3 of 128 bits, which pybloom-live uses instead of MD5 since its version 4.
struct SaltedXxh128 {
  using Digest = std::array<std::uint8_t, kMd5Bits / 8>;

  static Digest digest(std::uint32_t salt, std::string_view key) noexcept {
    const auto number = packed_number(salt);
    const Digest salt_bytes = bytes_of(XXH3_128bits(number.data(), number.size()));
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, salt_bytes.data(), salt_bytes.size());
    if (!key.empty()) XXH3_128bits_update(&state, key.data(), key.size());
    return bytes_of(XXH3_128bits_digest(&state));
  }

 private:
  static Digest bytes_of(XXH128_hash_t hash) noexcept {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    Digest bytes;
    std::copy_n(canonical.digest, bytes.size(), bytes.begin());
    return bytes;
  }
};

template <class Source, class Use>
bool each_in_slices(std::string_view key, const ProbeNumbers& numbers, Use use) noexcept {
  const std::uint64_t slice_bits = numbers.num_bits / numbers.num_probes;
  const std::size_t word_bytes = jaybird_word_bytes(slice_bits);
  const std::size_t words = sizeof(typename Source::Digest) / word_bytes;
  typename Source::Digest digest{};
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const auto number = static_cast<std::uint32_t>(i % words);
    if (number == 0) digest = Source::digest(static_cast<std::uint32_t>(i / words), key);
    std::uint64_t word = 0;
    for (std::size_t j = word_bytes; j > 0; --j) word = word << 8 | digest[number * word_bytes + j - 1];
    if (!use(slice_bits * i + word % slice_bits)) return false;
  }
  return true;
}

// Has as many salts as 64 slices with the longest words need.
using SaltedSha512 = Salted<Sha512, kMaxProbes * sizeof(std::uint64_t) / Sha512::kDigestBytes>;

// `Smallest` is the digest for up to 128 bits.
template <class Smallest>
constexpr auto kEachOfJaybird = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::size_t word_bytes = jaybird_word_bytes(numbers.num_bits / numbers.num_probes);
  const std::size_t bits = 8 * word_bytes * numbers.num_probes;
  if (bits > 384) return each_in_slices<SaltedSha512>(key, numbers, use);
  if (bits > 256) return each_in_slices<Salted<Sha384>>(key, numbers, use);
  if (bits > 160) return each_in_slices<Salted<Sha256>>(key, numbers, use);
  if (bits > kMd5Bits) return each_in_slices<Salted<Sha1>>(key, numbers, use);
  return each_in_slices<Smallest>(key, numbers, use);
};

}  // namespace bfstore::hash
