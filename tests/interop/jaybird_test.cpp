// The format jaybird: files that pybloom-live 3.1.0 and 4.0.0 wrote, each number of the header, and every kind of bad
// bytes. tests/bf/jaybird_test.py compares with the packages themselves.
#include <bit>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"
#include "foreign.hpp"

using namespace foreign;

namespace {

// BloomFilter(12, 0.05) and BloomFilter(10, 0.001), with the keys "alice", "bob" and "café".
constexpr const char* kSmallOf3 =
    "9a9999999999a93f05000000000000000f000000000000000c0000000000000003000000000000004801018400510124a000";
constexpr const char* kSmallOf4 =
    "9a9999999999a93f05000000000000000f000000000000000c00000000000000030000000000000080a80110430030021002";
constexpr const char* kWhole =
    "fca9f1d24d62503f0a000000000000000f000000000000000a000000000000000300000000000000"
    "80c21002480200179018000904114892002200";

constexpr std::size_t kHeaderBytes = 40;
const ForeignForm kJaybird = form("jaybird");

Options with(std::optional<Hash> hash) {
  Options options;
  options.hash = hash;
  return options;
}

struct Header {
  double fpr = 0.01;
  std::uint64_t num_slices = 7;
  std::uint64_t slice_bits = 1370;
  std::uint64_t capacity = 1000;
  std::uint64_t count = 900;

  [[nodiscard]] Bytes bytes() const {
    Bytes all(kHeaderBytes);
    std::byte* next = all.data();
    for (const std::uint64_t number : {std::bit_cast<std::uint64_t>(fpr), num_slices, slice_bits, capacity, count}) {
      base::store(next, number);
      next += 8;
    }
    return all;
  }
  // Returns a whole file with no bit set.
  [[nodiscard]] Bytes whole() const {
    Bytes all = bytes();
    all.resize(kHeaderBytes + (num_slices * slice_bits + 7) / 8);
    return all;
  }
};

void refused(const Bytes& bytes, Code code, std::initializer_list<const char*> words) {
  check_refused(imported(bytes, kJaybird, with(Hash::kJaybird)), code, words);
  check_refused(inspect_foreign(bytes, kJaybird), code, words);
}

void check_keys(const Filter& filter) {
  for (const char* key : {"alice", "bob", "caf\u00e9"}) CHECK(filter.contains(key));
  for (const char* key : {"carol", "dave", "erin", "frank"}) CHECK_FALSE(filter.contains(key));
}

}  // namespace

TEST_CASE("files of both programs become filters that answer as they did, and come out byte for byte") {
  struct Golden {
    const char* hex;
    std::optional<Hash> hash;
    Hash is;
  };
  for (const Golden& golden :
       {Golden{kSmallOf3, Hash::kJaybird, Hash::kJaybird}, Golden{kSmallOf4, Hash::kPybloomLive, Hash::kPybloomLive},
        Golden{kWhole, {}, Hash::kJaybird}, Golden{kWhole, Hash::kPybloomLive, Hash::kPybloomLive}}) {
    CAPTURE(golden.hex);
    const Bytes bytes = of_hex(golden.hex);
    const Filter filter = must(imported(bytes, kJaybird, with(golden.hash)));
    check_keys(filter);
    CHECK(filter.shape().hash == golden.is);
    CHECK(filter.shape().layout == Layout::kClassic);
    CHECK(filter.stats().keys_added == 3);
    CHECK(exported(filter, kJaybird) == bytes);
  }
}

TEST_CASE("an inspection reports the header's numbers, from the header alone") {
  const Bytes bytes = of_hex(kWhole);
  const ForeignFilter told = must(inspect_foreign(std::span(bytes).first(kHeaderBytes), kJaybird));
  CHECK(told.hash == Hash::kJaybird);
  CHECK(told.num_bits == 150);
  CHECK(told.num_probes == 10);
  CHECK(told.capacity == 10);
  CHECK(told.fpr == 0.001);
  CHECK(told.keys == 3);
  CHECK(told.bytes == bytes.size());
  CHECK(told.format.tells_capacity);
  CHECK_FALSE(told.format.needs_size);
  CHECK_FALSE(told.format.needs_order);
  const ForeignFilter made = must(inspected(std::span(bytes).first(kHeaderBytes), kJaybird, with({})));
  CHECK(made.bytes == bytes.size());
  CHECK(made.capacity == 10);
}

// The digest changed in version 4 of pybloom-live, and the file does not tell the version.
TEST_CASE("a small file does not tell its hash, and is refused without one") {
  const Bytes bytes = of_hex(kSmallOf3);
  const ForeignFilter told = must(inspect_foreign(bytes, kJaybird));
  CHECK_FALSE(told.hash);
  check_refused(imported(bytes, kJaybird, with({})), Code::kInvalid, {"MD5", "XXH3-128", "jaybird", "pybloom-live"});
  check_refused(inspected(bytes, kJaybird, with({})), Code::kInvalid, {"MD5"});
  CHECK_FALSE(must(imported(bytes, kJaybird, with(Hash::kPybloomLive))).contains("alice"));
  for (const auto& [slices, bits, tells] :
       {std::tuple{8U, 32767U, false}, {9U, 32767U, true}, {4U, 32768U, false}, {5U, 32768U, true}}) {
    const Header header{.fpr = 0.01, .num_slices = slices, .slice_bits = bits};
    CHECK(must(inspect_foreign(header.bytes(), kJaybird)).hash.has_value() == tells);
  }
  const Header vast{.num_slices = 2, .slice_bits = std::uint64_t{1} << 31};
  CHECK_FALSE(must(inspect_foreign(vast.bytes(), kJaybird)).hash);
  const Header vast_of_3{.num_slices = 3, .slice_bits = std::uint64_t{1} << 31};
  CHECK(must(inspect_foreign(vast_of_3.bytes(), kJaybird)).hash);
}

TEST_CASE("each number of the header is checked") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const double fpr : {0.0, -0.0, 1.0, -0.01, 2.0, std::nan(""), std::numeric_limits<double>::infinity()})
    refused(Header{.fpr = fpr}.whole(), Code::kCapacity, {"p is not between 0 and 1"});
  for (const std::uint64_t slices : {std::uint64_t{0}, std::uint64_t{65}, kMost})
    refused(Header{.num_slices = slices}.bytes(), Code::kProbes, {"not from 1 to 64"});
  for (const std::uint64_t bits : {std::uint64_t{0}, kMaxBits, kMost, kMost / 7 + 1})
    refused(Header{.slice_bits = bits}.bytes(), Code::kBits, {"2^48"});
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{1} << 63, kMost})
    refused(Header{.capacity = capacity, .count = 0}.whole(), Code::kCapacity, {"n is"});
  for (const std::uint64_t count : {std::uint64_t{1002}, kMost})
    refused(Header{.count = count}.whole(), Code::kCapacity, {"keys, and room for 1,000"});
  CHECK(imported(Header{.count = 1001}.whole(), kJaybird, with(Hash::kJaybird)).ok());
}

TEST_CASE("a file that is cut anywhere, longer, or with bits after the last one is refused") {
  const Bytes bytes = of_hex(kWhole);
  const auto refused_at = [&](std::size_t size, Code code) {
    check_refused(imported(Bytes(bytes.begin(), bytes.begin() + std::ptrdiff_t(size)), kJaybird, with({})), code,
                  {"bytes"});
  };
  for (std::size_t size = 0; size < kHeaderBytes; ++size) refused_at(size, Code::kTooShort);
  for (std::size_t size = kHeaderBytes; size < bytes.size(); ++size) refused_at(size, Code::kBody);
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  check_refused(imported(longer, kJaybird, with({})), Code::kBody, {"exactly 59 bytes"});
  Bytes spare = bytes;
  spare.back() |= std::byte{0x40};  // m is 150
  check_refused(imported(spare, kJaybird, with({})), Code::kBody, {"after the last one of 150"});
}

TEST_CASE("a header that asks for a vast filter makes none") {
  const Header vast{.slice_bits = std::uint64_t{1} << 40};
  check_refused(imported(vast.bytes(), kJaybird, with({})), Code::kBody, {"has 40 bytes"});
  CHECK(must(inspect_foreign(vast.bytes(), kJaybird)).bytes == kHeaderBytes + 7 * (std::uint64_t{1} << 37));
}

TEST_CASE("the file of a ScalableBloomFilter is refused with a message") {
  Bytes bytes(60);
  base::store<std::uint32_t>(bytes.data(), 4);  // '<idQd': growth, ratio, n, p
  base::store(bytes.data() + 4, std::bit_cast<std::uint64_t>(0.9));
  base::store<std::uint64_t>(bytes.data() + 12, 100);
  base::store(bytes.data() + 20, std::bit_cast<std::uint64_t>(0.001));
  refused(bytes, Code::kUnsupported, {"ScalableBloomFilter", "jaybird-scalable"});
}

TEST_CASE("the file of a ScalableBloomFilter is its filters, and each number in it is checked") {
  const ForeignForm as = form("jaybird-scalable");
  const std::vector<Bytes> parts{of_hex(kSmallOf3), Header{.count = 0}.whole(), of_hex(kWhole)};
  constexpr std::size_t kCount = 28, kLengths = 32;
  const auto file_of = [&](std::uint32_t count) {
    Bytes bytes(kLengths + 8 * parts.size());
    base::store<std::uint32_t>(bytes.data(), 2);
    base::store(bytes.data() + 4, std::bit_cast<std::uint64_t>(0.9));
    base::store<std::uint64_t>(bytes.data() + 12, 12);
    base::store(bytes.data() + 20, std::bit_cast<std::uint64_t>(0.05));
    base::store(bytes.data() + kCount, count);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      base::store<std::uint64_t>(bytes.data() + kLengths + 8 * i, parts[i].size());
      bytes.insert(bytes.end(), parts[i].begin(), parts[i].end());
    }
    return bytes;
  };
  const Bytes good = file_of(3);
  ForeignForm member = as;
  for (std::uint32_t i = 0; i < 3; ++i) {
    member.member = i + 1;
    CHECK(exported(must(imported(good, member, with(Hash::kJaybird))), kJaybird) == parts[i]);
  }
  CHECK(inspect_foreign(good, as)->filters == 3);
  check_refused(imported(good, as, with(Hash::kJaybird)), Code::kInvalid, {"has 3 filters"});

  const auto not_taken = [&](Bytes bytes, Code code, std::initializer_list<const char*> words) {
    check_refused(inspect_foreign(bytes, as), code, words);
  };
  const auto changed = [&](std::size_t at, auto number) {
    Bytes bytes = good;
    base::store(bytes.data() + at, number);
    return bytes;
  };
  for (const std::uint32_t count : {0U, 1001U, UINT32_MAX}) not_taken(file_of(count), Code::kBody, {"from 1 to 1,000"});
  not_taken(file_of(2), Code::kProbes, {"k is"});  // the third length is taken for the first filter
  not_taken(file_of(1000), Code::kTooShort, {"ends after"});
  not_taken(changed(0, std::uint32_t{0}), Code::kCapacity, {"growth"});
  not_taken(changed(20, std::bit_cast<std::uint64_t>(2.0)), Code::kCapacity, {"growth"});
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{39}})
    not_taken(changed(kLengths, length), Code::kTooShort, {"within the header"});
  for (const std::uint64_t length : {parts[0].size() - 1, parts[0].size() + 1, good.size()})
    not_taken(changed(kLengths, length), Code::kBody, {"filter 1"});
  not_taken(changed(kLengths + 16, UINT64_MAX), Code::kBody, {"filter 3"});
  not_taken(changed(kLengths + 24 + 16, UINT64_MAX), Code::kBits, {"5 slices"});
  Bytes longer = good;
  longer.push_back({});
  not_taken(longer, Code::kBody, {"more bytes"});
  for (const std::size_t length : {0U, 31U, 32U, 55U, 56U, 95U})
    not_taken(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)),
              length < 56 ? Code::kTooShort : Code::kBody, {});
}

TEST_CASE("options that the file already says are refused") {
  const Bytes bytes = of_hex(kWhole);
  const auto not_taken = [&](auto change) {
    Options options;
    change(options);
    check_refused(imported(bytes, kJaybird, options), Code::kInvalid, {"tells its size and its order"});
    check_refused(inspected(bytes, kJaybird, options), Code::kInvalid, {"tells its size and its order"});
  };
  not_taken([](Options& options) { options.capacity = 10; });
  not_taken([](Options& options) { options.fpr = 0.001; });
  not_taken([](Options& options) { options.fpr = -0.0; });  // a zero that was given
  not_taken([](Options& options) { options.bits_per_key = 10; });
  not_taken([](Options& options) { options.max_bytes = 1 << 20; });
  not_taken([](Options& options) { options.num_bits = 150; });
  not_taken([](Options& options) { options.num_probes = 10; });
  not_taken([](Options& options) { options.layout = Layout::kClassic; });
  not_taken([](Options& options) { options.seed = 1; });
  not_taken([](Options& options) { options.seeds = {1}; });
  not_taken([](Options& options) { options.like = "other"; });
  not_taken([](Options& options) { options.tutorial_sizing = true; });
  not_taken([](Options& options) { options.part = Part{0, 2}; });
  for (const BitOrder order : {BitOrder::kLittle, BitOrder::kBig}) {
    check_refused(inspect_foreign(bytes, form("jaybird", order)), Code::kInvalid, {"tells its size and its order"});
    check_refused(imported(bytes, form("jaybird", order), {}), Code::kInvalid, {"tells its size and its order"});
  }
  check_refused(imported(bytes, kJaybird, with(Hash::kXxh3)), Code::kInvalid, {"jaybird or pybloom-live"});
  check_refused(imported(bytes, kJaybird, with(static_cast<Hash>(99))), Code::kInvalid, {"jaybird or pybloom-live"});
}

// The first versions of pybloom had this sizing. Its rate follows from the numbers, and python-bloomfilter would copy
// the filter with other slices.
TEST_CASE("a file of another sizing is imported with its own numbers, and not exported") {
  const Header twice{.slice_bits = 2 * 1370};
  const Filter filter = must(imported(twice.whole(), kJaybird, with(Hash::kJaybird)));
  CHECK(filter.shape().num_bits == 7 * 2 * 1370);
  CHECK(filter.shape().num_probes == 7);
  CHECK(filter.shape().capacity == 1000);
  CHECK(filter.shape().fpr < 0.001);
  check_refused(filter.exported_bytes(kJaybird), Code::kUnsupported, {"other slices", "--capacity and --fpr"});
}

TEST_CASE("only filters that python-bloomfilter can have are exported") {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = 7000;
  options.num_probes = 7;
  check_refused(InMemory::make(options).filter.exported_bytes(kJaybird), Code::kUnsupported,
                {"the filter: has the hash murmur3", "jaybird or pybloom-live"});
  options = {};
  options.capacity = 1000;
  check_refused(InMemory::make(options).filter.exported_bytes(kJaybird), Code::kUnsupported, {"blocked", "classic"});
}
