#include "memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "fail.hpp"

namespace bench {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept { return (bytes + kHugePage - 1) & ~(kHugePage - 1); }

// A mapping's first line in /proc/self/maps and smaps: "7f00-7f20 r--s 00000000 fe:00 12345   /path".
struct MapsLine {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  bool readable = false;
  bool shared = false;
};

// False for the other lines of smaps, "Rss: 812 kB".
bool read_maps_line(const std::string& line, MapsLine& out) {
  std::istringstream in(line);
  char dash = 0;
  std::string rights;
  std::string device;
  in >> std::hex >> out.begin >> dash >> out.end >> rights >> out.offset >> device >> std::dec >> out.inode;
  out.readable = rights.starts_with('r');
  out.shared = rights.ends_with('s');
  return in && dash == '-';
}

// "Rss: 812 kB" -> 812; 0 for other fields.
std::uint64_t kibibytes_in(const std::string& line, std::string_view field) {
  return line.starts_with(field) ? std::stoull(line.substr(field.size())) : 0;
}

struct Mount {
  std::string path;
  std::string type;
};

// "36 35 98:0 /root /mount rw,noatime master:1 - ext4 /dev/root rw"
Mount read_mount(const std::string& line) {
  std::istringstream in(line);
  std::string skipped;
  Mount mount;
  in >> skipped >> skipped >> skipped >> skipped >> mount.path;
  while (in >> skipped && skipped != "-") {
  }
  in >> mount.type;
  return mount;
}

bool is_inside(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

}  // namespace

// Gets memory from the kernel and not from malloc, whose memory may have been used before, in small pages.
std::byte* allocate_pages(std::uint64_t bytes, Pages pages) {
  const std::uint64_t rounded = round_up(bytes);
  void* mapped = mmap(nullptr, rounded + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) fail_errno("memory for a buffer of " + std::to_string(bytes) + " bytes");
  auto* start = static_cast<std::byte*>(mapped);
  const std::uint64_t before =
      round_up(reinterpret_cast<std::uint64_t>(start)) - reinterpret_cast<std::uint64_t>(start);
  if (before != 0) static_cast<void>(munmap(start, before));
  static_cast<void>(munmap(start + before + rounded, kHugePage - before));
  // Advice: if it is refused, the table shows that there are no huge pages.
  static_cast<void>(madvise(start + before, rounded, pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
  return start + before;
}

void free_pages(std::byte* start, std::uint64_t bytes) noexcept { static_cast<void>(munmap(start, round_up(bytes))); }

void ask_for_huge_pages(void* start, std::uint64_t bytes) noexcept {
  const auto begin = round_up(reinterpret_cast<std::uint64_t>(start));
  const auto end = (reinterpret_cast<std::uint64_t>(start) + bytes) & ~(kHugePage - 1);
  if (begin < end) static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
}

std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (const std::uint64_t kibibytes = kibibytes_in(line, "MemAvailable:")) return kibibytes * 1024;
  }
  return 0;
}

TemporaryFolder::TemporaryFolder(const std::string& parent) : path_(parent + "/bfbench-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) fail_errno("making a folder in " + parent);
  path_ = std::filesystem::canonical(path_).string();  // as in /proc/self/maps
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

// Finds the mapping by its inode, because a file that was made without a name and then got one is listed without a
// name. The page that holds a writer's lock is mapped, too, and must never be touched.
std::byte* mapping_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) fail_errno(path);
  std::ifstream maps("/proc/self/maps");
  MapsLine mapping;
  for (std::string line; std::getline(maps, line);) {
    if (!read_maps_line(line, mapping) || mapping.inode != file.st_ino || mapping.offset != 0) continue;
    if (mapping.readable && mapping.shared) return reinterpret_cast<std::byte*>(mapping.begin);
  }
  fail(path + " is not mapped from its first byte on, as it should be");
}

double huge_page_share(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  MapsLine mapping;
  bool ours = false;
  std::uint64_t resident = 0;
  std::uint64_t huge = 0;
  for (std::string line; std::getline(smaps, line);) {
    if (read_maps_line(line, mapping)) {
      ours = mapping.begin <= wanted && wanted < mapping.end;
    } else if (ours) {
      resident += kibibytes_in(line, "Rss:");
      for (const char* kind : {"AnonHugePages:", "FilePmdMapped:", "ShmemPmdMapped:"}) huge += kibibytes_in(line, kind);
    }
  }
  return resident == 0 ? 0 : static_cast<double>(huge) / static_cast<double>(resident);
}

std::string filesystem_of(const std::string& path) {
  std::ifstream mounts("/proc/self/mountinfo");
  Mount best;
  for (std::string line; std::getline(mounts, line);) {
    const Mount mount = read_mount(line);
    if (is_inside(path, mount.path) && mount.path.size() >= best.path.size()) best = mount;
  }
  return best.type.empty() ? "unknown" : best.type;
}

}  // namespace bench
