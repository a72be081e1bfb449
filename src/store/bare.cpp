// Bare filters without a handle: looked up and built in place, in bytes at any address.
#include <bfstore/bare.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "format/bare.hpp"
#include "hash/hasher.hpp"
#include "layout/table.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::bare {
namespace {

using layout::Geometry;
using layout::Row;
using layout::Unaligned;

constexpr std::size_t kNumbers = 256;  // how many numbers of layouts fit a trailer
constexpr SecretKey kNoSecret{};       // no hash of the bare form takes one

// Chosen once, because the environment is slow to read. Both functions are nullptr for a layout without a bare form.
const Unaligned& functions_of(Layout layout) noexcept {
  static const auto kByNumber = [] {
    std::array<Unaligned, kNumbers> all{};
    const char* const forced = secure_getenv("BFSTORE_FORCE_ISA");
    for (const Row* row : layout::rows()) {
      const auto number = static_cast<std::size_t>(row->info.layout);
      const layout::Functions* const usable = layout::usable(*row, forced);
      if (number < kNumbers) all[number] = (usable != nullptr ? usable : row->scalar)->unaligned;
    }
    return all;
  }();
  return kByNumber[static_cast<std::size_t>(layout)];
}

// nullptr if no bare filter can have the layout.
const Row* row_for(Layout layout) noexcept {
  const auto number = static_cast<std::uint16_t>(layout);
  return number < kNumbers ? layout::find(number) : nullptr;
}

// The filter's answer for a digest. `digest_of` makes the digest for the filter's hash, or nothing if that takes no
// keys.
template <class DigestOf>
bool may_contain(std::span<const std::byte> filter, DigestOf digest_of) noexcept {
  format::BareShape shape;
  if (filter.data() == nullptr || format::read_bare(filter, shape) != Code::kOk) return true;
  const auto contains = functions_of(shape.row->info.layout).contains;
  if (contains == nullptr) return true;
  const Geometry geometry = shape.row->geometry(layout::bits_in(*shape.row, shape.body_bytes), shape.num_probes);
  return digest_of(shape.hash->info.hash,
                   [&](std::uint64_t digest) { return contains(filter.data(), geometry, digest) != 0; });
}

// Hashes some keys at a time, and calls the layout once for all of them.
template <class Form>
void add_all(std::byte* body, const Geometry& geometry, const Unaligned& functions, Hash hash,
             const Form& keys) noexcept {
  if constexpr (std::is_same_v<Form, Keys::Digests>) {
    functions.add(body, geometry, keys.digests.data(), keys.size());
  } else {
    hash::visit(
        hash, 0, kNoSecret, [] { return 0; },
        [&](const auto& hasher) {
          std::array<std::uint64_t, 64> digests;
          for (std::size_t first = 0; first < keys.size(); first += digests.size()) {
            const std::size_t size = std::min(digests.size(), keys.size() - first);
            for (std::size_t i = 0; i < size; ++i) digests[i] = hasher(keys[first + i]);
            functions.add(body, geometry, digests.data(), size);
          }
          return 0;
        });
  }
}

bool are_digests(const Keys& keys) noexcept {
  return keys.visit([]<class Form>(const Form&) { return std::is_same_v<Form, Keys::Digests>; });
}

// Why no such filter can be built.
Code check(std::span<const std::byte> filter, const Keys& keys, const Row* row, const hash::Row* hash) noexcept {
  if (row == nullptr || hash == nullptr || !hash->info.fits_bare) return Code::kInvalid;
  if (functions_of(row->info.layout).add == nullptr) return Code::kUnsupported;
  if (filter.data() == nullptr || filter.size() < format::kTrailerBytes) return Code::kInvalid;
  if (!format::fits_bare(*row, filter.size() - format::kTrailerBytes)) return Code::kInvalid;
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  return hash->info.takes_keys || are_digests(keys) ? Code::kOk : Code::kDigestOnly;
}

}  // namespace

// Flattened: calls within this file, and of the few parts of XXH3 that short keys need, would be a third of the time.
[[gnu::flatten]] bool contains(std::span<const std::byte> filter, std::string_view key) noexcept {
  return may_contain(filter, [key](Hash hash, auto ask) {
    return hash::visit(
        hash, 0, kNoSecret, [] { return true; }, [&](const auto& hasher) { return ask(hasher(key)); });
  });
}

[[gnu::flatten]] bool contains_digest(std::span<const std::byte> filter, std::uint64_t digest) noexcept {
  return may_contain(filter, [digest](Hash, auto ask) { return ask(digest); });
}

std::uint64_t bytes_for(std::uint64_t num_keys, double bits_per_key, Layout layout) noexcept {
  const Row* const row = row_for(layout);
  if (row == nullptr) return 0;
  const double wanted = std::ceil(static_cast<double>(std::max(num_keys, std::uint64_t{1})) * bits_per_key /
                                  static_cast<double>(row->info.cell_bits));
  if (!(bits_per_key > 0) || !(wanted <= static_cast<double>(layout::most_bits(*row)))) return 0;
  const std::uint64_t num_bits =
      layout::whole_bits(*row, std::max(std::uint64_t{1}, static_cast<std::uint64_t>(wanted)));
  return layout::body_bytes(*row, num_bits) + format::kTrailerBytes;
}

Code build(std::span<std::byte> filter, const Keys& keys, Layout layout, Hash hash) noexcept {
  if (keys.may_have_nulls()) return Code::kInvalid;
  const Row* const row = row_for(layout);
  const hash::Row* const hash_row = hash::find(static_cast<std::uint16_t>(hash));
  if (const Code wrong = check(filter, keys, row, hash_row); wrong != Code::kOk) return wrong;
  Shape shape;
  shape.layout = layout;
  shape.hash = hash;
  const std::uint64_t body_bytes = filter.size() - format::kTrailerBytes;
  const std::size_t num_keys = std::max(keys.size(), std::size_t{1});
  const std::uint64_t num_bits = layout::bits_in(*row, body_bytes);
  shape.num_probes = sizing::best_probes(*row, num_keys, num_bits);
  const Geometry geometry = row->geometry(num_bits, shape.num_probes);
  std::memset(filter.data(), 0, body_bytes);
  keys.visit([&](const auto& form) { add_all(filter.data(), geometry, functions_of(layout), hash, form); });
  const auto trailer = format::encode_trailer(shape, body_bytes);
  std::memcpy(filter.data() + body_bytes, trailer.data(), trailer.size());
  return Code::kOk;
}

}  // namespace bfstore::bare
