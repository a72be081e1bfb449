// One open file: descriptor, reads and writes at an offset, allocation, durability, and a file that gets
// its name only when it is complete. Never sees filters.
#pragma once

#include <bfstore/error.hpp>
#include <functional>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "region/descriptor.hpp"
#include "region/folder.hpp"
#include "region/fork.hpp"

namespace bfstore::region {

// Whether what one process writes is what another one reads.
enum class Sharing {
  kLocal,    // at once
  kRemote,   // later or never, where the other one is on another machine: NFS, SMB, FUSE, 9p and their like
  kOverlay,  // not if it opened the file before the first one opened it for writing
};

struct FileFacts {
  bool regular = false;
  std::uint64_t bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
};

// A part of a file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class File {
 public:
  // Forked children do not get a file that is open for writing: they have no descriptor of it, and hold none of its
  // locks.
  enum class Access { kRead, kReadWrite };

  // Whether a symbolic link as the last part of a path is followed.
  enum class Links { kRefuse, kFollow };

  // kSymlink where a link is refused. Never blocks on a FIFO. From then on the file is the one that the link led to,
  // in that one's folder.
  static Result<File> open(const std::string& path, Access access, Links links = Links::kRefuse);

  // The file that the program has open at that number, by a number of our own, to be read: kInvalid if it cannot be.
  // `name` is for messages alone. It shares the open file description with the program, so nothing is asked of that or
  // changed in it: no position, no advice, no lock. Of its names only their number is known.
  static Result<File> of_descriptor(int number, const std::string& name);

  // The file that has this file's name now, in the folder that its path led to: this one, or one that replaced it.
  [[nodiscard]] Result<File> open_again(Access access) const;
  // The same, for writing into its header what its handles must learn. An owner that has taken the right to write away
  // from itself (mode 0444) has it for this moment.
  [[nodiscard]] Result<File> open_again_as_owner() const;

  // A new file, readable and writable, in the directory of `path` but without that name until publish(). Where the
  // filesystem has no unnamed files it has a temporary name, which the destructor removes.
  static Result<File> create_unnamed(const std::string& path, std::uint32_t mode);

  // The same file, readable and writable, by an open file description of its own: through /proc, else by its path.
  // Nothing if neither way leads to it.
  [[nodiscard]] Result<std::optional<Descriptor>> another_description() const;

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }
  [[nodiscard]] DescriptorMark descriptor_mark() const noexcept { return descriptor_.mark(); }
  // kLost if other code of this process closed the descriptor.
  [[nodiscard]] Error check_descriptor() const;
  // This file's locks may be held for any time: the rest of this process must not wait for them.
  void hold_for_long() const noexcept { descriptor_.hold_for_long(); }
  [[nodiscard]] bool held_for_long() const noexcept { return descriptor_.held_for_long(); }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  // Marks the process that opened the file for writing.
  [[nodiscard]] const ForkMark& born() const noexcept { return born_; }

  [[nodiscard]] Result<FileFacts> facts() const;
  [[nodiscard]] Result<Sharing> sharing() const;
  // Whether this file still has its name, in the folder that its path led to. By a descriptor: whether it has any, if
  // it had one then.
  [[nodiscard]] bool has_its_path() const noexcept;
  // Whether its path leads to another file by now, followed from the folder that was current then: a folder on the way
  // was moved, or a symbolic link to one was switched.
  [[nodiscard]] bool path_names_another() const noexcept;
  [[nodiscard]] bool same_file(const File& other) const noexcept;

  // From now on read_at() brings no more into memory than it reads.
  void read_nothing_ahead() const noexcept;

  // Whether the file is known to have no data at the beginning and at the end of a part, for a thread that alone has
  // this object. By a descriptor of the program it is not, for the question would move that one's position.
  [[nodiscard]] bool is_hole(std::uint64_t begin, std::uint64_t end) const noexcept;

  // Pages that no process maps are read from the disk next time.
  void forget_cached() const noexcept;

  // Returns how many bytes were read: fewer than asked for only at the end of the file.
  [[nodiscard]] Result<std::size_t> read_at(std::span<std::byte> into, std::uint64_t offset) const;
  Error write_at(std::span<const std::byte> bytes, std::uint64_t offset) const;
  // EFBIG past the process's limit of file sizes, where the kernel would send SIGXFSZ.
  [[nodiscard]] Error may_write_up_to(std::uint64_t end) const;

  // Reads the bytes and writes them again. So a sync writes them, even if the system failed to write them before and
  // takes them for written. No process may write to the file meanwhile.
  Error rewrite(std::uint64_t offset, std::uint64_t bytes) const;

  // Reserves disk blocks, extending the file: a store to them cannot run out of disk afterwards.
  Error allocate(std::uint64_t offset, std::uint64_t bytes) const;

  // Blocks for the holes of these parts, and of its own for those that it shares with a copy, where the filesystem can
  // tell (FALLOC_FL_UNSHARE_RANGE): of an existing file, which is not longer afterwards, and has the same bytes.
  Error own_blocks(const std::vector<Extent>& parts) const;

  // Everything written so far, through the descriptor or a mapping, is durable (fdatasync). After a failure a later
  // success proves nothing.
  Error sync() const;

  // Whether the system failed to write a page of the file since it was last asked through this descriptor (or wrote
  // nothing yet of what it failed to write before that): the errno, or 0. Asks for no I/O. The system may drop such a
  // page, and read the old one again. On an overlay the system is not told so: see Mapping::failed_writeback().
  [[nodiscard]] int failed_writeback() const noexcept;

  // The same, asked by a sync, for a descriptor on an overlay, which the system tells in no other way.
  [[nodiscard]] int failed_sync() const noexcept;

  // Right before it is published: this file has the owner, the group, the mode and the access list (acl(5)) of the
  // other one. What the system refuses stays as it is. If the group stays, or the list cannot be taken, the group gets
  // no right that the others have not.
  void take_rights_of(const File& other) noexcept;

  // kLost if other code of this process closed the descriptor of its folder, so that nothing is known of its name.
  [[nodiscard]] Error check_folder() const;

  // Gives a file made by create_unnamed its name, durably and atomically. Without `replace`, kExists if the name is
  // taken. With it, `last_look` is called right before the renaming, after all that waits for the disk; if it returns
  // an error the file keeps its temporary name.
  Error publish(bool replace, const std::function<Error()>& last_look = {});

 private:
  File(Descriptor descriptor, std::string path, std::string name, std::shared_ptr<const Folder> folder)
      : descriptor_(std::move(descriptor)),
        path_(std::move(path)),
        name_(std::move(name)),
        folder_(std::move(folder)) {}
  static Result<File> open_in(std::shared_ptr<const Folder> folder, const std::string& name, const std::string& path,
                              Access access);
  static Result<File> open_target(std::shared_ptr<const Folder> link_folder, const std::string& path, Access access);
  // The descriptor, open for writing, of this process alone.
  static Result<File> of_this_process(Descriptor descriptor, const std::string& path, const std::string& name,
                                      std::shared_ptr<const Folder> folder);
  static Result<File> new_file(Descriptor descriptor, const std::string& path, std::shared_ptr<const Folder> folder);
  Error check_room_for(std::uint64_t bytes) const;
  [[nodiscard]] bool link_leads_elsewhere() const noexcept;
  [[nodiscard]] bool lost_its_names() const noexcept;
  Error link_unnamed(const std::string& name) const;
  Error rename_temporary(bool replace);
  [[nodiscard]] Error sync_inode() const;

  Descriptor descriptor_;
  std::string path_;
  std::string name_;  // in the folder; another one than the path's last part where that is a symbolic link
  std::shared_ptr<const Folder> folder_;  // none by a descriptor
  // Where the path was a symbolic link, the folder of that. Its name is the last part of the path.
  std::shared_ptr<const Folder> link_folder_;
  std::string temporary_;  // not empty: the file has this name in the folder, until it is published
  std::optional<std::uint32_t> published_mode_;  // where it has another one until then
  bool writable_ = false;
  bool had_names_ = false;  // by a descriptor
  ForkMark born_;
};

}  // namespace bfstore::region
