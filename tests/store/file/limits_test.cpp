// More keys than the capacity: the file is still a Bloom filter, it says so, and a handle with a limit keeps to it. And
// files on filesystems whose files processes do not share as memory.
#include <doctest/doctest.h>

#include "faults.hpp"
#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kCapacity = 200;
constexpr std::uint64_t kTurn = 64;  // keys between two looks at the counter

Options tiny() {
  Options options;
  options.capacity = kCapacity;
  return options;
}

}  // namespace

TEST_CASE("adds past the capacity continue, and the filter says that it is saturated") {
  TempDir dir;
  Filter filter = created(dir.file(), tiny());
  add_keys(filter, 1, 0, kCapacity);
  CHECK_FALSE(filter.stats().saturated);
  add_keys(filter, 1, kCapacity, 10 * kCapacity);
  CHECK(filter.stats().saturated);
  CHECK(maybes(filter, 1, 0, 11 * kCapacity) == 11 * kCapacity);
}

TEST_CASE("a handle with a limit adds no key past the capacity, and others are not bound by it") {
  TempDir dir;
  Options options = tiny();
  options.hard_limit = true;
  Filter limited = created(dir.file(), options);
  add_keys(limited, 1, 0, kCapacity / 2);
  Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(other, 2, 0, kCapacity);
  const std::uint64_t held = limited.stats().keys_added;
  CHECK(held >= kCapacity);
  for (const AddForm& form : add_forms()) CHECK(form.add(limited, 3, 100).code() == Code::kFull);
  CHECK(limited.stats().keys_added == held);
  CHECK(limited.contains(key_of(2, 0)));
  CHECK(other.add(key_of(4, 0)).ok());
}

TEST_CASE("many keys at once exceed a limit by no more than one turn") {
  for (const AddForm& form : add_forms()) {
    if (form.name.rfind("one", 0) == 0) continue;
    CAPTURE(form.name);
    TempDir dir;
    CHECK(created(dir.file(), tiny()).close().ok());
    Filter limited = opened(Filter::open(dir.file(), OpenMode::kWrite, {.hard_limit = true}));
    CHECK(form.add(limited, 1, 10 * kCapacity).code() == Code::kFull);
    CHECK(limited.stats().keys_added >= kCapacity);
    CHECK(limited.stats().keys_added <= kCapacity + kTurn);
  }
}

TEST_CASE("a load that is divided among threads is refused as any other, at its limit and in a poisoned file") {
  constexpr unsigned kThreads = 2;
  std::vector<std::uint64_t> digests;
  for (std::uint64_t i = 1; i <= 50'000; ++i) digests.push_back(i * 0x9e3779b97f4a7c15);
  TempDir dir;
  CHECK(created(dir.file(), tiny()).close().ok());
  Filter limited = opened(Filter::open(dir.file(), OpenMode::kExclusive, {.hard_limit = true}));
  CHECK(limited.use_threads(kThreads).ok());
  CHECK(limited.add_keys(Keys::digests(digests)).code() == Code::kFull);
  CHECK(limited.stats().keys_added >= kCapacity);
  CHECK(limited.stats().keys_added <= kCapacity + kThreads * kTurn);
  CHECK(limited.close().ok());
  Filter poisoned = opened(Filter::open(dir.file(), OpenMode::kExclusive));
  CHECK(poisoned.use_threads(kThreads).ok());
  CHECK(poisoned.add_keys(Keys::digests(digests)).ok());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  CHECK(poisoned.add_keys(Keys::digests(digests)).code() == Code::kPoisoned);
}

TEST_CASE("a limit is for handles that add") {
  TempDir dir;
  CHECK(created(dir.file(), tiny()).close().ok());
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, {.hard_limit = true})) == Code::kInvalid);
}

TEST_CASE("a range of a file on a network filesystem is refused, too") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(code_of(Filter::open_range(dir.file(), 0, 0)) == Code::kForm);
  faults::filesystem_magic = 0x65735546;  // FUSE
  CHECK(code_of(Filter::open_range(dir.file(), 0, 0)) == Code::kFilesystem);
}

TEST_CASE("a network filesystem is refused unless the caller insists") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  constexpr long kMagics[] = {0x6969,     0x65735546, 0x01021997, 0xfe534d42,   // NFS, FUSE and virtiofs, 9p, SMB
                              0xbacbacbc, 0x7c7c6673, 0xaad7aaea, 0xbeefdead,   // VMHGFS, PRL_FS, PANFS, SNFS
                              0x61636673, 0xa501fcf5, 0x20030528, 0x013111a8};  // ACFS, VXFS, ORANGEFS, IBRIX
  for (const long magic : kMagics) {
    CAPTURE(magic);
    faults::filesystem_magic = magic;
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
      CHECK(open_code(dir.file(), mode) == Code::kFilesystem);
      CHECK(answers_no(opened(Filter::open(dir.file(), mode, {.any_filesystem = true}))));
    }
    CHECK(code_of(Filter::create(dir.file("new.bf"), small_options())) == Code::kFilesystem);
    CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
    Options insisting = small_options();
    insisting.any_filesystem = true;
    insisting.replace = true;
    CHECK(created(dir.file(), insisting).close().ok());
  }
}

TEST_CASE("a reader that is to write nothing writes nothing, whatever it finds") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  const std::string path = dir.file();
  {
    Filter maker = created(path);
    add_keys(maker, 2, 0, kSome);
    CHECK(maker.close().ok());
  }
  const OpenOptions nothing{.no_write = true};
  const std::string before = read_bytes(path);
  {
    const Filter reader = opened(Filter::open(path, OpenMode::kRead, nothing));
    CHECK(maybes(reader, 2, 0, kSome) == kSome);
    CHECK(read_bytes(path) == before);
    // The kernel tells once that it failed to write a page: a handle that cannot write that down does not ask.
    int questions = 0;
    faults::on_question = [&questions](int) {
      ++questions;
      return EIO;
    };
    CHECK(reader.is_current().value());
    const Filter writer = opened(Filter::open(path, OpenMode::kWrite));
    const Filter beside = opened(Filter::open(path, OpenMode::kRead, nothing));
    CHECK(beside.is_current().value());
    CHECK(questions == 0);
    faults::on_question = [](int) { return 0; };
  }
  CHECK(open_code(path, OpenMode::kRead) == Code::kOk);
  leave_behind(path);  // what a killed writer left has to be synced before it is believed
  const std::string left = read_bytes(path);
  CHECK(code_of(Filter::open(path, OpenMode::kRead, nothing)) == Code::kUnclean);
  CHECK(read_bytes(path) == left);
  CHECK(code_of(Filter::open(path, OpenMode::kWrite, nothing)) == Code::kInvalid);
  CHECK(open_code(path, OpenMode::kRead) == Code::kOk);
}

// Without the check of which file has the path, the new file was poisoned for every process.
TEST_CASE("a reader that learns of a failed write marks its own file, and not one that has the path by now") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  CHECK(created(dir.file("other")).close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  REQUIRE(std::rename(dir.file("other").c_str(), dir.file().c_str()) == 0);
  faults::on_question = [](int) { return EIO; };
  static_cast<void>(reader.is_current());
  faults::on_question = [](int) { return 0; };
  CHECK(reader.health() == Code::kPoisoned);
  CHECK(maybes(reader, kNobody, 0, kSome) == kSome);
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk);
}
