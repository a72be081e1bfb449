// Keys are removed from a counting filter, by one handle and by processes at once, some of which are killed. A removed
// key is gone, a key that is there is never gone, and an interrupted operation leaks one key at most.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "format/live_word.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kStable = 1;   // its keys are never removed
constexpr unsigned kChurned = 2;  // its keys come and go

Options counting_options(std::uint64_t capacity = 3000) {
  Options options;
  options.capacity = capacity;
  options.fpr = 1e-6;
  options.layout = Layout::kCounting;
  options.seed = 7;
  return options;
}

std::string body_of(const std::string& path) {
  const ReportedIdentity identity = *inspect(path)->identity;
  return read_bytes(path).substr(identity.body_offset, identity.body_bytes);
}

Fill fill_of(const Filter& filter) { return *filter.stats({.fill = true}).fill; }

bool has_all(const Filter& filter, unsigned writer, std::uint64_t count) {
  return maybes(filter, writer, 0, count) == count;
}

void remove_keys(Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) {
    const Count removed = filter.remove(key_of(writer, i));
    REQUIRE(removed.ok());
    REQUIRE(removed.keys() == 1);
  }
}

// Runs in a child: adds keys, finds them, removes them, and finds the others. Returns 0 if all was well.
int churn(const std::string& path, std::uint64_t from, std::uint64_t count) {
  auto filter = Filter::open(path, OpenMode::kWrite);
  if (!filter.ok()) return 2;
  for (std::uint64_t i = from; i < from + count; ++i) {
    const auto key = key_of(kChurned, i);
    if (!filter->add(key).ok() || !filter->contains(key)) return 3;
    if (!has_all(*filter, kStable, 20)) return 4;
    const Count removed = filter->remove(key);
    if (!removed.ok() || removed.keys() != 1) return 5;
    if (!has_all(*filter, kStable, 20)) return 6;
  }
  return filter->close().ok() ? 0 : 7;
}

pid_t start_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  return pid;
}

}  // namespace

TEST_CASE("a key is there as often as it was added, and gone when it was removed as often") {
  for (const bool exclusive : {false, true}) {
    TempDir dir;
    Options options = counting_options();
    options.exclusive = exclusive;
    Filter filter = created(dir.file(), options);
    add_keys(filter, kStable, 0, kSome);
    const std::string key = "twice";
    CHECK(filter.remove(key).keys() == 0);
    CHECK(filter.stats().keys_removed == 0);
    CHECK(filter.add(key).keys() == 1);
    CHECK(filter.add(key).keys() == 0);
    CHECK(filter.count(key).keys() == 2);
    CHECK(filter.stats().keys_added == kSome + 2);
    CHECK(filter.remove(key).keys() == 1);
    CHECK(filter.count(key).keys() == 1);
    CHECK(filter.contains(key));
    CHECK(filter.remove(key).keys() == 1);
    CHECK(filter.count(key).keys() == 0);
    CHECK_FALSE(filter.contains(key));
    CHECK(filter.remove(key).keys() == 0);
    CHECK(filter.stats().keys_removed == 2);
    CHECK(has_all(filter, kStable, kSome));
    CHECK(std::abs(fill_of(filter).estimated_keys - static_cast<double>(kSome)) < 0.05 * static_cast<double>(kSome));
    CHECK(filter.close().ok());
    const Filter again = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(again.stats().keys_removed == 2);
    CHECK_FALSE(again.contains(key));
    CHECK(again.count(key).keys() == 0);
  }
}

TEST_CASE("keys that come and go leave the same counters as if they had never been there") {
  TempDir dir;
  Filter all = created(dir.file("all"), counting_options());
  Filter few = created(dir.file("few"), counting_options());
  add_keys(few, kStable, 0, kSome);
  add_keys(all, kChurned, 0, 5 * kSome);
  add_keys(all, kStable, 0, kSome);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 5 * kSome; ++i) keys.emplace_back(key_of(kChurned, i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  CHECK(all.remove_keys(Keys::views(views)).keys() == 5 * kSome);
  CHECK(all.stats().keys_removed == 5 * kSome);
  CHECK_FALSE(all.stats().saturated);
  CHECK(all.close().ok());
  CHECK(few.close().ok());
  CHECK(body_of(dir.file("all")) == body_of(dir.file("few")));
}

TEST_CASE("a counter at 15 stays there: the key is answered maybe for good, and the statistics tell") {
  TempDir dir;
  Filter filter = created(dir.file(), counting_options());
  for (int i = 0; i < 20; ++i) REQUIRE(filter.add("often").ok());
  CHECK(filter.count("often").keys() == 15);
  for (int i = 0; i < 20; ++i) CHECK(filter.remove("often").keys() == 1);
  CHECK(filter.contains("often"));
  CHECK(filter.count("often").keys() == 15);
  const Fill fill = fill_of(filter);
  CHECK(fill.counters_at_15 > 0);
  CHECK(std::isinf(fill.estimated_keys_high));
}

TEST_CASE("only the counting layout removes, and only through a handle that writes") {
  TempDir dir;
  Filter blocked = created(dir.file("blocked"));
  CHECK(blocked.remove("key").code() == Code::kUnsupported);
  CHECK(blocked.remove_keys(Keys()).code() == Code::kUnsupported);
  CHECK(blocked.count("key").code() == Code::kUnsupported);
  Filter writer = created(dir.file(), counting_options());
  add_keys(writer, kStable, 0, 1);
  Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(reader.remove(key_of(kStable, 0)).code() == Code::kReadOnly);
  CHECK(reader.remove_keys(Keys()).code() == Code::kReadOnly);
  CHECK(reader.count(key_of(kStable, 0)).keys() == 1);
  CHECK(writer.shut().ok());
  CHECK(writer.remove(key_of(kStable, 0)).code() == Code::kShut);
}

TEST_CASE("nothing is removed while a filter is filled, recovered or in doubt, and every count is the highest") {
  TempDir dir;
  Options options = counting_options();
  options.filling = true;
  Filter filter = created(dir.file(), options);
  add_keys(filter, kStable, 0, kSome);
  CHECK(filter.remove(key_of(kStable, 0)).code() == Code::kFilling);
  CHECK(filter.count("absent").keys() == 15);
  CHECK(filter.finish_filling().ok());
  CHECK(filter.count("absent").keys() == 0);
  for (const std::uint64_t flag : {format::LiveWord::kPoisoned, format::LiveWord::kSuperseded,
                                   format::LiveWord::kRecovering, format::LiveWord::kReplaced}) {
    const std::uint64_t healthy = look_at(dir.file()).live_word;
    set_live_word(dir.file(), healthy | flag);
    const std::string before = body_of(dir.file());
    CHECK(filter.remove(key_of(kStable, 0)).code() == filter.health());
    const std::vector<std::uint64_t> digests{*filter.digest(key_of(kStable, 0))};
    CHECK(filter.remove_keys(Keys::digests(digests)).code() == filter.health());
    CHECK_FALSE(filter.remove_digest(digests[0]).ok());
    CHECK(filter.count("absent").keys() == 15);
    CHECK(body_of(dir.file()) == before);
    set_live_word(dir.file(), healthy);
  }
  CHECK(filter.remove(key_of(kStable, 0)).keys() == 1);
}

TEST_CASE("a recoverer adds again and removes nothing until the recovery is over") {
  TempDir dir;
  Filter filter = created(dir.file(), counting_options());
  add_keys(filter, kStable, 0, kSome);
  CHECK(filter.sync({.owner = 1, .mark = kSome}).ok());
  CHECK(filter.close().ok());
  REQUIRE(in_child([&] {
            const auto left = Filter::open(dir.file(), OpenMode::kWrite);
            _exit(left.ok() ? 0 : 1);
            return 0;
          }) == 0);
  edit_slots(dir.file(), [](format::Slot& slot) { slot.place.boot_id[0] ^= 1; });
  Filter recoverer = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
  CHECK(recoverer.add(key_of(kStable, 0)).ok());
  CHECK(recoverer.remove(key_of(kStable, 0)).code() == Code::kRecovering);
  const auto over = recoverer.finish_recovery(1);
  REQUIRE(over.ok());
  REQUIRE(*over);
  CHECK(recoverer.count(key_of(kStable, 0)).keys() == 2);  // replayed: a leak
  remove_keys(recoverer, kStable, 0, 1);
  CHECK(has_all(recoverer, kStable, kSome));
}

TEST_CASE("a copy, a sealed one too, counts the keys that are left, and a fold and a merge keep every one of them") {
  TempDir dir;
  Filter filter = created(dir.file(), counting_options());
  add_keys(filter, kStable, 0, kSome);
  add_keys(filter, kChurned, 0, kSome);
  remove_keys(filter, kChurned, 0, kSome);
  CHECK(filter.save(dir.file("copy")).ok());
  CHECK(filter.save(dir.file("folded"), {.fpr = 0.05}).ok());
  Filter merged = created(dir.file("merged"), counting_options());
  add_keys(merged, kStable, 0, 10);
  CHECK(merged.merge(filter).ok());
  CHECK(merged.count(key_of(kStable, 0)).keys() == 2);
  remove_keys(merged, kStable, 0, 10);
  CHECK(has_all(merged, kStable, kSome));
  CHECK(filter.close().ok());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  for (const char* const name : {"copy", "folded", "sealed"}) {
    CAPTURE(std::string(name));
    OpenOptions options;
    options.verify = std::strcmp(name, "sealed") == 0;
    const Filter copy = opened(Filter::open(dir.file(name), OpenMode::kRead, options));
    CHECK(copy.stats().keys_added == kSome);
    CHECK(copy.stats().keys_removed == 0);
    CHECK(has_all(copy, kStable, kSome));
    CHECK(copy.shape().layout == Layout::kCounting);
  }
}

TEST_CASE("processes that add and remove at once leave exactly the keys that are there") {
  TempDir dir;
  constexpr std::uint64_t kRounds = 400;
  Filter filter = created(dir.file(), counting_options());
  Filter alone = created(dir.file("alone"), counting_options());
  add_keys(filter, kStable, 0, kSome);
  add_keys(alone, kStable, 0, kSome);
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < 3; ++i)
    children.push_back(start_child([&, i] { return churn(dir.file(), i * kRounds, kRounds); }));
  for (int i = 0; i < 20; ++i) CHECK(has_all(filter, kStable, kSome));
  for (const pid_t pid : children) CHECK(wait_for(pid) == 0);
  CHECK(filter.stats().keys_added == kSome + 3 * kRounds);
  CHECK(filter.stats().keys_removed == 3 * kRounds);
  CHECK(filter.close().ok());
  CHECK(alone.close().ok());
  CHECK(body_of(dir.file()) == body_of(dir.file("alone")));
}

TEST_CASE("processes that are killed while they add and remove leak a key each at most, and take none") {
  TempDir dir;
  CHECK(created(dir.file(), counting_options()).close().ok());
  {
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
    add_keys(filter, kStable, 0, kSome);
    CHECK(filter.close().ok());
  }
  std::mt19937_64 random(3);
  double killed = 0;
  double times_added = 1;  // each stable key
  for (std::uint64_t round = 0; round < 15; ++round) {
    std::vector<pid_t> children;
    for (std::uint64_t i = 0; i < 2; ++i) {
      const std::uint64_t from = (2 * round + i) * 1'000'000;
      children.push_back(start_child([&, from] { return churn(dir.file(), from, 1'000'000); }));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + random() % 9000));
    for (const pid_t pid : children) {
      kill_and_wait(pid);
      ++killed;
    }
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
    if (filter.health() == Code::kRecovering) {  // killed while it opened the file, or asked the kernel
      add_keys(filter, kStable, 0, kSome);
      times_added += 1;
      REQUIRE(filter.finish_recovery().ok());
    }
    REQUIRE(has_all(filter, kStable, kSome));
    REQUIRE(fill_of(filter).estimated_keys < times_added * static_cast<double>(kSome) + killed + 2);
  }
}

TEST_CASE("many keys are counted as each one is, nulls are 0, and what is not known is 15") {
  TempDir dir;
  Filter filter = created(dir.file(), counting_options());
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 300; ++i) {
    texts.push_back(key_of(kChurned, i));
    for (std::uint64_t times = 0; times < i % 18; ++times) CHECK(filter.add(texts.back()).ok());
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<std::uint8_t> counts(views.size() + 1, 77);
  const Count found = filter.count_keys(Keys::views(views), counts);
  REQUIRE(found.ok());
  std::uint64_t maybe = 0;
  for (std::uint64_t i = 0; i < views.size(); ++i) {
    CHECK(counts[i] == filter.count(views[i]).keys());
    CHECK(counts[i] >= std::min<std::uint64_t>(i % 18, 15));
    maybe += counts[i] != 0 ? 1U : 0U;
  }
  CHECK(found.keys() == maybe);
  CHECK(counts.back() == 77);
  const std::uint8_t only_the_second[] = {2};
  std::vector<std::uint8_t> three(3, 77);
  const std::vector<std::string_view> asked{views[1], views[2], views[3]};
  CHECK(filter.count_keys(Keys::views(asked).where_valid(only_the_second, 0), three).keys() == 1);
  CHECK((three[0] == 0 && three[1] >= 2 && three[2] == 0));

  std::vector<std::uint8_t> too_short(2, 77);
  CHECK(filter.count_keys(Keys::views(asked), too_short).code() == Code::kInvalid);
  CHECK((too_short[0] == 15 && too_short[1] == 15));
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  CHECK(filter.count_keys(Keys::views(asked), three).keys() == 3);
  CHECK(three == std::vector<std::uint8_t>(3, 15));
  const Filter blocked = created(dir.file("blocked"));
  three.assign(3, 0);
  CHECK(blocked.count_keys(Keys::views(asked), three).code() == Code::kUnsupported);
  CHECK(three == std::vector<std::uint8_t>(3, 15));
}
