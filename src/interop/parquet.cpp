// The split-block filters of Apache Parquet. Format sbbf: one filter with its header, as a file has it. Format parquet:
// a whole file. Its footer tells where the filters of a column are: one in each row group.
// (github.com/apache/parquet-format: BloomFilter.md, parquet.thrift)
#include <array>
#include <optional>

#include "interop/header.hpp"
#include "interop/thrift.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kParquet};
constexpr std::uint32_t kProbes = 8;
constexpr std::uint64_t kBlockBytes = 32;
constexpr Limits kFilterLimits{.kind = "a split-block filter of Parquet",
                               .most_bits = 8 * ((std::uint64_t{1} << 31) - kBlockBytes),
                               .unit_bits = 8 * kBlockBytes};
constexpr Limits kFileLimits{.kind = "a file of Parquet"};

using Field = ThriftReader::Field;

// Reads a union whose only known member is an empty struct with the number 1.
void want_first_member(ThriftReader& reader, const Field& field) {
  reader.want_struct(field);
  bool known = false;
  reader.each_field([&](const Field& member) {
    if (member.id != 1) return reader.fail();
    known = true;
    reader.skip(member);
  });
  if (!known) reader.fail();
}

// BloomFilterHeader: the number of bytes, the algorithm (split block), the hash (XXH64), the compression (none).
Result<Told> told_by_header(std::span<const std::byte> first) {
  ThriftReader reader(first);
  std::int64_t bytes = 0;
  std::array<bool, 5> has{};
  reader.each_field([&](const Field& field) {
    if (field.id >= 1 && field.id <= 4) has[static_cast<std::size_t>(field.id)] = true;
    if (field.id == 1) {
      bytes = reader.number(field);
    } else if (field.id >= 2 && field.id <= 4) {
      want_first_member(reader, field);
    } else {
      reader.skip(field);
    }
  });
  if (reader.failed() || !(has[1] && has[2] && has[3] && has[4])) {
    if (reader.at() == first.size()) return ends_within(kFilterLimits, first.size());
    return not_of_kind(Code::kMagic, kFilterLimits,
                       "its header is not that of a filter with XXH64 and without compression");
  }
  if (bytes < 0) bytes = 0;
  const std::uint64_t num_bits = 8 * static_cast<std::uint64_t>(std::min<std::int64_t>(bytes, INT64_MAX / 8));
  if (Error error = check_numbers(kFilterLimits, num_bits, kProbes); !error.ok()) return error;
  return Told{.hash = Hash::kParquet, .num_bits = num_bits, .num_probes = kProbes, .offset = reader.at()};
}

Result<Told> read_filter(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  return told_by_header(first);
}

void put_varint(std::vector<std::byte>& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 0x80));
  bytes.push_back(static_cast<std::byte>(number));
}

// The header in the order of its fields, as every writer known has it.
Result<Outline> write_filter(const Saying& filter, const ForeignForm& /*form*/) {
  constexpr std::byte kI32Next{0x15}, kStructNext{0x1c}, kStop{0};
  std::vector<std::byte> head{kI32Next};
  put_varint(head, filter.shape.num_bits / 8 * 2);  // zigzag
  for (int i = 0; i < 3; ++i) head.insert(head.end(), {kStructNext, kStructNext, kStop, kStop});
  head.push_back(kStop);
  return Outline{.head = std::move(head)};
}

// What the footer says of a column chunk.
struct Chunk {
  std::string column;  // the names of its path, with dots
  std::optional<std::uint64_t> filter_at;
};

Chunk read_column_metadata(ThriftReader& reader) {
  constexpr std::int32_t kPath = 3, kFilterOffset = 14;
  Chunk chunk;
  reader.each_field([&](const Field& field) {
    if (field.id == kPath) {
      bool is_first = true;
      reader.each_text(field, [&](std::string_view name) {
        if (!is_first) chunk.column += '.';
        is_first = false;
        chunk.column += name;
      });
    } else if (field.id == kFilterOffset) {
      const std::int64_t at = reader.number(field);
      if (at < 0) return reader.fail();
      chunk.filter_at = static_cast<std::uint64_t>(at);
    } else {
      reader.skip(field);
    }
  });
  return chunk;
}

Chunk read_chunk(ThriftReader& reader) {
  constexpr std::int32_t kMetadata = 3;
  Chunk chunk;
  reader.each_field([&](const Field& field) {
    if (field.id != kMetadata) return reader.skip(field);
    reader.want_struct(field);
    chunk = read_column_metadata(reader);
  });
  return chunk;
}

// The filters of one column, or of all of them, as the footer names them.
class Search {
 public:
  explicit Search(std::string_view column) noexcept : column_(column) {}

  void read_row_group(ThriftReader& reader) {
    constexpr std::int32_t kColumns = 1, kRows = 3;
    std::int64_t rows = -1;
    bool found = false, lacks = false;
    reader.each_field([&](const Field& field) {
      if (field.id == kRows) {
        rows = reader.number(field);
      } else if (field.id == kColumns) {
        reader.each_struct(field, [&] {
          const Chunk chunk = read_chunk(reader);
          if (!column_.empty() && chunk.column != column_) return;
          found = true;
          if (chunk.filter_at) return places_.push_back(*chunk.filter_at);
          lacks = true;
        });
      } else {
        reader.skip(field);
      }
    });
    ++groups_;
    if (rows == 0) return;  // no key is in it
    found_ = found_ || found;
    if (!found || lacks) without_ = without_ == 0 ? groups_ : without_;
  }

  // A group without a filter may have any key. If no column is named, that is as it is.
  [[nodiscard]] Error check() const {
    if (!found_ || (column_.empty() && places_.empty()))
      return base::fail(Code::kInvalid, "has no filter of " + column() + ". Name another column.");
    if (places_.size() > kMostFilters)
      return base::fail(Code::kUnsupported, "has more than 65536 filters. Import them one by one.");
    if (column_.empty() || without_ == 0) return {};
    return base::fail(Code::kUnsupported, "has no filter of " + column() + " in its row group " +
                                              std::to_string(without_) +
                                              ", which may have any key. Write the file with filters in all of them.");
  }
  [[nodiscard]] const std::vector<std::uint64_t>& places() const noexcept { return places_; }

 private:
  static constexpr std::size_t kMostFilters = 65536;

  [[nodiscard]] std::string column() const {
    return column_.empty() ? "any column" : "the column " + base::printable(column_);
  }

  std::string_view column_;
  std::vector<std::uint64_t> places_;
  std::uint64_t groups_ = 0;
  std::uint64_t without_ = 0;  // the number of the first group that has rows and no filter, from 1
  bool found_ = false;
};

Error damaged_footer() { return not_of_kind(Code::kRecord, kFileLimits, "its footer is damaged, or encrypted"); }

// The file ends with the footer, its length in 4 bytes, and the magic bytes.
Result<std::vector<std::byte>> read_footer(const Source& source) {
  constexpr std::string_view kMagic = "PAR1";
  std::array<std::byte, 8> tail;
  if (source.size() < kMagic.size() + tail.size()) return ends_within(kFileLimits, source.size());
  if (Error error = source.read(tail, source.size() - tail.size()); !error.ok()) return error;
  if (!begins_with(std::span(tail).subspan(4), kMagic))
    return not_of_kind(Code::kMagic, kFileLimits, "it does not end with PAR1");
  const std::uint64_t bytes = base::load<std::uint32_t>(tail.data());
  if (bytes > source.size() - tail.size() - kMagic.size()) return damaged_footer();
  std::vector<std::byte> footer(bytes);
  if (Error error = source.read(footer, source.size() - tail.size() - bytes); !error.ok()) return error;
  return footer;
}

Result<Told> told_at(const Source& source, std::uint64_t at) {
  constexpr std::uint64_t kMostHeader = 256;
  if (at >= source.size()) return damaged_footer();
  std::vector<std::byte> first(std::min(source.size() - at, kMostHeader));
  if (Error error = source.read(first, at); !error.ok()) return error;
  auto told = told_by_header(first);
  if (told) told->offset += at;
  return told;
}

Result<std::vector<Told>> find_filters(const Source& source, const ForeignForm& form) {
  constexpr std::int32_t kRowGroups = 4;
  const auto footer = read_footer(source);
  if (!footer) return footer.error();
  ThriftReader reader(*footer);
  Search search(form.column);
  reader.each_field([&](const Field& field) {
    if (field.id != kRowGroups) return reader.skip(field);
    reader.each_struct(field, [&] { search.read_row_group(reader); });
  });
  if (reader.failed()) return damaged_footer();
  if (Error error = search.check(); !error.ok()) return error;
  std::vector<Told> found;
  for (const std::uint64_t at : search.places()) {
    auto told = told_at(source, at);
    if (!told) return told.error();
    found.push_back(std::move(*told));
  }
  return found;
}

// From here on: what the values of a column are.

// Names by number in parquet.thrift. An empty one has no meaning beyond its type.
constexpr std::array<std::string_view, 8> kTypes{"BOOLEAN", "INT32",  "INT64",      "INT96",
                                                 "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
constexpr std::array<std::string_view, 22> kConverted{
    "STRING",  "MAP",       "MAP",       "LIST",    "ENUM",    "DECIMAL", "DATE",    "TIME",
    "TIME",    "TIMESTAMP", "TIMESTAMP", "INTEGER", "INTEGER", "INTEGER", "INTEGER", "INTEGER",
    "INTEGER", "INTEGER",   "INTEGER",   "JSON",    "BSON",    "INTERVAL"};
constexpr std::array<std::string_view, 16> kLogical{"",     "STRING", "MAP",       "LIST",     "ENUM",    "DECIMAL",
                                                    "DATE", "TIME",   "TIMESTAMP", "INTERVAL", "INTEGER", "UNKNOWN",
                                                    "JSON", "BSON",   "UUID",      "FLOAT16"};

template <std::size_t size>
std::string name_at(const std::array<std::string_view, size>& names, std::int64_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= size) return "number " + std::to_string(number);
  return std::string(names[static_cast<std::size_t>(number)]);
}

// A column of the schema, which is a tree in the order of its leaves.
struct Element {
  std::string name;
  std::int64_t children = 0;
  ForeignValues values;
};

Element read_element(ThriftReader& reader) {
  constexpr std::int32_t kType = 1, kName = 4, kChildren = 5, kConvertedType = 6, kLogicalType = 10;
  Element element;
  std::string converted;
  reader.each_field([&](const Field& field) {
    if (field.id == kType) {
      element.values.type = name_at(kTypes, reader.number(field));
    } else if (field.id == kName) {
      element.name = reader.text(field);
    } else if (field.id == kChildren) {
      element.children = reader.number(field);
    } else if (field.id == kConvertedType) {
      converted = name_at(kConverted, reader.number(field));
    } else if (field.id == kLogicalType) {
      reader.want_struct(field);
      reader.each_field([&](const Field& member) {
        element.values.meaning = name_at(kLogical, member.id);
        reader.skip(member);
      });
    } else {
      reader.skip(field);
    }
  });
  if (element.values.type.empty()) element.values.type = "of an unknown type";
  if (element.values.meaning.empty()) element.values.meaning = converted;
  return element;
}

// Finds a column by the names of its path, with dots.
class Schema {
 public:
  explicit Schema(std::string_view column) noexcept : column_(column) {}

  void take(ThriftReader& reader) {
    Element element = read_element(reader);
    while (!open_.empty() && open_.back().left == 0) open_.pop_back();
    std::string path;
    if (!open_.empty()) {  // the first one, the root, is in no path
      --open_.back().left;
      path = open_.back().path.empty() ? element.name : open_.back().path + '.' + element.name;
    }
    if (element.children > 0) {
      if (open_.size() > kMostDepth) return reader.fail();
      open_.push_back({std::move(path), element.children});
    } else if (path == column_) {
      found_ = std::move(element.values);
    }
  }
  [[nodiscard]] const std::optional<ForeignValues>& found() const noexcept { return found_; }

 private:
  static constexpr std::size_t kMostDepth = 64;
  struct Node {
    std::string path;
    std::int64_t left;  // children that have not come yet
  };
  std::string_view column_;
  std::vector<Node> open_;
  std::optional<ForeignValues> found_;
};

Result<ForeignValues> values_of(const Source& source, const ForeignForm& form) {
  constexpr std::int32_t kSchema = 2;
  const auto footer = read_footer(source);
  if (!footer) return footer.error();
  ThriftReader reader(*footer);
  Schema schema(form.column);
  reader.each_field([&](const Field& field) {
    if (field.id != kSchema) return reader.skip(field);
    reader.each_struct(field, [&] { schema.take(reader); });
  });
  if (reader.failed()) return damaged_footer();
  if (schema.found()) return *schema.found();
  return base::fail(Code::kInvalid, "has no column " + base::printable(form.column) + ". Name another one.");
}

}  // namespace

constinit const Row kParquetRow{.info = {.name = "parquet",
                                         .about = "the filters of one column of a file of Parquet",
                                         .needs_column = true,
                                         .hashes = kHashes,
                                         .keys = "the value's plain encoding"},
                                .read = nullptr,
                                .write = nullptr,
                                .find = find_filters,
                                .values = values_of,
                                .written = "sbbf"};

constinit const Row kSbbfRow{.info = {.name = "sbbf",
                                      .about = "one split-block filter of Parquet with its header",
                                      .hashes = kHashes,
                                      .keys = "the value's plain encoding"},
                             .read = read_filter,
                             .write = write_filter};

}  // namespace bfstore::interop
