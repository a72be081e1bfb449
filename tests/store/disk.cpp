#include "disk.hpp"

#include <sys/stat.h>

#include "support.hpp"

namespace store_test {

namespace {

std::uint64_t inode_of(const struct stat& facts) noexcept { return static_cast<std::uint64_t>(facts.st_ino); }

}  // namespace

Disk::Disk(std::string path) : path_(std::move(path)), disk_(read_bytes(path_)), clean_(disk_) {
  struct stat facts {};
  if (stat(path_.c_str(), &facts) == 0) inode_ = inode_of(facts);
}

bool Disk::is_its(int descriptor) const {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 && inode_of(facts) == inode_;
}

void Disk::synced() {
  const std::string now = read_bytes(path_);
  for (std::size_t at = 0; at < now.size(); at += kPage) {
    if (now.compare(at, kPage, clean_, at, kPage) != 0) disk_.replace(at, kPage, now, at, kPage);
  }
  clean_ = now;
}

void Disk::sync_failed() { clean_ = read_bytes(path_); }

void Disk::sync_failed_for_body() {
  constexpr std::size_t kHeader = 4 * kPage;
  clean_.replace(kHeader, std::string::npos, read_bytes(path_), kHeader, std::string::npos);
}

std::string Disk::after_power_cut(std::mt19937_64& random) const {
  const std::string now = read_bytes(path_);
  std::string image = disk_;
  for (std::size_t page = 0; page < now.size(); page += kPage) {
    if (now.compare(page, kPage, clean_, page, kPage) == 0) continue;
    for (std::size_t at = page; at < std::min(page + kPage, now.size()); at += kSector) {
      if (random() % 2 == 0) image.replace(at, kSector, now, at, kSector);
    }
  }
  return image;
}

void Disk::reclaim() {
  const std::string now = read_bytes(path_);
  for (std::size_t at = 0; at < now.size(); at += kPage) {
    const bool counts_as_clean = now.compare(at, kPage, clean_, at, kPage) == 0;
    if (!counts_as_clean || now.compare(at, kPage, disk_, at, kPage) == 0) continue;
    write_bytes(path_, at, disk_.substr(at, kPage));
    clean_.replace(at, kPage, disk_, at, kPage);
  }
}

}  // namespace store_test
