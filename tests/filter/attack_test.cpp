// Keys that an attacker chooses. The attacker knows everything but the secret: the format, the shape, the seed, every
// bit.
//
// - The attacker adds chosen keys, so that a filter answers "maybe" to everything long before it is full: pollution
//   (Gerbet, Kumar & Lauradoux, "The Power of Evil Choices in Bloom Filters", DSN 2015).
// - The attacker computes absent keys that a filter answers "maybe", and sends them (Naor & Yogev, "Bloom Filters in
//   Adversarial Environments", CRYPTO 2015; Clayton, Patton & Shrimpton, "Probabilistic Data Structures in Adversarial
//   Environments", CCS 2019).
//
// Against XXH3 with the seed in the file both work. Under a secret neither does: without it, digests are random
// numbers.
#include <cmath>
#include <functional>
#include <numeric>

#include "hash/hash.hpp"
#include "hash/siphash.hpp"
#include "support/memory_layouts.hpp"
#include "support/model.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kCapacity = 20000;
constexpr double kPromised = 0.01;
constexpr std::uint64_t kPublicSeed = 0x5eed;
constexpr Secret kSecret{0x6b, 0x65, 0x79, 0xf0, 0x0d, 0x99, 0x13, 0x37,
                         0xa5, 0x5a, 0x42, 0x17, 0xee, 0x08, 0xc1, 0x2d};
constexpr Secret kGuess{};

bool in_lines(Layout layout) { return layout != Layout::kClassic; }

using DigestOf = std::function<std::uint64_t(const std::string& key)>;

std::uint64_t public_digest(const std::string& key) { return hash::xxh3(key.data(), key.size(), kPublicSeed); }
std::uint64_t guessed_digest(const std::string& key) { return hash::siphash(key.data(), key.size(), kGuess); }

Options options_of(Layout layout, Hash hash) {
  Options options;
  options.layout = layout;
  options.hash = hash;
  options.capacity = kCapacity;
  options.fpr = kPromised;
  if (hash == Hash::kSipHash) options.secret = kSecret;
  if (hash == Hash::kXxh3) options.seed = kPublicSeed;
  return options;
}

std::string name(const char* whose, std::uint64_t number) { return std::string(whose) + std::to_string(number); }

// Returns the share of absent keys that the filter answers "maybe", for its honest users.
double honest_rate(const Filter& filter) {
  constexpr std::uint64_t kAsked = 200000;
  std::uint64_t maybes = 0;
  for (std::uint64_t i = 0; i < kAsked; ++i) maybes += filter.contains(name("honest ", i)) ? 1U : 0U;
  return static_cast<double>(maybes) / static_cast<double>(kAsked);
}

// Returns the most "maybe" answers that `asked` absent keys may get at the promised rate: the expected number, a
// quarter more because some blocks have more keys than others, and five standard deviations of the number. (With these
// 390 blocks one standard deviation of the first effect is a twentieth.)
double most_by_chance(std::size_t asked) {
  const double mean = kPromised * static_cast<double>(asked);
  return 1.25 * mean + 5 * std::sqrt(mean);
}

// --- Pollution -------------------------------------------------------------------------------------------------------

// The bits that the attacker believes a filter to have. In a layout of lines the attacker fills some of them: the rate
// of a line is its fill to the power of k, so full lines among empty ones are worse than the same bits everywhere.
class Polluter {
 public:
  Polluter(const Shape& shape, DigestOf digest_of)
      : shape_(shape), digest_of_(std::move(digest_of)), bits_(shape.num_bits) {
    const std::uint64_t line = kLineBits / layout_of(shape.layout)->cell_bits;
    end_ = in_lines(shape.layout) ? shape.capacity * shape.num_probes * 4 / 5 / line * line : shape.num_bits;
  }

  // Returns the next key to add: of some candidates, the one that sets the most bits in the chosen lines.
  std::string next() {
    constexpr int kChoice = 64;
    std::string best;
    std::size_t most = 0;
    for (int i = 0; i < kChoice || most == 0; ++i) {
      const std::string key = name("evil ", made_++);
      const std::size_t sets = new_bits(probes(key));
      if (sets > most) {
        most = sets;
        best = key;
      }
    }
    for (const std::uint64_t bit : probes(best)) bits_[bit] = true;
    return best;
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> probes(const std::string& key) const {
    return model_probes(shape_.layout, shape_.num_bits, shape_.num_probes, digest_of_(key));
  }

  [[nodiscard]] std::size_t new_bits(std::vector<std::uint64_t> probes) const {
    if (probes.front() >= end_) return 0;
    std::sort(probes.begin(), probes.end());
    probes.erase(std::unique(probes.begin(), probes.end()), probes.end());
    return static_cast<std::size_t>(
        std::count_if(probes.begin(), probes.end(), [&](std::uint64_t bit) { return !bits_[bit]; }));
  }

  Shape shape_;
  DigestOf digest_of_;
  std::vector<bool> bits_;
  std::uint64_t end_;  // the attacker wants bits before this one
  std::uint64_t made_ = 0;
};

// Returns as many keys as the filter has room for, chosen for a filter of this shape with these digests.
std::vector<std::string> polluting_keys(const Shape& shape, const DigestOf& digest_of) {
  Polluter polluter(shape, digest_of);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < shape.capacity; ++i) keys.push_back(polluter.next());
  return keys;
}

double rate_with(const Options& options, const std::vector<std::string>& keys) {
  InMemory made = InMemory::make(options);
  for (const std::string& key : keys) REQUIRE(made.filter.add(key).ok());
  for (const std::string& key : keys) REQUIRE(made.filter.contains(key));
  return honest_rate(made.filter);
}

// --- False positives -------------------------------------------------------------------------------------------------

void add_members(Filter& filter) {
  for (std::uint64_t i = 0; i < kCapacity; ++i) REQUIRE(filter.add(name("member ", i)).ok());
}

// Returns absent keys for which a filter with these bits and these digests answers "maybe". Computes them without
// asking the filter.
std::vector<std::string> keys_that_hit(const Filter& bits, const DigestOf& digest_of) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; keys.size() < 2000; ++i) {
    std::string key = name("evil ", i);
    if (bits.contains_digest(digest_of(key))) keys.push_back(std::move(key));
  }
  return keys;
}

std::size_t maybes(const Filter& filter, const std::vector<std::string>& keys) {
  return static_cast<std::size_t>(
      std::count_if(keys.begin(), keys.end(), [&](const std::string& key) { return filter.contains(key); }));
}

}  // namespace

TEST_CASE(
    "keys chosen against a public seed make a filter useless before it is full, and do nothing to one with a secret") {
  for (const Layout layout : every_layout_in_memory()) {
    CAPTURE(layout);
    const Options open = options_of(layout, Hash::kXxh3);
    const Options with_secret = options_of(layout, Hash::kSipHash);
    const Shape shape = InMemory::make(open).filter.shape();
    const Shape secret_shape = InMemory::make(with_secret).filter.shape();
    REQUIRE(secret_shape.num_bits == shape.num_bits);
    REQUIRE(secret_shape.num_probes == shape.num_probes);

    const std::vector<std::string> keys = polluting_keys(shape, public_digest);
    const double polluted = rate_with(open, keys);
    const double under_a_secret = rate_with(with_secret, keys);
    const double guessed = rate_with(with_secret, polluting_keys(shape, guessed_digest));
    MESSAGE("promised " << kPromised << ", polluted " << polluted << ", the same keys under a secret " << under_a_secret
                        << ", keys chosen under a guessed secret " << guessed);
    CHECK(polluted > (in_lines(layout) ? 25 : 5) * kPromised);
    CHECK(under_a_secret * 200000 < most_by_chance(200000));
    CHECK(guessed * 200000 < most_by_chance(200000));
  }
}

TEST_CASE("absent keys that hit under a public seed hit again, and do nothing to a filter with a secret") {
  for (const Layout layout : every_layout_in_memory()) {
    CAPTURE(layout);
    InMemory open = InMemory::make(options_of(layout, Hash::kXxh3));
    InMemory with_secret = InMemory::make(options_of(layout, Hash::kSipHash));
    add_members(open.filter);
    add_members(with_secret.filter);

    const std::vector<std::string> found = keys_that_hit(open.filter, public_digest);
    CHECK(maybes(open.filter, found) == found.size());
    CHECK(static_cast<double>(maybes(with_secret.filter, found)) < most_by_chance(found.size()));
    // The attacker even has the bits of the filter with a secret.
    const std::vector<std::string> guessed = keys_that_hit(with_secret.filter, guessed_digest);
    CHECK(static_cast<double>(maybes(with_secret.filter, guessed)) < most_by_chance(guessed.size()));
  }
}
