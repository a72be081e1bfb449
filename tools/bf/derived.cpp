// See derived.hpp.
#include "derived.hpp"

#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <vector>

namespace bf {

bfstore::SaveOptions save_options(const Arguments& arguments) {
  bfstore::SaveOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.filling = arguments.options.filling;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  return options;
}

void refuse_itself(const Arguments& arguments) {
  struct stat target {};
  struct stat source {};
  if (::stat(arguments.target.c_str(), &target) != 0 || ::stat(arguments.file.c_str(), &source) != 0) return;
  if (source.st_dev == target.st_dev && source.st_ino == target.st_ino)
    throw Failure(arguments.target + ": is the file that would be copied. Give another name.");
}

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
  report(arguments.target + ": " + participle + ", " + shape_words(saved.stats(), arguments.target));
}

void make_of_sources(const Arguments& arguments, MakeOfSources make) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  std::vector<bfstore::Filter> filters;
  for (const std::string& path : arguments.sources)
    filters.push_back(unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path));
  std::vector<const bfstore::Filter*> sources;
  for (const bfstore::Filter& filter : filters) sources.push_back(&filter);
  OneForm forms(arguments.key_form, kFormsDiffer);
  for (std::size_t i = 0; i < filters.size(); ++i) forms.take(filters[i].note(), arguments.sources[i]);
  bfstore::SaveOptions options = save_options(arguments);
  options.note = forms.note();
  const bfstore::Error error = make(sources, arguments.file, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.file);
  check(error, arguments.file);
}

}  // namespace bf
