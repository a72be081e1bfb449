// Folding: the body of the smaller filter, bit for bit, however the larger one is cut into pieces.
#include "layout/fold.hpp"

#include <doctest/doctest.h>

#include <random>

#include "layout/table.hpp"

namespace {

using bfstore::layout::Folding;
using bfstore::layout::Row;

std::vector<std::uint64_t> body_of(const Row& row, std::uint64_t bits, const std::vector<std::uint64_t>& digests) {
  std::vector<std::uint64_t> words(bfstore::layout::body_bytes(row, bits) / 8);
  const auto geometry = row.geometry(bits, 5);
  for (const std::uint64_t digest : digests) row.scalar->add.one(words.data(), geometry, digest);
  return words;
}

std::vector<std::uint64_t> folded(const Row& row, std::uint64_t bits, std::uint64_t times,
                                  const std::vector<std::uint64_t>& words, std::size_t piece_words) {
  std::vector<std::uint64_t> small(bfstore::layout::body_bytes(row, bits / times) / 8);
  std::uint64_t next = 0;
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> part) {
    CHECK(first == next);
    REQUIRE(first + part.size() <= small.size());
    std::copy(part.begin(), part.end(), small.begin() + static_cast<std::ptrdiff_t>(first));
    next = first + part.size();
  };
  Folding folding(row, bits, times);
  for (std::size_t at = 0; at < words.size(); at += piece_words) {
    folding.take(std::span(words).subspan(at, std::min(piece_words, words.size() - at)), give);
  }
  folding.end(give);
  CHECK(next == small.size());
  return small;
}

std::vector<std::uint64_t> some_digests(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint64_t> digests(count);
  for (auto& digest : digests) digest = random();
  return digests;
}

}  // namespace

TEST_CASE("a filter that is folded is the smaller filter of the same keys, bit for bit") {
  // The largest ones are longer than the memory in which they are folded.
  for (const Row* row : bfstore::layout::rows()) {
    if (!row->info.can.fold) continue;
    CAPTURE(row->info.name);
    for (const std::uint64_t units : {1U, 3U, 77U, 9000U, 20'000U}) {
      const std::uint64_t unit = row->unit_bits == 1 ? 437 : row->unit_bits;
      for (const std::uint64_t times : {1U, 2U, 3U, 7U, 64U}) {
        const std::uint64_t bits = units * unit * times;
        if (bits * row->info.cell_bits > (std::uint64_t{1} << 27)) continue;
        CAPTURE(units);
        CAPTURE(times);
        const auto digests = some_digests(units * 20);
        const auto large = body_of(*row, bits, digests);
        const auto small = body_of(*row, units * unit, digests);
        for (const std::size_t piece_words : {std::size_t{8}, std::size_t{32'768}, large.size()}) {
          CHECK(folded(*row, bits, times, large, piece_words) == small);
          if (units == 20'000) break;
        }
      }
    }
  }
}

TEST_CASE("a filter of few keys, or of none, is folded to its end") {
  for (const Row* row : bfstore::layout::rows()) {
    if (!row->info.can.fold) continue;
    CAPTURE(row->info.name);
    const std::uint64_t bits = std::uint64_t{1} << 22;
    for (const std::size_t keys : {0U, 1U, 2U}) {
      const auto digests = some_digests(keys);
      CHECK(folded(*row, 2 * bits, 2, body_of(*row, 2 * bits, digests), 32'768) == body_of(*row, bits, digests));
    }
  }
}

TEST_CASE("only a filter whose size is a multiple is folded") {
  using bfstore::layout::times_larger;
  CHECK(times_larger(1024, 512) == 2);
  CHECK(times_larger(512, 512) == 1);
  CHECK(times_larger(512, 1024) == 0);
  CHECK(times_larger(1025, 512) == 0);
  CHECK(times_larger(1025, 0) == 0);
}
