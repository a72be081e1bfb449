// bf copy: makes a clean copy of a filter, which may be in use.
#include "derived.hpp"
#include "failures.hpp"
#include "options.hpp"

#include <bfstore/bfstore.hpp>
#include <bfstore/inspect.hpp>

#include <optional>

namespace bf {
namespace {

void declare_copy(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf copy FILE COPY [--filling] [--to-fpr P] [--secret-file PATH] [--mode MODE] [--force [--accept-loss]] [-q]");
  add_file(app, arguments, "the filter; it stays as it is, and may be in use");
  add_path(app, "COPY", "the file to make; it appears when it is complete", "", arguments.target)->required();
  app.add_flag("--filling", arguments.options.filling,
               "the copy answers maybe to everything until bf finish-filling: to put an old copy back");
  add_to_fpr(app, arguments, "fold the copy: make it as small as this false-positive rate allows (see bf fold)");
  add_new_file(app, arguments, "replace COPY if it exists; it is another file than FILE");
  add_accept_loss(app, arguments, "COPY");
  add_texts(
      app,
      "The copy has every key up to its marks, and every key that was added before the command began. cp of a file\n"
      "in use makes a file that is refused. The copy of a sealed filter is not sealed, unless its layout is static: "
      "bf\n"
      "seal makes a sealed copy.\n"
      "\nNever put an old copy back with cp or mv: keys that were added after the copy would be called absent. Build "
      "the\n"
      "filter again (bf build --force), or take the last three steps below. newer.txt has every key that was added\n"
      "since the copy, and may have more; if you cannot tell which keys these are, list all keys in it.\n"
      "A static or sealed filter gets no keys after it was made: bf seal COPY FILE --force puts a copy of the same "
      "file\n"
      "back in one step. If FILE is damaged so that bf cannot tell whether it is the same, and COPY was made after "
      "its\n"
      "last key came: --accept-loss, too.\n"
      "A COPY that may have keys which FILE lacks is not replaced without --filling or --accept-loss: bf compares the\n"
      "bits. It cannot compare another filter (seed, size, layout), a static one or one whose keys expire: unless such "
      "a\n"
      "filter is empty, it is not replaced without --accept-loss either.\n",
      "  bf copy users.bf backup/users.bf\n"
      "  # To put it back: it answers maybe to everything until the last step.\n"
      "  bf copy --filling --force backup/users.bf users.bf\n"
      "  bf add users.bf --from newer.txt\n"
      "  bf finish-filling users.bf");
}

// Such a copy is sealed, and would wait for keys that it cannot get. The library says what is wrong with other files.
void refuse_to_fill(const Arguments& arguments) {
  if (!arguments.options.filling) return;
  const auto report = bfstore::inspect(arguments.file, false);
  const auto layout =
      report.ok() && report->identity ? bfstore::layout_of(bfstore::Layout{report->identity->layout}) : std::nullopt;
  if (!layout || !layout->can.build || arguments.options.fpr != 0) return;
  throw Failure(arguments.file + ": no keys are added to a filter of the layout " + layout->name +
                ", so its copy has none to wait for. Leave --filling out: bf copy " + arguments.file + " " +
                arguments.target + " --force.");
}

int copy(const Arguments& arguments) {
  refuse_itself(arguments);
  refuse_to_fill(arguments);
  save(arguments, save_options(arguments), Form::kCopied);
  return 0;
}

}  // namespace

const Command kCopy{"copy", "Make a clean copy of a filter, also while others add to it", declare_copy, copy};

}  // namespace bf
