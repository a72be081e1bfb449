// Sealed files: a filter that never changes again, with a checksum of each 64 KiB of its body, so that bits which rot
// on the disk, or are written over, are noticed. Sealed files are opened as others are, for reading only.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bfstore {

struct SealOptions {
  std::uint32_t mode = 0600;    // permission bits of the new file, less the umask
  bool replace = false;         // put the new file in the place of another, which may be `from` itself
  bool any_filesystem = false;  // OpenOptions
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;  // OpenOptions
};

// Makes a sealed copy of the filter file `from` at `to`: the same bits, shape, seed, note and marks. The complete,
// durable file appears under its name or nothing does. `from` stays as it is; it has no writer while it is read (kBusy
// else), and need only be readable. A sealed file is copied only if it is whole (kDamaged else). With `replace`,
// handles of the file that had the name answer "maybe" from then on (kSuperseded). A crash leaves the old file or the
// new one, and at most a temporary name beside it. Any thread may call it; a key of the filter is not needed.
Error seal(const std::string& from, const std::string& to, const SealOptions& options = {});

struct DamagedRange {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
};

struct Verification {
  std::uint64_t num_chunks = 0;          // 64 KiB each, but for the last one
  std::uint64_t num_damaged_chunks = 0;  // of them: other bytes than were sealed, or unreadable
  // Ascending, not touching each other: runs of damaged chunks; and what belongs to no chunk, the checksums themselves
  // and the counters of keys added. Empty if the file is as it was sealed.
  std::vector<DamagedRange> damaged;
};

// Reads a sealed file from end to end, from the disk as far as no process has it in memory, and writes nothing. Any
// thread may call it; a key of the filter is not needed. kNotSealed if it has no checksums. What is wrong with the
// header is an error, as when it is opened. A symbolic link is followed, unless `no_follow` (then kSymlink).
Result<Verification> verify(const std::string& path, bool no_follow = false);

}  // namespace bfstore
