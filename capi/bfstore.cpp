// The C ABI: checks pointers and flags, translates, catches. No logic: that is in Filter.
#include "bfstore.h"

#include <bfstore/bfstore.hpp>
#include <bfstore/inline.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>

struct bfs_filter {
  explicit bfs_filter(bfstore::Filter made) : lookup(made.lookup()), filter(std::move(made)) {}

  bfstore::Lookup lookup;  // first: so the kernel is jumped to with the very arguments of bfs_contains_digest
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

static_assert(static_cast<std::int32_t>(Code::kInternal) == BFS_EINTERNAL);
static_assert(static_cast<std::int32_t>(Code::kRecovering) == BFS_ERECOVERING);
static_assert(static_cast<std::int32_t>(Code::kFull) == BFS_EFULL);
static_assert(static_cast<std::int32_t>(Code::kKey) == BFS_EKEY);
static_assert(static_cast<std::int32_t>(Code::kLiveWord) == BFS_ELIVEWORD);
static_assert(static_cast<int>(bfstore::Layout::kBlocked) == BFS_LAYOUT_BLOCKED);
static_assert(static_cast<int>(bfstore::Layout::kClassic) == BFS_LAYOUT_CLASSIC);
static_assert(static_cast<int>(bfstore::Hash::kXxh3) == BFS_HASH_XXH3);
static_assert(static_cast<int>(bfstore::Hash::kExternal) == BFS_HASH_EXTERNAL);
static_assert(static_cast<int>(bfstore::Hash::kSipHash) == BFS_HASH_SIPHASH);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kRead) == BFS_OPEN_READ);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kWrite) == BFS_OPEN_WRITE);
static_assert(static_cast<unsigned>(bfstore::OpenMode::kExclusive) == BFS_OPEN_EXCLUSIVE);
static_assert(bfstore::kWaitForEver == BFS_LOCK_FOREVER);
static_assert(BFS_LOCK_TIMEOUT_DEFAULT == BFS_WRITEBACK_CHECK_DEFAULT);
static_assert(BFS_LOCK_NO_WAIT == BFS_WRITEBACK_CHECK_EACH_ADD);

// The layout of the structs is the ABI: a change here breaks every program that was built before.
static_assert(offsetof(bfs_error, struct_bytes) == 0);
static_assert(offsetof(bfs_error, code) == 4);
static_assert(offsetof(bfs_error, os_errno) == 8);
static_assert(offsetof(bfs_error, reserved) == 12);
static_assert(offsetof(bfs_error, message) == 16);
static_assert(sizeof(bfs_error) == 512);
static_assert(offsetof(bfs_options, struct_bytes) == 0);
static_assert(offsetof(bfs_options, flags) == 4);
static_assert(offsetof(bfs_options, capacity) == 8);
static_assert(offsetof(bfs_options, fpr) == 16);
static_assert(offsetof(bfs_options, bits_per_key) == 24);
static_assert(offsetof(bfs_options, max_bytes) == 32);
static_assert(offsetof(bfs_options, num_bits) == 40);
static_assert(offsetof(bfs_options, num_probes) == 48);
static_assert(offsetof(bfs_options, layout) == 52);
static_assert(offsetof(bfs_options, hash) == 56);
static_assert(offsetof(bfs_options, mode) == 60);
static_assert(offsetof(bfs_options, seed) == 64);
static_assert(offsetof(bfs_options, like) == 72);
static_assert(offsetof(bfs_options, note) == 80);
static_assert(offsetof(bfs_options, note_bytes) == 88);
static_assert(offsetof(bfs_options, key) == 96);
static_assert(offsetof(bfs_options, lock_timeout_ms) == 104);
static_assert(offsetof(bfs_options, writeback_check_ms) == 108);
static_assert(sizeof(bfs_options) == 112);
static_assert(offsetof(bfs_open_options, struct_bytes) == 0);
static_assert(offsetof(bfs_open_options, flags) == 4);
static_assert(offsetof(bfs_open_options, key) == 8);
static_assert(offsetof(bfs_open_options, key_bytes) == 16);
static_assert(offsetof(bfs_open_options, offset) == 24);
static_assert(offsetof(bfs_open_options, max_bytes) == 32);
static_assert(offsetof(bfs_open_options, lock_timeout_ms) == 40);
static_assert(offsetof(bfs_open_options, writeback_check_ms) == 44);
static_assert(sizeof(bfs_open_options) == 48);
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
static_assert(offsetof(bfs_statistics, huge_page_bytes) == 64);
static_assert(offsetof(bfs_statistics, health) == 72);
static_assert(offsetof(bfs_statistics, has_fill) == 76);
static_assert(offsetof(bfs_statistics, set_bits) == 80);
static_assert(offsetof(bfs_statistics, fill_ratio) == 88);
static_assert(offsetof(bfs_statistics, estimated_keys) == 96);
static_assert(offsetof(bfs_statistics, estimated_fpr) == 104);
static_assert(offsetof(bfs_statistics, resident_bytes) == 112);
static_assert(offsetof(bfs_statistics, isa) == 120);
static_assert(offsetof(bfs_statistics, saturated) == 136);
static_assert(offsetof(bfs_statistics, reserved) == 140);
static_assert(sizeof(bfs_statistics) == 144);

std::int32_t number_of(Code code) noexcept { return static_cast<std::int32_t>(code); }

// How long each struct was in the first version of this header; of an error as much as has room for a word.
constexpr std::uint32_t kFirstOptions = offsetof(bfs_options, key);
constexpr std::uint32_t kFirstOpenOptions = sizeof(bfs_open_options);
constexpr std::uint32_t kFirstStatistics = offsetof(bfs_statistics, resident_bytes);
constexpr std::uint32_t kFirstError = offsetof(bfs_error, message) + 8;

// The address may be no struct's, in a caller that was given garbage.
std::uint32_t size_said_by(const void* caller) noexcept {
  std::uint32_t struct_bytes = 0;
  std::memcpy(&struct_bytes, caller, sizeof struct_bytes);
  return struct_bytes;
}

// Whether a caller's struct can be as long as it says. Garbage is most often larger than any struct will ever be; and
// no field is cut in two, since all structs are multiples of 8.
bool possible_size(std::uint32_t struct_bytes, std::uint32_t first_bytes) noexcept {
  constexpr std::uint32_t kMostBytes = 4096;
  return struct_bytes >= first_bytes && struct_bytes <= kMostBytes && struct_bytes % 8 == 0;
}

// What a caller says, who may know a shorter struct or a longer one: what is behind the shorter one is zero, and what
// this library does not know of the longer one has to be.
template <class Struct>
Error read_struct(const Struct* caller, std::uint32_t first_bytes, const char* name, Struct& known) {
  const auto wrong = [name](const char* what) { return Error{Code::kInvalid, 0, std::string(name) + what}; };
  if (caller == nullptr) return wrong(" is null");
  const std::uint32_t struct_bytes = size_said_by(caller);
  if (!possible_size(struct_bytes, first_bytes)) return wrong(".struct_bytes is not its size");
  const auto* bytes = reinterpret_cast<const unsigned char*>(caller);
  const std::size_t known_bytes = std::min<std::size_t>(struct_bytes, sizeof known);
  if (std::any_of(bytes + known_bytes, bytes + struct_bytes, [](unsigned char byte) { return byte != 0; }))
    return wrong(" has fields that this version of bfstore does not know");
  known = {};
  std::memcpy(&known, caller, known_bytes);
  return {};
}

// As much as the caller's struct, whose size is a possible one, has room for; zero is what it does not know.
template <class Struct>
void fill_struct(Struct* caller, Struct known) noexcept {
  const std::uint32_t struct_bytes = known.struct_bytes = size_said_by(caller);
  auto* const bytes = reinterpret_cast<unsigned char*>(caller);
  const std::size_t known_bytes = std::min<std::size_t>(struct_bytes, sizeof known);
  std::memcpy(bytes, &known, known_bytes);
  std::fill(bytes + known_bytes, bytes + struct_bytes, static_cast<unsigned char>(0));
}

// A message begins with a path, which may be longer than all the room: then the middle is left out, not the reason.
void copy_cut(char* to, std::size_t room, const char* message) noexcept {
  constexpr char kLeftOut[] = " ... ";
  constexpr std::size_t kGap = sizeof kLeftOut - 1;
  const std::size_t length = std::strlen(message);
  if (length < room || room < 4 * kGap) {
    const std::size_t copied = std::min(length, room - 1);
    std::memcpy(to, message, copied);
    to[copied] = '\0';
    return;
  }
  const std::size_t head = room / 3;
  const std::size_t tail = room - 1 - head - kGap;
  std::memcpy(to, message, head);
  std::memcpy(to + head, kLeftOut, kGap);
  std::memcpy(to + head + kGap, message + length - tail, tail + 1);
}

std::int32_t report(bfs_error* to, Code code, int os_errno, const char* message) noexcept {
  const std::uint32_t struct_bytes = to == nullptr ? 0 : size_said_by(to);
  if (!possible_size(struct_bytes, kFirstError)) return number_of(code);
  bfs_error known{};
  known.code = number_of(code);
  known.os_errno = os_errno;
  const std::size_t room = std::min<std::size_t>(struct_bytes, sizeof known) - offsetof(bfs_error, message);
  copy_cut(known.message, room, message);
  fill_struct(to, known);
  return number_of(code);
}

std::int32_t report(bfs_error* to, const Error& error) noexcept {
  return report(to, error.code, error.os_errno, error.message.c_str());
}

std::int32_t invalid(bfs_error* to, const char* message) noexcept { return report(to, Code::kInvalid, 0, message); }

// errno is the caller's.
class ErrnoKeeper {
 public:
  ErrnoKeeper() noexcept : kept_(errno) {}
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;
  ~ErrnoKeeper() { errno = kept_; }

 private:
  int kept_;
};

// Nothing throws through the ABI.
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

// There is memory for the handle before there is a filter: none is made that could not be handed out.
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

void read_key(const void* from, std::optional<SecretKey>& to) noexcept {
  if (from != nullptr) std::memcpy(to.emplace().data(), from, sizeof(SecretKey));
}

// C has no other place for "not given" than 0, so that 0 ms have a name.
std::uint32_t milliseconds(std::uint32_t given, std::uint32_t usual) noexcept {
  if (given == BFS_LOCK_TIMEOUT_DEFAULT) return usual;
  return given == BFS_LOCK_NO_WAIT ? 0 : given;
}

Error read_options(const bfs_options* caller, Options& options) {
  constexpr std::uint32_t kKnownFlags =
      BFS_OPTION_SEED | BFS_OPTION_REPLACE | BFS_OPTION_UNPUBLISHED | BFS_OPTION_BARE | BFS_OPTION_EXCLUSIVE |
      BFS_OPTION_POPULATE | BFS_OPTION_RANDOM | BFS_OPTION_ANY_FILESYSTEM | BFS_OPTION_LIMIT | BFS_OPTION_GUARD;
  const auto wrong = [](const char* what) { return Error{Code::kInvalid, 0, what}; };
  bfs_options known;
  if (Error error = read_struct(caller, kFirstOptions, "bfs_options", known); !error.ok()) return error;
  const bfs_options* from = &known;
  if ((from->flags & ~kKnownFlags) != 0) return wrong("unknown bits in bfs_options.flags");
  if (from->note == nullptr && from->note_bytes != 0) return wrong("bfs_options.note is null, but note_bytes is not 0");
  if (from->note_bytes > bfstore::kMaxNoteBytes) return wrong("bfs_options.note is longer than 1024 bytes");
  options.capacity = from->capacity;
  options.fpr = from->fpr;
  options.bits_per_key = from->bits_per_key;
  options.max_bytes = from->max_bytes;
  options.num_bits = from->num_bits;
  options.num_probes = from->num_probes;
  options.layout = given<bfstore::Layout>(from->layout);
  options.hash = given<bfstore::Hash>(from->hash);
  if ((from->flags & BFS_OPTION_SEED) != 0) options.seed = from->seed;
  if (from->mode != 0) options.mode = from->mode;
  if (from->like != nullptr) options.like = from->like;
  if (from->note != nullptr) options.note.assign(static_cast<const char*>(from->note), from->note_bytes);
  options.replace = (from->flags & BFS_OPTION_REPLACE) != 0;
  options.unpublished = (from->flags & BFS_OPTION_UNPUBLISHED) != 0;
  options.bare = (from->flags & BFS_OPTION_BARE) != 0;
  options.exclusive = (from->flags & BFS_OPTION_EXCLUSIVE) != 0;
  options.map = {(from->flags & BFS_OPTION_POPULATE) != 0, (from->flags & BFS_OPTION_RANDOM) != 0,
                 (from->flags & BFS_OPTION_GUARD) != 0};
  options.any_filesystem = (from->flags & BFS_OPTION_ANY_FILESYSTEM) != 0;
  options.hard_limit = (from->flags & BFS_OPTION_LIMIT) != 0;
  options.lock_timeout_ms = milliseconds(from->lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(from->writeback_check_ms, bfstore::kWritebackCheckMs);
  read_key(from->key, options.key);
  return {};
}

constexpr std::uint32_t kMapFlags = BFS_OPEN_POPULATE | BFS_OPEN_RANDOM | BFS_OPEN_GUARD | BFS_OPEN_COPY;
// All but the mode.
constexpr std::uint32_t kOpenFlags = kMapFlags | BFS_OPEN_RECOVER | BFS_OPEN_ACCEPT_LOSS | BFS_OPEN_STRICT |
                                     BFS_OPEN_ANY_FILESYSTEM | BFS_OPEN_LIMIT | BFS_OPEN_VERIFY |
                                     BFS_OPEN_TOLERATE_DAMAGE | BFS_OPEN_RANGE;

Error check_open_options(const bfs_open_options& from) {
  const auto wrong = [](const char* what) { return Error{Code::kInvalid, 0, what}; };
  if (from.key_bytes != 0 && from.key_bytes != sizeof(SecretKey))
    return wrong("bfs_open_options.key_bytes is not 16 or 0");
  if (from.key == nullptr && from.key_bytes != 0) return wrong("bfs_open_options.key is null, but key_bytes is not 0");
  const bool range = (from.flags & BFS_OPEN_RANGE) != 0;
  if (!range && (from.offset != 0 || from.max_bytes != 0))
    return wrong("bfs_open_options: offset and max_bytes are for BFS_OPEN_RANGE");
  if (range && (from.flags & ~(kMapFlags | BFS_OPEN_ANY_FILESYSTEM)) != (BFS_OPEN_RANGE | BFS_OPEN_READ)) {
    return wrong(
        "BFS_OPEN_RANGE is for BFS_OPEN_READ, with POPULATE, RANDOM, GUARD, COPY and ANY_FILESYSTEM as the only other "
        "flags");
  }
  return {};
}

// All but the key.
bfstore::OpenOptions open_options_of(const bfs_open_options& from) {
  const auto set = [&from](std::uint32_t flag) { return (from.flags & flag) != 0; };
  bfstore::OpenOptions options;
  options.map = {set(BFS_OPEN_POPULATE), set(BFS_OPEN_RANDOM), set(BFS_OPEN_GUARD), set(BFS_OPEN_COPY)};
  options.recover = set(BFS_OPEN_RECOVER);
  options.accept_loss = set(BFS_OPEN_ACCEPT_LOSS);
  options.strict = set(BFS_OPEN_STRICT);
  options.any_filesystem = set(BFS_OPEN_ANY_FILESYSTEM);
  options.verify = set(BFS_OPEN_VERIFY);
  options.tolerate_damage = set(BFS_OPEN_TOLERATE_DAMAGE);
  options.hard_limit = set(BFS_OPEN_LIMIT);
  options.lock_timeout_ms = milliseconds(from.lock_timeout_ms, bfstore::kLockTimeoutMs);
  options.writeback_check_ms = milliseconds(from.writeback_check_ms, bfstore::kWritebackCheckMs);
  return options;
}

// `use` has what the caller's struct says.
template <class Use>
std::int32_t with_options(const bfs_options* from, bfs_error* error, Use use) {
  return guarded(error, [&] {
    Options options;
    const KeyWiper wiper(options.key);
    const Error wrong = read_options(from, options);
    return wrong.ok() ? use(options) : report(error, wrong);
  });
}

std::string_view key_of(const void* key, std::size_t key_bytes) noexcept {
  return {static_cast<const char*>(key), key_bytes};
}

// A count of one key fits 32 bits.
std::int32_t one(Count count) noexcept { return static_cast<std::int32_t>(count.raw()); }

bool null_keys(const void* keys, std::size_t count) noexcept { return keys == nullptr && count != 0; }

// Answers for a call that can not be served: all maybe.
std::int64_t all_maybe(std::uint8_t* answers, std::size_t count) noexcept {
  if (answers != nullptr && count != 0) std::memset(answers, 1, count);
  return BFS_EINVAL;
}

std::int64_t all_maybe(std::uint32_t* indices, std::size_t count) noexcept {
  for (std::size_t i = 0; indices != nullptr && i < count; ++i) indices[i] = static_cast<std::uint32_t>(i);
  return BFS_EINVAL;
}

// --- Many keys: here the arrays are checked, and in Filter what is in them ---

// Whether a caller can have an array of `count` items.
template <class Item>
bool possible(const Item* items, std::size_t count) noexcept {
  return count == 0 || (items != nullptr && count <= PTRDIFF_MAX / sizeof(Item));
}

// Nothing where the caller cannot have the arrays.
using MaybeKeys = std::optional<Keys>;

MaybeKeys pointer_keys(const void* const* keys, const std::size_t* key_bytes, std::size_t count) noexcept {
  if (!possible(keys, count) || !possible(key_bytes, count)) return std::nullopt;
  return Keys::pointers({keys, count}, {key_bytes, count});
}

// For no keys the caller needs no offset.
template <class Offset>
MaybeKeys column_keys(const void* bytes, const Offset* offsets, std::size_t count) noexcept {
  if (count == 0) return Keys();
  if (!possible(offsets, count)) return std::nullopt;
  return Keys::column(bytes, std::span(offsets, count + 1));
}

MaybeKeys digest_keys(const std::uint64_t* digests, std::size_t count) noexcept {
  if (!possible(digests, count)) return std::nullopt;
  return Keys::digests({digests, count});
}

std::int64_t add(bfs_filter* filter, const MaybeKeys& keys) noexcept {
  if (filter == nullptr || !keys) return BFS_EINVAL;
  return filter->filter.add_keys(*keys).raw();
}

std::int64_t contains(const bfs_filter* filter, const MaybeKeys& keys, std::uint8_t* answers,
                      std::size_t count) noexcept {
  if (filter == nullptr || !keys || null_keys(answers, count)) return all_maybe(answers, count);
  return filter->filter.contains_keys(*keys, {answers, count}).raw();
}

std::int64_t select(const bfs_filter* filter, const MaybeKeys& keys, std::uint32_t* indices,
                    std::size_t count) noexcept {
  if (filter == nullptr || !keys || null_keys(indices, count)) return all_maybe(indices, count);
  return filter->filter.select_keys(*keys, {indices, count}).raw();
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

}  // namespace

const char* bfs_version(void) { return bfstore::version(); }

const char* bfs_strerror(int32_t code) { return bfstore::code_text(static_cast<Code>(code)); }

int32_t bfs_create(const char* path, const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_create: path or out is null");
  return with_options(options, error, [&](const Options& read) {
    return hand_out(out, error, [&] { return Filter::create(path, read); });
  });
}

int32_t bfs_open(const char* path, uint32_t flags, bfs_filter** out, bfs_error* error) {
  bfs_open_options options{};
  options.struct_bytes = sizeof options;
  options.flags = flags;
  return bfs_open_with(path, &options, out, error);
}

int32_t bfs_open_with(const char* path, const bfs_open_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_open: path or out is null");
  return guarded(error, [&] {
    bfs_open_options known;
    Error wrong = read_struct(options, kFirstOpenOptions, "bfs_open_options", known);
    if (wrong.ok()) wrong = check_open_options(known);
    if (!wrong.ok()) return report(error, wrong);
    bfstore::OpenOptions how = open_options_of(known);
    const KeyWiper wiper(how.key);
    if (known.key_bytes != 0) read_key(known.key, how.key);
    if ((known.flags & BFS_OPEN_RANGE) != 0)
      return hand_out(out, error, [&] { return Filter::open_range(path, known.offset, known.max_bytes, how); });
    const auto mode = static_cast<bfstore::OpenMode>(known.flags & ~kOpenFlags);
    return hand_out(out, error, [&] { return Filter::open(path, mode, how); });
  });
}

int32_t bfs_required_bytes(const bfs_options* options, uint64_t* out_bytes, bfs_error* error) {
  if (out_bytes == nullptr) return invalid(error, "bfs_required_bytes: out_bytes is null");
  return with_options(options, error, [&](const Options& read) {
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
  return with_options(options, error, [&](const Options& read) {
    return hand_out(out, error, [&] { return Filter::format({static_cast<std::byte*>(buffer), buffer_bytes}, read); });
  });
}

int32_t bfs_wrap(void* buffer, uint64_t buffer_bytes, uint32_t flags, bfs_filter** out, bfs_error* error) {
  return bfs_wrap_keyed(buffer, buffer_bytes, flags, nullptr, out, error);
}

int32_t bfs_wrap_keyed(void* buffer, uint64_t buffer_bytes, uint32_t flags, const void* key, bfs_filter** out,
                       bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (buffer == nullptr || out == nullptr) return invalid(error, "bfs_wrap: buffer or out is null");
  const bool bare = (flags & BFS_WRAP_BARE) != 0;
  const uint32_t how = flags & ~BFS_WRAP_BARE;
  if (how != BFS_OPEN_READ && how != BFS_OPEN_WRITE) {
    return invalid(error, "bfs_wrap: flags are BFS_OPEN_READ or BFS_OPEN_WRITE, with or without BFS_WRAP_BARE");
  }
  std::optional<SecretKey> copy;
  const KeyWiper wiper(copy);
  read_key(key, copy);
  return guarded(error, [&] {
    auto* bytes = static_cast<std::byte*>(buffer);
    return hand_out(out, error, [&] {
      return how == BFS_OPEN_READ ? Filter::wrap(std::span<const std::byte>(bytes, buffer_bytes), bare, copy)
                                  : Filter::wrap(std::span<std::byte>(bytes, buffer_bytes), bare, copy);
    });
  });
}

int32_t bfs_supersede(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_supersede: filter is null");
  return guarded(error, [&] {
    const Error outcome = filter->filter.supersede();
    return outcome.ok() ? BFS_OK : report(error, outcome);
  });
}

int32_t bfs_publish(bfs_filter* filter, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_publish: filter is null");
  return guarded(error, [&] {
    const Error outcome = filter->filter.publish();
    return outcome.ok() ? BFS_OK : report(error, outcome);
  });
}

int32_t bfs_seal(const char* from, const char* to, uint32_t flags, uint32_t mode, bfs_error* error) {
  if (from == nullptr || to == nullptr) return invalid(error, "bfs_seal: from or to is null");
  if ((flags & ~(BFS_OPTION_REPLACE | BFS_OPTION_ANY_FILESYSTEM)) != 0)
    return invalid(error, "bfs_seal: flags are BFS_OPTION_REPLACE and BFS_OPTION_ANY_FILESYSTEM");
  return guarded(error, [&] {
    bfstore::SealOptions options;
    if (mode != 0) options.mode = mode;
    options.replace = (flags & BFS_OPTION_REPLACE) != 0;
    options.any_filesystem = (flags & BFS_OPTION_ANY_FILESYSTEM) != 0;
    const Error outcome = bfstore::seal(from, to, options);
    return outcome.ok() ? BFS_OK : report(error, outcome);
  });
}

int64_t bfs_verify(const char* path, bfs_range* damaged, size_t capacity, bfs_error* error) {
  if (path == nullptr || (damaged == nullptr && capacity != 0))
    return invalid(error, "bfs_verify: path or damaged is null");
  int64_t ranges = 0;
  const int32_t code = guarded(error, [&] {
    const auto found = bfstore::verify(path);
    if (!found) return report(error, found.error());
    ranges = static_cast<int64_t>(found->damaged.size());
    for (std::size_t i = 0; i < std::min(capacity, found->damaged.size()); ++i)
      damaged[i] = {found->damaged[i].offset, found->damaged[i].bytes};
    return BFS_OK;
  });
  return code < 0 ? code : ranges;
}

int32_t bfs_close(bfs_filter* filter) {
  if (filter == nullptr) return BFS_OK;
  return guarded(nullptr, [&] {
    const std::unique_ptr<bfs_filter> owned(filter);
    return number_of(owned->filter.close().code);
  });
}

int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return one(filter->filter.add(key_of(key, key_bytes)));
}

int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest) {
  if (filter == nullptr) return BFS_EINVAL;
  return one(filter->filter.add_digest(digest));
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
  if (!digest) return BFS_EDIGESTONLY;
  *out_digest = *digest;
  return BFS_OK;
}

int64_t bfs_add_many(bfs_filter* filter, const void* const* keys, const size_t* key_bytes, size_t count) {
  return add(filter, pointer_keys(keys, key_bytes, count));
}

int64_t bfs_add_fixed(bfs_filter* filter, const void* keys, size_t key_bytes, size_t count) {
  return add(filter, Keys::fixed(keys, key_bytes, count));
}

int64_t bfs_add_column32(bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count) {
  return add(filter, column_keys(bytes, offsets, count));
}

int64_t bfs_add_column64(bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count) {
  return add(filter, column_keys(bytes, offsets, count));
}

int64_t bfs_add_digests(bfs_filter* filter, const uint64_t* digests, size_t count) {
  return add(filter, digest_keys(digests, count));
}

int32_t bfs_use_threads(bfs_filter* filter, uint32_t threads) {
  if (filter == nullptr) return BFS_EINVAL;
  return guarded(nullptr, [&] { return number_of(filter->filter.use_threads(threads).code); });
}

int64_t bfs_contains_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes, size_t count,
                          uint8_t* answers) {
  return contains(filter, pointer_keys(keys, key_bytes, count), answers, count);
}

int64_t bfs_contains_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                           uint8_t* answers) {
  return contains(filter, Keys::fixed(keys, key_bytes, count), answers, count);
}

int64_t bfs_contains_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count,
                              uint8_t* answers) {
  return contains(filter, column_keys(bytes, offsets, count), answers, count);
}

int64_t bfs_contains_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                              uint8_t* answers) {
  return contains(filter, column_keys(bytes, offsets, count), answers, count);
}

int64_t bfs_contains_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint8_t* answers) {
  return contains(filter, digest_keys(digests, count), answers, count);
}

int64_t bfs_select_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes, size_t count,
                        uint32_t* indices) {
  return select(filter, pointer_keys(keys, key_bytes, count), indices, count);
}

int64_t bfs_select_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                         uint32_t* indices) {
  return select(filter, Keys::fixed(keys, key_bytes, count), indices, count);
}

int64_t bfs_select_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count,
                            uint32_t* indices) {
  return select(filter, column_keys(bytes, offsets, count), indices, count);
}

int64_t bfs_select_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                            uint32_t* indices) {
  return select(filter, column_keys(bytes, offsets, count), indices, count);
}

int64_t bfs_select_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint32_t* indices) {
  return select(filter, digest_keys(digests, count), indices, count);
}

int32_t bfs_bare_contains(const void* buffer, uint64_t bytes, const void* key, size_t key_bytes) {
  if (null_keys(key, key_bytes)) return 1;
  return bfstore::bare::contains({static_cast<const std::byte*>(buffer), bytes}, key_of(key, key_bytes)) ? 1 : 0;
}

int32_t bfs_bare_contains_digest(const void* buffer, uint64_t bytes, uint64_t digest) {
  return bfstore::bare::contains_digest({static_cast<const std::byte*>(buffer), bytes}, digest) ? 1 : 0;
}

uint64_t bfs_bare_bytes(uint64_t num_keys, double bits_per_key, uint32_t layout) {
  return bfstore::bare::bytes_for(num_keys, bits_per_key, layout_or_default(layout));
}

int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, const void* const* keys, const size_t* key_bytes,
                       size_t count) {
  return build_bare(buffer, bytes, layout, 0, pointer_keys(keys, key_bytes, count));
}

int32_t bfs_bare_build_digests(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash, const uint64_t* digests,
                               size_t count) {
  return build_bare(buffer, bytes, layout, hash, digest_keys(digests, count));
}

int32_t bfs_sync(bfs_filter* filter, uint64_t owner, uint64_t mark) {
  if (filter == nullptr) return BFS_EINVAL;
  return guarded(nullptr, [&] { return number_of(filter->filter.sync(owner, mark).code); });
}

uint64_t bfs_mark(const bfs_filter* filter, uint64_t owner) {
  const ErrnoKeeper keeper;
  return filter == nullptr ? 0 : filter->filter.mark(owner);
}

int32_t bfs_recovered(bfs_filter* filter, uint64_t owner, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_recovered: filter is null");
  return guarded(error, [&] {
    const auto over = filter->filter.recovered(owner);
    if (!over) return report(error, over.error());
    return *over ? 1 : 0;
  });
}

int32_t bfs_is_current(const bfs_filter* filter) {
  if (filter == nullptr) return BFS_EINVAL;
  return guarded(nullptr, [&] {
    const auto current = filter->filter.is_current();
    if (!current) return number_of(current.error().code);
    return *current ? 1 : 0;
  });
}

int32_t bfs_stats(const bfs_filter* filter, uint32_t flags, bfs_statistics* out) {
  if (filter == nullptr || out == nullptr || (flags & ~BFS_STATS_FILL) != 0) return BFS_EINVAL;
  if (!possible_size(size_said_by(out), kFirstStatistics)) return BFS_EINVAL;
  return guarded(nullptr, [&] {
    const bfstore::Stats stats = filter->filter.stats((flags & BFS_STATS_FILL) != 0);
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
    all.huge_page_bytes = stats.huge_page_bytes;
    all.health = number_of(filter->filter.health());
    if (stats.fill) {
      all.has_fill = 1;
      all.set_bits = stats.fill->set_bits;
      all.fill_ratio = stats.fill->fill_ratio;
      all.estimated_keys = stats.fill->estimated_keys;
      all.estimated_fpr = stats.fill->estimated_fpr;
    }
    all.resident_bytes = stats.resident_bytes.value_or(UINT64_MAX);
    stats.isa.copy(all.isa, sizeof all.isa - 1);
    all.saturated = stats.saturated ? 1 : 0;
    fill_struct(out, all);
    return BFS_OK;
  });
}
