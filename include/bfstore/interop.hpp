// Filters of other programs: what their bytes say, and in which formats. Filter::import_foreign makes a filter file of
// such bytes, and Filter::export_foreign makes such bytes of a filter.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bfstore {

// A format of another program. The caller must say what its bytes do not, and a mistake there makes a wrong "no". So
// before an imported filter is used, ask it for keys that are known to be in it.
struct ForeignFormat {
  const char* name = nullptr;   // as the tools write it
  const char* about = nullptr;  // a few words for a list of formats
  Layout layout = Layout::kClassic;
  bool needs_size = false;         // the bytes do not say m and k, so the caller gives them, or `like`
  bool needs_order = false;        // the bytes do not say which bit of a byte comes first
  bool needs_all = false;          // only all of the bytes tell what they are; otherwise the first ones do
  bool needs_column = false;       // a file has filters of several columns, and the caller names one
  bool tells_capacity = false;     // the bytes say n; otherwise the caller may give it
  std::span<const Hash> hashes{};  // those that a filter of the format can have; empty: any, and the caller gives it
  const char* keys = nullptr;      // a few words about how the other program makes bytes of a key, if there is one way
};

// All formats: the plain array first, then by name.
[[nodiscard]] std::vector<ForeignFormat> foreign_formats();

// Returns the name of format number `index` of foreign_formats(), or nullptr after the last one.
[[nodiscard]] const char* foreign_format_name(std::size_t index) noexcept;

// Empty if there is no such format.
[[nodiscard]] std::optional<ForeignFormat> foreign_format_named(std::string_view name) noexcept;

// The format that bytes have, or are to have.
struct ForeignForm {
  std::string format{};             // ForeignFormat::name
  std::optional<BitOrder> order{};  // given if, and only if, the format needs it (to inspect, it never does)
  std::string name{};               // a name of the bytes for messages, for example a path
  std::string column{};             // for a format whose file has filters of several columns: the one that is meant
  std::uint32_t member = 0;  // of a file of several filters: the number of the only one that is meant, from 1; 0: all
};

// The facts that the bytes of a foreign filter say. 0 or an empty value: the bytes do not say it.
struct ForeignFilter {
  ForeignFormat format;
  std::optional<Hash> hash;
  std::uint64_t num_bits = 0;         // m
  std::uint32_t num_probes = 0;       // k
  std::uint64_t capacity = 0;         // n
  double fpr = 0;                     // p at n keys
  std::optional<std::uint64_t> keys;  // the number that the other program counted
  std::uint64_t bytes = 0;            // the length that all of the bytes must have; 0 also if there are several filters
  std::uint32_t filters = 1;          // how many the bytes have: a key is in them if one of them has it
};

// Reads what the first bytes of a foreign filter, or all of its bytes, say. Makes no file. With `options` it reports
// what Filter::import_foreign would make of the filter with them, or why it would refuse. Then `bytes` is known even if
// only the options say m. kTooShort if the bytes end within the header. Other errors name what no filter can have.
[[nodiscard]] Result<ForeignFilter> inspect_foreign(std::span<const std::byte> first, const ForeignForm& form,
                                                    const Options* options = nullptr);

// Reads what a file of another program says, and checks that its arrays are in it. Takes the options that
// Filter::open_foreign takes.
[[nodiscard]] Result<ForeignFilter> inspect_foreign_file(const std::string& path, const ForeignForm& form,
                                                         const OpenOptions& opening = {});

// What the values of a column are, which decides the bytes of a key.
struct ForeignValues {
  std::string type;     // as the format names it: "INT32", "BYTE_ARRAY"; empty if the format does not tell
  std::string meaning;  // what the values stand for, as the format names it: "STRING", "DECIMAL"; or empty
};

// Reads what the values of the form's column are. `end` is the last part of the file, or all of it: kTooShort if it is
// too small. Takes it for granted that the file has filters of the column.
[[nodiscard]] Result<ForeignValues> foreign_values(std::span<const std::byte> end, const ForeignForm& form);

// Names the formats that all bytes of the file have: a filter whose header agrees with itself and with the file's
// length. None if there is none, several if the bytes do not tell which. A format whose bytes do not say m and k is
// never among them. Takes the options that Filter::open_foreign takes.
[[nodiscard]] Result<std::vector<const char*>> recognize_foreign(const std::string& path,
                                                                 const OpenOptions& opening = {});

}  // namespace bfstore
