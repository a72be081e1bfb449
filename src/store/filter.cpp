// The public Filter: checks what is given to it, hashes keys, and hands digests to its Core.
#include <bfstore/filter.hpp>

#include "base/fail.hpp"
#include "hash/hash.hpp"
#include "store/batch.hpp"

namespace bfstore {
namespace {

// Offsets ascend from 0 or more. Looked at before anything is done, so that an error leaves nothing half-done.
template <class Offset>
bool offsets_ascend(std::span<const Offset> offsets) noexcept {
  if (offsets.empty() || offsets.front() < 0) return false;
  return std::is_sorted(offsets.begin(), offsets.end());
}

// Only the empty key may be at a null pointer.
bool pointers_lead_somewhere(std::span<const void* const> keys, std::span<const std::size_t> key_bytes) noexcept {
  if (keys.size() != key_bytes.size()) return false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == nullptr && key_bytes[i] != 0) return false;
  }
  return true;
}

// The forms of keys: what the i-th key's bytes are.
struct Pointers {
  const void* const* keys;
  const std::size_t* lengths;
  [[nodiscard]] std::string_view operator()(std::size_t i) const noexcept {
    return {static_cast<const char*>(keys[i]), lengths[i]};
  }
};

struct Views {
  const std::string_view* keys;
  [[nodiscard]] std::string_view operator()(std::size_t i) const noexcept { return keys[i]; }
};

struct Fixed {
  const std::byte* keys;
  std::size_t key_bytes;
  [[nodiscard]] std::string_view operator()(std::size_t i) const noexcept {
    return {reinterpret_cast<const char*>(keys) + i * key_bytes, key_bytes};
  }
};

template <class Offset>
struct Column {
  const std::byte* bytes;
  const Offset* offsets;
  [[nodiscard]] std::string_view operator()(std::size_t i) const noexcept {
    return {reinterpret_cast<const char*>(bytes) + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

template <class KeyAt>
struct Hashed {
  KeyAt key_at;
  std::uint64_t seed;
  [[nodiscard]] std::uint64_t operator()(std::size_t i) const noexcept {
    const std::string_view key = key_at(i);
    return hash::xxh3(key.data(), key.size(), seed);
  }
};

struct Given {
  const std::uint64_t* digests;
  [[nodiscard]] std::uint64_t operator()(std::size_t i) const noexcept { return digests[i]; }
};

Count all_maybe(std::span<std::uint8_t> answers, Code code) noexcept {
  std::fill(answers.begin(), answers.end(), std::uint8_t{1});
  return code;
}

Error not_a_file() {
  return base::fail(Code::kInvalid, "the filter is in a buffer, not in a file: saving it is up to its owner");
}

}  // namespace

Filter::Filter(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::open(const std::string& path, OpenMode mode) {
  const bool reading = mode == OpenMode::kRead;
  if (!reading && mode != OpenMode::kWrite && mode != OpenMode::kExclusive) {
    return base::fail(Code::kInvalid, path + ": open for reading, writing or exclusively: exactly one of them");
  }
  auto session =
      reading ? store::Session::open_reader(path) : store::Session::open_writer(path, mode == OpenMode::kExclusive);
  if (!session) return session.error();
  return Filter(std::make_unique<Core>(std::move(*session), !reading));
}

Error Filter::publish() {
  if (core_ == nullptr || core_->session == nullptr) return not_a_file();
  Error error = core_->session->publish();
  if (error.ok()) core_->writable = false;
  return error;
}

Error Filter::close() {
  Error error;
  if (core_ != nullptr && core_->session != nullptr) error = core_->session->close();
  core_.reset();
  return error;
}

// --- One key
// -----------------------------------------------------------------------------------------------------------

Count Filter::add(std::string_view key) noexcept {
  if (!core_->takes_keys()) return Code::kDigestOnly;
  return core_->add(hash::xxh3(key.data(), key.size(), core_->shape.seed));
}

Count Filter::add_digest(std::uint64_t digest) noexcept { return core_->add(digest); }

bool Filter::contains(std::string_view key) const noexcept {
  if (!core_->takes_keys()) return true;
  return core_->contains(hash::xxh3(key.data(), key.size(), core_->shape.seed));
}

bool Filter::contains_digest(std::uint64_t digest) const noexcept { return core_->contains(digest); }

std::optional<std::uint64_t> Filter::digest(std::string_view key) const noexcept {
  if (!core_->takes_keys()) return std::nullopt;
  return hash::xxh3(key.data(), key.size(), core_->shape.seed);
}

// --- Many keys
// ---------------------------------------------------------------------------------------------------------

template <class KeyAt>
Count Filter::add_keys(std::size_t count, KeyAt key_at) noexcept {
  if (!core_->takes_keys()) return Code::kDigestOnly;
  return core_->add_all(count, Hashed<KeyAt>{key_at, core_->shape.seed});
}

template <class KeyAt>
Count Filter::contains_keys(std::size_t count, KeyAt key_at, std::span<std::uint8_t> answers) const noexcept {
  if (answers.size() < count) return all_maybe(answers, Code::kInvalid);
  if (!core_->takes_keys()) return all_maybe(answers.first(count), Code::kDigestOnly);
  return core_->contains_all(count, Hashed<KeyAt>{key_at, core_->shape.seed}, answers);
}

Count Filter::add_many(std::span<const void* const> keys, std::span<const std::size_t> key_bytes) noexcept {
  if (!pointers_lead_somewhere(keys, key_bytes)) return Code::kInvalid;
  return add_keys(keys.size(), Pointers{keys.data(), key_bytes.data()});
}

Count Filter::add_many(std::span<const std::string_view> keys) noexcept {
  return add_keys(keys.size(), Views{keys.data()});
}

Count Filter::add_fixed(std::span<const std::byte> keys, std::size_t key_bytes) noexcept {
  if (key_bytes == 0 || keys.size() % key_bytes != 0) return Code::kInvalid;
  return add_keys(keys.size() / key_bytes, Fixed{keys.data(), key_bytes});
}

Count Filter::add_column(const std::byte* bytes, std::span<const std::int32_t> offsets) noexcept {
  if (!offsets_ascend(offsets)) return Code::kInvalid;
  return add_keys(offsets.size() - 1, Column<std::int32_t>{bytes, offsets.data()});
}

Count Filter::add_column(const std::byte* bytes, std::span<const std::int64_t> offsets) noexcept {
  if (!offsets_ascend(offsets)) return Code::kInvalid;
  return add_keys(offsets.size() - 1, Column<std::int64_t>{bytes, offsets.data()});
}

Count Filter::add_digests(std::span<const std::uint64_t> digests) noexcept {
  return core_->add_all(digests.size(), Given{digests.data()});
}

Count Filter::contains_many(std::span<const void* const> keys, std::span<const std::size_t> key_bytes,
                            std::span<std::uint8_t> answers) const noexcept {
  if (!pointers_lead_somewhere(keys, key_bytes)) return all_maybe(answers, Code::kInvalid);
  return contains_keys(keys.size(), Pointers{keys.data(), key_bytes.data()}, answers);
}

Count Filter::contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> answers) const noexcept {
  return contains_keys(keys.size(), Views{keys.data()}, answers);
}

Count Filter::contains_fixed(std::span<const std::byte> keys, std::size_t key_bytes,
                             std::span<std::uint8_t> answers) const noexcept {
  if (key_bytes == 0 || keys.size() % key_bytes != 0) return all_maybe(answers, Code::kInvalid);
  return contains_keys(keys.size() / key_bytes, Fixed{keys.data(), key_bytes}, answers);
}

Count Filter::contains_column(const std::byte* bytes, std::span<const std::int32_t> offsets,
                              std::span<std::uint8_t> answers) const noexcept {
  if (!offsets_ascend(offsets)) return all_maybe(answers, Code::kInvalid);
  return contains_keys(offsets.size() - 1, Column<std::int32_t>{bytes, offsets.data()}, answers);
}

Count Filter::contains_column(const std::byte* bytes, std::span<const std::int64_t> offsets,
                              std::span<std::uint8_t> answers) const noexcept {
  if (!offsets_ascend(offsets)) return all_maybe(answers, Code::kInvalid);
  return contains_keys(offsets.size() - 1, Column<std::int64_t>{bytes, offsets.data()}, answers);
}

Count Filter::contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const noexcept {
  if (answers.size() < digests.size()) return all_maybe(answers, Code::kInvalid);
  return core_->contains_all(digests.size(), Given{digests.data()}, answers);
}

// --- Durability and facts
// ----------------------------------------------------------------------------------------------

Error Filter::sync(std::uint64_t owner, std::uint64_t mark) {
  if (core_->session == nullptr) return not_a_file();
  return core_->session->sync(owner, mark);
}

std::uint64_t Filter::mark(std::uint64_t owner) const noexcept {
  return core_->session == nullptr ? 0 : core_->session->mark(owner);
}

const Shape& Filter::shape() const noexcept { return core_->shape; }

Code Filter::health() const noexcept { return core_->health(); }

Stats Filter::stats(bool count_bits) const {
  Stats stats;
  stats.shape = core_->shape;
  stats.body_bytes = core_->body_bytes;
  if (core_->session != nullptr) {
    stats.keys_added = core_->keys_added();
    stats.huge_page_bytes = core_->session->mapping().huge_page_bytes();
  } else if (core_->range != nullptr) {
    stats.huge_page_bytes = core_->range->huge_page_bytes();
  }
  if (count_bits) {
    store::FillCounter counter(core_->geometry);
    counter.take(core_->words, core_->body_bytes / 8);
    stats.fill = counter.fill();
  }
  return stats;
}

}  // namespace bfstore
