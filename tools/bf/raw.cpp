// bf import and bf export: the bit arrays of other programs.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "whole_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bf {
namespace {

std::uint64_t bytes_of(const bfstore::Filter& filter) { return (filter.shape().num_bits + 7) / 8; }

// The whole array, which has exactly so many bytes. A byte more is read to learn of one.
std::vector<char> read_array(const KeySource& source, const bfstore::Filter& filter) {
  const std::uint64_t expected = bytes_of(filter);
  const std::string rule =
      "A bit array of " + grouped(filter.shape().num_bits) + " bits has exactly " + grouped(expected) + ".";
  if (source.bytes() && *source.bytes() != expected)
    throw Failure(source.name() + ": has " + grouped(*source.bytes()) + " bytes. " + rule);
  std::vector<char> bits(expected + 1);
  std::uint64_t have = 0;
  while (have < bits.size()) {
    const std::size_t got = read_some(source.fd(), bits.data() + have, bits.size() - have, source.name());
    if (got == 0) break;
    have += got;
  }
  if (interrupt::pending()) return {};
  if (have < expected) throw Failure(source.name() + ": ends after " + grouped(have) + " bytes. " + rule);
  if (have > expected) throw Failure(source.name() + ": has more bytes. " + rule);
  bits.pop_back();
  return bits;
}

[[noreturn]] void fail_absent(const Arguments& arguments, std::string_view key, std::uint64_t number) {
  throw Failure(arguments.raw + ": key " + grouped(number) + " of " + arguments.check + " ('" + std::string(key) +
                "') is not in these bits. Their number, their order, the hash or the seeds are other ones, or the key "
                "was never added. Nothing was made.");
}

// Each key that the user knows to be in the array.
void check_keys(const bfstore::Filter& filter, const Arguments& arguments) {
  const KeySource source(arguments.check);
  KeyReader reader(source.fd(), source.name(), arguments.separator);
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers{};
  std::vector<std::string_view> keys;
  std::uint64_t asked = 0;
  while (reader.next(keys)) {
    if (asked == 0 && reader.first_line_ends_in_cr()) warn_of_cr(source.name());
    const bfstore::Count maybes = filter.contains_keys(bfstore::Keys::views(keys), answers);
    if (!maybes.ok()) throw Failure(arguments.file + ": cannot be asked: " + bfstore::code_text(maybes.code()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (answers[i] == 0) fail_absent(arguments, keys[i], asked + i + 1);
    }
    asked += keys.size();
  }
  if (asked == 0 && !interrupt::pending()) throw Failure(source.name() + ": holds no keys, which would check nothing.");
}

}  // namespace

int import_array(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  bfstore::Options options = arguments.options;
  options.unpublished = true;
  if (!options.layout && options.like.empty()) options.layout = bfstore::Layout::kClassic;  // no other has such bits
  bfstore::Filter filter = make_filter(arguments, options);
  {
    const KeySource source(arguments.raw, "the bits");
    if (source.is_same_file(arguments.file))
      throw Failure(arguments.file + ": is the bit array itself. Name another file.");
    const std::vector<char> bits = read_array(source, filter);
    if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
    check(filter.import_bits(std::as_bytes(std::span(bits)), *arguments.order), arguments.raw);
  }
  if (!arguments.check.empty()) {
    refuse_external(filter, arguments.file);
    check_keys(filter, arguments);
    if (interrupt::pending()) return 2;
  }
  const bfstore::Stats stats = filter.stats();
  publish(filter, arguments.file);
  if (stats.saturated) {
    complain(arguments.file + ": is fuller than the " + key_words(stats.shape.capacity) +
             " that it has room for make it. More absent keys than promised are maybe.");
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
  if (!to_output) refuse_taken(arguments.raw, arguments.options.replace);
  const bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  std::vector<std::byte> bits(bytes_of(filter));
  check(filter.export_bits(bits, *arguments.order), arguments.file);
  const std::string_view bytes(reinterpret_cast<const char*>(bits.data()), bits.size());
  if (to_output) {
    Output output;
    output.append(bytes);
    output.flush();
    return 0;
  }
  if (KeySource(arguments.file, "the filter").is_same_file(arguments.raw))
    throw Failure(arguments.raw + ": is the filter itself. Name another file.");
  write_whole(arguments.raw, bytes, arguments.options.replace, arguments.options.mode);
  if (!arguments.quiet)
    report(arguments.raw + ": exported " + grouped(filter.shape().num_bits) + " bits in " + grouped(bits.size()) +
           " bytes");
  return 0;
}

}  // namespace bf
