// bf turn: ends an epoch of a filter whose keys expire.
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_turn(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf turn FILE [--now] [--secret-file PATH] [-q]");
  add_file(app, arguments, "a filter that was made with --window");
  app.add_flag("--now", arguments.now, "end the epoch although it is not over: its keys are kept for less time");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "A filter of the layout window keeps the keys of 8 epochs, each of which lasts a seventh of the window\n"
      "(window-4: 4 epochs, a third each; window-2: 2 epochs, the whole window each). This command ends the current\n"
      "epoch if it is over, and removes the keys of the oldest one. Of the other commands only bf dedup does so, "
      "while\n"
      "it runs. So run it more often than epochs end: every few minutes, by cron. It may run while others add and\n"
      "ask, and several of them at once end one epoch. Without it keys are kept for longer, and the false-positive\n"
      "rate rises.\n",
      "  bf create seen.bf --capacity 10M --window 24h\n  bf turn seen.bf");
}

int turn(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kWrite, {}), arguments.file);
  const auto before = filter.stats().turning;
  const std::optional<std::uint64_t> from = arguments.now && before ? std::optional(before->epoch) : std::nullopt;
  const bool turned = unwrap(filter.turn(from), arguments.file);
  const std::uint64_t epoch = filter.stats().turning->epoch;
  check(filter.close(), arguments.file);
  if (arguments.quiet) return 0;
  report(arguments.file + ": " +
         (turned ? "turned: epoch " + grouped(epoch) + " begins"
                 : "nothing to do: epoch " + grouped(epoch) + " is not over"));
  return 0;
}

}  // namespace

const Command kTurn{"turn", "End an epoch of a filter whose keys expire", declare_turn, turn};

}  // namespace bf
