// The C ABI of filters in memory.
#include <bfstore_memory.h>

#include <span>

#include "handle.hpp"
#include "keys.hpp"
#include "options.hpp"

using capi::Filter;
using capi::Given;
using capi::hand_out;
using capi::invalid;
using capi::report;
using capi::with_given;

namespace {

constexpr std::uint64_t kFlagsOfBuffer = BFS_EXCLUSIVE | BFS_BARE | BFS_TUTORIAL_SIZING;
constexpr std::uint64_t kEither = BFS_READ | BFS_WRITE;

// A filter in the caller's bytes, or in a copy of them.
capi::Result<Filter> opened(const void* bytes, std::uint64_t num_bytes, const Given& given) {
  const bool writes = given.has(BFS_WRITE);
  const bool bare = given.has(BFS_BARE);
  const std::span to_read(static_cast<const std::byte*>(bytes), num_bytes);
  if (given.has(BFS_PRIVATE)) {
    return Filter::load(to_read, writes ? bfstore::OpenMode::kWrite : bfstore::OpenMode::kRead, bare, given.secret());
  }
  if (!writes) return Filter::wrap_to_read(to_read, bare, given.secret());
  return Filter::wrap({static_cast<std::byte*>(const_cast<void*>(bytes)), num_bytes}, bare, given.secret());
}

}  // namespace

int64_t bfs_format(void* buffer, uint64_t buffer_bytes, uint64_t flags, const bfs_options* options, bfs_filter** out,
                   bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (buffer != nullptr && out == nullptr) return invalid(error, "bfs_format: out is null");
  const capi::Taken taken{"bfs_format", kFlagsOfBuffer, capi::kFormatting};
  return with_given(flags, options, taken, error, [&](const Given& given) -> std::int64_t {
    const auto read = given.making();
    const auto needed = Filter::required_bytes(read);
    if (!needed || buffer == nullptr) return capi::bytes_or_code(error, needed);
    const std::int32_t code = hand_out(out, error, [&] {
      return with_threads(given, [&] { return Filter::format({static_cast<std::byte*>(buffer), buffer_bytes}, read); });
    });
    return code < 0 ? code : static_cast<std::int64_t>(*needed);
  });
}

int32_t bfs_open_memory(const void* bytes, uint64_t num_bytes, uint64_t flags, const bfs_options* options,
                        bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (bytes == nullptr || out == nullptr) return invalid(error, "bfs_open_memory: bytes or out is null");
  const capi::Taken taken{"bfs_open_memory", kEither | BFS_BARE | BFS_PRIVATE, capi::kSecret};
  return with_given(flags, options, taken, error, [&](const Given& given) {
    if (given.has(BFS_READ) == given.has(BFS_WRITE))
      return invalid(error, "bfs_open_memory: the flags have BFS_READ or BFS_WRITE, exactly one of them");
    return hand_out(out, error, [&] { return opened(bytes, num_bytes, given); });
  });
}

int64_t bfs_dump(const bfs_filter* filter, void* buffer, uint64_t buffer_bytes, uint64_t flags, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_dump: filter is null");
  const capi::Taken taken{"bfs_dump", BFS_BARE | BFS_SAME_FILE_ID, capi::kNoFields};
  return with_given(flags, nullptr, taken, error, [&](const Given& given) -> std::int64_t {
    const bfstore::DumpOptions how{.bare = given.has(BFS_BARE), .same_file_id = given.has(BFS_SAME_FILE_ID)};
    if (buffer == nullptr) return capi::bytes_or_code(error, filter->filter.dumped_bytes(how));
    std::uint64_t bytes = 0;
    const std::span to(static_cast<std::byte*>(buffer), buffer_bytes);
    const std::int32_t code = report(error, filter->filter.dump(to, how, &bytes));
    return code < 0 ? code : static_cast<std::int64_t>(bytes);
  });
}

int32_t bfs_bare_contains(const void* buffer, uint64_t bytes, const void* key, size_t key_bytes) {
  return bfstore::bare::answer(buffer, bytes, key, key_bytes);
}

int32_t bfs_bare_contains_digest(const void* buffer, uint64_t bytes, uint64_t digest) {
  return bfstore::bare::answer_digest(buffer, bytes, digest);
}

uint64_t bfs_bare_bytes(uint64_t num_keys, double bits_per_key, uint32_t layout) {
  return bfstore::bare::bytes_for(num_keys, bits_per_key, capi::layout_or_default(layout));
}

int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash, const bfs_keys* keys) {
  bfs_keys known;
  if (capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  const capi::MaybeKeys all = capi::keys_of(known);
  if (!all) return BFS_EINVAL;
  return capi::number_of(bfstore::bare::build({static_cast<std::byte*>(buffer), bytes}, *all,
                                              capi::layout_or_default(layout),
                                              capi::number_given<bfstore::Hash>(hash).value_or(bfstore::Hash::kXxh3)));
}
