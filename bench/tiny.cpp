// bftiny: measures bare filters as in an engine's table, with 33 keys each, built in one call and asked without a
// handle. Compares them with a handle for each question, and with LevelDB's built-in filter.
//
// First every filter is built, and its answers and false-positive rate are checked (exit code 1 if they are wrong).
// Only then is anything timed. Times are per key, of the thread's CPU time:
//   bftiny --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
//   --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>
#include <bfstore/bfstore.hpp>

#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fail.hpp"
#include "rivals/rivals_found.hpp"  // made by meson: BFBENCH_WITH_...

#if BFBENCH_WITH_LEVELDB
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#endif

namespace bench {
namespace {

constexpr std::size_t kFilters = 32;  // with their keys about as large as an L1 cache: warm
constexpr std::size_t kKeys = 33;     // in each filter: a block of 4 KiB with rows of 120 bytes
constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kBitsPerKey = 10;
constexpr std::size_t kQuestions = 1 << 14;
constexpr std::size_t kAbsent = 20000;  // for each filter, to measure its rate

std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::string key_of(std::uint64_t number) {
  std::string key(kKeyBytes, '0');
  for (std::size_t i = 0; i < kKeyBytes; ++i, number = mix(number + i)) key[i] = static_cast<char>('a' + number % 26);
  return key;
}

struct Question {
  std::uint32_t filter;
  std::uint32_t key;
};

// The keys and questions, equal for every subject. Keys are kKeyBytes long, without gaps. The first kKeys of a filter's
// keys are in it.
class Work {
 public:
  Work() {
    for (std::size_t i = 0; i < kFilters * 2 * kKeys; ++i) bytes_ += key_of(i + 1);
    for (std::size_t i = 0; i < kFilters * 2 * kKeys; ++i)
      views_.emplace_back(bytes_.data() + i * kKeyBytes, kKeyBytes);
    for (std::uint64_t i = 0; i < kQuestions; ++i) {
      questions_.push_back({static_cast<std::uint32_t>(mix(i + 1) % kFilters),
                            static_cast<std::uint32_t>(mix(i + kQuestions) % (2 * kKeys))});
    }
  }

  [[nodiscard]] std::span<const std::string_view> keys(std::size_t filter) const {
    return std::span(views_).subspan(filter * 2 * kKeys, kKeys);
  }
  [[nodiscard]] std::string_view key(const Question& question) const {
    return views_[question.filter * 2 * kKeys + question.key];
  }
  [[nodiscard]] const std::vector<Question>& questions() const { return questions_; }

 private:
  std::string bytes_;
  std::vector<std::string_view> views_;
  std::vector<Question> questions_;
};

// The formula's rate for filters of this size, which averages over lines of different loads. The rate of one line is
// lower.
double promised(bfstore::Layout layout, std::uint64_t num_bits) {
  bfstore::Options options;
  options.layout = layout;
  options.capacity = kKeys;
  options.bits_per_key = static_cast<double>(num_bits) / kKeys;
  alignas(64) static std::byte buffer[4096];
  const auto filter = bfstore::Filter::format(buffer, options);
  if (!filter) fail(filter.error().message);
  return filter->shape().fpr;
}

// The filters in one array, one byte apart, so that they are at all kinds of addresses.
class Bare {
 public:
  explicit Bare(bfstore::Layout layout)
      : layout_(layout),
        filter_bytes_(bfstore::bare::bytes_for(kKeys, kBitsPerKey, layout)),
        bytes_(kFilters * (filter_bytes_ + 1)) {}

  void build(std::size_t filter, std::span<const std::string_view> keys) {
    if (bfstore::bare::build(at(filter), bfstore::Keys::views(keys), layout_) != bfstore::Code::kOk)
      fail("a bare filter could not be built");
  }
  [[nodiscard]] bool contains(std::size_t filter, std::string_view key) const {
    return bfstore::bare::contains(at(filter), key);
  }
  [[nodiscard]] std::size_t filter_bytes() const { return filter_bytes_; }
  [[nodiscard]] double most_false() const { return promised(layout_, (filter_bytes_ - 8) * 8); }

 protected:
  [[nodiscard]] std::span<std::byte> at(std::size_t filter) {
    return std::span(bytes_).subspan(filter * (filter_bytes_ + 1), filter_bytes_);
  }
  [[nodiscard]] std::span<const std::byte> at(std::size_t filter) const {
    return std::span(bytes_).subspan(filter * (filter_bytes_ + 1), filter_bytes_);
  }

  bfstore::Layout layout_;
  std::size_t filter_bytes_;
  std::vector<std::byte> bytes_;
};

// A handle for each filter that is built and for each question, for comparison.
class Handle : public Bare {
 public:
  explicit Handle(bfstore::Layout layout) : Bare(layout) {}

  void build(std::size_t filter, std::span<const std::string_view> keys) {
    bfstore::Options options;
    options.layout = layout_;
    options.bare = true;
    options.capacity = keys.size();
    options.max_bytes = filter_bytes_;
    auto made = bfstore::Filter::format(aligned_, options);
    if (!made || !made->add_keys(bfstore::Keys::views(keys)).ok()) fail("a filter could not be made");
    std::memcpy(at(filter).data(), aligned_, filter_bytes_);
  }
  [[nodiscard]] bool contains(std::size_t filter, std::string_view key) const {
    alignas(64) std::byte copy[256];
    std::memcpy(copy, at(filter).data(), filter_bytes_);
    const auto wrapped = bfstore::Filter::wrap_to_read(std::span<const std::byte>(copy, filter_bytes_), true);
    return !wrapped || wrapped->contains(key);
  }

 private:
  alignas(64) std::byte aligned_[256];
};

#if BFBENCH_WITH_LEVELDB
class Leveldb {
 public:
  void build(std::size_t filter, std::span<const std::string_view> keys) {
    slices_.clear();
    for (const std::string_view key : keys) slices_.emplace_back(key.data(), key.size());
    filters_[filter].clear();
    policy_->CreateFilter(slices_.data(), static_cast<int>(slices_.size()), &filters_[filter]);
  }
  [[nodiscard]] bool contains(std::size_t filter, std::string_view key) const {
    return policy_->KeyMayMatch({key.data(), key.size()}, filters_[filter]);
  }
  [[nodiscard]] std::size_t filter_bytes() const { return filters_[0].size(); }
  [[nodiscard]] double most_false() const { return 0.03; }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> policy_{leveldb::NewBloomFilterPolicy(kBitsPerKey)};
  std::vector<std::string> filters_ = std::vector<std::string>(kFilters);
  std::vector<leveldb::Slice> slices_;
};
#endif

// Builds all filters. Returns the measured rate.
template <class Subject>
double build_and_check(const std::string& name, Subject& subject, const Work& work) {
  std::uint64_t false_positives = 0;
  for (std::size_t filter = 0; filter < kFilters; ++filter) {
    subject.build(filter, work.keys(filter));
    for (const std::string_view key : work.keys(filter)) {
      if (!subject.contains(filter, key)) fail(name + ": a wrong no");
    }
    for (std::size_t i = 0; i < kAbsent; ++i)
      false_positives += subject.contains(filter, key_of((filter + 1) << 32 | i)) ? 1U : 0U;
  }
  const double asked = kFilters * kAbsent;
  const double rate = static_cast<double>(false_positives) / asked;
  const double most = subject.most_false();
  if (rate > 1.02 * most + 3 * std::sqrt(most / asked) || rate < most / 4)
    fail(name + ": the false-positive rate is " + std::to_string(rate) + " and not about " + std::to_string(most));
  return rate;
}

template <class Subject>
void build_all(benchmark::State& state, Subject& subject, const Work& work) {
  for ([[maybe_unused]] auto iteration : state) {
    for (std::size_t filter = 0; filter < kFilters; ++filter) subject.build(filter, work.keys(filter));
    benchmark::ClobberMemory();
  }
}

template <class Subject>
void ask_all(benchmark::State& state, const Subject& subject, const Work& work) {
  for ([[maybe_unused]] auto iteration : state) {
    std::uint64_t maybes = 0;
    for (const Question& question : work.questions())
      maybes += subject.contains(question.filter, work.key(question)) ? 1U : 0U;
    benchmark::DoNotOptimize(maybes);
  }
}

template <class Subject>
void add(const std::string& name, std::shared_ptr<Subject> subject, const Work& work) {
  const double rate = build_and_check(name, *subject, work);
  const auto note = [=](benchmark::State& state, double keys) {
    using benchmark::Counter;
    state.counters["s/key"] = Counter(keys, Counter::kIsIterationInvariantRate | Counter::kInvert);
    state.counters["fpr"] = rate;
    state.counters["bytes"] = static_cast<double>(subject->filter_bytes());
  };
  benchmark::RegisterBenchmark((name + "/build").c_str(), [=, &work](benchmark::State& state) {
    build_all(state, *subject, work);
    note(state, kFilters * kKeys);
  });
  benchmark::RegisterBenchmark((name + "/contains").c_str(), [=, &work](benchmark::State& state) {
    ask_all(state, *subject, work);
    note(state, kQuestions);
  });
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const Work work;
  for (const bfstore::Layout layout : {bfstore::Layout::kBlocked, bfstore::Layout::kClassic}) {
    const std::string name = bfstore::layout_of(layout)->name;
    add(name, std::make_shared<Bare>(layout), work);
    add(name + "-handle", std::make_shared<Handle>(layout), work);
  }
#if BFBENCH_WITH_LEVELDB
  add("leveldb", std::make_shared<Leveldb>(), work);
#endif
  const std::size_t measured = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return measured == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bftiny: " << error.what() << '\n';
    return 1;
  }
}
