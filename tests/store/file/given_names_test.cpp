// A new file gets a name, in every call that gives one and may replace a file: it replaces none that came after the
// call began, and it keeps the rights of the one that it replaces.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kRival = 7;

struct Call {
  std::string name;
  std::function<Error(const TempDir&, const std::string& to, std::optional<std::uint32_t> mode)> make;
};

SaveOptions may_replace(std::optional<std::uint32_t> mode) { return {.mode = mode, .replace = true}; }

Error create_at(const std::string& to, std::optional<std::uint32_t> mode, bool unpublished) {
  Options options = small_options();
  options.mode = mode;
  options.replace = true;
  options.unpublished = unpublished;
  auto made = Filter::create(to, options);
  if (!made) return made.error();
  return unpublished ? made->publish() : made->close();
}

std::vector<Filter> filters_at(const TempDir& dir, std::initializer_list<const char*> names) {
  std::vector<Filter> filters;
  for (const char* const name : names) filters.push_back(opened(Filter::open(dir.file(name), OpenMode::kRead)));
  return filters;
}

using Derive = Error (*)(std::span<const Filter* const>, const std::string&, const SaveOptions&);
Error derive_from(const std::vector<Filter>& filters, Derive derive, const std::string& to,
                  std::optional<std::uint32_t> mode) {
  return derive(std::vector<const Filter*>{&filters[0], &filters[1]}, to, may_replace(mode));
}

// Returns every call that has an option to replace.
std::vector<Call> calls() {
  return {
      {"create", [](const TempDir&, const std::string& to, auto mode) { return create_at(to, mode, false); }},
      {"publish", [](const TempDir&, const std::string& to, auto mode) { return create_at(to, mode, true); }},
      {"save", [](const TempDir& dir, const std::string& to,
                  auto mode) { return filters_at(dir, {"source"})[0].save(to, may_replace(mode)); }},
      {"intersect",
       [](const TempDir& dir, const std::string& to, auto mode) {
         return derive_from(filters_at(dir, {"source", "source"}), &Filter::intersect, to, mode);
       }},
      {"join",
       [](const TempDir& dir, const std::string& to, auto mode) {
         return derive_from(filters_at(dir, {"part 0", "part 1"}), &Filter::join, to, mode);
       }},
      {"seal",
       [](const TempDir& dir, const std::string& to, auto mode) {
         SealOptions options;
         options.mode = mode;
         options.replace = true;
         return seal(dir.file("source"), to, options);
       }},
  };
}

void make_sources(const TempDir& dir) {
  Filter source = created(dir.file("source"));
  add_keys(source, 1, 0, kSome);
  CHECK(source.close().ok());
  for (const unsigned number : {0U, 1U}) {
    Options options = small_options();
    options.part = Part{number, 2};
    options.seed = 5;
    CHECK(created(dir.file("part " + std::to_string(number)), options).close().ok());
  }
}

// Moves a file to the name that another program has filled and synced.
void move_rival_to(const TempDir& dir, const std::string& to) {
  {
    Filter rival = created(dir.file("rival"));
    add_keys(rival, kRival, 0, kSome);
    CHECK(rival.close().ok());
  }
  CHECK(std::rename(dir.file("rival").c_str(), to.c_str()) == 0);
}

std::uint64_t rivals_keys(const std::string& path) {
  return maybes(opened(Filter::open(path, OpenMode::kRead)), kRival, 0, kSome);
}

struct Rights {
  unsigned mode;
  uid_t owner;
  gid_t group;
};

Rights rights_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return {facts.st_mode & 07777U, facts.st_uid, facts.st_gid};
}

// For in_child.
bool drop_capability(int capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  sets[static_cast<std::size_t>(capability) / 32].effective &= ~(1U << capability % 32);
  return syscall(SYS_capset, &header, sets.data()) == 0;
}

// For in_child. The parent of a namespace writes its maps: a child of this one does, which stays outside.
bool become_root_of_namespace(unsigned first, unsigned count) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return false;
  const pid_t self = getpid();
  const pid_t outside = fork();
  if (outside == 0) {
    close(pipe[1]);  // so that the pipe ends where no namespace is allowed
    char ready = 0;
    if (read(pipe[0], &ready, 1) != 1) _exit(1);
    const std::string map = "0 " + std::to_string(first) + " " + std::to_string(count);
    for (const char* const name : {"uid_map", "gid_map"}) {
      const int file = open(("/proc/" + std::to_string(self) + "/" + name).c_str(), O_WRONLY | O_CLOEXEC);
      if (write(file, map.data(), map.size()) != static_cast<ssize_t>(map.size())) _exit(1);
    }
    _exit(0);
  }
  const bool own = unshare(CLONE_NEWUSER) == 0 && write(pipe[1], "r", 1) == 1;
  close(pipe[1]);
  int status = 1;
  waitpid(outside, &status, 0);
  return own && status == 0 && setgid(0) == 0 && setuid(0) == 0;
}

// acl(5): what the kernel stores. The user 77 may read, and the mask is 6.
std::string list_for_another_user() {
  const auto entry = [](std::uint16_t tag, std::uint16_t may, std::uint32_t id) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &tag, 2);
    std::memcpy(bytes.data() + 2, &may, 2);
    std::memcpy(bytes.data() + 4, &id, 4);
    return bytes;
  };
  constexpr std::uint32_t kNone = 0xffffffff;
  return std::string("\x02\0\0\0", 4) + entry(1, 6, kNone) + entry(2, 4, 77) + entry(4, 4, kNone) +
         entry(0x10, 6, kNone) + entry(0x20, 0, kNone);
}

constexpr const char* kAccessList = "system.posix_acl_access";

std::string access_list_of(const std::string& path) {
  std::string list(256, '\0');
  const ssize_t bytes = getxattr(path.c_str(), kAccessList, list.data(), list.size());
  return bytes < 0 ? "" : list.substr(0, static_cast<std::size_t>(bytes));
}

}  // namespace

TEST_CASE("a file that came to a free name since the call began is not replaced, in any call") {
  for (const bool no_unnamed : {false, true}) {
    for (const Call& call : calls()) {
      CAPTURE(call.name);
      CAPTURE(no_unnamed);
      const faults::Scope scope;
      TempDir dir;
      make_sources(dir);
      faults::no_unnamed_files = no_unnamed;
      bool moved = false;
      faults::before_naming = [&] {
        if (std::exchange(moved, true)) return;
        faults::before_naming = {};
        move_rival_to(dir, dir.file());
      };
      CHECK(call.make(dir, dir.file(), std::nullopt).code == Code::kBusy);
      CHECK(moved);
      CHECK(rivals_keys(dir.file()) == kSome);
      CHECK(call.make(dir, dir.file(), std::nullopt).ok());  // now it is there when the call begins
      CHECK(rivals_keys(dir.file()) < kSome / 2);
    }
  }
}

TEST_CASE("a file is replaced though another one took its place since the call began, in every call") {
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    const faults::Scope scope;
    TempDir dir;
    make_sources(dir);
    CHECK(created(dir.file()).close().ok());
    move_rival_to(dir, dir.file("before"));
    faults::on_sync = [&](int) {
      faults::on_sync = {};
      CHECK(std::rename(dir.file("before").c_str(), dir.file().c_str()) == 0);
      return 0;
    };
    CHECK(call.make(dir, dir.file(), std::nullopt).ok());
    CHECK(rivals_keys(dir.file()) < kSome / 2);
  }
}

TEST_CASE("a file that is replaced gives its mode to the new one, unless the call names one") {
  const mode_t before = umask(027);
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    for (const unsigned mode : {0640U, 0666U, 0444U, 0600U}) {
      TempDir dir;
      make_sources(dir);
      CHECK(created(dir.file()).close().ok());
      REQUIRE(chmod(dir.file().c_str(), mode) == 0);
      CHECK(call.make(dir, dir.file(), std::nullopt).ok());
      CHECK(rights_of(dir.file()).mode == mode);
      CHECK(call.make(dir, dir.file(), 0664).ok());
      CHECK(rights_of(dir.file()).mode == 0640);
    }
  }
  umask(before);
}

TEST_CASE("a file that is replaced gives its owner and its group to the new one, unless the call names a mode") {
  if (geteuid() != 0) {
    tests::skip_case("only root may give a file to another user");
    return;
  }
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    TempDir dir;
    make_sources(dir);
    CHECK(created(dir.file()).close().ok());
    REQUIRE(chown(dir.file().c_str(), 12'345, 12'346) == 0);
    CHECK(call.make(dir, dir.file(), std::nullopt).ok());
    CHECK(rights_of(dir.file()).owner == 12'345);
    CHECK(rights_of(dir.file()).group == 12'346);
    CHECK(call.make(dir, dir.file(), 0660).ok());
    CHECK(rights_of(dir.file()).owner == 0);
    CHECK(rights_of(dir.file()).group == getegid());
  }
}

// A container that lacks CAP_FOWNER has such a root: it cannot change what it has given away.
TEST_CASE("root without power over other users' files replaces one, and gives it back to its owner") {
  if (geteuid() != 0) {
    tests::skip_case("only root may give a file to another user");
    return;
  }
  for (const unsigned mode : {0640U, 0440U}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    REQUIRE(chown(dir.file().c_str(), 12'345, 12'346) == 0);
    REQUIRE(chmod(dir.file().c_str(), mode) == 0);
    REQUIRE(chmod(dir.path().c_str(), 0777) == 0);
    CHECK(in_child([&] {
            if (!drop_capability(CAP_FOWNER)) return 1;
            return create_at(dir.file(), std::nullopt, false).ok() ? 0 : 2;
          }) == 0);
    CHECK(rights_of(dir.file()).owner == 12'345);
    CHECK(rights_of(dir.file()).group == 12'346);
    CHECK(rights_of(dir.file()).mode == mode);
  }
}

// The file of a user for whom the container has no number is shown as that of its user "nobody".
TEST_CASE("the file of a user that is unknown in a user namespace is not given to the user nobody") {
  if (geteuid() != 0) {
    tests::skip_case("only root may make a namespace with two users");
    return;
  }
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  REQUIRE(chown(dir.file().c_str(), 12'345, 12'346) == 0);
  REQUIRE(chmod(dir.file().c_str(), 0666) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0777) == 0);
  const int code = in_child([&] {
    if (!become_root_of_namespace(100'000, 65'536)) return 77;
    return create_at(dir.file(), std::nullopt, false).ok() ? 0 : 2;
  });
  if (code == 77) {
    tests::skip_case("user namespaces are not allowed here");
    return;
  }
  CHECK(code == 0);
  CHECK(rights_of(dir.file()).owner == 100'000);
  CHECK(rights_of(dir.file()).group == 100'000);
  CHECK(rights_of(dir.file()).mode == 0666);
}

TEST_CASE("the error for a file that may not be opened has its mode and its owner") {
  if (geteuid() != 0) {
    tests::skip_case("only root can take the rights of another user");
    return;
  }
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  REQUIRE(chown(dir.file().c_str(), 12'345, 12'346) == 0);
  REQUIRE(chmod(dir.file().c_str(), 0640) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0755) == 0);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    CHECK(in_child([&] {
            if (!become_nobody()) return 1;
            const auto refused = Filter::open(dir.file(), mode);
            if (code_of(refused) != Code::kAccess) return 2;
            const std::string& said = refused.error().message;
            return said.find("Its mode is 0640, its owner user 12345, its group 12346") != std::string::npos ? 0 : 3;
          }) == 0);
  }
}

// Otherwise the members of another group could read what only those of the old one could.
TEST_CASE("the group gets no more than the others if the new file cannot have the old one's group") {
  if (geteuid() != 0) {
    tests::skip_case("only root may give a file to another user");
    return;
  }
  // Others must be able to write to it, or they could not replace it.
  for (const auto& [mode, expected] : {std::pair(0676U, 0666U), std::pair(0646U, 0646U)}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    REQUIRE(chown(dir.file().c_str(), 12'345, 12'346) == 0);
    REQUIRE(chmod(dir.file().c_str(), mode) == 0);
    REQUIRE(chmod(dir.path().c_str(), 0777) == 0);
    CHECK(in_child([&] {
            if (!become_nobody()) return 1;
            return create_at(dir.file(), std::nullopt, false).ok() ? 0 : 2;
          }) == 0);
    CHECK(rights_of(dir.file()).owner != 12'345);
    CHECK(rights_of(dir.file()).mode == expected);
  }
}

TEST_CASE("a replaced file gives its access list to the new one, and one without a list removes the folder's") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const std::string list = list_for_another_user();
  if (setxattr(dir.file().c_str(), kAccessList, list.data(), list.size(), 0) != 0) {
    tests::skip_case("the filesystem of " + dir.path() + " has no access lists");
    return;
  }
  CHECK(create_at(dir.file(), std::nullopt, false).ok());
  CHECK(access_list_of(dir.file()) == list);
  CHECK(rights_of(dir.file()).mode == 0660);
  CHECK(create_at(dir.file(), 0600, false).ok());
  CHECK(access_list_of(dir.file()).empty());
  REQUIRE(setxattr(dir.path().c_str(), "system.posix_acl_default", list.data(), list.size(), 0) == 0);
  CHECK(create_at(dir.file(), std::nullopt, false).ok());
  CHECK(access_list_of(dir.file()).empty());
  CHECK(rights_of(dir.file()).mode == 0600);
}
