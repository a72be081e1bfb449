#include "kernel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "fail.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) fail_errno(path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number_); }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

struct stat stat_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) fail_errno(path);
  return facts;
}

// The first line of a mapping in smaps ("7f00-7f20 r--s 00000000 fe:00 12345 /path") says whether the following lines
// are about our file.
bool is_first_line(const std::string& line) { return line.find('-') < line.find(' '); }

std::uint64_t inode_in(const std::string& line) {
  std::istringstream in(line);
  std::string skipped;
  std::uint64_t inode = 0;
  in >> skipped >> skipped >> skipped >> skipped >> inode;
  return inode;
}

}  // namespace

void drop_from_memory(const std::string& path) {
  constexpr int kTries = 100;
  const Descriptor file(path);
  if (fdatasync(file.number()) != 0) fail_errno(path);
  const Watched watched(path);
  for (int i = 0; i < kTries; ++i) {
    if (posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) != 0) break;
    if (watched.pages_in_memory() == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // read-ahead is still under way
  }
  throw Unmeasurable("the file system keeps its files in memory");
}

Watched::Watched(const std::string& path) : data_(nullptr), bytes_(static_cast<std::uint64_t>(stat_of(path).st_size)) {
  const Descriptor file(path);
  void* const mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.number(), 0);
  if (mapped == MAP_FAILED) fail_errno(path);
  data_ = static_cast<const std::byte*>(mapped);
}

Watched::~Watched() { munmap(const_cast<std::byte*>(data_), bytes_); }

std::uint64_t Watched::pages_in_memory() const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> flags((bytes_ + page - 1) / page);
  if (mincore(const_cast<std::byte*>(data_), bytes_, flags.data()) != 0) fail_errno("mincore");
  return static_cast<std::uint64_t>(
      std::count_if(flags.begin(), flags.end(), [](unsigned char flag) { return (flag & 1U) != 0; }));
}

Faults faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_majflt, usage.ru_minflt};
}

std::uint64_t io_bytes(const std::string& field) {
  std::ifstream io("/proc/self/io");
  std::uint64_t bytes = 0;
  for (std::string name; io >> name >> bytes;) {
    if (name == field + ':') return bytes;
  }
  fail("/proc/self/io does not say " + field);
}

std::optional<std::uint64_t> device_bytes_written(const std::string& path) {
  constexpr std::uint64_t kSector = 512;  // the unit of /proc/diskstats, even if the device has another one
  const dev_t device = stat_of(path).st_dev;
  std::ifstream disks("/proc/diskstats");
  for (std::string line; std::getline(disks, line);) {
    std::istringstream in(line);
    unsigned number[2] = {};
    std::string skipped;
    std::uint64_t count[7] = {};  // reads: done, merged, sectors, ms; writes: done, merged, sectors
    in >> number[0] >> number[1] >> skipped;
    for (std::uint64_t& value : count) in >> value;
    if (in && number[0] == major(device) && number[1] == minor(device)) return count[6] * kSector;
  }
  return std::nullopt;
}

Memory memory_of(pid_t process, const std::string& path) {
  const std::uint64_t inode = stat_of(path).st_ino;
  std::ifstream smaps("/proc/" + std::to_string(process) + "/smaps");
  Memory memory;
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    if (is_first_line(line)) ours = inode_in(line) == inode;
    if (ours && line.starts_with("Rss:")) memory.resident_bytes += std::stoull(line.substr(4)) * 1024;
    if (ours && line.starts_with("Pss:")) memory.proportional_bytes += std::stoull(line.substr(4)) * 1024;
  }
  return memory;
}

}  // namespace bench::system
