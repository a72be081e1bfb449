// Sealed files: filters that never change again. A checksum for every 64 KiB of the body detects bits that rot on the
// disk or are overwritten. Sealed files are opened like others, for reading only.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bfstore {

struct SealOptions {
  std::optional<std::uint32_t> mode{};             // of the new file, as in Options
  bool replace = false;                            // replace another file, which may be `from` itself
  bool any_filesystem = false;                     // OpenOptions
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;  // OpenOptions
  double fpr = 0;                                  // not 0: folds (SaveOptions)
  WatchWords watch{};                              // gets the body of the source
};

// Makes a sealed copy of the filter file `from` at `to`: the same bits, shape, seed, note and marks. The complete,
// durable file appears under its name, or nothing does. `from` stays as it is, need only be readable, and may be in
// use: the copy has every key whose add returned before this call, and marks of that moment. A damaged sealed file is
// kDamaged. With `replace`, handles of the file that had the name answer "maybe" from then on (kSuperseded). If that
// file is `from` itself, no process may write to it meanwhile (otherwise kBusy). A crash leaves the old file or the new
// one, and at most a temporary name next to it. Any thread may call it. No secret is needed.
Error seal(const std::string& from, const std::string& to, const SealOptions& options = {});

struct DamagedRange {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
};

struct Verification {
  std::uint64_t num_chunks = 0;          // of 64 KiB each, except the last one
  std::uint64_t num_damaged_chunks = 0;  // chunks with other bytes than those that were sealed, or unreadable
  // Ascending, not touching each other: runs of damaged chunks, and damage of the checksums, of the counters of keys
  // added, and of slots or a live word with another state than a sealed file has. Empty if the file is as it was
  // sealed.
  std::vector<DamagedRange> damaged;
};

// Reads a sealed file from end to end (from the disk, unless it is in memory), and compares it with its checksums.
// Takes no lock, and writes nothing. Any thread may call it. No secret is needed. kNotSealed if the file has no
// checksums, whatever its state. A bad header is an error. A symbolic link is followed, unless `no_follow` (then
// kSymlink).
Result<Verification> verify(const std::string& path, bool no_follow = false);

}  // namespace bfstore
