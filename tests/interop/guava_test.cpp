// The format guava: each number of the header, and every kind of bad bytes. originals_test.cpp has
// Guava's own files.
#include "foreign.hpp"

using namespace foreign;

namespace {

const ForeignForm kGuava = form("guava");

Bytes whole(const char* header, std::size_t longs) {
  Bytes bytes = of_hex(header);
  bytes.resize(bytes.size() + 8 * longs);
  return bytes;
}

}  // namespace

TEST_CASE("Guava: an inspection reports the header's numbers, from the header alone") {
  for (const auto& [header, hash] : {std::pair{"010700000002", Hash::kGuava}, {"000700000002", Hash::kGuava32}}) {
    const ForeignFilter told = must(inspect_foreign(of_hex(header), kGuava));
    CHECK(told.hash == hash);
    CHECK(told.num_bits == 128);
    CHECK(told.num_probes == 7);
    CHECK(told.capacity == 0);
    CHECK_FALSE(told.keys);
    CHECK(told.bytes == 22);
  }
}

TEST_CASE("Guava: each number of the header is checked") {
  for (const char* header : {"020700000002", "ff0700000002"})
    check_refused(imported(whole(header, 2), kGuava, {}), Code::kMagic, {"not 0 or 1"});
  for (const char* header : {"010000000002", "014100000002", "01ff00000002"})
    check_refused(imported(whole(header, 2), kGuava, {}), Code::kProbes, {"not from 1 to 64"});
  check_refused(imported(whole("010700000000", 0), kGuava, {}), Code::kBits, {"m is 0"});
  for (const char* header : {"010780000000", "0107ffffffff"})  // Java's numbers below 0
    check_refused(imported(whole(header, 2), kGuava, {}), Code::kBits, {"too many"});
  check_refused(imported(whole("000702000001", 2), kGuava, {}), Code::kBits, {"too many"});
  check_refused(imported(whole("01077fffffff", 2), kGuava, {}), Code::kBody, {"has 22 bytes"});
}

TEST_CASE("Guava: a file that is cut anywhere, or longer, is refused") {
  const Bytes bytes = whole("010700000002", 2);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    check_refused(imported(cut, kGuava, {}), size < 6 ? Code::kTooShort : Code::kBody, {"bytes"});
  }
  check_refused(imported(whole("010700000002", 3), kGuava, {}), Code::kBody, {"exactly 22 bytes"});
}

TEST_CASE("bit i is bit i mod 64 of long i / 64, the highest byte first") {
  Bytes bytes = whole("010700000002", 2);
  bytes[6 + 7] = std::byte{0x01};  // bit 0
  bytes[6 + 8] = std::byte{0x80};  // bit 127
  const Filter filter = must(imported(bytes, kGuava, {}));
  const Bytes raw = exported(filter, form("raw", BitOrder::kLittle));
  CHECK(raw.front() == std::byte{0x01});
  CHECK(raw.back() == std::byte{0x80});
  CHECK(filter.stats({.fill = true}).fill->set_bits == 2);
  CHECK(exported(filter, kGuava) == bytes);
}

TEST_CASE("the caller may say for how many keys the filter is") {
  Options options;
  options.capacity = 10;
  CHECK(must(imported(whole("010700000002", 2), kGuava, options)).shape().capacity == 10);
  options.num_bits = 128;
  options.num_probes = 7;
  check_refused(imported(whole("010700000002", 2), kGuava, options), Code::kInvalid, {"tells its size"});
}

TEST_CASE("m of a new filter is a multiple of 64, whatever it is computed from") {
  Options options;
  options.hash = Hash::kGuava;
  options.capacity = 1001;
  options.fpr = 0.013;
  const InMemory made = InMemory::make(options);
  CHECK(made.filter.shape().num_bits % 64 == 0);
  CHECK(exported(made.filter, kGuava).size() == 6 + made.filter.shape().num_bits / 8);
  options = {};
  options.hash = Hash::kGuava32;
  options.num_bits = 1000;
  options.num_probes = 7;
  check_refused(Filter::create(TemporaryDirectory().file("f"), options), Code::kInvalid, {"multiple of 64"});
}

TEST_CASE("the strategy says the hash, and the caller cannot give the other one") {
  for (const auto& [header, hash, other] :
       {std::tuple{"010700000002", Hash::kGuava, Hash::kGuava32}, {"000700000002", Hash::kGuava32, Hash::kGuava}}) {
    Options options;
    options.hash = hash;
    const Bytes bytes = whole(header, 2);
    CHECK(exported(must(imported(bytes, kGuava, options)), kGuava) == bytes);
    options.hash = other;
    check_refused(imported(bytes, kGuava, options), Code::kInvalid, {"its bytes say the hash", "Give none"});
  }
}
