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

  // A name that was free when supersede() looked is given only if it is still free: what is there now has writers of
  // its own (kBusy). A publish that was refused so is refused again, until supersede() has looked again.
  //
  // On an error the name leads where it led before. The exception is kPoisoned: `made` has the name, and no process may
  // ever believe it. kLost, again and again, if the lock of the file that was superseded is gone: supersede() comes
  // first then.
  Error give_name(OpenFile& made);

  // A file that was superseded and not replaced continues.
  void give_up() noexcept { replaced_.reset(); }

 private:
  // What supersede() found. The caller adds what the writers of that file added, before `made` is published.
  enum class Found { kNotAsked, kFile, kFreeName, kAnotherSince };

  Error begin_replacing(const OpenFile& made);
  Error refuse_another(const OpenFile& made);
  Error take_free_name(OpenFile& made);

  bool replace_;
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  Found found_ = Found::kNotAsked;
};

}  // namespace bfstore::store
