// Bit arrays of other programs, in both orders of bits: bit by bit, of every length, and what is refused. The real
// programs, Python's mmh3 and bitarray, are in tests/bf/raw_test.py.
#include <random>

#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::array kOrders{BitOrder::kLittle, BitOrder::kBig};
constexpr std::array<std::uint64_t, 14> kSizes{1,   7,    8,    9,     63,      64,      65,
                                               512, 1000, 4097, 99991, 2097152, 2097153, 5000000};

Options classic(std::uint64_t num_bits, std::uint32_t num_probes = 3) {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = num_bits;
  options.num_probes = num_probes;
  return options;
}

// An array by its definition: which byte, and which bit of it.
class Reference {
 public:
  explicit Reference(std::uint64_t num_bits) : bits_(num_bits) {}

  static Reference random(std::uint64_t num_bits, std::uint64_t seed) {
    std::mt19937_64 choose(seed);
    Reference made(num_bits);
    for (std::uint64_t i = 0; i < num_bits; ++i) made.bits_[i] = choose() % 4 == 0;
    return made;
  }
  void unite(const Reference& other) {
    for (std::uint64_t i = 0; i < bits_.size(); ++i) bits_[i] = bits_[i] || other.bits_[i];
  }
  [[nodiscard]] std::vector<std::byte> bytes(BitOrder order) const {
    std::vector<std::byte> all((bits_.size() + 7) / 8);
    for (std::uint64_t i = 0; i < bits_.size(); ++i) {
      const unsigned mask = order == BitOrder::kBig ? 0x80U >> i % 8 : 1U << i % 8;
      if (bits_[i]) all[i / 8] |= static_cast<std::byte>(mask);
    }
    return all;
  }
  [[nodiscard]] std::uint64_t set() const {
    return static_cast<std::uint64_t>(std::count(bits_.begin(), bits_.end(), true));
  }

 private:
  std::vector<bool> bits_;
};

std::vector<std::byte> exported(const Filter& filter, BitOrder order) {
  std::vector<std::byte> bits((filter.shape().num_bits + 7) / 8, std::byte{0x5a});
  must(filter.export_bits(bits, order));
  return bits;
}

std::uint64_t set_bits(const Filter& filter) { return filter.stats({.fill = true}).fill->set_bits; }

std::string key(std::uint64_t number) { return "key " + std::to_string(number); }

}  // namespace

TEST_CASE("an array of every length becomes the bits of a filter in either order, and comes out in either order") {
  for (const std::uint64_t num_bits : kSizes) {
    CAPTURE(num_bits);
    for (const BitOrder order : kOrders) {
      const Reference first = Reference::random(num_bits, num_bits);
      InMemory made = InMemory::make(classic(num_bits));
      must(made.filter.import_bits(first.bytes(order), order));
      CHECK(set_bits(made.filter) == first.set());
      for (const BitOrder out : kOrders) CHECK(exported(made.filter, out) == first.bytes(out));
      const auto little = first.bytes(BitOrder::kLittle);
      CHECK(std::equal(little.begin(), little.end(), body_of(made).begin()));

      Reference both = first;
      const Reference second = Reference::random(num_bits, num_bits + 1);
      both.unite(second);
      must(made.filter.import_bits(second.bytes(order), order));
      CHECK(exported(made.filter, order) == both.bytes(order));
      must(made.filter.import_bits(first.bytes(order), order));  // again: nothing changes
      CHECK(exported(made.filter, order) == both.bytes(order));
    }
  }
}

TEST_CASE("an array at any address, and keys in it, give the answers of the filter that it came from") {
  InMemory from = InMemory::make(classic(99991, 5));
  for (std::uint64_t i = 0; i < 3000; ++i) REQUIRE(from.filter.add(key(i)).ok());
  for (const BitOrder order : kOrders) {
    for (const std::size_t at : {0U, 1U, 3U}) {
      const auto bits = exported(from.filter, order);
      std::vector<std::byte> room(bits.size() + at);
      std::copy(bits.begin(), bits.end(), room.begin() + static_cast<std::ptrdiff_t>(at));
      InMemory to = InMemory::make(classic(99991, 5));
      must(to.filter.import_bits(std::span<const std::byte>(room).subspan(at), order));
      for (std::uint64_t i = 0; i < 9000; ++i) REQUIRE(to.filter.contains(key(i)) == from.filter.contains(key(i)));
    }
  }
}

TEST_CASE("an array of another length, with spare bits, or in no order is refused, and no bit is set") {
  for (const std::uint64_t num_bits : {1U, 9U, 63U, 1000U, 99991U}) {
    CAPTURE(num_bits);
    InMemory made = InMemory::make(classic(num_bits));
    const std::uint64_t bytes = (num_bits + 7) / 8;
    const std::string right = std::to_string(bytes) + " bytes";
    for (const BitOrder order : kOrders) {
      for (const std::uint64_t wrong : {bytes - 1, bytes + 1, (num_bits + 63) / 64 * 8 + 8, std::uint64_t{0}}) {
        std::vector<std::byte> bits(wrong + 1, std::byte{0xff});
        const auto array = std::span(bits).first(wrong);
        check_refused(made.filter.import_bits(array, order), Code::kInvalid, {right.c_str()});
        check_refused(made.filter.export_bits(array, order), Code::kInvalid, {right.c_str()});
      }
      std::vector<std::byte> spare(bytes);
      for (unsigned bit = static_cast<unsigned>(num_bits % 8); bit != 0 && bit < 8; ++bit) {
        spare.back() = static_cast<std::byte>(order == BitOrder::kBig ? 0x80U >> bit : 1U << bit);
        check_refused(made.filter.import_bits(spare, order), Code::kInvalid, {"after the last one"});
      }
    }
    std::vector<std::byte> bits(bytes);
    for (const std::uint32_t order : {0U, 3U, UINT32_MAX}) {
      check_refused(made.filter.import_bits(bits, static_cast<BitOrder>(order)), Code::kInvalid, {"order"});
      check_refused(made.filter.export_bits(bits, static_cast<BitOrder>(order)), Code::kInvalid, {"order"});
    }
    check_refused(made.filter.import_bits({}, BitOrder::kBig), Code::kInvalid, {"null"});
    check_refused(made.filter.export_bits({}, BitOrder::kBig), Code::kInvalid, {"null"});
    CHECK(set_bits(made.filter) == 0);
    CHECK(made.filter.stats().keys_added == 0);
  }
}

TEST_CASE("only the classic layout has bit arrays, whatever its hash") {
  for (const Layout layout : every_layout_in_memory()) {
    Options options;
    options.layout = layout;
    options.seed = 7;
    options.num_bits = 512;
    options.num_probes = 3;
    InMemory made = InMemory::make(options);
    std::vector<std::byte> bits(64, std::byte{0x11});
    if (layout == Layout::kClassic) {
      must(made.filter.import_bits(bits, BitOrder::kLittle));
      CHECK(exported(made.filter, BitOrder::kLittle) == bits);
    } else {
      check_refused(made.filter.import_bits(bits, BitOrder::kLittle), Code::kUnsupported, {"classic"});
      check_refused(made.filter.export_bits(bits, BitOrder::kLittle), Code::kUnsupported, {"classic"});
    }
  }
}

TEST_CASE("an array that could not be exported says maybe: all of its bits are 1") {
  InMemory made = InMemory::make(classic(1000));
  std::vector<std::byte> bits(125);
  CHECK_FALSE(made.filter.export_bits(bits, static_cast<BitOrder>(9)).ok());
  CHECK(bits == std::vector<std::byte>(125, std::byte{0xff}));
}

// Saves a copy whose bits after the last one are set, which no writer does.
TEST_CASE("bits after the last one are not exported") {
  InMemory made = InMemory::make(classic(1001));
  body_of(made).back() = std::byte{0xff};
  for (const BitOrder order : kOrders) CHECK(exported(made.filter, order) == std::vector<std::byte>(126));
}

TEST_CASE("the count of keys grows by an estimate, and a full array is more than the capacity") {
  const TemporaryDirectory directory;
  InMemory from = InMemory::make(classic(100000, 7));
  for (std::uint64_t i = 0; i < 8000; ++i) REQUIRE(from.filter.add(key(i)).ok());
  Filter to = must(Filter::create(directory.file("f"), classic(100000, 7)));
  must(to.import_bits(exported(from.filter, BitOrder::kBig), BitOrder::kBig));
  CHECK(to.stats().keys_added > 7800);
  CHECK(to.stats().keys_added < 8200);
  const std::uint64_t before = to.stats().keys_added;
  must(to.import_bits(exported(from.filter, BitOrder::kBig), BitOrder::kBig));
  CHECK(to.stats().keys_added == before);
  CHECK_FALSE(to.stats().saturated);
  must(to.import_bits(std::vector<std::byte>(12500, std::byte{0xff}), BitOrder::kBig));
  CHECK(to.stats().saturated);
}
