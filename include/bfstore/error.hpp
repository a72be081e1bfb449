// The error codes, which the C ABI shares, and Result, which carries either a value or an Error.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace bfstore {

// Down to kSymlink the numbers are the BFS_E codes of bfstore_codes.h. Below it C++ has a code for each rule of the
// format, whose number means something else in C, or nothing: FORMAT.md, "A reader's checklist", has both. Other
// programs store the numbers, so they are never renumbered or reused.
enum class Code : std::int32_t {
  kOk = 0,

  // The call, or the system.
  kInvalid = -1,       // an argument is out of range, or contradicts another
  kNoMemory = -2,      // out of memory
  kSystem = -3,        // a system call failed: Error::os_errno has its errno
  kBusy = -4,          // another user of the file excludes this for now: try again later
  kExists = -5,        // the file exists
  kNotFound = -6,      // the file does not exist
  kAccess = -7,        // permission denied
  kReadOnly = -8,      // the handle was opened for reading
  kNoSpace = -9,       // the disk, the quota or the file size limit is full
  kOwners = -10,       // all 64 lanes for owners of marks are taken: drop an owner
  kDigestOnly = -11,   // the file's hash is "external": it takes digests, not keys
  kSizing = -12,       // no m and k can reach what was asked
  kInternal = -13,     // a bug in bfstore
  kUnsupported = -14,  // the filter's layout cannot do this
  kForked = -15,       // the handle was made before a fork, and this is the child
  kFilesystem = -16,   // on a network filesystem or a read-only overlay, which may show readers an older file
  kSecret = -17,       // the secret is missing, is another one, or the filter has none
  kShut = -18,         // the handle was shut: it answers "maybe", and adds nothing
  kMismatch = -19,     // two filters differ in what must be equal; the message says in what
  kKeyOnly = -20,      // the file's hash gives no digests: it takes keys alone
  kPart = -21,         // the digest belongs to another part of the whole filter than this one

  // The file is good; its state forbids this.
  kUnclean = -100,     // dirty when the machine went down, or copied while in use
  kPoisoned = -101,    // a sync did not end (a kill, a disk): memory and disk may differ
  kLost = -102,        // truncated, overwritten or zero-filled while it was mapped
  kRecovering = -103,  // a recovery was begun and has not ended
  kSuperseded = -104,  // another file replaces, or replaced, this one: open the path again
  kFull = -105,        // the handle has a hard limit, and the filter is at its capacity
  kFault = -106,       // a page could not be read, or the file was truncated: every answer is "maybe" now
  kSealed = -107,      // sealed: no process writes to it again
  kNotSealed = -108,   // not sealed, so that it has no checksums
  kDamaged = -109,     // a sealed file with other bytes than those that were sealed
  kFilling = -110,     // its builder has not added every key yet: every answer is "maybe"
  kLater = -111,       // a later bfstore set a state that this one does not know: every answer is "maybe" now

  // The path does not name a good filter file. The codes are in the order in which a reader checks (FORMAT.md).
  kNotRegular = -200,  // not a regular file
  kSymlink = -201,     // a symbolic link, where none is followed
  kTooShort = -202,    // shorter than its header
  kMagic = -203,       // does not begin with the magic bytes
  kVersion = -204,     // a later major version of the format
  kForm = -205,        // an embedded record where a file is wanted, or the other way round
  kHeaderSize = -206,  // the header's length is impossible
  kChecksum = -207,    // the identity's checksum does not match
  kReserved = -208,    // reserved bytes are not zero
  kFeature = -209,     // needs a feature that this library does not know
  kLayout = -210,      // a layout that this library does not know; as an argument it is kInvalid
  kHash = -211,        // a hash that this library does not know; as an argument it is kInvalid
  kProbes = -212,      // k is not in 1..64
  kBits = -213,        // m is impossible
  kCapacity = -214,    // n or p is impossible
  kBody = -215,        // the body is not where, or not as long as, it must be
  kRecord = -216,      // a parameter record is malformed, or critical and unknown
  kCanary = -217,      // this library hashes differently from the one that made the file
  kSlots = -218,       // no state slot is valid
  kLiveWord = -219,    // the live word or the end word is not the file's own
};

// The name of a code, as tools show it ("BFS_EUNCLEAN"), or nullptr if there is no such code. Down to kSymlink it is
// the name in C.
[[nodiscard]] const char* code_name(Code code) noexcept;

// The errno with the same meaning (kExists: EEXIST), by which languages choose an exception's class. 0 if there is
// none.
[[nodiscard]] int natural_errno(Code code) noexcept;

// One sentence for a person. Never nullptr.
[[nodiscard]] const char* code_text(Code code) noexcept;

// An outcome: Code::kOk, or a code with a message that names the thing and the way out.
struct [[nodiscard]] Error {
  Code code = Code::kOk;
  int os_errno = 0;  // 0 where no system call was involved
  std::string message;

  [[nodiscard]] bool ok() const noexcept { return code == Code::kOk; }
};

// Result::value() of an error throws it, like std::expected: a bug in a program that did not check for the error.
class BadResult : public std::logic_error {
 public:
  explicit BadResult(const Error& error) : std::logic_error("the value of an error was used: " + error.message) {}
};

// A value or an Error (never one whose code is kOk). Using the value of an error throws BadResult.
// A Result<bool> does not convert to bool: `if (!f.is_current())` would test for an error and not for the answer.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) { assert(!this->error().ok()); }

  [[nodiscard]] bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept requires(!std::is_same_v<T, bool>) { return ok(); }

  [[nodiscard]] T& value() & { return *held_value(); }
  [[nodiscard]] const T& value() const& { return *held_value(); }
  [[nodiscard]] T&& value() && { return std::move(*held_value()); }
  [[nodiscard]] T& operator*() & { return *held_value(); }
  [[nodiscard]] const T& operator*() const& { return *held_value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*held_value()); }
  [[nodiscard]] T* operator->() { return held_value(); }
  [[nodiscard]] const T* operator->() const { return held_value(); }

  [[nodiscard]] const Error& error() const noexcept { return *std::get_if<1>(&held_); }

 private:
  [[nodiscard]] T* held_value() { return const_cast<T*>(std::as_const(*this).held_value()); }
  [[nodiscard]] const T* held_value() const {
    if (!ok()) throw BadResult(error());
    return std::get_if<0>(&held_);
  }

  std::variant<T, Error> held_;
};

// The result of hot calls, which allocate nothing: a number of keys, or a code. On purpose it does not convert to bool.
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
  // As in the C ABI: the number of keys, or a negative code.
  [[nodiscard]] constexpr std::int64_t raw() const noexcept { return number_; }

 private:
  std::int64_t number_;
};

}  // namespace bfstore
