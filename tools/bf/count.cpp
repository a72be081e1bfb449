// bf count: says how often keys are in a counting filter.
#include "counting.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"

namespace bf {
namespace {

void declare_count(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf count FILE [KEY... | --from PATH] [-0] [--secret-file PATH]",
                       {"--from", "--null", "--secret-file"});
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  add_key_form(app, arguments);
  add_secret_file(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_texts(
      app,
      std::string("Prints NUMBER<TAB>KEY for each key, in order: how often it was added and not removed, at most. 15+ "
                  "means 15\n"
                  "or more.\n") +
          "\n" + kAboutKeys,
      "  bf count users.bf alice bob", answer_codes());
}

int count(const Arguments& arguments) {
  const bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  refuse_layout(filter, arguments.file, "does not count keys");
  refuse_to_ask_unnoted(filter.note(), arguments.key_form, arguments.file);
  Output output;
  bool any = false;
  bool asked = false;
  each_batch(filter, arguments, [&](Batch lines, Batch keys, const KeyReader*) {
    asked = asked || !keys.empty();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bfstore::Count counted = filter.count(keys[i]);
      const bfstore::Code code = counted.ok() ? filter.health() : counted.code();
      if (code != bfstore::Code::kOk) {
        output.flush();
        throw Failure(arguments.file + ": no answers: " + doubt_words(code, arguments.file));
      }
      const std::uint64_t times = counted.keys();
      any = any || times != 0;
      output.append(std::to_string(times) + (times == 15 ? "+\t" : "\t"));
      output.append(lines[i]);
      output.append({&arguments.list.separator, 1});
    }
  });
  output.flush();
  if (!asked && !interrupt::pending())
    throw Failure((arguments.from == "-" ? "standard input" : arguments.from) + ": has no keys, so nothing was asked.");
  return any ? 0 : 1;
}

}  // namespace

const Command kCount{"count", "Ask how often keys are in a counting filter, at most", declare_count, count};

}  // namespace bf
