// The static layout. Filters are built through the public calls; every key is found, others at the promised rate;
// damage makes "maybe" of whole shards.
#include <bfstore/plan.hpp>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "layout/ribbon.hpp"
#include "layout/table.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kFirstAbsent = std::uint64_t{1} << 40;

Options options_for(std::uint64_t capacity, double fpr) {
  Options options;
  options.layout = Layout::kStatic;
  options.capacity = capacity;
  options.fpr = fpr;
  options.seed = 1;
  options.replace = true;
  return options;
}

Filter built(const TemporaryDirectory& directory, const Options& options, std::span<const std::uint64_t> digests) {
  const std::string path = directory.file("static.bf");
  must(Filter::build(path, options, Keys::digests(digests)));
  return must(Filter::open(path, OpenMode::kRead));
}

// Asks many at once and one by one.
std::vector<std::uint8_t> answers_of(const Filter& filter, std::span<const std::uint64_t> digests) {
  std::vector<std::uint8_t> answers(digests.size(), 9);
  REQUIRE(filter.contains_keys(Keys::digests(digests), answers).ok());
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (filter.contains_digest(digests[i]) != (answers[i] == 1)) FAIL("one and many differ");
  }
  return answers;
}

std::uint64_t maybes(const Filter& filter, std::span<const std::uint64_t> digests) {
  const auto answers = answers_of(filter, digests);
  return static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), 1));
}

void check_rate(const Filter& filter, double rate, std::uint64_t asked) {
  const auto found = static_cast<double>(maybes(filter, mixed(kFirstAbsent, asked)));
  const double expected = rate * static_cast<double>(asked);
  CHECK(std::abs(found - expected) <= 4.5 * std::sqrt(expected) + 1);
}

// The bytes of the file from the body on, without the rest of the page before the checksums.
std::vector<char> body_of(const TemporaryDirectory& directory, const Filter& filter) {
  std::ifstream file(directory.file("static.bf"), std::ios::binary);
  std::vector<char> bytes(filter.stats().body_bytes);
  const auto report = inspect(directory.file("static.bf"), false);
  file.seekg(static_cast<std::streamoff>(must(report).identity->body_offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.gcount() == static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void flip_byte(const TemporaryDirectory& directory, std::uint64_t offset_in_body) {
  const std::string path = directory.file("static.bf");
  const std::uint64_t at = must(inspect(path, false)).identity->body_offset + offset_in_body;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1));
  REQUIRE(file.flush().good());
}

// Two shards: columns of 2^-32 for so many keys take more than 2 MiB.
const std::uint64_t kKeysOfTwoShards = 600'000;
Options two_shards() { return options_for(kKeysOfTwoShards, 0x1p-32); }

}  // namespace

TEST_CASE("every key is found, others at the promised rate, from one key on, with every number of columns") {
  const TemporaryDirectory directory;
  for (const std::uint64_t keys : std::initializer_list<std::uint64_t>{1, 40, 63, 1000, 20'000, 150'000}) {
    for (const int columns : {1, 2, 7, 8, 9, 10, 16, 17, 32}) {
      CAPTURE(keys);
      CAPTURE(columns);
      const double rate = std::exp2(-columns);
      const auto digests = mixed(keys, keys);
      const Filter filter = built(directory, options_for(keys, rate), digests);
      CHECK(filter.shape().num_probes == static_cast<std::uint32_t>(columns));
      REQUIRE(maybes(filter, digests) == keys);
      check_rate(filter, rate, 20'000);
      const Fill fill = *filter.stats({.fill = true}).fill;
      CHECK(fill.estimated_keys == static_cast<double>(keys));
      CHECK(fill.estimated_fpr == rate);
    }
  }
}

TEST_CASE("filters of random sizes have every key, whatever the digests are, and others at the rate of their columns") {
  const TemporaryDirectory directory;
  std::mt19937_64 random(17);
  double expected = 0;
  std::uint64_t found = 0;
  for (int round = 0; round < 48; ++round) {
    const std::uint64_t keys = 1 + random() % (std::uint64_t{1} << random() % 16);
    const auto columns = static_cast<int>(1 + random() % 32);
    CAPTURE(round);
    CAPTURE(keys);
    CAPTURE(columns);
    // Digests of chance, neighbors, and those that differ in their high bits alone. One shard takes any of them.
    std::vector<std::uint64_t> digests(keys);
    const std::uint64_t first = random();
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::uint64_t number = first + i;
      digests[i] = round % 3 == 0 ? random() : round % 3 == 1 ? number : number << 48 | number >> 16;
    }
    const Filter filter = built(directory, options_for(keys, std::exp2(-columns)), digests);
    REQUIRE(filter.shape().num_probes == static_cast<std::uint32_t>(columns));
    REQUIRE(maybes(filter, digests) == keys);
    constexpr std::uint64_t kAsked = 2000;
    std::vector<std::uint64_t> others;
    const std::set<std::uint64_t> present(digests.begin(), digests.end());
    while (others.size() < kAsked) {
      if (const std::uint64_t digest = random(); present.count(digest) == 0) others.push_back(digest);
    }
    expected += static_cast<double>(kAsked) * std::exp2(-columns);
    found += maybes(filter, others);
  }
  CHECK(std::abs(static_cast<double>(found) - expected) <= 4.5 * std::sqrt(expected));
}

TEST_CASE("keys that are hashed are found, and others at the promised rate, with every hash that has digests") {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kKeys = 20'000, kAsked = 50'000;
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kKeys + kAsked; ++i) keys.push_back("key " + std::to_string(i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (const HashInfo& hash : hashes()) {
    if (hash.gives_positions || hash.hash == Hash::kExternal) continue;
    CAPTURE(hash.name);
    Options options = options_for(kKeys, 0x1p-6);
    options.hash = hash.hash;
    OpenOptions opening;
    if (!hash.takes_seed) options.seed.reset();
    if (hash.takes_secret) opening.secret = options.secret = Secret{9, 8, 7};
    const std::string path = directory.file("static.bf");
    must(Filter::build(path, options, Keys::views(std::span(views).first(kKeys))));
    const Filter filter = must(Filter::open(path, OpenMode::kRead, opening));
    std::vector<std::uint8_t> answers(views.size());
    REQUIRE(filter.contains_keys(Keys::views(views), answers).ok());
    CHECK(std::count(answers.begin(), answers.begin() + kKeys, 1) == kKeys);
    const auto wrong = static_cast<double>(std::count(answers.begin() + kKeys, answers.end(), 1));
    const double expected = kAsked * 0x1p-6;
    CHECK(std::abs(wrong - expected) <= 4.5 * std::sqrt(expected));
  }
}

TEST_CASE("a filter without keys, and keys that come twice") {
  const TemporaryDirectory directory;
  const Filter empty = built(directory, options_for(100, 0.001), {});
  check_rate(empty, 1.0 / 1024, 20'000);
  auto digests = mixed(7, 500);
  const auto once = body_of(directory, built(directory, options_for(500, 0.01), digests));
  digests.insert(digests.end(), digests.begin(), digests.begin() + 250);
  std::shuffle(digests.begin(), digests.end(), std::mt19937_64(3));
  const Filter twice = built(directory, options_for(500, 0.01), digests);
  CHECK(body_of(directory, twice) == once);
  CHECK(twice.stats().keys_added == 500);
}

TEST_CASE("the smallest filter for a rate has room for its keys, and takes few bits") {
  const TemporaryDirectory directory;
  for (const std::uint64_t keys : std::initializer_list<std::uint64_t>{1, 10, 100, 1000, 10'000, 100'000, 400'000}) {
    for (const double rate : {0.01, 0.001, 1e-6}) {
      CAPTURE(keys);
      CAPTURE(rate);
      const auto digests = mixed(kFirstAbsent * 3 + keys, keys);
      const Filter filter = built(directory, options_for(keys, rate), digests);
      CHECK(filter.shape().capacity == keys);
      CHECK(maybes(filter, digests) == keys);
      if (keys < 100'000) continue;
      const double bits = static_cast<double>(filter.shape().num_bits) / static_cast<double>(keys);
      CHECK(bits <= 1.05 * std::ceil(-std::log2(rate)));
    }
  }
  PlanRequest request;
  request.layout = Layout::kStatic;
  request.capacity = 10'000'000;
  request.fpr = 0.01;
  CHECK(static_cast<double>(must(plan(request)).num_bits) / 1e7 <= 7.2);
  request.fpr = 0.001;
  CHECK(static_cast<double>(must(plan(request)).num_bits) / 1e7 <= 1.03 * 10);
}

TEST_CASE("more keys than there is room for make no file") {
  const TemporaryDirectory directory;
  const auto digests = mixed(1, 3000);
  check_refused(Filter::build(directory.file("static.bf"), options_for(2000, 0.01), Keys::digests(digests)),
                Code::kFull, {"static.bf", "3000", "2000", "greater"});
  CHECK(directory.entries() == 0);
  // 40 columns are more than an equation has.
  Options columns = options_for(0, 0);
  columns.num_bits = 1 << 20;
  columns.num_probes = 40;
  CHECK_FALSE(Filter::build(directory.file("static.bf"), columns, Keys::digests(digests)).ok());
  CHECK(directory.entries() == 0);
}

TEST_CASE("a shard that cannot take all of its keys is an error, whatever its capacity was said to be") {
  const layout::Row& row = layout::kStaticRow;
  const layout::Geometry geometry = row.geometry(16384, 7);
  std::vector<std::uint64_t> words(16384 / 64);
  auto digests = mixed(1, 3000);
  std::sort(digests.begin(), digests.end());
  check_refused(row.build(words.data(), geometry, 0, digests), Code::kFull, {"3000 keys", "larger capacity"});
  CHECK(row.build(words.data(), geometry, 0, std::span(digests).first(1500)).ok());
}

TEST_CASE("several shards are one filter, and a copy has the same answers") {
  const TemporaryDirectory directory;
  const auto digests = mixed(11, kKeysOfTwoShards);
  const Filter filter = built(directory, two_shards(), digests);
  REQUIRE(layout::kStaticRow.geometry(filter.shape().num_bits, 32).shards.bits == 1);
  CHECK(maybes(filter, digests) == kKeysOfTwoShards);
  CHECK(maybes(filter, mixed(kFirstAbsent, 100'000)) == 0);
  CHECK(filter.stats({.fill = true}).fill->estimated_keys == static_cast<double>(kKeysOfTwoShards));
  must(filter.save(directory.file("copy.bf")));
  CHECK(maybes(must(Filter::open(directory.file("copy.bf"), OpenMode::kRead)), digests) == kKeysOfTwoShards);
}

TEST_CASE("a damaged shard answers maybe to all of its keys, and the other one to its own alone") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("static.bf");
  const auto digests = mixed(11, kKeysOfTwoShards);
  const auto absent = mixed(kFirstAbsent, 10'000);
  const layout::Shards shards =
      layout::kStaticRow.geometry(built(directory, two_shards(), digests).shape().num_bits, 32).shards;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{shards.bytes} / 2, std::uint64_t{shards.bytes} - 1,
                                     std::uint64_t{shards.bytes} + 3, std::uint64_t{shards.bytes} * 2 - 200}) {
    CAPTURE(offset);
    static_cast<void>(built(directory, two_shards(), digests));
    flip_byte(directory, offset);
    CHECK(Filter::open(path, OpenMode::kRead, {.verify = true}).error().code == Code::kDamaged);
    const Filter tolerant = must(Filter::open(path, OpenMode::kRead, {.tolerate_damage = true}));
    CHECK(maybes(tolerant, digests) == kKeysOfTwoShards);
    const auto answers = answers_of(tolerant, absent);
    const std::uint64_t damaged = offset / shards.bytes;
    const bool shared = offset / 65536 == (std::uint64_t{shards.bytes} - 1) / 65536 ||
                        offset / 65536 == std::uint64_t{shards.bytes} / 65536;  // a chunk of both shards
    for (std::size_t i = 0; i < absent.size(); ++i) {
      const bool of_damaged = layout::shard_of(shards, absent[i]) == damaged;
      if (of_damaged && answers[i] != 1) FAIL("a wrong no");
      if (!of_damaged && !shared && answers[i] != 0) FAIL("maybe in the other shard");
    }
    CHECK(tolerant.save(directory.file("copy.bf")).code == Code::kDamaged);
    const Fill fill = *tolerant.stats({.fill = true}).fill;
    CHECK(fill.estimated_fpr == doctest::Approx(shared ? 1 : 0.5));
    CHECK(fill.estimated_keys_low <= kKeysOfTwoShards);
    CHECK(fill.estimated_keys_high >= kKeysOfTwoShards);
    CHECK(std::isfinite(fill.estimated_keys_high) == !shared);
    if (!shared) CHECK(fill.estimated_keys == doctest::Approx(kKeysOfTwoShards).epsilon(0.01));
  }
}

// The end word is right behind a small body.
TEST_CASE("a damaged file of one small shard answers maybe to every key, and is in no other doubt") {
  const TemporaryDirectory directory;
  for (const std::uint64_t keys : std::initializer_list<std::uint64_t>{1, 1000, 5000}) {
    const auto digests = mixed(3, keys);
    static_cast<void>(built(directory, options_for(keys, 0.01), digests));
    flip_byte(directory, 100);
    const Filter tolerant = must(Filter::open(directory.file("static.bf"), OpenMode::kRead, {.tolerate_damage = true}));
    CHECK(tolerant.health() == Code::kOk);
    CHECK(maybes(tolerant, digests) == keys);
    CHECK(maybes(tolerant, mixed(kFirstAbsent, 1000)) == 1000);
    const Fill fill = *tolerant.stats({.fill = true}).fill;
    CHECK(fill.estimated_fpr == 1);
    CHECK(fill.estimated_keys == 0);
    CHECK(fill.estimated_keys_high == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("damage behind the last shard puts no shard in doubt") {
  const layout::Row& row = layout::kStaticRow;
  const layout::Geometry geometry = row.geometry((std::uint64_t{2} << 23) + 8 * 64, 9);
  const std::uint64_t shards_end = std::uint64_t{geometry.shards.bytes} << geometry.shards.bits;
  REQUIRE(shards_end < (2 << 20) + 64);
  CHECK(row.range_of_ones(geometry, {shards_end, 64}).bytes == 0);
  const layout::ByteRange of_last = row.range_of_ones(geometry, {shards_end - 1, 65});
  CHECK(of_last.offset == shards_end - geometry.shards.bytes);
  CHECK(of_last.bytes >= 8);
}

TEST_CASE("bodies that no builder makes answer maybe") {
  const layout::Row& row = layout::kStaticRow;
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{512, 1024, 4096}) {
    std::vector<std::uint64_t> words(bits / 64 + 32);
    for (const std::uint32_t columns : {1U, 32U, 33U, 64U}) {
      const layout::Geometry geometry = row.geometry(bits, columns);
      if (geometry.shards.slots[0] != 0) continue;
      layout::FillCounter counter(row, geometry);
      counter.take(words.data(), bits / 64);
      CHECK(counter.fill().estimated_fpr == 1);
      for (const layout::Functions& functions : layout::runnable(row)) {
        for (const std::uint64_t digest : mixed(1, 100)) {
          std::uint8_t answer = 9;
          functions.contains.step(words.data(), geometry, {&digest, 1, &digest, 1}, &answer);
          CHECK(answer == 1);
        }
      }
    }
  }
}

TEST_CASE("a shard whose seed says so answers maybe to every key, whatever its other bytes are") {
  const layout::Row& row = layout::kStaticRow;
  const layout::Geometry geometry = row.geometry(65536, 9);
  std::vector<std::uint64_t> words(65536 / 64);
  words[0] = layout::kMaybeSeed;
  const auto digests = mixed(1, 1000);
  for (const layout::Functions& functions : layout::runnable(row)) {
    std::vector<std::uint8_t> answers(digests.size());
    const layout::Step step{digests.data(), digests.size(), nullptr, 0};
    CHECK(functions.contains.step(words.data(), geometry, step, answers.data()) == digests.size());
    CHECK(answers == std::vector<std::uint8_t>(digests.size(), 1));
    std::uint64_t same = 0;
    const layout::Target target{words.data(), geometry, {&same, &same, 0}};
    for (const std::uint64_t digest : digests) CHECK(functions.contains.one(target, digest) == 1);
  }
}

TEST_CASE("every kernel answers as the scalar code, whatever the bytes are") {
  const layout::Row& row = layout::kStaticRow;
  std::mt19937_64 random(5);
  std::uint64_t cases = 0;
  for (std::uint32_t columns = 1; columns <= layout::kMostColumns; ++columns) {
    for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{16384, 65536, 40'000'000}) {
      std::vector<std::uint64_t> words(bits / 64);
      for (std::uint64_t& word : words) word = random();
      const layout::Geometry geometry = row.geometry(bits, columns);
      REQUIRE(geometry.shards.slots[0] != 0);
      std::vector<std::uint64_t> digests(2000);
      for (std::uint64_t& digest : digests) digest = random();
      std::vector<std::uint8_t> expected(digests.size());
      const layout::Step step{digests.data(), digests.size(), digests.data(), 64};
      row.scalar->contains.step(words.data(), geometry, step, expected.data());
      for (const layout::Functions& functions : layout::runnable(row)) {
        std::vector<std::uint8_t> answers(digests.size());
        functions.contains.step(words.data(), geometry, step, answers.data());
        CHECK(answers == expected);
        ++cases;
      }
    }
  }
  CHECK(cases >= layout::kMostColumns * 3);
}
