#include "format/state.hpp"

#include <algorithm>
#include <cstring>

#include "hash/hash.hpp"

namespace bfstore::format {
namespace {

std::uint64_t checksum_of(Bytes page, const FileId& file_id) noexcept {
  return hash::xxh3(page.data(), kSlotChecksumField.offset, id_hash(file_id));
}

bool zero_between(Bytes record, const Field& before, const Field& behind) noexcept {
  const std::size_t first = before.offset + before.bytes;
  return all_zero(record.subspan(first, behind.offset - first));
}

// The bits may be set only in a recovery.
bool recovered_is_possible(Bytes slot) noexcept {
  const auto recovered = get<std::uint64_t>(slot, kRecoveredField);
  const auto state = static_cast<SlotState>(get<std::uint32_t>(slot, kStateField));
  const bool recovering = state == SlotState::kRecovering || state == SlotState::kPaused;
  return recovered == 0 || recovering;
}

bool filling_is_possible(Bytes slot) noexcept { return get<std::uint32_t>(slot, kFillingField) <= 1; }

bool live_page_reserved_is_zero(Bytes page) noexcept {
  const std::size_t stripes_end = kStripesField.offset + kStripesField.bytes;
  bool zero = zero_between(page, kLiveNumSlicesField, kStripesField) && all_zero(page.subspan(stripes_end));
  for (std::size_t at = kStripesField.offset; at < stripes_end; at += kStripeBytes)
    zero = zero && all_zero(page.subspan(at + kStripeReserved, kStripeBytes - kStripeReserved));
  return zero;
}

bool slices_are_possible(std::uint64_t number, const StateUse& use) noexcept {
  return number >= 1 && number <= (use.grows ? kMaxSlices : 1);
}

// A page that lost its live word is a problem of its own.
bool live_words_are_possible(Bytes page, const FileId& file_id, const StateUse& use) noexcept {
  if (!LiveWord{get<std::uint64_t>(page, kLiveWordField)}.is_own(file_id)) return true;
  return get<std::uint64_t>(page, kSyncingField) <= 1 &&
         (use.expires || get<std::uint64_t>(page, kLiveEpochField) == 0) &&
         slices_are_possible(get<std::uint64_t>(page, kLiveNumSlicesField), use);
}

bool is_free(const LogPosition& lane) noexcept { return lane.mark == 0 && lane.epoch == 0; }

bool is_of(const LogPosition& lane, std::uint64_t owner) noexcept { return !is_free(lane) && lane.owner == owner; }

// True if the owner of lane i has recovered.
bool has_recovered(const Slot& slot, std::size_t i) noexcept { return (slot.recovered >> i & 1) != 0; }

std::uint64_t sum_of(Bytes live_page, std::size_t in_stripe) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kNumStripes; ++i) {
    sum += base::load<std::uint64_t>(live_page.data() + kStripesField.offset + i * kStripeBytes + in_stripe);
  }
  return sum;
}

}  // namespace

std::uint64_t mark_of(const Slot& slot, std::uint64_t owner, std::uint64_t epoch) noexcept {
  for (const LogPosition& lane : slot.lanes) {
    if (is_of(lane, owner)) return lane.epoch == epoch ? lane.mark : 0;
  }
  return 0;
}

void move_to(Slot& slot, const Place& place) noexcept {
  if (slot.place.boot_id != place.boot_id) slot.turned_after_boot = 0;
  slot.place = place;
}

void poison(Slot& slot) noexcept {
  slot.state = SlotState::kDirty;
  slot.recovered = 0;
  slot.place = {};
}

bool is_poisoned(const Slot& slot) noexcept { return slot.state == SlotState::kDirty && slot.place == Place{}; }

bool set_mark(Slot& slot, const LogPosition& position) noexcept {
  if (is_free(position)) return true;
  LogPosition* lane = nullptr;
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    LogPosition& candidate = slot.lanes[i];
    if (is_of(candidate, position.owner)) {
      if (candidate.epoch != position.epoch) {
        candidate = position;
        slot.recovered &= ~(std::uint64_t{1} << i);  // the bit was about another log
      }
      candidate.mark = std::max(candidate.mark, position.mark);
      return true;
    }
    if (is_free(candidate) && lane == nullptr) lane = &candidate;
  }
  if (lane == nullptr) return false;
  *lane = position;
  return true;
}

void drop_owner(Slot& slot, std::uint64_t owner) noexcept {
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    if (!is_of(slot.lanes[i], owner)) continue;
    slot.lanes[i] = {};
    slot.recovered &= ~(std::uint64_t{1} << i);
  }
}

void set_recovered(Slot& slot, std::uint64_t owner) noexcept {
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    if (is_of(slot.lanes[i], owner)) slot.recovered |= std::uint64_t{1} << i;
  }
}

bool all_recovered(const Slot& slot) noexcept {
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    if (!is_free(slot.lanes[i]) && !has_recovered(slot, i)) return false;
  }
  return true;
}

std::vector<OwnerMark> marks_of(const Slot& slot) {
  std::vector<OwnerMark> marks;
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    if (!is_free(slot.lanes[i])) marks.push_back({slot.lanes[i], has_recovered(slot, i)});
  }
  return marks;
}

SlotPage encode_slot(const Slot& slot, const FileId& file_id) noexcept {
  SlotPage page{};
  put(page, kSequenceField, slot.sequence);
  put(page, kStateField, static_cast<std::uint32_t>(slot.state));
  put(page, kNumSlicesField, slot.num_slices);
  std::memcpy(page.data() + kBootIdField.offset, slot.place.boot_id.data(), slot.place.boot_id.size());
  put(page, kDeviceField, slot.place.device);
  put(page, kInodeField, slot.place.inode);
  put(page, kInodeMarkField, slot.place.inode_mark);
  put(page, kMountField, slot.place.mount);
  put(page, kRecoveredField, slot.recovered);
  put(page, kFillingField, std::uint32_t{slot.filling ? 1U : 0U});
  put(page, kRecoveriesField, slot.recoveries);
  put(page, kEpochField, slot.epoch);
  put(page, kTurnedAtField, slot.turned_at);
  put(page, kTurnedAfterBootField, slot.turned_after_boot);
  std::byte* lane_at = page.data() + kLanesField.offset;
  for (const LogPosition& lane : slot.lanes) {
    base::store(lane_at, lane.owner);
    base::store(lane_at + 8, lane.mark);
    base::store(lane_at + 16, lane.epoch);
    lane_at += kLaneBytes;
  }
  put(page, kSlotChecksumField, checksum_of(page, file_id));
  return page;
}

std::optional<Slot> decode_slot(Bytes page, const FileId& file_id) noexcept {
  if (get<std::uint64_t>(page, kSlotChecksumField) != checksum_of(page, file_id)) return std::nullopt;
  const auto state = get<std::uint32_t>(page, kStateField);
  if (state < static_cast<std::uint32_t>(SlotState::kClean) || state > static_cast<std::uint32_t>(SlotState::kPaused)) {
    return std::nullopt;
  }
  Slot slot;
  slot.sequence = get<std::uint64_t>(page, kSequenceField);
  slot.state = static_cast<SlotState>(state);
  slot.num_slices = get<std::uint32_t>(page, kNumSlicesField);
  std::memcpy(slot.place.boot_id.data(), page.data() + kBootIdField.offset, slot.place.boot_id.size());
  slot.place.device = get<std::uint64_t>(page, kDeviceField);
  slot.place.inode = get<std::uint64_t>(page, kInodeField);
  slot.place.inode_mark = get<std::uint64_t>(page, kInodeMarkField);
  slot.place.mount = get<std::uint64_t>(page, kMountField);
  slot.recovered = get<std::uint64_t>(page, kRecoveredField);
  slot.filling = get<std::uint32_t>(page, kFillingField) != 0;
  slot.recoveries = get<std::uint32_t>(page, kRecoveriesField);
  slot.epoch = get<std::uint64_t>(page, kEpochField);
  slot.turned_at = get<std::uint64_t>(page, kTurnedAtField);
  slot.turned_after_boot = get<std::uint64_t>(page, kTurnedAfterBootField);
  const std::byte* lane_at = page.data() + kLanesField.offset;
  for (LogPosition& lane : slot.lanes) {
    lane.owner = base::load<std::uint64_t>(lane_at);
    lane.mark = base::load<std::uint64_t>(lane_at + 8);
    lane.epoch = base::load<std::uint64_t>(lane_at + 16);
    lane_at += kLaneBytes;
  }
  return slot;
}

const Slot* SlotPair::newest() const noexcept {
  const auto& [a, b] = slots;
  if (!a && !b) return nullptr;
  if (!a || (b && b->sequence > a->sequence)) return &*b;
  return &*a;
}

std::size_t SlotPair::next_index() const noexcept { return newest() == (slots[0] ? &*slots[0] : nullptr) ? 1 : 0; }

bool SlotPair::whole() const noexcept {
  if (!slots[0] || !slots[1]) return false;
  const std::uint64_t a = slots[0]->sequence;
  const std::uint64_t b = slots[1]->sequence;
  return a + 1 == b || b + 1 == a;
}

bool SlotPair::clean() const noexcept { return whole() && newest()->state == SlotState::kClean; }

SlotPair decode_slots(Bytes page_a, Bytes page_b, const FileId& file_id) noexcept {
  return {{decode_slot(page_a, file_id), decode_slot(page_b, file_id)}};
}

bool is_like_a_live_page(Bytes page) noexcept {
  const LiveWord word{get<std::uint64_t>(page, kLiveWordField)};
  const auto num_slices = get<std::uint64_t>(page, kLiveNumSlicesField);
  return word.is_of_a_file() && (word.bits & LiveWord::kIdBits) != 0 && get<std::uint64_t>(page, kSyncingField) <= 1 &&
         num_slices >= 1 && num_slices <= UINT16_MAX && live_page_reserved_is_zero(page);
}

bool reserved_state_is_zero(Bytes header, const FileId& file_id, const StateUse& use) noexcept {
  const Bytes live = header.subspan(kLivePageOffset, kPageBytes);
  bool zero = live_words_are_possible(live, file_id, use) && live_page_reserved_is_zero(live);
  for (const std::size_t offset : {kSlotOffset, kSlotOffset + kPageBytes}) {
    const Bytes slot = header.subspan(offset, kPageBytes);
    if (!decode_slot(slot, file_id)) continue;  // a torn slot is a separate problem
    zero = zero && recovered_is_possible(slot) && filling_is_possible(slot) &&
           slices_are_possible(get<std::uint32_t>(slot, kNumSlicesField), use) &&
           zero_between(slot, use.expires ? kTurnedAfterBootField : kRecoveriesField, kLanesField) &&
           zero_between(slot, kLanesField, kSlotChecksumField);
  }
  return zero;
}

std::uint64_t keys_added_in(Bytes live_page) noexcept { return sum_of(live_page, kKeysAddedInStripe); }
std::uint64_t keys_removed_in(Bytes live_page) noexcept { return sum_of(live_page, kKeysRemovedInStripe); }

}  // namespace bfstore::format
