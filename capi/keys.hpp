// A caller's keys: this checks the arrays, and Filter checks what is in them.
#pragma once

#include <bfstore_engine.h>

#include <optional>

#include "handle.hpp"
#include "structs.hpp"

namespace capi {

// Empty if the caller cannot have such arrays.
using MaybeKeys = std::optional<bfstore::Keys>;

MaybeKeys keys_of(const bfs_keys& from) noexcept;

inline std::string_view key_of(const void* key, std::size_t key_bytes) noexcept {
  return {static_cast<const char*>(key), key_bytes};
}

inline bool null_keys(const void* keys, std::size_t count) noexcept { return keys == nullptr && count != 0; }

// The number of keys that one key counts for fits 32 bits.
inline std::int32_t one(bfstore::Count count) noexcept { return static_cast<std::int32_t>(count.raw()); }

// Calls `use(keys)` with a handle's keys, or returns BFS_EINVAL.
template <class Handle, class Use>
std::int64_t with_keys(Handle* filter, const bfs_keys* keys, Use use) noexcept {
  bfs_keys known;
  if (filter == nullptr || read_struct(keys, known) != nullptr) return BFS_EINVAL;
  const MaybeKeys given = keys_of(known);
  return given ? use(*given).raw() : BFS_EINVAL;
}

// More keys than an array can have: an error that was taken for a number, for example. No array has room for the
// answers.
inline bool absurd(std::size_t count) noexcept { return count > PTRDIFF_MAX / sizeof(bfs_key); }

// Calls `use(keys, answers)`. A call that cannot be served gets `everything_maybe(answers)`, if there can be answers.
template <class Answer, class Everything, class Use>
std::int64_t with_answers(const bfs_filter* filter, const bfs_keys* keys, Answer* answers, Everything everything_maybe,
                          Use use) noexcept {
  bfs_keys known;
  if (read_struct(keys, known) != nullptr || absurd(known.count)) return BFS_EINVAL;
  const MaybeKeys given = keys_of(known);
  if (filter != nullptr && given && !null_keys(answers, known.count))
    return use(*given, std::span(answers, known.count)).raw();
  if (answers != nullptr) everything_maybe(std::span(answers, known.count));
  return BFS_EINVAL;
}

}  // namespace capi
