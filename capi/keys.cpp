#include "keys.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace capi {
namespace {

using bfstore::Keys;

// The data of a bfs_keys as an array.
template <class Item>
const Item* items_of(const bfs_keys& from) noexcept {
  return static_cast<const Item*>(from.data);
}

static_assert(Keys::kFewestSorted == BFS_SCRATCH_LEAST_KEYS);
static_assert(Keys::scratch_for(BFS_SCRATCH_LEAST_KEYS) ==
              BFS_SCRATCH_LEAST_KEYS * BFS_SCRATCH_KEY_BYTES + BFS_SCRATCH_MORE_BYTES);
static_assert(sizeof(bfs_key) == sizeof(iovec) && offsetof(bfs_key, bytes) == offsetof(iovec, iov_len));

MaybeKeys pointer_keys(const bfs_keys& from) noexcept {
  const auto* keys = items_of<const void*>(from);
  if (!possible(keys, from.count) || !possible(from.lengths, from.count)) return std::nullopt;
  return Keys::pointers({keys, from.count}, {from.lengths, from.count});
}

MaybeKeys pair_keys(const bfs_keys& from) noexcept {
  const auto* keys = items_of<iovec>(from);
  if (!possible(keys, from.count)) return std::nullopt;
  return Keys::pairs({keys, from.count});
}

// Without keys the caller needs no offset.
template <class Offset>
MaybeKeys column_keys(const bfs_keys& from) noexcept {
  if (from.count == 0) return Keys();
  const auto* offsets = static_cast<const Offset*>(from.offsets);
  if (!possible(offsets, from.count)) return std::nullopt;
  return Keys::column(from.data, from.data_bytes, std::span(offsets, from.count + 1));
}

MaybeKeys digest_keys(const bfs_keys& from) noexcept {
  const auto* digests = items_of<std::uint64_t>(from);
  if (!possible(digests, from.count)) return std::nullopt;
  return Keys::digests({digests, from.count});
}

MaybeKeys keys_without_nulls(const bfs_keys& from) noexcept {
  switch (from.kind) {
    case BFS_KEYS_POINTERS:
      return pointer_keys(from);
    case BFS_KEYS_PAIRS:
      return pair_keys(from);
    case BFS_KEYS_FIXED:
      return Keys::fixed(from.data, from.key_bytes, from.count, from.stride == 0 ? from.key_bytes : from.stride);
    case BFS_KEYS_COLUMN32:
      return column_keys<std::int32_t>(from);
    case BFS_KEYS_COLUMN64:
      return column_keys<std::int64_t>(from);
    case BFS_KEYS_DIGESTS:
      return digest_keys(from);
    default:
      return std::nullopt;
  }
}

}  // namespace

MaybeKeys keys_of(const bfs_keys& from) noexcept {
  const MaybeKeys keys = keys_without_nulls(from);
  const auto scratch = static_cast<std::byte*>(from.scratch);
  if (!keys || !possible(scratch, from.scratch_bytes)) return std::nullopt;
  const Keys lent = keys->with_scratch({scratch, from.scratch_bytes});
  if (from.validity == nullptr) return lent;
  if (from.validity_offset > PTRDIFF_MAX || from.count > PTRDIFF_MAX) return std::nullopt;
  return lent.where_valid(from.validity, from.validity_offset);
}

}  // namespace capi
