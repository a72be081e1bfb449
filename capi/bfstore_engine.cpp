// The C ABI of engines: marks, recovery, replacing, the ends of a handle, digests.
#include <bfstore_engine.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "handle.hpp"
#include "keys.hpp"

using capi::guarded;
using capi::invalid;
using capi::key_of;
using capi::null_keys;
using capi::report;

uint64_t bfs_get_mark(const bfs_filter* filter, uint64_t owner, uint64_t epoch) {
  const capi::ErrnoKeeper keeper;
  return filter == nullptr ? 0 : filter->filter.get_mark(owner, epoch);
}

int64_t bfs_list_marks(const bfs_filter* filter, bfs_owner_mark* marks, size_t capacity, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_list_marks: filter is null");
  if (marks == nullptr && capacity > 0) return invalid(error, "bfs_list_marks: marks is null, and capacity is not 0");
  return guarded(error, [&] {
    const auto found = filter->filter.list_marks();
    if (!found) return report(error, found.error());
    for (std::size_t i = 0; i < std::min(capacity, found->size()); ++i) {
      const bfstore::OwnerMark& one = (*found)[i];
      marks[i] = {one.owner, one.mark, one.epoch, one.recovered ? 1U : 0U, 0};
    }
    return static_cast<std::int32_t>(found->size());
  });
}

int32_t bfs_drop_owner(bfs_filter* filter, uint64_t owner, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_drop_owner: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.drop_owner(owner)); });
}

int32_t bfs_finish_recovery(bfs_filter* filter, uint64_t owner, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_finish_recovery: filter is null");
  return guarded(error, [&] {
    const auto over = filter->filter.finish_recovery(owner);
    if (!over.ok()) return report(error, over.error());
    return *over ? 1 : 0;
  });
}

int32_t bfs_finish_filling(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_finish_filling: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.finish_filling()); });
}

int32_t bfs_publish(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_publish: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.publish()); });
}

int32_t bfs_supersede(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_supersede: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.supersede()); });
}

int32_t bfs_shut(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_shut: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.shut()); });
}

void bfs_abandon(bfs_filter* filter) {
  if (filter == nullptr) return;
  static_cast<void>(guarded(nullptr, [&] {
    const std::unique_ptr<bfs_filter> owned(filter);
    owned->filter.abandon();
    return BFS_OK;
  }));
}

int32_t bfs_digest(const bfs_filter* filter, const void* key, size_t key_bytes, uint64_t* out_digest) {
  if (filter == nullptr || null_keys(key, key_bytes) || out_digest == nullptr) return BFS_EINVAL;
  const auto digest = filter->filter.digest(key_of(key, key_bytes));
  if (!digest)
    return static_cast<std::int32_t>(filter->filter.digest_keys(bfstore::Keys::views({}), {}).raw());  // why not
  *out_digest = *digest;
  return BFS_OK;
}

int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return capi::one(filter->filter.add_digest(digest));
}

int64_t bfs_digest_keys(const bfs_filter* filter, const bfs_keys* keys, uint64_t* digests) {
  return capi::with_keys(filter, keys, [&](const bfstore::Keys& all) -> bfstore::Count {
    if (!capi::possible(digests, all.size())) return capi::Code::kInvalid;
    return filter->filter.digest_keys(all, {digests, all.size()});
  });
}

int64_t bfs_select_keys(const bfs_filter* filter, const bfs_keys* keys, uint32_t* indices) {
  const auto all_of_them = [](std::span<std::uint32_t> to) noexcept { std::iota(to.begin(), to.end(), 0U); };
  return capi::with_answers(filter, keys, indices, all_of_them, [filter](const auto& all, std::span<std::uint32_t> to) {
    return filter->filter.select_keys(all, to);
  });
}
