// The secret key of a filter whose hash is siphash, from the file that --key-file names.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <string>

namespace bf {

// The file holds 16 bytes, or 32 hexadecimal digits and at most one LF. Says to standard error if others may use it.
// Throws Failure; `key` may be there then.
void read_key_file(const std::string& path, std::optional<bfstore::SecretKey>& key);

// Wipes a key, if it is there, when it is of no more use here.
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
