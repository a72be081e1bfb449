#include "region/file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/libc.hpp"
#include "region/blocks.hpp"
#include "region/descriptor.hpp"

namespace bfstore::region {
namespace {

using base::fail_errno;

constexpr mode_t kPermissions = 07777;

std::string link_in_proc(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

bool is_symlink(int folder, const std::string& name) noexcept {
  struct stat facts {};
  return fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
}

// Returns " Its mode is 0600, ..." for a file that this process may not open, or nothing if it may not see the mode
// either. An empty name is the folder itself. `its`: the beginning, which says what has the mode.
std::string rights_in_words(int folder, const std::string& name, const char* its = " Its mode is ") {
  struct stat facts {};
  if (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) return {};
  std::array<char, 16> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(facts.st_mode & kPermissions));
  return its + std::string(mode.data()) + ", its owner user " + std::to_string(facts.st_uid) + ", its group " +
         std::to_string(facts.st_gid) + ", and this process is user " + std::to_string(geteuid()) + ".";
}

bool same_inode(int one, int other) noexcept {
  struct stat first {};
  struct stat second {};
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// If a file has an access list, the group's bits of its mode are the most that the list gives (acl(5)). A new file may
// have inherited one from its folder. Returns false if the two files do not have the same list now.
bool copy_access_list(int from, int to) noexcept {
  constexpr const char* kName = "system.posix_acl_access";
  std::array<char, 4096> list{};  // 511 entries of 8 bytes
  const ssize_t bytes = fgetxattr(from, kName, list.data(), list.size());
  if (bytes >= 0) return fsetxattr(to, kName, list.data(), static_cast<std::size_t>(bytes), 0) == 0;
  const bool has_none = errno == ENODATA || errno == EOPNOTSUPP;
  return has_none && (fremovexattr(to, kName) == 0 || errno == ENODATA || errno == EOPNOTSUPP);
}

// False for the overflow number, which a user namespace shows for a user or a group that it has no number for
// (user_namespaces(7)). If all numbers are mapped, it is a number like any other.
bool is_known(unsigned id, const char* map) noexcept {
  constexpr unsigned kOverflow = 65'534;
  if (id != kOverflow) return true;
  std::array<char, 64> line{};
  const int file = open((std::string("/proc/self/") + map).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t bytes = read(file, line.data(), line.size() - 1);
  close(file);
  unsigned inside = 0;
  unsigned outside = 0;
  unsigned count = 0;
  return bytes > 0 && std::sscanf(line.data(), "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
         outside == 0 && count == UINT32_MAX;
}

// The numbers that <linux/magic.h> of Debian 12 leaves out are the kernel's own (fs/*/super.c, fs/orangefs/protocol.h
// and statfs(2)), or, of filesystems that are not in the kernel, those of src/stat.c of GNU coreutils, which calls them
// remote. FUSE's is virtiofs's, too.
constexpr std::array<std::uint32_t, 25> kRemote{NFS_SUPER_MAGIC,
                                                SMB_SUPER_MAGIC,
                                                CIFS_SUPER_MAGIC,
                                                SMB2_SUPER_MAGIC,
                                                FUSE_SUPER_MAGIC,
                                                V9FS_MAGIC,
                                                AFS_SUPER_MAGIC,
                                                AFS_FS_MAGIC,
                                                CEPH_SUPER_MAGIC,
                                                CODA_SUPER_MAGIC,
                                                NCP_SUPER_MAGIC,
                                                0x0bd00bd0 /* Lustre */,
                                                0x47504653 /* GPFS */,
                                                0x01161970 /* GFS2 */,
                                                OCFS2_SUPER_MAGIC,
                                                0x786f4256 /* vboxsf */,
                                                0x19830326 /* BeeGFS */,
                                                0x20030528 /* OrangeFS */,
                                                0xbacbacbc /* vmhgfs */,
                                                0x7c7c6673 /* prl_fs */,
                                                0xaad7aaea /* PanFS */,
                                                0xbeefdead /* SNFS */,
                                                0x61636673 /* ACFS */,
                                                0xa501fcf5 /* VxFS, which may be clustered */,
                                                0x013111a8 /* IBRIX */};

}  // namespace

Result<File> File::open(const std::string& path, Access access, Links links) {
  const auto folder = Folder::of(path);
  if (!folder) return folder.error();
  auto file = open_in(*folder, name_in_folder(path), path, access);
  const bool follow = links == Links::kFollow && !file && file.error().code == Code::kSymlink;
  return follow ? open_target(*folder, path, access) : std::move(file);
}

Result<File> File::of_descriptor(int number, const std::string& name) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0 && errno == EBADF)
    return Error{Code::kInvalid, EBADF, name + ": no open descriptor. Open the file, and pass its descriptor."};
  const int access = flags & O_ACCMODE;
  if (flags < 0 || (flags & O_PATH) != 0 || (access != O_RDONLY && access != O_RDWR)) {
    return base::fail(Code::kInvalid, name +
                                          ": a descriptor that cannot be read from (O_WRONLY or O_PATH). Open the file "
                                          "with O_RDONLY, and pass that descriptor.");
  }
  Descriptor descriptor = Descriptor::duplicate(number);
  if (!descriptor.is_open()) return fail_errno(errno, name, "duplicating its descriptor");
  File file(std::move(descriptor), name, std::string(), nullptr);
  const auto facts = file.facts();
  if (!facts) return facts.error();
  file.had_names_ = facts->links != 0;
  return file;
}

// The link's target is another path, which may have become a link by the time it is opened.
Result<File> File::open_target(std::shared_ptr<const Folder> link_folder, const std::string& path, Access access) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr), &std::free);
  if (target == nullptr && errno == ENOENT)
    return Error{Code::kNotFound, ENOENT, path + ": a symbolic link that leads nowhere; correct it"};
  if (target == nullptr) return fail_errno(errno, path, "following the symbolic link");
  auto folder = Folder::of(target.get());
  if (!folder) return folder.error();
  auto file = open_in(std::move(*folder), name_in_folder(target.get()), path, access);
  if (!file) return file;
  file->link_folder_ = std::move(link_folder);
  // The kernel may lead elsewhere (links of /proc), refuse to follow (fs.protected_symlinks), or the link was switched.
  struct stat led_to {};
  if (fstatat(file->link_folder_->descriptor(), name_in_folder(path).c_str(), &led_to, 0) != 0)
    return fail_errno(errno, path, "following the symbolic link");
  if (!file->link_leads_elsewhere()) return file;
  return base::fail(Code::kSymlink, path +
                                        ": a symbolic link that does not lead where it says, or was switched just "
                                        "now. Try again, or give the path of the file itself.");
}

// Opens the name and not the path, which may be a link.
Result<File> File::open_again(Access access) const {
  if (folder_ == nullptr)
    return base::fail(Code::kAccess, path_ + ": opened by a descriptor, so that its path is not known.");
  auto file = open_in(folder_, name_, path_, access);
  if (file) file->link_folder_ = link_folder_;
  return file;
}

Result<File> File::open_in(std::shared_ptr<const Folder> folder, const std::string& name, const std::string& path,
                           Access access) {
  constexpr int kCareful = O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  const bool reading = access == Access::kRead;
  const int in_folder = folder->descriptor();
  Descriptor descriptor = Descriptor::open(name.c_str(), (reading ? O_RDONLY : O_RDWR) | kCareful,
                                           reading ? Children::kInherit : Children::kDoNot, 0, in_folder);
  if (descriptor.is_open()) {
    return reading ? File(std::move(descriptor), path, name, std::move(folder))
                   : of_this_process(std::move(descriptor), path, name, std::move(folder));
  }
  const int failed = errno;
  if (failed == ELOOP && is_symlink(in_folder, name)) {
    return base::fail(Code::kSymlink, path + ": a symbolic link. Give the path of the file itself.");
  }
  if (failed == EISDIR)
    return base::fail(Code::kNotRegular, path + ": a directory, not a filter file. Give the path of a file.");
  if (failed == ENXIO)
    return base::fail(Code::kNotRegular, path + ": not a regular file. Give the path of a filter file.");
  if (failed == ENOENT && path.empty()) return Error{Code::kNotFound, failed, "the path is empty. Give one."};
  if (failed == ENOENT)
    return Error{Code::kNotFound, failed, path + ": no such file. Correct the path, or create it first."};
  Error error = fail_errno(failed, path, "opening");
  if (failed == EACCES) error.message += rights_in_words(in_folder, name);
  return error;
}

// Gives the owner the right to write, opens the file, and takes the right away before anything is written: the open
// descriptor can still write. A process that is killed in between leaves a file that its owner may write to.
Result<File> File::open_again_as_owner() const {
  auto file = open_again(Access::kReadWrite);
  if (file || file.error().code != Code::kAccess) return file;
  const auto readable = open_again(Access::kRead);
  struct stat facts {};
  const bool owned = readable && fstat(readable->descriptor(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                     facts.st_uid == geteuid() && (facts.st_mode & S_IWUSR) == 0;
  if (!owned || fchmod(readable->descriptor(), (facts.st_mode & kPermissions) | S_IWUSR) != 0) return file;
  auto writable = open_again(Access::kReadWrite);
  if (fchmod(readable->descriptor(), facts.st_mode & kPermissions) != 0)
    return fail_errno(errno, path_, "changing its mode");
  return writable;
}

// The folder was opened before.
static Error cannot_create(const std::string& path, int folder) {
  const int failed = errno;
  if (failed == ENOENT)
    return Error{Code::kNotFound, ENOENT,
                 path + ": the folder is gone, or its filesystem makes no files. Give another path."};
  Error error = fail_errno(failed, path, "creating it in its folder");
  if (failed == EACCES) error.message += rights_in_words(folder, "", " The mode of the folder is ");
  return error;
}

// A file without a name can be opened once more only through /proc. Without /proc, it gets a temporary name.
Result<File> File::create_unnamed(const std::string& path, std::uint32_t mode) {
  auto opened = Folder::of(path);
  if (!opened) return opened.error();
  std::shared_ptr<const Folder> folder = std::move(*opened);
  Descriptor descriptor = Descriptor::open(".", O_TMPFILE | O_RDWR, Children::kDoNot, mode, folder->descriptor());
  std::string temporary;
  if (!descriptor.is_open() && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    return cannot_create(path, folder->descriptor());
  if (!descriptor.is_open() || access(link_in_proc(descriptor.number()).c_str(), F_OK) != 0) {
    temporary = temporary_name();
    descriptor = Descriptor::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, Children::kDoNot, mode,
                                  folder->descriptor());
    if (!descriptor.is_open()) return cannot_create(path, folder->descriptor());
  }
  ask_to_keep_blocks(descriptor.number());
  auto file = new_file(std::move(descriptor), path, folder);
  if (file) {
    file->temporary_ = std::move(temporary);
  } else if (!temporary.empty()) {
    unlinkat(folder->descriptor(), temporary.c_str(), 0);
  }
  return file;
}

// Until the file is published its owner may read and write it, whatever its mode will be, because it is opened once
// more.
Result<File> File::new_file(Descriptor descriptor, const std::string& path, std::shared_ptr<const Folder> folder) {
  constexpr mode_t kOwners = S_IRUSR | S_IWUSR;
  auto file = of_this_process(std::move(descriptor), path, name_in_folder(path), std::move(folder));
  if (!file) return file;
  struct stat facts {};
  if (fstat(file->descriptor(), &facts) != 0) return fail_errno(errno, path, "asking for its mode");
  const mode_t mode = facts.st_mode & kPermissions;
  if ((mode & kOwners) == kOwners) return file;
  if (fchmod(file->descriptor(), mode | kOwners) != 0) return fail_errno(errno, path, "setting its mode");
  file->published_mode_ = mode;
  return file;
}

Result<File> File::of_this_process(Descriptor descriptor, const std::string& path, const std::string& name,
                                   std::shared_ptr<const Folder> folder) {
  File file(std::move(descriptor), path, name, std::move(folder));
  file.writable_ = true;
  const auto born = ForkMark::make();
  if (!born) return born.error();
  file.born_ = *born;
  return file;
}

File::File(File&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      folder_(std::move(other.folder_)),
      link_folder_(std::move(other.link_folder_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      published_mode_(other.published_mode_),
      writable_(other.writable_),
      had_names_(other.had_names_),
      born_(other.born_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(name_, other.name_);
  std::swap(folder_, other.folder_);
  std::swap(link_folder_, other.link_folder_);
  std::swap(temporary_, other.temporary_);
  std::swap(published_mode_, other.published_mode_);
  std::swap(writable_, other.writable_);
  std::swap(had_names_, other.had_names_);
  std::swap(born_, other.born_);
  return *this;
}

File::~File() {
  if (!temporary_.empty() && born_.here()) unlinkat(folder_->descriptor(), temporary_.c_str(), 0);
}

// A lack of descriptors or memory is an error, and must not look as if neither way worked.
Result<std::optional<Descriptor>> File::another_description() const {
  constexpr int kAgain = O_RDWR | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  const std::string& name = temporary_.empty() ? name_ : temporary_;
  for (const auto& [way, flags] : {std::pair(link_in_proc(descriptor()), O_RDWR), std::pair(name, kAgain)}) {
    Descriptor another = Descriptor::open(way.c_str(), flags, Children::kDoNot, 0, folder_->descriptor());
    if (another.is_open() && same_inode(another.number(), descriptor())) return std::optional(std::move(another));
    if (!another.is_open() && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EINTR))
      return fail_errno(errno, path_, "opening it once more");
  }
  return std::optional<Descriptor>();
}

Error File::check_descriptor() const {
  if (descriptor_.is_there()) return {};
  return base::fail(Code::kLost,
                    path_ + ": other code of this process closed the descriptor of this filter. Open it again.");
}

Error File::check_folder() const {
  if (folder_ == nullptr || folder_->descriptor() >= 0) return {};
  return base::fail(Code::kLost, path_ +
                                     ": other code of this process closed the descriptor of the folder of this filter. "
                                     "Open it again.");
}

namespace {

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileFacts facts_in(const struct stat& facts) noexcept {
  return {S_ISREG(facts.st_mode),
          static_cast<std::uint64_t>(facts.st_size),
          static_cast<std::uint64_t>(facts.st_blocks) * 512,
          static_cast<std::uint64_t>(facts.st_dev),
          static_cast<std::uint64_t>(facts.st_ino),
          static_cast<std::uint64_t>(facts.st_nlink),
          nanoseconds(facts.st_mtim),
          nanoseconds(facts.st_ctim)};
}

}  // namespace

std::optional<FileFacts> File::facts_now() const noexcept {
  struct stat facts {};
  if (fstat(descriptor(), &facts) != 0) return std::nullopt;
  return facts_in(facts);
}

std::optional<FileFacts> File::facts_by_name() const noexcept {
  struct stat facts {};
  if (folder_ == nullptr || fstatat(folder_->descriptor(), name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return facts_in(facts);
}

Result<FileFacts> File::facts() const {
  const auto found = facts_now();
  if (!found) return fail_errno(errno, path_, "asking for its size");
  return *found;
}

Result<Sharing> File::sharing() const {
  struct statfs facts {};
  if (fstatfs(descriptor(), &facts) != 0) return fail_errno(errno, path_, "asking for its filesystem");
  const auto magic = static_cast<std::uint32_t>(facts.f_type);
  if (magic == OVERLAYFS_SUPER_MAGIC) return Sharing::kOverlay;
  return std::find(kRemote.begin(), kRemote.end(), magic) != kRemote.end() ? Sharing::kRemote : Sharing::kLocal;
}

bool File::lost_its_names() const noexcept {
  struct stat here {};
  return fstat(descriptor(), &here) != 0 || (had_names_ && here.st_nlink == 0);
}

bool File::has_its_path() const noexcept {
  if (folder_ == nullptr) return !lost_its_names();
  struct stat here {};
  struct stat there {};
  return fstat(descriptor(), &here) == 0 &&
         fstatat(folder_->descriptor(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino && !link_leads_elsewhere();
}

bool File::link_leads_elsewhere() const noexcept try {
  if (link_folder_ == nullptr) return false;
  struct stat here {};
  struct stat there {};
  return fstat(descriptor(), &here) != 0 ||
         fstatat(link_folder_->descriptor(), name_in_folder(path_).c_str(), &there, 0) != 0 ||
         here.st_dev != there.st_dev || here.st_ino != there.st_ino;
} catch (const std::bad_alloc&) {
  return true;
}

bool File::path_names_another() const noexcept {
  struct stat here {};
  struct stat there {};
  if (folder_ == nullptr || fstat(descriptor(), &here) != 0) return false;
  const int flags = link_folder_ == nullptr ? AT_SYMLINK_NOFOLLOW : 0;
  const Folder& followed = link_folder_ == nullptr ? *folder_ : *link_folder_;
  if (fstatat(followed.start(), path_.c_str(), &there, flags) != 0) return false;
  return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

bool File::same_file(const File& other) const noexcept { return same_inode(descriptor(), other.descriptor()); }

void File::read_nothing_ahead() const noexcept {
  if (folder_ == nullptr) return;  // the advice would change the program's description, too
  static_cast<void>(posix_fadvise(descriptor(), 0, 0, POSIX_FADV_RANDOM));
}

// The position tells this descriptor from another one (descriptor.cpp), so it is restored. A huge page, or a copy in
// large blocks, has data at the beginning or at the end of the part. A search of all pages between would take too long.
bool File::is_hole(std::uint64_t begin, std::uint64_t end) const noexcept {
  if (begin >= end) return true;
  if (folder_ == nullptr) return false;
  const auto is_hole_at = [this](std::uint64_t offset) {
    return lseek(descriptor(), static_cast<off_t>(offset), SEEK_HOLE) == static_cast<off_t>(offset);
  };
  const off_t position = lseek(descriptor(), 0, SEEK_CUR);
  const bool holes = is_hole_at(begin) && is_hole_at(end - 1);
  static_cast<void>(lseek(descriptor(), position, SEEK_SET));
  return holes;
}

void File::forget_cached() const noexcept { static_cast<void>(posix_fadvise(descriptor(), 0, 0, POSIX_FADV_DONTNEED)); }

Result<std::size_t> File::read_at(std::span<std::byte> into, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = pread(descriptor(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, path_, "reading");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Error File::may_write_up_to(std::uint64_t end) const {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur) return {};
  return fail_errno(EFBIG, path_,
                    "writing past the process's file size limit of " + std::to_string(limit.rlim_cur) + " bytes");
}

// Checks the descriptor first, because its number may now be that of any other file of the program.
Error File::write_at(std::span<const std::byte> bytes, std::uint64_t offset) const {
  if (Error error = check_descriptor(); !error.ok()) return error;
  if (Error error = may_write_up_to(offset + bytes.size()); !error.ok()) return error;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put =
        pwrite(descriptor(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, path_, "writing");
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Error File::rewrite(std::uint64_t offset, std::uint64_t bytes) const {
  std::vector<std::byte> piece(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 20));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::span<std::byte> now = std::span(piece).first(std::min<std::uint64_t>(piece.size(), bytes - done));
    const auto got = read_at(now, offset + done);
    if (!got) return got.error();
    if (*got != now.size()) return base::fail(Code::kLost, path_ + ": truncated meanwhile. Rebuild it.");
    if (Error error = write_at(now, offset + done); !error.ok()) return error;
    done += now.size();
  }
  return {};
}

// A filesystem may notice the lack only after it has allocated all its blocks. Until it frees them no other process
// could write anything.
Error File::check_room_for(std::uint64_t bytes) const {
  struct statfs facts {};
  if (fstatfs(descriptor(), &facts) != 0 || facts.f_blocks == 0 || facts.f_bsize <= 0) return {};
  const std::uint64_t free_bytes = facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize);
  if (bytes <= free_bytes) return {};
  return fail_errno(
      ENOSPC, path_,
      "allocating " + std::to_string(bytes) + " bytes on disk (" + std::to_string(free_bytes) + " are free)");
}

Error File::allocate_by(int (*by)(int, const Extent&), const Extent& part, std::uint64_t lacking) const {
  if (Error error = may_write_up_to(part.offset + part.bytes); !error.ok()) return error;
  if (Error error = check_room_for(lacking); !error.ok()) return error;
  const int failed = by(descriptor(), part);
  if (failed == 0) return {};
  return fail_errno(failed, path_, "allocating " + std::to_string(part.bytes) + " bytes on disk");
}

Error File::allocate(std::uint64_t offset, std::uint64_t bytes) const {
  return allocate_by(allocate_blocks, {offset, bytes}, bytes);
}

Error File::extend(std::uint64_t offset, std::uint64_t bytes) const {
  const auto facts = this->facts();
  if (!facts) return facts.error();
  const std::uint64_t end = offset + bytes;
  const std::uint64_t there = std::max(offset, std::min(facts->bytes, end));  // maybe by a writer that was killed
  return allocate_by(extend_blocks, {offset, bytes}, end - there);
}

// If the filesystem does not tell which blocks a file has, the number of the file's blocks is compared with the number
// that the parts need. Blocks of the hole after the header count, too, but only a copy that was written without any
// hole has those.
Error File::own_blocks(const std::vector<Extent>& parts) const {
  ask_to_keep_blocks(descriptor());
  auto unowned = unowned_in(descriptor(), parts);
  if (!unowned) {
    const auto facts = this->facts();
    if (!facts) return facts.error();
    std::uint64_t wanted = 0;
    for (const Extent& part : parts) wanted += part.bytes;
    unowned.emplace();
    if (wanted > facts->allocated_bytes) unowned->holes = parts;
    unowned->bytes = wanted - std::min(wanted, facts->allocated_bytes);
  }
  if (Error error = check_room_for(unowned->bytes); !error.ok()) return error;
  int failed = 0;
  for (const Extent& hole : unowned->holes) failed = failed != 0 ? failed : fill_hole(descriptor(), hole);
  for (const Extent& part : unowned->shared) failed = failed != 0 ? failed : unshare(descriptor(), part);
  if (failed == 0) return {};
  return fail_errno(
      failed, path_,
      "allocating " + std::to_string(unowned->bytes) + " bytes that have no blocks, or share them with a copy");
}

Error File::sync() const {
  if (fdatasync(descriptor()) == 0) return {};
  return fail_errno(errno, path_, "syncing to disk");
}

int File::failed_sync() const noexcept {
  if (fdatasync(descriptor()) == 0) return 0;
  const bool cannot_be_asked = errno == EINVAL || errno == EROFS || errno == EBADF;
  return cannot_be_asked ? 0 : errno;
}

// The answer is for the whole inode, whatever range is asked for (Linux, mm/filemap.c, file_check_and_advance_wb_err).
// The call waits for the pages of the range that are on their way to the disk, and beyond the end there are none. Its
// errno is the device's: EIO, ENOSPC, ENODATA (a bad medium), ETIMEDOUT, ENOLINK and more. Only the errnos below
// say that the question cannot be asked here.
int File::failed_writeback() const noexcept {
  constexpr off_t kBeyondAnyPage = off_t{1} << 62;
  if (sync_file_range(descriptor(), kBeyondAnyPage, 1, SYNC_FILE_RANGE_WAIT_BEFORE) == 0) return 0;
  const bool cannot_be_asked =
      errno == ENOSYS || errno == EPERM || errno == EACCES || errno == EINVAL || errno == EBADF || errno == ESPIPE;
  return cannot_be_asked ? 0 : errno;
}

Error File::link_unnamed(const std::string& name) const {
  // AT_EMPTY_PATH needs a capability on older kernels; the way through /proc needs /proc.
  const int folder = folder_->descriptor();
  if (linkat(descriptor(), "", folder, name.c_str(), AT_EMPTY_PATH) == 0) return {};
  if (errno == EEXIST) return base::fail(Code::kExists, path_ + ": exists already");
  if (linkat(AT_FDCWD, link_in_proc(descriptor()).c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
  if (errno == EEXIST) return base::fail(Code::kExists, path_ + ": exists already");
  return fail_errno(errno, path_, "giving the new file its name");
}

Error File::rename_temporary(bool replace) {
  const int folder = folder_->descriptor();
  const char* const temporary = temporary_.c_str();
  int outcome = 0;
  if (replace) {
    outcome = renameat(folder, temporary, folder, name_.c_str());
  } else {
    outcome = base::rename_without_replacing(folder, temporary, name_.c_str());
    if (outcome != 0 && errno != EEXIST) {  // no such flag here: a hard link refuses to replace, too
      outcome = linkat(folder, temporary, folder, name_.c_str(), 0);
      if (outcome == 0) unlinkat(folder, temporary, 0);
    }
  }
  if (outcome != 0 && errno == EEXIST) return base::fail(Code::kExists, path_ + ": exists already");
  if (outcome != 0 && errno == EBUSY && replace) {  // rename(2)
    return Error{Code::kBusy, EBUSY,
                 path_ +
                     ": is mounted by itself (as a container's volume may be), so no file can "
                     "replace it. Mount its folder, or write to another path."};
  }
  if (outcome != 0) return fail_errno(errno, path_, "giving the new file its name");
  temporary_.clear();
  return {};
}

// The inode, too, says whether the file has a name. Without a journal (ext2) an inode that says no is discarded after a
// power cut, whatever the folder says.
Error File::sync_inode() const {
  return fsync(descriptor()) == 0 ? Error{} : fail_errno(errno, path_, "syncing the number of its names");
}

// The owner is changed last: a process that is no longer the owner may not change the rest.
void File::take_rights_of(const File& other) noexcept {
  struct stat theirs {};
  if (fstat(other.descriptor(), &theirs) != 0) return;
  constexpr mode_t kGroups = S_IRWXG;
  constexpr auto kSameUser = static_cast<uid_t>(-1);
  constexpr auto kSameGroup = static_cast<gid_t>(-1);
  const bool grouped = is_known(theirs.st_gid, "gid_map") && fchown(descriptor(), kSameUser, theirs.st_gid) == 0;
  const bool listed = copy_access_list(other.descriptor(), descriptor());
  const mode_t mode = theirs.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  const mode_t as_others = (mode << 3) & kGroups;
  if (fchmod(descriptor(), listed && grouped ? mode : mode & (~kGroups | as_others)) == 0) published_mode_.reset();
  if (is_known(theirs.st_uid, "uid_map")) static_cast<void>(fchown(descriptor(), theirs.st_uid, kSameGroup));
}

Error File::publish(bool replace, const std::function<Error()>& last_look) {
  const Folder::Syncer folder(*folder_);
  if (Error error = folder.opened(); !error.ok()) return error;
  if (published_mode_ && fchmod(descriptor(), *published_mode_) != 0)
    return fail_errno(errno, path_, "setting its mode");
  if (temporary_.empty() && !replace) {
    if (Error error = link_unnamed(name_); !error.ok()) return error;
  } else {
    if (temporary_.empty()) {
      std::string temporary = temporary_name();
      if (Error error = link_unnamed(temporary); !error.ok()) return error;
      temporary_ = std::move(temporary);
    }
    if (Error error = sync_inode(); !error.ok()) return error;
    if (Error error = replace && last_look ? last_look() : Error{}; !error.ok()) return error;
    if (Error error = rename_temporary(replace); !error.ok()) return error;
  }
  Error error = folder.sync(path_, descriptor());
  if (error.ok() && !replace) error = sync_inode();
  if (!error.ok() && !replace && has_its_path()) unlinkat(folder_->descriptor(), name_.c_str(), 0);
  return error;
}

}  // namespace bfstore::region
