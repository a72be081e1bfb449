// The format bip37: the published vectors, and every kind of bad bytes. originals_test.cpp has files of another
// program.
#include "foreign.hpp"

using namespace foreign;

namespace {

const ForeignForm kBip37 = form("bip37");

// Bitcoin Core's tests have these (bloom_create_insert_serialize, and ..._with_tweak): three keys, n = 3, p = 0.01.
constexpr const char* kNoTweak = "03614e9b050000000000000001";
constexpr const char* kTweak = "03ce4299050000000100008001";
constexpr const char* kKeys[] = {"99108ad8ed9bb6274d3980bab5a85c048f0950c8", "b5a2c786d9ef4658287ced5914b37a1b4aa32eee",
                                 "b9300670b4c5366e95b2699e8b18bc75e5f729c5"};
constexpr const char* kAbsent = "19108ad8ed9bb6274d3980bab5a85c048f0950c8";

std::string key_of(const char* hex) {
  const Bytes bytes = of_hex(hex);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void refused(const Bytes& bytes, Code code, std::initializer_list<const char*> words) {
  check_refused(inspect_foreign(bytes, kBip37), code, words);
  check_refused(imported(bytes, kBip37, {}), code, words);
}

}  // namespace

TEST_CASE("the published filters have their keys, and come out with flags of 0") {
  for (const char* hex : {kNoTweak, kTweak}) {
    Bytes bytes = of_hex(hex);
    const Filter filter = must(imported(bytes, kBip37, {}));
    for (const char* key : kKeys) CHECK(filter.contains(key_of(key)));
    CHECK_FALSE(filter.contains(key_of(kAbsent)));
    bytes.back() = std::byte{0};
    CHECK(exported(filter, kBip37) == bytes);
  }
  const ForeignFilter told = must(inspect_foreign(of_hex(kTweak), kBip37));
  CHECK(told.num_bits == 24);
  CHECK(told.num_probes == 5);
  CHECK(told.bytes == 13);
  CHECK(told.hash == Hash::kMurmur3Unsigned);
}

TEST_CASE("a filter that matches every key is refused, and no number is divided by its 0 bits") {
  refused(of_hex("00050000000000000001"), Code::kBits, {"matches every key"});
  refused(of_hex("00"), Code::kBits, {"matches every key"});
  refused(of_hex("03614e9b000000000000000001"), Code::kProbes, {"matches every key"});
}

TEST_CASE("k, the length and the flags are checked") {
  for (const char* probes : {"33000000", "40000000", "ffffffff"})
    refused(of_hex(std::string("03614e9b") + probes + "0000000001"), Code::kProbes, {"not from 1 to 50"});
  CHECK(imported(of_hex("03614e9b320000000000000001"), kBip37, {}).ok());
  for (const char* flags : {"03", "ff"})
    refused(of_hex(std::string("03614e9b0500000000000000") + flags), Code::kReserved, {"not from 0 to 2"});
  refused(of_hex("fd0300614e9b050000000000000001"), Code::kBits, {"CompactSize"});
  refused(of_hex("fda18c"), Code::kBits, {"36,000"});  // 36,001
  refused(of_hex("fe00000100"), Code::kBits, {"36,000"});
  refused(of_hex("ffffffffffffffffff"), Code::kBits, {"36,000"});
}

TEST_CASE("the longest filter, and lengths of one and of three bytes") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{252}, std::size_t{253}, std::size_t{36'000}}) {
    Bytes bytes = size < 253 ? Bytes{static_cast<std::byte>(size)}
                             : Bytes{std::byte{0xfd}, static_cast<std::byte>(size), static_cast<std::byte>(size >> 8)};
    bytes.resize(bytes.size() + size, std::byte{0x5a});
    for (const int last : {50, 0, 0, 0, 7, 0, 0, 0x80, 0}) bytes.push_back(static_cast<std::byte>(last));
    const Filter filter = must(imported(bytes, kBip37, {}));
    CHECK(filter.shape().num_bits == 8 * size);
    CHECK(filter.seeds()[2] == 0x80000007 + 2 * 0xfba4c795);
    CHECK(exported(filter, kBip37) == bytes);
    bytes.push_back(std::byte{0});
    check_refused(imported(bytes, kBip37, {}), Code::kBody, {"exactly"});
  }
}

TEST_CASE("a filter that is cut anywhere is refused") {
  const Bytes bytes = of_hex(kTweak);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    refused({bytes.begin(), bytes.begin() + std::ptrdiff_t(size)}, Code::kTooShort,
            {"within what a filter of BIP-37 has"});
}

TEST_CASE("only filters that BIP-37 has are exported") {
  const auto check = [](std::uint64_t num_bits, std::vector<std::uint32_t> seeds, const char* word) {
    Options options;
    options.hash = Hash::kMurmur3Unsigned;
    options.num_bits = num_bits;
    options.seeds = std::move(seeds);
    check_refused(InMemory::make(options).filter.exported_bytes(kBip37), Code::kUnsupported, {word});
  };
  check(1000, {0, 1}, "its seeds");
  check(1004, {0, 0xfba4c795}, "whole bytes");
  check(288'008, {0, 0xfba4c795}, "36,000");
  std::vector<std::uint32_t> many(51);
  for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = i * 0xfba4c795;
  check(1000, many, "50 probes");
}
