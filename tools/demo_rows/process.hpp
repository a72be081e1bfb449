// Starts other programs, and this one again, and talks to them in lines.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace demo {

// The path of the running program.
std::string this_program();

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// A running program, with our ends of its standard input and output.
class Child {
 public:
  // words[0] is the program's path. Fails if it cannot be started.
  explicit Child(const std::vector<std::string>& words);
  // Closes the program's standard input, at which it should end, and waits for it.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void tell(const std::string& line);
  // Returns the next line that the program prints; fails if it has ended instead.
  [[nodiscard]] std::string hear();

  [[nodiscard]] pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
  File to_;
  File from_;
};

// Lets a program write to this program's standard output, and waits for it. Returns its exit code.
int run_program(const std::vector<std::string>& words);

}  // namespace demo
