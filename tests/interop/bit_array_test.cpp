// The format raw says nothing, so the caller must say everything. A missing number is an error and gets no default.
// tests/filter/bits_test.cpp has the bits themselves, and tests/bf/raw_test.py the real programs.
#include "foreign.hpp"
#include "support/memory_layouts.hpp"

using namespace foreign;

namespace {

Options murmur() {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = 124;
  options.num_probes = 4;
  return options;
}

const ForeignForm kLittle = form("raw", BitOrder::kLittle);
const ForeignForm kBig = form("raw", BitOrder::kBig);

void refused(const Options& options, const ForeignForm& as, Code code, std::initializer_list<const char*> words) {
  check_refused(imported(Bytes(16), as, options), code, words);
  check_refused(inspected(Bytes(16), as, options), code, words);
}

}  // namespace

TEST_CASE("an array alone says nothing, not even how long it is") {
  for (const ForeignForm& as : {form("raw"), kLittle, kBig}) {
    const ForeignFilter told = must(inspect_foreign(Bytes(16), as));
    CHECK(told.format.needs_size);
    CHECK(told.format.needs_order);
    CHECK_FALSE(told.format.tells_capacity);
    CHECK(told.format.hashes.empty());
    CHECK_FALSE(told.hash);
    CHECK(told.num_bits == 0);
    CHECK(told.num_probes == 0);
    CHECK(told.capacity == 0);
    CHECK(told.fpr == 0);
    CHECK_FALSE(told.keys);
    CHECK(told.bytes == 0);
  }
}

TEST_CASE("the options tell how long the array is, before a byte of it is read") {
  Options options = murmur();
  options.capacity = 20;
  const ForeignFilter told = must(inspected({}, kBig, options));
  CHECK(told.bytes == 16);
  CHECK(told.num_bits == 124);
  CHECK(told.num_probes == 4);
  CHECK(told.capacity == 20);
  CHECK(told.fpr > 0.03);
  CHECK(told.hash == Hash::kMurmur3);
  CHECK_FALSE(told.keys);
}

TEST_CASE("a number that neither the array nor the caller gives is an error, and gets no default") {
  Options options = murmur();
  options.hash.reset();
  refused(options, kLittle, Code::kInvalid, {"no hash given"});
  refused(murmur(), form("raw"), Code::kInvalid, {"order", "little or big"});
  refused(murmur(), form("raw", static_cast<BitOrder>(0)), Code::kInvalid, {"neither little nor big"});
  options = murmur();
  options.num_bits = options.num_probes = 0;
  refused(options, kLittle, Code::kInvalid, {"no size was given"});
  options = murmur();
  options.hash = Hash::kXxh3;
  refused(options, kLittle, Code::kInvalid, {"no seed given"});
  options.seed = 7;
  CHECK(must(imported(Bytes(16), kLittle, options)).shape().seed == 7);
  options = murmur();
  options.hash = static_cast<Hash>(999);
  refused(options, kLittle, Code::kInvalid, {"unknown hash 999"});
}

TEST_CASE("only layouts whose bits are in the array's order take it") {
  Options options = murmur();
  options.hash = Hash::kXxh3;
  options.seed = 1;
  options.num_bits = 128;
  for (const Layout layout : every_layout_in_memory()) {
    options.layout = layout;
    if (layout == Layout::kClassic) {
      CHECK(imported(Bytes(16), kLittle, options).ok());
    } else {
      refused(options, kLittle, Code::kUnsupported, {"classic", layout_of(layout)->name});
    }
  }
  options.layout.reset();
  CHECK(must(imported(Bytes(16), kLittle, options)).shape().layout == Layout::kClassic);
}

TEST_CASE("another length, and bits after the last one, are refused") {
  for (const std::size_t bytes : {0U, 1U, 15U, 17U, 24U})
    check_refused(imported(Bytes(bytes), kLittle, murmur()), Code::kInvalid, {"exactly 16 bytes"});
  for (const auto& [as, last] : {std::pair{kLittle, 0x10U}, {kLittle, 0x80U}, {kBig, 0x08U}, {kBig, 0x01U}}) {
    Bytes spare(16);
    spare.back() = static_cast<std::byte>(last);
    check_refused(imported(spare, as, murmur()), Code::kInvalid, {"after the last one of 124"});
  }
}

// Python makes these bytes of mmh3.hash(key, i) % 124 for i = 0..3 and a bitarray that is big-endian.
TEST_CASE("the bits of a Python program are found, also in a file like another one") {
  const TemporaryDirectory directory;
  Filter filter = must(Filter::create(directory.file("like"), murmur()));
  REQUIRE(filter.add("foo").ok());
  const Bytes bits = exported(filter, kBig);
  Options like;
  like.like = directory.file("like");
  const Filter other = must(imported(bits, kBig, like));
  CHECK(other.contains("foo"));
  CHECK_FALSE(other.contains("bar"));
  CHECK(other.stats().keys_added == 1);
  CHECK(exported(other, kLittle) == exported(filter, kLittle));
  CHECK(exported(other, kLittle) != bits);
  CHECK(must(inspected({}, kBig, like)).bytes == 16);
  // mmh3.hash("foo", 0) is -156908512, which is 96 modulo 124 in Python.
  CHECK((bits[12] & std::byte{0x80}) != std::byte{0});
}

TEST_CASE("a secret and seeds are the caller's, too") {
  Options options = murmur();
  options.seeds = {41, 42, 43, 44};
  CHECK(must(imported(Bytes(16), kLittle, options)).seeds() == options.seeds);
  options = murmur();
  options.hash = Hash::kSipHash;
  refused(options, kLittle, Code::kSecret, {"secret"});
  options.secret = Secret{1, 2, 3};
  CHECK(imported(Bytes(16), kLittle, options).ok());
}
