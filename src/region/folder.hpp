// The folder that a file is in, kept open, and names in it. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <memory>
#include <string>

#include "region/descriptor.hpp"

namespace bfstore::region {

// A path is followed once, when its file is opened or created. From then on everything that concerns the file's name is
// relative to this folder, so that chdir, chroot and a symbolic link that is switched change nothing for the file.
class Folder {
 public:
  // The folder of `path`. It need not be readable. Shared by all who open a file of it again.
  static Result<std::shared_ptr<const Folder>> of(const std::string& path);

  // For *at calls. -1 if other code of the process closed the descriptor: the number may name another file by now.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.is_there() ? descriptor_.number() : -1; }

  // The same folder, for sync(): opened before anything in it changes, because what can fail then does no harm.
  class Syncer {
   public:
    explicit Syncer(const Folder& folder) noexcept;
    Syncer(const Syncer&) = delete;
    Syncer& operator=(const Syncer&) = delete;
    ~Syncer();

    [[nodiscard]] Error opened() const;
    // The names in the folder are durable. A folder that may not be read cannot be synced: then `file` is, which was
    // given its name just now, and a new file's sync writes its name, too.
    [[nodiscard]] Error sync(const std::string& path, int file) const;

   private:
    const Folder& folder_;
    int descriptor_;
    int failed_;
  };

 private:
  Folder(std::string path, Descriptor descriptor) noexcept;

  std::string path_;
  Descriptor descriptor_;
};

// The last component of a path: the file's name in its folder.
std::string name_in_folder(const std::string& path);

// A name for a file that is not complete, in any folder; not longer than the file's own name may be.
std::string temporary_name();

}  // namespace bfstore::region
