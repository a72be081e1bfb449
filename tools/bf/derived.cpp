// See derived.hpp.
#include "derived.hpp"

#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "terminal.hpp"
#include "words.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bf {

void add_to_fpr(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_text(app, "--to-fpr", help, "P",
           [&](const std::string& name, const std::string& text) { arguments.options.fpr = parse_rate(name, text); });
}

bfstore::SaveOptions save_options(const Arguments& arguments) {
  bfstore::SaveOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.filling = arguments.options.filling;
  options.fpr = arguments.options.fpr;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  return options;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void refuse_itself(const Arguments& arguments) {
  if (is_same_file(arguments.target, arguments.file))
    throw Failure(arguments.target + ": is the source, which stays as it is. Give another name.");
}

void HoleWarning::warn() const {
  const std::string words = hole_.words(!arguments_.quiet);
  if (words.empty()) return;
  const std::string& copy = arguments_.target;
  bf::warn(arguments_.file + ": " + words + (copy == arguments_.file ? "" : " " + copy + " lacks the same bits."));
}

std::string not_smaller_words(const std::string& file) {
  return "; not smaller: no size that divides that of " + file + " keeps this rate";
}

void save(const Arguments& arguments, bfstore::SaveOptions options, Form form) {
  interrupt::defer();
  refuse_taken(arguments.target, arguments.options.replace);
  const bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  Replaced replaced(arguments, arguments.target);
  replaced.refuse_loss_of_file(filter, arguments.file);
  if (form == Form::kFolded && options.fpr == 0) options.fpr = filter.shape().fpr;
  HoleWarning hole(arguments);
  options.watch = hole.watch();
  const bfstore::Error error = filter.save(arguments.target, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.target);
  check(error, arguments.file);
  hole.warn();
  if (arguments.quiet) return;
  const bfstore::Filter saved =
      unwrap(open_filter_at(arguments.target, arguments, bfstore::OpenMode::kRead), arguments.target);
  const bool folded = options.fpr != 0;
  const bool in_vain = folded && saved.shape().num_bits == filter.shape().num_bits;
  report(
      arguments.target + ": " + (folded ? "folded" : "copied") + ", " + shape_words(saved.stats(), arguments.target) +
      (in_vain ? not_smaller_words(arguments.file) : "") +
      (is_sealed(arguments.file) && !is_sealed(arguments.target) ? "; not sealed (bf seal makes a sealed copy)" : ""));
}

void make_of_sources(const Arguments& arguments, MakeOfSources make, RefuseLoss refuse_loss) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  std::vector<bfstore::Filter> filters;
  for (const std::string& path : arguments.sources)
    filters.push_back(unwrap(open_filter_at(path, arguments, bfstore::OpenMode::kRead), path));
  std::vector<const bfstore::Filter*> sources;
  for (const bfstore::Filter& filter : filters) sources.push_back(&filter);
  OneForm forms(arguments.key_form, kFormsDiffer);
  for (std::size_t i = 0; i < filters.size(); ++i) forms.take(filters[i].note(), arguments.sources[i]);
  bfstore::SaveOptions options = save_options(arguments);
  options.note = forms.note();
  Replaced replaced(arguments, arguments.file);
  if (std::none_of(arguments.sources.begin(), arguments.sources.end(),
                   [&](const std::string& path) { return is_same_file(path, arguments.file); }))  // make() refuses it
    (replaced.*refuse_loss)(filters);
  const bfstore::Error error = make(sources, arguments.file, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.file);
  check(error, arguments.file);
}

}  // namespace bf
