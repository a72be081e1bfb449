// Many keys that are sorted by the lines of a large filter: the same answers as without.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "store/ask/partition.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::size_t kKeys = Keys::kFewestSorted + 12345;
constexpr std::byte kUntouched{0x5a};

// A file whose body is as large as those for which keys are sorted.
Options large(Layout layout) {
  Options options;
  options.layout = layout;
  options.num_bits = (store::kSmallestBody * 8 + (1 << 20)) / (layout == Layout::kCounting ? 4 : 1);
  options.num_probes = 3;
  options.hash = Hash::kExternal;
  return options;
}

// Well mixed. Of every two the first is added.
std::vector<std::uint64_t> digests(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> made(kKeys);
  std::ranges::generate(made, random);
  return made;
}

void add_half(Filter& filter, const std::vector<std::uint64_t>& all) {
  std::vector<std::uint64_t> half;
  for (std::size_t i = 0; i < all.size(); i += 2) half.push_back(all[i]);
  REQUIRE(filter.add_keys(Keys::digests(half)).ok());
}

std::vector<std::byte> memory_for(std::size_t keys) {
  return std::vector<std::byte>(Keys::scratch_for(keys), kUntouched);
}

bool was_used(const std::vector<std::byte>& memory) {
  return std::ranges::any_of(memory, [](std::byte one) { return one != kUntouched; });
}

std::uint64_t check_equal_answers(const Filter& filter, const Keys& keys, std::span<std::byte> scratch) {
  std::vector<std::uint8_t> answers(keys.size(), 2);
  std::vector<std::uint8_t> sorted(keys.size(), 3);
  const Count maybes = filter.contains_keys(keys, answers);
  const Count of_sorted = filter.contains_keys(keys.with_scratch(scratch), sorted);
  REQUIRE(maybes.ok());
  REQUIRE(of_sorted.ok());
  CHECK(maybes.keys() == of_sorted.keys());
  CHECK(answers == sorted);
  std::vector<std::uint32_t> indices(keys.size());
  CHECK(filter.select_keys(keys.with_scratch(scratch), indices).keys() == maybes.keys());
  std::size_t next = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] != 0 && indices[next++] != i) return 0;
  }
  return maybes.keys();
}

}  // namespace

TEST_CASE("sorted digests are in their partitions, in order, and each key gets the answer of its own digest") {
  const std::array<std::uint64_t (*)(std::uint64_t), 3> skews{
      [](std::uint64_t digest) { return digest; },
      [](std::uint64_t digest) { return digest >> 60 < 12 ? digest >> 5 : digest; },  // most in few partitions
      [](std::uint64_t) { return ~std::uint64_t{0}; }};
  for (const auto skew : skews) {
    for (const std::size_t keys : std::initializer_list<std::size_t>{0, 1, 31, 32, 33, 1000, 20'000}) {
      CAPTURE(keys);
      for (const std::uint32_t parts : {1U, 3U}) {
        const store::Partitioning partitioning = store::Partitioning::of(store::kSmallestBody, keys);
        std::mt19937_64 random(keys);
        std::vector<std::uint64_t> given(keys);
        for (std::uint64_t& digest : given) digest = skew(random());
        std::vector<std::byte> memory(partitioning.bytes(keys) + 1);
        store::Partitioned sorted(partitioning, keys, memory.data() + 1);
        sorted.sort(keys, parts, [&](std::size_t i) { return given[i]; });
        std::size_t with_room = 0;
        bool ordered = true;
        for (std::size_t partition = 0; partition < sorted.count(); ++partition) {
          const auto own = sorted[partition];
          with_room += own.size();
          std::vector<std::uint8_t> answers;
          std::vector<std::uint64_t> expected;
          for (const std::uint64_t digest : given) {
            if (digest * parts / (~std::uint64_t{0} / sorted.count() + 1) == partition) expected.push_back(digest);
          }
          expected.resize(std::min(expected.size(), partitioning.room));
          ordered = ordered && std::ranges::equal(own, expected);
          for (const std::uint64_t digest : own) answers.push_back(static_cast<std::uint8_t>(digest >> 3));
          for (std::size_t first = 0; first < answers.size(); first += 8)
            sorted.put(partition, first,
                       std::span(answers).subspan(first, std::min<std::size_t>(8, answers.size() - first)));
        }
        CHECK(ordered);
        store::Partitioned::Answers answers(sorted);
        std::size_t right = 0;
        std::size_t alone = 0;
        for (const std::uint64_t digest : given) {
          const std::uint8_t* const answer = answers.next();
          alone += answer == nullptr ? 1 : 0;
          right += answer != nullptr && *answer == static_cast<std::uint8_t>(digest >> 3) ? 1 : 0;
        }
        CHECK(right == with_room);
        CHECK(right + alone == keys);
        if (keys >= 1000) CHECK((alone == 0) == (skew == skews[0]));
      }
    }
  }
}

TEST_CASE("keys are sorted in turns of equal size that fit into the memory, or not at all") {
  constexpr std::size_t kMany = 10 * Keys::kFewestSorted;
  const auto at_once = [](std::size_t keys, std::size_t bytes) {
    return store::sorted_at_once(store::kSmallestBody, false, keys, bytes);
  };
  CHECK(at_once(kMany, Keys::scratch_for(kMany)) == kMany);
  CHECK(at_once(kMany, 6 * kMany) == kMany / 2);
  CHECK(at_once(kMany, Keys::scratch_for(Keys::kFewestSorted)) >= Keys::kFewestSorted);
  CHECK(at_once(kMany, 8 * Keys::kFewestSorted) == 0);
  CHECK(at_once(Keys::kFewestSorted - 1, 1 << 30) == 0);
  CHECK(at_once(kMany, 0) == 0);
  const auto in_body = [](std::uint64_t body_bytes, bool cold = false) {
    return store::sorted_at_once(body_bytes, cold, kMany, Keys::scratch_for(kMany));
  };
  CHECK(in_body(store::kSmallestBody - 1) == 0);
  CHECK(in_body(kMany * store::kMostBytesForAKey) == kMany);
  CHECK(in_body((kMany + 1) * store::kMostBytesForAKey) == 0);
  CHECK(in_body((kMany + 1) * store::kMostBytesForAKey, true) == kMany);
  CHECK(in_body((kMany + 1) * store::kMostBytesForAColdKey, true) == 0);
}

TEST_CASE("sorted keys have the answers that they have without, in both layouts of lines") {
  for (const Layout layout : {Layout::kBlocked, Layout::kCounting}) {
    CAPTURE(static_cast<int>(layout));
    TempDir dir(memory_folder());
    Filter filter = created(dir.file(), large(layout));
    const std::vector<std::uint64_t> all = digests(1);
    add_half(filter, all);
    std::vector<std::byte> memory = memory_for(kKeys);
    const std::uint64_t maybes = check_equal_answers(filter, Keys::digests(all), memory);
    CHECK(was_used(memory));
    CHECK(maybes > kKeys / 2);
    CHECK(maybes < kKeys);
    std::vector<std::uint64_t> few_lines = all;  // more of one partition than there is room for
    for (std::size_t i = 0; i < few_lines.size(); i += 3) few_lines[i] >>= 9;
    CHECK(check_equal_answers(filter, Keys::digests(few_lines), memory) > kKeys / 3);
  }
}

TEST_CASE("sorted keys that are hashed have the answers that they have without") {
  TempDir dir(memory_folder());
  Options options = large(Layout::kBlocked);
  options.hash = Hash::kXxh3;
  options.seed = 1;
  Filter filter = created(dir.file(), options);
  const std::vector<std::uint64_t> keys = digests(2);
  const Keys fixed = Keys::fixed(keys.data(), 8, keys.size());
  REQUIRE(filter.add_keys(fixed.part(0, kKeys / 2)).ok());
  std::vector<std::byte> memory = memory_for(kKeys);
  CHECK(check_equal_answers(filter, fixed, memory) >= kKeys / 2);
  CHECK(was_used(memory));
}

TEST_CASE("too little memory for sorting is not touched") {
  TempDir dir(memory_folder());
  const Filter filter = created(dir.file(), large(Layout::kBlocked));
  const std::vector<std::uint64_t> all = digests(3);
  std::vector<std::byte> memory(std::size_t{8} << 20, kUntouched);
  CHECK(check_equal_answers(filter, Keys::digests(all), memory) == 0);
  CHECK_FALSE(was_used(memory));
}

TEST_CASE("in doubt every sorted key may be there") {
  TempDir dir(memory_folder());
  const Filter filter = created(dir.file(), large(Layout::kBlocked));
  const std::vector<std::uint64_t> all = digests(4);
  std::vector<std::byte> memory = memory_for(kKeys);
  CHECK(check_equal_answers(filter, Keys::digests(all), memory) == 0);
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  CHECK(check_equal_answers(filter, Keys::digests(all), memory) == kKeys);
}

TEST_CASE("a part refuses sorted keys of another part, and answers maybe for all") {
  TempDir dir(memory_folder());
  Options options = large(Layout::kBlocked);
  options.num_bits *= 3;
  options.part = Part{1, 3};
  Filter filter = created(dir.file(), options);
  std::vector<std::uint64_t> all = digests(5);
  for (std::uint64_t& digest : all) digest = digest / 3 + ~std::uint64_t{0} / 3 + 1;
  add_half(filter, all);
  std::vector<std::byte> memory = memory_for(kKeys);
  CHECK(check_equal_answers(filter, Keys::digests(all), memory) > kKeys / 2);
  CHECK(was_used(memory));
  // The strangers of the first kind have a partition of their own; those of the second are in one that is full.
  std::vector<std::uint64_t> few_lines = all;
  for (std::size_t i = 0; i < few_lines.size(); i += 3) few_lines[i] = all.front();
  CHECK(check_equal_answers(filter, Keys::digests(few_lines), memory) > kKeys / 3);
  const std::uint64_t beside = all.front() - ~std::uint64_t{0} / 3;
  for (const auto& [keys, digest] : {std::pair(&all, std::uint64_t{1}), std::pair(&few_lines, beside)}) {
    for (const std::size_t stranger : {std::size_t{0}, kKeys / 2, kKeys - 1}) {
      std::vector<std::uint64_t> with_a_stranger = *keys;
      with_a_stranger[stranger] = digest;
      std::vector<std::uint8_t> answers(kKeys);
      CHECK(filter.contains_keys(Keys::digests(with_a_stranger).with_scratch(memory), answers).code() == Code::kPart);
      CHECK(std::ranges::count(answers, 1) == static_cast<std::ptrdiff_t>(kKeys));
    }
  }
}

TEST_CASE("an only writer that sorts what it adds sets the bits that others set") {
  for (const Layout layout : {Layout::kBlocked, Layout::kCounting}) {
    CAPTURE(static_cast<int>(layout));
    TempDir dir(memory_folder());
    std::vector<std::uint64_t> all = digests(6);
    for (std::size_t i = 0; i < all.size(); i += 3) all[i] >>= 9;  // more of one partition than there is room for
    Filter shared = created(dir.file(), large(layout));
    const Count rolling = shared.add_keys(Keys::digests(all));
    REQUIRE(created(dir.file("alone"), large(layout)).close().ok());
    Filter alone = opened(Filter::open(dir.file("alone"), OpenMode::kExclusive));
    std::vector<std::byte> memory = memory_for(kKeys);
    const Count sorted = alone.add_keys(Keys::digests(all).with_scratch(memory));
    CHECK(was_used(memory));
    REQUIRE(rolling.ok());
    REQUIRE(sorted.ok());
    // A key is new if it finds an empty cell, which depends a little on the order.
    CHECK(sorted.keys() > rolling.keys() / 100 * 99);
    CHECK(sorted.keys() < rolling.keys() / 99 * 100);
    for (const std::vector<std::uint64_t>& asked : {all, digests(7)}) {
      std::vector<std::uint8_t> answers(kKeys, 2);
      std::vector<std::uint8_t> others(kKeys, 3);
      const Count maybes = alone.contains_keys(Keys::digests(asked), answers);
      CHECK(shared.contains_keys(Keys::digests(asked), others).keys() == maybes.keys());
      CHECK(answers == others);
      CHECK((maybes.keys() == kKeys) == (asked == all));
    }
  }
}
