// A file of another program, asked in place. It has no live word, so a lookup asks after it has read its bits, and
// before it answers "no", whether the file is the one that was opened: the same inode with the same length and times.
// Bytes that another process changes through a mapping of its own are changed without another time until the system
// writes them; nothing notices that.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layout/turn.hpp"
#include "region/file.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// One of the filters in the file.
struct ForeignBits {
  format::Identity identity;  // of the file that its import would make
  std::uint64_t offset = 0;   // of its array in the file
  layout::Turn turn{};
  std::optional<std::uint64_t> keys{};  // as the other program counted them
};

// A file that is open, and what the system said of it before the first of its bytes was read.
struct ForeignFile {
  region::File file;
  region::FileFacts facts;
  // On an overlay the first writer gets a copy of the file, under its name: the descriptor keeps the old one.
  bool by_name;
};

// Opens the file, and waits until a later change would show in its times: up to two seconds for a file that was just
// written on a filesystem that counts seconds.
Result<ForeignFile> open_foreign_file(const std::string& path, const OpenOptions& options);

// Makes a handle that reads. A key is in it if one of the filters has it. Each array is in the file. kBusy if the file
// changed since it was opened.
Result<std::unique_ptr<Ask>> ask_foreign(ForeignFile opened, std::vector<ForeignBits> filters,
                                         const OpenOptions& options);

}  // namespace bfstore::store
