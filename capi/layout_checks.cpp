// The ABI's sizes, offsets and numbers, as the compiler sees them. A change here breaks every program that was built
// before.
#include <bfstore.h>
#include <bfstore_interop.h>
#include <bfstore/bfstore.hpp>

namespace {

using bfstore::Code;

static_assert(static_cast<std::int32_t>(Code::kKey) == BFS_EKEY);
static_assert(static_cast<std::int32_t>(Code::kShut) == BFS_ESHUT);
static_assert(static_cast<std::int32_t>(Code::kMismatch) == BFS_EMISMATCH);
static_assert(static_cast<std::int32_t>(Code::kKeyOnly) == BFS_EKEYONLY);
static_assert(static_cast<std::int32_t>(Code::kPart) == BFS_EPART);
static_assert(static_cast<std::int32_t>(Code::kDamaged) == BFS_EDAMAGED);
static_assert(static_cast<std::int32_t>(Code::kFilling) == BFS_EFILLING);
static_assert(static_cast<std::int32_t>(Code::kLiveWord) == BFS_ELIVEWORD);
static_assert(static_cast<int>(bfstore::Layout::kBlocked) == BFS_LAYOUT_BLOCKED);
static_assert(static_cast<int>(bfstore::Layout::kClassic) == BFS_LAYOUT_CLASSIC);
static_assert(static_cast<int>(bfstore::Layout::kCounting) == BFS_LAYOUT_COUNTING);
static_assert(static_cast<int>(bfstore::Hash::kXxh3) == BFS_HASH_XXH3);
static_assert(static_cast<int>(bfstore::Hash::kExternal) == BFS_HASH_EXTERNAL);
static_assert(static_cast<int>(bfstore::Hash::kSipHash) == BFS_HASH_SIPHASH);
static_assert(static_cast<int>(bfstore::Hash::kMurmur3) == BFS_HASH_MURMUR3);
static_assert(static_cast<int>(bfstore::Hash::kMurmur3Unsigned) == BFS_HASH_MURMUR3_UNSIGNED);
static_assert(static_cast<int>(bfstore::Hash::kJavaPolynomial) == BFS_HASH_JAVA_POLYNOMIAL);
static_assert(static_cast<int>(bfstore::Hash::kJaybird) == BFS_HASH_JAYBIRD);
static_assert(static_cast<int>(bfstore::Hash::kPybloomLive) == BFS_HASH_PYBLOOM_LIVE);
static_assert(static_cast<unsigned>(bfstore::BitOrder::kLittle) == BFS_BITS_LITTLE);
static_assert(static_cast<unsigned>(bfstore::BitOrder::kBig) == BFS_BITS_BIG);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kRead) == BFS_OPEN_READ);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kWrite) == BFS_OPEN_WRITE);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kExclusive) == BFS_OPEN_EXCLUSIVE);
static_assert(bfstore::kWaitForEver == BFS_LOCK_FOREVER);
static_assert(BFS_LOCK_TIMEOUT_DEFAULT == BFS_WRITEBACK_CHECK_DEFAULT);
static_assert(BFS_LOCK_NO_WAIT == BFS_WRITEBACK_CHECK_EACH_ADD);

static_assert(offsetof(bfs_error, struct_bytes) == 0);
static_assert(offsetof(bfs_error, code) == 4);
static_assert(offsetof(bfs_error, os_errno) == 8);
static_assert(offsetof(bfs_error, reserved) == 12);
static_assert(offsetof(bfs_error, message) == 16);
static_assert(sizeof(bfs_error) == 512);

static_assert(offsetof(bfs_options, struct_bytes) == 0);
static_assert(offsetof(bfs_options, mode) == 4);
static_assert(offsetof(bfs_options, flags) == 8);
static_assert(offsetof(bfs_options, capacity) == 16);
static_assert(offsetof(bfs_options, fpr) == 24);
static_assert(offsetof(bfs_options, bits_per_key) == 32);
static_assert(offsetof(bfs_options, max_bytes) == 40);
static_assert(offsetof(bfs_options, num_bits) == 48);
static_assert(offsetof(bfs_options, num_probes) == 56);
static_assert(offsetof(bfs_options, layout) == 60);
static_assert(offsetof(bfs_options, hash) == 64);
static_assert(offsetof(bfs_options, reserved) == 68);
static_assert(offsetof(bfs_options, seed) == 72);
static_assert(offsetof(bfs_options, like) == 80);
static_assert(offsetof(bfs_options, note) == 88);
static_assert(offsetof(bfs_options, note_bytes) == 96);
static_assert(offsetof(bfs_options, key) == 104);
static_assert(offsetof(bfs_options, key_bytes) == 112);
static_assert(offsetof(bfs_options, lock_timeout_ms) == 120);
static_assert(offsetof(bfs_options, writeback_check_ms) == 124);
static_assert(offsetof(bfs_options, file_id) == 128);
static_assert(offsetof(bfs_options, seeds) == 144);
static_assert(offsetof(bfs_options, num_seeds) == 152);
static_assert(sizeof(bfs_options) == 160);

static_assert(offsetof(bfs_open_options, struct_bytes) == 0);
static_assert(offsetof(bfs_open_options, fd) == 4);
static_assert(offsetof(bfs_open_options, flags) == 8);
static_assert(offsetof(bfs_open_options, key) == 16);
static_assert(offsetof(bfs_open_options, key_bytes) == 24);
static_assert(offsetof(bfs_open_options, offset) == 32);
static_assert(offsetof(bfs_open_options, max_bytes) == 40);
static_assert(offsetof(bfs_open_options, lock_timeout_ms) == 48);
static_assert(offsetof(bfs_open_options, writeback_check_ms) == 52);
static_assert(sizeof(bfs_open_options) == 56);

static_assert(offsetof(bfs_copy_options, struct_bytes) == 0);
static_assert(offsetof(bfs_copy_options, mode) == 4);
static_assert(offsetof(bfs_copy_options, flags) == 8);
static_assert(offsetof(bfs_copy_options, lock_timeout_ms) == 16);
static_assert(offsetof(bfs_copy_options, reserved) == 20);
static_assert(offsetof(bfs_copy_options, fpr) == 24);
static_assert(sizeof(bfs_copy_options) == 32);

static_assert(offsetof(bfs_statistics, struct_bytes) == 0);
static_assert(offsetof(bfs_statistics, layout) == 4);
static_assert(offsetof(bfs_statistics, hash) == 8);
static_assert(offsetof(bfs_statistics, num_probes) == 12);
static_assert(offsetof(bfs_statistics, num_bits) == 16);
static_assert(offsetof(bfs_statistics, capacity) == 24);
static_assert(offsetof(bfs_statistics, fpr) == 32);
static_assert(offsetof(bfs_statistics, seed) == 40);
static_assert(offsetof(bfs_statistics, body_bytes) == 48);
static_assert(offsetof(bfs_statistics, keys_added) == 56);
static_assert(offsetof(bfs_statistics, health) == 64);
static_assert(offsetof(bfs_statistics, saturated) == 68);
static_assert(offsetof(bfs_statistics, has_fill) == 72);
static_assert(offsetof(bfs_statistics, has_memory) == 76);
static_assert(offsetof(bfs_statistics, set_bits) == 80);
static_assert(offsetof(bfs_statistics, fill_ratio) == 88);
static_assert(offsetof(bfs_statistics, estimated_keys) == 96);
static_assert(offsetof(bfs_statistics, estimated_keys_low) == 104);
static_assert(offsetof(bfs_statistics, estimated_keys_high) == 112);
static_assert(offsetof(bfs_statistics, estimated_fpr) == 120);
static_assert(offsetof(bfs_statistics, huge_page_bytes) == 128);
static_assert(offsetof(bfs_statistics, resident_bytes) == 136);
static_assert(offsetof(bfs_statistics, isa) == 144);
static_assert(offsetof(bfs_statistics, file_id) == 160);
static_assert(offsetof(bfs_statistics, keys_removed) == 176);
static_assert(offsetof(bfs_statistics, counters_at_15) == 184);
static_assert(sizeof(bfs_statistics) == 192);

static_assert(offsetof(bfs_plan_request, struct_bytes) == 0);
static_assert(offsetof(bfs_plan_request, layout) == 4);
static_assert(offsetof(bfs_plan_request, capacity) == 8);
static_assert(offsetof(bfs_plan_request, fpr) == 16);
static_assert(offsetof(bfs_plan_request, bits_per_key) == 24);
static_assert(offsetof(bfs_plan_request, max_bytes) == 32);
static_assert(offsetof(bfs_plan_request, num_bits) == 40);
static_assert(offsetof(bfs_plan_request, num_probes) == 48);
static_assert(offsetof(bfs_plan_request, reserved) == 52);
static_assert(sizeof(bfs_plan_request) == 56);

static_assert(offsetof(bfs_plan_result, struct_bytes) == 0);
static_assert(offsetof(bfs_plan_result, layout) == 4);
static_assert(offsetof(bfs_plan_result, num_probes) == 8);
static_assert(offsetof(bfs_plan_result, abilities) == 12);
static_assert(offsetof(bfs_plan_result, num_bits) == 16);
static_assert(offsetof(bfs_plan_result, capacity) == 24);
static_assert(offsetof(bfs_plan_result, fpr) == 32);
static_assert(offsetof(bfs_plan_result, bits_per_key) == 40);
static_assert(offsetof(bfs_plan_result, body_bytes) == 48);
static_assert(offsetof(bfs_plan_result, file_bytes) == 56);
static_assert(offsetof(bfs_plan_result, fill_ratio) == 64);
static_assert(offsetof(bfs_plan_result, bloom_fpr) == 72);
static_assert(offsetof(bfs_plan_result, cache_lines) == 80);
static_assert(offsetof(bfs_plan_result, page_faults) == 88);
static_assert(sizeof(bfs_plan_result) == 96);

static_assert(offsetof(bfs_comparison, struct_bytes) == 0);
static_assert(offsetof(bfs_comparison, differs) == 4);
static_assert(offsetof(bfs_comparison, comparable) == 8);
static_assert(offsetof(bfs_comparison, equal) == 12);
static_assert(offsetof(bfs_comparison, a_in_b) == 16);
static_assert(offsetof(bfs_comparison, b_in_a) == 20);
static_assert(offsetof(bfs_comparison, some_in_both) == 24);
static_assert(offsetof(bfs_comparison, reserved) == 28);
static_assert(offsetof(bfs_comparison, num_bits) == 32);
static_assert(offsetof(bfs_comparison, set_bits_a) == 40);
static_assert(offsetof(bfs_comparison, set_bits_b) == 48);
static_assert(offsetof(bfs_comparison, set_bits_both) == 56);
static_assert(offsetof(bfs_comparison, keys_a) == 64);
static_assert(offsetof(bfs_comparison, keys_b) == 88);
static_assert(offsetof(bfs_comparison, keys_either) == 112);
static_assert(offsetof(bfs_comparison, keys_both) == 136);
static_assert(offsetof(bfs_comparison, jaccard) == 160);
static_assert(sizeof(bfs_comparison) == 184);

static_assert(offsetof(bfs_interval, estimate) == 0);
static_assert(offsetof(bfs_interval, low) == 8);
static_assert(offsetof(bfs_interval, high) == 16);
static_assert(sizeof(bfs_interval) == 24);

static_assert(offsetof(bfs_range, offset) == 0);
static_assert(offsetof(bfs_range, bytes) == 8);
static_assert(sizeof(bfs_range) == 16);

static_assert(offsetof(bfs_key, data) == 0);
static_assert(offsetof(bfs_key, bytes) == 8);
static_assert(sizeof(bfs_key) == 16);

static_assert(offsetof(bfs_keys, struct_bytes) == 0);
static_assert(offsetof(bfs_keys, kind) == 4);
static_assert(offsetof(bfs_keys, count) == 8);
static_assert(offsetof(bfs_keys, data) == 16);
static_assert(offsetof(bfs_keys, data_bytes) == 24);
static_assert(offsetof(bfs_keys, lengths) == 32);
static_assert(offsetof(bfs_keys, offsets) == 40);
static_assert(offsetof(bfs_keys, key_bytes) == 48);
static_assert(offsetof(bfs_keys, stride) == 56);
static_assert(offsetof(bfs_keys, validity) == 64);
static_assert(offsetof(bfs_keys, validity_offset) == 72);
static_assert(sizeof(bfs_keys) == 80);

static_assert(offsetof(bfs_owner_mark, owner) == 0);
static_assert(offsetof(bfs_owner_mark, mark) == 8);
static_assert(offsetof(bfs_owner_mark, epoch) == 16);
static_assert(offsetof(bfs_owner_mark, recovered) == 24);
static_assert(offsetof(bfs_owner_mark, reserved) == 28);
static_assert(sizeof(bfs_owner_mark) == 32);

static_assert(offsetof(bfs_foreign_form, struct_bytes) == 0);
static_assert(offsetof(bfs_foreign_form, order) == 4);
static_assert(offsetof(bfs_foreign_form, format) == 8);
static_assert(offsetof(bfs_foreign_form, name) == 16);
static_assert(sizeof(bfs_foreign_form) == 24);

static_assert(offsetof(bfs_foreign, struct_bytes) == 0);
static_assert(offsetof(bfs_foreign, needs) == 4);
static_assert(offsetof(bfs_foreign, layout) == 8);
static_assert(offsetof(bfs_foreign, hash) == 12);
static_assert(offsetof(bfs_foreign, num_bits) == 16);
static_assert(offsetof(bfs_foreign, capacity) == 24);
static_assert(offsetof(bfs_foreign, fpr) == 32);
static_assert(offsetof(bfs_foreign, keys) == 40);
static_assert(offsetof(bfs_foreign, bytes) == 48);
static_assert(offsetof(bfs_foreign, num_probes) == 56);
static_assert(offsetof(bfs_foreign, has_keys) == 60);
static_assert(sizeof(bfs_foreign) == 64);

}  // namespace
