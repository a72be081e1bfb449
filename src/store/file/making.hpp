// A new file: empty and complete, but without a name yet.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "store/file/moment.hpp"
#include "store/file/open_file.hpp"

namespace bfstore::store {

// The state of the new file's name before the file gets it.
enum class NameBefore {
  kNothing,    // the name must be free
  kWasFree,    // was free when the call began: a file that has it now is another program's, and is not replaced
  kMayBeTaken  // a file had it: that file, or one that replaced it since, is replaced
};

// Looks at the name. Called when the caller's call begins, before anything that takes time.
NameBefore look_at_name(const std::string& path, bool replace);

// The properties of a new file besides its identity.
struct Making {
  std::optional<std::uint32_t> mode;  // as in SaveOptions
  NameBefore name = NameBefore::kNothing;
  bool alone = false;    // the new file's handle is the only writer
  bool filling = false;  // answers "maybe" until Session::finish_filling()
  bool any_filesystem = false;
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  MapOptions map;
};

Error check_mode(const std::optional<std::uint32_t>& mode);

// Called first, because it looks at the name before anything that takes time.
Result<Making> making_at(const std::string& path, const Options& options);
Result<Making> making_at(const std::string& path, const SaveOptions& options);

// kInvalid if `path` names `source`: bits that are set in the source during the copy would be in neither file.
Error check_is_another(const region::File& source, const std::string& path);

// kExists if the name is taken and must be free.
Error check_name(const std::string& path, const Making& how);

// Makes the file, which is dirty, durably, when this returns. kExists if the name is taken and must be free.
Result<OpenFile> make(const std::string& path, const format::Identity& identity, const Making& how);

// Write what a copy has besides its bits, before it has a name: its source's marks and epoch, in a slot that says
// dirty, and the sum of the source's counters. Without an epoch the new file keeps its own.
Error write_marks(const OpenFile& made, std::span<const LogPosition> lanes, const std::optional<Turned>& turned);
Error write_keys_added(const OpenFile& made, std::uint64_t keys);

}  // namespace bfstore::store
