// One question to several filters: whether any may have the key, and which.
#include <numeric>

#include "support/support.hpp"

using namespace rooms;

namespace {

Options options_of(std::uint64_t seed) {
  Options options;
  options.capacity = 1000;
  options.fpr = 1e-6;
  options.seed = seed;
  return options;
}

std::uint64_t maybes_of(std::span<const Filter* const> filters, const std::string& key) {
  const Count count = Filter::contains_any(filters, key);
  REQUIRE(count.ok());
  return count.keys();
}

std::vector<std::uint8_t> which_of(std::span<const Filter* const> filters, const std::string& key) {
  std::vector<std::uint8_t> which(filters.size(), 7);
  const Count count = Filter::contains_any(filters, key, which);
  REQUIRE(count.ok());
  CHECK(count.keys() == std::accumulate(which.begin(), which.end(), std::uint64_t{0}));
  return which;
}

using Which = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("each filter of several gets the answer that it gives alone, whatever its hash, seed, secret and layout") {
  Options secret;
  secret.capacity = 1000;
  secret.hash = Hash::kSipHash;
  secret.secret = Secret{1};
  Options other_secret = secret;
  other_secret.secret = Secret{2};
  Options positions;
  positions.hash = Hash::kMurmur3;
  positions.num_bits = 20'000;
  positions.num_probes = 9;
  Options classic = options_of(1);
  classic.layout = Layout::kClassic;
  std::vector<InMemory> made;
  for (const Options& options :
       {options_of(1), options_of(1), options_of(2), classic, options_of(1), secret, other_secret, secret, positions})
    made.push_back(InMemory::make(options));
  std::vector<const Filter*> all;
  for (InMemory& one : made) {
    CHECK(one.filter.add("everywhere").ok());
    CHECK(one.filter.add("in " + std::to_string(all.size())).ok());
    all.push_back(&one.filter);
  }
  CHECK(which_of(all, "everywhere") == Which(all.size(), 1));
  CHECK(maybes_of(all, "everywhere") == 1);
  CHECK(which_of(all, "nowhere") == Which(all.size(), 0));
  CHECK(maybes_of(all, "nowhere") == 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Which expected(all.size(), 0);
    expected[i] = 1;
    CHECK(which_of(all, "in " + std::to_string(i)) == expected);
    CHECK(maybes_of(all, "in " + std::to_string(i)) == 1);
  }
}

TEST_CASE("no filter at all has no key") {
  CHECK(maybes_of({}, "key") == 0);
  CHECK(which_of({}, "key").empty());
}

TEST_CASE("a filter that cannot answer makes every answer that is not known maybe") {
  InMemory good = InMemory::make(options_of(1));
  Options digests = options_of(1);
  digests.seed.reset();
  digests.hash = Hash::kExternal;
  InMemory external = InMemory::make(digests);
  const std::array<const Filter*, 3> all{&good.filter, &external.filter, &good.filter};
  std::array<std::uint8_t, 3> which{7, 7, 7};
  CHECK(Filter::contains_any(all, "absent", which).code() == Code::kDigestOnly);
  CHECK(which == std::array<std::uint8_t, 3>{0, 1, 1});
  CHECK(Filter::contains_any(all, "absent").code() == Code::kDigestOnly);
  std::array<std::uint8_t, 2> few{7, 7};
  CHECK(Filter::contains_any(all, "absent", few).code() == Code::kInvalid);
  CHECK(few == std::array<std::uint8_t, 2>{1, 1});
}

TEST_CASE("a filter in doubt may have every key") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("f");
  must(must(Filter::create(path, options_of(1))).close());
  Filter there = must(Filter::open(path, OpenMode::kRead));
  InMemory good = InMemory::make(options_of(1));
  const std::array<const Filter*, 2> all{&good.filter, &there};
  CHECK(which_of(all, "absent") == Which{0, 0});
  must(there.shut());
  CHECK(which_of(all, "absent") == Which{0, 1});
  CHECK(maybes_of(all, "absent") == 1);
}
