// One open file: descriptor, reads and writes at an offset, allocation, durability, and a file that gets
// its name only when it is complete. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "region/descriptor.hpp"
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
  std::uint64_t birth = 0;  // nanoseconds since 1970 at which this inode was made; 0 where nobody knows
};

class File {
 public:
  // What is open for writing is not its owner's children's: they have no descriptor of it, and hold none of its locks.
  enum class Access { kRead, kReadWrite };

  // Never follows a symbolic link as the last part of the path (kSymlink), never blocks on a FIFO.
  static Result<File> open(const std::string& path, Access access);

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
  // kLost if other code of this process closed the descriptor.
  [[nodiscard]] Error check_descriptor() const;
  // Locks of this file are held for long: the rest of this process is not to wait for them.
  void hold_for_long() const noexcept { descriptor_.hold_for_long(); }
  [[nodiscard]] bool held_for_long() const noexcept { return descriptor_.held_for_long(); }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  // Of the process that opened it for writing.
  [[nodiscard]] const ForkMark& born() const noexcept { return born_; }

  [[nodiscard]] Result<FileFacts> facts() const;
  [[nodiscard]] Result<Sharing> sharing() const;
  // Whether this file is still the one that its path names.
  [[nodiscard]] bool has_its_path() const noexcept;
  [[nodiscard]] bool same_file(const File& other) const noexcept;

  // From now on read_at() brings no more into memory than it reads.
  void read_nothing_ahead() const noexcept;

  // What no process has mapped comes from the disk when it is read next.
  void forget_cached() const noexcept;

  // How many bytes were read: less than asked for only at the end of the file.
  [[nodiscard]] Result<std::size_t> read_at(std::span<std::byte> into, std::uint64_t offset) const;
  Error write_at(std::span<const std::byte> bytes, std::uint64_t offset) const;

  // Reads the bytes and writes them again, so that a sync writes them, even where the system takes them for written
  // because it failed to write them before. Nobody may write to the file meanwhile.
  Error rewrite(std::uint64_t offset, std::uint64_t bytes) const;

  // Reserves disk blocks, extending the file: a store to them can not run out of disk afterwards.
  Error allocate(std::uint64_t offset, std::uint64_t bytes) const;

  // Everything written so far, through the descriptor or a mapping, is durable (fdatasync). After a failure a later
  // success proves nothing.
  Error sync() const;

  // Whether the system failed to write a page of the file since it was last asked through this descriptor (or wrote
  // nothing yet of what it failed to write before that). Asks for no I/O. The system may drop such a page, and read the
  // old one again.
  [[nodiscard]] Error failed_writeback() const;

  // Gives a file made by create_unnamed its name, durably, all at once. Without `replace`, kExists if the name is
  // taken.
  Error publish(bool replace);

 private:
  File(Descriptor descriptor, std::string path) noexcept : descriptor_(std::move(descriptor)), path_(std::move(path)) {}
  // The descriptor, open for writing, of this process alone.
  static Result<File> of_this_process(Descriptor descriptor, const std::string& path);
  static Result<File> new_file(Descriptor descriptor, const std::string& path);
  Error check_room_for(std::uint64_t bytes) const;
  Error link_unnamed(const std::string& name) const;
  Error rename_temporary(bool replace);

  Descriptor descriptor_;
  std::string path_;
  std::string temporary_;                        // not empty: the file has this name, until it is published
  std::optional<std::uint32_t> published_mode_;  // where it has another one until then
  bool writable_ = false;
  ForkMark born_;
};

}  // namespace bfstore::region
