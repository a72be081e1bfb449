// A layout that is only in this program's table: its row alone decides its name, its size, what it cannot do, and that
// it answers "maybe" where a file is damaged. This program's table replaces src/layout/table.cpp.
#include <bfstore/inline.hpp>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/bytes.hpp"
#include "format/identity.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "layout/table.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace bfstore::layout {
namespace {

// A static filter of the digests' lowest bits: it is built, and no keys are added. An answer is bit number
// `digest mod m`.
constexpr auto kMadeUp = static_cast<Layout>(40000);
constexpr std::uint64_t kUnitBits = 24576;  // 3 KiB, a unit that no other layout has

bool bit_at(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  return test_bit(words, digest % geometry.range);
}

std::int32_t ask_one(const Target& target, std::uint64_t digest) noexcept {
  const bool set = bit_at(target.words, target.geometry, digest);
  return set || in_doubt(target.sentinel) ? 1 : 0;
}

std::size_t ask_step(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                     std::uint8_t* answers) noexcept {
  std::size_t maybes = 0;
  for (std::size_t i = 0; i < step.num_now; ++i) maybes += answers[i] = bit_at(words, geometry, step.now[i]) ? 1 : 0;
  return maybes;
}

constexpr Functions kScalar{"scalar", {ask_one, ask_step}, {}, {}};

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits, num_probes};
}
double fill_after(double keys, double bits, double) noexcept { return std::min(1.0, keys / bits); }
void take(Tally& tally, const Geometry&, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  tally.set_bits += count_bits(words, 0, num_words * 64);
}
Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  fill.estimated_keys = static_cast<double>(tally.set_bits);
  fill.estimated_fpr = fill.fill_ratio;
  return fill;
}

bool loses_a_key = false;

// A part is half of the digests, and none of the bits.
unsigned part_bits(const Geometry&) noexcept { return 1; }

Error build(std::uint64_t* words, const Geometry& geometry, std::uint64_t part,
            std::span<const std::uint64_t> digests) {
  const auto is_other = [part](std::uint64_t digest) { return digest >> 63 != part; };
  if (std::any_of(digests.begin(), digests.end(), is_other)) return {Code::kInternal, 0, "of another part"};
  if (!std::is_sorted(digests.begin(), digests.end(), std::less_equal<>()))
    return {Code::kInternal, 0, "not ascending"};
  for (const std::uint64_t digest : digests.subspan(loses_a_key ? 1 : 0)) {
    const std::uint64_t bit = digest % geometry.range;
    words[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  return {};
}

constexpr Row kMadeUpRow{
    .info = {kMadeUp, "made-up", {.build = true}},
    .in_lines = false,
    .inlined = false,
    .unit_bits = kUnitBits,
    .body_unit = kUnitBits,
    .fewest_bits = kUnitBits,
    .least_rate = 1e-9,
    .geometry = geometry,
    .rate = fill_after,
    .expected_fill = fill_after,
    .part_bits = part_bits,
    .build = build,
    .take = take,
    .fill = fill,
    .scalar = &kScalar,
    .kernels = {},
};

}  // namespace

std::span<const Row* const> rows() noexcept {
  static constexpr std::array kRows{&kBlockedRow, &kClassicRow, &kCountingRow, &kMadeUpRow};
  return kRows;
}

}  // namespace bfstore::layout

namespace {

using layout::kMadeUp;
using layout::kUnitBits;

constexpr std::uint64_t kPresent = 12345;
constexpr std::uint64_t kAbsent = 12346;

format::Identity identity_of(format::Form form) {
  format::Identity identity;
  identity.form = form;
  identity.shape = {kMadeUp, Hash::kExternal, 1, kUnitBits, 100, 0.01, 0};
  identity.header_bytes = format::header_bytes_for(form, {});
  identity.body_bytes = kUnitBits / 8;
  identity.body_offset =
      form == format::Form::kEmbedded ? identity.header_bytes : format::body_offset_in_file(identity.body_bytes);
  identity.file_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  return identity;
}

// Makes the bytes that a builder of such filters would make: the identity, the body with one key in it, the end word.
std::vector<std::byte> built() {
  const format::Identity identity = identity_of(format::Form::kEmbedded);
  const format::Sections sections = format::sections_of(identity);
  std::vector<std::byte> bytes(sections.end);
  const auto record = format::encode_identity(identity);
  std::memcpy(bytes.data(), record.data(), record.size());
  bytes[identity.body_offset + kPresent / 8] = static_cast<std::byte>(1U << kPresent % 8);
  base::store(bytes.data() + sections.end_word.offset, format::end_word(identity.file_id));
  return bytes;
}

// A buffer's address must be a multiple of 64.
struct Aligned {
  explicit Aligned(const std::vector<std::byte>& content) : bytes(content.size() + 64) {
    auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    begin = bytes.data() + (64 - address % 64) % 64;
    size = content.size();
    std::memcpy(begin, content.data(), size);
  }
  [[nodiscard]] std::span<std::byte> all() const { return {begin, size}; }

  std::vector<std::byte> bytes;
  std::byte* begin = nullptr;
  std::size_t size = 0;
};

Options made_up_options() {
  Options options;
  options.layout = kMadeUp;
  options.hash = Hash::kExternal;
  options.capacity = 100;
  options.num_bits = kUnitBits - 7;
  options.num_probes = 1;
  return options;
}

}  // namespace

TEST_CASE("a made-up layout has its name and abilities, and the error for a wrong name lists it") {
  REQUIRE(layout_named("made-up").has_value());
  CHECK(layout_named("made-up")->layout == kMadeUp);
  CHECK_FALSE(layout_of(kMadeUp)->can.add);
  CHECK(layouts().size() == 4);
  CHECK_FALSE(layout_of(static_cast<Layout>(40001)).has_value());
  Options options = made_up_options();
  options.layout = static_cast<Layout>(40001);
  const auto refused = Filter::required_bytes(options);
  REQUIRE(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("made-up") != std::string::npos);
}

TEST_CASE("a made-up layout has the size that its row says") {
  const std::uint64_t header = format::header_bytes_for(format::Form::kEmbedded, {});
  CHECK(must(Filter::required_bytes(made_up_options())) == header + kUnitBits / 8 + format::kEndWordBytes);
}

TEST_CASE("a made-up layout is planned as its row says") {
  PlanRequest request;
  request.layout = kMadeUp;
  request.num_bits = kUnitBits - 7;
  request.fpr = 0.25;
  const Plan planned = must(plan(request));
  CHECK(planned.layout.layout == kMadeUp);
  CHECK(planned.capacity == kUnitBits / 4);
  CHECK(planned.fpr == 0.25);
  CHECK(planned.body_bytes == kUnitBits / 8);
}

TEST_CASE("a made-up layout that takes no keys is not made, not opened for adding, and no file is left") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("made-up.bf");
  const auto created = Filter::create(path, made_up_options());
  REQUIRE_FALSE(created.ok());
  CHECK(created.error().code == Code::kUnsupported);
  CHECK(created.error().message.find("made-up") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path));
  const Aligned buffer(built());
  CHECK(Filter::wrap(buffer.all()).error().code == Code::kUnsupported);
  std::vector<std::byte> empty(buffer.size);
  CHECK(Filter::format(Aligned(empty).all(), made_up_options()).error().code == Code::kUnsupported);
}

TEST_CASE("a made-up layout is built of all its keys, copied and sealed") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("made-up.bf");
  const std::vector<std::uint64_t> digests{kPresent, 7, kPresent, 99};
  Options options = made_up_options();
  CHECK(Filter::build(path, options, Keys::digests(digests)).ok());
  CHECK(Filter::build(path, options, Keys::digests(digests)).error().code == Code::kExists);
  options.replace = true;
  CHECK(Filter::build(path, options, Keys::digests(digests)).ok());
  CHECK(must(Filter::open(path, OpenMode::kRead)).save(directory.file("copy")).ok());
  CHECK(seal(path, directory.file("sealed")).ok());
  for (const std::string& each : {path, directory.file("copy"), directory.file("sealed")}) {
    const Filter filter = must(Filter::open(each, OpenMode::kRead));
    for (const std::uint64_t digest : digests) CHECK(filter.contains_digest(digest));
    CHECK_FALSE(filter.contains_digest(kAbsent));
    CHECK(filter.stats().keys_added == 3);
    CHECK(Filter::open(each, OpenMode::kWrite).error().code == Code::kSealed);
  }
}

TEST_CASE("a build that loses a key makes no file") {
  const TemporaryDirectory directory;
  const std::vector<std::uint64_t> digests{1, 2, 3};
  layout::loses_a_key = true;
  CHECK(Filter::build(directory.file("made-up.bf"), made_up_options(), Keys::digests(digests)).error().code ==
        Code::kInternal);
  layout::loses_a_key = false;
  CHECK(directory.entries() == 0);
}

TEST_CASE("a made-up layout answers one by one, inlined and in batches, and says what is in it") {
  const Aligned buffer(built());
  const Filter filter = must(Filter::wrap_to_read(std::span<const std::byte>(buffer.all())));
  CHECK(filter.shape().layout == kMadeUp);
  CHECK(filter.contains_digest(kPresent));
  CHECK_FALSE(filter.contains_digest(kAbsent));
  CHECK(filter.lookup().contains_digest(kPresent));
  CHECK_FALSE(filter.lookup().contains_digest(kAbsent));
  const std::vector<std::uint64_t> digests{kAbsent, kPresent, kAbsent + 1};
  std::vector<std::uint8_t> answers(3, 9);
  CHECK(filter.contains_keys(Keys::digests(digests), answers).keys() == 1);
  CHECK(answers == std::vector<std::uint8_t>{0, 1, 0});
  const Fill fill = *filter.stats({.fill = true}).fill;
  CHECK(fill.set_bits == 1);
  CHECK(fill.estimated_keys == 1);
}

TEST_CASE("a made-up layout that says nothing of sets is neither intersected nor compared, and its keys are counted") {
  const TemporaryDirectory directory;
  const Aligned buffer(built());
  const Filter filter = must(Filter::wrap_to_read(std::span<const std::byte>(buffer.all())));
  const Filter* const both[] = {&filter, &filter};
  check_refused(Filter::intersect(both, directory.file("both")), Code::kUnsupported, {"have no intersection"});
  check_refused(filter.compare(filter), Code::kUnsupported, {"cannot be compared"});
  CHECK(directory.entries() == 0);
  Options options;
  options.hash = Hash::kExternal;
  options.capacity = 100;
  const InMemory other = InMemory::make(options);
  const Comparison found = must(filter.compare(other.filter));
  CHECK(found.differ.layout);
  CHECK_FALSE(found.comparable);
  CHECK(found.keys_a.estimate == 1);
}

TEST_CASE("a made-up layout's filter that is damaged while it is open answers maybe") {
  for (const std::size_t word : {std::size_t{0}, std::size_t{1}}) {
    const Aligned buffer(built());
    const Filter filter = must(Filter::wrap_to_read(std::span<const std::byte>(buffer.all())));
    const format::Sections sections = format::sections_of(identity_of(format::Form::kEmbedded));
    const std::uint64_t at = word == 0 ? sections.identity_checksum.offset : sections.end_word.offset;
    std::memset(buffer.begin + at, 0, 8);
    CHECK(filter.health() == Code::kLost);
    CHECK(filter.contains_digest(kAbsent));
    CHECK(filter.lookup().contains_digest(kAbsent));
    const std::vector<std::uint64_t> digests{kAbsent, kPresent};
    std::vector<std::uint8_t> answers(2, 9);
    CHECK(filter.contains_keys(Keys::digests(digests), answers).keys() == 2);
    CHECK(answers == std::vector<std::uint8_t>{1, 1});
  }
}
