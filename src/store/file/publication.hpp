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
  // For a file that has its name.
  Publication() noexcept : Publication(Making{}) {}
  explicit Publication(const Making& how) noexcept;

  [[nodiscard]] bool replaces() const noexcept { return replace_; }

  // Looks again, and supersedes the file that has the name, so that the caller can add to `made` what was added to that
  // file.
  Error supersede(const OpenFile& made);
  // Supersedes that file if the name was taken at the last look.
  Error supersede_found(const OpenFile& made);

  // Gives `made` its name. A name that was free at the last look must still be free: a file that has it now has writers
  // of its own (kBusy). After such a refusal this refuses again until supersede() has looked again. The new file gets
  // owner, mode and access list of the file that it replaces, unless the caller named a mode.
  //
  // On an error the name leads where it led before. The exception is kPoisoned: `made` has the name, and no process may
  // ever believe it. kLost if the lock of the file that was superseded is gone. It stays kLost until supersede() is
  // called again.
  Error give_name(OpenFile& made);

  // Lets a file that was superseded and not replaced continue.
  void give_up() noexcept { replaced_.reset(); }

 private:
  // The result of the last look: kAnyFile when the call began, kSuperseded by supersede(). Before `made` is published,
  // the caller adds to it what the writers of a superseded file added.
  enum class Found { kAnyFile, kSuperseded, kFreeName, kAnotherSince };

  Error begin_replacing(const OpenFile& made);
  Error refuse_another(const OpenFile& made);
  Error take_free_name(OpenFile& made);

  bool replace_;
  bool keeps_rights_;                   // `made` gets those of the file that it replaces
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  Found found_;
};

}  // namespace bfstore::store
