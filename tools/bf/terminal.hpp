// Standard error: one-line messages, and progress if it is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bf {

// Makes `text` safe for a terminal: control characters and bytes that are not UTF-8 become \n, \t, \r or \xNN.
std::string printable(std::string_view text);

// Writes "bf: <message>" as one line: the command failed, or did not do all that it was asked to do.
void complain(std::string_view message);

// Writes "bf: warning: <message>" as one line: the command does what it was asked to do.
void warn(std::string_view message);

// Writes "bf: <message>" as one line: what the command waits for.
void tell(std::string_view message);

// Shows the progress of long work, on one line that disappears. Silent unless standard error is a terminal.
class Progress {
 public:
  // `total_bytes` of input, if known. `wanted`: false if the terminal is used for something else.
  Progress(std::string what, std::optional<std::uint64_t> total_bytes, bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t keys, std::uint64_t bytes);

 private:
  // ", 43 %, 5,230,000 keys/s, 0:12 left", as far as it is known.
  [[nodiscard]] std::string pace(std::uint64_t keys, std::uint64_t bytes, double seconds) const;

  std::string what_;
  std::optional<std::uint64_t> total_bytes_;
  bool on_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace bf
