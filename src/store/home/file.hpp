// A filter in a file of its own: a Session has the protocol.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/file/session.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// What a handle keeps of its caller's options.
struct HandleOptions {
  const std::optional<SecretKey>& key;
  bool hard_limit = false;
  std::uint32_t writeback_check_ms = 0;
};

// A handle of the session's file.
Result<std::unique_ptr<Ask>> ask_file(std::unique_ptr<Session> session, Adding how, const HandleOptions& options);

// kInvalid if the options do not go together.
Error check_options(const std::string& path, OpenMode mode, const OpenOptions& options);

// Checks the options, and opens the file at the path, which the handle does not follow.
Result<std::unique_ptr<Ask>> open_file(const std::string& path, OpenMode mode, const OpenOptions& options);

}  // namespace bfstore::store
