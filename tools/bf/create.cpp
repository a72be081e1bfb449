// bf create: makes a new, empty filter.
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "replaced.hpp"

namespace bf {
namespace {

void declare_create(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app,
                       "bf create FILE --capacity N [--fpr P | --bits-per-key B | --max-bytes SIZE]\n"
                       "bf create FILE --capacity-at-most N [--fpr P]\n"
                       "bf create FILE --bits M [--probes K | --hash H --seeds S] [--capacity N]\n"
                       "bf create FILE --like OTHER\n"
                       "options of all: [--part I/N] [--filling] [--key-form FORM] " +
                           std::string(kShapeUsage),
                       {"--capacity", "--fpr", "--bits", "--probes", "--layout", "--filling", "--force"});
  add_file(app, arguments, "the filter to make");
  add_shape(app, arguments, false, kForce);
  add_capacity_at_most(app, arguments.options);
  add_part(app, arguments.options);
  add_filling(app, arguments.options);
  add_key_form(app, arguments);
  add_texts(app, std::string(kAboutNumbers) + kAboutForce,
            "A filter for ten million users, wrong about one absent key in a hundred.\n"
            "  bf create users.bf --capacity 10M --fpr 0.01\n"
            "  bf create seen-today.bf --capacity 10M --window 24h\n"
            "  # Nobody knows how many users will come: room for ten million, and folded to its size later.\n"
            "  bf create large.bf --capacity-at-most 10M --fpr 0.01\n"
            "  bf fold large.bf folded.bf\n"
            "  # The same, of a file that nobody closes: it begins with room for 100,000, and grows while it is used.\n"
            "  bf create grows.bf --layout growing --capacity 100k --capacity-at-most 10M");
}

int create(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace, "Add to it (bf add)");
  refuse_no_filter(arguments, arguments.file);
  bfstore::Options options = arguments.options;
  keep_hash_of_replaced(arguments, options);
  options.note = with_form_of_replaced(arguments, note_of_new(arguments));
  const Displaced displaced(arguments);
  bfstore::Filter filter = make_filter(arguments, options);
  const bfstore::Stats stats = filter.stats();
  const std::string rounded = rounded_words(arguments, filter);
  check(filter.close(), arguments.file);
  displaced.report(stats, options.note);
  interrupt::obey();
  const std::string filling = arguments.options.filling ? ". It answers maybe until bf finish-filling" : "";
  warn_if_useless(stats.shape, arguments.file);
  if (!arguments.quiet) report(arguments.file + ": created, " + shape_words(stats, arguments.file) + rounded + filling);
  return 0;
}

}  // namespace

const Command kCreate{"create", "Make a new, empty filter", declare_create, create,
                      [](Arguments& arguments) { check_create(arguments); }};

}  // namespace bf
