// A disk that is full, and filters that do not own all of their blocks: copies have holes, and reflinks share their
// blocks. On such a disk a store to a mapped page would be SIGBUS, so a writer gets the blocks before it may write.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "loop_disk.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;

namespace {

constexpr std::uint64_t kBodyBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kBodyOffset = std::uint64_t{2} << 20;
constexpr std::uint64_t kMany = 20'000;  // keys all over the body

std::string workshop;  // a folder in memory, where filesystems can be mounted

Options of_8_mib() {
  Options options;
  options.num_bits = kBodyBytes * 8;
  options.num_probes = 6;
  return options;
}

// A filesystem of 64 or 400 MB, which is gone with the object.
class SmallFilesystem {
 public:
  explicit SmallFilesystem(const std::string& type) : path_(workshop + "/small") {
    std::filesystem::create_directory(path_);
    if (type != "tmpfs") {
      disk_ = LoopDisk::make(type, path_, std::uint64_t{400} << 20, why_not);
      if (!disk_) tests::skip_case(type + ": " + why_not);
      return;
    }
    in_memory_ = mount("none", path_.c_str(), "tmpfs", 0, "size=64m") == 0;
    REQUIRE(in_memory_);
  }
  SmallFilesystem(const SmallFilesystem&) = delete;
  SmallFilesystem& operator=(const SmallFilesystem&) = delete;
  ~SmallFilesystem() {
    disk_.reset();
    if (in_memory_) umount2(path_.c_str(), MNT_DETACH);
    std::filesystem::remove_all(path_);
  }

  [[nodiscard]] bool there() const noexcept { return in_memory_ || disk_ != nullptr; }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (in_memory_ ? path_ : disk_->path()) + "/" + name;
  }
  // Takes all space that is left, in large pieces and then in small ones.
  void fill_up() const {
    if (disk_) disk_->settle();
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4096}}) {
      const int rubbish = open(file("rubbish").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      REQUIRE(rubbish >= 0);
      const std::string bytes(piece, 'x');
      while (write(rubbish, bytes.data(), bytes.size()) > 0) {
      }
      close(rubbish);
      if (disk_) disk_->settle();
    }
  }
  // xfs gives blocks back a little later.
  void make_room() const {
    std::filesystem::remove(file("rubbish"));
    for (int i = 0; i < 6000 && std::filesystem::space(file("")).available < 2 * kBodyBytes; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  std::string path_;
  std::string why_not;
  std::unique_ptr<LoopDisk> disk_;
  bool in_memory_ = false;
};

// Copies as cp does: zeros become holes.
void copy_with_holes(const std::string& from, const std::string& to) {
  const std::string bytes = read_bytes(from);
  const std::string zeros(4096, '\0');
  const int copy = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  REQUIRE(copy >= 0);
  REQUIRE(ftruncate(copy, static_cast<off_t>(bytes.size())) == 0);
  for (std::size_t at = 0; at < bytes.size(); at += zeros.size()) {
    if (bytes.compare(at, zeros.size(), zeros) == 0) continue;
    REQUIRE(pwrite(copy, bytes.data() + at, zeros.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(zeros.size()));
  }
  close(copy);
}

void reflink(const std::string& from, const std::string& to) {
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int clone = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  REQUIRE(ioctl(clone, FICLONE, source) == 0);
  close(clone);
  close(source);
}

// xfs does not share a block that was allocated and never written: a reflink copy has a hole there. The filter's seed
// is random, so keys alone leave such blocks in one run of ten.
void write_every_page(const std::string& path) { write_bytes(path, kBodyOffset, read_bytes(path).substr(kBodyOffset)); }

std::uint64_t allocated(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

// Adds all over the body, syncs and closes. Runs in a process of its own, which may die of a signal.
int use(const std::string& path, const OpenOptions& options = {}, std::uint64_t num_keys = kMany) {
  return in_child([&] {
    auto filter = Filter::open(path, OpenMode::kWrite, options);
    if (!filter) return filter.error().code == Code::kNoSpace ? 10 : 11;
    for (std::uint64_t number = 0; number < num_keys; ++number) {
      if (!filter->add(key_of(7, number)).ok()) return 12;
    }
    if (!filter->sync({.owner = 1, .mark = 1}).ok()) return 13;
    return filter->close().ok() ? 0 : 14;
  });
}

constexpr int kUsed = 0;
constexpr int kRefused = 10;

void on_each_filesystem(const std::function<void(const SmallFilesystem&)>& body) {
  for (const std::string type : {"tmpfs", "ext4", "xfs"}) {
    CAPTURE(type);
    const SmallFilesystem small(type);
    if (small.there()) body(small);
  }
}

}  // namespace

TEST_CASE("a copy with holes gets its blocks when a writer opens it, or is refused as it was on a full disk") {
  on_each_filesystem([](const SmallFilesystem& small) {
    CHECK(created(small.file("f.bf"), of_8_mib()).close().ok());
    copy_with_holes(small.file("f.bf"), small.file("copy.bf"));
    REQUIRE(allocated(small.file("copy.bf")) < kBodyBytes);
    small.fill_up();
    CHECK(use(small.file("f.bf")) == kUsed);
    const std::string before = read_bytes(small.file("copy.bf"));
    CHECK(use(small.file("copy.bf")) == kRefused);
    CHECK(read_bytes(small.file("copy.bf")) == before);
    CHECK(state_of(small.file("copy.bf")) == FileState::kClean);
    small.make_room();
    {
      const Filter filter = opened(Filter::open(small.file("copy.bf"), OpenMode::kWrite));
      small.fill_up();
      CHECK(use(small.file("copy.bf")) == kUsed);
    }
    CHECK(allocated(small.file("copy.bf")) >= kBodyBytes);
    CHECK(allocated(small.file("copy.bf")) < kBodyBytes + kBodyOffset);  // the hole after the header stays
    CHECK(maybes(opened(Filter::open(small.file("copy.bf"), OpenMode::kRead)), 7, 0, kMany) == kMany);
  });
}

// On btrfs every store would otherwise go to new blocks.
TEST_CASE("a new file on btrfs asks to keep its blocks, so that adding to it needs no room on a full disk") {
  const SmallFilesystem small("btrfs");
  if (!small.there()) return;
  CHECK(created(small.file("f.bf"), of_8_mib()).close().ok());
  const int file = open(small.file("f.bf").c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  REQUIRE(ioctl(file, FS_IOC_GETFLAGS, &flags) == 0);
  close(file);
  CHECK((flags & FS_NOCOW_FL) != 0);
  small.fill_up();
  CHECK(use(small.file("f.bf"), {}, 300) == kUsed);  // a full btrfs takes 16 ms for the first store to a page
}

// A copy of a file in use becomes adoptable where it takes the place of the original's bytes, and unclean elsewhere.
TEST_CASE("a writer that adopts or recovers a file with holes gets its blocks first") {
  on_each_filesystem([](const SmallFilesystem& small) {
    for (const bool adopts : {true, false}) {
      CAPTURE(adopts);
      const std::string path = small.file(adopts ? "adoptable.bf" : "unclean.bf");
      CHECK(created(path, of_8_mib()).close().ok());
      REQUIRE(in_child([&] {
                const auto filter = Filter::open(path, OpenMode::kWrite);
                _exit(filter.ok() ? 0 : 1);
                return 0;
              }) == 0);
      const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
      REQUIRE(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kBodyOffset, kBodyBytes) == 0);
      close(file);
      if (!adopts) edit_slots(path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
      small.fill_up();
      const std::string before = read_bytes(path);
      const OpenOptions options{.accept_loss = !adopts};
      CHECK(use(path, options) == kRefused);
      CHECK(read_bytes(path) == before);
      small.make_room();
      CHECK(use(path, options) == kUsed);
      CHECK(allocated(path) >= kBodyBytes);
    }
  });
}

TEST_CASE("on xfs a writer does not share blocks with a reflink copy, neither of the original nor of the copy") {
  const SmallFilesystem small("xfs");
  if (!small.there()) return;
  {
    Filter filter = created(small.file("f.bf"), of_8_mib());
    add_keys(filter, 1, 0, kMany);
    CHECK(filter.close().ok());
  }
  write_every_page(small.file("f.bf"));
  reflink(small.file("f.bf"), small.file("copy.bf"));
  REQUIRE(allocated(small.file("copy.bf")) == allocated(small.file("f.bf")));
  small.fill_up();
  for (const std::string name : {"f.bf", "copy.bf"}) {
    CAPTURE(name);
    const std::string before = read_bytes(small.file(name));
    CHECK(use(small.file(name)) == kRefused);
    CHECK(read_bytes(small.file(name)) == before);
  }
  small.make_room();
  {
    const Filter one = opened(Filter::open(small.file("f.bf"), OpenMode::kWrite));
    small.fill_up();
    CHECK(use(small.file("f.bf")) == kUsed);
    CHECK(use(small.file("copy.bf")) == kUsed);  // no other file has its blocks any more
  }
  for (const std::string name : {"f.bf", "copy.bf"}) {
    const Filter reader = opened(Filter::open(small.file(name), OpenMode::kRead));
    CHECK(maybes(reader, 1, 0, kMany) + maybes(reader, 7, 0, kMany) == 2 * kMany);
  }
}

// A copy that shares no block can still be refused on a full disk: a page that no key had reached has no block in it.
TEST_CASE("on xfs a reflink copy has holes where the original was never written, and needs room for them") {
  const SmallFilesystem small("xfs");
  if (!small.there()) return;
  CHECK(created(small.file("f.bf"), of_8_mib()).close().ok());
  reflink(small.file("f.bf"), small.file("copy.bf"));
  REQUIRE(allocated(small.file("copy.bf")) < kBodyBytes);
  CHECK(use(small.file("f.bf")) == kUsed);  // nothing is shared from now on
  small.fill_up();
  CHECK(use(small.file("f.bf")) == kUsed);
  const std::string before = read_bytes(small.file("copy.bf"));
  CHECK(use(small.file("copy.bf")) == kRefused);
  CHECK(read_bytes(small.file("copy.bf")) == before);
  small.make_room();
  const Filter one = opened(Filter::open(small.file("copy.bf"), OpenMode::kWrite));
  CHECK(allocated(small.file("copy.bf")) >= kBodyBytes);
  small.fill_up();
  CHECK(use(small.file("copy.bf")) == kUsed);
}

// The live word is in a page that a reflink shares: a store to it was SIGBUS.
TEST_CASE(
    "on xfs a file that shares its blocks is superseded when there is room for a page, and otherwise left alone") {
  const SmallFilesystem small("xfs");
  if (!small.there()) return;
  const std::string path = small.file("f.bf");
  CHECK(created(path, of_8_mib()).close().ok());
  reflink(path, small.file("copy.bf"));
  const std::string before = read_bytes(path);
  const auto replace = [&](bool full) {
    return in_child([&] {
      Options options = small_options();
      options.replace = options.unpublished = true;
      auto fresh = Filter::create(path, options);
      if (!fresh) return 20;
      if (full) small.fill_up();
      if (const Error error = fresh->supersede(); !error.ok()) return error.code == Code::kNoSpace ? kRefused : 21;
      return fresh->publish().ok() ? kUsed : 22;
    });
  };
  CHECK(replace(true) == kRefused);
  CHECK(read_bytes(path) == before);
  small.make_room();
  CHECK(replace(false) == kUsed);
  CHECK(read_bytes(small.file("copy.bf")) == before);
}

TEST_CASE("on xfs the copy of a superseded file is opened when there is room for a page, and otherwise refused") {
  const SmallFilesystem small("xfs");
  if (!small.there()) return;
  const std::string path = small.file("copy.bf");
  CHECK(created(small.file("f.bf"), of_8_mib()).close().ok());
  set_live_word(small.file("f.bf"), look_at(small.file("f.bf")).live_word | format::LiveWord::kSuperseded);
  reflink(small.file("f.bf"), path);
  const std::string before = read_bytes(path);
  const auto read = [&] {
    return in_child([&] {
      const auto reader = Filter::open(path, OpenMode::kRead);
      return reader ? kUsed : reader.error().code == Code::kSuperseded ? kRefused : 20;
    });
  };
  small.fill_up();
  CHECK(read() == kRefused);
  CHECK(use(path) == kRefused);
  CHECK(read_bytes(path) == before);
  small.make_room();
  CHECK(read() == kUsed);
  CHECK(use(path) == kUsed);
}

int main(int count, char** values) { return run_in_workshop(count, values, workshop); }
