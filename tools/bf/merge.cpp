// bf merge: makes one filter of the keys of several.
#include "derived.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>

namespace bf {
namespace {

void declare_merge(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf merge OUT IN... [--key-form FORM] [--secret-file PATH] [--mode MODE] [--force [--accept-loss]]\n"
      "       [-q]\n"
      "bf merge OUT IN... --into [--key-form FORM] [--secret-file PATH] [-q]",
      {"--into", "--force", "--key-form", "--secret-file", "--quiet"});
  add_path(app, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(app, arguments, "the filters whose keys it gets; they stay as they are, and may be in use");
  CLI::Option* const into =
      app.add_flag("--into", arguments.into, "OUT exists and gets the keys besides its own, while others use it");
  add_form_of_sources(app, arguments);
  add_mode(app, arguments.options);
  CLI::Option* const force = app.add_flag("--force", arguments.options.replace, "replace OUT if it exists");
  add_accept_loss(app, arguments, "OUT");
  into->excludes(force, app.get_option("--mode"));
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "The filters need one layout, hash, seed or secret, and number of probes: make them with bf create --like, or\n"
      "build them with bf build --like. Their numbers of bits may be multiples of the smallest one, which OUT gets.\n"
      "The result is the filter that one build of all keys makes. Marks are not taken over, and\n"
      "a note only if all have it. After a kill or an error\n"
      "merge again: with --into, OUT then has some of the keys already, which does no harm. (Counting: keys that\n"
      "count twice leak, which is no wrong no.) If OUT was not closed cleanly, recover it first (bf recover).\n" +
          std::string(kAboutLoss),
      "Four parts of a list at once, and one filter of all.\n"
      "  bf create part1.bf --capacity 10M --fpr 0.01\n"
      "  bf create part2.bf --like part1.bf\n"
      "  bf add part1.bf --from list1.txt & bf add part2.bf --from list2.txt; wait\n"
      "  bf merge all.bf part1.bf part2.bf");
}

std::uint64_t bits_of(const std::string& path, const Arguments& arguments) {
  return unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path).shape().num_bits;
}

// Returns the filter with the fewest bits. The others are folded to its size.
std::string smallest(const Arguments& arguments) {
  return *std::min_element(arguments.sources.begin(), arguments.sources.end(),
                           [&](const std::string& one, const std::string& other) {
                             return bits_of(one, arguments) < bits_of(other, arguments);
                           });
}

// Without --into, the new file would replace a source, and keys that other processes add to the source after it was
// read would be lost. With --into, OUT has its own keys already, and counters would count them twice.
void refuse_a_source(const Arguments& arguments) {
  for (const std::string& path : arguments.sources) {
    if (!is_same_file(path, arguments.file)) continue;
    throw Failure(
        arguments.file + ": is one of the filters that are merged. " +
        (arguments.into ? "It has its keys already: leave it out." : "Merge into it (--into), or give a new name."));
  }
}

// The note of a new OUT.
std::string note_of_all(const Arguments& arguments) {
  OneForm forms(arguments.key_form, kFormsDiffer);
  for (const std::string& path : arguments.sources)
    forms.take(unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path).note(), path);
  return forms.note();
}

bfstore::Filter empty_one(const Arguments& arguments, const std::string& like) {
  bfstore::Options options = arguments.options;
  options.note = note_of_all(arguments);
  options.like = like;
  options.unpublished = true;
  return make_filter(arguments, options);
}

// Parts of one filter fit together in another way.
void say_join(std::string& message, const Arguments& arguments) {
  if (message.find(": differ in part ") == std::string::npos) return;
  message.resize(message.find(". Make filters that are to fit"));
  message += ". Parts of one filter are joined, and not merged: bf join " +
             std::string(arguments.into ? "NEW" : arguments.file);
  if (arguments.into) message += " " + arguments.file;
  for (const std::string& part : arguments.sources) message += " " + part;
  message += " makes one file of all of its parts.";
}

// Names the two filters that differ, and not OUT, which does not exist and would be like one of them.
bfstore::Error explained(bfstore::Error error, const Arguments& arguments, const std::string& like) {
  if (error.code == bfstore::Code::kMismatch) say_join(error.message, arguments);
  if (error.code != bfstore::Code::kMismatch || like.empty()) return error;
  const std::string out = " and " + arguments.file + ": ";
  if (const std::size_t at = error.message.find(out); at != std::string::npos)
    error.message.replace(at, out.size(), " and " + like + ": ");
  error.message += " " + arguments.file + " was not made.";
  return error;
}

// "3 filters"; of --into, whose OUT had keys, too: "b.bf, too" or "2 more filters".
std::string sources_words(const Arguments& arguments) {
  const std::size_t count = arguments.sources.size();
  if (arguments.into && count == 1) return arguments.sources.front() + ", too";
  return std::to_string(count) + (arguments.into ? " more" : "") + (count == 1 ? " filter" : " filters");
}

int merge(const Arguments& arguments) {
  interrupt::defer();
  if (!arguments.into) refuse_taken(arguments.file, arguments.options.replace, "Merge into it (--into)");
  refuse_a_source(arguments);
  constexpr const char* kMerged = "the merged filter";
  const Replaced replaced(arguments, arguments.file);  // --into replaces nothing
  replaced.refuse_damaged(kMerged);                    // before the work
  const std::string like = arguments.into ? "" : smallest(arguments);
  bfstore::Filter filter = arguments.into ? unwrap(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file)
                                          : empty_one(arguments, like);
  OneForm forms(arguments.key_form, kFormsDiffer);
  forms.take(filter.note(), arguments.file);
  if (arguments.into) refuse_to_add_unnoted(filter.note(), arguments.key_form, arguments.file);
  for (const std::string& path : arguments.sources) {
    const bfstore::Filter source = unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path);
    forms.take(source.note(), path);
    check(explained(filter.merge(source), arguments, like), path);
    if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  }
  const bfstore::Stats stats = filter.stats();
  if (arguments.into) {
    refuse_moved(filter, arguments.file, "Merge again.");
    check(filter.close(), arguments.file);
  } else {
    replaced.refuse_loss(filter, kMerged);
    publish(filter, arguments.file);
  }
  const std::uint64_t most_keys = keys_within_promise(stats);
  if (keys_left(stats) > most_keys) {
    warn(arguments.file + ": holds about " + key_words(keys_left(stats)) + ", more than the " + grouped(most_keys) +
         " with which it keeps its promise. More absent keys than promised are maybe.");
  }
  if (!arguments.quiet) {
    report(arguments.file + ": has the keys of " + sources_words(arguments) + ", about " + key_words(keys_left(stats)) +
           (arguments.into ? " in all; " : "; ") + shape_words(stats, arguments.file));
  }
  return 0;
}

}  // namespace

const Command kMerge{"merge", "Make one filter of the keys of several", declare_merge, merge};

}  // namespace bf
