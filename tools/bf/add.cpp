// bf add: keys into an existing filter.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

#include <optional>
#include <vector>

namespace bf {

int add(const Arguments& arguments) {
  interrupt::defer();
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from);
  if (source && source->is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys; name another file with --from");
  }
  bfstore::Filter filter = open_filter(arguments.file, bfstore::OpenMode::kWrite);
  Loader loader(filter, arguments.file);
  if (source) {
    loader.add_all(*source, arguments.separator);
  } else {
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  loader.finish();
  check(filter.close(), arguments.file);
  const std::string words = arguments.file + ": " + key_words(loader.keys_read()) + " added (" +
                            grouped(loader.keys_new()) + " new to it), " + grouped(loader.keys_held()) + " in all";
  if (interrupt::pending()) {
    complain(words + "; interrupted, the rest was not read");
  } else if (!arguments.quiet) {
    report(words);
  }
  return 0;
}

}  // namespace bf
