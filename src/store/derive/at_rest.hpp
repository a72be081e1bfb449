// A file to which no process writes, while its bits are read for a file that may replace it.
#pragma once

#include <memory>
#include <string_view>

#include "store/file/open_file.hpp"

namespace bfstore::store {

class AtRest {
 public:
  // Looks before the first bit is read. `recoveries` is the number that the content of the file had. kBusy if a process
  // may write to the file; `advice` is the end of the message.
  static Result<AtRest> look(const OpenFile& file, std::uint32_t recoveries, std::string_view advice);

  // Looks again, after the last bit was read. kBusy if a process opened the file for writing meanwhile: it changes the
  // slots first. The file may be superseded: the process that replaces it does that.
  [[nodiscard]] Error check_still(std::string_view while_doing) const;

 private:
  AtRest(const OpenFile& file, const Evidence& before)
      : file_(&file), before_(std::make_unique<const Evidence>(before)) {}

  const OpenFile* file_;
  std::unique_ptr<const Evidence> before_;  // on the heap, because stacks are small
};

}  // namespace bfstore::store
