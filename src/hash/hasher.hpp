// Turns a key into its digest. Has what each hash needs besides the key, and is the only place that chooses the hash.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <string_view>

#include "hash/hash.hpp"
#include "hash/siphash.hpp"

namespace bfstore::hash {

struct Xxh3 {
  std::uint64_t seed;
  [[nodiscard]] std::uint64_t operator()(std::string_view key) const noexcept {
    return xxh3(key.data(), key.size(), seed);
  }
};

struct SipHash {
  const Secret& secret;
  [[nodiscard]] std::uint64_t operator()(std::string_view key) const noexcept {
    return siphash(key.data(), key.size(), secret);
  }
};

// True if a few instructions make the digest. A function that makes no other digests needs no stack frame.
[[nodiscard]] inline bool is_quick(Hash hash, std::string_view key) noexcept {
  return hash == Hash::kXxh3 && key.size() <= 16;
}

// Returns what `use` makes of the hasher, or what `otherwise` returns if the hash gives no digests of keys. XXH3, which
// nearly every filter uses, has its own branch, which the CPU always predicts.
template <class Otherwise, class Use>
auto visit(Hash hash, std::uint64_t seed, const Secret& secret, Otherwise otherwise, Use use) noexcept
    -> decltype(otherwise()) {
  if (hash == Hash::kXxh3) [[likely]]
    return use(Xxh3{seed});
  if (hash == Hash::kSipHash) return use(SipHash{secret});
  return otherwise();
}

}  // namespace bfstore::hash
