// The folder that a file is in, kept open, and names in it. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <memory>
#include <string>

#include "region/descriptor.hpp"

namespace bfstore::region {

// A path is followed once, when its file is opened or created. From then on everything that concerns the file's name is
// relative to this folder. So a chdir, a chroot or a switched symbolic link changes nothing for the file.
class Folder {
 public:
  // Opens the folder of `path`. It need not be readable. All handles that open its files share it.
  static Result<std::shared_ptr<const Folder>> of(const std::string& path);

  // The descriptor for *at calls. -1 if other code of the process closed the descriptor: its number may lead to another
  // file now.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.is_there() ? descriptor_.number() : -1; }

  // The descriptor for *at calls that follow a relative path again: the folder that was current when the path was
  // followed.
  [[nodiscard]] int start() const noexcept;

  // Opens the folder again, to sync it. It is opened before anything in the folder changes, when a failure does no harm
  // yet.
  class Syncer {
   public:
    explicit Syncer(const Folder& folder) noexcept;
    Syncer(const Syncer&) = delete;
    Syncer& operator=(const Syncer&) = delete;
    ~Syncer();

    [[nodiscard]] Error opened() const;
    // Makes the names in the folder durable. A folder without read permission cannot be synced. Then this syncs `file`,
    // which has just got its name: a new file's sync writes its name, too.
    [[nodiscard]] Error sync(const std::string& path, int file) const;

   private:
    const Folder& folder_;
    int descriptor_;
    int failed_;
  };

 private:
  Folder(std::string path, Descriptor descriptor, Descriptor start) noexcept;

  std::string path_;
  Descriptor descriptor_;
  Descriptor start_;  // not open if the path is absolute, or the folder is the current one
};

// The last component of a path: the file's name in its folder.
std::string name_in_folder(const std::string& path);

// A name for an incomplete file, for use in any folder, and not longer than the file's own name may be.
std::string temporary_name();

}  // namespace bfstore::region
