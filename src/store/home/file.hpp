// A filter in a file of its own. Its Session keeps the protocol.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/file/session.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// The options of the caller that a handle keeps.
struct HandleOptions {
  const std::optional<Secret>& secret;
  bool hard_limit = false;
  std::uint32_t writeback_check_ms = 0;
};

// Makes a handle of the session's file.
Result<std::unique_ptr<Ask>> ask_file(std::unique_ptr<Session> session, Adding how, const HandleOptions& options);

// kInvalid if the options contradict each other.
Error check_options(const std::string& path, OpenMode mode, const OpenOptions& options);

// Checks the options, and opens the file at the path, which the handle does not follow.
Result<std::unique_ptr<Ask>> open_file(const std::string& path, OpenMode mode, const OpenOptions& options);

}  // namespace bfstore::store
