// The secret of a filter whose hash is siphash, from the file that --secret-file names.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <string>

namespace bf {

// How to make one that no other user can read.
inline constexpr const char* kMakeSecret = " Make one: (umask 077; head -c 16 /dev/urandom > FILE).";

// The file has 16 bytes, or 32 hexadecimal digits and at most one LF. Warns on standard error if other users may read
// it. Throws Failure; `secret` may have a value even then.
void read_secret_file(const std::string& path, std::optional<bfstore::Secret>& secret);

// Throws if `other`, which a command is to read or replace, is the secret's file itself.
void refuse_secret_file(const std::string& path, const std::string& other);

// Wipes a secret, if any, when it is no longer needed here.
class SecretWiper {
 public:
  explicit SecretWiper(std::optional<bfstore::Secret>& secret) noexcept : secret_(secret) {}
  SecretWiper(const SecretWiper&) = delete;
  SecretWiper& operator=(const SecretWiper&) = delete;
  ~SecretWiper();

 private:
  std::optional<bfstore::Secret>& secret_;
};

}  // namespace bf
