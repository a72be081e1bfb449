// Bare filters without a handle: looked up and built in place, in bytes at any address.
#include <bfstore/bare.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/bytes.hpp"
#include "format/bare.hpp"
#include "hash/hasher.hpp"
#include "layout/table.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::bare {
namespace {

using layout::Geometry;
using layout::Row;
using layout::Unaligned;

constexpr std::size_t kNumbers = 256;  // the layout numbers that fit in a trailer
constexpr Secret kNoSecret{};          // no hash of the bare form takes one

// The kernels by layout number, after a call of kernels(). Not a variable of that function: a lookup that finds its
// trailer among those that were seen need not ask whether this was filled.
constinit std::array<Unaligned, kNumbers> filled_kernels;

std::array<Unaligned, kNumbers>& fill_kernels() noexcept {
  const char* const forced = secure_getenv("BFSTORE_FORCE_ISA");
  for (const Row* row : layout::rows()) {
    const auto number = static_cast<std::size_t>(row->info.layout);
    const layout::Functions* const usable = layout::usable(*row, forced);
    if (number < kNumbers) filled_kernels[number] = (usable != nullptr ? usable : row->scalar)->unaligned;
  }
  return filled_kernels;
}

// Both functions are nullptr for a layout without a bare form. Chosen once, because the environment is slow to read.
const std::array<Unaligned, kNumbers>& kernels() noexcept {
  static const auto& kFilled = fill_kernels();
  return kFilled;
}

const Unaligned& functions_of(Layout layout) noexcept { return kernels()[static_cast<std::size_t>(layout)]; }

// nullptr if no bare filter can have the layout.
const Row* row_for(Layout layout) noexcept {
  const auto number = static_cast<std::uint16_t>(layout);
  return number < kNumbers ? layout::find(number) : nullptr;
}

// Body and trailer of what may be a bare filter. The trailer is read once, so that what was checked is what is used.
struct Parts {
  const std::byte* body;
  std::uint64_t body_bytes;
  std::uint64_t trailer;

  // `filter` is not null, and its length is one that a bare filter may have.
  Parts(const void* filter, std::uint64_t filter_bytes) noexcept
      : body(static_cast<const std::byte*>(filter)),
        body_bytes(filter_bytes - format::kTrailerBytes),
        trailer(base::load<std::uint64_t>(body + body_bytes)) {}

  [[nodiscard]] Layout layout() const noexcept { return static_cast<Layout>(byte(format::kTrailerLayoutField)); }
  [[nodiscard]] Hash hash() const noexcept { return static_cast<Hash>(byte(format::kTrailerHashField)); }
  [[nodiscard]] std::uint32_t num_probes() const noexcept { return byte(format::kTrailerNumProbesField); }

  // True if the filter is whole, and can be asked. Then kernels() was called, too.
  [[nodiscard]] bool check() const noexcept {
    std::array<std::byte, format::kTrailerBytes> bytes;
    base::store(bytes.data(), trailer);
    format::BareShape shape;
    return format::read_trailer(bytes, body_bytes, shape) == Code::kOk && functions_of(layout()).contains != nullptr;
  }

  // Asks a whole filter, after a call of kernels().
  [[nodiscard]] std::int32_t answer(std::uint64_t digest) const noexcept {
    const Unaligned& kernel = filled_kernels[static_cast<std::size_t>(layout())];
    return kernel.contains(body, body_bytes, num_probes(), digest);
  }

 private:
  [[nodiscard]] std::uint8_t byte(const format::Field& field) const noexcept {
    return static_cast<std::uint8_t>(trailer >> 8 * field.offset);
  }
};

// The trailers of short filters that were found whole. A filter of the same length with the same trailer is whole, too,
// and a comparison takes a tenth of the time of the checks. A place is for one length and one k. It is kNone, which is
// no trailer, until one is found, and never changes again: threads that ask filters of two layouts do not fight for it.
class Seen {
 public:
  // True if filters of that length have places. A length that is not whole words has none.
  [[nodiscard]] static bool fits(std::uint64_t filter_bytes) noexcept { return words_more(filter_bytes) < kLengths; }

  // True also says that kernels() was called. The length must fit.
  [[nodiscard]] bool has(std::uint64_t filter_bytes, const Parts& parts) const noexcept {
    return parts.trailer != kNone &&
           trailers_[index_of(filter_bytes, parts)].load(std::memory_order_acquire) == parts.trailer;
  }

  void add(std::uint64_t filter_bytes, const Parts& parts) noexcept {
    std::uint64_t none = kNone;
    trailers_[index_of(filter_bytes, parts)].compare_exchange_strong(none, parts.trailer, std::memory_order_release,
                                                                     std::memory_order_relaxed);
  }

 private:
  // Returns the number of words above the shortest filter's: a huge one for a filter that is shorter, or not whole
  // words.
  static std::uint64_t words_more(std::uint64_t filter_bytes) noexcept {
    return std::rotr(filter_bytes - format::kLeastBareBytes, 3);
  }
  static std::size_t index_of(std::uint64_t filter_bytes, const Parts& parts) noexcept {
    return words_more(filter_bytes) * kMaxProbes + parts.num_probes() % kMaxProbes;
  }

  static constexpr std::uint64_t kNone = 0;
  static constexpr std::size_t kLengths = 128;
  std::array<std::atomic<std::uint64_t>, kLengths * kMaxProbes> trailers_{};
};

constinit Seen seen;

// Returns use(parts) for a whole filter, and otherwise 1.
template <class Use>
std::int32_t with_parts(const void* filter, std::uint64_t filter_bytes, Use use) noexcept {
  if (filter == nullptr || filter_bytes < format::kLeastBareBytes || filter_bytes > format::kMostBareBytes) return 1;
  const Parts parts(filter, filter_bytes);
  const bool fits = Seen::fits(filter_bytes);
  if (fits && seen.has(filter_bytes, parts)) return use(parts);
  if (!parts.check()) return 1;
  if (fits) seen.add(filter_bytes, parts);
  return use(parts);
}

// Answer what answer() and answer_digest() do not answer themselves. Not inlined, so that those two need no frame.
[[gnu::noinline, gnu::flatten]] std::int32_t answer_any(const void* filter, std::uint64_t filter_bytes, const void* key,
                                                        std::size_t key_bytes) noexcept {
  if (key == nullptr && key_bytes != 0) return 1;
  const std::string_view view(static_cast<const char*>(key), key_bytes);
  return with_parts(filter, filter_bytes, [view](const Parts& parts) {
    return hash::visit(
        parts.hash(), 0, kNoSecret, [] { return 1; }, [&](const auto& hasher) { return parts.answer(hasher(view)); });
  });
}
[[gnu::noinline]] std::int32_t answer_any_digest(const void* filter, std::uint64_t filter_bytes,
                                                 std::uint64_t digest) noexcept {
  return with_parts(filter, filter_bytes, [digest](const Parts& parts) { return parts.answer(digest); });
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

// Returns kOk, or why no such filter can be built.
Code check(std::span<const std::byte> filter, const Keys& keys, const Row* row, const hash::Row* hash) noexcept {
  if (row == nullptr || hash == nullptr || !hash->info.fits_bare) return Code::kInvalid;
  if (functions_of(row->info.layout).add == nullptr) return Code::kUnsupported;
  if (filter.data() == nullptr || filter.size() < format::kTrailerBytes) return Code::kInvalid;
  if (!format::fits_bare(*row, filter.size() - format::kTrailerBytes)) return Code::kInvalid;
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  return hash->info.takes_keys || are_digests(keys) ? Code::kOk : Code::kDigestOnly;
}

}  // namespace

// The fast way is for a short key, and a short filter whose trailer was seen. Flattened: calls within this file, and of
// the few parts of XXH3 that short keys need, would be a third of the time.
[[gnu::flatten]] std::int32_t answer(const void* filter, std::uint64_t filter_bytes, const void* key,
                                     std::size_t key_bytes) noexcept {
  const std::string_view view(static_cast<const char*>(key), key_bytes);
  if (filter != nullptr && key != nullptr && Seen::fits(filter_bytes) && hash::is_quick(Hash::kXxh3, view)) [[likely]] {
    const Parts parts(filter, filter_bytes);
    if (seen.has(filter_bytes, parts) && parts.hash() == Hash::kXxh3) [[likely]]
      return parts.answer(hash::Xxh3{0}(view));
  }
  return answer_any(filter, filter_bytes, key, key_bytes);
}

[[gnu::flatten]] std::int32_t answer_digest(const void* filter, std::uint64_t filter_bytes,
                                            std::uint64_t digest) noexcept {
  if (filter != nullptr && Seen::fits(filter_bytes)) [[likely]] {
    const Parts parts(filter, filter_bytes);
    if (seen.has(filter_bytes, parts)) [[likely]]
      return parts.answer(digest);
  }
  return answer_any_digest(filter, filter_bytes, digest);
}

std::uint64_t bytes_for(std::uint64_t num_keys, double bits_per_key, Layout layout) noexcept {
  const Row* const row = row_for(layout);
  if (row == nullptr || !row->has_bare_form()) return 0;
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
