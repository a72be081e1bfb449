// How the benchmark gives up: with an exception whose sentence main prints before it ends with exit code 1.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace bench {

[[noreturn]] inline void fail(const std::string& sentence) { throw std::runtime_error(sentence); }

// For a system call that failed just now.
[[noreturn]] inline void fail_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

}  // namespace bench
