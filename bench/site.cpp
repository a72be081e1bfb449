#include "site.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>

#include "check.hpp"
#include "inline_subject.hpp"
#include "limit.hpp"
#include "memory.hpp"
#include "rivals/rival.hpp"
#include "subject.hpp"

namespace bench {
namespace {

// 10, not 10.000000.
std::string number_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

void append(Rows& rows, Rows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// "1000000/10/"
std::string prefix_of(const bfstore::Options& options) {
  return std::to_string(options.capacity) + '/' + number_text(options.bits_per_key) + '/';
}

// The facts about a filter in the table. `fpr` and `huge` are known when the filter is full.
std::map<std::string, double> facts_of(const BfstoreSubject& filter, double fpr, std::size_t asked) {
  return {{"k", filter.shape().num_probes},         {"body_bytes", static_cast<double>(filter.body_bytes())},
          {"huge", huge_page_share(filter.body())}, {"fpr", fpr},
          {"asked", static_cast<double>(asked)},    {"theory", filter.shape().fpr}};
}

}  // namespace

Site::Site(const Surroundings& around, const Population& population, double bits_per_key, bool first_of_its_size)
    : population_(population), answers_(population_.num_queries) {
  bfstore::Options options;
  options.capacity = population.added.digests.size();
  options.bits_per_key = bits_per_key;
  options.seed = kSeed;
  const std::string prefix = prefix_of(options);
  for (const auto layout : {bfstore::Layout::kBlocked, bfstore::Layout::kClassic}) {
    options.layout = layout;
    const std::string path = around.folder + '/' + (layout == bfstore::Layout::kBlocked ? "blocked.bf" : "classic.bf");
    add_filter(BfstoreSubject::in_file(path, options), prefix + "file");
    add_abi(AbiSubject::in_file(around.library, path), *filters_.back(), prefix + "file");
    std::filesystem::remove(path);
    add_filter(BfstoreSubject::in_heap(options), prefix + "heap");
    add_abi(AbiSubject::in_heap(around.library, filters_.back()->buffer()), *filters_.back(), prefix + "heap");
    if (layout != bfstore::Layout::kBlocked) continue;
    append(rows_, plt_rows(prefix + "heap", around.calls, abi_.back(), population_));
    add_alone(options, around.folder + "/alone.bf", prefix);
    add_abi_alone(around.library, bits_per_key, prefix + "heap");
    // The limits are measured in the blocked filters' own memory.
    append(rows_,
           limit_rows(prefix + "file", (*std::prev(filters_.end(), 2))->lines(), population_, around.hasher, answers_));
    append(rows_, limit_rows(prefix + "heap", filters_.back()->lines(), population_, around.hasher, answers_));
  }
  add_all_rivals(add_rivals, around.hasher, bits_per_key, prefix, first_of_its_size);
  if (first_of_its_size) add_counting(around, options);
}

// Counters take four bits each, so these filters have four times as many bits a key, and their own part of the table.
// One size shows their speed, and they are large.
void Site::add_counting(const Surroundings& around, bfstore::Options options) {
  options.layout = bfstore::Layout::kCounting;
  options.bits_per_key *= 4;
  const std::string prefix = prefix_of(options);
  const std::string path = around.folder + "/counting.bf";
  add_counting(CountingSubject(std::move(*BfstoreSubject::in_file(path, options))), around.hasher, prefix + "file");
  add_abi(AbiSubject::in_file(around.library, path), counting_.back(), prefix + "file");
  std::filesystem::remove(path);
  add_counting(CountingSubject(std::move(*BfstoreSubject::in_heap(options))), around.hasher, prefix + "heap");
  add_abi(AbiSubject::in_heap(around.library, counting_.back().buffer()), counting_.back(), prefix + "heap");
  add_all_rivals(add_counting_rivals, around.hasher, options.bits_per_key, prefix, true);
}

void Site::add_counting(CountingSubject made, const Hasher& hasher, const std::string& place) {
  CountingSubject& filter = counting_.emplace_back(std::move(made));
  fill_and_add_rows(filter, place);
  append(rows_, limit_rows(place, filter.lines(), population_, hasher, answers_));
}

void Site::add_all_rivals(void (*add)(RivalSite&), const Hasher& hasher, double bits_per_key, const std::string& prefix,
                          bool first_of_its_size) {
  const double rate = filters_.front()->shape().fpr;  // the blocked filter's
  RivalSite site{hasher, population_, answers_, bits_per_key, rate, first_of_its_size, prefix + "heap", {}, {}, {}};
  add(site);
  append(rows_, std::move(site.rows));
  rivals_.insert(rivals_.end(), site.subjects.begin(), site.subjects.end());
  for (const auto& [name, why] : site.not_measured) not_measured_[prefix + name] = why;
}

void Site::add_filter(std::unique_ptr<BfstoreSubject> made, const std::string& place) {
  BfstoreSubject& filter = *filters_.emplace_back(std::move(made));
  fill_and_add_rows(filter, place);
  append(rows_, inline_rows(place, filter, population_, answers_));
}

template <class S>
void Site::fill_and_add_rows(S& filter, const std::string& place) {
  const std::string name = filter.layout_name();
  double fpr = 0;
  const Truth truth = fill_and_check(place + '/' + name, filter, population_, filter.shape().fpr, fpr);
  append(rows_, subject_rows({place, name, facts_of(filter, fpr, population_.absent.size()), {}}, filter, population_,
                             truth, answers_));
}

// Adds without atomic instructions, in its own file and buffer.
void Site::add_alone(bfstore::Options options, const std::string& path, const std::string& prefix) {
  options.exclusive = true;
  add_alone(BfstoreSubject::in_file(path, options), prefix + "file");
  std::filesystem::remove(path);
  add_alone(BfstoreSubject::in_heap(options), prefix + "heap");
}

void Site::add_alone(std::unique_ptr<BfstoreSubject> made, const std::string& place) {
  BfstoreSubject& filter = *filters_.emplace_back(std::move(made));
  double fpr = 0;
  const Truth truth = fill_and_check(place + "/blocked-alone", filter, population_, filter.shape().fpr, fpr);
  AloneSubject& alone = alone_.emplace_back(filter);
  RowMaker maker{place, "blocked-alone", {}, {}};
  add_single_rows(maker, alone, population_, truth);
  add_many_rows(maker, alone, population_, truth);
  if (population_.added.column.size() != 0) add_key_rows(maker, alone, population_.added.column, truth);
  append(rows_, std::move(maker.rows));
}

void Site::add_abi_alone(const SharedLibrary& library, double bits_per_key, const std::string& place) {
  AbiAloneSubject& filter = abi_alone_.emplace_back(library, population_.added.digests.size(), bits_per_key);
  double fpr = 0;
  const Truth truth = fill_and_check(place + "/blocked-alone-abi", filter, population_, filter.rate(), fpr);
  RowMaker maker{place, "blocked-alone-abi", {}, {}};
  add_single_rows(maker, filter, population_, truth);
  add_many_rows(maker, filter, population_, truth);
  append(rows_, std::move(maker.rows));
}

void Site::add_abi(AbiSubject opened, const BfstoreSubject& filter, const std::string& place) {
  const AbiSubject& subject = abi_.emplace_back(std::move(opened));
  const std::string name = filter.layout_name() + "-abi";
  const std::string title = place + '/' + name;
  const std::uint64_t maybes = count_maybes(title, subject, population_.mixed.digests);
  if (maybes != count_maybes(title, filter, population_.mixed.digests))
    fail(title + ": other answers than the C++ API's");
  check_keys(title, subject, population_.mixed);
  RowMaker maker{place, name, {}, {}};
  ask_rows(maker, subject, "mixed", population_.mixed.digests, answers_, maybes);
  if (population_.mixed.column.size() != 0) ask_key_rows(maker, subject, population_.mixed.column, answers_, maybes);
  append(rows_, std::move(maker.rows));
}

}  // namespace bench
