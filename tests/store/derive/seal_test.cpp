// A sealed file has what was in the file when sealing began, or more.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "base/bytes.hpp"
#include "faults.hpp"
#include "format/checksums.hpp"
#include "format/locks.hpp"
#include "format/sections.hpp"
#include "store/file/session.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using faults::LockCall;

namespace {

constexpr std::uint64_t kChunkBits = format::kChunkBytes * 8;

Options three_chunks() {
  Options options;
  options.num_bits = 3 * kChunkBits;
  options.num_probes = 4;
  options.seed = 1;
  return options;
}

// Makes a closed file with the bits of three chunks and the marks of an owner.
void make_plain(const std::string& path) {
  Filter filter = created(path, three_chunks());
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.sync({.owner = 5, .mark = kSome}).ok());
  CHECK(filter.close().ok());
}

std::vector<DamagedRange> damage(const std::string& path) {
  const auto found = verify(path);
  if (!found) FAIL(found.error().message);
  return found->damaged;
}

SealOptions replacing() {
  SealOptions options;
  options.replace = true;
  return options;
}

// Does not wait for locks, because this thread may hold them.
SealOptions replacing_at_once() {
  SealOptions options = replacing();
  options.lock_timeout_ms = 0;
  return options;
}

#if !TESTS_SANITIZED
// Makes a sealed file of zeros, which takes no blocks, with the right checksums for the chunks that `whole` names.
template <class Whole>
void make_sparse_sealed(const std::string& path, std::uint64_t chunks, const Whole& whole) {
  make_plain(path);
  CHECK(seal(path, path, replacing()).ok());
  const std::string file = read_bytes(path);
  format::Identity identity =
      *format::check_identity(std::as_bytes(std::span(file)), format::Form::kFile, file.size(), false).identity();
  identity.shape.num_bits = chunks * kChunkBits;
  identity.body_bytes = chunks * format::kChunkBytes;
  identity.body_offset = format::body_offset_in_file(identity.body_bytes);
  identity.seal->num_chunks = chunks;
  identity.seal->checksums_offset = format::sections_of(identity).checksums.offset;
  const format::Sections sections = format::sections_of(identity);
  const std::vector<std::byte> record = format::encode_identity(identity);
  write_bytes(path, 0, std::string(reinterpret_cast<const char*>(record.data()), record.size()));
  REQUIRE(truncate(path.c_str(), format::kFileHeaderBytes) == 0);
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(sections.end)) == 0);
  std::string end_word(8, 0);
  base::store(reinterpret_cast<std::byte*>(end_word.data()), format::end_word(identity.file_id));
  write_bytes(path, sections.end_word.offset, end_word);
  const std::vector<std::byte> chunk(format::kChunkBytes);
  for (std::uint64_t number = 0; number < chunks; ++number) {
    if (!whole(number)) continue;
    std::string checksum(8, 0);
    base::store(reinterpret_cast<std::byte*>(checksum.data()), format::chunk_checksum(chunk, number, identity));
    write_bytes(path, identity.seal->checksums_offset + format::checksums_bytes_of(number), checksum);
  }
}

// Opens the file in a child with little memory of its own, and tolerates damage.
int open_tolerantly(const std::string& path, const std::function<int(const Filter&)>& look) {
  return in_child([&] {
    constexpr rlim_t kMemory = rlim_t{256} << 20;
    const rlimit little{kMemory, kMemory};
    if (setrlimit(RLIMIT_DATA, &little) != 0) return 20;
    OpenOptions options;
    options.tolerate_damage = true;
    const auto filter = Filter::open(path, OpenMode::kRead, options);
    if (!filter) return filter.error().code == Code::kDamaged ? 21 : 22;
    return look(*filter);
  });
}

std::uint64_t shared_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssShmem:", 0) == 0) return std::stoull(line.substr(9)) << 10;
  }
  return 0;
}
#endif

}  // namespace

TEST_CASE("a sealed file answers as the file that it was made of, keeps its marks, and takes no writer") {
  TempDir dir;
  make_plain(dir.file());
  const std::string before = read_bytes(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  CHECK(read_bytes(dir.file()) == before);
  const Filter sealed = opened(Filter::open(dir.file("sealed"), OpenMode::kRead));
  CHECK(maybes(sealed, 1, 0, kSome) == kSome);
  CHECK(answers_no(sealed));
  CHECK(sealed.get_mark(5) == kSome);
  CHECK(sealed.stats().keys_added == opened(Filter::open(dir.file(), OpenMode::kRead)).stats().keys_added);
  CHECK(state_of(dir.file("sealed")) == FileState::kClean);
  CHECK(damage(dir.file("sealed")).empty());
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(open_code(dir.file("sealed"), mode) == Code::kSealed);
  CHECK(dir.names().size() == 2);
}

TEST_CASE("a file that is open for writing is sealed with every key that was added before, and its writer continues") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.sync({.owner = 5, .mark = kSome}).ok());
  add_keys(writer, 2, 0, kSome);
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  const Filter sealed = opened(Filter::open(dir.file("sealed"), OpenMode::kRead));
  CHECK(maybes(sealed, 1, 0, kSome) == kSome);
  CHECK(maybes(sealed, 2, 0, kSome) == kSome);
  CHECK(sealed.get_mark(5) == kSome);
  CHECK(damage(dir.file("sealed")).empty());
  CHECK(writer.add("later").ok());
  CHECK(writer.sync({.owner = 5, .mark = kSome + 1}).ok());
  CHECK(writer.close().ok());
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("later"));
}

TEST_CASE("a file that a killed process left is sealed in the same boot, and not in another one") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  CHECK(maybes(opened(Filter::open(dir.file("sealed"), OpenMode::kRead)), 1, 0, kSome) == kSome);
  edit_slots(dir.file(), [](format::Slot& slot) { slot.place.boot_id[0] ^= 1; });
  CHECK(seal(dir.file(), dir.file("again")).code == Code::kUnclean);
  CHECK(dir.names().size() == 2);
}

namespace {

// A writer comes while the second chunk is written.
struct WriterMeanwhile {
  WriterMeanwhile(const std::string& path, bool closes) {
    faults::on_write = [this, path, closes](int, std::uint64_t offset, std::uint64_t bytes) {
      constexpr std::uint64_t kSecond = format::kFileHeaderBytes + format::kChunkBytes;
      if (offset > kSecond || offset + bytes <= kSecond || writer) return;
      writer = opened(Filter::open(path, OpenMode::kWrite));
      add_keys(*writer, 2, 0, kSome);
      CHECK(writer->sync({.owner = 6, .mark = 1}).ok());
      if (closes) CHECK(writer->close().ok());
    };
  }

  const faults::Scope scope;
  std::optional<Filter> writer;
};

}  // namespace

TEST_CASE("a file that a writer uses while it is sealed is sealed with the keys and marks of the beginning") {
  for (const bool closes : {true, false}) {
    TempDir dir;
    make_plain(dir.file());
    const WriterMeanwhile meanwhile(dir.file(), closes);
    CHECK(seal(dir.file(), dir.file("sealed")).ok());
    CHECK(meanwhile.writer.has_value());
    const Filter sealed = opened(Filter::open(dir.file("sealed"), OpenMode::kRead));
    CHECK(maybes(sealed, 1, 0, kSome) == kSome);
    CHECK(sealed.get_mark(5) == kSome);
    CHECK(sealed.get_mark(6) == 0);
    CHECK(damage(dir.file("sealed")).empty());
  }
}

TEST_CASE("a file that a writer has open is not sealed in place, and stays") {
  TempDir dir;
  {
    Filter writer = created(dir.file());
    CHECK(seal(dir.file(), dir.file(), replacing()).code == Code::kBusy);
    CHECK(writer.add("key").ok());
    CHECK(writer.close().ok());
  }
  unlink(dir.file().c_str());
  for (const bool closes : {true, false}) {
    make_plain(dir.file());
    {
      const WriterMeanwhile meanwhile(dir.file(), closes);
      CHECK(seal(dir.file(), dir.file(), replacing()).code == Code::kBusy);
      CHECK(meanwhile.writer.has_value());
    }
    CHECK(dir.names().size() == 1);
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 2, 0, kSome) == kSome);
    unlink(dir.file().c_str());
  }
}

TEST_CASE("a file is sealed in place, and processes that have it open learn of it") {
  TempDir dir;
  make_plain(dir.file());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(seal(dir.file(), dir.file()).code == Code::kExists);
  CHECK(answers_no(reader));
  CHECK(seal(dir.file(), dir.file(), replacing()).ok());
  CHECK(reader.health() == Code::kSuperseded);
  CHECK(maybes(reader, kNobody, 0, kSome) == kSome);
  CHECK(damage(dir.file()).empty());
  const Filter sealed = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(answers_no(sealed));
  CHECK(created(dir.file(),
                [] {
                  Options options = small_options();
                  options.replace = true;
                  return options;
                }())
            .close()
            .ok());
  CHECK(sealed.health() == Code::kSuperseded);
}

TEST_CASE("a file that is sealed in place has every key that was added before its writers were refused") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  bool added = false;
  faults::before_lock = [&](const LockCall& made) {
    if (added || made.command != F_OFD_SETLK || made.byte != static_cast<long>(format::kStateLock)) return;
    added = true;
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    CHECK(writer.add("late").ok());
    CHECK(writer.close().ok());
  };
  CHECK(seal(dir.file(), dir.file(), replacing()).code == Code::kBusy);
  CHECK(added);
  CHECK(dir.names().size() == 1);
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("late"));
  CHECK(seal(dir.file(), dir.file(), replacing()).ok());
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("late"));
}

// Whenever the writer comes: if its add, sync and close succeeded, the file has its key afterwards.
TEST_CASE("no key is lost when a writer comes at any sync of a file that is sealed in place") {
  std::uint64_t came = 0;
  for (std::uint64_t moment = 1; moment <= 8; ++moment) {
    const faults::Scope scope;
    TempDir dir;
    make_plain(dir.file());
    std::uint64_t syncs = 0;
    bool added = false;
    const auto come_by = [&] {
      if (++syncs != moment) return 0;
      faults::on_folder_sync = nullptr;
      // Not while the replacer holds the state lock: that would wait for this very thread.
      if (look_at(dir.file()).live_word & format::LiveWord::kSuperseded) return 0;
      auto writer = Filter::open(dir.file(), OpenMode::kWrite);
      added =
          writer.ok() && writer->add("late").ok() && writer->sync({.owner = 1, .mark = 1}).ok() && writer->close().ok();
      return 0;
    };
    faults::on_sync = [&](int) { return come_by(); };
    const Error error = seal(dir.file(), dir.file(), replacing());
    CHECK((error.ok() || error.code == Code::kBusy));
    if (!added) continue;
    ++came;
    CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("late"));
  }
  CHECK(came > 0);
}

// The sealed file has the name by then, and nothing is written to it any more.
TEST_CASE("a file that is sealed in place, and whose name is not made durable, is as it was sealed") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  faults::on_folder_sync = [] { return EIO; };
  CHECK_FALSE(seal(dir.file(), dir.file(), replacing()).ok());
  faults::on_folder_sync = nullptr;
  const auto found = verify(dir.file());
  REQUIRE(found.ok());
  CHECK(found->damaged.empty());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
}

namespace {

// Checks that sealing in place is refused if `happens` is called meanwhile.
void check_busy_after(const std::string& path, const std::function<void()>& happens) {
  bool done = false;
  faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
    if (done || offset != format::kFileHeaderBytes) return;  // the first bits
    done = true;
    happens();
  };
  CHECK(seal(path, path, replacing()).code == Code::kBusy);
  CHECK(done);
  faults::on_write = nullptr;
}

}  // namespace

TEST_CASE("a file that is replaced while it is sealed in place keeps its new content") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  check_busy_after(dir.file(), [&] {
    Options options = small_options();
    options.replace = true;
    Filter other = created(dir.file(), options);
    CHECK(other.add("late").ok());
    CHECK(other.close().ok());
  });
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("late"));
}

TEST_CASE("a file that another program replaces while it is sealed in place is not sealed, and the new one stays") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  Filter other = created(dir.file("other.bf"));
  CHECK(other.add("other").ok());
  CHECK(other.close().ok());
  check_busy_after(dir.file(), [&] { std::filesystem::rename(dir.file("other.bf"), dir.file()); });
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("other"));
}

namespace {

// Sets a call for the first sync of a folder.
void at_first_folder_sync(const std::function<void()>& happens) {
  faults::on_folder_sync = [happens, done = false]() mutable {
    if (!std::exchange(done, true)) happens();
    return 0;
  };
}

}  // namespace

TEST_CASE("a file that is just being published is sealed as any other, and not in place") {
  const faults::Scope scope;
  TempDir dir;
  Options options = small_options();
  options.unpublished = true;
  Filter made = created(dir.file(), options);
  add_keys(made, 1, 0, kSome);
  std::vector<Code> codes;
  at_first_folder_sync([&] {
    codes.push_back(seal(dir.file(), dir.file(), replacing_at_once()).code);
    codes.push_back(seal(dir.file(), dir.file("sealed")).code);
  });
  CHECK(made.publish().ok());
  CHECK(codes == std::vector<Code>{Code::kBusy, Code::kOk});
  CHECK(maybes(opened(Filter::open(dir.file("sealed"), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a file that is just being made is not sealed in place, and can be read") {
  const faults::Scope scope;
  TempDir dir;
  std::vector<Code> codes;
  at_first_folder_sync([&] {
    codes.push_back(seal(dir.file(), dir.file(), replacing_at_once()).code);
    OpenOptions strict;
    strict.strict = true;
    codes.push_back(code_of(Filter::open(dir.file(), OpenMode::kRead, strict)));
  });
  CHECK(created(dir.file()).close().ok());
  CHECK(codes == std::vector<Code>{Code::kBusy, Code::kOk});
}

TEST_CASE("a sealed file whose name could not be made durable can be asked all the same") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  faults::on_folder_sync = [] { return EIO; };
  CHECK(seal(dir.file(), dir.file(), replacing()).code == Code::kSystem);
  faults::on_folder_sync = nullptr;
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
}

TEST_CASE("a filter made like a sealed one is not sealed, in files and in buffers") {
  TempDir dir;
  make_plain(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  Options options;
  options.like = dir.file("sealed");
  Filter filter = created(dir.file("like"), options);
  CHECK(filter.add("key").ok());
  CHECK(filter.close().ok());
  CHECK(opened(Filter::open(dir.file("like"), OpenMode::kWrite)).contains("key"));
  CHECK(verify(dir.file("like")).error().code == Code::kNotSealed);
  const auto bytes = Filter::required_bytes(options);
  REQUIRE(bytes.ok());
  auto* const buffer = static_cast<std::byte*>(aligned_alloc(64, *bytes + (64 - *bytes % 64) % 64));
  CHECK(Filter::format({buffer, *bytes}, options).ok());
  CHECK(Filter::wrap_to_read(std::span<const std::byte>(buffer, *bytes)).ok());
  free(buffer);
}

TEST_CASE("a file that is cut in its body and grown again while it is sealed is not sealed") {
  for (const char* const to : {"sealed", "f.bf"}) {
    const TempDir dir;
    const std::string path = dir.file("f.bf");
    make_plain(path);
    const std::uint64_t bytes = read_bytes(path).size();
    const faults::Scope scope;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t) {
      if (offset != format::kFileHeaderBytes) return 0;  // the bits
      REQUIRE(truncate(path.c_str(), static_cast<off_t>(offset + 2 * format::kChunkBytes)) == 0);
      REQUIRE(truncate(path.c_str(), static_cast<off_t>(bytes)) == 0);
      return 0;
    };
    CHECK(seal(path, dir.file(to), replacing()).code == Code::kLost);
    CHECK(dir.names().size() == 1);
  }
}

TEST_CASE("a file that is truncated while it is sealed is an error and no signal") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
    if (offset == format::kFileHeaderBytes) REQUIRE(truncate(dir.file().c_str(), 0) == 0);  // the bits
  };
  CHECK_FALSE(seal(dir.file(), dir.file("sealed")).ok());
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a sealed file continues after the process that was to replace it was killed") {
  TempDir dir;
  make_plain(dir.file());
  CHECK(seal(dir.file(), dir.file(), replacing()).ok());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kSuperseded);
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
}

TEST_CASE("a filter that is made like a sealed one is not sealed") {
  TempDir dir;
  Options with_secret = three_chunks();
  with_secret.seed.reset();
  with_secret.hash = Hash::kSipHash;
  with_secret.secret = Secret{1, 2, 3};
  for (const Options& options : {three_chunks(), with_secret}) {
    const std::string path = dir.file(options.secret ? "secret" : "plain");
    CHECK(created(path, options).close().ok());
    CHECK(seal(path, path, replacing()).ok());
    Options like;
    like.like = path;
    like.secret = options.secret;
    Filter filter = created(path + "_2", like);
    add_keys(filter, 1, 0, kSome);
    CHECK(filter.close().ok());
    const auto report = inspect(path + "_2");
    REQUIRE(report.ok());
    CHECK((report->valid() && !report->identity->seal && report->identity->ro_compat == 0));
    OpenOptions opening;
    opening.secret = options.secret;
    CHECK(maybes(opened(Filter::open(path + "_2", OpenMode::kWrite, opening)), 1, 0, kSome) == kSome);
    const std::uint64_t bytes = Filter::required_bytes(like).value();
    std::vector<std::byte> memory(bytes + 64);
    const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    const std::span<std::byte> buffer = std::span(memory).subspan(past == 0 ? 0 : 64 - past, bytes);
    CHECK(Filter::format(buffer, like).ok());
    CHECK(Filter::wrap(buffer, false, options.secret).ok());
  }
}

TEST_CASE("a damaged file is not sealed again as if it were whole") {
  TempDir dir;
  make_plain(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  CHECK(seal(dir.file("sealed"), dir.file("copy")).ok());
  CHECK(damage(dir.file("copy")).empty());
  const std::string good = read_bytes(dir.file("sealed"));
  const std::uint64_t checksums = inspect(dir.file("sealed"), false)->identity->seal->checksums_offset;
  constexpr std::uint64_t kCounter = format::kLivePageOffset + format::kStripesField.offset;
  for (const std::uint64_t offset : {format::kFileHeaderBytes + 77, checksums, kCounter}) {
    write_bytes(dir.file("sealed"), offset, "damage");
    CHECK(seal(dir.file("sealed"), dir.file("copy"), replacing()).code == Code::kDamaged);
    CHECK(damage(dir.file("copy")).empty());
    SaveOptions saving;
    saving.replace = true;
    CHECK(opened(Filter::open(dir.file("sealed"), OpenMode::kRead)).save(dir.file("saved"), saving).code ==
          Code::kDamaged);
    write_bytes(dir.file("sealed"), 0, good);
  }
}

TEST_CASE("the damaged ranges of a sealed file answer maybe if damage is tolerated, from the file and from a copy") {
  TempDir dir;
  make_plain(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  const std::uint64_t second = format::kFileHeaderBytes + format::kChunkBytes;
  write_bytes(dir.file("sealed"), second, std::string(format::kChunkBytes, '\0'));
  CHECK(damage(dir.file("sealed")).size() == 1);
  for (const bool copy : {false, true}) {
    OpenOptions options;
    options.map.copy = copy;
    CHECK(maybes(opened(Filter::open(dir.file("sealed"), OpenMode::kRead, options)), 1, 0, kSome) < kSome);
    options.tolerate_damage = true;
    const Filter filter = opened(Filter::open(dir.file("sealed"), OpenMode::kRead, options));
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
    const std::uint64_t absent = maybes(filter, kNobody, 0, kSome);
    CHECK(absent > kSome / 4);
    CHECK(absent < kSome / 2);
    options.tolerate_damage = false;
    options.verify = true;
    CHECK(code_of(Filter::open(dir.file("sealed"), OpenMode::kRead, options)) == Code::kDamaged);
  }
}

#if !TESTS_SANITIZED
TEST_CASE("a sparse sealed file of gigabytes that is damaged all over is opened in little memory, and answers maybe") {
  TempDir dir(memory_folder());
  make_sparse_sealed(dir.file(), (std::uint64_t{16} << 14) / tests::kKeyScale, [](std::uint64_t) { return false; });
  CHECK(open_tolerantly(dir.file(), [](const Filter& filter) {
          if (maybes(filter, kNobody, 0, kSome) != kSome) return 30;
          return shared_memory() < (std::uint64_t{64} << 20) ? 0 : 31;
        }) == 0);
}

TEST_CASE("damage at more places than are covered one by one is an error") {
  TempDir dir(memory_folder());
  for (const std::uint64_t places : {std::uint64_t{16'000}, std::uint64_t{16'400}}) {
    make_sparse_sealed(dir.file(), 2 * places, [](std::uint64_t number) { return number % 2 == 0; });
    const int outcome = open_tolerantly(dir.file(), [](const Filter& filter) {
      const std::uint64_t found = maybes(filter, kNobody, 0, kSome);
      return found > 0 && found < kSome ? 0 : 30;
    });
    CHECK(outcome == (places == 16'000 ? 0 : 21));
    unlink(dir.file().c_str());
  }
}

TEST_CASE("a sealed file of more chunks than there are checksums in a piece is verified to its end") {
  constexpr std::uint64_t kChunks = format::kChunkBytes / 8 + 3;  // 513 MiB
  TempDir dir(memory_folder());
  Options options = three_chunks();
  options.num_bits = kChunks * kChunkBits;
  CHECK(created(dir.file(), options).close().ok());
  CHECK(seal(dir.file(), dir.file(), replacing()).ok());
  CHECK(damage(dir.file()).empty());
  const auto identity = inspect(dir.file(), false)->identity;
  const std::uint64_t last = identity->body_offset + (kChunks - 1) * format::kChunkBytes;
  write_bytes(dir.file(), last + 7, "damage");
  const auto found = damage(dir.file());
  REQUIRE(found.size() == 1);
  CHECK(found.front().offset == last);
  CHECK(found.front().bytes == format::kChunkBytes);
}
#endif

TEST_CASE("a message names up to three damaged ranges, and says if there are more") {
  TempDir dir;
  Options options = three_chunks();
  options.num_bits = 9 * kChunkBits;
  CHECK(created(dir.file(), options).close().ok());
  CHECK(seal(dir.file(), dir.file(), replacing()).ok());
  OpenOptions verifying;
  verifying.verify = true;
  for (std::uint64_t ranges = 1; ranges <= 5; ++ranges) {
    CAPTURE(ranges);
    const std::uint64_t chunk = format::kFileHeaderBytes + 2 * (ranges - 1) * format::kChunkBytes;
    write_bytes(dir.file(), chunk + 5, "damage");
    CHECK(damage(dir.file()).size() == ranges);
    const auto refused = Filter::open(dir.file(), OpenMode::kRead, verifying);
    REQUIRE(code_of(refused) == Code::kDamaged);
    const std::string& words = refused.error().message;
    CHECK((words.find(std::to_string(chunk) + " to ") != std::string::npos) == (ranges <= 3));
    CHECK((words.find("and others") != std::string::npos) == (ranges > 3));
  }
}

TEST_CASE("the bytes that are copied are those that are compared with the checksums") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  const std::string good = read_bytes(dir.file("sealed"));
  const std::uint64_t body = format::kFileHeaderBytes;
  write_bytes(dir.file("sealed"), body, std::string(3 * format::kChunkBytes, '\0'));
  // Bad while it is copied, and good when it is compared.
  bool copies = false;
  bool copied = false;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
    copies = offset == body && bytes > 3 * format::kChunkBytes;
    return 0;
  };
  faults::after_read = [&] {
    if (!std::exchange(copies, false)) return;
    copied = true;
    write_bytes(dir.file("sealed"), body, good.substr(body, 3 * format::kChunkBytes));
  };
  OpenOptions options;
  options.map.copy = true;
  options.verify = true;
  CHECK(code_of(Filter::open(dir.file("sealed"), OpenMode::kRead, options)) == Code::kDamaged);
  CHECK(copied);
}

TEST_CASE("every single bit of a chunk, of its number and of its file is in its checksum") {
  format::Identity identity;
  std::vector<std::byte> chunk(format::kChunkBytes);
  for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] = static_cast<std::byte>(i * 7);
  const std::uint64_t right = format::chunk_checksum(chunk, 3, identity);
  std::uint64_t missed = 0;
  for (std::size_t bit = 0; bit < 8 * chunk.size(); bit += kKeyScale) {
    chunk[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    if (format::chunk_checksum(chunk, 3, identity) == right) ++missed;
    chunk[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
  CHECK(missed == 0);
  CHECK(format::chunk_checksum(chunk, 4, identity) != right);
  CHECK(format::chunk_checksum(std::span(chunk).first(65535), 3, identity) != right);
  identity.file_id[0] ^= 1;
  CHECK(format::chunk_checksum(chunk, 3, identity) != right);
}

TEST_CASE("a failure while a file is sealed leaves nothing behind") {
  const faults::Scope scope;
  TempDir dir;
  make_plain(dir.file());
  faults::on_sync = [](int) { return EIO; };
  CHECK(seal(dir.file(), dir.file("sealed")).code != Code::kOk);
  faults::on_sync = nullptr;
  faults::naming_errno = EIO;
  CHECK(seal(dir.file(), dir.file("sealed")).code == Code::kSystem);
  faults::naming_errno = 0;
  CHECK(dir.names().size() == 1);
  CHECK(seal(dir.file(), dir.file("no such folder/sealed")).code == Code::kNotFound);
  CHECK(seal(dir.path(), dir.file("sealed")).code == Code::kNotRegular);
}

TEST_CASE("a process that may only read can make a sealed file, which has the requested permissions") {
  TempDir dir;
  make_plain(dir.file());
  const mode_t mask = umask(022);
  SealOptions options;
  options.mode = 0666;
  CHECK(seal(dir.file(), dir.file("sealed"), options).ok());
  umask(mask);
  struct stat facts {};
  REQUIRE(stat(dir.file("sealed").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0644);
  REQUIRE(chmod(dir.file().c_str(), 0444) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0777) == 0);
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          return seal(dir.file(), dir.file("other")).ok() ? 0 : 21;
        }) == 0);
}

// --- Verifying needs no state ----------------------------------------------------------------------------------------

TEST_CASE("a file that is not sealed has nothing to verify, in every state and under every lock") {
  TempDir dir;
  make_plain(dir.file());
  const std::string closed = read_bytes(dir.file());
  const auto check_with = [&](const std::function<void()>& change) {
    REQUIRE(truncate(dir.file().c_str(), 0) == 0);
    write_bytes(dir.file(), 0, closed);
    change();
    const std::string before = read_bytes(dir.file());
    const faults::Scope scope;
    int lock_calls = 0;
    faults::before_lock = [&](const faults::LockCall&) { ++lock_calls; };
    CHECK(verify(dir.file()).error().code == Code::kNotSealed);
    CHECK(lock_calls == 0);  // so it waits for no process
    CHECK(read_bytes(dir.file()) == before);
  };
  const std::uint64_t healthy = look(closed).live_word;
  for (const std::uint64_t flag :
       {format::LiveWord::kPoisoned, format::LiveWord::kSuperseded, format::LiveWord::kRecovering,
        format::LiveWord::kReplaced, format::LiveWord::kFilling}) {
    check_with([&] { set_live_word(dir.file(), healthy | flag); });
  }
  check_with([&] { set_syncing(dir.file()); });
  check_with([&] { edit_slots(dir.file(), [](format::Slot& slot) { slot.state = format::SlotState::kDirty; }); });
  check_with([&] { edit_slots(dir.file(), [](format::Slot& slot) { slot.state = format::SlotState::kRecovering; }); });
  check_with([&] { edit_slots(dir.file(), [](format::Slot& slot) { slot.filling = true; }); });
  const Stopped locker([&] {
    lock_as_stranger(dir.file(), F_WRLCK, F_OFD_SETLK, format::kStateLock, 1);
    raise(SIGSTOP);
  });
  check_with([&] { edit_slots(dir.file(), [](format::Slot& slot) { slot.state = format::SlotState::kDirty; }); });
}

TEST_CASE("a sealed file is verified without a lock, and nothing is written, also while it is replaced") {
  TempDir dir;
  make_plain(dir.file());
  REQUIRE(seal(dir.file(), dir.file(), replacing()).ok());
  for (const std::uint64_t flag : {format::LiveWord::kSuperseded, format::LiveWord::kReplaced}) {
    set_live_word(dir.file(), look_at(dir.file()).live_word | flag);
    const std::string before = read_bytes(dir.file());
    CHECK(damage(dir.file()).empty());
    CHECK(read_bytes(dir.file()) == before);
  }
}

// A reader would be refused, for the file would not be clean.
TEST_CASE("slots and a live word of a sealed file that say another state than it was sealed in are damage") {
  TempDir dir;
  make_plain(dir.file());
  REQUIRE(seal(dir.file(), dir.file(), replacing()).ok());
  const std::string sealed = read_bytes(dir.file());
  const auto damage_of = [&](const std::function<void()>& change) {
    write_bytes(dir.file(), 0, sealed);
    change();
    const std::vector<DamagedRange> found = damage(dir.file());
    REQUIRE(found.size() == 1);
    return std::pair(found.front().offset, found.front().bytes);
  };
  const std::pair<std::uint64_t, std::uint64_t> slots{format::kSlotOffset, 2 * format::kPageBytes};
  const std::pair<std::uint64_t, std::uint64_t> word{format::kLivePageOffset, 8};
  CHECK(damage_of([&] {
          edit_slots(dir.file(), [](format::Slot& slot) { slot.state = format::SlotState::kDirty; });
        }) == slots);
  CHECK(damage_of([&] { edit_slots(dir.file(), [](format::Slot& slot) { slot.filling = true; }); }) == slots);
  CHECK(damage_of([&] { set_word(dir.file(), format::kSlotOffset, 99); }) == slots);
  for (const std::uint64_t flag :
       {format::LiveWord::kPoisoned, format::LiveWord::kRecovering, format::LiveWord::kFilling}) {
    CHECK(damage_of([&] { set_live_word(dir.file(), look(sealed).live_word | flag); }) == word);
  }
  write_bytes(dir.file(), 0, sealed);
  set_live_word(dir.file(), 77);
  CHECK(verify(dir.file()).error().code == Code::kLiveWord);
  write_bytes(dir.file(), 0, sealed);
  write_bytes(dir.file(), format::kSlotOffset, std::string(2 * format::kPageBytes, 'x'));
  CHECK(verify(dir.file()).error().code == Code::kSlots);
}

TEST_CASE("a copy that is sealed has what its source has, whether that is a file in use, a range or a buffer") {
  TempDir dir;
  Options options = three_chunks();
  options.note = "mine";
  Filter source = created(dir.file(), options);
  add_keys(source, 1, 0, kSome);
  CHECK(source.sync({.owner = 5, .mark = kSome}).ok());
  const std::uint64_t bytes = *source.dumped_bytes({});
  std::vector<std::byte> dumped(bytes);
  CHECK(source.dump(dumped, {}).ok());
  std::ofstream(dir.file("range"), std::ios::binary)
      << std::string(64, 'x') << std::string(reinterpret_cast<const char*>(dumped.data()), bytes);
  const Filter range = opened(Filter::open_range(dir.file("range"), 64, 0));
  const Filter loaded = opened(Filter::load(dumped, OpenMode::kRead));
  for (const Filter* const from : {static_cast<const Filter*>(&source), &range, &loaded}) {
    const std::string to = dir.file("sealed");
    REQUIRE(from->save(to, {.sealed = true}).ok());
    CHECK(damage(to).empty());
    CHECK(from->save(to, {.sealed = true}).code == Code::kExists);
    CHECK(open_code(to, OpenMode::kWrite) == Code::kSealed);
    const Filter sealed = opened(Filter::open(to, OpenMode::kRead, {.verify = true}));
    CHECK(maybes(sealed, 1, 0, kSome) == kSome);
    CHECK(answers_no(sealed));
    CHECK(sealed.note() == "mine");
    CHECK(sealed.get_mark(5) == (from == &source ? kSome : 0));  // a buffer has no marks
    std::filesystem::remove(to);
  }
  add_keys(source, 1, kSome, 1);  // the source is as it was
  CHECK(source.close().ok());
}

TEST_CASE("a handle seals its own file in its place while no process writes to it") {
  TempDir dir;
  make_plain(dir.file());
  const SaveOptions in_place{.replace = true, .sealed = true, .lock_timeout_ms = 0};
  {
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    for (const Filter* const from : {static_cast<const Filter*>(&writer), &reader})
      CHECK(from->save(dir.file(), in_place).code == Code::kBusy);
    CHECK(writer.close().ok());
  }
  Remote other(dir.file());
  CHECK(other.call("open write") == "BFS_OK");
  const Filter handle = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(handle.save(dir.file(), in_place).code == Code::kBusy);
  CHECK(other.call("close") == "BFS_OK");
  REQUIRE(handle.save(dir.file(), in_place).ok());
  CHECK(handle.health() == Code::kSuperseded);
  CHECK(damage(dir.file()).empty());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
}

TEST_CASE("what contradicts a seal is refused") {
  TempDir dir;
  make_plain(dir.file());
  const Filter source = opened(Filter::open(dir.file(), OpenMode::kRead));
  for (const SaveOptions& options :
       {SaveOptions{.filling = true, .sealed = true}, SaveOptions{.same_file_id = true, .sealed = true}})
    CHECK(source.save(dir.file("sealed"), options).code == Code::kInvalid);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
}

TEST_CASE("a filter that is sealed and folded at once is the folded one with a seal, also in its own place") {
  TempDir dir;
  make_plain(dir.file());
  const Filter source = opened(Filter::open(dir.file(), OpenMode::kRead));
  const double fpr = 0.9;
  REQUIRE(source.save(dir.file("folded"), {.fpr = fpr}).ok());
  REQUIRE(source.save(dir.file("both"), {.fpr = fpr, .sealed = true}).ok());
  REQUIRE(seal(dir.file(), dir.file("sealed"), {.fpr = fpr}).ok());
  const Filter folded = opened(Filter::open(dir.file("folded"), OpenMode::kRead));
  REQUIRE(folded.shape().num_bits < source.shape().num_bits);
  REQUIRE(seal(dir.file(), dir.file(), {.replace = true, .fpr = fpr}).ok());
  for (const std::string& made : {dir.file("both"), dir.file("sealed"), dir.file()}) {
    CHECK(damage(made).empty());
    const Filter sealed = opened(Filter::open(made, OpenMode::kRead));
    CHECK(sealed.shape().num_bits == folded.shape().num_bits);
    CHECK(sealed.shape().capacity == folded.shape().capacity);
    const auto same = folded.compare(sealed);
    REQUIRE(same.ok());
    CHECK(same->equal);
    CHECK(maybes(sealed, 1, 0, kSome) == kSome);
  }
}
