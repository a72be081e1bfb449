// bf verify: compares a sealed filter with its checksums.
#include "damaged.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/seal.hpp>

namespace bf {
namespace {

void declare_verify(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf verify FILE [-q]");
  add_file(app, arguments, "the sealed filter");
  add_quiet(app, arguments);
  add_texts(app,
            "Reads it from end to end. Prints the damaged bytes, one range on each line.\n"
            "bf contains --tolerate-damage uses a damaged filter, and answers maybe for keys in damaged places.\n",
            "  bf verify users.sealed.bf || bf build users.bf --force --from users.txt",
            {{"0", "the file is whole"},
             {"1", "it is damaged"},
             {"2", "an error: it is not sealed, or its header is damaged"}});
}

std::string longer_words(const std::string& file) {
  const auto report = bfstore::inspect(file, false);
  return report && report->bytes_after != 0 ? "; " + tools::bytes_after_words(report->bytes_after) : "";
}

int verify(const Arguments& arguments) {
  const bfstore::Verification found = unwrap(bfstore::verify(arguments.file), arguments.file);
  const std::string chunks = grouped(found.num_chunks) + (found.num_chunks == 1 ? " chunk" : " chunks") + " of 64 KiB";
  if (found.damaged.empty()) {
    if (!arguments.quiet) report(arguments.file + ": is as it was sealed, " + chunks + longer_words(arguments.file));
    return 0;
  }
  for (const bfstore::DamagedRange& range : found.damaged) {
    report(arguments.file + ": damaged: bytes " + std::to_string(range.offset) + " to " +
           std::to_string(range.offset + range.bytes - 1));
  }
  const std::string what = found.num_damaged_chunks == 0 ? "its header or its checksums are"
                                                         : grouped(found.num_damaged_chunks) + " of " + chunks +
                                                               (found.num_damaged_chunks == 1 ? " is" : " are");
  complain(arguments.file + ": " + what + " damaged. Rebuild it (" + tools::build_again(arguments.file) + "), " +
           tools::or_put_copy_back(arguments.file, true));
  return 1;
}

}  // namespace

const Command kVerify{"verify", "Compare a sealed filter with its checksums", declare_verify, verify};

}  // namespace bf
