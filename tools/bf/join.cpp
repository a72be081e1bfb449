// bf join: the whole filter of its parts.
#include "commands.hpp"
#include "derived.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "words.hpp"

#include <CLI/CLI.hpp>

#include <vector>

namespace bf {
namespace {

void declare_join(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf join OUT IN... [--filling] [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_path(app, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(app, arguments, "every part once, in any order; they stay as they are, and may be in use");
  app.add_flag("--filling", arguments.options.filling, "the filter answers maybe until bf finish-filling");
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, "replace OUT if it exists");
  add_key_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  app.footer(
      "The bits of OUT are those that one build of all keys sets. A part that is missing, or there twice, is an error\n"
      "that names it. Two filters of one part are first merged (bf merge). Marks and notes are not taken over.\n"
      "\nExample: two machines, each with one part in memory, and one filter of both:\n"
      "  bf build part0.bf --from keys.txt --part 0/2 --capacity 10M --seed 1\n"
      "  bf build part1.bf --from keys.txt --part 1/2 --capacity 10M --seed 1\n"
      "  bf join all.bf part0.bf part1.bf");
}

int join(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  std::vector<bfstore::Filter> filters;
  for (const std::string& path : arguments.sources)
    filters.push_back(unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path));
  std::vector<const bfstore::Filter*> parts;
  for (const bfstore::Filter& filter : filters) parts.push_back(&filter);
  const bfstore::Error error = bfstore::Filter::join(parts, arguments.file, save_options(arguments));
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.file);
  check(error, arguments.file);
  if (arguments.quiet) return 0;
  const bfstore::Filter made =
      unwrap(open_filter_at(arguments.file, arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Stats stats = made.stats();
  report(arguments.file + ": joined from " + std::to_string(parts.size()) + " parts, with " +
         key_words(keys_left(stats)) + "; " + shape_words(stats));
  return 0;
}

}  // namespace

const Command kJoin{"join", "Make the whole filter of its parts", declare_join, join};

}  // namespace bf
