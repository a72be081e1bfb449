// Which pages come into memory, and when. Opening reads the header's four pages and the last one, whatever the size is.
// A lookup in a cold file takes at most one page fault. The options of the mapping do what they say.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kPage = 4096;

// Returns how many pages of the file are in memory. Asks by way of a mapping of our own, of which no page is touched.
std::uint64_t pages_in_memory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::uint64_t bytes = std::filesystem::file_size(path);
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  REQUIRE(at != MAP_FAILED);
  std::vector<unsigned char> in_core((bytes + kPage - 1) / kPage);
  REQUIRE(mincore(at, bytes, in_core.data()) == 0);
  munmap(at, bytes);
  std::uint64_t pages = 0;
  for (const unsigned char flags : in_core) pages += flags & 1U;
  return pages;
}

void drop_from_memory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fdatasync(descriptor) == 0);
  REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
  close(descriptor);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt + usage.ru_minflt;
}

// Returns what this process has changed in memory and the system has to write to disks, as the kernel accounts for it
// (proc(5)).
std::uint64_t bytes_to_write() {
  std::ifstream facts("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  while (facts >> name >> bytes) {
    if (name == "write_bytes:") return bytes;
  }
  FAIL("/proc/self/io does not say what is written");
  return 0;
}

// Returns why pages cannot be dropped from memory here, or nothing if they can.
std::optional<std::string> no_disk(const TempDir& dir, std::uint64_t bytes) {
  struct statfs facts {};
  REQUIRE(statfs(dir.path().c_str(), &facts) == 0);
  if (facts.f_type == TMPFS_MAGIC || facts.f_type == OVERLAYFS_SUPER_MAGIC)
    return "the temporary folder is not on a disk";
  if (std::filesystem::space(dir.path()).available < bytes + bytes / 8) return "no room for a large file";
  return std::nullopt;
}

bool skipped(const TempDir& dir, std::uint64_t bytes) {
  const auto why = no_disk(dir, bytes);
  if (why) tests::skip_case(*why);
  return why.has_value();
}

// Allocates the blocks without writing them, which takes no time.
void make_large(const std::string& path, std::uint64_t body_bytes) {
  Options options;
  options.num_bits = 8 * body_bytes;
  options.num_probes = 6;
  CHECK(created(path, options).close().ok());
}

}  // namespace

TEST_CASE("opening a filter of 16 GiB for reading brings its header and its last page into memory, no more") {
  const TempDir dir;
  const std::uint64_t bytes = std::uint64_t{16} << 30;
  if (skipped(dir, bytes)) return;
  make_large(dir.file(), bytes);
  for (const MapOptions& map : {MapOptions{}, MapOptions{.populate = false, .random_access = true}}) {
    drop_from_memory(dir.file());
    REQUIRE(pages_in_memory(dir.file()) == 0);
    const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, {.map = map}));
    CHECK(pages_in_memory(dir.file()) <= 5);
    CHECK_FALSE(filter.contains("absent"));
  }
}

TEST_CASE("a lookup in a file that is not in memory takes one page fault at most") {
  const TempDir dir;
  const std::uint64_t bytes = std::uint64_t{64} << 20;
  if (skipped(dir, bytes)) return;
  make_large(dir.file(), bytes);
  for (const bool random_access : {false, true}) {
    CAPTURE(random_access);
    drop_from_memory(dir.file());
    const Filter filter =
        opened(Filter::open(dir.file(), OpenMode::kRead, {.map = {.populate = false, .random_access = random_access}}));
    std::uint64_t pages = pages_in_memory(dir.file());
    for (std::uint64_t i = 1; i < 20; ++i) {
      const std::uint64_t digest = i * 0x9e3779b97f4a7c15;
      const long before = page_faults();
      const bool maybe = filter.contains_digest(digest);
      CHECK(page_faults() - before <= 1);
      CHECK_FALSE(maybe);
      const std::uint64_t now = pages_in_memory(dir.file());
      if (random_access) CHECK(now - pages <= 1);
      pages = now;
    }
  }
}

TEST_CASE("a file that is opened populated is in memory, and lookups wait for nothing") {
  const TempDir dir;
  const std::uint64_t bytes = std::uint64_t{32} << 20;
  if (skipped(dir, bytes)) return;
  make_large(dir.file(), bytes);
  drop_from_memory(dir.file());
  const Filter filter = opened(Filter::open(dir.file(), OpenMode::kRead, {.map = {.populate = true}}));
  const auto resident = filter.stats({.memory = true}).memory->resident_bytes;
  REQUIRE(resident.has_value());
  CHECK(*resident >= bytes);
  CHECK(pages_in_memory(dir.file()) >= bytes / kPage);
  const long before = page_faults();
  for (std::uint64_t i = 1; i < 1000; ++i) static_cast<void>(filter.contains_digest(i * 0x9e3779b97f4a7c15));
  CHECK(page_faults() == before);
}

TEST_CASE("the bytes in memory are reported for a file, not for a buffer, and only on request") {
  const TempDir dir;
  const Filter writer = created(dir.file());
  CHECK_FALSE(writer.stats().memory);
  CHECK(writer.stats({.memory = true}).memory->resident_bytes.has_value());
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).stats({.memory = true}).memory->resident_bytes.has_value());
  CHECK_FALSE(opened(Filter::open(dir.file(), OpenMode::kRead, {.map = {.copy = true}}))
                  .stats({.memory = true})
                  .memory->resident_bytes);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const std::uint64_t needed = Filter::required_bytes(small_options()).value();
  std::vector<Line> lines(needed / sizeof(Line) + 1);
  const std::span<std::byte> buffer(lines.front().bytes, needed);
  CHECK_FALSE(opened(Filter::format(buffer, small_options())).stats({.memory = true}).memory);
  CHECK_FALSE(opened(Filter::wrap_to_read(std::span<const std::byte>(buffer))).stats({.memory = true}).memory);
  const std::string bytes(reinterpret_cast<const char*>(buffer.data()), needed);
  std::ofstream(dir.file("range"), std::ios::binary) << bytes;
  const Filter range = opened(Filter::open_range(dir.file("range"), 0, 0));
  CHECK(range.stats({.memory = true}).memory->resident_bytes == needed);  // which is the file's, from its first page on
}

TEST_CASE("adding a key again writes nothing to the disk, and 100 new keys with small pages write 100 pages at most") {
  const TempDir dir;
  const std::uint64_t bytes = std::uint64_t{32} << 20;
  if (skipped(dir, bytes)) return;
  make_large(dir.file(), bytes);
  const auto digest = [](std::uint64_t i) { return i * 0x9e3779b97f4a7c15; };
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    drop_from_memory(dir.file());
    Filter filter = opened(Filter::open(dir.file(), mode, {.map = {.populate = false, .random_access = true}}));
    std::uint64_t before = bytes_to_write();
    const std::uint64_t first = mode == OpenMode::kWrite ? 1 : 1001;
    for (std::uint64_t i = first; i < first + 100; ++i) REQUIRE(filter.add_digest(digest(i)).keys() == 1);
    const std::uint64_t written = bytes_to_write() - before;
    CHECK(written >= 90 * kPage);   // of 8,192, two keys may have one
    CHECK(written <= 110 * kPage);  // and the counter's, once more whenever the system has written it
    CHECK(filter.sync().ok());
    before = bytes_to_write();
    std::vector<std::uint64_t> again;
    for (std::uint64_t i = first; i < first + 100; ++i) {
      again.push_back(digest(i));
      CHECK(filter.add_digest(digest(i)).keys() == 0);
    }
    CHECK(filter.add_keys(Keys::digests(again)).keys() == 0);
    CHECK(bytes_to_write() == before);
    CHECK(filter.close().ok());
  }
}
