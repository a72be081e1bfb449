// A file in memory, shared with every process that maps it. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "region/file.hpp"
#include "region/guard.hpp"

namespace bfstore::region {

// The pages that the mapping asks for: the system's choice, huge ones, or small ones without read-ahead.
enum class Pages { kAny, kHuge, kSmall };

class Mapping {
 public:
  // Maps `bytes` of the file from `offset`, a multiple of the page size. The file must be at least that long: touching
  // a page after its end is SIGBUS. For 2 MiB or more, the address is chosen so that the file's 2 MiB pieces can be
  // huge pages. A mapping that does not fit in memory gets small pages, whatever was asked for. Reads nothing from the
  // file yet. If the file will grow, `reach` is the largest number of bytes that it may come to have: the mapping has
  // addresses for all of them.
  static Result<Mapping> map(const File& file, File::Access access, std::uint64_t offset, std::uint64_t bytes,
                             Pages pages = Pages::kAny, std::uint64_t reach = 0);

  // Reserves `bytes` of private memory for a copy. Puts `head`, which was read before, at the beginning, and reads
  // nothing else yet. kNoMemory if the bytes after `from` are more than the system has available.
  static Result<Mapping> room_for_copy(const File& file, std::span<const std::byte> head, std::uint64_t from,
                                       std::uint64_t bytes);

  // Fills that memory from `from` to its end with the file's bytes, which begin at `offset + from` there, read through
  // the descriptor. kLost if the file ends before.
  [[nodiscard]] Error fill_copy(const File& file, std::uint64_t offset, std::uint64_t from) const;

  // Reserves and fills the memory in one call.
  static Result<Mapping> copy(const File& file, std::span<const std::byte> head, std::uint64_t offset,
                              std::uint64_t from, std::uint64_t bytes);

  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] bool is_copy() const noexcept;
  // The range of the file did not fit in the memory that this process may use, when it was mapped.
  [[nodiscard]] bool is_larger_than_memory() const noexcept;

  // Makes a page that cannot be read doubt and not SIGBUS, from now on.
  Error guard(const DoubtWord& doubt);
  [[nodiscard]] bool guarded() const noexcept;
  // A page could not be read: nothing in the mapping is from the file any more.
  [[nodiscard]] bool faulted() const noexcept;

  // The bytes of the mapping that are in huge pages now (/proc/self/smaps); 0 if that cannot be read.
  [[nodiscard]] std::uint64_t huge_page_bytes() const;

  // Begins to read the pages of these bytes. Advice: an error shows when they are read.
  void read_ahead(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  // Brings the pages of these bytes into memory, maps them, and waits for that. A page that cannot be read is an error
  // (kFault), not SIGBUS.
  [[nodiscard]] Error populate(std::uint64_t offset, std::uint64_t bytes) const;

  // On a filesystem in memory, reading a hole takes a page, and is SIGBUS if none is left. So this reads the holes of
  // these ascending parts of the file now. The mapping begins at `offset` of the file. kNoSpace if there is no room for
  // them.
  [[nodiscard]] Error fill_holes(const File& file, std::uint64_t offset, const std::vector<Extent>& parts) const;

  // Copies bytes of the mapping. A page that cannot be read is an error (kFault), and neither SIGBUS nor a fault that a
  // guard notices. Words may be torn, so do not use it for a word that has a meaning alone.
  [[nodiscard]] Error read(std::span<std::byte> into, std::uint64_t offset) const;

  // Makes every bit of the range 1, in this mapping only. `offset` is a multiple of the page size. If the range ends in
  // the middle of a page, so does the mapping. Takes 2 MiB of memory, however much is covered. kDamaged after 16,384
  // pieces of up to 2 MiB.
  [[nodiscard]] Error cover_with_ones(std::uint64_t offset, std::uint64_t bytes) const;

  // Replaces the page of `offset` with a copy that has these bytes, in this mapping only. Later changes of the file do
  // not show in it. Other threads see the old page or the new one. If there is no room for another page, the whole
  // mapping is zero from now on. Returns false if nothing could be done. If `bytes` is a whole page, the old page is
  // not read: no SIGBUS, whatever happened to the file.
  bool replace_page(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept;

  // Like File::failed_writeback(), but asks about the mapped file, which on an overlay is the upper layer's. Writes the
  // page of `offset` if it is dirty.
  [[nodiscard]] int failed_writeback(std::uint64_t offset) const noexcept;

  // Of the first `most` bytes of the mapping, those that are in the page cache (mincore). Empty if the kernel does not
  // tell: it tells only the owner of the file, and a process that may write to it. It takes a byte of memory for each
  // page, and the time for that: do not ask for what a file may reach one day.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes(std::uint64_t most = UINT64_MAX) const;

  // Maps one page of each 2 MiB that is in the page cache, so that huge_page_bytes() can count. Skips a page that
  // cannot be read: no SIGBUS.
  void touch_sparsely() const noexcept;

 private:
  struct Held;
  explicit Mapping(std::unique_ptr<Held> held) noexcept;
  std::unique_ptr<Held> held_;
};

}  // namespace bfstore::region
