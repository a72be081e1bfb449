// The hash room: the digest of a key of each length, pinned; the canary; keys of no bytes.
#include "hash/hash.hpp"

#include <bit>
#include <set>

#include "support/golden.hpp"
#include "support/golden_digests.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

std::string golden_key(std::size_t bytes) {
  std::string key(bytes, '\0');
  for (std::size_t j = 0; j < bytes; ++j) key[j] = static_cast<char>(static_cast<unsigned char>(131 * j + 17));
  return key;
}

}  // namespace

TEST_CASE("digests of keys of 0 to 260 bytes and of some longer ones are the golden ones") {
  for (std::size_t length = 0; length <= 260; ++length) REQUIRE(kGoldenDigests.at(length).key_bytes == length);
  for (const GoldenDigest& golden : kGoldenDigests) {
    const std::string key = golden_key(golden.key_bytes);
    CAPTURE(golden.key_bytes);
    CHECK(hash::xxh3(key.data(), key.size(), 0) == golden.seed_zero);
    CHECK(hash::xxh3(key.data(), key.size(), kGoldenSeed) == golden.golden_seed);
  }
}

TEST_CASE("a filter's digest of a key is the golden one for its seed") {
  Options options;
  options.capacity = 100;
  for (const std::uint64_t seed : {std::uint64_t{0}, kGoldenSeed}) {
    options.seed = seed;
    const InMemory made = InMemory::make(options);
    for (const GoldenDigest& golden : kGoldenDigests) {
      REQUIRE(made.filter.digest(golden_key(golden.key_bytes)) == (seed == 0 ? golden.seed_zero : golden.golden_seed));
    }
  }
}

TEST_CASE("a digest does not depend on the address of its key") {
  const std::string key = golden_key(300);
  std::string room(400, '?');
  for (std::size_t at = 0; at < 64; ++at) {
    std::copy(key.begin(), key.end(), room.begin() + static_cast<std::ptrdiff_t>(at));
    for (const std::size_t length : {std::size_t{5}, std::size_t{17}, std::size_t{129}, std::size_t{241}}) {
      REQUIRE(hash::xxh3(room.data() + at, length, 7) == hash::xxh3(key.data(), length, 7));
    }
  }
}

TEST_CASE("the empty key has one digest, also if its pointer is null") {
  CHECK(hash::xxh3(nullptr, 0, 0) == kGoldenDigests.front().seed_zero);
  CHECK(hash::xxh3("", 0, kGoldenSeed) == kGoldenDigests.front().golden_seed);
  CHECK(hash::xxh3(nullptr, 0, kGoldenSeed) == kGoldenDigests.front().golden_seed);
}

TEST_CASE("keys that differ in one bit, in length or in the seed have different digests") {
  std::set<std::uint64_t> digests;
  std::size_t made = 0;
  for (const std::size_t length : {1U, 3U, 4U, 8U, 9U, 16U, 17U, 128U, 129U, 240U, 241U, 500U}) {
    std::string key = golden_key(length);
    digests.insert(hash::xxh3(key.data(), length, 0));
    digests.insert(hash::xxh3(key.data(), length, 1));
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
      key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
      digests.insert(hash::xxh3(key.data(), length, 0));
      key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
    }
    made += 2 + length * 8;
  }
  CHECK(digests.size() == made);
}

TEST_CASE("the canary is the golden one for each seed, and 0 for external digests") {
  for (const GoldenCanary& golden : kGoldenCanaries) {
    CAPTURE(golden.seed);
    CHECK(hash::canary(Hash::kXxh3, golden.seed) == golden.canary);
    CHECK(hash::canary(Hash::kExternal, golden.seed) == 0);
  }
}

TEST_CASE("the canary is the fold of seven digests that FORMAT.md defines") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::uint64_t fold = 0;
    for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
      std::string key;
      for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
      fold = std::rotl(fold, 9) ^ hash::xxh3(key.data(), length, mix(seed));
    }
    CHECK(hash::canary(Hash::kXxh3, mix(seed)) == fold);
  }
}
