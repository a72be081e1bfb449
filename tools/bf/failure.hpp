// The error of a command: one sentence for a person. main() prints it as `bf: <sentence>`, with exit code 2.
#pragma once

#include <stdexcept>

namespace bf {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file is not a list of keys, or not a whole one. The command says what was done with the keys before the mistake.
class BadList : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace bf
