// A filter for at most so many keys: its size, and how it is folded to the size for the keys that it got.
#include <doctest/doctest.h>

#include <string>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

TEST_CASE("a filter for at most n keys keeps the rate at n, and folds to the size for the keys that it got") {
  for (const Layout layout : {Layout::kBlocked, Layout::kClassic, Layout::kCounting}) {
    Options options;
    options.layout = layout;
    options.seed = 7;
    options.capacity = 200'000;
    options.fpr = 0.01;
    TempDir dir;
    const auto small = Filter::create(dir.file("n"), options);
    REQUIRE(small.ok());
    options.capacity_at_most = options.capacity;
    options.capacity = 0;
    auto large = Filter::create(dir.file("most"), options);
    REQUIRE(large.ok());
    CHECK(large->shape().capacity == 200'000);
    CHECK(large->shape().fpr == 0.01);
    const auto ratio = static_cast<double>(large->shape().num_bits) / static_cast<double>(small->shape().num_bits);
    CHECK(ratio >= 1);
    CHECK(ratio < 1.03);
    constexpr std::uint64_t kKeys = 9000;
    for (std::uint64_t i = 0; i < kKeys; ++i) REQUIRE(large->add(std::to_string(i)).ok());
    REQUIRE(large->save(dir.file("folded"), {.fpr = 0.01}).ok());
    const auto folded = Filter::open(dir.file("folded"), OpenMode::kRead);
    REQUIRE(folded.ok());
    CHECK(folded->shape().capacity >= kKeys);
    CHECK(static_cast<double>(folded->shape().capacity) < 1.15 * kKeys);
    for (std::uint64_t i = 0; i < kKeys; ++i) CHECK(folded->contains(std::to_string(i)));
  }
}

TEST_CASE("what gives the size another way, and what cannot be folded, is refused") {
  TempDir dir;
  Options most;
  most.capacity_at_most = 1000;
  const auto refused = [&](const Options& options) {
    const auto made = Filter::create(dir.file(), options);
    REQUIRE(!made.ok());
    CHECK(made.error().message.find("capacity_at_most") != std::string::npos);
    return made.error().code;
  };
  Options other = most;
  other.capacity = 1000;
  CHECK(refused(other) == Code::kInvalid);
  other = most;
  other.bits_per_key = 10;
  CHECK(refused(other) == Code::kInvalid);
  other = most;
  other.max_bytes = 1 << 20;
  CHECK(refused(other) == Code::kInvalid);
  other = most;
  other.num_bits = 1 << 20;
  CHECK(refused(other) == Code::kInvalid);
  other = most;
  other.num_probes = 5;
  CHECK(refused(other) == Code::kInvalid);
  other = most;
  other.tutorial_sizing = true;
  CHECK(refused(other) == Code::kInvalid);
  for (const LayoutInfo& layout : layouts()) {
    if (layout.can.fold || layout.can.grow) continue;  // one that grows has another use for the number
    other = most;
    other.layout = layout.layout;
    other.unpublished = true;
    if (layout.can.expire) other.window_ms = 1000;
    CHECK(refused(other) == Code::kUnsupported);
  }
  other = most;
  other.hash = Hash::kMurmur3;
  CHECK(refused(other) == Code::kUnsupported);
  CHECK(dir.names().empty());
}

TEST_CASE("each part of a filter for at most n keys folds, too") {
  TempDir dir;
  Options options;
  options.capacity_at_most = 100'000;
  options.part = Part{1, 3};
  const auto part = Filter::create(dir.file(), options);
  REQUIRE(part.ok());
  CHECK(part->shape().num_bits / 512 % 60 == 0);
}
