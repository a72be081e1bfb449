// The rules for every format: it is found by its name alone, says what it needs, refuses options that its bytes already
// say, and makes a whole file or none.
#include <set>

#include "foreign.hpp"
#include "interop/interop.hpp"

using namespace foreign;

namespace {

Options raw_options() {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = 124;
  options.num_probes = 4;
  return options;
}

const ForeignForm kRaw = form("raw", BitOrder::kLittle);

// A later format: first m and k, then words in the other byte order, then seeds, and no n.
constexpr interop::Turn kSwapped = interop::kBigEndianWords;

constexpr std::size_t kHead = 2, kTail = 4;

Result<interop::Told> read_later(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  if (first.size() < kHead) return Error{Code::kTooShort, 0, "ends within its header."};
  const auto number = [&](std::size_t at) { return static_cast<std::uint64_t>(first[at]); };
  return interop::Told{.hash = Hash::kMurmur3,
                       .num_bits = 64 * number(0),
                       .num_probes = static_cast<std::uint32_t>(number(1)),
                       .seeds = {7, 9},
                       .offset = kHead,
                       .tail_bytes = kTail,
                       .turn = kSwapped};
}

Result<interop::Outline> write_later(const interop::Saying& filter, const ForeignForm& /*form*/) {
  if (filter.seeds.size() != 2) return Error{Code::kUnsupported, 0, "has other seeds."};
  return interop::Outline{.head = {static_cast<std::byte>(filter.shape.num_bits / 64), std::byte{2}},
                          .tail = {std::byte{7}, std::byte{0}, std::byte{9}, std::byte{0}},
                          .turn = kSwapped};
}

constexpr std::array kLaterHashes{Hash::kMurmur3};
const interop::Row kLater{
    .info = {.name = "later", .about = "of a test", .hashes = kLaterHashes}, .read = read_later, .write = write_later};

}  // namespace

TEST_CASE("each format is found by its name, and no other name is one") {
  std::set<std::string> names;
  for (const ForeignFormat& format : foreign_formats()) {
    CHECK(foreign_format_name(names.size()) == std::string(format.name));
    CHECK(names.insert(format.name).second);
    REQUIRE(foreign_format_named(format.name));
    CHECK(foreign_format_named(format.name)->needs_size == format.needs_size);
    CHECK(std::string(format.about) != "");
  }
  for (const char* name :
       {"raw", "bip37", "bits-and-blooms", "bits-and-blooms-json", "dcso", "guava", "redisbloom", "java-bytes",
        "jaybird", "jaybird-scalable", "leveldb", "libbloom", "parquet", "pybloomfilter", "rbloom", "rocksdb", "sbbf"})
    CHECK(names.count(name) == 1);
  CHECK(foreign_format_name(names.size()) == nullptr);
  CHECK(foreign_format_name(SIZE_MAX) == nullptr);
  for (const char* name : {"", "Raw", "raw ", "jaybir", "pickle"}) {
    CHECK_FALSE(foreign_format_named(name));
    check_refused(inspect_foreign({}, form(name)), Code::kInvalid, {"not a foreign format", "Give raw or"});
    check_refused(imported({}, form(name), raw_options()), Code::kInvalid, {"not a foreign format"});
  }
}

TEST_CASE("an imported file appears whole under its name and only reads, and an unpublished one adds first") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("f");
  Bytes bits(16);
  bits[3] = std::byte{0x11};
  Filter made = must(Filter::import_foreign(path, bits, kRaw, raw_options()));
  CHECK(directory.entries() == 1);
  CHECK(made.add("key").code() == Code::kReadOnly);
  CHECK(exported(made, kRaw) == bits);
  must(made.close());
  CHECK(exported(must(Filter::open(path, OpenMode::kWrite)), kRaw) == bits);

  check_refused(Filter::import_foreign(path, bits, kRaw, raw_options()), Code::kExists, {path.c_str()});
  Filter other = must(Filter::import_foreign(directory.file("g"), bits, kRaw, unpublished(raw_options())));
  CHECK(directory.entries() == 1);
  CHECK(other.add("key").ok());
  must(other.publish());
  CHECK(directory.entries() == 2);
  CHECK(other.contains("key"));
}

TEST_CASE("bytes that are refused make no file, whatever they ask for") {
  const TemporaryDirectory directory;
  Options vast = raw_options();
  vast.num_bits = std::uint64_t{1} << 32;
  check_refused(Filter::import_foreign(directory.file("f"), Bytes(16), kRaw, vast), Code::kInvalid,
                {"the foreign filter: has 16 bytes", "exactly 536870912 bytes"});
  CHECK(directory.entries() == 0);
  Options filling = raw_options();
  filling.filling = true;
  check_refused(Filter::import_foreign(directory.file("f"), Bytes(16), kRaw, filling), Code::kInvalid, {"filling"});
  CHECK(directory.entries() == 0);
}

TEST_CASE("messages name the bytes as the caller does") {
  ForeignForm named = kRaw;
  named.name = "words.bits";
  check_refused(imported(Bytes(15), named, raw_options()), Code::kInvalid, {"words.bits: has 15 bytes"});
  named.format = "jaybird";
  named.order.reset();
  check_refused(inspect_foreign(Bytes(39), named), Code::kTooShort, {"words.bits: ends after 39 bytes"});
}

TEST_CASE("an export of any format that fails says maybe, and one that fits leaves the rest of the buffer alone") {
  Filter filter = must(imported(Bytes(16), kRaw, raw_options()));
  Bytes buffer(20, std::byte{0x5a});
  std::uint64_t bytes = 0;
  must(filter.export_foreign(buffer, kRaw, &bytes));
  CHECK(bytes == 16);
  CHECK(std::count(buffer.begin(), buffer.end(), std::byte{0x5a}) == 4);
  CHECK(std::count(buffer.begin(), buffer.end(), std::byte{0}) == 16);
  for (const ForeignForm& wrong : {form("raw"), form("none"), form("jaybird"), form("raw", static_cast<BitOrder>(3))}) {
    buffer.assign(20, std::byte{0});
    CHECK_FALSE(filter.export_foreign(buffer, wrong).ok());
    CHECK(buffer == Bytes(20, std::byte{0xff}));
    CHECK_FALSE(filter.exported_bytes(wrong).ok());
  }
  Bytes small(15);
  bytes = 0;
  check_refused(filter.export_foreign(small, kRaw, &bytes), Code::kInvalid, {"needs 16 bytes", "has 15"});
  CHECK(bytes == 16);
  CHECK(small == Bytes(15, std::byte{0xff}));
}

TEST_CASE("a later format is one more row: it gives m, k and seeds, leaves n to the caller, and is exported, too") {
  const ForeignForm as = form("later");
  const Bytes bytes = of_hex(
      "0202"
      "0000000000000001"
      "8000000000000000"
      "07000900");
  check_refused(interop::read(kLater, std::span(bytes).first(1), as), Code::kTooShort, {"the foreign filter: ends"});
  const interop::Told told = must(interop::read(kLater, std::span(bytes).first(kHead), as));
  Options options;
  options.capacity = 30;
  must(interop::complete(kLater, told, as, options));
  CHECK(options.capacity == 30);
  CHECK(options.num_bits == 128);
  CHECK(options.num_probes == 2);
  CHECK(options.seeds == std::vector<std::uint32_t>{7, 9});
  CHECK(options.layout == Layout::kClassic);
  CHECK(options.hash == Hash::kMurmur3);
  const interop::Array array = must(interop::array_in(kLater, told, bytes, 128, as));
  CHECK(array.word(0) == 1);
  CHECK(array.word(1) == std::uint64_t{1} << 63);
  check_refused(interop::array_in(kLater, told, std::span(bytes).first(21), 128, as), Code::kBody,
                {"exactly 22 bytes"});
  Options sized;
  sized.num_bits = 128;
  check_refused(interop::complete(kLater, told, as, sized), Code::kInvalid, {"tells its size"});
  Options seeded;
  seeded.seeds = {7, 9};
  check_refused(interop::complete(kLater, told, as, seeded), Code::kInvalid, {"tells its size"});

  const InMemory made = InMemory::make(options);
  const Filter& filter = made.filter;
  const interop::Saying saying{filter.shape(), filter.seeds(), 0};
  const interop::Outline outline = must(interop::outline_of(kLater, saying, as, "f"));
  CHECK(outline.bytes(128) == bytes.size());
  CHECK(std::equal(outline.head.begin(), outline.head.end(), bytes.begin()));
  CHECK(std::equal(outline.tail.begin(), outline.tail.end(), bytes.end() - kTail));
  check_refused(interop::outline_of(kLater, {filter.shape(), {}, 0}, as, "f"), Code::kUnsupported,
                {"f: has other seeds"});
}

TEST_CASE("a word of an array turns as its format says, and its last one may be cut") {
  const Bytes bytes = of_hex(
      "0000000000000001"
      "8000000000000000");
  const interop::Array array(bytes, kSwapped);
  CHECK(array.num_words() == 2);
  CHECK(array.word(0) == 1);
  CHECK(array.word(1) == std::uint64_t{1} << 63);
  CHECK_FALSE(array.has_spare_bits(128));
  CHECK(array.has_spare_bits(127));
  Bytes out(16);
  interop::put_word(out, 0, array.word(0), kSwapped);
  interop::put_word(out, 1, array.word(1), kSwapped);
  CHECK(out == bytes);
  const interop::Array cut(std::span<const std::byte>(bytes).first(9), interop::kAsItIs);
  CHECK(cut.word(1) == 0x80);
  Bytes small(9);
  interop::put_word(small, 1, 0x1234, interop::kAsItIs);
  CHECK(small[8] == std::byte{0x34});
}
