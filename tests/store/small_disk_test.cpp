// A full disk, for real: a small filesystem in memory, mounted where only this process sees it.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

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

TEST_CASE("a filter goes on on a disk that is full by now: its blocks are its own") {
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

TEST_CASE(
    "a file over which another filesystem was mounted is not current, though one of its inode number has its path") {
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
