// bf intersect: makes a filter of the keys that all of several filters have.
#include "derived.hpp"
#include "filter_use.hpp"
#include "numbers.hpp"
#include "options.hpp"

namespace bf {
namespace {

void declare_intersect(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app,
                       "bf intersect OUT IN... [--key-form FORM] [--secret-file PATH] [--mode MODE]\n"
                       "       [--force [--accept-loss]] [-q]");
  add_path(app, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(app, arguments, "the filters; they stay as they are, and may be in use");
  add_form_of_sources(app, arguments);
  add_new_file(app, arguments, "replace OUT if it exists; it is another file than each IN");
  add_accept_loss(app, arguments, "OUT");
  add_texts(
      app,
      "OUT says maybe to every key that all of the filters have. It says maybe to some other keys, too: to fewer of "
      "them\n"
      "than each of the filters. The filters need one layout, hash, seed or secret, and number of probes (--like). "
      "Their\n"
      "numbers of bits may be multiples of the smallest one, which OUT gets. OUT has no marks, and the\n"
      "note that all of them have.\n" +
          std::string(kAboutLoss),
      "Users who are both customers and readers.\n"
      "  bf build customers.bf --from customers.txt\n  bf build readers.bf --from readers.txt --like customers.bf\n"
      "  bf intersect both.bf customers.bf readers.bf");
}

int intersect(const Arguments& arguments) {
  make_of_sources(arguments, bfstore::Filter::intersect, &Replaced::refuse_loss_of_each);
  if (arguments.quiet) return 0;
  const bfstore::Filter made = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Stats stats = made.stats({.fill = true});
  report(arguments.file + ": has the keys that are in all of " + std::to_string(arguments.sources.size()) +
         (arguments.sources.size() == 1 ? " filter" : " filters") + ", and is as full as with " +
         key_words(stats.keys_added) + ": its false-positive rate is " + short_number(stats.fill->estimated_fpr) +
         " now; " + shape_words(stats, arguments.file));
  return 0;
}

}  // namespace

const Command kIntersect{"intersect", "Make a filter of the keys that all of several filters have", declare_intersect,
                         intersect};

}  // namespace bf
