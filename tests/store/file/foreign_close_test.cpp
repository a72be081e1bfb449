// Other code of the process closes descriptors that are not its own, as closefrom(3) does: the locks of filters stay,
// and files that have the numbers later are left alone.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr int kFirst = 3;  // after the standard streams

// Runs in a child, whose descriptors no other code needs.
int in_child_without_descriptors(const std::string& path, OpenMode mode, const std::function<int(Filter&)>& then) {
  return in_child([&] {
    auto filter = Filter::open(path, mode);
    if (!filter || !filter->add(key_of(1, 0)).ok()) return 100;
    closefrom(kFirst);
    return then(*filter);
  });
}

}  // namespace

TEST_CASE("a shared writer without its descriptor continues to add, and the file is not clean before it ends") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child_without_descriptors(dir.file(), OpenMode::kWrite, [&](Filter& filter) {
          if (!filter.add(key_of(1, 1)).ok()) return 1;
          if (open_code(dir.file(), OpenMode::kExclusive) != Code::kBusy) return 2;
          auto other = Filter::open(dir.file(), OpenMode::kWrite);
          if (!other || !other->close().ok()) return 3;
          if (inspect(dir.file(), false)->state != FileState::kInUse) return 4;
          if (!look_at(dir.file()).says_dirty()) return 5;
          if (!filter.add(key_of(1, 2)).ok()) return 6;
          if (filter.sync({.owner = 1, .mark = 1}).code != Code::kLost) return 7;
          if (filter.close().code != Code::kLost) return 8;
          return inspect(dir.file(), false)->state == FileState::kAdoptable ? 0 : 9;
        }) == 0);
  const Filter next = opened(Filter::open(dir.file(), OpenMode::kExclusive));
  CHECK(maybes(next, 1, 0, 3) == 3);
}

// Two exclusive writers added to one file with plain instructions once, and lost each other's keys.
TEST_CASE("an exclusive writer without its descriptor is still the only one") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child_without_descriptors(dir.file(), OpenMode::kExclusive, [&](Filter& filter) {
          if (!filter.add(key_of(1, 1)).ok()) return 1;
          if (open_code(dir.file(), OpenMode::kExclusive) != Code::kBusy) return 2;
          if (open_code(dir.file(), OpenMode::kWrite) != Code::kBusy) return 3;
          if (filter.close().code != Code::kLost) return 4;
          auto next = Filter::open(dir.file(), OpenMode::kExclusive);
          return next.ok() && next->contains(key_of(1, 1)) ? 0 : 5;
        }) == 0);
}

TEST_CASE("closing a filter whose descriptor is gone leaves alone another file that has its number by now") {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    CHECK(in_child([&] {
            auto filter = Filter::open(dir.file(), mode);
            if (!filter) return 100;
            closefrom(kFirst);
            std::array<int, 20> theirs{};
            for (int& descriptor : theirs) descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
            static_cast<void>(filter->close());
            for (const int descriptor : theirs) {
              if (fcntl(descriptor, F_GETFD) == -1) return descriptor;
            }
            return 0;
          }) == 0);
  }
}

// Closing once closed the second filter's descriptor, and ended that filter's lock.
TEST_CASE("closing a filter whose descriptor is gone leaves alone another filter that has its number by now") {
  TempDir dir;
  const std::string other = dir.file("other.bf");
  for (const std::string& path : {dir.file(), other}) CHECK(created(path).close().ok());
  CHECK(in_child_without_descriptors(dir.file(), OpenMode::kWrite, [&](Filter& first) {
          auto second = Filter::open(other, OpenMode::kExclusive);
          if (!second || !second->add(key_of(2, 0)).ok()) return 1;
          if (first.close().ok()) return 2;
          if (open_code(other, OpenMode::kExclusive) != Code::kBusy) return 3;
          if (!second->add(key_of(2, 1)).ok() || !second->sync({.owner = 1, .mark = 1}).ok() || !second->close().ok())
            return 4;
          return inspect(other, false)->state == FileState::kClean ? 0 : 5;
        }) == 0);
  CHECK(maybes(opened(Filter::open(other, OpenMode::kRead)), 2, 0, 2) == 2);
}

// Both handles have one file at one number. Only the handle that opened it there may close it.
TEST_CASE("closing a filter whose descriptor is gone leaves alone another handle of the same file at its number") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child_without_descriptors(dir.file(), OpenMode::kWrite, [&](Filter& first) {
          auto second = Filter::open(dir.file(), OpenMode::kWrite);
          if (!second || first.close().ok()) return 1;
          if (!second->add(key_of(1, 1)).ok() || !second->sync({.owner = 1, .mark = 2}).ok()) return 2;
          return second->close().ok() && inspect(dir.file(), false)->state == FileState::kClean ? 0 : 3;
        }) == 0);
}
