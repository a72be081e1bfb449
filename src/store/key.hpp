// The secret key of a filter: in memory while the filter is open, and held against what the file says of it.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "format/identity.hpp"

namespace bfstore::store {

// A handle's copy of the key, wiped when the handle ends: memory that is given to others later does not have it.
class Secret {
 public:
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  void keep(const std::optional<SecretKey>& key) noexcept {
    if (key) key_ = *key;
  }
  [[nodiscard]] const SecretKey& key() const noexcept { return key_; }

 private:
  SecretKey key_{};
};

// For a new filter: a key where the hash takes one, and nowhere else.
Error check_key_for(Hash hash, const std::optional<SecretKey>& key);

// The identity that `bytes` begin with, if every rule of the format holds and `key` is the filter's own: on the way
// from bytes to a handle everybody comes through here. The other arguments are format::check_identity's; a message
// begins with `where`.
Result<format::Identity> trusted_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                          bool writing, const std::optional<SecretKey>& key, const std::string& where);

// The same for who hashes no keys, and so needs none.
Result<format::Identity> sound_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                        bool writing, const std::string& where);

// The same of a bare filter, which has no key.
Result<Shape> trusted_bare(format::Bytes bytes, const std::optional<SecretKey>& key);

}  // namespace bfstore::store
