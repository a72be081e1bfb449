// Takes any bytes as a filter in memory: wraps them as an embedded record and in the bare form, for reading and for
// writing, loads them, dumps them, and reads them as a range of a file. The input's first byte chooses; the rest are
// the bytes. They are at the end of their allocation, so that the address sanitizer sees a read after them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "../support/abi_calls.h"
#include "support.hpp"

namespace {

using fuzz::check;
using fuzz::Input;

constexpr unsigned kWrite = 1;
constexpr unsigned kBare = 2;
constexpr unsigned kRange = 4;
constexpr unsigned kOffset = 0xf0;  // of the range, in units of 64 bytes

struct Free {
  void operator()(std::uint8_t* memory) const noexcept { std::free(memory); }
};
using Memory = std::unique_ptr<std::uint8_t, Free>;

Memory copy_of(Input bytes) {
  void* memory = nullptr;
  check(posix_memalign(&memory, 64, bytes.empty() ? 1 : bytes.size()) == 0, "memory");
  if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
  return Memory(static_cast<std::uint8_t*>(memory));
}

bfs_filter* wrap(std::uint8_t* memory, std::size_t bytes, std::uint64_t flags) {
  bfs_error error = fuzz::no_error();
  bfs_filter* filter = nullptr;
  std::int32_t code = open_memory_with(memory, bytes, flags, nullptr, &filter, &error);
  fuzz::made(code, filter, error);
  if (code != BFS_ESECRET) return filter;
  code = open_memory_with(memory, bytes, flags, fuzz::other_secret(), &filter, &error);
  check(code == BFS_ESECRET && filter == nullptr, "another secret is refused", code);
  code = open_memory_with(memory, bytes, flags, fuzz::secret(), &filter, &error);
  return fuzz::made(code, filter, error).filter;
}

// Checks lookups without a handle, at an odd address. They answer as a handle does, or "maybe" if there is none.
void ask_bare(Input bytes, const bfs_filter* filter) {
  const std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[bytes.size() + 1]);
  std::uint8_t* const start = memory.get() + 1;
  std::copy(bytes.begin(), bytes.end(), start);
  for (std::size_t i = 0; i < fuzz::kKeys; ++i) {
    const std::uint64_t digest = fuzz::digest(i);
    const std::string key = fuzz::key(i);
    const std::int32_t of_digest = bfs_bare_contains_digest(start, bytes.size(), digest);
    const std::int32_t of_key = bfs_bare_contains(start, bytes.size(), key.data(), key.size());
    if (filter == nullptr) {
      check(of_digest == 1 && of_key == 1, "what is not a bare filter is maybe");
      continue;
    }
    check(of_digest == bfs_contains_digest(filter, digest), "with and without a handle a digest's answer is the same");
    const std::int32_t expected = bfs_contains(filter, key.data(), key.size());
    check(of_key == (expected == BFS_EDIGESTONLY ? 1 : expected),
          "with and without a handle a key's answer is the same");
  }
}

bfs_filter* load(const std::uint8_t* bytes, std::size_t size, std::uint64_t flags) {
  bfs_filter* filter = nullptr;
  bfs_error error = fuzz::no_error();
  const auto load_with = [&](const void* key) {
    return open_memory_with(bytes, size, flags | BFS_PRIVATE, key, &filter, &error);
  };
  std::int32_t code = load_with(nullptr);
  if (code == BFS_ESECRET) {
    check(load_with(fuzz::other_secret()) == BFS_ESECRET, "another secret is refused");
    code = load_with(fuzz::secret());
  }
  return fuzz::made(code, filter, error).filter;
}

void check_same_answers(const bfs_filter* one, const bfs_filter* other) {
  for (std::size_t i = 0; i < fuzz::kKeys; ++i) {
    const std::uint64_t digest = fuzz::digest(i);
    check(bfs_contains_digest(one, digest) == bfs_contains_digest(other, digest), "a copy answers as its source does");
    const std::string key = fuzz::key(i);
    check(bfs_contains(one, key.data(), key.size()) == bfs_contains(other, key.data(), key.size()),
          "a copy hashes as its source does");
  }
}

// Dumps to an odd address, and loads from there.
void dump_and_load(const bfs_filter* filter) {
  const std::int64_t dumped = bfs_dump(filter, nullptr, 0, 0, nullptr);
  check(dumped > 0, "what is loaded can be dumped", dumped);
  const auto size = static_cast<std::size_t>(dumped);
  const std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[size + 1]);
  check(bfs_dump(filter, memory.get() + 1, size, 0, nullptr) == dumped, "what is loaded is dumped");
  bfs_filter* const again = load(memory.get() + 1, size, BFS_READ);
  check(again != nullptr, "what was dumped is loaded");
  check_same_answers(again, filter);
  bfs_close(again, nullptr);
}

// Loads from an odd address, and frees the bytes before the handle is asked. A file is loaded, too, and not wrapped.
void load_them(Input bytes, std::uint32_t bare) {
  std::unique_ptr<std::uint8_t[]> odd(new std::uint8_t[bytes.size() + 1]);
  std::copy(bytes.begin(), bytes.end(), odd.get() + 1);
  bfs_filter* const loaded = load(odd.get() + 1, bytes.size(), bare | BFS_READ);
  odd.reset();
  const Memory memory = copy_of(bytes);
  bfs_filter* const wrapped = wrap(memory.get(), bytes.size(), bare | BFS_READ);
  check(wrapped == nullptr || loaded != nullptr, "what is wrapped is loaded");
  if (loaded == nullptr) return;
  fuzz::ask(loaded, {});
  fuzz::facts(loaded);
  if (wrapped != nullptr) check_same_answers(loaded, wrapped);
  dump_and_load(loaded);
  bfs_close(wrapped, nullptr);
  bfs_close(loaded, nullptr);
}

void use_memory(Input bytes, unsigned how) {
  const Memory memory = copy_of(bytes);
  const std::uint32_t bare = (how & kBare) != 0 ? BFS_BARE : 0;
  const bool writing = (how & kWrite) != 0;
  load_them(bytes, bare);
  fuzz::KeySet present;
  bfs_filter* filter = wrap(memory.get(), bytes.size(), bare | (writing ? BFS_WRITE : BFS_READ));
  if (bare != 0) ask_bare(bytes, filter);
  if (filter != nullptr) {
    if (writing) fuzz::add_some(filter, how, 6, present);
    check(writing ? present.size() == 6 : bfs_add_digest(filter, 1) == BFS_EREADONLY,
          "a writer adds, a reader does not");
    fuzz::ask(filter, present);
    fuzz::remove_some(filter, how, 3, present);
    fuzz::facts(filter);  // cheap here, because a buffer has no mapping
    check(bfs_close(filter, nullptr) == BFS_OK, "a buffer is closed");
  }
  if (!writing || filter == nullptr) {
    check(bytes.empty() || std::memcmp(memory.get(), bytes.data(), bytes.size()) == 0, "who only reads writes nothing");
    return;
  }
  filter = wrap(memory.get(), bytes.size(), bare | BFS_READ);
  check(filter != nullptr, "what was written to is wrapped again");
  fuzz::ask(filter, present);
  bfs_close(filter, nullptr);
}

// One file, used again and again.
class RangeFile {
 public:
  RangeFile() : path_(fuzz::scratch("range")), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  RangeFile(const RangeFile&) = delete;
  RangeFile& operator=(const RangeFile&) = delete;
  ~RangeFile() { close(descriptor_); }
  const char* put(Input bytes, std::uint64_t offset) const {
    const auto at = static_cast<off_t>(offset);
    check(ftruncate(descriptor_, 0) == 0 && ftruncate(descriptor_, at) == 0, "a file of that length");
    check(pwrite(descriptor_, bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size()), "a file");
    return path_.c_str();
  }

 private:
  std::string path_;
  int descriptor_;
};

// Opens a range up to the file's end, or one that other bytes follow.
void use_range(Input bytes, std::uint64_t offset) {
  static const RangeFile file;
  const char* path = file.put(bytes, offset);
  bfs_error error = fuzz::no_error();
  bfs_filter* filter = nullptr;
  const std::uint64_t most = offset % 128 == 0 ? 0 : bytes.size();
  const auto open_range = [&](const void* key) {
    const bfs_range range{offset, most};
    bfs_options options = options_with(key);
    options.range = &range;
    return bfs_open(path, BFS_READ, &options, &filter, &error);
  };
  std::int32_t code = open_range(nullptr);
  if (code == BFS_ESECRET) {
    code = open_range(fuzz::other_secret());
    check(code == BFS_ESECRET, "another secret is refused", code);
    code = open_range(fuzz::secret());
  }
  filter = fuzz::made(code, filter, error).filter;
  const Memory memory = copy_of(bytes);
  bfs_filter* wrapped = wrap(memory.get(), bytes.size(), BFS_READ);
  check((filter == nullptr) == (wrapped == nullptr), "a range opens if the same bytes in a buffer do", code);
  if (filter == nullptr) return;
  fuzz::ask(filter, {});
  for (std::size_t i = 0; i < fuzz::kKeys; ++i) {
    const std::uint64_t digest = fuzz::digest(i);
    check(bfs_contains_digest(filter, digest) == bfs_contains_digest(wrapped, digest), "a range and a buffer agree");
  }
  check(bfs_add_digest(filter, 1) == BFS_EREADONLY, "a range is read");
  check(bfs_close(filter, nullptr) == BFS_OK && bfs_close(wrapped, nullptr) == BFS_OK, "a range is closed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned how = data[0];
  const Input bytes(data + 1, size - 1);
  if ((how & kRange) != 0) {
    use_range(bytes, (how & kOffset) * 4);
  } else {
    use_memory(bytes, how);
  }
  return 0;
}
