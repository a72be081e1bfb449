// The secret key of a filter: in memory while the filter is open, and compared with the file's key check.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "format/identity.hpp"

namespace bfstore::store {

// A handle's copy of the key. It is wiped when the handle ends, so that it does not remain in memory that is used
// again.
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

// Checks for a new filter that the options have a key if, and only if, the hash takes one.
Error check_secret_for(Hash hash, const std::optional<SecretKey>& key);

// Returns the identity that `bytes` begin with, if it keeps every rule of the format and `key` is the filter's own.
// Every way from bytes to a handle comes through here. The other arguments are those of format::check_identity.
// Messages begin with `where`.
Result<format::Identity> trusted_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                          bool writing, const std::optional<SecretKey>& key, const std::string& where);

// Returns the identity for a caller that hashes no keys, and so needs no secret.
Result<format::Identity> sound_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                        bool writing, const std::string& where);

// Returns the shape of a bare filter, which has no secret.
Result<Shape> trusted_bare(format::Bytes bytes, const std::optional<SecretKey>& key);

}  // namespace bfstore::store
