// bf intersect: a filter of the keys that all of several filters have.
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

void declare_intersect(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf intersect OUT IN... [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_path(app, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(app, arguments, "the filters; they stay as they are, and may be in use");
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, "replace OUT if it exists; it is another file than each IN");
  add_key_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  app.footer(
      "OUT says maybe to every key that all of the filters have. It says maybe to some other keys, too: to fewer of "
      "them\n"
      "than each of the filters. The filters need one layout, hash, seed or secret, and number of probes (--like). "
      "Their\n"
      "numbers of bits may be multiples of the smallest one, which OUT gets. OUT has no marks.\n"
      "\nExample: users who are both customers and readers:\n"
      "  bf build customers.bf --from customers.txt\n  bf build readers.bf --from readers.txt --like customers.bf\n"
      "  bf intersect both.bf customers.bf readers.bf");
}

int intersect(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  std::vector<bfstore::Filter> filters;
  for (const std::string& path : arguments.sources)
    filters.push_back(unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path));
  std::vector<const bfstore::Filter*> sources;
  for (const bfstore::Filter& filter : filters) sources.push_back(&filter);
  const bfstore::Error error = bfstore::Filter::intersect(sources, arguments.file, save_options(arguments));
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.file);
  check(error, arguments.file);
  if (arguments.quiet) return 0;
  const bfstore::Filter made =
      unwrap(open_filter_at(arguments.file, arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Stats stats = made.stats({.fill = true});
  report(arguments.file + ": has the keys that are in all of " + std::to_string(arguments.sources.size()) +
         (arguments.sources.size() == 1 ? " filter" : " filters") + ", and is as full as with " +
         key_words(stats.keys_added) + ": its false-positive rate is " + short_number(stats.fill->estimated_fpr) +
         " now; " + shape_words(stats));
  return 0;
}

}  // namespace

const Command kIntersect{"intersect", "Make a filter of the keys that all of several filters have", declare_intersect,
                         intersect};

}  // namespace bf
