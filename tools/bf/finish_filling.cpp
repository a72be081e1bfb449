// bf finish-filling: ends an online build.
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_finish_filling(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf finish-filling FILE [--secret-file PATH] [-q]");
  add_file(app, arguments, "the filter");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "An online build: writers add new keys while the old ones are added. Until this command the filter answers\n"
      "maybe for every key. From then on bf calls a key absent that was never added.\n",
      "  bf create users.bf --capacity 10M --filling\n  bf add users.bf --from old-users.txt\n"
      "  bf finish-filling users.bf");
}

int finish_filling(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kWrite, {}), arguments.file);
  const bool needed = filter.health() == bfstore::Code::kFilling;
  check(filter.finish_filling(), arguments.file);
  check(filter.close(), arguments.file);
  if (!arguments.quiet) report(arguments.file + (needed ? ": filled, and answers now" : ": was not being filled"));
  return 0;
}

}  // namespace

const Command kFinishFilling{"finish-filling", "Say that a filter made with --filling has every key",
                             declare_finish_filling, finish_filling};

}  // namespace bf
