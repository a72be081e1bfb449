// bf create and bf build: new filters; bf finish-filling: the end of an online build.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "key_count.hpp"
#include "numbers.hpp"
#include "secret.hpp"

#include <sys/stat.h>

namespace bf {
namespace {

[[noreturn]] void fail_exists(const std::string& file) {
  throw Failure(file + ": exists already. Add to it (bf add), replace it (--force), or choose another name.");
}

// Called early, so that no user waits for the count of a billion keys first. The library checks again when it matters.
void refuse_taken(const Arguments& arguments) {
  const std::string& file = arguments.file;
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0) return;
  if (S_ISLNK(facts.st_mode)) throw Failure(file + ": a symbolic link. Give the path of the file itself.");
  if (S_ISDIR(facts.st_mode)) throw Failure(file + ": a directory. Give a file name in it.");
  if (!S_ISREG(facts.st_mode)) throw Failure(file + ": not a regular file. Choose another name.");
  if (!arguments.options.replace) fail_exists(file);
}

bfstore::Filter make(const Arguments& arguments, const bfstore::Options& options) {
  bfstore::Options all = options;
  const KeyWiper wiper(all.key);
  all.key = arguments.key;
  all.any_filesystem = arguments.any_filesystem;
  all.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  all.map.guard = true;
  bfstore::Result<bfstore::Filter> made = bfstore::Filter::create(arguments.file, all);
  if (!made.ok() && made.error().code == bfstore::Code::kExists) fail_exists(arguments.file);
  return unwrap(std::move(made), arguments.file);
}

[[noreturn]] void fail_empty(const KeySource& source) {
  throw Failure(source.name() + ": holds no keys, and an empty filter calls every key absent. " +
                "Make an empty filter with bf create.");
}

void publish(bfstore::Filter& filter, const std::string& file) {
  const bfstore::Error error = filter.publish();
  if (error.code == bfstore::Code::kExists) fail_exists(file);
  check(error, file);
}

}  // namespace

int create(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments);
  bfstore::Filter filter = make(arguments, arguments.options);
  const std::string words = shape_words(filter.stats());
  check(filter.close(), arguments.file);
  interrupt::obey();
  const std::string filling = arguments.options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet) report(arguments.file + ": created, " + words + filling);
  return 0;
}

int build(const Arguments& arguments) {
  interrupt::defer();
  KeySource source(arguments.from);
  refuse_taken(arguments);
  if (source.is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the list of keys itself. Name another file.");
  bfstore::Options options = arguments.options;
  options.unpublished = true;
  if (!arguments.is_sized()) {
    source.make_rewindable();
    options.capacity = count_keys(source, arguments.separator);
    interrupt::obey();
    if (options.capacity == 0) fail_empty(source);
    source.rewind();
  }
  bfstore::Filter filter = make(arguments, options);
  refuse_external(filter, arguments.file);
  Loader loader(filter, arguments.file);
  loader.add_all(source, arguments.separator);
  if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  if (loader.keys_read() == 0) fail_empty(source);
  loader.finish();
  const std::string words = shape_words(filter.stats());
  publish(filter, arguments.file);
  if (!arguments.quiet) {
    report(arguments.file + ": built from " + key_words(loader.keys_read()) + " (" + grouped(loader.keys_new()) +
           " new to it), " + words);
  }
  return 0;
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

}  // namespace bf
