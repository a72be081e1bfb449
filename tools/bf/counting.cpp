// See counting.hpp.
#include "counting.hpp"

#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "key_source.hpp"

#include <vector>

namespace bf {

void each_batch(const Arguments& arguments, const std::function<void(Batch, const KeyReader*)>& take) {
  if (!arguments.keys.empty()) {
    take(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()), nullptr);
    return;
  }
  KeySource source(arguments.from, arguments.list);
  if (source.is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  KeyReader reader(source);
  std::vector<std::string_view> keys;
  while (reader.next(keys) && !interrupt::pending()) take(keys, &reader);
}

void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what) {
  const auto layout = bfstore::layout_of(filter.shape().layout);
  if (layout && layout->can.remove) return;
  throw Failure(file + ": a filter of the " + (layout ? layout->name : "unknown") + " layout " + what +
                ". Build one with --layout counting from all keys.");
}

}  // namespace bf
