// Finds the processes that have a file open, if /proc shows them to this process. Opens only files of /proc, for
// reading.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bfinspect {

struct Opener {
  pid_t process = 0;
  std::string command;          // up to 15 bytes of any value: the user that runs the command chooses them
  std::optional<bool> writing;  // empty: unknown
};

struct Openers {
  std::vector<Opener> seen;         // as /proc lists them, by process id; without this process
  std::size_t of_other_users = 0;   // processes that this user may not look into, because they are another user's
  std::vector<Opener> forbidden{};  // the other ones that it may not look into, which may not have the file open
  bool others_are_hidden = false;   // processes that /proc does not even list: other containers, hidepid, no /proc

  // True if certainly no other process has the file open.
  [[nodiscard]] bool complete() const { return not_looked_at() == 0 && !others_are_hidden; }
  [[nodiscard]] std::size_t not_looked_at() const { return of_other_users + forbidden.size(); }
};

Openers find_openers(dev_t device, ino_t inode);

}  // namespace bfinspect
