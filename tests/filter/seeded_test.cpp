// Hashes that give positions. Their filters hold the bits of k seeded hashes and no other, in every form of keys. They
// say kKeyOnly wherever a digest is needed. They are copied, merged and followed to by the same numbers, or not at all.
#include <cmath>
#include <set>

#include <bfstore/bare.hpp>
#include <bfstore/inline.hpp>

#include "layout/layout.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

// Another implementation of MurmurHash3_x86_32, byte by byte, and Python's % by its definition.
std::uint32_t reference_hash(std::string_view key, std::uint32_t seed) {
  const auto rotated = [](std::uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); };
  std::uint32_t h = seed, word = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(key[i])) << (8 * (i % 4));
    const bool last = i + 1 == key.size();
    if (i % 4 != 3 && !last) continue;
    h ^= rotated(word * 0xcc9e2d51U, 15) * 0x1b873593U;
    if (i % 4 == 3) h = rotated(h, 13) * 5 + 0xe6546b64U;
    word = 0;
  }
  h ^= static_cast<std::uint32_t>(key.size());
  h = (h ^ h >> 16) * 0x85ebca6bU;
  h = (h ^ h >> 13) * 0xc2b2ae35U;
  return h ^ h >> 16;
}

std::uint64_t reference_position(std::string_view key, Hash hash, std::uint32_t seed, std::uint64_t num_bits) {
  std::int64_t number = reference_hash(key, seed);
  if (hash == Hash::kMurmur3 && number >= std::int64_t{1} << 31) number -= std::int64_t{1} << 32;
  const auto m = static_cast<std::int64_t>(num_bits);
  return static_cast<std::uint64_t>(((number % m) + m) % m);
}

constexpr std::array kHashes{Hash::kMurmur3, Hash::kMurmur3Unsigned};
const std::vector<std::uint32_t> kSeeds{41, 42, 43, 0xffffffff, 7};

Options seeded(Hash hash, std::uint64_t num_bits = 99991, std::vector<std::uint32_t> seeds = kSeeds) {
  Options options;
  options.hash = hash;
  options.num_bits = num_bits;
  options.seeds = std::move(seeds);
  return options;
}

// So many bits are asked one key after the other in a call with many keys, and more of them in windows of keys.
constexpr std::uint64_t kCachedBits = std::uint64_t{1} << 21;

// Returns a test key. The keys have every length modulo 4.
std::string key(std::uint64_t number) { return std::to_string(mix(number)).substr(0, 1 + number % 17) + "é"; }

std::vector<std::string> keys(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> all;
  for (std::uint64_t i = first; i < first + count; ++i) all.push_back(key(i));
  return all;
}

void add_all(Filter& filter, const std::vector<std::string>& all) {
  const std::vector<std::string_view> views(all.begin(), all.end());
  REQUIRE(filter.add_keys(Keys::views(views)).ok());
}

class Reference {
 public:
  explicit Reference(const Options& options) : options_(options) {}

  [[nodiscard]] std::set<std::uint64_t> positions(std::string_view key) const {
    std::set<std::uint64_t> all;
    for (const std::uint32_t seed : options_.seeds)
      all.insert(reference_position(key, *options_.hash, seed, options_.num_bits));
    return all;
  }
  // Returns whether a bit was missing.
  bool add(std::string_view key) {
    const std::size_t before = bits_.size();
    for (const std::uint64_t position : positions(key)) bits_.insert(position);
    return bits_.size() != before;
  }
  [[nodiscard]] bool contains(std::string_view key) const {
    const auto all = positions(key);
    return std::includes(bits_.begin(), bits_.end(), all.begin(), all.end());
  }
  [[nodiscard]] std::vector<std::byte> body(std::size_t bytes) const {
    std::vector<std::byte> body(bytes);
    for (const std::uint64_t bit : bits_) body.at(bit / 8) |= static_cast<std::byte>(1U << (bit % 8));
    return body;
  }

 private:
  Options options_;
  std::set<std::uint64_t> bits_;
};

std::vector<std::byte> bits_of(const Filter& filter) {
  std::vector<std::byte> dumped(must(filter.dumped_bytes()));
  must(filter.dump(dumped));
  constexpr std::size_t kEndWordBytes = 8;
  const std::size_t body = filter.stats().body_bytes;
  return {dumped.end() - static_cast<std::ptrdiff_t>(body + kEndWordBytes),
          dumped.end() - static_cast<std::ptrdiff_t>(kEndWordBytes)};
}

// Checks that no call that needs a digest gives an answer, whatever the filter has.
void check_key_only(Filter& filter) {
  const std::array<std::uint64_t, 3> digests{0, 1, UINT64_MAX};
  std::array<std::uint8_t, 3> answers{};
  std::array<std::uint32_t, 3> indices{9, 9, 9};
  std::array<std::uint64_t, 3> out{5, 5, 5};
  CHECK(filter.add_digest(7).code() == Code::kKeyOnly);
  CHECK(filter.contains_digest(7));
  CHECK(filter.lookup().contains_digest(7));
  CHECK(filter.lookup().call(7) == static_cast<std::int32_t>(Code::kKeyOnly));
  CHECK_FALSE(filter.digest("key").has_value());
  CHECK(filter.add_keys(Keys::digests(digests)).code() == Code::kKeyOnly);
  CHECK(filter.contains_keys(Keys::digests(digests), answers).code() == Code::kKeyOnly);
  CHECK(answers == std::array<std::uint8_t, 3>{1, 1, 1});
  CHECK(filter.select_keys(Keys::digests(digests), indices).code() == Code::kKeyOnly);
  CHECK(indices == std::array<std::uint32_t, 3>{0, 1, 2});
  const std::array<std::string_view, 3> views{"a", "b", "c"};
  CHECK(filter.digest_keys(Keys::views(views), out).code() == Code::kKeyOnly);
  CHECK(filter.digest_keys(Keys::digests(digests), out).code() == Code::kKeyOnly);
  CHECK(out == std::array<std::uint64_t, 3>{5, 5, 5});
  CHECK(filter.add_keys(Keys()).ok());  // no keys, which every filter takes
}

}  // namespace

TEST_CASE("the bits and the answers are those of k seeded hashes, one key at a time and many, shared and alone") {
  for (const Hash hash : kHashes) {
    for (const std::uint64_t num_bits : {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{1000}, std::uint64_t{99991},
                                         kCachedBits, kCachedBits + 1}) {
      for (const bool exclusive : {false, true}) {
        const TemporaryDirectory directory;
        Options options = seeded(hash, num_bits);
        options.exclusive = exclusive;
        Reference reference(options);
        Filter filter = must(Filter::create(directory.file("f"), options));
        CHECK(filter.shape().layout == Layout::kClassic);
        CHECK(filter.shape().num_probes == kSeeds.size());
        CHECK(filter.seeds() == kSeeds);
        for (const std::string& one : keys(0, 50)) {
          const Count count = filter.add(one);
          REQUIRE(count.ok());
          REQUIRE(count.keys() == (reference.add(one) ? 1 : 0));
        }
        const auto many = keys(50, 500);
        std::uint64_t changed = 0;
        for (const std::string& one : many) changed += reference.add(one) ? 1U : 0U;
        const std::vector<std::string_view> views(many.begin(), many.end());
        CHECK(filter.add_keys(Keys::views(views)).keys() == changed);
        CHECK(filter.add("").ok());
        reference.add("");
        CHECK(bits_of(filter) == reference.body(filter.stats().body_bytes));

        const auto asked = keys(0, 3000);
        std::vector<std::string_view> asked_views(asked.begin(), asked.end());
        std::vector<std::uint8_t> answers(asked.size(), 7);
        std::vector<std::uint32_t> indices(asked.size());
        const Count maybes = filter.contains_keys(Keys::views(asked_views), answers);
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) {
          REQUIRE(answers[i] == (reference.contains(asked[i]) ? 1 : 0));
          REQUIRE(filter.answer(asked[i]) == answers[i]);
          if (answers[i] == 1) REQUIRE(expected < asked.size());
          expected += answers[i];
        }
        CHECK(maybes.keys() == expected);
        REQUIRE(filter.select_keys(Keys::views(asked_views), indices).keys() == expected);
        for (std::size_t i = 0, at = 0; i < asked.size(); ++i) {
          if (answers[i] == 1) REQUIRE(indices[at++] == i);
        }
      }
    }
  }
}

TEST_CASE("nulls are not hashed, not added, and answered 0") {
  const auto unique = [](std::uint64_t i) { return key(i) + std::to_string(i); };
  std::string bytes;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::uint8_t> validity(13);
  for (std::uint64_t i = 0; i < 100; ++i) {
    bytes += unique(i);
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
    if (i % 3 != 0) validity[(i + 1) / 8] = static_cast<std::uint8_t>(validity[(i + 1) / 8] | 1U << ((i + 1) % 8));
  }
  const Keys all = Keys::column(bytes.data(), bytes.size(), offsets);
  const Keys column = all.where_valid(validity.data(), 1);
  for (const std::uint64_t num_bits : {std::uint64_t{99991}, kCachedBits + 1}) {
    InMemory made = InMemory::make(seeded(Hash::kMurmur3, num_bits));
    CHECK(made.filter.add_keys(column).keys() == 66);
    for (const bool nulls_are_added : {false, true}) {
      if (nulls_are_added) CHECK(made.filter.add_keys(all).keys() == 34);
      std::vector<std::uint8_t> answers(100, 7);
      CHECK(made.filter.contains_keys(column, answers).keys() == 66);
      for (std::uint64_t i = 0; i < 100; ++i) {
        REQUIRE(answers[i] == (i % 3 != 0 ? 1 : 0));
        REQUIRE(made.filter.contains(unique(i)) == (nulls_are_added || i % 3 != 0));
      }
    }
  }
}

TEST_CASE("wrong keys are an error before any is added, and every answer is maybe") {
  InMemory made = InMemory::make(seeded(Hash::kMurmur3));
  const std::array<const void*, 2> pointers{"a", nullptr};
  const std::array<std::size_t, 2> lengths{1, 1};
  CHECK(made.filter.add_keys(Keys::pointers(pointers, lengths)).code() == Code::kInvalid);
  CHECK(made.filter.stats({.fill = true}).fill->set_bits == 0);
  const std::array<std::string_view, 2> views{"a", "b"};
  std::array<std::uint8_t, 1> few{7};
  CHECK(made.filter.contains_keys(Keys::views(views), few).code() == Code::kInvalid);
  CHECK(few[0] == 1);
}

TEST_CASE("every call that needs a digest is kKeyOnly, or maybe, in every kind of handle") {
  const TemporaryDirectory directory;
  for (const Hash hash : kHashes) {
    const std::string path = directory.file(hash_of(hash)->name);
    Filter writer = must(Filter::create(path, seeded(hash)));
    check_key_only(writer);
    CHECK(writer.stats({.fill = true}).fill->set_bits == 0);
    must(writer.close());
    for (const bool follow : {false, true}) {
      OpenOptions options;
      options.follow = follow;
      Filter reader = must(Filter::open(path, OpenMode::kRead, options));
      CHECK(reader.add("key").code() == Code::kReadOnly);
      const std::array<std::uint64_t, 1> digests{1};
      std::array<std::uint8_t, 1> answers{};
      CHECK(reader.contains_digest(1));
      CHECK(reader.lookup().contains_digest(1));
      CHECK(reader.contains_keys(Keys::digests(digests), answers).code() == Code::kKeyOnly);
      CHECK(reader.answer("key") == 0);
    }
    InMemory made = InMemory::make(seeded(hash));
    check_key_only(made.filter);
  }
}

TEST_CASE("a filter that is filled answers maybe to every key, and its digests are kKeyOnly all the same") {
  const TemporaryDirectory directory;
  Options options = seeded(Hash::kMurmur3);
  options.filling = true;
  Filter writer = must(Filter::create(directory.file("f"), options));
  const Filter reader = must(Filter::open(directory.file("f"), OpenMode::kRead));
  REQUIRE(writer.add("present").ok());
  const std::array<std::string_view, 2> views{"present", "absent"};
  std::array<std::uint8_t, 2> answers{};
  for (const Filter* const filter : {&std::as_const(writer), &reader}) {
    CHECK(filter->answer("absent") == 1);
    CHECK(filter->contains_keys(Keys::views(views), answers).keys() == 2);
    CHECK(filter->lookup().call(1) == static_cast<std::int32_t>(Code::kKeyOnly));
  }
  must(writer.finish_filling());
  for (const Filter* const filter : {&std::as_const(writer), &reader}) {
    CHECK(filter->answer("absent") == 0);
    CHECK(filter->answer("present") == 1);
  }
}

TEST_CASE("a poisoned or superseded filter answers maybe, and takes no key") {
  const TemporaryDirectory directory;
  Options options = seeded(Hash::kMurmur3);
  Filter old = must(Filter::create(directory.file("f"), options));
  REQUIRE(old.add("old").ok());
  options.replace = true;
  const Filter next = must(Filter::create(directory.file("f"), options));
  CHECK(old.health() == Code::kSuperseded);
  CHECK(old.answer("absent") == 1);
  CHECK(old.add("new").code() == Code::kSuperseded);
  const std::array<std::string_view, 2> views{"a", "b"};
  std::array<std::uint8_t, 2> answers{};
  CHECK(old.contains_keys(Keys::views(views), answers).keys() == 2);
  CHECK(old.add_keys(Keys::views(views)).code() == Code::kSuperseded);
}

TEST_CASE("a copy in every form has the seeds, and answers as its source") {
  const TemporaryDirectory directory;
  for (const Hash hash : kHashes) {
    InMemory made = InMemory::make(seeded(hash, 5000));
    add_all(made.filter, keys(0, 300));
    const std::string path = directory.file(hash_of(hash)->name);
    must(made.filter.save(path));
    must(seal(path, path + ".sealed"));
    std::vector<std::byte> dumped(must(made.filter.dumped_bytes()));
    must(made.filter.dump(dumped));
    check_refused(made.filter.dump(dumped, {.bare = true}), Code::kInvalid, {"bare"});
    std::ofstream(path + ".range", std::ios::binary)
        .write(reinterpret_cast<const char*>(dumped.data()), static_cast<std::streamsize>(dumped.size()));
    OpenOptions copied;
    copied.map.copy = true;
    std::vector<Filter> copies;
    copies.push_back(must(Filter::open(path, OpenMode::kRead)));
    copies.push_back(must(Filter::open(path, OpenMode::kRead, copied)));
    copies.push_back(must(Filter::open(path + ".sealed", OpenMode::kRead)));
    copies.push_back(must(Filter::open_range(path + ".range", 0, 0, {})));
    copies.push_back(must(Filter::load(dumped)));
    copies.push_back(must(Filter::wrap(made.buffer.bytes())));
    for (const Filter& copy : copies) {
      CHECK(copy.seeds() == kSeeds);
      CHECK(bits_of(copy) == bits_of(made.filter));
      for (std::uint64_t i = 0; i < 2000; ++i) REQUIRE(copy.answer(key(i)) == made.filter.answer(key(i)));
    }
    CHECK(must(inspect(path)).identity->seeds == kSeeds);
  }
}

TEST_CASE("filters merge if they have the same seeds and the same size, since they do not fold") {
  const TemporaryDirectory directory;
  for (const Hash hash : kHashes) {
    Options options = seeded(hash, 6000);
    InMemory one = InMemory::make(options);
    InMemory other = InMemory::make(options);
    InMemory both = InMemory::make(options);
    add_all(one.filter, keys(0, 200));
    add_all(other.filter, keys(200, 200));
    add_all(both.filter, keys(0, 400));
    must(one.filter.merge(other.filter));
    CHECK(bits_of(one.filter) == bits_of(both.filter));

    const Comparison comparison = must(one.filter.compare(both.filter));
    CHECK(comparison.equal);
    CHECK_FALSE(comparison.differ.seed);

    InMemory larger = InMemory::make(seeded(hash, 12000));
    check_refused(one.filter.merge(larger.filter), Code::kMismatch, {"number of bits", "12000"});
    for (const std::vector<std::uint32_t>& seeds :
         {std::vector<std::uint32_t>{42, 41, 43, 0xffffffff, 7}, {41, 42, 43, 0xffffffff, 8}}) {
      InMemory reseeded = InMemory::make(seeded(hash, 6000, seeds));
      check_refused(one.filter.merge(reseeded.filter), Code::kMismatch, {"list of seeds"});
      const std::array<const Filter*, 2> both_seeds{&one.filter, &reseeded.filter};
      check_refused(Filter::intersect(both_seeds, directory.file("in both")), Code::kMismatch, {"list of seeds"});
      const Comparison apart = must(one.filter.compare(reseeded.filter));
      CHECK(apart.differ.seed);
      CHECK_FALSE(apart.comparable);
    }
    InMemory rehashed = InMemory::make(seeded(hash == kHashes[0] ? kHashes[1] : kHashes[0], 6000));
    check_refused(one.filter.merge(rehashed.filter), Code::kMismatch, {"hash murmur3"});
    CHECK(bits_of(one.filter) == bits_of(both.filter));
    const std::array<const Filter*, 2> sizes{&one.filter, &larger.filter};
    check_refused(Filter::intersect(sizes, directory.file("in both")), Code::kMismatch, {"number of bits", "12000"});
    CHECK_FALSE(must(one.filter.compare(larger.filter)).comparable);
    check_refused(one.filter.save(directory.file("folded"), {.fpr = 0.5}), Code::kUnsupported, {"folded"});
    CHECK(directory.entries() == 0);
  }
}

TEST_CASE("a reader follows to another size and other seeds, and asks by them, and not to another hash") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("f");
  const auto publish = [&](Options options, std::uint64_t first) {
    options.replace = true;
    options.unpublished = true;
    Filter made = must(Filter::create(path, options));
    if (hash_of(*options.hash)->takes_keys) add_all(made, keys(first, 100));
    must(made.publish());
  };
  publish(seeded(Hash::kMurmur3), 0);
  OpenOptions options;
  options.follow = true;
  const Filter reader = must(Filter::open(path, OpenMode::kRead, options));
  CHECK(reader.contains(key(0)));
  CHECK(reader.answer("absent") == 0);
  publish(seeded(Hash::kMurmur3, 77777, {1, 2, 3, 4, 5, 6, 7, 8, 9}), 100);
  CHECK(must(reader.is_current()));
  for (std::uint64_t i = 100; i < 200; ++i) REQUIRE(reader.contains(key(i)));
  const auto all = keys(100, 100);
  const std::vector<std::string_view> views(all.begin(), all.end());
  std::vector<std::uint8_t> answers(100);
  CHECK(reader.contains_keys(Keys::views(views), answers).keys() == 100);
  CHECK(reader.answer("absent") == 0);
  CHECK(reader.seeds().size() == 9);
  CHECK(reader.contains_digest(1));
  publish(seeded(Hash::kMurmur3Unsigned), 200);
  CHECK_FALSE(must(reader.is_current()));
  CHECK(reader.answer("absent") == 1);
}

TEST_CASE("seeds count from 0 where none are given, and options that contradict each other are refused") {
  Options options = seeded(Hash::kMurmur3, 124, {});
  options.num_probes = 4;
  CHECK(InMemory::make(options).filter.seeds() == std::vector<std::uint32_t>{0, 1, 2, 3});
  options.num_probes = 0;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"num_probes"});
  options.seeds = {1, 2};
  options.num_probes = 3;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"3 probes", "2"});
  options.seeds.assign(65, 1);
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"65 seeds", "64"});
  options = seeded(Hash::kMurmur3);
  options.layout = Layout::kBlocked;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"murmur3", "blocked", "classic"});
  options = seeded(Hash::kMurmur3);
  options.seed = 1;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"seed"});
  options = seeded(Hash::kMurmur3);
  options.secret = Secret{};
  check_refused(Filter::required_bytes(options), Code::kSecret, {"siphash"});
  options = seeded(Hash::kMurmur3);
  options.bare = true;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"bare"});
  for (const Hash hash : {Hash::kXxh3, Hash::kExternal}) {
    options = seeded(hash);
    options.num_probes = static_cast<std::uint32_t>(kSeeds.size());
    check_refused(Filter::required_bytes(options), Code::kInvalid, {"list of seeds", hash_of(hash)->name});
  }
  options = seeded(Hash::kMurmur3, std::uint64_t{1} << 32);
  CHECK(Filter::required_bytes(options).ok());
  ++options.num_bits;
  check_refused(Filter::required_bytes(options), Code::kSizing, {"murmur3", "4294967296"});
  std::array<std::byte, 72> room{};
  CHECK(bare::build(room, Keys(), Layout::kClassic, Hash::kMurmur3) == Code::kInvalid);
}

TEST_CASE("a bare filter like one with seeds is refused, and a file like one has its seeds") {
  const TemporaryDirectory directory;
  must(must(Filter::create(directory.file("f"), seeded(Hash::kMurmur3))).close());
  Options like;
  like.like = directory.file("f");
  CHECK(must(Filter::create(directory.file("g"), like)).seeds() == kSeeds);
  like.bare = true;
  check_refused(Filter::required_bytes(like), Code::kInvalid, {"bare"});
}

TEST_CASE("a filter of max_bytes has room for its seeds, and leaves few bytes unused") {
  for (const std::uint64_t bytes : {600U, 1024U, 5000U, 100000U}) {
    Options options = seeded(Hash::kMurmur3, 0, {});
    options.capacity = bytes;
    options.max_bytes = bytes;
    const std::uint64_t needed = must(Filter::required_bytes(options));
    CHECK(needed <= bytes);
    CHECK(needed + 256 + 72 > bytes);
  }
}

// The numbers that the formulas of the tutorials give in Python.
TEST_CASE("the sizing of tutorials truncates m and k, and promises the rate that follows from them") {
  struct Case {
    std::uint64_t keys;
    double fpr;
    std::uint64_t num_bits;
    std::uint32_t num_probes;
  };
  for (const Case& known :
       {Case{20, 0.05, 124, 4}, Case{1000, 0.01, 9585, 6}, Case{1'000'000, 0.001, 14377587, 9}, Case{10, 0.1, 47, 3}}) {
    Options options = seeded(Hash::kMurmur3, 0, {});
    options.capacity = known.keys;
    options.fpr = known.fpr;
    options.tutorial_sizing = true;
    const InMemory made = InMemory::make(options);
    const Shape shape = made.filter.shape();
    CHECK(shape.num_bits == known.num_bits);
    CHECK(shape.num_probes == known.num_probes);
    CHECK(shape.capacity == known.keys);
    CHECK(shape.fpr > known.fpr * 0.95);
    CHECK(shape.fpr < known.fpr * 1.3);
    CHECK(made.filter.seeds().size() == known.num_probes);
  }
  Options options = seeded(Hash::kMurmur3, 0, {});
  options.tutorial_sizing = true;
  options.capacity = 10;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"tutorials", "capacity"});
  options.fpr = 0.9;
  check_refused(Filter::required_bytes(options), Code::kSizing, {"tutorials", "0 probes"});
}

// The numbers of pybloom_live.BloomFilter(n, p).
TEST_CASE("the sizing of python-bloomfilter's hashes is that of their program, and the rate is as asked for") {
  struct Case {
    std::uint64_t keys;
    double fpr;
    std::uint64_t slice_bits;
    std::uint32_t num_probes;
  };
  for (const Case& known : {Case{1000, 0.001, 1438, 10}, Case{100000, 0.001, 143776, 10},
                            Case{1000000, 0.001, 1437759, 10}, Case{20, 0.05, 25, 5}, Case{1, 0.5, 2, 1},
                            Case{12345, 0.125, 17811, 3}, Case{500, 1e-09, 719, 30}, Case{7, 0.9, 2, 1}}) {
    for (const Hash hash : {Hash::kJaybird, Hash::kPybloomLive}) {
      Options options = seeded(hash, 0, {});
      options.capacity = known.keys;
      options.fpr = known.fpr;
      options.tutorial_sizing = true;
      const Shape shape = InMemory::make(options).filter.shape();
      CHECK(shape.num_bits == known.slice_bits * known.num_probes);
      CHECK(shape.num_probes == known.num_probes);
      CHECK(shape.capacity == known.keys);
      CHECK(shape.fpr == known.fpr);
    }
  }
  Options options = seeded(Hash::kJaybird, 0, {});
  options.tutorial_sizing = true;
  options.capacity = 10;
  options.fpr = 1e-20;
  check_refused(Filter::required_bytes(options), Code::kSizing, {"python-bloomfilter", "67 slices"});
}

TEST_CASE("a filter of slices has a multiple of k as its number of bits, no seeds and no digests") {
  for (const Hash hash : {Hash::kJaybird, Hash::kPybloomLive}) {
    Options options = seeded(hash, 1001, {});
    options.num_probes = 7;
    InMemory made = InMemory::make(options);
    CHECK(made.filter.seeds().empty());
    CHECK(made.filter.add("key").ok());
    CHECK(made.filter.contains("key"));
    CHECK(made.filter.stats({.fill = true}).fill->set_bits == 7);
    check_key_only(made.filter);
    options.num_bits = 1002;
    check_refused(Filter::required_bytes(options), Code::kInvalid, {"1002", "k 7", "multiple of k"});
    options.num_bits = 1001;
    options.seeds = {1, 2, 3, 4, 5, 6, 7};
    check_refused(Filter::required_bytes(options), Code::kInvalid, {"list of seeds", hash_of(hash)->name});
    options.seeds = {};
    options.seed = 1;
    check_refused(Filter::required_bytes(options), Code::kInvalid, {"seed", hash_of(hash)->name});
    options.seed.reset();
    options.bare = true;
    check_refused(Filter::required_bytes(options), Code::kInvalid, {"bare"});
  }
}

// m = 15 * 2^12, of which the tutorials' mask reaches 2^15 positions.
constexpr std::uint64_t kMasked = 15 << 12;
constexpr std::uint64_t kReached = 1 << 15;
constexpr std::uint32_t kJavaProbes = 7;

// Keys whose polynomials are as good as random: 16 characters, so that the seeds' powers reach every bit.
std::vector<std::string> java_keys(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> all;
  for (std::uint64_t i = first; i < first + count; ++i) {
    std::string one;
    for (const std::uint64_t half : {mix(2 * i), mix(2 * i + 1)}) {
      for (unsigned byte = 0; byte < 8; ++byte) one += static_cast<char>(half >> (8 * byte) & 0x7f);
    }
    all.push_back(one);
  }
  return all;
}

Options tutorial(std::uint64_t num_bits, std::uint64_t capacity = 0) {
  Options options = seeded(Hash::kJavaPolynomial, num_bits, {5, 7, 11, 13, 31, 37, 61});
  options.capacity = capacity;
  return options;
}

// The number of absent keys that are "maybe" is binomial, and its mean is the rate's formula. The bits of one filter
// vary, too: by occupancy_rate()'s spread, which is below a part in 100 of the rate here. The margin is four standard
// deviations of the first and four of the second.
TEST_CASE("a masked m promises, estimates and keeps the rate of the bits that it reaches") {
  constexpr std::uint64_t kAbsent = 200'000;
  for (const std::uint64_t keys : {1000U, 2500U, 4000U}) {
    CAPTURE(keys);
    InMemory made = InMemory::make(tutorial(kMasked, keys));
    const Shape shape = made.filter.shape();
    CHECK(shape.num_bits == kMasked);
    const layout::Row& row = layout::row_of(Layout::kClassic);
    const double formula = row.rate(static_cast<double>(keys), kReached, kJavaProbes);
    CHECK(shape.fpr == doctest::Approx(formula));
    add_all(made.filter, java_keys(0, keys));
    const Fill fill = *made.filter.stats({.fill = true}).fill;
    const double reached = static_cast<double>(fill.set_bits) / kReached;
    CHECK(fill.fill_ratio == doctest::Approx(static_cast<double>(fill.set_bits) / kMasked));
    CHECK(fill.estimated_fpr == doctest::Approx(std::pow(reached, kJavaProbes)));
    // The interval has 1.96 standard deviations to each side.
    const double deviation = (fill.estimated_keys_high - fill.estimated_keys_low) / 2 / 1.96;
    CHECK(std::abs(fill.estimated_keys - static_cast<double>(keys)) < 4 * deviation);
    CHECK(deviation < 0.02 * static_cast<double>(keys));
    std::uint64_t maybes = 0;
    for (const std::string& absent : java_keys(1'000'000, kAbsent)) maybes += made.filter.contains(absent) ? 1U : 0U;
    const double expected = fill.estimated_fpr * kAbsent;
    CHECK(std::abs(static_cast<double>(maybes) - expected) < 4 * std::sqrt(expected));
    const double of_filters = 4 * kJavaProbes * deviation / static_cast<double>(keys) * formula * kAbsent;
    CHECK(std::abs(static_cast<double>(maybes) - formula * kAbsent) < 4 * std::sqrt(expected) + of_filters);
  }
}

TEST_CASE("a masked m has its capacity where half of the bits that it reaches are set") {
  const auto capacity = static_cast<std::uint64_t>(kReached * std::log(2.0) / kJavaProbes);
  CHECK(InMemory::make(tutorial(kMasked)).filter.shape().capacity == capacity);
  PlanRequest request;
  request.layout = Layout::kClassic;
  request.hash = Hash::kJavaPolynomial;
  request.capacity = capacity;
  request.num_bits = kMasked;
  request.num_probes = kJavaProbes;
  Plan planned = must(plan(request));
  CHECK(planned.num_bits == kMasked);
  CHECK(planned.body_bytes == kMasked / 8);
  CHECK(planned.num_reached == kReached);
  CHECK_FALSE(planned.layout.can.fold);
  CHECK(must(plan({.layout = Layout::kClassic, .capacity = capacity, .hash = Hash::kSipHash})).layout.can.fold);
  CHECK(planned.fill_ratio == doctest::Approx(0.5 * kReached / kMasked).epsilon(0.001));
  request.capacity = 0;
  request.fpr = planned.fpr;
  CHECK(must(plan(request)).capacity == capacity);
  request.num_bits = request.num_probes = 0;
  request.capacity = 1000;
  request.fpr = 0.01;
  check_refused(plan(request), Code::kInvalid, {"power of two"});
  request.layout = Layout::kBlocked;
  check_refused(plan(request), Code::kInvalid, {"classic"});
  request.hash = Hash{999};
  check_refused(plan(request), Code::kInvalid, {"unknown hash 999"});
}

TEST_CASE("an m from 1 to 2^31 - 1 is taken as it is, and one that is computed is a power of two") {
  for (const std::uint64_t num_bits : {1U, 3U, 1000U, 65537U}) {
    InMemory made = InMemory::make(tutorial(num_bits));
    CHECK(made.filter.shape().num_bits == num_bits);
    CHECK(made.filter.add("key").ok());
    CHECK(made.filter.contains("key"));
    CHECK(made.filter.stats({.fill = true}).fill->estimated_fpr <= 1);
  }
  CHECK(Filter::required_bytes(tutorial(0x7fffffff)).ok());
  check_refused(Filter::required_bytes(tutorial(0x80000000)), Code::kSizing, {"java-polynomial", "2147483647"});
  Options options = tutorial(0, 1000);
  options.fpr = 0.01;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"java-polynomial", "power of two", "16384"});
}

TEST_CASE("filters with a masked m are merged and compared, and their numbers of keys are those of the bits reached") {
  InMemory one = InMemory::make(tutorial(kMasked));
  InMemory other = InMemory::make(tutorial(kMasked));
  InMemory both = InMemory::make(tutorial(kMasked));
  add_all(one.filter, java_keys(0, 1500));
  add_all(other.filter, java_keys(1000, 1500));
  add_all(both.filter, java_keys(0, 2500));
  const Comparison made = must(one.filter.compare(other.filter));
  for (const auto& [interval, keys] :
       {std::pair{made.keys_a, 1500.0}, {made.keys_b, 1500.0}, {made.keys_both, 500.0}, {made.keys_either, 2500.0}}) {
    const double present = keys;
    CAPTURE(present);
    const double deviation = (interval.high - interval.low) / 2 / 1.96;
    CHECK(std::abs(interval.estimate - present) < 4 * deviation);
    CHECK(deviation < 30);
  }
  must(one.filter.merge(other.filter));
  CHECK(bits_of(one.filter) == bits_of(both.filter));
}

// A foreign array may say anything. A full filter answers "maybe", and has no largest number of keys.
TEST_CASE("bits that a masked m does not reach change no answer, and estimates stay numbers") {
  for (const std::uint64_t num_bits : {1U, 3U, 513U, 1000U}) {
    CAPTURE(num_bits);
    InMemory full = InMemory::make(tutorial(num_bits));
    InMemory empty = InMemory::make(tutorial(num_bits));
    const auto body = body_of(full);
    std::fill(body.begin(), body.end(), std::byte{0xff});
    const Fill fill = *full.filter.stats({.fill = true}).fill;
    CHECK(fill.set_bits == num_bits);
    CHECK(fill.fill_ratio == 1);
    CHECK(fill.estimated_fpr == 1);
    CHECK(std::isfinite(fill.estimated_keys));
    const Comparison made = must(full.filter.compare(full.filter));
    CHECK(made.set_bits_a == num_bits);
    CHECK(std::isfinite(made.keys_a.estimate));
    CHECK(std::isinf(made.keys_a.high));
    must(empty.filter.merge(full.filter));
    CHECK(empty.filter.stats({.fill = true}).fill->set_bits == num_bits);
  }
}

TEST_CASE("a masked m: the inspector and an intersection count the bits that are reached, as an open handle does") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("f");
  Filter filter = must(Filter::create(path, tutorial(kMasked)));
  add_all(filter, java_keys(0, 2500));
  const Fill open = *filter.stats({.fill = true}).fill;
  const Fill inspected = *must(inspect(path)).fill;
  CHECK(inspected.set_bits == open.set_bits);
  CHECK(inspected.estimated_keys == doctest::Approx(open.estimated_keys));
  CHECK(inspected.estimated_fpr == doctest::Approx(open.estimated_fpr));
  const std::array<const Filter*, 2> both{&filter, &filter};
  must(Filter::intersect(both, directory.file("both")));
  const Filter made = must(Filter::open(directory.file("both"), OpenMode::kRead));
  CHECK(made.stats().keys_added == static_cast<std::uint64_t>(std::llround(open.estimated_keys)));
}

TEST_CASE("a masked m whose reached bits are all set does not tell how many keys a merge adds, so that all count") {
  const TemporaryDirectory directory;
  Filter one = must(Filter::create(directory.file("one"), tutorial(513)));  // 2 positions
  Filter other = must(Filter::create(directory.file("other"), tutorial(513)));
  for (Filter* const full : {&one, &other}) add_all(*full, java_keys(0, 50));
  REQUIRE(one.stats({.fill = true}).fill->set_bits == 2);
  const std::uint64_t before = one.stats().keys_added;
  REQUIRE(other.stats().keys_added > 0);
  must(one.merge(other));
  CHECK(one.stats().keys_added == before + other.stats().keys_added);
}
