// Reading, writing, exclusively: which handles exclude which, what a reader may do, and many processes that open and
// close at once.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Makes a clean file with 200 keys of writer 1.
std::string filled(const TempDir& dir) {
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.close().ok());
  return dir.file();
}

// Three writers, one exclusive writer and two readers open and close the file this number of times, at once.
void churn(const std::string& parent, std::uint64_t rounds) {
  TempDir dir(parent);
  const std::string path = filled(dir);
  std::vector<pid_t> workers;
  for (const char* mode : {"write", "write", "write", "exclusive", "read", "read"}) {
    const bool reading = mode == std::string("read");
    workers.push_back(start_worker({"churn", path, mode, std::to_string(reading ? 4 * rounds : rounds)}));
  }
  for (const pid_t worker : workers) CHECK(wait_for(worker) == 0);
  CHECK(state_of(path) == FileState::kClean);
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  CHECK(maybes(reader, 1, 0, kSome) == kSome);
  CHECK(maybes(reader, 2, 0, rounds) == rounds);
  CHECK(answers_no(reader));
}

}  // namespace

TEST_CASE("an exclusive writer excludes every other writer, and no reader") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter exclusive = opened(Filter::open(path, OpenMode::kExclusive));
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(path, mode);
    REQUIRE(code_of(refused) == Code::kBusy);
    CHECK(refused.error().message.find(path) != std::string::npos);
  }
  Remote other(path);
  CHECK(other.call("open write") == "BFS_EBUSY");
  CHECK(other.call("open exclusive") == "BFS_EBUSY");
  CHECK(other.call("open read") == "BFS_OK");
  CHECK(other.call("ask 1 0 200") == "200");
  add_keys(exclusive, 2, 0, kSome);
  CHECK(other.call("ask 2 0 200") == "200");
  CHECK(exclusive.close().ok());
  CHECK(other.call("open exclusive") == "BFS_OK");
  CHECK(open_code(path, OpenMode::kWrite) == Code::kBusy);
}

TEST_CASE("an exclusive writer is excluded by every other writer, and by no reader") {
  TempDir dir;
  const std::string path = filled(dir);
  Remote shared(path);
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  CHECK(shared.call("open write") == "BFS_OK");
  CHECK(open_code(path, OpenMode::kExclusive) == Code::kBusy);
  CHECK(shared.call("add 2 0 200") == "200");  // it lost nothing by the refused exclusive writer
  CHECK(shared.call("close") == "BFS_OK");
  CHECK(open_code(path, OpenMode::kExclusive) == Code::kOk);
  CHECK(maybes(reader, 2, 0, kSome) == kSome);
}

TEST_CASE("the handle that made a file is a writer like others") {
  TempDir dir;
  const Filter filter = created(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kExclusive) == Code::kBusy);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk);
}

TEST_CASE("a killed exclusive writer excludes no process") {
  TempDir dir;
  const std::string path = filled(dir);
  Remote exclusive(path);
  CHECK(exclusive.call("open exclusive") == "BFS_OK");
  CHECK(exclusive.call("add 2 0 200") == "200");
  exclusive.kill();
  const Filter next = opened(Filter::open(path, OpenMode::kExclusive));
  CHECK(maybes(next, 2, 0, kSome) == kSome);
}

TEST_CASE("a reader refuses every form of add, and sync, and writes nothing") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter reader = opened(Filter::open(path, OpenMode::kRead));
  const std::string before = read_bytes(path);
  for (const AddForm& form : add_forms()) {
    CAPTURE(form.name);
    CHECK(form.add(reader, 3, 300).code() == Code::kReadOnly);
  }
  CHECK(reader.sync({.owner = 1, .mark = 1}).code == Code::kReadOnly);
  CHECK(reader.health() == Code::kOk);
  CHECK(reader.close().ok());
  CHECK(read_bytes(path) == before);
}

TEST_CASE("every form of add is found by every form of lookup") {
  const auto padded = [](const std::string& form) { return form == "fixed" || form == "strided"; };  // to other keys
  for (const AddForm& adding : add_forms()) {
    for (const AskForm& asking : ask_forms()) {
      if (padded(adding.name) != padded(asking.name)) continue;
      CAPTURE(adding.name);
      CAPTURE(asking.name);
      TempDir dir(memory_folder());
      Filter filter = created(dir.file());
      const std::uint64_t count = adding.name.rfind("one", 0) == 0 ? 1 : 600;
      CHECK(adding.add(filter, 1, count).ok());
      CHECK(asking.ask(filter, 1, count) == count);
      CHECK(asking.ask(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, count) == count);
    }
  }
}

TEST_CASE("an unknown mode is refused, and so is a file that is missing or may not be opened") {
  TempDir dir;
  const std::string path = filled(dir);
  for (const std::uint32_t mode : {0U, 3U, 5U, 6U, 8U})
    CHECK(open_code(path, static_cast<OpenMode>(mode)) == Code::kInvalid);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    CHECK(open_code(dir.file("missing"), mode) == Code::kNotFound);
    CHECK(open_code(dir.path(), mode) == Code::kNotRegular);
  }
  REQUIRE(symlink(path.c_str(), dir.file("link").c_str()) == 0);
  CHECK(open_code(dir.file("link"), OpenMode::kRead) == Code::kOk);
  CHECK(code_of(Filter::open(dir.file("link"), OpenMode::kRead, {.no_follow = true})) == Code::kSymlink);
  CHECK(open_code(dir.file("link"), OpenMode::kWrite) == Code::kSymlink);
}

TEST_CASE("a moved handle is the same handle, and a handle that is overwritten is closed") {
  TempDir dir;
  Filter first = created(dir.file("a.bf"));
  Filter second = std::move(first);
  add_keys(second, 1, 0, kSome);
  CHECK(state_of(dir.file("a.bf")) == FileState::kInUse);
  second = created(dir.file("b.bf"));
  CHECK(state_of(dir.file("a.bf")) == FileState::kClean);
  CHECK(state_of(dir.file("b.bf")) == FileState::kInUse);
  CHECK(second.close().ok());
  CHECK(second.close().ok());
}

TEST_CASE("processes that open and close one file at once never see an error but busy, and leave it clean") {
  churn(std::filesystem::temp_directory_path(), option("rounds", 10));
}

TEST_CASE("processes open and close a file in memory at once") { churn(memory_folder(), option("rounds", 10) * 60); }
