// The pinned answers of whole filters (golden.hpp): the bits after adding fixed keys, and the first ten false
// positives.
#include "support/golden.hpp"

#include "hash/hash.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

Options options_of(const GoldenFilter& golden) {
  Options options;
  options.layout = golden.layout;
  options.num_bits = golden.num_bits;
  options.num_probes = golden.num_probes;
  options.seed = kGoldenSeed;
  return options;
}

InMemory filled(const GoldenFilter& golden) {
  InMemory made = InMemory::make(options_of(golden));
  for (std::uint64_t i = 0; i < golden.keys; ++i) REQUIRE(made.filter.add("key-" + std::to_string(i)).ok());
  return made;
}

std::uint64_t hash_of_body(const std::string& path) {
  const ReportedIdentity identity = *must(inspect(path)).identity;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  REQUIRE(bytes.size() > identity.body_offset + identity.body_bytes);
  return hash::xxh3(bytes.data() + identity.body_offset, identity.body_bytes, 0);
}

template <class Check>
void for_each_golden(Check check) {
  for (const GoldenFilter& golden : kGoldenFilters) {
    CAPTURE(golden.layout);
    CAPTURE(golden.num_bits);
    CAPTURE(golden.num_probes);
    check(golden);
  }
}

}  // namespace

TEST_CASE("the bits after adding fixed keys are the golden ones") {
  for_each_golden([](const GoldenFilter& golden) {
    const InMemory made = filled(golden);
    const Stats stats = made.filter.stats({.fill = true});
    const auto body = body_of(made);
    CHECK(stats.shape.num_bits == golden.num_bits);
    CHECK(hash::xxh3(body.data(), body.size(), 0) == golden.body);
    CHECK(stats.fill->set_bits == golden.set_bits);
  });
}

TEST_CASE("the first ten false positives are the golden ones") {
  for_each_golden([](const GoldenFilter& golden) {
    const InMemory made = filled(golden);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; found.size() < golden.false_positives.size(); ++i) {
      REQUIRE(i <= golden.false_positives.back());
      if (made.filter.contains("absent-" + std::to_string(i))) found.push_back(i);
    }
    CHECK(std::equal(found.begin(), found.end(), golden.false_positives.begin()));
  });
}

TEST_CASE("a filter in a file has the same golden bits") {
  const TemporaryDirectory directory;
  for_each_golden([&](const GoldenFilter& golden) {
    const std::string path =
        directory.file(std::to_string(golden.num_bits) + "-" + std::to_string(golden.num_probes) + ".bf");
    Filter filter = must(Filter::create(path, options_of(golden)));
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < golden.keys; ++i) keys.push_back("key-" + std::to_string(i));
    REQUIRE(filter.add_keys(Keys::views(std::vector<std::string_view>(keys.begin(), keys.end()))).ok());
    must(filter.close());
    CHECK(hash_of_body(path) == golden.body);
  });
}

TEST_CASE("a file whose keys expire has the golden bits and false positives in its epoch") {
  const TemporaryDirectory directory;
  for (const GoldenWindow& golden : kGoldenWindows) {
    CAPTURE(golden.layout);
    CAPTURE(golden.num_bits);
    Options options;
    options.layout = golden.layout;
    options.num_bits = golden.num_bits;
    options.num_probes = golden.num_probes;
    options.seed = kGoldenSeed;
    options.window_ms = 86'400'000;
    const std::string path = directory.file(layout_of(golden.layout)->name + std::to_string(golden.num_bits) + "-" +
                                            std::to_string(golden.num_probes) + ".bf");
    Filter filter = must(Filter::create(path, options));
    for (std::uint64_t epoch = 0; epoch <= golden.last; ++epoch) {
      if (epoch != 0) REQUIRE(must(filter.turn(epoch - 1)));
      for (std::uint64_t i = epoch * golden.keys; i < (epoch + 1) * golden.keys; ++i)
        REQUIRE(filter.add("key-" + std::to_string(i)).ok());
    }
    CHECK(filter.stats({.fill = true}).fill->set_bits == golden.set_bits);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i <= golden.false_positives.back(); ++i) {
      if (filter.contains("absent-" + std::to_string(i))) found.push_back(i);
    }
    CHECK(std::equal(found.begin(), found.end(), golden.false_positives.begin(), golden.false_positives.end()));
    must(filter.close());
    CHECK(hash_of_body(path) == golden.body);
  }
}

TEST_CASE("the bits and the first ten false positives of hashes that give positions are the golden ones") {
  for (const GoldenSeeded& golden : kGoldenSeeded) {
    CAPTURE(golden.num_bits);
    Options options;
    options.hash = golden.hash;
    options.num_bits = golden.num_bits;
    options.num_probes = golden.num_seeds;
    if (hash_of(golden.hash)->takes_seeds)
      options.seeds.assign(golden.seeds.begin(), golden.seeds.begin() + golden.num_seeds);
    InMemory made = InMemory::make(options);
    for (std::uint64_t i = 0; i < golden.keys; ++i) REQUIRE(made.filter.add("key-" + std::to_string(i)).ok());
    const auto body = body_of(made);
    CHECK(hash::xxh3(body.data(), body.size(), 0) == golden.body);
    CHECK(made.filter.stats({.fill = true}).fill->set_bits == golden.set_bits);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i <= golden.false_positives.back(); ++i) {
      if (made.filter.contains("absent-" + std::to_string(i))) found.push_back(i);
    }
    CHECK(std::equal(found.begin(), found.end(), golden.false_positives.begin(), golden.false_positives.end()));
  }
}
