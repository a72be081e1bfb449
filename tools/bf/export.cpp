// bf export: writes a filter's bytes for another program.
#include "failures.hpp"
#include "filter_use.hpp"
#include "foreign.hpp"
#include "interrupt.hpp"
#include "list_kind.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "whole_file.hpp"

#include <bfstore/hashes.hpp>
#include <bfstore/layouts.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace bf {
namespace {

void declare_export(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app, "bf export FILE RAW (--order little|big | --format F) [--secret-file PATH] [--mode MODE] [--force] [-q]");
  add_file(app, arguments, "the filter, of the classic layout; it stays as it is, and may be in use");
  add_raw(app, arguments, "the file to make; it appears when it is complete; - is standard output");
  add_order(app, arguments);
  add_format(app, arguments, kUsualFormat);
  add_new_file(app, arguments, "replace RAW if it exists");
  add_texts(
      app,
      "RAW has the bits and nothing else. The other program needs their number, the hash and the seeds, too: "
      "bfinspect\n"
      "tells them. With --format jaybird, BloomFilter.fromfile() of python-bloomfilter reads the file; the filter was\n"
      "made with --hash jaybird or pybloom-live, --capacity and --fpr, or imported from a file of that size.\n",
      "  bf export words.bf words.bits --order big");
}

void check_export(Arguments& arguments) {
  take_usual_format(arguments);
  check_order(arguments);
}

// The error, and for a filter whose kind the format does not have, the filter that it has.
void check_kind(const bfstore::Error& error, const bfstore::Shape& shape, const Arguments& arguments) {
  const bfstore::ForeignFormat format = format_of(arguments);
  const auto& hashes = format.hashes;
  const bool has_its_hash = hashes.empty() || std::find(hashes.begin(), hashes.end(), shape.hash) != hashes.end();
  if (error.code != bfstore::Code::kUnsupported || (shape.layout == format.layout && has_its_hash)) return;
  if (error.message.find(" is only read.") != std::string::npos) return;
  // Such a format wants seeds or a size of its own, which bf build does not choose.
  if (!hashes.empty() && bfstore::hash_of(hashes.front())->takes_seeds) return;
  throw Failure(error.message + " Build one from all keys: bf build NEW --from KEYS --layout " +
                bfstore::layout_of(format.layout)->name +
                (hashes.empty() ? "" : std::string(" --hash ") + bfstore::hash_of(hashes.front())->name) + ".");
}

// Bits are any bytes. What is surely something else is kept.
std::string why_no_export_replaces(std::string_view first) {
  const std::string kept = ", and --force replaces exported filters alone";
  if (const auto kind = kind_of(first)) return "is " + std::string(kind->words) + kept;
  return looks_like_text(first) ? "looks like a list of keys" + kept : "";
}

int export_array(const Arguments& arguments) {
  interrupt::defer();
  const bool to_output = arguments.raw == "-";
  if (!to_output) refuse_taken(arguments.raw, true);  // write_whole() asks for --force
  const bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  bfstore::ForeignForm form = arguments.form;
  form.name = to_output ? arguments.file : arguments.raw;
  const auto num_bytes = filter.exported_bytes(form);
  if (!num_bytes) check_kind(num_bytes.error(), filter.shape(), arguments);
  std::string bytes(unwrap(num_bytes, arguments.file), '\0');
  check(filter.export_foreign(std::as_writable_bytes(std::span(bytes)), form), arguments.file);
  if (to_output) {
    Output output;
    output.append(bytes);
    output.flush();
    return 0;
  }
  if (KeySource(arguments.file, "the filter").is_same_file(arguments.raw))
    throw Failure(arguments.raw + ": is the filter itself. Name another file.");
  tools::write_whole(arguments.raw, bytes, arguments.options.replace, why_no_export_replaces, 0600,
                     arguments.options.mode);
  if (!arguments.quiet)
    report(arguments.raw + ": exported " + grouped(filter.shape().num_bits) + " bits in " + grouped(bytes.size()) +
           " bytes");
  return 0;
}

}  // namespace

const Command kExport{"export", "Write a filter's bits for another program", declare_export, export_array,
                      check_export};

}  // namespace bf
