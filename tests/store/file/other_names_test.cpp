// Other names of a file that was replaced, a hard link or a mount of the single file: a process that opens one of them
// is refused, and revives no handle that knows that the file is gone.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "faults.hpp"
#include "mounts.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

enum class By { kLink, kMount };

// The view of a container that was given this one file: docker -v /host/f.bf:/data/f.bf.
class OtherName {
 public:
  OtherName(By by, const TempDir& dir) : by_(by), path_(dir.file("other name")) {
    if (by == By::kLink) {
      there_ = link(dir.file().c_str(), path_.c_str()) == 0;
      REQUIRE(there_);
      return;
    }
    static const bool own = own_mounts();
    std::ofstream{path_};
    there_ = own && mount(dir.file().c_str(), path_.c_str(), nullptr, MS_BIND, nullptr) == 0;
    if (!there_) tests::skip_case(std::string("nothing can be mounted here: ") + std::strerror(errno));
  }
  ~OtherName() {
    if (by_ == By::kMount && there_) umount2(path_.c_str(), MNT_DETACH);
  }
  OtherName(const OtherName&) = delete;
  OtherName& operator=(const OtherName&) = delete;

  [[nodiscard]] bool there() const { return there_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  By by_;
  std::string path_;
  bool there_ = false;
};

Options replacing() {
  Options options = small_options();
  options.replace = true;
  return options;
}

// Is killed when the new file has the name, and the old one does not record that for certain.
void replace_and_be_killed(const TempDir& dir) {
  CHECK(in_child([&] {
          faults::on_folder_sync = []() -> int { _exit(0); };
          static_cast<void>(Filter::create(dir.file(), replacing()));
          return 1;
        }) == 0);
}

// Handles of the old file, which were opened before it was replaced.
struct Old {
  explicit Old(const std::string& path)
      : reader(opened(Filter::open(path, OpenMode::kRead))), writer(opened(Filter::open(path, OpenMode::kWrite))) {
    add_keys(writer, 1, 0, kSome);
    REQUIRE(writer.sync({.owner = 1, .mark = kSome}).ok());
  }
  void check_out() {
    CHECK(maybes(reader, kNobody, 0, 100) == 100);
    CHECK(maybes(writer, kNobody, 0, 100) == 100);
    CHECK(reader.health() == Code::kSuperseded);
    CHECK(writer.add(key_of(1, kSome)).code() == Code::kSuperseded);
    CHECK(writer.sync({.owner = 1, .mark = kSome + 1}).code == Code::kSuperseded);
    CHECK(writer.get_mark(1) == kSome);
    CHECK_FALSE(reader.is_current().value());
    CHECK_FALSE(writer.is_current().value());
  }
  Filter reader;
  Filter writer;
};

void check_refused(const std::string& path, const char* words) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(path, mode);
    CHECK_FALSE(refused.ok());
    if (mode == OpenMode::kExclusive) continue;  // the reader may hear of the writers first
    CHECK(code_of(refused) == Code::kSuperseded);
    CHECK_MESSAGE(refused.error().message.find(words) != std::string::npos, refused.error().message);
  }
}

// Calls the check for a file that has another name, of each kind that can be made here.
template <class Check>
void for_every_other_name(const Check& check) {
  for (const By by : {By::kLink, By::kMount}) {
    const TempDir dir;
    CHECK(created(dir.file()).close().ok());
    const OtherName other(by, dir);
    if (other.there()) check(dir, other);
  }
}

}  // namespace

// Its old handles worked again after a process merely read it by its other name.
TEST_CASE("a file that was replaced is refused by its other names, and its old handles stay out") {
  for_every_other_name([](const TempDir& dir, const OtherName& other) {
    Old by_name(dir.file());
    Old by_other_name(other.path());
    CHECK(created(dir.file(), replacing()).close().ok());
    for (int i = 0; i < 2; ++i) {
      by_name.check_out();
      by_other_name.check_out();
      check_refused(other.path(), "another name");
    }
    CHECK(state_of(other.path()) == FileState::kSuperseded);
    CHECK(by_name.writer.close().ok());
    CHECK(by_other_name.writer.close().ok());
    check_refused(other.path(), "another name");
    CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  });
}

TEST_CASE("a file that was replaced is not recovered by its other names") {
  for_every_other_name([](const TempDir& dir, const OtherName& other) {
    CHECK(created(dir.file(), replacing()).close().ok());
    CHECK(code_of(Filter::open(other.path(), OpenMode::kWrite, {.recover = true})) == Code::kSuperseded);
    CHECK(code_of(Filter::open(other.path(), OpenMode::kWrite, {.accept_loss = true})) == Code::kSuperseded);
    check_refused(other.path(), "another name");
  });
}

TEST_CASE("a sealed file that replaced another one leaves the other names of the old one refused") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.close().ok());
  const OtherName other(By::kLink, dir);
  REQUIRE(seal(dir.file(), dir.file(), {.replace = true}).ok());
  check_refused(other.path(), "another name");
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a replacer that is killed right after it renamed the new file leaves the old one out, by all its names") {
  for_every_other_name([](const TempDir& dir, const OtherName& other) {
    Old old(dir.file());
    replace_and_be_killed(dir);
    for (int i = 0; i < 2; ++i) {
      old.check_out();
      check_refused(other.path(), "another name");
    }
  });
}

TEST_CASE("a replacer that is killed right after it renamed the new file leaves an old one without another name out") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Old old(dir.file());
  replace_and_be_killed(dir);
  old.check_out();
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kWrite))));
  old.check_out();
}

TEST_CASE("a file that gets another name at the last moment before it is replaced is refused by that name") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Old old(dir.file());
  const faults::Scope scope;
  bool linked = false;
  faults::before_naming = [&] {
    if (linked) return;
    linked = true;
    REQUIRE(syscall(SYS_linkat, AT_FDCWD, dir.file().c_str(), AT_FDCWD, dir.file("late").c_str(), 0) == 0);
  };
  CHECK(created(dir.file(), replacing()).close().ok());
  check_refused(dir.file("late"), "another name");
  old.check_out();
}

TEST_CASE("a file with another name continues after it was superseded and not replaced") {
  for_every_other_name([](const TempDir& dir, const OtherName& other) {
    Old old(dir.file());
    CHECK(in_child([&] {
            Options options = replacing();
            options.unpublished = true;
            auto fresh = Filter::create(dir.file(), options);
            if (!fresh || !fresh->supersede().ok()) return 1;
            _exit(0);
          }) == 0);
    CHECK(maybes(old.reader, kNobody, 0, 100) == 100);
    CHECK(open_code(other.path(), OpenMode::kRead) == Code::kOk);
    CHECK(answers_no(old.reader));
    CHECK(old.writer.add(key_of(1, kSome)).ok());
    CHECK(old.writer.sync({.owner = 1, .mark = kSome + 1}).ok());
  });
}

TEST_CASE("a file that is not replaced, because the new one cannot have its name, continues by all its names") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const OtherName other(By::kLink, dir);
  Old old(dir.file());
  const faults::Scope scope;
  faults::naming_errno = EIO;
  std::vector<bool> replaced_on_disk;
  faults::on_sync = [&](int) {
    replaced_on_disk.push_back((look_at(dir.file()).live_word & format::LiveWord::kReplaced) != 0);
    return 0;
  };
  CHECK_FALSE(Filter::create(dir.file(), replacing()).ok());
  faults::on_sync = nullptr;
  CHECK(std::count(replaced_on_disk.begin(), replaced_on_disk.end(), true) == 1);
  CHECK_FALSE(replaced_on_disk.back());  // after a power cut, too, it continues
  CHECK(answers_no(old.reader));
  CHECK(old.writer.add(key_of(1, kSome)).ok());
  CHECK(answers_no(opened(Filter::open(other.path(), OpenMode::kRead))));
}
