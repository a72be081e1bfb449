// bfbulk: measures batches of millions of digests in one filter on the heap: plain, and sorted in the caller's memory,
// next to the limit of reading the filter once in order, and to Boost.Bloom with the same rate, for which the caller
// sorts.
//
// First every filter is filled and its answers are checked (exit code 1 if they are wrong). The results are JSON, from
// which bench/report/bulk_table.py makes a table:
//   bfbulk --json bulk.json && bench/report/bulk_table.py bulk.json
#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "bfstore_subject.hpp"
#include "check.hpp"
#include "harness.hpp"
#include "measure.hpp"
#include "partitioner.hpp"
#include "rivals/bulk_rival.hpp"
#include "rivals_found.hpp"  // made by meson: BFBENCH_WITH_...

namespace bench {
namespace {

struct Settings {
  std::uint64_t filter_bytes = 128'000'000;
  std::uint64_t num_digests = 10'000'000;
  Pages pages = Pages::kHuge;
  bool rivals = true;
  bool adding = true;
  int repetitions = 5;
  std::string json = "bfbulk.json";
  std::vector<std::string> rest;  // for Google Benchmark
};

constexpr double kBitsPerKey = 10;
constexpr std::uint64_t kFirstAbsent = std::uint64_t{1} << 40;  // keys with this number or a higher one are never added
constexpr std::size_t kFewest = bfstore::Keys::kFewestSorted;

std::optional<Settings> read_arguments(int argc, char** argv, int& code) {
  Settings settings;
  bool small_pages = false;
  bool without_rivals = false;
  bool without_adding = false;
  CLI::App app(
      "Measures batches of millions of digests.\n\n"
      "  bfbulk --json bulk.json && bench/report/bulk_table.py bulk.json\n\n"
      "Arguments that begin with --benchmark_ are Google Benchmark's: --benchmark_filter=REGEX and others.");
  app.set_version_flag("--version", bfstore::version());
  app.add_option("--bytes", settings.filter_bytes, "of the filter, which is filled with 10 bits a key")
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--digests", settings.num_digests, "in a batch")
      ->check(CLI::Range(std::uint64_t{kFewest}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_flag("--small-pages", small_pages,
               "4 KiB pages for the filter and for the memory in which digests are sorted");
  app.add_flag("--without-rivals", without_rivals, "measure no other library's filters");
  app.add_flag("--without-adding", without_adding, "ask only: for a filter that fills the memory");
  app.add_option("--repetitions", settings.repetitions, "of each measurement")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", settings.json, "where the results go")->capture_default_str();
  if (!parse(app, argc, argv, settings.rest, code)) return std::nullopt;
  if (small_pages) settings.pages = Pages::kSmall;
  settings.rivals = !without_rivals;
  settings.adding = !without_adding;
  return settings;
}

// A bijection, so no digest is there twice (SplitMix64).
std::uint64_t digest_of(std::uint64_t number) noexcept { return mix((number + 1) * 0x9e3779b97f4a7c15); }

// Half of the digests that are asked about are present, at random, so that no CPU can predict the answers.
struct Questions {
  std::vector<std::uint64_t> digests;
  std::vector<std::uint8_t> present;
};

Questions make_questions(std::uint64_t count, std::uint64_t num_keys) {
  Questions questions;
  questions.digests.reserve(count);
  questions.present.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool present = (mix(~i) & 1) != 0;
    questions.digests.push_back(digest_of(present ? mix(i) % num_keys : kFirstAbsent + i));
    questions.present.push_back(present ? 1 : 0);
  }
  return questions;
}

template <class Add>
void fill(std::uint64_t num_keys, Add add) {
  constexpr std::uint64_t kAtOnce = 4'000'000;
  std::vector<std::uint64_t> digests;
  for (std::uint64_t begin = 0; begin < num_keys; begin += kAtOnce) {
    digests.clear();
    for (std::uint64_t i = begin; i < std::min(begin + kAtOnce, num_keys); ++i) digests.push_back(digest_of(i));
    add(std::span<const std::uint64_t>(digests));
  }
}

// Reads the body once in order, and the digests, and writes an answer for each: no way to sort takes less.
std::uint64_t stream(const BfstoreSubject& filter, std::span<const std::uint64_t> digests,
                     std::span<std::uint8_t> answers) noexcept {
  const Lines lines = filter.lines();
  std::uint64_t all = 0;
  for (std::uint64_t word = 0; word < lines.count * 8; ++word) all ^= lines.words[word];
  for (std::size_t i = 0; i < digests.size(); ++i) answers[i] = static_cast<std::uint8_t>(digests[i] & 1);
  return all;
}

class Bulk {
 public:
  explicit Bulk(const Settings& settings);
  Bulk(const Bulk&) = delete;
  Bulk& operator=(const Bulk&) = delete;

  [[nodiscard]] Rows take_rows() { return std::move(rows_); }

 private:
  using Ask = Partitioner::Ask;

  [[nodiscard]] bfstore::Options options() const;
  void add_ours();
  void add_adding();
  void add_rivals();
  void add_rival(const BulkRival& rival);
  void ask_row(const std::string& subject, const char* way, std::size_t count, const Ask& ask,
               const std::map<std::string, double>& facts);
  // Keeps the answers, which all later ones must equal, and returns the rate.
  double first_answers(const std::string& name, const Ask& ask, std::optional<double> theory);
  Row& row(const std::string& subject, const char* operation, const char* way, std::size_t count);

  Settings settings_;
  Hasher hasher_;
  std::uint64_t num_keys_;
  Questions questions_;
  std::vector<std::uint8_t> right_;
  std::vector<std::uint8_t> answers_;
  Partitioner partitioner_;
  std::unique_ptr<BfstoreSubject> filter_;
  std::unique_ptr<BfstoreSubject> adder_;
  std::vector<BulkRival> rivals_;
  Rows rows_;
};

Bulk::Bulk(const Settings& settings)
    : settings_(settings),
      num_keys_(static_cast<std::uint64_t>(static_cast<double>(settings.filter_bytes) * 8 / kBitsPerKey)),
      questions_(make_questions(settings.num_digests, num_keys_)),
      right_(settings.num_digests, 2),
      answers_(settings.num_digests),
      partitioner_(settings.rivals ? settings.num_digests : 1, settings.pages) {
  add_ours();
  if (settings_.adding) add_adding();
  if (settings_.rivals) add_rivals();
}

bfstore::Options Bulk::options() const {
  bfstore::Options options;
  options.capacity = num_keys_;
  options.bits_per_key = kBitsPerKey;
  options.seed = kSeed;
  options.exclusive = true;
  return options;
}

Row& Bulk::row(const std::string& subject, const char* operation, const char* way, std::size_t count) {
  Row& row = rows_.emplace_back();
  row.place = std::to_string(settings_.filter_bytes) + '/' + std::to_string(count) + '/' +
              (settings_.pages == Pages::kHuge ? "huge" : "small");
  row.subject = subject;
  row.operation = operation;
  row.way = way;
  row.input = "digests";
  row.present = "mixed";
  row.num_keys = count;
  return row;
}

double Bulk::first_answers(const std::string& name, const Ask& ask, std::optional<double> theory) {
  ask(questions_.digests, right_);
  std::uint64_t absent = 0;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < right_.size(); ++i) {
    if (right_[i] > 1 || right_[i] < questions_.present[i]) fail(name + ": a wrong no");
    if (questions_.present[i] != 0) continue;
    ++absent;
    wrong += right_[i];
  }
  return check_fpr(name, wrong, absent, theory);
}

void Bulk::ask_row(const std::string& subject, const char* way, std::size_t count, const Ask& ask,
                   const std::map<std::string, double>& facts) {
  const auto digests = std::span<const std::uint64_t>(questions_.digests).first(count);
  std::fill(answers_.begin(), answers_.end(), std::uint8_t{2});
  const auto answers = std::span(answers_).first(count);
  Row& made = row(subject, "contains", way, count);
  made.expected = ask(digests, answers);
  if (!std::equal(answers.begin(), answers.end(), right_.begin())) fail(made.name() + ": other answers");
  made.facts = facts;
  made.pass = [ask, digests, answers] { return ask(digests, answers); };
}

void Bulk::add_ours() {
  filter_ = BfstoreSubject::in_heap(options(), settings_.pages);
  fill(num_keys_, [&](auto digests) { filter_->add_with_scratch(digests); });
  const Ask plain = [this](auto digests, auto answers) { return filter_->contains_digests(digests, answers); };
  const Ask sorted = [this](auto digests, auto answers) { return filter_->contains_sorted(digests, answers); };
  const double theory = filter_->shape().fpr;
  const double fpr = first_answers("blocked", plain, theory);
  const std::map<std::string, double> facts{{"huge", huge_page_share(filter_->body())},
                                            {"fpr", fpr},
                                            {"theory", theory},
                                            {"body_bytes", static_cast<double>(filter_->body_bytes())}};
  for (const std::size_t count : {kFewest - 1, kFewest, static_cast<std::size_t>(settings_.num_digests)}) {
    if (count == kFewest && settings_.num_digests == kFewest) continue;
    ask_row("blocked", "many", count, plain, facts);
    ask_row("blocked", "sorted", count, sorted, facts);
  }
  row("limit", "contains", "stream", settings_.num_digests).pass = [this] {
    return stream(*filter_, questions_.digests, answers_);
  };
}

// Each pass adds the digests to an empty filter.
void Bulk::add_adding() {
  adder_ = BfstoreSubject::in_heap(options(), settings_.pages);
  const std::span<const std::uint64_t> digests = questions_.digests;
  for (const bool sorts : {false, true}) {
    const auto pass = [this, digests, sorts] {
      return sorts ? adder_->add_with_scratch(digests) : adder_->add_digests(digests);
    };
    Row& made = row("blocked-alone", "add", sorts ? "sorted" : "many", digests.size());
    made.prepare = [this] { adder_->clear(); };
    made.pass = pass;
    adder_->clear();
    made.expected = pass();
    if (adder_->contains_sorted(digests, answers_) != digests.size()) fail(made.name() + ": a wrong no");
  }
}

void Bulk::add_rivals() {
#if BFBENCH_WITH_BOOST_BLOOM
  rivals_ = boost_for_bulk(hasher_, num_keys_, filter_->shape().fpr, settings_.pages);
  for (const BulkRival& rival : rivals_) add_rival(rival);
#else
  benchmark::AddCustomContext("not_measured/Boost.Bloom", "the headers of Boost 1.90 or later were not there");
#endif
}

void Bulk::add_rival(const BulkRival& rival) {
  fill(num_keys_, rival.add);
  const double fpr = first_answers(rival.name, rival.ask, std::nullopt);
  const RivalFacts known = rival.facts();
  const std::map<std::string, double> facts{{"huge", huge_page_share(static_cast<const std::byte*>(known.body))},
                                            {"fpr", fpr},
                                            {"body_bytes", known.body_bytes}};
  const std::size_t count = settings_.num_digests;
  ask_row(rival.name, "many", count, rival.ask, facts);
  const auto sorted = [this, ask = rival.ask](auto digests, auto answers) {
    return partitioner_.contains(digests, answers, ask);
  };
  ask_row(rival.name, "sorted", count, sorted, facts);
}

// Throws if there is too little memory, before the system ends a program.
void check_memory(const Settings& settings) {
  std::uint64_t filters = 1;
  std::uint64_t a_digest = 8 + 3 + 12;  // itself, answers, and memory for sorting
  if (settings.adding) {
    filters += 1;
    a_digest += 12;
  }
  if (settings.rivals) {
    filters += 3;
    a_digest += 9;
  }
  const std::uint64_t needed = filters * settings.filter_bytes + a_digest * settings.num_digests + (100U << 20U);
  if (needed > available_memory()) fail("it takes " + std::to_string(needed >> 20U) + " MiB of memory");
}

int run(const Settings& settings) {
  std::vector<std::string> arguments{"bfbulk", "--benchmark_repetitions=" + std::to_string(settings.repetitions),
                                     "--benchmark_enable_random_interleaving=true", "--benchmark_out=" + settings.json,
                                     "--benchmark_out_format=json"};
  arguments.insert(arguments.end(), settings.rest.begin(), settings.rest.end());
  initialize(std::move(arguments), settings.json);
  check_memory(settings);
  std::cerr << "filling filters of " << settings.filter_bytes << " bytes and checking their answers\n";
  Bulk bulk(settings);
  for (Row& row : bulk.take_rows()) {
    const std::string name = row.name();
    benchmark::RegisterBenchmark(name.c_str(), [row = std::move(row)](benchmark::State& state) { measure(state, row); })
        ->UseManualTime()
        ->Iterations(1);
  }
  add_machine(std::filesystem::temp_directory_path().string());
  QuietReporter reporter("bfbulk");
  const std::size_t measured = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return reporter.failed() || measured == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    int code = 0;
    const auto settings = bench::read_arguments(argc, argv, code);
    return settings ? bench::run(*settings) : code;
  } catch (const std::exception& error) {
    std::cerr << "bfbulk: " << error.what() << '\n';
    return 1;
  }
}
