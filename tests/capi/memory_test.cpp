// The C ABI without memory: whichever allocation in a function fails, the function returns BFS_ENOMEM or does without,
// nothing is thrown, the process continues, and the file is as good as before.
#include <bfstore.h>
#include <bfstore_interop.h>
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

bfs_options options_of(std::uint64_t capacity, std::uint64_t flags = 0) {
  bfs_options options{};
  options.struct_bytes = sizeof options;
  options.flags = flags;
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
    REQUIRE(bfs_open(path.c_str(), flags, &filter, nullptr) == BFS_OK);
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
  for (const std::uint64_t flags : {BFS_OPEN_READ, BFS_OPEN_WRITE, BFS_OPEN_EXCLUSIVE, BFS_OPEN_READ | BFS_OPEN_COPY,
                                    BFS_OPEN_READ | BFS_OPEN_GUARD}) {
    bfs_filter* filter = nullptr;
    whichever_allocation_fails(
        "open " + std::to_string(flags),
        [&](bfs_error* error) { return bfs_open(file.path.c_str(), flags, &filter, error); },
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
    REQUIRE(bfs_open_set(list.c_str(), nullptr, &set, nullptr) == BFS_OK);
    return set;
  };
  const std::function<bfs_filter*()> openers[] = {[&] { return file.open(BFS_OPEN_READ); },
                                                  [&] { return file.open(BFS_OPEN_WRITE); }, open_set};
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
      "create", [&](bfs_error* error) { return bfs_create(path.c_str(), &options, &filter, error); },
      [&] {
        REQUIRE((filter == nullptr || bfs_close(filter, nullptr) == BFS_OK));
        if (dir.names().empty()) return;
        REQUIRE(dir.names().size() == 1);
        REQUIRE(open_code(path, bfstore::OpenMode::kExclusive) == bfstore::Code::kOk);
        REQUIRE(std::remove(path.c_str()) == 0);
      });
}

TEST_CASE("any failed allocation in making or finding a filter in a buffer is BFS_ENOMEM") {
  const bfs_options options = options_of(1000);
  std::uint64_t bytes = 0;
  whichever_allocation_fails("required_bytes",
                             [&](bfs_error* error) { return bfs_required_bytes(&options, &bytes, error); });
  void* const buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  bfs_filter* filter = nullptr;
  const auto close = [&] { REQUIRE(bfs_close(filter, nullptr) == BFS_OK); };
  whichever_allocation_fails(
      "format", [&](bfs_error* error) { return bfs_format(buffer, bytes, &options, &filter, error); }, close);
  whichever_allocation_fails(
      "wrap", [&](bfs_error* error) { return wrap_with(buffer, bytes, BFS_OPEN_WRITE, nullptr, &filter, error); },
      close);
  std::free(buffer);
}

TEST_CASE("any failed allocation in a call of an open handle is BFS_ENOMEM, or the call does without it") {
  const Fixture file;
  bfs_filter* const filter = file.open(BFS_OPEN_WRITE);
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
      bfs_filter* const filter = file.open(BFS_OPEN_WRITE);
      REQUIRE(bfs_add(filter, "late", 4) == 1);
      const Outcome outcome = with_failure(number, false, [&] {
        return syncs ? bfs_sync(filter, kOwner, 0, kSome, nullptr) : bfs_close(filter, nullptr);
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
  REQUIRE(bfs_open(file.path.c_str(), BFS_OPEN_READ, &filter, nullptr) == BFS_OK);
  whichever_allocation_fails(
      "save", [&](bfs_error* error) { return bfs_save(filter, copy.c_str(), nullptr, error); },
      [&] {
        file.check_whole();
        if (file.dir.names().size() == 2) REQUIRE(std::remove(copy.c_str()) == 0);
      });
  std::uint64_t bytes = 0;
  REQUIRE(bfs_dump(filter, nullptr, 0, 0, &bytes, nullptr) == BFS_OK);
  std::vector<std::byte> memory(bytes);
  whichever_allocation_fails(
      "dump", [&](bfs_error* error) { return bfs_dump(filter, memory.data(), bytes, 0, nullptr, error); });
  bfs_filter* into = nullptr;
  bfs_open_options writing = BFS_OPEN_OPTIONS_INIT;
  writing.flags = BFS_OPEN_WRITE;
  REQUIRE(bfs_load(memory.data(), bytes, &writing, &into, nullptr) == BFS_OK);
  whichever_allocation_fails("merge", [&](bfs_error* error) { return bfs_merge(into, filter, error); });
  bfs_options seeded = BFS_OPTIONS_INIT;
  seeded.hash = BFS_HASH_MURMUR3;
  seeded.num_bits = 1000;
  seeded.num_probes = 3;
  bfs_filter* classic = nullptr;
  REQUIRE(bfs_create(file.dir.file("classic").c_str(), &seeded, &classic, nullptr) == BFS_OK);
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
    const std::int32_t code = bfs_foreign_export(classic, &form, bits.data(), bits.size(), nullptr, error);
    REQUIRE((bits == ones || code == BFS_OK));
    return code;
  });
  bfs_foreign told = BFS_FOREIGN_INIT;
  whichever_allocation_fails("inspect foreign", [&](bfs_error* error) {
    return bfs_foreign_inspect(&form, bits.data(), bits.size(), &seeded, &told, error);
  });
  const std::string of_bits = file.dir.file("imported");
  whichever_allocation_fails("import foreign", [&](bfs_error* error) {
    bfs_filter* imported = nullptr;
    const std::int32_t code =
        bfs_foreign_import(of_bits.c_str(), &form, ones.data(), ones.size(), &seeded, &imported, error);
    REQUIRE((imported != nullptr) == (code == BFS_OK));
    REQUIRE((access(of_bits.c_str(), F_OK) == 0) == (code == BFS_OK));
    if (imported != nullptr) REQUIRE((bfs_close(imported, nullptr) == BFS_OK && std::remove(of_bits.c_str()) == 0));
    return code;
  });
  std::uint32_t seeds[3] = {9, 9, 9};
  whichever_allocation_fails("seeds", [&](bfs_error* error) {
    const std::int64_t found = bfs_get_seeds(classic, seeds, 3, error);
    return found == 3 ? BFS_OK : static_cast<std::int32_t>(found);
  });
  REQUIRE((seeds[0] == 0 && seeds[1] == 1 && seeds[2] == 2));
  REQUIRE(bfs_close(classic, nullptr) == BFS_OK);
  REQUIRE(std::remove(file.dir.file("classic").c_str()) == 0);
  bfs_comparison comparison = BFS_COMPARISON_INIT;
  whichever_allocation_fails("compare",
                             [&](bfs_error* error) { return bfs_compare(into, filter, &comparison, error); });
  const bfs_filter* const sources[] = {into, filter};
  whichever_allocation_fails(
      "intersect", [&](bfs_error* error) { return bfs_intersect(sources, 2, copy.c_str(), nullptr, error); },
      [&] {
        if (file.dir.names().size() == 2) REQUIRE(std::remove(copy.c_str()) == 0);
      });
  REQUIRE(bfs_close(into, nullptr) == BFS_OK);
  REQUIRE(bfs_save(filter, copy.c_str(), nullptr, nullptr) == BFS_OK);
  REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
  const std::string whole = read_bytes(copy);
  bfs_open_options options = BFS_OPEN_OPTIONS_INIT;
  options.flags = BFS_OPEN_READ;
  for (const auto& from : {std::pair<const void*, std::uint64_t>{memory.data(), bytes},
                           std::pair<const void*, std::uint64_t>{whole.data(), whole.size()}}) {
    whichever_allocation_fails("load", [&](bfs_error* error) {
      bfs_filter* loaded = nullptr;
      const std::int32_t code = bfs_load(from.first, from.second, &options, &loaded, error);
      REQUIRE((loaded == nullptr) == (code != BFS_OK));
      return code == BFS_OK ? bfs_close(loaded, nullptr) : code;
    });
  }
}

TEST_CASE("any failed allocation in sealing or verifying a file is BFS_ENOMEM, and leaves nothing behind") {
  const Fixture file;
  const std::string sealed = file.dir.file("sealed");
  whichever_allocation_fails(
      "seal", [&](bfs_error* error) { return bfs_seal(file.path.c_str(), sealed.c_str(), nullptr, error); },
      [&] {
        file.check_whole();
        if (file.dir.names().size() == 2) REQUIRE(std::remove(sealed.c_str()) == 0);
      });
  REQUIRE(bfs_seal(file.path.c_str(), sealed.c_str(), nullptr, nullptr) == BFS_OK);
  bfs_range ranges[1];
  whichever_allocation_fails("verify",
                             [&](bfs_error* error) { return bfs_verify(sealed.c_str(), 0, ranges, 1, error); });
}

TEST_CASE("without memory for more threads one thread does a divided load, and leaves out no key") {
  const TempDir dir(memory_folder());
  const bfs_options options = options_of(100'000, BFS_OPEN_EXCLUSIVE);
  std::vector<std::uint64_t> digests(40'000);
  for (std::int64_t number = 0; number < 20; ++number) {
    bfs_filter* filter = nullptr;
    REQUIRE(bfs_create(dir.file().c_str(), &options, &filter, nullptr) == BFS_OK);
    REQUIRE(bfs_use_threads(filter, 2, nullptr) == BFS_OK);
    for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = (i + 1) * 0x9e3779b97f4a7c15;
    const Outcome outcome =
        with_failure(number, false, [&] { return bfs_add_digests(filter, digests.data(), digests.size()); });
    CHECK(outcome.code > static_cast<std::int64_t>(digests.size() * 9 / 10));
    std::vector<std::uint8_t> answers(digests.size());
    CHECK(bfs_contains_digests(filter, digests.data(), digests.size(), answers.data()) ==
          static_cast<std::int64_t>(digests.size()));
    REQUIRE(bfs_close(filter, nullptr) == BFS_OK);
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}
