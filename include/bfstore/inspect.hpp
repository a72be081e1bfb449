// Reports everything that a file says, good or bad: for bfinspect and for monitors. An inspection writes nothing,
// recovers nothing, and continues after the first broken rule. Like a reader, it follows a symbolic link. It takes no
// lock, but asks the kernel which locks are held. It waits at most 0.1 s for a process that is changing the state of
// the file.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/marks.hpp>
#include <bfstore/options.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bfstore {

// A rule that the file breaks.
struct Problem {
  Code code = Code::kOk;
  std::string text;
};

enum class FileState {
  kUnknown,     // the state cannot be read
  kClean,       // synced and closed
  kInUse,       // dirty, and a writer has it open
  kAdoptable,   // dirty, no writer: a process was killed in this boot, and the next open adopts the file
  kUnclean,     // dirty, no writer, another boot or another copy, or killed while syncing
  kRecovering,  // a recovery was begun, and an owner has not finished it
  kPoisoned,    // a sync did not end: a process was killed in it, or the disk refused a write
  kSuperseded,  // another file is taking its place, or was when the process that replaces it was killed
  kEmbedded,    // an embedded filter, which has no state
};

// "clean", "in use", ...
[[nodiscard]] const char* file_state_name(FileState state) noexcept;

// A file's check of its secret: enough to detect another secret.
struct SecretCheck {
  std::uint64_t salt = 0;  // random: two filters do not show that they have the same secret
  std::uint64_t tag = 0;   // the salt's SipHash under the secret

  bool operator==(const SecretCheck&) const noexcept = default;
};

// The place of a sealed file's checksums, and the chunks that they cover.
struct Seal {
  std::uint32_t chunk_bytes = 0;
  std::uint64_t num_chunks = 0;
  std::uint64_t checksums_offset = 0;
  std::uint64_t checksum = 0;    // of the checksums themselves
  std::uint64_t keys_added = 0;  // as of the seal

  bool operator==(const Seal&) const noexcept = default;
};

// The part of a whole filter that this filter is.
struct PartOfWhole {
  Part part{};
  std::uint64_t capacity = 0;  // n of the whole filter

  bool operator==(const PartOfWhole&) const noexcept = default;
};

// The values of a filter's parameter records (src/format/FORMAT.md), each of which may be absent.
struct Parameters {
  std::optional<std::string> note;          // the maker's own words
  std::optional<Seal> seal;                 // of a sealed file
  std::optional<SecretCheck> secret_check;  // of a filter with Hash::kSipHash
  // For a hash with a list of seeds: one for each probe.
  std::optional<std::vector<std::uint32_t>> seeds{};
  std::optional<PartOfWhole> part{};  // of a filter that is not whole
  // Of a layout whose keys expire: for how many milliseconds a key is kept at least.
  std::optional<std::uint64_t> window_ms{};
  // Of a layout that grows: how many times as large as the one before each slice is.
  std::optional<std::uint32_t> growth{};

  bool operator==(const Parameters&) const = default;
};

// The identity as the bytes have it, valid or not. A parameter record that breaks a rule is only among the problems.
struct ReportedIdentity : Parameters {
  std::uint16_t version_major = 0;
  std::uint16_t version_minor = 0;
  std::uint32_t header_bytes = 0;
  std::uint32_t compat = 0;
  std::uint32_t ro_compat = 0;
  std::uint32_t incompat = 0;
  bool embedded = false;
  std::uint16_t layout = 0;  // the persisted number, perhaps unknown
  std::uint16_t hash = 0;    // the persisted number, perhaps unknown
  std::uint32_t num_probes = 0;
  std::uint64_t num_bits = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t seed = 0;
  std::uint64_t body_offset = 0;
  std::uint64_t body_bytes = 0;
  std::array<std::uint8_t, 16> file_id{};
  std::uint64_t canary = 0;
};

// A stretch of the file that has bits of keys.
struct ReportedSlice {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct ReportedSlot {
  bool valid = false;
  std::uint64_t sequence = 0;
  std::uint32_t state = 0;  // the persisted number
};

// Slots, state, marks and the counter of keys are what the file said at one moment.
struct Report {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::uint64_t bytes_after = 0;             // of a good file, after the end of the filter: no part of it
  std::uint64_t allocated_bytes = 0;         // on disk, without holes
  std::string first_bytes;                   // at most 16, to show what a foreign file is
  std::optional<ReportedIdentity> identity;  // if the file is long enough and begins with the magic
  std::array<std::optional<ReportedSlot>, 2> slots;
  FileState state = FileState::kUnknown;
  bool syncing = false;
  bool being_changed = false;  // another process holds the lock of the state, which is about to change
  bool exclusive = false;      // of a file in use: its writer is the only one, and no other process can add
  bool filling = false;        // every answer is "maybe", in any state, until the filling is finished
  std::optional<std::uint64_t> state_sequence;
  std::vector<OwnerMark> marks;
  std::optional<std::uint64_t> keys_added;
  std::optional<std::uint64_t> keys_removed;     // 0 in a layout that removes no keys
  std::optional<Turning> turning;                // of a file whose keys expire
  std::optional<Growing> growing;                // of a file that grows; the identity is that of its first slice
  std::vector<ReportedSlice> slices;             // of a good file: the body, or each slice that it has now
  std::optional<Fill> fill;                      // if the body could be counted
  std::optional<std::uint64_t> huge_page_bytes;  // of this process's mapping of the file
  std::optional<std::uint64_t> resident_bytes;   // of the body, in the page cache, before it was counted
  std::vector<Problem> problems;                 // every rule that the file breaks; empty for a good file

  // The file breaks no rule of the format. Its state may still need attention.
  [[nodiscard]] bool valid() const noexcept { return problems.empty(); }
};

// kNotFound, kAccess or kSystem if the file cannot be read at all; otherwise a report, however bad the file is.
// `count_bits` reads the whole body.
Result<Report> inspect(const std::string& path, bool count_bits = true);

}  // namespace bfstore
