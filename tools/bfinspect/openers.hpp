// Who has a file open, as far as /proc says it to this process. Opens nothing but files of /proc, for reading.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bfinspect {

struct Opener {
  pid_t process = 0;
  std::string command;          // up to 15 bytes, any: whoever runs it chooses them
  std::optional<bool> writing;  // nothing: can not be told
};

struct Openers {
  std::vector<Opener> seen;        // as /proc lists them, by process id; without this process
  std::size_t not_looked_at = 0;   // processes that this user may not look into
  bool others_are_hidden = false;  // processes that /proc does not even list: other containers, hidepid, no /proc

  // Is there certainly nobody else?
  [[nodiscard]] bool complete() const { return not_looked_at == 0 && !others_are_hidden; }
};

Openers find_openers(dev_t device, ino_t inode);

}  // namespace bfinspect
