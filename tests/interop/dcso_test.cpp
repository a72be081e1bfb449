// The format dcso: each number of the header, and every kind of bad bytes. originals_test.cpp has the program's files.
#include <bit>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"
#include "foreign.hpp"

using namespace foreign;

namespace {

const ForeignForm kDcso = form("dcso");
constexpr std::size_t kHeaderBytes = 48;

struct Header {
  std::uint64_t version = 1;
  std::uint64_t capacity = 100;
  double fpr = 0.01;
  std::uint64_t num_probes = 7;
  std::uint64_t num_bits = 959;
  std::uint64_t count = 3;

  [[nodiscard]] Bytes bytes() const {
    Bytes all(kHeaderBytes);
    std::byte* next = all.data();
    for (const std::uint64_t number :
         {version, capacity, std::bit_cast<std::uint64_t>(fpr), num_probes, num_bits, count}) {
      base::store(next, number);
      next += 8;
    }
    return all;
  }
  // Returns a whole file with no bit set.
  [[nodiscard]] Bytes whole() const {
    Bytes all = bytes();
    all.resize(kHeaderBytes + (num_bits + 63) / 64 * 8);
    return all;
  }
};

void refused(const Header& header, Code code, std::initializer_list<const char*> words) {
  check_refused(inspect_foreign(header.bytes(), kDcso), code, words);
  check_refused(imported(header.bytes(), kDcso, {}), code, words);
}

}  // namespace

TEST_CASE("DCSO's bloom: an inspection reports the header's numbers, from the header alone") {
  const ForeignFilter told = must(inspect_foreign(Header{}.bytes(), kDcso));
  CHECK(told.hash == Hash::kDcso);
  CHECK(told.num_bits == 959);
  CHECK(told.num_probes == 7);
  CHECK(told.capacity == 100);
  CHECK(told.fpr == 0.01);
  CHECK(told.keys == 3);
  CHECK(told.filters == 1);
  CHECK(told.bytes == 0);  // its owner's bytes may follow
}

TEST_CASE("DCSO's bloom: each number of the header is checked") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{257}, kMost})
    refused({.version = version}, Code::kVersion, {"not a file of DCSO's bloom", "the number 1"});
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{1} << 63, kMost})
    refused({.capacity = capacity}, Code::kCapacity, {"n is"});
  for (const double fpr : {0.0, -0.0, -0.01, 1.5, std::nan(""), std::numeric_limits<double>::infinity()})
    refused({.fpr = fpr}, Code::kCapacity, {"p is not between 0 and 1"});
  for (const std::uint64_t probes : {std::uint64_t{0}, std::uint64_t{65}, std::uint64_t{1} << 32, kMost})
    refused({.num_probes = probes}, Code::kProbes, {"not from 1 to 64"});
  for (const std::uint64_t bits : {std::uint64_t{0}, kMaxBits + 1, kMost, kMost - 62})
    refused({.num_bits = bits}, Code::kBits, {"2^48"});
}

TEST_CASE("DCSO's bloom: a file that is cut anywhere is refused, and what follows the bits is its owner's") {
  const Bytes whole = Header{}.whole();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size >= kHeaderBytes && size % 5 != 0 && size + 1 != whole.size()) continue;
    const Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    check_refused(imported(cut, kDcso, {}), Code::kTooShort, {"bytes"});
  }
  Bytes longer = whole;
  longer.resize(whole.size() + 13, std::byte{0xff});
  const Filter filter = must(imported(longer, kDcso, {}));
  CHECK(exported(filter, kDcso) == whole);
  CHECK(filter.stats().keys_added == 3);
  Header vast;
  vast.num_bits = kMaxBits;
  check_refused(imported(vast.bytes(), kDcso, {}), Code::kTooShort, {"has 48 bytes"});
}

TEST_CASE("bits after the last one are refused") {
  Bytes spare = Header{}.whole();
  spare[kHeaderBytes + 119] = std::byte{0x80};  // bit 959
  check_refused(imported(spare, kDcso, {}), Code::kBody, {"after the last one of 959"});
}

TEST_CASE("a count of keys that no such filter has is cut") {
  const Filter filter = must(imported(Header{.count = std::numeric_limits<std::uint64_t>::max()}.whole(), kDcso, {}));
  CHECK(filter.stats().keys_added == 959);
}

TEST_CASE("a filter of bfstore comes out with its numbers, and comes back") {
  Options options;
  options.hash = Hash::kDcso;
  options.capacity = 50;
  options.fpr = 0.02;
  const TemporaryDirectory directory;
  Filter filter = must(Filter::create(directory.file("f"), unpublished(options)));
  for (int i = 0; i < 50; ++i) REQUIRE(filter.add("key-" + std::to_string(i)).ok());
  const Bytes bytes = exported(filter, kDcso);
  const ForeignFilter told = must(inspect_foreign(bytes, kDcso));
  CHECK(told.num_bits == filter.shape().num_bits);
  CHECK(told.num_probes == filter.shape().num_probes);
  CHECK(told.capacity == 50);
  CHECK(told.fpr == 0.02);
  const Filter back = must(imported(bytes, kDcso, {}));
  for (int i = 0; i < 50; ++i) CHECK(back.contains("key-" + std::to_string(i)));
  CHECK(exported(back, kDcso) == bytes);
  options = {};
  options.capacity = 50;
  options.hash = Hash::kGuava;
  check_refused(InMemory::make(options).filter.exported_bytes(kDcso), Code::kUnsupported, {"guava", "dcso"});
}
