// The state slots and the live page, which tell a file's state (FORMAT.md, "State slots", "Live page"). Converts bytes
// to structs and back; no I/O.
#pragma once

#include <bfstore/marks.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/field.hpp"
#include "format/identity.hpp"

namespace bfstore::format {

using BootId = std::array<std::uint8_t, 16>;

inline constexpr std::size_t kNumLanes = 64;

inline constexpr Field kSequenceField{"sequence", 0, 8};
inline constexpr Field kStateField{"state", 8, 4};
inline constexpr Field kNumSlicesField{"num_slices", 12, 4};
inline constexpr Field kBootIdField{"boot_id", 16, 16};
inline constexpr Field kDeviceField{"device", 32, 8};
inline constexpr Field kInodeField{"inode", 40, 8};
inline constexpr Field kInodeMarkField{"inode_mark", 48, 8};
inline constexpr Field kMountField{"mount", 56, 8};
inline constexpr Field kRecoveredField{"recovered", 64, 8};
inline constexpr Field kFillingField{"filling", 72, 4};
inline constexpr Field kRecoveriesField{"recoveries", 76, 4};
inline constexpr Field kEpochField{"epoch", 80, 8};
inline constexpr Field kTurnedAtField{"turned_at", 88, 8};
inline constexpr Field kTurnedAfterBootField{"turned_after_boot", 96, 8};
inline constexpr std::size_t kLaneBytes = 24;
inline constexpr Field kLanesField{"lanes", 128, kNumLanes* kLaneBytes};
inline constexpr Field kSlotChecksumField{"checksum", 4088, 8};
inline constexpr std::array kSlotFields{kSequenceField,  kStateField,           kNumSlicesField,  kBootIdField,
                                        kDeviceField,    kInodeField,           kInodeMarkField,  kMountField,
                                        kRecoveredField, kFillingField,         kRecoveriesField, kEpochField,
                                        kTurnedAtField,  kTurnedAfterBootField, kLanesField,      kSlotChecksumField};

enum class SlotState : std::uint32_t { kClean = 1, kDirty = 2, kRecovering = 3, kPaused = 4 };  // persisted

// The place and time of a file's use: this boot of this system, and this inode of this mount.
struct Place {
  BootId boot_id{};  // all zero: unknown
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t inode_mark = 0;  // 0: unknown
  std::uint64_t mount = 0;       // 0: unknown

  bool operator==(const Place&) const noexcept = default;
};

struct Slot {
  std::uint64_t sequence = 0;
  SlotState state = SlotState::kClean;
  std::uint32_t num_slices = 1;
  Place place;                   // where the file became dirty
  std::uint64_t recovered = 0;   // bit i: the owner of lane i has added again the keys after its mark
  bool filling = false;          // its builder has not yet added every key: each answer is "maybe"
  std::uint32_t recoveries = 0;  // begun so far, modulo 2^32: a file in doubt is good again only after another one
  // Of a layout whose keys expire: the epoch that is durable, and when it began. 0 in every other layout.
  std::uint64_t epoch = 0;
  std::uint64_t turned_at = 0;          // nanoseconds since 1970
  std::uint64_t turned_after_boot = 0;  // nanoseconds since the boot of `place`; 0: unknown
  std::array<LogPosition, kNumLanes> lanes{};

  bool operator==(const Slot& other) const noexcept = default;
};

// Returns 0 if the owner has no mark in this epoch: a mark of another epoch says nothing about this epoch's log.
std::uint64_t mark_of(const Slot& slot, std::uint64_t owner, std::uint64_t epoch = 0) noexcept;

// Moves the slot to another place. What it counts from the boot of the place before is unknown in another boot.
void move_to(Slot& slot, const Place& place) noexcept;

// The slot of a poisoned file is dirty, but has no place. A slot that a writer makes has at least the inode.
void poison(Slot& slot) noexcept;
bool is_poisoned(const Slot& slot) noexcept;

// Stores a mark. Within an epoch the higher mark stays; another epoch replaces epoch and mark. Returns false if no lane
// is left. Mark 0 with epoch 0 changes nothing.
bool set_mark(Slot& slot, const LogPosition& position) noexcept;

// Frees the owner's lane, and clears its bit of `recovered`, which says nothing about the lane's next owner.
void drop_owner(Slot& slot, std::uint64_t owner) noexcept;

// Notes that the owner has added again the keys after its mark. An owner without a lane changes nothing: no recovery
// waits for it.
void set_recovered(Slot& slot, std::uint64_t owner) noexcept;

// True if every owner that has a lane has recovered.
bool all_recovered(const Slot& slot) noexcept;

// The contents of the lanes that are not free.
std::vector<OwnerMark> marks_of(const Slot& slot);

using SlotPage = std::array<std::byte, kPageBytes>;
SlotPage encode_slot(const Slot& slot, const FileId& file_id) noexcept;

// Returns nothing if the slot is invalid.
std::optional<Slot> decode_slot(Bytes page, const FileId& file_id) noexcept;

// The two slots of a file together.
struct SlotPair {
  std::array<std::optional<Slot>, 2> slots;

  // The valid slot with the larger sequence; nullptr if none is valid.
  [[nodiscard]] const Slot* newest() const noexcept;
  // The slot that the next state overwrites: the older or invalid one.
  [[nodiscard]] std::size_t next_index() const noexcept;
  // True if both slots are valid and have consecutive sequences. If not, a write was torn, and the file may be less
  // clean than it says.
  [[nodiscard]] bool whole() const noexcept;
  [[nodiscard]] bool clean() const noexcept;

  bool operator==(const SlotPair& other) const noexcept = default;
};

SlotPair decode_slots(Bytes page_a, Bytes page_b, const FileId& file_id) noexcept;

// --- The live page ---------------------------------------------------------------------------------------------------

inline constexpr std::size_t kLivePageOffset = 3 * kPageBytes;
inline constexpr std::size_t kSlotOffset = kPageBytes;  // of slot A; slot B is in the next page
inline constexpr Field kLiveWordField{"live_word", 0, 8};
inline constexpr Field kSyncingField{"syncing", SharedLiveWord::kSyncingOffset, 8};
inline constexpr Field kLiveEpochField{"epoch", SharedLiveWord::kEpochOffset, 8};
inline constexpr Field kLiveNumSlicesField{"num_slices", SharedLiveWord::kNumSlicesOffset, 8};
inline constexpr std::size_t kNumStripes = 32;
inline constexpr std::size_t kStripeBytes = 64;
inline constexpr Field kStripesField{"keys_added", 64, kNumStripes* kStripeBytes};
inline constexpr std::array kLiveFields{kLiveWordField, kSyncingField, kLiveEpochField, kLiveNumSlicesField,
                                        kStripesField};

// True if this may be the live page of a file whose id, layout and version are not known, and no other data.
bool is_like_a_live_page(Bytes page) noexcept;

// What of the state the layout has.
struct StateUse {
  bool expires = false;  // epochs
  bool grows = false;    // up to kMaxSlices slices, otherwise 1
};

// True if the reserved bytes of the live page and of the valid slots are zero, and words for other layouts say none.
// `header` is the four header pages.
bool reserved_state_is_zero(Bytes header, const FileId& file_id, const StateUse& use) noexcept;

// The offsets of the counters in a stripe.
inline constexpr std::size_t kKeysAddedInStripe = 0;
inline constexpr std::size_t kKeysRemovedInStripe = 8;
inline constexpr std::size_t kStripeReserved = 16;

// The sums of the stripes.
std::uint64_t keys_added_in(Bytes live_page) noexcept;
std::uint64_t keys_removed_in(Bytes live_page) noexcept;

// The number of keys that are left. After a power cut either counter may be too low.
constexpr std::uint64_t keys_left(std::uint64_t added, std::uint64_t removed) noexcept {
  return added - (removed < added ? removed : added);
}
inline std::uint64_t keys_left_in(Bytes live_page) noexcept {
  return keys_left(keys_added_in(live_page), keys_removed_in(live_page));
}

}  // namespace bfstore::format
