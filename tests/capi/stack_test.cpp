// The calls of the C ABI need little stack. Fibers have 64 KiB, musl's threads 128, and a runtime's own frames need
// some of that, too. Each call runs in a thread whose stack the test has painted.
#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "../support/abi_calls.h"
#include "structs.hpp"
#include "support.hpp"

using namespace store_test;

namespace {

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::size_t kMostBytes = std::size_t{24} << 10;
#else
constexpr std::size_t kMostBytes = std::size_t{256} << 10;  // debug builds have checks, and spread variables
#endif
constexpr std::size_t kStackBytes = std::size_t{1} << 20;
constexpr unsigned char kPaint = 0xa5;

struct Run {
  std::function<void()> call;
  const unsigned char* begin = nullptr;  // the frames below this address are the call's
};

void* run(void* what) {
  auto& job = *static_cast<Run*>(what);
  job.begin = static_cast<const unsigned char*>(__builtin_frame_address(0));
  job.call();
  return nullptr;
}

// Returns how much stack the call used, with all that it calls: from its caller's frame to the lowest byte written.
std::size_t stack_of(std::function<void()> call) {
  void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(stack != MAP_FAILED);
  std::memset(stack, kPaint, kStackBytes);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0);
  pthread_t thread{};
  Run job{std::move(call)};
  REQUIRE(pthread_create(&thread, &attributes, run, &job) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  const auto* const bytes = static_cast<const unsigned char*>(stack);
  const auto* const lowest =
      std::find_if(bytes, bytes + kStackBytes, [](unsigned char byte) { return byte != kPaint; });
  const auto used = static_cast<std::size_t>(job.begin - lowest);
  munmap(stack, kStackBytes);
  return used;
}

std::set<std::string> called;

// Checks that the call returns `expected` and needs little stack. `name` begins with the function's name.
void check(const std::string& name, std::int64_t expected, const std::function<std::int64_t()>& call) {
  CAPTURE(name);
  std::int64_t got = 0;
  const std::size_t used = stack_of([&] { got = call(); });
  if (std::getenv("BFSTORE_STACK") != nullptr) MESSAGE(name << ": " << used << " bytes");
  CHECK(used <= kMostBytes);
  CHECK(got == expected);
  called.insert(name.substr(0, name.find(' ')));
}

bfs_error error;

struct File {
  File() : path(dir.file()) { static_cast<void>(created(path)); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { bfs_close(filter, nullptr); }

  void check_create(const std::string& name, std::uint64_t flags, const bfs_options& options,
                    std::int32_t expected = BFS_OK) {
    check("bfs_create " + name, expected, [&] { return bfs_create(path.c_str(), flags, &options, &filter, &error); });
  }
  void check_open(const std::string& name, std::uint64_t flags, std::int32_t expected = BFS_OK) {
    check("bfs_open " + name, expected, [&] { return bfs_open(path.c_str(), flags, nullptr, &filter, &error); });
  }
  void check_close(const std::string& name, std::int32_t expected = BFS_OK) {
    check("bfs_close " + name, expected, [&] { return bfs_close(std::exchange(filter, nullptr), nullptr); });
  }

  TempDir dir;
  std::string path;
  bfs_filter* filter = nullptr;
};

// Runs a process that opens the file, adds and ends without closing it.
void killed_writer(const std::string& path) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bfs_filter* filter = nullptr;
    const bool good =
        bfs_open(path.c_str(), BFS_WRITE, nullptr, &filter, nullptr) == BFS_OK && bfs_add(filter, "k", 1) >= 0;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

// Starts a process that supersedes the file, and stops there until it is killed.
pid_t stopped_replacer(const std::string& path) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bfs_filter* filter = nullptr;
    const bfs_options options = options_of(100);
    const bool good = bfs_create(path.c_str(), BFS_UNPUBLISHED | BFS_REPLACE, &options, &filter, nullptr) == BFS_OK &&
                      bfs_supersede(filter, nullptr) == BFS_OK && write(ready[1], "x", 1) == 1;
    if (good) pause();
    _exit(1);
  }
  close(ready[1]);
  char told = 0;
  REQUIRE(read(ready[0], &told, 1) == 1);
  close(ready[0]);
  return child;
}

}  // namespace

TEST_CASE("making, opening and closing a file needs little stack") {
  error.struct_bytes = sizeof error;
  File file;
  file.check_create("that is there", 0, options_of(100), BFS_EEXIST);
  file.check_create("replacing", BFS_REPLACE | BFS_GUARD | BFS_POPULATE, options_of(100));
  file.check_close("as the last writer");
  for (const std::uint64_t mode : {BFS_READ, BFS_WRITE, BFS_EXCLUSIVE}) {
    for (const std::uint64_t flags : {0ULL, BFS_GUARD, BFS_POPULATE, BFS_RANDOM, BFS_STRICT}) {
      file.check_open(std::to_string(mode | flags), mode | flags);
      file.check_close(std::to_string(mode | flags));
    }
  }
  file.check_open("a copy", BFS_READ | BFS_PRIVATE);
  file.check_close("a copy");
  file.check_open("beside another", BFS_WRITE);
  bfs_filter* other = nullptr;
  check("bfs_open busy", BFS_EBUSY,
        [&] { return bfs_open(file.path.c_str(), BFS_EXCLUSIVE, nullptr, &other, &error); });
  check("bfs_open shared", BFS_OK, [&] { return bfs_open(file.path.c_str(), BFS_WRITE, nullptr, &other, &error); });
  file.check_close("beside another");
  CHECK(bfs_close(other, nullptr) == BFS_OK);
  const std::string nowhere = file.dir.file(std::string(200, 'n')) + "/" + std::string(200, 'n');
  check("bfs_open nowhere", BFS_ENOENT, [&] { return bfs_open(nowhere.c_str(), BFS_READ, nullptr, &other, &error); });
}

TEST_CASE("a file that a killed process left, or that is to be recovered, needs little stack") {
  File file;
  killed_writer(file.path);
  file.check_open("for reading what was left", BFS_READ);
  file.check_close("of a reader");
  file.check_open("strictly", BFS_READ | BFS_STRICT, BFS_EUNCLEAN);
  file.check_open("strictly for writing", BFS_WRITE | BFS_STRICT, BFS_EUNCLEAN);
  file.check_open("for writing what was left", BFS_WRITE);
  check("bfs_sync", BFS_OK, [&] { return sync_at(file.filter, 1, 0, 1, nullptr); });
  file.check_close("what was left");
  killed_writer(file.path);
  file.check_open("to recover", BFS_WRITE | BFS_STRICT | BFS_RECOVER);
  check("bfs_finish_recovery", 1, [&] { return bfs_finish_recovery(file.filter, 1, &error); });
  file.check_close("what was recovered");
  killed_writer(file.path);
  file.check_open("with a loss", BFS_WRITE | BFS_STRICT | BFS_ACCEPT_LOSS);
  file.check_close("with a loss");
}

namespace {

// Makes a filter of 1,000 bits and 3 seeds.
bfs_filter* filter_of_seeds(const std::string& path) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.hash = BFS_HASH_MURMUR3;
  options.num_bits = 1000;
  options.num_probes = 3;
  bfs_filter* filter = nullptr;
  REQUIRE(bfs_create(path.c_str(), 0, &options, &filter, nullptr) == BFS_OK);
  return filter;
}

}  // namespace

TEST_CASE("saving, dumping and loading a filter needs little stack") {
  File file;
  file.check_open("to save", BFS_WRITE);
  const std::string copy = file.dir.file("copy");
  check("bfs_copy", BFS_OK, [&] { return bfs_copy(file.filter, copy.c_str(), 0, nullptr, &error); });
  check("bfs_copy replacing", BFS_OK, [&] { return copy_with(file.filter, copy.c_str(), BFS_REPLACE, 0, &error); });
  const std::int64_t dumped = bfs_dump(file.filter, nullptr, 0, 0, &error);
  check("bfs_dump of nothing", dumped, [&] { return bfs_dump(file.filter, nullptr, 0, 0, &error); });
  const auto bytes = static_cast<std::uint64_t>(dumped);
  std::vector<std::byte> memory(bytes);
  check("bfs_merge", BFS_OK, [&] { return bfs_merge(file.filter, file.filter, &error); });
  const std::string third = file.dir.file("third");
  bfs_filter* const sources[] = {file.filter, file.filter};
  check("bfs_intersect", BFS_OK, [&] { return bfs_intersect(sources, 2, third.c_str(), 0, nullptr, &error); });
  bfs_comparison comparison = BFS_COMPARISON_INIT;
  check("bfs_compare", BFS_OK, [&] { return bfs_compare(file.filter, file.filter, &comparison, &error); });
  bfs_filter* const classic = filter_of_seeds(file.dir.file("classic"));
  unsigned char bits[125];
  check("bfs_export_bits", BFS_OK, [&] { return bfs_export_bits(classic, bits, 125, BFS_BITS_BIG, &error); });
  check("bfs_import_bits", BFS_OK, [&] { return bfs_import_bits(classic, bits, 125, BFS_BITS_BIG, &error); });
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  form.format = "raw";
  form.order = BFS_BITS_BIG;
  bfs_options as_classic = BFS_OPTIONS_INIT;
  as_classic.hash = BFS_HASH_MURMUR3;
  as_classic.num_bits = 1000;
  as_classic.num_probes = 3;
  bfs_foreign told = BFS_FOREIGN_INIT;
  bfs_filter* imported = nullptr;
  const std::string from_bits = file.dir.file("from bits");
  check("bfs_foreign_name", BFS_OK, [&] { return bfs_foreign_name(0) != nullptr ? BFS_OK : 1; });
  check("bfs_foreign_export", 125, [&] { return bfs_foreign_export(classic, &form, bits, sizeof bits, &error); });
  check("bfs_foreign_inspect", BFS_OK,
        [&] { return bfs_foreign_inspect(&form, bits, sizeof bits, 0, &as_classic, &told, &error); });
  check("bfs_foreign_import", BFS_OK, [&] {
    return bfs_foreign_import(from_bits.c_str(), &form, bits, sizeof bits, 0, &as_classic, &imported, &error);
  });
  CHECK(bfs_close(imported, nullptr) == BFS_OK);
  const std::string in_place = file.dir.file("bits in place");
  std::ofstream(in_place, std::ios::binary).write(reinterpret_cast<const char*>(bits), 125);
  const char* name = nullptr;
  check("bfs_foreign_recognize", BFS_OK, [&] { return bfs_foreign_recognize(in_place.c_str(), 0, 0, &name, &error); });
  bfs_filter* there = nullptr;
  check("bfs_foreign_open", BFS_OK,
        [&] { return bfs_foreign_open(in_place.c_str(), &form, 0, &as_classic, &there, &error); });
  std::uint8_t which = 0;
  check("bfs_contains_any", 0, [&] { return bfs_contains_any(&there, 1, "key", 3, &which); });
  CHECK(bfs_close(there, nullptr) == BFS_OK);
  CHECK(bfs_close(classic, nullptr) == BFS_OK);
  check("bfs_dump", dumped, [&] { return bfs_dump(file.filter, memory.data(), bytes, 0, &error); });
  file.check_close("what was saved");
  const std::string whole = read_bytes(copy);
  for (const auto& from : {std::pair<const void*, std::uint64_t>{memory.data(), bytes},
                           std::pair<const void*, std::uint64_t>{whole.data(), whole.size()}}) {
    bfs_filter* loaded = nullptr;
    check("bfs_open_memory and copy", BFS_OK,
          [&] { return bfs_open_memory(from.first, from.second, BFS_READ | BFS_PRIVATE, nullptr, &loaded, &error); });
    CHECK(bfs_close(loaded, nullptr) == BFS_OK);
  }
}

TEST_CASE("making and joining the parts of a filter needs little stack") {
  const store_test::TempDir dir;
  bfs_options options = BFS_OPTIONS_INIT;
  options.capacity = 100'000;
  options.fpr = 0.01;
  const std::uint64_t seed = 0;
  options.seed = &seed;
  options.num_parts = 2;
  std::array<bfs_filter*, 2> parts{};
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const std::string path = dir.file("part" + std::to_string(i));
    options.part = i;
    check("bfs_create a part", BFS_OK, [&] { return bfs_create(path.c_str(), 0, &options, &parts.at(i), &error); });
  }
  const std::string whole = dir.file("whole");
  check("bfs_join", BFS_OK, [&] { return bfs_join(parts.data(), parts.size(), whole.c_str(), 0, nullptr, &error); });
  for (bfs_filter* const made : parts) CHECK(bfs_close(made, nullptr) == BFS_OK);

  const std::string list = dir.file("set");
  std::ofstream(list) << "bfstore-set 1\npart0\npart1\n";
  bfs_filter* set = nullptr;
  check("bfs_open a list", BFS_OK, [&] { return bfs_open(list.c_str(), BFS_READ, nullptr, &set, &error); });
  std::vector<std::uint64_t> digests(1000, 7);
  std::vector<std::uint8_t> answers(digests.size());
  const bfs_keys keys = bfs_keys_digests(digests.data(), digests.size());
  check("bfs_contains_keys", BFS_OK,
        [&] { return static_cast<std::int32_t>(bfs_contains_keys(set, &keys, answers.data())); });
  check("bfs_is_current", 1, [&] { return bfs_is_current(set, &error); });
  bfs_statistics statistics = BFS_STATISTICS_INIT;
  check("bfs_stats", BFS_OK, [&] { return bfs_stats(set, BFS_STATS_FILL, &statistics, &error); });
  CHECK(bfs_close(set, nullptr) == BFS_OK);
}

TEST_CASE("the end of an online build needs little stack") {
  File file;
  file.check_create("to be filled", BFS_FILLING | BFS_REPLACE, options_of(100));
  check("bfs_finish_filling", BFS_OK, [&] { return bfs_finish_filling(file.filter, &error); });
  file.check_close("what was filled");
}

TEST_CASE("a turn needs little stack") {
  File file;
  bfs_options options = options_of(100);
  options.window_ms = 1000;
  file.check_create("whose keys expire", BFS_REPLACE, options);
  check("bfs_turn", 1, [&] { return bfs_turn(file.filter, 0, &error); });
  check("bfs_turn of another epoch", 0, [&] { return bfs_turn(file.filter, 0, &error); });
  bfs_statistics stats = BFS_STATISTICS_INIT;
  check("bfs_stats of epochs", BFS_OK, [&] { return bfs_stats(file.filter, 0, &stats, &error); });
  file.check_close("what was turned");
}

TEST_CASE("replacing, sealing and verifying a file needs little stack") {
  File file;
  const std::uint64_t flags = BFS_UNPUBLISHED | BFS_REPLACE;
  file.check_create("to replace", flags, options_of(100));
  check("bfs_supersede", BFS_OK, [&] { return bfs_supersede(file.filter, &error); });
  check("bfs_publish", BFS_OK, [&] { return bfs_publish(file.filter, &error); });
  check("bfs_is_current", 1, [&] { return bfs_is_current(file.filter, nullptr); });
  file.check_close("what was published");
  file.check_create("to supersede", flags, options_of(100));
  check("bfs_supersede and give up", BFS_OK, [&] { return bfs_supersede(file.filter, &error); });
  file.check_close("and give up");
  const char* const path = file.path.c_str();
  check("bfs_copy sealed", BFS_OK, [&] { return seal_with(path, path, BFS_REPLACE, 0, &error); });
  bfs_range damaged[1];
  check("bfs_verify", 0, [&] { return bfs_verify(path, 0, damaged, 1, &error); });
  file.check_open("verifying", BFS_READ | BFS_VERIFY);
  file.check_close("verifying");
  write_bytes(file.path, 16384, "damage");
  check("bfs_verify damage", 1, [&] { return bfs_verify(path, 0, damaged, 1, &error); });
  file.check_open("damage", BFS_READ | BFS_VERIFY, BFS_EDAMAGED);
  file.check_open("and tolerating", BFS_READ | BFS_TOLERATE_DAMAGE);
  file.check_close("and tolerating");
}

TEST_CASE("making a delta and applying it needs little stack") {
  File file;
  file.check_create("for a delta", BFS_REPLACE, options_of(100));
  file.check_close("for a delta");
  const char* const path = file.path.c_str();
  const std::string before = file.path + ".before";
  const std::string after = file.path + ".after";
  const std::string delta = file.path + ".delta";
  CHECK(seal_with(path, before.c_str(), 0, 0, nullptr) == BFS_OK);
  CHECK(seal_with(path, after.c_str(), 0, 0, nullptr) == BFS_OK);
  check("bfs_make_delta", BFS_OK,
        [&] { return bfs_make_delta(before.c_str(), after.c_str(), delta.c_str(), 0, nullptr, &error); });
  check("bfs_apply_delta", BFS_OK,
        [&] { return bfs_apply_delta(before.c_str(), delta.c_str(), before.c_str(), BFS_REPLACE, nullptr, &error); });
}

TEST_CASE("naming the process for which a call waits needs little stack") {
  File file;
  const pid_t child = stopped_replacer(file.path);
  bfs_options options = options_of(100);
  options.lock_timeout_ms = BFS_LOCK_NO_WAIT;
  file.check_create("of what another process replaces", BFS_REPLACE, options, BFS_EBUSY);
  for (const std::uint64_t flags : {BFS_WRITE, BFS_WRITE | BFS_CREATE}) {
    options.capacity = (flags & BFS_CREATE) != 0 ? 100 : 0;
    check("bfs_open with a lock", BFS_EBUSY,
          [&] { return bfs_open(file.path.c_str(), flags, &options, &file.filter, &error); });
  }
  CHECK(std::string(error.message).find(std::to_string(child)) != std::string::npos);
  file.check_open("for reading what another process replaces", BFS_READ, BFS_ESUPERSEDED);
  kill_and_wait(child);
  file.check_open("for reading what a killed process replaced", BFS_READ);
  file.check_close("after that");
}

TEST_CASE("a page that cannot be read needs little stack") {
  File file;
  file.check_open("guarded", BFS_WRITE | BFS_GUARD);
  REQUIRE(truncate(file.path.c_str(), 0) == 0);
  check("bfs_contains fault", 1, [&] { return bfs_contains(file.filter, "k", 1); });
  check("bfs_sync fault", BFS_EFAULT, [&] { return sync_at(file.filter, 1, 0, 1, nullptr); });
  file.check_close("fault", BFS_EFAULT);
}

TEST_CASE("a filter in a buffer or in a range of a file, and a secret, need little stack") {
  TempDir dir;
  const std::vector<unsigned char> secret(16, 7);
  bfs_options options = options_of(1000);
  options.hash = BFS_HASH_SIPHASH;
  options.secret = secret.data();
  options.secret_bytes = 16;
  options.note = "note";
  options.note_bytes = 4;
  const std::int64_t needed = bfs_format(nullptr, 0, 0, &options, nullptr, &error);
  REQUIRE(needed > 0);
  const auto bytes = static_cast<std::uint64_t>(needed);
  check("bfs_format of nothing", needed, [&] { return bfs_format(nullptr, 0, 0, &options, nullptr, &error); });
  bfs_plan_request request = BFS_PLAN_REQUEST_INIT;
  request.capacity = 1000;
  bfs_plan_result planned = BFS_PLAN_RESULT_INIT;
  check("bfs_plan", BFS_OK, [&] { return bfs_plan(&request, &planned, &error); });
  auto* const buffer = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  bfs_filter* filter = nullptr;
  check("bfs_format", needed, [&] { return bfs_format(buffer, bytes, 0, &options, &filter, &error); });
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  check("bfs_open_memory", BFS_ESECRET,
        [&] { return bfs_open_memory(buffer, bytes, BFS_READ, nullptr, &filter, &error); });
  check("bfs_open_memory with a secret", BFS_OK,
        [&] { return open_memory_with(buffer, bytes, BFS_WRITE, secret.data(), &filter, &error); });
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  std::ofstream(dir.file(), std::ios::binary) << std::string(64, 'x') << std::string(buffer, bytes);
  const bfs_range range{64, 0};
  bfs_options opening = options_with(secret.data());
  opening.range = &range;
  check("bfs_open a range", BFS_OK, [&] { return bfs_open(dir.file().c_str(), BFS_READ, &opening, &filter, &error); });
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  std::free(buffer);
}

TEST_CASE("opening or making a file, and building one of keys, need little stack") {
  const TempDir dir;
  const std::string path = dir.file();
  const bfs_options options = options_of(100'000);
  bfs_filter* filter = nullptr;
  for (const std::int32_t made : {1, 0}) {
    check("bfs_open or make", made,
          [&] { return bfs_open(path.c_str(), BFS_WRITE | BFS_CREATE, &options, &filter, &error); });
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
  }
  std::vector<std::uint64_t> digests(40'000);
  for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = (i + 1) * 0x9e3779b97f4a7c15;
  const bfs_keys keys = bfs_keys_digests(digests.data(), digests.size());
  for (const std::uint32_t threads : {0U, 2U}) {
    bfs_options with_threads = options;
    with_threads.threads = threads;
    check("bfs_build", BFS_OK,
          [&] { return bfs_build(path.c_str(), BFS_REPLACE, &with_threads, &keys, &filter, &error); });
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
  }
}

// The keys of a static filter are sorted, by their digests. A sort that calls itself needs the most stack where nearly
// all digests have their first bits in common.
TEST_CASE("a filter that is built once needs little stack") {
  std::vector<std::uint64_t> spread(300'000);
  std::vector<std::uint64_t> alike(300'000);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = (i + 1) * 0x9e3779b97f4a7c15;
    alike[i] = spread[i] >> (i % 60);
  }
  for (const std::vector<std::uint64_t>* const digests : {&spread, &alike}) {
    const bfs_keys keys = bfs_keys_digests(digests->data(), digests->size());
    for (const std::uint32_t threads : {0U, 2U}) {
      const TempDir dir;
      bfs_options options = BFS_OPTIONS_INIT;
      options.layout = BFS_LAYOUT_STATIC;
      options.threads = threads;
      bfs_filter* filter = nullptr;
      const std::string built = dir.file("built");
      check("bfs_build", BFS_OK, [&] { return bfs_build(built.c_str(), 0, &options, &keys, &filter, &error); });
      CHECK(bfs_close(filter, nullptr) == BFS_OK);
      const std::uint64_t flags = BFS_UNPUBLISHED | (threads == 0 ? 0 : BFS_EXCLUSIVE);
      const std::string path = dir.file("published");
      check("bfs_create", BFS_OK, [&] { return bfs_create(path.c_str(), flags, &options, &filter, &error); });
      check("bfs_add", 0, [&] { return bfs_add(filter, "k", 1); });
      check("bfs_add_keys", 0, [&] { return bfs_add_keys(filter, &keys); });
      check("bfs_contains", 1, [&] { return bfs_contains(filter, "never", 5); });
      check("bfs_publish", BFS_OK, [&] { return bfs_publish(filter, &error); });
      check("bfs_contains", 1, [&] { return bfs_contains(filter, "k", 1); });
      std::vector<std::uint8_t> answers(keys.count);
      check("bfs_contains_keys", static_cast<std::int64_t>(keys.count),
            [&] { return bfs_contains_keys(filter, &keys, answers.data()); });
      check("bfs_close", BFS_OK, [&] { return bfs_close(filter, nullptr); });
    }
  }
}

TEST_CASE("adding and asking need little stack, for one key and for many, exclusively and shared") {
  constexpr std::size_t kMany = 40'000;
  const std::string text(8 * kMany + 8, 't');
  std::vector<const void*> keys;
  std::vector<std::size_t> lengths(kMany, 8);
  std::vector<std::int32_t> offsets32;
  std::vector<std::int64_t> offsets64;
  std::vector<std::uint64_t> digests;
  for (std::size_t i = 0; i <= kMany; ++i) {
    keys.push_back(text.data() + 8 * i);
    offsets32.push_back(static_cast<std::int32_t>(8 * i));
    offsets64.push_back(static_cast<std::int64_t>(8 * i));
    digests.push_back((i + 1) * 0x9e3779b97f4a7c15);
  }
  std::vector<std::uint8_t> answers(kMany);
  std::vector<std::uint32_t> indices(kMany);
  const std::vector<unsigned char> secret(16, 7);
  for (const int layout :
       {BFS_LAYOUT_BLOCKED, BFS_LAYOUT_CLASSIC, BFS_LAYOUT_COUNTING, BFS_LAYOUT_WINDOW, BFS_LAYOUT_WINDOW_2}) {
    for (const int hash : {BFS_HASH_XXH3, BFS_HASH_SIPHASH}) {
      for (const std::uint64_t flags : {0ULL, BFS_EXCLUSIVE}) {
        TempDir dir;
        bfs_options options = options_of(kMany);
        options.threads = flags != 0 ? 2 : 0;
        options.layout = static_cast<std::uint32_t>(layout);
        options.window_ms = layout >= BFS_LAYOUT_WINDOW ? 1000 : 0;
        options.hash = static_cast<std::uint32_t>(hash);
        options.secret = hash == BFS_HASH_SIPHASH ? secret.data() : nullptr;
        options.secret_bytes = options.secret == nullptr ? 0 : 16;
        bfs_filter* f = nullptr;
        REQUIRE(bfs_create(dir.file().c_str(), flags, &options, &f, nullptr) == BFS_OK);
        const auto many = [&](const char* name, const std::function<std::int64_t()>& call) {
          check(name, 1, [&] { return call() >= 0 ? 1 : 0; });
        };
        std::uint64_t digest = 0;
        check("bfs_add", 1, [&] { return bfs_add(f, "k", 1); });
        check("bfs_contains", 1, [&] { return bfs_contains(f, "k", 1); });
        check("bfs_digest", BFS_OK, [&] { return bfs_digest(f, "k", 1, &digest); });
        check("bfs_add_digest", 0, [&] { return bfs_add_digest(f, digest); });
        check("bfs_contains_digest", 1, [&] { return bfs_contains_digest(f, digest); });
        if (layout == BFS_LAYOUT_COUNTING) {
          const bfs_keys one = bfs_keys_digests(&digest, 1);
          check("bfs_count_keys", 2, [&] { return count_one(f, "k", 1); });
          check("bfs_count_keys digest", 2, [&] { return count_digest(f, digest); });
          check("bfs_remove", 1, [&] { return bfs_remove(f, "k", 1); });
          check("bfs_remove_keys digest", 1, [&] { return remove_digest(f, digest); });
          check("bfs_remove_keys", 0, [&] { return bfs_remove_keys(f, &one); });
        }
        many("bfs_add_keys", [&] { return add_many(f, keys.data(), lengths.data(), kMany); });
        many("bfs_add_keys", [&] { return add_fixed(f, text.data(), 8, kMany); });
        many("bfs_add_keys", [&] { return add_column32(f, text.data(), offsets32.data(), kMany); });
        many("bfs_add_keys", [&] { return add_column64(f, text.data(), offsets64.data(), kMany); });
        many("bfs_add_keys", [&] { return add_digests(f, digests.data(), kMany); });
        many("bfs_contains_keys", [&] { return contains_many(f, keys.data(), lengths.data(), kMany, answers.data()); });
        many("bfs_contains_keys", [&] { return contains_fixed(f, text.data(), 8, kMany, answers.data()); });
        many("bfs_contains_keys",
             [&] { return contains_column32(f, text.data(), offsets32.data(), kMany, answers.data()); });
        many("bfs_contains_keys",
             [&] { return contains_column64(f, text.data(), offsets64.data(), kMany, answers.data()); });
        many("bfs_contains_keys", [&] { return contains_digests(f, digests.data(), kMany, answers.data()); });
        many("bfs_select_keys", [&] { return select_many(f, keys.data(), lengths.data(), kMany, indices.data()); });
        many("bfs_select_keys", [&] { return select_fixed(f, text.data(), 8, kMany, indices.data()); });
        many("bfs_select_keys",
             [&] { return select_column32(f, text.data(), offsets32.data(), kMany, indices.data()); });
        many("bfs_select_keys",
             [&] { return select_column64(f, text.data(), offsets64.data(), kMany, indices.data()); });
        many("bfs_select_keys", [&] { return select_digests(f, digests.data(), kMany, indices.data()); });
        check("bfs_sync with a mark", BFS_OK, [&] { return sync_at(f, 1, 0, 10, nullptr); });
        check("bfs_list_marks", 1, [&] { return bfs_list_marks(f, nullptr, 0, &error); });
        check("bfs_drop_owner", BFS_OK, [&] { return bfs_drop_owner(f, 2, &error); });
        check("bfs_get_mark", 10, [&] { return static_cast<std::int64_t>(bfs_get_mark(f, 1, 0)); });
        bfs_statistics statistics{};
        statistics.struct_bytes = sizeof statistics;
        check("bfs_stats", BFS_OK, [&] { return bfs_stats(f, BFS_STATS_FILL, &statistics, nullptr); });
        check("bfs_health", BFS_OK, [&] { return bfs_health(f); });
        const bfs_keys given = bfs_keys_pointers(keys.data(), lengths.data(), kMany);
        std::vector<std::uint64_t> found(kMany);
        check("bfs_digest_keys", hash == BFS_HASH_EXTERNAL ? BFS_EDIGESTONLY : static_cast<std::int64_t>(kMany),
              [&] { return bfs_digest_keys(f, &given, found.data()); });
        check("bfs_is_current of a writer", 1, [&] { return bfs_is_current(f, nullptr); });
        check("bfs_shut", BFS_OK, [&] { return bfs_shut(f, nullptr); });
        check("bfs_abandon", 0, [&] {
          bfs_abandon(f);
          return 0;
        });
      }
    }
  }
}

// Runs last: doctest keeps the order of a file.
TEST_CASE("a bare filter without a handle needs little stack") {
  const std::string key(300, 'k');
  const void* const keys[] = {key.data()};
  const std::size_t key_bytes[] = {key.size()};
  const std::uint64_t digest = 7;
  std::vector<unsigned char> buffer(73);
  unsigned char* const start = buffer.data() + 1;
  check("bfs_bare_bytes", 72, [&] { return static_cast<std::int64_t>(bfs_bare_bytes(1, 10, 0)); });
  check("bfs_bare_build digests", BFS_OK, [&] { return build_bare_digests(start, 72, 0, 0, &digest, 1); });
  check("bfs_bare_contains_digest", 1, [&] { return bfs_bare_contains_digest(start, 72, digest); });
  check("bfs_bare_build", BFS_OK, [&] { return build_bare(start, 72, 0, keys, key_bytes, 1); });
  check("bfs_bare_contains", 1, [&] { return bfs_bare_contains(start, 72, key.data(), key.size()); });
}

TEST_CASE("every function of the header was called") {
  check("bfs_version", 1, [] { return bfs_version() != nullptr ? 1 : 0; });
  check("bfs_code_name", 1, [] { return bfs_code_name(BFS_EBUSY) != nullptr ? 1 : 0; });
  check("bfs_strerror", 1, [] { return bfs_strerror(BFS_EBUSY) != nullptr ? 1 : 0; });
  check("bfs_layout_name", 1, [] { return bfs_layout_name(BFS_LAYOUT_CLASSIC) != nullptr ? 1 : 0; });
  check("bfs_hash_name", 1, [] { return bfs_hash_name(BFS_HASH_SIPHASH) != nullptr ? 1 : 0; });
  check("bfs_layout_named", BFS_LAYOUT_CLASSIC, [] { return bfs_layout_named("classic"); });
  check("bfs_hash_named", BFS_HASH_SIPHASH, [] { return bfs_hash_named("siphash"); });
  const std::string path = std::getenv("BFSTORE_HEADER");
  std::string header = read_bytes(path);
  for (const char* const name : {"codes", "engine", "sets", "memory", "interop"})
    header += read_bytes(path.substr(0, path.size() - 2) + "_" + name + ".h");
  const std::regex declaration(R"(BFS_API[^;(]*?\b(bfs_\w+)\s*\()");
  std::size_t declared = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), declaration); at != std::sregex_iterator(); ++at) {
    ++declared;
    CHECK_MESSAGE(called.count((*at)[1]) == 1, (*at)[1].str());
  }
  CHECK(declared > 50);
}
