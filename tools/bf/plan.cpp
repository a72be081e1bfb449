// bf plan: shows what filters of each layout will be like, side by side, before one is made.
#include "failures.hpp"
#include "forecast.hpp"
#include "hash_set.hpp"
#include "interrupt.hpp"
#include "library_names.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "plan_like.hpp"
#include "whole_file.hpp"

#include <langinfo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>

namespace bf {
namespace {

constexpr const char* kStandardOutput = "-";  // as the picture's path
constexpr const char* kSomeWindow = "24h";    // in a command, where none was given

// Takes the sizes that `create` takes, in any combination that gives none of them twice.
void declare_plan(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf plan [-n N] [-p P] [--bits-per-key B] [-m M | --max-bytes SIZE] [-k K] [--layout L]\n"
      "               [--window TIME] [--key-bytes L] [--formulas | --json [--curve]] [--svg PATH [--force]]\n"
      "bf plan -n N --grow-to N [-p P]\n"
      "bf plan --like OTHER [--format F] [--column C] [--member N] [-n N | -p P] ...",
      {"--capacity", "--fpr", "--bits", "--layout", "--window"});
  bfstore::Options& options = arguments.options;
  add_capacity(app, options, "distinct keys");
  add_fpr(app, options, "the highest false-positive rate at that number of keys");
  add_bits_per_key(app, options, "bits for each key");
  add_bits(app, options, "m: 64Mi (67,108,864), or a size in bytes: 8MiB")
      ->excludes(add_max_bytes(app, options, "the largest file, instead of --bits"));
  add_probes(app, options, "bits set by each key, 1 to 64");
  add_layout(app, options, "this layout alone");
  add_window(app, options, "filters that keep keys for this long after their last add, such as 24h or 7d");
  add_text(app, "--grow-to", "compare the ways to a filter that begins with -n keys, and may come to have this number",
           "N", [&](const std::string& name, const std::string& text) {
             options.capacity_at_most = parse_quantity(name, text, Unit::kKeys, kNoLimit);
           });
  add_plan_like(app, arguments);
  add_text(app, "--key-bytes", "the average length of a key in the hash set that the filter is compared with (24)", "L",
           [&](const std::string& name, const std::string& text) {
             arguments.key_bytes = parse_quantity(name, text, Unit::kBytes, 1 << 20);
           });
  CLI::Option* const json = app.add_flag("--json", arguments.json, "one JSON object instead of a table");
  app.add_flag("--curve", arguments.curve, "with --json: the rates of each filter as it fills, in 128 points")
      ->needs(json);
  app.add_flag("--formulas", arguments.formulas, "Bloom's formulas, too, in indented rows of the table")
      ->excludes(json);
  add_path_or_stream(app, "--svg", "also draw the rates as the filters fill, in this file; -: print the picture alone",
                     "PATH", arguments.target);
  app.add_flag("--force", options.replace, "with --svg: replace the file if it exists");
  add_texts(
      app,
      std::string(
          "Give some of the numbers; the others follow. k is the best one if it is not given; m is the smallest, and "
          "n\n"
          "the largest, that keeps the rate. -n alone is for a rate of 0.01, and a size alone (-m or --max-bytes) "
          "says\n"
          "how many keys it holds at several rates. Where no number of keys follows, it is a million.\n"
          "\nWith --like m and k are those of OTHER, and -n or -p replaces its n: what rate, or how many keys, it "
          "would\n"
          "have then. Filters of some other programs do not say n: give -n or -p. OTHER's own layout is planned with "
          "its\n"
          "hash, the others with xxh3.\n"
          "\nWith --grow-to three ways are compared: a filter that is made large, and folded to its keys (bf fold); "
          "one "
          "of\n"
          "the layout growing; and one that is built again, of all keys, each time that it is full.\n"
          "\nWith --window the layouts are those whose keys expire, and n is the number of different keys of one "
          "window,\n"
          "which come evenly. An epoch ends by a turn (bf turn), which writes all bits of the filter once. A key is "
          "found\n"
          "for the window, and for the longer time at most if no turn is late.\n"
          "\nThe first line is the layout that bf create makes by default. The curve is that of the first layout "
          "(--layout chooses another, --svg draws all), and the last lines are "
          "the\n"
          "commands that make such filters.\n"
          "\nThe formulas of --formulas are Bloom's, for the classic layout with a large m and the best k. "
          "The\n"
          "real rate is above the formula's where m is small (Bose et al. 2008), and where the probes of a key share "
          "a\n"
          "cache line (Putze et al. 2007). No other number of the table is from these formulas. The hash set is a\n"
          "std::unordered_set of strings.\n"
          "\nJSON has a number \"schema\", 2 now, and every key of it is always present; "
          "a fact has the name that it has\n"
          "in bfinspect --json, too.\n") +
          "\n" + kAboutNumbers,
      "  bf plan -n 100M -p 1%\n  bf plan -m 8MiB\n  bf plan --max-bytes 64MiB --fpr 0.001\n"
      "  bf plan -m 5M -k 7 --layout classic --json\n"
      "  bf plan --like users.bf -n 20M\n  bf plan -n 10M --window 24h");
}

// Then what it holds at several rates is the answer.
bool is_size_alone(const bfstore::Options& options) {
  const bool size = options.num_bits != 0 || options.max_bytes != 0;
  return size && options.like.empty() && options.capacity == 0 && options.fpr == 0 && options.bits_per_key == 0 &&
         options.num_probes == 0;
}

void check_growth(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  const bool others = options.num_bits != 0 || options.max_bytes != 0 || options.bits_per_key != 0 ||
                      options.num_probes != 0 || options.layout || options.window_ms != 0 || arguments.json ||
                      arguments.formulas || !arguments.target.empty();
  if (others) throw Failure("plan: --grow-to goes with --capacity and --fpr alone. Leave the others out.");
  if (options.capacity == 0)
    throw Failure("plan: --grow-to was given without the number of keys to begin with. Give --capacity, too.");
  if (options.capacity_at_most <= options.capacity)
    throw Failure("plan: --grow-to is not above --capacity. Give a larger number.");
}

void check_plan(Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (arguments.json && arguments.target == kStandardOutput)
    throw Failure("plan: --json and --svg - would both be printed. Give --svg a file.");
  if (!options.like.empty()) {
    if (options.capacity == 0 || options.fpr == 0) return;
    throw Failure(
        "plan: --like gives m and k, and with --capacity and --fpr they would be too many numbers. Leave one out.");
  }
  if (options.capacity_at_most != 0) return check_growth(arguments);
  const bool size = options.num_bits != 0 || options.max_bytes != 0;
  const int given =
      (options.fpr != 0) + (options.bits_per_key != 0) + (options.num_probes != 0) + size + (options.capacity != 0);
  if (is_size_alone(options)) {
    if (arguments.target.empty() && !arguments.curve) return;
    throw Failure("plan: a size alone has no curve. Give --fpr or --capacity, too.");
  }
  if (given < 2 && options.capacity == 0) {
    throw Failure(
        "plan: too few numbers. Give --capacity, --bits or --max-bytes alone, or two of these, --fpr, --bits-per-key "
        "and --probes. See bf plan --help.");
  }
  if (options.capacity != 0 && options.bits_per_key != 0 && size) {
    throw Failure(
        "plan: of --capacity, --bits-per-key and the size (--bits or --max-bytes), two give the third. Leave one out.");
  }
}

// True if characters beyond ASCII can be shown.
bool locale_is_utf8() {
  return std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

std::optional<bfstore::Growing> growing_of(const bfstore::Plan& plan) {
  if (plan.grown.empty()) return std::nullopt;
  const bfstore::Growing::Size first{plan.num_bits, plan.capacity};
  const bfstore::GrownPlan& last = plan.grown.back();
  return bfstore::Growing{plan.growth, 1,     static_cast<std::uint32_t>(plan.grown.size()),
                          first,       first, {last.body_bytes * 8, last.capacity}};
}

std::vector<tools::RatePoint> curve_of(const bfstore::Plan& plan, bfstore::Hash hash) {
  bfstore::PlanRequest filter;
  filter.layout = plan.layout.layout;
  filter.hash = hash;
  filter.num_bits = plan.num_bits;
  filter.num_probes = plan.num_probes;
  return tools::rate_curve(filter, static_cast<double>(plan.capacity) * 2, growing_of(plan));
}

bfstore::PlanRequest numbers_given(const bfstore::Options& options) {
  bfstore::PlanRequest given;
  given.capacity = options.capacity;
  given.fpr = options.fpr;
  given.bits_per_key = options.bits_per_key;
  given.max_bytes = options.max_bytes;
  given.num_bits = options.num_bits;
  given.num_probes = options.num_probes;
  given.window_ms = options.window_ms;
  return given;
}

// The rate from which m follows, if it does.
std::optional<double> asked_fpr(const bfstore::PlanRequest& given) {
  if (given.num_bits != 0 || given.max_bytes != 0 || given.bits_per_key != 0) return std::nullopt;
  if (given.fpr != 0) return given.fpr;
  return given.num_probes == 0 ? std::optional(kUsualFpr) : std::nullopt;
}

// A number as bf create reads it: 1_000_000.
std::string option_of(const char* name, std::uint64_t number) {
  std::string digits = grouped(number);
  std::replace(digits.begin(), digits.end(), ',', '_');
  return std::string(" ") + name + " " + digits;
}

std::string option_of(const char* name, double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return std::string(" ") + name + " " + std::string(digits.data(), end);
}

// The numbers that were given, if bf create or bf build takes them together. Otherwise all that follow from them.
std::string making_command(const bfstore::PlanRequest& given, const bfstore::Plan& plan) {
  if (given.hash != bfstore::Hash::kXxh3) return "";  // it may need seeds or a secret
  const std::string window = plan.window_ms == 0 ? kSomeWindow : time_option(plan.window_ms);
  const bool grows_to = plan.layout.can.grow && given.capacity_at_most != 0;
  const std::string command =
      std::string(plan.layout.can.build ? "bf build filter.bf --from keys.txt" : "bf create filter.bf") + " --layout " +
      plan.layout.name + (plan.layout.can.expire ? " --window " + window : "") +
      (grows_to ? option_of("--capacity-at-most", given.capacity_at_most) : "");
  const bool free = given.capacity != 0 && given.num_bits == 0 && given.max_bytes == 0 && given.num_probes == 0;
  if (free && given.bits_per_key == 0)
    return command + option_of("-n", plan.capacity) + option_of("-p", given.fpr == 0 ? kUsualFpr : given.fpr);
  if (free && given.fpr == 0)
    return command + option_of("-n", plan.capacity) + option_of("--bits-per-key", given.bits_per_key);
  return command + option_of("-m", plan.num_bits) + option_of("-k", std::uint64_t{plan.num_probes}) +
         option_of("-n", plan.capacity);
}

// What the keys would take in the layout that is built once. Nothing if their number is not given.
std::optional<bfstore::Plan> built_once(const bfstore::PlanRequest& given) {
  if (given.capacity == 0 || given.num_bits != 0 || given.max_bytes != 0 || given.bits_per_key != 0)
    return std::nullopt;
  for (const bfstore::LayoutInfo& layout : bfstore::layouts()) {
    if (!layout.can.build) continue;
    const auto plan = bfstore::plan({.layout = layout.layout, .capacity = given.capacity, .fpr = given.fpr});
    if (plan) return *plan;
  }
  return std::nullopt;
}

Forecasts forecasts_of(const Arguments& arguments, const bfstore::PlanRequest& given) {
  const bfstore::Options& options = arguments.options;
  Forecasts all;
  all.given = given;
  all.has_curves = arguments.curve;
  all.has_formulas = arguments.formulas;
  all.asked_fpr = asked_fpr(all.given);
  all.key_bytes = arguments.key_bytes;
  for (const bfstore::LayoutInfo& layout : bfstore::layouts()) {
    const bool is_like = !options.like.empty() && layout.layout == all.given.layout;
    const bool is_usual = !layout.can.build && !layout.can.grow && layout.can.expire == (options.window_ms != 0);
    const bool is_wanted = options.layout ? layout.layout == *options.layout : is_like || is_usual;
    if (!is_wanted) continue;
    bfstore::PlanRequest request = all.given;
    if (request.layout != layout.layout) request.hash = bfstore::Hash::kXxh3;
    request.layout = layout.layout;
    if (!layout.can.expire && !options.layout) request.window_ms = 0;
    const auto plan = bfstore::plan(request);
    if (plan) {
      all.possible.push_back({*plan, curve_of(*plan, request.hash), hash_set_bytes(plan->capacity, arguments.key_bytes),
                              making_command(request, *plan)});
    } else {
      all.impossible.push_back({layout, with_names_of_options(plan.error().message, "")});
    }
  }
  if (!options.layout && options.like.empty() && options.window_ms == 0) all.built_once = built_once(all.given);
  return all;
}

// Returns why no layout can be like that: the reason that all share, or that of the classic layout, which has the
// lowest rates and so comes nearest.
std::string reason_of(const std::vector<Refusal>& refusals) {
  const std::string& first = refusals.front().why;
  if (std::all_of(refusals.begin(), refusals.end(), [&](const Refusal& one) { return one.why == first; })) return first;
  const auto is_classic = [](const Refusal& one) { return one.layout.layout == bfstore::Layout::kClassic; };
  const Refusal& nearest = *std::find_if(refusals.begin(), refusals.end() - 1, is_classic);
  return std::string("no layout can be like that. ") + nearest.layout.name + " comes nearest: " + nearest.why;
}

void print(const std::string& text) {
  Output output;
  output.append(text);
  output.flush();
}

// One forecast for each rate of a list.
std::vector<Forecasts> holdings_of(const Arguments& arguments) {
  std::vector<Forecasts> all;
  for (const double rate : {0.1, 0.05, 0.01, 0.001, 0.0001}) {
    bfstore::PlanRequest given = numbers_given(arguments.options);
    given.fpr = rate;
    all.push_back(forecasts_of(arguments, given));
  }
  return all;
}

int plan_size(const Arguments& arguments) {
  const std::vector<Forecasts> all = holdings_of(arguments);
  if (all.front().possible.empty()) throw Failure(reason_of(all.front().impossible));
  if (!arguments.json) {
    print(holdings_text(all));
    return 0;
  }
  Forecasts one;
  one.given = numbers_given(arguments.options);
  one.key_bytes = arguments.key_bytes;
  for (const Forecasts& at_rate : all)
    one.possible.insert(one.possible.end(), at_rate.possible.begin(), at_rate.possible.end());
  print(json_text(one));
  return 0;
}

std::string why_no_picture_replaces(std::string_view first) {
  return tools::begins_with_element(first, "svg") ? ""
                                                  : "is no picture (SVG), and --force replaces such pictures alone";
}

int plan(const Arguments& arguments) {
  if (arguments.options.capacity_at_most != 0) {
    print(growth_text(numbers_given(arguments.options), arguments.options.capacity_at_most));
    return 0;
  }
  if (is_size_alone(arguments.options)) return plan_size(arguments);
  const Forecasts all = forecasts_of(
      arguments, arguments.options.like.empty() ? numbers_given(arguments.options) : numbers_of_like(arguments));
  const std::string& picture = arguments.target;
  if (all.possible.empty()) throw Failure(reason_of(all.impossible));
  if (picture == kStandardOutput) {
    print(svg_text(all));
    return 0;
  }
  if (!picture.empty()) {
    interrupt::defer();
    tools::write_whole(picture, svg_text(all), arguments.options.replace, why_no_picture_replaces, 0666);
  }
  const std::string drawn = picture.empty() ? "" : "\n" + picture + ": has the picture of these rates\n";
  print(arguments.json ? json_text(all) : table_text(all, locale_is_utf8()) + drawn);
  return 0;
}

}  // namespace

const Command kPlan{"plan", "Say what a filter will be like, before one is made", declare_plan, plan, check_plan};

}  // namespace bf
