// The errors of a command. main() prints each as `bf: <sentence>`, with exit code 2.
#pragma once

#include "failure.hpp"

namespace bf {

using tools::Failure;

// A file is not a list of keys, or not a whole one. The command says what was done with the keys before the mistake.
class BadList : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace bf
