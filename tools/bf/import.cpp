// bf import: makes a filter of the bytes of another program's filter.
#include "failures.hpp"
#include "filter_use.hpp"
#include "foreign.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "replaced.hpp"
#include "secret.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bf {
namespace {

void declare_import(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf import RAW FILE --order little|big --hash H --bits M (--probes K | --seeds S) [--check KEYS]\n"
      "bf import RAW FILE --order little|big --like OTHER [--check KEYS]\n"
      "bf import RAW FILE --format F [--column C] [--member N] [--hash H] [--check KEYS]\n"
      "options of all: [-0] [--key-form FORM] [--capacity N] " +
          std::string(kShapeUsage),
      {"--format", "--order", "--hash", "--check"});
  add_raw(app, arguments, "M bits in whole bytes, no more; - is standard input");
  add_file(app, arguments, "the filter to make; it appears when it is complete");
  add_order(app, arguments);
  add_format(app, arguments, kUsualFormat);
  add_choice(app, arguments);
  add_path_or_stream(app, "--check", "a list of keys that all must be there; - is standard input", "KEYS",
                     arguments.check);
  add_separator(app, arguments);
  add_key_form(app, arguments);
  add_shape(app, arguments, false, "replace FILE if it exists; its writers get an error");
  add_texts(
      app,
      "Nothing in a bit array tells its number of bits, its hash, its seeds or its order: bf takes your word for "
      "them.\n"
      "If one of them is wrong, the filter calls keys absent that are in it. So give --check a list of keys that the\n"
      "other program added: if one of them is absent, bf makes nothing. The count of keys is an estimate from the "
      "bits.\n"
      "\nA file that tofile() of python-bloomfilter (pybloom, pybloom-live) wrote tells all of it but one thing: "
      "small\n"
      "filters need --hash pybloom-live if version 4 of pybloom-live or a later one made them, and otherwise\n"
      "--hash jaybird. Its keys are str(key): in Python 3 the key b\"x\" is the text b'x'.\n"
      "\nA file of bfstore has one filter: of a file of several, name one with --member, or ask all of them where "
      "they\n"
      "are (bf contains --format).\n"
      "\n--key-form is for other keys than text. The note of the new file keeps it, as the line key-form: FORM, and "
      "bf\n"
      "contains, bf add and the others make the keys of that file in that form, too.\n",
      "What Python's mmh3 and bitarray made, with the seeds 0 to 3, and wrote with tofile().\n"
      "  bf import words.bits words.bf --order big --hash murmur3 --bits 124 --probes 4 --check words.txt");
}

void check_import(Arguments& arguments) {
  const bool is_unsaid = arguments.form.format.empty() && !arguments.is_sized();
  const auto found =
      is_unsaid && arguments.raw != "-" ? recognize(arguments.raw, arguments.any_filesystem) : std::nullopt;
  if (found)
    throw Failure(arguments.raw + ": looks like a filter of the format " + found->formats + ". Give " + found->options +
                  ".");
  if (is_unsaid)
    throw Failure(
        "import: no size given. Give --format if the file is of a format that says its size, or --bits M and --probes "
        "K, or --like OTHER.");
  take_usual_format(arguments);
  if (arguments.raw == "-" && arguments.check == "-")
    throw Failure("import: the bits and the keys cannot both be standard input. Give a path for one of them.");
  check_foreign(arguments);
}

// Reads more until `bytes` has `wanted` bytes, or the source ends.
void read_until(const KeySource& source, std::uint64_t wanted, std::vector<char>& bytes) {
  constexpr std::uint64_t kFirstPiece = 1 << 20;
  std::uint64_t have = bytes.size();
  while (have < wanted) {  // memory grows as the bytes come, because a hostile file may ask for any number
    if (have == bytes.size()) bytes.resize(std::min(wanted, std::max(2 * have, kFirstPiece)));
    const std::size_t got = read_some(source.fd(), bytes.data() + have, bytes.size() - have, source.name());
    if (got == 0) break;
    have += got;
  }
  bytes.resize(have);
}

// "A filter of 124 bits in the format raw has exactly 16 bytes."
std::string length_rule(const bfstore::ForeignFilter& expected) {
  return "A filter of " + grouped(expected.num_bits) + " bits in the format " + expected.format.name + " has exactly " +
         grouped(expected.bytes) + " bytes.";
}

// Reads all of the source. Its first bytes, or the options, say how long it must be, unless only all of its bytes do.
// Tries to read one more byte, to detect a longer source.
std::vector<char> read_foreign(const KeySource& source, const bfstore::ForeignForm& form,
                               const bfstore::Options& options) {
  constexpr std::uint64_t kFirstBytes = 1 << 16;
  const auto in_file = source.bytes();
  std::vector<char> bytes;
  if (bfstore::foreign_format_named(form.format)->needs_all) {
    read_until(source, UINT64_MAX, bytes);
    return bytes;
  }
  read_until(source, kFirstBytes, bytes);
  if (interrupt::pending()) return {};
  const auto told = bfstore::inspect_foreign(std::as_bytes(std::span(bytes)), form, &options);
  if (!told) refuse_other_format(told.error(), form.name);
  const auto expected = unwrap(told, form.name);
  if (in_file && *in_file != expected.bytes)
    throw Failure(form.name + ": has " + grouped(*in_file) + " bytes. " + length_rule(expected));
  read_until(source, expected.bytes + 1, bytes);
  if (interrupt::pending()) return {};
  if (bytes.size() < expected.bytes)
    throw Failure(form.name + ": ends after " + grouped(bytes.size()) + " bytes. " + length_rule(expected));
  if (bytes.size() > expected.bytes) throw Failure(form.name + ": has more bytes. " + length_rule(expected));
  return bytes;
}

// The note of the new file. The bytes may tell the form of the keys.
std::string note_of_imported(const Arguments& arguments, const std::string& name, std::span<const std::byte> bytes) {
  Arguments told = arguments;
  const SecretWiper wiper(told.secret);
  told.key_form = form_of_foreign(arguments, name, bytes);
  return note_of_new(told);
}

// Makes the filter, without a name yet. Returns nothing after an interrupt.
std::optional<bfstore::Filter> import_unpublished(const Arguments& arguments, bool replace) {
  const KeySource source(arguments.raw, "the bits");
  if (source.is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the bit array itself. Name another file.");
  if (const auto own = bfstore::inspect(arguments.raw, false); arguments.raw != "-" && own && own->identity)
    throw Failure(arguments.raw + ": is a bfstore filter already. For another one of its keys: bf copy " +
                  arguments.raw + " " + arguments.file + ".");
  bfstore::ForeignForm form = arguments.form;
  form.name = source.name();
  bfstore::Options options = arguments.options;
  options.replace = replace;
  options.unpublished = true;
  options.note = note_of_new(arguments);
  return with_new_options(arguments, options, [&](const bfstore::Options& all) -> std::optional<bfstore::Filter> {
    const std::vector<char> bytes = read_foreign(source, form, all);
    if (interrupt::pending()) return std::nullopt;
    bfstore::Options noted = all;
    const SecretWiper wiper(noted.secret);
    noted.note = note_of_imported(arguments, form.name, std::as_bytes(std::span(bytes)));
    auto made = bfstore::Filter::import_foreign(arguments.file, std::as_bytes(std::span(bytes)), form, noted);
    if (!made) refuse_other_format(made.error(), form.name);
    return made_filter(std::move(made), arguments.file);
  });
}

[[noreturn]] void fail_absent(const Arguments& arguments, std::string_view key, std::uint64_t number) {
  throw Failure(arguments.raw + ": key " + grouped(number) + " of " + arguments.check + " ('" + std::string(key) +
                "') is not in these bits. Their number, their order, the hash, the seeds or the form of the keys are "
                "other ones, or the key was never added. Nothing was made.");
}

// Checks each key that the user knows to be in the array.
void check_keys(const bfstore::Filter& filter, const Arguments& arguments) {
  KeySource source(arguments.check, arguments.list);
  if (source.is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the list of keys to check. Name another file.");
  KeyReader reader(source);
  KeyMaker maker(form_of_keys(filter.note(), std::nullopt, arguments.file), source.name());
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers{};
  std::vector<std::string_view> lines;
  std::uint64_t asked = 0;
  while (reader.next(lines)) {
    const auto keys = maker.keys_of(lines);
    const bfstore::Count maybes = filter.contains_keys(bfstore::Keys::views(keys), answers);
    if (!maybes.ok()) throw Failure(arguments.file + ": cannot be asked: " + bfstore::code_text(maybes.code()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (answers[i] == 0) fail_absent(arguments, lines[i], asked + i + 1);
    }
    asked += keys.size();
  }
  if (asked == 0 && !interrupt::pending()) throw Failure(source.name() + ": holds no keys, which would check nothing.");
}

int import_array(const Arguments& arguments) {
  interrupt::defer();
  const bool replace = refuse_taken(arguments.file, arguments.options.replace, "Add to it (bf add)");
  std::optional<bfstore::Filter> made = import_unpublished(arguments, replace);
  if (!made || interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  bfstore::Filter& filter = *made;
  if (!arguments.check.empty()) {
    refuse_external(filter, arguments.file);
    check_keys(filter, arguments);
    if (interrupt::pending()) return 2;
  }
  refuse_no_filter(arguments, arguments.file);
  const bfstore::Stats stats = filter.stats();
  const std::string note = filter.note();
  const Displaced displaced(arguments);
  publish(filter, arguments.file);
  displaced.report(stats, note);
  warn_if_useless(stats.shape, arguments.file);
  const std::uint64_t most_keys = keys_within_promise(stats);
  if (keys_left(stats) > most_keys) {
    warn(arguments.file + ": is fuller than the " + key_words(most_keys) +
         " make it with which it keeps its promise. More absent keys than promised are maybe.");
  }
  if (!arguments.quiet) {
    report(arguments.file + ": imported " + grouped(stats.shape.num_bits) + " bits, as full as with " +
           key_words(stats.keys_added) + "; " + shape_words(stats, arguments.file));
  }
  return 0;
}

}  // namespace

const Command kImport{"import", "Make a filter of another program's bit array", declare_import, import_array,
                      check_import};

}  // namespace bf
