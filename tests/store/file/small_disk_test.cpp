// A full disk, for real: a small filesystem in memory, mounted where only this process sees it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "mounts.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

std::string small_disk;  // where it is mounted

Options of_bytes(std::uint64_t bytes) {
  Options options;
  options.max_bytes = bytes;
  options.capacity = 100'000;
  return options;
}

// Copies as cp does: pages of zeros are holes in the copy.
void copy_sparsely(const std::string& from, const std::string& to) {
  const std::string bytes = read_bytes(from);
  const int file = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  const std::string zeros(4096, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += zeros.size()) {
    const std::string page = bytes.substr(at, zeros.size());
    if (page != zeros.substr(0, page.size()))
      REQUIRE(pwrite(file, page.data(), page.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(page.size()));
  }
  REQUIRE(ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
  close(file);
}

// Replaces the file by the filter in its embedded form.
void write_embedded(const std::string& path) {
  std::vector<std::byte> bytes;
  {
    const Filter filter = opened(Filter::open(path, OpenMode::kRead));
    bytes.resize(filter.dumped_bytes().value());
    REQUIRE(filter.dump(bytes).ok());
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Takes all space that is left.
void fill_up(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const std::string page(4096, 'x');
  while (file.write(page.data(), 4096).flush()) {
  }
}

bool mount_small_disk(const std::string& folder) {
  return own_mounts() && mount("none", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

}  // namespace

TEST_CASE("a filter that does not fit on the disk is an error and leaves nothing behind") {
  TempDir dir(small_disk);
  const auto refused = Filter::create(dir.file(), of_bytes(std::uint64_t{4} << 20));
  REQUIRE(code_of(refused) == Code::kNoSpace);
  CHECK(refused.error().os_errno == ENOSPC);
  CHECK(refused.error().message.find(dir.file()) != std::string::npos);
  CHECK(dir.names().empty());
  CHECK(created(dir.file(), of_bytes(std::uint64_t{512} << 10)).close().ok());  // the space is free again
}

TEST_CASE("a replacement that does not fit leaves the old file as it is") {
  TempDir dir(small_disk);
  {
    Filter old = created(dir.file());
    add_keys(old, 1, 0, kSome);
  }
  const std::string before = read_bytes(dir.file());
  Options options = of_bytes(std::uint64_t{4} << 20);
  options.replace = true;
  CHECK(code_of(Filter::create(dir.file(), options)) == Code::kNoSpace);
  CHECK(read_bytes(dir.file()) == before);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
}

TEST_CASE("a filter continues on a disk that is full by now, because its blocks are its own") {
  TempDir dir(small_disk);
  Filter filter = created(dir.file(), of_bytes(std::uint64_t{512} << 10));
  fill_up(dir.file("rubbish"));
  add_keys(filter, 1, 0, 20'000);  // all over the body: without blocks of its own this is SIGBUS
  CHECK(filter.sync({.owner = 1, .mark = 20'000}).ok());
  CHECK(filter.close().ok());
  Filter again = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(maybes(again, 1, 0, 20'000) == 20'000);
  CHECK(again.close().ok());
}

TEST_CASE("a body that cannot grow on a full disk takes more keys, and grows when there is room again") {
  constexpr std::uint64_t kKeys = 2000;
  for (const bool exclusive : {false, true}) {
    const TempDir dir(small_disk);
    Options options;
    options.layout = Layout::kGrowing;
    options.capacity = 1000;
    options.capacity_at_most = 31'000;  // in the 1 MiB of the disk
    CHECK(created(dir.file(), options).close().ok());
    Filter filter = opened(Filter::open(dir.file(), exclusive ? OpenMode::kExclusive : OpenMode::kWrite));
    fill_up(dir.file("rubbish"));
    add_keys(filter, 1, 0, kKeys);
    CHECK(filter.stats({}).shape.capacity == 1000);
    CHECK(maybes(filter, 1, 0, kKeys) == kKeys);
    CHECK(filter.sync({.owner = 1, .mark = kKeys}).ok());
    REQUIRE(unlink(dir.file("rubbish").c_str()) == 0);
    add_keys(filter, 2, 0, 5 * kKeys);
    CHECK(filter.stats({}).shape.capacity == 15'000);
    CHECK(filter.close().ok());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(maybes(reader, 1, 0, kKeys) == kKeys);
    CHECK(maybes(reader, 2, 0, 5 * kKeys) == 5 * kKeys);
  }
}

// It waited for some more keys: one in 2048 of its room. A program that adds a few keys each time never made it grow.
TEST_CASE(
    "a body that could not grow on a full disk grows with the first new key of the next handle, when there is room") {
  constexpr std::uint64_t kCapacity = 20'480;  // so it looks after each tenth key
  for (const bool exclusive : {false, true}) {
    const OpenMode mode = exclusive ? OpenMode::kExclusive : OpenMode::kWrite;
    const TempDir dir(small_disk);
    Options options;
    options.layout = Layout::kGrowing;
    options.capacity = kCapacity;
    options.capacity_at_most = 31 * kCapacity;
    CHECK(created(dir.file(), options).close().ok());
    fill_up(dir.file("rubbish"));
    {
      Filter filter = opened(Filter::open(dir.file(), mode));
      add_keys(filter, 1, 0, 2 * kCapacity);
      CHECK(filter.stats({}).shape.capacity == kCapacity);
      CHECK(filter.close().ok());
    }
    REQUIRE(unlink(dir.file("rubbish").c_str()) == 0);
    Filter filter = opened(Filter::open(dir.file(), mode));
    const std::uint64_t before = filter.stats({}).keys_added;
    for (std::uint64_t key = 0; filter.stats({}).keys_added == before; ++key) add_keys(filter, 2, key, 1);
    CHECK(filter.stats({}).shape.capacity == 3 * kCapacity);
    CHECK(filter.close().ok());
  }
}

TEST_CASE("a file over which a filesystem was mounted is not current, though a file of its inode number has its path") {
  const TempDir dir(small_disk);
  const auto mount_another = [&] { return mount("none", dir.path().c_str(), "tmpfs", 0, "size=256k") == 0; };
  const auto inode = [&] {
    struct stat facts {};
    REQUIRE(stat(dir.file().c_str(), &facts) == 0);
    return facts.st_ino;
  };
  REQUIRE(mount_another());
  Filter filter = created(dir.file());
  const auto own = inode();
  CHECK(*filter.is_current());
  REQUIRE(mount_another());
  CHECK(created(dir.file()).close().ok());
  CHECK(inode() == own);  // a fresh filesystem begins to count again
  CHECK_FALSE(*filter.is_current());
  REQUIRE(umount2(dir.path().c_str(), 0) == 0);
  CHECK(*filter.is_current());
  CHECK(filter.close().ok());
  CHECK(umount2(dir.path().c_str(), MNT_DETACH) == 0);
}

// A young filter whose bytes cp left out where they are zero: on a filesystem in memory, to read such a hole takes a
// page of it.
TEST_CASE("a reader of a copy with holes, in memory that is full by now, is refused or answers, and has no SIGBUS") {
  constexpr std::uint64_t kBytes = std::uint64_t{512} << 10;
  constexpr std::uint64_t kFew = 5;
  for (const bool embedded : {false, true}) {
    for (const bool populate : {false, true}) {
      CAPTURE(embedded);
      CAPTURE(populate);
      const TempDir dir(small_disk);
      const TempDir elsewhere;
      {
        Filter young = created(elsewhere.file(), of_bytes(kBytes));
        add_keys(young, 1, 0, kFew);
        CHECK(young.close().ok());
        if (embedded) write_embedded(elsewhere.file());
      }
      copy_sparsely(elsewhere.file(), dir.file());
      copy_sparsely(elsewhere.file(), dir.file("second"));
      copy_sparsely(elsewhere.file(), dir.file("third"));
      CHECK(in_child([&] {
              OpenOptions options;
              options.map.populate = populate;
              const auto open_one = [&](const std::string& path) {
                return embedded ? Filter::open_range(path, 0, UINT64_MAX, options)
                                : Filter::open(path, OpenMode::kRead, options);
              };
              const auto first = open_one(dir.file());
              const auto second = open_one(dir.file("second"));
              const auto third = open_one(dir.file("third"));
              if (!first || maybes(*first, 1, 0, kFew) != kFew || !answers_no(*first)) return 1;
              if (third.ok() || third.error().code != Code::kNoSpace) return 2;
              if (third.error().message.find("holes") == std::string::npos) return 3;
              return second.ok() && (maybes(*second, 1, 0, kFew) != kFew || !answers_no(*second)) ? 4 : 0;
            }) == 0);
    }
  }
}

// The file's other bytes have pages enough for all of the filter. And no question may move the position of the
// program's descriptor.
TEST_CASE(
    "a reader by a descriptor of a range with holes, in memory that is full by now, is refused, and has no SIGBUS") {
  constexpr std::uint64_t kFront = std::uint64_t{384} << 10;
  const TempDir dir(small_disk);
  const TempDir elsewhere;
  {
    Filter young = created(elsewhere.file(), of_bytes(std::uint64_t{256} << 10));
    add_keys(young, 1, 0, 5);
    CHECK(young.close().ok());
    write_embedded(elsewhere.file());
  }
  const std::string filter = read_bytes(elsewhere.file());
  std::ofstream(elsewhere.file(), std::ios::binary | std::ios::trunc) << std::string(kFront, 'x') << filter;
  copy_sparsely(elsewhere.file(), dir.file());
  const int file = open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(lseek(file, 77, SEEK_SET) == 77);
  const auto ask = [&] {
    const auto opened = Filter::open_range("", kFront, UINT64_MAX, {.descriptor = file});
    return code_of(opened) == Code::kOk && maybes(*opened, 1, 0, 5) == 5 && answers_no(*opened) ? Code::kOk
                                                                                                : code_of(opened);
  };
  fill_up(dir.file("rubbish"));
  CHECK(in_child([&] { return ask() == Code::kNoSpace ? 0 : 1; }) == 0);
  REQUIRE(unlink(dir.file("rubbish").c_str()) == 0);
  CHECK(in_child([&] { return ask() == Code::kOk ? 0 : 1; }) == 0);
  CHECK(lseek(file, 0, SEEK_CUR) == 77);
  close(file);
}

// A container's volume of a single file is mounted in this way.
TEST_CASE("a file that is mounted by itself is not replaced, continues, and the error says what to do") {
  const TempDir dir(small_disk);
  CHECK(created(dir.file("outside.bf")).close().ok());
  std::ofstream(dir.file()).put('x');
  REQUIRE(mount(dir.file("outside.bf").c_str(), dir.file().c_str(), nullptr, MS_BIND, nullptr) == 0);
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  Options options = small_options();
  options.replace = true;
  const auto refused = Filter::create(dir.file(), options);
  REQUIRE(code_of(refused) == Code::kBusy);
  CHECK(refused.error().message.find("Mount its folder") != std::string::npos);
  CHECK(writer.health() == Code::kOk);
  add_keys(writer, 1, 0, 10);
  CHECK(writer.close().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, 10) == 10);
  CHECK(umount2(dir.file().c_str(), MNT_DETACH) == 0);
}

int main(int count, char** values) {
  const TempDir dir;
  if (!mount_small_disk(dir.path())) {
    std::printf("SKIP: a small disk can not be mounted here: %s\n", std::strerror(errno));
    return 77;
  }
  small_disk = dir.path();
  doctest::Context context(count, values);
  const int outcome = context.run();
  umount2(dir.path().c_str(), MNT_DETACH);
  return outcome;
}
