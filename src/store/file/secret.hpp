// The secret of a filter: in memory while the filter is open, and compared with the file's secret check.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "format/identity.hpp"

namespace bfstore::store {

// A handle's copy of the secret. It is wiped when the handle ends, so that it does not remain in memory that is used
// again.
class KeptSecret {
 public:
  KeptSecret() = default;
  KeptSecret(const KeptSecret&) = delete;
  KeptSecret& operator=(const KeptSecret&) = delete;
  ~KeptSecret();

  void keep(const std::optional<Secret>& secret) noexcept {
    if (secret) value_ = *secret;
  }
  [[nodiscard]] const Secret& value() const noexcept { return value_; }

 private:
  Secret value_{};
};

// Checks for a new filter that the options have a secret if, and only if, the hash takes one.
Error check_secret_for(Hash hash, const std::optional<Secret>& secret);

// Returns the identity that `bytes` begin with, if it keeps every rule of the format and `secret` is the filter's own.
// Every way from bytes to a handle comes through here. The other arguments are those of format::check_identity.
// Messages begin with `where`.
Result<format::Identity> trusted_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                          bool writing, const std::optional<Secret>& secret, const std::string& where);

// Returns the identity for a caller that hashes no keys, and so needs no secret.
Result<format::Identity> sound_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                        bool writing, const std::string& where);

// Returns the shape of a bare filter, which has no secret.
Result<Shape> trusted_bare(format::Bytes bytes, const std::optional<Secret>& secret);

}  // namespace bfstore::store
