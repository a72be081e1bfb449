// The memory of filters: a buffer on the heap, or the library's mapping of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bench {

enum class Pages { kHuge, kSmall };

// Allocates memory that begins at a multiple of 2 MiB, and asks for huge pages for it, as an engine's block cache
// would, or for pages of 4 KiB.
std::byte* allocate_pages(std::uint64_t bytes, Pages pages = Pages::kHuge);
void free_pages(std::byte* start, std::uint64_t bytes) noexcept;

// Asks for huge pages for memory that other code has allocated and nothing has touched yet.
void ask_for_huge_pages(void* start, std::uint64_t bytes) noexcept;

// The memory that the machine has left, in bytes.
std::uint64_t available_memory();

class HeapBuffer {
 public:
  explicit HeapBuffer(std::uint64_t bytes, Pages pages = Pages::kHuge)
      : start_(allocate_pages(bytes, pages), Free{bytes}) {}

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_.get(), start_.get_deleter().bytes}; }

 private:
  struct Free {
    std::uint64_t bytes;
    void operator()(std::byte* start) const noexcept { free_pages(start, bytes); }
  };
  std::unique_ptr<std::byte, Free> start_;
};

// A new folder in `parent`, removed with its contents.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// The address at which this process has mapped the file from its first byte. The limit is measured in the filter's own
// mapping, because another one could have other pages.
std::byte* mapping_of(const std::string& path);

// The share of the mapping around an address that is in huge pages, from 0 to 1.
double huge_page_share(const std::byte* address);

// "ext4", "tmpfs", ...: huge pages and write-back depend on this.
std::string filesystem_of(const std::string& path);

}  // namespace bench
