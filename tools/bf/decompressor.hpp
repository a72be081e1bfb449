// A program that decompresses a list, as a child of this process.
#pragma once

#include <string>

#include <sys/types.h>

namespace bf {

class Decompressor {
 public:
  // Runs the program with these options, which reads from `input_fd`. `name` is the name of the list, for messages.
  // Throws Failure, for example if this machine has no such program.
  Decompressor(std::string program, std::string options, int input_fd, std::string name);
  ~Decompressor();  // ends the program
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Returns the descriptor of the program's output. It belongs to the caller from now on.
  [[nodiscard]] int release_output() noexcept;

  // Call it when the output has ended. Throws Failure unless all of the list was decompressed. May be called again.
  void finish();

 private:
  // Waits for the program. True if its exit code is 0.
  bool wait();
  // The first line of the program's messages.
  [[nodiscard]] std::string said() const;

  std::string program_;
  std::string name_;
  int output_ = -1;
  int errors_ = -1;  // the program's messages, in memory
  pid_t pid_ = -1;
};

}  // namespace bf
