// See foreign.hpp.
#include "foreign.hpp"

#include "commands.hpp"
#include "failures.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <bfstore/hashes.hpp>
#include <bfstore/inspect.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string_view>
#include <vector>

namespace bf {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats()) names.emplace_back(format.name);
  return names;
}

namespace {

bfstore::BitOrder parse_order(const std::string& option, const std::string& text) {
  if (text == "little") return bfstore::BitOrder::kLittle;
  if (text == "big") return bfstore::BitOrder::kBig;
  throw Failure(option + ": '" + text + "' is no order of bits. Give little or big.");
}

// "raw or jaybird"
template <class Name>
std::string joined(const std::vector<Name>& names) {
  std::string text;
  for (const Name& name : names) text += (text.empty() ? "" : " or ") + std::string(name);
  return text;
}

// "the program's format (raw): see bf help formats"
std::string about_formats(const std::string& usual) {
  return "the program's format" + (usual.empty() ? "" : " (" + usual + ")") + ": see bf help formats";
}

// The bytes do not tell values that bf would choose by itself in a new filter, so they must be given.
void check_word(const Arguments& arguments, const bfstore::ForeignFormat& format) {
  const bfstore::Options& options = arguments.options;
  if (!format.hashes.empty() || !options.like.empty()) return;
  const std::string name = arguments.command->name;
  if (!options.hash)
    throw Failure(name + ": no hash given. Give the one that the bits are of, --hash H, or --like OTHER.");
  if (bfstore::hash_of(*options.hash)->takes_seed && !options.seed)
    throw Failure(name + ": no seed given. Give the one that the bits are of, --seed S, or --like OTHER.");
}

}  // namespace

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path_or_stream(app, "RAW", help, "", arguments.raw)->required();
}

void add_order(CLI::App& app, Arguments& arguments) {
  add_text(app, "--order",
           "which bit of a byte comes first: little is the lowest, as in C and Java; big is bitarray's in Python",
           "little|big",
           [&](const std::string& name, const std::string& text) { arguments.form.order = parse_order(name, text); });
}

CLI::Option* add_format(CLI::App& app, Arguments& arguments, const std::string& usual) {
  return add_text(app, "--format", about_formats(usual), "F", [&](const std::string& name, const std::string& text) {
    if (!bfstore::foreign_format_named(text))
      throw Failure(name + ": '" + text + "' is not a format. Give " + joined(format_names()) + ".");
    arguments.form.format = text;
  });
}

void add_choice(CLI::App& app, Arguments& arguments) {
  add_text(app, "--column", "the column that is meant, in a format whose columns have filters of their own", "C",
           [&](const std::string& name, const std::string& text) {
             if (text.empty()) throw Failure(name + ": the name is empty. Give the name of a column.");
             arguments.form.column = text;
           });
  add_text(app, "--member", "the only filter that is meant of a file of several, from 1", "N",
           [&](const std::string& name, const std::string& text) {
             arguments.form.member = parse_small(name, text, std::numeric_limits<std::uint32_t>::max());
           });
}

void take_usual_format(Arguments& arguments) {
  if (arguments.form.format.empty()) arguments.form.format = kUsualFormat;
}

bfstore::ForeignFormat format_of(const Arguments& arguments) {
  return *bfstore::foreign_format_named(arguments.form.format);
}

void check_order(const Arguments& arguments) {
  if (format_of(arguments).needs_order && !arguments.form.order)
    throw Failure(std::string(arguments.command->name) + ": no order of the bits given. Give --order little or big.");
}

void check_foreign(const Arguments& arguments) {
  const bfstore::ForeignFormat format = format_of(arguments);
  check_bits(arguments);
  if (!arguments.is_sized() && format.needs_size) fail_unsized(arguments);
  check_hash(arguments);
  check_word(arguments, format);
  if (format.needs_column && arguments.form.column.empty())
    throw Failure(std::string(arguments.command->name) + ": no column given. Give the one that is meant, --column C.");
  check_order(arguments);
}

std::string recognized_format(const std::string& file) {
  const auto found = bfstore::recognize_foreign(file, {.any_filesystem = true});
  if (!found) throw Failure(found.error().message);
  if (found->size() == 1) return found->front();
  if (found->empty())
    throw Failure(file + ": is no filter of bfstore, nor of a format that tells what it is. Give its --format.");
  throw Failure(file + ": looks like a filter of the format " + joined(*found) + ". Give the right one: --format F.");
}

namespace {

// " --hash rbloom" for a file whose bytes do not tell its hash, and nothing for other files.
std::string hash_option(const std::string& file, const char* format) {
  const auto told = bfstore::inspect_foreign_file(file, {.format = format}, {.any_filesystem = true});
  if (!told || told->hash) return "";
  std::vector<std::string> options;
  for (const bfstore::Hash hash : told->format.hashes)
    options.push_back(std::string("--hash ") + bfstore::hash_of(hash)->name);
  return options.size() == 1 ? " " + options.front() : " and " + joined(options);
}

}  // namespace

std::optional<Recognized> recognize(const std::string& file, bool any_filesystem) {
  const auto found = bfstore::recognize_foreign(file, {.any_filesystem = any_filesystem});
  if (!found || found->empty()) return std::nullopt;
  const std::string names = joined(*found);
  const bool has_columns = std::any_of(
      found->begin(), found->end(), [](const char* name) { return bfstore::foreign_format_named(name)->needs_column; });
  return Recognized{names, "--format " +
                               (found->size() == 1 ? names + hash_option(file, found->front()) : "and the right one") +
                               (has_columns ? ", and --column" : "")};
}

void refuse_own_format(const std::string& file) {
  const auto report = bfstore::inspect(file, false);
  if (!report || !report->identity) return;
  throw Failure(file + ": is a bfstore filter, and --format is for files of other programs. Leave --format out.");
}

void refuse_other_format(const bfstore::Error& error, const std::string& name) {
  if (!error.message.starts_with(name + ": is not ")) return;
  const auto found = recognize(name, true);
  throw Failure(error.message +
                (found ? " It looks like one of the format " + found->formats + ": give " + found->options + "."
                       : " Give another --format (bf help formats), or the file as the other program wrote it."));
}

void refuse_foreign(const std::string& file, const Arguments& arguments) {
  const auto found = recognize(file, arguments.any_filesystem);
  if (!found) return;
  throw Failure(file + ": is no bfstore filter. It looks like one of the format " + found->formats + ": give " +
                found->options + ".");
}

namespace {

// The last step of the form of keys that are values of this type and meaning. The first row that fits is the one.
struct ValueForm {
  std::string_view type;
  std::string_view meaning;  // empty: any
  const char* last_step;     // nullptr: any that makes no number
  bool is_certain;           // a line says the value, so that no --key-form is needed
};

// A line for a decimal, a date or a time would be a number of another unit than the file's, such as 12 for 12.00.
constexpr std::array kValueForms{ValueForm{"INT32", "DECIMAL", "int32le", false},
                                 ValueForm{"INT32", "DATE", "int32le", false},
                                 ValueForm{"INT32", "TIME", "int32le", false},
                                 ValueForm{"INT32", "", "int32le", true},
                                 ValueForm{"INT64", "DECIMAL", "int64le", false},
                                 ValueForm{"INT64", "TIME", "int64le", false},
                                 ValueForm{"INT64", "TIMESTAMP", "int64le", false},
                                 ValueForm{"INT64", "", "int64le", true},
                                 ValueForm{"FLOAT", "", "float", true},
                                 ValueForm{"DOUBLE", "", "double", true},
                                 ValueForm{"BYTE_ARRAY", "DECIMAL", "hex", false},
                                 ValueForm{"BYTE_ARRAY", "", nullptr, true},
                                 ValueForm{"FIXED_LEN_BYTE_ARRAY", "DECIMAL", "hex", false},
                                 ValueForm{"FIXED_LEN_BYTE_ARRAY", "UUID", "hex", false},
                                 ValueForm{"FIXED_LEN_BYTE_ARRAY", "FLOAT16", "hex", false},
                                 ValueForm{"FIXED_LEN_BYTE_ARRAY", "INTERVAL", "hex", false},
                                 ValueForm{"FIXED_LEN_BYTE_ARRAY", "", nullptr, false},
                                 ValueForm{"", "", "hex", false}};

bool makes_number(const KeyForm& form) {
  const std::string_view last = form.last_step();
  return last == "int32le" || last == "int64le" || last == "float" || last == "double";
}

// True if these last bytes of a file of Parquet have all of its footer, whose length is before the last 4 bytes.
bool footer_is_in(std::span<const char> end) {
  constexpr std::size_t kAround = 12;  // the length, and the magic bytes at the end of the file, and before the footer
  if (end.size() < kAround) return false;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < 4; ++i)
    bytes |= std::uint64_t{static_cast<unsigned char>(end[end.size() - 8 + i])} << (8 * i);
  return bytes <= end.size() - kAround;
}

// "--key-form int32le, with the number that the file stores"
std::string advice(const ValueForm& row) {
  if (row.last_step == nullptr) return "--key-form hex with the bytes of the value, or another form that makes them";
  return std::string("--key-form ") + row.last_step +
         (row.last_step == std::string_view("hex") ? " with the bytes of the value"
                                                   : " with the number that the file stores");
}

}  // namespace

std::optional<KeyForm> form_of_foreign(const Arguments& arguments, const std::string& file,
                                       std::span<const std::byte> end) {
  bfstore::ForeignForm form = arguments.form;
  form.name = file;
  const auto values = bfstore::foreign_values(end, form);
  if (!values) throw Failure(values.error().message);
  const auto& given = arguments.key_form;
  if (values->type.empty()) return given;
  const auto* const row = std::find_if(kValueForms.begin(), kValueForms.end(), [&](const ValueForm& one) {
    return (one.type.empty() || one.type == values->type) && (one.meaning.empty() || one.meaning == values->meaning);
  });
  const std::string what = file + ": the values of the column " + form.column + " are " + values->type +
                           (values->meaning.empty() ? "" : " (" + values->meaning + ")");
  if (!given && !row->is_certain)
    throw Failure(what + ", and a line does not tell their bytes. Give " + advice(*row) + ".");
  if (!given) return row->last_step == nullptr ? std::nullopt : KeyForm::named(row->last_step);
  if (row->last_step == nullptr ? !makes_number(*given) : given->last_step() == std::string_view(row->last_step))
    return given;
  throw Failure(what + ", so the form " + given->name() + " would make every answer no. " +
                (row->is_certain ? "Leave --key-form out." : "Give " + advice(*row) + "."));
}

std::optional<KeyForm> form_of_foreign(const Arguments& arguments, const std::string& file) {
  if (!format_of(arguments).needs_column) return arguments.key_form;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  std::vector<char> end;
  // The footer is at the end, and mostly small. Each time that it is larger, a larger part is read.
  for (std::uint64_t wanted = std::uint64_t{1} << 16;; wanted *= 16) {
    stream.seekg(0, std::ios::end);
    const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(stream.tellg(), 0));
    end.resize(std::min(wanted, size));
    stream.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
    stream.read(end.data(), static_cast<std::streamsize>(end.size()));
    if (!stream) throw Failure(file + ": its footer cannot be read.");
    if (end.size() == size || footer_is_in(end)) return form_of_foreign(arguments, file, std::as_bytes(std::span(end)));
  }
}

}  // namespace bf
