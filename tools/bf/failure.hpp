// How a command gives up: one sentence for a person, printed by main() as `bf: <sentence>` with exit code 2.
#pragma once

#include <stdexcept>

namespace bf {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A list of keys is no list, or not whole. What was done with the keys before that is the command's to say.
class BadList : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace bf
