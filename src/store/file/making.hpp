// A new file: empty and complete, but without a name yet.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// What may have the name that the new file is to get.
enum class NameBefore {
  kNothing,    // it must be free
  kWasFree,    // the caller may replace a file, and none was there when the call began: what is there now is another's
  kMayBeTaken  // a file was there: it, or what took its place, is replaced
};

// Looks when the caller's call begins, before anything that takes time.
NameBefore look_at_name(const std::string& path, bool replace);

// What a new file needs besides its identity.
struct Making {
  std::optional<std::uint32_t> mode;  // as of SaveOptions
  NameBefore name = NameBefore::kNothing;
  bool alone = false;    // the new file's handle is the only writer
  bool filling = false;  // answers "maybe" until Session::finish_filling()
  bool any_filesystem = false;
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  MapOptions map;
};

Error check_mode(const std::optional<std::uint32_t>& mode);

// The first step of a call: it looks at the name before anything that takes time.
Result<Making> making_at(const std::string& path, const Options& options);
Result<Making> making_at(const std::string& path, const SaveOptions& options);

// A file whose bits are copied may get other bits meanwhile, and these would be in neither file.
Error check_is_another(const region::File& source, const std::string& path);

// The new file is dirty, durably, when this returns. kExists if the name is taken and must be free.
Result<OpenFile> make(const std::string& path, const format::Identity& identity, const Making& how);

// What a copy has besides its bits, before it has a name: the marks of its source, in a slot that says dirty, and the
// sum of that one's counters.
Error write_marks(const OpenFile& made, std::span<const LogPosition> lanes);
Error write_keys_added(const OpenFile& made, std::uint64_t keys);

}  // namespace bfstore::store
