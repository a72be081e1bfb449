// The public Filter's calls with many keys: every form of keys, and of answers, is brought to the one path of
// batch.hpp.
#include "hash/hasher.hpp"
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

bool whole_keys(std::span<const std::byte> keys, std::size_t key_bytes) noexcept {
  return key_bytes != 0 && keys.size() % key_bytes == 0;
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

// Keys that are turned into digests when it is their turn.
template <class KeyAt, class Hasher>
struct Hashed {
  KeyAt key_at;
  std::size_t count;
  Hasher hasher;
  [[nodiscard]] std::size_t size() const noexcept { return count; }
  [[nodiscard]] std::uint64_t digest(std::size_t i) const noexcept { return hasher(key_at(i)); }
};

// What `use` makes of the keys; chosen once for all of them. kDigestOnly where keys are not taken.
template <class KeyAt, class Use>
Count with_digests(const Shape& shape, const store::Secret& secret, std::size_t count, KeyAt key_at, Use use) {
  return hash::visit(shape.hash, shape.seed, secret.key(), Count(Code::kDigestOnly), [&](const auto& hasher) {
    return use(Hashed<KeyAt, std::remove_cvref_t<decltype(hasher)>>{key_at, count, hasher});
  });
}

store::Bytes taker_of(std::span<std::uint8_t> answers) noexcept { return store::Bytes(answers.data()); }
store::Indices taker_of(std::span<std::uint32_t> indices) noexcept { return store::Indices(indices.data()); }

// In doubt or in error: every key may be present.
Count all_maybe(std::span<std::uint8_t> answers, Code code) noexcept {
  std::fill(answers.begin(), answers.end(), std::uint8_t{1});
  return code;
}

Count all_maybe(std::span<std::uint32_t> indices, Code code) noexcept {
  std::uint32_t next = 0;
  for (std::uint32_t& index : indices) index = next++;
  return code;
}

// So many keys can be answered there.
bool has_room(std::span<std::uint8_t> answers, std::size_t count) noexcept { return answers.size() >= count; }
bool has_room(std::span<std::uint32_t> indices, std::size_t count) noexcept {
  return indices.size() >= count && count <= std::size_t{1} << 32;
}

}  // namespace

// --- Adding ----------------------------------------------------------------------------------------------------------

template <class KeyAt>
Count Filter::add_keys(std::size_t count, KeyAt key_at) noexcept {
  return with_digests(core_->shape, core_->secret, count, key_at,
                      [this](const auto& keys) { return core_->add_all(keys); });
}

Count Filter::add_many(std::span<const void* const> keys, std::span<const std::size_t> key_bytes) noexcept {
  if (!pointers_lead_somewhere(keys, key_bytes)) return Code::kInvalid;
  return add_keys(keys.size(), Pointers{keys.data(), key_bytes.data()});
}

Count Filter::add_many(std::span<const std::string_view> keys) noexcept {
  return add_keys(keys.size(), Views{keys.data()});
}

Count Filter::add_fixed(std::span<const std::byte> keys, std::size_t key_bytes) noexcept {
  if (!whole_keys(keys, key_bytes)) return Code::kInvalid;
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
  return core_->add_all(store::Given{digests});
}

// --- Asking ----------------------------------------------------------------------------------------------------------

template <class Keys, class Answer>
Count Filter::ask(const Keys& keys, std::span<Answer> out) const noexcept {
  if (!has_room(out, keys.size())) return all_maybe(out, Code::kInvalid);
  return core_->contains_all(keys, taker_of(out));
}

template <class KeyAt, class Answer>
Count Filter::ask_keys(std::size_t count, KeyAt key_at, std::span<Answer> out) const noexcept {
  const Count maybes =
      with_digests(core_->shape, core_->secret, count, key_at, [&](const auto& keys) { return ask(keys, out); });
  if (maybes.code() != Code::kDigestOnly) return maybes;
  return all_maybe(out.first(std::min(count, out.size())), Code::kDigestOnly);
}

template <class Answer>
Count Filter::ask_pointers(std::span<const void* const> keys, std::span<const std::size_t> key_bytes,
                           std::span<Answer> out) const noexcept {
  if (!pointers_lead_somewhere(keys, key_bytes)) return all_maybe(out, Code::kInvalid);
  return ask_keys(keys.size(), Pointers{keys.data(), key_bytes.data()}, out);
}

template <class Answer>
Count Filter::ask_fixed(std::span<const std::byte> keys, std::size_t key_bytes, std::span<Answer> out) const noexcept {
  if (!whole_keys(keys, key_bytes)) return all_maybe(out, Code::kInvalid);
  return ask_keys(keys.size() / key_bytes, Fixed{keys.data(), key_bytes}, out);
}

template <class Offset, class Answer>
Count Filter::ask_column(const std::byte* bytes, std::span<const Offset> offsets,
                         std::span<Answer> out) const noexcept {
  if (!offsets_ascend(offsets)) return all_maybe(out, Code::kInvalid);
  return ask_keys(offsets.size() - 1, Column<Offset>{bytes, offsets.data()}, out);
}

Count Filter::contains_many(std::span<const void* const> keys, std::span<const std::size_t> key_bytes,
                            std::span<std::uint8_t> answers) const noexcept {
  return ask_pointers(keys, key_bytes, answers);
}

Count Filter::contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> answers) const noexcept {
  return ask_keys(keys.size(), Views{keys.data()}, answers);
}

Count Filter::contains_fixed(std::span<const std::byte> keys, std::size_t key_bytes,
                             std::span<std::uint8_t> answers) const noexcept {
  return ask_fixed(keys, key_bytes, answers);
}

Count Filter::contains_column(const std::byte* bytes, std::span<const std::int32_t> offsets,
                              std::span<std::uint8_t> answers) const noexcept {
  return ask_column(bytes, offsets, answers);
}

Count Filter::contains_column(const std::byte* bytes, std::span<const std::int64_t> offsets,
                              std::span<std::uint8_t> answers) const noexcept {
  return ask_column(bytes, offsets, answers);
}

Count Filter::contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const noexcept {
  return ask(store::Given{digests}, answers);
}

Count Filter::select_many(std::span<const void* const> keys, std::span<const std::size_t> key_bytes,
                          std::span<std::uint32_t> indices) const noexcept {
  return ask_pointers(keys, key_bytes, indices);
}

Count Filter::select_many(std::span<const std::string_view> keys, std::span<std::uint32_t> indices) const noexcept {
  return ask_keys(keys.size(), Views{keys.data()}, indices);
}

Count Filter::select_fixed(std::span<const std::byte> keys, std::size_t key_bytes,
                           std::span<std::uint32_t> indices) const noexcept {
  return ask_fixed(keys, key_bytes, indices);
}

Count Filter::select_column(const std::byte* bytes, std::span<const std::int32_t> offsets,
                            std::span<std::uint32_t> indices) const noexcept {
  return ask_column(bytes, offsets, indices);
}

Count Filter::select_column(const std::byte* bytes, std::span<const std::int64_t> offsets,
                            std::span<std::uint32_t> indices) const noexcept {
  return ask_column(bytes, offsets, indices);
}

Count Filter::select_digests(std::span<const std::uint64_t> digests, std::span<std::uint32_t> indices) const noexcept {
  return ask(store::Given{digests}, indices);
}

}  // namespace bfstore
