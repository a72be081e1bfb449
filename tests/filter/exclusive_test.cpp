// Adding as the only writer: the same bits and the same counts as adding concurrently with others, in every form, by
// one thread and divided among many; and which handles may ask for it.
#include "forms.hpp"

#include <atomic>
#include <numeric>

#include "layout/layout.hpp"
#include "store/ask/divide.hpp"
#include "support/memory_layouts.hpp"

using namespace rooms;

namespace {

Options sized(Layout layout, std::uint64_t capacity, bool exclusive) {
  Options options;
  options.layout = layout;
  options.capacity = capacity;
  options.bits_per_key = 10;
  options.seed = 5;
  options.exclusive = exclusive;
  return options;
}

std::vector<std::string> keys_of(std::uint64_t count) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(std::to_string(1'000'000 + i));
  return keys;
}

}  // namespace

TEST_CASE("an exclusive handle sets the bits and counts the keys that a shared one does, in every form") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const Form form : kKeyForms) {
      InMemory shared = InMemory::make(sized(layout, 3000, false));
      InMemory alone = InMemory::make(sized(layout, 3000, true));
      const Batch batch(keys_of(4000), shared.filter);
      CHECK(batch.add_to(shared.filter, form).keys() == batch.add_to(alone.filter, form).keys());
      CHECK(std::ranges::equal(body_of(shared), body_of(alone)));
      CHECK(batch.add_to(alone.filter, form).keys() == 0);
    }
  }
}

TEST_CASE("an exclusive load divided among threads is the same load") {
  const std::uint64_t count = 20 * store::kFewestForAThread / kKeyScale + 4321;
  for (const Layout layout : every_layout_in_memory()) {
    InMemory one = InMemory::make(sized(layout, count, true));
    const Batch batch(keys_of(count), one.filter);
    const std::uint64_t fresh = batch.add_to(one.filter, Form::kDigests).keys();
    for (const unsigned threads : {1U, 2U, 3U, 5U, 16U}) {
      for (const Form form : {Form::kDigests, Form::kColumn64, Form::kViews}) {
        InMemory many = InMemory::make(sized(layout, count, true));
        must(many.filter.use_threads(threads));
        CHECK(batch.add_to(many.filter, form).keys() == fresh);
        CHECK(std::ranges::equal(body_of(one), body_of(many)));
      }
    }
  }
}

TEST_CASE("threads that add in several rounds give each digest once, and never write into one range at once") {
  constexpr std::uint64_t kLines = 1000;
  constexpr std::size_t kKeys = 10'007;
  const layout::Geometry geometry = layout::row_of(Layout::kBlocked).geometry(kLines * kLineBits, 1);
  std::vector<std::uint64_t> digests;
  for (std::uint64_t i = 0; i < kKeys; ++i) digests.push_back(mix(i));
  for (const unsigned threads : {1U, 2U, 5U}) {
    for (const std::size_t round : {std::size_t{1}, std::size_t{999}, kKeys}) {
      CAPTURE(threads);
      CAPTURE(round);
      std::vector<std::atomic<int>> inside(kLines);
      std::vector<std::uint64_t> sums(kLines);  // not atomic: two threads on one line are a race that is counted below
      std::atomic<int> met{0};
      const Count count = store::add_divided(
          {.count = kLines, .part = {}}, {.threads = threads, .ranges = 100, .round = round},
          store::GivenDigests{digests}, [&](std::span<const std::uint64_t> here) -> Count {
            for (const std::uint64_t digest : here) {
              const std::uint64_t line = layout::Blocked::locate(geometry, digest).word / (kLineBits / 64);
              if (inside[line]++ != 0) ++met;
              sums[line] += digest;
              --inside[line];
            }
            return here.size();
          });
      CHECK(count.keys() == kKeys);
      CHECK(met == 0);
      CHECK(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}) ==
            std::accumulate(digests.begin(), digests.end(), std::uint64_t{0}));
    }
  }
}

TEST_CASE("every line is in one range, the ranges are even, and each digest at an edge is in the right one") {
  for (const std::uint64_t lines : {2ULL, 3ULL, 7ULL, 64ULL, 1000ULL, 4099ULL, 123456789ULL, 1ULL << 39}) {
    const layout::Geometry geometry = layout::row_of(Layout::kBlocked).geometry(lines * kLineBits, 1);
    for (const std::size_t count : {1U, 2U, 3U, 5U, 31U, 32U, 64U, 256U, 500U, 1000U, 1024U}) {
      if (2 * count > lines) break;
      const store::Ranges ranges({.count = lines, .part = {}}, count);
      CAPTURE(lines);
      CAPTURE(count);
      const auto check = [&](std::uint64_t digest) {
        const std::uint64_t line = layout::Blocked::locate(geometry, digest).word / (kLineBits / 64);
        // The range is the first one that ends after the line.
        const auto expected = static_cast<std::size_t>(static_cast<layout::Product>(line) * count / lines);
        REQUIRE(ranges.of(digest) == expected);
      };
      for (std::uint64_t i = 0; i < 2000; ++i) check(mix(i));
      for (std::size_t range = 0; range <= count; ++range) {  // around each edge
        const auto near = static_cast<std::uint64_t>((layout::Product{range} << 64) / count);
        const auto line_step = static_cast<std::uint64_t>((layout::Product{1} << 64) / lines);
        for (const std::uint64_t by : {std::uint64_t{0}, std::uint64_t{1}, line_step - 1, line_step, line_step + 1}) {
          check(near + by);
          check(near - by);
        }
      }
      check(0);
      check(~std::uint64_t{0});
    }
  }
}

TEST_CASE("only an exclusive handle divides its adds, among 1 to 64 threads") {
  InMemory shared = InMemory::make(sized(Layout::kBlocked, 100, false));
  check_refused(shared.filter.use_threads(2), Code::kInvalid, {"only writer"});
  InMemory alone = InMemory::make(sized(Layout::kBlocked, 100, true));
  for (const unsigned threads : {0U, 65U, ~0U})
    check_refused(alone.filter.use_threads(threads), Code::kInvalid, {"1 to 64"});
  for (const unsigned threads : {1U, 64U}) must(alone.filter.use_threads(threads));
}

TEST_CASE("a file that is made exclusively has no other writer, until it is closed") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.bf");
  Filter filter = must(Filter::create(path, sized(Layout::kBlocked, 1000, true)));
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    check_refused(Filter::open(path, mode), Code::kBusy, {path.c_str()});
  }
  Filter reader = must(Filter::open(path, OpenMode::kRead));
  CHECK(filter.add("key").keys() == 1);
  CHECK(reader.contains("key"));
  must(filter.use_threads(2));
  must(filter.close());
  CHECK(must(Filter::open(path, OpenMode::kWrite)).contains("key"));
  Filter unpublished = [&] {
    Options options = sized(Layout::kBlocked, 1000, false);
    options.unpublished = true;
    return must(Filter::create(directory.file("y.bf"), options));
  }();
  must(unpublished.use_threads(2));
}
