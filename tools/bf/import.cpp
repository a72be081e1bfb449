// bf import: a filter of another program's bit array, alone or in the file of python-bloomfilter.
#include "bit_array.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "jaybird.hpp"
#include "numbers.hpp"
#include "options.hpp"

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
      "       bf import RAW FILE --order little|big --like OTHER [--check KEYS]\n"
      "       bf import RAW FILE --format jaybird [--hash H] [--check KEYS]\n"
      "       options of all: [-0] [--capacity N]\n       " +
          std::string(kShapeUsage));
  add_raw(app, arguments, "the bits and nothing else: as many bytes as M bits need; - is standard input");
  add_file(app, arguments, "the filter to make; it appears when it is complete");
  add_order(app, arguments);
  add_format(app, arguments);
  add_path(app, "--check", "keys that must all be in the bits, one a line; - is standard input", "KEYS",
           arguments.check);
  add_separator(app, arguments);
  add_shape(app, arguments, false);
  app.footer(
      "Nothing in a bit array tells its number of bits, its hash, its seeds or its order: bf takes your word for "
      "them.\n"
      "If one of them is wrong, the filter calls keys absent that are in it. So give --check a list of keys that the\n"
      "other program added: if one of them is absent, bf makes nothing. The count of keys is an estimate from the "
      "bits.\n"
      "A file that tofile() of python-bloomfilter (pybloom, pybloom-live) wrote tells all of it but one thing: small\n"
      "filters need --hash pybloom-live if version 4 of pybloom-live or a later one made them, and otherwise\n"
      "--hash jaybird. Its keys are str(key): in Python 3 the key b\"x\" is the text b'x'.\n"
      "\nExample: what Python's mmh3 and bitarray made, with the seeds 0 to 3, and wrote with tofile():\n"
      "  bf import words.bits words.bf --order big --hash murmur3 --bits 124 --probes 4 --check words.txt");
}

// What bf would choose by itself in a new filter, the array does not have.
void check_word(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (arguments.jaybird || !options.like.empty()) return;
  if (!options.hash)
    throw Failure("import: no hash given. Give the one that the bits are of, --hash H, or --like OTHER.");
  if (bfstore::hash_of(*options.hash)->takes_seed && !options.seed)
    throw Failure("import: no seed given. Give the one that the bits are of, --seed S, or --like OTHER.");
}

void check_import(Arguments& arguments) {
  check_bits(arguments);
  if (!arguments.is_sized() && !arguments.jaybird) fail_unsized(arguments);
  check_hash(arguments);
  check_word(arguments);
  if (arguments.raw == "-" && arguments.check == "-")
    throw Failure("import: the bits and the keys cannot both be standard input. Give a path for one of them.");
  check_order(arguments);
}

// The whole array, which is the rest of the source after `read` bytes. A byte more is read to learn of one. Memory is
// taken as the bytes come: the number of bits may be that of a hostile file.
std::vector<char> read_array(const KeySource& source, std::uint64_t num_bits, std::uint64_t read) {
  const std::uint64_t expected = bytes_of(num_bits);
  const std::string rule = "A bit array of " + grouped(num_bits) + " bits has exactly " + grouped(expected) + ".";
  if (source.bytes() && *source.bytes() - std::min(*source.bytes(), read) != expected)
    throw Failure(source.name() + ": has " + grouped(*source.bytes() - read) + " bytes. " + rule);
  constexpr std::uint64_t kFirstPiece = 1 << 20;
  std::vector<char> bits;
  std::uint64_t have = 0;
  while (have <= expected) {
    if (have == bits.size()) bits.resize(std::min(expected + 1, std::max(2 * have, kFirstPiece)));
    const std::size_t got = read_some(source.fd(), bits.data() + have, bits.size() - have, source.name());
    if (got == 0) break;
    have += got;
  }
  if (interrupt::pending()) return {};
  if (have < expected) throw Failure(source.name() + ": ends after " + grouped(have) + " bytes. " + rule);
  if (have > expected) throw Failure(source.name() + ": has more bytes. " + rule);
  bits.resize(expected);
  return bits;
}

JaybirdHeader read_jaybird_header(const KeySource& source) {
  std::array<char, JaybirdHeader::kBytes> bytes;
  std::size_t have = 0;
  while (have < bytes.size()) {
    const std::size_t got = read_some(source.fd(), bytes.data() + have, bytes.size() - have, source.name());
    if (got == 0) {
      throw Failure(source.name() + ": ends after " + grouped(have) +
                    " bytes, within the header of a file of python-bloomfilter.");
    }
    have += got;
  }
  return jaybird_header_of(bytes, source.name());
}

// A filter, and the bits that it is to have.
struct Taken {
  bfstore::Filter filter;
  std::vector<char> bits;
};

Taken take_raw(const KeySource& source, const Arguments& arguments, bfstore::Options options) {
  if (!options.layout && options.like.empty()) options.layout = bfstore::Layout::kClassic;  // no other has such bits
  bfstore::Filter filter = make_filter(arguments, options);
  std::vector<char> bits = read_array(source, filter.shape().num_bits, 0);
  return {std::move(filter), std::move(bits)};
}

// The filter is made when the bits are there: the header of a hostile file may ask for any size.
Taken take_jaybird(const KeySource& source, const Arguments& arguments, const bfstore::Options& options) {
  const JaybirdHeader header = read_jaybird_header(source);
  const bfstore::Options sized = jaybird_options(header, options, source.name());
  std::vector<char> bits = read_array(source, header.num_bits(), JaybirdHeader::kBytes);
  return {make_filter(arguments, sized), std::move(bits)};
}

[[noreturn]] void fail_absent(const Arguments& arguments, std::string_view key, std::uint64_t number) {
  throw Failure(arguments.raw + ": key " + grouped(number) + " of " + arguments.check + " ('" + std::string(key) +
                "') is not in these bits. Their number, their order, the hash or the seeds are other ones, or the key "
                "was never added. Nothing was made.");
}

// Each key that the user knows to be in the array.
void check_keys(const bfstore::Filter& filter, const Arguments& arguments) {
  KeySource source(arguments.check, arguments.list);
  if (source.is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the list of keys to check. Name another file.");
  KeyReader reader(source);
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers{};
  std::vector<std::string_view> keys;
  std::uint64_t asked = 0;
  while (reader.next(keys)) {
    const bfstore::Count maybes = filter.contains_keys(bfstore::Keys::views(keys), answers);
    if (!maybes.ok()) throw Failure(arguments.file + ": cannot be asked: " + bfstore::code_text(maybes.code()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (answers[i] == 0) fail_absent(arguments, keys[i], asked + i + 1);
    }
    asked += keys.size();
  }
  if (asked == 0 && !interrupt::pending()) throw Failure(source.name() + ": holds no keys, which would check nothing.");
}

int import_array(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  bfstore::Options options = arguments.options;
  options.unpublished = true;
  std::optional<Taken> taken;
  {
    const KeySource source(arguments.raw, "the bits");
    if (source.is_same_file(arguments.file))
      throw Failure(arguments.file + ": is the bit array itself. Name another file.");
    taken = arguments.jaybird ? take_jaybird(source, arguments, options) : take_raw(source, arguments, options);
  }
  if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  bfstore::Filter& filter = taken->filter;
  check(filter.import_bits(std::as_bytes(std::span(taken->bits)), *arguments.order), arguments.raw);
  taken->bits = {};
  if (!arguments.check.empty()) {
    refuse_external(filter, arguments.file);
    check_keys(filter, arguments);
    if (interrupt::pending()) return 2;
  }
  const bfstore::Stats stats = filter.stats();
  publish(filter, arguments.file);
  const std::uint64_t most_keys = keys_within_promise(stats.shape);
  if (keys_left(stats) > most_keys) {
    complain(arguments.file + ": is fuller than the " + key_words(most_keys) +
             " make it with which it keeps its promise. More absent keys than promised are maybe.");
  }
  if (!arguments.quiet) {
    report(arguments.file + ": imported " + grouped(stats.shape.num_bits) + " bits, as full as with " +
           key_words(stats.keys_added) + "; " + shape_words(stats));
  }
  return 0;
}

}  // namespace

const Command kImport{"import", "Make a filter of another program's bit array", declare_import, import_array,
                      check_import};

}  // namespace bf
