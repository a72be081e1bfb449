// The demo fails with an exception. main prints its sentence and ends with exit code 1.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace demo {

[[noreturn]] inline void fail(const std::string& sentence) { throw std::runtime_error(sentence); }

// Fails for a system call that failed just now.
[[noreturn]] inline void fail_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

}  // namespace demo
