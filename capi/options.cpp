#include "options.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace capi {
namespace {

static_assert(BFS_LOCK_TIMEOUT_DEFAULT == BFS_WRITEBACK_CHECK_DEFAULT);
static_assert(BFS_LOCK_NO_WAIT == BFS_WRITEBACK_CHECK_EACH_ADD);
static_assert(BFS_LOCK_FOREVER == bfstore::kWaitForEver);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kRead) == BFS_READ);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kWrite) == BFS_WRITE);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kExclusive) == BFS_EXCLUSIVE);

// In C, 0 means "not given", so 0 ms has a name.
std::uint32_t milliseconds(std::uint32_t given, std::uint32_t usual) noexcept {
  if (given == BFS_LOCK_TIMEOUT_DEFAULT) return usual;
  return given == BFS_LOCK_NO_WAIT ? 0 : given;
}

struct FlagName {
  std::uint64_t bit;
  const char* name;
};

#define BFS_FLAG_NAME(name) \
  FlagName { name, #name }
constexpr FlagName kFlagNames[] = {
    BFS_FLAG_NAME(BFS_READ),        BFS_FLAG_NAME(BFS_WRITE),        BFS_FLAG_NAME(BFS_EXCLUSIVE),
    BFS_FLAG_NAME(BFS_CREATE),      BFS_FLAG_NAME(BFS_POPULATE),     BFS_FLAG_NAME(BFS_RANDOM),
    BFS_FLAG_NAME(BFS_PRIVATE),     BFS_FLAG_NAME(BFS_GUARD),        BFS_FLAG_NAME(BFS_RECOVER),
    BFS_FLAG_NAME(BFS_ACCEPT_LOSS), BFS_FLAG_NAME(BFS_STRICT),       BFS_FLAG_NAME(BFS_ANY_FILESYSTEM),
    BFS_FLAG_NAME(BFS_LIMIT),       BFS_FLAG_NAME(BFS_NOFOLLOW),     BFS_FLAG_NAME(BFS_NO_WRITE),
    BFS_FLAG_NAME(BFS_FOLLOW),      BFS_FLAG_NAME(BFS_VERIFY),       BFS_FLAG_NAME(BFS_TOLERATE_DAMAGE),
    BFS_FLAG_NAME(BFS_BARE),        BFS_FLAG_NAME(BFS_REPLACE),      BFS_FLAG_NAME(BFS_UNPUBLISHED),
    BFS_FLAG_NAME(BFS_FILLING),     BFS_FLAG_NAME(BFS_STATS_FILL),   BFS_FLAG_NAME(BFS_STATS_MEMORY),
    BFS_FLAG_NAME(BFS_SEALED),      BFS_FLAG_NAME(BFS_SAME_FILE_ID), BFS_FLAG_NAME(BFS_TUTORIAL_SIZING),
};
#undef BFS_FLAG_NAME

constexpr std::uint32_t kMostThreads = 64;

bool is_given(double number) noexcept { return number != 0 || std::signbit(number); }

struct FieldName {
  Fields group;
  const char* name;
  bool (*given)(const bfs_options& from);
};

constexpr FieldName kFieldNames[] = {
    {kMode, "mode", [](const bfs_options& from) { return from.mode != 0; }},
    {kRate, "fpr", [](const bfs_options& from) { return is_given(from.fpr); }},
    {kSize, "capacity", [](const bfs_options& from) { return from.capacity != 0; }},
    {kSize, "capacity_at_most", [](const bfs_options& from) { return from.capacity_at_most != 0; }},
    {kSize, "bits_per_key", [](const bfs_options& from) { return is_given(from.bits_per_key); }},
    {kSize, "max_bytes", [](const bfs_options& from) { return from.max_bytes != 0; }},
    {kSize, "num_bits", [](const bfs_options& from) { return from.num_bits != 0; }},
    {kSize, "num_probes", [](const bfs_options& from) { return from.num_probes != 0; }},
    {kShape, "layout", [](const bfs_options& from) { return from.layout != 0; }},
    {kShape, "hash", [](const bfs_options& from) { return from.hash != 0; }},
    {kShape, "like", [](const bfs_options& from) { return from.like != nullptr; }},
    {kShape, "seed", [](const bfs_options& from) { return from.seed != nullptr; }},
    {kShape, "seeds", [](const bfs_options& from) { return from.seeds != nullptr || from.num_seeds != 0; }},
    {kShape, "window_ms", [](const bfs_options& from) { return from.window_ms != 0; }},
    {kShape, "note", [](const bfs_options& from) { return from.note != nullptr || from.note_bytes != 0; }},
    {kShape, "file_id", [](const bfs_options& from) { return from.file_id != nullptr; }},
    {kSecret, "secret", [](const bfs_options& from) { return from.secret != nullptr || from.secret_bytes != 0; }},
    {kLocks, "lock_timeout_ms", [](const bfs_options& from) { return from.lock_timeout_ms != 0; }},
    {kWriteback, "writeback_check_ms", [](const bfs_options& from) { return from.writeback_check_ms != 0; }},
    {kThreads, "threads", [](const bfs_options& from) { return from.threads != 0; }},
    {kPart, "part", [](const bfs_options& from) { return from.part != 0 || from.num_parts != 0; }},
    {kRange, "range", [](const bfs_options& from) { return from.range != nullptr; }},
    {kFd, "fd", [](const bfs_options& from) { return from.fd != nullptr; }},
};

// A field that the function does not take was meant for something.
Error check_fields(const Taken& taken, const bfs_options& from) {
  for (const FieldName& field : kFieldNames) {
    if ((field.group & taken.fields) == 0 && field.given(from))
      return invalid(std::string(taken.function) + ": does not take bfs_options." + field.name + taken.unless +
                     "; leave it 0");
  }
  return {};
}

// No table has a number that needs more bits. What is in a table, the library knows.
Error check_number(const char* field, std::uint32_t number) {
  if (number <= 0xffffU) return {};
  return invalid(std::string("bfs_options.") + field + " is " + std::to_string(number) + ", which is unknown");
}

Error check_values(const bfs_options& from) {
  if (Error wrong = check_number("layout", from.layout); !wrong.ok()) return wrong;
  if (Error wrong = check_number("hash", from.hash); !wrong.ok()) return wrong;
  if (from.note == nullptr && from.note_bytes != 0) return invalid("bfs_options.note is null, but note_bytes is not 0");
  if (from.note_bytes > bfstore::kMaxNoteBytes) return invalid("the note is longer than 1024 bytes");
  if (from.num_seeds > bfstore::kMaxProbes) return invalid("there are more than 64 seeds");
  if ((from.seeds == nullptr) != (from.num_seeds == 0))
    return invalid("bfs_options: one of seeds and num_seeds is given without the other");
  return {};
}

Error read_secret(const bfs_options& from, std::optional<bfstore::Secret>& to) {
  if (from.secret == nullptr && from.secret_bytes == 0) return {};
  if (from.secret == nullptr) return invalid("bfs_options.secret is null, but secret_bytes is not 0");
  if (from.secret_bytes != sizeof(bfstore::Secret))
    return invalid("the secret has " + std::to_string(from.secret_bytes) + " bytes, and not 16");
  std::memcpy(to.emplace().data(), from.secret, sizeof(bfstore::Secret));
  return {};
}

}  // namespace

// Names the lowest bit that the function does not take.
Error check_flags(const char* function, std::uint64_t flags, std::uint64_t taken) {
  const std::uint64_t others = flags & ~taken;
  if (others == 0) return {};
  const std::uint64_t bit = others & (~others + 1);
  const auto* named = std::find_if(std::begin(kFlagNames), std::end(kFlagNames),
                                   [bit](const FlagName& flag) { return flag.bit == bit; });
  char number[24];
  std::snprintf(number, sizeof number, "0x%" PRIx64, bit);
  const std::string name = named == std::end(kFlagNames) ? number + std::string(", which is no flag") : named->name;
  return invalid(std::string(function) + ": does not take " + name + "; remove it from the flags");
}

void wipe(std::optional<bfstore::Secret>& secret) noexcept {
  if (secret) explicit_bzero(secret->data(), secret->size());
}

Error Given::read(const bfs_options* from, const Taken& taken) {
  if (Error wrong = check_flags(taken.function, flags_, taken.flags); !wrong.ok()) return wrong;
  if (from == nullptr) return {};
  if (const char* wrong = read_struct(from, known_); wrong != nullptr)
    return invalid(std::string("bfs_options") + wrong);
  if (Error wrong = check_fields(taken, known_); !wrong.ok()) return wrong;
  if (Error wrong = check_values(known_); !wrong.ok()) return wrong;
  if (Error wrong = check_threads(taken); !wrong.ok()) return wrong;
  return read_secret(known_, secret_);
}

// Before a file is made, which would stay.
Error Given::check_threads(const Taken& taken) const {
  if (known_.threads == 0) return {};
  if (known_.threads > kMostThreads) return invalid("bfs_options.threads is above 64");
  const bool is_a_choice = (taken.flags & BFS_EXCLUSIVE) != 0;
  if (!is_a_choice || has(BFS_EXCLUSIVE)) return {};
  return invalid(std::string(taken.function) + ": bfs_options.threads goes with BFS_EXCLUSIVE");
}

Wiped<bfstore::Options> Given::making() const {
  Wiped<bfstore::Options> options;
  options.capacity = known_.capacity;
  options.capacity_at_most = known_.capacity_at_most;
  options.fpr = known_.fpr;
  options.bits_per_key = known_.bits_per_key;
  options.max_bytes = known_.max_bytes;
  options.num_bits = known_.num_bits;
  options.num_probes = known_.num_probes;
  options.window_ms = known_.window_ms;
  options.layout = number_given<bfstore::Layout>(known_.layout);
  options.hash = number_given<bfstore::Hash>(known_.hash);
  if (known_.seed != nullptr) options.seed = *known_.seed;
  if (known_.file_id != nullptr) std::memcpy(options.file_id.emplace().data(), known_.file_id, sizeof(bfstore::FileId));
  if (known_.mode != 0) options.mode = known_.mode;
  if (known_.like != nullptr) options.like = known_.like;
  if (known_.note != nullptr) options.note.assign(static_cast<const char*>(known_.note), known_.note_bytes);
  if (known_.num_seeds != 0) options.seeds.assign(known_.seeds, known_.seeds + known_.num_seeds);
  if (known_.part != 0 || known_.num_parts != 0) options.part = bfstore::Part{known_.part, known_.num_parts};
  options.secret = secret_;
  options.tutorial_sizing = has(BFS_TUTORIAL_SIZING);
  options.replace = has(BFS_REPLACE);
  options.unpublished = has(BFS_UNPUBLISHED);
  options.filling = has(BFS_FILLING);
  options.bare = has(BFS_BARE);
  options.exclusive = has(BFS_EXCLUSIVE);
  options.map = {has(BFS_POPULATE), has(BFS_RANDOM), has(BFS_GUARD)};
  options.any_filesystem = has(BFS_ANY_FILESYSTEM);
  options.hard_limit = has(BFS_LIMIT);
  options.lock_timeout_ms = milliseconds(known_.lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(known_.writeback_check_ms, bfstore::kWritebackCheckMs);
  return options;
}

Wiped<bfstore::OpenOptions> Given::opening() const {
  Wiped<bfstore::OpenOptions> options;
  options.map = {has(BFS_POPULATE), has(BFS_RANDOM), has(BFS_GUARD), has(BFS_PRIVATE)};
  options.recover = has(BFS_RECOVER);
  options.accept_loss = has(BFS_ACCEPT_LOSS);
  options.strict = has(BFS_STRICT);
  options.any_filesystem = has(BFS_ANY_FILESYSTEM);
  options.no_follow = has(BFS_NOFOLLOW);
  options.no_write = has(BFS_NO_WRITE);
  if (known_.fd != nullptr) options.descriptor = *known_.fd;
  options.follow = has(BFS_FOLLOW);
  options.verify = has(BFS_VERIFY);
  options.tolerate_damage = has(BFS_TOLERATE_DAMAGE);
  options.hard_limit = has(BFS_LIMIT);
  options.lock_timeout_ms = milliseconds(known_.lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(known_.writeback_check_ms, bfstore::kWritebackCheckMs);
  options.secret = secret_;
  return options;
}

bfstore::SaveOptions Given::copying() const {
  bfstore::SaveOptions options;
  if (known_.mode != 0) options.mode = known_.mode;
  options.replace = has(BFS_REPLACE);
  options.any_filesystem = has(BFS_ANY_FILESYSTEM);
  options.filling = has(BFS_FILLING);
  options.sealed = has(BFS_SEALED);
  options.same_file_id = has(BFS_SAME_FILE_ID);
  options.fpr = known_.fpr;
  options.lock_timeout_ms = milliseconds(known_.lock_timeout_ms, bfstore::kLockTimeoutMs);
  return options;
}

bfstore::Layout layout_or_default(std::uint32_t number) noexcept {
  return number_given<bfstore::Layout>(number).value_or(bfstore::Layout::kBlocked);
}

}  // namespace capi
