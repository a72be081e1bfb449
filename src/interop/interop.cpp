// The table of foreign formats, and the checks that all of them share.
#include "interop/interop.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/fail.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore {
namespace interop {
namespace {

using base::fail;

// The plain array first, then by name.
constexpr std::array kForeignRows{
    &kBitArrayRow,      &kBip37Row,   &kBitsAndBloomsRow,   &kBitsAndBloomsJsonRow, &kDcsoRow,     &kGuavaRow,
    &kJavaBytesRow,     &kJaybirdRow, &kJaybirdScalableRow, &kLevelDbRow,           &kLibbloomRow, &kParquetRow,
    &kPybloomfilterRow, &kRbloomRow,  &kRedisBloomRow,      &kRocksDbRow,           &kSbbfRow};

const Row* find_foreign(std::string_view name) noexcept {
  for (const Row* row : kForeignRows) {
    if (name == row->info.name) return row;
  }
  return nullptr;
}

Error foreign_fail(Code code, const ForeignForm& form, const std::string& what) {
  return fail(code, name_of(form) + ": " + what);
}

// Every header ends within as many bytes.
constexpr std::uint64_t kMostHeaderBytes = 65536;

// The code for bits that do not fit their number: the caller (kInvalid) or the bytes (kBody) gave the wrong number.
Code wrong_bits(const Row& row) noexcept { return row.info.needs_size ? Code::kInvalid : Code::kBody; }

void add_name(std::string& names, const char* name) {
  if (!names.empty()) names += " or ";
  names += name;
}

std::string names_of(std::span<const Hash> hashes) {
  std::string names;
  for (const Hash hash : hashes) add_name(names, hash::row_of(hash).info.name);
  return names;
}

Error tells_itself(const Row& row, const ForeignForm& form) {
  return foreign_fail(Code::kInvalid, form,
                      std::string("the format ") + row.info.name +
                          " tells its size and its order. Give no size, layout, seed or order with it.");
}

bool has_size(const Options& given) noexcept {
  return sizing::is_given(given.fpr) || sizing::is_given(given.bits_per_key) || given.max_bytes != 0 ||
         given.num_bits != 0 || given.num_probes != 0 || given.tutorial_sizing || !given.like.empty() ||
         given.part.has_value();
}

// The caller must not give what the bytes say themselves.
Error check_not_given(const Row& row, const ForeignForm& form, const Options& given) {
  if (row.info.needs_size) return {};
  const bool has_capacity = row.info.tells_capacity && given.capacity != 0;
  if (!has_size(given) && !has_capacity && !given.layout && !given.seed && given.seeds.empty()) return {};
  return tells_itself(row, form);
}

Error check_order(const Row& row, const ForeignForm& form) {
  if (!row.info.needs_order || form.order) return {};
  return foreign_fail(
      Code::kInvalid, form,
      std::string("the format ") + row.info.name + " does not tell the order of its bits. Give little or big.");
}

Error check_hash(const Row& row, const Told& told, const ForeignForm& form, const Options& given) {
  const auto& known = row.info.hashes;
  if (given.hash) {
    if (told.hash && *told.hash != *given.hash && !told.hashes_agree) {
      return foreign_fail(Code::kInvalid, form,
                          std::string("its bytes say the hash ") + hash::row_of(*told.hash).info.name + ". Give none.");
    }
    if (known.empty() || std::find(known.begin(), known.end(), *given.hash) != known.end()) return {};
    return foreign_fail(Code::kInvalid, form,
                        std::string("filters in the format ") + row.info.name + " have the hash " + names_of(known) +
                            ". Give one of them.");
  }
  if (told.hash || !given.like.empty()) return {};
  if (!told.doubt.empty()) {
    return foreign_fail(Code::kInvalid, form,
                        told.doubt + ". Give the right hash, " + names_of(known) + " (bf import --hash " +
                            names_of(known.first(1)) + " or --hash " + names_of(known.last(1)) +
                            "), and ask for keys that are in it (--check).");
  }
  return foreign_fail(Code::kInvalid, form,
                      std::string("no hash given, and the format ") + row.info.name +
                          " does not tell it. Give the one that the bits are of.");
}

// A random seed, the usual default, would not fit the bits.
Error check_seed(const ForeignForm& form, const Options& options) {
  const hash::Row* const hash = options.hash ? hash::find(static_cast<std::uint16_t>(*options.hash)) : nullptr;
  if (hash == nullptr || !hash->info.takes_seed || options.seed) return {};
  return foreign_fail(Code::kInvalid, form, "no seed given. Give the one that the bits are of.");
}

}  // namespace

std::string name_of(const ForeignForm& form) {
  return form.name.empty() ? std::string("the foreign filter") : form.name;
}

Result<const Row*> row_of(const ForeignForm& form) {
  const Row* const row = find_foreign(form.format);
  if (row == nullptr) {
    std::string names;
    for (const Row* one : kForeignRows) add_name(names, one->info.name);
    return fail(Code::kInvalid, base::printable(form.format) + ": is not a foreign format. Give " + names + ".");
  }
  if (!row->info.needs_order && form.order) return tells_itself(*row, form);
  if (form.order && *form.order != BitOrder::kLittle && *form.order != BitOrder::kBig)
    return foreign_fail(Code::kInvalid, form, "the order of the bits is neither little nor big. Give one of them.");
  if (row->info.needs_column == form.column.empty()) {
    return foreign_fail(Code::kInvalid, form,
                        row->info.needs_column
                            ? "no column given, and each has filters of its own. Give the name of one."
                            : std::string("the format ") + row->info.name + " has no columns. Give none.");
  }
  return row;
}

Result<Told> read(const Row& row, std::span<const std::byte> first, const ForeignForm& form) {
  auto told = row.read(first, form);
  if (!told) return foreign_fail(told.error().code, form, told.error().message);
  return told;
}

Error SourceInMemory::read(std::span<std::byte> into, std::uint64_t offset) const {
  if (offset > bytes_.size() || into.size() > bytes_.size() - offset)
    return fail(Code::kTooShort, "ends after " + std::to_string(bytes_.size()) + " bytes, within a filter.");
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
  return {};
}

namespace {

bool is_recognized(const Row& row, const Source& source) {
  const auto found = find(row, source, {});
  return found && std::all_of(found->begin(), found->end(), [&](const Told& told) {
           return check_place(row, told, source.size(), told.num_bits, {}).ok();
         });
}

// Bytes without a mark are taken at the caller's word, which is wrong of a file that has another format's mark: each
// lookup would be a wrong no.
Error check_has_no_mark(const Row& row, const Source& source, const ForeignForm& form) {
  if (row.mark != Mark::kNone && !row.info.needs_size) return {};
  for (const Row* other : kForeignRows) {
    if (other->mark == Mark::kStrong && !other->info.needs_size && is_recognized(*other, source))
      return foreign_fail(
          Code::kInvalid, form,
          std::string("is of the format ") + other->info.name + ", not " + row.info.name + ". Give the right one.");
  }
  return {};
}

}  // namespace

Result<std::vector<Told>> find(const Row& row, const Source& source, const ForeignForm& form) {
  if (Error error = check_has_no_mark(row, source, form); !error.ok()) return error;
  if (row.find != nullptr) {
    auto found = row.find(source, form);
    if (!found) return foreign_fail(found.error().code, form, found.error().message);
    return found;
  }
  std::vector<std::byte> first(std::min(source.size(), kMostHeaderBytes));
  if (Error error = source.read(first, 0); !error.ok()) return foreign_fail(error.code, form, error.message);
  auto told = read(row, first, form);
  if (!told) return told.error();
  return std::vector<Told>{std::move(*told)};
}

Result<Told> choose(const Row& row, std::vector<Told> found, const ForeignForm& form) {
  const std::string filters = std::to_string(found.size()) + " filters";
  if (form.member == 0 && found.size() == 1) return std::move(found.front());
  if (form.member == 0) {
    return foreign_fail(Code::kInvalid, form,
                        "has " + filters + " in the format " + row.info.name +
                            ", and a file of bfstore has one. Give the number of one of them, from 1, or ask all of "
                            "them in place.");
  }
  if (form.member <= found.size()) return std::move(found[form.member - 1]);
  return foreign_fail(Code::kInvalid, form, "has " + filters + ", and no number " + std::to_string(form.member) + ".");
}

// A weak mark counts only where no other one is.
std::vector<const char*> recognized(const Source& source) {
  std::vector<const char*> names;
  for (const Mark mark : {Mark::kStrong, Mark::kWeak}) {
    for (const Row* row : kForeignRows) {
      if (row->mark == mark && !row->info.needs_size && is_recognized(*row, source)) names.push_back(row->info.name);
    }
    if (!names.empty()) break;
  }
  return names;
}

Error complete(const Row& row, const Told& told, const ForeignForm& form, Options& options) {
  if (Error error = check_order(row, form); !error.ok()) return error;
  if (Error error = check_not_given(row, form, options); !error.ok()) return error;
  if (Error error = check_hash(row, told, form, options); !error.ok()) return error;
  if (!options.like.empty()) return {};  // that file has all that the bytes do not tell
  if (!options.hash) options.hash = told.hash;
  if (!options.layout) options.layout = row.info.layout;
  if (row.info.needs_size) return check_seed(form, options);
  if (row.info.tells_capacity) options.capacity = told.capacity;
  options.seeds = told.seeds;
  if (told.sized_by_rate) {
    options.fpr = told.fpr;
  } else {
    options.num_bits = told.num_bits;
    options.num_probes = told.num_probes;
    if (told.keeps_rate) options.stated_fpr = told.fpr;
  }
  return {};
}

std::uint64_t whole_bytes(const Told& told, std::uint64_t num_bits) noexcept {
  return told.offset + told.turn.bytes(num_bits) + told.tail_bytes;
}

Error check_length(const Row& row, std::uint64_t bytes, std::uint64_t expected, std::uint64_t num_bits,
                   const ForeignForm& form) {
  if (bytes == expected) return {};
  return foreign_fail(wrong_bits(row), form,
                      "has " + std::to_string(bytes) + " bytes. A filter of " + std::to_string(num_bits) +
                          " bits in the format " + row.info.name + " has exactly " + std::to_string(expected) +
                          " bytes.");
}

namespace {

Error check_decoded(const Row& row, const Told& told, std::uint64_t num_bits, const ForeignForm& form) {
  return check_length(row, told.decoded.size(), told.turn.bytes(num_bits), num_bits, form);
}

}  // namespace

Error check_place(const Row& row, const Told& told, std::uint64_t bytes, std::uint64_t num_bits,
                  const ForeignForm& form) {
  if (!told.decoded.empty()) return check_decoded(row, told, num_bits, form);
  const std::uint64_t whole = whole_bytes(told, num_bits);
  if (row.find == nullptr) return check_length(row, bytes, whole, num_bits, form);
  if (told.offset <= bytes && whole - told.offset <= bytes - told.offset) return {};
  return foreign_fail(Code::kTooShort, form,
                      "has " + std::to_string(bytes) + " bytes, and a filter of " + std::to_string(num_bits) +
                          " bits begins at byte " + std::to_string(told.offset) + ".");
}

Result<Array> array_in(const Row& row, const Told& told, std::span<const std::byte> bytes, std::uint64_t num_bits,
                       const ForeignForm& form) {
  if (Error error = check_place(row, told, bytes.size(), num_bits, form); !error.ok()) return error;
  const std::span<const std::byte> place =
      told.decoded.empty() ? bytes.subspan(told.offset, told.turn.bytes(num_bits)) : told.decoded;
  const Array array(place, told.turn);
  if (!array.has_spare_bits(num_bits)) return array;
  return foreign_fail(wrong_bits(row), form,
                      "has bits after the last one of " + std::to_string(num_bits) +
                          ". Its number of bits or their order is another one.");
}

Error check_shape(const Row& row, const Shape& shape, const std::string& name) {
  const char* const wanted = layout::row_of(row.info.layout).info.name;
  if (shape.layout != row.info.layout) {
    return fail(Code::kUnsupported, name + ": the layout " + layout::row_of(shape.layout).info.name +
                                        " has bits in an order of its own. Filters in the format " + row.info.name +
                                        " are those of the " + wanted + " layout.");
  }
  const auto& known = row.info.hashes;
  if (known.empty() || std::find(known.begin(), known.end(), shape.hash) != known.end()) return {};
  return fail(Code::kUnsupported, name + ": has the hash " + hash::row_of(shape.hash).info.name +
                                      ", and filters in the format " + row.info.name + " have " + names_of(known) +
                                      ".");
}

Error check_written(const ForeignForm& form, const std::string& name) {
  const Row* const row = find_foreign(form.format);
  if (row == nullptr || row->write != nullptr) return {};
  const std::string instead =
      row->written == nullptr ? "" : std::string(" The format ") + row->written + " is written.";
  return fail(Code::kUnsupported,
              name + ": nothing is written in the format " + row->info.name + ", which is only read." + instead);
}

Result<Outline> outline_of(const Row& row, const Saying& filter, const ForeignForm& form, const std::string& name) {
  if (Error error = check_order(row, form); !error.ok()) return error;
  if (Error error = check_shape(row, filter.shape, name); !error.ok()) return error;
  auto outline = row.write(filter, form);
  if (!outline) return fail(outline.error().code, name + ": " + outline.error().message);
  return outline;
}

}  // namespace interop

std::vector<ForeignFormat> foreign_formats() {
  std::vector<ForeignFormat> formats;
  for (const interop::Row* row : interop::kForeignRows) formats.push_back(interop::info_of(*row));
  return formats;
}

Result<ForeignValues> foreign_values(std::span<const std::byte> end, const ForeignForm& form) {
  const auto row = interop::row_of(form);
  if (!row) return row.error();
  if ((*row)->values == nullptr) return ForeignValues{};
  auto values = (*row)->values(interop::SourceInMemory(end), form);
  if (!values) return interop::foreign_fail(values.error().code, form, values.error().message);
  return values;
}

const char* foreign_format_name(std::size_t index) noexcept {
  return index < interop::kForeignRows.size() ? interop::kForeignRows[index]->info.name : nullptr;
}

std::optional<ForeignFormat> foreign_format_named(std::string_view name) noexcept {
  const interop::Row* const row = interop::find_foreign(name);
  if (row == nullptr) return std::nullopt;
  return interop::info_of(*row);
}

}  // namespace bfstore
