// One filter takes in the keys of another, while others add to both. The result is bit for bit the filter of all keys,
// in every layout, hash and form. Filters that do not fit together are refused with words.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <thread>

#include "faults.hpp"
#include "format/sections.hpp"
#include "numbered.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kKeys = 3000;
constexpr Secret kSecret{4, 5, 6};

Filter make(const std::string& path, const Options& options) {
  auto made = Filter::create(path, options);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return std::move(made).value();
}

bool has(const Filter& filter, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) {
    if (!filter.contains_digest(digest_of(i))) return false;
  }
  return true;
}

Error merged(Filter& into, const Filter& from) { return into.merge(from); }

}  // namespace

TEST_CASE("a merged filter is the filter of all keys, bit for bit, also where one is folded") {
  for (const LayoutInfo& layout : layouts()) {
    if (!layout.can.merge) continue;
    CAPTURE(layout.name);
    for (const std::uint64_t times : {1U, 2U, 3U, 8U}) {
      for (const bool exclusive : {false, true}) {
        CAPTURE(times);
        TempDir dir;
        Options options = options_of(layout.layout, 96);
        options.exclusive = exclusive;
        Filter into = make(dir.file("into"), options);
        Filter all = make(dir.file("all"), options_of(layout.layout, 96));
        Filter from = make(dir.file("from"), options_of(layout.layout, 96 * times));
        add_numbers(into, 0, kKeys);
        const bool counts = layout.can.remove;  // a key in both counts twice
        add_numbers(from, counts ? kKeys : kKeys / 2, 2 * kKeys);
        add_numbers(all, 0, 2 * kKeys);
        const auto before = bits_of(from);
        REQUIRE(merged(into, from).ok());
        CHECK(bits_of(into) == bits_of(all));
        CHECK(bits_of(from) == before);
        if (counts) add_numbers(all, kKeys, 2 * kKeys);
        REQUIRE(merged(into, from).ok());
        CHECK(bits_of(into) == bits_of(all));
        const auto counted = static_cast<double>(into.stats().keys_added);
        CHECK(counted == doctest::Approx(static_cast<double>(all.stats().keys_added)).epsilon(0.1));
      }
    }
  }
}

namespace {

std::uint64_t empty_bits(const Filter& filter) {
  const Fill fill = *filter.stats({.fill = true}).fill;
  return filter.shape().num_bits - fill.set_bits;
}

double estimated_keys(const Filter& filter) { return filter.stats({.fill = true}).fill->estimated_keys; }

std::uint64_t keys_added(const Filter& filter) { return filter.stats().keys_added; }

// Adds numbers from `first` on, until at most `empty` bits are empty. Returns the number after the last one.
std::uint64_t fill_up(Filter& filter, std::uint64_t empty) {
  std::uint64_t next = 0;
  for (; empty_bits(filter) > empty; ++next) add_numbers(filter, next, next + 1);
  return next;
}

// Returns the first number that has not all its bits there.
std::uint64_t number_not_in(const Filter& filter, std::uint64_t first) {
  while (filter.contains_digest(digest_of(first))) ++first;
  return first;
}

// Calls the check for each layout that merges, with another filter of as many bits that has keys of its own.
void for_every_layout_that_merges(std::uint64_t empty,
                                  const std::function<void(Filter& into, Filter& from, std::uint64_t next)>& check) {
  for (const LayoutInfo& layout : layouts()) {
    if (!layout.can.merge) continue;
    CAPTURE(layout.name);
    TempDir dir;
    Filter into = make(dir.file("into"), options_of(layout.layout, 4));
    Filter from = make(dir.file("from"), options_of(layout.layout, 4));
    const std::uint64_t next = fill_up(into, empty);
    check(into, from, next);
  }
}

}  // namespace

// Few more bits of a nearly full filter are an estimate of many more keys.
TEST_CASE("a merge into a nearly full filter counts no more keys than the other filter has") {
  for_every_layout_that_merges(8, [](Filter& into, Filter& from, std::uint64_t next) {
    const std::uint64_t number = number_not_in(into, next);
    add_numbers(from, number, number + 1);
    const std::uint64_t before = keys_added(into);
    const double estimated_before = estimated_keys(into);
    REQUIRE(merged(into, from).ok());
    const double more = estimated_keys(into) - estimated_before;
    if (into.shape().layout != Layout::kCounting) REQUIRE(more > 10);  // which estimates by the sum of its counters
    CHECK(keys_added(into) == before + 1);
  });
}

// Such a merge once counted no keys.
TEST_CASE("a merge into a full filter, and one that fills it, count all keys of the other filter") {
  for (const std::uint64_t empty : {0U, 1U}) {
    CAPTURE(empty);
    for_every_layout_that_merges(empty, [&](Filter& into, Filter& from, std::uint64_t next) {
      add_numbers(from, next, next + 100);
      if (empty != 0) add_numbers(from, number_not_in(into, next), number_not_in(into, next) + 1);
      const std::uint64_t before = keys_added(into);
      REQUIRE(merged(into, from).ok());
      REQUIRE(empty_bits(into) == 0);
      REQUIRE(keys_added(from) >= 95);
      CHECK(keys_added(into) == before + keys_added(from));
    });
  }
}

TEST_CASE("every form of a filter is merged from: a sealed one, a buffer, a follower, and the filter itself") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 64);
  Filter into = make(dir.file("into"), options);
  Filter from = make(dir.file("from"), options);
  add_numbers(from, 0, kKeys);
  std::vector<std::byte> embedded(*from.dumped_bytes());
  REQUIRE(from.dump(embedded).ok());
  const auto loaded = Filter::load(embedded);
  REQUIRE(loaded.ok());
  REQUIRE(from.close().ok());
  OpenOptions following;
  following.follow = true;
  const auto follower = Filter::open(dir.file("from"), OpenMode::kRead, following);
  REQUIRE(follower.ok());
  REQUIRE(merged(into, *loaded).ok());
  CHECK(bits_of(into) == bits_of(*loaded));
  REQUIRE(merged(into, *follower).ok());
  REQUIRE(merged(into, into).ok());
  CHECK(bits_of(into) == bits_of(*loaded));
  REQUIRE(into.sync({1, 1, 1}).ok());
  CHECK(has(into, 0, kKeys));
}

TEST_CASE("a filter is saved in the size that its keys need, and is the filter of that size, bit for bit") {
  for (const LayoutInfo& layout : layouts()) {
    if (!layout.can.fold) continue;
    CAPTURE(layout.name);
    for (const double fpr : {0.3, 0.05, 0.001}) {
      TempDir dir;
      Filter large = make(dir.file("large"), options_of(layout.layout, 5040));
      add_numbers(large, 0, kKeys);
      REQUIRE(large.sync({1, 2, 3}).ok());
      REQUIRE(large.save(dir.file("small"), {.fpr = fpr}).ok());
      const auto small = Filter::open(dir.file("small"), OpenMode::kRead);
      REQUIRE(small.ok());
      const Shape shape = small->shape();
      CHECK(shape.fpr == fpr);
      CHECK(shape.capacity >= kKeys);
      CHECK(large.shape().num_bits % shape.num_bits == 0);
      CHECK(small->get_mark(1, 2) == 3);
      CHECK(small->stats().keys_added == large.stats().keys_added);
      CHECK_FALSE(small->stats().saturated);
      Options options = options_of(layout.layout, 1);
      options.num_bits = shape.num_bits;
      Filter right = make(dir.file("right"), options);
      add_numbers(right, 0, kKeys);
      CHECK(bits_of(*small) == bits_of(right));
      const auto fill = small->stats({.fill = true}).fill;
      REQUIRE(fill);
      CHECK(fill->estimated_fpr < fpr * 1.1);
      const Error again = small->save(dir.file("again"), {.fpr = fpr});
      REQUIRE(again.ok());
      CHECK(opened(Filter::open(dir.file("again"), OpenMode::kRead)).shape().num_bits == shape.num_bits);
    }
  }
}

// For a builder that does not know how many keys will come.
TEST_CASE("a filter that was made too large and not published gets its name in the size that its keys need") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 5040);
  options.unpublished = true;
  Filter large = make(dir.file("f"), options);
  add_numbers(large, 0, kKeys);
  REQUIRE(large.save(dir.file("f"), {.fpr = 0.05}).ok());
  REQUIRE(large.close().ok());
  CHECK(dir.names() == std::vector<std::string>{"f"});
  const Filter small = opened(Filter::open(dir.file("f"), OpenMode::kRead));
  CHECK(small.shape().num_bits < options.num_bits);
  CHECK(has(small, 0, kKeys));
}

TEST_CASE("a filter that is too full for the requested rate is not saved") {
  TempDir dir;
  Filter full = make(dir.file("full"), options_of(Layout::kBlocked, 8));
  add_numbers(full, 0, kKeys);
  CHECK(full.save(dir.file("small"), {.fpr = 0.01}).code == Code::kSizing);
  CHECK(full.save(dir.file("small"), {.fpr = 1}).code == Code::kInvalid);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("filters that do not fit together are refused, and the message says in what they differ") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  Filter into = make(dir.file("into"), options);
  const auto empty = bits_of(into);
  const auto refused = [&](const char* what, const std::function<void(Options&)>& change) {
    Options other = options;
    change(other);
    Filter from = make(dir.file("from"), other);
    add_numbers(from, 0, 10);
    const Error error = merged(into, from);
    CHECK(error.code == Code::kMismatch);
    CHECK_MESSAGE(error.message.find(what) != std::string::npos, error.message);
    CHECK(bits_of(into) == empty);
    REQUIRE(from.close().ok());
    std::filesystem::remove(dir.file("from"));
  };
  refused("layout classic and blocked", [](Options& other) { other.layout = Layout::kClassic; });
  refused("hash external and xxh3", [](Options& other) {
    other.hash = Hash::kExternal;
    other.seed.reset();
  });
  refused("seed 8 and 7", [](Options& other) { other.seed = 8; });
  refused("number of probes 6 and 5", [](Options& other) { other.num_probes = 6; });
  refused("number of bits 32256 and 32768", [](Options& other) { other.num_bits -= 512; });
  refused("number of bits 16384 and 32768", [](Options& other) { other.num_bits /= 2; });  // it cannot be unfolded
}

TEST_CASE("filters with secrets merge only if the secret is one") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 64);
  options.seed.reset();
  options.hash = Hash::kSipHash;
  options.secret = kSecret;
  Filter into = make(dir.file("into"), options);
  Options like;
  like.like = dir.file("into");
  like.secret = kSecret;
  Filter from = make(dir.file("from"), like);
  REQUIRE(from.add("key").ok());
  REQUIRE(merged(into, from).ok());
  CHECK(into.contains("key"));
  options.secret = Secret{7};
  Filter stranger = make(dir.file("stranger"), options);
  const Error error = merged(into, stranger);
  CHECK(error.code == Code::kMismatch);
  CHECK(error.message.find("secret") != std::string::npos);
}

TEST_CASE("a filter that cannot take keys is no target of a merge, and one in doubt is no source") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  Filter into = make(dir.file("into"), options);
  Filter from = make(dir.file("from"), options);
  add_numbers(from, 0, 10);
  auto reader = Filter::open(dir.file("into"), OpenMode::kRead);
  REQUIRE(reader.ok());
  CHECK(merged(*reader, from).code == Code::kReadOnly);
  Options filling = options;
  filling.filling = true;
  Filter half = make(dir.file("half"), filling);
  CHECK(merged(into, half).code == Code::kFilling);
  CHECK(merged(half, from).ok());
  REQUIRE(from.shut().ok());
  CHECK(merged(into, from).code == Code::kShut);
  Options guarded = options;
  guarded.map.guard = true;
  Filter cut = make(dir.file("cut"), guarded);
  std::filesystem::resize_file(dir.file("cut"), 100);
  CHECK(merged(into, cut).code == Code::kLost);
  CHECK(merged(cut, into).code == Code::kFault);
  cut.abandon();
  REQUIRE(into.shut().ok());
  CHECK(merged(into, half).code == Code::kShut);
}

TEST_CASE("a source or a target that comes into doubt during a merge is an error") {
  const faults::Scope scope;
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  Filter into = make(dir.file("into"), options);
  Filter from = make(dir.file("from"), options);
  add_numbers(from, 0, 10);
  const auto merging_beside = [&](const std::string& path, std::uint64_t flag) {
    const std::uint64_t before = look_at(path).live_word;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      if (offset == format::kFileHeaderBytes && bytes > 8) set_live_word(path, before | flag);
      return 0;
    };
    const Error error = merged(into, from);
    faults::on_read = nullptr;
    set_live_word(path, before);
    return error.code;
  };
  CHECK(merging_beside(dir.file("from"), format::LiveWord::kPoisoned) == Code::kPoisoned);
  CHECK(merging_beside(dir.file("into"), format::LiveWord::kSuperseded) == Code::kSuperseded);
  // Happens after the last bit was united, in the last look at the other file.
  const std::uint64_t healthy = look_at(dir.file("into")).live_word;
  const auto reads_until = [&](int last) {
    int reads = 0;
    faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
      if (++reads == last) set_live_word(dir.file("into"), healthy | format::LiveWord::kSuperseded);
      return 0;
    };
    const Code code = merged(into, from).code;
    faults::on_read = nullptr;
    CHECK(code == (last == 0 ? Code::kOk : Code::kSuperseded));
    return reads;
  };
  static_cast<void>(reads_until(reads_until(0)));
  set_live_word(dir.file("into"), healthy);
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t bytes) {
    return offset == format::kFileHeaderBytes && bytes > 8 ? EIO : 0;
  };
  CHECK(merged(into, from).code == Code::kSystem);
  faults::on_read = nullptr;
  CHECK(merged(into, from).ok());
}

TEST_CASE("keys whose adds returned before the merge are in it, while both filters are added to") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 4096);
  Filter into = make(dir.file("into"), options);
  Filter from = make(dir.file("from"), options);
  std::atomic<std::uint64_t> added{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !stop; ++i) {
      static_cast<void>(from.add_digest(digest_of(2 * i)));
      static_cast<void>(into.add_digest(digest_of(2 * i + 1)));
      added = i + 1;
      if (i > 400'000) break;
    }
  });
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t before = added;
    const Error error = merged(into, from);
    CHECK(error.ok());
    std::uint64_t missing = 0;
    for (std::uint64_t i = 0; i < before; ++i) {
      missing += into.contains_digest(digest_of(2 * i)) ? 0U : 1U;
      missing += into.contains_digest(digest_of(2 * i + 1)) ? 0U : 1U;
    }
    CHECK(missing == 0);
  }
  stop = true;
  writer.join();
}
