// Every kernel answers as the scalar code does, bit for bit: each k from 1 to 64, a million random digests, in lines
// that are filled so that every probe matters; and doubt is a maybe. Adds set the same bytes. Links the layout room
// alone, so that it also runs under an emulator.
#include <bfstore/inline.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layout/layout.hpp"
#include "layout/roll.hpp"

using namespace bfstore;
using layout::Functions;
using layout::Geometry;

namespace {

std::uint64_t mix(std::uint64_t counter) {
  std::uint64_t x = counter * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kLines = 4096;

Layout tested = Layout::kBlocked;  // the layout that is tested now

std::uint64_t epoch_word = 0;  // of the tested filter, if its keys expire

// Lines are 64 bytes.
Geometry geometry_of(std::uint32_t k) {
  const layout::Row& row = layout::row_of(tested);
  Geometry geometry = row.geometry(kLines * kLineBits / row.info.cell_bits, k);
  if (row.info.epochs != 0) geometry.epoch = &epoch_word;
  return geometry;
}

std::uint32_t epochs() { return layout::row_of(tested).info.epochs; }

struct Free {
  void operator()(std::uint64_t* words) const { std::free(words); }
};
using Words = std::unique_ptr<std::uint64_t, Free>;

Words empty_lines() {
  Words words(static_cast<std::uint64_t*>(std::aligned_alloc(64, kLines * 64)));
  std::memset(words.get(), 0, kLines * 64);
  return words;
}

// Returns a target in which nothing is in doubt.
layout::Target target_of(const Functions& kernel, const std::uint64_t* words, const Geometry& geometry) {
  static const std::uint64_t front = 1;
  static const std::uint64_t end = 2;
  const layout::Sentinel sentinel{&front, &end, 3};
  return {words, geometry, sentinel, kernel.contains.one_for(geometry), layout::row_of(tested).inlined};
}

// Fills lines so that about half of the digests that were not added are maybes: each bit is set with a chance of
// 2^(-1/k).
Words fill(const Functions& scalar, const Geometry& geometry, const std::vector<std::uint64_t>& digests) {
  Words words = empty_lines();
  const layout::Target target = target_of(scalar, words.get(), geometry);
  std::uint64_t next = 0;
  std::uint64_t maybes = 0;
  do {
    for (std::uint64_t i = 0; i < kLines / 4; ++i) {
      epoch_word = 2 * next;  // keys of all epochs
      scalar.add.one(words.get(), geometry, mix(~next++));
    }
    maybes = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) maybes += scalar.contains.one(target, digests[i]) ? 1U : 0U;
  } while (maybes < 1000);
  return words;
}

// Exits at the first difference: a kernel that differs is a wrong no.
void compare(const Functions& scalar, const Functions& kernel, std::uint32_t k,
             const std::vector<std::uint64_t>& digests) {
  const Geometry geometry = geometry_of(k);
  const Words words = fill(scalar, geometry, digests);
  const layout::Target target = target_of(kernel, words.get(), geometry);
  const Lookup lookup(target);
  std::vector<std::uint8_t> answers(digests.size(), 7);
  std::size_t maybes = 0;
  layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t first) {
    maybes += kernel.contains.step(words.get(), geometry, step, answers.data() + first);
    return true;
  });
  std::size_t expected_maybes = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const bool expected = scalar.contains.one(target, digests[i]);
    expected_maybes += expected ? 1U : 0U;
    const bool one = kernel.contains.one(target, digests[i]) == 1;
    const bool chosen = lookup.call(digests[i]) == 1;
    const bool inlined = lookup.contains_digest(digests[i]);
    if (one == expected && chosen == expected && inlined == expected && answers[i] == (expected ? 1 : 0)) continue;
    std::printf("%s, k = %u: digest %llx differs from scalar\n", kernel.isa, k,
                static_cast<unsigned long long>(digests[i]));
    std::exit(1);
  }
  if (maybes == expected_maybes && maybes > 0 && maybes < digests.size()) return;
  std::printf("%s, k = %u: %zu maybes, scalar says %zu\n", kernel.isa, k, maybes, expected_maybes);
  std::exit(1);
}

// The functions for a body at any address set the same bits and give the same answers. Fewer digests are enough: only
// the load of a line differs, and an emulator is slow.
void compare_unaligned(const Functions& scalar, const Functions& kernel, std::uint32_t k,
                       const std::vector<std::uint64_t>& digests) {
  const Geometry geometry = geometry_of(k);
  const Words words = empty_lines();
  const std::size_t at = k;  // every address, one after the other
  std::vector<std::byte> bytes(kLines * 64 + at);
  const std::size_t asked = std::min<std::size_t>(digests.size(), 20000);
  const std::size_t added = asked / 2;
  for (std::size_t i = 0; i < added; ++i) scalar.add.one(words.get(), geometry, digests[i]);
  kernel.unaligned.add(bytes.data() + at, geometry, digests.data(), added);
  const layout::Target target = target_of(scalar, words.get(), geometry);
  bool good = std::memcmp(bytes.data() + at, words.get(), kLines * 64) == 0;
  for (std::size_t i = 0; i < asked; ++i) {
    const bool maybe = kernel.unaligned.contains(bytes.data() + at, kLines * 64, k, digests[i]) == 1;
    good = good && maybe == (scalar.contains.one(target, digests[i]) == 1);
  }
  if (good) return;
  std::printf("%s, k = %u: at any address it differs from scalar\n", kernel.isa, k);
  std::exit(1);
}

// Adds one by one and in steps, with other writers and alone, set the bytes and say what the scalar code does. A
// quarter of the digests are added again, and another quarter fill the last line.
void compare_adds(const Functions& scalar, const Functions& kernel, std::uint32_t k,
                  const std::vector<std::uint64_t>& digests) {
  const Geometry geometry = geometry_of(k);
  const std::size_t size = std::min<std::size_t>(digests.size(), 20000) / std::max(1U, epochs());
  std::vector<std::uint64_t> added(digests.begin(), digests.begin() + static_cast<std::ptrdiff_t>(size));
  for (std::size_t i = 0; i < size / 2; ++i) added[size - 1 - i] = added[i] | (i % 2 == 0 ? 0 : 0xfffULL << 52);
  const Words words[] = {empty_lines(), empty_lines(), empty_lines()};
  for (std::uint32_t i = 0; i < 2 * std::max(1U, epochs()); ++i) {
    const auto changes = i % 2 == 0 ? &Functions::add : &Functions::add_alone;
    epoch_word = 2 * (k + i / 2) + (k + i) / 3 % 2;  // each epoch, also while a turn clears
    for (const Words& each : words) std::memset(each.get(), 0, kLines * 64);
    bool good = true;
    std::size_t expected = 0;
    for (const std::uint64_t digest : added) {
      const bool changed = (scalar.*changes).one(words[0].get(), geometry, digest);
      good = good && (kernel.*changes).one(words[1].get(), geometry, digest) == changed;
      expected += changed ? 1U : 0U;
    }
    std::size_t counted = 0;
    layout::roll(added.data(), added.size(), [&](const layout::Step& step, std::size_t) {
      counted += (kernel.*changes).step(words[2].get(), geometry, step);
      return true;
    });
    for (const int copy : {1, 2}) good = good && std::memcmp(words[0].get(), words[copy].get(), kLines * 64) == 0;
    if (good && counted == expected && expected > 0) continue;
    std::printf("%s, k = %u: adds differ from scalar\n", kernel.isa, k);
    std::exit(1);
  }
}

// Checks that a word that is not as expected makes every lookup a maybe, in every form and with every number of probes.
void check_doubt(const Functions& kernel) {
  const Words words = empty_lines();
  for (const std::uint32_t k : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 17U, 20U, 64U}) {
    std::uint64_t front = 1;
    std::uint64_t end = 2;
    const Geometry geometry = geometry_of(k);
    layout::Target target = target_of(kernel, words.get(), geometry);
    target.sentinel.front = &front;
    target.sentinel.end = &end;
    const Lookup lookup(target);
    for (const auto& [at_front, at_end] :
         {std::pair(1U, 2U), std::pair(0U, 2U), std::pair(1U, 0U), std::pair(0U, 0U)}) {
      front = at_front;
      end = at_end;
      const int expected = at_front == 1 && at_end == 2 ? 0 : 1;  // nothing was added
      const int found[] = {kernel.contains.one(target, mix(k)), lookup.call(mix(k)),
                           static_cast<int>(lookup.contains_digest(mix(k)))};
      if (found[0] == expected && found[1] == expected && found[2] == expected) continue;
      std::printf("%s, k = %u: with %u and %u for the words, %d %d %d\n", kernel.isa, k, at_front, at_end, found[0],
                  found[1], found[2]);
      std::exit(1);
    }
  }
}

// Not inlined: this file may be compiled for an instruction set that the CPU lacks.
[[gnu::noinline]] void compare_all(const char* name, std::size_t count) {
  std::vector<std::uint64_t> digests(count);
  for (std::size_t i = 0; i < count; ++i) digests[i] = mix(i);
  for (const LayoutInfo& each : layouts()) {
    if (each.can.build) continue;  // it has no adds; filter/static_layout_test.cpp compares its kernels
    tested = each.layout;
    const Functions kernel = *layout::choose(layout::row_of(tested), name);
    if (std::string_view(kernel.isa) != name) continue;  // no kernel of its own
    const Functions scalar = layout::runnable(layout::row_of(tested)).back();
    for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
      compare(scalar, kernel, k, digests);
      if (kernel.unaligned.contains != nullptr) compare_unaligned(scalar, kernel, k, digests);
      compare_adds(scalar, kernel, k, digests);
    }
    check_doubt(kernel);
    std::printf("%s, %s: %zu digests for each k from 1 to 64\n", layout::row_of(tested).info.name, kernel.isa,
                digests.size());
  }
}

}  // namespace

// kernels_test NAME DIGESTS: 77 (skipped) if this CPU does not have the instruction set.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (!layout::choose(layout::row_of(Layout::kBlocked), argv[1]).ok()) {
    std::printf("SKIP: needs instruction set %s which this CPU lacks\n", argv[1]);
    return 77;
  }
  compare_all(argv[1], std::strtoull(argv[2], nullptr, 10));
  return 0;
}
