// A file in memory: shared with every process that maps it. Never sees filters.
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

// Which pages the mapping asks for: the system's choice, huge ones, or small ones without read-ahead.
enum class Pages { kAny, kHuge, kSmall };

class Mapping {
 public:
  // Maps `bytes` of the file from `offset` on, a multiple of the page size. The file must be at least that long:
  // touching a page after its end is SIGBUS. From 2 MiB on, the address is chosen so that the file's 2 MiB pieces can
  // be huge pages. More than fits in memory is in small pages, whatever was asked for. Reads nothing from the file yet.
  static Result<Mapping> map(const File& file, File::Access access, std::uint64_t offset, std::uint64_t bytes,
                             Pages pages = Pages::kAny);

  // `bytes` of private memory for a copy: `head`, which was read before, is at the beginning, and nothing else is read
  // yet. kNoMemory if what comes after `from` is more than the system has available.
  static Result<Mapping> room_for_copy(const File& file, std::span<const std::byte> head, std::uint64_t from,
                                       std::uint64_t bytes);

  // Fills that memory: from `from` on it has what the file has `offset` bytes further on, read through the descriptor.
  // kLost if the file ends before.
  [[nodiscard]] Error fill_copy(const File& file, std::uint64_t offset, std::uint64_t from) const;

  // Both at once.
  static Result<Mapping> copy(const File& file, std::span<const std::byte> head, std::uint64_t offset,
                              std::uint64_t from, std::uint64_t bytes);

  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] bool is_copy() const noexcept;

  // From now on a page that cannot be read is doubt and not SIGBUS.
  Error guard(const DoubtWord& doubt);
  [[nodiscard]] bool guarded() const noexcept;
  // A page could not be read: nothing in the mapping is from the file any more.
  [[nodiscard]] bool faulted() const noexcept;

  // How much of the mapping is in huge pages now (/proc/self/smaps); 0 if that cannot be read.
  [[nodiscard]] std::uint64_t huge_page_bytes() const;

  // Brings the pages of these bytes into memory, maps them, and waits for that. A page that cannot be read is an error
  // (kFault), not SIGBUS.
  [[nodiscard]] Error populate(std::uint64_t offset, std::uint64_t bytes) const;

  // Where a filesystem is memory, a hole takes a page when it is read, and is SIGBUS if none is left. So this reads the
  // holes of these parts of the file now, ascending ones, of which the mapping begins at `offset`. kNoSpace if there is
  // no room for them.
  [[nodiscard]] Error fill_holes(const File& file, std::uint64_t offset, const std::vector<Extent>& parts) const;

  // Copies bytes of the mapping. A page that cannot be read is an error (kFault), and neither SIGBUS nor a fault that a
  // guard notices. For bytes of which no word is more than a part of the whole: words may be torn.
  [[nodiscard]] Error read(std::span<std::byte> into, std::uint64_t offset) const;

  // From now on every bit there is 1, in this mapping only. `offset` is a multiple of the page size. If the range ends
  // in the middle of a page, so does the mapping. Takes 2 MiB of memory, however much is covered. kDamaged after 16,384
  // pieces of up to 2 MiB.
  [[nodiscard]] Error cover_with_ones(std::uint64_t offset, std::uint64_t bytes) const;

  // From now on the page of `offset` has these bytes and otherwise its present ones, in this mapping only. Later
  // changes of the file do not show in it. Other threads see the old page or the new one. If there is no room for
  // another page, the whole mapping is zero from now on. False if nothing could be done. Bytes of a whole page replace
  // a page that is not looked at: no SIGBUS, whatever became of the file.
  bool replace_page(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept;

  // Whether the system failed to write a page of the file: as File::failed_writeback(), but of the file that is mapped,
  // which on an overlay is the upper layer's. Writes the page of `offset` if it is dirty.
  [[nodiscard]] int failed_writeback(std::uint64_t offset) const noexcept;

  // How much of the mapping's range of the file is in the page cache (mincore). Empty if the kernel does not tell: it
  // tells the owner of the file, and a process that may write to it.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() const;

  // Maps what is in the page cache, one page of each 2 MiB, so that huge_page_bytes() can count. Skips a page that
  // cannot be read: no SIGBUS.
  void touch_sparsely() const noexcept;

 private:
  struct Held;
  explicit Mapping(std::unique_ptr<Held> held) noexcept;
  std::unique_ptr<Held> held_;
};

}  // namespace bfstore::region
