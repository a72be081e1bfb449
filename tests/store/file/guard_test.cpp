// A page that cannot be read, with the guard: the handle is in doubt, every process that can learn of it does, and the
// signals of other code are not touched.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bfstore/inline.hpp>

#include <atomic>
#include <barrier>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "key_calls.hpp"
#include "region/mapping.hpp"
#include "support.hpp"
#include "unreadable.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kThreeWindows = 700;  // of a batch
constexpr off_t kHeader = format::kFileHeaderBytes;
constexpr OpenOptions kGuarded{.map = {.guard = true}};

void cut(const std::string& path, off_t bytes) { REQUIRE(truncate(path.c_str(), bytes) == 0); }

// Returns options of a filter so large that its body begins at 2 MiB, and has pages that no process has touched.
Options large_options() {
  Options options = small_options();
  options.max_bytes = std::uint64_t{8} << 20;
  options.bits_per_key = 0;
  return options;
}

std::string filled(const TempDir& dir, const Options& options = small_options()) {
  Filter filter = created(dir.file(), options);
  for (const AddForm& form : add_forms()) CHECK(form.add(filter, 1, kThreeWindows).ok());
  CHECK(filter.close().ok());
  return dir.file();
}

void check_all_maybe(const Filter& filter) {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, 1, kThreeWindows) == kThreeWindows);
    CHECK(form.ask(filter, kNobody, kThreeWindows) == kThreeWindows);
  }
  CHECK(filter.health() == Code::kFault);
}

}  // namespace

TEST_CASE("every form of lookup that meets a page that cannot be read answers maybe, and so do all later ones") {
  for (const Options& options : {small_options(), large_options()}) {
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
      for (const off_t end : {off_t{0}, off_t{4096}, kHeader}) {
        for (const AskForm& form : ask_forms()) {
          CAPTURE(form.name);
          CAPTURE(end);
          TempDir dir(memory_folder());
          Filter filter = opened(Filter::open(filled(dir, options), mode, kGuarded));
          CHECK(form.ask(filter, kNobody, kThreeWindows) < kThreeWindows / 2);
          cut(dir.file(), end);
          CHECK(form.ask(filter, 1, kThreeWindows) == kThreeWindows);
          check_all_maybe(filter);
          CHECK_FALSE(*filter.is_current());
        }
      }
    }
  }
}

// A page of ones is no "maybe" there.
TEST_CASE("every form of lookup that meets a page of a file that was built once and cannot be read answers maybe") {
  Options options;
  options.layout = Layout::kStatic;
  options.unpublished = true;
  for (const off_t end : {off_t{0}, off_t{4096}, kHeader}) {
    for (const AskForm& form : ask_forms()) {
      CAPTURE(form.name);
      CAPTURE(end);
      TempDir dir(memory_folder());
      Filter made = created(dir.file(), options);
      for (const AddForm& add : add_forms()) CHECK(add.add(made, 1, kThreeWindows).ok());
      REQUIRE(made.publish().ok());
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead, kGuarded));
      CHECK(form.ask(reader, kNobody, kThreeWindows) < kThreeWindows / 2);
      CHECK(made.close().ok());  // it has no guard
      cut(dir.file(), end);
      CHECK(form.ask(reader, 1, kThreeWindows) == kThreeWindows);
      check_all_maybe(reader);
    }
  }
}

TEST_CASE("every form of add that meets a page that cannot be read is an error, and so are all later ones") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    for (const AddForm& form : add_forms()) {
      CAPTURE(form.name);
      TempDir dir(memory_folder());
      Filter filter = opened(Filter::open(filled(dir), mode, kGuarded));
      cut(dir.file(), kHeader);
      CHECK(form.add(filter, 2, kThreeWindows).code() == Code::kFault);
      CHECK(form.add(filter, 2, kThreeWindows).code() == Code::kFault);
      check_all_maybe(filter);
    }
  }
}

TEST_CASE("a file of which a writer could not read a page is poisoned for every process, and is not closed clean") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter writer = opened(Filter::open(path, OpenMode::kWrite, kGuarded));
  Remote other(path);
  CHECK(other.call("open read") == "BFS_OK");
  const std::string body = read_bytes(path).substr(kHeader);
  cut(path, kHeader);
  CHECK(writer.contains(key_of(1, 0)));
  CHECK(writer.health() == Code::kFault);
  write_bytes(path, kHeader, body);  // the page is there again: this handle does not believe it
  CHECK(other.call("health") == "BFS_EPOISONED");
  CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kFault);
  const Error closed = writer.close();
  CHECK(closed.code == Code::kFault);
  CHECK(closed.message.find(path) != std::string::npos);
  CHECK(look_at(path).says_dirty());
  CHECK(open_code(path, OpenMode::kRead) == Code::kPoisoned);
  CHECK(open_code(path, OpenMode::kWrite) == Code::kPoisoned);
}

TEST_CASE("a page that a reader could not read puts only that reader in doubt") {
  TempDir dir;
  const std::string path = filled(dir);
  const Filter reader = opened(Filter::open(path, OpenMode::kRead, kGuarded));
  const std::string whole = read_bytes(path);
  cut(path, kHeader);
  CHECK(reader.contains(key_of(1, 0)));
  write_bytes(path, kHeader, whole.substr(kHeader));
  CHECK(read_bytes(path) == whole);
  check_all_maybe(reader);
  CHECK(open_code(path, OpenMode::kRead) == Code::kOk);
}

namespace {

// A page of a filter's mapping that nobody may touch. Who touches it first is asked what the filter's health is, in the
// handler of SIGSEGV, and finds the page as it was.
class Forbidden {
 public:
  Forbidden(const Filter& filter, std::byte* page) {
    now = this;
    filter_ = &filter;
    page_ = page;
    struct sigaction ours {};
    ours.sa_handler = [](int) { now->ask(); };
    REQUIRE(sigaction(SIGSEGV, &ours, &before_) == 0);
    REQUIRE(mprotect(page_, 4096, PROT_NONE) == 0);
  }
  ~Forbidden() { sigaction(SIGSEGV, &before_, nullptr); }
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;

  std::optional<Code> health;  // none: nobody touched the page

 private:
  void ask() noexcept {
    if (mprotect(page_, 4096, PROT_READ | PROT_WRITE) != 0) abort();
    health = filter_->health();
  }

  static inline Forbidden* now = nullptr;
  const Filter* filter_ = nullptr;
  std::byte* page_ = nullptr;
  struct sigaction before_ {};
};

// Returns the memory to which this process has mapped the file to write to it.
std::span<std::byte> mapped_to_write(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(path) || line.find(" rw-s 00000000 ") == std::string::npos) continue;
    const auto begin = std::stoull(line, nullptr, 16);
    const auto end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    return {reinterpret_cast<std::byte*>(begin), static_cast<std::size_t>(end - begin)};
  }
  FAIL("the file is not mapped");
  return {};
}

// A page that keeps its bytes when its file is cut, as it does for a moment: the kernel takes the pages away in order.
class Kept {
 public:
  explicit Kept(std::byte* page) : page_(page), bytes_(page, page + 4096) {}
  void put_back() const {
    REQUIRE(mmap(page_, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page_);
    std::memcpy(page_, bytes_.data(), bytes_.size());
  }

 private:
  std::byte* page_;
  std::vector<std::byte> bytes_;
};

}  // namespace

// The handler knows of the fault, and is about to tell other processes. Lookups still believe the pages that are there.
TEST_CASE("health reports no fault before lookups answer maybe because of it") {
  TempDir dir(memory_folder());
  const Filter writer = opened(Filter::open(filled(dir), OpenMode::kWrite, kGuarded));
  const std::span<std::byte> mapped = mapped_to_write(dir.file());
  const Kept last_page(&mapped[mapped.size() - 4096]);
  const Forbidden live_page(writer, &mapped[format::kLivePageOffset]);
  cut(dir.file(), kHeader);
  last_page.put_back();
  CHECK(writer.contains(key_of(kNobody, 0)));
  REQUIRE(live_page.health.has_value());
  CHECK(*live_page.health == Code::kOk);
  check_all_maybe(writer);
}

TEST_CASE("another file's live word is not touched when a page cannot be read") {
  TempDir dir;
  const std::string path = filled(dir);
  CHECK(created(dir.file("other")).close().ok());
  const std::string header = read_bytes(dir.file("other")).substr(0, static_cast<std::size_t>(kHeader));
  Filter writer = opened(Filter::open(path, OpenMode::kWrite, kGuarded));
  write_bytes(path, 0, header);
  cut(path, kHeader);
  CHECK(writer.contains(key_of(1, 0)));
  CHECK(read_bytes(path) == header);
  check_all_maybe(writer);
}

TEST_CASE("a new filter and a range of a file are guarded, too") {
  TempDir dir;
  Options options = small_options();
  options.map.guard = true;
  Filter made = created(dir.file(), options);
  cut(dir.file(), kHeader);
  CHECK(made.add("a key").code() == Code::kFault);
  check_all_maybe(made);

  std::vector<std::byte> memory(*Filter::required_bytes(small_options()) + 64);
  const std::size_t skew = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  const std::span<std::byte> buffer = std::span(memory).subspan(skew, memory.size() - 64);
  add_keys(*std::make_unique<Filter>(opened(Filter::format(buffer, small_options()))), 1, 0, kSome);
  std::ofstream(dir.file("range"), std::ios::binary)
      << std::string(8192, 'x') << std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  const Filter range = opened(Filter::open_range(dir.file("range"), 8192, 0, {.map = {.guard = true}}));
  CHECK(maybes(range, 1, 0, kSome) == kSome);
  CHECK(answers_no(range));
  cut(dir.file("range"), 8192);
  check_all_maybe(range);
}

TEST_CASE("a page that cannot be read is a page of ones, and the word that says so is changed") {
  const Unreadable there;
  auto* const word = const_cast<std::uint64_t*>(there.words() + 3 * 512);
  const auto guard = region::Guard::watch(const_cast<std::uint64_t*>(there.words()), Unreadable::kBytes, {word});
  REQUIRE(guard.ok());
  CHECK_FALSE(guard->faulted());
  CHECK(there.words()[5 * 512 + 17] == UINT64_MAX);
  CHECK(guard->faulted());
  CHECK(*word == 0);
  there.words()[7 * 512] = 1;  // private memory by now
}

TEST_CASE("however many handles are guarded, each meets its own fault") {
  TempDir dir(memory_folder());
  const std::string path = filled(dir);
  std::vector<Filter> readers;
  for (int i = 0; i < 150; ++i) readers.push_back(opened(Filter::open(path, OpenMode::kRead, kGuarded)));
  cut(path, 0);
  for (const Filter& reader : readers) {
    CHECK(reader.contains(key_of(kNobody, 1)));
    CHECK(reader.health() == Code::kFault);
  }
}

TEST_CASE("guards come and go in other threads while pages fault, and each fault finds its own") {
  constexpr int kRounds = 300;
  const auto word_in = [](const Unreadable& which) { return const_cast<std::uint64_t*>(which.words() + 2048); };
  const auto watch = [&](const Unreadable& which) {
    return region::Guard::watch(const_cast<std::uint64_t*>(which.words()), Unreadable::kBytes, {word_in(which)});
  };
  const Unreadable quiet;
  std::atomic<bool> stop{false};
  const auto come_and_go = [&] {
    while (!stop) {
      std::vector<Result<region::Guard>> many;
      for (int i = 0; i < 100; ++i) many.push_back(watch(quiet));  // more than a table has
    }
  };
  const auto fault = [&] {
    for (int round = 0; round < kRounds; ++round) {
      const Unreadable mine;
      const auto guard = watch(mine);
      CHECK(mine.words()[round] == UINT64_MAX);
      CHECK(__atomic_load_n(word_in(mine), __ATOMIC_SEQ_CST) == 0);
      CHECK(guard->faulted());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(come_and_go);
  std::vector<std::thread> faulting;
  for (int i = 0; i < 3; ++i) faulting.emplace_back(fault);
  for (std::thread& thread : faulting) thread.join();
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// Each thread has to see the doubt before it continues, whichever came first.
TEST_CASE("threads that meet pages that cannot be read at the same moment all answer maybe, and add nothing") {
  for (int round = 0; round < 50; ++round) {
    TempDir dir(memory_folder());
    Filter filter = opened(Filter::open(filled(dir, large_options()), OpenMode::kWrite, kGuarded));
    std::barrier<> start(5);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number) {
      threads.emplace_back([&, number] {
        start.arrive_and_wait();
        for (std::uint64_t i = 0; i < 100; ++i) {
          if (!filter.contains(key_of(1, i + number))) ++wrong;
          if (filter.add(key_of(number + 2, i)).ok()) ++wrong;
        }
      });
    }
    cut(dir.file(), kHeader);
    start.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK_FALSE(*filter.is_current());
  }
}
