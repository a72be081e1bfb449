// What every function of the ABI is made of: the handle, errors in the caller's record, no exception and no errno that
// leaves a call.
#pragma once

#include <bfstore_codes.h>
#include <bfstore/bfstore.hpp>
#include <bfstore/inline.hpp>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

struct bfs_filter {
  explicit bfs_filter(bfstore::Filter made) : target(made.target()), filter(std::move(made)) {}

  bfstore::layout::Target target;  // first: so the kernel is called with the very arguments of bfs_contains_digest
  bfstore::Filter filter;
};

namespace capi {

using bfstore::Code;
using bfstore::Error;
using bfstore::Filter;
using bfstore::Result;

// The number of a code in C, which has one for all rules of the format's bytes.
std::int32_t number_of(Code code) noexcept;

// Fills in the caller's record, if there is one. Returns the code.
std::int32_t report(bfs_error* to, Code code, int os_errno, std::string_view message) noexcept;
std::int32_t report(bfs_error* to, const Error& error) noexcept;
std::int32_t invalid(bfs_error* to, const std::string& message) noexcept;

inline Error invalid(std::string message) { return {Code::kInvalid, 0, std::move(message)}; }

// Keeps the caller's errno as it was.
class ErrnoKeeper {
 public:
  ErrnoKeeper() noexcept : kept_(errno) {}
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;
  ~ErrnoKeeper() { errno = kept_; }

 private:
  int kept_;
};

// Calls `body`. No exception leaves the ABI.
template <class Body>
auto guarded(bfs_error* error, Body body) noexcept -> decltype(body()) {
  const ErrnoKeeper keeper;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return report(error, Code::kNoMemory, 0, "out of memory");
  } catch (const std::exception& exception) {
    return report(error, Code::kInternal, 0, exception.what());
  } catch (...) {
    return report(error, Code::kInternal, 0, "an unknown exception");
  }
}

// Allocates the handle before it makes the filter: no filter is made that could not be returned.
template <class Make>
std::int32_t hand_out(bfs_filter** out, bfs_error* error, Make make) {
  const auto give_back = [](void* memory) { ::operator delete(memory); };
  std::unique_ptr<void, decltype(give_back)> memory(::operator new(sizeof(bfs_filter)), give_back);
  Result<Filter> made = make();
  if (!made) return report(error, made.error());
  *out = new (memory.release()) bfs_filter(std::move(made).value());
  return BFS_OK;
}

// A number of bytes, or the code of why it is not known.
inline std::int64_t bytes_or_code(bfs_error* error, const Result<std::uint64_t>& bytes) noexcept {
  return bytes.ok() ? static_cast<std::int64_t>(*bytes) : report(error, bytes.error());
}

// True if a caller can have an array of `count` items.
template <class Item>
bool possible(const Item* items, std::size_t count) noexcept {
  return count == 0 || (items != nullptr && count <= PTRDIFF_MAX / sizeof(Item));
}

}  // namespace capi
