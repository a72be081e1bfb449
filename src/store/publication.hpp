// Gives a file that was made without a name its name, and supersedes the file that it replaces. The order of the steps
// is the protocol (FORMAT.md, "Replacing a file").
#pragma once

#include <memory>

#include "store/open_file.hpp"
#include "store/replaced.hpp"

namespace bfstore::store {

class Publication {
 public:
  // `replace`: another file may have the name.
  explicit Publication(bool replace = false) noexcept : replace_(replace) {}

  [[nodiscard]] bool replaces() const noexcept { return replace_; }

  // Supersedes the file that has the name, so that the caller can add here what was added there.
  Error supersede(const OpenFile& made);

  // On an error the name leads where it led before. The exception is kPoisoned: `made` has the name, and no process may
  // ever believe it. kLost, again and again, if the lock of the file that was superseded is gone: supersede() comes
  // first then.
  Error give_name(OpenFile& made);

  // A file that was superseded and not replaced continues.
  void give_up() noexcept { replaced_.reset(); }

 private:
  Error begin_replacing(const OpenFile& made);

  bool replace_;
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  bool superseded_by_owner_ = false;    // the caller adds what that file's writers added, before `made` is published
};

}  // namespace bfstore::store
