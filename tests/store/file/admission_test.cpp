// A file is let in before its body is read: a refused file of 100 GB costs as little as a refused small one.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "faults.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kBody = std::uint64_t{8} << 20;
constexpr std::uint64_t kPage = 4096;
constexpr MapOptions kPopulate{.populate = true};
constexpr MapOptions kCopy{.copy = true};
constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ

std::uint64_t populated_bytes = 0;

void make_large(const std::string& path) {
  Options options;
  options.num_bits = 8 * kBody;
  options.num_probes = 6;
  CHECK(created(path, options).close().ok());
}

void poison(const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kPoisoned); }
void begin_recovery(const std::string& path) {
  edit_slots(path, [](format::Slot& slot) { slot.state = format::SlotState::kRecovering; });
}
void leave_unclean(const std::string& path) {
  edit_slots(path, [](format::Slot& slot) {
    slot.state = format::SlotState::kDirty;
    slot.place.boot_id = {};
  });
}
void replace(const std::string& path) {
  set_live_word(path, look_at(path).live_word | format::LiveWord::kSuperseded | format::LiveWord::kReplaced);
}
void overwrite(const std::string& path) { set_live_word(path, 0); }
void leave_adoptable(const std::string& path) {
  CHECK(in_child([&] {
          auto writer = Filter::open(path, OpenMode::kWrite);
          return writer ? (writer->abandon(), 0) : 1;
        }) == 0);
}

// A way in which a file may be refused.
struct Refusal {
  const char* name;
  void (*spoil)(const std::string& path);
  Code code;
  OpenOptions options{};
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all{{"poisoned", poison, Code::kPoisoned},
                                        {"recovering", begin_recovery, Code::kRecovering},
                                        {"unclean", leave_unclean, Code::kUnclean},
                                        {"replaced", replace, Code::kSuperseded},
                                        {"overwritten", overwrite, Code::kLiveWord},
                                        {"strict", leave_adoptable, Code::kUnclean, {.strict = true}},
                                        {"no_write", leave_adoptable, Code::kUnclean, {.no_write = true}}};
  return all;
}

// Returns the number of bytes that `deed` reads through descriptors, or brings in by populating a mapping.
std::uint64_t bytes_read(const std::function<void()>& deed) {
  const faults::Scope scope;
  std::uint64_t sum = 0;
  faults::on_read = [&](int, std::uint64_t, std::uint64_t bytes) {
    sum += bytes;
    return 0;
  };
  populated_bytes = 0;
  deed();
  return sum + populated_bytes;
}

void check_refused(const std::string& path, OpenMode mode, const OpenOptions& options, Code code) {
  const std::uint64_t bytes = bytes_read([&] { CHECK(code_of(Filter::open(path, mode, options)) == code); });
  CHECK(bytes > 0);
  CHECK(bytes <= kBody / 8);
}

// Returns how much of the file is in the page cache.
std::uint64_t cached_bytes(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::uint64_t bytes = std::filesystem::file_size(path);
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  REQUIRE(at != MAP_FAILED);
  std::vector<unsigned char> in_core((bytes + kPage - 1) / kPage);
  REQUIRE(mincore(at, bytes, in_core.data()) == 0);
  munmap(at, bytes);
  std::uint64_t cached = 0;
  for (const unsigned char flags : in_core) cached += (flags & 1U) * kPage;
  return cached;
}

void drop_from_memory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fdatasync(descriptor) == 0);
  REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
  close(descriptor);
}

}  // namespace

// Replaces libc's function.
extern "C" int madvise(void* from, std::size_t bytes, int advice) noexcept {
  if (advice == kPopulateRead) populated_bytes += bytes;
  return static_cast<int>(syscall(SYS_madvise, from, bytes, advice));
}

TEST_CASE("an admitted file is read as a whole, populated or copied, which shows that the counters work") {
  const TempDir dir;
  make_large(dir.file());
  for (const MapOptions& map : {kPopulate, kCopy})
    CHECK(bytes_read([&] { opened(Filter::open(dir.file(), OpenMode::kRead, {.map = map})); }) >= kBody);
  CHECK(bytes_read([&] { opened(Filter::open(dir.file(), OpenMode::kWrite, {.map = kPopulate})); }) >= kBody);
}

// The pages are read more than once: whether another process changes them is not known before.
TEST_CASE("a reader reads the four pages of the header and the end word, whatever the size of the file") {
  for (const bool in_use : {false, true}) {
    CAPTURE(in_use);
    std::vector<std::uint64_t> sums;
    for (const std::uint64_t body : {kBody / 64, kBody, 8 * kBody}) {
      const faults::Scope scope;
      const TempDir dir;
      Options options;
      options.num_bits = 8 * body;
      options.num_probes = 6;
      Filter writer = created(dir.file(), options);
      if (!in_use) CHECK(writer.close().ok());
      const std::uint64_t end_word = std::filesystem::file_size(dir.file()) - 8;
      std::uint64_t sum = 0;
      faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
        CHECK((offset + bytes <= 4 * kPage || (offset == end_word && bytes == 8)));
        sum += bytes;
        return 0;
      };
      populated_bytes = 0;
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      faults::on_read = nullptr;  // the writer is closed after the counters are gone
      CHECK(populated_bytes <= 6 * kPage);
      CHECK(sum >= 4 * kPage);
      sums.push_back(sum);
    }
    CHECK(sums == std::vector<std::uint64_t>(3, sums.front()));
  }
}

// The whole file was once read before the check whether it may be used.
TEST_CASE("a reader that is refused a large file reads next to nothing of it, whether it populates or copies") {
  for (const Refusal& refusal : refusals()) {
    CAPTURE(refusal.name);
    const TempDir dir;
    make_large(dir.file());
    refusal.spoil(dir.file());
    for (const MapOptions& map : {MapOptions{}, kPopulate, kCopy}) {
      OpenOptions options = refusal.options;
      options.map = map;
      check_refused(dir.file(), OpenMode::kRead, options, refusal.code);
    }
  }
}

TEST_CASE("a writer that is refused a large file reads next to nothing of it") {
  for (const Refusal& refusal : refusals()) {
    if (refusal.options.no_write) continue;
    CAPTURE(refusal.name);
    const TempDir dir;
    make_large(dir.file());
    refusal.spoil(dir.file());
    OpenOptions options = refusal.options;
    options.map = kPopulate;
    check_refused(dir.file(), OpenMode::kWrite, options, refusal.code);
    check_refused(dir.file(), OpenMode::kExclusive, options, refusal.code);
  }
}

TEST_CASE("a writer reads next to nothing of a large file that is sealed, or that an exclusive writer has") {
  const TempDir dir;
  make_large(dir.file());
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  check_refused(dir.file("sealed"), OpenMode::kWrite, {.map = kPopulate}, Code::kSealed);
  const Filter writer = opened(Filter::open(dir.file(), OpenMode::kExclusive));
  check_refused(dir.file(), OpenMode::kWrite, {.map = kPopulate, .lock_timeout_ms = 0}, Code::kBusy);
}

TEST_CASE("a reader of a clean file reads its header once") {
  const faults::Scope scope;
  const TempDir dir;
  make_large(dir.file());
  int headers = 0;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t) {
    if (offset == 0) ++headers;
    return 0;
  };
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  for (const std::string& path : {dir.file(), dir.file("sealed")}) {
    headers = 0;
    CHECK(answers_no(opened(Filter::open(path, OpenMode::kRead))));
    CHECK(headers == 1);
  }
}

// Counts what is read from the disk, in whatever way.
TEST_CASE("only the first and the last pages of a refused file come into the page cache") {
  const TempDir dir;
  make_large(dir.file());
  leave_unclean(dir.file());
  drop_from_memory(dir.file());
  if (cached_bytes(dir.file()) != 0) {
    tests::skip_case("pages can not be dropped from memory here");
    return;
  }
  for (const MapOptions& map : {kPopulate, kCopy}) {
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, {.map = map})) == Code::kUnclean);
    CHECK(cached_bytes(dir.file()) <= 8 * kPage);
  }
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, {.map = kPopulate})) == Code::kUnclean);
  CHECK(cached_bytes(dir.file()) <= 8 * kPage);
}

// The file is good when the read of the body begins, and not when it ends.
TEST_CASE("a copy is judged again when its last byte was read") {
  for (const Refusal& refusal : refusals()) {
    if (refusal.options.strict || refusal.options.no_write) continue;
    CAPTURE(refusal.name);
    const faults::Scope scope;
    const TempDir dir;
    make_large(dir.file());
    bool spoilt = false;
    faults::on_read = [&](int, std::uint64_t, std::uint64_t bytes) {
      if (bytes >= kBody && !std::exchange(spoilt, true)) {
        const auto hook = std::exchange(faults::on_read, nullptr);
        refusal.spoil(dir.file());
      }
      return 0;
    };
    const Code code = code_of(Filter::open(dir.file(), OpenMode::kRead, {.map = kCopy}));
    CHECK(spoilt);
    CHECK((code == refusal.code || code == Code::kLost));
  }
}
