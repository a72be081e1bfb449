// The C ABI compared with the C++ API that it stands for: each flag is the option of its name, each number is checked
// as a whole, an error's message fits the caller's record, and no copy of a secret stays.
#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include "../support/abi_calls.h"
#include "faults.hpp"
#include "structs.hpp"
#include "support.hpp"
#include "support/virtual_clock.hpp"

using namespace store_test;

namespace {

std::string smaps_of_a_test;  // if not empty: the path that replaces /proc/self/smaps for the library

}  // namespace

// The C++ library opens files by this function.
extern "C" FILE* fopen64(const char* path, const char* mode) {
  static const auto real = reinterpret_cast<FILE* (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "fopen64"));
  const bool replaced = !smaps_of_a_test.empty() && std::strcmp(path, "/proc/self/smaps") == 0;
  return real(replaced ? smaps_of_a_test.c_str() : path, mode);
}

namespace {

std::int32_t open_and_close(const std::string& path, std::uint64_t flags) {
  bfs_filter* filter = nullptr;
  const std::int32_t code = bfs_open(path.c_str(), flags, nullptr, &filter, nullptr);
  if (code == BFS_OK) CHECK(bfs_close(filter, nullptr) == BFS_OK);
  return code;
}

std::int32_t create_and_close(const std::string& path, const bfs_options& options, std::uint64_t flags = 0) {
  bfs_filter* filter = nullptr;
  const std::int32_t code = bfs_create(path.c_str(), flags, &options, &filter, nullptr);
  if (code == BFS_OK) CHECK(bfs_close(filter, nullptr) == BFS_OK);
  return code;
}

// Returns the kernel's lines about this process's mappings of the file, one mapping after the other. Finds the file by
// its inode, because it may have had no name when the mapping was made.
std::string mappings_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  const std::string inode = std::to_string(facts.st_ino);
  std::ifstream smaps("/proc/self/smaps");
  std::string found;
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string addresses, flags, offset, device, of;
    if (words >> addresses >> flags >> offset >> device >> of && addresses.find('-') != std::string::npos)
      ours = of == inode;
    if (ours) found += line + "\n";
  }
  return found;
}

std::uint64_t resident_bytes(const bfs_filter* filter) {
  bfs_statistics statistics{};
  statistics.struct_bytes = sizeof statistics;
  REQUIRE(bfs_stats(filter, BFS_STATS_MEMORY, &statistics, nullptr) == BFS_OK);
  return statistics.resident_bytes;
}

// What bfs_format says that it needs.
std::uint64_t bytes_for(const bfs_options& options) {
  const std::int64_t bytes = bfs_format(nullptr, 0, 0, &options, nullptr, nullptr);
  REQUIRE(bytes > 0);
  return static_cast<std::uint64_t>(bytes);
}

constexpr std::uint64_t kNotStrictNorAny[] = {0, BFS_POPULATE, BFS_RANDOM, BFS_GUARD};

}  // namespace

TEST_CASE("BFS_STRICT refuses what a killed process left, and no other flag does") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  for (const std::uint64_t mode : {BFS_READ, BFS_WRITE, BFS_EXCLUSIVE})
    CHECK(open_and_close(dir.file(), mode | BFS_STRICT) == BFS_EUNCLEAN);
  for (const std::uint64_t flag : kNotStrictNorAny) CHECK(open_and_close(dir.file(), BFS_READ | flag) == BFS_OK);
  CHECK(open_and_close(dir.file(), BFS_READ | BFS_ANY_FILESYSTEM) == BFS_OK);
  CHECK(open_and_close(dir.file(), BFS_WRITE | BFS_ANY_FILESYSTEM) == BFS_OK);
  CHECK(open_and_close(dir.file(), BFS_WRITE | BFS_STRICT) == BFS_OK);  // closed clean by now
}

TEST_CASE(
    "BFS_ANY_FILESYSTEM allows a network filesystem, in every function that makes a file, and no other flag does") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  faults::filesystem_magic = NFS_SUPER_MAGIC;
  for (const std::uint64_t mode : {BFS_READ, BFS_WRITE, BFS_EXCLUSIVE}) {
    CHECK(open_and_close(dir.file(), mode | BFS_STRICT) == BFS_EFILESYSTEM);
    for (const std::uint64_t flag : kNotStrictNorAny) CHECK(open_and_close(dir.file(), mode | flag) == BFS_EFILESYSTEM);
    CHECK(open_and_close(dir.file(), mode | BFS_ANY_FILESYSTEM) == BFS_OK);
  }
  for (const std::uint64_t flag : {0ULL, BFS_POPULATE, BFS_RANDOM, BFS_LIMIT, BFS_GUARD, BFS_EXCLUSIVE, BFS_REPLACE})
    CHECK(create_and_close(dir.file("new"), options_of(100), flag) == BFS_EFILESYSTEM);
  CHECK(create_and_close(dir.file("new"), options_of(100), BFS_ANY_FILESYSTEM) == BFS_OK);
  const std::string from = dir.file();
  const std::string to = dir.file("sealed");
  CHECK(seal_with(from.c_str(), to.c_str(), BFS_REPLACE, 0, nullptr) == BFS_EFILESYSTEM);
  CHECK(seal_with(from.c_str(), to.c_str(), BFS_ANY_FILESYSTEM, 0, nullptr) == BFS_OK);
  CHECK(seal_with(from.c_str(), to.c_str(), BFS_ANY_FILESYSTEM, 0, nullptr) == BFS_EEXIST);
  const bfs_options options = options_of(100);
  const bfs_keys none = bfs_keys_pairs(nullptr, 0);
  const std::string built = dir.file("built");
  const std::string either = dir.file("either");
  bfs_filter* filter = nullptr;
  CHECK(bfs_build(built.c_str(), 0, &options, &none, nullptr, nullptr) == BFS_EFILESYSTEM);
  CHECK(bfs_build(built.c_str(), BFS_ANY_FILESYSTEM, &options, &none, nullptr, nullptr) == BFS_OK);
  CHECK(bfs_open(either.c_str(), BFS_WRITE | BFS_CREATE, &options, &filter, nullptr) == BFS_EFILESYSTEM);
  for (const std::int32_t made : {1, 0}) {
    CHECK(bfs_open(either.c_str(), BFS_WRITE | BFS_CREATE | BFS_ANY_FILESYSTEM, &options, &filter, nullptr) == made);
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
  }
}

TEST_CASE("POPULATE loads the file into memory, and RANDOM asks for small pages, in making and in opening it") {
  TempDir dir;
  struct statfs facts {};
  REQUIRE(statfs(dir.path().c_str(), &facts) == 0);
  const bool on_disk = facts.f_type != TMPFS_MAGIC && facts.f_type != OVERLAYFS_SUPER_MAGIC;  // otherwise in memory
  constexpr std::uint64_t kBody = std::uint64_t{64} << 20;  // more than a system reads ahead
  struct Flags {
    std::uint64_t making, opening;
    bool all, random;
  };
  for (const Flags& flags : {Flags{0, 0, false, false}, Flags{BFS_POPULATE, BFS_POPULATE, true, false},
                             Flags{BFS_RANDOM, BFS_RANDOM, false, true}}) {
    bfs_options options = options_of(0);
    options.num_bits = 8 * kBody;
    options.num_probes = 4;
    const auto check = [&](bfs_filter* filter, const std::string& how) {
      CAPTURE(how);
      CAPTURE(flags.opening);
      if (on_disk) CHECK((resident_bytes(filter) >= kBody) == flags.all);
      CHECK((mappings_of(dir.file()).find(" rr") != std::string::npos) == flags.random);  // VmFlags: read randomly
      CHECK(bfs_close(filter, nullptr) == BFS_OK);
    };
    bfs_filter* filter = nullptr;
    REQUIRE(bfs_create(dir.file().c_str(), flags.making, &options, &filter, nullptr) == BFS_OK);
    check(filter, "made");
    for (const std::uint64_t mode : {BFS_READ, BFS_WRITE}) {
      const int descriptor = open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
      REQUIRE(fsync(descriptor) == 0);
      REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
      close(descriptor);
      REQUIRE(bfs_open(dir.file().c_str(), mode | flags.opening, nullptr, &filter, nullptr) == BFS_OK);
      check(filter, "opened");
    }
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}

TEST_CASE("LIMIT and GUARD are passed on when a filter is made and when it is opened") {
  TempDir dir(memory_folder());
  for (const bool limited : {false, true}) {
    bfs_filter* filter = nullptr;
    const bfs_options options = options_of(10);
    REQUIRE(bfs_create(dir.file().c_str(), limited ? BFS_LIMIT : 0, &options, &filter, nullptr) == BFS_OK);
    for (std::uint64_t i = 1; i <= 200; ++i) {
      const std::int32_t added = bfs_add_digest(filter, i * 0x9e3779b97f4a7c15);
      CHECK((added >= 0 || (limited && added == BFS_EFULL)));
      if (i == 200) CHECK((added == BFS_EFULL) == limited);
    }
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
    REQUIRE(bfs_open(dir.file().c_str(), BFS_WRITE | (limited ? BFS_LIMIT : 0), nullptr, &filter, nullptr) == BFS_OK);
    CHECK((bfs_add_digest(filter, 12345) == BFS_EFULL) == limited);
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}

namespace {

// Adds `count` new keys. Returns how often the kernel is asked for failed writes meanwhile.
int questions_of(bfs_filter* filter, std::uint64_t first, std::uint64_t count) {
  int questions = 0;
  faults::on_question = [&](int) {
    ++questions;
    return 0;
  };
  for (std::uint64_t i = first; i < first + count; ++i) CHECK(bfs_add_digest(filter, i * 0x9e3779b97f4a7c15) == 1);
  faults::on_question = nullptr;
  return questions;
}

void check_writeback_time(bfs_filter* filter, std::uint32_t milliseconds) {
  CAPTURE(milliseconds);
  const VirtualClock clock;
  if (milliseconds == BFS_WRITEBACK_CHECK_EACH_ADD) {
    CHECK(questions_of(filter, 100, 20) == 20);
  } else {
    const auto period = std::chrono::milliseconds(milliseconds == BFS_WRITEBACK_CHECK_DEFAULT ? 100 : milliseconds);
    std::this_thread::sleep_for(period);  // the filter was made by the true clock
    CHECK(questions_of(filter, 100, 20) == 1);
    std::this_thread::sleep_for(period - std::chrono::nanoseconds(1));
    CHECK(questions_of(filter, 200, 20) == 0);
    std::this_thread::sleep_for(std::chrono::nanoseconds(1));
    CHECK(questions_of(filter, 300, 20) == 1);
  }
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
}

}  // namespace

TEST_CASE("the pause between questions for failed writes is passed on when a filter is made and opened") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  for (const std::uint32_t milliseconds : {BFS_WRITEBACK_CHECK_DEFAULT, BFS_WRITEBACK_CHECK_EACH_ADD, 60'000U}) {
    bfs_filter* filter = nullptr;
    bfs_options options = options_of(10'000);
    options.writeback_check_ms = milliseconds;
    REQUIRE(bfs_create(dir.file().c_str(), BFS_REPLACE, &options, &filter, nullptr) == BFS_OK);
    check_writeback_time(filter, milliseconds);
    options.writeback_check_ms = 0;
    CHECK(create_and_close(dir.file(), options, BFS_REPLACE) == BFS_OK);
    bfs_options opening = BFS_OPTIONS_INIT;
    opening.writeback_check_ms = milliseconds;
    REQUIRE(bfs_open(dir.file().c_str(), BFS_WRITE, &opening, &filter, nullptr) == BFS_OK);
    check_writeback_time(filter, milliseconds);
  }
}

TEST_CASE("every bit of a layout's or a hash's number counts: 65537 is not 1") {
  const TempDir dir;
  for (const std::uint32_t number : {0xffffU, 0x10000U, 0x10001U, 0x10002U, 0x10003U, 0x7fff0001U, 0xffff0001U}) {
    CAPTURE(number);
    bfs_options options = options_of(10);
    options.layout = number;
    CHECK(create_and_close(dir.file(), options) == BFS_EINVAL);
    options.layout = 0;
    options.hash = number;
    CHECK(create_and_close(dir.file(), options) == BFS_EINVAL);
  }
  CHECK(dir.names().empty());
}

TEST_CASE("a column of empty keys needs no bytes, neither to add nor to ask") {
  const bfs_options options = options_of(100);
  const std::uint64_t bytes = bytes_for(options);
  void* const buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  bfs_filter* filter = nullptr;
  REQUIRE(bfs_format(buffer, bytes, 0, &options, &filter, nullptr) > 0);
  const std::int32_t offsets32[4] = {};
  const std::int64_t offsets64[4] = {};
  std::uint8_t answers[3] = {7, 7, 7};
  std::uint32_t indices[3] = {7, 7, 7};
  CHECK(contains_column32(filter, nullptr, offsets32, 3, answers) == 0);
  CHECK((answers[0] == 0 && answers[1] == 0 && answers[2] == 0));
  CHECK(add_column32(filter, nullptr, offsets32, 3) == 1);
  CHECK(add_column64(filter, nullptr, offsets64, 3) == 0);
  CHECK(bfs_contains(filter, nullptr, 0) == 1);
  CHECK(contains_column64(filter, nullptr, offsets64, 3, answers) == 3);
  CHECK(select_column32(filter, nullptr, offsets32, 3, indices) == 3);
  CHECK(select_column64(filter, nullptr, offsets64, 3, indices) == 3);
  CHECK((indices[0] == 0 && indices[1] == 1 && indices[2] == 2));
  const std::int32_t one_byte[2] = {0, 1};
  CHECK(add_column32(filter, nullptr, one_byte, 1) == BFS_EINVAL);
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  std::free(buffer);
}

TEST_CASE("an error record is filled up to its size, with rule 0 for a call that is wrong, and a message that fits") {
  const TempDir dir;
  const std::string path = dir.file("no such folder/" + std::string(60, 'p'));
  bfs_error whole;
  std::memset(&whole, 0xff, sizeof whole);
  whole.struct_bytes = sizeof whole;
  CHECK(bfs_open(path.c_str(), BFS_READ, nullptr, nullptr, &whole) == BFS_EINVAL);
  bfs_filter* filter = nullptr;
  std::memset(&whole.code, 0xff, sizeof whole - offsetof(bfs_error, code));
  CHECK(bfs_open(path.c_str(), BFS_READ, nullptr, &filter, &whole) == BFS_ENOENT);
  CHECK(whole.code == BFS_ENOENT);
  CHECK(whole.os_errno == ENOENT);
  CHECK(whole.rule == 0);
  const std::string message = whole.message;
  CHECK(message == path + ": its folder does not exist. Create it first, or correct the path.");
}

TEST_CASE("every field of bfs_stats is what the C++ API says, of files and of buffers") {
  TempDir dir;
  bfstore::Options options;
  options.capacity = 1000;
  options.bits_per_key = 40'000;  // 5 MB, so that a huge page fits in
  options.seed = 12345;
  options.note = "note";
  for (const bfstore::LayoutInfo& row : bfstore::layouts()) {
    if (row.can.build) continue;  // it is not made empty
    options.layout = row.layout;
    options.window_ms = row.can.expire ? 3'600'000 : 0;
    options.replace = true;
    {
      bfstore::Filter maker = created(dir.file(), options);
      add_keys(maker, 1, 0, 1500);  // saturated
    }
    const bfstore::Filter there = opened(bfstore::Filter::open(dir.file(), bfstore::OpenMode::kRead));
    bfs_filter* filter = nullptr;
    REQUIRE(bfs_open(dir.file().c_str(), BFS_READ, nullptr, &filter, nullptr) == BFS_OK);
    // The system decides whether pages are huge, so the test writes a smaps file of its own.
    std::ofstream(dir.file("smaps")) << [&] {
      std::istringstream lines(mappings_of(dir.file()));
      std::string all;
      for (std::string line; std::getline(lines, line);) {
        const bool of_a_disk = line.rfind("FilePmdMapped:", 0) == 0;
        const bool of_memory = line.rfind("ShmemPmdMapped:", 0) == 0;
        all += of_a_disk ? "FilePmdMapped: 4096 kB" : of_memory ? "ShmemPmdMapped: 2048 kB" : line;
        all += '\n';
      }
      return all;
    }();
    smaps_of_a_test = dir.file("smaps");
    static_cast<void>(there.stats({.fill = true}));  // all of it is in memory from here on
    const bfstore::Stats expected = there.stats({.fill = true, .memory = true});
    bfs_statistics got;
    std::memset(&got, 0xff, sizeof got);
    got.struct_bytes = sizeof got;
    CHECK(bfs_stats(filter, BFS_STATS_FILL | BFS_STATS_MEMORY, &got, nullptr) == BFS_OK);
    smaps_of_a_test.clear();
    CHECK(got.struct_bytes == sizeof got);
    CHECK(got.layout == static_cast<std::uint32_t>(expected.shape.layout));
    CHECK(got.hash == static_cast<std::uint32_t>(expected.shape.hash));
    CHECK(got.num_probes == expected.shape.num_probes);
    CHECK(got.num_bits == expected.shape.num_bits);
    CHECK(got.capacity == expected.shape.capacity);
    CHECK(got.fpr == expected.shape.fpr);
    CHECK(got.seed == 12345);
    CHECK(got.body_bytes == expected.body_bytes);
    CHECK(got.keys_added == expected.keys_added);
    CHECK(got.keys_removed == expected.keys_removed);
    CHECK(got.counters_at_15 == expected.fill->counters_at_15);
    CHECK(got.has_memory == 1);
    CHECK(got.huge_page_bytes == 6144 * 1024);
    CHECK(expected.memory->huge_page_bytes == 6144 * 1024);
    CHECK(got.health == BFS_OK);
    CHECK(got.has_fill == 1);
    CHECK(got.set_bits == expected.fill->set_bits);
    CHECK(got.fill_ratio == expected.fill->fill_ratio);
    CHECK(got.estimated_keys == expected.fill->estimated_keys);
    CHECK(got.estimated_keys_low == expected.fill->estimated_keys_low);
    CHECK(got.estimated_keys_high == expected.fill->estimated_keys_high);
    CHECK(got.estimated_fpr == expected.fill->estimated_fpr);
    CHECK(got.resident_bytes == expected.memory->resident_bytes);
    CHECK(got.isa == expected.isa);
    CHECK(got.saturated == (row.can.grow ? 0 : 1));
    CHECK(std::memcmp(got.file_id, expected.file_id->data(), sizeof got.file_id) == 0);
    CHECK((got.part == 0 && got.num_parts == 1 && got.num_seeds == 0));
    CHECK((got.note_bytes == 4 && std::memcmp(got.note, "note", 5) == 0));  // and a zero after it
    CHECK(bfs_stats(filter, 0, &got, nullptr) == BFS_OK);
    CHECK((got.has_fill == 0 && got.set_bits == 0 && got.fill_ratio == 0 && got.estimated_keys == 0));
    CHECK((got.has_memory == 0 && got.huge_page_bytes == 0 && got.resident_bytes == 0));
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
  }
  const bfs_options small = options_of(100);
  const std::uint64_t bytes = bytes_for(small);
  void* const buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  bfs_filter* filter = nullptr;
  REQUIRE(bfs_format(buffer, bytes, 0, &small, &filter, nullptr) > 0);
  CHECK(resident_bytes(filter) == 0);
  bfs_statistics statistics{};
  statistics.struct_bytes = sizeof statistics;
  CHECK(bfs_add(filter, "key", 3) == 1);
  CHECK(bfs_stats(filter, 0, &statistics, nullptr) == BFS_OK);
  CHECK((statistics.huge_page_bytes == 0 && statistics.keys_added == 0 && statistics.saturated == 0));
  CHECK(bfs_close(filter, nullptr) == BFS_OK);
  std::free(buffer);
}

TEST_CASE("sealing takes the mode, and verifying fills in as many ranges as there is room for, and counts them all") {
  TempDir dir(memory_folder());
  bfs_options options = options_of(0);
  options.num_bits = std::uint64_t{8} << 20;  // 16 chunks
  options.num_probes = 4;
  CHECK(create_and_close(dir.file(), options) == BFS_OK);
  const std::string from = dir.file();
  const std::string to = dir.file("sealed");
  const mode_t mask = umask(0);
  for (const auto& [mode, expected] : {std::pair(0U, 0600U), std::pair(0644U, 0644U), std::pair(0440U, 0440U)}) {
    CHECK(seal_with(from.c_str(), to.c_str(), BFS_REPLACE, mode, nullptr) == BFS_OK);
    struct stat facts {};
    CHECK(stat(to.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == expected);
  }
  umask(mask);
  CHECK(seal_with(from.c_str(), to.c_str(), BFS_REPLACE, 01000, nullptr) == BFS_EINVAL);
  constexpr std::uint64_t kChunk = 65536;
  for (const std::uint64_t chunk : {1U, 2U, 5U, 9U}) write_bytes(to, 16384 + chunk * kChunk, "damage");
  for (std::size_t room = 0; room <= 4; ++room) {
    CAPTURE(room);
    bfs_range ranges[4];
    std::memset(ranges, 0xff, sizeof ranges);
    CHECK(bfs_verify(to.c_str(), 0, ranges, room, nullptr) == 3);
    CHECK((room < 1 || (ranges[0].offset == 16384 + kChunk && ranges[0].bytes == 2 * kChunk)));  // chunks 1 and 2
    CHECK((room < 3 || (ranges[2].offset == 16384 + 9 * kChunk && ranges[2].bytes == kChunk)));
    for (std::size_t i = std::min<std::size_t>(room, 3); i < 4; ++i) CHECK(ranges[i].offset == UINT64_MAX);
  }
}

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;

// Runs `body` in a thread whose stack the test owns. Counts the copies of the secret on that stack afterwards, in the
// form in which the library copies it (with the flag of an optional). The registers of the hash function, which any
// later call may have saved, do not count as a copy.
std::size_t left_on_the_stack(const bfstore::Secret& secret, std::function<void()> body) {
  std::array<unsigned char, sizeof secret + 1> sought{};
  std::copy(secret.begin(), secret.end(), sought.begin());
  sought.back() = 1;
  const std::optional<bfstore::Secret> as_copied = secret;
  REQUIRE(std::memcmp(&as_copied, sought.data(), sought.size()) == 0);
  void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(stack != MAP_FAILED);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0);
  pthread_t thread{};
  const auto run = [](void* what) -> void* {
    (*static_cast<std::function<void()>*>(what))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &body) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  const auto* const bytes = static_cast<const unsigned char*>(stack);
  std::size_t found = 0;
  for (std::size_t at = 0; at + sought.size() <= kStackBytes; ++at)
    found += std::memcmp(bytes + at, sought.data(), sought.size()) == 0 ? 1U : 0U;
  munmap(stack, kStackBytes);
  return found;
}

}  // namespace

TEST_CASE("no function that is given a secret leaves a copy of it on the stack") {
  const TempDir dir(memory_folder());
  const std::string path = dir.file();
  bfstore::Secret secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret.at(i) = static_cast<unsigned char>(200 + 3 * i);
  bfs_options options = options_of(100);
  options.hash = BFS_HASH_SIPHASH;
  options.secret = secret.data();
  options.secret_bytes = 16;
  std::int64_t needed = 0;
  bfs_filter* filter = nullptr;
  const auto check = [&](const std::string& name, const std::function<std::int32_t()>& call) {
    CAPTURE(name);
    std::int32_t code = 1;
    CHECK(left_on_the_stack(secret, [&] { code = call(); }) == 0);
    CHECK(code == BFS_OK);
    if (filter != nullptr) CHECK(bfs_close(filter, nullptr) == BFS_OK);
    filter = nullptr;
  };
  const auto as_code = [](std::int64_t result) { return static_cast<std::int32_t>(std::min<std::int64_t>(result, 0)); };
  check("bytes needed", [&] { return as_code(needed = bfs_format(nullptr, 0, 0, &options, nullptr, nullptr)); });
  const auto bytes = static_cast<std::uint64_t>(needed);
  const std::string either = dir.file("either");
  for (int i = 0; i < 2; ++i) {
    check("open or create",
          [&] { return std::min(0, bfs_open(either.c_str(), BFS_WRITE | BFS_CREATE, &options, &filter, nullptr)); });
  }
  const char* const key = "key";
  const std::size_t key_bytes = 3;
  bfs_keys one = BFS_KEYS_INIT;
  one.kind = BFS_KEYS_POINTERS;
  one.count = 1;
  one.data = &key;
  one.lengths = &key_bytes;
  check("build", [&] { return bfs_build(either.c_str(), BFS_REPLACE, &options, &one, &filter, nullptr); });
  check("create", [&] { return bfs_create(path.c_str(), 0, &options, &filter, nullptr); });
  bfs_options as_classic = options;
  as_classic.layout = BFS_LAYOUT_CLASSIC;
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  form.format = "raw";
  form.order = BFS_BITS_LITTLE;
  bfs_foreign told = BFS_FOREIGN_INIT;
  check("inspect foreign", [&] { return bfs_foreign_inspect(&form, nullptr, 0, 0, &as_classic, &told, nullptr); });
  const std::string bits(told.bytes, '\0');
  const std::string from_bits = dir.file("from bits");
  check("import foreign", [&] {
    return bfs_foreign_import(from_bits.c_str(), &form, bits.data(), bits.size(), 0, &as_classic, &filter, nullptr);
  });
  for (const std::uint64_t mode : {BFS_READ, BFS_WRITE, BFS_READ | BFS_PRIVATE})
    check("open", [&] { return open_with(path.c_str(), mode, secret.data(), &filter, nullptr); });
  void* const buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  check("format", [&] { return as_code(bfs_format(buffer, bytes, 0, &options, &filter, nullptr)); });
  for (const std::uint64_t mode : {BFS_READ, BFS_WRITE, BFS_READ | BFS_PRIVATE, BFS_WRITE | BFS_PRIVATE})
    check("open memory", [&] { return open_memory_with(buffer, bytes, mode, secret.data(), &filter, nullptr); });
  std::ofstream(dir.file("range"), std::ios::binary).write(static_cast<const char*>(buffer), static_cast<long>(bytes));
  const std::string range = dir.file("range");
  const bfs_range from_its_beginning{0, 0};
  bfs_options opening = options_with(secret.data());
  opening.range = &from_its_beginning;
  for (const std::uint64_t flag : {0ULL, BFS_PRIVATE})
    check("range", [&] { return bfs_open(range.c_str(), BFS_READ | flag, &opening, &filter, nullptr); });
  std::free(buffer);
}

TEST_CASE("FOLLOW is passed on: the handle continues with the file that another program moved to the path") {
  TempDir dir;
  bfstore::Options options = small_options();
  options.seed = 1;
  CHECK(created(dir.file(), options).close().ok());
  bfs_filter* filter = nullptr;
  for (const std::uint64_t flags : {0ULL, BFS_FOLLOW}) {
    CAPTURE(flags);
    bfstore::Filter other = created(dir.file("new"), options);
    CHECK(other.add("key").ok());
    CHECK(other.close().ok());
    REQUIRE(bfs_open(dir.file().c_str(), BFS_READ | flags, nullptr, &filter, nullptr) == BFS_OK);
    std::filesystem::rename(dir.file("new"), dir.file());
    CHECK(bfs_is_current(filter, nullptr) == (flags == 0 ? 0 : 1));
    CHECK(bfs_health(filter) == BFS_OK);
    CHECK(bfs_contains(filter, "key", 3) == (flags == 0 ? 0 : 1));
    CHECK(bfs_contains(filter, "another", 7) == 0);
    CHECK(bfs_close(filter, nullptr) == BFS_OK);
    CHECK(bfs_open(dir.file().c_str(), BFS_WRITE | BFS_FOLLOW, nullptr, &filter, nullptr) == BFS_EINVAL);
  }
}
