// Files that come as descriptors and not as paths: in a sandbox that may open nothing, and as memfds.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// A descriptor that is open as long as this lives.
class Opened {
 public:
  explicit Opened(const std::string& path, int flags = O_RDONLY) : Opened(open(path.c_str(), flags | O_CLOEXEC)) {}
  explicit Opened(int number) : number_(number) { REQUIRE(number_ >= 0); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { close(number_); }

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

std::string filled(const TempDir& dir) {
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.close().ok());
  return dir.file();
}

Result<Filter> open_by(int number, OpenOptions options = {}, OpenMode mode = OpenMode::kRead) {
  options.descriptor = number;
  return Filter::open("", mode, options);
}

Result<Filter> open_by(const Opened& file, const OpenOptions& options = {}) { return open_by(file.number(), options); }

void check_answers(const Filter& filter) {
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
  CHECK(answers_no(filter));
  CHECK(filter.health() == Code::kOk);
}

// Makes a file in memory without any name, with these bytes.
int memory_file(const std::string& bytes) {
  const int made = memfd_create("filter", MFD_CLOEXEC);
  REQUIRE(made >= 0);
  REQUIRE(pwrite(made, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return made;
}

// Makes a file whose writer was killed.
void leave_adoptable(const std::string& path) {
  CHECK(in_child([&] {
          auto writer = Filter::open(path, OpenMode::kWrite);
          return writer.ok() ? (writer->abandon(), 0) : 1;
        }) == 0);
}

void check_refused(int number, Code code, OpenMode mode = OpenMode::kRead) {
  const auto refused = open_by(number, {}, mode);
  REQUIRE(code_of(refused) == code);
  CHECK_MESSAGE(refused.error().message.rfind("descriptor " + std::to_string(number) + ": ", 0) == 0,
                refused.error().message);
}

bool send_descriptor(int socket, int descriptor) {
  char byte = 'x';
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, 0) == 1;
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  int received = -1;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) return -1;
  std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  return received;
}

}  // namespace

TEST_CASE("a filter by a descriptor answers in every form of memory, and sees what a writer adds") {
  const TempDir dir;
  const Opened file(filled(dir));
  for (const MapOptions& map : {MapOptions{}, MapOptions{.populate = true}, MapOptions{.random_access = true},
                                MapOptions{.guard = true}, MapOptions{.copy = true}})
    check_answers(opened(open_by(file, {.map = map})));
  const Filter reader = opened(open_by(file));
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(writer, 2, 0, kSome);
  CHECK(maybes(reader, 2, 0, kSome) == kSome);
  CHECK(maybes(opened(open_by(file)), 2, 0, kSome) == kSome);
  CHECK(reader.is_current().value());
}

TEST_CASE("the caller keeps its descriptor, and its position, and may close it while the filter is used") {
  const TempDir dir;
  const std::string path = filled(dir);
  const int number = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lseek(number, 123, SEEK_SET) == 123);
  Filter filter = opened(open_by(number));
  check_answers(filter);
  CHECK(lseek(number, 0, SEEK_CUR) == 123);
  CHECK(filter.close().ok());
  CHECK(fcntl(number, F_GETFD) == FD_CLOEXEC);
  const Filter later = opened(open_by(number));
  CHECK(close(number) == 0);
  check_answers(later);
  CHECK(later.is_current().value());
  CHECK(fcntl(number, F_GETFD) == -1);
}

TEST_CASE("a descriptor of anything but a readable file is refused, with its number in the message") {
  const TempDir dir;
  const std::string path = filled(dir);
  std::ofstream(dir.file("text")) << std::string(20'000, 'x');
  check_refused(-1, Code::kInvalid);
  check_refused(987'654, Code::kInvalid);
  const Opened only_to_write(path, O_WRONLY);
  check_refused(only_to_write.number(), Code::kInvalid);
  const Opened only_a_place(path, O_PATH);
  check_refused(only_a_place.number(), Code::kInvalid);
  const Opened folder(dir.path(), O_DIRECTORY);
  check_refused(folder.number(), Code::kNotRegular);
  const Opened device("/dev/zero");
  check_refused(device.number(), Code::kNotRegular);
  const Opened text(dir.file("text"));
  check_refused(text.number(), Code::kMagic);
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const Opened pipe_to_read(pipes[0]);
  const Opened pipe_to_write(pipes[1]);
  check_refused(pipe_to_read.number(), Code::kNotRegular);
}

TEST_CASE("no writer opens a descriptor, which does not show that the file has its path") {
  const TempDir dir;
  const Opened file(filled(dir), O_RDWR);
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive})
    check_refused(file.number(), Code::kInvalid, mode);
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("by a descriptor the states of a file are refused as by its path, and nothing is written to it") {
  const std::vector<std::pair<std::function<void(const std::string&)>, Code>> states{
      {[](const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kPoisoned); },
       Code::kPoisoned},
      {[](const std::string& path) {
         set_live_word(path, look_at(path).live_word | format::LiveWord::kSuperseded | format::LiveWord::kReplaced);
       },
       Code::kSuperseded},
      {[](const std::string& path) {  // its maker was killed
         set_live_word(path, look_at(path).live_word | format::LiveWord::kSuperseded);
       },
       Code::kSuperseded},
      {[](const std::string& path) {
         edit_slots(path, [](format::Slot& slot) { slot.state = format::SlotState::kRecovering; });
       },
       Code::kRecovering},
      {leave_adoptable, Code::kUnclean},
      {[](const std::string& path) { set_live_word(path, 0); }, Code::kLiveWord}};
  for (const auto& [spoil, code] : states) {
    const TempDir dir;
    const std::string path = filled(dir);
    spoil(path);
    const std::string before = read_bytes(path);
    const Opened file(path, O_RDWR);
    check_refused(file.number(), code);
    CHECK(read_bytes(path) == before);
  }
}

TEST_CASE("a handle without a path knows whether its file is whole, is superseded, and has a name") {
  const auto current_after = [](const std::function<void(const std::string&)>& happens) {
    const TempDir dir;
    const std::string path = filled(dir);
    const Opened file(path);
    const Filter filter = opened(open_by(file));
    CHECK(filter.is_current().value());
    happens(path);
    return filter.is_current().value();
  };
  CHECK_FALSE(current_after([](const std::string& path) { REQUIRE(truncate(path.c_str(), 20'000) == 0); }));
  CHECK_FALSE(current_after([](const std::string& path) { set_live_word(path, 0); }));
  CHECK_FALSE(current_after([](const std::string& path) { REQUIRE(unlink(path.c_str()) == 0); }));
  CHECK_FALSE(current_after([](const std::string& path) {
    copy_file(path, path + ".copy");
    REQUIRE(rename((path + ".copy").c_str(), path.c_str()) == 0);
  }));
  const auto replace = [](const std::string& path) {
    Options options = small_options();
    options.replace = true;
    CHECK(created(path, options).close().ok());
  };
  CHECK_FALSE(current_after(replace));
  CHECK_FALSE(current_after([&](const std::string& path) {  // another name of the file is left
    REQUIRE(link(path.c_str(), (path + ".link").c_str()) == 0);
    replace(path);
  }));
  CHECK(current_after([](const std::string& path) { REQUIRE(rename(path.c_str(), (path + ".old").c_str()) == 0); }));
}

TEST_CASE("a reader by a descriptor answers maybe as soon as another process supersedes the file") {
  const TempDir dir;
  const Opened file(filled(dir));
  const Filter filter = opened(open_by(file));
  Options options = small_options();
  options.replace = options.unpublished = true;
  Filter fresh = created(dir.file(), options);
  CHECK(fresh.supersede().ok());
  CHECK(filter.health() == Code::kSuperseded);
  CHECK_FALSE(answers_no(filter));
  CHECK_FALSE(filter.is_current().value());
}

TEST_CASE("a file in memory that never had a name is a filter, and current as long as it is whole") {
  const TempDir dir;
  const Opened file(memory_file(read_bytes(filled(dir))));
  const Filter filter = opened(open_by(file));
  check_answers(filter);
  CHECK(filter.is_current().value());
  REQUIRE(ftruncate(file.number(), 0) == 0);
  CHECK_FALSE(filter.is_current().value());
}

TEST_CASE("a range by a descriptor answers, and is current as long as it is whole and the file has a name") {
  const TempDir dir;
  const Options options = small_options();
  const std::uint64_t bytes = *Filter::required_bytes(options);
  std::vector<std::byte> memory(bytes + 64);
  const std::size_t skew = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  const std::span<std::byte> buffer = std::span(memory).subspan(skew, bytes);
  Filter made = opened(Filter::format(buffer, options));
  add_keys(made, 1, 0, kSome);
  std::ofstream(dir.file(), std::ios::binary)
      << std::string(128, 'x') << std::string(reinterpret_cast<const char*>(buffer.data()), bytes);
  for (const bool copy : {false, true}) {
    const Opened file(dir.file());
    const Filter range = opened(Filter::open_range("", 128, 0, {.map = {.copy = copy}, .descriptor = file.number()}));
    check_answers(range);
    CHECK(range.is_current().value());
    CHECK(rename(dir.file().c_str(), dir.file("old").c_str()) == 0);
    CHECK(range.is_current().value());
    CHECK(rename(dir.file("old").c_str(), dir.file().c_str()) == 0);
  }
  const Opened file(dir.file());
  const Filter range = opened(Filter::open_range("name", 128, 0, {.descriptor = file.number()}));
  CHECK(unlink(dir.file().c_str()) == 0);
  CHECK_FALSE(range.is_current().value());
  const Opened memfd(memory_file(std::string(reinterpret_cast<const char*>(buffer.data()), bytes)));
  const Filter nameless = opened(Filter::open_range("", 0, 0, {.descriptor = memfd.number()}));
  CHECK(nameless.is_current().value());
  REQUIRE(ftruncate(memfd.number(), 0) == 0);
  REQUIRE(ftruncate(memfd.number(), static_cast<off_t>(bytes)) == 0);
  CHECK_FALSE(nameless.is_current().value());
  CHECK_FALSE(answers_no(nameless));
}

TEST_CASE("a process that may not open the path asks by a descriptor that another one sent to it") {
  const TempDir dir;
  const std::string path = filled(dir);
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  int sockets[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
  const Opened file(path);
  REQUIRE(send_descriptor(sockets[0], file.number()));
  CHECK(in_child([&] {
          close(file.number());
          if (!become_nobody()) return 10;
          const int received = receive_descriptor(sockets[1]);
          if (received < 0) return 11;
          const auto filter = open_by(received);
          if (!filter.ok()) return 12;
          if (maybes(*filter, 1, 0, kSome) != kSome || filter->contains("absent, surely")) return 13;
          const auto current = filter->is_current();
          return current.ok() && *current ? 0 : 14;
        }) == 0);
  close(sockets[0]);
  close(sockets[1]);
}

// The kernel tells each description of a failure once.
TEST_CASE("a handle by a descriptor does not ask the kernel for failed writes, which its program must learn") {
  const faults::Scope scope;
  const TempDir dir;
  const Opened file(filled(dir), O_RDWR);
  const Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  int questions = 0;
  faults::on_question = [&](int) {
    ++questions;
    return 0;
  };
  CHECK(opened(open_by(file)).is_current().value());
  CHECK(questions == 0);
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).is_current().value());
  CHECK(questions > 0);
}

// Such a handle does not ask the kernel, which tells a failure once. What it reads of a file in use may lack keys of
// pages that the kernel failed to write, and a copy would lack them for good.
TEST_CASE("a handle that writes nothing copies a file that is closed, and none that may have a writer") {
  TempDir dir;
  const std::string path = filled(dir);
  const Opened file(path);
  std::vector<std::byte> buffer(300'000);
  for (const bool by_number : {false, true}) {
    OpenOptions options;
    options.no_write = true;
    const Filter reader = opened(by_number ? open_by(file) : Filter::open(path, OpenMode::kRead, options));
    CHECK(reader.dump(buffer).ok());
    Filter writer = opened(Filter::open(path, OpenMode::kWrite));
    CHECK(reader.dump(buffer).code == Code::kBusy);
    CHECK(reader.save(dir.file("copy")).code == Code::kBusy);
    CHECK(answers_no(reader));
    options.map.copy = true;
    const Filter copied = opened(Filter::open(path, OpenMode::kRead, options));
    CHECK(answers_no(copied));
    CHECK(copied.dump(buffer).code == Code::kBusy);
    CHECK(copied.save(dir.file("copy")).code == Code::kBusy);
    CHECK(writer.close().ok());
    CHECK(reader.dump(buffer).ok());
    CHECK(copied.dump(buffer).code == Code::kBusy);  // it was in use when it was read
    CHECK(opened(Filter::open(path, OpenMode::kRead, options)).dump(buffer).ok());
  }
}
