// bf create and bf build: new filters; bf clear: an empty one in the place of another; bf finish-filling: the end of an
// online build.
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

[[noreturn]] void fail_empty(const KeySource& source) {
  throw Failure(source.name() + ": holds no keys, and an empty filter calls every key absent. " +
                "Make an empty filter with bf create.");
}

}  // namespace

int create(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  bfstore::Filter filter = make_filter(arguments, arguments.options);
  const std::string words = shape_words(filter.stats());
  check(filter.close(), arguments.file);
  interrupt::obey();
  const std::string filling = arguments.options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet) report(arguments.file + ": created, " + words + filling);
  return 0;
}

// The empty filter is a new file: readers of the old one must not see its bits go.
int clear(const Arguments& arguments) {
  interrupt::defer();
  if (!arguments.options.replace)
    throw Failure(arguments.file + ": would lose every key, and bf would call them absent. If that is meant: --force.");
  refuse_taken(arguments.file, true);
  const bfstore::Report old = unwrap(bfstore::inspect(arguments.file, false), arguments.file);
  struct stat facts {};
  if (::stat(arguments.file.c_str(), &facts) != 0) throw Failure(arguments.file + ": no such file.");
  bfstore::Options options = arguments.options;
  options.like = arguments.file;
  options.mode = facts.st_mode & 0777U;
  if (old.identity && old.identity->note) options.note = *old.identity->note;
  ::umask(0);  // the new file has the permissions of the old one
  bfstore::Filter filter = make_filter(arguments, options);
  const std::string words = shape_words(filter.stats());
  check(filter.close(), arguments.file);
  interrupt::obey();
  const std::string filling = options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet) report(arguments.file + ": cleared, " + words + filling);
  return 0;
}

int build(const Arguments& arguments) {
  interrupt::defer();
  KeySource source(arguments.from);
  refuse_taken(arguments.file, arguments.options.replace);
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
  bfstore::Filter filter = make_filter(arguments, options);
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
