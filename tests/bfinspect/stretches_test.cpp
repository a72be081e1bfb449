// Which stretches of a body are emptier than chance explains. No healthy filter has one, whatever its layout, size,
// hash and history are, and every hole of a 64th of a filter that has enough keys is one.
#include "stretches.hpp"

#include <bfstore/bfstore.hpp>
#include <bfstore/layouts.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/scale.hpp"
#include "support/support.hpp"
#include "verdict.hpp"

using namespace bfinspect;
using bfstore::Filter;
using bfstore::Layout;
using bfstore::Options;
using namespace rooms;

namespace {

// A filter of this many keys, closed. Its digests are those of a generator with this seed.
void make(const std::string& path, Options options, std::uint64_t keys, std::uint64_t seed) {
  options.replace = true;
  options.seed = seed;
  const std::uint32_t parts = options.part ? options.part->parts : 1;
  auto filter = must(Filter::create(path, options));
  std::mt19937_64 digests(seed);
  std::uint64_t refused = 0;
  for (std::uint64_t added = 0; added < keys;) {
    const std::uint64_t digest = digests();
    if (parts != 1 && bfstore::Part::number_of(digest, parts) != options.part->number) continue;
    refused += filter.add_digest(digest).ok() ? 0U : 1U;
    ++added;
  }
  REQUIRE(refused == 0);  // once, for a check takes longer than an add
  must(filter.close());
}

Stretches look(const std::string& path) {
  const auto report = bfstore::inspect(path);
  REQUIRE(report.ok());
  const auto found = look_along(*report);
  REQUIRE(found.has_value());
  CHECK(found->judged);
  CHECK(found->all.size() <= 64);
  const std::optional<bool> lacks = may_lack_bits(*report, found);
  CHECK(lacks == !found->emptier.empty());
  return *found;
}

bool is_even(const std::string& path) { return look(path).emptier.empty(); }

Options shape(Layout layout, std::uint64_t num_bits, std::uint32_t num_probes) {
  Options options;
  options.layout = layout;
  options.num_bits = num_bits;
  options.num_probes = num_probes;
  return options;
}

// Zeroes these of 64 equal stretches of the body.
void cut_out(const std::string& path, std::uint64_t first, std::uint64_t count) {
  const auto report = bfstore::inspect(path, false);
  REQUIRE(report.ok());
  const std::uint64_t words = report->identity->body_bytes / 8;
  const std::uint64_t length = (words + 63) / 64 * 8;
  const std::uint64_t end = std::min(words * 8, (first + count) * length);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(report->identity->body_offset + first * length));
  file << std::string(end - first * length, '\0');
  REQUIRE(file.flush().good());
}

constexpr std::array kLayouts{Layout::kBlocked, Layout::kClassic, Layout::kCounting};

}  // namespace

TEST_CASE("no healthy filter of any layout, size, number of probes and fill has a stretch that is too empty") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf");
  std::uint64_t seed = 0;
  for (const Layout layout : kLayouts) {
    // 64 * 8 * 63 + 512 bits: the last stretch is the shortest.
    for (const std::uint64_t bits : {512ULL, 32'768ULL, 129'024ULL + 512, 1'000'448ULL, 8'000'512ULL}) {
      for (const std::uint32_t probes : {1U, 7U, 30U, 64U}) {
        for (const double keys_per_bit : {0.0001, 0.01, 0.1, 1.0}) {
          const auto keys = static_cast<std::uint64_t>(std::ceil(static_cast<double>(bits) * keys_per_bit));
          if (keys > 1'000'000 / tests::kKeyScale) continue;
          CAPTURE(layout);
          CAPTURE(bits);
          CAPTURE(probes);
          CAPTURE(keys);
          make(path, shape(layout, bits, probes), keys, ++seed);
          CHECK(is_even(path));
        }
      }
    }
  }
  CHECK(seed >= 100);
}

TEST_CASE("two hundred usual filters of other seeds have no stretch that is too empty") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf");
  const std::uint64_t keys = std::max<std::uint64_t>(100'000 / tests::kKeyScale, 12'000);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Options options;
    options.layout = kLayouts[seed % 3];
    options.capacity = keys;
    make(path, options, keys, seed);
    const Stretches found = look(path);
    CHECK(found.hole_would_show);
    CHECK(found.emptier.empty());
  }
}

TEST_CASE("the last stretch is judged by its own length") {
  // With the length of the others it was too empty by chance, in one of twenty filters: it has a word, and they
  // have 64.
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf");
  const std::uint64_t bits = 64 * (63 * 64 + 1);
  for (std::uint64_t seed = 1; seed <= tests::if_slow(10, 40); ++seed) {
    make(path, shape(Layout::kClassic, bits, 1), bits * 7 / 10, seed);
    const Stretches found = look(path);
    REQUIRE(found.all.size() == 64);
    REQUIRE(found.all.back().cells == 64);
    CHECK(found.emptier.empty());
  }
}

TEST_CASE("parts, folded, merged and intersected filters are even") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf"), other = folder.file("g.bf"), made = folder.file("h.bf");
  const std::uint64_t keys = std::max<std::uint64_t>(60'000 / tests::kKeyScale, 8000);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Layout layout : kLayouts) {
      CAPTURE(seed);
      CAPTURE(layout);
      const Options whole = shape(layout, 64 * keys, 5);
      if (layout != Layout::kClassic) {
        Options part = whole;
        part.part = bfstore::Part{1, 4};
        make(path, part, keys / 4, seed);
        CHECK(is_even(path));
      }
      make(path, whole, keys, seed);
      auto filter = must(Filter::open(path, bfstore::OpenMode::kWrite));
      must(filter.save(made, {.replace = true, .fpr = 0.2}));
      CHECK(must(bfstore::inspect(made)).identity->num_bits < whole.num_bits);
      CHECK(is_even(made));
      Options like = shape(layout, 64 * keys, 5);
      make(other, like, keys / 3, seed);  // the first third of the same digests, which both have
      auto second = must(Filter::open(other, bfstore::OpenMode::kWrite));
      std::mt19937_64 digests(seed + 1000);
      for (std::uint64_t i = 0; i < keys / 3; ++i) REQUIRE(second.add_digest(digests()).ok());
      if (bfstore::layout_of(layout)->can.intersect) {
        const std::array<const Filter*, 2> both{&filter, &second};
        must(Filter::intersect(both, made, {.replace = true}));
        CHECK(is_even(made));
      }
      must(filter.merge(second));
      must(filter.close());
      must(second.close());
      CHECK(is_even(path));
    }
  }
}

TEST_CASE("a hole of a 64th is found wherever it is, and the holes of more than half of the body too") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf");
  for (const Layout layout : kLayouts) {
    for (const std::uint64_t keys :
         std::array<std::uint64_t, 2>{40'000, 400'000 / std::min<std::uint64_t>(tests::kKeyScale, 10)}) {
      const std::array<std::array<std::uint64_t, 2>, 7> holes{
          {{0, 1}, {31, 1}, {63, 1}, {20, 22}, {0, 40}, {24, 40}, {5, 55}}};
      for (const auto& hole : holes) {
        const std::uint64_t first = hole[0];
        const std::uint64_t count = hole[1];
        CAPTURE(layout);
        CAPTURE(keys);
        CAPTURE(first);
        CAPTURE(count);
        make(path, shape(layout, keys * 10 / 4096 * 4096 + 4096, 7), keys, 7 + first);
        cut_out(path, first, count);
        const Stretches found = look(path);
        REQUIRE(found.all.size() >= 60);
        const std::uint64_t end = std::min<std::uint64_t>(first + count, found.all.size());
        std::vector<std::size_t> wanted;
        for (std::uint64_t i = first; i < end; ++i) wanted.push_back(i);
        CHECK(found.emptier == wanted);
      }
    }
  }
}

TEST_CASE("a hash of another program is not judged, for it may be uneven") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("f.bf");
  Options options = shape(Layout::kClassic, 100'000, 7);
  options.hash = bfstore::Hash::kMurmur3;
  must(must(Filter::create(path, options)).close());
  const bfstore::Report report = must(bfstore::inspect(path));
  const auto found = look_along(report);
  REQUIRE(found.has_value());
  CHECK_FALSE(found->judged);
  CHECK_FALSE(may_lack_bits(report, found).has_value());
  CHECK(found->all.size() > 60);
}

TEST_CASE("a slice is compared with itself alone: a later one has fewer keys, and that is no hole") {
  std::vector<Stretch> both, as_one;
  for (std::uint32_t i = 0; i < 64; ++i) {
    both.push_back({100'000, i < 8 ? 40'000U : 10'000U, i < 8 ? 0U : 1U});
    as_one.push_back({100'000, both.back().set});
  }
  CHECK(judged(both, both, 7).emptier.empty());
  CHECK(judged(as_one, as_one, 7).emptier.size() == 56);
  both[3].set = 20'000;
  both[20].set = 100;
  const Stretches found = judged(both, both, 7);
  CHECK(found.emptier == std::vector<std::size_t>{3, 20});
  CHECK(found.all.size() == 64);
  CHECK(found.hole_would_show);
}

TEST_CASE("stretches that filled up, or lost keys, while they were read are even") {
  // The keys doubled while it was read once, and grew by half while it was read again: each stretch later than the
  // others.
  std::vector<Stretch> first, second;
  for (std::uint64_t i = 0; i < 64; ++i) {
    first.push_back({100'000, 10'000 + 10'000 * i / 64});
    second.push_back({100'000, 20'000 + 10'000 * i / 64});
  }
  CHECK_FALSE(judged(first, first, 7).emptier.empty());
  CHECK_FALSE(judged(second, second, 7).emptier.empty());
  CHECK(judged(first, second, 7).emptier.empty());
  second[40].set = 3000;
  first[40].set = 2000;
  CHECK(judged(first, second, 7).emptier == std::vector<std::size_t>{40});
}
