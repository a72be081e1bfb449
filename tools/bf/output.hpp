// Standard output, buffered. Every failed write is an error, except that a closed pipe ends the program quietly.
#pragma once

#include <string>
#include <string_view>

namespace bf {

class Output {
 public:
  void append(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kFlushBytes) flush();
  }

  // Throws Failure (no space, ...). If the reader of a pipe is gone, ends the process as SIGPIPE does.
  void flush();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;  // as much as a pipe takes at once
  std::string buffer_;
};

// Makes descriptors 0 to 2 exist, so that no filter is ever opened as standard output and overwritten. Turns SIGPIPE
// and SIGXFSZ into errors of the write: a closed standard error ends nothing, and a file size limit gives a message.
void prepare_process();

}  // namespace bf
