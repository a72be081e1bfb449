// Descriptors that other code of the process closes, and whose numbers it takes for files of its own.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "region/descriptor.hpp"
#include "support/support.hpp"

using namespace rooms;
using region::Children;
using region::Descriptor;

namespace {

struct Named {
  explicit Named(const char* name) : path(directory.file(name)) { std::ofstream(path) << "a file"; }
  TemporaryDirectory directory;
  std::string path;
};

// Does what other code may do: closes the number, and opens that file there.
void take_number_of(const Descriptor& descriptor, const std::string& path) {
  REQUIRE(::close(descriptor.number()) == 0);
  const int there = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(there >= 0);
  if (there != descriptor.number()) {
    REQUIRE(dup2(there, descriptor.number()) == descriptor.number());
    ::close(there);
  }
}

}  // namespace

TEST_CASE("a number that other code closed, or opened another file at, does not lead to ours") {
  const Named ours("ours");
  const Named other("other");
  Descriptor descriptor = Descriptor::open(ours.path.c_str(), O_RDWR, Children::kDoNot);
  REQUIRE(descriptor.is_open());
  CHECK(descriptor.is_there());
  const int number = descriptor.number();
  take_number_of(descriptor, other.path);
  CHECK_FALSE(descriptor.is_there());
  descriptor = Descriptor();
  CHECK(::close(number) == 0);  // it is the other code's, and still open
}

// The new description has none of our locks.
TEST_CASE("a number at which other code opened the same file does not lead to what was opened here") {
  const Named ours("ours");
  Descriptor descriptor = Descriptor::open(ours.path.c_str(), O_RDWR, Children::kDoNot);
  const int number = descriptor.number();
  take_number_of(descriptor, ours.path);
  CHECK_FALSE(descriptor.is_there());
  char first[4];
  CHECK(::read(number, first, sizeof first) == sizeof first);
  CHECK_FALSE(descriptor.is_there());
  descriptor = Descriptor();
  CHECK(::close(number) == 0);
}

TEST_CASE("a duplicate of a descriptor is there, whatever the program does to the position or to its own number") {
  const Named ours("ours");
  const int program = ::open(ours.path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(program >= 0);
  const Descriptor descriptor = Descriptor::duplicate(program);
  CHECK(lseek(program, 0, SEEK_CUR) == 0);
  CHECK(lseek(program, 3, SEEK_SET) == 3);
  CHECK(descriptor.is_there());
  ::close(program);
  CHECK(descriptor.is_there());
}
