// Threads on one handle and on several handles of one file: adding, asking, syncing, counting, opening and closing at
// once. Right in every build, and without a data race under ThreadSanitizer.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

#if defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

const std::uint64_t kKeysOfAThread = 40'000 / kKeyScale;

// Threads that take a lock again and again may keep another thread from it for seconds, on a slow machine.
const OpenOptions kPatient{.lock_timeout_ms = kWaitForEver};

Options roomy(Layout layout) {
  Options options;
  options.lock_timeout_ms = kPatient.lock_timeout_ms;
  options.capacity = 8 * kKeysOfAThread;
  options.bits_per_key = 16;
  options.layout = layout;
  options.window_ms = layout_of(layout)->can.expire ? 3'600'000 : 0;
  return options;
}

// Runs `body` in a thread for each number. All begin together.
void at_once(unsigned threads, const std::function<void(unsigned)>& body) {
  std::atomic<unsigned> waiting{threads};
  std::vector<std::thread> running;
  for (unsigned number = 0; number < threads; ++number) {
    running.emplace_back([&, number] {
      --waiting;
      while (waiting.load() != 0) std::this_thread::yield();
      body(number);
    });
  }
  for (std::thread& thread : running) thread.join();
}

// doctest's checks want one thread: the threads count what went wrong.
struct Faults {
  std::atomic<std::uint64_t> wrong_noes{0};
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> fresh{0};
  std::atomic<std::uint64_t> added{0};
  void check() const {
    CHECK(wrong_noes.load() == 0);
    CHECK(errors.load() == 0);
  }
};

void add_and_ask(Filter& filter, unsigned writer, Faults& faults) {
  for (std::uint64_t i = 0; i < kKeysOfAThread; ++i) {
    const std::string key = key_of(writer, i);
    const Count added = filter.add(key);
    if (added.ok()) faults.fresh += added.keys();
    if (added.ok()) ++faults.added;
    if (!added.ok()) ++faults.errors;
    if (!filter.contains(key)) ++faults.wrong_noes;
  }
}

void add_batches(Filter& filter, unsigned writer, Faults& faults) {
  constexpr std::uint64_t kBatch = 500;
  for (std::uint64_t from = 0; from < kKeysOfAThread; from += kBatch) {
    std::vector<std::uint64_t> digests;
    for (std::uint64_t i = from; i < from + kBatch; ++i) digests.push_back(*filter.digest(key_of(writer, i)));
    const Count added = filter.add_keys(Keys::digests(digests));
    if (added.ok()) faults.fresh += added.keys();
    if (added.ok()) faults.added += kBatch;
    if (!added.ok()) ++faults.errors;
    std::vector<std::uint8_t> answers(kBatch);
    const Count found = filter.contains_keys(Keys::digests(digests), answers);
    if (!found.ok() || found.keys() != kBatch) ++faults.wrong_noes;
  }
}

void check_all(const Filter& filter, unsigned threads, const Faults& faults) {
  faults.check();
  for (unsigned writer = 0; writer < threads; ++writer) {
    CHECK(maybes(filter, writer, 0, kKeysOfAThread) == kKeysOfAThread);
  }
  // With counters, every add counts.
  const bool counts = layout_of(filter.shape().layout)->can.remove;
  CHECK(filter.stats().keys_added == (counts ? faults.added : faults.fresh).load());
}

}  // namespace

TEST_CASE("threads on one handle lose no key and no count") {
  for (const LayoutInfo& row : layouts()) {
    if (row.can.build) continue;  // its files take no keys
    for (const unsigned threads : {2U, 5U, 8U}) {
      TempDir dir;
      Filter filter = created(dir.file(), roomy(row.layout));
      Faults faults;
      at_once(threads, [&](unsigned number) {
        number % 2 == 0 ? add_and_ask(filter, number, faults) : add_batches(filter, number, faults);
      });
      check_all(filter, threads, faults);
    }
  }
}

TEST_CASE("threads on one handle that is the only writer take turns and lose no key and no count") {
  for (const LayoutInfo& row : layouts()) {
    if (row.can.build) continue;  // its files take no keys
    TempDir dir;
    CHECK(created(dir.file(), roomy(row.layout)).close().ok());
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kExclusive, kPatient));
    Faults faults;
    at_once(4, [&](unsigned number) {
      number % 2 == 0 ? add_and_ask(filter, number, faults) : add_batches(filter, number, faults);
    });
    check_all(filter, 4, faults);
  }
}

TEST_CASE("a load that is divided among threads loses no key while others read, and its calls take turns") {
  TempDir dir;
  Options options = roomy(Layout::kBlocked);
  options.capacity = 400'000;
  options.exclusive = true;
  Filter filter = created(dir.file(), options);
  CHECK(filter.use_threads(3).ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  std::vector<std::uint64_t> digests;
  for (std::uint64_t i = 0; i < 200'000; ++i) digests.push_back((i + 1) * 0x9e3779b97f4a7c15);
  Faults faults;
  at_once(3, [&](unsigned number) {
    if (number < 2) {
      const auto half = std::span(digests).subspan(number * digests.size() / 2, digests.size() / 2);
      if (!filter.add_keys(Keys::digests(half)).ok()) ++faults.errors;
    } else {
      for (const std::uint64_t digest : digests) static_cast<void>(reader.contains_digest(digest));
    }
  });
  faults.check();
  std::vector<std::uint8_t> answers(digests.size());
  CHECK(reader.contains_keys(Keys::digests(digests), answers).keys() == digests.size());
}

TEST_CASE("threads with a handle each lose no key and no count") {
  for (const LayoutInfo& row : layouts()) {
    if (row.can.build) continue;  // its files take no keys
    TempDir dir;
    CHECK(created(dir.file(), roomy(row.layout)).close().ok());
    Faults faults;
    std::vector<Filter> handles;
    for (int i = 0; i < 4; ++i) handles.push_back(opened(Filter::open(dir.file(), OpenMode::kWrite, kPatient)));
    at_once(4, [&](unsigned number) { add_and_ask(handles[number], number, faults); });
    check_all(handles[0], 4, faults);
    for (Filter& handle : handles) CHECK(handle.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

TEST_CASE("threads that add the same keys leave them all there, and each was new to one of them") {
  TempDir dir;
  Filter filter = created(dir.file(), roomy(Layout::kBlocked));
  Faults faults;
  at_once(4, [&](unsigned) { add_and_ask(filter, 0, faults); });
  check_all(filter, 1, faults);
  CHECK(faults.fresh.load() >= kKeysOfAThread - kKeysOfAThread / 1000);
}

TEST_CASE("syncs, counts of bits and inspections while threads add lose nothing and miss nothing") {
  TempDir dir;
  Filter filter = created(dir.file(), roomy(Layout::kBlocked));
  Filter second = opened(Filter::open(dir.file(), OpenMode::kWrite, kPatient));
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  Faults faults;
  std::atomic<unsigned> adding{3};
  at_once(7, [&](unsigned number) {
    if (number < 3) {
      add_and_ask(number == 0 ? second : filter, number, faults);
      --adding;
    }
    for (std::uint64_t mark = 1; number >= 3 && adding.load() != 0; ++mark) {
      if (number <= 4) {
        Filter& mine = number == 3 ? filter : second;
        if (!mine.sync({.owner = number, .mark = mark}).ok() || mine.get_mark(number) != mark) ++faults.errors;
      } else if (number == 5) {
        const Stats stats = reader.stats({.fill = true});
        if (stats.fill->set_bits > stats.shape.num_bits || reader.health() != Code::kOk) ++faults.errors;
      } else {
        const auto report = inspect(dir.file());
        if (!report.ok() || !report->valid() || report->state != FileState::kInUse) ++faults.errors;
      }
    }
  });
  check_all(reader, 3, faults);
}

TEST_CASE("threads that sync one handle at once keep the highest mark") {
  const std::string disk = std::filesystem::temp_directory_path();
  for (const auto& [folder, rounds] : {std::pair(disk, 10U), std::pair(memory_folder(), 300U)}) {
    TempDir dir(folder);
    Filter filter = created(dir.file(), roomy(Layout::kBlocked));
    Faults faults;
    at_once(4, [&, most = rounds](unsigned number) {
      for (std::uint64_t i = 1; i <= most; ++i) {
        if (!filter.sync({.owner = 9, .mark = i * 4 + number}).ok()) ++faults.errors;
      }
    });
    faults.check();
    CHECK(filter.get_mark(9) == rounds * 4 + 3);
    CHECK(filter.close().ok());
  }
}

TEST_CASE("threads that open and close the file while others add lose nothing and miss nothing") {
  TempDir dir(memory_folder());
  Filter filter = created(dir.file(), roomy(Layout::kClassic));
  Faults faults;
  std::atomic<unsigned> adding{2};
  at_once(5, [&](unsigned number) {
    if (number < 2) {
      add_and_ask(filter, number, faults);
      --adding;
    }
    while (number >= 2 && adding.load() != 0) {
      auto other = Filter::open(dir.file(), number == 2 ? OpenMode::kRead : OpenMode::kWrite, kPatient);
      if (!other.ok() || !other->close().ok()) ++faults.errors;
    }
  });
  check_all(filter, 2, faults);
  CHECK(filter.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("threads share a filter in a buffer") {
  Options options = roomy(Layout::kBlocked);
  const std::uint64_t bytes = *Filter::required_bytes(options);
  std::vector<std::byte> memory(bytes + 64);
  auto* start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  Filter filter = opened(Filter::format({start, bytes}, options));
  Faults faults;
  at_once(4, [&](unsigned number) { add_and_ask(filter, number, faults); });
  faults.check();
  for (unsigned writer = 0; writer < 4; ++writer) CHECK(maybes(filter, writer, 0, kKeysOfAThread) == kKeysOfAThread);
}

TEST_CASE("every key whose add returned before a filter is saved or dumped is there, while threads add") {
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  Options options = roomy(Layout::kBlocked);
  for (const auto& [in_file, exclusive] : {std::pair(true, false), std::pair(true, true), std::pair(false, false)}) {
    options.exclusive = exclusive;  // whose adds are plain stores
    TempDir dir(memory_folder());
    const auto memory = std::make_unique<Line[]>(*Filter::required_bytes(options) / sizeof(Line) + 1);
    const std::span<std::byte> buffer(memory[0].bytes.data(), *Filter::required_bytes(options));
    Filter filter = in_file ? created(dir.file(), options) : opened(Filter::format(buffer, options));
    std::array<std::atomic<std::uint64_t>, 2> returned{};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned writer = 0; writer < returned.size(); ++writer) {
      threads.emplace_back([&, writer] {
        for (std::uint64_t i = 0; i < 2 * kKeysOfAThread && !stop.load(); ++i) {
          if (filter.add(key_of(writer, i)).ok()) returned[writer].store(i + 1);
        }
      });
    }
    for (std::uint64_t round = 0; round < 20; ++round) {
      for (const auto& count : returned) {
        while (count.load() <= round) std::this_thread::yield();
      }
      const std::array<std::uint64_t, 2> before{returned[0].load(), returned[1].load()};
      CHECK(filter.save(dir.file("copy"), {.replace = true}).ok());
      std::vector<std::byte> dumped(*filter.dumped_bytes());
      CHECK(filter.dump(dumped).ok());
      const Filter saved = opened(Filter::open(dir.file("copy"), OpenMode::kRead));
      const Filter loaded = opened(Filter::load(dumped));
      for (unsigned writer = 0; writer < 2; ++writer) {
        const std::uint64_t last = std::min(before[writer], kSome);
        CHECK(maybes(saved, writer, before[writer] - last, last) == last);
        CHECK(maybes(loaded, writer, before[writer] - last, last) == last);
      }
    }
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
  }
}

namespace {

// A part in the middle of memory without access. It is so large that each digest of another part leads there.
class PartAlone {
 public:
  explicit PartAlone(Layout layout) {
    TempDir dir(memory_folder());
    Options options;
    options.layout = layout;
    options.num_bits = std::uint64_t{3} * (layout == Layout::kCounting ? kBytes * 2 : kBytes * 8);
    options.num_probes = 4;
    options.capacity = 1000;
    options.seed = 1;
    options.part = Part{1, 3};
    const Filter part = created(dir.file(), options);
    memory_ = static_cast<std::byte*>(mmap(nullptr, 5 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory_ != MAP_FAILED);
    const std::span<std::byte> middle(memory_ + 2 * kBytes, *part.dumped_bytes());
    REQUIRE(middle.size() < kBytes + kBytes / 2);
    REQUIRE(mprotect(middle.data(), middle.size(), PROT_READ | PROT_WRITE) == 0);
    REQUIRE(part.dump(middle).ok());
    filter_.emplace(opened(Filter::wrap(middle)));
  }
  PartAlone(const PartAlone&) = delete;
  PartAlone& operator=(const PartAlone&) = delete;
  ~PartAlone() {
    filter_.reset();
    munmap(memory_, 5 * kBytes);
  }

  Filter& filter() { return *filter_; }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 18;
  std::byte* memory_;
  std::optional<Filter> filter_;
};

void use_every_call(Filter& filter, const Keys& keys) {
  const auto good_or_refused = [](const Count& count) { return count.ok() || count.code() == Code::kPart; };
  std::vector<std::uint8_t> answers(keys.size());
  std::vector<std::uint32_t> indices(keys.size());
  CHECK(good_or_refused(filter.contains_keys(keys, answers)));
  CHECK(good_or_refused(filter.select_keys(keys, indices)));
  CHECK(good_or_refused(filter.add_keys(keys)));
  if (filter.shape().layout == Layout::kCounting) CHECK(good_or_refused(filter.remove_keys(keys)));
}

}  // namespace

// bfstore.h forbids such a change, and it once led outside the memory of the part.
TEST_CASE("keys of a part that another thread changes during the call lead to no other memory") {
  for (const Layout layout : {Layout::kBlocked, Layout::kCounting}) {
    PartAlone part(layout);
    std::vector<std::uint64_t> numbers;  // each is a key of 8 bytes, and a digest
    for (std::uint64_t i = 0; numbers.size() < 300; ++i) {
      const std::uint64_t number = i * 0x9e3779b97f4a7c15;
      const auto bytes = std::bit_cast<std::array<char, 8>>(number);
      const std::uint64_t digest = *part.filter().digest({bytes.data(), bytes.size()});
      if (Part::number_of(number, 3) == 1 && Part::number_of(digest, 3) == 1) numbers.push_back(number);
    }
    std::atomic<bool> stop{false};
    std::thread changing([&] {  // 1 to 3 are of another part, as digests and as keys
      const std::uint64_t own = numbers[150];
      for (std::uint64_t i = 0; !stop.load(); ++i) std::atomic_ref(numbers[150]).store(i % 2 == 0 ? own : i % 3 + 1);
    });
    std::vector<Keys> forms{Keys::digests(numbers)};
    if (!kThreadSanitizer)
      forms.push_back(Keys::fixed(numbers.data(), 8, numbers.size()));  // whose hash reads them while they change
    for (const Keys& keys : forms) {
      for (std::uint64_t round = 0; round < 10'000 / kKeyScale; ++round) use_every_call(part.filter(), keys);
    }
    stop.store(true);
    changing.join();
  }
}
