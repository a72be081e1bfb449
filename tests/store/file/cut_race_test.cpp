// Threads that ask at the very moment at which their file is truncated, grown again and filled again, over and over.
// The word at its end disappears before any bit does, so no lookup sees lost bits together with that word.
// `--seconds=N`: eight times that long at least.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <bfstore/inline.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <random>
#include <thread>

#include "format/sections.hpp"
#include "layout/layout.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kKeys = 50'000;
constexpr unsigned kThreads = 2;
constexpr std::uint64_t kLeastCuts = 200;
constexpr std::chrono::milliseconds kLeastTime{500};  // more cuts, where the machine is fast

thread_local sigjmp_buf after_a_fault;

// A lookup after the end of the file is SIGBUS: that is not an answer.
class FaultsAreNoAnswers {
 public:
  FaultsAreNoAnswers() {
    struct sigaction action {};
    action.sa_handler = [](int) { siglongjmp(after_a_fault, 1); };
    action.sa_flags = SA_NODEFER;
    REQUIRE(sigaction(SIGBUS, &action, &before_) == 0);
  }
  FaultsAreNoAnswers(const FaultsAreNoAnswers&) = delete;
  FaultsAreNoAnswers& operator=(const FaultsAreNoAnswers&) = delete;
  ~FaultsAreNoAnswers() { sigaction(SIGBUS, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

struct Tally {
  std::atomic<std::uint64_t> cuts{0};
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> wrong{0};     // lookups
  std::atomic<std::uint64_t> bad_cuts{0};  // during which there was a wrong no
};

class Race {
 public:
  explicit Race(const std::string& folder) : dir_(folder) {
    Options options;
    options.capacity = kKeys;
    options.max_bytes = std::uint64_t{1} << 20;
    Filter filter = created(dir_.file(), options);
    add_keys(filter, 1, 0, kKeys);
    REQUIRE(filter.close().ok());
    whole_ = read_bytes(dir_.file());
    descriptor_ = open(dir_.file().c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(descriptor_ >= 0);
    filter_.emplace(opened(Filter::open(dir_.file(), OpenMode::kRead)));
  }
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race() { close(descriptor_); }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return whole_.size(); }

  void run(std::uint64_t seed, std::uint64_t cut, bool grow, Tally& tally) {
    const FaultsAreNoAnswers scope;
    const auto digests = digests_behind(cut);
    REQUIRE(digests.size() > 10);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { ask(digests, i, tally); });
    // clock: how long it goes on when the cuts that must be made were made
    const auto end = std::chrono::steady_clock::now() +
                     std::max<std::chrono::milliseconds>(kLeastTime, std::chrono::seconds(option("seconds", 0)));
    std::mt19937_64 random(seed);
    while (tally.cuts < kLeastCuts || std::chrono::steady_clock::now() < end) {  // clock: as above
      wait_for_lookups();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30));
      ++cutting_;
      resize(cut);
      ++cutting_;
      if (grow) resize(bytes());
      wait_for_lookups();
      ++generation_;  // odd: not a file that was cut, nor a whole one
      resize(bytes());
      fill_again(cut, bytes() - format::kEndWordBytes);
      fill_again(bytes() - format::kEndWordBytes, bytes());
      ++generation_;
      ++tally.cuts;
    }
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
  }

 private:
  // Waits until every thread has begun another lookup, however busy the machine is.
  void wait_for_lookups() const {
    for (const std::atomic<std::uint64_t>& begun : begun_) {
      const std::uint64_t before = begun.load();
      while (begun.load() == before) std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  }

  void resize(std::uint64_t bytes) const { REQUIRE(ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0); }

  void fill_again(std::uint64_t from, std::uint64_t to) const {
    REQUIRE(pwrite(descriptor_, whole_.data() + from, to - from, static_cast<off_t>(from)) ==
            static_cast<ssize_t>(to - from));
  }

  // Returns digests of present keys that have a bit after the cut and in its page. No page fault shows that it is lost.
  [[nodiscard]] std::vector<std::uint64_t> digests_behind(std::uint64_t cut) const {
    const Shape& shape = filter_->shape();
    const layout::Geometry geometry = layout::row_of(shape.layout).geometry(shape.num_bits, shape.num_probes);
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::uint64_t digest = *filter_->digest(key_of(1, i));
      const std::uint64_t line =
          format::kFileHeaderBytes + layout::Blocked::locate(geometry, digest).word * sizeof(std::uint64_t);
      if (line >= cut && line / kPage == cut / kPage) found.push_back(digest);
    }
    return found;
  }

  // Asks, and judges the answers during which nothing was filled again.
  void ask(const std::vector<std::uint64_t>& digests, unsigned number, Tally& tally) {
    const Lookup lookup = filter_->lookup();
    while (!stop_) {
      const std::uint64_t i = number + begun_[number].fetch_add(1);
      const std::uint64_t before = generation_.load();
      const std::uint64_t cutting = cutting_.load();
      if (sigsetjmp(after_a_fault, 0) != 0) continue;
      const std::uint64_t digest = digests[i % digests.size()];
      const bool maybe = i % 2 == 0 ? lookup.contains_digest(digest) : filter_->contains_digest(digest);
      ++tally.asked;
      if (maybe || before % 2 != 0 || generation_.load() != before) continue;
      const bool meanwhile = cutting % 2 != 0 || cutting_.load() != cutting;
      if (!meanwhile) ++tally.wrong;
      if (meanwhile && bad_cut_.exchange(before) != before) ++tally.bad_cuts;
    }
  }

  TempDir dir_;
  std::string whole_;
  int descriptor_ = -1;
  std::optional<Filter> filter_;
  std::array<std::atomic<std::uint64_t>, kThreads> begun_{};  // lookups of each thread
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> cutting_{0};  // odd: truncate() runs
  std::atomic<std::uint64_t> bad_cut_{~std::uint64_t{0}};
  std::atomic<bool> stop_{false};
};

void race_at(const char* where, std::uint64_t (*cut_of)(std::uint64_t bytes)) {
  const std::uint64_t seed = first_seed();
  for (const std::string& folder : {memory_folder(), std::filesystem::temp_directory_path().string()}) {
    for (const bool grow : {true, false}) {
      CAPTURE(folder);
      CAPTURE(grow);
      Race race(folder);
      Tally tally;
      race.run(seed, cut_of(race.bytes()), grow, tally);
      std::printf(
          "%s, in %s, %s: %lu cuts, %lu of them with wrong noes while truncate() ran, %lu lookups, %lu wrong noes\n",
          where, folder.c_str(), grow ? "grown again" : "not grown", tally.cuts.load(), tally.bad_cuts.load(),
          tally.asked.load(), tally.wrong.load());
      CHECK(tally.wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("lookups during a cut in the middle of the body make no wrong no") {
  race_at("the middle", [](std::uint64_t bytes) { return bytes / 2 / kPage * kPage + 1000; });
}

TEST_CASE("lookups during a cut in the last page of the body make no wrong no") {
  race_at("the last page", [](std::uint64_t bytes) { return (bytes - 1) / kPage * kPage - kPage + 40; });
}
