// The region room: one open file, its locks between descriptors, the name it gets when it is complete, and its mapping.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "region/file.hpp"
#include "region/mapping.hpp"
#include "support/support.hpp"

using namespace rooms;
using region::File;
using region::Mapping;

namespace {

constexpr std::uint64_t kHugePage = 2 << 20;

std::vector<std::byte> bytes_of(std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  for (std::uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(mix(i) & 0xff);
  return bytes;
}

File new_file(const std::string& path) { return must(File::create_unnamed(path, 0600)); }

File reopened(const std::string& path) { return must(File::open(path, File::Access::kReadWrite)); }

// Publishes a file with these bytes.
void make_file(const std::string& path, std::span<const std::byte> bytes) {
  File file = new_file(path);
  must(file.write_at(bytes, 0));
  must(file.publish(false));
}

}  // namespace

TEST_CASE("a path that is no regular file is recognized, without following it or waiting for it") {
  const TemporaryDirectory directory;
  check_refused(File::open(directory.file("none"), File::Access::kRead), Code::kNotFound, {"none"});
  REQUIRE(symlink("none", directory.file("link").c_str()) == 0);
  check_refused(File::open(directory.file("link"), File::Access::kRead), Code::kSymlink, {"link", "symbolic link"});
  check_refused(File::open(directory.file("link"), File::Access::kReadWrite), Code::kSymlink,
                {"link", "symbolic link"});
  check_refused(File::open(directory.file(""), File::Access::kReadWrite), Code::kNotRegular, {"directory"});
  REQUIRE(mkfifo(directory.file("fifo").c_str(), 0600) == 0);
  CHECK_FALSE(must(must(File::open(directory.file("fifo"), File::Access::kRead)).facts()).regular);
  CHECK_FALSE(must(must(File::open("/dev/null", File::Access::kRead)).facts()).regular);
}

TEST_CASE("a new file has no name until it is published, and then has all that was written") {
  const TemporaryDirectory directory;
  const auto bytes = bytes_of(100000);
  {
    File file = new_file(directory.file("new"));
    must(file.write_at(bytes, 0));
    CHECK(directory.entries() == 0);
    must(file.publish(false));
    CHECK(directory.entries() == 1);
  }
  std::vector<std::byte> back(bytes.size() + 10);
  const File file = must(File::open(directory.file("new"), File::Access::kRead));
  CHECK(must(file.read_at(back, 0)) == bytes.size());
  CHECK(std::equal(bytes.begin(), bytes.end(), back.begin()));
  CHECK(must(file.read_at(back, bytes.size() - 3)) == 3);
  CHECK(back[0] == bytes[bytes.size() - 3]);
  CHECK(must(file.read_at(back, bytes.size() + 1)) == 0);
  const region::FileFacts facts = must(file.facts());
  CHECK(facts.regular);
  CHECK(facts.bytes == bytes.size());
  CHECK(facts.links == 1);
}

TEST_CASE("a new file that is dropped leaves nothing behind") {
  const TemporaryDirectory directory;
  { const File file = new_file(directory.file("new")); }
  CHECK(directory.entries() == 0);
}

TEST_CASE("publishing refuses a taken name, unless it is to replace it") {
  const TemporaryDirectory directory;
  make_file(directory.file("taken"), bytes_of(10));
  File file = new_file(directory.file("taken"));
  must(file.write_at(bytes_of(20), 0));
  CHECK_FALSE(file.has_its_path());
  check_refused(file.publish(false), Code::kExists, {"taken", "exists"});
  CHECK(std::filesystem::file_size(directory.file("taken")) == 10);
  must(file.publish(true));
  CHECK(std::filesystem::file_size(directory.file("taken")) == 20);
  CHECK(directory.entries() == 1);
  CHECK(file.has_its_path());
  CHECK(file.same_file(reopened(directory.file("taken"))));
}

TEST_CASE("allocating extends a file with zeros to the length, and keeps its bytes") {
  const TemporaryDirectory directory;
  File file = new_file(directory.file("x"));
  must(file.write_at(bytes_of(100), 0));
  must(file.allocate(0, 50));
  must(file.allocate(8192, 4096));
  const region::FileFacts facts = must(file.facts());
  CHECK(facts.bytes == 12288);
  CHECK(facts.allocated_bytes >= 4096);
  std::vector<std::byte> back(12288);
  CHECK(must(file.read_at(back, 0)) == 12288);
  CHECK(std::equal(back.begin(), back.begin() + 100, bytes_of(100).begin()));
  CHECK(std::all_of(back.begin() + 100, back.end(), [](std::byte byte) { return byte == std::byte{0}; }));
  must(file.sync());
}

TEST_CASE("writing through a descriptor that only reads is an error that names the path") {
  const TemporaryDirectory directory;
  make_file(directory.file("x"), bytes_of(10));
  const File file = must(File::open(directory.file("x"), File::Access::kRead));
  const Error error = file.write_at(bytes_of(1), 0);
  CHECK(error.code == Code::kSystem);
  CHECK(error.os_errno == EBADF);
  CHECK(error.message.find(directory.file("x")) == 0);
}

TEST_CASE("a mapping is the file's bytes, shared with every other mapping of it") {
  const TemporaryDirectory directory;
  const auto bytes = bytes_of(3 * 4096);
  make_file(directory.file("x"), bytes);
  const File file = reopened(directory.file("x"));
  const Mapping writer = must(Mapping::map(file, File::Access::kReadWrite, 0, bytes.size()));
  const Mapping tail = must(Mapping::map(file, File::Access::kRead, 4096, 5000));
  REQUIRE(writer.bytes() == bytes.size());
  CHECK(std::memcmp(writer.data(), bytes.data(), bytes.size()) == 0);
  CHECK(std::memcmp(tail.data(), bytes.data() + 4096, 5000) == 0);
  writer.data()[4096 + 17] ^= std::byte{0xff};
  CHECK(tail.data()[17] == (bytes[4096 + 17] ^ std::byte{0xff}));
  std::array<std::byte, 1> read{};
  CHECK(must(file.read_at(read, 4096 + 17)) == 1);
  CHECK(read[0] == tail.data()[17]);
  CHECK(writer.resident_bytes() == bytes.size());
}

TEST_CASE("the resident bytes of a range are counted up to its own end, in whole pages before it") {
  const TemporaryDirectory directory;
  make_file(directory.file("x"), bytes_of(3 * 4096));
  const File file = reopened(directory.file("x"));
  for (const std::uint64_t bytes : {1U, 4095U, 4096U, 4097U, 5000U, 8191U, 8192U}) {
    const Mapping mapping = must(Mapping::map(file, File::Access::kRead, 4096, bytes));
    CHECK(mapping.resident_bytes() == bytes);
  }
  const std::vector<std::byte> head(4096);
  CHECK_FALSE(must(Mapping::copy(file, head, 0, 4096, 8192)).resident_bytes().has_value());  // a copy is not of a file
}

TEST_CASE("a process that may only read does not learn what is in memory, and one that may write does") {
  const TemporaryDirectory directory;
  make_file(directory.file("x"), bytes_of(4096));
  const File mine = must(File::open(directory.file("x"), File::Access::kRead));
  REQUIRE(chmod(directory.file("x").c_str(), 0644) == 0);
  const bool root = geteuid() == 0;
  const uid_t self = geteuid();
  const File others = root ? must(File::open(directory.file("x"), File::Access::kRead))
                           : must(File::open("/etc/passwd", File::Access::kRead));  // which is root's
  if (root) REQUIRE(seteuid(65534) == 0);
  const auto told = must(Mapping::map(others, File::Access::kRead, 0, 512)).resident_bytes();
  REQUIRE(seteuid(self) == 0);
  CHECK_FALSE(told.has_value());
  REQUIRE(chmod(directory.file("x").c_str(), 0666) == 0);
  if (root) REQUIRE(seteuid(65534) == 0);
  const auto told_writer = must(Mapping::map(mine, File::Access::kRead, 0, 4096)).resident_bytes();
  REQUIRE(seteuid(self) == 0);
  CHECK(told_writer == 4096);
}

TEST_CASE("a large mapping's addresses agree with the file's offsets modulo 2 MiB") {
  const TemporaryDirectory directory;
  File file = new_file(directory.file("x"));
  must(file.allocate(0, 3 * kHugePage + 4096));
  must(file.publish(false));
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4096}, kHugePage - 4096, kHugePage}) {
    const Mapping mapping = must(Mapping::map(file, File::Access::kReadWrite, offset, 2 * kHugePage));
    CHECK(reinterpret_cast<std::uint64_t>(mapping.data()) % kHugePage == offset % kHugePage);
    mapping.data()[2 * kHugePage - 1] = std::byte{0x5a};
    std::array<std::byte, 1> read{};
    CHECK(must(file.read_at(read, offset + 2 * kHugePage - 1)) == 1);
    CHECK(read[0] == std::byte{0x5a});
    mapping.touch_sparsely();
    CHECK(mapping.huge_page_bytes() % kHugePage == 0);
  }
}

TEST_CASE("a large mapping that is gone leaves no address in use") {
  const TemporaryDirectory directory;
  File file = new_file(directory.file("x"));
  must(file.allocate(0, 2 * kHugePage));
  const auto pages_taken = [] {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
  };
  static_cast<void>(must(Mapping::map(file, File::Access::kRead, 0, 2 * kHugePage)));
  const std::uint64_t before = pages_taken();
  for (int i = 0; i < 50; ++i) static_cast<void>(must(Mapping::map(file, File::Access::kRead, 0, kHugePage + 4096)));
  CHECK(pages_taken() < before + 10 * kHugePage / 4096);
}

TEST_CASE("a mapping for writing of a file that was opened for reading is an error that names the path") {
  const TemporaryDirectory directory;
  make_file(directory.file("x"), bytes_of(4096));
  const File file = must(File::open(directory.file("x"), File::Access::kRead));
  check_refused(Mapping::map(file, File::Access::kReadWrite, 0, 4096), Code::kAccess,
                {directory.file("x").c_str(), "mapping"});
}
