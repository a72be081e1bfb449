// May this file be used? The decision of FORMAT.md ("When a dirty file may be used") as a table: the effect of each
// piece of evidence.
#include <functional>

#include "region/place.hpp"
#include "store/file/session.hpp"
#include "support/support.hpp"

using namespace rooms;
using format::Slot;
using format::SlotState;
using store::Evidence;
using store::judge;

namespace {

constexpr format::BootId kBoot{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr format::FileId kId{16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};

// Returns the evidence of a file whose newer slot says `state`, as a writer of this boot left it.
Evidence evidence_of(SlotState state) {
  Slot slot;
  slot.sequence = 6;
  slot.state = state == SlotState::kClean ? SlotState::kDirty : SlotState::kClean;
  slot.place.boot_id = kBoot;
  slot.place.device = 7;
  slot.place.inode = 8;
  slot.place.inode_mark = 9;
  slot.place.mount = 10;
  Evidence evidence;
  evidence.slots.slots[0] = slot;
  slot.sequence = 7;
  slot.state = state;
  evidence.slots.slots[1] = slot;
  evidence.live_word = format::LiveWord::healthy(kId);
  evidence.place.boot_id = kBoot;
  evidence.place.device = 7;
  evidence.place.inode = 8;
  evidence.place.inode_mark = 9;
  evidence.place.mount = 10;
  return evidence;
}

FileState judged(SlotState state, const std::function<void(Evidence&)>& change) {
  Evidence evidence = evidence_of(state);
  change(evidence);
  return judge(evidence);
}

Slot& newer(Evidence& evidence) { return *evidence.slots.slots[1]; }

using Change = void (*)(Evidence&);

}  // namespace

TEST_CASE("untouched: clean is clean, dirty without a writer is adoptable, recovering is recovering") {
  const auto nothing = [](Evidence&) {};
  CHECK(judged(SlotState::kClean, nothing) == FileState::kClean);
  CHECK(judged(SlotState::kDirty, nothing) == FileState::kAdoptable);
  CHECK(judged(SlotState::kRecovering, nothing) == FileState::kRecovering);
}

TEST_CASE("dirty with a writer is in use, and with only a writers' lock that the slots deny it is not") {
  CHECK(judged(SlotState::kDirty, [](Evidence& evidence) { evidence.writer_alive = true; }) == FileState::kInUse);
  for (const Change denied :
       {Change([](Evidence& evidence) { evidence.place.boot_id[0] ^= 1; }),
        Change([](Evidence& evidence) { evidence.place.device = 9; }),
        Change([](Evidence& evidence) { evidence.place.inode = 9; }),
        Change([](Evidence& evidence) { evidence.place.inode_mark = 10; }),
        Change([](Evidence& evidence) { evidence.place.mount = 11; }),
        Change([](Evidence& evidence) { newer(evidence).place.boot_id = evidence.place.boot_id = {}; }),
        Change([](Evidence& evidence) { evidence.slots.slots[0].reset(); }),
        Change([](Evidence& evidence) { newer(evidence).sequence = 9; }), Change([](Evidence& evidence) {
          evidence.sync_died = true;
          evidence.syncing = true;
        })}) {
    CHECK(judged(SlotState::kDirty, [&](Evidence& evidence) {
            evidence.writer_alive = true;
            denied(evidence);
          }) == FileState::kUnclean);
  }
}

TEST_CASE("dirty without a writer: any doubt makes it unclean") {
  for (const Change doubt :
       {Change([](Evidence& evidence) { evidence.place.boot_id[15] ^= 1; }),
        Change([](Evidence& evidence) { newer(evidence).place.boot_id = evidence.place.boot_id = {}; }),
        Change([](Evidence& evidence) { newer(evidence).place.boot_id = {}; }),
        Change([](Evidence& evidence) { evidence.place.device = 9; }),
        Change([](Evidence& evidence) { evidence.place.inode = 9; }),
        Change([](Evidence& evidence) { evidence.place.inode_mark = 10; }),
        Change([](Evidence& evidence) { evidence.place.mount = 11; }),
        Change([](Evidence& evidence) { evidence.slots.slots[0].reset(); }),
        Change([](Evidence& evidence) { newer(evidence).sequence = 8; }),
        Change([](Evidence& evidence) { evidence.syncing = true; })}) {
    CHECK(judged(SlotState::kDirty, doubt) == FileState::kUnclean);
  }
}

TEST_CASE("an unknown inode or mount makes a killed writer's file unclean, and not a live one's") {
  for (const Change unknown :
       {Change([](Evidence& evidence) { evidence.place.inode_mark = 0; }),
        Change([](Evidence& evidence) { newer(evidence).place.inode_mark = 0; }),
        Change([](Evidence& evidence) { newer(evidence).place.inode_mark = evidence.place.inode_mark = 0; }),
        Change([](Evidence& evidence) { evidence.place.mount = 0; }),
        Change([](Evidence& evidence) { newer(evidence).place.mount = 0; })}) {
    CHECK(judged(SlotState::kDirty, unknown) == FileState::kUnclean);
    CHECK(judged(SlotState::kDirty, [&](Evidence& evidence) {
            evidence.writer_alive = true;
            unknown(evidence);
          }) == FileState::kInUse);
  }
  const auto no_mounts = [](Evidence& evidence) { newer(evidence).place.mount = evidence.place.mount = 0; };
  CHECK(judged(SlotState::kDirty, no_mounts) == FileState::kAdoptable);
}

TEST_CASE("clean stays clean with another boot, device, inode, mark of it, or the flag of the sync that made it so") {
  for (const Change harmless : {Change([](Evidence& evidence) { evidence.place.boot_id = {}; }),
                                Change([](Evidence& evidence) { evidence.place.device = 9; }),
                                Change([](Evidence& evidence) { evidence.place.inode = 9; }),
                                Change([](Evidence& evidence) { evidence.place.inode_mark = 10; }),
                                Change([](Evidence& evidence) { evidence.syncing = true; })}) {
    CHECK(judged(SlotState::kClean, harmless) == FileState::kClean);
  }
  for (const Change torn : {Change([](Evidence& evidence) { evidence.slots.slots[0].reset(); }),
                            Change([](Evidence& evidence) { newer(evidence).sequence = 8; })}) {
    CHECK(judged(SlotState::kClean, torn) == FileState::kUnclean);
  }
}

TEST_CASE("poisoned, recovering and superseded outrank everything else, a live writer included") {
  for (const SlotState state : {SlotState::kClean, SlotState::kDirty, SlotState::kRecovering, SlotState::kPaused}) {
    for (const bool alive : {false, true}) {
      const auto with = [&](std::uint64_t flags) {
        return judged(state, [&](Evidence& evidence) {
          evidence.writer_alive = alive;
          evidence.live_word.bits |= flags;
        });
      };
      CHECK(with(format::LiveWord::kPoisoned) == FileState::kPoisoned);
      CHECK(with(format::LiveWord::kStates ^ format::LiveWord::kReplaced) == FileState::kPoisoned);
      CHECK(with(format::LiveWord::kStates) == FileState::kSuperseded);  // it is replaced, for good
      CHECK(with(format::LiveWord::kRecovering) == FileState::kRecovering);
      CHECK(with(format::LiveWord::kRecovering | format::LiveWord::kSuperseded) == FileState::kRecovering);
      const FileState superseded = with(format::LiveWord::kSuperseded);
      CHECK(with(format::LiveWord::kReplaced) == FileState::kSuperseded);
      const bool recovering = state == SlotState::kRecovering || state == SlotState::kPaused;
      CHECK(superseded == (recovering ? FileState::kRecovering : FileState::kSuperseded));
    }
  }
}

TEST_CASE("a slot and a live page of two epochs are in use while a process begins the second one, and in doubt else") {
  struct Moment {
    std::uint64_t slot, live;
    bool syncing = false, alive = true, died = false;
  };
  const auto with = [](SlotState state, const Moment& moment) {
    return judged(state, [&](Evidence& evidence) {
      evidence.expires = true;
      newer(evidence).epoch = moment.slot;
      evidence.epoch.word = moment.live;
      evidence.syncing = moment.syncing;
      evidence.writer_alive = moment.alive;
      evidence.sync_died = moment.died;
    });
  };
  for (const Moment& in_use :
       {Moment{5, 10}, Moment{5, 11}, Moment{5, 10, true}, Moment{5, 11, true}, Moment{6, 11, true}})
    CHECK(with(SlotState::kDirty, in_use) == FileState::kInUse);
  for (const Moment& doubt :
       {Moment{6, 11}, Moment{6, 11, true, true, true}, Moment{6, 11, true, false}, Moment{6, 10, true},
        Moment{7, 11, true}, Moment{4, 11, true}, Moment{5, 12}, Moment{5, 12, true}, Moment{5, 9}, Moment{5, 8}})
    CHECK(with(SlotState::kDirty, doubt) == FileState::kUnclean);
  for (const std::uint64_t word : {10U, 11U}) {
    CHECK(with(SlotState::kDirty, {5, word, false, false}) == FileState::kAdoptable);
    CHECK(with(SlotState::kClean, {5, word, false, false}) == FileState::kClean);
    CHECK(with(SlotState::kClean, {6, word, false, false}) == FileState::kUnclean);
    CHECK(with(SlotState::kClean, {6, word, true, false}) == FileState::kUnclean);
    CHECK(with(SlotState::kDirty, {6, word, false, false}) == FileState::kUnclean);
  }
  CHECK(judged(SlotState::kClean, [](Evidence& evidence) { evidence.epoch.word = 12; }) == FileState::kClean);
}

TEST_CASE("without a valid slot the state is unknown, whatever else there is") {
  const auto none = [](Evidence& evidence) {
    evidence.slots.slots = {};
    evidence.writer_alive = true;
    evidence.live_word.bits |= format::LiveWord::kPoisoned;
  };
  CHECK(judged(SlotState::kDirty, none) == FileState::kUnknown);
}

TEST_CASE("only the file's own live word is believed, whatever its state bits") {
  const format::LiveWord own = format::LiveWord::healthy(kId);
  CHECK(own.is_own(kId));
  CHECK_FALSE(format::LiveWord{0}.is_own(kId));
  CHECK_FALSE(format::LiveWord{~std::uint64_t{0}}.is_own(kId));
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t flag = std::uint64_t{1} << bit;
    const format::LiveWord word{own.bits ^ flag};
    const bool known = (flag & format::LiveWord::kStates) != 0;
    CHECK(word.is_understood(kId) == known);
    CHECK(word.is_own(kId) == (known || (flag & format::LiveWord::kLaterStates) != 0));
  }
}

TEST_CASE("this system has a boot id, the same one each time") {
  CHECK(must(region::boot_id()) != format::BootId{});
  CHECK(must(region::boot_id()) == must(region::boot_id()));
}
