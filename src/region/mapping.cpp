// Boost.Interprocess keeps the mapping. It gets our descriptor, because its own file_mapping opens without O_CLOEXEC
// and O_NOFOLLOW. Neither of its classes checks the file's length.
#include "region/mapping.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "region/blocks.hpp"
#include "region/descriptor.hpp"
#include "region/memory_limit.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace bfstore::region {
namespace {

namespace bip = boost::interprocess;

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kMostCovers = 16'384;  // each of at most 2 MiB of damage
constexpr const char* kUnreadable = ": a page could not be read (an I/O error, or the file was truncated).";

// The interface that Boost needs of an object that it maps.
struct Mappable {
  int descriptor;
  [[nodiscard]] bip::mapping_handle_t get_mapping_handle() const {
    return bip::ipcdetail::mapping_handle_from_file_handle(descriptor);
  }
};

// An address range that is reserved until something is mapped over a part of it.
class Reservation {
 public:
  explicit Reservation(std::uint64_t bytes) noexcept
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (base_ != MAP_FAILED) munmap(base_, bytes_);
  }

  [[nodiscard]] bool ok() const noexcept { return base_ != MAP_FAILED; }
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(base_); }

  // Gives up all of the reservation except [from, from + bytes), which now belongs to another mapping.
  void keep(std::uint64_t from, std::uint64_t bytes) noexcept {
    const std::uint64_t end = from + bytes;
    if (from > address()) munmap(base_, from - address());
    if (end < address() + bytes_) munmap(reinterpret_cast<void*>(end), address() + bytes_ - end);
    base_ = MAP_FAILED;
  }

 private:
  std::uint64_t bytes_;
  void* base_;
};

bip::mapped_region map_aligned(int descriptor, bip::mode_t mode, std::uint64_t offset, std::uint64_t bytes) {
  const auto where = static_cast<bip::offset_t>(offset);
  if (bytes < kHugePage) return {Mappable{descriptor}, mode, where, bytes};
  Reservation reservation(bytes + kHugePage);
  if (!reservation.ok()) return {Mappable{descriptor}, mode, where, bytes};
  // Address and file offset agree modulo 2 MiB.
  const std::uint64_t skew = (offset - reservation.address()) & (kHugePage - 1);
  const std::uint64_t address = reservation.address() + skew;
  bip::mapped_region region(Mappable{descriptor}, mode, where, bytes, reinterpret_cast<const void*>(address),
                            MAP_SHARED | MAP_FIXED);
  reservation.keep(address, base::round_up(bytes, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))));
  return region;
}

// True on tmpfs and ramfs. An overlay does not tell its lower filesystem: if the blocks of a file cannot be asked for,
// it may be one of these.
bool holes_take_memory(int descriptor) noexcept {
  struct statfs facts {};
  if (fstatfs(descriptor, &facts) != 0) return false;
  const auto magic = static_cast<std::uint32_t>(facts.f_type);
  if (magic == OVERLAYFS_SUPER_MAGIC) return !unowned_in(descriptor, {{0, 1}});
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

// Returns the number of bytes of these parts of a file that may be holes: 0 if the file has enough pages for them, and
// has no pages between and after the parts.
std::uint64_t may_be_missing(const File& file, const FileFacts& facts, const std::vector<Extent>& parts) {
  std::uint64_t wanted = 0;
  std::uint64_t end = 0;
  bool only_in_parts = true;
  for (const Extent& part : parts) {
    only_in_parts = only_in_parts && file.is_hole(end, part.offset);
    end = part.offset + part.bytes;
    wanted += part.bytes;
  }
  only_in_parts = only_in_parts && file.is_hole(end, facts.bytes);
  return only_in_parts ? wanted - std::min(wanted, facts.allocated_bytes) : wanted;
}

// mincore tells the file's owner, root, and a process that may write to the file.
bool may_know_residence(int descriptor) noexcept {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) return false;
  const uid_t self = geteuid();
  if (self == 0 || self == facts.st_uid) return true;
  return faccessat(descriptor, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

std::uint64_t kibibytes_in(const std::string& line, const std::string& field) {
  return line.rfind(field, 0) == 0 ? std::stoull(line.substr(field.size())) * 1024 : 0;
}

// The memory that the system could give without taking it from a process (proc(5)), or all memory if it does not tell.
std::uint64_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    if (const std::uint64_t bytes = kibibytes_in(line, "MemAvailable:"); bytes != 0) return bytes;
  }
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Private memory, all zero at first.
class Memory {
 public:
  Memory() noexcept = default;
  explicit Memory(std::uint64_t bytes, int sharing = MAP_PRIVATE) noexcept
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0)) {}
  Memory(Memory&& other) noexcept : bytes_(other.bytes_), base_(std::exchange(other.base_, MAP_FAILED)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(base_, other.base_);
    return *this;
  }
  ~Memory() {
    if (ok()) munmap(base_, bytes_);
  }

  [[nodiscard]] bool ok() const noexcept { return base_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::byte> all() const noexcept { return {static_cast<std::byte*>(base_), bytes_}; }

 private:
  std::uint64_t bytes_ = 0;
  void* base_ = MAP_FAILED;
};

}  // namespace

struct Mapping::Held {
  bip::mapped_region region;
  std::string path;
  bool residence_is_told = false;
  bool is_larger_than_memory = false;
  Memory copy;  // used instead of a region of the file
  Memory ones;  // covers damage, once there is any
  std::uint64_t covers = 0;
  Guard guard;  // destroyed before what it guards
};

Mapping::Mapping(std::unique_ptr<Held> held) noexcept : held_(std::move(held)) {}
Mapping::Mapping(Mapping&&) noexcept = default;
Mapping& Mapping::operator=(Mapping&&) noexcept = default;
Mapping::~Mapping() = default;

Result<Mapping> Mapping::map(const File& file, File::Access access, std::uint64_t offset, std::uint64_t bytes,
                             Pages pages, std::uint64_t reach) {
  try {
    const bip::mode_t mode = access == File::Access::kRead ? bip::read_only : bip::read_write;
    // A mapping keeps its open file description, and so that description's locks, and a forked child has the mapping.
    // So that the child does not hold its parent's locks, a writer's mapping has its own description, if possible.
    Result<std::optional<Descriptor>> another = std::optional<Descriptor>();
    if (access == File::Access::kReadWrite && file.writable()) another = file.another_description();
    if (!another) return another.error();
    auto held = std::make_unique<Held>();
    const int descriptor = another->has_value() ? (*another)->number() : file.descriptor();
    held->region = map_aligned(descriptor, mode, offset, std::max(bytes, reach));
    held->path = file.path();
    held->residence_is_told = access == File::Access::kReadWrite || may_know_residence(file.descriptor());
    // In a file that does not fit in memory, each huge page that is read evicts another one. Data that is already in
    // huge pages stays in them. This is advice, which the kernel may not know: a failure is not an error.
    held->is_larger_than_memory = bytes >= kHugePage && !fits_in_memory(bytes);
    const bool small = pages == Pages::kSmall || held->is_larger_than_memory;
    if (small || (pages == Pages::kHuge && bytes >= kHugePage)) {
      const int advice = small ? MADV_RANDOM : MADV_HUGEPAGE;
      static_cast<void>(madvise(held->region.get_address(), held->region.get_size(), advice));
    }
    return Mapping(std::move(held));
  } catch (const bip::interprocess_exception& error) {
    const std::string more =
        reach > bytes ? ", with addresses for the " + std::to_string(reach) + " that it may grow to" : "";
    return base::fail_errno(error.get_native_error(), file.path(),
                            "mapping " + std::to_string(bytes) + " bytes into memory" + more);
  }
}

Result<Mapping> Mapping::room_for_copy(const File& file, std::span<const std::byte> head, std::uint64_t from,
                                       std::uint64_t bytes) {
  const std::uint64_t available = std::min(available_bytes(), memory_for_files());
  if (bytes - from > available) {
    return base::fail(Code::kNoMemory, file.path() + ": a copy of " + std::to_string(bytes - from) +
                                           " bytes does not fit in the " + std::to_string(available) +
                                           " bytes of memory that are available. Open it without a copy.");
  }
  auto held = std::make_unique<Held>();
  held->path = file.path();
  held->copy = Memory(bytes);
  if (!held->copy.ok())
    return base::fail_errno(errno, file.path(), "reserving " + std::to_string(bytes) + " bytes of memory for a copy");
  std::copy(head.begin(), head.end(), held->copy.all().begin());
  return Mapping(std::move(held));
}

Error Mapping::fill_copy(const File& file, std::uint64_t offset, std::uint64_t from) const {
  const std::span<std::byte> rest = held_->copy.all().subspan(from);
  const auto got = file.read_at(rest, offset + from);
  if (!got) return got.error();
  if (*got != rest.size()) return base::fail(Code::kLost, file.path() + ": truncated while it was read. Try again.");
  return {};
}

Result<Mapping> Mapping::copy(const File& file, std::span<const std::byte> head, std::uint64_t offset,
                              std::uint64_t from, std::uint64_t bytes) {
  auto made = room_for_copy(file, head, from, bytes);
  if (!made) return made;
  if (Error error = made->fill_copy(file, offset, from); !error.ok()) return error;
  return made;
}

std::byte* Mapping::data() const noexcept {
  return held_->copy.ok() ? held_->copy.all().data() : static_cast<std::byte*>(held_->region.get_address());
}

std::uint64_t Mapping::bytes() const noexcept {
  return held_->copy.ok() ? held_->copy.all().size() : held_->region.get_size();
}

bool Mapping::is_copy() const noexcept { return held_->copy.ok(); }

bool Mapping::is_larger_than_memory() const noexcept { return held_->is_larger_than_memory; }

Error Mapping::guard(const DoubtWord& doubt) {
  if (held_->copy.ok()) return {};
  auto guard = Guard::watch(data(), bytes(), doubt);
  if (!guard) return base::fail(guard.error().code, held_->path + ": " + guard.error().message);
  held_->guard = std::move(*guard);
  return {};
}

bool Mapping::guarded() const noexcept { return held_->guard.is_on(); }

bool Mapping::faulted() const noexcept { return held_->guard.faulted(); }

std::uint64_t Mapping::huge_page_bytes() const {
  const auto first = reinterpret_cast<std::uint64_t>(data());
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool ours = false;
  std::uint64_t sum = 0;
  while (std::getline(smaps, line)) {
    const std::size_t dash = line.find('-');
    if (dash != std::string::npos && dash < line.find(' ')) {  // "7f00-7f20 r--s ...": the next mapping
      const std::uint64_t begin = std::stoull(line, nullptr, 16);
      ours = begin >= first && begin < first + bytes();
    } else if (ours) {
      sum += kibibytes_in(line, "FilePmdMapped:") + kibibytes_in(line, "ShmemPmdMapped:");
    }
  }
  return sum;
}

// The kernel copies, and returns an error where an access by this process would raise a signal.
Error Mapping::read(std::span<std::byte> into, std::uint64_t offset) const {
  const iovec to{into.data(), into.size()};
  const iovec from{data() + offset, into.size()};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got >= 0 && static_cast<std::size_t>(got) == into.size()) return {};
  if (got < 0 && (errno == ENOSYS || errno == EPERM)) {  // a sandbox forbids the call
    if (Error error = populate(offset, into.size()); !error.ok()) return error;
    std::memcpy(into.data(), data() + offset, into.size());
    return {};
  }
  return Error{Code::kFault, got < 0 ? errno : EFAULT, held_->path + kUnreadable + base::kRebuild};
}

void Mapping::read_ahead(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  // The kernel leaves out what is beyond the disk's readahead, 128 KiB unless it was set, and says nothing.
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 17;
  const int before = errno;
  const std::uint64_t end = offset + bytes;
  std::uint64_t at = base::round_down(offset, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  for (; at < end; at += kPiece) static_cast<void>(madvise(data() + at, std::min(kPiece, end - at), MADV_WILLNEED));
  errno = before;  // a failure costs time alone
}

Error Mapping::populate(std::uint64_t offset, std::uint64_t bytes) const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = base::round_down(offset, page);
  std::byte* const from = data() + first;
  const std::uint64_t length = offset + bytes - first;
  if (held_->copy.ok() || madvise(from, length, MADV_POPULATE_READ) == 0) return {};
  if (errno == EFAULT || errno == EIO || errno == EHWPOISON) {
    return Error{Code::kFault, errno, held_->path + kUnreadable + base::kRebuild};
  }
  // Linux before 5.14: starts the read and does not wait for it.
  if (errno == EINVAL && madvise(from, length, MADV_WILLNEED) == 0) return {};
  return base::fail_errno(errno, held_->path, "bringing it into memory");
}

// A page of a hole stays once it was read, so the next handle need only ask for the file's length. Without
// MADV_POPULATE_READ (Linux before 5.14) every read that fails is SIGBUS, so none can be tried.
Error Mapping::fill_holes(const File& file, std::uint64_t offset, const std::vector<Extent>& parts) const {
  const auto facts = file.facts();
  if (!facts) return facts.error();
  if (held_->copy.ok() || facts->allocated_bytes >= facts->bytes || !holes_take_memory(file.descriptor())) return {};
  const std::uint64_t missing = may_be_missing(file, *facts, parts);
  if (missing == 0) return {};
  bool there = missing <= memory_for_files();
  for (const Extent& part : parts) {
    if (there) there = madvise(data() + (part.offset - offset), part.bytes, MADV_POPULATE_READ) == 0;
  }
  if (there) return {};
  return Error{Code::kNoSpace, ENOSPC,
               held_->path +
                   ": has holes, which take memory when they are read, and this filesystem in memory, or the "
                   "process's control group, has no room for them. Make room, or copy the file with cp "
                   "--sparse=never."};
}

// Maps the same memory many times: mremap of shared pages with an old length of 0 maps them once more. Each time takes
// one of the mappings that a process may have (vm.max_map_count, usually 65530), and splitting the file's mapping takes
// another.
Error Mapping::cover_with_ones(std::uint64_t offset, std::uint64_t bytes) const {
  if (held_->copy.ok()) {
    std::memset(data() + offset, 0xff, bytes);
    return {};
  }
  if (!held_->ones.ok()) {
    held_->ones = Memory(kHugePage, MAP_SHARED);
    if (!held_->ones.ok()) return base::fail_errno(errno, held_->path, "covering its damaged places");
    std::memset(held_->ones.all().data(), 0xff, kHugePage);
  }
  for (std::uint64_t done = 0; done < bytes; done += kHugePage) {
    if (++held_->covers > kMostCovers)
      return base::fail(Code::kDamaged, held_->path + ": damaged at too many places." + base::kRestoreSealed + ".");
    const std::uint64_t piece = std::min(kHugePage, bytes - done);
    void* const ones = held_->ones.all().data();
    if (mremap(ones, 0, piece, MREMAP_MAYMOVE | MREMAP_FIXED, data() + offset + done) == MAP_FAILED)
      return base::fail_errno(errno, held_->path, "covering its damaged places");
  }
  return {};
}

bool Mapping::replace_page(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* const begin = data() + offset / page * page;
  void* const fresh = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh != MAP_FAILED) {
    if (bytes.size() < page) std::memcpy(fresh, begin, page);
    std::memcpy(static_cast<std::byte*>(fresh) + offset % page, bytes.data(), bytes.size());
    if (mremap(fresh, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != MAP_FAILED) return true;
    munmap(fresh, page);
  }
  // Uses the same addresses and one mapping, as before, so that no limit of either applies.
  return mmap(data(), this->bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
              -1, 0) != MAP_FAILED;
}

int Mapping::failed_writeback(std::uint64_t offset) const noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return msync(data() + offset / page * page, page, MS_SYNC) == 0 ? 0 : errno;
}

std::optional<std::uint64_t> Mapping::resident_bytes(std::uint64_t most) const {
  if (!held_->residence_is_told) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t asked = std::min(bytes(), most);
  std::vector<unsigned char> in_core((asked + page - 1) / page);
  if (mincore(data(), asked, in_core.data()) != 0) return std::nullopt;
  std::uint64_t pages = 0;
  for (const unsigned char flags : in_core) pages += flags & 1U;
  return std::min(pages * page, asked);
}

void Mapping::touch_sparsely() const noexcept {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (std::uint64_t offset = 0; offset < bytes(); offset += kHugePage) {
    unsigned char in_core = 0;
    if (mincore(data() + offset, page, &in_core) == 0 && (in_core & 1U) != 0) {
      static_cast<void>(madvise(data() + offset, page, MADV_POPULATE_READ));
    }
  }
}

}  // namespace bfstore::region
