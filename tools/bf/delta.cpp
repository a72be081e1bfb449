// bf delta: makes a small file of what a later state of a filter has more. bf apply: makes the later state of it.
#include "derived.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/delta.hpp>

namespace bf {
namespace {

void declare_delta(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf delta OLD NEW DELTA [--mode MODE] [--force] [-q]");
  add_path(app, "OLD", "the filter that the readers have; no process writes to it", "", arguments.file)->required();
  add_path(app, "NEW", "the same filter with more keys: another file, to which no process writes", "", arguments.target)
      ->required();
  add_path(app, "DELTA", "the file to make; it appears when it is complete", "", arguments.raw)->required();
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, "replace DELTA if it exists; it is a delta");
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "A delta has the bits that NEW has and OLD lacks. It is as long as the new keys need: about 3.5 bytes a key, "
      "where\n"
      "the fpr is 1 %. A machine that has OLD makes NEW of it (bf apply). The layout is blocked or classic, since "
      "bits\n"
      "of the others can go away. Both files are copies (bf copy) or sealed (bf seal), and NEW has each bit of OLD.\n"
      "Otherwise send NEW itself. No secret is needed.\n",
      "Every day the keys of that day.\n"
      "  bf seal users.bf monday.bf\n"
      "  bf add users.bf --from tuesday.txt && bf seal users.bf tuesday.bf\n"
      "  bf delta monday.bf tuesday.bf tuesday.delta");
}

bfstore::DeltaOptions delta_options(const Arguments& arguments) {
  bfstore::DeltaOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  return options;
}

int delta(const Arguments& arguments) {
  interrupt::defer();
  for (const std::string& filter : {arguments.file, arguments.target}) {
    if (is_same_file(arguments.raw, filter))
      throw Failure(arguments.raw +
                    ": is one of the two filters, of which the delta is made. Give DELTA another name.");
  }
  refuse_taken(arguments.raw, true);  // make_delta() asks for --force
  const bfstore::Error error =
      bfstore::make_delta(arguments.file, arguments.target, arguments.raw, delta_options(arguments));
  if (error.code == bfstore::Code::kExists)
    throw Failure(arguments.raw + ": exists already. Replace it (--force), or choose another name.");
  check(error, arguments.file);
  if (arguments.quiet) return 0;
  const bfstore::DeltaFacts made = unwrap(bfstore::inspect_delta(arguments.raw), arguments.raw);
  report(arguments.raw + ": has " + grouped(made.num_bits) + (made.num_bits == 1 ? " new bit" : " new bits") + " in " +
         grouped(made.bytes) + " bytes; with " + arguments.file + " it makes " + arguments.target + " (bf apply)");
  return 0;
}

void declare_apply(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf apply OLD DELTA NEW [--mode MODE] [--force [--accept-loss] [--secret-file PATH]] [-q]",
                       {"--force", "--accept-loss", "--secret-file", "--quiet"});
  add_path(app, "OLD", "the filter from which the delta was made; no process writes to it", "", arguments.file)
      ->required();
  add_path(app, "DELTA", "what bf delta made", "", arguments.raw)->required();
  add_path(app, "NEW", "the file to make; it may be OLD, which it replaces", "", arguments.target)->required();
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, "replace NEW if it exists; it is another file than OLD");
  add_accept_loss(app, arguments, "NEW");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(app,
            "NEW is the file that the delta's maker had: it has the same bits, file_id, note and marks, and is sealed "
            "if that\n"
            "one was. So the next delta can be applied to it. Readers that follow OLD's path take NEW; others answer "
            "maybe\n"
            "until they open it. A delta of another file, and a damaged one, changes nothing: get it again, or get the "
            "whole\n"
            "file.\n" +
                std::string(kAboutLoss) + "The secret is needed for that alone.\n",
            "  bf apply users.bf tuesday.delta users.bf");
}

int apply(const Arguments& arguments) {
  interrupt::defer();
  bfstore::DeltaOptions options = delta_options(arguments);
  std::optional<Replaced> replaced;
  if (is_same_file(arguments.target, arguments.file)) {
    options.replace = true;  // nothing goes: it gets back each of its bits
  } else {
    refuse_taken(arguments.target, options.replace);
    replaced.emplace(arguments, arguments.target);
    if (replaced->is_there())
      replaced->refuse_loss_of_file(unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file),
                                    arguments.file);
  }
  const bfstore::Error error = bfstore::apply_delta(arguments.file, arguments.raw, arguments.target, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.target);
  check(error, arguments.file);
  if (arguments.quiet) return 0;
  const bfstore::DeltaFacts made = unwrap(bfstore::inspect_delta(arguments.raw), arguments.raw);
  report(arguments.target + ": made of " + arguments.file + " and " + grouped(made.num_bits) +
         (made.num_bits == 1 ? " new bit" : " new bits") + (made.sealed ? "; sealed" : ""));
  return 0;
}

}  // namespace

const Command kDelta{"delta", "Make a small file of what a later state of a filter has more", declare_delta, delta};
const Command kApply{"apply", "Make the later state of a filter from the earlier one and a delta", declare_apply,
                     apply};

}  // namespace bf
