// A file in memory: shared with every process that maps it. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "region/file.hpp"
#include "region/guard.hpp"

namespace bfstore::region {

// Which pages of the file are asked for: what the system gives, huge ones, or small ones with nothing read ahead.
enum class Pages { kAny, kHuge, kSmall };

class Mapping {
 public:
  // Maps `bytes` of the file from `offset` on, a multiple of the page size. The file must be as long: touching a page
  // behind its end is SIGBUS. From 2 MiB on, the address is such that the file's 2 MiB pieces can be huge pages.
  // Nothing is read from the file yet.
  static Result<Mapping> map(const File& file, File::Access access, std::uint64_t offset, std::uint64_t bytes,
                             Pages pages = Pages::kAny);

  // `bytes` of private memory: `head`, which was read before, at the beginning, and from `from` on what the file has
  // `offset` bytes further on, read through the descriptor. kNoMemory, and nothing is read, if that is more than the
  // system has available; kLost if the file ends before.
  static Result<Mapping> copy(const File& file, std::span<const std::byte> head, std::uint64_t offset,
                              std::uint64_t from, std::uint64_t bytes);

  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] bool is_copy() const noexcept;

  // From now on a page that can not be read is doubt and no SIGBUS.
  Error guard(const DoubtWord& doubt);
  [[nodiscard]] bool guarded() const noexcept;
  // A page could not be read: nothing in the mapping is from the file any more.
  [[nodiscard]] bool faulted() const noexcept;

  // How much of the mapping is mapped by huge pages now (/proc/self/smaps); 0 where that can not be read.
  [[nodiscard]] std::uint64_t huge_page_bytes() const;

  // Brings the pages of these bytes into memory and maps them, and waits for that. What can not be read is an error
  // (kFault), not a SIGBUS.
  [[nodiscard]] Error populate(std::uint64_t offset, std::uint64_t bytes) const;

  // Every bit there is 1 from now on, for who has this mapping alone. `offset` is a multiple of the page size, and
  // where the range ends in the middle of a page, so does the mapping. Takes 2 MiB of memory, however much is covered;
  // kDamaged after 16,384 pieces of up to 2 MiB.
  [[nodiscard]] Error cover_with_ones(std::uint64_t offset, std::uint64_t bytes) const;

  // For this mapping alone, the page of `offset` is what it was, but for these bytes, from now on: what happens in the
  // file is not seen there any more. Other threads see the old page or the new one.
  // Where there is no room for another page, all of it is zero from now on. False where nothing could be done. Bytes
  // of a whole page take the place of a page that is not looked at: no SIGBUS, whatever became of the file.
  bool replace_page(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept;

  // Whether the system failed to write a page of the file, as File::failed_writeback() tells, but of the file that the
  // mapping is of: on an overlay that is the upper layer's. It writes the page of `offset`, if that is dirty.
  [[nodiscard]] int failed_writeback(std::uint64_t offset) const noexcept;

  // How much of the mapping's range of the file is in the page cache (mincore); nothing where the kernel does not tell,
  // which it does only to who owns the file or may write to it.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() const;

  // Maps what is in the page cache, one page of each 2 MiB, so that huge_page_bytes() has something to count. A page
  // that can not be read is left out: no SIGBUS.
  void touch_sparsely() const noexcept;

 private:
  struct Held;
  explicit Mapping(std::unique_ptr<Held> held) noexcept;
  std::unique_ptr<Held> held_;
};

}  // namespace bfstore::region
