// What WriteTo() of the Go module bits-and-blooms/bloom writes (MarshalBinary() and gob, too): m, k, and the length of
// the bit set, then the set's words, all of 64 bits and big-endian. Bit i is bit i mod 64 of word i / 64.
// hash/bits_and_blooms.cpp has the positions of its keys. And what its MarshalJSON() writes:
// {"m":9586,"k":7,"b":"..."}, where b is the bit set with its length as above, in base64.
#include <array>
#include <charconv>

#include "interop/header.hpp"
#include "interop/json.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kBitsAndBlooms};
constexpr std::size_t kHeaderBytes = 24;
constexpr Limits kLimits{.kind = "a filter that bits-and-blooms wrote"};

Result<Told> read_bits_and_blooms(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  if (first.size() < kHeaderBytes) return ends_within(kLimits, first.size());
  Fields fields(first);
  Told told{.hash = Hash::kBitsAndBlooms, .offset = kHeaderBytes, .turn = kBigEndianWords};
  told.num_bits = fields.big<std::uint64_t>();
  const auto num_probes = fields.big<std::uint64_t>();
  const auto length = fields.big<std::uint64_t>();
  if (Error error = check_numbers(kLimits, told.num_bits, num_probes); !error.ok()) return error;
  // FromWithM() has whole words.
  if (length < told.num_bits || length > 8 * told.turn.bytes(told.num_bits)) {
    return not_of_kind(
        Code::kBits, kLimits,
        "m is " + std::to_string(told.num_bits) + ", and its bit set has " + std::to_string(length) + " bits");
  }
  told.num_probes = static_cast<std::uint32_t>(num_probes);
  return told;
}

Result<Outline> write_bits_and_blooms(const Saying& filter, const ForeignForm& /*form*/) {
  FieldsWriter head;
  head.big(filter.shape.num_bits).big(std::uint64_t{filter.shape.num_probes}).big(filter.shape.num_bits);
  return Outline{.head = head.take(), .turn = kBigEndianWords};
}

constexpr Limits kJsonLimits{.kind = "a filter that bits-and-blooms wrote as JSON"};
constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

Result<std::string> text_of(const Source& source) {
  std::byte first{};
  if (source.size() == 0) return ends_within(kJsonLimits, 0);
  if (Error error = source.read({&first, 1}, 0); !error.ok()) return error;
  if (first != std::byte{'{'}) return not_of_kind(Code::kMagic, kJsonLimits, "it does not begin with {");
  if (source.size() > kMostText)
    return base::fail(Code::kUnsupported, "is a text of more than 1 GiB. Write the filter with WriteTo().");
  std::string text(static_cast<std::size_t>(source.size()), '\0');
  if (Error error = source.read(std::as_writable_bytes(std::span(text)), 0); !error.ok()) return error;
  return text;
}

// 0 if the digits are of no number of 64 bits, or have a 0 before them.
std::uint64_t number_of(std::string_view digits) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && digits.front() != '0' ? number : 0;
}

// Makes of the text what WriteTo() would have written.
Result<std::vector<std::byte>> binary_of(std::string_view text) {
  const auto values = FlatJson::read(text);
  if (!values || values->size() != 3 || !values->contains("m") || !values->contains("k") || !values->contains("b"))
    return not_of_kind(Code::kRecord, kJsonLimits, "it is not one object with m, k and b");
  const auto set = decode_base64(values->at("b"));
  if (!set) return not_of_kind(Code::kRecord, kJsonLimits, "b is not base64");
  if (set->size() < kLengthBytes) return not_of_kind(Code::kRecord, kJsonLimits, "b has no bit set");
  FieldsWriter head;
  head.big(number_of(values->at("m"))).big(number_of(values->at("k")));
  std::vector<std::byte> binary = head.take();
  binary.insert(binary.end(), set->begin(), set->end());
  return binary;
}

Result<std::vector<Told>> find_json(const Source& source, const ForeignForm& form) {
  const auto text = text_of(source);
  if (!text) return text.error();
  const auto binary = binary_of(*text);
  if (!binary) return binary.error();
  auto told = read_bits_and_blooms(*binary, form);
  if (!told) return told.error();
  told->decoded.assign(binary->begin() + kHeaderBytes, binary->end());
  if (told->decoded.empty()) return not_of_kind(Code::kBody, kJsonLimits, "its bit set has no words");
  return std::vector{std::move(*told)};
}

}  // namespace

constinit const Row kBitsAndBloomsRow{.info = {.name = "bits-and-blooms",
                                               .about = "what WriteTo() of Go's bits-and-blooms/bloom writes",
                                               .hashes = kHashes,
                                               .keys = "bytes"},
                                      .read = read_bits_and_blooms,
                                      .write = write_bits_and_blooms};
constinit const Row kBitsAndBloomsJsonRow{.info = {.name = "bits-and-blooms-json",
                                                   .about = "what MarshalJSON() of Go's bits-and-blooms/bloom writes",
                                                   .hashes = kHashes,
                                                   .keys = "bytes"},
                                          .read = nullptr,
                                          .write = nullptr,
                                          .find = find_json,
                                          .written = "bits-and-blooms"};

}  // namespace bfstore::interop
