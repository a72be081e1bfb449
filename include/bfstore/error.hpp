// What can go wrong: one list of codes, shared with the C ABI and never renumbered, and the Result that carries
// either a value or an Error.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace bfstore {

// The numbers are the BFS_E codes of capi/bfstore.h: they are stored in other people's programs, so they are never
// renumbered and never reused.
enum class Code : std::int32_t {
  kOk = 0,

  // The caller, the system, the moment.
  kInvalid = -1,       // an argument is out of range or contradicts another
  kNoMemory = -2,      // out of memory
  kSystem = -3,        // a system call failed; Error::os_errno says how
  kBusy = -4,          // another process holds the file in a way that excludes this
  kExists = -5,        // the file is there already
  kNotFound = -6,      // no such file
  kAccess = -7,        // permission denied
  kReadOnly = -8,      // the handle was opened for reading
  kNoSpace = -9,       // the disk, the quota or the file size limit is full
  kOwners = -10,       // all 64 lanes for owners of marks are taken
  kDigestOnly = -11,   // the file's hash is `external`: it takes digests, not keys
  kSizing = -12,       // no m and k can reach what was asked
  kInternal = -13,     // a bug in bfstore
  kUnsupported = -14,  // the filter's layout can not do this

  // The state of a file.
  kUnclean =
      -20,  // dirty when the machine went down (or copied while in use): synced keys are there, others may not be
  kPoisoned = -21,    // a sync failed: what is in memory and what is on disk may differ
  kLost = -22,        // the file was truncated, overwritten or zero-filled under the mapping
  kRecovering = -23,  // a recovery was begun and is not finished
  kSuperseded = -24,  // another file was put, or is being put, in the place of this one
  kForked = -25,      // the handle was made before a fork, and this is the child
  kFilesystem = -26,  // on a filesystem that processes or machines do not share as memory
  kFull = -27,        // the handle has a hard limit, and the filter is at its capacity
  kKey = -28,         // the filter's secret key was not given, is another one, or there is none
  kFault = -29,       // a page of the file could not be read, or the file was truncated: all of it is "maybe" by now
  kSealed = -30,      // sealed: it is never written to again
  kNotSealed = -31,   // not sealed, so that it has no checksums
  kDamaged = -32,     // other bytes than those that were sealed

  // What a reader's checklist found, in the order in which it is checked.
  kNotRegular = -40,  // not a regular file
  kSymlink = -41,     // a symbolic link
  kTooShort = -42,    // shorter than its header
  kMagic = -43,       // does not begin with the magic bytes
  kVersion = -44,     // a later major version
  kForm = -45,        // an embedded record where a file is wanted, or the other way round
  kHeaderSize = -46,  // the header's length is impossible
  kChecksum = -47,    // the identity's checksum does not match
  kReserved = -48,    // reserved bytes are not zero
  kFeature = -49,     // needs a feature that this version does not know
  kLayout = -50,      // unknown layout
  kHash = -51,        // unknown hash
  kProbes = -52,      // k is not in 1..64
  kBits = -53,        // m is zero, above 2^48, or not a whole number of blocks
  kCapacity = -54,    // n or p is impossible
  kBody = -55,        // the body does not fit m, overlaps the header, is misaligned, or is not inside the file
  kRecord = -56,      // a parameter record is malformed, or critical and unknown
  kCanary = -57,      // this library hashes otherwise than the one that made the file
  kSlots = -58,       // no state slot is valid
  kLiveWord = -59,    // the live word or the end word is not the file's own
};

// The name of a code as C programs spell it ("BFS_EUNCLEAN"), or nullptr if there is no such code.
[[nodiscard]] const char* code_name(Code code) noexcept;

// One sentence for a person; never nullptr.
[[nodiscard]] const char* code_text(Code code) noexcept;

// An outcome: Code::kOk, or a code with the message that names the thing and the way out.
struct [[nodiscard]] Error {
  Code code = Code::kOk;
  int os_errno = 0;  // 0 where no system call was involved
  std::string message;

  [[nodiscard]] bool ok() const noexcept { return code == Code::kOk; }
};

// A value or an Error (never one whose code is kOk).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) { assert(!this->error().ok()); }

  [[nodiscard]] bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & noexcept { return *std::get_if<0>(&held_); }
  [[nodiscard]] const T& value() const& noexcept { return *std::get_if<0>(&held_); }
  [[nodiscard]] T&& value() && noexcept { return std::move(*std::get_if<0>(&held_)); }
  [[nodiscard]] T& operator*() & noexcept { return value(); }
  [[nodiscard]] const T& operator*() const& noexcept { return value(); }
  [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&held_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&held_); }

  [[nodiscard]] const Error& error() const noexcept { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

// What the hot calls return, without allocating: a number of keys, or a code. Truthiness is not defined on purpose.
class [[nodiscard]] Count {
 public:
  constexpr Count(std::uint64_t keys) noexcept : number_(static_cast<std::int64_t>(keys)) {}
  constexpr Count(Code code) noexcept : number_(static_cast<std::int32_t>(code)) {}

  [[nodiscard]] constexpr bool ok() const noexcept { return number_ >= 0; }
  [[nodiscard]] constexpr Code code() const noexcept {
    return ok() ? Code::kOk : static_cast<Code>(static_cast<std::int32_t>(number_));
  }
  // Only when ok().
  [[nodiscard]] constexpr std::uint64_t keys() const noexcept { return static_cast<std::uint64_t>(number_); }
  // As the C ABI has it: the number of keys, or a negative code.
  [[nodiscard]] constexpr std::int64_t raw() const noexcept { return number_; }

 private:
  std::int64_t number_;
};

}  // namespace bfstore
