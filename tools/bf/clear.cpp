// bf clear: replaces a filter by an empty one.
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "replaced.hpp"

namespace bf {
namespace {

void declare_clear(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf clear FILE --force [--filling] [--secret-file PATH] [-q]");
  add_file(app, arguments, "the filter");
  app.add_flag("--force", arguments.options.replace, "needed, since FILE loses every key");
  app.add_flag("--filling", arguments.options.filling,
               "the empty filter answers maybe for every key until bf finish-filling");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "The empty filter has the layout, hash, seed or secret, size, note and permissions of the old one, and no "
      "marks.\n"
      "It is a new file in the place of the old one: a process that has the old file open gets maybe for every key, "
      "and\n"
      "its adds get an error, until it opens the path again. Afterwards bf calls each old key absent: so if rows of\n"
      "them are left, give --filling, add their keys, and end with bf finish-filling.\n",
      "  bf clear seen-today.bf --force");
}

// The empty filter is a new file, because readers of the old one must not see its bits vanish.
int clear(const Arguments& arguments) {
  interrupt::defer();
  if (!arguments.options.replace)
    throw Failure(arguments.file + ": would lose every key, and bf would call them absent. If that is meant: --force.");
  refuse_taken(arguments.file, true);
  const bfstore::Report old = unwrap(bfstore::inspect(arguments.file, false), arguments.file);
  refuse_set(old);
  if (old.filling && !arguments.options.filling)
    throw Failure(arguments.file +
                  ": is being filled, and empty it would call keys absent before they are added. Give --filling, too, "
                  "so that it answers maybe until bf finish-filling.");
  bfstore::Options options = arguments.options;
  options.like = arguments.file;
  if (old.identity && old.identity->note) options.note = *old.identity->note;
  bfstore::Filter filter = make_filter(arguments, options);
  const bfstore::Stats stats = filter.stats();
  check(filter.close(), arguments.file);
  if (old.state == bfstore::FileState::kInUse) warn(arguments.file + ": " + kWriterHadIt);
  interrupt::obey();
  const std::string unsealed = old.identity && old.identity->seal ? ". It is not sealed any more" : "";
  const std::string filling = options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet)
    report(arguments.file + ": cleared, " + shape_words(stats, arguments.file) + unsealed + filling);
  return 0;
}

}  // namespace

const Command kClear{"clear", "Replace a filter by an empty one of the same shape", declare_clear, clear};

}  // namespace bf
