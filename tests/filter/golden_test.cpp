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
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string body;
  for (const ReportedSlice& slice : must(inspect(path)).slices) {
    REQUIRE(bytes.size() > slice.offset + slice.bytes);
    body.append(bytes, slice.offset, slice.bytes);
  }
  return hash::xxh3(body.data(), body.size(), 0);
}

// A filter that grows, with kGoldenSeed and the keys "key-0", "key-1", ..., which one thread added one by one: how many
// slices it has, XXH3 (seed 0) of the slices one after the other, how many of their bits are set, and the ten smallest
// i for which it answers "maybe" for "absent-i". num_bits and capacity are those of the first slice. The slices
// are so small that a thread looks after each key whether they are full. The numbers come from tests/format/reader.py,
// and golden_test.py computes them again.
struct GoldenGrowing {
  std::uint64_t num_bits;
  std::uint32_t num_probes;
  std::uint32_t growth;
  std::uint64_t capacity;
  std::uint64_t keys;
  std::uint32_t slices;
  std::uint64_t body;
  std::uint64_t set_bits;
  std::array<std::uint64_t, 10> false_positives;
};

constexpr std::array kGoldenGrowing{
    GoldenGrowing{
        512, 3, 2, 20, 15, 1, 0x14dbb79b9e2ebb9a, 43, {114, 4236, 6016, 6717, 7474, 12175, 14235, 14310, 14472, 15476}},
    GoldenGrowing{51200,
                  7,
                  3,
                  4000,
                  7000,
                  2,
                  0x5df1d1678d0066cd,
                  40784,
                  {143, 179, 669, 1153, 1527, 2580, 3117, 3218, 4284, 4621}},
    GoldenGrowing{10240,
                  3,
                  16,
                  230,
                  7000,
                  3,
                  0x4c18abf82cd383c4,
                  20568,
                  {1134, 3338, 4383, 14185, 14440, 18554, 19843, 19873, 21318, 25619}},
    GoldenGrowing{
        1024, 4, 4, 50, 2000, 4, 0x0dcad17f9e9385c6, 7475, {310, 403, 405, 712, 1122, 1161, 1504, 1587, 1652, 2273}},
    GoldenGrowing{
        5120, 6, 2, 250, 10000, 5, 0x5efaa8ba36992c7c, 49353, {130, 273, 388, 475, 544, 586, 1038, 1476, 1614, 1951}},
    GoldenGrowing{512, 1, 3, 40, 5000, 5, 0x319ffe166fc3dfe4, 3483, {4, 5, 6, 9, 13, 16, 17, 29, 31, 35}},
    GoldenGrowing{
        1536, 64, 16, 60, 500, 2, 0xc80d403bed4b072c, 17566, {132, 187, 259, 333, 363, 364, 402, 511, 572, 574}},
};

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

TEST_CASE("a file that grew has the golden bits in its slices, and the golden false positives") {
  const TemporaryDirectory directory;
  for (const GoldenGrowing& golden : kGoldenGrowing) {
    CAPTURE(golden.num_bits);
    CAPTURE(golden.slices);
    Options options;
    options.layout = Layout::kGrowing;
    options.num_bits = golden.num_bits;
    options.num_probes = golden.num_probes;
    options.seed = kGoldenSeed;
    options.capacity = golden.capacity;
    options.capacity_at_most = 0;
    for (std::uint64_t i = 0, of_slice = golden.capacity; i < kMaxSlices; ++i, of_slice *= golden.growth)
      options.capacity_at_most += of_slice;
    const std::string path = directory.file(std::to_string(golden.num_bits) + "-" + std::to_string(golden.num_probes));
    Filter filter = must(Filter::create(path, options));
    for (std::uint64_t i = 0; i < golden.keys; ++i) REQUIRE(filter.add("key-" + std::to_string(i)).ok());
    CHECK(filter.stats({.fill = true}).fill->set_bits == golden.set_bits);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i <= golden.false_positives.back(); ++i) {
      if (filter.contains("absent-" + std::to_string(i))) found.push_back(i);
    }
    CHECK(std::equal(found.begin(), found.end(), golden.false_positives.begin(), golden.false_positives.end()));
    must(filter.close());
    CHECK(must(inspect(path)).slices.size() == golden.slices);
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
