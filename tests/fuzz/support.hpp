// Shared by the fuzzers: a check that ends the program, a private folder in memory, keys, and the questions for every
// filter that opens.
#pragma once

#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <bfstore/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

namespace fuzz {

using Input = std::span<const std::uint8_t>;

// Prints what was expected and aborts. Then libFuzzer and the sanitizers keep the input.
void check(bool good, const char* expected, std::int64_t got = 0);

// Checks that `code` is 0 or one that bfstore.h names, and not BFS_EINTERNAL.
void check_code(std::int64_t code, const char* call);

// Returns the path of a name in a folder that only this process uses, on a filesystem in memory if there is one: a sync
// costs nothing there. The folder is removed at the end of the process.
std::string scratch(const std::string& name);

// Numbers from the input, with zeros after its end.
class Bytes {
 public:
  explicit Bytes(Input input) : rest_(input) {}
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  Input take(std::size_t most) noexcept;  // at most as many as are left
  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() noexcept { return number(8); }

 private:
  std::uint64_t number(std::size_t bytes) noexcept;
  Input rest_;
};

// The number of keys in use. They are numbered, and have all lengths for which XXH3 has a path of its own.
inline constexpr std::size_t kKeys = 24;
using KeySet = std::set<std::size_t>;
const std::string& key(std::size_t number) noexcept;
// Returns the digest of a key, for filters with an external hash.
std::uint64_t digest(std::size_t number) noexcept;

// The secret of every filter with one, those of tests/data as well; and another one.
const void* secret() noexcept;
const void* other_secret() noexcept;

// Returns the number in C of a code of C++, and the rule that bfs_error has with it.
std::pair<std::int32_t, std::uint32_t> in_c(bfstore::Code code) noexcept;

// The result of bfs_open. If the call refuses, there is a message instead of a handle.
struct Opened {
  std::int32_t code = BFS_OK;
  bfs_filter* filter = nullptr;
  bool needs_secret = false;  // without a secret it did not open
  std::uint32_t rule = 0;     // of a broken file
};
// Opens a file with a secret by secret(), after it has refused none and another one.
Opened open_file(const char* path, std::uint64_t flags);
// Checks the outcome of any function that makes a handle.
Opened made(std::int32_t code, bfs_filter* filter, const bfs_error& error);
bfs_error no_error() noexcept;

// Adds the key, or its digest if the filter takes no keys. Returns what bfs_add returns.
std::int32_t add(bfs_filter* filter, std::size_t number);

// Adds `count` keys from that number on; `present` has those whose add returned without an error.
void add_some(bfs_filter* filter, std::size_t first, std::size_t count, KeySet& present);

// Removes the key, or its digest. Remove only what was added.
std::int32_t remove(bfs_filter* filter, std::size_t number);

// Returns whether the filter's layout removes keys.
bool counts(const bfs_filter* filter);

// Returns whether every key is still there after a remove with this error. After any other error a key may be gone.
bool removes_nothing(std::int64_t code);

// Removes those of `count` keys from that number on that are present, and asks. A filter in doubt refuses that.
void remove_some(bfs_filter* filter, std::size_t first, std::size_t count, KeySet& present);

// Returns whether the filter takes digests. Otherwise its hash gives positions.
bool takes_digests(const bfs_filter* filter);

// Asks for every key, one by one and in batches: the answers agree, and none of `present` gets a no.
void ask(const bfs_filter* filter, const KeySet& present);

// The filter's facts, which must be possible.
bfs_statistics facts(const bfs_filter* filter);

}  // namespace fuzz
