// The format room's state slots and live page: torn and missing slots never look clean; marks; the live word.
#include "format/state.hpp"

#include <cstring>

#include "base/bytes.hpp"
#include "hash/hash.hpp"
#include "support/support.hpp"

using namespace rooms;
using format::Slot;
using format::SlotPage;
using format::SlotPair;
using format::SlotState;

namespace {

constexpr format::FileId kId{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::array kStates{SlotState::kClean, SlotState::kDirty, SlotState::kRecovering};

Slot slot_of(std::uint64_t sequence, SlotState state) {
  Slot slot;
  slot.sequence = sequence;
  slot.state = state;
  for (std::size_t i = 0; i < slot.place.boot_id.size(); ++i)
    slot.place.boot_id[i] = static_cast<std::uint8_t>(mix(sequence + i));
  slot.place.device = mix(sequence + 100);
  slot.place.inode = mix(sequence + 200);
  slot.place.inode_mark = mix(sequence + 250);
  slot.place.mount = mix(sequence + 275);
  slot.filling = mix(sequence + 290) % 2 == 1;
  slot.recoveries = static_cast<std::uint32_t>(mix(sequence + 295));
  for (std::uint64_t i = 0; i < slot.lanes.size(); ++i)
    slot.lanes[i] = {mix(sequence + i), mix(sequence + 300 + i), mix(sequence + 600 + i)};
  return slot;
}

SlotPage page_of(std::uint64_t sequence, SlotState state) { return format::encode_slot(slot_of(sequence, state), kId); }

SlotPair pair_of(const SlotPage& a, const SlotPage& b) { return format::decode_slots(a, b, kId); }

// Writes `next` over `old` in 8 sectors of 512 bytes, of which `landed` says which arrived.
SlotPage torn(const SlotPage& old, const SlotPage& next, unsigned landed) {
  SlotPage page = old;
  for (std::size_t sector = 0; sector < 8; ++sector) {
    if ((landed >> sector & 1U) != 0) std::memcpy(page.data() + sector * 512, next.data() + sector * 512, 512);
  }
  return page;
}

}  // namespace

TEST_CASE("a slot comes back from its bytes as it was") {
  for (const SlotState state : kStates) {
    for (std::uint64_t sequence = 0; sequence < 500; ++sequence) {
      Slot slot = slot_of(mix(sequence), state);
      slot.epoch = mix(sequence + 700);  // of a later layout
      slot.turned_at = mix(sequence + 701);
      slot.turned_after_boot = mix(sequence + 702);
      REQUIRE(format::decode_slot(format::encode_slot(slot, kId), kId) == slot);
    }
  }
}

TEST_CASE("every flipped bit of a slot, and another file's id, make it invalid") {
  SlotPage page = page_of(5, SlotState::kClean);
  REQUIRE(format::decode_slot(page, kId).has_value());
  for (std::size_t bit = 0; bit < page.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    page[bit / 8] ^= mask;
    REQUIRE_FALSE(format::decode_slot(page, kId).has_value());
    page[bit / 8] ^= mask;
  }
  for (std::size_t i = 0; i < kId.size(); ++i) {
    format::FileId other = kId;
    other[i] ^= 1;
    CHECK_FALSE(format::decode_slot(page, other).has_value());
  }
}

TEST_CASE("a page of zeros or of ones, and a state that is not known, are invalid slots") {
  SlotPage page{};
  CHECK_FALSE(format::decode_slot(page, kId).has_value());
  page.fill(std::byte{0xff});
  CHECK_FALSE(format::decode_slot(page, kId).has_value());
  for (const std::uint32_t state : {0U, 5U, 6U, 0x101U, 0xffffffffU}) {
    CHECK_FALSE(format::decode_slot(page_of(1, static_cast<SlotState>(state)), kId).has_value());
  }
}

TEST_CASE("a file is clean only if both slots are valid, one follows the other, and the newer says clean") {
  const SlotPage invalid{};
  for (const SlotState older : kStates) {
    for (const SlotState newer : kStates) {
      for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{41}, mix(1)}) {
        const SlotPage a = page_of(first, older);
        const SlotPage b = page_of(first + 1, newer);
        REQUIRE(pair_of(a, b).whole());
        REQUIRE(pair_of(b, a).whole());
        REQUIRE(pair_of(a, b).clean() == (newer == SlotState::kClean));
        REQUIRE(pair_of(b, a).clean() == (newer == SlotState::kClean));
        REQUIRE(*pair_of(a, b).newest() == slot_of(first + 1, newer));
        REQUIRE(*pair_of(b, a).newest() == slot_of(first + 1, newer));
        REQUIRE(pair_of(a, b).next_index() == 0);
        REQUIRE(pair_of(b, a).next_index() == 1);
      }
    }
  }
  CHECK(pair_of(invalid, invalid).newest() == nullptr);
  CHECK_FALSE(pair_of(invalid, invalid).clean());
  CHECK_FALSE(pair_of(invalid, invalid).whole());
}

TEST_CASE("one valid slot alone is never clean, and the next state is written over the invalid one") {
  for (const SlotState state : kStates) {
    const SlotPage valid = page_of(9, state);
    const SlotPage invalid{};
    for (const bool first : {true, false}) {
      const SlotPair pair = first ? pair_of(valid, invalid) : pair_of(invalid, valid);
      CHECK_FALSE(pair.clean());
      CHECK_FALSE(pair.whole());
      REQUIRE(pair.newest() != nullptr);
      CHECK(*pair.newest() == slot_of(9, state));
      CHECK(pair.next_index() == (first ? 1 : 0));
    }
  }
}

TEST_CASE("two valid slots with a gap between their sequences, or with the same, are never clean") {
  const SlotPage ten = page_of(10, SlotState::kClean);
  for (std::uint64_t other = 0; other <= 20; ++other) {
    const SlotPage page = page_of(other, SlotState::kClean);
    const bool one_apart = other == 9 || other == 11;
    CAPTURE(other);
    CHECK(pair_of(ten, page).clean() == one_apart);
    CHECK(pair_of(page, ten).clean() == one_apart);
    CHECK(pair_of(page, ten).newest()->sequence == std::max<std::uint64_t>(10, other));
  }
}

TEST_CASE("a torn write of a slot can only make a file look less clean than it is") {
  // A dirty file is being marked clean: only when every sector is there it looks clean.
  const SlotPage dirty = page_of(8, SlotState::kDirty);
  const SlotPage older = page_of(7, SlotState::kClean);
  const SlotPage clean = page_of(9, SlotState::kClean);
  // A clean file is being marked dirty: with any changed sector it looks clean no more.
  const SlotPage newest = page_of(8, SlotState::kClean);
  const SlotPage before = page_of(7, SlotState::kDirty);
  const SlotPage now_dirty = page_of(9, SlotState::kDirty);
  for (unsigned landed = 0; landed < 256; ++landed) {
    const SlotPage closing = torn(older, clean, landed);
    CHECK(pair_of(closing, dirty).clean() == (closing == clean));
    CHECK(pair_of(dirty, closing).clean() == (closing == clean));
    CHECK(pair_of(closing, dirty).newest()->state == (closing == clean ? SlotState::kClean : SlotState::kDirty));
    const SlotPage opening = torn(before, now_dirty, landed);
    CHECK(pair_of(opening, newest).clean() == (opening == before));
    CHECK(pair_of(newest, opening).clean() == (opening == before));
  }
}

TEST_CASE("a write that stopped at any byte never looks clean") {
  const SlotPage dirty = page_of(8, SlotState::kDirty);
  const SlotPage older = page_of(7, SlotState::kClean);
  const SlotPage clean = page_of(9, SlotState::kClean);
  for (std::size_t bytes = 0; bytes < clean.size(); ++bytes) {
    SlotPage page = older;
    std::memcpy(page.data(), clean.data(), bytes);
    REQUIRE_FALSE(pair_of(page, dirty).clean());
    page = clean;
    std::memcpy(page.data(), older.data(), bytes + 1);
    REQUIRE_FALSE(pair_of(page, dirty).clean());
  }
}

TEST_CASE("a mark is kept for each of 64 owners, never goes back in its epoch, and 0 stores nothing") {
  for (const std::uint64_t epoch : {0U, 3U}) {
    Slot slot;
    const auto set = [&](std::uint64_t owner, std::uint64_t mark) {
      return format::set_mark(slot, {.owner = owner, .epoch = epoch, .mark = mark});
    };
    CHECK(format::mark_of(slot, 0, epoch) == 0);
    CHECK(format::set_mark(slot, {.owner = 7}));
    CHECK(slot == Slot{});
    for (std::uint64_t owner = 0; owner < format::kNumLanes; ++owner) CHECK(set(owner * 11, 100 + owner));
    for (std::uint64_t owner = 0; owner < format::kNumLanes; ++owner) {
      CHECK(format::mark_of(slot, owner * 11, epoch) == 100 + owner);
      CHECK(set(owner * 11, 5));
      CHECK(set(owner * 11, 0));
      CHECK(format::mark_of(slot, owner * 11, epoch) == 100 + owner);
      CHECK(set(owner * 11, 1000 + owner));
      CHECK(format::mark_of(slot, owner * 11, epoch) == 1000 + owner);
    }
    const Slot full = slot;
    CHECK_FALSE(set(999, 1));
    CHECK(format::set_mark(slot, {.owner = 999}));
    CHECK(format::mark_of(slot, 999, epoch) == 0);
    CHECK(slot == full);
  }
}

// A log whose positions begin anew must not find the mark of the one before, which may be higher than all of its own.
TEST_CASE("a mark counts for its own epoch alone, and a lower or higher epoch replaces it") {
  Slot slot;
  CHECK(format::set_mark(slot, {.owner = 7, .epoch = 5, .mark = 1000}));
  for (const std::uint64_t other : {0U, 4U, 6U}) CHECK(format::mark_of(slot, 7, other) == 0);
  CHECK(format::set_mark(slot, {.owner = 7}));  // a sync without a mark
  CHECK(format::mark_of(slot, 7, 5) == 1000);
  std::uint64_t before = 5;
  for (const std::uint64_t epoch : {6U, 2U, 0U, 9U}) {
    CHECK(format::set_mark(slot, {.owner = 7, .epoch = epoch, .mark = 10}));
    CHECK(format::mark_of(slot, 7, epoch) == 10);
    CHECK(format::mark_of(slot, 7, before) == 0);
    before = epoch;
  }
  CHECK(format::set_mark(slot, {.owner = 7, .epoch = 10}));
  CHECK(format::marks_of(slot) == std::vector<OwnerMark>{{{.owner = 7, .epoch = 10}}});
}

TEST_CASE("an owner whose log was replaced during a recovery is no longer recovered") {
  Slot slot;
  for (const std::uint64_t owner : {7U, 8U}) CHECK(format::set_mark(slot, {.owner = owner, .epoch = 5, .mark = 10}));
  for (const std::uint64_t owner : {7U, 8U}) format::set_recovered(slot, owner);
  CHECK(format::all_recovered(slot));
  CHECK(format::set_mark(slot, {.owner = 8, .epoch = 5, .mark = 11}));
  CHECK(format::all_recovered(slot));
  CHECK(format::set_mark(slot, {.owner = 8, .epoch = 6, .mark = 1}));
  CHECK_FALSE(format::all_recovered(slot));
  format::set_recovered(slot, 8);
  CHECK(format::all_recovered(slot));
}

TEST_CASE("mark 0 with an epoch makes an owner known, and every recovery waits for it") {
  Slot slot;
  CHECK(format::set_mark(slot, {.owner = 7, .epoch = 1}));
  CHECK(format::mark_of(slot, 7, 1) == 0);
  CHECK_FALSE(format::all_recovered(slot));
  format::set_recovered(slot, 8);
  CHECK_FALSE(format::all_recovered(slot));
  format::set_recovered(slot, 7);
  CHECK(format::all_recovered(slot));
  CHECK(format::set_mark(slot, {.owner = 8, .epoch = 1, .mark = 5}));
  CHECK(format::marks_of(slot).size() == 2);
}

TEST_CASE("an owner that takes the lane of a dropped owner has recovered nothing") {
  Slot slot;
  for (const std::uint64_t owner : {7U, 8U, 9U}) CHECK(format::set_mark(slot, {.owner = owner, .epoch = 1, .mark = 5}));
  format::set_recovered(slot, 8);
  format::drop_owner(slot, 6);
  CHECK(format::marks_of(slot).size() == 3);
  format::drop_owner(slot, 8);
  CHECK(slot.recovered == 0);
  CHECK(format::mark_of(slot, 8, 1) == 0);
  CHECK(format::marks_of(slot).size() == 2);
  CHECK(format::set_mark(slot, {.owner = 10, .epoch = 2, .mark = 6}));
  CHECK(slot.lanes[1] == LogPosition{.owner = 10, .epoch = 2, .mark = 6});
  CHECK(format::marks_of(slot)[1].recovered == false);
}

TEST_CASE("the live word is the file's own, never 0, and has no state bit while healthy") {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    format::FileId id{};
    for (std::size_t j = 0; j < id.size(); ++j) id[j] = static_cast<std::uint8_t>(i < 500 ? mix(i * 16 + j) : i - 500);
    REQUIRE(format::LiveWord::healthy(id).bits == ((hash::xxh3(id.data(), id.size(), 0) >> 16 << 16) | 1));
  }
}

TEST_CASE("keys added are the sum of the 32 stripes and of nothing else on the live page") {
  std::vector<std::byte> page(format::kPageBytes, std::byte{0xff});
  std::uint64_t sum = 0;
  for (std::size_t stripe = 0; stripe < format::kNumStripes; ++stripe) {
    const std::uint64_t keys = mix(stripe) >> 8;
    base::store(page.data() + 64 + 64 * stripe, keys);
    sum += keys;
  }
  CHECK(format::keys_added_in(page) == sum);
}

TEST_CASE("every reserved byte of the live page and of a valid slot must be zero, and no other byte") {
  std::vector<std::byte> header(format::kFileHeaderBytes);
  const auto put_slots = [&] {
    const SlotPage a = page_of(5, SlotState::kClean);  // one of the two says filling
    const SlotPage b = page_of(6, SlotState::kDirty);
    std::memcpy(header.data() + 4096, a.data(), a.size());
    std::memcpy(header.data() + 8192, b.data(), b.size());
  };
  put_slots();
  std::byte* const live = header.data() + std::size_t{3} * 4096;
  base::store(live, format::LiveWord::healthy(kId).bits);
  base::store(live + 24, std::uint64_t{1});  // slices
  CHECK(format::reserved_state_is_zero(header, kId, {}));
  for (std::size_t at = 0; at < 4096; ++at) {
    const bool counter = at >= 64 && at < 2112 && at % 64 < 16;  // keys added, and keys removed
    const std::byte before = std::exchange(live[at], live[at] ^ std::byte{0x80});
    REQUIRE(format::reserved_state_is_zero(header, kId, {}) == (at < 8 || counter));
    live[at] = before;
  }
  base::store(live + 8, std::uint64_t{1});  // syncing
  CHECK(format::reserved_state_is_zero(header, kId, {}));
  base::store(live + 8, std::uint64_t{0});
  for (const std::size_t slot : {std::size_t{4096}, std::size_t{8192}}) {
    for (std::size_t at = 0; at < 4088; ++at) {
      const bool reserved =
          (at >= 12 && at < 16) || (at >= 64 && at < 76) || (at >= 80 && at < 128) || at >= 1664;  // filling is 0 or 1
      if (at >= 8 && at < 12) continue;  // another state: an invalid slot
      header[slot + at] ^= std::byte{0x80};
      CHECK(format::reserved_state_is_zero(header, kId, {}));  // torn: its checksum says so already
      base::store(header.data() + slot + 4088, hash::xxh3(header.data() + slot, 4088, format::id_hash(kId)));
      REQUIRE(format::reserved_state_is_zero(header, kId, {}) == !reserved);
      put_slots();
    }
  }
}

TEST_CASE("a body that grows has 1 to 5 slices, in the live page and in valid slots, and any other one has 1") {
  std::vector<std::byte> header(format::kFileHeaderBytes);
  std::byte* const live = header.data() + std::size_t{3} * 4096;
  base::store(live, format::LiveWord::healthy(kId).bits);
  for (const std::uint64_t in_live :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{6}, UINT64_MAX}) {
    for (const std::uint32_t in_slot : {0U, 1U, 2U, 5U, 6U, UINT32_MAX}) {
      CAPTURE(in_live);
      CAPTURE(in_slot);
      const SlotPage a = page_of(5, SlotState::kDirty);
      std::memcpy(header.data() + 4096, a.data(), a.size());
      base::store(header.data() + 4096 + 12, in_slot);
      base::store(header.data() + 4096 + 4088, hash::xxh3(header.data() + 4096, 4088, format::id_hash(kId)));
      base::store(live + 24, in_live);
      const auto possible = [](std::uint64_t number) { return number >= 1 && number <= 5; };
      CHECK(format::reserved_state_is_zero(header, kId, {.grows = true}) == (possible(in_live) && possible(in_slot)));
      CHECK(format::reserved_state_is_zero(header, kId, {}) == (in_live == 1 && in_slot == 1));
    }
  }
}
