// The format room's bare form: a body and a trailer of 8 bytes, in which every flipped bit is refused.
#include "format/bare.hpp"

#include <cstring>

#include "base/bytes.hpp"
#include "hash/hash.hpp"
#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

std::uint64_t unit_of(Layout layout) { return layout == Layout::kClassic ? 8 : 64; }

std::vector<std::byte> bare_of(Layout layout, Hash hash, std::uint32_t k, std::uint64_t body_bytes) {
  Shape shape;
  shape.layout = layout;
  shape.hash = hash;
  shape.num_probes = k;
  std::vector<std::byte> bytes(body_bytes);
  const auto trailer = format::encode_trailer(shape, body_bytes);
  bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  return bytes;
}

template <class Check>
void for_each_bare(Check check) {
  for (const Layout layout : every_layout_in_memory()) {
    for (const HashInfo& row : hashes()) {
      if (!row.fits_bare) continue;
      for (const std::uint64_t units : {1U, 2U, 3U, 16U, 1000U}) check(layout, row.hash, units * unit_of(layout));
    }
  }
}

}  // namespace

TEST_CASE("a bare filter's shape comes back, with every k from 1 to 64") {
  for_each_bare([](Layout layout, Hash hash, std::uint64_t body_bytes) {
    for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
      const Shape shape = must(format::decode_bare(bare_of(layout, hash, k, body_bytes)));
      REQUIRE(shape.layout == layout);
      REQUIRE(shape.hash == hash);
      REQUIRE(shape.num_probes == k);
      REQUIRE(shape.num_bits == body_bytes * (layout == Layout::kCounting ? 2 : 8));  // or counters
      REQUIRE(shape.seed == 0);
      REQUIRE(shape.capacity == 0);
      REQUIRE(shape.fpr == 0);
    }
  });
}

TEST_CASE("a bare filter has no layout that is in files alone") {
  const auto in_memory = every_layout_in_memory();
  for (const LayoutInfo& info : layouts()) {
    const bool has_form = std::find(in_memory.begin(), in_memory.end(), info.layout) != in_memory.end();
    CAPTURE(info.layout);
    const auto decoded = format::decode_bare(bare_of(info.layout, Hash::kXxh3, 7, 640));
    CHECK((decoded ? Code::kOk : decoded.error().code) == (has_form ? Code::kOk : Code::kLayout));
  }
}

TEST_CASE("every flipped bit of a trailer is refused, for every k") {
  for_each_bare([](Layout layout, Hash hash, std::uint64_t body_bytes) {
    for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
      auto bytes = bare_of(layout, hash, k, body_bytes);
      for (std::size_t bit = 0; bit < 64; ++bit) {
        const auto mask = static_cast<std::byte>(1 << (bit % 8));
        bytes[body_bytes + bit / 8] ^= mask;
        REQUIRE_FALSE(format::decode_bare(bytes).ok());
        bytes[body_bytes + bit / 8] ^= mask;
      }
      REQUIRE(format::decode_bare(bytes).ok());
    }
  });
}

TEST_CASE("every change of one byte of a trailer is refused") {
  for_each_bare([](Layout layout, Hash hash, std::uint64_t body_bytes) {
    auto bytes = bare_of(layout, hash, 7, body_bytes);
    for (std::size_t at = body_bytes; at < bytes.size(); ++at) {
      const std::byte right = bytes[at];
      for (unsigned value = 0; value < 256; ++value) {
        bytes[at] = static_cast<std::byte>(value);
        REQUIRE(format::decode_bare(bytes).ok() == (bytes[at] == right));
      }
      bytes[at] = right;
    }
  });
}

TEST_CASE("a body that lost or gained bytes before its trailer is refused") {
  for_each_bare([](Layout layout, Hash hash, std::uint64_t body_bytes) {
    const auto whole = bare_of(layout, hash, 7, body_bytes);
    for (std::uint64_t other = 0; other <= 2 * body_bytes && other < 3000; ++other) {
      std::vector<std::byte> bytes(other);
      bytes.insert(bytes.end(), whole.end() - 8, whole.end());
      REQUIRE(format::decode_bare(bytes).ok() == (other == body_bytes));
    }
  });
}

TEST_CASE("each defect of a trailer has a code of its own") {
  const auto good = bare_of(Layout::kBlocked, Hash::kXxh3, 7, 128);
  const auto with = [&](std::size_t at, unsigned value) {
    auto bytes = good;
    bytes[128 + at] = static_cast<std::byte>(value);
    return format::decode_bare(bytes);
  };
  check_refused(with(0, 0xbe), Code::kMagic, {"trailer"});
  check_refused(with(1, 4), Code::kLayout, {"4"});
  check_refused(with(2, 0), Code::kHash, {"0"});
  check_refused(with(3, 0), Code::kProbes, {"0", "1 to 64"});
  check_refused(with(3, 65), Code::kProbes, {"65", "1 to 64"});
  check_refused(with(3, 8), Code::kChecksum, {"check"});
  check_refused(with(7, std::to_integer<unsigned>(good[135]) ^ 1U), Code::kChecksum, {"check"});
  check_refused(format::decode_bare(std::span(good).subspan(8)), Code::kBits, {"120", "blocks"});
  for (std::size_t bytes = 0; bytes < 16; ++bytes) {
    check_refused(format::decode_bare(std::span(good).last(bytes)), Code::kTooShort, {"16 bytes"});
  }
}

TEST_CASE("the check is that of FORMAT.md: four bytes and the length, seeded with the canary for seed 0") {
  for_each_bare([](Layout layout, Hash hash, std::uint64_t body_bytes) {
    const auto bytes = bare_of(layout, hash, 9, body_bytes);
    std::array<std::byte, 12> covered{std::byte{0xbf}, static_cast<std::byte>(layout), static_cast<std::byte>(hash),
                                      std::byte{9}};
    for (std::size_t i = 0; i < 8; ++i) covered[4 + i] = static_cast<std::byte>(body_bytes >> (8 * i) & 0xff);
    const std::uint64_t seed = hash == Hash::kExternal ? 0 : hash::canary(Hash::kXxh3, 0);
    const auto check = static_cast<std::uint32_t>(hash::xxh3(covered.data(), covered.size(), seed));
    CHECK(base::load<std::uint32_t>(bytes.data() + body_bytes + 4) == check);
    CHECK(std::memcmp(bytes.data() + body_bytes, covered.data(), 4) == 0);
  });
}
