// See plan_like.hpp.
#include "plan_like.hpp"

#include "failures.hpp"
#include "filter_use.hpp"
#include "foreign.hpp"
#include "options.hpp"

#include <bfstore/hashes.hpp>
#include <bfstore/inspect.hpp>

#include <optional>
#include <string>

namespace bf {
namespace {

// Nothing is asked, so a file that changes later does no harm.
constexpr bool kAnyFilesystem = true;

bfstore::PlanRequest numbers_of_own(const bfstore::Report& report, const std::string& file) {
  if (!report.valid()) throw Failure(file + ": " + report.problems.front().text + ". See bfinspect.");
  const bfstore::ReportedIdentity& identity = *report.identity;
  bfstore::PlanRequest numbers;
  numbers.layout = static_cast<bfstore::Layout>(identity.layout);
  numbers.hash = static_cast<bfstore::Hash>(identity.hash);
  numbers.num_bits = identity.num_bits;
  numbers.num_probes = identity.num_probes;
  numbers.capacity = identity.capacity;
  if (report.turning) numbers.window_ms = report.turning->window_ms;
  if (report.growing) numbers.capacity_at_most = report.growing->at_most.capacity;
  return numbers;
}

// n follows from p where the bytes say only that.
bfstore::PlanRequest numbers_of_foreign(const bfstore::ForeignFilter& told, const std::string& file) {
  const std::string format = told.format.name;
  if (told.filters != 1)
    throw Failure(file + ": has " + std::to_string(told.filters) + " filters in the format " + format +
                  ". Give the number of one, from 1: --member N.");
  if (told.num_bits == 0 || told.num_probes == 0)
    throw Failure(
        file + ": the format " + format +
        " does not say how many bits and probes its filters have. Give --bits and --probes instead of --like.");
  bfstore::PlanRequest numbers;
  numbers.layout = told.format.layout;
  if (told.hash) numbers.hash = *told.hash;
  numbers.num_bits = told.num_bits;
  numbers.num_probes = told.num_probes;
  numbers.capacity = told.capacity;
  if (told.capacity == 0) numbers.fpr = told.fpr;
  return numbers;
}

bfstore::PlanRequest numbers_in(const Arguments& arguments) {
  const std::string& file = arguments.options.like;
  bfstore::ForeignForm form = arguments.form;
  if (form.format.empty()) {
    const bfstore::Report report = unwrap(bfstore::inspect(file, false), file);
    if (report.identity) return numbers_of_own(report, file);
    refuse_set(report);
    form.format = recognized_format(file);
  } else {
    refuse_own_format(file);
  }
  const auto told = bfstore::inspect_foreign_file(file, form, {.any_filesystem = kAnyFilesystem});
  if (!told) refuse_other_format(told.error(), file);
  return numbers_of_foreign(unwrap(told, file), file);
}

}  // namespace

void add_plan_like(CLI::App& app, Arguments& arguments) {
  CLI::Option* const like =
      add_path(app, "--like", "a filter like this one, of bfstore or of another program: its m, k and n", "OTHER",
               arguments.options.like);
  for (const char* const other : {"--bits-per-key", "--bits", "--max-bytes", "--probes"})
    like->excludes(app.get_option(other));
  const std::size_t first = app.get_options().size();
  add_format(app, arguments, "");
  add_choice(app, arguments);
  need(app, like, first);
}

bfstore::PlanRequest numbers_of_like(const Arguments& arguments) {
  bfstore::PlanRequest numbers = numbers_in(arguments);
  const bfstore::Options& given = arguments.options;
  if (given.capacity != 0 || given.fpr != 0) {
    numbers.capacity = given.capacity;
    numbers.fpr = given.fpr;
  }
  if (given.window_ms != 0) numbers.window_ms = given.window_ms;
  if (numbers.capacity == 0 && numbers.fpr == 0)
    throw Failure(given.like +
                  ": does not say how many keys it is for, nor its rate. Give one of them: --capacity N or --fpr P.");
  return numbers;
}

}  // namespace bf
