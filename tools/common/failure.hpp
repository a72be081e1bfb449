// The error of a program: one sentence for a person.
#pragma once

#include <stdexcept>
#include <string>

namespace tools {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns what the errno says, and the way out if there is one: "Permission denied. Check the permissions ..."
std::string system_words(int os_errno);

// Returns what kept this process from opening a file that exists, as system_words() does, with a period: also who may
// open it, if it is the permissions.
std::string not_opened_words(const std::string& path, int os_errno);

// "This process may have 58.6 MiB of addresses: ...", or what else helps where memory was short.
std::string memory_words();

// Returns why no file of this name was made, for an errno of the attempt, and the way out: its folder may be the cause.
std::string not_made_words(const std::string& path, int os_errno);

// Returns that nothing, or not all, was written to standard output, and the way out, as one or more sentences.
std::string unwritten_words(int os_errno);

}  // namespace tools
