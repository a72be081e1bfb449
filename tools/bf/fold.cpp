// bf fold: makes a smaller filter of the same keys.
#include "derived.hpp"
#include "numbers.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_fold(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app, "bf fold FILE SMALLER --to-fpr P [--secret-file PATH] [--mode MODE] [--force [--accept-loss]]\n       [-q]");
  add_file(app, arguments, "the filter; it stays as it is, and may be in use");
  add_path(app, "SMALLER", "the file to make; it appears when it is complete", "", arguments.target)->required();
  add_text(app, "--to-fpr", "the highest false-positive rate that the smaller filter may have with these keys", "P",
           [&](const std::string& name, const std::string& text) { arguments.options.fpr = parse_rate(name, text); })
      ->required();
  add_new_file(app, arguments, "replace SMALLER if it exists; it is another file than FILE");
  add_accept_loss(app, arguments, "SMALLER");
  add_texts(
      app,
      "For a filter that was made too large, since nobody knew how many keys would come. The smaller filter is the\n"
      "one that a build of that size makes from the same keys. Its bits are those of FILE, divided by a whole number.\n"
      "So make a filter that is to be folded with a power of two as its number of bits: --bits 8Gi --probes 7.\n" +
          std::string(kAboutLoss),
      "  bf create large.bf --bits 8Mi --probes 7\n  bf add large.bf --from keys.txt\n"
      "  bf fold large.bf users.bf --to-fpr 0.01");
}

int fold(const Arguments& arguments) {
  refuse_itself(arguments);
  bfstore::SaveOptions options = save_options(arguments);
  options.fpr = arguments.options.fpr;
  save(arguments, options, "folded");
  return 0;
}

}  // namespace

const Command kFold{"fold", "Make a smaller filter of the same keys", declare_fold, fold};

}  // namespace bf
