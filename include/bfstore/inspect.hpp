// Everything that a file says, good or bad: for bfinspect and for monitors. Takes no lock, writes nothing, recovers
// nothing, and goes on after the first broken rule.
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
  kUnknown,     // the state can not be read
  kClean,       // synced and closed
  kInUse,       // dirty, and a writer has it open
  kAdoptable,   // dirty, no writer: a process was killed in this boot; the next open goes on
  kUnclean,     // dirty, no writer, another boot or another copy, or killed while syncing
  kRecovering,  // a recovery was begun, and not every owner has said that it is over
  kPoisoned,    // a sync failed
  kSuperseded,  // another file is being put in its place, or was to be when its maker was killed
  kEmbedded,    // an embedded filter has no state of its own
};

// "clean", "in use", ...
[[nodiscard]] const char* file_state_name(FileState state) noexcept;

// What a keyed filter keeps of its secret key: enough to tell another one.
struct KeyCheck {
  std::uint64_t salt = 0;  // random, so that two filters do not show that they have one key
  std::uint64_t tag = 0;   // the salt's SipHash under the key

  bool operator==(const KeyCheck&) const noexcept = default;
};

// Where a sealed file's checksums are, and what they are of.
struct Seal {
  std::uint32_t chunk_bytes = 0;
  std::uint64_t num_chunks = 0;
  std::uint64_t checksums_offset = 0;
  std::uint64_t checksum = 0;    // of the checksums
  std::uint64_t keys_added = 0;  // when it was sealed

  bool operator==(const Seal&) const noexcept = default;
};

// The values of a filter's parameter records (src/format/FORMAT.md): what one filter has and another has not.
struct Parameters {
  std::optional<std::string> note;    // the owner's own words
  std::optional<Seal> seal;           // of a sealed file
  std::optional<KeyCheck> key_check;  // of a filter with Hash::kSipHash

  bool operator==(const Parameters&) const = default;
};

// The identity as the bytes say it, believed or not. A parameter record that breaks a rule is among the problems alone.
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

struct ReportedSlot {
  bool valid = false;
  std::uint64_t sequence = 0;
  std::uint32_t state = 0;  // the persisted number
};

struct Report {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::uint64_t allocated_bytes = 0;         // on disk, holes left out
  std::string first_bytes;                   // up to 16, to tell what a foreign file is
  std::optional<ReportedIdentity> identity;  // where the file is long enough and begins with the magic
  std::array<std::optional<ReportedSlot>, 2> slots;
  FileState state = FileState::kUnknown;
  bool syncing = false;
  bool filling = false;        // whatever the state: every answer is "maybe" until the filling is finished
  bool being_changed = false;  // somebody holds the lock of the state: it is about to be another one
  std::optional<std::uint64_t> state_sequence;
  std::vector<OwnerMark> marks;
  std::optional<std::uint64_t> keys_added;
  std::optional<Fill> fill;                      // where the body could be counted
  std::optional<std::uint64_t> huge_page_bytes;  // of this process's mapping of the file
  std::optional<std::uint64_t> resident_bytes;   // of the body, in the page cache, before it was counted
  std::vector<Problem> problems;                 // every broken rule; empty for a good file

  // No rule of the format is broken (the state may still need attention).
  [[nodiscard]] bool valid() const noexcept { return problems.empty(); }
};

// kNotFound, kAccess, kSystem where the file can not be read at all; otherwise a report, however bad the file is.
// `count_bits` reads the whole body.
Result<Report> inspect(const std::string& path, bool count_bits = true);

}  // namespace bfstore
