// bf remove and bf count: keys out of a counting filter, and how often they are in it.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "output.hpp"

#include <functional>
#include <span>
#include <vector>

namespace bf {
namespace {

using Batch = std::span<const std::string_view>;

// The keys of the command line, or those of the source until an interrupt, some at a time.
void each_batch(const Arguments& arguments, const std::function<void(Batch)>& take) {
  if (!arguments.keys.empty()) {
    take(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
    return;
  }
  const KeySource source(arguments.from);
  if (source.is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  KeyReader reader(source.fd(), source.name(), arguments.separator);
  std::vector<std::string_view> keys;
  bool first = true;
  while (reader.next(keys) && !interrupt::pending()) {
    if (first && reader.first_line_ends_in_cr()) warn_of_cr(source.name());
    first = false;
    take(keys);
  }
}

void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what) {
  const auto layout = bfstore::layout_of(filter.shape().layout);
  if (layout && layout->can.remove) return;
  throw Failure(file + ": a filter of the " + (layout ? layout->name : "unknown") + " layout " + what +
                ". Build one with --layout counting from all keys.");
}

// A remove is never repeated. So a failure says how many keys of the list are done, and that one batch may be.
class Remover {
 public:
  Remover(bfstore::Filter& filter, const std::string& file) : filter_(filter), file_(file) {}

  void remove(Batch keys) {
    const bfstore::Count count = filter_.remove_keys(bfstore::Keys::views(keys));
    if (!count.ok()) {
      throw Failure(file_ + ": removing stopped after " + key_words(asked_) + ": " + bfstore::code_text(count.code()) +
                    ". Do not remove these again, nor the next " + grouped(keys.size()) + ": some may be removed.");
    }
    asked_ += keys.size();
    removed_ += count.keys();
  }

  [[nodiscard]] std::string words() const {
    return file_ + ": " + key_words(removed_) + " removed, " + grouped(asked_ - removed_) + " certainly absent; " +
           key_words(keys_left(filter_.stats())) + " left";
  }

 private:
  bfstore::Filter& filter_;
  const std::string& file_;
  std::uint64_t asked_ = 0;
  std::uint64_t removed_ = 0;
};

}  // namespace

int remove(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file);
  refuse_layout(filter, arguments.file, "removes no keys");
  Remover remover(filter, arguments.file);
  each_batch(arguments, [&](Batch keys) { remover.remove(keys); });
  const std::string words = remover.words();
  check(filter.close(), arguments.file);
  if (interrupt::pending()) {
    complain(words + ". Interrupted: the rest was not read. Do not remove the first ones again.");
  } else if (!arguments.quiet) {
    report(words);
  }
  return 0;
}

int count(const Arguments& arguments) {
  const bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  refuse_layout(filter, arguments.file, "does not count keys");
  Output output;
  bool any = false;
  each_batch(arguments, [&](Batch keys) {
    for (const std::string_view key : keys) {
      const std::uint64_t times = filter.count(key).keys();
      if (const bfstore::Code code = filter.health(); code != bfstore::Code::kOk) {
        output.flush();
        throw Failure(arguments.file + ": no answers: " + bfstore::code_text(code));
      }
      any = any || times != 0;
      output.append(std::to_string(times) + (times == 15 ? "+\t" : "\t"));
      output.append(key);
      output.append({&arguments.separator, 1});
    }
  });
  output.flush();
  return any ? 0 : 1;
}

}  // namespace bf
