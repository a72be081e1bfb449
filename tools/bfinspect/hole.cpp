// See hole.hpp.
#include "hole.hpp"

#include <bfstore/layouts.hpp>

#include <algorithm>
#include <utility>

#include "facts.hpp"
#include "verdict.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

std::string words_of(const Facts& facts) { return facts.lacks_bits() ? missing_bits_advice(facts) : std::string(); }

bool is_same_moment(const bfstore::Report& one, const bfstore::Report& other) {
  return one.state == other.state && keys_counted(one) == keys_counted(other);
}

// Reads the whole body. A process may have begun to add keys after the header was read, and what it has added by now
// would look like what is left around a hole. Then it is told as a file in use, or read again if that process is gone.
std::string words_of_hole(const std::string& path) {
  constexpr int kMostTries = 3;
  Facts facts;
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto report = bfstore::inspect(path, true);
    if (!report) return {};
    facts.report = std::move(*report);
    facts.stretches = look_along(facts.report);
    const auto now = bfstore::inspect(path, false);
    if (!now || is_same_moment(facts.report, *now)) break;
    facts.report.state = now->state;
    if (now->state == bfstore::FileState::kInUse) break;
  }
  return words_of(facts);
}

}  // namespace

HoleWatch::HoleWatch(std::string path) : path_(std::move(path)) {
  auto report = bfstore::inspect(path_, false);
  if (!report || !report->valid() || !report->identity) return;
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(report->identity->layout));
  if (!layout) return;
  report_ = std::move(*report);
  counter_.emplace(*report_, layout->cell_bits);
}

void HoleWatch::take(std::span<const std::uint64_t> words) {
  if (counter_) counter_->take(words);
}

std::string HoleWatch::words(bool reads_again) const {
  if (!counter_) return {};
  const auto all = counter_->stretches();
  if (!all) return {};  // the path names another file by now
  std::uint64_t set = 0;
  for (const Stretch& stretch : *all) set += stretch.set;
  Facts facts;
  facts.report = *report_;
  facts.stretches = judged_once(*report_->identity, *all);
  const bool counts_more = set < keys_counted(*report_).value_or(0);  // the fill says whether too many
  if (!facts.lacks_bits() && !counts_more) return {};
  return reads_again ? words_of_hole(path_) : words_of(facts);
}

}  // namespace bfinspect
