// A handle that follows its path: it continues with the file that replaces its own, never answers a wrong no on the
// way, and keeps nothing of what was replaced. Without a data race under ThreadSanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "key_calls.hpp"
#include "support.hpp"
#include "support/virtual_clock.hpp"

#include <bfstore/inline.hpp>

using namespace bfstore;
using namespace store_test;

namespace {

const OpenOptions kFollow{.follow = true};

Options seeded() {
  Options options = small_options();
  options.seed = 7;
  options.replace = true;
  return options;
}

// Publishes a file with the keys of `writers` in one piece, like the publisher of a table.
void publish(const std::string& path, std::vector<unsigned> writers, Options options = seeded()) {
  options.unpublished = true;
  Filter made = created(path, options);
  for (const unsigned writer : writers) {
    for (const AddForm& form : add_forms()) static_cast<void>(form.add(made, writer, kSome));  // not all have one form
  }
  CHECK(made.publish().ok());
  CHECK(made.close().ok());
}

// Moves a file to the path, as other programs do.
void move_over(const std::string& path, std::vector<unsigned> writers, Options options = seeded()) {
  publish(path + ".new", std::move(writers), std::move(options));
  std::filesystem::rename(path + ".new", path);
}

// Returns whether the handle follows within the time in which a lookup tries again. Each form of call is the one that
// follows.
bool follows(const AskForm& form, const Filter& filter) {
  for (int i = 0; i < 200; ++i) {
    if (form.ask(filter, kNobody, kSome) < kSome / 2) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

void check_in_doubt(Filter& filter) {
  std::this_thread::sleep_for(std::chrono::milliseconds(25));  // a lookup may try again
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, kNobody, kSome) == kSome);
  }
  CHECK(filter.health() == Code::kSuperseded);
  CHECK_FALSE(*filter.is_current());
}

std::size_t lines_of_maps_with(const std::string& word) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(word) != std::string::npos ? 1U : 0U;
  return count;
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("every form of lookup follows to the file that was published to replace its own") {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    TempDir dir(memory_folder());
    publish(dir.file(), {1});
    const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
    CHECK(form.ask(filter, 1, kSome) == kSome);
    CHECK(form.ask(filter, 2, kSome) < kSome / 2);
    CHECK(*filter.is_current());
    publish(dir.file(), {1, 2});
    CHECK(form.ask(filter, 2, kSome) == kSome);  // on the old file that is maybe
    CHECK(follows(form, filter));
    CHECK(form.ask(filter, 1, kSome) == kSome);
    CHECK(form.ask(filter, 2, kSome) == kSome);
    CHECK(filter.health() == Code::kOk);
    CHECK(*filter.is_current());
    CHECK(filter.stats().keys_added >= 2 * kSome - 5);
  }
}

TEST_CASE("a lookup in doubt tries to follow ten milliseconds after the last try, and not before") {
  constexpr VirtualClock::Time kPause = std::chrono::milliseconds(10);
  constexpr VirtualClock::Time kMoment = std::chrono::nanoseconds(1);
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    TempDir dir(memory_folder());
    publish(dir.file(), {1});
    const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
    std::filesystem::remove(dir.file());
    CHECK_FALSE(*filter.is_current());
    const VirtualClock clock;
    CHECK(form.ask(filter, kNobody, kSome) == kSome);  // tries, and finds no file
    move_over(dir.file(), {1, 2});
    std::this_thread::sleep_for(kPause - kMoment);
    CHECK(form.ask(filter, kNobody, kSome) == kSome);
    std::this_thread::sleep_for(kMoment);
    CHECK(form.ask(filter, kNobody, kSome) < kSome / 2);
    CHECK(form.ask(filter, 2, kSome) == kSome);
  }
}

TEST_CASE("is_current follows at once, and so do files that another program moves to the path") {
  for (const bool copy : {false, true}) {
    TempDir dir(memory_folder());
    publish(dir.file(), {1});
    const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, {.map = {.copy = copy}, .follow = true}));
    for (unsigned round = 2; round < 6; ++round) {
      round % 2 == 0 ? move_over(dir.file(), {1, round}) : publish(dir.file(), {1, round});
      CHECK(*filter.is_current());
      CHECK(answers_no(filter));
      CHECK(maybes(filter, 1, 0, kSome) == kSome);
      CHECK(maybes(filter, round, 0, kSome) == kSome);
      CHECK(maybes(filter, round - 1, 0, kSome) < (round == 2 ? kSome + 1 : kSome / 2));
    }
  }
}

TEST_CASE("digests stay digests: a file with another seed or hash is not followed to, until one comes that can be") {
  Options other_seed = seeded();
  other_seed.seed = 8;
  Options other_hash = seeded();
  other_hash.seed.reset();
  other_hash.hash = Hash::kExternal;
  Options other_secret = seeded();
  other_secret.seed.reset();
  other_secret.hash = Hash::kSipHash;
  other_secret.secret.emplace().fill(3);
  for (const bool by_moving : {false, true}) {
    for (Options options : {other_seed, other_hash, other_secret}) {
      TempDir dir(memory_folder());
      publish(dir.file(), {1});
      Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
      const std::optional<std::uint64_t> digest = filter.digest("a key");
      options.unpublished = true;
      Filter made = created(by_moving ? dir.file("new") : dir.file(), options);
      CHECK(made.add_digest(12345).ok());
      CHECK(made.publish().ok());
      if (by_moving) {
        std::filesystem::rename(dir.file("new"), dir.file());
        CHECK_FALSE(*filter.is_current());
      }
      check_in_doubt(filter);
      CHECK(filter.digest("a key") == digest);
      publish(dir.file(), {1, 2});
      CHECK(*filter.is_current());
      CHECK(answers_no(filter));
      CHECK(filter.digest("a key") == digest);
      CHECK(maybes(filter, 2, 0, kSome) == kSome);
    }
  }
}

TEST_CASE("a handle follows to a file with another size, k and layout, and reports its facts") {
  TempDir dir(memory_folder());
  publish(dir.file(), {1});
  const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  const Lookup lookup = filter.lookup();
  Options other = seeded();
  other.layout = Layout::kClassic;
  other.capacity = 100'000;
  other.bits_per_key = 20;
  publish(dir.file(), {1, 2}, other);
  CHECK(*filter.is_current());
  CHECK(filter.shape().layout == Layout::kClassic);
  CHECK(filter.stats({.fill = true}).shape.capacity == 100'000);
  CHECK(answers_no(filter));
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kSome; ++i) found += lookup.contains_digest(*filter.digest(key_of(2, i))) ? 1U : 0U;
  CHECK(found == kSome);
  CHECK_FALSE(lookup.contains_digest(*filter.digest("nobody's key")));
}

TEST_CASE("while the path has no file that can be read the handle answers maybe, and continues with the next one") {
  for (const bool gone : {true, false}) {
    TempDir dir(memory_folder());
    publish(dir.file(), {1});
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
    if (gone) {
      std::filesystem::remove(dir.file());
    } else {  // unclean: a copy of a file in use
      Filter writer = created(dir.file("used"), seeded());
      copy_file(dir.file("used"), dir.file("copy"));
      std::filesystem::rename(dir.file("copy"), dir.file());
    }
    CHECK_FALSE(*filter.is_current());
    check_in_doubt(filter);
    move_over(dir.file(), {1, 2});
    CHECK(follows(ask_forms().front(), filter));
    CHECK(filter.health() == Code::kOk);
    CHECK(maybes(filter, 2, 0, kSome) == kSome);
  }
}

TEST_CASE("a handle continues with its own file when the replacement of the file is given up") {
  TempDir dir(memory_folder());
  publish(dir.file(), {1});
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  Options options = seeded();
  options.unpublished = true;
  Filter made = created(dir.file(), options);
  CHECK(made.supersede().ok());
  check_in_doubt(filter);
  CHECK(made.close().ok());
  CHECK(*filter.is_current());
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
}

TEST_CASE("a handle follows to a file with a secret by it, and by a relative path from the folder of its opening") {
  TempDir dir(memory_folder());
  Options with_secret = seeded();
  with_secret.seed.reset();
  with_secret.hash = Hash::kSipHash;
  with_secret.secret.emplace().fill(5);
  publish(dir.file(), {1}, with_secret);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  const Filter filter =
      opened(Filter::open("filter.bf", OpenMode::kRead, {.follow = true, .secret = with_secret.secret}));
  std::filesystem::current_path(before);
  publish(dir.file(), {1, 2}, with_secret);
  CHECK(*filter.is_current());
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 2, 0, kSome) == kSome);
}

TEST_CASE("a handle that follows only reads, a range does not follow, and one that is shut follows no more") {
  TempDir dir(memory_folder());
  publish(dir.file(), {1});
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, kFollow)) == Code::kInvalid);
  CHECK(code_of(Filter::open_range(dir.file(), 0, 0, kFollow)) == Code::kInvalid);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  for (const AddForm& form : add_forms()) CHECK(form.add(filter, 2, 5).code() == Code::kReadOnly);
  CHECK(filter.sync({}).code == Code::kReadOnly);
  CHECK(filter.publish().code == Code::kInvalid);
  CHECK(filter.supersede().code == Code::kInvalid);
  CHECK(filter.list_marks()->empty());
  CHECK(filter.shut().ok());
  CHECK(filter.health() == Code::kShut);
  publish(dir.file(), {1, 2});
  CHECK(filter.is_current().error().code == Code::kShut);
  for (const AskForm& form : ask_forms()) CHECK(form.ask(filter, kNobody, kSome) == kSome);
  CHECK(filter.health() == Code::kShut);
}

TEST_CASE("a child asks the file of the moment of the fork, and does not follow") {
  TempDir dir(memory_folder());
  publish(dir.file(), {1});
  const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  CHECK(in_child([&] {
          if (!filter.contains(key_of(1, 1)) || filter.contains("nobody's key")) return 1;
          if (filter.is_current().error().code != Code::kForked) return 2;
          if (in_child([&] {
                Options options = seeded();
                options.unpublished = true;
                auto made = Filter::create(dir.file(), options);
                return made && made->publish().ok() ? 0 : 1;
              }) != 0)
            return 3;
          return filter.contains("nobody's key") && filter.health() == Code::kSuperseded ? 0 : 4;
        }) == 0);
  CHECK(*filter.is_current());
}

TEST_CASE("threads ask while the file is replaced two hundred times: no wrong no, and nothing of old files is kept") {
  TempDir dir;
  publish(dir.file(), {1, 2});
  const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  const std::size_t descriptors_before = descriptors();  // no thread runs: UBSan opens pipes in its checks of types
  std::atomic<bool> end{false};
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> asked{0};
  std::vector<std::thread> threads;
  const auto& forms = ask_forms();
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (std::size_t i = number; !end; ++i) {
        if (forms[i % forms.size()].ask(filter, 1, kSome) != kSome) ++wrong;
        for (std::uint64_t key = 0; key < kSome; ++key) wrong += filter.contains(key_of(1, key)) ? 0 : 1;
        static_cast<void>(filter.health());
        static_cast<void>(filter.stats().keys_added);
        static_cast<void>(filter.shape().num_bits);
        ++asked;
      }
    });
  }
  const int replacements = 200 / (kKeyScale > 1 ? 4 : 1);
  for (int i = 0; i < replacements; ++i) {
    i % 3 == 2 ? move_over(dir.file(), {1}) : publish(dir.file(), {1});
    if (i % 3 == 2 && !*filter.is_current()) ++wrong;
    if (i % 20 == 0) {
      const std::uint64_t so_far = asked;
      while (asked < so_far + 8) std::this_thread::yield();
    }
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(*filter.is_current());
  CHECK(*filter.is_current());
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 2, 0, kSome) < kSome / 2);
  CHECK(lines_of_maps_with(dir.path()) <= 2);  // of one file, be it deleted; a page of its own may divide it
  CHECK(descriptors() == descriptors_before);
}

// Poisoned comes before superseded where both are said, so the handle stayed on its file for good.
TEST_CASE("a handle whose file was poisoned follows to the file that takes its place, and is in doubt until then") {
  for (const bool by_moving : {false, true}) {
    CAPTURE(by_moving);
    for (const AskForm& form : ask_forms()) {
      CAPTURE(form.name);
      TempDir dir(memory_folder());
      publish(dir.file(), {1});
      const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
      set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
      CHECK(form.ask(filter, kNobody, kSome) == kSome);
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      CHECK(form.ask(filter, kNobody, kSome) == kSome);
      CHECK(filter.health() == Code::kPoisoned);
      by_moving ? move_over(dir.file(), {1, 2}) : publish(dir.file(), {1, 2});
      CHECK(form.ask(filter, 2, kSome) == kSome);
      CHECK(follows(form, filter));
      CHECK(filter.health() == Code::kOk);
      CHECK(form.ask(filter, 2, kSome) == kSome);
      CHECK(*filter.is_current());
    }
  }
}

TEST_CASE("is_current follows from a poisoned file at once") {
  TempDir dir(memory_folder());
  publish(dir.file(), {1});
  const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, kFollow));
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  publish(dir.file(), {1, 2});
  CHECK(*filter.is_current());
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 2, 0, kSome) == kSome);
}
