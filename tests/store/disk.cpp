#include "disk.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "support.hpp"

namespace store_test {

namespace {

std::uint64_t inode_of(const struct stat& facts) noexcept { return static_cast<std::uint64_t>(facts.st_ino); }

}  // namespace

Disk::Disk(std::string path)
    : path_(std::move(path)), disk_(read_bytes(path_)), clean_(disk_), written_(disk_.size() / kPage + 1) {
  struct stat facts {};
  if (stat(path_.c_str(), &facts) == 0) inode_ = inode_of(facts);
}

bool Disk::is_its(int descriptor) const {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 && inode_of(facts) == inode_;
}

void Disk::written(std::uint64_t offset, std::uint64_t bytes) {
  for (std::uint64_t page = offset / kPage; page * kPage < offset + bytes; ++page) written_.at(page) = true;
}

bool Disk::is_dirty(const std::string& now, std::size_t at) const {
  return written_[at / kPage] || now.compare(at, kPage, clean_, at, kPage) != 0;
}

void Disk::synced() {
  const std::string now = read_bytes(path_);
  for (std::size_t at = 0; at < now.size(); at += kPage) {
    if (is_dirty(now, at)) disk_.replace(at, kPage, now, at, kPage);
  }
  clean_ = now;
  written_.assign(written_.size(), false);
}

void Disk::sync_failed() {
  ++failures_;
  clean_ = read_bytes(path_);
  written_.assign(written_.size(), false);
}

void Disk::sync_failed_for_body() {
  ++failures_;
  constexpr std::size_t kHeader = 4 * kPage;
  clean_.replace(kHeader, std::string::npos, read_bytes(path_), kHeader, std::string::npos);
  std::fill(written_.begin() + kHeader / kPage, written_.end(), false);
}

void Disk::write_some(std::mt19937_64& random) {
  const std::string now = read_bytes(path_);
  for (std::size_t at = 0; at < now.size(); at += kPage) {
    if (is_dirty(now, at) && random() % 2 == 0) disk_.replace(at, kPage, now, at, kPage);
  }
  clean_ = now;
  written_.assign(written_.size(), false);
}

void Disk::write_back_failed(std::mt19937_64& random) {
  write_some(random);
  ++failures_;
}

void Disk::opened(int descriptor) { knows_[descriptor] = told_ == failures_ ? failures_ : 0; }

bool Disk::tells(int descriptor) {
  std::uint64_t& known = knows_[descriptor];
  if (known == failures_) return false;
  known = told_ = failures_;
  return true;
}

void Disk::remounted(std::mt19937_64& random) {
  if (random() % 2 == 0) {
    synced();
  } else {
    write_some(random);
  }
  reclaim();
  told_ = failures_;
}

std::string Disk::after_power_cut(std::mt19937_64& random) const {
  const std::string now = read_bytes(path_);
  std::string image = disk_;
  for (std::size_t page = 0; page < now.size(); page += kPage) {
    if (!is_dirty(now, page)) continue;
    for (std::size_t at = page; at < std::min(page + kPage, now.size()); at += kSector) {
      if (random() % 2 == 0) image.replace(at, kSector, now, at, kSector);
    }
  }
  return image;
}

void Disk::reclaim() {
  const std::string now = read_bytes(path_);
  for (std::size_t at = 0; at < now.size(); at += kPage) {
    if (is_dirty(now, at) || now.compare(at, kPage, disk_, at, kPage) == 0) continue;
    write_bytes(path_, at, disk_.substr(at, kPage));
    clean_.replace(at, kPage, disk_, at, kPage);
    written_[at / kPage] = false;
  }
}

}  // namespace store_test
