// A model of a counting filter that three processes share: adds and removes word by word in every order, kills, syncs,
// and power cuts after which each word is as of a moment of its own. Its words change by the library's own functions.
// No life of it may end in a wrong no. Each of five mistakes, which would be easy to make, has to.
#include <doctest/doctest.h>

#include <bfstore/layout/words.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "support/support.hpp"

namespace {

using bfstore::layout::Counters;

enum class Mistake {
  kNone,
  kReplaysRemoves,       // a recovery removes again what was removed after the mark
  kRepeatsRemoves,       // a remove whose process was killed is done again
  kLeavesFifteen,        // a remove lowers a counter that is 15
  kReplaysWhatIsAbsent,  // a recovery adds again only the keys that seem to be missing
  kBitsBesideCounters,   // lookups read bits, which adds set and removes clear in words of their own
};

constexpr std::size_t kWords = 3;
constexpr std::size_t kKeys = 4;
constexpr std::size_t kProcesses = 3;
using Word = std::size_t;
using Key = std::size_t;

struct Entry {  // of the engine's log
  Key key;
  bool removes;
  bool returned;
};

// An operation of a process: one key, one word after the other.
struct Deed {
  std::size_t entry = 0;  // in the log
  Key key = 0;
  bool removes = false;
  Word next = 0;
  std::uint64_t cleared = 0;  // the bits that a remove is about to clear, or an add to set, in this word
  bool active = false;
};

class Life {
 public:
  Life(std::uint64_t seed, Mistake mistake) : random_(seed), mistake_(mistake) {
    for (auto& key : ones_) {
      for (int probe = 0; probe < 4; ++probe) key[pick(kWords)] |= Counters::one(pick(3));  // few, so that keys collide
    }
    // In some lives a key was there so often that its counters reached 15, and was removed until it was there some
    // times.
    const std::size_t often = chance(4) ? 14 + pick(5) : 0;
    for (std::size_t i = 0; i < often; ++i) add_at_once(0);
    const std::size_t left = 1 + pick(4);
    while (present_[0] > left) {
      --present_[0];
      remove_at_once(0);
    }
    sync();
  }

  // Returns whether every answer was right.
  bool is_good() {
    for (int step = 0; step < 120; ++step) {
      if (chance(40)) {
        kill(processes_[pick(kProcesses)]);
      } else if (chance(30)) {
        sync();
      } else if (chance(60)) {
        power_cut();
      } else {
        go_on(processes_[pick(kProcesses)]);
      }
      if (!answers_are_right()) return false;
    }
    return true;
  }

 private:
  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  std::uint64_t lowered(std::uint64_t word, std::uint64_t ones) const {
    if (mistake_ == Mistake::kLeavesFifteen) return word - (ones & Counters::not_empty(word));
    return Counters::lowered(word, ones);
  }

  void store(std::vector<std::uint64_t>& moments, std::uint64_t word) { moments.push_back(word); }
  [[nodiscard]] std::uint64_t counters(Word word) const { return counters_[word].back(); }

  [[nodiscard]] bool contains(Key key) const {
    for (Word word = 0; word < kWords; ++word) {
      const std::uint64_t there =
          mistake_ == Mistake::kBitsBesideCounters ? bits_[word].back() : Counters::not_empty(counters(word));
      if ((ones_[key][word] & ~there) != 0) return false;
    }
    return true;
  }

  [[nodiscard]] bool answers_are_right() const {
    for (Key key = 0; key < kKeys; ++key) {
      if (present_[key] > 0 && !contains(key)) return false;
    }
    return true;
  }

  void begin(Deed& deed) {
    const Key key = pick(kKeys);
    deed = {log_.size(), key, chance(2) && present_[key] > 0, 0, 0, true};
    log_.push_back({key, deed.removes, false});
    if (deed.removes) --present_[key];  // a key is present until its remove is called
    if (deed.removes && !contains(key)) deed.next = kWords;
  }

  void go_on(Deed& deed) {
    if (!deed.active) {
      begin(deed);
    } else if (deed.cleared != 0) {
      step_of_bits(deed);
    } else if (deed.next < kWords) {
      step(deed);
    } else {
      if (!deed.removes) ++present_[deed.key];  // it has returned
      log_[deed.entry].returned = true;
      deed.active = false;
    }
  }

  // Makes one change of one word.
  void step(Deed& deed) {
    const Word word = deed.next;
    const std::uint64_t ones = ones_[deed.key][word];
    const std::uint64_t was = counters(word);
    const std::uint64_t is = deed.removes ? lowered(was, ones) : Counters::raised(was, ones);
    store(counters_[word], is);
    if (mistake_ == Mistake::kBitsBesideCounters) deed.cleared = deed.removes ? ones & ~Counters::not_empty(is) : ones;
    if (deed.cleared == 0) ++deed.next;
  }

  void step_of_bits(Deed& deed) {
    auto& bits = bits_[deed.next++];
    store(bits, deed.removes ? bits.back() & ~deed.cleared : bits.back() | deed.cleared);
    deed.cleared = 0;
  }

  void add_at_once(Key key) {
    for (Word word = 0; word < kWords; ++word) {
      store(counters_[word], Counters::raised(counters(word), ones_[key][word]));
      store(bits_[word], bits_[word].back() | ones_[key][word]);
    }
    ++present_[key];
  }

  void remove_at_once(Key key) {
    for (Word word = 0; word < kWords; ++word) store(counters_[word], lowered(counters(word), ones_[key][word]));
    for (Word word = 0; word < kWords; ++word)
      store(bits_[word], bits_[word].back() & ~(ones_[key][word] & ~Counters::not_empty(counters(word))));
  }

  // Kills the process of the deed. The log has the row of an interrupted add, so the process adds that key when it
  // starts again.
  void kill(Deed& deed) {
    if (!deed.active) return;
    deed.active = false;
    if (!deed.removes) {
      add_at_once(deed.key);
      log_[deed.entry].returned = true;
    } else if (mistake_ == Mistake::kRepeatsRemoves && contains(deed.key)) {
      remove_at_once(deed.key);
    }
  }

  // The mark is below each add that has not returned.
  void sync() {
    mark_ = 0;
    while (mark_ < log_.size() && (log_[mark_].removes || log_[mark_].returned)) ++mark_;
    for (auto* words : {&counters_, &bits_}) {
      for (auto& moments : *words) moments = {moments.back()};
    }
  }

  void power_cut() {
    for (auto* words : {&counters_, &bits_}) {
      for (auto& moments : *words) store(moments, moments[pick(moments.size())]);
    }
    for (Deed& deed : processes_) deed.active = false;
    // All processes answer maybe until this is over.
    for (std::size_t i = mark_; i < log_.size(); ++i) replay(log_[i]);
    sync();
  }

  void replay(Entry& entry) {
    if (entry.removes) {
      if (mistake_ == Mistake::kReplaysRemoves && contains(entry.key)) remove_at_once(entry.key);
      return;
    }
    const unsigned present = present_[entry.key];
    if (mistake_ != Mistake::kReplaysWhatIsAbsent || !contains(entry.key)) add_at_once(entry.key);
    present_[entry.key] = present + (entry.returned ? 0 : 1);
    entry.returned = true;
  }

  std::mt19937_64 random_;
  Mistake mistake_;
  std::array<std::array<std::uint64_t, kWords>, kKeys> ones_{};
  // The values of each word since the last sync.
  std::array<std::vector<std::uint64_t>, kWords> counters_{{{0}, {0}, {0}}};
  std::array<std::vector<std::uint64_t>, kWords> bits_{{{0}, {0}, {0}}};
  std::array<unsigned, kKeys> present_{};
  std::array<Deed, kProcesses> processes_{};
  std::vector<Entry> log_;
  std::size_t mark_ = 0;
};

std::uint64_t bad_lives(Mistake mistake, std::uint64_t lives) {
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < lives; ++seed) bad += Life(seed, mistake).is_good() ? 0U : 1U;
  return bad;
}

const std::uint64_t kLives = 100'000 / rooms::kKeyScale;

}  // namespace

TEST_CASE("counting: no life of three processes, with kills and power cuts, ends in a wrong no") {
  CHECK(bad_lives(Mistake::kNone, kLives) == 0);
}

TEST_CASE("counting: each of five mistakes ends in a wrong no") {
  for (const Mistake mistake : {Mistake::kReplaysRemoves, Mistake::kRepeatsRemoves, Mistake::kLeavesFifteen,
                                Mistake::kReplaysWhatIsAbsent, Mistake::kBitsBesideCounters}) {
    CAPTURE(mistake);
    CHECK(bad_lives(mistake, kLives / 10) > kLives / 10000);
  }
}

TEST_CASE("counting: a word's counters are raised, lowered and summed one by one, and stay at 15") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t word = random() | (round % 3 == 0 ? random() : 0);
    const std::uint64_t other = random() & random();
    const std::uint64_t ones = random() & Counters::kOnes;
    for (unsigned i = 0; i < Counters::kInWord; ++i) {
      const std::uint64_t value = Counters::at(word, i);
      const bool meant = Counters::at(ones, i) == 1;
      REQUIRE(Counters::at(Counters::not_empty(word), i) == (value != 0 ? 1 : 0));
      REQUIRE(Counters::at(Counters::stuck(word), i) == (value == 15 ? 1 : 0));
      REQUIRE(Counters::at(Counters::raised(word, ones), i) == (meant && value < 15 ? value + 1 : value));
      REQUIRE(Counters::at(Counters::lowered(word, ones), i) == (meant && value < 15 && value > 0 ? value - 1 : value));
      REQUIRE(Counters::at(Counters::sums(word, other), i) ==
              std::min<std::uint64_t>(value + Counters::at(other, i), 15));
    }
  }
}
