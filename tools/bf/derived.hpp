// Code of copy, fold, seal, merge, intersect and join, which make a new file of filters that stay as they are.
#pragma once

#include "arguments.hpp"
#include "hole.hpp"
#include "replaced.hpp"

#include <CLI/CLI.hpp>

#include <bfstore/bfstore.hpp>

#include <span>
#include <string>

namespace bf {

// --to-fpr: folds the new file.
void add_to_fpr(CLI::App& app, Arguments& arguments, const std::string& help);

// The options of the command line for the new file, --to-fpr among them.
bfstore::SaveOptions save_options(const Arguments& arguments);

// True if both paths lead to one file.
bool is_same_file(const std::string& one, const std::string& other);

// Throws Failure if `target` is the filter itself: --force would not help.
void refuse_itself(const Arguments& arguments);

// Warns if bits of the file may be missing, as bfinspect does, once the file has been read for its copy, the target.
class HoleWarning {
 public:
  explicit HoleWarning(const Arguments& arguments) : arguments_(arguments), hole_(arguments.file) {}

  // Lives as long as this.
  [[nodiscard]] bfstore::WatchWords watch() {
    return [this](std::span<const std::uint64_t> words) { hole_.take(words); };
  }
  void warn() const;

 private:
  const Arguments& arguments_;
  bfinspect::HoleWatch hole_;
};

// The end of a report of a filter that was to be folded, and is as large as the file.
std::string not_smaller_words(const std::string& file);

// What becomes of the filter. A folded one has the promised rate of the filter, unless the options have another one.
enum class Form { kCopied, kFolded };

// Makes `target` of the filter, which may be in use, and reports it.
void save(const Arguments& arguments, bfstore::SaveOptions options, Form form);

// The end of the message about filters whose keys have different forms, which no filter may have together.
inline constexpr const char* kFormsDiffer = "One filter of both would call keys absent: a note names one form.";

// Filter::intersect() or Filter::join().
using MakeOfSources = bfstore::Error (*)(std::span<const bfstore::Filter* const> sources, const std::string& path,
                                         const bfstore::SaveOptions& options);

// Replaced::refuse_loss_of_each or Replaced::refuse_loss_of_parts.
using RefuseLoss = void (Replaced::*)(std::span<const bfstore::Filter> filters) const;

// Makes OUT of the filters IN.
void make_of_sources(const Arguments& arguments, MakeOfSources make, RefuseLoss refuse_loss);

}  // namespace bf
