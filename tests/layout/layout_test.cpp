// The layout room: where bits are, every k, batches compared with single calls. The oracle is model.hpp, which follows
// FORMAT.md.
#include "layout/layout.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "layout/roll.hpp"
#include "sizing/sizing.hpp"
#include "support/golden.hpp"
#include "support/model.hpp"
#include "support/skip.hpp"
#include "support/support.hpp"

using namespace rooms;
using layout::Functions;
using layout::runnable;

namespace {

// Returns some m of the layout, from the least on.
std::vector<std::uint64_t> some_sizes(Layout layout) {
  if (const std::uint64_t unit = layout::row_of(layout).unit_bits; unit > 1)
    return {unit, 2 * unit, 3 * unit, 100 * unit, 4099 * unit};
  return {1, 2, 3, 63, 64, 65, 127, 1000, 51200, 2097169};
}

// Returns a target in which nothing is in doubt.
layout::Target target_of(const std::uint64_t* words, const layout::Geometry& geometry) {
  static const std::uint64_t front = 1;
  static const std::uint64_t end = 2;
  return {words, geometry, {&front, &end, 3}, nullptr};
}

// Returns the geometry of a filter that is in its first epoch, if its keys expire.
layout::Geometry geometry_of(Layout layout, std::uint64_t m, std::uint32_t k) {
  static const std::uint64_t first_epoch = 0;
  layout::Geometry geometry = layout::row_of(layout).geometry(m, k);
  if (layout::row_of(layout).info.epochs != 0) geometry.epoch = &first_epoch;
  return geometry;
}

// A filter's body, and its functions with the geometry put in. Batches are rolled as the store does it.
struct Body {
  Body(const Functions& functions, Layout layout, std::uint64_t m, std::uint32_t k)
      : table(functions),
        cell_bits(layout::row_of(layout).info.cell_bits),
        geometry(geometry_of(layout, m, k)),
        memory(layout::body_bytes(layout::row_of(layout), m)) {}

  bool add(std::uint64_t digest) { return table.add.one(memory.words(), geometry, digest); }
  bool contains(std::uint64_t digest) {
    return table.contains.one_for(geometry)(target_of(memory.words(), geometry), digest);
  }
  std::size_t add_batch(std::span<const std::uint64_t> digests) { return add_batch(table.add, digests); }
  std::size_t add_batch(const layout::Changes& adds, std::span<const std::uint64_t> digests) {
    std::size_t changed = 0;
    layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t) {
      changed += adds.step(memory.words(), geometry, step);
      return true;
    });
    return changed;
  }
  std::size_t contains_batch(std::span<const std::uint64_t> digests, std::uint8_t* answers) {
    std::size_t maybes = 0;
    layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t first) {
      maybes += table.contains.step(memory.words(), geometry, step, answers + first);
      return true;
    });
    return maybes;
  }
  // The set cells, by number: bit i is bit i % 8, least significant first, of byte i / 8; counter i is the low half of
  // byte i / 2 if i is even, and the high half if it is odd.
  std::map<std::uint64_t, unsigned> cells() {
    std::map<std::uint64_t, unsigned> set;
    const auto bytes = memory.bytes();
    const unsigned mask = (1U << cell_bits) - 1;
    for (std::uint64_t bit = 0; bit < 8 * bytes.size(); bit += cell_bits) {
      const unsigned value = std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & mask;
      if (value != 0) set[bit / cell_bits] = value;
    }
    return set;
  }
  std::set<std::uint64_t> set_cells() {
    std::set<std::uint64_t> set;
    for (const auto& [cell, value] : cells()) set.insert(cell);
    return set;
  }
  // Returns the mask of one cell.
  [[nodiscard]] std::uint64_t mask_of(std::uint64_t cell) const {
    return layout::little_endian(((std::uint64_t{1} << cell_bits) - 1) << cell * cell_bits % 64);
  }
  [[nodiscard]] bool is_set(std::uint64_t cell) { return (word_of(cell) & mask_of(cell)) != 0; }
  std::uint64_t& word_of(std::uint64_t cell) { return memory.words()[cell * cell_bits / 64]; }

  Functions table;
  std::uint64_t cell_bits;
  layout::Geometry geometry;
  Buffer memory;
};

// Address space for m bits, of which only the touched pages are memory.
class Sparse {
 public:
  explicit Sparse(std::uint64_t m)
      : bytes_(m / 8),
        at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() {
    if (ok()) munmap(at_, bytes_);
  }
  [[nodiscard]] bool ok() const { return at_ != MAP_FAILED; }
  [[nodiscard]] std::uint64_t* words() const { return static_cast<std::uint64_t*>(at_); }

 private:
  std::uint64_t bytes_;
  void* at_;
};

// Calls the check with every table that this CPU runs.
template <class Check>
void for_each_shape(std::initializer_list<std::uint32_t> probes, Check check) {
  for (const Layout layout : every_layout()) {
    for (const Functions& table : runnable(layout::row_of(layout))) {
      for (const std::uint64_t m : some_sizes(layout)) {
        for (const std::uint32_t k : probes) {
          CAPTURE(layout);
          CAPTURE(table.isa);
          CAPTURE(m);
          CAPTURE(k);
          check(table, layout, m, k);
        }
      }
    }
  }
}

const Functions& scalar_of(Layout layout) { return *layout::row_of(layout).scalar; }

}  // namespace

TEST_CASE("adding a digest sets the golden bits and no other") {
  for (const GoldenProbes& golden : kGoldenProbes) {
    if (golden.num_bits > 1U << 24) continue;
    CAPTURE(golden.layout);
    CAPTURE(golden.num_bits);
    CAPTURE(golden.digest);
    for (std::uint32_t k = 1; k <= golden.bits.size(); ++k) {
      Body body(runnable(layout::row_of(golden.layout)).front(), golden.layout, golden.num_bits, k);
      CHECK(body.add(golden.digest));
      CHECK(body.set_cells() == std::set<std::uint64_t>(golden.bits.begin(), golden.bits.begin() + k));
    }
  }
}

// Checks FORMAT.md's rule for folding.
TEST_CASE("the OR, or the sum, of f neighbors is the filter of the same digests that is f times smaller") {
  constexpr std::uint64_t kUnits = 37;  // lines, or bits, of the smaller one
  const auto digests = mixed(0, 1000);
  for (const Layout layout : every_layout()) {
    const std::uint64_t unit = layout::row_of(layout).unit_bits;
    const std::uint64_t units = unit > 1 ? kUnits : kUnits * 1000;
    const unsigned most = layout == Layout::kCounting ? 15 : 1;
    for (const std::uint64_t f : {2U, 3U, 8U}) {
      for (const std::uint32_t k : {1U, 7U, 64U}) {
        Body large(scalar_of(layout), layout, f * units * unit, k);
        Body small(scalar_of(layout), layout, units * unit, k);
        for (const std::uint64_t digest : digests) {
          large.add(digest);
          small.add(digest);
        }
        std::map<std::uint64_t, unsigned> folded;
        for (const auto& [cell, value] : large.cells()) {
          unsigned& sum = folded[cell / unit / f * unit + cell % unit];
          sum = std::min(sum + value, most);
        }
        CHECK(folded == small.cells());
      }
    }
  }
}

TEST_CASE("at 2^48 bits the golden bits are where they must be") {
  const Sparse sparse(kMaxBits);
  if (!sparse.ok()) {
    tests::skip_case("no 32 TiB of address space here");
    return;
  }
  for (const GoldenProbes& golden : kGoldenProbes) {
    if (golden.num_bits != layout::most_bits(layout::row_of(golden.layout))) continue;
    CAPTURE(golden.layout);
    CAPTURE(golden.digest);
    const layout::Row& row = layout::row_of(golden.layout);
    const layout::Geometry geometry = geometry_of(golden.layout, golden.num_bits, 8);
    for (const Functions& table : runnable(layout::row_of(golden.layout))) {
      CAPTURE(table.isa);
      for (const std::uint64_t bit : golden.bits) sparse.words()[bit * row.info.cell_bits / 64] = 0;
      CHECK_FALSE(table.contains.one(target_of(sparse.words(), geometry), golden.digest));
      CHECK(table.add.one(sparse.words(), geometry, golden.digest));
      CHECK(table.contains.one(target_of(sparse.words(), geometry), golden.digest));
      for (const std::uint64_t bit : golden.bits) CHECK(layout::test_bit(sparse.words(), bit * row.info.cell_bits));
    }
  }
}

namespace {

// The only slice of a body that grows has the bits of a blocked one.
Layout as_modelled(Layout layout) { return layout == Layout::kGrowing ? Layout::kBlocked : layout; }

}  // namespace

TEST_CASE("with every k from 1 to 64 add and contains answer as the model does") {
  const std::uint64_t kAdds = tests::if_slow(50, 200);
  for (const Layout layout : every_layout()) {
    for (const std::uint64_t m : some_sizes(layout)) {
      for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
        Body body(scalar_of(layout), layout, m, k);
        Model model(as_modelled(layout), m, k);
        const std::uint64_t adds = std::min<std::uint64_t>(kAdds, 1 + m / k / 2);
        bool same = true;
        for (std::uint64_t i = 0; i < adds; ++i) {
          same = same && body.contains(mix(i)) == model.contains(mix(i));
          same = same && body.add(mix(i)) == model.add(mix(i));
          same = same && body.contains(mix(i)) && !body.add(mix(i)) && !model.add(mix(i));
        }
        for (std::uint64_t i = 1000; i < 1000 + 2 * kAdds; ++i)
          same = same && body.contains(mix(i)) == model.contains(mix(i));
        CAPTURE(layout);
        CAPTURE(m);
        CAPTURE(k);
        REQUIRE(same);
        if (m < 100000) REQUIRE(body.cells() == model.cells());
      }
    }
  }
}

TEST_CASE("digests at the edges of 64 bits stay inside the body") {
  for_each_shape({1, 2, 7, 64}, [](const Functions& table, Layout layout, std::uint64_t m, std::uint32_t k) {
    Body body(table, layout, m, k);
    for (unsigned shift = 0; shift < 64; ++shift) {
      const std::uint64_t bit = std::uint64_t{1} << shift;
      for (const std::uint64_t digest : {bit, bit - 1, ~bit, ~(bit - 1)}) {
        const auto probes = model_probes(as_modelled(layout), m, k, digest);
        REQUIRE(*std::max_element(probes.begin(), probes.end()) < m);
        static_cast<void>(body.add(digest));
        REQUIRE(body.contains(digest));
        for (const std::uint64_t probe : probes) REQUIRE(body.is_set(probe));
      }
    }
    REQUIRE((body.cells().empty() || body.cells().rbegin()->first < m));
  });
}

TEST_CASE("without any one of its bits a digest is absent") {
  const std::uint64_t m = 51200;
  for (const Layout layout : every_layout()) {
    for (const Functions& table : runnable(layout::row_of(layout))) {
      CAPTURE(table.isa);
      for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
        Body body(table, layout, m, k);
        for (std::uint64_t i = 0; i < 5; ++i) {
          std::ranges::fill(body.memory.bytes(), std::byte{0});
          static_cast<void>(body.add(mix(i)));
          for (const std::uint64_t bit : model_probes(as_modelled(layout), m, k, mix(i))) {
            const std::uint64_t was = body.word_of(bit);
            body.word_of(bit) &= ~body.mask_of(bit);
            REQUIRE_FALSE(body.contains(mix(i)));
            std::uint8_t answer = 9;
            REQUIRE(body.contains_batch(std::array{mix(i)}, &answer) == 0);
            REQUIRE(answer == 0);
            body.word_of(bit) = was;
          }
          REQUIRE(body.contains(mix(i)));
        }
      }
    }
  }
}

TEST_CASE("a batch of any size from 0 to 200 answers and adds as single calls do") {
  for_each_shape({1, 7, 64}, [](const Functions& table, Layout layout, std::uint64_t m, std::uint32_t k) {
    for (std::uint64_t count = 0; count <= 200; ++count) {
      Body one(scalar_of(layout), layout, m, k);
      Body all(table, layout, m, k);
      const auto digests = mixed(1000 * count, count);
      for (std::uint64_t i = 0; i < count / 2; ++i) {  // some are there before
        static_cast<void>(one.add(digests[2 * i]));
        static_cast<void>(all.add(digests[2 * i]));
      }
      std::vector<std::uint8_t> answers(count + 3, 0xa5);
      const std::size_t maybes = all.contains_batch(digests, answers.data());
      bool same = std::count(answers.begin(), answers.end() - 3, 1) == static_cast<std::ptrdiff_t>(maybes);
      for (std::uint64_t i = 0; i < count; ++i) same = same && answers[i] == (one.contains(digests[i]) ? 1 : 0);
      same = same && std::all_of(answers.end() - 3, answers.end(), [](std::uint8_t byte) { return byte == 0xa5; });
      std::size_t changed = 0;
      for (const std::uint64_t digest : digests) changed += one.add(digest) ? 1U : 0U;
      same = same && all.add_batch(digests) == changed;
      same = same && std::ranges::equal(one.memory.bytes(), all.memory.bytes());
      REQUIRE(same);
    }
  });
}

TEST_CASE("a large batch answers and adds as single calls do, keys that repeat in it included") {
  for_each_shape({1, 7, 64}, [](const Functions& table, Layout layout, std::uint64_t m, std::uint32_t k) {
    Body one(scalar_of(layout), layout, m, k);
    Body all(table, layout, m, k);
    const std::uint64_t count = 30011;
    std::vector<std::uint64_t> digests(count);
    for (std::uint64_t i = 0; i < count; ++i) digests[i] = mix(mix(i) % (count / 2));
    std::size_t changed = 0;
    for (std::uint64_t i = 0; i < 1009; ++i) changed += one.add(digests[i]) ? 1U : 0U;
    CHECK(all.add_batch(std::span(digests).first(1009)) == changed);
    std::vector<std::uint8_t> answers(count);
    const std::size_t maybes = all.contains_batch(digests, answers.data());
    CHECK(std::count(answers.begin(), answers.end(), 1) == static_cast<std::ptrdiff_t>(maybes));
    std::uint64_t different = 0;
    for (std::uint64_t i = 0; i < count; ++i) different += answers[i] != (one.contains(digests[i]) ? 1 : 0) ? 1U : 0U;
    CHECK(different == 0);
    changed = 0;
    for (const std::uint64_t digest : digests) changed += one.add(digest) ? 1U : 0U;
    CHECK(all.add_batch(digests) == changed);
    CHECK(std::ranges::equal(one.memory.bytes(), all.memory.bytes()));
  });
}

TEST_CASE("adding again writes nothing: it works on memory that can only be read") {
  const std::uint64_t m = 1 << 20;
  for (const Layout layout : every_layout()) {
    if (layout == Layout::kCounting) continue;  // each add counts
    const Functions& table = scalar_of(layout);
    for (const layout::Changes& adds : {table.add, table.add_alone}) {
      Sparse pages(m);
      REQUIRE(pages.ok());
      const layout::Geometry geometry = geometry_of(layout, m, 9);
      const auto digests = mixed(0, 5000);
      const layout::Step step{digests.data(), digests.size(), nullptr, 0};
      static_cast<void>(adds.step(pages.words(), geometry, step));
      REQUIRE(mprotect(pages.words(), m / 8, PROT_READ) == 0);
      CHECK(adds.step(pages.words(), geometry, step) == 0);
      for (const std::uint64_t digest : digests) REQUIRE_FALSE(adds.one(pages.words(), geometry, digest));
    }
  }
}

TEST_CASE("exclusive adds set the same bits and report the same changes as shared adds") {
  for_each_shape({1, 7, 64}, [](const Functions& table, Layout layout, std::uint64_t m, std::uint32_t k) {
    Body shared(table, layout, m, k);
    Body alone(table, layout, m, k);
    const auto digests = mixed(7, 3001);
    for (std::uint64_t i = 0; i < 100; ++i) {
      REQUIRE(table.add.one(shared.memory.words(), shared.geometry, digests[i]) ==
              table.add_alone.one(alone.memory.words(), alone.geometry, digests[i]));
    }
    CHECK(shared.add_batch(table.add, digests) == alone.add_batch(table.add_alone, digests));
    CHECK(std::ranges::equal(shared.memory.bytes(), alone.memory.bytes()));
  });
}

namespace {

// Records when a loop over `count` digests prefetches each digest, and when it asks it: in a step, later digests and
// current ones take turns.
template <class Roll>
void check_each_is_prefetched_in_time(std::uint64_t count, Roll roll) {
  std::vector<std::uint64_t> prefetched;
  std::vector<std::uint64_t> asked;
  bool in_time = true;
  roll([&](const layout::Step& step, std::size_t first) {
    in_time = in_time && (step.num_now == 0 || first == asked.size());
    for (std::size_t i = 0; i < std::max(step.num_now, step.num_later); ++i) {
      if (i < step.num_later) {
        const std::size_t turn = prefetched.size();
        in_time = in_time && asked.size() == (turn < layout::kAhead ? 0 : turn - layout::kAhead);
        prefetched.push_back(step.later[i]);
      }
      if (i < step.num_now) asked.push_back(step.now[i]);
    }
    return true;
  });
  CAPTURE(count);
  REQUIRE(in_time);
  REQUIRE(prefetched == mixed(0, count));  // each of them once
  REQUIRE(asked == mixed(0, count));
}

}  // namespace

TEST_CASE("every digest of a batch is prefetched once, and 128 turns before its own") {
  static_assert(layout::kAhead == 128);  // README and bench say so
  for (std::uint64_t count = 0; count < 700; count += 1 + count / 150) {
    const auto digests = mixed(0, count);
    check_each_is_prefetched_in_time(count, [&](auto visit) { layout::roll(digests.data(), count, visit); });
    check_each_is_prefetched_in_time(
        count, [&](auto visit) { layout::roll_hashed([](std::size_t i) { return mix(i); }, count, visit); });
  }
}

TEST_CASE("an unexpected word of a guard, under its mask, makes every answer maybe") {
  constexpr std::uint64_t kFront = 0x77;
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 63 | 0x55;
  for (const Layout layout : every_layout()) {
    for (const std::uint32_t k : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 17U, 20U, 64U}) {  // few have their own code
      for (const Functions& table : runnable(layout::row_of(layout))) {
        Buffer memory(layout::body_bytes(layout::row_of(layout), 51200));
        std::uint64_t front = kFront;
        std::uint64_t end = kEnd;
        const layout::Geometry geometry = geometry_of(layout, 51200, k);
        const layout::Target target{
            memory.words(), geometry, {&front, &end, kFront ^ kEnd}, table.contains.one_for(geometry)};
        const auto maybe = [&](std::uint64_t at_front, std::uint64_t at_end) {
          front = at_front;
          end = at_end;
          const bool by_any = table.contains.one(target, mix(1)) != 0;
          CHECK((target.ask(target, mix(1)) != 0) == by_any);
          return by_any;
        };
        for (unsigned bit = 0; bit < 64; ++bit) {
          CHECK(maybe(kFront ^ std::uint64_t{1} << bit, kEnd));
          CHECK(maybe(kFront, kEnd ^ std::uint64_t{1} << bit));
        }
        for (const std::uint64_t both : {std::uint64_t{0}, ~std::uint64_t{0}, kFront, kEnd}) CHECK(maybe(both, both));
        CHECK_FALSE(maybe(kFront, kEnd));
      }
    }
  }
}
