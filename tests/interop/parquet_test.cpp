// Files of Parquet: the filters of a column are found by the footer's metadata, whatever else is in it, and hostile
// metadata is refused. The files here are made by hand; originals_test.cpp has files of DuckDB and of Arrow.
#include "interop/thrift.hpp"

#include <algorithm>
#include <fstream>
#include <random>

#include "base/bytes.hpp"
#include "foreign.hpp"

using namespace foreign;

namespace {

using Type = interop::ThriftReader::Type;

// Writes the compact protocol.
class Writer {
 public:
  Writer& field(int id, Type type) {
    const int delta = id - last_;
    byte(static_cast<unsigned>(delta) << 4 | static_cast<unsigned>(type));
    last_ = id;
    return *this;
  }
  Writer& number(std::int64_t value) {
    return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  Writer& text(std::string_view value) {
    varint(value.size());
    for (const char one : value) byte(static_cast<unsigned char>(one));
    return *this;
  }
  Writer& list(std::size_t size, Type type) {
    if (size < 15) return byte(static_cast<unsigned>(size) << 4 | static_cast<unsigned>(type));
    return byte(0xf0U | static_cast<unsigned>(type)).varint(size);
  }
  Writer& all(const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  Writer& byte(unsigned value) {
    bytes.push_back(static_cast<std::byte>(value));
    return *this;
  }
  Writer& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<unsigned>(value & 0x7f) | 0x80U);
    return byte(static_cast<unsigned>(value));
  }
  Writer& stop() { return byte(0); }

  Bytes bytes;

 private:
  int last_ = 0;
};

struct Chunk {
  std::vector<std::string> path;
  std::int64_t filter_at = -1;  // -1: it has none
};

Bytes column_metadata(const Chunk& chunk) {
  Writer writer;
  writer.field(1, Type::kI32).number(6);
  writer.field(2, Type::kList).list(2, Type::kI32).number(0).number(8);
  writer.field(3, Type::kList).list(chunk.path.size(), Type::kBinary);
  for (const std::string& name : chunk.path) writer.text(name);
  writer.field(5, Type::kI64).number(1000);
  writer.field(8, Type::kList).list(1, Type::kStruct).all(Writer().field(1, Type::kBinary).text("k").stop().bytes);
  writer.field(12, Type::kStruct).all(Writer().field(7, Type::kTrue).field(8, Type::kFalse).stop().bytes);
  if (chunk.filter_at >= 0) writer.field(14, Type::kI64).number(chunk.filter_at);
  return writer.stop().bytes;
}

Bytes row_group(const std::vector<Chunk>& chunks, std::int64_t rows = 10) {
  Writer writer;
  writer.field(1, Type::kList).list(chunks.size(), Type::kStruct);
  for (const Chunk& chunk : chunks) {
    writer.all(
        Writer().field(2, Type::kI64).number(4).field(3, Type::kStruct).all(column_metadata(chunk)).stop().bytes);
  }
  return writer.field(2, Type::kI64).number(77).field(3, Type::kI64).number(rows).stop().bytes;
}

Bytes footer(const std::vector<Bytes>& groups) {
  Writer writer;
  writer.field(1, Type::kI32).number(2);
  writer.field(2, Type::kList).list(1, Type::kStruct);
  writer.all(Writer().field(4, Type::kBinary).text("schema").field(5, Type::kI32).number(2).stop().bytes);
  writer.field(3, Type::kI64).number(30);
  writer.field(4, Type::kList).list(groups.size(), Type::kStruct);
  for (const Bytes& group : groups) writer.all(group);
  return writer.field(6, Type::kBinary).text("a test").stop().bytes;
}

Bytes file_of(const Bytes& content, const Bytes& its_footer) {
  Bytes bytes = content;
  bytes.insert(bytes.end(), its_footer.begin(), its_footer.end());
  Bytes end(8);
  base::store(end.data(), static_cast<std::uint32_t>(its_footer.size()));
  std::copy_n(reinterpret_cast<const std::byte*>("PAR1"), 4, end.begin() + 4);
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

// A filter of the keys "PREFIX 0" to "PREFIX 99", with its header.
Bytes filter_of(const std::string& prefix, std::uint64_t num_bits = 2048) {
  Options options;
  options.hash = Hash::kParquet;
  options.num_bits = num_bits;
  options.num_probes = 8;
  InMemory made = InMemory::make(options);
  for (int i = 0; i < 100; ++i) CHECK(made.filter.add(prefix + " " + std::to_string(i)).ok());
  return exported(made.filter, form("sbbf"));
}

// The magic bytes and filters of a, b and c.
struct Content {
  Bytes bytes;
  std::int64_t a, b, c;
};

Content content() {
  Content made{Bytes(4), 0, 0, 0};
  const auto put = [&](const char* prefix, std::uint64_t num_bits) {
    const auto at = static_cast<std::int64_t>(made.bytes.size());
    const Bytes filter = filter_of(prefix, num_bits);
    made.bytes.insert(made.bytes.end(), filter.begin(), filter.end());
    return at;
  };
  made.a = put("a", 2048);
  made.b = put("b", 4096);
  made.c = put("c", 2048);
  return made;
}

ForeignForm column(const std::string& name, std::uint32_t member = 0) {
  ForeignForm as = form("parquet");
  as.column = name;
  as.member = member;
  return as;
}

void refused(const Bytes& bytes, const ForeignForm& as, Code code, std::initializer_list<const char*> words) {
  check_refused(imported(bytes, as, {}), code, words);
  check_refused(inspect_foreign(bytes, as), code, words);
}

bool has_keys(const Filter& filter, const std::string& prefix) {
  for (int i = 0; i < 100; ++i) {
    if (!filter.contains(prefix + " " + std::to_string(i))) return false;
  }
  return true;
}

Result<Filter> in_place(const TemporaryDirectory& directory, const Bytes& bytes, const ForeignForm& as) {
  const std::string path = directory.file("f.parquet");
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  return Filter::open_foreign(path, as, {}, {});
}

}  // namespace

TEST_CASE("a filter's header is the one that DuckDB and Arrow write, and other kinds of filters are refused") {
  const Bytes good = filter_of("a", 4096);
  CHECK(std::equal(good.begin(), good.begin() + 16, of_hex("1580081c1c00001c1c00001c1c000000").begin()));
  const auto refuse = [](const char* header, Code code, const char* word) {
    Bytes bytes = of_hex(header);
    bytes.resize(bytes.size() + 64);
    CAPTURE(header);
    check_refused(imported(bytes, form("sbbf"), {}), code, {word});
  };
  refuse(
      "1500"
      "1c1c00001c1c00001c1c000000",
      Code::kBits, "m is 0");
  refuse(
      "15fe01"
      "1c1c00001c1c00001c1c000000",
      Code::kBits, "multiple of 256");
  refuse(
      "15ffffffff0f"
      "1c1c00001c1c00001c1c000000",
      Code::kBits, "m is 0");  // a negative number
  refuse(
      "15feffffff0f"
      "1c1c00001c1c00001c1c000000",
      Code::kBits, "17179869176");
  refuse(
      "15feffffffffffffffff01"
      "1c1c00001c1c00001c1c000000",
      Code::kBits, "m is");
  refuse(
      "158001"
      "1c2c00001c1c00001c1c000000",
      Code::kMagic, "XXH64");  // another algorithm
  refuse(
      "158001"
      "1c1c00001c2c00001c1c000000",
      Code::kMagic, "XXH64");  // another hash
  refuse(
      "158001"
      "1c1c00001c1c00001c2c000000",
      Code::kMagic, "compression");
  refuse(
      "158001"
      "1c1c00001c1c000000",
      Code::kMagic, "header");  // no compression told
  refuse("1c1c00001c1c00001c1c000000", Code::kMagic, "header");
  refuse("50415231", Code::kMagic, "header");
  check_refused(imported(Bytes(good.begin(), good.begin() + 9), form("sbbf"), {}), Code::kTooShort, {"ends after 9"});
  check_refused(imported(Bytes(good.begin(), good.end() - 1), form("sbbf"), {}), Code::kBody, {"exactly 528"});
}

TEST_CASE("a file has a key of a column if the filter of one row group has it") {
  const TemporaryDirectory directory;
  const Content has = content();
  const Bytes bytes =
      file_of(has.bytes, footer({row_group({{{"n"}, has.c}, {{"k"}, has.a}}), row_group({{{"n"}}, {{"k"}, has.b}}),
                                 row_group({{{"n"}}, {{"k"}}}, 0), row_group({{{"k"}, has.c}, {{"x", "y"}, has.a}})}));
  const Filter filter = must(in_place(directory, bytes, column("k")));
  for (const char* prefix : {"a", "b", "c"}) CHECK(has_keys(filter, prefix));
  CHECK_FALSE(filter.contains("absent"));
  CHECK(inspect_foreign(bytes, column("k"))->filters == 3);
  CHECK(inspect_foreign(bytes, column("k"))->num_bits == 2048);
  check_refused(imported(bytes, column("k"), {}), Code::kInvalid, {"has 3 filters", "in place"});
  const Filter second = must(imported(bytes, column("k", 2), {}));
  CHECK(second.shape().num_bits == 4096);
  CHECK(has_keys(second, "b"));
  CHECK_FALSE(has_keys(second, "a"));
  check_refused(imported(bytes, column("k", 4), {}), Code::kInvalid, {"3 filters", "no number 4"});
  check_refused(second.exported_bytes(column("k")), Code::kUnsupported, {"only read"});
}

TEST_CASE("a row group without a filter may have any key, so its column is refused") {
  const Content has = content();
  const Bytes bytes = file_of(has.bytes, footer({row_group({{{"n"}}, {{"k"}, has.a}, {{"x", "y"}, has.b}}),
                                                 row_group({{{"n"}}, {{"k"}}, {{"x", "y"}, has.c}})}));
  refused(bytes, column("k"), Code::kUnsupported, {"the column k", "row group 2"});
  refused(bytes, column("n"), Code::kUnsupported, {"the column n", "row group 1"});
  refused(bytes, column("y"), Code::kInvalid, {"the column y", "Name another"});
  refused(bytes, column("none\n"), Code::kInvalid, {"none\\x0a"});
  CHECK(has_keys(must(imported(bytes, column("x.y", 2), {})), "c"));
  check_refused(imported(bytes, form("parquet"), {}), Code::kInvalid, {"no column given"});
  ForeignForm other = form("sbbf");
  other.column = "k";
  check_refused(imported(bytes, other, {}), Code::kInvalid, {"has no columns"});
  const Bytes missing = file_of(has.bytes, footer({row_group({{{"k"}, has.a}}), row_group({{{"n"}, has.b}})}));
  refused(missing, column("k"), Code::kUnsupported, {"row group 2"});
}

namespace {

struct Element {
  std::string name;
  int children = 0;
  int type = -1;
  int converted = -1;
  int logical = -1;
};

// A footer with this schema alone.
Bytes schema_of(const std::vector<Element>& elements) {
  Writer writer;
  writer.field(2, Type::kList).list(elements.size(), Type::kStruct);
  for (const Element& element : elements) {
    Writer one;
    if (element.type >= 0) one.field(1, Type::kI32).number(element.type);
    one.field(4, Type::kBinary).text(element.name);
    if (element.children > 0) one.field(5, Type::kI32).number(element.children);
    if (element.converted >= 0) one.field(6, Type::kI32).number(element.converted);
    if (element.logical >= 0)
      one.field(10, Type::kStruct).all(Writer().field(element.logical, Type::kStruct).stop().stop().bytes);
    writer.all(one.stop().bytes);
  }
  return writer.stop().bytes;
}

std::string values_of(const Bytes& bytes, const std::string& name) {
  const auto values = foreign_values(bytes, column(name));
  return values ? values->type + "/" + values->meaning : values.error().message;
}

}  // namespace

TEST_CASE("the schema tells the type and the meaning of a column's values, also of one in groups") {
  const Bytes bytes = file_of(Bytes(4), schema_of({{"root", 4},
                                                   {"k", 0, 6, 0},
                                                   {"a", 2},
                                                   {"b", 1},
                                                   {"n", 0, 1, 5},
                                                   {"n", 0, 7, -1, 14},
                                                   {"d", 0, 5},
                                                   {"t", 0, 2, 9, 8}}));
  CHECK(values_of(bytes, "k") == "BYTE_ARRAY/STRING");
  CHECK(values_of(bytes, "a.b.n") == "INT32/DECIMAL");
  CHECK(values_of(bytes, "a.n") == "FIXED_LEN_BYTE_ARRAY/UUID");
  CHECK(values_of(bytes, "d") == "DOUBLE/");
  CHECK(values_of(bytes, "t") == "INT64/TIMESTAMP");
  CHECK(values_of(bytes, "n").find("has no column n") != std::string::npos);
  CHECK(values_of(bytes, "root").find("has no column") != std::string::npos);
  CHECK(values_of(file_of(Bytes(4), schema_of({{"root", 1}, {"k", 0, 99, 99}})), "k") == "number 99/number 99");
  CHECK(values_of(file_of(Bytes(4), schema_of({{"root", 1}, {"k"}})), "k") == "of an unknown type/");
  CHECK(foreign_values({}, form("sbbf"))->type.empty());
  std::vector<Element> deep(1000, {"a", 1});
  deep.push_back({"k", 0, 1});
  CHECK(values_of(file_of(Bytes(4), schema_of(deep)), "k").find("footer is damaged") != std::string::npos);
}

TEST_CASE("the last part of a file with its footer is enough to tell the type of a column") {
  const Bytes its_footer = schema_of({{"root", 1}, {"k", 0, 4}});
  const Bytes bytes = file_of(Bytes(100), its_footer);
  const std::span<const std::byte> all(bytes);
  CHECK(foreign_values(all.last(its_footer.size() + 12), column("k"))->type == "FLOAT");
  CHECK_FALSE(foreign_values(all.last(its_footer.size() + 11), column("k")).ok());
  CHECK_FALSE(foreign_values(all.last(3), column("k")).ok());
  for (std::size_t i = 0; i < its_footer.size(); ++i)
    CHECK_FALSE(foreign_values(
                    file_of(Bytes(4), Bytes(its_footer.begin(), its_footer.begin() + static_cast<std::ptrdiff_t>(i))),
                    column("k"))
                    .ok());
}

TEST_CASE("places of filters outside of the file are refused") {
  const Content has = content();
  const auto at = [&](std::int64_t place) { return file_of(has.bytes, footer({row_group({{{"k"}, place}})})); };
  const auto size = static_cast<std::int64_t>(at(has.a).size());
  CHECK(imported(at(has.a), column("k"), {}).ok());
  refused(at(size + 100), column("k"), Code::kRecord, {"footer is damaged"});
  refused(at(INT64_MAX), column("k"), Code::kRecord, {"footer is damaged"});
  refused(at(0), column("k"), Code::kMagic, {"header"});
  refused(at(size - 1), column("k"), Code::kTooShort, {"ends after"});
  Content cut = content();
  base::store(cut.bytes.data() + cut.c + 1, std::uint16_t{0x7f80});  // 8128 bytes more than are there
  check_refused(imported(file_of(cut.bytes, footer({row_group({{{"k"}, cut.c}})})), column("k"), {}), Code::kTooShort,
                {"begins at byte"});
}

TEST_CASE("a file that does not end as a file of Parquet is refused") {
  const Content has = content();
  const Bytes good = file_of(has.bytes, footer({row_group({{{"k"}, has.a}})}));
  CHECK(imported(good, column("k"), {}).ok());
  Bytes bad = good;
  bad.back() = std::byte{'E'};
  refused(bad, column("k"), Code::kMagic, {"PAR1"});
  refused(Bytes(11), column("k"), Code::kTooShort, {"ends after 11"});
  for (const std::uint32_t length : {static_cast<std::uint32_t>(good.size()) - 11, UINT32_MAX}) {
    bad = good;
    base::store(bad.data() + bad.size() - 8, length);
    refused(bad, column("k"), Code::kRecord, {"footer is damaged"});
  }
  bad = good;
  base::store(bad.data() + bad.size() - 8, std::uint32_t{0});
  refused(bad, column("k"), Code::kRecord, {"footer is damaged"});
}

TEST_CASE("hostile metadata is refused without much memory, deep recursion or long loops") {
  const auto hostile = [](const Bytes& its_footer) {
    refused(file_of(Bytes(4), its_footer), column("k"), Code::kRecord, {"footer is damaged"});
  };
  for (const Type type : {Type::kList, Type::kSet, Type::kStruct}) {  // nested deeply
    Writer deep;
    deep.field(9, type);
    for (int i = 0; i < 100'000; ++i) deep.byte(type == Type::kStruct ? 0x1c : 0x10U | static_cast<unsigned>(type));
    hostile(deep.bytes);
  }
  for (const Type element : {Type::kStruct, Type::kTrue, Type::kByte, Type::kBinary, Type::kMap}) {  // huge lists
    hostile(Writer().field(4, Type::kList).byte(0xf0U | static_cast<unsigned>(element)).varint(UINT64_MAX).bytes);
    hostile(Writer().field(9, Type::kList).byte(0xf0U | static_cast<unsigned>(element)).varint(UINT32_MAX).bytes);
  }
  hostile(Writer().field(9, Type::kMap).varint(UINT64_MAX).byte(0x33).bytes);
  hostile(Writer().field(9, Type::kMap).varint(1).byte(0xdd).byte(0).stop().bytes);
  hostile(Writer().field(9, Type::kBinary).varint(UINT64_MAX).bytes);
  hostile(Writer().field(9, Type::kI64).varint(UINT64_MAX).byte(0xff).bytes);
  hostile(Writer().field(9, Type::kI64).all(Bytes(12, std::byte{0xff})).stop().bytes);  // a number of more than 64 bits
  hostile(Writer().field(9, static_cast<Type>(13)).stop().bytes);
  hostile(Writer().field(4, Type::kI64).number(1).stop().bytes);  // no list
  hostile(Writer().field(4, Type::kList).list(1, Type::kI64).number(1).stop().bytes);
  hostile(Bytes{std::byte{0x03}, std::byte{0x01}, std::byte{0}});  // the field -1
  Bytes many;                                                      // fields whose numbers grow over 32 bits
  for (int i = 0; i < 4000; ++i) many.insert(many.end(), {std::byte{0xf1}});
  hostile(many);
}

TEST_CASE("a changed, cut or random footer never makes more than a refusal or a filter within the file") {
  const Content has = content();
  const Bytes good = footer({row_group({{{"n"}}, {{"k"}, has.a}}), row_group({{{"k"}, has.b}})});
  const auto ask = [&](const Bytes& its_footer) {
    const Bytes bytes = file_of(has.bytes, its_footer);
    const auto made = imported(bytes, column("k", 1), {});
    if (made) CHECK(made->shape().num_bits <= 8 * bytes.size());
  };
  std::mt19937 source(1);
  for (std::size_t i = 0; i < good.size(); ++i) {
    ask(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)));
    for (int j = 0; j < 8; ++j) {
      Bytes other = good;
      other[i] ^= static_cast<std::byte>(1 << j);
      ask(other);
    }
  }
  for (int i = 0; i < 300; ++i) {
    Bytes random(source() % 200);
    for (std::byte& one : random) one = static_cast<std::byte>(source());
    ask(random);
  }
}
