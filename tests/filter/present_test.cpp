// No wrong no among ten million present keys: in a file, full to its capacity, asked while it is written and after it
// was closed and opened again.
#include <cstring>

#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

const std::uint64_t kKeys = 10000000 / kKeyScale;
constexpr std::uint64_t kPiece = 10000;

// Returns the keys with numbers from `first` on, 8 bytes each.
std::span<const std::byte> keys_from(std::vector<std::uint64_t>& keys, std::uint64_t first) {
  keys.resize(kPiece);
  for (std::uint64_t i = 0; i < kPiece; ++i) keys[i] = first + i;
  return std::as_bytes(std::span(keys));
}

std::string_view key_at(std::span<const std::byte> keys, std::uint64_t i) {
  return {reinterpret_cast<const char*>(keys.data()) + 8 * i, 8};
}

// Returns how many present keys get a no, in batches and one by one.
std::uint64_t count_wrong_noes(const Filter& filter) {
  std::vector<std::uint64_t> room;
  std::vector<std::uint8_t> answers(kPiece);
  std::uint64_t wrong = 0;
  for (std::uint64_t first = 0; first < kKeys; first += kPiece) {
    const auto keys = keys_from(room, first);
    std::fill(answers.begin(), answers.end(), std::uint8_t{0});
    const Count maybes = filter.contains_keys(Keys::fixed(keys.data(), 8, kPiece), answers);
    REQUIRE(maybes.ok());
    wrong += kPiece - maybes.keys();
    for (std::uint64_t i = 0; i < kPiece; ++i) {
      wrong += answers[i] == 1 ? 0U : 1U;
      wrong += filter.contains(key_at(keys, i)) ? 0U : 1U;
    }
  }
  return wrong;
}

void check_present(Layout layout) {
  CAPTURE(layout);
  const TemporaryDirectory directory;
  const std::string path = directory.file("present.bf");
  Options options;
  options.layout = layout;
  options.capacity = kKeys;
  options.fpr = 0.01;
  Filter writer = must(Filter::create(path, options));
  std::vector<std::uint64_t> room;
  std::uint64_t changed = 0;
  for (std::uint64_t first = 0; first < kKeys; first += kPiece) {
    const Count count = writer.add_keys(Keys::fixed(keys_from(room, first).data(), 8, kPiece));
    REQUIRE(count.ok());
    changed += count.keys();
  }
  CHECK(count_wrong_noes(writer) == 0);
  CHECK(changed <= kKeys);
  CHECK(changed > kKeys - kKeys / 100);  // an add that changes nothing is a false positive of the filter so far
  const std::uint64_t counted = layout_of(layout)->can.remove ? kKeys : changed;  // there each add changes a counter
  CHECK(writer.stats().keys_added == counted);
  must(writer.close());

  const Filter reader = must(Filter::open(path, OpenMode::kRead));
  CHECK(count_wrong_noes(reader) == 0);
  CHECK(reader.stats().keys_added == counted);
}

}  // namespace

TEST_CASE("in every layout: no wrong no among ten million present keys") {
  for (const Layout layout : every_layout_in_memory()) check_present(layout);
}
