// Bit arrays that are imported by files in use, and exported from them. A filter in doubt is not exported, a filter
// that cannot take keys imports nothing, and no key is lost while others add.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kBits = 1 << 20;
using Bits = std::vector<std::byte>;
const Bits kOnes(kBits / 8, std::byte{0xff});

Options classic() {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = kBits;
  options.num_probes = 4;
  return options;
}

Filter make(const std::string& path, const Options& options) { return opened(Filter::create(path, options)); }

std::string key(std::uint64_t number) { return "key " + std::to_string(number); }

Error exported(const Filter& filter, Bits& bits) {
  bits.assign(kBits / 8, std::byte{0});
  return filter.export_bits(bits, BitOrder::kBig);
}

void check_not_exported(const Filter& filter, Code code) {
  Bits bits;
  CHECK(exported(filter, bits).code == code);
  CHECK(bits == kOnes);
  bits.assign(kBits / 8, std::byte{0});
  CHECK(filter.export_foreign(bits, {"raw", BitOrder::kBig, {}}).code == code);
  CHECK(bits == kOnes);
}

void check_not_imported(Filter& filter, Code code) { CHECK(filter.import_bits(kOnes, BitOrder::kLittle).code == code); }

}  // namespace

TEST_CASE("every form of a filter exports the same bits: a copy, a sealed one, a range, a buffer") {
  TempDir dir;
  Filter made = make(dir.file(), classic());
  for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(made.add(key(i)).ok());
  Bits bits;
  REQUIRE(exported(made, bits).ok());
  REQUIRE(made.save(dir.file("saved")).ok());
  REQUIRE(seal(dir.file("saved"), dir.file("sealed")).ok());
  Bits dumped(*made.dumped_bytes());
  REQUIRE(made.dump(dumped).ok());
  OpenOptions copied, follow;
  copied.map.copy = true;
  follow.follow = true;
  std::vector<Filter> all;
  for (const char* const name : {"filter.bf", "saved", "sealed"}) {
    all.push_back(opened(Filter::open(dir.file(name), OpenMode::kRead)));
    all.push_back(opened(Filter::open(dir.file(name), OpenMode::kRead, copied)));
  }
  all.push_back(opened(Filter::open(dir.file("saved"), OpenMode::kRead, follow)));
  all.push_back(opened(Filter::load(dumped)));
  for (const Filter& one : all) {
    Bits its;
    REQUIRE(exported(one, its).ok());
    CHECK(its == bits);
  }
}

TEST_CASE("a filter in doubt is not exported, and the array says maybe") {
  for (const auto& [flag, code] : {std::pair{format::LiveWord::kPoisoned, Code::kPoisoned},
                                   std::pair{format::LiveWord::kSuperseded, Code::kSuperseded},
                                   std::pair{format::LiveWord::kRecovering, Code::kRecovering},
                                   std::pair{format::LiveWord::kFilling, Code::kFilling}}) {
    TempDir dir;
    REQUIRE(make(dir.file(), classic()).close().ok());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    set_live_word(dir.file(), look_at(dir.file()).live_word | flag);
    check_not_exported(reader, code);
  }
  TempDir dir;
  Filter filter = make(dir.file(), classic());
  REQUIRE(filter.shut().ok());
  check_not_exported(filter, Code::kShut);
}

TEST_CASE("a filter whose slot says poisoned is not exported, though the live page was dropped") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = make(dir.file(), classic());
  const std::uint64_t healthy = look_at(dir.file()).live_word;
  faults::on_sync = [synced = false](int) mutable { return std::exchange(synced, true) ? 0 : EIO; };
  REQUIRE(writer.sync({.owner = 1, .mark = 1}).code == Code::kPoisoned);
  faults::on_sync = nullptr;
  set_live_word(dir.file(), healthy);
  set_syncing(dir.file(), false);
  check_not_exported(writer, Code::kPoisoned);
}

TEST_CASE("a filter that comes into doubt while it is exported, or cannot be read, is not exported") {
  const faults::Scope scope;
  TempDir dir;
  const Filter filter = make(dir.file(), classic());
  const std::uint64_t before = look_at(dir.file()).live_word;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
    if (offset == format::kFileHeaderBytes && bytes > 8)
      set_live_word(dir.file(), before | format::LiveWord::kSuperseded);
    return 0;
  };
  check_not_exported(filter, Code::kSuperseded);
  set_live_word(dir.file(), before);
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t bytes) {
    return offset == format::kFileHeaderBytes && bytes > 8 ? EIO : 0;
  };
  check_not_exported(filter, Code::kSystem);
  faults::on_read = nullptr;
  Bits bits;
  CHECK(exported(filter, bits).ok());
}

TEST_CASE("a filter that cannot take keys imports no array, and one that is being filled does") {
  TempDir dir;
  Filter filter = make(dir.file(), classic());
  Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  check_not_imported(reader, Code::kReadOnly);
  CHECK(reader.stats({.fill = true}).fill->set_bits == 0);
  for (const auto& [flag, code] : {std::pair{format::LiveWord::kPoisoned, Code::kPoisoned},
                                   std::pair{format::LiveWord::kSuperseded, Code::kSuperseded}}) {
    const std::uint64_t before = look_at(dir.file()).live_word;
    set_live_word(dir.file(), before | flag);
    check_not_imported(filter, code);
    set_live_word(dir.file(), before);
  }
  CHECK(filter.stats({.fill = true}).fill->set_bits == 0);
  CHECK(filter.import_bits(kOnes, BitOrder::kBig).ok());
  CHECK(reader.contains("any"));
  REQUIRE(filter.shut().ok());
  check_not_imported(filter, Code::kShut);
  Options filling = classic();
  filling.filling = true;
  Filter half = make(dir.file("half"), filling);
  CHECK(half.import_bits(Bits(kBits / 8), BitOrder::kBig).ok());
  CHECK(half.contains("any"));
  REQUIRE(half.finish_filling().ok());
  CHECK_FALSE(half.contains("any"));
}

namespace {

// Data of the SIGSEGV handler. Once, when the array is read, another process supersedes the file.
struct Superseding {
  int descriptor = -1;
  std::uint64_t live_word = 0;
  void* array = nullptr;
} superseding;

extern "C" void supersede_now(int) {
  mprotect(superseding.array, kBits / 8, PROT_READ);
  constexpr off_t kOffset = format::kLivePageOffset + format::kLiveWordField.offset;
  static_cast<void>(!pwrite(superseding.descriptor, &superseding.live_word, sizeof superseding.live_word, kOffset));
}

}  // namespace

// The bits are in a file that no process opens any more, and the caller has to know it.
TEST_CASE("an array that is imported while the file is superseded is an error") {
  TempDir dir;
  Filter filter = make(dir.file(), classic());
  const std::uint64_t before = look_at(dir.file()).live_word;
  superseding.live_word = before | format::LiveWord::kSuperseded;
  superseding.descriptor = ::open(dir.file().c_str(), O_RDWR | O_CLOEXEC);
  superseding.array = mmap(nullptr, kBits / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(superseding.descriptor >= 0);
  REQUIRE(superseding.array != MAP_FAILED);
  // The end of the array is read first, for bits after the last one, and then its beginning.
  constexpr std::uint64_t kPage = 4096;
  REQUIRE(mprotect(superseding.array, kBits / 8 - kPage, PROT_NONE) == 0);
  struct sigaction handler {};
  struct sigaction old {};
  handler.sa_handler = supersede_now;
  REQUIRE(sigaction(SIGSEGV, &handler, &old) == 0);
  const std::span<const std::byte> array(static_cast<const std::byte*>(superseding.array), kBits / 8);
  CHECK(filter.import_bits(array, BitOrder::kBig).code == Code::kSuperseded);
  REQUIRE(sigaction(SIGSEGV, &old, nullptr) == 0);
  munmap(superseding.array, kBits / 8);
  ::close(superseding.descriptor);
  set_live_word(dir.file(), before);
  CHECK(filter.import_bits(kOnes, BitOrder::kBig).ok());
}

TEST_CASE("keys whose adds returned before are in the array, while threads add and import") {
  TempDir dir;
  Filter from = make(dir.file("from"), classic());
  Filter into = make(dir.file("into"), classic());
  std::atomic<std::uint64_t> added{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !stop && i < 100'000; ++i) {
      static_cast<void>(from.add(key(2 * i)));
      static_cast<void>(into.add(key(2 * i + 1)));
      added = i + 1;
    }
  });
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t before = added;
    Bits bits;
    REQUIRE(exported(from, bits).ok());
    REQUIRE(into.import_bits(bits, BitOrder::kBig).ok());
    std::uint64_t missing = 0;
    for (std::uint64_t i = 0; i < 2 * before; ++i) missing += into.contains(key(i)) ? 0U : 1U;
    CHECK(missing == 0);
  }
  stop = true;
  writer.join();
}
