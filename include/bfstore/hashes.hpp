// The hashes that this version knows, and what each one needs.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace bfstore {

struct HashInfo {
  Hash hash{};
  const char* name = nullptr;  // as the tools write it
  bool takes_keys = false;     // otherwise it takes digests only, which the caller computes
  bool takes_seed = false;
  bool takes_secret = false;  // a Secret, which is in no file
  bool fits_bare = false;     // the bare form has room for everything that a reader needs
  bool takes_seeds = false;   // a list of seeds, one for each bit of a key (Options::seeds)
  // The hash gives the positions of a key's k bits, and no digest: Code::kKeyOnly where one is needed. Its filters have
  // a layout that takes positions (classic), and cannot be folded.
  bool gives_positions = false;
};

// All hashes, in the order of their numbers.
[[nodiscard]] std::vector<HashInfo> hashes();

// Empty if there is no such hash.
[[nodiscard]] std::optional<HashInfo> hash_of(Hash hash) noexcept;
[[nodiscard]] std::optional<HashInfo> hash_named(std::string_view name) noexcept;

}  // namespace bfstore
