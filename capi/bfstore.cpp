// The C ABI: checks pointers and flags, translates, and catches. It has no other logic; that is in Filter.
#include <bfstore.h>

#include <algorithm>
#include <cstring>

#include "handle.hpp"
#include "keys.hpp"
#include "options.hpp"
#include "structs.hpp"

using capi::Filter;
using capi::Given;
using capi::guarded;
using capi::hand_out;
using capi::invalid;
using capi::key_of;
using capi::null_keys;
using capi::report;
using capi::with_given;

namespace {

constexpr std::uint64_t kFlagsOfOpen = capi::kPurposes | capi::kMapFlags | BFS_CREATE | BFS_FOLLOW | BFS_PRIVATE |
                                       BFS_RECOVER | BFS_ACCEPT_LOSS | BFS_STRICT | BFS_ANY_FILESYSTEM | BFS_LIMIT |
                                       BFS_NOFOLLOW | BFS_NO_WRITE | BFS_VERIFY | BFS_TOLERATE_DAMAGE;
constexpr std::uint64_t kFlagsOfRange =
    BFS_READ | capi::kMapFlags | BFS_PRIVATE | BFS_ANY_FILESYSTEM | BFS_NOFOLLOW | BFS_NO_WRITE;
// Of a file that is made if it is not there.
constexpr std::uint64_t kFlagsOfEither = kFlagsOfOpen | BFS_FILLING | BFS_TUTORIAL_SIZING;
constexpr std::uint64_t kFlagsOfBuild = capi::kMapFlags | BFS_ANY_FILESYSTEM | BFS_REPLACE | BFS_TUTORIAL_SIZING;

int32_t open_or_create(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out,
                       bfs_error* error) noexcept {
  const capi::Taken taken{"bfs_open with BFS_CREATE", kFlagsOfEither, capi::kMaking};
  return with_given(flags, options, taken, error, [&](const Given& given) {
    const auto mode = static_cast<bfstore::OpenMode>(flags & capi::kPurposes);
    bool created = false;
    const int32_t code = hand_out(out, error, [&] {
      return with_threads(
          given, [&] { return Filter::open_or_create(path, mode, given.making(), given.opening(), &created); });
    });
    return code == BFS_OK && created ? 1 : code;
  });
}

int32_t open_range(const std::string& path, uint64_t flags, const bfs_options* options, bfs_filter** out,
                   bfs_error* error) noexcept {
  const capi::Taken taken{"bfs_open with a range", kFlagsOfRange, capi::kSecret | capi::kRange | capi::kFd};
  return with_given(flags, options, taken, error, [&](const Given& given) {
    if (!given.has(BFS_READ)) return invalid(error, "bfs_open: a range goes with BFS_READ");
    const bfs_range range = *given.range();
    return hand_out(out, error, [&] { return Filter::open_range(path, range.offset, range.bytes, given.opening()); });
  });
}

bool gives_a_range(const bfs_options* options) noexcept {
  bfs_options known;
  return options != nullptr && capi::read_struct(options, known) == nullptr && known.range != nullptr;
}

// The caller's answers where none can be looked up.
void all_maybe(std::span<std::uint8_t> answers) noexcept { std::memset(answers.data(), 1, answers.size()); }

void put(const bfstore::Stats& from, bfs_statistics& all) noexcept {
  all.layout = static_cast<std::uint32_t>(from.shape.layout);
  all.hash = static_cast<std::uint32_t>(from.shape.hash);
  all.num_probes = from.shape.num_probes;
  all.num_bits = from.shape.num_bits;
  all.capacity = from.shape.capacity;
  all.fpr = from.shape.fpr;
  all.seed = from.shape.seed;
  all.body_bytes = from.body_bytes;
  all.keys_added = from.keys_added;
  all.keys_removed = from.keys_removed;
  all.health = capi::number_of(from.health);
  if (from.turning) {
    all.epochs = from.turning->epochs;
    all.window_ms = from.turning->window_ms;
    all.epoch = from.turning->epoch;
    all.turned_at = from.turning->turned_at;
    all.turn_due = from.turning->due ? 1 : 0;
  }
  all.saturated = from.saturated ? 1 : 0;
  if (from.fill) {
    all.has_fill = 1;
    all.set_bits = from.fill->set_bits;
    all.fill_ratio = from.fill->fill_ratio;
    all.estimated_keys = from.fill->estimated_keys;
    all.estimated_keys_low = from.fill->estimated_keys_low;
    all.estimated_keys_high = from.fill->estimated_keys_high;
    all.estimated_fpr = from.fill->estimated_fpr;
    all.counters_at_15 = from.fill->counters_at_15;
    std::copy(from.fill->keys_of_epochs.begin(), from.fill->keys_of_epochs.end(), all.keys_of_epochs);
  }
  if (from.memory) {
    all.has_memory = 1;
    all.huge_page_bytes = from.memory->huge_page_bytes;
    all.resident_bytes = from.memory->resident_bytes.value_or(UINT64_MAX);
  }
  from.isa.copy(all.isa, sizeof all.isa - 1);
  if (from.file_id) std::memcpy(all.file_id, from.file_id->data(), sizeof all.file_id);
}

}  // namespace

int32_t bfs_create(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_create: path or out is null");
  return with_given(
      flags, options, {"bfs_create", capi::kFlagsOfCreate, capi::kMaking}, error, [&](const Given& given) {
        return hand_out(out, error,
                        [&] { return with_threads(given, [&] { return Filter::create(path, given.making()); }); });
      });
}

int32_t bfs_build(const char* path, uint64_t flags, const bfs_options* options, const bfs_keys* keys, bfs_filter** out,
                  bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || keys == nullptr) return invalid(error, "bfs_build: path or keys is null");
  return with_given(flags, options, {"bfs_build", kFlagsOfBuild, capi::kMaking}, error, [&](const Given& given) {
    bfs_keys known;
    if (const char* wrong = capi::read_struct(keys, known); wrong != nullptr)
      return invalid(error, std::string("bfs_keys") + wrong);
    const capi::MaybeKeys all = capi::keys_of(known);
    if (!all) return invalid(error, "bfs_build: the kind or the arrays of the keys are not valid");
    bfs_filter* built = nullptr;
    const int32_t code = hand_out(
        &built, error, [&] { return Filter::build(path, given.making(), *all, std::max(1U, given.threads())); });
    if (out != nullptr) *out = built;
    if (out == nullptr) bfs_abandon(built);  // it only reads
    return code;
  });
}

int32_t bfs_open(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (out == nullptr) return invalid(error, "bfs_open: out is null");
  if ((flags & BFS_CREATE) != 0) {
    if (path == nullptr) return invalid(error, "bfs_open: path is null");
    return open_or_create(path, flags, options, out, error);
  }
  const std::string_view name = path == nullptr ? "" : path;
  if (gives_a_range(options)) return open_range(std::string(name), flags, options, out, error);
  return with_given(flags, options, {"bfs_open", kFlagsOfOpen, capi::kOpening, " without BFS_CREATE"}, error,
                    [&](const Given& given) {
                      const auto how = given.opening();
                      if (path == nullptr && !how.descriptor) return invalid(error, "bfs_open: path is null");
                      const auto mode = static_cast<bfstore::OpenMode>(flags & capi::kPurposes);
                      return hand_out(out, error, [&] {
                        return with_threads(given, [&] { return Filter::open(std::string(name), mode, how); });
                      });
                    });
}

int32_t bfs_sync(bfs_filter* filter, const bfs_owner_mark* mark, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_sync: filter is null");
  if (mark != nullptr && (mark->recovered != 0 || mark->reserved != 0))
    return invalid(error, "bfs_sync: recovered or reserved of the mark is not 0");
  const bfstore::LogPosition position =
      mark == nullptr ? bfstore::LogPosition{} : bfstore::LogPosition{mark->owner, mark->epoch, mark->mark};
  return guarded(error, [&] { return report(error, filter->filter.sync(position)); });
}

int32_t bfs_close(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return BFS_OK;
  return guarded(error, [&] {
    const std::unique_ptr<bfs_filter> owned(filter);
    return report(error, owned->filter.close());
  });
}

int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return capi::one(filter->filter.add(key_of(key, key_bytes)));
}

int32_t bfs_contains(const bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return filter->filter.answer(key_of(key, key_bytes));
}

// Of bfstore_engine.h: here, because this source is compiled for itself, and a lookup is the same code then whatever is
// next to it.
int32_t bfs_contains_digest(const bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return filter->target.ask(filter->target, digest);
}

int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys) {
  return capi::with_keys(filter, keys, [filter](const auto& all) { return filter->filter.add_keys(all); });
}

int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers) {
  return capi::with_answers(filter, keys, answers, all_maybe, [filter](const auto& all, std::span<std::uint8_t> to) {
    return filter->filter.contains_keys(all, to);
  });
}

int32_t bfs_health(const bfs_filter* filter) {
  return filter == nullptr ? BFS_EINVAL : capi::number_of(filter->filter.health());
}

int32_t bfs_is_current(const bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_is_current: filter is null");
  return guarded(error, [&] {
    const auto current = filter->filter.is_current();
    if (!current.ok()) return report(error, current.error());
    return *current ? 1 : 0;
  });
}

int32_t bfs_stats(const bfs_filter* filter, uint64_t flags, bfs_statistics* out, bfs_error* error) {
  if (filter == nullptr || out == nullptr) return invalid(error, "bfs_stats: filter or out is null");
  if (!capi::possible_size<bfs_statistics>(capi::size_said_by(out)))
    return invalid(error, "bfs_statistics.struct_bytes is not its size");
  return guarded(error, [&] {
    constexpr std::uint64_t kKnown = BFS_STATS_FILL | BFS_STATS_MEMORY;
    if (const capi::Error wrong = capi::check_flags("bfs_stats", flags, kKnown); !wrong.ok())
      return report(error, wrong);
    bfs_statistics all{};
    put(filter->filter.stats({.fill = (flags & BFS_STATS_FILL) != 0, .memory = (flags & BFS_STATS_MEMORY) != 0}), all);
    const bfstore::Part part = filter->filter.part();
    all.part = part.number;
    all.num_parts = part.parts;
    const std::vector<std::uint32_t> seeds = filter->filter.seeds();
    all.num_seeds = static_cast<std::uint32_t>(std::min(seeds.size(), std::size(all.seeds)));
    std::copy_n(seeds.begin(), all.num_seeds, all.seeds);
    const std::string note = filter->filter.note();
    all.note_bytes = static_cast<std::uint32_t>(std::min(note.size(), sizeof all.note));
    std::memcpy(all.note, note.data(), all.note_bytes);
    capi::fill_struct(out, all);
    return BFS_OK;
  });
}
