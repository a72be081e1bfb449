// Standard output, buffered. Every failed write is an error, except that a closed pipe ends the program quietly.
#pragma once

#include <string>
#include <string_view>

namespace bf {

class Output {
 public:
  void append(std::string_view text) {
    keep(text);
    if (is_large()) flush();
  }

  // Keeps `text` until flush() is called.
  void keep(std::string_view text) { buffer_ += text; }
  [[nodiscard]] bool is_large() const noexcept { return buffer_.size() >= kFlushBytes; }

  // Throws Failure (no space, ...), and keeps what was not written. If the reader of a pipe is gone, ends the process
  // as SIGPIPE does.
  void flush();
  [[nodiscard]] std::string_view unwritten() const noexcept { return buffer_; }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;  // as much as a pipe takes at once
  std::string buffer_;
};

// Makes descriptors 0 to 2 exist, so that no filter is ever opened as standard output and overwritten. Turns SIGPIPE
// and SIGXFSZ into errors of the write: a closed standard error ends nothing, and a file size limit gives a message.
void prepare_process();

}  // namespace bf
