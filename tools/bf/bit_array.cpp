// See bit_array.hpp.
#include "bit_array.hpp"

#include "commands.hpp"
#include "failure.hpp"
#include "words.hpp"

namespace bf {
namespace {

bfstore::BitOrder parse_order(const std::string& option, const std::string& text) {
  if (text == "little") return bfstore::BitOrder::kLittle;
  if (text == "big") return bfstore::BitOrder::kBig;
  throw Failure(option + ": '" + text + "' is no order of bits. Give little or big.");
}

// The file of python-bloomfilter has a header, from which all of this follows.
void check_jaybird(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (arguments.is_sized() || options.fpr != 0 || options.bits_per_key != 0 || options.max_bytes != 0 ||
      options.num_probes != 0 || options.layout || options.seed || !options.seeds.empty() || options.tutorial_sizing ||
      arguments.order) {
    throw Failure(
        "--format: a file of python-bloomfilter tells its size and its order. Give no size, layout, seed or order with "
        "jaybird.");
  }
  const auto& hash = options.hash;
  if (hash && *hash != bfstore::Hash::kJaybird && *hash != bfstore::Hash::kPybloomLive)
    throw Failure("--hash: a file of python-bloomfilter has the hash jaybird or pybloom-live. Give one of them.");
}

}  // namespace

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path(app, "RAW", help, "", arguments.raw)->required();
}

void add_order(CLI::App& app, Arguments& arguments) {
  add_text(app, "--order",
           "which bit of a byte comes first: little is the lowest, as in C and Java; big is bitarray's in Python",
           "little|big",
           [&](const std::string& name, const std::string& text) { arguments.order = parse_order(name, text); });
}

void add_format(CLI::App& app, Arguments& arguments) {
  add_text(app, "--format", "raw (default): the bits alone; jaybird: the file of python-bloomfilter's BloomFilter",
           "raw|jaybird", [&](const std::string& name, const std::string& text) {
             if (text != "raw" && text != "jaybird")
               throw Failure(name + ": '" + text + "' is not a format. Give raw or jaybird.");
             arguments.jaybird = text == "jaybird";
           });
}

void check_order(Arguments& arguments) {
  if (arguments.jaybird) {
    check_jaybird(arguments);
    arguments.order = bfstore::BitOrder::kLittle;
  }
  if (!arguments.order)
    throw Failure(std::string(arguments.command->name) + ": no order of the bits given. Give --order little or big.");
}

}  // namespace bf
