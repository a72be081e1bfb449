// Bare filters without a handle: for an engine whose tables have a small filter in each block, at any address, used for
// the length of one call.
//
//     std::vector<std::byte> block(bfstore::bare::bytes_for(keys.size(), 10));
//     if (bfstore::bare::build(block, bfstore::Keys::views(keys)) != bfstore::Code::kOk) return;  // no filter
//     ...
//     if (!bfstore::bare::contains(block, key)) continue;  // certainly not in the block
//
// A bare filter is a body and an 8-byte trailer (FORMAT.md, "Bare form"). Its hash is XXH3 with seed 0, or the caller's
// own (Hash::kExternal).
//
// No function here allocates, takes a lock, throws, or needs an aligned buffer. Any number of threads may call them; no
// thread may change the buffer during a call.
// The value of the environment variable BFSTORE_FORCE_ISA at the first call in the process chooses the kernel. If this
// CPU cannot run that kernel, the scalar one answers. Answers never depend on it.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/keys.hpp>
#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bfstore::bare {

// False if `filter` is a whole bare filter (body and trailer) that was certainly built without the key. Otherwise true:
// the key may be in it, or these bytes are not a bare filter that this library understands, or its hash takes no keys.
// Damage to the trailer, or a wrong length, gives true. Damage to the body does not show: a body has no checksum.
[[nodiscard]] inline bool contains(std::span<const std::byte> filter, std::string_view key) noexcept;

// As contains(), for a digest of the filter's hash: XXH3_64bits(key, key_bytes), which is XXH3 with seed 0, or the
// caller's own.
[[nodiscard]] inline bool contains_digest(std::span<const std::byte> filter, std::uint64_t digest) noexcept;

// contains() and contains_digest() with the C ABI's types, which need no conversion: 1 is maybe, 0 is no. A null key
// that is not empty is "maybe".
[[nodiscard]] std::int32_t answer(const void* filter, std::uint64_t filter_bytes, const void* key,
                                  std::size_t key_bytes) noexcept;
[[nodiscard]] std::int32_t answer_digest(const void* filter, std::uint64_t filter_bytes, std::uint64_t digest) noexcept;

// Computes the bytes of a bare filter of `num_keys` keys: a body of num_keys * bits_per_key bits, rounded up to 64
// bytes for blocked and to 8 for classic, and the trailer. 0 if no such filter exists: an unknown layout, bits per key
// that are not a positive number, or more than 2^48 bits.
[[nodiscard]] std::uint64_t bytes_for(std::uint64_t num_keys, double bits_per_key,
                                      Layout layout = Layout::kBlocked) noexcept;

// Builds a bare filter of these keys that is exactly as long as `filter`, and overwrites all of it. k is the best for
// that many keys and bits. The bytes are those of Filter::format() with that capacity and max_bytes, followed by add().
// kInvalid: layout or hash are unknown, or not for bare filters; no filter of the layout is that long (see bytes_for);
// a key is null, or something is wrong with the keys. kDigestOnly: the hash takes digests only. kUnsupported: the
// layout takes no keys. On an error the buffer is as before.
[[nodiscard]] Code build(std::span<std::byte> filter, const Keys& keys, Layout layout = Layout::kBlocked,
                         Hash hash = Hash::kXxh3) noexcept;

inline bool contains(std::span<const std::byte> filter, std::string_view key) noexcept {
  return answer(filter.data(), filter.size(), key.data(), key.size()) != 0;
}

inline bool contains_digest(std::span<const std::byte> filter, std::uint64_t digest) noexcept {
  return answer_digest(filter.data(), filter.size(), digest) != 0;
}

}  // namespace bfstore::bare
