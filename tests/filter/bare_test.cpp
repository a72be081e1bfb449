// Bare filters without a handle: built as format() and add() build them, answered as a handle answers, at every address
// and length; and "maybe" for everything that is not a whole bare filter.
#include <sys/mman.h>
#include <bfstore/bare.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <thread>

#include "format/bare.hpp"
#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Not inlined: where gcc 12 inlines only one of the two, it warns that they do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::size_t) noexcept { std::free(made); }

namespace {

using Memory = std::vector<std::byte>;

std::vector<std::string> keys_of(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < count; ++i)
    keys.push_back("key " + std::to_string(mix(first + i)).substr(0, mix(first + i) % 30));
  return keys;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& keys) { return {keys.begin(), keys.end()}; }

Options bare_options(Layout layout, Hash hash, std::uint64_t capacity, std::uint64_t bytes) {
  Options options;
  options.bare = true;
  options.layout = layout;
  options.hash = hash;
  options.capacity = capacity;
  options.max_bytes = bytes;
  return options;
}

// The bytes that a handle makes, and what it answers.
struct Made {
  Buffer buffer;
  Filter filter;
};

Made made_of(const Options& options) {
  Buffer buffer(must(Filter::required_bytes(options)));
  Filter filter = must(Filter::format(buffer.bytes(), options));
  return {std::move(buffer), std::move(filter)};
}

Memory built(const Keys& keys, Layout layout, Hash hash, double bits_per_key = 10) {
  Memory memory(bare::bytes_for(keys.size(), bits_per_key, layout), std::byte{0x5a});
  REQUIRE(bare::build(memory, keys, layout, hash) == Code::kOk);
  return memory;
}

// Builds a filter with the first `present` digests.
Memory built_of_digests(Layout layout, std::uint64_t present, Hash hash = Hash::kXxh3) {
  return built(Keys::digests(mixed(0, present)), layout, hash);
}

bool equal(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

// Asks for absent digests and present ones.
void check_all_maybe(std::span<const std::byte> filter) {
  for (std::uint64_t i = 0; i < 40; ++i) REQUIRE(bare::contains_digest(filter, mix(i)));
  REQUIRE(bare::contains(filter, "a key"));
}

// Made by a handle, without bare::build, whose call would be the first one of the process.
struct OneOfMany {
  Made made;

  OneOfMany(Layout layout, std::uint64_t body_bytes, std::uint32_t k) : made(made_of(options(layout, body_bytes, k))) {
    add_mixed(made.filter, 0, keys());
  }

  [[nodiscard]] std::uint64_t keys() const { return 1 + made.buffer.bytes().size() / 20; }
  [[nodiscard]] std::span<const std::byte> bytes() { return made.buffer.bytes(); }

  // Returns whether bare filters answer as the handle does.
  bool is_answered_right() {
    bool right = true;
    for (std::uint64_t i = 0; i < keys() + 20; ++i)
      right = right && bare::contains_digest(bytes(), mix(i)) == made.filter.contains_digest(mix(i));
    for (const char* key : {"", "key", "a longer key", "a key that is longer than 16 bytes"})
      right = right && bare::contains(bytes(), key) == made.filter.contains(key);
    return right;
  }

  static Options options(Layout layout, std::uint64_t body_bytes, std::uint32_t k) {
    Options options = bare_options(layout, Hash::kXxh3, 0, 0);
    options.num_bits = body_bytes * (layout == Layout::kCounting ? 2 : 8);
    options.num_probes = k;
    return options;
  }
};

// Pages between two fences that no code may touch.
class Fenced {
 public:
  static constexpr std::size_t kFence = 65536;  // a page of any kernel
  static constexpr std::size_t kBytes = kFence;

  Fenced() : all_(mmap(nullptr, 2 * kFence + kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(all_ != MAP_FAILED);
    REQUIRE(mprotect(inside().data(), kBytes, PROT_READ | PROT_WRITE) == 0);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(all_, 2 * kFence + kBytes); }

  [[nodiscard]] std::span<std::byte> inside() const { return {static_cast<std::byte*>(all_) + kFence, kBytes}; }
  // Returns two ranges of this length: one right after the fence before them, and one right before the fence after
  // them.
  [[nodiscard]] std::array<std::span<std::byte>, 2> beside(std::size_t bytes) const {
    return {inside().first(bytes), inside().last(bytes)};
  }

 private:
  void* all_;
};

// Makes a filter of each layout that may have a body of that many bytes, in the order of the table or in reverse.
std::vector<OneOfMany> of_each_layout(std::uint64_t body_bytes, std::uint32_t k, bool forwards) {
  std::vector<Layout> layouts = every_layout_in_memory();
  if (!forwards) std::reverse(layouts.begin(), layouts.end());
  std::vector<OneOfMany> filters;
  for (const Layout layout : layouts)
    if (layout == Layout::kClassic || body_bytes % 64 == 0) filters.emplace_back(layout, body_bytes, k);
  return filters;
}

}  // namespace

// The first case: what a process does once is done by several threads here.
TEST_CASE("threads that ask at once for the first time in a process are answered right") {
  std::vector<OneOfMany> filters;
  for (std::uint64_t bytes = 8; bytes <= 1100; bytes += 8)
    for (OneOfMany& filter : of_each_layout(bytes, 1 + static_cast<std::uint32_t>(bytes / 8 % 5), bytes % 16 == 0))
      filters.push_back(std::move(filter));
  std::atomic<int> wrong{0}, waiting{4};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (std::size_t i = 0; i < filters.size(); ++i)
        wrong += filters[(i + static_cast<std::size_t>(number)) % filters.size()].is_answered_right() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

// The library remembers a trailer for each length and k.
TEST_CASE("filters of one length and k, and of different layouts, are all answered right, in any order") {
  for (std::uint64_t bytes = 8; bytes <= 1100; bytes += bytes % 64 == 0 || bytes > 960 ? 8 : 56) {
    for (const std::uint32_t k : {1U, 6U, 8U, 9U, 17U, 63U, 64U}) {
      auto filters = of_each_layout(bytes, k, bytes / 64 % 2 == 0);
      CAPTURE(bytes);
      CAPTURE(k);
      for (int again = 0; again < 2; ++again)
        for (OneOfMany& filter : filters) REQUIRE(filter.is_answered_right());
    }
  }
}

// Zeros once marked a place that remembers no trailer, and such bytes ended in a signal.
TEST_CASE("bytes that are all alike are no filter, whatever their length, before and after filters were asked") {
  for (std::uint64_t bytes = 0; bytes <= 1100; ++bytes) {
    for (const int value : {0, 1, 0xff}) {
      Memory alike(bytes);
      std::fill_n(alike.data(), bytes, static_cast<std::byte>(value));
      CAPTURE(bytes);
      CAPTURE(value);
      check_all_maybe(alike);
    }
  }
}

TEST_CASE("a filter of its owner's digests, whose trailer was right, answers maybe to every key") {
  for (const Layout layout : every_layout_in_memory()) {
    for (std::uint32_t k = 40; k < 45; ++k) {  // in no other case: the first trailer of a length and k is remembered
      Options options = OneOfMany::options(layout, 64, k);
      options.hash = Hash::kExternal;
      Made made = made_of(options);
      CAPTURE(layout);
      for (int again = 0; again < 2; ++again) {
        REQUIRE_FALSE(bare::contains_digest(made.buffer.bytes(), mix(1)));
        for (const char* key : {"", "key", "a longer key", "a key that is longer than 16 bytes"})
          REQUIRE(bare::contains(made.buffer.bytes(), key));
      }
    }
  }
}

TEST_CASE("a trailer that was right makes no filter of another length, or with a bit of it flipped, right") {
  for (const Layout layout : every_layout_in_memory()) {
    OneOfMany filter(layout, 64, 7);
    REQUIRE(filter.is_answered_right());
    for (std::uint64_t body_bytes = 0; body_bytes <= 1100; ++body_bytes) {
      Memory other(body_bytes + 8);
      std::memcpy(other.data() + body_bytes, filter.bytes().data() + 64, 8);
      CAPTURE(body_bytes);
      if (body_bytes != 64) check_all_maybe(other);
    }
    for (std::size_t bit = 0; bit < 64; ++bit) {
      Memory other(filter.bytes().size());
      std::memcpy(other.data(), filter.bytes().data(), other.size());
      other[64 + bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      CAPTURE(bit);
      check_all_maybe(other);
    }
    REQUIRE(filter.is_answered_right());
  }
}

TEST_CASE(
    "a bare filter is built byte for byte as a handle makes it, and answers as a handle does, from 1 to 200 keys") {
  std::uint64_t noes = 0;
  for (const Layout layout : every_layout_in_memory()) {
    for (std::uint64_t n = 1; n <= 200; ++n) {
      CAPTURE(layout);
      CAPTURE(n);
      const std::vector<std::string> keys = keys_of(1000 * n, n + 50);
      const auto views = views_of(keys);
      const Memory memory = built(Keys::views(std::span(views).first(n)), layout, Hash::kXxh3);
      Made made = made_of(bare_options(layout, Hash::kXxh3, n, memory.size()));
      REQUIRE(made.filter.add_keys(Keys::views(std::span(views).first(n))).ok());
      REQUIRE(equal(memory, made.buffer.bytes()));
      const Filter wrapped = must(Filter::wrap_to_read(std::span<const std::byte>(made.buffer.bytes()), true));
      for (const std::string_view key : views) {
        const bool answer = wrapped.contains(key);
        REQUIRE(bare::contains(memory, key) == answer);
        REQUIRE(bare::contains_digest(memory, *wrapped.digest(key)) == answer);
        noes += answer ? 0U : 1U;
      }
      for (std::uint64_t i = 0; i < n; ++i) REQUIRE(bare::contains(memory, views[i]));
    }
  }
  CHECK(noes > 10'000);
}

TEST_CASE("a bare filter of its owner's digests is as a handle makes it, and answers maybe to keys") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::uint64_t n : {1U, 2U, 33U, 200U, 5000U}) {
      const Memory memory = built_of_digests(layout, n, Hash::kExternal);
      Made made = made_of(bare_options(layout, Hash::kExternal, n, memory.size()));
      add_mixed(made.filter, 0, n);
      REQUIRE(equal(memory, made.buffer.bytes()));
      for (std::uint64_t i = 0; i < n + 100; ++i)
        REQUIRE(bare::contains_digest(memory, mix(i)) == made.filter.contains_digest(mix(i)));
      CHECK(bare::contains(memory, "a key"));
      CHECK(bare::contains(memory, ""));
    }
  }
}

TEST_CASE("a bare filter answers as a handle does with every number of probes") {
  for (const Layout layout : every_layout_in_memory()) {
    for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
      Options options = bare_options(layout, Hash::kXxh3, 0, 0);
      options.num_bits = 1024;
      options.num_probes = k;
      Made made = made_of(options);
      add_mixed(made.filter, 0, 1 + 800 / k);
      Memory memory(made.buffer.bytes().size() + 1);
      std::memcpy(memory.data() + 1, made.buffer.bytes().data(), memory.size() - 1);
      std::uint64_t maybes = 0;
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const bool answer = made.filter.contains_digest(mix(i));
        REQUIRE(bare::contains_digest(std::span(memory).subspan(1), mix(i)) == answer);
        maybes += answer ? 1U : 0U;
      }
      CAPTURE(k);
      CHECK(maybes > 800 / k);
      CHECK(maybes < 2000);
    }
  }
}

TEST_CASE("a bare filter works at every address") {
  for (const Layout layout : every_layout_in_memory()) {
    const Memory memory = built_of_digests(layout, 100);
    Buffer moved(memory.size() + 64);
    for (std::size_t at = 0; at < 64; ++at) {
      CAPTURE(at);
      const std::span<std::byte> there = moved.bytes().subspan(at, memory.size());
      std::fill(moved.bytes().begin(), moved.bytes().end(), std::byte{0xa5});
      REQUIRE(bare::build(there, Keys::digests(mixed(0, 100)), layout) == Code::kOk);
      REQUIRE(equal(there, memory));
      for (std::size_t i = 0; i < moved.bytes().size(); ++i) {
        if (i < at || i >= at + memory.size()) REQUIRE(moved.bytes()[i] == std::byte{0xa5});
      }
      for (std::uint64_t i = 0; i < 500; ++i)
        REQUIRE(bare::contains_digest(there, mix(i)) == bare::contains_digest(memory, mix(i)));
      for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(bare::contains_digest(there, mix(i)));
    }
  }
}

TEST_CASE("every bare filter that is cut, at either end, answers maybe") {
  for (const Layout layout : every_layout_in_memory()) {
    const Memory memory = built_of_digests(layout, 33);
    REQUIRE_FALSE(bare::contains_digest(memory, mix(12345)));
    for (std::size_t bytes = 0; bytes < memory.size(); ++bytes) {
      CAPTURE(bytes);
      const Memory cut(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(bytes));  // its own allocation
      check_all_maybe(cut);
      check_all_maybe(std::span(memory).last(bytes));
    }
  }
}

TEST_CASE("every bare filter with one bit of its trailer flipped, or two, answers maybe") {
  for (const Layout layout : every_layout_in_memory()) {
    Memory memory = built_of_digests(layout, 33);
    const auto flip = [&](std::size_t bit) {
      memory[memory.size() - 8 + bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    };
    for (std::size_t one = 0; one < 64; ++one) {
      flip(one);
      check_all_maybe(memory);
      for (std::size_t other = 0; other < one; ++other) {
        flip(other);
        check_all_maybe(memory);
        flip(other);
      }
      flip(one);
    }
    CHECK_FALSE(bare::contains_digest(memory, mix(12345)));
  }
}

TEST_CASE("asking and building a bare filter touch no byte before it or after it") {
  const Fenced fenced;
  for (std::size_t bytes = 0; bytes <= 1300; ++bytes) {
    for (const std::span<std::byte> there : fenced.beside(bytes)) {
      CAPTURE(bytes);
      for (const int value : {0, 0x5a, 0xff}) {
        std::fill(there.begin(), there.end(), static_cast<std::byte>(value));
        check_all_maybe(there);
      }
      for (const Layout layout : every_layout_in_memory()) {
        if (bare::build(there, Keys::digests(mixed(0, bytes / 20)), layout) != Code::kOk) continue;
        for (std::uint64_t i = 0; i < bytes / 20; ++i) REQUIRE(bare::contains_digest(there, mix(i)));
        for (std::uint64_t i = 0; i < 40; ++i)
          REQUIRE(bare::contains_digest(there, ~mix(i)) ==
                  bare::contains_digest(Memory(there.begin(), there.end()), ~mix(i)));
      }
    }
  }
}

// Tries several lengths: filters that were asked before may have replaced one among the remembered whole filters.
TEST_CASE("a key of some bytes at a null address is maybe, and the empty key is a key") {
  for (std::size_t lines = 1; lines < 16; ++lines) {
    Memory memory(lines * 64 + format::kTrailerBytes);
    REQUIRE(bare::build(memory, Keys(), Layout::kBlocked) == Code::kOk);
    for (int again = 0; again < 2; ++again) {
      CHECK(bare::answer(memory.data(), memory.size(), nullptr, 5) == 1);
      CHECK(bare::answer(memory.data(), memory.size(), nullptr, 500) == 1);
      CHECK(bare::answer(memory.data(), memory.size(), nullptr, 0) == 0);
    }
  }
}

TEST_CASE("a layout or a hash that a bare filter cannot have is maybe, though its trailer has the right check") {
  for (const unsigned layout : {0U, 4U, 255U}) {
    Memory memory(64);
    Shape shape;
    shape.layout = static_cast<Layout>(layout);
    shape.num_probes = 7;
    const auto trailer = format::encode_trailer(shape, memory.size());
    memory.insert(memory.end(), trailer.begin(), trailer.end());
    check_all_maybe(memory);
  }
  for (const unsigned hash : {0U, 3U, 255U}) {
    Memory memory(64);
    Shape shape;
    shape.hash = static_cast<Hash>(hash);
    shape.num_probes = 7;
    const auto trailer = format::encode_trailer(shape, memory.size());
    memory.insert(memory.end(), trailer.begin(), trailer.end());
    check_all_maybe(memory);
  }
}

TEST_CASE("no buffer, an empty one, and lengths that no memory has are maybe") {
  check_all_maybe({});
  const Memory memory = built_of_digests(Layout::kBlocked, 33);
  check_all_maybe({static_cast<const std::byte*>(nullptr), memory.size()});
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2, (std::size_t{1} << 45) + 8 + 64})
    check_all_maybe({memory.data(), bytes});
}

TEST_CASE("the length of a bare filter is what format() needs for it") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::uint64_t n : {1U, 2U, 33U, 51U, 52U, 100U, 12345U, 1000000U}) {
      for (const double bits_per_key : {0.1, 1.0, 7.7, 10.0, 16.0, 100.0}) {
        Options options = bare_options(layout, Hash::kXxh3, n, 0);
        options.bits_per_key = bits_per_key;
        CHECK(bare::bytes_for(n, bits_per_key, layout) == must(Filter::required_bytes(options)));
      }
    }
    CHECK(bare::bytes_for(0, 10, layout) == bare::bytes_for(1, 10, layout));
    CHECK(bare::bytes_for(1, 0x1p48, layout) == kMaxBits / 8 + 8);
    for (const double bad : {0.0, -1.0, 0x1.1p48, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL})
      CHECK(bare::bytes_for(1, bad, layout) == 0);
    CHECK(bare::bytes_for(UINT64_MAX, 10, layout) == 0);
  }
  for (const unsigned layout : {0U, 8U, 256U + 1U, 0xffffU})
    CHECK(bare::bytes_for(33, 10, static_cast<Layout>(layout)) == 0);
  for (const Layout layout : {Layout::kStatic, Layout::kWindow}) CHECK(bare::bytes_for(33, 10, layout) == 0);
}

TEST_CASE("a bare filter that is built of no keys has none") {
  for (const Layout layout : every_layout_in_memory()) {
    const Memory memory = built(Keys(), layout, Hash::kXxh3);
    CHECK(equal(memory, made_of(bare_options(layout, Hash::kXxh3, 1, memory.size())).buffer.bytes()));
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE_FALSE(bare::contains_digest(memory, mix(i)));
    CHECK_FALSE(bare::contains(memory, ""));
  }
}

TEST_CASE("a bare filter is the same whatever the form of its keys") {
  const std::vector<std::string> keys = keys_of(7, 300);
  const auto views = views_of(keys);
  std::vector<const void*> pointers;
  std::vector<std::size_t> lengths;
  std::vector<iovec> pairs;
  std::string column;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::uint64_t> digests;
  const Filter hasher = made_of(bare_options(Layout::kBlocked, Hash::kXxh3, 1, 72)).filter;
  for (const std::string& key : keys) {
    pointers.push_back(key.data());
    lengths.push_back(key.size());
    pairs.push_back({const_cast<char*>(key.data()), key.size()});
    column += key;
    offsets.push_back(static_cast<std::int32_t>(column.size()));
    digests.push_back(*hasher.digest(key));
  }
  for (const Layout layout : every_layout_in_memory()) {
    const Memory memory = built(Keys::views(views), layout, Hash::kXxh3);
    CHECK(equal(memory, built(Keys::pointers(pointers, lengths), layout, Hash::kXxh3)));
    CHECK(equal(memory, built(Keys::pairs(pairs), layout, Hash::kXxh3)));
    CHECK(equal(memory, built(Keys::column(column.data(), column.size(), offsets), layout, Hash::kXxh3)));
    CHECK(equal(memory, built(Keys::digests(digests), layout, Hash::kXxh3)));
  }
}

TEST_CASE("input that cannot become a bare filter is refused by a code, and leaves the buffer as it was") {
  const std::vector<std::uint64_t> digests = mixed(0, 33);
  const std::string_view key = "a key";
  const Keys good = Keys::digests(digests);
  const auto refused = [&](std::size_t bytes, const Keys& keys, Layout layout, Hash hash) {
    Memory memory(bytes, std::byte{0x5a});
    const Code code = bare::build(memory, keys, layout, hash);
    CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte byte) { return byte == std::byte{0x5a}; }));
    return code;
  };
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 9U, 16U, 63U, 71U, 73U, 80U, 128U})
    CHECK(refused(bytes, good, Layout::kBlocked, Hash::kXxh3) == Code::kInvalid);
  for (const std::size_t bytes : {0U, 8U, 15U, 17U, 23U, 25U, 50U})
    CHECK(refused(bytes, good, Layout::kClassic, Hash::kXxh3) == Code::kInvalid);
  CHECK(bare::build({}, good) == Code::kInvalid);
  for (const unsigned layout : {0U, 9U, 256U + 1U})
    CHECK(refused(72, good, static_cast<Layout>(layout), Hash::kXxh3) == Code::kInvalid);
  for (const unsigned hash : {0U, 3U, 4U, 256U + 1U})
    CHECK(refused(72, good, Layout::kBlocked, static_cast<Hash>(hash)) == Code::kInvalid);
  CHECK(refused(72, Keys::fixed(nullptr, 8, 3), Layout::kBlocked, Hash::kXxh3) == Code::kInvalid);
  CHECK(refused(72, Keys::views({&key, 1}), Layout::kBlocked, Hash::kExternal) == Code::kDigestOnly);
}

TEST_CASE("building a bare filter, and asking it, allocates nothing") {
  const std::vector<std::string> keys = keys_of(0, 100);
  const auto views = views_of(keys);
  for (const Layout layout : every_layout_in_memory()) {
    Memory memory(bare::bytes_for(keys.size(), 10, layout));
    const std::uint64_t before = allocations;
    const Code code = bare::build(memory, Keys::views(views), layout);
    std::uint64_t maybes = 0;
    for (const std::string_view key : views) maybes += bare::contains(memory, key) ? 1U : 0U;
    maybes += bare::contains(std::span(memory).first(9), "cut") ? 1U : 0U;
    CHECK(allocations == before);
    CHECK(code == Code::kOk);
    CHECK(maybes == views.size() + 1);
  }
}

TEST_CASE("the measured rate of bare filters of 33 keys is that of their bits") {
  for (const Layout layout : every_layout_in_memory()) {
    std::uint64_t maybes = 0;
    constexpr std::uint64_t kFilters = 2000;
    for (std::uint64_t i = 0; i < kFilters; ++i) {
      const Memory memory = built(Keys::digests(mixed(i * 1000, 33)), layout, Hash::kXxh3);
      for (std::uint64_t j = 100; j < 300; ++j) maybes += bare::contains_digest(memory, mix(i * 1000 + j)) ? 1U : 0U;
    }
    const double rate = static_cast<double>(maybes) / (kFilters * 200);
    CAPTURE(layout);
    const std::map<Layout, double> most{{Layout::kBlocked, 0.0012},
                                        {Layout::kClassic, 0.0055},
                                        {Layout::kCounting, 0.165}};  // 512, 384 bits, 128 counters
    CHECK(rate < most.at(layout));
    CHECK(rate > 0.0001);
  }
}
