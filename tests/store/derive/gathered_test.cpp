// A handle that gathers keys for a layout that is built once. Until it is published it answers "maybe" and has no file.
// Then every key that it took is in the file, or the publication failed, and nothing has changed. Without a data race
// under ThreadSanitizer.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/interop.hpp>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

std::atomic<long> reallocs_left{-1};  // that work before all fail; negative: all work

}  // namespace

// The linker gives these functions the calls of realloc (tests/store/meson.build), by which a handle gets memory.
extern "C" {
void* __real_realloc(void* made, std::size_t bytes);
void* __wrap_realloc(void* made, std::size_t bytes);
void* __wrap_realloc(void* made, std::size_t bytes) {
  const long left = reallocs_left;
  if (left == 0) return nullptr;
  if (left > 0) --reallocs_left;
  return __real_realloc(made, bytes);
}
}

namespace {

constexpr unsigned kLater = 2;        // a writer
constexpr std::uint64_t kMany = 300;  // keys in each form

Options static_options() {
  Options options;
  options.layout = Layout::kStatic;
  options.seed = 7;
  options.unpublished = true;
  return options;
}

Options replacing(Options options = static_options()) {
  options.replace = true;
  return options;
}

Options of_capacity(std::uint64_t capacity) {
  Options options = static_options();
  options.capacity = capacity;
  return options;
}

// Adds a writer's keys in every form.
void add_in_every_form(Filter& filter, unsigned writer) {
  for (const AddForm& form : add_forms()) {
    CAPTURE(form.name);
    CHECK(form.add(filter, writer, kMany).ok());
  }
  add_keys(filter, writer, 0, kMany);
}

void check_has(const Filter& filter, unsigned writer) {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, writer, kMany) == kMany);
  }
}

// Checks that the handle's answers are real: of keys that no writer added hardly one is "maybe".
void check_answers(const Filter& filter) {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, kNobody, kMany) < kMany / 4);
  }
}

void check_all_maybe(const Filter& filter) { check_has(filter, kNobody); }

Filter reader_of(const std::string& path, const OpenOptions& options = {}) {
  return opened(Filter::open(path, OpenMode::kRead, options));
}

// Checks that a handle gathers: it answers "maybe", takes keys, and has no file.
void check_gathers(Filter& filter) {
  check_all_maybe(filter);
  CHECK(filter.health() == Code::kFilling);
  CHECK(filter.add("one more key").ok());
}

void check_published(Filter& filter, const std::string& path) {
  const Filter reader = reader_of(path);
  for (const Filter* const each : std::initializer_list<const Filter*>{&filter, &reader}) {
    check_has(*each, 1);
    check_answers(*each);
    CHECK(each->health() == Code::kOk);
    CHECK(*each->is_current());
  }
  CHECK(state_of(path) == FileState::kClean);
  CHECK(verify(path)->damaged.empty());
  CHECK(filter.add("too late").code() == Code::kSealed);
}

// Makes a published file with the keys of these writers.
void publish(const std::string& path, const std::vector<unsigned>& writers, const Options& options = replacing()) {
  Filter filter = created(path, options);
  for (const unsigned writer : writers) add_in_every_form(filter, writer);
  REQUIRE(filter.publish().ok());
}

void check_says(const Error& error, Code code, std::initializer_list<const char*> words) {
  CHECK(error.code == code);
  for (const char* word : words) CHECK_MESSAGE(error.message.find(word) != std::string::npos, error.message);
}

std::vector<std::uint64_t> digests_from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> digests(count);
  for (std::uint64_t i = 0; i < count; ++i) digests[i] = (first + i) * 0x9e3779b97f4a7c15;
  return digests;
}

bool has_all(const Filter& filter, const std::vector<std::uint64_t>& digests) {
  std::vector<std::uint8_t> answers(digests.size());
  const Count maybes = filter.contains_keys(Keys::digests(digests), answers);
  const bool one_by_one =
      std::all_of(digests.begin(), digests.end(), [&](std::uint64_t digest) { return filter.contains_digest(digest); });
  return one_by_one && maybes.ok() && maybes.keys() == digests.size();
}

void make_file(const std::string& path, const std::string& bytes) {
  REQUIRE(
      std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush());
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("keys of every form are gathered, and are in the file once it is published") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  check_gathers(filter);
  CHECK(dir.names().empty());
  const auto file_id = filter.stats().file_id;
  CHECK(filter.publish().ok());
  CHECK(filter.stats().file_id == file_id);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
  check_published(filter, dir.file());
  CHECK(filter.contains("one more key"));
  CHECK(filter.close().ok());
}

TEST_CASE("a filter of as many keys as are gathered keeps the seed that was drawn for it") {
  TempDir dir;
  Options options = static_options();
  options.seed.reset();
  Filter filter = created(dir.file(), options);
  const std::uint64_t seed = filter.shape().seed;
  add_in_every_form(filter, 1);
  REQUIRE(filter.publish().ok());
  CHECK(filter.shape().seed == seed);
  check_published(filter, dir.file());
}

TEST_CASE("threads add, ask and publish at once: a key whose add was not refused is in the file") {
  constexpr unsigned kAdders = 4;
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  REQUIRE(filter.use_threads(3).ok());
  std::array<std::atomic<std::uint64_t>, kAdders> added{};
  std::atomic<std::uint64_t> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (unsigned self = 0; self < kAdders; ++self) {
    threads.emplace_back([&, self] {
      constexpr std::uint64_t kAtOnce = 100;
      for (std::uint64_t first = 0;; first += kAtOnce) {
        const auto digests = digests_from(self * 1'000'000 + first, kAtOnce);
        const Count count = self % 2 == 0 ? filter.add_keys(Keys::digests(digests)) : filter.add_digest(digests[0]);
        if (!count.ok()) {
          if (count.code() != Code::kSealed) ++wrong;
          ++refused;
          return;
        }
        added.at(self) = first + kAtOnce;
        if (first >= 5000) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // lets the others add, too
      }
    });
  }
  std::atomic<bool> stop{false};
  for (int asker = 0; asker < 2; ++asker) {
    threads.emplace_back([&] {
      while (!stop) {
        for (unsigned self = 0; self < kAdders; ++self) {
          if (added.at(self) != 0 && !filter.contains_digest(digests_from(self * 1'000'000, 1)[0])) ++wrong;
        }
        const auto some = digests_from(0, std::min<std::uint64_t>(added[0], 500));
        if (!has_all(filter, some)) ++wrong;
        static_cast<void>(filter.stats({}));
        static_cast<void>(filter.health());
      }
    });
  }
  const auto enough = [](const auto& count) { return count >= 600; };
  while (!std::all_of(added.begin(), added.end(), enough)) std::this_thread::yield();
  const Error error = filter.publish();
  while (refused < kAdders) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  REQUIRE_MESSAGE(error.ok(), error.message);
  CHECK(wrong == 0);
  const Filter reader = reader_of(dir.file());
  for (unsigned self = 0; self < kAdders; ++self) {
    for (std::uint64_t first = 0; first < added.at(self); first += 100) {
      const auto digests = digests_from(self * 1'000'000 + first, self % 2 == 0 ? 100 : 1);
      if (!has_all(reader, digests) || !has_all(filter, digests)) FAIL("a wrong no");
    }
  }
}

TEST_CASE("threads that publish one handle at once make one file") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  std::atomic<int> made{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const Error error = filter.publish();
      ++(error.ok() ? made : refused);
      if (!error.ok() && error.code != Code::kInvalid) refused = 99;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(refused == 3);
  check_published(filter, dir.file());
  check_says(filter.publish(), Code::kInvalid, {"published already"});
  check_published(filter, dir.file());
}

TEST_CASE("a publication whose name another process took fails, and succeeds once the name is free") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  CHECK(created(dir.file()).close().ok());
  const std::string others = read_bytes(dir.file());
  CHECK(filter.publish().code == Code::kExists);
  CHECK(read_bytes(dir.file()) == others);
  check_gathers(filter);
  REQUIRE(std::filesystem::remove(dir.file()));
  REQUIRE(filter.publish().ok());
  check_published(filter, dir.file());
  CHECK(filter.contains("one more key"));
}

TEST_CASE("a name that is taken is refused before any key is gathered") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(code_of(Filter::create(dir.file(), static_options())) == Code::kExists);
}

// With replace, no handle of the old file is told of a publication that failed.
TEST_CASE("a publication that fails in any step leaves the handle and the old file as before, and succeeds later") {
  struct Step {
    std::string name;
    void (*fails)(int& left);  // when `left` is 0
    bool matters = true;
  };
  const Step steps[] = {
      {"no blocks",
       [](int& left) { faults::on_allocate = [&left](std::uint64_t) { return left-- == 0 ? ENOSPC : 0; }; }},
      {"no sync", [](int& left) { faults::on_sync = [&left](int) { return left-- == 0 ? EIO : 0; }; }},
      {"no name", [](int& left) { faults::naming_errno = left-- == 0 ? ENOSPC : 0; }},
      {"no folder", [](int& left) { faults::folder_open_errno = left-- == 0 ? EACCES : 0; }, false},
      {"no sync of the folder", [](int& left) { faults::on_folder_sync = [&left] { return left-- == 0 ? EIO : 0; }; }},
  };
  for (const auto& how : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    const bool replace = how.first;
    const bool chosen = how.second;  // the file_id
    for (const Step& step : steps) {
      int failed = 0;
      for (int number = 0; number < 10; ++number) {
        CAPTURE(replace);
        CAPTURE(chosen);
        CAPTURE(step.name);
        CAPTURE(number);
        TempDir dir(memory_folder());
        if (replace) publish(dir.file(), {3});
        Options options = replace ? replacing() : static_options();
        if (chosen) options.file_id = FileId{1, 2, 3};
        Filter filter = created(dir.file(), options);
        const auto file_id = filter.stats().file_id;
        std::optional<Filter> old;
        if (replace) old = reader_of(dir.file());
        add_in_every_form(filter, 1);
        Error error;
        const std::size_t descriptors_before = descriptors();
        {
          const faults::Scope scope;
          int left = number;
          step.fails(left);
          error = filter.publish();
        }
        if (error.ok()) break;
        ++failed;
        CAPTURE(error.message);
        CHECK(descriptors() == descriptors_before);
        check_gathers(filter);
        CHECK(dir.names() == (replace ? std::vector<std::string>{"filter.bf"} : std::vector<std::string>{}));
        // The new file had the name already, and no process believes it.
        const bool is_gone = replace && open_code(dir.file(), OpenMode::kRead) == Code::kPoisoned;
        if (is_gone) {
          CHECK(step.name == "no sync of the folder");
          CHECK(error.code == Code::kPoisoned);
          check_all_maybe(*old);
          check_says(error, Code::kPoisoned, {"still open has the keys"});
          if (chosen) check_says(filter.publish(), Code::kInvalid, {"file_id", "remove this one first"});
          if (chosen) std::filesystem::remove(dir.file());
        } else if (replace) {
          check_has(*old, 3);
          check_answers(*old);
          check_has(reader_of(dir.file()), 3);
        }
        if (error.code == Code::kPoisoned) check_says(error, Code::kPoisoned, {"publish again"});
        CHECK((error.message.find("remove the file") != std::string::npos) == (is_gone && chosen));
        add_in_every_form(filter, kLater);
        const Error again = filter.publish();
        REQUIRE_MESSAGE(again.ok(), again.message);
        check_published(filter, dir.file());
        CHECK((filter.stats().file_id == file_id) == (!is_gone || chosen));
        check_has(reader_of(dir.file()), kLater);
        CHECK(filter.contains("one more key"));
        if (replace) check_all_maybe(*old);
      }
      CHECK((failed > 0) == step.matters);
    }
  }
}

TEST_CASE("a handle that is closed, abandoned or shut without a publication leaves nothing") {
  TempDir dir;
  const std::size_t before = descriptors();
  for (const int how : {0, 1, 2, 3}) {
    CAPTURE(how);
    Filter filter = created(dir.file(), static_options());
    add_in_every_form(filter, 1);
    if (how == 1) CHECK(filter.close().ok());
    if (how == 2) filter.abandon();
    if (how == 3) {
      CHECK(filter.shut().ok());
      CHECK(filter.shut().ok());
      CHECK(filter.health() == Code::kShut);
      check_all_maybe(filter);
      for (const AddForm& form : add_forms()) CHECK(form.add(filter, kLater, kMany).code() == Code::kShut);
      CHECK(filter.publish().code == Code::kShut);
      CHECK(filter.use_threads(2).code == Code::kShut);
    }
  }
  CHECK(dir.names().empty());
  CHECK(descriptors() == before);
}

TEST_CASE("a published handle that is shut answers maybe, and its file is as before") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  REQUIRE(filter.publish().ok());
  std::atomic<bool> wrong{false};
  std::thread asks([&] {
    while (filter.health() == Code::kOk) wrong = wrong || maybes(filter, 1, 0, kMany) != kMany;
  });
  CHECK(filter.shut().ok());
  asks.join();
  CHECK_FALSE(wrong);
  check_all_maybe(filter);
  CHECK(filter.health() == Code::kShut);
  CHECK(filter.publish().code == Code::kShut);
  check_has(reader_of(dir.file()), 1);
  check_answers(reader_of(dir.file()));
}

TEST_CASE("threads that add find their handle shut, and no file appears") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  std::atomic<std::uint64_t> added{0};
  std::atomic<Code> last{Code::kOk};
  std::thread adds([&] {
    for (Count count = filter.add("key");; count = filter.add("key")) {
      last = count.code();
      if (!count.ok()) return;
      ++added;
    }
  });
  while (added < 100) std::this_thread::yield();
  CHECK(filter.shut().ok());
  adds.join();
  CHECK(last == Code::kShut);
  CHECK(filter.publish().code == Code::kShut);
  CHECK(dir.names().empty());
}

TEST_CASE("a child neither adds to nor publishes a handle of its parent, and asks as before") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  CHECK(in_child([&] {
          for (const AddForm& form : add_forms()) {
            if (form.add(filter, kLater, kMany).code() != Code::kForked) return 1;
          }
          if (filter.publish().code != Code::kForked) return 2;
          for (const AskForm& form : ask_forms()) {
            if (form.ask(filter, kNobody, kMany) != kMany) return 3;
          }
          if (filter.use_threads(2).code != Code::kForked) return 4;
          return filter.close().ok() ? 0 : 5;
        }) == 0);
  CHECK(dir.names().empty());
  check_gathers(filter);
  REQUIRE(filter.publish().ok());
  check_published(filter, dir.file());
  CHECK(in_child([&] {
          for (const AskForm& form : ask_forms()) {
            if (form.ask(filter, 1, kMany) != kMany) return 1;
            if (form.ask(filter, kNobody, kMany) > kMany / 4) return 2;
          }
          if (filter.add("a key").ok() || filter.publish().ok()) return 3;
          return filter.close().ok() ? 0 : 4;
        }) == 0);
  check_published(filter, dir.file());
}

TEST_CASE("a handle that had no memory for a key refuses every add and the publication") {
  TempDir dir;
  publish(dir.file(), {3});
  const Filter old = reader_of(dir.file());
  for (const bool at_once : {false, true}) {
    for (const long works : {0L, 1L, 2L}) {
      CAPTURE(at_once);
      CAPTURE(works);
      Filter filter = created(dir.file(), replacing());
      const auto digests = digests_from(1, 10'000);
      reallocs_left = works;
      Count last = std::uint64_t{0};
      if (at_once) last = filter.add_keys(Keys::digests(digests));
      for (std::size_t i = 0; !at_once && i < digests.size() && last.ok(); ++i) last = filter.add_digest(digests[i]);
      reallocs_left = -1;
      CHECK(last.code() == Code::kNoMemory);
      CHECK(filter.health() == Code::kNoMemory);
      CHECK(filter.add("later").code() == Code::kNoMemory);
      check_all_maybe(filter);
      CHECK(filter.publish().code == Code::kNoMemory);
      CHECK(filter.publish().code == Code::kNoMemory);
    }
  }
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
  check_has(old, 3);
  check_answers(old);
}

TEST_CASE("more keys than the capacity make no file, and the old one stays as it is") {
  TempDir dir;
  publish(dir.file(), {3});
  const Filter old = reader_of(dir.file());
  const std::string bytes = read_bytes(dir.file());
  for (const unsigned threads : {1U, 3U}) {
    Filter filter = created(dir.file(), replacing(of_capacity(100)));
    REQUIRE(filter.use_threads(threads).ok());
    for (int i = 0; i < 3; ++i) CHECK(filter.add_keys(Keys::digests(digests_from(1, 100))).ok());
    CHECK(filter.add_digest(1).ok());
    check_says(filter.publish(), Code::kFull, {"101", "100", "greater"});
    CHECK(filter.health() == Code::kFilling);
    check_all_maybe(filter);
    check_says(filter.publish(), Code::kFull, {"101", "100"});
  }
  Filter fits = created(dir.file("other"), of_capacity(100));
  for (int i = 0; i < 3; ++i) CHECK(fits.add_keys(Keys::digests(digests_from(1, 100))).ok());
  CHECK(fits.publish().ok());
  CHECK(has_all(reader_of(dir.file("other")), digests_from(1, 100)));
  CHECK(read_bytes(dir.file()) == bytes);
  CHECK(*old.is_current());
  check_has(old, 3);
  check_answers(old);
}

// m and k alone say how many keys there is room for.
TEST_CASE("a filter of m and k takes the keys that it has room for") {
  TempDir dir;
  Options options = static_options();
  options.num_bits = 1 << 16;
  options.num_probes = 9;
  Filter filter = created(dir.file(), options);
  const std::uint64_t room = filter.shape().capacity;
  CHECK(room > 4000);
  CHECK(filter.add_keys(Keys::digests(digests_from(1, room))).ok());
  REQUIRE(filter.publish().ok());
  CHECK(has_all(reader_of(dir.file()), digests_from(1, room)));
  Filter larger = created(dir.file("larger"), options);
  CHECK(larger.add_keys(Keys::digests(digests_from(1, room + 1))).ok());
  CHECK(larger.publish().code == Code::kFull);
}

// The new file was once refused where it had more keys than the other one, and had room for as many where it had fewer.
TEST_CASE("a filter like another one has its layout, hash, seed and rate, and room for the keys that it gets") {
  TempDir dir;
  Options small = static_options();
  small.fpr = 0.003;
  Options large = small;
  large.capacity = 200'000;  // several shards
  Options of_bits = static_options();
  of_bits.num_bits = 1 << 18;
  of_bits.num_probes = 9;
  of_bits.stated_fpr = 1e-6;  // no rate of 9 columns
  Options of_useless_bits = of_bits;
  of_useless_bits.stated_fpr = 1;
  int number = 0;
  for (const Options& first : {small, large, of_bits, of_useless_bits}) {
    const std::string model = dir.file("model" + std::to_string(++number));
    CAPTURE(model);
    publish(model, {1}, first);
    const Shape shape = reader_of(model).shape();
    for (const unsigned keys : {0U, 1U, 500U, 4000U, 300000U}) {
      CAPTURE(keys);
      const auto digests = digests_from(1, keys);
      Options like;
      like.like = model;
      like.file_id = FileId{1};
      const std::string path = dir.file(std::to_string(number) + " of " + std::to_string(keys));
      const auto made = Filter::build(path, like, Keys::digests(digests), 2);
      REQUIRE_MESSAGE(made.ok(), made.error().message);
      const Shape its = made->shape();
      CHECK(its.capacity == std::max<std::uint64_t>(1, keys));
      CHECK(its.layout == Layout::kStatic);
      CHECK(its.hash == shape.hash);
      CHECK(its.seed == shape.seed);
      CHECK(its.num_probes == shape.num_probes);
      CHECK(its.fpr == shape.fpr);
      CHECK(has_all(reader_of(path), digests));
      CHECK(verify(path)->damaged.empty());
      if (first.num_bits != 0) continue;
      Options sized = small;
      sized.unpublished = false;
      sized.file_id = like.file_id;
      const auto twin =
          Filter::build(dir.file("twin of " + path.substr(path.rfind('/') + 1)), sized, Keys::digests(digests), 1);
      REQUIRE_MESSAGE(twin.ok(), twin.error().message);
      CHECK(twin->shape().num_bits == its.num_bits);
      CHECK(read_bytes(dir.file("twin of " + path.substr(path.rfind('/') + 1))) == read_bytes(path));
    }
  }
}

// 40 columns are more than a fingerprint has, so that no size is enough. No builder makes such a file.
TEST_CASE("a filter like one that can have no key is refused") {
  TempDir dir;
  publish(dir.file("model"), {1}, static_options());
  const std::string bytes = read_bytes(dir.file("model"));
  format::Identity identity =
      *format::check_identity({reinterpret_cast<const std::byte*>(bytes.data()), format::kFileHeaderBytes},
                              format::Form::kFile, bytes.size(), false)
           .identity();
  identity.shape.num_probes = 40;
  const auto record = format::encode_identity(identity);
  write_bytes(dir.file("model"), 0, std::string(reinterpret_cast<const char*>(record.data()), record.size()));
  Options like;
  like.like = dir.file("model");
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{5000}}) {
    const auto made = Filter::build(dir.file(), like, Keys::digests(digests_from(1, keys)));
    CHECK(code_of(made) == Code::kFull);
  }
  CHECK(dir.names() == std::vector<std::string>{"model"});
}

TEST_CASE("a filter like another one that is replaced meanwhile is like the one that was there") {
  TempDir dir;
  publish(dir.file("model"), {1});
  Options like;
  like.like = dir.file("model");
  like.unpublished = true;
  Filter filter = created(dir.file(), like);
  const Shape before = filter.shape();
  Options other = replacing();
  other.seed = 8;
  other.fpr = 0.1;
  publish(dir.file("model"), {1}, other);
  add_in_every_form(filter, 1);
  REQUIRE(filter.publish().ok());
  CHECK(filter.shape().seed == before.seed);
  CHECK(filter.shape().num_probes == before.num_probes);
  check_published(filter, dir.file());
}

TEST_CASE("a size that is given with a file to be like is refused, and a secret that is not its own") {
  TempDir dir;
  publish(dir.file("model"), {1});
  Options like;
  like.like = dir.file("model");
  like.unpublished = true;
  like.capacity = 9000;
  check_says(Filter::create(dir.file(), like).error(), Code::kInvalid, {"copied whole", "Give no size"});
  Options with_secret = static_options();
  with_secret.seed.reset();
  with_secret.hash = Hash::kSipHash;
  with_secret.secret = Secret{1};
  publish(dir.file("secret"), {1}, with_secret);
  like.capacity = 0;
  like.like = dir.file("secret");
  CHECK(code_of(Filter::create(dir.file(), like)) == Code::kSecret);
  like.secret = with_secret.secret;
  Filter filter = created(dir.file(), like);
  CHECK(filter.add_keys(Keys::digests(digests_from(1, 30'000))).ok());
  REQUIRE(filter.publish().ok());
  OpenOptions with;
  with.secret = with_secret.secret;
  CHECK(has_all(reader_of(dir.file(), with), digests_from(1, 30'000)));
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kSecret);
}

TEST_CASE("a filter without keys calls every key absent, and replaces no file") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  REQUIRE(filter.publish().ok());
  check_answers(filter);
  check_answers(reader_of(dir.file()));
  CHECK(filter.stats().keys_added == 0);
  publish(dir.file(), {1});
  const Filter old = reader_of(dir.file());
  Filter empty = created(dir.file(), replacing());
  check_says(empty.publish(), Code::kInvalid, {"no key"});
  check_gathers(empty);
  check_has(old, 1);
  check_answers(old);
  CHECK(empty.publish().ok());
  CHECK(reader_of(dir.file()).contains("one more key"));
  Filter free_name = created(dir.file("free"), replacing());
  CHECK(free_name.publish().ok());
}

TEST_CASE("readers of the file that is replaced are told, and those that follow move to the new one") {
  TempDir dir;
  publish(dir.file(), {1});
  const Filter old = reader_of(dir.file());
  const Filter follows = reader_of(dir.file(), {.follow = true});
  Options like;
  like.like = dir.file();
  like.unpublished = true;
  like.replace = true;
  Filter next = created(dir.file(), like);
  CHECK(next.shape().layout == Layout::kStatic);
  add_in_every_form(next, kLater);
  check_has(old, 1);
  check_answers(old);
  REQUIRE(next.publish().ok());
  CHECK(old.health() == Code::kSuperseded);
  CHECK_FALSE(*old.is_current());
  check_all_maybe(old);
  CHECK(*follows.is_current());
  check_has(follows, kLater);
  check_answers(follows);
  CHECK(next.shape().seed == follows.shape().seed);
  publish(dir.file(), {3});
  check_all_maybe(next);
  CHECK(next.health() == Code::kSuperseded);
  CHECK_FALSE(*next.is_current());
}

TEST_CASE("a static file replaces one of another layout, whose writers are told") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  Filter filter = created(dir.file(), replacing());
  add_in_every_form(filter, 1);
  CHECK(writer.add("a key").ok());
  REQUIRE(filter.publish().ok());
  CHECK(writer.add("a key").code() == Code::kSuperseded);
  check_published(filter, dir.file());
}

TEST_CASE("a file that has the name since the handle began is replaced only if one had it then") {
  TempDir dir;
  Filter filter = created(dir.file(), replacing());
  add_in_every_form(filter, 1);
  publish(dir.file(), {3}, static_options());
  CHECK(filter.publish().code == Code::kBusy);
  check_gathers(filter);
  const Filter other = reader_of(dir.file());
  check_has(other, 3);
  check_answers(other);
}

// Between the publication and the moment at which the handle opens its file.
TEST_CASE("a handle whose file another process replaced or removed at once is published, and answers maybe") {
  for (const bool removes : {false, true}) {
    CAPTURE(removes);
    TempDir dir;
    publish(dir.file("other"), {3});
    Filter filter = created(dir.file(), static_options());
    add_in_every_form(filter, 1);
    Error error;
    {
      const faults::Scope scope;
      bool named = false;
      faults::before_naming = [&] { named = true; };
      faults::after_lock = [&](const faults::LockCall&) {
        if (!named || !std::filesystem::exists(dir.file())) return;
        named = false;
        if (removes) {
          std::filesystem::remove(dir.file());
        } else {
          std::filesystem::rename(dir.file("other"), dir.file());
        }
      };
      error = filter.publish();
      CHECK_FALSE(named);
    }
    REQUIRE_MESSAGE(error.ok(), error.message);
    check_all_maybe(filter);
    CHECK(filter.health() != Code::kOk);
    CHECK(filter.add("too late").code() == Code::kSealed);
    CHECK(filter.publish().code == Code::kInvalid);
    const auto current = filter.is_current();
    CHECK((!current.ok() || !*current));
    if (!removes) check_has(reader_of(dir.file()), 3);
  }
}

TEST_CASE("keys of a filter with a secret are found with it, and by no other") {
  TempDir dir;
  Options options = static_options();
  options.seed.reset();
  options.hash = Hash::kSipHash;
  options.secret = Secret{1, 2, 3};
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{100'000}}) {
    options.capacity = capacity;
    const std::string path = dir.file(std::to_string(capacity));
    Filter filter = created(path, options);
    const auto before = filter.digest("a key");
    add_in_every_form(filter, 1);
    REQUIRE(filter.publish().ok());
    CHECK(filter.digest("a key") == before);
    OpenOptions with;
    with.secret = options.secret;
    const Filter reader = reader_of(path, with);
    CHECK(reader.digest("a key") == before);
    for (const Filter* const each : std::initializer_list<const Filter*>{&filter, &reader}) {
      check_has(*each, 1);
      check_answers(*each);
    }
    CHECK(open_code(path, OpenMode::kRead) == Code::kSecret);
    with.secret = Secret{1, 2, 4};
    CHECK(code_of(Filter::open(path, OpenMode::kRead, with)) == Code::kSecret);
  }
}

TEST_CASE("a filter of digests takes digests alone") {
  TempDir dir;
  Options options = static_options();
  options.seed.reset();
  options.hash = Hash::kExternal;
  Filter filter = created(dir.file(), options);
  CHECK(filter.add("a key").code() == Code::kDigestOnly);
  CHECK(filter.add_keys(Keys::digests(digests_from(1, 5000))).ok());
  REQUIRE(filter.publish().ok());
  CHECK(filter.answer("a key") == static_cast<std::int32_t>(Code::kDigestOnly));
  const Filter reader = reader_of(dir.file());
  CHECK(has_all(reader, digests_from(1, 5000)));
  CHECK(reader.shape().hash == Hash::kExternal);
}

TEST_CASE("note, file_id, seed and mode are those that were given, before and after the publication") {
  TempDir dir;
  Options options = static_options();
  options.note = "who made this";
  options.file_id = FileId{1, 2, 3};
  options.seed = 99;
  options.mode = 0640;
  const auto check = [](const Filter& filter) {
    CHECK(filter.note() == "who made this");
    CHECK(filter.notes().size() == 1);
    CHECK(filter.stats().file_id == FileId{1, 2, 3});
    CHECK(filter.shape().seed == 99);
    CHECK(filter.shape().layout == Layout::kStatic);
    CHECK(filter.part() == Part{});
  };
  const mode_t mask = umask(0);
  Filter filter = created(dir.file(), options);
  add_in_every_form(filter, 1);
  check(filter);
  REQUIRE(filter.publish().ok());
  umask(mask);
  check(filter);
  check(reader_of(dir.file()));
  struct stat there {};
  REQUIRE(stat(dir.file().c_str(), &there) == 0);
  CHECK((there.st_mode & 0777) == 0640);
  Filter next = created(dir.file(), replacing());
  CHECK(next.stats().file_id != FileId{1, 2, 3});
  add_in_every_form(next, 1);
  REQUIRE(next.publish().ok());
  REQUIRE(stat(dir.file().c_str(), &there) == 0);
  CHECK((there.st_mode & 0777) == 0640);
}

TEST_CASE("stats count no keys until the publication, and the different ones after it") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  CHECK(filter.stats({.fill = true, .memory = true}).keys_added == 0);
  CHECK(filter.add_keys(Keys::digests(digests_from(1, 3000))).keys() == 0);
  CHECK(filter.add_keys(Keys::digests(digests_from(1, 1000))).keys() == 0);
  CHECK(filter.add_digest(5).keys() == 0);
  const Stats before = filter.stats({.fill = true, .memory = true});
  CHECK(before.keys_added == 0);         // in the file
  CHECK(before.shape.capacity == 4001);  // repeats, too
  CHECK(before.shape.num_bits == 0);
  CHECK(before.health == Code::kFilling);
  CHECK_FALSE(before.saturated);
  CHECK_FALSE(before.fill);
  CHECK_FALSE(filter.is_current().ok());
  REQUIRE(filter.publish().ok());
  const Stats after = filter.stats({.fill = true});
  CHECK(after.keys_added == 3001);
  CHECK(after.shape.capacity == 3001);
  CHECK(after.health == Code::kOk);
  CHECK(after.fill->estimated_keys == 3001);
  CHECK(after.body_bytes != 0);
  CHECK_FALSE(after.saturated);
  CHECK(*filter.is_current());
}

// They were those of a filter of one key.
TEST_CASE("until the publication capacity and m are those that were given, or the adds so far and nothing") {
  TempDir dir;
  publish(dir.file("like"), {1});
  Options like = static_options();
  like.layout.reset();
  like.seed.reset();
  like.like = dir.file("like");
  for (const Options& options : {static_options(), like}) {
    const std::string path = dir.file(options.like.empty() ? "counted" : "counted like");
    Filter filter = created(path, options);
    for (const std::uint64_t added : std::initializer_list<std::uint64_t>{0, 500, 1000}) {
      CHECK(filter.stats().shape.capacity == added);
      CHECK(filter.stats().shape.num_bits == 0);
      CHECK(filter.shape().capacity == 0);
      CHECK(filter.shape().num_bits == 0);
      CHECK(filter.shape().num_probes == 7);
      REQUIRE(filter.add_keys(Keys::digests(digests_from(1, 500))).ok());
    }
    REQUIRE(filter.publish().ok());
    CHECK(filter.stats().shape.capacity == 500);
    CHECK(filter.stats().shape.num_bits == reader_of(path).shape().num_bits);
  }
  Filter sized = created(dir.file("sized"), of_capacity(3000));
  const Shape before = sized.stats().shape;
  REQUIRE(sized.add_keys(Keys::digests(digests_from(1, 500))).ok());
  REQUIRE(sized.publish().ok());
  for (const Shape& shape : {before, sized.stats().shape, reader_of(dir.file("sized")).shape()}) {
    CHECK(shape.capacity == 3000);
    CHECK(shape.num_bits == before.num_bits);
    CHECK(shape.num_bits != 0);
  }
}

TEST_CASE("equal sets of keys make equal files, in any order, with repeats, and by any number of threads") {
  TempDir dir(memory_folder());
  Options options = replacing();
  options.file_id = FileId{7};
  options.fpr = 0x1p-32;
  options.capacity = 560'000;  // two shards
  std::optional<std::string> first;
  std::mt19937_64 random(3);
  const auto distinct = digests_from(1, 560'000);
  int number = 0;
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const bool shuffled : {false, true}) {
      CAPTURE(threads);
      CAPTURE(shuffled);
      auto digests = distinct;
      if (shuffled) {
        digests.insert(digests.end(), distinct.begin(), distinct.begin() + 1000);
        std::shuffle(digests.begin(), digests.end(), random);
      }
      const std::string path = dir.file(std::to_string(number++));
      REQUIRE(Filter::build(path, options, Keys::digests(digests), threads).ok());
      const std::string bytes = read_bytes(path);
      if (!first) first = bytes;
      CHECK(bytes == *first);
      CHECK(std::filesystem::remove(path));
    }
  }
}

namespace {

// The calls that read a whole filter.
struct Reading {
  std::string name;
  std::function<Error(const Filter&, const TempDir&)> read;
  Code of_published;
};

Error error_of(const auto& result) { return result.ok() ? Error{} : result.error(); }

const std::vector<Reading>& readings() {
  static const std::vector<Reading> all{
      {"save", [](const Filter& f, const TempDir& dir) { return f.save(dir.file("copy")); }, Code::kOk},
      {"save sealed", [](const Filter& f, const TempDir& dir) { return f.save(dir.file("copy"), {.sealed = true}); },
       Code::kOk},
      {"fold", [](const Filter& f, const TempDir& dir) { return f.save(dir.file("copy"), {.fpr = 0.5}); },
       Code::kUnsupported},
      {"intersect",
       [](const Filter& f, const TempDir& dir) {
         const std::array both{&f, &f};
         return Filter::intersect(both, dir.file("copy"));
       },
       Code::kUnsupported},
      {"join",
       [](const Filter& f, const TempDir& dir) {
         const std::array one{&f};
         return Filter::join(one, dir.file("copy"));
       },
       Code::kMismatch},
      {"compare", [](const Filter& f, const TempDir&) { return error_of(f.compare(f)); }, Code::kUnsupported},
      {"dump",
       [](const Filter& f, const TempDir&) {
         const auto bytes = f.dumped_bytes({});
         if (!bytes) return bytes.error();
         std::vector<std::byte> to(*bytes);
         return f.dump(to, {});
       },
       Code::kOk},
      {"export bits",
       [](const Filter& f, const TempDir&) {
         std::vector<std::byte> bits((f.shape().num_bits + 7) / 8);
         return f.export_bits(bits, BitOrder::kLittle);
       },
       Code::kUnsupported},
  };
  return all;
}

}  // namespace

TEST_CASE("a filter that is gathered is not read whole, and one that is published only where its layout can") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  for (const Reading& reading : readings()) {
    CAPTURE(reading.name);
    const Error error = reading.read(filter, dir);
    CAPTURE(error.message);
    CHECK_FALSE(error.ok());
    CHECK(dir.names().empty());
  }
  CHECK_FALSE(filter.merge(filter).ok());
  const Filter other = created(dir.file("other"));
  check_says(filter.merge(other), Code::kUnsupported, {"merge"});
  check_gathers(filter);
  REQUIRE(filter.publish().ok());
  for (const Reading& reading : readings()) {
    CAPTURE(reading.name);
    const Error error = reading.read(filter, dir);
    CAPTURE(error.message);
    CHECK(error.code == reading.of_published);
    const bool makes = error.ok() && std::filesystem::exists(dir.file("copy"));
    if (!makes) continue;
    const Filter copy = reader_of(dir.file("copy"));
    check_has(copy, 1);
    check_answers(copy);
    std::filesystem::remove(dir.file("copy"));
  }
  CHECK_FALSE(filter.merge(other).ok());
  check_published(filter, dir.file());
}

TEST_CASE("marks, syncs and turns are refused while keys are gathered, and by the published handle") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  for (const bool published : {false, true}) {
    CAPTURE(published);
    CHECK_FALSE(filter.sync({.owner = 1, .mark = 1}).ok());
    CHECK_FALSE(filter.drop_owner(1).ok());
    CHECK_FALSE(filter.finish_recovery(1).ok());
    CHECK_FALSE(filter.finish_filling().ok());
    CHECK_FALSE(filter.supersede().ok());
    CHECK_FALSE(filter.turn().ok());
    CHECK(filter.get_mark(1) == 0);
    CHECK(filter.remove("a key").code() == Code::kUnsupported);
    CHECK(filter.count("a key").code() == Code::kUnsupported);
    if (!published) REQUIRE(filter.publish().ok());
  }
  check_published(filter, dir.file());
}

TEST_CASE("a dumped filter has the same keys in a buffer, in a copy and in a range of a file") {
  TempDir dir;
  publish(dir.file(), {1});
  const Filter filter = reader_of(dir.file());
  const std::uint64_t bytes = *filter.dumped_bytes({});
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines(bytes / 64 + 1);
  const std::span<std::byte> buffer(lines.front().bytes, bytes);
  REQUIRE(filter.dump(buffer, {}).ok());
  const Filter wrapped = opened(Filter::wrap_to_read(buffer, false));
  CHECK(code_of(Filter::wrap(buffer, false)) == Code::kUnsupported);
  const Filter loaded = opened(Filter::load(buffer, OpenMode::kRead, false, {}));
  make_file(dir.file("ranges"),
            std::string(128, 'x') + std::string(reinterpret_cast<const char*>(buffer.data()), bytes));
  const Filter range = opened(Filter::open_range(dir.file("ranges"), 128, 0));
  for (const Filter* const each : {&wrapped, &loaded, &range}) {
    check_has(*each, 1);
    check_answers(*each);
  }
  std::vector<Filter> saved;
  for (const Filter* const each : {&wrapped, &loaded, &range}) {
    REQUIRE(each->save(dir.file("saved"), {.replace = true}).ok());
    saved.push_back(reader_of(dir.file("saved")));
    check_has(saved.back(), 1);
    check_answers(saved.back());
  }
}

TEST_CASE("no static file is opened to be written to, is filled in place, or is a part") {
  TempDir dir;
  publish(dir.file(), {1});
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(open_code(dir.file(), mode) == Code::kSealed);
  Options options = static_options();
  options.unpublished = false;
  const auto now = Filter::create(dir.file("now"), options);
  check_says(now.error(), Code::kUnsupported, {"now", "static", "Build"});
  check_says(Filter::open_or_create(dir.file("now"), OpenMode::kWrite, options).error(), Code::kUnsupported,
             {"static"});
  options.filling = true;
  check_says(Filter::create(dir.file("now"), options).error(), Code::kUnsupported, {"static"});
  options.unpublished = true;
  check_says(Filter::create(dir.file("now"), options).error(), Code::kInvalid, {"now"});
  options.filling = false;
  options.capacity = 1000;
  options.part = Part{0, 2};
  check_says(Filter::create(dir.file("now"), options).error(), Code::kInvalid, {"static", "blocked"});
  options.part.reset();
  options.window_ms = 1000;
  CHECK(code_of(Filter::create(dir.file("now"), options)) == Code::kInvalid);
  std::vector<std::byte> buffer(1 << 20);
  Options in_memory;
  in_memory.layout = Layout::kStatic;
  in_memory.capacity = 100;
  auto* const aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(buffer.data()) + 63) / 64 * 64);
  CHECK(code_of(Filter::format(std::span(aligned, (1 << 20) - 64), in_memory)) == Code::kUnsupported);
  in_memory.bare = true;
  CHECK(code_of(Filter::format(std::span(aligned, (1 << 20) - 64), in_memory)) == Code::kUnsupported);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
}

// The file that a manifest lists may be any filter; a whole one is not a part.
TEST_CASE("a set of parts has no static file") {
  TempDir dir;
  publish(dir.file(), {1});
  make_file(dir.file("set"), "bfstore-set 1\n" + dir.file() + "\n");
  const auto set = Filter::open_set(dir.file("set"));
  REQUIRE_FALSE(set.ok());
  CHECK_MESSAGE(set.error().message.find("static") != std::string::npos, set.error().message);
}

TEST_CASE("a filter is moved while it gathers") {
  TempDir dir;
  Filter filter = created(dir.file(), static_options());
  add_in_every_form(filter, 1);
  Filter moved = std::move(filter);
  check_gathers(moved);
  REQUIRE(moved.publish().ok());
  filter = std::move(moved);
  check_published(filter, dir.file());
}
