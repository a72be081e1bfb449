// Gives a file that was made without a name its name, and supersedes the file that it replaces. The order of the steps
// is the protocol (FORMAT.md, "Replacing a file").
#pragma once

#include <memory>

#include "store/file/making.hpp"
#include "store/file/open_file.hpp"
#include "store/file/replaced.hpp"

namespace bfstore::store {

class Publication {
 public:
  // Of a file that has its name.
  Publication() noexcept : Publication(Making{}) {}
  explicit Publication(const Making& how) noexcept;

  [[nodiscard]] bool replaces() const noexcept { return replace_; }

  // Looks again, and supersedes the file that has the name, so that the caller can add here what was added there.
  Error supersede(const OpenFile& made);
  // Supersedes it if the name was taken when it was looked at last.
  Error supersede_found(const OpenFile& made);

  // A name that was free when it was looked at last is given only if it is still free: what is there now has writers of
  // its own (kBusy). A publish that was refused so is refused again, until supersede() has looked again. A file that is
  // replaced gives its owner, its mode and its access list to the new one, unless the caller named a mode.
  //
  // On an error the name leads where it led before. The exception is kPoisoned: `made` has the name, and no process may
  // ever believe it. kLost, again and again, if the lock of the file that was superseded is gone: supersede() comes
  // first then.
  Error give_name(OpenFile& made);

  // A file that was superseded and not replaced continues.
  void give_up() noexcept { replaced_.reset(); }

 private:
  // What was found at the last look: kAnyFile when the call began, kSuperseded by supersede(). The caller adds what the
  // writers of a superseded file added, before `made` is published.
  enum class Found { kAnyFile, kSuperseded, kFreeName, kAnotherSince };

  Error begin_replacing(const OpenFile& made);
  Error refuse_another(const OpenFile& made);
  Error take_free_name(OpenFile& made);

  bool replace_;
  bool keeps_rights_;                   // of the file that is replaced
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  Found found_;
};

}  // namespace bfstore::store
