// The secret key of a filter whose hash is siphash, from the file that --key-file names.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <string>

namespace bf {

// The file has 16 bytes, or 32 hexadecimal digits and at most one LF. Warns on standard error if other users may read
// it. Throws Failure; `key` may have a value even then.
void read_key_file(const std::string& path, std::optional<bfstore::SecretKey>& key);

// Throws if `other`, which a command is to read or replace, is the key file itself.
void refuse_key_file(const std::string& path, const std::string& other);

// Wipes a key, if any, when it is no longer needed here.
class KeyWiper {
 public:
  explicit KeyWiper(std::optional<bfstore::SecretKey>& key) noexcept : key_(key) {}
  KeyWiper(const KeyWiper&) = delete;
  KeyWiper& operator=(const KeyWiper&) = delete;
  ~KeyWiper();

 private:
  std::optional<bfstore::SecretKey>& key_;
};

}  // namespace bf
