// A handle keeps the folder that its path led to when it was opened. Whatever changes on the way to that folder changes
// nothing for the handle.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <csignal>
#include <filesystem>

#include "faults.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;
using Names = std::vector<std::string>;

namespace {

Options replacing_later() {
  Options options = small_options();
  options.replace = true;
  options.unpublished = true;
  return options;
}

bool create_read_only(const std::string& path) {
  Options options = small_options();
  options.mode = 0444;
  return Filter::create(path, options).ok();
}

bool has_keys(const std::string& path) {
  const auto filter = Filter::open(path, OpenMode::kRead);
  return filter.ok() && maybes(*filter, 1, 0, kSome) == kSome;
}

// Runs `body` in a process of its own, which may change what it likes.
template <class Body>
void in_a_process(const Body& body) {
  for (const bool no_unnamed : {false, true}) {
    CAPTURE(no_unnamed);
    TempDir dir;
    std::filesystem::create_directory(dir.file("here"));
    std::filesystem::create_directory(dir.file("elsewhere"));
    CHECK(in_child([&] {
            faults::no_unnamed_files = no_unnamed;
            return chdir(dir.file("here").c_str()) == 0 ? body(dir) : 100;
          }) == 0);
    CHECK(std::filesystem::is_empty(dir.file("elsewhere")));
  }
}

}  // namespace

TEST_CASE("a file with a relative path is published where that led when it was created, whatever folder is current") {
  in_a_process([](const TempDir& dir) {
    Options options = small_options();
    options.unpublished = true;
    auto fresh = Filter::create("new.bf", options);
    if (!fresh) return 1;
    for (std::uint64_t i = 0; i < kSome; ++i) static_cast<void>(fresh->add(key_of(1, i)));
    if (chdir(dir.file("elsewhere").c_str()) != 0) return 2;
    if (!fresh->publish().ok()) return 3;
    if (!fresh->is_current().ok() || !*fresh->is_current()) return 4;
    return has_keys(dir.file("here/new.bf")) ? 0 : 5;
  });
}

TEST_CASE("a file that was superseded by a relative path continues if it is not replaced, whatever folder is current") {
  in_a_process([](const TempDir& dir) {
    auto writer = Filter::create("old.bf", small_options());
    auto fresh = Filter::create("old.bf", replacing_later());
    if (!writer || !fresh || !fresh->supersede().ok()) return 1;
    if (writer->add("a key").code() != Code::kSuperseded) return 2;
    if (chdir(dir.file("elsewhere").c_str()) != 0) return 3;
    fresh = Filter::open("nothing", OpenMode::kRead);  // closes it
    if (writer->health() != Code::kOk || !writer->add("a key").ok()) return 4;
    return writer->is_current().ok() && *writer->is_current() ? 0 : 5;
  });
}

TEST_CASE("the file that a relative path led to when the new one was created is the one that is superseded") {
  in_a_process([](const TempDir& dir) {
    auto writer = Filter::create("old.bf", small_options());
    auto fresh = Filter::create("old.bf", replacing_later());
    if (!writer || !fresh || chdir(dir.file("elsewhere").c_str()) != 0) return 1;
    if (!fresh->publish().ok() || writer->health() != Code::kSuperseded) return 2;
    return *writer->is_current() || !*fresh->is_current() ? 3 : 0;
  });
}

// A folder that a deployment switches: by a symbolic link, or by moving it.
TEST_CASE("a relative path whose folder was switched is not current, whatever folder is current") {
  for (const bool by_link : {false, true}) {
    CAPTURE(by_link);
    in_a_process([&](const TempDir& dir) {
      std::filesystem::create_directory("one");
      std::filesystem::create_directory("two");
      if (by_link) std::filesystem::create_directory_symlink("one", "now");
      const std::string path = by_link ? "now/f.bf" : "one/f.bf";
      const auto other = Filter::create("two/f.bf", small_options());
      const auto writer = Filter::create(path, small_options());
      const auto reader = Filter::open(path, OpenMode::kRead);
      std::filesystem::create_symlink(path, "link.bf");
      const auto by_its_link = Filter::open("./link.bf", OpenMode::kRead);
      if (!other || !writer || !reader || !by_its_link) return 1;
      if (chdir(dir.file("elsewhere").c_str()) != 0) return 2;
      for (const Filter* const filter : {&*writer, &*reader, &*by_its_link}) {
        if (!filter->is_current().ok() || !*filter->is_current()) return 3;
      }
      const auto here = std::filesystem::path(dir.file("here"));
      if (by_link) {
        std::filesystem::remove(here / "now");
        std::filesystem::create_directory_symlink("two", here / "now");
      } else {
        std::filesystem::rename(here / "one", here / "old");
        std::filesystem::rename(here / "two", here / "one");
      }
      for (const Filter* const filter : {&*writer, &*reader, &*by_its_link}) {
        if (!filter->is_current().ok() || *filter->is_current()) return 4;
      }
      return 0;
    });
  }
}

TEST_CASE("a handle that was opened before chroot publishes, syncs and closes as before") {
  if (geteuid() != 0) {
    tests::skip_case("only root may chroot");
    return;
  }
  in_a_process([](const TempDir& dir) {
    auto writer = Filter::create(dir.file("here/writer.bf"), small_options());
    auto fresh = Filter::create(dir.file("here/new.bf"), replacing_later());
    if (!writer || !fresh || chroot(dir.file("elsewhere").c_str()) != 0) return 1;
    if (!writer->add("a key").ok() || !writer->sync({.owner = 1, .mark = 1}).ok() || !*writer->is_current()) return 2;
    if (!fresh->publish().ok() || !*fresh->is_current()) return 3;
    return writer->close().ok() ? 0 : 4;
  });
}

TEST_CASE("a symbolic link to the folder that is switched changes nothing but that the handle is not current") {
  for (const bool no_unnamed : {false, true}) {
    const faults::Scope scope;
    faults::no_unnamed_files = no_unnamed;
    TempDir dir;
    for (const char* name : {"one", "two"}) std::filesystem::create_directory(dir.file(name));
    std::filesystem::create_directory_symlink("one", dir.file("current"));
    Filter other = created(dir.file("two/f.bf"));
    Filter writer = created(dir.file("current/f.bf"));
    Filter fresh = created(dir.file("current/f.bf"), replacing_later());
    add_keys(fresh, 1, 0, kSome);
    std::filesystem::remove(dir.file("current"));
    std::filesystem::create_directory_symlink("two", dir.file("current"));
    CHECK_FALSE(*writer.is_current());  // the path names another file: a program that asks opens that one
    add_keys(writer, 2, 0, kSome);
    CHECK(writer.sync({.owner = 1, .mark = 1}).ok());
    CHECK(fresh.publish().ok());
    CHECK(writer.health() == Code::kSuperseded);
    CHECK(other.health() == Code::kOk);
    CHECK(has_keys(dir.file("one/f.bf")));
    CHECK_FALSE(has_keys(dir.file("two/f.bf")));
  }
}

TEST_CASE("a name of any length that the filesystem takes is replaced and sealed in place") {
  for (const bool no_unnamed : {false, true}) {
    const faults::Scope scope;
    faults::no_unnamed_files = no_unnamed;
    for (const int length : {1, 234, 235, 255}) {
      CAPTURE(length);
      TempDir dir;
      const std::string path = dir.file(std::string(static_cast<std::size_t>(length), 'n'));
      CHECK(created(path).close().ok());
      Filter fresh = created(path, replacing_later());
      add_keys(fresh, 1, 0, kSome);
      CHECK(fresh.publish().ok());
      SealOptions in_place;
      in_place.replace = true;
      CHECK(seal(path, path, in_place).ok());
      CHECK(has_keys(path));
      CHECK(dir.names().size() == 1);
    }
  }
}

TEST_CASE("a file without write permission is replaced by its owner alone, and its handles learn of it") {
  TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          if (!create_read_only(dir.file())) return 21;
          SealOptions in_place;
          in_place.replace = true;
          in_place.mode = 0444;
          if (!seal(dir.file(), dir.file(), in_place).ok()) return 22;
          const auto reader = Filter::open(dir.file(), OpenMode::kRead);
          const int old = open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
          if (!reader || !Filter::create(dir.file(), replacing_later())->publish().ok()) return 23;
          if (reader->health() != Code::kSuperseded || *reader->is_current()) return 24;
          struct stat facts {};
          return fstat(old, &facts) == 0 && (facts.st_mode & 07777U) == 0444 ? 0 : 25;  // as it was
        }) == 0);
  if (geteuid() != 0) {
    tests::skip_case("only root may give a file to another user");
    return;
  }
  REQUIRE(chown(dir.file().c_str(), 1234, 1234) == 0);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  std::filesystem::permissions(dir.file(), std::filesystem::perms(0444));
  CHECK(in_child([&] {
          if (!become_nobody()) return 30;
          const auto refused = Filter::create(dir.file(), replacing_later())->publish();
          return refused.code == Code::kAccess ? 0 : 31;
        }) == 0);
  CHECK(reader.health() == Code::kOk);
  CHECK(*reader.is_current());
}

TEST_CASE("a sealed file without write permission continues for its owner after its replacer was killed") {
  TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          if (!create_read_only(dir.file())) return 21;
          const int killed = in_child([&] {
            auto fresh = Filter::create(dir.file(), replacing_later());
            _exit(fresh.ok() && fresh->supersede().ok() ? 0 : 1);
            return 1;
          });
          if (killed != 0 || state_of(dir.file()) != FileState::kSuperseded) return 22;
          return Filter::open(dir.file(), OpenMode::kRead).ok() ? 0 : 23;
        }) == 0);
}

TEST_CASE("a folder that can be searched and written to, and not read, is as good as any") {
  TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0333));
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          for (const bool replace : {false, true}) {
            Options options = small_options();
            options.replace = replace;
            auto filter = Filter::create(dir.file(), options);
            if (!filter || !filter->close().ok()) return 21;
          }
          auto filter = Filter::open(dir.file(), OpenMode::kWrite);
          if (!filter || !*filter->is_current()) return 22;
          return filter->close().ok() ? 0 : 23;
        }) == 0);
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0700));
}

TEST_CASE("without a free descriptor opening and creating are errors that name the path, and leave nothing") {
  for (const rlim_t more : {rlim_t{0}, rlim_t{1}}) {
    CAPTURE(more);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    CHECK(in_child([&] {
            const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
            close(next);
            const rlimit few{static_cast<rlim_t>(next) + more, static_cast<rlim_t>(next) + more};
            if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 20;
            for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
              const auto refused = Filter::open(dir.file(), mode);
              if (refused.ok()) return 21;
              if (refused.error().os_errno != EMFILE) return 22;
              if (refused.error().message.find(dir.path()) != 0) return 23;
            }
            const auto refused = Filter::create(dir.file("new.bf"), small_options());
            return !refused.ok() && refused.error().os_errno == EMFILE ? 0 : 24;
          }) == 0);
    CHECK(dir.names() == Names{"filter.bf"});
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

TEST_CASE("a handle whose folder was closed by other code of the process names nothing, and closes nothing of others") {
  TempDir dir;
  std::filesystem::create_directory(dir.file("theirs"));
  CHECK(in_child([&] {
          auto fresh = Filter::create(dir.file("new.bf"), replacing_later());
          if (!fresh) return 20;
          const int theirs = open(dir.file("theirs").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
          struct stat folder {};
          struct stat other {};
          if (stat(dir.path().c_str(), &folder) != 0) return 21;
          int taken = -1;
          for (int number = 3; number < theirs && taken < 0; ++number) {
            const bool is_it = fstat(number, &other) == 0 && other.st_ino == folder.st_ino;
            if (is_it) taken = dup2(theirs, number);
          }
          if (taken < 0) return 22;
          if (fresh->publish().ok()) return 23;
          fresh = Filter::open("nothing", OpenMode::kRead);
          return fstat(taken, &other) == 0 && std::filesystem::is_empty(dir.file("theirs")) ? 0 : 24;
        }) == 0);
}
