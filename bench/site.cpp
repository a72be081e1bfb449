#include "site.hpp"

#include <filesystem>
#include <iterator>

#include "check.hpp"
#include "limit.hpp"
#include "memory.hpp"
#include "subject.hpp"

namespace bench {
namespace {

const char* name_of(bfstore::Layout layout) noexcept {
  return layout == bfstore::Layout::kBlocked ? "blocked" : "classic";
}

void append(Rows& rows, Rows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// What the table says of a filter; its `fpr` and `huge` are known when it is full.
std::map<std::string, double> facts_of(const BfstoreSubject& filter, double fpr) {
  return {{"k", filter.shape().num_probes},
          {"body_bytes", static_cast<double>(filter.body_bytes())},
          {"huge", huge_page_share(filter.body())},
          {"fpr", fpr},
          {"theory", filter.shape().fpr}};
}

}  // namespace

Site::Site(const Hasher& hasher, const SharedLibrary& library, std::uint64_t num_keys, double bits_per_key,
           const std::string& folder)
    : population_(hasher, num_keys), answers_(population_.num_queries) {
  bfstore::Options options;
  options.capacity = num_keys;
  options.bits_per_key = bits_per_key;
  options.seed = kSeed;
  const std::string prefix = std::to_string(num_keys) + '/';
  for (const auto layout : {bfstore::Layout::kBlocked, bfstore::Layout::kClassic}) {
    options.layout = layout;
    const std::string path = folder + '/' + name_of(layout) + std::to_string(num_keys) + ".bf";
    add_filter(BfstoreSubject::in_file(path, options), prefix + "file");
    add_abi(AbiSubject::in_file(library, path), *filters_.back(), prefix + "file");
    std::filesystem::remove(path);
    add_filter(BfstoreSubject::in_heap(options), prefix + "heap");
    add_abi(AbiSubject::in_heap(library, filters_.back()->buffer()), *filters_.back(), prefix + "heap");
    if (layout != bfstore::Layout::kBlocked) continue;
    // The blocked filters' own memory is where the limits are measured.
    append(rows_, limit_rows(prefix + "file", (*std::prev(filters_.end(), 2))->lines(), population_, hasher, answers_));
    append(rows_, limit_rows(prefix + "heap", filters_.back()->lines(), population_, hasher, answers_));
  }
}

void Site::add_filter(std::unique_ptr<BfstoreSubject> made, const std::string& place) {
  BfstoreSubject& filter = *filters_.emplace_back(std::move(made));
  const char* name = name_of(filter.shape().layout);
  double fpr = 0;
  const Truth truth = fill_and_check(place + '/' + name, filter, population_, filter.shape().fpr, fpr);
  append(rows_, subject_rows({place, name, facts_of(filter, fpr), {}}, filter, population_, truth, answers_));
}

void Site::add_abi(AbiSubject opened, const BfstoreSubject& filter, const std::string& place) {
  const AbiSubject& subject = abi_.emplace_back(std::move(opened));
  const std::string name = std::string(name_of(filter.shape().layout)) + "-abi";
  const std::string title = place + '/' + name;
  const std::uint64_t maybes = count_maybes(title, subject, population_.mixed.digests);
  if (maybes != count_maybes(title, filter, population_.mixed.digests))
    fail(title + ": other answers than the C++ API's");
  RowMaker maker{place, name, {}, {}};
  ask_rows(maker, subject, "mixed", population_.mixed.digests, answers_, maybes);
  append(rows_, std::move(maker.rows));
}

}  // namespace bench
