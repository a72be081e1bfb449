// A program that decompresses a list, as a child of this process.
#pragma once

#include <string>

#include <sys/types.h>

namespace bf {

class Decompressor {
 public:
  // Runs the program with these options, which reads from `input_fd`. `name` is the list's, for messages. Throws
  // Failure, for example if this machine has no such program.
  Decompressor(std::string program, std::string options, int input_fd, std::string name);
  ~Decompressor();  // ends it
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Where its output is read. The descriptor is the caller's from now on.
  [[nodiscard]] int release_output() noexcept;

  // Its output has ended. Throws Failure unless all of the list was decompressed. May be called again.
  void finish();

 private:
  // Whether its exit code is 0.
  bool wait();
  // The first line of what it said.
  [[nodiscard]] std::string said() const;

  std::string program_;
  std::string name_;
  int output_ = -1;
  int errors_ = -1;  // what it says, in memory
  pid_t pid_ = -1;
};

}  // namespace bf
