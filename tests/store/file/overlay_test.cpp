// An overlay filesystem, as in containers: a process that opened the lower layer's file does not see what is written to
// the copy in the upper one. So a reader has to open that copy.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "faults.hpp"
#include "mounts.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

std::string layers;  // the folder of everything

std::string merged() { return layers + "/merged/filter.bf"; }

void make_filter(const std::string& path) { CHECK(created(path).close().ok()); }

void make_window(const std::string& path) {
  Options options = small_options();
  options.window_ms = 7;
  CHECK(created(path, options).close().ok());
}

void make_growing(const std::string& path) {
  Options options;
  options.layout = Layout::kGrowing;
  options.capacity = kSome;
  CHECK(created(path, options).close().ok());
}

// Makes a sealed file to which writer 1 has added keys.
void make_sealed(const std::string& path) {
  const std::string source = layers + "/source.bf";
  Filter filter = created(source);
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.close().ok());
  CHECK(seal(source, path).ok());
  CHECK(remove(source.c_str()) == 0);
}

// A filter in the lower layer, and the overlay as it was made; gone with the object.
class Overlay {
 public:
  explicit Overlay(bool writable, void (*make)(const std::string& path) = make_filter) {
    make(layers + "/lower/filter.bf");
    const std::string upper = writable ? ",upperdir=" + layers + "/upper,workdir=" + layers + "/work" : "";
    const std::string options = "lowerdir=" + layers + "/lower" + (writable ? upper : ":" + layers + "/empty");
    REQUIRE(mount("none", (layers + "/merged").c_str(), "overlay", 0, options.c_str()) == 0);
  }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  ~Overlay() {
    umount2((layers + "/merged").c_str(), MNT_DETACH);
    remove((layers + "/lower/filter.bf").c_str());
    remove((layers + "/upper/filter.bf").c_str());
  }
};

bool is_copied_up() { return access((layers + "/upper/filter.bf").c_str(), F_OK) == 0; }

// A key in memory that is read for the first time: what happens then happens in the middle of a batch.
constexpr std::size_t kTrapBytes = 4096;
char* trap = nullptr;

void lose_descriptors(int) {
  closefrom(3);
  mprotect(trap, kTrapBytes, PROT_READ);
}

// Returns whether the description has a lock (proc(5), fdinfo).
bool has_lock(int number) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(number));
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("lock:", 0) == 0 && line.find("OFDLCK") != std::string::npos) return true;
  }
  return false;
}

// Closes at most this number of descriptors with a lock. Returns how many it closed.
int close_locks(int most) {
  int closed = 0;
  for (int number = 3; number < 256 && closed < most; ++number) {
    if (has_lock(number) && close(number) == 0) ++closed;
  }
  return closed;
}

bool make_layers(const std::string& folder) {
  if (!own_mounts() || mount("none", folder.c_str(), "tmpfs", 0, "size=16m") != 0) return false;
  for (const char* name : {"/lower", "/upper", "/work", "/merged", "/empty"}) {
    if (mkdir((folder + name).c_str(), 0700) != 0) return false;
  }
  const std::string options = "lowerdir=" + folder + "/lower,upperdir=" + folder + "/upper,workdir=" + folder + "/work";
  const std::string place = folder + "/merged";
  return mount("none", place.c_str(), "overlay", 0, options.c_str()) == 0 && umount2(place.c_str(), MNT_DETACH) == 0;
}

}  // namespace

TEST_CASE("on an overlay a reader that came before the first writer sees what that one adds") {
  const Overlay overlay(true);
  const Filter reader = opened(Filter::open(merged(), OpenMode::kRead));
  CHECK(answers_no(reader));
  Filter writer = opened(Filter::open(merged(), OpenMode::kWrite));
  add_keys(writer, 1, 0, kSome);
  CHECK(maybes(reader, 1, 0, kSome) == kSome);
  CHECK(writer.close().ok());
  CHECK(maybes(opened(Filter::open(merged(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("on an overlay that cannot be written to a reader is refused unless the caller insists") {
  const Overlay overlay(false);
  CHECK(open_code(merged(), OpenMode::kRead) == Code::kFilesystem);
  CHECK(answers_no(opened(Filter::open(merged(), OpenMode::kRead, {.any_filesystem = true}))));
}

// A filter in a container's image, which once was copied up as a whole by its first reader, or refused.
TEST_CASE("a sealed file of a lower layer is read where it is, whether or not the overlay can be written to") {
  for (const bool writable : {true, false}) {
    CAPTURE(writable);
    const Overlay overlay(writable, make_sealed);
    for (const OpenOptions& options : {OpenOptions{}, OpenOptions{.no_write = true}, OpenOptions{.verify = true}}) {
      const Filter reader = opened(Filter::open(merged(), OpenMode::kRead, options));
      CHECK(maybes(reader, 1, 0, kSome) == kSome);
      CHECK(answers_no(reader));
      CHECK(reader.is_current().value());
    }
    CHECK_FALSE(is_copied_up());
  }
  const Overlay overlay(true);
  CHECK_FALSE(is_copied_up());
  CHECK(answers_no(opened(Filter::open(merged(), OpenMode::kRead))));
  CHECK(is_copied_up());
}

// The reader maps the lower layer's file. The news that another one replaces it is in the upper layer's.
TEST_CASE("a reader of a sealed file of a lower layer learns by is_current that the file is, or was, replaced") {
  const Overlay overlay(true, make_sealed);
  const Filter reader = opened(Filter::open(merged(), OpenMode::kRead));
  Options options = small_options();
  options.replace = options.unpublished = true;
  Filter fresh = created(merged(), options);
  CHECK(fresh.supersede().ok());
  CHECK(is_copied_up());
  CHECK_FALSE(reader.is_current().value());
  add_keys(fresh, 2, 0, kSome);
  CHECK(fresh.publish().ok());
  CHECK_FALSE(reader.is_current().value());
  const Filter again = opened(Filter::open(merged(), OpenMode::kRead));
  CHECK(again.is_current().value());
  CHECK(maybes(again, 2, 0, kSome) == kSome);
}

TEST_CASE("a new filter on an overlay is like any other") {
  const Overlay overlay(true);
  Filter filter = created(layers + "/merged/new.bf");
  add_keys(filter, 1, 0, kSome);
  CHECK(maybes(opened(Filter::open(layers + "/merged/new.bf", OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(filter.close().ok());
  CHECK(remove((layers + "/merged/new.bf").c_str()) == 0);
}

// On an overlay a mapping keeps the upper layer's file, and not the description that has the lock.
TEST_CASE("on an overlay a writer has its lock as long as it lives") {
  const Overlay overlay(true);
  const std::string made = layers + "/merged/new.bf";
  CHECK(created(made).close().ok());
  for (const std::string& path : {merged(), made}) {
    Filter writer = opened(Filter::open(path, OpenMode::kWrite));
    CHECK(open_code(path, OpenMode::kExclusive) == Code::kBusy);
    CHECK(state_of(path) == FileState::kInUse);
    CHECK(opened(Filter::open(path, OpenMode::kWrite)).close().ok());
    CHECK(state_of(path) == FileState::kInUse);
    CHECK(writer.close().ok());
    CHECK(state_of(path) == FileState::kClean);
  }
  CHECK(remove(made.c_str()) == 0);
}

// On an overlay the lock ends with a descriptor, which other code may close. Two exclusive writers would lose each
// other's keys, and a file that says clean would be written to.
TEST_CASE("on an overlay a writer that lost its lock with its descriptors adds nothing more, and says why") {
  const Overlay overlay(true);
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    CAPTURE(static_cast<int>(mode));
    CHECK(in_child([&] {
            auto writer = Filter::open(merged(), mode);
            if (!writer || !writer->add(key_of(1, 0)).ok()) return 1;
            closefrom(3);
            if (writer->add(key_of(1, 1)).ok()) return 2;
            if (writer->health() != Code::kPoisoned) return 3;
            if (writer->add(key_of(1, 2)).code() != Code::kPoisoned) return 4;
            const std::string_view keys[] = {"one", "two"};
            if (writer->add_keys(Keys::views(keys)).ok()) return 5;
            auto next = Filter::open(merged(), OpenMode::kExclusive);
            if (!next || !next->add(key_of(2, 0)).ok() || next->health() != Code::kOk) return 6;
            if (writer->sync({.owner = 1, .mark = 2}).code != Code::kLost) return 7;
            if (writer->close().code != Code::kLost) return 8;
            if (!next->add(key_of(2, 1)).ok() || !next->close().ok()) return 9;
            return inspect(merged(), false)->state == FileState::kClean ? 0 : 10;
          }) == 0);
  }
  const Filter reader = opened(Filter::open(merged(), OpenMode::kRead));
  CHECK(maybes(reader, 1, 0, 1) == 1);
  CHECK(maybes(reader, 2, 0, 2) == 2);
}

// The plain stores of an exclusive writer could take away bits of a writer that was let in meanwhile.
TEST_CASE("on an overlay an exclusive writer that loses its lock in the middle of a batch poisons the file") {
  const Overlay overlay(true);
  CHECK(in_child([&] {
          auto writer = Filter::open(merged(), OpenMode::kExclusive);
          trap = static_cast<char*>(mmap(nullptr, kTrapBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
          if (!writer || trap == MAP_FAILED) return 1;
          struct sigaction losing {};
          losing.sa_handler = lose_descriptors;
          if (sigaction(SIGSEGV, &losing, nullptr) != 0) return 2;
          std::vector<std::string_view> keys(1000, "key");
          keys[500] = {trap, 8};
          if (writer->add_keys(Keys::views(keys)).code() != Code::kPoisoned) return 3;
          return inspect(merged(), false)->state == FileState::kPoisoned ? 0 : 4;
        }) == 0);
}

// Only the descriptor of the lock is lost. The file's own is there, and a sync by it would have worked.
TEST_CASE("on an overlay a writer that lost only the descriptor of its lock leaves the file to writers with locks") {
  const Overlay overlay(true);
  CHECK(in_child([&] {
          auto writer = Filter::open(merged(), OpenMode::kWrite);
          if (!writer || !writer->add(key_of(1, 0)).ok()) return 1;
          auto other = Filter::open(merged(), OpenMode::kWrite);
          if (!other) return 2;
          if (close_locks(1) != 1) return 3;
          if (writer->add(key_of(1, 1)).ok()) return 4;
          if (writer->sync({.owner = 1, .mark = 2}).code != Code::kLost) return 5;
          if (writer->close().code != Code::kLost) return 6;
          if (!other->add(key_of(2, 0)).ok() || other->health() != Code::kOk || !other->close().ok()) return 7;
          return inspect(merged(), false)->state == FileState::kClean ? 0 : 8;
        }) == 0);
  CHECK(maybes(opened(Filter::open(merged(), OpenMode::kRead)), 1, 0, 1) == 1);
}

// A superseder on an overlay keeps a descriptor, too.
TEST_CASE("on an overlay a superseder that lost its lock replaces nothing") {
  const Overlay overlay(true);
  CHECK(in_child([&] {
          Options options = small_options();
          options.replace = options.unpublished = true;
          auto fresh = Filter::create(merged(), options);
          if (!fresh || !fresh->supersede().ok()) return 1;
          closefrom(3);
          auto late = Filter::open(merged(), OpenMode::kWrite);
          if (!late || !late->add(key_of(2, 0)).ok()) return 2;
          if (fresh->publish().ok()) return 3;
          return late->health() == Code::kOk && late->close().ok() ? 0 : 4;
        }) == 0);
  CHECK(maybes(opened(Filter::open(merged(), OpenMode::kRead)), 2, 0, 1) == 1);
}

// A process that has the lower layer's file open does not see what happens to the upper one.
TEST_CASE("on an overlay a superseder that lost its lock leaves the flag of another superseder") {
  const Overlay overlay(true);
  Options options = small_options();
  options.replace = options.unpublished = true;
  CHECK(in_child([&] {
          if (!opened(Filter::open(merged(), OpenMode::kWrite)).close().ok()) return 8;  // copies the file up
          const auto reader = Filter::open(merged(), OpenMode::kRead);
          auto first = Filter::create(merged(), options);
          if (!reader || !first || !first->supersede().ok()) return 1;
          // Not the descriptor of the file itself, by which the first one sees that the path still names its file.
          if (close_locks(256) == 0) return 6;
          auto second = Filter::create(merged(), options);
          if (!second || !second->supersede().ok()) return 2;
          static_cast<void>(first->close());
          if (reader->health() != Code::kSuperseded) return 7;
          const auto late = Filter::open(merged(), OpenMode::kWrite, {.lock_timeout_ms = 0});
          if (late.ok()) return 3;
          if (!second->add(key_of(2, 0)).ok()) return 4;
          return second->publish().ok() ? 0 : 5;
        }) == 0);
}

TEST_CASE("on an overlay no epoch ends, because a turner that lost its lock would clear what others add") {
  const Overlay overlay(true, make_window);
  Filter writer = opened(Filter::open(merged(), OpenMode::kWrite));
  add_keys(writer, 1, 0, kSome);
  for (const auto from : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0)}) {
    const auto turned = writer.turn(from);
    REQUIRE_FALSE(turned.ok());
    CHECK(turned.error().code == Code::kUnsupported);
    CHECK(turned.error().message.find("overlay") != std::string::npos);
  }
  CHECK(writer.stats({}).turning->epoch == 0);
  CHECK(maybes(writer, 1, 0, kSome) == kSome);
}

// On an overlay the mapping of a reader is told nothing of failed writes.
TEST_CASE(
    "on an overlay no body grows, because a grower that lost its lock could not know; it takes keys all the same") {
  const Overlay overlay(true, make_growing);
  Filter filter = opened(Filter::open(merged(), OpenMode::kWrite));
  add_keys(filter, 1, 0, 5 * kSome);
  CHECK(filter.stats({}).shape.capacity == kSome);
  CHECK(maybes(filter, 1, 0, 5 * kSome) == 5 * kSome);
  CHECK(filter.close().ok());
  CHECK(maybes(opened(Filter::open(merged(), OpenMode::kRead)), 1, 0, 5 * kSome) == 5 * kSome);
}

TEST_CASE("on an overlay a reader asks the kernel by a sync, and learns of a failed write") {
  const Overlay overlay(true);
  Filter writer = opened(Filter::open(merged(), OpenMode::kWrite));
  add_keys(writer, 1, 0, kSome);
  const Filter reader = opened(Filter::open(merged(), OpenMode::kRead));
  CHECK(reader.is_current().value());
  const faults::Scope scope;
  faults::on_sync = [](int) { return EIO; };
  static_cast<void>(reader.is_current());
  faults::on_sync = nullptr;
  CHECK(reader.health() == Code::kPoisoned);
  CHECK(maybes(reader, kNobody, 0, kSome) == kSome);
}

TEST_CASE("on an overlay a range that is zero-filled after it was opened is in doubt, or was refused") {
  const Overlay overlay(true);
  const Options options = small_options();
  const std::uint64_t bytes = *Filter::required_bytes(options);
  const std::unique_ptr<void, decltype(&std::free)> room(std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
  REQUIRE(Filter::format({static_cast<std::byte*>(room.get()), bytes}, options).ok());
  write_bytes(layers + "/lower/filter.bf", 0, {static_cast<const char*>(room.get()), bytes});
  if (const auto range = Filter::open_range(merged(), 0, 0)) {
    write_bytes(merged(), 0, std::string(bytes, '\0'));
    CHECK(maybes(*range, 1, 0, kSome) == kSome);
  }
}

int main(int count, char** values) {
  const TempDir dir;
  if (!make_layers(dir.path())) {
    std::printf("SKIP: an overlay can not be mounted here: %s\n", std::strerror(errno));
    return 77;
  }
  layers = dir.path();
  doctest::Context context(count, values);
  const int outcome = context.run();
  umount2(dir.path().c_str(), MNT_DETACH);
  return outcome;
}
