// bf fold: makes a smaller filter of the same keys.
#include "derived.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_fold(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf fold FILE SMALLER [--to-fpr P] [--secret-file PATH] [--mode MODE] [--force [--accept-loss]]\n       [-q]");
  add_file(app, arguments, "the filter; it stays as it is, and may be in use");
  add_path(app, "SMALLER", "the file to make; it appears when it is complete", "", arguments.target)->required();
  add_to_fpr(app, arguments,
             "the highest false-positive rate that the smaller filter may have with these keys (default: the promised "
             "rate of FILE)");
  add_new_file(app, arguments, "replace SMALLER if it exists; it is another file than FILE");
  add_accept_loss(app, arguments, "SMALLER");
  add_texts(
      app,
      "For a filter that was made too large, since nobody knew how many keys would come (bf create\n"
      "--capacity-at-most). The smaller filter is the one that a build of that size makes from the same keys. Its "
      "bits\n"
      "are those of FILE, divided by a whole number: with --capacity-at-most many numbers divide them, and\n"
      "otherwise few may. bf copy --to-fpr and bf seal --to-fpr fold, too. A filter of the layout growing is not "
      "folded:\n"
      "it begins small, and grows while it is used (bf plan --grow-to compares the ways).\n" +
          std::string(kAboutLoss),
      "  bf create large.bf --capacity-at-most 1M\n  bf add large.bf --from keys.txt\n"
      "  bf fold large.bf users.bf");
}

int fold(const Arguments& arguments) {
  refuse_itself(arguments);
  save(arguments, save_options(arguments), Form::kFolded);
  return 0;
}

}  // namespace

const Command kFold{"fold", "Make a smaller filter of the same keys", declare_fold, fold};

}  // namespace bf
