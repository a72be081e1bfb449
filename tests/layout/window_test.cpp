// The layouts whose keys expire: bits are where FORMAT.md puts them, in every epoch and with every kernel; a key is
// found until the word of its last add is cleared; rates and estimates are what is measured. A turn in the middle of a
// call makes no wrong no: the test makes it happen at each look at the epoch word, which is in a page that cannot be
// read.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "layout/layout.hpp"
#include "layout/roll.hpp"
#include "support/golden.hpp"
#include "support/model.hpp"
#include "support/occupancy.hpp"
#include "support/support.hpp"

using namespace rooms;
using layout::Functions;
using layout::Row;
using layout::row_of;

namespace {

constexpr std::array kWindows{Layout::kWindow, Layout::kWindow4, Layout::kWindow2};

// A body with an epoch word, and what a turn does to both.
struct Body {
  Body(const Functions& functions, Layout layout, std::uint64_t m, std::uint32_t k)
      : row(row_of(layout)), table(functions), memory(layout::body_bytes(row, m)), geometry(row.geometry(m, k)) {
    geometry.epoch = &epoch_word;
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  [[nodiscard]] std::uint64_t epoch() const { return epoch_word / 2; }
  void begin_turn() { ++epoch_word; }
  void clear() { row.clear(memory.words(), memory.bytes().size() / 8, epoch() + 1); }
  void end_turn() { ++epoch_word; }
  void turn() {
    begin_turn();
    clear();
    end_turn();
  }

  bool add(std::uint64_t digest) { return table.add.one_for(geometry)(memory.words(), geometry, digest); }
  std::size_t add_step(std::span<const std::uint64_t> digests) {
    return table.add.step(memory.words(), geometry, {digests.data(), digests.size(), nullptr, 0});
  }
  [[nodiscard]] layout::Target target() {
    static const std::uint64_t front = 1;
    static const std::uint64_t end = 2;
    return {memory.words(), geometry, {&front, &end, 3}, nullptr};
  }
  // Asks in each of the three ways, which agree.
  bool contains(std::uint64_t digest) {
    const bool maybe = table.contains.one(target(), digest) != 0;
    REQUIRE((table.contains.one_for(geometry)(target(), digest) != 0) == maybe);
    std::uint8_t answer = 9;
    REQUIRE(table.contains.step(memory.words(), geometry, {&digest, 1, nullptr, 0}, &answer) == (maybe ? 1 : 0));
    REQUIRE(answer == (maybe ? 1 : 0));
    return maybe;
  }
  [[nodiscard]] std::set<std::uint64_t> bits() {
    std::set<std::uint64_t> set;
    for (std::uint64_t bit = 0; bit < memory.bytes().size() * 8; ++bit) {
      if ((std::to_integer<unsigned>(memory.bytes()[bit / 8]) >> bit % 8 & 1) != 0) set.insert(bit);
    }
    return set;
  }

  const Row& row;
  Functions table;
  Buffer memory;
  std::uint64_t epoch_word = 0;
  layout::Geometry geometry;
};

// The same filter as sets of bits, one for each of the last epochs.
class Reference {
 public:
  Reference(Layout layout, std::uint64_t m, std::uint32_t k) : layout_(layout), m_(m), k_(k) {
    words_.resize(model_epochs(layout));
  }

  void turn() {
    ++epoch_;
    words_[epoch_ % words_.size()].clear();
  }
  // Returns whether it was in no epoch.
  bool add(std::uint64_t digest) {
    const bool found = contains(digest);
    const auto bits = probes(digest);
    words_[epoch_ % words_.size()].insert(bits.begin(), bits.end());
    return !found;
  }
  [[nodiscard]] bool contains(std::uint64_t digest) const {
    const auto bits = probes(digest);
    return std::ranges::any_of(words_, [&](const auto& word) {
      return std::ranges::all_of(bits, [&](std::uint64_t bit) { return word.contains(bit); });
    });
  }
  // All bits, in the places of their words.
  [[nodiscard]] std::set<std::uint64_t> bits() const {
    std::set<std::uint64_t> all;
    const std::uint64_t word_bits = 512 / words_.size();
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (const std::uint64_t bit : words_[word]) all.insert(bit + word * word_bits);
    }
    return all;
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> probes(std::uint64_t digest) const {
    return model_probes(layout_, m_, k_, digest);
  }

  Layout layout_;
  std::uint64_t m_;
  std::uint32_t k_;
  std::uint64_t epoch_ = 0;
  std::vector<std::set<std::uint64_t>> words_;  // bits as in an epoch whose word is the first one
};

// Calls the check with every kernel of every window layout that runs here.
template <class Check>
void for_each_kernel(Check check) {
  for (const Layout layout : kWindows) {
    for (const Functions& table : layout::runnable(row_of(layout))) {
      CAPTURE(layout);
      CAPTURE(table.isa);
      check(table, layout);
    }
  }
}

}  // namespace

TEST_CASE("window: a digest sets the golden bits of its epoch, and no others") {
  for (const GoldenWindowProbes& golden : kGoldenWindowProbes) {
    for (const Functions& table : layout::runnable(row_of(golden.layout))) {
      CAPTURE(golden.layout);
      CAPTURE(golden.digest);
      CAPTURE(table.isa);
      for (std::uint32_t k = 1; k <= golden.bits.size(); ++k) {
        Body body(table, golden.layout, golden.num_bits, k);
        body.epoch_word = 2 * golden.epoch;
        CHECK(body.add(golden.digest));
        CHECK(body.bits() == std::set<std::uint64_t>(golden.bits.begin(), golden.bits.begin() + k));
      }
    }
  }
}

TEST_CASE("window: in every epoch and with every k, bits and answers are the model's, with every kernel") {
  constexpr std::uint64_t kBits = 512 * 7;
  for_each_kernel([](const Functions& table, Layout layout) {
    for (std::uint32_t k = 1; k <= kMaxProbes; k += k < 9 ? 1 : static_cast<std::uint32_t>(kKeyScale)) {
      CAPTURE(k);
      Body body(table, layout, kBits, k);
      Reference model(layout, kBits, k);
      const std::uint64_t epochs = body.row.info.epochs;
      REQUIRE(epochs == model_epochs(layout));
      std::uint64_t next = 0;
      for (std::uint64_t epoch = 0; epoch < 2 * epochs + 1; ++epoch) {
        CAPTURE(epoch);
        std::vector<std::uint64_t> digests = mixed(next, 9);  // new ones, and some of former epochs
        next += 9;
        for (std::uint64_t i = 1; i < 6; ++i) digests.push_back(mix(next < 21 * i ? 0 : next - 21 * i));
        for (std::size_t i = 0; i < 4; ++i) REQUIRE(body.add(digests[i]) == model.add(digests[i]));
        std::size_t expected = 0;
        for (const std::uint64_t digest : digests) expected += model.add(digest) ? 1U : 0U;
        REQUIRE(body.add_step(digests) == expected);
        REQUIRE(body.bits() == model.bits());
        for (std::uint64_t i = 0; i < next + 50; ++i) REQUIRE(body.contains(mix(i)) == model.contains(mix(i)));
        body.begin_turn();  // while it clears, its epoch is still the old one
        REQUIRE(body.add(mix(~epoch)) == model.add(mix(~epoch)));
        REQUIRE(body.bits() == model.bits());
        body.clear();
        body.end_turn();
        model.turn();
        REQUIRE(body.bits() == model.bits());
      }
    }
  });
}

TEST_CASE("window: a key is found for as many turns as there are further epochs, and adding it again begins anew") {
  for_each_kernel([](const Functions& table, Layout layout) {
    for (const layout::Changes Functions::*adds : {&Functions::add, &Functions::add_alone}) {
      for (std::uint64_t first = 0; first < 17; ++first) {
        Body body(table, layout, 512 * 5, 7);
        const auto add = [&](std::uint64_t digest) {
          return (table.*adds).one_for(body.geometry)(body.memory.words(), body.geometry, digest);
        };
        const std::uint64_t more = body.row.info.epochs - 1;
        body.epoch_word = 2 * first;
        REQUIRE(add(mix(1)));
        for (std::uint64_t turn = 0; turn < more; ++turn) {
          REQUIRE(body.contains(mix(1)));
          body.turn();
        }
        REQUIRE(body.contains(mix(1)));
        REQUIRE_FALSE(add(mix(1)));  // it is known, and was about to expire
        for (std::uint64_t turn = 0; turn < more; ++turn) {
          body.turn();
          REQUIRE(body.contains(mix(1)));
        }
        body.begin_turn();
        REQUIRE(body.contains(mix(1)));  // until its bits are cleared
        body.clear();
        REQUIRE_FALSE(body.contains(mix(1)));
        body.end_turn();
        REQUIRE_FALSE(body.contains(mix(1)));
        REQUIRE(body.bits().empty());
        REQUIRE(add(mix(1)));
      }
    }
  });
}

TEST_CASE("window: clearing an epoch leaves all other words, and writes none that has no bit") {
  for (const Layout layout : kWindows) {
    const Row& row = row_of(layout);
    constexpr std::uint64_t kPageWords = 512;
    void* const page = mmap(nullptr, kPageWords * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    auto* const words = static_cast<std::uint64_t*>(page);
    for (std::uint64_t epoch = 0; epoch < 2 * row.info.epochs; ++epoch) {
      std::memset(page, 0xff, kPageWords * 8);
      row.clear(words, kPageWords, epoch);
      bool good = true;
      for (std::uint64_t i = 0; i < kPageWords; ++i) {
        const bool cleared = i % 8 * row.info.epochs / 8 == epoch % row.info.epochs;
        good = good && words[i] == (cleared ? 0 : ~std::uint64_t{0});
      }
      REQUIRE(good);
      REQUIRE(mprotect(page, kPageWords * 8, PROT_READ) == 0);
      row.clear(words, kPageWords, epoch);  // otherwise a signal ends the test
      REQUIRE(mprotect(page, kPageWords * 8, PROT_READ | PROT_WRITE) == 0);
    }
    munmap(page, kPageWords * 8);
  }
}

TEST_CASE("window: in doubt each key may be there") {
  for_each_kernel([](const Functions& table, Layout layout) {
    Body body(table, layout, 512 * 3, 7);
    layout::Target target = body.target();
    target.sentinel.expected = 4;
    CHECK(table.contains.one(target, mix(1)) == 1);
    CHECK(table.contains.one_for(body.geometry)(target, mix(1)) == 1);
    CHECK(table.contains.one(body.target(), mix(1)) == 0);
  });
}

TEST_CASE("window: memory for a body alone, without an epoch word, has no functions") {
  for_each_kernel([](const Functions& table, Layout layout) {
    CHECK((table.unaligned.contains == nullptr));
    CHECK((table.unaligned.add == nullptr));
    CHECK((table.counts.remove.one == nullptr));
    CHECK((table.by_position.add == nullptr));
    CHECK(row_of(layout).geometry(512, 7).epoch == nullptr);
  });
  for (const LayoutInfo& info : layouts()) {
    CHECK((info.epochs != 0) == info.can.expire);
    CHECK((row_of(info.layout).clear != nullptr) == info.can.expire);
  }
}

// --- A turn in the middle of a call ----------------------------------------------------------------------------------

namespace {

#if defined(__x86_64__)
// An epoch word whose page cannot be read. Each look at it is a fault: the handler calls what the test wants to happen
// before that look, lets the one instruction read (by the CPU's single-step flag), and closes the page again.
class WatchedEpoch {
 public:
  WatchedEpoch() {
    const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    page_bytes_ = size;
    page_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page_ != MAP_FAILED);
    watched_ = this;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = faulted;
    REQUIRE(sigaction(SIGSEGV, &action, &old_fault_) == 0);
    action.sa_sigaction = stepped;
    REQUIRE(sigaction(SIGTRAP, &action, &old_step_) == 0);
  }
  WatchedEpoch(const WatchedEpoch&) = delete;
  WatchedEpoch& operator=(const WatchedEpoch&) = delete;
  ~WatchedEpoch() {
    sigaction(SIGSEGV, &old_fault_, nullptr);
    sigaction(SIGTRAP, &old_step_, nullptr);
    munmap(page_, page_bytes_);
    watched_ = nullptr;
  }

  [[nodiscard]] std::uint64_t* word() { return static_cast<std::uint64_t*>(page_); }

  // Runs `call`, and `before_look(n)` before its n-th look, from 1. Returns the number of looks.
  template <class Call>
  unsigned watch(std::function<void(unsigned)> before_look, Call call) {
    return watch_steps(std::move(before_look), {}, call);
  }
  // Also runs `after_step` after each instruction of `call` from its first look on, until it returns true.
  template <class Call>
  unsigned watch_steps(std::function<void(unsigned)> before_look, std::function<bool()> after_step, Call call) {
    before_look_ = std::move(before_look);
    after_step_ = std::move(after_step);
    steps_ = static_cast<bool>(after_step_);
    looks_ = 0;
    mprotect(page_, page_bytes_, PROT_NONE);
    call();
    steps_ = false;  // the handler sees it after this instruction
    mprotect(page_, page_bytes_, PROT_READ | PROT_WRITE);
    return looks_;
  }

 private:
  static constexpr long long kSingleStep = 1 << 8;  // the flag TF

  static void faulted(int, siginfo_t* info, void* context) {
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    const auto* const page = static_cast<const std::byte*>(watched_->page_);
    if (at < page || at >= page + watched_->page_bytes_) {  // a fault of another kind: as without a handler
      signal(SIGSEGV, SIG_DFL);
      return;
    }
    mprotect(watched_->page_, watched_->page_bytes_, PROT_READ | PROT_WRITE);
    watched_->before_look_(++watched_->looks_);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kSingleStep;
  }
  static void stepped(int, siginfo_t*, void* context) {
    watched_->steps_ = watched_->steps_ && !watched_->after_step_();
    mprotect(watched_->page_, watched_->page_bytes_, PROT_NONE);
    if (watched_->steps_) return;  // the next instruction, too
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kSingleStep;
  }

  static inline WatchedEpoch* watched_ = nullptr;
  void* page_ = nullptr;
  std::size_t page_bytes_ = 0;
  unsigned looks_ = 0;
  std::function<void(unsigned)> before_look_;
  std::function<bool()> after_step_;
  volatile bool steps_ = false;
  struct sigaction old_fault_ {};
  struct sigaction old_step_ {};
};

// A filter whose epoch word is watched.
struct Watched {
  Watched(const Functions& functions, Layout layout, std::uint32_t num_probes)
      : row(row_of(layout)), table(functions), memory(64), geometry(row.geometry(512, num_probes)) {
    geometry.epoch = epoch.word();
  }

  // These are called while the word may be read.
  using Line = std::array<std::uint64_t, 8>;
  [[nodiscard]] Line line_with(std::uint64_t digest, std::uint64_t in_epoch) const {
    Line line{};
    for (const std::uint64_t bit : model_probes(row.info.layout, 512, geometry.num_probes, digest, in_epoch))
      line[bit / 64] |= layout::bit_mask(bit);
    return line;
  }
  void set(const Line& bits) {  // allocates nothing: a handler calls it
    for (std::size_t i = 0; i < bits.size(); ++i) memory.words()[i] |= bits[i];
  }
  [[nodiscard]] bool has(std::uint64_t digest, std::uint64_t in_epoch) {
    const auto bits = model_probes(row.info.layout, 512, geometry.num_probes, digest, in_epoch);
    return std::ranges::all_of(bits, [&](std::uint64_t bit) { return layout::test_bit(memory.words(), bit); });
  }
  void clear_oldest() { row.clear(memory.words(), 8, *epoch.word() / 2 + 1); }
  void turn() {
    ++*epoch.word();
    clear_oldest();
    ++*epoch.word();
  }
  [[nodiscard]] layout::Target target() {
    static const std::uint64_t front = 1;
    static const std::uint64_t end = 2;
    return {memory.words(), geometry, {&front, &end, 3}, nullptr};
  }

  const Row& row;
  Functions table;
  Buffer memory;
  WatchedEpoch epoch;
  layout::Geometry geometry;
};

constexpr std::array<std::uint32_t, 4> kSomeProbes{1, 7, 8, 20};

// The ways to ask for one key, and to add one.
using AskWay = std::function<bool(Watched&, std::uint64_t)>;
const std::array<AskWay, 3> kAsks{
    [](Watched& at, std::uint64_t digest) { return at.table.contains.one(at.target(), digest) != 0; },
    [](Watched& at, std::uint64_t digest) { return at.table.contains.one_for(at.geometry)(at.target(), digest) != 0; },
    [](Watched& at, std::uint64_t digest) {
      std::uint8_t answer = 9;
      const layout::Step step{&digest, 1, &digest, 1};
      const std::size_t maybes = at.table.contains.step(at.memory.words(), at.geometry, step, &answer);
      return answer == 1 && maybes == 1;
    }};
using AddWay = std::function<bool(Watched&, const layout::Changes&, std::uint64_t)>;
const std::array<AddWay, 3> kAdds{[](Watched& at, const layout::Changes& adds, std::uint64_t digest) {
                                    return adds.one(at.memory.words(), at.geometry, digest);
                                  },
                                  [](Watched& at, const layout::Changes& adds, std::uint64_t digest) {
                                    return adds.one_for(at.geometry)(at.memory.words(), at.geometry, digest);
                                  },
                                  [](Watched& at, const layout::Changes& adds, std::uint64_t digest) {
                                    const layout::Step step{&digest, 1, nullptr, 0};
                                    return adds.step(at.memory.words(), at.geometry, step) == 1;
                                  }};

template <class Check>
void for_each_way_to_ask(Check check) {
  for_each_kernel([&](const Functions& table, Layout layout) {
    for (const std::uint32_t k : kSomeProbes) {
      for (std::size_t way = 0; way < kAsks.size(); ++way) {
        CAPTURE(k);
        CAPTURE(way);
        check(table, layout, k, kAsks[way]);
      }
    }
  });
}

// Also with each number of turns that may have happened before.
template <class Check>
void for_each_way_to_add(Check check) {
  for_each_kernel([&](const Functions& table, Layout layout) {
    for (const std::uint32_t k : kSomeProbes) {
      for (std::size_t way = 0; way < 2 * kAdds.size(); ++way) {
        for (std::uint64_t first = 0; first < 9; ++first) {
          CAPTURE(k);
          CAPTURE(way);
          CAPTURE(first);
          const layout::Changes& adds = way % 2 == 0 ? table.add : table.add_alone;
          Watched at(table, layout, k);
          *at.epoch.word() = 2 * first;
          check(at, first, [&](std::uint64_t digest) { return kAdds[way / 2](at, adds, digest); });
        }
      }
    }
  });
}

constexpr std::uint64_t kKey = 0x0123456789abcdef;
#endif

}  // namespace

#if defined(__x86_64__)
// A lookup reads the word of now before the key is added there again, and its old word after a turn has cleared that.
TEST_CASE("window: a lookup that a turn meets asks again, in each way to ask") {
  for_each_way_to_ask([](const Functions& table, Layout layout, std::uint32_t k, const AskWay& ask) {
    Watched at(table, layout, k);
    const std::uint64_t now = at.row.info.epochs - 1;  // the word of epoch 0 is the oldest
    *at.epoch.word() = 2 * now;
    const Watched::Line again = at.line_with(kKey, now);
    bool maybe = false;
    const unsigned looks = at.epoch.watch(
        [&](unsigned look) {
          if (look != 2) return;  // the line was read, without the key
          at.set(again);
          ++*at.epoch.word();
          at.clear_oldest();
        },
        [&] { maybe = ask(at, kKey); });
    CHECK(maybe);
    CHECK(looks >= 3);
    CHECK(looks <= 4);
  });
}

TEST_CASE("window: a lookup that no turn meets looks at the epoch twice, and while a turn clears, too") {
  for_each_way_to_ask([](const Functions& table, Layout layout, std::uint32_t k, const AskWay& ask) {
    Watched at(table, layout, k);
    for (const std::uint64_t word : {0U, 1U, 2U, 7U}) {
      *at.epoch.word() = word;
      bool maybe = true;
      CHECK(at.epoch.watch([](unsigned) {}, [&] { maybe = ask(at, kKey); }) == 2);
      CHECK_FALSE(maybe);
    }
  });
}

TEST_CASE("window: an add whose epoch ends before it returns adds again, in each way to add") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    bool new_key = false;
    at.epoch.watch(
        [&](unsigned look) {
          if (look == 3) at.turn();  // its bits are in the word of the old epoch
        },
        [&] { new_key = add(kKey); });
    CHECK(new_key);
    CHECK(at.has(kKey, first));
    CHECK(at.has(kKey, first + 1));
  });
}

TEST_CASE("window: an add is not lost if all words are cleared before it returns") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    const std::uint64_t turns = at.row.info.epochs;
    at.epoch.watch(
        [&](unsigned look) {
          for (std::uint64_t i = 0; look == 3 && i < turns; ++i) at.turn();
        },
        [&] { add(kKey); });
    CHECK(at.has(kKey, first + turns));
  });
}

TEST_CASE("window: an add that begins while a turn clears is in the new epoch, too") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    ++*at.epoch.word();
    at.epoch.watch(
        [&](unsigned look) {
          if (look == 3) ++*at.epoch.word();
        },
        [&] { add(kKey); });
    CHECK(at.has(kKey, first + 1));
  });
}

TEST_CASE("window: an add that finds no bits sets none in an epoch that has ended, and its key is new") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    bool new_key = false;
    at.epoch.watch(
        [&](unsigned look) {
          if (look == 2) at.turn();
        },
        [&] { new_key = add(kKey); });
    CHECK(new_key);
    CHECK_FALSE(at.has(kKey, first));
    CHECK(at.has(kKey, first + 1));
  });
}

// A word of window-4 has two parts of 64 bits, one of window-2 has four. An add sets them one after the other, and may
// be interrupted between any two of them: the key has some parts then, and not all.
namespace {

struct Halfway {
  unsigned parts = 0;  // of the key's parts, those that the line had at that moment; 0 if no moment was found
  Watched::Line line{};
};

// Adds the key, and does `there` at the first moment at which the word of now has `wanted` of its parts, and not all.
// In `there` the epoch word can be read and written.
template <class Add, class There>
Halfway add_halfway(Watched& at, std::uint64_t first, unsigned wanted, Add add, There there) {
  const Watched::Line key = at.line_with(kKey, first);
  const auto all = static_cast<unsigned>(std::ranges::count_if(key, [](std::uint64_t part) { return part != 0; }));
  Halfway halfway;
  const auto is_there = [&] {
    unsigned parts = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
      parts += key[i] != 0 && (at.memory.words()[i] & key[i]) == key[i] ? 1U : 0U;
    if (parts != wanted || parts == all) return false;
    mprotect(at.epoch.word(), 1, PROT_READ | PROT_WRITE);
    halfway.parts = parts;
    std::copy_n(at.memory.words(), key.size(), halfway.line.begin());
    there();
    return true;
  };
  at.epoch.watch_steps([](unsigned) {}, is_there, [&] { add(kKey); });
  return halfway;
}

// The parts that the key has in the word of that epoch.
unsigned parts_of(const Watched& at, std::uint64_t epoch) {
  const Watched::Line line = at.line_with(kKey, epoch);
  return static_cast<unsigned>(std::ranges::count_if(line, [](std::uint64_t part) { return part != 0; }));
}

}  // namespace

TEST_CASE("window: an add that is interrupted between the parts of a word is added again if a turn comes there") {
  for_each_kernel([](const Functions& table, Layout layout) {
    const std::uint32_t most = 8 / row_of(layout).info.epochs;  // parts of a word
    for (const std::uint64_t turns : {std::uint64_t{1}, std::uint64_t{row_of(layout).info.epochs}}) {
      for (unsigned wanted = 1; wanted <= most; ++wanted) {
        for (const std::uint64_t first : {0U, 5U}) {
          CAPTURE(turns);
          CAPTURE(wanted);
          Watched at(table, layout, 20);
          *at.epoch.word() = 2 * first;
          REQUIRE(parts_of(at, first) == most);
          const auto add = [&](std::uint64_t digest) { return kAdds[0](at, table.add, digest); };
          const Halfway halfway = add_halfway(at, first, wanted, add, [&] {
            for (std::uint64_t i = 0; i < turns; ++i) at.turn();
          });
          CHECK(halfway.parts == (wanted < most ? wanted : 0));  // the word of the layout window has one part
          CHECK(at.has(kKey, halfway.parts == 0 ? first : first + turns));
          CHECK(at.table.contains.one(at.target(), kKey) != 0);
        }
      }
    }
  });
}

// The process is killed there: what the line has at that moment stays.
TEST_CASE("window: an add that is killed between the parts of a word has added nothing, and can be repeated") {
  for_each_kernel([](const Functions& table, Layout layout) {
    const std::uint32_t most = 8 / row_of(layout).info.epochs;
    for (unsigned wanted = 1; wanted < most; ++wanted) {
      CAPTURE(wanted);
      Watched at(table, layout, 20);
      const auto add = [&](std::uint64_t digest) { return kAdds[0](at, table.add, digest); };
      const Halfway halfway = add_halfway(at, 0, wanted, add, [] {});
      REQUIRE(halfway.parts == wanted);
      std::copy_n(halfway.line.begin(), halfway.line.size(), at.memory.words());
      CHECK(at.table.contains.one(at.target(), kKey) == 0);  // it was never acknowledged
      CHECK(add(kKey));
      CHECK(at.has(kKey, 0));
      std::copy_n(halfway.line.begin(), halfway.line.size(), at.memory.words());
      at.turn();
      CHECK(add(kKey));  // parts in two words are no key
      CHECK(at.has(kKey, 1));
      CHECK_FALSE(at.has(kKey, 0));
      for (std::uint32_t i = 1; i < row_of(layout).info.epochs; ++i) at.turn();
      CHECK(at.has(kKey, 1));
      for (const std::uint64_t bit : model_probes(layout, 512, 20, kKey, 0))
        CHECK_FALSE(layout::test_bit(at.memory.words(), bit));
    }
  });
}

// Another process adds the key in the middle, and a turn hides that from this one.
TEST_CASE("window: an add that a turn meets tells no new key that another process has added") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    const Watched::Line of_another = at.line_with(kKey, first);
    bool new_key = true;
    at.epoch.watch(
        [&](unsigned look) {
          if (look != 2) return;
          at.set(of_another);
          at.turn();
        },
        [&] { new_key = add(kKey); });
    CHECK_FALSE(new_key);
    CHECK(at.has(kKey, first + 1));
  });
}

TEST_CASE("window: an add that finds its bits in the word of now writes nothing, unless a turn meets it") {
  for_each_way_to_add([](Watched& at, std::uint64_t first, auto add) {
    at.set(at.line_with(kKey, first));
    bool new_key = true;
    CHECK(at.epoch.watch([](unsigned) {}, [&] { new_key = add(kKey); }) == 2);
    CHECK_FALSE(new_key);
    CHECK_FALSE(at.has(kKey, first + 1));
    at.epoch.watch(
        [&](unsigned look) {
          if (look == 2) at.turn();
        },
        [&] { new_key = add(kKey); });
    CHECK_FALSE(new_key);
    CHECK(at.has(kKey, first + 1));
  });
}

TEST_CASE("window: all keys of a step are added again if a turn meets it, and each new one counts once") {
  for_each_kernel([](const Functions& table, Layout layout) {
    for (unsigned when = 1; when < 12; ++when) {
      CAPTURE(when);
      Watched at(table, layout, 7);
      const std::array<std::uint64_t, 4> digests{kKey, ~kKey, kKey, 0};
      std::size_t counted = 0;
      at.epoch.watch(
          [&](unsigned look) {
            if (look == when) at.turn();
          },
          [&] {
            counted = table.add.step(at.memory.words(), at.geometry, {digests.data(), digests.size(), nullptr, 0});
          });
      CHECK(counted == 3);
      for (const std::uint64_t digest : digests) CHECK(at.has(digest, *at.epoch.word() / 2));
    }
  });
}
#endif

// --- Rates and estimates ---------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kKeysOfWindow = 1 << 19;

// The exact rate just before a turn: each word has an epoch's share of the keys. Words of a line differ in their loads,
// but all have the bits that are asked for, so the chances of the words are not quite independent: by less than 1 %.
double exact_rate(Layout layout, double bits_per_key, std::uint32_t k) {
  const auto epochs = static_cast<double>(model_epochs(layout));
  ExactBlocks word(k, 512 / model_epochs(layout));
  return -std::expm1(epochs * std::log1p(-word.rate(bits_per_key * (epochs - 1) / epochs)));
}

// Fills a filter as it is just before a turn, in the middle of its life.
void fill(Body& body) {
  const std::uint64_t epochs = body.row.info.epochs;
  const std::uint64_t of_epoch = kKeysOfWindow / (epochs - 1);
  for (std::uint64_t epoch = 0; epoch < epochs + 3; ++epoch) {
    if (epoch != 0) body.turn();
    const auto digests = mixed(epoch * of_epoch, of_epoch);
    layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t) {
      body.table.add.step(body.memory.words(), body.geometry, step);
      return true;
    });
  }
}

std::uint64_t count_maybes(Body& body, std::uint64_t absent) {
  std::uint64_t maybes = 0;
  layout::roll_hashed<layout::kStep>([](std::size_t i) { return mix(~std::uint64_t{i}); }, absent,
                                     [&](const layout::Step& step, std::size_t) {
                                       std::array<std::uint8_t, layout::kStep> answers;
                                       maybes += body.table.contains.step(body.memory.words(), body.geometry, step,
                                                                          answers.data());
                                       return true;
                                     });
  return maybes;
}

Fill fill_of(Body& body) {
  layout::FillCounter counter(body.row, body.geometry);
  counter.take(body.memory.words(), body.memory.bytes().size() / 8);
  return counter.fill();
}

}  // namespace

TEST_CASE("window: just before a turn the measured rate is the theory's, and so are the fill and the estimates") {
  const std::uint64_t positives = 40000 / kKeyScale;
  for (const Layout layout : kWindows) {
    const Row& row = row_of(layout);
    for (const double bits_per_key : {12.0, 16.0, 20.5, 25.7, 40.0}) {
      const auto m = layout::whole_bits(row, static_cast<std::uint64_t>(bits_per_key * kKeysOfWindow));
      for (const std::uint32_t k : {3U, 5U, 7U, 9U}) {
        CAPTURE(layout);
        CAPTURE(bits_per_key);
        CAPTURE(k);
        Body body(layout::runnable(row).front(), layout, m, k);
        fill(body);
        const double theory = exact_rate(layout, bits_per_key, k);
        const double formula = row.rate(static_cast<double>(kKeysOfWindow), static_cast<double>(m), k);
        CHECK(formula > theory * (1 - 1e-5));
        CHECK(formula < theory * 1.01);
        const auto absent = static_cast<std::uint64_t>(static_cast<double>(positives) / theory);
        const auto found = static_cast<double>(count_maybes(body, absent));
        const double expected = static_cast<double>(absent) * theory;
        CHECK(found < 1.02 * expected + 3 * std::sqrt(expected));
        CHECK(found > expected / 1.03 - 3 * std::sqrt(expected));
        const Fill now = fill_of(body);
        CHECK(now.fill_ratio ==
              doctest::Approx(row.expected_fill(kKeysOfWindow, static_cast<double>(m), k)).epsilon(0.003));
        CHECK(now.estimated_fpr == doctest::Approx(theory).epsilon(0.02));
      }
    }
  }
}

TEST_CASE("window: the estimated keys of each epoch, the current one first, are those that were added in it") {
  for (const Layout layout : kWindows) {
    CAPTURE(layout);
    const Row& row = row_of(layout);
    const std::uint64_t epochs = row.info.epochs;
    for (const std::uint32_t k : {1U, 4U, 7U, 12U}) {
      CAPTURE(k);
      Body body(layout::runnable(row).front(), layout, 512 * 4096, k);
      std::uint64_t next = 0;
      for (std::uint64_t epoch = 0; epoch < epochs + 5; ++epoch) {
        if (epoch != 0) body.turn();
        for (std::uint64_t i = 0; i < 1000 * (epoch + 1); ++i) body.add(mix(next++));
        const Fill now = fill_of(body);
        double sum = 0;
        for (std::uint64_t age = 0; age < kMaxEpochs; ++age) {
          CAPTURE(age);
          const double expected = age < epochs && age <= epoch ? 1000.0 * static_cast<double>(epoch + 1 - age) : 0;
          CHECK(std::abs(now.keys_of_epochs[age] - expected) <= 0.03 * expected);
          sum += expected;
        }
        CHECK(std::abs(now.estimated_keys - sum) <= 0.02 * sum);
        CHECK(now.estimated_keys_low <= now.estimated_keys);
        CHECK(now.estimated_keys_high >= now.estimated_keys);
      }
    }
  }
}
