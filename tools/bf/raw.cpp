// bf import and bf export: the bit arrays of other programs, alone or in the file of python-bloomfilter.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "jaybird.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "whole_file.hpp"

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

std::uint64_t bytes_of(std::uint64_t num_bits) { return (num_bits + 7) / 8; }

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

// What stands before the bits.
std::string header_for(const bfstore::Filter& filter, const Arguments& arguments) {
  if (!arguments.jaybird) return "";
  const auto header = encoded(jaybird_header_of(filter.stats(), arguments.file));
  return {header.data(), header.size()};
}

}  // namespace

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

int export_array(const Arguments& arguments) {
  interrupt::defer();
  const bool to_output = arguments.raw == "-";
  if (!to_output) refuse_taken(arguments.raw, true);  // write_whole() asks for --force
  const bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  const std::string header = header_for(filter, arguments);
  std::string bytes(header.size() + bytes_of(filter.shape().num_bits), '\0');
  std::copy(header.begin(), header.end(), bytes.begin());
  const auto bits = std::as_writable_bytes(std::span(bytes)).subspan(header.size());
  check(filter.export_bits(bits, *arguments.order), arguments.file);
  if (to_output) {
    Output output;
    output.append(bytes);
    output.flush();
    return 0;
  }
  if (KeySource(arguments.file, "the filter").is_same_file(arguments.raw))
    throw Failure(arguments.raw + ": is the filter itself. Name another file.");
  write_whole(arguments.raw, bytes, arguments.options.replace, 0600, arguments.options.mode);
  if (!arguments.quiet)
    report(arguments.raw + ": exported " + grouped(filter.shape().num_bits) + " bits in " + grouped(bytes.size()) +
           " bytes");
  return 0;
}

}  // namespace bf
