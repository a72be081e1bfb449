// Reads that fail for real: a filesystem of the test's own on a device that has lost its end without its knowledge. So
// what is not in memory cannot be read any more.
#include <doctest/doctest.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "key_calls.hpp"
#include "loop_disk.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kThreeWindows = 700;  // of a batch

std::string workshop;  // a folder in memory, where filesystems can be mounted

// A filter of 4 MiB on a disk of its own, of which nothing is in memory.
struct Cold {
  explicit Cold(const std::string& type) {
    std::string why;
    disk = LoopDisk::make(type, workshop, std::uint64_t{320} << 20, why);
    if (disk == nullptr) {
      tests::skip_case(why);
      return;
    }
    path = disk->path() + "/filter.bf";
    Options options;
    options.capacity = 500'000;
    options.max_bytes = std::uint64_t{8} << 20;
    Filter filter = created(path, options);
    for (const AddForm& form : add_forms()) CHECK(form.add(filter, 1, kThreeWindows).ok());
    add_keys(filter, 2, 0, 50'000);  // to every page: one that was never written is read without the device
    REQUIRE(filter.close().ok());
    disk->settle();
    REQUIRE(disk->unmount());
    REQUIRE(disk->mount());
  }

  std::unique_ptr<LoopDisk> disk;
  std::string path;
};

constexpr const char* kTypes[] = {"ext4", "xfs"};

}  // namespace

TEST_CASE("with a guard a page that the device cannot read is doubt, in lookups and adds") {
  for (const char* type : kTypes) {
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
      const Cold cold(type);
      if (cold.disk == nullptr) continue;
      Filter filter = opened(Filter::open(cold.path, mode, {.map = {.guard = true}}));
      CHECK(filter.health() == Code::kOk);
      REQUIRE(cold.disk->lose_everything());
      if (mode == OpenMode::kWrite) CHECK(filter.add("a key").code() == Code::kFault);
      for (const AskForm& form : ask_forms()) {
        CAPTURE(form.name);
        CHECK(form.ask(filter, 1, kThreeWindows) == kThreeWindows);
        CHECK(form.ask(filter, kNobody, kThreeWindows) == kThreeWindows);
      }
      CHECK(filter.health() == Code::kFault);
      CHECK(filter.close().ok() == (mode == OpenMode::kRead));
    }
  }
}

TEST_CASE("a sealed file is verified as the disk has it, and not as memory does") {
  const Cold cold("ext4");
  if (cold.disk == nullptr) return;
  const std::string sealed = cold.disk->path() + "/sealed";
  REQUIRE(seal(cold.path, sealed).ok());
  cold.disk->settle();
  CHECK(verify(sealed)->damaged.empty());  // and now all of it is in memory
  const Filter reader = opened(Filter::open(sealed, OpenMode::kRead));
  const std::string image = workshop + "/image.ext4";
  const auto identity = inspect(sealed, false)->identity;
  constexpr std::uint64_t kBlock = 1024;  // of a filesystem as small as this one
  // In the middle: what is near the header and the end word is mapped with them, and stays in memory.
  const std::uint64_t last = (identity->body_offset + identity->body_bytes / 2) / kBlock * kBlock;
  const std::string block = read_bytes(sealed).substr(last, kBlock);
  std::string all(std::filesystem::file_size(image), '\0');
  std::ifstream(image, std::ios::binary).read(all.data(), static_cast<std::streamsize>(all.size()));
  std::uint64_t changed = 0;
  for (std::size_t at = 0; at + kBlock <= all.size(); at += kBlock) {
    if (all.compare(at, kBlock, block) != 0) continue;
    write_bytes(image, at, std::string(kBlock, '\x55'));
    ++changed;
  }
  CHECK(changed == 2);                                      // of the filter, and of the sealed one
  CHECK(read_bytes(sealed).substr(last, kBlock) == block);  // in memory nothing has changed
  const auto found = verify(sealed);
  REQUIRE(found.ok());
  REQUIRE(found->damaged.size() == 1);
  CHECK(found->damaged.front().offset <= last);
  CHECK(found->damaged.front().offset + found->damaged.front().bytes > last);
}

TEST_CASE("a file that the device cannot read is an error when it is copied or populated") {
  for (const char* type : kTypes) {
    const Cold cold(type);
    if (cold.disk == nullptr) continue;
    CHECK(Filter::open(cold.path, OpenMode::kRead).ok());  // its header is in memory from now on
    REQUIRE(cold.disk->lose_everything());
    const auto copy = Filter::open(cold.path, OpenMode::kRead, {.map = {.copy = true}});
    CHECK(code_of(copy) == Code::kSystem);
    if (!copy.ok()) CHECK(copy.error().os_errno == EIO);
    CHECK(code_of(Filter::open(cold.path, OpenMode::kRead, {.map = {.populate = true}})) == Code::kFault);
  }
}

TEST_CASE("without a guard a page that the device cannot read ends the process") {
  const Cold cold("ext4");
  if (cold.disk == nullptr) return;
  CHECK(in_child([&] {
          std::signal(SIGBUS, SIG_DFL);  // a sanitizer has one of its own
          const auto filter = Filter::open(cold.path, OpenMode::kRead);
          if (!filter || !cold.disk->lose_everything()) return 100;
          return filter->contains(key_of(1, 0)) ? 101 : 102;
        }) == 1000 + SIGBUS);
}

int main(int count, char** values) { return run_in_workshop(count, values, workshop); }
