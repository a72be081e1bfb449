// The format bits-and-blooms: each number of the header, and every kind of bad bytes. originals_test.cpp has files of
// the Go module itself.
#include <cstring>

#include "foreign.hpp"

using namespace foreign;

namespace {

const ForeignForm kForm = form("bits-and-blooms");

std::string hex_of(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

Bytes header(std::uint64_t num_bits, std::uint64_t num_probes, std::uint64_t length) {
  return of_hex(hex_of(num_bits) + hex_of(num_probes) + hex_of(length));
}

Bytes whole(std::uint64_t num_bits, std::uint64_t num_probes, std::uint64_t length) {
  Bytes bytes = header(num_bits, num_probes, length);
  bytes.resize(24 + (num_bits + 63) / 64 * 8);
  return bytes;
}

void refused(const Bytes& bytes, Code code, std::initializer_list<const char*> words) {
  check_refused(inspect_foreign(bytes, kForm), code, words);
  check_refused(imported(bytes, kForm, {}), code, words);
}

}  // namespace

TEST_CASE("bits-and-blooms: an inspection reports the header's numbers, and the array has whole words") {
  const ForeignFilter told = must(inspect_foreign(header(70, 5, 70), kForm));
  CHECK(told.hash == Hash::kBitsAndBlooms);
  CHECK(told.num_bits == 70);
  CHECK(told.num_probes == 5);
  CHECK(told.bytes == 40);
}

TEST_CASE("bits-and-blooms: each number of the header is checked") {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t num_bits : {std::uint64_t{0}, kMaxBits + 1, kMost})
    refused(header(num_bits, 5, num_bits), Code::kBits, {"2^48"});
  for (const std::uint64_t num_probes : {std::uint64_t{0}, std::uint64_t{65}, std::uint64_t{1} << 32, kMost})
    refused(header(70, num_probes, 70), Code::kProbes, {"not from 1 to 64"});
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{69}, std::uint64_t{129}, kMost})
    refused(header(70, 5, length), Code::kBits, {"bit set has"});
  CHECK(imported(whole(70, 5, 128), kForm, {}).ok());
}

TEST_CASE("bits-and-blooms: a file that is cut anywhere, longer, or with bits after the last one is refused") {
  const Bytes bytes = whole(70, 5, 70);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    check_refused(imported(cut, kForm, {}), size < 24 ? Code::kTooShort : Code::kBody, {"bytes"});
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  check_refused(imported(longer, kForm, {}), Code::kBody, {"exactly 40 bytes"});
  Bytes spare = bytes;
  spare.back() = std::byte{0x40};  // bit 70
  check_refused(imported(spare, kForm, {}), Code::kBody, {"after the last one of 70"});
  check_refused(imported(header(kMaxBits, 5, kMaxBits), kForm, {}), Code::kBody, {"has 24 bytes"});
}

TEST_CASE("the last bit is in a word of which only a part is the filter's") {
  Bytes bytes = whole(70, 5, 70);
  bytes.back() = std::byte{0x20};  // bit 69
  const Filter filter = must(imported(bytes, kForm, {}));
  CHECK(exported(filter, form("raw", BitOrder::kLittle)).back() == std::byte{0x20});
  CHECK(exported(filter, kForm) == bytes);
}

namespace {

const ForeignForm kJson = form("bits-and-blooms-json");

Bytes text(const std::string& words) {
  const auto all = std::as_bytes(std::span(words));
  return {all.begin(), all.end()};
}

// A bit set of 70 bits, of which 0 and 69 are set.
const std::string kSet = "AAAAAAAAAEYAAAAAAAAAAQAAAAAAAAAg";

}  // namespace

TEST_CASE("JSON has the same bits, in any order of its names and in both alphabets of base64") {
  for (const std::string& words :
       {"{\"m\":70,\"k\":5,\"b\":\"" + kSet + "\"}", "{ \"b\" : \"" + kSet + "\",\n\t\"k\":5, \"m\":70 }\n"}) {
    const Filter filter = must(imported(text(words), kJson, {}));
    CHECK(filter.shape().num_bits == 70);
    CHECK(filter.shape().num_probes == 5);
    const Bytes raw = exported(filter, form("raw", BitOrder::kLittle));
    CHECK(raw.front() == std::byte{0x01});
    CHECK(raw.back() == std::byte{0x20});
    check_refused(filter.exported_bytes(kJson), Code::kUnsupported, {"only read"});
  }
  for (const char* set : {"AAAAAAAAAAb__w==", "AAAAAAAAAAb//w=="})
    check_refused(imported(text(std::string("{\"m\":6,\"k\":5,\"b\":\"") + set + "\"}"), kJson, {}), Code::kBody,
                  {"has 2 bytes"});
}

TEST_CASE("JSON that is no filter is refused") {
  const auto bad = [](const std::string& words, Code code, const char* word) {
    check_refused(imported(text(words), kJson, {}), code, {word});
  };
  const std::string set = "\"b\":\"" + kSet + "\"";
  bad("", Code::kTooShort, "ends after 0 bytes");
  bad("[1]", Code::kMagic, "begin with {");
  for (const std::string& words : std::vector<std::string>{
           "{", "{}", "{\"m\":70,\"k\":5}", "{\"m\":70,\"k\":5," + set, "{\"m\":70,\"k\":5," + set + "}x",
           "{\"m\":70,\"k\":5," + set + "}" + std::string("\0}", 2), "{\"m\":70,\"m\":70," + set + "}",
           "{\"m\":70,\"k\":5," + set + ",\"x\":1}", "{\"m\":-70,\"k\":5," + set + "}",
           "{\"m\":7e1,\"k\":5," + set + "}", "{\"m\":70,\"k\":5,\"b\":\"\\u0041\"}", "{\"m\":70,\"k\":5,\"b\":[]}"})
    bad(words, Code::kRecord, "not one object");
  bad("{\"m\":99999999999999999999,\"k\":5," + set + "}", Code::kBits, "m is 0");
  bad("{\"m\":070,\"k\":5," + set + "}", Code::kBits, "m is 0");
  bad("{\"m\":70,\"k\":0," + set + "}", Code::kProbes, "not from 1 to 64");
  bad("{\"m\":71,\"k\":5," + set + "}", Code::kBits, "bit set has 70");
  for (const char* b : {"A", "AAAA AAA", "AAA=AAAA", "AB==", "===="})
    bad(std::string("{\"m\":70,\"k\":5,\"b\":\"") + b + "\"}", Code::kRecord, "b is not base64");
  bad("{\"m\":70,\"k\":5,\"b\":\"AAAA\"}", Code::kRecord, "no bit set");
  bad("{\"m\":70,\"k\":5,\"b\":\"AAAAAAAAAEY=\"}", Code::kBody, "no words");
  bad("{\"m\":70,\"k\":5,\"b\":\"AAAAAAAAAEYAAAAAAAAAAQ==\"}", Code::kBody, "has 8 bytes");
  const std::string whole = "{\"m\":70,\"k\":5," + set + "}";
  for (std::size_t size = 1; size < whole.size(); ++size) bad(whole.substr(0, size), Code::kRecord, "not one object");
}
