// All facts that are shown about one file: the library's report, and those that only this tool looks for.
#pragma once

#include <bfstore/delta.hpp>
#include <bfstore/inspect.hpp>
#include <bfstore/seal.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "foreign.hpp"
#include "openers.hpp"
#include "stretches.hpp"
#include "verdict.hpp"

namespace bfinspect {

enum class FileKind { kUnknown, kRegular, kDirectory, kFifo, kSocket, kDevice };

struct Facts {
  bfstore::Report report;
  FileKind kind = FileKind::kUnknown;
  std::optional<double> modified_seconds;    // since 1970
  bool is_tar = false;                       // a tar archive, whose sign is beyond report.first_bytes
  std::string link_target;                   // if the path is a symbolic link, which was followed
  std::optional<Openers> openers;            // of a regular file
  std::optional<Foreign> foreign;            // of a file of another program; then the report is about its filters
  std::optional<bfstore::DeltaFacts> delta;  // of a delta whose bytes match its checksums
  bool counted = true;                       // the command line asked to count the bits
  // Of a sealed file, if its bits were counted: the comparison with its checksums. Damage is among the problems.
  std::optional<bfstore::Verification> verification;
  std::optional<Stretches> stretches;  // of a good filter file, if its bits were counted
  std::optional<bool> overfull;
  std::optional<bool> leaky;
  std::optional<std::uint64_t> remaining_keys;
  Verdict verdict = Verdict::kNotGood;

  // True if the file has checksums that were not compared.
  [[nodiscard]] bool unverified() const;

  // Whether bits may be missing, if that is known.
  [[nodiscard]] std::optional<bool> missing_bits() const;

  // True if bits may be missing. Then the bits do not give the number of keys.
  [[nodiscard]] bool lacks_bits() const;

  // True if every process that has the file open was seen. False if a writer holds its lock and no writer was seen.
  [[nodiscard]] bool all_openers_seen() const;
};

// `wanted`: with a format, the file is looked at as one of that format.
Facts gather(bfstore::Report report, bool counted, const bfstore::ForeignForm& wanted = {});

}  // namespace bfinspect
