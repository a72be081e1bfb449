// bf merge, bf intersect, bf copy and bf fold: filters of filters.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

namespace bf {
namespace {

std::uint64_t bits_of(const std::string& path, const Arguments& arguments) {
  return unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path).shape().num_bits;
}

// The others are folded onto it.
std::string smallest(const Arguments& arguments) {
  return *std::min_element(arguments.sources.begin(), arguments.sources.end(),
                           [&](const std::string& one, const std::string& other) {
                             return bits_of(one, arguments) < bits_of(other, arguments);
                           });
}

// A new file: what other processes add to a source after it was read would be in neither. With --into: OUT has its own
// keys already, and counters would count them twice.
void refuse_a_source(const Arguments& arguments) {
  struct stat target {};
  if (::stat(arguments.file.c_str(), &target) != 0) return;
  for (const std::string& path : arguments.sources) {
    struct stat source {};
    if (::stat(path.c_str(), &source) != 0 || source.st_dev != target.st_dev || source.st_ino != target.st_ino)
      continue;
    throw Failure(
        arguments.file + ": is one of the filters that are merged. " +
        (arguments.into ? "It has its keys already: leave it out." : "Merge into it (--into), or give a new name."));
  }
}

bfstore::Filter empty_one(const Arguments& arguments, const std::string& like) {
  bfstore::Options options = arguments.options;
  options.like = like;
  options.unpublished = true;
  return make_filter(arguments, options);
}

// The message names OUT, which does not exist and is like one of the filters.
bfstore::Error explained(bfstore::Error error, const Arguments& arguments, const std::string& like) {
  if (error.code == bfstore::Code::kMismatch && !like.empty())
    error.message += " " + arguments.file + " would be like " + like + ". It was not made.";
  return error;
}

bfstore::SaveOptions save_options(const Arguments& arguments) {
  bfstore::SaveOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.filling = arguments.options.filling;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  return options;
}

// A new file of the filter, which may be in use.
void save(const Arguments& arguments, const bfstore::SaveOptions& options, const std::string& participle) {
  interrupt::defer();
  refuse_taken(arguments.target, arguments.options.replace);
  const bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Error error = filter.save(arguments.target, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.target);
  check(error, arguments.file);
  if (arguments.quiet) return;
  const bfstore::Filter saved =
      unwrap(open_filter_at(arguments.target, arguments, bfstore::OpenMode::kRead), arguments.target);
  report(arguments.target + ": " + participle + ", " + shape_words(saved.stats()));
}

}  // namespace

int merge(const Arguments& arguments) {
  interrupt::defer();
  if (!arguments.into) refuse_taken(arguments.file, arguments.options.replace);
  refuse_a_source(arguments);
  const std::string like = arguments.into ? "" : smallest(arguments);
  bfstore::Filter filter = arguments.into ? unwrap(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file)
                                          : empty_one(arguments, like);
  for (const std::string& path : arguments.sources) {
    const bfstore::Filter source = unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path);
    check(explained(filter.merge(source), arguments, like), path);
    if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  }
  const bfstore::Stats stats = filter.stats();
  if (arguments.into) {
    check(filter.close(), arguments.file);
  } else {
    publish(filter, arguments.file);
  }
  const std::uint64_t most_keys = keys_within_promise(stats.shape);
  if (keys_left(stats) > most_keys) {
    complain(arguments.file + ": holds about " + key_words(keys_left(stats)) + ", more than the " + grouped(most_keys) +
             " with which it keeps its promise. More absent keys than promised are maybe.");
  }
  if (!arguments.quiet) {
    report(arguments.file + ": has the keys of " + std::to_string(arguments.sources.size()) +
           (arguments.sources.size() == 1 ? " filter, " : " filters, ") + "about " + key_words(keys_left(stats)) +
           "; " + shape_words(stats));
  }
  return 0;
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

int copy(const Arguments& arguments) {
  save(arguments, save_options(arguments), "copied");
  return 0;
}

int fold(const Arguments& arguments) {
  bfstore::SaveOptions options = save_options(arguments);
  options.fpr = arguments.options.fpr;
  save(arguments, options, "folded");
  return 0;
}

}  // namespace bf
