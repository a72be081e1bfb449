// One open file: descriptor, reads and writes at an offset, allocation, durability, and publication under its name only
// when it is complete. Never sees filters.
#pragma once

#include <bfstore/error.hpp>
#include <functional>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "region/descriptor.hpp"
#include "region/folder.hpp"
#include "region/fork.hpp"

namespace bfstore::region {

// When another process sees what this one writes.
enum class Sharing {
  kLocal,    // at once
  kRemote,   // later or never, if it is on another machine: NFS, SMB, FUSE, 9p and the like
  kOverlay,  // not if it opened the file before this one opened it for writing
};

struct FileFacts {
  bool regular = false;
  std::uint64_t bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::int64_t modified_ns = 0;  // since 1970: the last change of its bytes through a call
  std::int64_t changed_ns = 0;   // since 1970: the last change of its bytes, names or rights; no program can set it

  // True if no call has changed the bytes in between.
  [[nodiscard]] bool has_bytes_of(const FileFacts& other) const noexcept {
    return device == other.device && inode == other.inode && bytes == other.bytes && modified_ns == other.modified_ns &&
           changed_ns == other.changed_ns;
  }
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

  // Says whether a symbolic link as the last part of a path is followed.
  enum class Links { kRefuse, kFollow };

  // Opens a file. kSymlink if a link is refused. Never blocks on a FIFO. If a link is followed, the file is the one
  // that it led to, in the folder of that file.
  static Result<File> open(const std::string& path, Access access, Links links = Links::kRefuse);

  // Duplicates the descriptor of a file that the program has open, for reading; kInvalid if it cannot be read. `name`
  // is for messages only. Both descriptors share one open file description, so nothing asks or changes its position,
  // advice or locks. The names of the file are unknown; only their number is known.
  static Result<File> of_descriptor(int number, const std::string& name);

  // Opens the file that has this file's name now, in the folder that its path led to: this file, or one that replaced
  // it.
  [[nodiscard]] Result<File> open_again(Access access) const;
  // Opens that file to write into its header what its handles must learn. An owner that has no right to write (mode
  // 0444) gets it for this moment.
  [[nodiscard]] Result<File> open_again_as_owner() const;

  // Makes a new file, readable and writable, in the directory of `path` but without that name until publish(). If the
  // filesystem has no unnamed files, it has a temporary name, which the destructor removes.
  static Result<File> create_unnamed(const std::string& path, std::uint32_t mode);

  // Opens this file again, readable and writable, with its own open file description: through /proc, or otherwise by
  // its path. Returns nothing if neither way leads to it.
  [[nodiscard]] Result<std::optional<Descriptor>> another_description() const;

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }
  [[nodiscard]] DescriptorMark descriptor_mark() const noexcept { return descriptor_.mark(); }
  // kLost if other code of this process closed the descriptor.
  [[nodiscard]] Error check_descriptor() const;
  // This file's locks may be held for any time, so the rest of this process must not wait for them.
  void hold_for_long() const noexcept { descriptor_.hold_for_long(); }
  [[nodiscard]] bool held_for_long() const noexcept { return descriptor_.held_for_long(); }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  // Marks the process that opened the file for writing.
  [[nodiscard]] const ForkMark& born() const noexcept { return born_; }

  [[nodiscard]] Result<FileFacts> facts() const;
  // The same without an error's message, for a call that lookups make.
  [[nodiscard]] std::optional<FileFacts> facts_now() const noexcept;
  // The same of the file that has its name now. None if it was opened by descriptor, or no file has the name.
  [[nodiscard]] std::optional<FileFacts> facts_by_name() const noexcept;
  [[nodiscard]] Result<Sharing> sharing() const;
  // True if this file still has its name, in the folder that its path led to. A file opened by descriptor: if it still
  // has any name, or had none then.
  [[nodiscard]] bool has_its_path() const noexcept;
  // True if the path, followed from the folder that was current at open(), leads to another file now: a folder on the
  // way was moved, or a symbolic link to one was switched.
  [[nodiscard]] bool path_names_another() const noexcept;
  [[nodiscard]] bool same_file(const File& other) const noexcept;

  // Turns read-ahead off: read_at() then brings no more into memory than it reads.
  void read_nothing_ahead() const noexcept;

  // True if the file is known to have no data at the beginning and at the end of a part. Only one thread may use this
  // object meanwhile. Always false for a nonempty part of a file opened by descriptor, because the question would move
  // the program's position.
  [[nodiscard]] bool is_hole(std::uint64_t begin, std::uint64_t end) const noexcept;

  // Drops pages that no process maps, so that the next read comes from the disk.
  void forget_cached() const noexcept;

  // Returns the number of bytes that were read: fewer than asked for only at the end of the file.
  [[nodiscard]] Result<std::size_t> read_at(std::span<std::byte> into, std::uint64_t offset) const;
  Error write_at(std::span<const std::byte> bytes, std::uint64_t offset) const;
  // Returns EFBIG past the process's limit of file sizes, where the kernel would send SIGXFSZ.
  [[nodiscard]] Error may_write_up_to(std::uint64_t end) const;

  // Reads the bytes and writes them again. So a sync writes them, even if the system failed to write them before and
  // regards them as written. No process may write to the file meanwhile.
  Error rewrite(std::uint64_t offset, std::uint64_t bytes) const;

  // Reserves disk blocks and extends the file. Afterwards a store to them cannot run out of disk.
  Error allocate(std::uint64_t offset, std::uint64_t bytes) const;

  // Does the same behind the end of a file that other processes use. Writes nothing: fails where the filesystem cannot
  // allocate. After a failure the file may be longer.
  Error extend(std::uint64_t offset, std::uint64_t bytes) const;

  // Allocates blocks for the holes of these parts, and replaces blocks that the file shares with a copy, if the
  // filesystem can tell (FALLOC_FL_UNSHARE_RANGE). Length and bytes of the file stay as they are.
  Error own_blocks(const std::vector<Extent>& parts) const;

  // Makes everything durable that was written so far, through the descriptor or a mapping (fdatasync). After a failure
  // a later success proves nothing.
  Error sync() const;

  // Returns the errno if the system failed to write a page of the file since it was last asked through this descriptor
  // (or wrote nothing yet of what it failed to write before that), otherwise 0. Causes no I/O. The system may drop such
  // a page, and read the old one again. On an overlay the failure does not show here: see Mapping::failed_writeback().
  [[nodiscard]] int failed_writeback() const noexcept;

  // Like failed_writeback(), but asks by a sync: for a descriptor on an overlay, where nothing else shows the failure.
  [[nodiscard]] int failed_sync() const noexcept;

  // Takes the owner, the group, the mode and the access list (acl(5)) of the other file, right before publish(). What
  // the system refuses stays as it is. If the group stays, or the list cannot be copied, the group gets no right that
  // all others do not have.
  void take_rights_of(const File& other) noexcept;

  // kLost if other code of this process closed the descriptor of its folder, so that nothing is known about its name.
  [[nodiscard]] Error check_folder() const;

  // Gives a file made by create_unnamed its name, durably and atomically. Without `replace`, kExists if the name is in
  // use. With `replace`, calls `last_look` right before the renaming, after everything that waits for the disk. If that
  // returns an error, the file keeps its temporary name.
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
  // Makes a File of a descriptor that is open for writing and belongs to this process alone.
  static Result<File> of_this_process(Descriptor descriptor, const std::string& path, const std::string& name,
                                      std::shared_ptr<const Folder> folder);
  static Result<File> new_file(Descriptor descriptor, const std::string& path, std::shared_ptr<const Folder> folder);
  Error check_room_for(std::uint64_t bytes) const;
  Error allocate_by(int (*by)(int, const Extent&), const Extent& part, std::uint64_t lacking) const;
  [[nodiscard]] bool link_leads_elsewhere() const noexcept;
  [[nodiscard]] bool lost_its_names() const noexcept;
  Error link_unnamed(const std::string& name) const;
  Error rename_temporary(bool replace);
  [[nodiscard]] Error sync_inode() const;

  Descriptor descriptor_;
  std::string path_;
  std::string name_;                      // in the folder; differs from the path's last part if that is a symbolic link
  std::shared_ptr<const Folder> folder_;  // null for a file opened by descriptor
  // The folder of the symbolic link, if the path was one. The link's name is the last part of the path.
  std::shared_ptr<const Folder> link_folder_;
  std::string temporary_;  // not empty: the file has this name in the folder, until it is published
  std::optional<std::uint32_t> published_mode_;  // if it has another one until then
  bool writable_ = false;
  bool had_names_ = false;  // at of_descriptor()
  ForkMark born_;
};

}  // namespace bfstore::region
