// Deltas: the bits that a later state of a filter has and an earlier one has not, in a small file (FORMAT.md,
// "Deltas"). A machine that has the earlier file makes the later one of it. Only the bits of blocked and classic
// filters never go away, so only these have deltas.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace bfstore {

struct DeltaOptions {
  std::optional<std::uint32_t> mode{};             // of the new file, as in Options
  bool replace = false;                            // replace the file that has the name
  bool any_filesystem = false;                     // OpenOptions
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;  // OpenOptions
};

// Makes a delta at `delta`: the bits of the filter file `after` that the filter file `before` lacks. `after` is
// `before` with more keys: both have the same layout, hash, seed, k and m, and `after` has each bit of `before`
// (otherwise kMismatch). Capacity, rate, note, marks and seal are those of `after`. No process writes to either file
// meanwhile (otherwise kBusy): take deltas of copies or sealed files. Their file_ids differ (otherwise kInvalid): `cp`
// keeps the file_id, and a copy or a sealed file has its own. kUnsupported if bits of the layout can go away. The
// complete, durable delta appears under its name, or nothing does. With `replace` it replaces another delta, and no
// other file (kInvalid). Any thread may call it. No secret is needed. Reads both files once, in pieces: the memory does
// not grow with them.
Error make_delta(const std::string& before, const std::string& after, const std::string& delta,
                 const DeltaOptions& options = {});

// Makes `after` of `before` and of their delta: a file with the bits, file_id, shape, seed, note, marks and count of
// keys that the delta's maker had, sealed if that one was sealed. `before` is the file from which the delta was made
// (otherwise kMismatch): file_id and bits are compared. It stays as it is, and no process writes to it meanwhile
// (otherwise kBusy). With `replace` the new file may replace `before` itself. Handles of a file that it replaces answer
// "maybe" from then on (kSuperseded), and a handle that follows its path takes the new file. The complete, durable file
// appears under its name, or nothing does. A crash leaves the old file or the new one, and at most a temporary name
// next to it. A delta with a changed or missing byte makes no file (kChecksum, or the code of the rule that it breaks).
// Any thread may call it. No secret is needed.
Error apply_delta(const std::string& before, const std::string& delta, const std::string& after,
                  const DeltaOptions& options = {});

// The facts that a delta has about the files that it is for.
struct DeltaFacts {
  FileId before{};             // file_id of the file that it is applied to
  FileId after{};              // file_id of the file that it makes
  Shape shape{};               // of the file that it makes
  std::uint64_t num_bits = 0;  // that `after` has and `before` lacks
  std::uint64_t bytes = 0;     // of the delta
  bool sealed = false;         // it makes a sealed file
};

// Reads a delta from end to end, and compares it with its checksums. kMagic if the file is not a delta.
Result<DeltaFacts> inspect_delta(const std::string& delta);

}  // namespace bfstore
