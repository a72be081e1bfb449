// bfstore's C ABI as a subject: the functions of the shared library, as a program in another language calls them.
#pragma once

#include <bfstore_engine.h>
#include <bfstore_memory.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "memory.hpp"

namespace bench {

// The shared library, loaded next to the static one that this program is linked with. Its symbols stay separate.
class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& path);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

 private:
  struct Closer {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Closer> handle_;

 public:
  decltype(&bfs_open) open;
  decltype(&bfs_open_memory) open_memory;
  decltype(&bfs_format) format;
  decltype(&bfs_close) close;
  decltype(&bfs_contains) contains;
  decltype(&bfs_contains_digest) contains_digest;
  decltype(&bfs_contains_keys) contains_keys;
  decltype(&bfs_add_digest) add_digest;
  decltype(&bfs_add_keys) add_keys;
  decltype(&bfs_stats) stats;
};

struct AbiCloser {
  decltype(&bfs_close) close;
  void operator()(bfs_filter* filter) const noexcept { static_cast<void>(close(filter, nullptr)); }
};
using AbiHandle = std::unique_ptr<bfs_filter, AbiCloser>;

// A second handle on a BfstoreSubject's filter, which only asks. The library must outlive it.
class AbiSubject {
 public:
  static AbiSubject in_file(const SharedLibrary& library, const std::string& path);
  static AbiSubject in_heap(const SharedLibrary& library, std::span<std::byte> buffer);

  [[nodiscard]] const bfs_filter* handle() const noexcept { return filter_.get(); }
  bool contains_digest(std::uint64_t digest) const noexcept { return contains_digest_(filter_.get(), digest) != 0; }
  bool contains(std::string_view key) const noexcept { return contains_(filter_.get(), key.data(), key.size()) != 0; }
  std::uint64_t contains_digests(std::span<const std::uint64_t> digests,
                                 std::span<std::uint8_t> answers) const noexcept {
    const bfs_keys keys = bfs_keys_digests(digests.data(), digests.size());
    return static_cast<std::uint64_t>(contains_keys_(filter_.get(), &keys, answers.data()));
  }

 private:
  AbiSubject(const SharedLibrary& library, bfs_filter* filter) noexcept
      : filter_(filter, AbiCloser{library.close}),
        contains_(library.contains),
        contains_digest_(library.contains_digest),
        contains_keys_(library.contains_keys) {}

  AbiHandle filter_;
  decltype(&bfs_contains) contains_;
  decltype(&bfs_contains_digest) contains_digest_;
  decltype(&bfs_contains_keys) contains_keys_;
};

// A filter in a buffer of its own, made by the shared library, whose handle is the only one that adds.
class AbiAloneSubject {
 public:
  AbiAloneSubject(const SharedLibrary& library, std::uint64_t capacity, double bits_per_key);

  bool contains_digest(std::uint64_t digest) const noexcept {
    return library_.contains_digest(filter_.get(), digest) != 0;
  }
  // Not checked one by one: an error is a negative number, and makes every sum wrong.
  std::uint64_t add_digest(std::uint64_t digest) noexcept {
    return static_cast<std::uint64_t>(library_.add_digest(filter_.get(), digest));
  }
  std::uint64_t add_digests(std::span<const std::uint64_t> digests) noexcept {
    const bfs_keys keys = bfs_keys_digests(digests.data(), digests.size());
    return static_cast<std::uint64_t>(library_.add_keys(filter_.get(), &keys));
  }
  // Writes to the buffer without the library, which cannot empty a filter.
  void clear() noexcept;
  // The rate that the filter promises.
  [[nodiscard]] double rate() const;

 private:
  [[nodiscard]] bfs_statistics statistics() const;

  const SharedLibrary& library_;
  std::unique_ptr<HeapBuffer> buffer_;
  AbiHandle filter_;
  std::span<std::byte> body_;
};

}  // namespace bench
