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

// The list lost keys while it was read. With several threads, those that were read are not its first ones.
class CutList : public BadList {
 public:
  explicit CutList(const std::string& list) : BadList(list + ": was written anew, or cut, while it was read.") {}
};

}  // namespace bf
