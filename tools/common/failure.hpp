// The error of a program: one sentence for a person.
#pragma once

#include <stdexcept>

namespace tools {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tools
