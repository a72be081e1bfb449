// The C ABI without memory: whichever allocation in a function fails, the function returns BFS_ENOMEM or does without,
// nothing is thrown, the process continues, and the file is as good as before.
#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>

#include "../support/abi_calls.h"
#include "support.hpp"

using namespace store_test;

namespace {

// Allocations until one fails; below 0: none does.
std::atomic<std::int64_t> until_failure{-1};
std::atomic<bool> all_fail_after{false};
std::atomic<bool> one_failed{false};

bool fails_now() {
  if (until_failure.load() < 0) return false;
  if (until_failure.load() > 0) {
    --until_failure;
    return false;
  }
  if (!all_fail_after) until_failure = -1;
  one_failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  if (fails_now()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  void* const got = allocate(bytes, alignment);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(to));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(to));
}
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete[](void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }

namespace {

struct Outcome {
  std::int64_t code;
  bool short_of_memory;
};

// Makes one call in which the allocation with this number fails, and all later ones if `all_after`.
Outcome with_failure(std::int64_t number, bool all_after, const std::function<std::int64_t()>& call) {
  one_failed = false;
  all_fail_after = all_after;
  until_failure = number;
  const std::int64_t code = call();
  until_failure = -1;
  return {code, one_failed};
}

// Repeats `call` until no allocation fails any more. `after` checks what each call left.
void whichever_allocation_fails(
    const std::string& name, const std::function<std::int64_t(bfs_error*)>& call,
    const std::function<void()>& after = [] {}) {
  for (const bool all_after : {false, true}) {
    Outcome last{0, true};
    std::uint64_t failures = 0;
    for (std::int64_t number = 0; last.short_of_memory; ++number) {
      CAPTURE(name);
      CAPTURE(number);
      CAPTURE(all_after);
      bfs_error error{};
      error.struct_bytes = sizeof error;
      last = with_failure(number, all_after, [&] { return call(&error); });
      failures += last.short_of_memory ? 1U : 0U;
      if (last.code < 0) {
        REQUIRE(last.code == BFS_ENOMEM);
        REQUIRE((error.code == BFS_ENOMEM || error.code == 0));  // 0: functions without a record
        REQUIRE((error.code == 0 || std::string(error.message).find("memory") != std::string::npos));
      }
      after();
    }
    CHECK(last.code >= 0);
    CHECK(failures > 0);
  }
}

bfs_options options_of(std::uint64_t capacity) {
  bfs_options options{};
  options.struct_bytes = sizeof options;
  options.capacity = capacity;
  options.note = "a note that is long enough to need memory of its own";
  options.note_bytes = 52;
  return options;
}

constexpr std::uint64_t kOwner = 7;

// A closed file with keys and a mark. It is in memory, because a disk would add nothing to the test.
struct Fixture {
  Fixture() : dir(memory_folder()), path(dir.file()) {
    bfstore::Filter filter = created(path);
    add_keys(filter, 1, 0, kSome);
    CHECK(filter.sync({.owner = kOwner, .mark = kSome}).ok());
    CHECK(filter.close().ok());
  }
  bfs_filter* open(std::uint64_t flags) const {
    bfs_filter* filter = nullptr;
    REQUIRE(bfs_open(path.c_str(), flags, nullptr, &filter, nullptr) == BFS_OK);
    return filter;
  }
  // Checks that every key is there, and that a writer can open the file.
  void check_whole() const {
    bfstore::Filter filter = opened(bfstore::Filter::open(path, bfstore::OpenMode::kExclusive));
    REQUIRE(maybes(filter, 1, 0, kSome) == kSome);
    REQUIRE(filter.get_mark(kOwner) >= kSome);
    REQUIRE(filter.close().ok());
  }
  TempDir dir;
  std::string path;
};

}  // namespace

TEST_CASE("any failed allocation in opening a file is BFS_ENOMEM, and leaves the file as before") {
  const Fixture file;
  for (const std::uint64_t flags : {BFS_READ, BFS_WRITE, BFS_EXCLUSIVE, BFS_READ | BFS_PRIVATE, BFS_READ | BFS_GUARD}) {
    bfs_filter* filter = nullptr;
    whichever_allocation_fails(
        "open " + std::to_string(flags),
        [&](bfs_error* error) { return bfs_open(file.path.c_str(), flags, nullptr, &filter, error); },
        [&] {
          if (filter != nullptr) REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
          file.check_whole();
        });
  }
}

// A handle once said that it was shut, and went on answering no.
TEST_CASE("after any failed allocation in a shut the handle is shut, or is open and can be shut") {
  const Fixture file;
  const std::string list = file.path + ".set";
  std::ofstream(list) << "bfstore-set 1\n" << file.path << "\n";
  const auto open_set = [&] {
    bfs_filter* set = nullptr;
    REQUIRE(bfs_open(list.c_str(), BFS_READ, nullptr, &set, nullptr) == BFS_OK);
    return set;
  };
  const std::function<bfs_filter*()> openers[] = {[&] { return file.open(BFS_READ); },
                                                  [&] { return file.open(BFS_WRITE); }, open_set};
  for (const auto& open_again : openers) {
    bfs_filter* filter = open_again();
    whichever_allocation_fails(
        "shut", [&](bfs_error* error) { return bfs_shut(filter, error); },
        [&] {
          if (bfs_health(filter) != BFS_ESHUT) REQUIRE(bfs_shut(filter, nullptr) == BFS_OK);
          REQUIRE(bfs_health(filter) == BFS_ESHUT);
          REQUIRE(bfs_contains(filter, "absent", 6) == 1);
          REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
          file.check_whole();
          filter = open_again();
        });
    REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
  }
  REQUIRE(std::remove(list.c_str()) == 0);
}

TEST_CASE("after any failed allocation in making a filter its file is complete or not there") {
  const TempDir dir(memory_folder());
  const std::string path = dir.file();
  const bfs_options options = options_of(1000);
  bfs_filter* filter = nullptr;
  whichever_allocation_fails(
      "create", [&](bfs_error* error) { return bfs_create(path.c_str(), 0, &options, &filter, error); },
      [&] {
        REQUIRE((filter == nullptr || bfs_close(filter, nullptr) == BFS_OK));
        if (dir.names().empty()) return;
        REQUIRE(dir.names().size() == 1);
        REQUIRE(open_code(path, bfstore::OpenMode::kExclusive) == bfstore::Code::kOk);
        REQUIRE(std::remove(path.c_str()) == 0);
      });
}

TEST_CASE("whichever allocation fails while a file is opened or made, or built of keys, it is complete or not there") {
  const TempDir dir(memory_folder());
  const std::string path = dir.file();
  const bfs_options options = options_of(1000);
  const bfs_key pairs[] = {{"key", 3}, {"another", 7}};
  const bfs_keys keys = bfs_keys_pairs(pairs, 2);
  const std::function<std::int32_t(bfs_filter**, bfs_error*)> calls[] = {
      [&](bfs_filter** out, bfs_error* error) {
        return bfs_open(path.c_str(), BFS_WRITE | BFS_CREATE, &options, out, error);
      },
      [&](bfs_filter** out, bfs_error* error) { return bfs_build(path.c_str(), 0, &options, &keys, out, error); }};
  for (const auto& call : calls) {
    const bool built = &call != &calls[0];
    bfs_filter* filter = nullptr;
    whichever_allocation_fails(
        built ? "build" : "open or create", [&](bfs_error* error) { return call(&filter, error); },
        [&] {
          REQUIRE((filter == nullptr || bfs_close(filter, nullptr) == BFS_OK));
          if (dir.names().empty()) return;
          REQUIRE(dir.names().size() == 1);
          bfstore::Filter whole = opened(bfstore::Filter::open(path, bfstore::OpenMode::kExclusive));
          REQUIRE(whole.contains("key") == built);
          REQUIRE(whole.close().ok());
          REQUIRE(std::remove(path.c_str()) == 0);
        });
  }
}

TEST_CASE("any failed allocation in making or finding a filter in a buffer is BFS_ENOMEM") {
  const bfs_options options = options_of(1000);
  std::int64_t needed = 0;
  whichever_allocation_fails(
      "bytes needed", [&](bfs_error* error) { return needed = bfs_format(nullptr, 0, 0, &options, nullptr, error); });
  const auto bytes = static_cast<std::uint64_t>(needed);
  void* const buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  bfs_filter* filter = nullptr;
  const auto close = [&] { REQUIRE(bfs_close(filter, nullptr) == BFS_OK); };
  whichever_allocation_fails(
      "format", [&](bfs_error* error) { return bfs_format(buffer, bytes, 0, &options, &filter, error); }, close);
  for (const std::uint64_t flags : {BFS_WRITE, BFS_READ, BFS_READ | BFS_PRIVATE}) {
    whichever_allocation_fails(
        "open memory", [&](bfs_error* error) { return bfs_open_memory(buffer, bytes, flags, nullptr, &filter, error); },
        close);
  }
  std::free(buffer);
}

TEST_CASE("any failed allocation in a call of an open handle is BFS_ENOMEM, or the call does without it") {
  const Fixture file;
  bfs_filter* const filter = file.open(BFS_WRITE);
  bfs_statistics statistics{};
  statistics.struct_bytes = sizeof statistics;
  whichever_allocation_fails("stats", [&](bfs_error* error) {
    return bfs_stats(filter, BFS_STATS_FILL | BFS_STATS_MEMORY, &statistics, error);
  });
  whichever_allocation_fails("is_current", [&](bfs_error* error) { return bfs_is_current(filter, error); });
  whichever_allocation_fails("mark", [&](bfs_error*) {
    const std::uint64_t mark = bfs_get_mark(filter, kOwner, 0);
    return mark == kSome || mark == 0 ? BFS_OK : BFS_EINTERNAL;  // 0: replay it all
  });
  whichever_allocation_fails("list_marks", [&](bfs_error* error) {
    bfs_owner_mark mark{};
    const std::int64_t found = bfs_list_marks(filter, &mark, 1, error);
    if (found >= 0) CHECK((found == 1 && mark.owner == kOwner && mark.mark == kSome));
    return found == 1 ? BFS_OK : static_cast<std::int32_t>(found);
  });
  CHECK(bfs_get_mark(filter, kOwner, 0) == kSome);
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  file.check_whole();
}

TEST_CASE("after any failed allocation in a sync or a close the file is whole, or in doubt for every process") {
  for (const bool syncs : {true, false}) {
    bool failed = true;
    for (std::int64_t number = 0; failed; ++number) {
      CAPTURE(syncs);
      CAPTURE(number);
      const Fixture file;
      bfs_filter* const filter = file.open(BFS_WRITE);
      REQUIRE(bfs_add(filter, "late", 4) == 1);
      const Outcome outcome = with_failure(number, false, [&] {
        return syncs ? sync_at(filter, kOwner, 0, kSome, nullptr) : bfs_close(filter, nullptr);
      });
      failed = outcome.short_of_memory;
      REQUIRE((outcome.code == BFS_OK || (failed && outcome.code == BFS_ENOMEM)));
      if (syncs) REQUIRE((bfs_close(filter, nullptr) == BFS_OK || failed));
      const bfstore::Code code = open_code(file.path, bfstore::OpenMode::kRead);
      if (code != bfstore::Code::kOk) {
        REQUIRE((failed && (code == bfstore::Code::kUnclean || code == bfstore::Code::kPoisoned)));
        bfstore::OpenOptions accepting;
        accepting.accept_loss = true;
        REQUIRE(opened(bfstore::Filter::open(file.path, bfstore::OpenMode::kWrite, accepting)).close().ok());
      }
      file.check_whole();
      REQUIRE(opened(bfstore::Filter::open(file.path, bfstore::OpenMode::kRead)).contains("late"));
    }
  }
}

TEST_CASE("any failed allocation in a save, a dump or a load leaves nothing of the result") {
  const Fixture file;
  const std::string copy = file.dir.file("copy");
  bfs_filter* filter = nullptr;
  REQUIRE(bfs_open(file.path.c_str(), BFS_READ, nullptr, &filter, nullptr) == BFS_OK);
  whichever_allocation_fails(
      "save", [&](bfs_error* error) { return bfs_copy(filter, copy.c_str(), 0, nullptr, error); },
      [&] {
        file.check_whole();
        if (file.dir.names().size() == 2) REQUIRE(std::remove(copy.c_str()) == 0);
      });
  const std::int64_t dumped = bfs_dump(filter, nullptr, 0, 0, nullptr);
  REQUIRE(dumped > 0);
  const auto bytes = static_cast<std::uint64_t>(dumped);
  std::vector<std::byte> memory(bytes);
  whichever_allocation_fails("dump",
                             [&](bfs_error* error) { return bfs_dump(filter, memory.data(), bytes, 0, error); });
  bfs_filter* into = nullptr;
  REQUIRE(bfs_open_memory(memory.data(), bytes, BFS_WRITE | BFS_PRIVATE, nullptr, &into, nullptr) == BFS_OK);
  whichever_allocation_fails("merge", [&](bfs_error* error) { return bfs_merge(into, filter, error); });
  bfs_options seeded = BFS_OPTIONS_INIT;
  seeded.hash = BFS_HASH_MURMUR3;
  seeded.num_bits = 1000;
  seeded.num_probes = 3;
  bfs_filter* classic = nullptr;
  REQUIRE(bfs_create(file.dir.file("classic").c_str(), 0, &seeded, &classic, nullptr) == BFS_OK);
  std::vector<unsigned char> bits(125);
  const std::vector<unsigned char> ones(125, 0xff);
  whichever_allocation_fails("export", [&](bfs_error* error) {
    const std::int32_t code = bfs_export_bits(classic, bits.data(), bits.size(), BFS_BITS_BIG, error);
    REQUIRE((bits == ones) == (code != BFS_OK));
    return code;
  });
  whichever_allocation_fails("import", [&](bfs_error* error) {
    return bfs_import_bits(classic, ones.data(), ones.size(), BFS_BITS_BIG, error);
  });
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  form.format = "raw";
  form.order = BFS_BITS_BIG;
  form.name = "a name that is too long to be within a string of the usual library";
  whichever_allocation_fails("export foreign", [&](bfs_error* error) {
    const std::int64_t code = bfs_foreign_export(classic, &form, bits.data(), bits.size(), error);
    REQUIRE((bits == ones || code == 125));
    return code;
  });
  bfs_foreign told = BFS_FOREIGN_INIT;
  whichever_allocation_fails("inspect foreign", [&](bfs_error* error) {
    return bfs_foreign_inspect(&form, bits.data(), bits.size(), 0, &seeded, &told, error);
  });
  const std::string of_bits = file.dir.file("imported");
  whichever_allocation_fails("import foreign", [&](bfs_error* error) {
    bfs_filter* imported = nullptr;
    const std::int32_t code =
        bfs_foreign_import(of_bits.c_str(), &form, ones.data(), ones.size(), 0, &seeded, &imported, error);
    REQUIRE((imported != nullptr) == (code == BFS_OK));
    REQUIRE((access(of_bits.c_str(), F_OK) == 0) == (code == BFS_OK));
    if (imported != nullptr) REQUIRE((bfs_close(imported, nullptr) == BFS_OK && std::remove(of_bits.c_str()) == 0));
    return code;
  });
  REQUIRE(bfs_close(classic, nullptr) == BFS_OK);
  REQUIRE(std::remove(file.dir.file("classic").c_str()) == 0);
  bfs_comparison comparison = BFS_COMPARISON_INIT;
  whichever_allocation_fails("compare",
                             [&](bfs_error* error) { return bfs_compare(into, filter, &comparison, error); });
  const bfs_filter* const sources[] = {into, filter};
  whichever_allocation_fails(
      "intersect", [&](bfs_error* error) { return bfs_intersect(sources, 2, copy.c_str(), 0, nullptr, error); },
      [&] {
        if (file.dir.names().size() == 2) REQUIRE(std::remove(copy.c_str()) == 0);
      });
  REQUIRE(bfs_close(into, nullptr) == BFS_OK);
  REQUIRE(bfs_copy(filter, copy.c_str(), 0, nullptr, nullptr) == BFS_OK);
  REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
  const std::string whole = read_bytes(copy);
  for (const auto& from : {std::pair<const void*, std::uint64_t>{memory.data(), bytes},
                           std::pair<const void*, std::uint64_t>{whole.data(), whole.size()}}) {
    whichever_allocation_fails("load", [&](bfs_error* error) {
      bfs_filter* loaded = nullptr;
      const std::int32_t code =
          bfs_open_memory(from.first, from.second, BFS_READ | BFS_PRIVATE, nullptr, &loaded, error);
      REQUIRE((loaded == nullptr) == (code != BFS_OK));
      return code == BFS_OK ? bfs_close(loaded, nullptr) : code;
    });
  }
}

TEST_CASE("any failed allocation in sealing or verifying a file is BFS_ENOMEM, and leaves nothing behind") {
  const Fixture file;
  const std::string sealed = file.dir.file("sealed");
  whichever_allocation_fails(
      "seal", [&](bfs_error* error) { return seal_with(file.path.c_str(), sealed.c_str(), 0, 0, error); },
      [&] {
        file.check_whole();
        if (file.dir.names().size() == 2) REQUIRE(std::remove(sealed.c_str()) == 0);
      });
  REQUIRE(seal_with(file.path.c_str(), sealed.c_str(), 0, 0, nullptr) == BFS_OK);
  bfs_range ranges[1];
  whichever_allocation_fails("verify",
                             [&](bfs_error* error) { return bfs_verify(sealed.c_str(), 0, ranges, 1, error); });
}

TEST_CASE("any failed allocation in making or applying a delta is BFS_ENOMEM, and leaves nothing behind") {
  const Fixture file;
  const std::string before = file.dir.file("before");
  const std::string after = file.dir.file("after");
  const std::string delta = file.dir.file("delta");
  const std::string made = file.dir.file("made");
  REQUIRE(seal_with(file.path.c_str(), before.c_str(), 0, 0, nullptr) == BFS_OK);
  REQUIRE(seal_with(file.path.c_str(), after.c_str(), 0, 0, nullptr) == BFS_OK);
  const auto remove_if_there = [&](const std::string& path, std::size_t names) {
    if (file.dir.names().size() == names) REQUIRE(std::remove(path.c_str()) == 0);
    REQUIRE(file.dir.names().size() == names - 1);
  };
  whichever_allocation_fails(
      "make a delta",
      [&](bfs_error* error) { return bfs_make_delta(before.c_str(), after.c_str(), delta.c_str(), 0, nullptr, error); },
      [&] { remove_if_there(delta, 4); });
  REQUIRE(bfs_make_delta(before.c_str(), after.c_str(), delta.c_str(), 0, nullptr, nullptr) == BFS_OK);
  whichever_allocation_fails(
      "apply a delta",
      [&](bfs_error* error) { return bfs_apply_delta(before.c_str(), delta.c_str(), made.c_str(), 0, nullptr, error); },
      [&] { remove_if_there(made, 5); });
}

TEST_CASE("without memory for more threads one thread does a divided load, and leaves out no key") {
  const TempDir dir(memory_folder());
  bfs_options options = options_of(100'000);
  options.threads = 2;
  std::vector<std::uint64_t> digests(40'000);
  for (std::int64_t number = 0; number < 20; ++number) {
    bfs_filter* filter = nullptr;
    REQUIRE(bfs_create(dir.file().c_str(), BFS_EXCLUSIVE, &options, &filter, nullptr) == BFS_OK);
    for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = (i + 1) * 0x9e3779b97f4a7c15;
    const Outcome outcome =
        with_failure(number, false, [&] { return add_digests(filter, digests.data(), digests.size()); });
    CHECK(outcome.code > static_cast<std::int64_t>(digests.size() * 9 / 10));
    std::vector<std::uint8_t> answers(digests.size());
    CHECK(contains_digests(filter, digests.data(), digests.size(), answers.data()) ==
          static_cast<std::int64_t>(digests.size()));
    REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}
