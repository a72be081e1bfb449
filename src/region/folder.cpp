#include "region/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/fail.hpp"
#include "base/libc.hpp"
#include "region/descriptor.hpp"

namespace bfstore::region {
namespace {

using base::fail_errno;

constexpr const char* kCurrent = ".";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return kCurrent;
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string name_in_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path;
  return slash + 1 == path.size() ? "." : path.substr(slash + 1);  // "folder/" is the folder itself
}

std::string temporary_name() {
  std::uint64_t random = 0;
  if (base::random_bytes(&random, sizeof random) != sizeof random) random = static_cast<std::uint64_t>(getpid());
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), ".bfs%016llx.tmp", static_cast<unsigned long long>(random));
  return name.data();
}

Result<std::shared_ptr<const Folder>> Folder::of(const std::string& path) {
  std::string folder = folder_of(path);
  Descriptor descriptor = Descriptor::open(folder.c_str(), O_PATH | O_DIRECTORY, Children::kInherit);
  if (!descriptor.is_open() && errno == ENOENT)
    return Error{Code::kNotFound, ENOENT, path + ": its folder does not exist. Create it first, or correct the path."};
  if (!descriptor.is_open()) return fail_errno(errno, path, "opening its folder");
  Descriptor start;
  if (folder != kCurrent && folder.front() != '/') {
    start = Descriptor::open(kCurrent, O_PATH | O_DIRECTORY, Children::kInherit);
    if (!start.is_open()) return fail_errno(errno, path, "opening the current folder");
  }
  return std::shared_ptr<const Folder>(new Folder(std::move(folder), std::move(descriptor), std::move(start)));
}

Folder::Folder(std::string path, Descriptor descriptor, Descriptor start) noexcept
    : path_(std::move(path)), descriptor_(std::move(descriptor)), start_(std::move(start)) {}

int Folder::start() const noexcept {
  if (path_ == kCurrent) return descriptor();
  if (path_.front() == '/') return AT_FDCWD;
  return start_.is_there() ? start_.number() : -1;
}

Folder::Syncer::Syncer(const Folder& folder) noexcept
    : folder_(folder),
      descriptor_(open_high(".", O_RDONLY | O_DIRECTORY, 0, folder.descriptor())),
      failed_(descriptor_ < 0 ? errno : 0) {}

Folder::Syncer::~Syncer() {
  if (descriptor_ >= 0) close(descriptor_);
}

Error Folder::Syncer::opened() const {
  return failed_ == 0 || failed_ == EACCES ? Error{} : fail_errno(failed_, folder_.path_, "opening the directory");
}

Error Folder::Syncer::sync(const std::string& path, int file) const {
  if (descriptor_ < 0) return fsync(file) == 0 ? Error{} : fail_errno(errno, path, "syncing the new name");
  return fsync(descriptor_) == 0 ? Error{} : fail_errno(errno, folder_.path_, "syncing the directory");
}

}  // namespace bfstore::region
