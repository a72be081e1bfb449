// A new file is complete under its name or not there. A file that was there before is touched only if it is to be
// replaced.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using Names = std::vector<std::string>;

namespace {

Options with(bool replace, bool unpublished) {
  Options options = small_options();
  options.replace = replace;
  options.unpublished = unpublished;
  return options;
}

unsigned mode_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

// Runs the body on filesystems with unnamed files and without.
template <class Body>
void on_either_filesystem(Body body) {
  for (const bool no_unnamed : {false, true}) {
    const faults::Scope scope;
    faults::no_unnamed_files = no_unnamed;
    CAPTURE(no_unnamed);
    body();
  }
}

// Starts a process that creates a file, and kills it at a moment from the start to a little after the end.
void create_and_kill(const std::string& path, const std::string& how, std::mt19937_64& random) {
  using Clock = std::chrono::steady_clock;  // clock: the kill may come at any moment
  static Clock::duration whole = [&] {
    TempDir dir;
    const auto begin = Clock::now();
    CHECK(wait_for(start_worker({"create", dir.file(), "new"})) == 0);
    return Clock::now() - begin;
  }();
  const pid_t worker = start_worker({"create", path, how});
  std::uniform_int_distribution<Clock::rep> when(0, whole.count());
  std::this_thread::sleep_for(Clock::duration(when(random)));
  ::kill(worker, SIGKILL);
  const int ended = wait_for(worker);
  CHECK((ended == 0 || ended == 1000 + SIGKILL));
}

}  // namespace

TEST_CASE("a filter is made in a folder that can be written to and not read") {
  TempDir dir(memory_folder());
  const std::string folder = dir.file("drop box");
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0755) == 0);
  REQUIRE(chmod(folder.c_str(), geteuid() == 0 ? 0733 : 0300) ==
          0);  // root's child is another user, in no group of ours
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          if (access(folder.c_str(), R_OK) == 0) return 21;
          auto filter = Filter::create(folder + "/filter.bf", small_options());
          if (!filter || !filter->add("a key").ok()) return 22;
          return filter->close().ok() ? 0 : 23;
        }) == 0);
  CHECK(state_of(folder + "/filter.bf") == FileState::kClean);
}

TEST_CASE("a process that is killed while it creates a file leaves nothing, or a file that opens") {
  std::mt19937_64 random(first_seed());
  for (std::uint64_t i = 0; i < option("creations", 40); ++i) {
    TempDir dir;
    create_and_kill(dir.file(), "new", random);
    if (dir.names().empty()) continue;
    REQUIRE(dir.names() == Names{"filter.bf"});
    const Code code = open_code(dir.file(), OpenMode::kRead);
    // Killed in the sync of its close: no process can know that nothing was being added.
    CHECK((code == Code::kOk || code == Code::kUnclean));
    CHECK(inspect(dir.file(), false)->valid());
  }
}

TEST_CASE("a process that is killed while it replaces a file leaves the old one or the new one") {
  std::mt19937_64 random(first_seed(2));
  for (std::uint64_t i = 0; i < option("creations", 40) / 2; ++i) {
    TempDir dir;
    {
      Filter old = created(dir.file());
      add_keys(old, 1, 0, kSome);
    }
    create_and_kill(dir.file(), "replace", random);
    const auto report = inspect(dir.file(), false);
    REQUIRE(report.ok());
    CHECK(report->valid());
    if (report->identity->capacity != 4000) continue;
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a file that is there already is not touched unless it is to be replaced") {
  on_either_filesystem([] {
    TempDir dir;
    {
      Filter old = created(dir.file());
      add_keys(old, 1, 0, kSome);
    }
    const std::string before = read_bytes(dir.file());
    const auto refused = Filter::create(dir.file(), small_options());
    REQUIRE(code_of(refused) == Code::kExists);
    CHECK(refused.error().message.find(dir.file()) != std::string::npos);
    CHECK(read_bytes(dir.file()) == before);
    CHECK(dir.names() == Names{"filter.bf"});
  });
}

TEST_CASE("folders and symbolic links are in the way, and are never replaced") {
  on_either_filesystem([] {
    TempDir dir;
    REQUIRE(mkdir(dir.file("folder").c_str(), 0700) == 0);
    REQUIRE(symlink("nowhere", dir.file("link").c_str()) == 0);
    for (const std::string name : {"folder", "link"}) {
      CHECK(code_of(Filter::create(dir.file(name), with(false, false))) == Code::kExists);
    }
    CHECK(code_of(Filter::create(dir.file("folder"), with(true, false))) == Code::kNotRegular);
    CHECK(code_of(Filter::create(dir.file("link"), with(true, false))) == Code::kSymlink);
    CHECK(dir.names() == Names{"folder", "link"});
  });
}

TEST_CASE("a replaced file's readers keep the old one and answer maybe, and the new one is there at once") {
  on_either_filesystem([] {
    for (const char* mode : {"open read", "open write", "open exclusive"}) {
      TempDir dir;
      CHECK(created(dir.file()).close().ok());
      Remote old(dir.file());
      CHECK(old.call(mode) == "BFS_OK");
      Filter fresh = created(dir.file(), with(true, false));
      add_keys(fresh, 2, 0, kSome);
      CHECK(old.call("ask 999 0 100") == "100");
      CHECK(old.call("health") == "BFS_ESUPERSEDED");
      CHECK(old.call("close") == "BFS_OK");
      CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 2, 0, kSome) == kSome);
      CHECK(fresh.close().ok());
      CHECK(dir.names() == Names{"filter.bf"});
    }
  });
}

TEST_CASE("replacing a file that does not exist makes a new file") {
  on_either_filesystem([] {
    TempDir dir;
    CHECK(created(dir.file(), with(true, false)).close().ok());
    CHECK(dir.names() == Names{"filter.bf"});
    CHECK(state_of(dir.file()) == FileState::kClean);
  });
}

TEST_CASE("an unpublished filter has no name until it is published, and then is complete and clean") {
  TempDir dir;
  Filter filter = created(dir.file(), with(false, true));
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.sync({.owner = 5, .mark = 50}).ok());
  add_keys(filter, 2, 0, kSome);
  CHECK(dir.names().empty());
  CHECK(filter.publish().ok());
  CHECK(dir.names() == Names{"filter.bf"});
  CHECK(state_of(dir.file()) == FileState::kClean);
  CHECK(filter.add("more").code() == Code::kReadOnly);
  CHECK(filter.sync().code == Code::kReadOnly);
  CHECK(filter.publish().code == Code::kInvalid);
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(maybes(reader, 1, 0, kSome) + maybes(reader, 2, 0, kSome) == 2 * kSome);
  CHECK(reader.get_mark(5) == 50);
  CHECK(opened(Filter::open(dir.file(), OpenMode::kExclusive)).close().ok());
}

TEST_CASE("a filter that is never published leaves nothing behind") {
  on_either_filesystem([] {
    TempDir dir;
    {
      Filter filter = created(dir.file(), with(false, true));
      add_keys(filter, 1, 0, kSome);
      if (dir.names().empty()) CHECK(filter.close().ok());
    }
    CHECK(dir.names().empty());
  });
}

TEST_CASE("no other process writes to a filter that is not published, not even by its temporary name") {
  const faults::Scope scope;
  faults::no_unnamed_files = true;
  TempDir dir;
  Options options = small_options();
  options.unpublished = true;
  Filter filter = created(dir.file(), options);
  REQUIRE(dir.names().size() == 1);
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    CHECK(open_code(dir.file(dir.names().front()), mode) == Code::kBusy);
  }
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.publish().ok());
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk);
}

TEST_CASE("publishing on a taken name is refused, the other file stays, and the filter can continue") {
  on_either_filesystem([] {
    TempDir dir;
    Filter filter = created(dir.file(), with(false, true));
    add_keys(filter, 1, 0, kSome);
    std::ofstream(dir.file()) << "somebody else's";
    CHECK(filter.publish().code == Code::kExists);
    CHECK(read_bytes(dir.file()) == "somebody else's");
    add_keys(filter, 2, 0, kSome);
    for (const std::string& name : dir.names()) {  // its temporary name, where it has one
      if (name != "filter.bf") CHECK_FALSE(look_at(dir.file(name)).slots.clean());
    }
    CHECK(filter.publish().code == Code::kExists);
    REQUIRE(unlink(dir.file().c_str()) == 0);
    CHECK(filter.publish().ok());
    CHECK(dir.names() == Names{"filter.bf"});
    CHECK(state_of(dir.file()) == FileState::kClean);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(maybes(reader, 1, 0, kSome) + maybes(reader, 2, 0, kSome) == 2 * kSome);
  });
}

TEST_CASE("publishing that replaces a file waits for no process") {
  on_either_filesystem([] {
    TempDir dir;
    Filter old = created(dir.file());
    Filter filter = created(dir.file(), with(true, true));
    add_keys(filter, 1, 0, kSome);
    CHECK(filter.publish().ok());
    CHECK(old.health() == Code::kSuperseded);
    CHECK(dir.names() == Names{"filter.bf"});
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  });
}

TEST_CASE("a filter that has its name cannot be published") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.publish().code == Code::kInvalid);
  CHECK(filter.add("a key").ok());
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).publish().code == Code::kInvalid);
}

TEST_CASE("the mode is the one asked for, less the umask, and 0600 if none was asked for") {
  const mode_t before = umask(027);
  on_either_filesystem([] {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    CHECK(mode_of(dir.file()) == 0600);
    Options options = small_options();
    options.mode = 0666;
    CHECK(created(dir.file("open.bf"), options).close().ok());
    CHECK(mode_of(dir.file("open.bf")) == 0640);
    options.mode = 04755;
    CHECK(code_of(Filter::create(dir.file("bad.bf"), options)) == Code::kInvalid);
  });
  umask(before);
}

TEST_CASE("a file size limit fails the creation with no space, and leaves nothing behind") {
  for (const bool no_unnamed : {false, true}) {
    for (const rlim_t limit : {rlim_t{4096}, rlim_t{1} << 20}) {
      TempDir dir;
      CHECK(in_child([&] {
              faults::no_unnamed_files = no_unnamed;
              const rlimit bytes{limit, limit};
              if (setrlimit(RLIMIT_FSIZE, &bytes) != 0) return 10;
              Options options;
              options.max_bytes = std::uint64_t{8} << 20;
              options.capacity = 1'000'000;
              const auto filter = Filter::create(dir.file(), options);
              if (filter.ok()) return 11;
              if (filter.error().os_errno != EFBIG) return 12;
              return filter.error().code == Code::kNoSpace ? 0 : 13;
            }) == 0);
      CHECK(dir.names().empty());
    }
  }
}

TEST_CASE("a folder that is not there or not to be written to is an error that names the path") {
  TempDir dir;
  const auto missing = Filter::create(dir.file("no/such.bf"), small_options());
  REQUIRE(code_of(missing) == Code::kNotFound);
  CHECK(missing.error().message.find(dir.file("no/such.bf")) != std::string::npos);
  REQUIRE(chmod(dir.path().c_str(), 0555) == 0);
  CHECK(in_child([&] {
          if (!become_nobody()) return 10;
          const auto refused = Filter::create(dir.file(), small_options());
          return !refused.ok() && refused.error().code == Code::kAccess ? 0 : 11;
        }) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0755) == 0);
  CHECK(dir.names().empty());
}

// The kernel sends SIGXFSZ at a write or an allocation past the limit, which ends a process that does not expect it.
TEST_CASE("a writer under a file size limit that its header does not fit in is refused, and is not killed") {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{4096}, rlim_t{8192}, rlim_t{12'287}}) {
    CAPTURE(limit);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    const auto opens_under_the_limit = [&] {
      const rlimit bytes{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &bytes) != 0) return 10;
      const auto filter = Filter::open(dir.file(), OpenMode::kWrite);
      return !filter.ok() && filter.error().code == Code::kNoSpace ? 0 : 11;
    };
    CHECK(in_child(opens_under_the_limit) == 0);
    CHECK(state_of(dir.file()) == FileState::kClean);
    Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
    CHECK(in_child(opens_under_the_limit) == 0);  // its first sync would poison the file for the other one
    CHECK(other.sync({.owner = 1, .mark = 1}).ok());
  }
}

TEST_CASE("a sync under a file size limit that came later is an error and no signal") {
  TempDir dir;
  CHECK(in_child([&] {
          auto filter = Filter::create(dir.file(), small_options());
          const rlimit bytes{4096, 4096};
          if (!filter || !filter->add("a key").ok() || setrlimit(RLIMIT_FSIZE, &bytes) != 0) return 10;
          return filter->sync({.owner = 1, .mark = 1}).code == Code::kPoisoned ? 0 : 11;
        }) == 0);
}

// Before Linux 6.9 any signal ends an fallocate of a tmpfs, which then gives back what it had got.
TEST_CASE("a file is created under a profiling timer, on kernels where a signal undoes an allocation") {
  const faults::Scope scope;
  constexpr std::uint64_t kBetweenSignals = std::uint64_t{100} << 20;
  constexpr int kPatience = 100;
  int calls = 0;
  faults::on_allocate = [&](std::uint64_t bytes) {
    if (++calls > kPatience) return EIO;  // otherwise it would never end
    return bytes > kBetweenSignals ? EINTR : 0;
  };
  TempDir dir(memory_folder());
  Options options;
  options.max_bytes = std::uint64_t{300} << 20;
  options.capacity = 1'000'000;
  CHECK(code_of(Filter::create(dir.file(), options)) == Code::kOk);
  CHECK(std::filesystem::file_size(dir.file()) > (std::uint64_t{250} << 20));
}

TEST_CASE("a file of some hundred MiB is created under a timer that fires all the time") {
  TempDir dir(memory_folder());
  CHECK(in_child([&] {
          std::signal(SIGPROF, [](int) {});
          const itimerval often{{0, 1000}, {0, 1000}};
          if (setitimer(ITIMER_PROF, &often, nullptr) != 0) return 10;
          Options options;
          options.max_bytes = std::uint64_t{300} << 20;
          options.capacity = 1'000'000;
          return Filter::create(dir.file(), options).ok() ? 0 : 11;
        }) == 0);
}
