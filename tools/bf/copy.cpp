// bf copy: makes a clean copy of a filter, which may be in use.
#include "derived.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "options.hpp"

#include <bfstore/inspect.hpp>

namespace bf {
namespace {

void declare_copy(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app, "bf copy FILE COPY [--filling] [--secret-file PATH] [--mode MODE] [--force [--accept-loss]] [-q]");
  add_file(app, arguments, "the filter; it stays as it is, and may be in use");
  add_path(app, "COPY", "the file to make; it appears when it is complete", "", arguments.target)->required();
  app.add_flag("--filling", arguments.options.filling,
               "the copy answers maybe to everything until bf finish-filling: to put an old copy back");
  add_new_file(app, arguments, "replace COPY if it exists; it is another file than FILE");
  app.add_flag("--accept-loss", arguments.accept_loss, "with --force: also if COPY has keys that FILE lacks")
      ->needs("--force");
  app.footer(
      "The copy has every key up to its marks, and every key that was added before the command began. cp of a file\n"
      "in use makes a file that is refused.\n"
      "\nNever put an old copy back with cp or mv: keys that were added after the copy would be called absent. Build "
      "the\n"
      "filter again (bf build --force), or take the last three steps below. newer.txt has every key that was added\n"
      "since the copy, and may have more; if you cannot tell which keys these are, list all keys in it.\n"
      "A COPY of the same shape and seed that has other bits than FILE is not replaced without --filling or "
      "--accept-loss.\n(If keys can be removed from it, bf does not know.)\n"
      "\nExamples:\n  bf copy users.bf backup/users.bf\n"
      "  bf copy --filling --force backup/users.bf users.bf  # answers maybe to everything\n"
      "  bf add users.bf --from newer.txt\n"
      "  bf finish-filling users.bf                          # answers again");
}

bool same_places(const bfstore::Shape& one, const bfstore::ReportedIdentity& other) {
  return static_cast<std::uint16_t>(one.layout) == other.layout && static_cast<std::uint16_t>(one.hash) == other.hash &&
         one.seed == other.seed && one.num_bits == other.num_bits && one.num_probes == other.num_probes;
}

// True if the file that will be replaced may have keys that the source lacks. A file that gives no answers may.
bool may_lose(const Arguments& arguments) {
  const auto report = bfstore::inspect(arguments.target, false);
  if (!report.ok() || !report->identity) return false;
  const bfstore::Filter source = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  if (source.health() != bfstore::Code::kOk) return false;  // save() says what it is
  const bool removes = bfstore::layout_of(source.shape().layout)->can.remove;
  if (removes || !same_places(source.shape(), *report->identity)) return false;
  const auto old = open_filter_at(arguments.target, arguments, bfstore::OpenMode::kRead);
  if (!old.ok()) return old.error().code != bfstore::Code::kSecret;  // with another secret it is another filter
  const auto comparison = old->compare(source);
  return !comparison.ok() || !comparison->a_in_b;
}

// An old copy over a newer filter makes wrong noes. A newer filter over its old copy makes none, so that needs no word.
void refuse_loss(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (!options.replace || options.filling || arguments.accept_loss || !may_lose(arguments)) return;
  throw Failure(arguments.target + ": may have keys that " + arguments.file +
                " lacks, and they would be called absent. To put an old copy back, take the three steps of bf copy "
                "--help (--filling). If these keys may go: --accept-loss.");
}

int copy(const Arguments& arguments) {
  refuse_itself(arguments);
  refuse_loss(arguments);
  save(arguments, save_options(arguments), "copied");
  return 0;
}

}  // namespace

const Command kCopy{"copy", "Make a clean copy of a filter, also while others add to it", declare_copy, copy};

}  // namespace bf
