// The bytes of pybloomfiltermmap3, libbloom, rbloom, LevelDB, RocksDB and of a tutorial in Java: what is imported is
// exported as the same bytes, and hostile bytes are refused. originals_test.cpp has files that those programs made.
#include <bfstore/plan.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "base/bytes.hpp"
#include "foreign.hpp"

using namespace foreign;

namespace {

struct Program {
  const char* format;
  Hash hash;
  std::size_t head;
  std::size_t tail;
  std::uint32_t num_probes;
};

constexpr Program kPrograms[] = {
    {"pybloomfilter", Hash::kPybloomfilter, 1280, 0, 6},
    {"libbloom", Hash::kLibbloom, 75, 0, 7},
    {"rbloom", Hash::kRbloom, 8, 0, 5},
    {"leveldb", Hash::kLevelDb, 0, 1, 6},
    {"rocksdb", Hash::kRocksDb, 0, 5, 6},
    {"java-bytes", Hash::kJavaBytes, 0, 0, 8},
    {"sbbf", Hash::kParquet, 16, 0, 8},
};

Options options_of(const Program& program) {
  Options options;
  options.hash = program.hash;
  if (program.hash == Hash::kPybloomfilter) options.seeds = {5, 0xffffffff, 7, 0, 1, 0x80000000};
  options.num_bits = 512 * 20;
  options.num_probes = program.num_probes;
  options.capacity = 1000;
  return options;
}

// The caller says what the bytes do not: the hash function of rbloom.
Options told(const Program& program) {
  Options options;
  if (program.hash == Hash::kRbloom) options.hash = program.hash;
  return options;
}

const Program& program_of(std::string_view format) {
  return *std::find_if(std::begin(kPrograms), std::end(kPrograms),
                       [&](const Program& program) { return program.format == format; });
}

Bytes bytes_of(const Program& program) {
  InMemory made = InMemory::make(options_of(program));
  for (int i = 0; i < 500; ++i) CHECK(made.filter.add("key " + std::to_string(i)).ok());
  return exported(made.filter, form(program.format));
}

void refused(const char* format, const Bytes& bytes, Code code, std::initializer_list<const char*> words) {
  CAPTURE(format);
  check_refused(imported(bytes, form(format), told(program_of(format))), code, words);
}

void put_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

template <class Number>
Bytes changed(Bytes bytes, std::size_t at, Number number) {
  base::store(bytes.data() + at, number);
  return bytes;
}

Bytes changed(Bytes bytes, std::size_t at, double number) {
  return changed(std::move(bytes), at, std::bit_cast<std::uint64_t>(number));
}

Bytes cut(Bytes bytes, std::size_t length) {
  bytes.resize(length);
  return bytes;
}

}  // namespace

TEST_CASE("bytes of every program become a filter with its keys, and the same bytes again") {
  for (const Program& program : kPrograms) {
    CAPTURE(program.format);
    const Bytes bytes = bytes_of(program);
    CHECK(bytes.size() == program.head + 64 * 20 + program.tail);
    Filter filter = must(imported(bytes, form(program.format), told(program)));
    CHECK(filter.shape().hash == program.hash);
    CHECK(filter.shape().num_bits == 512 * 20);
    CHECK(filter.shape().num_probes == program.num_probes);
    for (int i = 0; i < 500; ++i) REQUIRE(filter.contains("key " + std::to_string(i)));
    CHECK_FALSE(filter.contains("absent"));
    if (!foreign_format_named(program.format)->tells_capacity) CHECK(exported(filter, form(program.format)) == bytes);
    CHECK(inspect_foreign(bytes, form(program.format))->num_bits == 512 * 20);
    check_refused(inspected(bytes, form(program.format), options_of(program)), Code::kInvalid, {"tells its size"});
  }
}

TEST_CASE("m and k of a capacity and a rate are the program's own, and a file of them is exported as it was") {
  struct Sized {
    const char* format;
    std::uint64_t capacity;
    double fpr;
    std::uint64_t num_bits;
    std::uint32_t num_probes;
  };
  // As BloomFilter(n, p).num_bits and bloom_init2() have them.
  for (const Sized& sized : {Sized{"pybloomfilter", 1000, 0.01, 9592, 6}, Sized{"pybloomfilter", 777, 0.03, 5680, 5},
                             Sized{"pybloomfilter", 1, 0.5, 128, 1}, Sized{"libbloom", 1000, 0.01, 9585, 7},
                             Sized{"libbloom", 1000, 0.005, 11027, 8}}) {
    CAPTURE(sized.format);
    const Program& program = program_of(sized.format);
    Options options;
    options.hash = program.hash;
    options.capacity = sized.capacity;
    options.fpr = sized.fpr;
    if (program.hash == Hash::kPybloomfilter) options.seeds.assign(sized.num_probes, 9);
    InMemory made = InMemory::make(options);
    CHECK(made.filter.shape().num_bits == sized.num_bits);
    CHECK(made.filter.shape().num_probes == sized.num_probes);
    CHECK(made.filter.shape().fpr == sized.fpr);
    const Bytes bytes = exported(made.filter, form(sized.format));
    const Filter again = must(imported(bytes, form(sized.format), {}));
    CHECK(again.shape().capacity == sized.capacity);
    CHECK(again.shape().fpr == sized.fpr);
    CHECK(exported(again, form(sized.format)) == bytes);
  }
}

TEST_CASE("no length of bytes but the right one is a filter") {
  for (const Program& program : kPrograms) {
    CAPTURE(program.format);
    const Bytes bytes = bytes_of(program);
    const bool any_length = program.hash == Hash::kJavaBytes || program.hash == Hash::kRbloom;
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, program.head, bytes.size() - 1, bytes.size() + 1}) {
      if (any_length && length > program.head) continue;
      if (program.hash == Hash::kLevelDb && length > 1) continue;  // any bytes but for the last one are a filter
      CHECK_FALSE(imported(cut(bytes, length), form(program.format), told(program)).ok());
    }
  }
}

TEST_CASE("hostile headers of pybloomfiltermmap3 are refused") {
  const Bytes good = bytes_of(program_of("pybloomfilter"));
  const auto refuse = [](const Bytes& bytes, Code code, const char* word) {
    refused("pybloomfilter", bytes, code, {word});
  };
  refuse(changed(good, 0, std::uint8_t{'m'}), Code::kMagic, "MBITARRAY");
  refuse(cut(good, 1279), Code::kTooShort, "ends after 1279 bytes");
  refuse(changed(good, 9, std::uint64_t{0}), Code::kBits, "m is 0");
  refuse(changed(good, 9, std::uint64_t{UINT64_MAX}), Code::kBits, "18446744073709551615");
  refuse(changed(good, 9, std::uint64_t{1} << 48), Code::kBody, "exactly");
  refuse(changed(good, 9, std::uint64_t{512 * 20 + 1}), Code::kBits, "multiple of 8");
  refuse(changed(good, 17, std::uint32_t{1201}), Code::kHeaderSize, "1201");
  refuse(changed(good, 21, std::uint64_t{0}), Code::kCapacity, "n is 0");
  refuse(changed(good, 21, std::uint64_t{1} << 63), Code::kCapacity, "n is 9223372036854775808");
  for (const double fpr : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()})
    refuse(changed(good, 29, fpr), Code::kCapacity, "p is not");
  refuse(changed(good, 37, std::uint32_t{0}), Code::kProbes, "k is 0");
  refuse(changed(good, 37, std::uint32_t{65}), Code::kProbes, "k is 65");
  refuse(changed(good, 21 + 1056, std::uint8_t{2}), Code::kVersion, "version");
}

TEST_CASE("hostile headers of libbloom are refused") {
  const Bytes good = bytes_of(program_of("libbloom"));
  const auto refuse = [](const Bytes& bytes, Code code, const char* word) { refused("libbloom", bytes, code, {word}); };
  refuse(changed(good, 8, std::uint8_t{'1'}), Code::kMagic, "libbloom2");
  refuse(cut(good, 74), Code::kTooShort, "ends after 74 bytes");
  refuse(changed(good, 9, std::uint16_t{40}), Code::kHeaderSize, "40");
  refuse(changed(good, 11, std::uint32_t{0}), Code::kCapacity, "n is 0");
  refuse(changed(good, 19, std::uint64_t{0}), Code::kBits, "m is 0");
  refuse(changed(good, 19, std::uint64_t{UINT64_MAX}), Code::kBits, "m is 18446744073709551615");
  refuse(changed(good, 27, std::uint64_t{1281}), Code::kBody, "bytes");
  refuse(changed(changed(good, 19, std::uint64_t{1} << 38), 27, std::uint64_t{1} << 35), Code::kBody, "exactly");
  refuse(changed(good, 35, std::uint8_t{0}), Code::kProbes, "k is 0");
  refuse(changed(good, 35, std::uint8_t{65}), Code::kProbes, "k is 65");
  refuse(changed(good, 43, std::numeric_limits<double>::infinity()), Code::kCapacity, "p is not");
  refuse(changed(good, 52, std::uint8_t{1}), Code::kVersion, "version");
}

TEST_CASE("rbloom's file does not tell its hash function, and other numbers of probes are refused") {
  const Bytes good = bytes_of(program_of("rbloom"));
  check_refused(imported(good, form("rbloom"), {}), Code::kInvalid, {"no hash given", "rbloom"});
  refused("rbloom", changed(good, 0, std::uint64_t{0}), Code::kProbes, {"k is 0"});
  refused("rbloom", changed(good, 0, std::uint64_t{1} << 32 | 5), Code::kProbes, {"k is 4294967301"});
  refused("rbloom", cut(good, 8), Code::kBits, {"m is 0"});
  refused("rbloom", cut(good, 7), Code::kTooShort, {"ends after 7 bytes"});
}

TEST_CASE("filters of LevelDB with a k that it does not make are refused") {
  const Bytes good = bytes_of(program_of("leveldb"));
  refused("leveldb", changed(good, good.size() - 1, std::uint8_t{0}), Code::kProbes, {"k is 0"});
  refused("leveldb", changed(good, good.size() - 1, std::uint8_t{31}), Code::kProbes, {"k is 31", "1 to 30"});
  refused("leveldb", cut(good, 1), Code::kTooShort, {"ends after 1 bytes"});
}

TEST_CASE("other filters of RocksDB are refused") {
  const Bytes good = bytes_of(program_of("rocksdb"));
  const std::size_t at = good.size() - 5;
  refused("rocksdb", changed(good, at, std::uint8_t{0xfe}), Code::kUnsupported, {"Ribbon"});
  refused("rocksdb", changed(good, at, std::uint8_t{6}), Code::kMagic, {"format_version"});
  refused("rocksdb", changed(good, at + 1, std::uint8_t{1}), Code::kFeature, {"later"});
  refused("rocksdb", changed(good, at + 2, std::uint8_t{0x26}), Code::kFeature, {"later"});
  refused("rocksdb", changed(good, at + 4, std::uint8_t{1}), Code::kFeature, {"later"});
  refused("rocksdb", changed(good, at + 2, std::uint8_t{0}), Code::kProbes, {"k is 0"});
  refused("rocksdb", changed(good, at + 2, std::uint8_t{31}), Code::kProbes, {"k is 31"});
  refused("rocksdb", Bytes(good.begin() + 1, good.end()), Code::kBits, {"multiple of 512"});
  refused("rocksdb", Bytes(good.end() - 5, good.end()), Code::kBits, {"m is 0"});
  refused("rocksdb", cut(good, 4), Code::kTooShort, {"ends after 4 bytes"});
}

TEST_CASE("a filter that a program cannot have is not written for it") {
  const auto not_written = [](const char* format, Options options, const char* word) {
    CAPTURE(format);
    options.hash = program_of(format).hash;
    const InMemory made = InMemory::make(options);
    check_refused(made.filter.exported_bytes(form(format)), Code::kUnsupported, {word});
  };
  Options odd;
  odd.num_bits = 1001;
  odd.num_probes = 1;
  odd.seeds = {1};
  not_written("pybloomfilter", odd, "multiple of 8");
  Options many;
  many.num_bits = 5120;
  many.num_probes = 31;
  not_written("leveldb", many, "at most 30");
  not_written("rocksdb", many, "at most 30");
  Options large;
  large.num_bits = 5120;
  large.num_probes = 3;
  large.capacity = std::uint64_t{1} << 32;
  not_written("libbloom", large, "2^32 - 1");
}

TEST_CASE("files are recognized that have a mark, and bytes that could be anything are not") {
  for (const Program& program : kPrograms) {
    CAPTURE(program.format);
    const TemporaryDirectory directory;
    const Bytes bytes = bytes_of(program);
    put_file(directory.file("f"), bytes);
    const auto names = must(recognize_foreign(directory.file("f"), {}));
    const bool has_mark = program.hash != Hash::kJavaBytes && program.hash != Hash::kLevelDb;
    CHECK(std::count(names.begin(), names.end(), std::string_view(program.format)) == (has_mark ? 1 : 0));
    CHECK(names.size() == (has_mark ? 1 : 0));
  }
}

TEST_CASE(
    "the rates and the numbers of keys of lines and of split blocks are those that are measured, and not Bloom's") {
  constexpr std::uint64_t kBits = std::uint64_t{1} << 20, kKeys = kBits / 8, kAbsent = 1'000'000;
  for (const char* const format : {"rocksdb", "sbbf"}) {
    CAPTURE(format);
    Options options = options_of(program_of(format));
    options.num_bits = kBits;
    options.capacity = kKeys;
    InMemory made = InMemory::make(options);
    for (std::uint64_t i = 0; i < kKeys; ++i) REQUIRE(made.filter.add("key " + std::to_string(i)).ok());
    std::uint64_t maybes = 0;
    for (std::uint64_t i = 0; i < kAbsent; ++i) maybes += made.filter.contains("absent " + std::to_string(i)) ? 1U : 0U;
    const double measured = static_cast<double>(maybes) / static_cast<double>(kAbsent);
    const auto is_measured = [&](double rate) { CHECK(rate == doctest::Approx(measured).epsilon(0.02)); };
    const double probes = options.num_probes;
    CHECK(std::pow(1 - std::exp(-probes / 8), probes) < 0.95 * measured);
    is_measured(made.filter.shape().fpr);
    PlanRequest request;
    request.layout = Layout::kClassic;
    request.hash = *options.hash;
    request.capacity = kKeys;
    request.num_bits = kBits;
    request.num_probes = options.num_probes;
    const Plan planned = must(plan(request));
    is_measured(planned.fpr);

    const Bytes bytes = exported(made.filter, form(format));
    const TemporaryDirectory directory;
    std::ofstream(directory.file("there"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const Filter there =
        must(Filter::open_foreign(directory.file("there"), form(format), {}, {.any_filesystem = true}));
    const Filter file = must(imported(bytes, form(format), {}));
    for (const Filter* const filter : {&std::as_const(made.filter), &there, &file}) {
      const Fill fill = *filter->stats({.fill = true}).fill;
      is_measured(fill.estimated_fpr);
      CHECK(fill.estimated_keys == doctest::Approx(kKeys).epsilon(0.005));
      CHECK(fill.estimated_keys_low < kKeys);
      CHECK(fill.estimated_keys_high > kKeys);
      CHECK(fill.estimated_keys_high < 1.02 * kKeys);
      CHECK(fill.fill_ratio == doctest::Approx(planned.fill_ratio).epsilon(0.005));
    }
    CHECK(static_cast<double>(file.stats().keys_added) == doctest::Approx(kKeys).epsilon(0.005));
  }
}

TEST_CASE("a hash with only one k takes a capacity, and the rate, bits or keys that follow are those of that k") {
  constexpr std::uint64_t kKeys = 100'000;
  for (const Hash hash : {Hash::kJavaBytes, Hash::kParquet}) {
    CAPTURE(hash);
    const auto made = [hash](const Options& size) {
      Options options = size;
      options.hash = hash;
      return InMemory::make(options).filter.shape();
    };
    const auto planned = [hash](PlanRequest request) {
      request.layout = Layout::kClassic;
      request.hash = hash;
      return must(plan(request));
    };
    const auto rate_of = [&](const Shape& shape) {
      return planned({.capacity = kKeys, .num_bits = shape.num_bits, .num_probes = 8}).fpr;
    };
    for (const double fpr : {0.0, 0.05, 0.001}) {  // the best k of the first two is smaller
      CAPTURE(fpr);
      const double wanted = fpr == 0 ? 0.01 : fpr;
      const Shape shape = made({.capacity = kKeys, .fpr = fpr});
      CHECK(shape.num_probes == 8);
      CHECK(shape.fpr == wanted);
      CHECK(rate_of(shape) <= wanted);
      CHECK(rate_of(shape) > 0.99 * wanted);
      const Plan same = planned({.capacity = kKeys, .fpr = fpr});
      CHECK(same.num_bits == shape.num_bits);
      CHECK(same.num_probes == 8);
      CHECK_FALSE(same.layout.can.fold);
      CHECK(planned({.fpr = wanted, .num_bits = shape.num_bits}).capacity >= kKeys);
    }
    const Shape shape = made({.capacity = kKeys, .bits_per_key = 25.6});
    CHECK(shape.num_bits == 2'560'000);
    CHECK(shape.fpr == rate_of(shape));
    CHECK(planned({.capacity = kKeys, .bits_per_key = 25.6}).fpr == shape.fpr);
    const Shape largest = made({.capacity = kKeys, .max_bytes = 200'001});
    CHECK(largest.num_bits / 8 < 200'001);
    CHECK(largest.num_bits / 8 > 200'001 - 2000);
    CHECK(largest.fpr == rate_of(largest));
    const Shape half_full = made({.num_bits = 25'600});
    CHECK(half_full.num_probes == 8);
    CHECK(half_full.capacity == 2218);  // 25,600 ln 2 / 8
    CHECK(planned({.num_bits = 25'600}).capacity == 2218);
    Options one_given;
    one_given.hash = hash;
    one_given.capacity = kKeys;
    one_given.num_probes = 8;
    check_refused(Filter::required_bytes(one_given), Code::kInvalid, {"only one of num_bits and num_probes"});
    check_refused(plan({.layout = Layout::kClassic, .hash = hash}), Code::kInvalid, {"nothing was given"});
  }
}

TEST_CASE("a full filter of lines or of split blocks has a rate of 1 and any number of keys, and an empty one none") {
  for (const char* const format : {"rocksdb", "sbbf"}) {
    CAPTURE(format);
    const Program& program = program_of(format);
    Bytes bytes = exported(InMemory::make(options_of(program)).filter, form(format));
    const Fill empty = *must(imported(bytes, form(format), {})).stats({.fill = true}).fill;
    CHECK(empty.estimated_fpr == 0);
    CHECK(empty.estimated_keys == 0);
    std::fill(bytes.end() - 512 * 20 / 8 - static_cast<std::ptrdiff_t>(program.tail),
              bytes.end() - static_cast<std::ptrdiff_t>(program.tail), std::byte{0xff});
    const Fill full = *must(imported(bytes, form(format), {})).stats({.fill = true}).fill;
    CHECK(full.estimated_fpr == 1);
    CHECK(full.set_bits == 512 * 20);
    CHECK(std::isinf(full.estimated_keys_high));
  }
}
