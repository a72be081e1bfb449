// The C ABI: checks pointers and flags, translates, and catches. It has no other logic; that is in Filter.
#include "bfstore.h"

#include <bfstore/bfstore.hpp>
#include <bfstore/inline.hpp>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "bfstore_interop.h"
#include "message.hpp"
#include "structs.hpp"

struct bfs_filter {
  explicit bfs_filter(bfstore::Filter made) : lookup(made.lookup()), filter(std::move(made)) {}

  bfstore::Lookup lookup;  // first, so that bfs_contains_digest calls the kernel with its own arguments unchanged
  bfstore::Filter filter;
};

namespace {

using bfstore::Code;
using bfstore::Count;
using bfstore::Error;
using bfstore::Filter;
using bfstore::Keys;
using bfstore::Options;
using bfstore::Result;
using bfstore::SecretKey;

std::int32_t number_of(Code code) noexcept { return static_cast<std::int32_t>(code); }

std::int32_t report(bfs_error* to, Code code, int os_errno, std::string_view message) noexcept {
  const std::uint32_t struct_bytes = to == nullptr ? 0 : capi::size_said_by(to);
  if (!capi::possible_size<bfs_error>(struct_bytes)) return number_of(code);
  bfs_error known{};
  known.code = number_of(code);
  known.os_errno = os_errno != 0 ? os_errno : bfstore::natural_errno(code);
  const std::size_t room = std::min<std::size_t>(struct_bytes, sizeof known) - offsetof(bfs_error, message);
  capi::write_message(known.message, room, message);
  capi::fill_struct(to, known);
  return number_of(code);
}

std::int32_t report(bfs_error* to, const Error& error) noexcept {
  return error.ok() ? BFS_OK : report(to, error.code, error.os_errno, error.message);
}

std::int32_t invalid(bfs_error* to, const char* message) noexcept { return report(to, Code::kInvalid, 0, message); }

Error invalid(std::string message) { return {Code::kInvalid, 0, std::move(message)}; }

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

// No exception leaves the ABI.
template <class Body>
std::int32_t guarded(bfs_error* error, Body body) noexcept {
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

template <class T>
std::optional<T> given(std::uint32_t number) noexcept {
  if (number == 0) return std::nullopt;
  return static_cast<T>(std::min(number, 0xffffU));
}

// Wipes a copy of the caller's key when the call ends: the handle has its own.
class KeyWiper {
 public:
  explicit KeyWiper(std::optional<SecretKey>& key) noexcept : key_(key) {}
  KeyWiper(const KeyWiper&) = delete;
  KeyWiper& operator=(const KeyWiper&) = delete;
  ~KeyWiper() {
    if (key_) explicit_bzero(key_->data(), key_->size());
  }

 private:
  std::optional<SecretKey>& key_;
};

// Returns nullptr, or the mistake in the secret.
const char* read_secret(const void* from, std::uint64_t key_bytes, std::optional<SecretKey>& to) noexcept {
  if (from == nullptr) return key_bytes == 0 ? nullptr : "the secret key is null, but its length is not 0";
  if (key_bytes != sizeof(SecretKey)) return "the secret key has another length than 16 bytes";
  std::memcpy(to.emplace().data(), from, sizeof(SecretKey));
  return nullptr;
}

static_assert(BFS_LOCK_TIMEOUT_DEFAULT == BFS_WRITEBACK_CHECK_DEFAULT);
static_assert(BFS_LOCK_NO_WAIT == BFS_WRITEBACK_CHECK_EACH_ADD);
static_assert(BFS_LOCK_FOREVER == bfstore::kWaitForEver);

// In C, 0 means "not given", so 0 ms has a name.
std::uint32_t milliseconds(std::uint32_t given, std::uint32_t usual) noexcept {
  if (given == BFS_LOCK_TIMEOUT_DEFAULT) return usual;
  return given == BFS_LOCK_NO_WAIT ? 0 : given;
}

// --- Flags: which function takes which, by the letters of the header ---

constexpr std::uint64_t kModes = BFS_OPEN_READ | BFS_OPEN_WRITE | BFS_OPEN_EXCLUSIVE;
static_assert(static_cast<unsigned>(bfstore::OpenMode::kRead) == BFS_OPEN_READ);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kWrite) == BFS_OPEN_WRITE);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kExclusive) == BFS_OPEN_EXCLUSIVE);
constexpr std::uint64_t kMapFlags = BFS_OPEN_POPULATE | BFS_OPEN_RANDOM | BFS_OPEN_GUARD;
constexpr std::uint64_t kFlagsOfOpen = kModes | kMapFlags | BFS_OPEN_COPY | BFS_OPEN_RECOVER | BFS_OPEN_ACCEPT_LOSS |
                                       BFS_OPEN_STRICT | BFS_OPEN_ANY_FILESYSTEM | BFS_OPEN_LIMIT | BFS_OPEN_NOFOLLOW |
                                       BFS_OPEN_NO_WRITE | BFS_OPEN_FOLLOW | BFS_OPEN_RANGE | BFS_OPEN_VERIFY |
                                       BFS_OPEN_TOLERATE_DAMAGE | BFS_OPEN_FD;
constexpr std::uint64_t kFlagsOfRange = BFS_OPEN_RANGE | BFS_OPEN_READ | kMapFlags | BFS_OPEN_COPY |
                                        BFS_OPEN_ANY_FILESYSTEM | BFS_OPEN_NOFOLLOW | BFS_OPEN_NO_WRITE | BFS_OPEN_FD;
constexpr std::uint64_t kFlagsOfSet = BFS_OPEN_READ | kMapFlags | BFS_OPEN_COPY | BFS_OPEN_STRICT |
                                      BFS_OPEN_ANY_FILESYSTEM | BFS_OPEN_NOFOLLOW | BFS_OPEN_NO_WRITE |
                                      BFS_OPEN_VERIFY | BFS_OPEN_TOLERATE_DAMAGE;
constexpr std::uint64_t kFlagsOfCreate = BFS_OPEN_EXCLUSIVE | kMapFlags | BFS_OPEN_ANY_FILESYSTEM | BFS_OPEN_LIMIT |
                                         BFS_OPTION_SEED | BFS_OPTION_REPLACE | BFS_OPTION_UNPUBLISHED |
                                         BFS_OPTION_FILE_ID | BFS_OPTION_FILLING | BFS_OPTION_TUTORIAL_SIZING;
constexpr std::uint64_t kFlagsOfImport = kFlagsOfCreate & ~BFS_OPTION_FILLING;
constexpr std::uint64_t kFlagsOfBuffer =
    BFS_OPEN_EXCLUSIVE | BFS_OPEN_BARE | BFS_OPTION_SEED | BFS_OPTION_FILE_ID | BFS_OPTION_TUTORIAL_SIZING;
constexpr std::uint64_t kFlagsOfSeal = BFS_OPEN_ANY_FILESYSTEM | BFS_OPTION_REPLACE;
constexpr std::uint64_t kFlagsOfSave =
    BFS_OPEN_ANY_FILESYSTEM | BFS_OPTION_REPLACE | BFS_OPTION_FILE_ID | BFS_OPTION_FILLING;
constexpr std::uint64_t kFlagsOfIntersect = BFS_OPEN_ANY_FILESYSTEM | BFS_OPTION_REPLACE | BFS_OPTION_FILLING;
constexpr std::uint64_t kFlagsOfDump = BFS_OPEN_BARE | BFS_OPTION_FILE_ID;

struct FlagName {
  std::uint64_t bit;
  const char* name;
};

#define BFS_FLAG_NAME(name) \
  FlagName { name, #name }
constexpr FlagName kFlagNames[] = {
    BFS_FLAG_NAME(BFS_OPEN_READ),
    BFS_FLAG_NAME(BFS_OPEN_WRITE),
    BFS_FLAG_NAME(BFS_OPEN_EXCLUSIVE),
    BFS_FLAG_NAME(BFS_OPEN_POPULATE),
    BFS_FLAG_NAME(BFS_OPEN_RANDOM),
    BFS_FLAG_NAME(BFS_OPEN_COPY),
    BFS_FLAG_NAME(BFS_OPEN_GUARD),
    BFS_FLAG_NAME(BFS_OPEN_RECOVER),
    BFS_FLAG_NAME(BFS_OPEN_ACCEPT_LOSS),
    BFS_FLAG_NAME(BFS_OPEN_STRICT),
    BFS_FLAG_NAME(BFS_OPEN_ANY_FILESYSTEM),
    BFS_FLAG_NAME(BFS_OPEN_LIMIT),
    BFS_FLAG_NAME(BFS_OPEN_NOFOLLOW),
    BFS_FLAG_NAME(BFS_OPEN_NO_WRITE),
    BFS_FLAG_NAME(BFS_OPEN_RANGE),
    BFS_FLAG_NAME(BFS_OPEN_VERIFY),
    BFS_FLAG_NAME(BFS_OPEN_TOLERATE_DAMAGE),
    BFS_FLAG_NAME(BFS_OPEN_BARE),
    BFS_FLAG_NAME(BFS_OPTION_SEED),
    BFS_FLAG_NAME(BFS_OPTION_REPLACE),
    BFS_FLAG_NAME(BFS_OPTION_UNPUBLISHED),
    BFS_FLAG_NAME(BFS_OPEN_FD),
    BFS_FLAG_NAME(BFS_OPTION_FILE_ID),
    BFS_FLAG_NAME(BFS_STATS_FILL),
    BFS_FLAG_NAME(BFS_STATS_MEMORY),
    BFS_FLAG_NAME(BFS_OPEN_FOLLOW),
    BFS_FLAG_NAME(BFS_OPTION_FILLING),
    BFS_FLAG_NAME(BFS_OPTION_TUTORIAL_SIZING),
};
#undef BFS_FLAG_NAME

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

// No table has a number that needs more bits. The library itself checks smaller numbers.
Error check_number(const char* field, std::uint32_t number) {
  if (number <= 0xffffU) return {};
  return invalid(std::string("bfs_options.") + field + " is " + std::to_string(number) + ", which is unknown");
}

// A field without its flag is an error, because the caller meant it.
Error check_flagged_fields(const bfs_options& from) {
  const auto absent = [&from](std::uint64_t flag) { return (from.flags & flag) == 0; };
  if (absent(BFS_OPTION_SEED) && from.seed != 0)
    return invalid("bfs_options.seed is not 0, but the flags lack BFS_OPTION_SEED");
  const bool has_id =
      std::any_of(std::begin(from.file_id), std::end(from.file_id), [](auto byte) { return byte != 0; });
  if (absent(BFS_OPTION_FILE_ID) && has_id)
    return invalid("bfs_options.file_id is not all zeros, but the flags lack BFS_OPTION_FILE_ID");
  return {};
}

Error check_options(const bfs_options& from, const char* function, std::uint64_t taken) {
  if (Error wrong = check_flags(function, from.flags, taken); !wrong.ok()) return wrong;
  if (Error wrong = check_flagged_fields(from); !wrong.ok()) return wrong;
  if (Error wrong = check_number("layout", from.layout); !wrong.ok()) return wrong;
  if (Error wrong = check_number("hash", from.hash); !wrong.ok()) return wrong;
  if (from.note == nullptr && from.note_bytes != 0) return invalid("bfs_options.note is null, but note_bytes is not 0");
  if (from.note_bytes > bfstore::kMaxNoteBytes) return invalid("the note is longer than 1024 bytes");
  if (from.reserved != 0) return invalid("bfs_options: reserved is not 0");
  if (from.num_seeds > bfstore::kMaxProbes) return invalid("there are more than 64 seeds");
  if ((from.seeds == nullptr) != (from.num_seeds == 0))
    return invalid("bfs_options: one of seeds and num_seeds is given without the other");
  return {};
}

// Reads all options but the secret.
Options options_of(const bfs_options& from) {
  const auto set = [&from](std::uint64_t flag) { return (from.flags & flag) != 0; };
  Options options;
  options.capacity = from.capacity;
  options.fpr = from.fpr;
  options.bits_per_key = from.bits_per_key;
  options.max_bytes = from.max_bytes;
  options.num_bits = from.num_bits;
  options.num_probes = from.num_probes;
  options.layout = given<bfstore::Layout>(from.layout);
  options.hash = given<bfstore::Hash>(from.hash);
  if (set(BFS_OPTION_SEED)) options.seed = from.seed;
  if (set(BFS_OPTION_FILE_ID)) std::memcpy(options.file_id.emplace().data(), from.file_id, sizeof from.file_id);
  if (from.mode != 0) options.mode = from.mode;
  if (from.like != nullptr) options.like = from.like;
  if (from.note != nullptr) options.note.assign(static_cast<const char*>(from.note), from.note_bytes);
  if (from.num_seeds != 0) options.seeds.assign(from.seeds, from.seeds + from.num_seeds);
  options.tutorial_sizing = set(BFS_OPTION_TUTORIAL_SIZING);
  options.replace = set(BFS_OPTION_REPLACE);
  options.unpublished = set(BFS_OPTION_UNPUBLISHED);
  options.filling = set(BFS_OPTION_FILLING);
  options.bare = set(BFS_OPEN_BARE);
  options.exclusive = set(BFS_OPEN_EXCLUSIVE);
  options.map = {set(BFS_OPEN_POPULATE), set(BFS_OPEN_RANDOM), set(BFS_OPEN_GUARD)};
  options.any_filesystem = set(BFS_OPEN_ANY_FILESYSTEM);
  options.hard_limit = set(BFS_OPEN_LIMIT);
  options.lock_timeout_ms = milliseconds(from.lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(from.writeback_check_ms, bfstore::kWritebackCheckMs);
  return options;
}

Error check_open_options(const bfs_open_options& from) {
  const bool range = (from.flags & BFS_OPEN_RANGE) != 0;
  if (Error wrong = check_flags(range ? "bfs_open_with with BFS_OPEN_RANGE" : "bfs_open", from.flags,
                                range ? kFlagsOfRange : kFlagsOfOpen);
      !wrong.ok())
    return wrong;
  if (range && (from.flags & BFS_OPEN_READ) == 0) return invalid("BFS_OPEN_RANGE goes with BFS_OPEN_READ");
  if (!range && (from.offset != 0 || from.max_bytes != 0))
    return invalid("bfs_open_options: offset and max_bytes are for BFS_OPEN_RANGE");
  if ((from.flags & BFS_OPEN_FD) == 0 && from.fd != 0) return invalid("bfs_open_options: fd is for BFS_OPEN_FD");
  return {};
}

Error check_set_options(const bfs_open_options& from) {
  if (Error wrong = check_flags("bfs_open_set", from.flags, kFlagsOfSet); !wrong.ok()) return wrong;
  if ((from.flags & BFS_OPEN_READ) == 0) return invalid("bfs_open_set: the flags lack BFS_OPEN_READ");
  if (from.offset != 0 || from.max_bytes != 0 || from.fd != 0 || from.writeback_check_ms != 0)
    return invalid("bfs_open_options: offset, max_bytes, fd and writeback_check_ms are not for bfs_open_set");
  return {};
}

Error check_buffer_options(const char* function, const bfs_open_options& from) {
  constexpr std::uint64_t kEither = BFS_OPEN_READ | BFS_OPEN_WRITE;
  if (Error wrong = check_flags(function, from.flags, kEither | BFS_OPEN_BARE); !wrong.ok()) return wrong;
  if ((from.flags & kEither) == 0 || (from.flags & kEither) == kEither)
    return invalid(std::string(function) + ": the flags have BFS_OPEN_READ or BFS_OPEN_WRITE, exactly one of them");
  if (from.offset != 0 || from.max_bytes != 0 || from.lock_timeout_ms != 0 || from.writeback_check_ms != 0)
    return invalid("bfs_open_options: offset, max_bytes, lock_timeout_ms and writeback_check_ms are not for buffers");
  if (from.fd != 0) return invalid("bfs_open_options: fd is 0 for a buffer");
  return {};
}

Error check_wrap_options(const bfs_open_options& from) { return check_buffer_options("bfs_wrap_with", from); }
Error check_load_options(const bfs_open_options& from) { return check_buffer_options("bfs_load", from); }

// Reads all options but the secret.
bfstore::OpenOptions open_options_of(const bfs_open_options& from) {
  const auto set = [&from](std::uint64_t flag) { return (from.flags & flag) != 0; };
  bfstore::OpenOptions options;
  options.map = {set(BFS_OPEN_POPULATE), set(BFS_OPEN_RANDOM), set(BFS_OPEN_GUARD), set(BFS_OPEN_COPY)};
  options.recover = set(BFS_OPEN_RECOVER);
  options.accept_loss = set(BFS_OPEN_ACCEPT_LOSS);
  options.strict = set(BFS_OPEN_STRICT);
  options.any_filesystem = set(BFS_OPEN_ANY_FILESYSTEM);
  options.no_follow = set(BFS_OPEN_NOFOLLOW);
  options.no_write = set(BFS_OPEN_NO_WRITE);
  if (set(BFS_OPEN_FD)) options.descriptor = from.fd;
  options.follow = set(BFS_OPEN_FOLLOW);
  options.verify = set(BFS_OPEN_VERIFY);
  options.tolerate_damage = set(BFS_OPEN_TOLERATE_DAMAGE);
  options.hard_limit = set(BFS_OPEN_LIMIT);
  options.lock_timeout_ms = milliseconds(from.lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(from.writeback_check_ms, bfstore::kWritebackCheckMs);
  return options;
}

// Calls `use` with the options in the caller's struct. `taken` are the flags that the function takes.
template <class Use>
std::int32_t with_options(const bfs_options* from, const char* function, std::uint64_t taken, bfs_error* error,
                          Use use) {
  return guarded(error, [&] {
    bfs_options known;
    if (const char* wrong = capi::read_struct(from, known); wrong != nullptr) return report(error, invalid(wrong));
    if (const Error wrong = check_options(known, function, taken); !wrong.ok()) return report(error, wrong);
    Options options = options_of(known);
    const KeyWiper wiper(options.key);
    if (const char* wrong = read_secret(known.key, known.key_bytes, options.key); wrong != nullptr)
      return report(error, invalid(wrong));
    return use(options);
  });
}

// Calls `use` with the caller's options of a copy, as a C struct. `from` may be null.
template <class Use>
std::int32_t with_copy_options(const bfs_copy_options* from, const char* function, std::uint64_t taken,
                               bfs_error* error, Use use) {
  return guarded(error, [&] {
    bfs_copy_options known = BFS_COPY_OPTIONS_INIT;
    if (from != nullptr) {
      if (const char* wrong = capi::read_struct(from, known); wrong != nullptr)
        return report(error, invalid(std::string("bfs_copy_options") + wrong));
    }
    if (const Error wrong = check_flags(function, known.flags, taken); !wrong.ok()) return report(error, wrong);
    if (known.reserved != 0) return report(error, invalid("bfs_copy_options: reserved is not 0"));
    return use(known);
  });
}

// Copies the options that SealOptions and SaveOptions have in common.
template <class How>
void copy_how(const bfs_copy_options& from, How& how) {
  if (from.mode != 0) how.mode = from.mode;
  how.replace = (from.flags & BFS_OPTION_REPLACE) != 0;
  how.any_filesystem = (from.flags & BFS_OPEN_ANY_FILESYSTEM) != 0;
  how.lock_timeout_ms = milliseconds(from.lock_timeout_ms, bfstore::kLockTimeoutMs);
}

// Calls `use` with the caller's options for opening a file or a buffer. `check` finds mistakes in them.
template <class Check, class Use>
std::int32_t with_open_options(const bfs_open_options* from, bfs_error* error, Check check, Use use) {
  return guarded(error, [&] {
    bfs_open_options known;
    if (const char* wrong = capi::read_struct(from, known); wrong != nullptr) return report(error, invalid(wrong));
    if (const Error wrong = check(known); !wrong.ok()) return report(error, wrong);
    bfstore::OpenOptions options = open_options_of(known);
    const KeyWiper wiper(options.key);
    if (const char* wrong = read_secret(known.key, known.key_bytes, options.key); wrong != nullptr)
      return report(error, invalid(wrong));
    return use(known, options);
  });
}

// --- A comparison in C ---

bfs_interval interval_of(const bfstore::Interval& from) noexcept { return {from.estimate, from.low, from.high}; }

std::uint32_t differs_of(const bfstore::Differences& from) noexcept {
  return (from.layout ? BFS_DIFFERS_LAYOUT : 0) | (from.hash ? BFS_DIFFERS_HASH : 0) |
         (from.seed ? BFS_DIFFERS_SEED : 0) | (from.secret ? BFS_DIFFERS_KEY : 0) |
         (from.num_probes ? BFS_DIFFERS_NUM_PROBES : 0) | (from.num_bits ? BFS_DIFFERS_NUM_BITS : 0) |
         (from.part ? BFS_DIFFERS_PART : 0);
}

bfs_comparison comparison_of(const bfstore::Comparison& from) noexcept {
  bfs_comparison all{};
  all.differs = differs_of(from.differ);
  all.comparable = from.comparable ? 1 : 0;
  all.equal = from.equal ? 1 : 0;
  all.a_in_b = from.a_in_b ? 1 : 0;
  all.b_in_a = from.b_in_a ? 1 : 0;
  all.some_in_both = from.some_in_both ? 1 : 0;
  all.num_bits = from.num_bits;
  all.set_bits_a = from.set_bits_a;
  all.set_bits_b = from.set_bits_b;
  all.set_bits_both = from.set_bits_both;
  all.keys_a = interval_of(from.keys_a);
  all.keys_b = interval_of(from.keys_b);
  all.keys_either = interval_of(from.keys_either);
  all.keys_both = interval_of(from.keys_both);
  all.jaccard = interval_of(from.jaccard);
  return all;
}

std::string_view key_of(const void* key, std::size_t key_bytes) noexcept {
  return {static_cast<const char*>(key), key_bytes};
}

// A count of one key fits 32 bits.
std::int32_t one(Count count) noexcept { return static_cast<std::int32_t>(count.raw()); }

bool null_keys(const void* keys, std::size_t count) noexcept { return keys == nullptr && count != 0; }

// Writes "maybe" for every key: the answers of a call that is refused.
std::int64_t all_maybe(std::uint8_t* answers, std::size_t count) noexcept {
  if (answers != nullptr && count != 0) std::memset(answers, 1, count);
  return BFS_EINVAL;
}

std::int64_t all_maybe(std::uint32_t* indices, std::size_t count) noexcept {
  for (std::size_t i = 0; indices != nullptr && i < count; ++i) indices[i] = static_cast<std::uint32_t>(i);
  return BFS_EINVAL;
}

// --- Many keys: this checks the arrays, and Filter checks what is in them ---

// True if a caller can have an array of `count` items.
template <class Item>
bool possible(const Item* items, std::size_t count) noexcept {
  return count == 0 || (items != nullptr && count <= PTRDIFF_MAX / sizeof(Item));
}

// Calls `use(sources, how)` to make a new file of several filters.
template <class Use>
std::int32_t with_filters(const bfs_filter* const* filters, std::size_t count, const char* path,
                          const bfs_copy_options* options, const std::string& function, bfs_error* error, Use use) {
  if (path == nullptr || (filters == nullptr && count != 0))
    return invalid(error, (function + ": filters or path is null").c_str());
  return with_copy_options(options, function.c_str(), kFlagsOfIntersect, error, [&](const bfs_copy_options& known) {
    if (!possible(filters, count)) return report(error, invalid(function + ": count is greater than any array"));
    std::vector<const Filter*> sources;
    for (const bfs_filter* const one : std::span(filters, count)) {
      if (one == nullptr) return report(error, invalid(function + ": one of the filters is null"));
      sources.push_back(&one->filter);
    }
    bfstore::SaveOptions how;
    copy_how(known, how);
    how.fpr = known.fpr;
    how.filling = (known.flags & BFS_OPTION_FILLING) != 0;
    return report(error, use(sources, how));
  });
}

// The caller's keys. Empty if the caller cannot have such arrays.
using MaybeKeys = std::optional<Keys>;

// The data of a bfs_keys as an array.
template <class Item>
const Item* items_of(const bfs_keys& from) noexcept {
  return static_cast<const Item*>(from.data);
}

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

MaybeKeys digest_keys(const std::uint64_t* digests, std::size_t count) noexcept {
  if (!possible(digests, count)) return std::nullopt;
  return Keys::digests({digests, count});
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
      return digest_keys(items_of<std::uint64_t>(from), from.count);
    default:
      return std::nullopt;
  }
}

MaybeKeys keys_of(const bfs_keys& from) noexcept {
  const MaybeKeys keys = keys_without_nulls(from);
  if (!keys || from.validity == nullptr) return keys;
  if (from.validity_offset > PTRDIFF_MAX || from.count > PTRDIFF_MAX) return std::nullopt;
  return keys->where_valid(from.validity, from.validity_offset);
}

std::int64_t add(bfs_filter* filter, const MaybeKeys& keys) noexcept {
  if (filter == nullptr || !keys) return BFS_EINVAL;
  return filter->filter.add_keys(*keys).raw();
}

Count answer(const Filter& filter, const Keys& keys, std::span<std::uint8_t> answers) noexcept {
  return filter.contains_keys(keys, answers);
}

Count answer(const Filter& filter, const Keys& keys, std::span<std::uint32_t> indices) noexcept {
  return filter.select_keys(keys, indices);
}

// True if `count` is more keys than an array can have (a negative code used as a number, for example). No array has
// room for the answers.
bool absurd(std::size_t count) noexcept { return count > PTRDIFF_MAX / sizeof(bfs_key); }

template <class Answer>
std::int64_t answer(const bfs_filter* filter, const MaybeKeys& keys, Answer* answers, std::size_t count) noexcept {
  if (absurd(count)) return BFS_EINVAL;
  if (filter == nullptr || !keys || null_keys(answers, count)) return all_maybe(answers, count);
  return answer(filter->filter, *keys, std::span(answers, count)).raw();
}

template <class Answer>
std::int64_t answer(const bfs_filter* filter, const bfs_keys* keys, Answer* answers) noexcept {
  bfs_keys known;
  if (capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  return answer(filter, keys_of(known), answers, known.count);
}

// --- Bare filters without a handle ---

bfstore::Layout layout_or_default(std::uint32_t number) noexcept {
  return given<bfstore::Layout>(number).value_or(bfstore::Layout::kBlocked);
}

std::int32_t build_bare(void* buffer, std::uint64_t bytes, std::uint32_t layout, std::uint32_t hash,
                        const MaybeKeys& keys) noexcept {
  if (!keys) return BFS_EINVAL;
  return number_of(bfstore::bare::build({static_cast<std::byte*>(buffer), bytes}, *keys, layout_or_default(layout),
                                        given<bfstore::Hash>(hash).value_or(bfstore::Hash::kXxh3)));
}

bfstore::PlanRequest plan_request_of(const bfs_plan_request& from) noexcept {
  bfstore::PlanRequest request;
  request.layout = layout_or_default(from.layout);
  request.capacity = from.capacity;
  request.fpr = from.fpr;
  request.bits_per_key = from.bits_per_key;
  request.max_bytes = from.max_bytes;
  request.num_bits = from.num_bits;
  request.num_probes = from.num_probes;
  return request;
}

std::uint32_t abilities_of(const bfstore::Capabilities& can) noexcept {
  return (can.add ? BFS_CAN_ADD : 0) | (can.remove ? BFS_CAN_REMOVE : 0) | (can.merge ? BFS_CAN_MERGE : 0) |
         (can.fold ? BFS_CAN_FOLD : 0) | (can.grow ? BFS_CAN_GROW : 0) | (can.expire ? BFS_CAN_EXPIRE : 0) |
         (can.intersect ? BFS_CAN_INTERSECT : 0);
}

// --- Foreign filters ---

// Calls `use` with the form in the caller's struct.
template <class Use>
std::int32_t with_form(const bfs_foreign_form* from, const char* function, bfs_error* error, Use use) {
  return guarded(error, [&] {
    bfs_foreign_form known;
    if (const char* wrong = capi::read_struct(from, known); wrong != nullptr)
      return report(error, invalid(std::string("bfs_foreign_form") + wrong));
    if (known.format == nullptr) return report(error, invalid(std::string(function) + ": format is null"));
    bfstore::ForeignForm form{known.format, {}, known.name == nullptr ? "" : known.name};
    if (known.order != 0) form.order = static_cast<bfstore::BitOrder>(known.order);
    return use(form);
  });
}

bfs_foreign foreign_of(const bfstore::ForeignFilter& from, std::uint32_t needs) noexcept {
  bfs_foreign all{};
  all.needs = needs;
  all.layout = static_cast<std::uint32_t>(from.format.layout);
  all.hash = from.hash ? static_cast<std::uint32_t>(*from.hash) : 0;
  all.num_bits = from.num_bits;
  all.capacity = from.capacity;
  all.fpr = from.fpr;
  all.keys = from.keys.value_or(0);
  all.bytes = from.bytes;
  all.num_probes = from.num_probes;
  all.has_keys = from.keys ? 1 : 0;
  return all;
}

std::uint32_t needs_of(const bfstore::ForeignFilter& told) noexcept {
  return (told.format.needs_size ? BFS_FOREIGN_NEEDS_SIZE : 0) |
         (told.format.needs_order ? BFS_FOREIGN_NEEDS_ORDER : 0) | (told.hash ? 0 : BFS_FOREIGN_NEEDS_HASH);
}

bfs_plan_result plan_result_of(const bfstore::Plan& plan) noexcept {
  bfs_plan_result result{};
  result.layout = static_cast<std::uint32_t>(plan.layout.layout);
  result.num_probes = plan.num_probes;
  result.abilities = abilities_of(plan.layout.can);
  result.num_bits = plan.num_bits;
  result.capacity = plan.capacity;
  result.fpr = plan.fpr;
  result.bits_per_key = plan.bits_per_key;
  result.body_bytes = plan.body_bytes;
  result.file_bytes = plan.file_bytes;
  result.fill_ratio = plan.fill_ratio;
  result.bloom_fpr = plan.bloom_fpr;
  result.cache_lines = plan.cache_lines;
  result.page_faults = plan.page_faults;
  return result;
}

}  // namespace

const char* bfs_version(void) { return bfstore::version(); }

uint32_t bfs_version_number(void) { return BFS_VERSION_MAJOR * 1000000 + BFS_VERSION_MINOR * 1000 + BFS_VERSION_PATCH; }

const char* bfs_code_name(int32_t code) {
  const char* name = bfstore::code_name(static_cast<Code>(code));
  return name == nullptr ? "BFS_E?" : name;
}

const char* bfs_strerror(int32_t code) { return bfstore::code_text(static_cast<Code>(code)); }

const char* bfs_layout_name(uint32_t layout) {
  const auto known = bfstore::layout_of(given<bfstore::Layout>(layout).value_or(bfstore::Layout{}));
  return known ? known->name : nullptr;
}

const char* bfs_hash_name(uint32_t hash) {
  const auto known = bfstore::hash_of(given<bfstore::Hash>(hash).value_or(bfstore::Hash{}));
  return known ? known->name : nullptr;
}

int32_t bfs_layout_named(const char* name) {
  const auto known = bfstore::layout_named(name == nullptr ? "" : name);
  return known ? static_cast<int32_t>(known->layout) : BFS_EINVAL;
}

int32_t bfs_hash_named(const char* name) {
  const auto known = bfstore::hash_named(name == nullptr ? "" : name);
  return known ? static_cast<int32_t>(known->hash) : BFS_EINVAL;
}

int32_t bfs_plan(const bfs_plan_request* request, bfs_plan_result* out, bfs_error* error) {
  if (out == nullptr) return invalid(error, "bfs_plan: out is null");
  if (!capi::possible_size<bfs_plan_result>(capi::size_said_by(out)))
    return invalid(error, "bfs_plan_result.struct_bytes is not its size");
  return guarded(error, [&] {
    bfs_plan_request given{};
    if (const char* wrong = capi::read_struct(request, given); wrong != nullptr)
      return report(error, invalid(std::string("bfs_plan_request") + wrong));
    if (given.reserved != 0) return invalid(error, "bfs_plan_request: reserved is not 0");
    const auto plan = bfstore::plan(plan_request_of(given));
    if (!plan) return report(error, plan.error());
    capi::fill_struct(out, plan_result_of(*plan));
    return BFS_OK;
  });
}

int32_t bfs_create(const char* path, const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_create: path or out is null");
  return with_options(options, "bfs_create", kFlagsOfCreate, error, [&](const Options& read) {
    return hand_out(out, error, [&] { return Filter::create(path, read); });
  });
}

int32_t bfs_create_part(const char* path, const bfs_options* options, uint32_t part, uint32_t num_parts,
                        bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_create_part: path or out is null");
  return with_options(options, "bfs_create_part", kFlagsOfCreate, error, [&](Options& read) {
    read.part = bfstore::Part{part, num_parts};
    return hand_out(out, error, [&] { return Filter::create(path, read); });
  });
}

int32_t bfs_get_part(const bfs_filter* filter, uint32_t* out_part, uint32_t* out_num_parts, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_get_part: filter is null");
  const bfstore::Part part = filter->filter.part();
  if (out_part != nullptr) *out_part = part.number;
  if (out_num_parts != nullptr) *out_num_parts = part.parts;
  return BFS_OK;
}

int32_t bfs_open(const char* path, uint64_t flags, bfs_filter** out, bfs_error* error) {
  if ((flags & BFS_OPEN_FD) != 0) {  // options.fd would be 0, which is a descriptor, too
    if (out != nullptr) *out = nullptr;
    return invalid(error, "bfs_open: BFS_OPEN_FD needs bfs_open_with, which takes the descriptor");
  }
  bfs_open_options options = BFS_OPEN_OPTIONS_INIT;
  options.flags = flags;
  return bfs_open_with(path, &options, out, error);
}

int32_t bfs_open_with(const char* path, const bfs_open_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (out == nullptr) return invalid(error, "bfs_open: path or out is null");
  return with_open_options(options, error, check_open_options, [&](const bfs_open_options& given, const auto& how) {
    if (path == nullptr && !how.descriptor) return invalid(error, "bfs_open: path or out is null");
    const std::string name = path == nullptr ? "" : path;
    if ((given.flags & BFS_OPEN_RANGE) != 0)
      return hand_out(out, error, [&] { return Filter::open_range(name, given.offset, given.max_bytes, how); });
    const auto mode = static_cast<bfstore::OpenMode>(given.flags & kModes);
    return hand_out(out, error, [&] { return Filter::open(name, mode, how); });
  });
}

int32_t bfs_open_set(const char* manifest, const bfs_open_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (manifest == nullptr || out == nullptr) return invalid(error, "bfs_open_set: manifest or out is null");
  bfs_open_options reading = BFS_OPEN_OPTIONS_INIT;
  reading.flags = BFS_OPEN_READ;
  const bfs_open_options* const given = options == nullptr ? &reading : options;
  return with_open_options(given, error, check_set_options, [&](const bfs_open_options&, const auto& how) {
    return hand_out(out, error, [&] { return Filter::open_set(manifest, how); });
  });
}

int32_t bfs_required_bytes(const bfs_options* options, uint64_t* out_bytes, bfs_error* error) {
  if (out_bytes == nullptr) return invalid(error, "bfs_required_bytes: out_bytes is null");
  return with_options(options, "bfs_required_bytes", kFlagsOfBuffer, error, [&](const Options& read) {
    const auto bytes = Filter::required_bytes(read);
    if (!bytes) return report(error, bytes.error());
    *out_bytes = *bytes;
    return BFS_OK;
  });
}

int32_t bfs_format(void* buffer, uint64_t buffer_bytes, const bfs_options* options, bfs_filter** out,
                   bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (buffer == nullptr || out == nullptr) return invalid(error, "bfs_format: buffer or out is null");
  return with_options(options, "bfs_format", kFlagsOfBuffer, error, [&](const Options& read) {
    return hand_out(out, error, [&] { return Filter::format({static_cast<std::byte*>(buffer), buffer_bytes}, read); });
  });
}

int32_t bfs_wrap(const void* buffer, uint64_t buffer_bytes, uint64_t flags, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (buffer == nullptr || out == nullptr) return invalid(error, "bfs_wrap: buffer or out is null");
  return guarded(error, [&] {
    if (const Error wrong = check_flags("bfs_wrap", flags, BFS_OPEN_READ | BFS_OPEN_BARE); !wrong.ok())
      return report(error, wrong);
    if ((flags & BFS_OPEN_READ) == 0) return invalid(error, "bfs_wrap: the flags lack BFS_OPEN_READ");
    const std::span bytes(static_cast<const std::byte*>(buffer), buffer_bytes);
    return hand_out(out, error, [&] { return Filter::wrap_to_read(bytes, (flags & BFS_OPEN_BARE) != 0); });
  });
}

int32_t bfs_wrap_with(void* buffer, uint64_t buffer_bytes, const bfs_open_options* options, bfs_filter** out,
                      bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (buffer == nullptr || out == nullptr) return invalid(error, "bfs_wrap_with: buffer or out is null");
  return with_open_options(options, error, check_wrap_options, [&](const bfs_open_options& given, const auto& how) {
    const std::span bytes(static_cast<std::byte*>(buffer), buffer_bytes);
    const bool bare = (given.flags & BFS_OPEN_BARE) != 0;
    return hand_out(out, error, [&] {
      return (given.flags & BFS_OPEN_WRITE) != 0 ? Filter::wrap(bytes, bare, how.key)
                                                 : Filter::wrap_to_read(bytes, bare, how.key);
    });
  });
}

int32_t bfs_supersede(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_supersede: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.supersede()); });
}

int32_t bfs_publish(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_publish: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.publish()); });
}

int32_t bfs_seal(const char* from, const char* to, const bfs_copy_options* options, bfs_error* error) {
  if (from == nullptr || to == nullptr) return invalid(error, "bfs_seal: from or to is null");
  return with_copy_options(options, "bfs_seal", kFlagsOfSeal, error, [&](const bfs_copy_options& known) {
    if (known.fpr != 0 || std::signbit(known.fpr))
      return report(error, invalid("bfs_copy_options: fpr is not for bfs_seal"));
    bfstore::SealOptions how;
    copy_how(known, how);
    return report(error, bfstore::seal(from, to, how));
  });
}

int32_t bfs_save(const bfs_filter* filter, const char* path, const bfs_copy_options* options, bfs_error* error) {
  if (filter == nullptr || path == nullptr) return invalid(error, "bfs_save: filter or path is null");
  return with_copy_options(options, "bfs_save", kFlagsOfSave, error, [&](const bfs_copy_options& known) {
    bfstore::SaveOptions how;
    copy_how(known, how);
    how.same_file_id = (known.flags & BFS_OPTION_FILE_ID) != 0;
    how.fpr = known.fpr;
    how.filling = (known.flags & BFS_OPTION_FILLING) != 0;
    return report(error, filter->filter.save(path, how));
  });
}

int32_t bfs_merge(bfs_filter* into, const bfs_filter* from, bfs_error* error) {
  if (into == nullptr || from == nullptr) return invalid(error, "bfs_merge: into or from is null");
  return guarded(error, [&] { return report(error, into->filter.merge(from->filter)); });
}

int32_t bfs_import_bits(bfs_filter* filter, const void* bits, uint64_t num_bytes, uint32_t order, bfs_error* error) {
  if (filter == nullptr || bits == nullptr) return invalid(error, "bfs_import_bits: filter or bits is null");
  if (!possible(static_cast<const std::byte*>(bits), num_bytes))
    return invalid(error, "bfs_import_bits: num_bytes is greater than any array");
  return guarded(error, [&] {
    return report(error, filter->filter.import_bits({static_cast<const std::byte*>(bits), num_bytes},
                                                    static_cast<bfstore::BitOrder>(order)));
  });
}

int32_t bfs_export_bits(const bfs_filter* filter, void* bits, uint64_t num_bytes, uint32_t order, bfs_error* error) {
  if (filter == nullptr || bits == nullptr) return invalid(error, "bfs_export_bits: filter or bits is null");
  if (!possible(static_cast<const std::byte*>(bits), num_bytes))
    return invalid(error, "bfs_export_bits: num_bytes is greater than any array");
  return guarded(error, [&] {
    return report(error, filter->filter.export_bits({static_cast<std::byte*>(bits), num_bytes},
                                                    static_cast<bfstore::BitOrder>(order)));
  });
}

const char* bfs_foreign_name(uint32_t index) {
  const ErrnoKeeper keeper;
  return bfstore::foreign_format_name(index);
}

int32_t bfs_foreign_inspect(const bfs_foreign_form* form, const void* first, uint64_t first_bytes,
                            const bfs_options* options, bfs_foreign* out, bfs_error* error) {
  if (out == nullptr) return invalid(error, "bfs_foreign_inspect: out is null");
  if (!capi::possible_size<bfs_foreign>(capi::size_said_by(out)))
    return invalid(error, "bfs_foreign.struct_bytes is not its size");
  if (!possible(static_cast<const std::byte*>(first), first_bytes))
    return invalid(error, "bfs_foreign_inspect: first is null, or first_bytes is greater than any array");
  return with_form(form, "bfs_foreign_inspect", error, [&](const bfstore::ForeignForm& known) {
    const std::span bytes(static_cast<const std::byte*>(first), first_bytes);
    const auto told = bfstore::inspect_foreign(bytes, known);
    if (!told) return report(error, told.error());
    const std::uint32_t needs = needs_of(*told);
    if (options == nullptr) {
      capi::fill_struct(out, foreign_of(*told, needs));
      return BFS_OK;
    }
    return with_options(options, "bfs_foreign_inspect", kFlagsOfImport, error, [&](const Options& read) {
      const auto made = bfstore::inspect_foreign(bytes, known, &read);
      if (!made) return report(error, made.error());
      capi::fill_struct(out, foreign_of(*made, needs));
      return BFS_OK;
    });
  });
}

int32_t bfs_foreign_import(const char* path, const bfs_foreign_form* form, const void* bytes, uint64_t num_bytes,
                           const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_foreign_import: path or out is null");
  if (!possible(static_cast<const std::byte*>(bytes), num_bytes))
    return invalid(error, "bfs_foreign_import: bytes is null, or num_bytes is greater than any array");
  return with_form(form, "bfs_foreign_import", error, [&](const bfstore::ForeignForm& known) {
    return with_options(options, "bfs_foreign_import", kFlagsOfImport, error, [&](const Options& read) {
      const std::span given(static_cast<const std::byte*>(bytes), num_bytes);
      return hand_out(out, error, [&] { return Filter::import_foreign(path, given, known, read); });
    });
  });
}

int32_t bfs_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, void* buffer, uint64_t buffer_bytes,
                           uint64_t* out_bytes, bfs_error* error) {
  if (buffer == nullptr && out_bytes == nullptr)
    return invalid(error, "bfs_foreign_export: buffer and out_bytes are null");
  if (buffer != nullptr && !possible(static_cast<const std::byte*>(buffer), buffer_bytes))
    return invalid(error, "bfs_foreign_export: buffer_bytes is greater than any array");
  if (buffer != nullptr) std::memset(buffer, 0xff, buffer_bytes);  // this stays there on an error
  if (filter == nullptr) return invalid(error, "bfs_foreign_export: filter is null");
  return with_form(form, "bfs_foreign_export", error, [&](const bfstore::ForeignForm& known) {
    if (buffer != nullptr) {
      return report(error,
                    filter->filter.export_foreign({static_cast<std::byte*>(buffer), buffer_bytes}, known, out_bytes));
    }
    const auto bytes = filter->filter.exported_bytes(known);
    if (!bytes) return report(error, bytes.error());
    *out_bytes = *bytes;
    return BFS_OK;
  });
}

int32_t bfs_intersect(const bfs_filter* const* filters, size_t count, const char* path, const bfs_copy_options* options,
                      bfs_error* error) {
  return with_filters(filters, count, path, options, "bfs_intersect", error,
                      [&](const auto& sources, const auto& how) { return Filter::intersect(sources, path, how); });
}

int32_t bfs_join(const bfs_filter* const* parts, size_t count, const char* path, const bfs_copy_options* options,
                 bfs_error* error) {
  return with_filters(parts, count, path, options, "bfs_join", error,
                      [&](const auto& sources, const auto& how) { return Filter::join(sources, path, how); });
}

int32_t bfs_compare(const bfs_filter* a, const bfs_filter* b, bfs_comparison* out, bfs_error* error) {
  if (a == nullptr || b == nullptr || out == nullptr) return invalid(error, "bfs_compare: a, b or out is null");
  if (!capi::possible_size<bfs_comparison>(capi::size_said_by(out)))
    return invalid(error, "bfs_comparison.struct_bytes is not its size");
  return guarded(error, [&] {
    const auto found = a->filter.compare(b->filter);
    if (!found) return report(error, found.error());
    capi::fill_struct(out, comparison_of(*found));
    return BFS_OK;
  });
}

int32_t bfs_dump(const bfs_filter* filter, void* buffer, uint64_t buffer_bytes, uint64_t flags, uint64_t* out_bytes,
                 bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_dump: filter is null");
  if (buffer == nullptr && out_bytes == nullptr) return invalid(error, "bfs_dump: buffer and out_bytes are null");
  return guarded(error, [&] {
    if (const Error wrong = check_flags("bfs_dump", flags, kFlagsOfDump); !wrong.ok()) return report(error, wrong);
    const bfstore::DumpOptions options{.bare = (flags & BFS_OPEN_BARE) != 0,
                                       .same_file_id = (flags & BFS_OPTION_FILE_ID) != 0};
    if (buffer != nullptr)
      return report(error, filter->filter.dump({static_cast<std::byte*>(buffer), buffer_bytes}, options, out_bytes));
    const auto bytes = filter->filter.dumped_bytes(options);
    if (!bytes) return report(error, bytes.error());
    *out_bytes = *bytes;
    return BFS_OK;
  });
}

int32_t bfs_load(const void* bytes, uint64_t num_bytes, const bfs_open_options* options, bfs_filter** out,
                 bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (bytes == nullptr || out == nullptr) return invalid(error, "bfs_load: bytes or out is null");
  return with_open_options(options, error, check_load_options, [&](const bfs_open_options& given, const auto& how) {
    const bool writing = (given.flags & BFS_OPEN_WRITE) != 0;
    return hand_out(out, error, [&] {
      return Filter::load({static_cast<const std::byte*>(bytes), num_bytes},
                          writing ? bfstore::OpenMode::kWrite : bfstore::OpenMode::kRead,
                          (given.flags & BFS_OPEN_BARE) != 0, how.key);
    });
  });
}

int64_t bfs_verify(const char* path, uint64_t flags, bfs_range* damaged, size_t capacity, bfs_error* error) {
  if (path == nullptr || (damaged == nullptr && capacity != 0))
    return invalid(error, "bfs_verify: path or damaged is null");
  int64_t ranges = 0;
  const int32_t code = guarded(error, [&] {
    if (const Error wrong = check_flags("bfs_verify", flags, BFS_OPEN_NOFOLLOW); !wrong.ok())
      return report(error, wrong);
    const auto found = bfstore::verify(path, (flags & BFS_OPEN_NOFOLLOW) != 0);
    if (!found) return report(error, found.error());
    ranges = static_cast<int64_t>(found->damaged.size());
    for (std::size_t i = 0; i < std::min(capacity, found->damaged.size()); ++i)
      damaged[i] = {found->damaged[i].offset, found->damaged[i].bytes};
    return BFS_OK;
  });
  return code < 0 ? code : ranges;
}

int32_t bfs_close(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return BFS_OK;
  return guarded(error, [&] {
    const std::unique_ptr<bfs_filter> owned(filter);
    return report(error, owned->filter.close());
  });
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

int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return one(filter->filter.add(key_of(key, key_bytes)));
}

int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return one(filter->filter.add_digest(digest));
}

int32_t bfs_remove(bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return one(filter->filter.remove(key_of(key, key_bytes)));
}

int32_t bfs_remove_digest(bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return one(filter->filter.remove_digest(digest));
}

int32_t bfs_count(const bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return one(filter->filter.count(key_of(key, key_bytes)));
}

int32_t bfs_count_digest(const bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return one(filter->filter.count_digest(digest));
}

int32_t bfs_contains(const bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return filter->filter.answer(key_of(key, key_bytes));
}

int32_t bfs_contains_digest(const bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return filter->lookup.call(digest);
}

int32_t bfs_digest(const bfs_filter* filter, const void* key, size_t key_bytes, uint64_t* out_digest) {
  if (filter == nullptr || null_keys(key, key_bytes) || out_digest == nullptr) return BFS_EINVAL;
  const auto digest = filter->filter.digest(key_of(key, key_bytes));
  if (!digest) return static_cast<std::int32_t>(filter->filter.digest_keys(Keys::views({}), {}).raw());  // why not
  *out_digest = *digest;
  return BFS_OK;
}

int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys) {
  bfs_keys known;
  if (capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  return add(filter, keys_of(known));
}

int64_t bfs_remove_keys(bfs_filter* filter, const bfs_keys* keys) {
  bfs_keys known;
  if (filter == nullptr || capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  const MaybeKeys given = keys_of(known);
  return given ? filter->filter.remove_keys(*given).raw() : BFS_EINVAL;
}

int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers) {
  return answer(filter, keys, answers);
}

int64_t bfs_select_keys(const bfs_filter* filter, const bfs_keys* keys, uint32_t* indices) {
  return answer(filter, keys, indices);
}

int64_t bfs_digest_keys(const bfs_filter* filter, const bfs_keys* keys, uint64_t* digests) {
  bfs_keys known;
  if (filter == nullptr || capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  const MaybeKeys given = keys_of(known);
  if (!given || !possible(digests, known.count)) return BFS_EINVAL;
  return filter->filter.digest_keys(*given, {digests, known.count}).raw();
}

int64_t bfs_add_digests(bfs_filter* filter, const uint64_t* digests, size_t count) {
  return add(filter, digest_keys(digests, count));
}

int64_t bfs_contains_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint8_t* answers) {
  return answer(filter, digest_keys(digests, count), answers, count);
}

int32_t bfs_use_threads(bfs_filter* filter, uint32_t threads, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_use_threads: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.use_threads(threads)); });
}

int32_t bfs_bare_contains(const void* buffer, uint64_t bytes, const void* key, size_t key_bytes) {
  return bfstore::bare::answer(buffer, bytes, key, key_bytes);
}

int32_t bfs_bare_contains_digest(const void* buffer, uint64_t bytes, uint64_t digest) {
  return bfstore::bare::answer_digest(buffer, bytes, digest);
}

uint64_t bfs_bare_bytes(uint64_t num_keys, double bits_per_key, uint32_t layout) {
  return bfstore::bare::bytes_for(num_keys, bits_per_key, layout_or_default(layout));
}

int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, const bfs_keys* keys) {
  bfs_keys known;
  if (capi::read_struct(keys, known) != nullptr) return BFS_EINVAL;
  return build_bare(buffer, bytes, layout, 0, keys_of(known));
}

int32_t bfs_bare_build_digests(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash, const uint64_t* digests,
                               size_t count) {
  return build_bare(buffer, bytes, layout, hash, digest_keys(digests, count));
}

int32_t bfs_sync(bfs_filter* filter, uint64_t owner, uint64_t epoch, uint64_t mark, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_sync: filter is null");
  return guarded(error, [&] { return report(error, filter->filter.sync({owner, epoch, mark})); });
}

uint64_t bfs_get_mark(const bfs_filter* filter, uint64_t owner, uint64_t epoch) {
  const ErrnoKeeper keeper;
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

int32_t bfs_health(const bfs_filter* filter) {
  return filter == nullptr ? BFS_EINVAL : number_of(filter->filter.health());
}

int32_t bfs_is_current(const bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_is_current: filter is null");
  return guarded(error, [&] {
    const auto current = filter->filter.is_current();
    if (!current.ok()) return report(error, current.error());
    return *current ? 1 : 0;
  });
}

int64_t bfs_get_note(const bfs_filter* filter, void* buffer, size_t capacity, bfs_error* error) {
  if (filter == nullptr || (buffer == nullptr && capacity != 0))
    return invalid(error, "bfs_get_note: filter or buffer is null");
  int64_t length = 0;
  const int32_t code = guarded(error, [&] {
    const std::string note = filter->filter.note();
    length = static_cast<int64_t>(note.size());
    note.copy(static_cast<char*>(buffer), capacity);
    return BFS_OK;
  });
  return code < 0 ? code : length;
}

int64_t bfs_get_seeds(const bfs_filter* filter, uint32_t* seeds, size_t capacity, bfs_error* error) {
  if (filter == nullptr || (seeds == nullptr && capacity != 0))
    return invalid(error, "bfs_get_seeds: filter or seeds is null");
  return guarded(error, [&] {
    const std::vector<std::uint32_t> all = filter->filter.seeds();
    std::copy_n(all.begin(), std::min(capacity, all.size()), seeds);
    return static_cast<std::int32_t>(all.size());
  });
}

int32_t bfs_stats(const bfs_filter* filter, uint64_t flags, bfs_statistics* out, bfs_error* error) {
  if (filter == nullptr || out == nullptr) return invalid(error, "bfs_stats: filter or out is null");
  if (!capi::possible_size<bfs_statistics>(capi::size_said_by(out)))
    return invalid(error, "bfs_statistics.struct_bytes is not its size");
  return guarded(error, [&] {
    constexpr std::uint64_t kKnown = BFS_STATS_FILL | BFS_STATS_MEMORY;
    if (const Error wrong = check_flags("bfs_stats", flags, kKnown); !wrong.ok()) return report(error, wrong);
    const bfstore::Stats stats =
        filter->filter.stats({.fill = (flags & BFS_STATS_FILL) != 0, .memory = (flags & BFS_STATS_MEMORY) != 0});
    bfs_statistics all{};
    all.layout = static_cast<std::uint32_t>(stats.shape.layout);
    all.hash = static_cast<std::uint32_t>(stats.shape.hash);
    all.num_probes = stats.shape.num_probes;
    all.num_bits = stats.shape.num_bits;
    all.capacity = stats.shape.capacity;
    all.fpr = stats.shape.fpr;
    all.seed = stats.shape.seed;
    all.body_bytes = stats.body_bytes;
    all.keys_added = stats.keys_added;
    all.keys_removed = stats.keys_removed;
    all.health = number_of(stats.health);
    all.saturated = stats.saturated ? 1 : 0;
    if (stats.fill) {
      all.has_fill = 1;
      all.set_bits = stats.fill->set_bits;
      all.fill_ratio = stats.fill->fill_ratio;
      all.estimated_keys = stats.fill->estimated_keys;
      all.estimated_keys_low = stats.fill->estimated_keys_low;
      all.estimated_keys_high = stats.fill->estimated_keys_high;
      all.estimated_fpr = stats.fill->estimated_fpr;
      all.counters_at_15 = stats.fill->counters_at_15;
    }
    if (stats.memory) {
      all.has_memory = 1;
      all.huge_page_bytes = stats.memory->huge_page_bytes;
      all.resident_bytes = stats.memory->resident_bytes.value_or(UINT64_MAX);
    }
    stats.isa.copy(all.isa, sizeof all.isa - 1);
    if (stats.file_id) std::memcpy(all.file_id, stats.file_id->data(), sizeof all.file_id);
    capi::fill_struct(out, all);
    return BFS_OK;
  });
}
