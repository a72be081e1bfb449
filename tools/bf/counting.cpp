// See counting.hpp.
#include "counting.hpp"

#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "key_source.hpp"

#include <vector>

namespace bf {

void each_batch(const bfstore::Filter& filter, const Arguments& arguments,
                const std::function<void(Batch, Batch, const KeyReader*)>& take) {
  const KeyForm form = form_of_keys(filter.note(), arguments.key_form, arguments.file);
  if (!arguments.keys.empty()) {
    warn_of_doubtful_keys(arguments);
    const std::vector<std::string_view> lines(arguments.keys.begin(), arguments.keys.end());
    KeyMaker maker(form, "KEY");
    take(lines, maker.keys_of(lines), nullptr);
    return;
  }
  KeySource source(arguments.from, arguments.list);
  refuse_itself(source, arguments.file);
  refuse_own_output(source);
  KeyReader reader(source);
  KeyMaker maker(form, source.name());
  std::vector<std::string_view> lines;
  while (reader.next(lines) && !interrupt::pending()) take(lines, maker.keys_of(lines), &reader);
}

void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what) {
  const auto layout = bfstore::layout_of(filter.shape().layout);
  if (layout && layout->can.remove) return;
  throw Failure(file + ": a filter of the " + (layout ? layout->name : "unknown") + " layout " + what +
                ". Build one with --layout counting from all keys.");
}

}  // namespace bf
