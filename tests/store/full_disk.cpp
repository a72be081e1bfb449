#include "full_disk.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/skip.hpp"

namespace store_test {

using namespace bfstore;

std::string workshop;

namespace {

Options big() {
  Options options;
  options.max_bytes = std::uint64_t{4} << 20;
  options.capacity = 200'000;
  return options;
}

}  // namespace

Backing::Backing() : path_(workshop + "/backing") {
  std::filesystem::create_directory(path_);
  if (mount("none", path_.c_str(), "tmpfs", 0, "size=1g") != 0) FAIL("no tmpfs: " << std::strerror(errno));
}

Backing::~Backing() { umount2(path_.c_str(), MNT_DETACH); }

void Backing::fill_up() const {
  struct statfs facts {};
  REQUIRE(statfs(path_.c_str(), &facts) == 0);
  resize(static_cast<std::uint64_t>(facts.f_bsize) * (facts.f_blocks - facts.f_bfree));
}

void Backing::grow_again() const { resize(std::uint64_t{1} << 30); }

void Backing::resize(std::uint64_t bytes) const {
  const std::string size = "size=" + std::to_string(bytes);
  REQUIRE(mount("none", path_.c_str(), nullptr, MS_REMOUNT, size.c_str()) == 0);
}

FullDisk::FullDisk(const std::string& type, std::size_t num_files, Lacking lacking) {
  std::string why;
  disk = LoopDisk::make(type, backing.path(), std::uint64_t{320} << 20, why);
  if (disk != nullptr && !disk->write_page_by_page()) {
    disk.reset();
    why = "the size of a loop device's writes can not be set";
  }
  if (disk == nullptr) {
    tests::skip_case(why);
    return;
  }
  for (std::size_t i = 0; i < num_files; ++i) {
    paths.push_back(disk->path() + "/filter" + std::to_string(i) + ".bf");
    Filter filter = created(paths.back(), big());
    add_keys(filter, 1, 0, kBefore);
    REQUIRE(filter.sync({.owner = 1, .mark = kBefore}).ok());
    REQUIRE(filter.close().ok());
  }
  disk->settle();
  if (lacking == Lacking::kRoomForNewBits) REQUIRE(disk->make_room_except_for(paths, format::kFileHeaderBytes));
  backing.fill_up();
}

void reclaim(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) == std::string::npos) continue;
    const std::size_t dash = line.find('-');
    const std::uint64_t begin = std::stoull(line.substr(0, dash), nullptr, 16);
    const std::uint64_t end = std::stoull(line.substr(dash + 1), nullptr, 16);
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT);
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  close(descriptor);
}

std::uint64_t lost_in(const std::string& path) {
  const OnDisk now = look_at(path);
  const std::string copy = workshop + "/copy.bf";
  copy_file(path, copy);
  for (std::size_t i = 0; i < 2; ++i) {
    format::Slot slot;
    slot.sequence = i + 1;
    const format::SlotPage page = format::encode_slot(slot, now.file_id);
    write_bytes(copy, format::kSlotOffset + i * page.size(), {reinterpret_cast<const char*>(page.data()), page.size()});
  }
  set_live_word(copy, format::LiveWord::healthy(now.file_id).bits);
  const Filter bits = opened(Filter::open(copy, OpenMode::kRead));
  CHECK(maybes(bits, 1, 0, kBefore) == kBefore);
  return kAll - maybes(bits, 1, 0, kAll);
}

}  // namespace store_test
