// Memory that runs out in the middle of a call, or that others change.
#include <doctest/doctest.h>
#include <bfstore/seal.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

std::atomic<long> left{-1};  // allocations that work before one fails; negative: all do

std::function<void()> before_copy;  // called when a body's memory is asked for, before anything is copied there

// Returns the result of `call` with its nth allocation failing, or nothing if it makes fewer.
template <class Call>
bool out_of_memory(long nth, Call call) {
  left = nth;
  try {
    call();
  } catch (const std::bad_alloc&) {
  }
  const bool failed = left < 0;
  left = -1;
  return failed;
}

// Makes a file, and closes it.
std::string clean_file(const std::string& path) {
  CHECK(created(path).close().ok());
  return path;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (before_copy) before_copy();
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
void operator delete(void* made, std::align_val_t) noexcept { std::free(made); }
void operator delete(void* made, std::size_t, std::align_val_t) noexcept { std::free(made); }

TEST_CASE("after any failed allocation in creating a file it is handed out, or not there") {
  TempDir dir;
  for (long nth = 0;; ++nth) {
    CAPTURE(nth);
    const std::string path = dir.file(std::to_string(nth));
    std::optional<Result<Filter>> made;
    if (!out_of_memory(nth, [&] { made.emplace(Filter::create(path, small_options())); })) break;
    const bool handed_out = made && made->ok();
    CHECK(handed_out == (open_code(path, OpenMode::kRead) == Code::kOk));
  }
}

TEST_CASE("after any failed allocation in replacing a file the new one is handed out, or the old one is there") {
  TempDir dir;
  for (long nth = 0;; ++nth) {
    CAPTURE(nth);
    const std::string path = dir.file(std::to_string(nth));
    Filter old = created(path);
    add_keys(old, 1, 0, kSome);
    CHECK(old.close().ok());
    Options options = small_options();
    options.replace = true;
    std::optional<Result<Filter>> made;
    if (!out_of_memory(nth, [&] { made.emplace(Filter::create(path, options)); })) break;
    if (!made || !made->ok()) CHECK(maybes(opened(Filter::open(path, OpenMode::kRead)), 1, 0, kSome) == kSome);
  }
}

// Half of the digests are in one of the ranges that threads sort: such a range needs memory.
TEST_CASE("after any failed allocation in building a static file it is there with every key, or not there") {
  constexpr std::uint64_t kDigests = 4000;
  std::vector<std::uint64_t> digests(kDigests);
  for (std::uint64_t i = 0; i < kDigests; ++i) digests[i] = (i + 1) * 0x9e3779b97f4a7c15 >> (i % 2 == 0 ? 8 : 0);
  Options options;
  options.layout = Layout::kStatic;
  options.unpublished = true;
  TempDir dir(memory_folder());
  for (const unsigned threads : {1U, 3U}) {
    long refused = 0, unread = 0;
    for (long nth = 0;; ++nth) {
      CAPTURE(threads);
      CAPTURE(nth);
      const std::string path = dir.file(std::to_string(threads) + "." + std::to_string(nth));
      Filter filter = created(path, options);
      REQUIRE(filter.use_threads(threads).ok());
      for (int time = 0; time < 2; ++time) REQUIRE(filter.add_keys(Keys::digests(digests)).ok());
      Error error{Code::kNoMemory, 0, {}};
      if (!out_of_memory(nth, [&] { error = filter.publish(); })) break;
      CHECK(error.ok() == std::filesystem::exists(path));
      if (!error.ok()) {
        ++refused;
        CHECK(error.code == Code::kNoMemory);
        CHECK(filter.health() == Code::kFilling);
        const Error again = filter.publish();
        REQUIRE_MESSAGE(again.ok(), again.message);
      }
      if (filter.health() != Code::kOk) ++unread;
      const Filter reader = opened(Filter::open(path, OpenMode::kRead));
      CHECK(reader.stats().keys_added == kDigests);
      for (const Filter* const each : std::initializer_list<const Filter*>{&filter, &reader}) {
        std::vector<std::uint8_t> answers(kDigests);
        CHECK(each->contains_keys(Keys::digests(digests), answers).keys() == kDigests);
      }
      std::filesystem::remove(path);
    }
    CHECK(refused > 10);
    CHECK(unread > 10);
  }
}

// The system reports a failed write only once. So the writer that is told poisons the file, even if there is no memory
// for the message.
TEST_CASE("a writer without memory for a failure that it learns of leaves no lock, and a file that no process uses") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = opened(Filter::open(clean_file(dir.file()), OpenMode::kWrite, {.writeback_check_ms = 0}));
  Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 100, .writeback_check_ms = 0}));
  faults::on_question = [told = false](int) mutable {
    if (std::exchange(told, true)) return 0;
    left = 0;
    return EIO;
  };
  CHECK_FALSE(writer.add("told").ok());
  CHECK(left < 0);
  left = -1;
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(dir.file(), mode) != Code::kOk);
  CHECK(other.sync().code == Code::kPoisoned);
  CHECK_FALSE(other.add("more").ok());
}

TEST_CASE("the bytes of a sealed file that another thread changes while they are loaded are damaged") {
  TempDir dir;
  REQUIRE(seal(clean_file(dir.file()), dir.file("sealed"), {}).ok());
  std::string bytes = read_bytes(dir.file("sealed"));
  const auto code = [&bytes] {
    return code_of(Filter::load(std::as_bytes(std::span(bytes)), OpenMode::kRead, false, {}));
  };
  CHECK(code() == Code::kOk);
  before_copy = [&bytes] {
    char& byte = bytes[format::kFileHeaderBytes];
    byte = static_cast<char>(byte ^ 1);
  };
  CHECK(code() == Code::kDamaged);
  before_copy = nullptr;
}
