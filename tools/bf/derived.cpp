// See derived.hpp.
#include "derived.hpp"

#include "filter_use.hpp"
#include "interrupt.hpp"

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

}  // namespace bf
