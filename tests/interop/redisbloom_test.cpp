// The format redisbloom: each number of the dump, and every kind of bad bytes. originals_test.cpp has dumps of
// RedisBloom itself, with one filter and with several.
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/bytes.hpp"
#include "foreign.hpp"

using namespace foreign;

namespace {

const ForeignForm kForm = form("redisbloom");

void put(Bytes& to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(number >> 8 * i));
}

struct Link {
  std::uint64_t bytes = 16;
  std::uint64_t bits = 128;
  std::uint64_t size = 3;
  double error = 0.01;
  std::uint32_t hashes = 7;
  std::uint64_t entries = 13;
  std::uint8_t n2 = 0;
  double bits_per_key = 9.585;

  void put_into(Bytes& to) const {
    put(to, bytes, 8);
    put(to, bits, 8);
    put(to, size, 8);
    put(to, std::bit_cast<std::uint64_t>(error), 8);
    put(to, std::bit_cast<std::uint64_t>(bits_per_key), 8);
    put(to, hashes, 4);
    put(to, entries, 8);
    put(to, n2, 1);
  }
};

struct Dump {
  std::uint32_t count = 1;
  std::uint32_t flags = 5;
  std::vector<Link> links{Link{}};

  [[nodiscard]] Bytes header() const {
    Bytes all;
    put(all, 3, 8);
    put(all, count, 4);
    put(all, flags, 4);
    put(all, 2, 4);
    for (const Link& link : links) link.put_into(all);
    return all;
  }
  [[nodiscard]] Bytes whole() const {
    Bytes all = header();
    for (const Link& link : links) all.resize(all.size() + link.bytes);
    return all;
  }
};

void refused(const Dump& dump, Code code, std::initializer_list<const char*> words) {
  check_refused(inspect_foreign(dump.header(), kForm), code, words);
  check_refused(imported(dump.header(), kForm, {}), code, words);
}

void refused(const Link& link, Code code, std::initializer_list<const char*> words) {
  refused(Dump{.links = {link}}, code, words);
}

}  // namespace

TEST_CASE("an inspection reports the numbers of the first filter, and how many there are") {
  const Dump dump{.count = 2, .links = {Link{}, Link{.bytes = 32, .bits = 256, .entries = 26}}};
  const ForeignFilter told = must(inspect_foreign(dump.header(), kForm));
  CHECK(told.filters == 2);
  CHECK(told.hash == Hash::kRedisBloom);
  CHECK(told.num_bits == 128);
  CHECK(told.num_probes == 7);
  CHECK(told.capacity == 13);
  CHECK(told.fpr == 0.01);
  CHECK(told.keys == 3);
  ForeignForm second = kForm;
  second.member = 2;
  CHECK(must(inspect_foreign(dump.header(), second)).num_bits == 256);
  CHECK(must(imported(dump.whole(), second, {})).shape().num_bits == 256);
  check_refused(imported(dump.whole(), kForm, {}), Code::kInvalid, {"2 filters"});
}

TEST_CASE("the numbers of the chain are checked") {
  refused(Dump{.count = 0, .links = {}}, Code::kBody, {"no filters"});
  refused(Dump{.flags = 21}, Code::kReserved, {"unknown flags"});
  refused(Dump{.flags = 1}, Code::kUnsupported, {"32 bits"});
  refused(Dump{.count = 1025}, Code::kUnsupported, {"1025 filters"});
  refused(Dump{.count = 0xffffffff}, Code::kUnsupported, {"filters"});
  refused(Dump{.count = 2}, Code::kTooShort, {"within what a dump of RedisBloom has"});
}

TEST_CASE("the numbers of each filter are checked") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const double error : {0.0, -0.01, 1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    refused(Link{.error = error}, Code::kCapacity, {"p is not between 0 and 1"});
  for (const auto& [bytes, bits] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                    {15, 128},
                                    {17, 128},
                                    {kMost, 128},
                                    {kMaxBits / 8 + 8, kMaxBits + 64},
                                    {kMost / 8, kMost},
                                    {0, 64}})
    refused(Link{.bytes = bytes, .bits = bits}, Code::kBits, {"m is"});
  refused(Link{.bytes = 16, .bits = 130}, Code::kBits, {"multiple of 64"});
  for (const std::uint32_t hashes : {0U, 65U, 0xffffffffU})
    refused(Link{.hashes = hashes}, Code::kProbes, {"not from 1 to 64"});
  for (const std::uint64_t entries : {std::uint64_t{0}, std::uint64_t{1} << 63, kMost})
    refused(Link{.entries = entries}, Code::kCapacity, {"n is"});
  for (const int n2 : {8, 47, 48, 49, 63, 64, 255})  // more bits than the filter has
    refused(Link{.n2 = static_cast<std::uint8_t>(n2)}, Code::kBits, {"m is"});
  for (const int n2 : {1, 5}) refused(Link{.n2 = static_cast<std::uint8_t>(n2)}, Code::kBits, {"multiple of 64"});
}

TEST_CASE("a filter that was rounded up to a power of two has that many bits") {
  for (const std::uint32_t flags : {4U, 6U, 7U}) {
    const Filter filter = must(imported(Dump{.flags = flags, .links = {Link{.n2 = 7}}}.whole(), kForm, {}));
    CHECK(filter.shape().num_bits == 128);
  }
}

TEST_CASE("an m or a k that was changed contradicts the other numbers, and is refused") {
  const auto contradicts = [](const Dump& dump) { refused(dump, Code::kBody, {"its m or its k contradicts"}); };
  for (const std::uint32_t hashes : {1U, 6U, 8U, 64U}) contradicts({.links = {Link{.hashes = hashes}}});
  for (const double bits : {0.0, -9.585, 1.0, 8.0, 11.0, std::nan(""), std::numeric_limits<double>::infinity()})
    contradicts({.links = {Link{.bits_per_key = bits}}});
  contradicts({.flags = 4, .links = {Link{.n2 = 6}}});
  contradicts({.flags = 5, .links = {Link{.n2 = 7}}});  // it says that no m is rounded
  contradicts({.count = 2, .links = {Link{}, Link{.hashes = 6}}});
  CHECK(must(imported(Dump{.links = {Link{.hashes = 8, .bits_per_key = 11}}}.whole(), kForm, {})).shape().num_probes ==
        8);
}

TEST_CASE("a dump that is cut anywhere, or longer, is refused") {
  const Bytes bytes = Dump{}.whole();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    check_refused(imported(cut, kForm, {}), Code::kTooShort, {"bytes"});
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  check_refused(imported(longer, kForm, {}), Code::kBody, {"end at byte 89 of 90"});
  const Dump vast{.links = {Link{.bytes = kMaxBits / 8, .bits = kMaxBits}}};
  check_refused(imported(vast.header(), kForm, {}), Code::kTooShort, {"has 73 bytes"});
}

TEST_CASE("a filter of bfstore comes out as a chain of one filter that RedisBloom takes") {
  Options options;
  options.hash = Hash::kRedisBloom;
  options.capacity = 100;
  for (const double fpr : {0.01, 0.5, 0.999, 1e-9}) {
    options.fpr = fpr;
    const InMemory made = InMemory::make(options);
    const Bytes bytes = exported(made.filter, kForm);
    const ForeignFilter told = must(inspect_foreign(bytes, kForm));
    CHECK(told.num_bits % 64 == 0);
    CHECK(told.fpr == fpr);
    const double bits_per_key = std::bit_cast<double>(base::load<std::uint64_t>(bytes.data() + 20 + 32));
    CHECK(std::ceil(0.693147180559945 * bits_per_key) == told.num_probes);
    CHECK(exported(must(imported(bytes, kForm, {})), kForm) == bytes);
  }
}

TEST_CASE("after a change of a dump of several filters every answer is maybe, for one key and for many") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("dump");
  const Bytes dump = Dump{.count = 2, .links = {Link{}, Link{}}}.whole();
  const auto write = [&](std::size_t bytes) {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(dump.data()), static_cast<long>(bytes));
  };
  write(dump.size());
  const Filter filter = must(Filter::open_foreign(path, kForm, {}));
  const std::array<std::string_view, 2> keys{"absent", "absent, too"};
  std::array<std::uint8_t, 2> answers{};
  CHECK_FALSE(filter.contains("absent"));
  CHECK(filter.contains_keys(Keys::views(keys), answers).keys() == 0);
  write(dump.size() - 1);
  CHECK(filter.contains("absent"));
  CHECK(filter.contains_keys(Keys::views(keys), answers).keys() == 2);
}
