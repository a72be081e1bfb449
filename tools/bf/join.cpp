// bf join: makes the whole filter of its parts.
#include "derived.hpp"
#include "filter_use.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_join(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app,
                       "bf join OUT IN... [--filling] [--key-form FORM] [--secret-file PATH] [--mode MODE]\n"
                       "       [--force [--accept-loss]] [-q]");
  add_path(app, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(app, arguments, "every part once, in any order; they stay as they are, and may be in use");
  app.add_flag("--filling", arguments.options.filling, "the filter answers maybe until bf finish-filling");
  add_form_of_sources(app, arguments);
  add_new_file(app, arguments, "replace OUT if it exists");
  add_accept_loss(app, arguments, "OUT");
  add_texts(
      app,
      "The bits of OUT are those that one build of all keys sets. A part that is missing, or there twice, is an error\n"
      "that names it. Two filters of one part are first merged (bf merge). Marks are not taken over, and\n"
      "a note only if all parts have it.\n" +
          std::string(kAboutLoss),
      "Two machines, each with one part in memory, and one filter of both.\n"
      "  bf build part0.bf --from keys.txt --part 0/2 --capacity 10M --seed 1\n"
      "  bf build part1.bf --from keys.txt --part 1/2 --capacity 10M --seed 1\n"
      "  bf join all.bf part0.bf part1.bf");
}

int join(const Arguments& arguments) {
  make_of_sources(arguments, bfstore::Filter::join, &Replaced::refuse_loss_of_parts);
  if (arguments.quiet) return 0;
  const bfstore::Filter made = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Stats stats = made.stats();
  report(arguments.file + ": joined from " + std::to_string(arguments.sources.size()) + " parts, with " +
         key_words(keys_left(stats)) + "; " + shape_words(stats, arguments.file));
  return 0;
}

}  // namespace

const Command kJoin{"join", "Make the whole filter of its parts", declare_join, join};

}  // namespace bf
