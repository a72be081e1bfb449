// Foreign formats. Converts the bytes of another program's filter to the values of a filter of this library, and back.
// A format is a row: a file in this folder, and a line in the table of interop.cpp. This code never sees files or
// handles.
//
// Foreign bytes are hostile until each number in them is checked.
#pragma once

#include <bfstore/interop.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interop/array.hpp"

namespace bfstore::interop {

// All bytes of a foreign file, wherever they are.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  // Reads as many bytes as `into` has. kTooShort if there are fewer. The message does not begin with a name.
  [[nodiscard]] virtual Error read(std::span<std::byte> into, std::uint64_t offset) const = 0;
};

// Those in memory.
class SourceInMemory final : public Source {
 public:
  explicit SourceInMemory(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] Error read(std::span<std::byte> into, std::uint64_t offset) const override;

 private:
  std::span<const std::byte> bytes_;
};

// The facts in the bytes about one filter. 0 or an empty value: the bytes do not say it.
struct Told {
  std::optional<Hash> hash{};
  bool hashes_agree = false;  // all hashes of the format are equal in this filter, so that the caller may give another
  // The reason why the bytes do not tell the hash, if the format knows the possible ones.
  std::string doubt{};
  std::uint64_t num_bits = 0;
  std::uint32_t num_probes = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;
  // Options with this capacity and rate lead to this m and k.
  bool sized_by_rate = false;
  // The rate belongs to the filter, whatever m and k are: the other program was asked for it. Otherwise it is computed
  // from m, k and n, unless sized_by_rate.
  bool keeps_rate = false;
  std::vector<std::uint32_t> seeds{};
  std::optional<std::uint64_t> keys{};
  std::uint64_t offset = 0;      // of the array of bits
  std::uint64_t tail_bytes = 0;  // after the array
  Turn turn{};
  // The array itself, if the bytes have it as text: no such file is asked in place.
  std::vector<std::byte> decoded{};
};

// The facts of a filter, for another program.
struct Saying {
  Shape shape{};
  std::vector<std::uint32_t> seeds{};
  std::uint64_t keys_added = 0;
};

// The bytes before and after the array of bits.
struct Outline {
  std::vector<std::byte> head{};
  std::vector<std::byte> tail{};
  Turn turn{};

  [[nodiscard]] std::uint64_t bytes(std::uint64_t num_bits) const noexcept {
    return head.size() + turn.bytes(num_bits) + tail.size();
  }
};

// How well the bytes of a format tell that they are of it: not at all; by one small number, which other files have,
// too; or by more.
enum class Mark { kNone, kWeak, kStrong };

struct Row {
  ForeignFormat info;
  // kTooShort if these bytes end before the end of the header. The messages of these functions do not begin with a
  // name. nullptr if find() reads the bytes.
  Result<Told> (*read)(std::span<const std::byte> first, const ForeignForm& form);
  // nullptr: the format is only read. See `written`.
  Result<Outline> (*write)(const Saying& filter, const ForeignForm& form);
  // Finds the filters of a file that may have several, or that only all of its bytes tell. Each has its offset in the
  // file: the file has a key if one of them has it. At least one. If the form names no column, those of any. nullptr: a
  // file is one filter, which read() knows by its first bytes.
  Result<std::vector<Told>> (*find)(const Source& source, const ForeignForm& form) = nullptr;
  Mark mark = Mark::kStrong;
  // What the values of the form's column are. nullptr: the bytes do not tell.
  Result<ForeignValues> (*values)(const Source& source, const ForeignForm& form) = nullptr;
  // Of a format that is only read: the one that the same program reads, and that is written. nullptr: none.
  const char* written = nullptr;
};

// The error for a format that is only read. `name` is that of the filter to write. Before row_of(), which asks for a
// column.
Error check_written(const ForeignForm& form, const std::string& name);

// The public info. Where find() reads the bytes, it needs all of them.
inline ForeignFormat info_of(const Row& row) {
  ForeignFormat info = row.info;
  info.needs_all = row.find != nullptr;
  return info;
}

extern const Row kBitArrayRow;
extern const Row kJaybirdRow;
extern const Row kJaybirdScalableRow;
extern const Row kJavaBytesRow;
extern const Row kLevelDbRow;
extern const Row kLibbloomRow;
extern const Row kParquetRow;
extern const Row kPybloomfilterRow;
extern const Row kRbloomRow;
extern const Row kRocksDbRow;
extern const Row kSbbfRow;
extern const Row kBip37Row;
extern const Row kBitsAndBloomsRow;
extern const Row kBitsAndBloomsJsonRow;
extern const Row kDcsoRow;
extern const Row kGuavaRow;
extern const Row kRedisBloomRow;

// The name of the bytes in messages.
std::string name_of(const ForeignForm& form);

// Finds the row of that format. kInvalid if no such format exists, or if the form has an order that the bytes tell
// themselves.
Result<const Row*> row_of(const ForeignForm& form);

// Reads the facts in the bytes, and checks all of them.
Result<Told> read(const Row& row, std::span<const std::byte> first, const ForeignForm& form);

// Finds the filters in all bytes of a file. Their arrays may still be outside of the file: see array_in().
Result<std::vector<Told>> find(const Row& row, const Source& source, const ForeignForm& form);

// The names of the formats that all of these bytes have.
std::vector<const char*> recognized(const Source& source);

// Chooses the filter that the form names, or the only one. kInvalid if there are several, or no such one.
Result<Told> choose(const Row& row, std::vector<Told> found, const ForeignForm& form);

// Completes the caller's options for the new filter with the shape that the bytes tell. kInvalid for an option that the
// bytes contradict, and for one that is missing: a default instead would be another filter, and make a wrong "no".
Error complete(const Row& row, const Told& told, const ForeignForm& form, Options& options);

// The length of all bytes of a foreign filter of `num_bits` bits.
std::uint64_t whole_bytes(const Told& told, std::uint64_t num_bits) noexcept;

// Checks that the number of bytes is the expected one, that of a filter of `num_bits` bits.
Error check_length(const Row& row, std::uint64_t bytes, std::uint64_t expected, std::uint64_t num_bits,
                   const ForeignForm& form);

// Checks that the file has the filter's array: that the file is as long as it, or in a format of several filters, that
// it is long enough.
Error check_place(const Row& row, const Told& told, std::uint64_t bytes, std::uint64_t num_bits,
                  const ForeignForm& form);

// Returns the filter's array of bits in all of the bytes.
Result<Array> array_in(const Row& row, const Told& told, std::span<const std::byte> bytes, std::uint64_t num_bits,
                       const ForeignForm& form);

// kUnsupported if the format has no filters of this layout or hash. `name` is the filter's.
Error check_shape(const Row& row, const Shape& shape, const std::string& name);

// Returns the bytes around the array of this filter. kUnsupported if the format has no such filters. `name` is the
// filter's.
Result<Outline> outline_of(const Row& row, const Saying& filter, const ForeignForm& form, const std::string& name);

}  // namespace bfstore::interop
