// The name of a file that was made without one, and the file whose place it takes. The order of the steps is the
// protocol (FORMAT.md, "Replacing a file").
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

  // Supersedes the file that has the name, for its owner to add here what was added there.
  Error supersede(const OpenFile& made);

  // On an error the name leads where it led before, but for kPoisoned: `made` has it, and must never be believed.
  Error give_name(OpenFile& made);

  // What was superseded and not replaced goes on.
  void give_up() noexcept { replaced_.reset(); }

 private:
  Error begin_replacing(const OpenFile& made);

  bool replace_;
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  bool superseded_by_owner_ = false;    // who adds what that file's writers added, before `made` is published
};

}  // namespace bfstore::store
