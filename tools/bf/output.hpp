// Standard output, buffered; every failed write is an error, and a closed pipe a quiet end.
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

  // Throws Failure (no space, ...); a reader that has gone ends the process as SIGPIPE does.
  void flush();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;  // what a pipe takes at once
  std::string buffer_;
};

// Makes descriptors 0 to 2 exist, so that no filter is ever opened as standard output and written over. Turns SIGPIPE
// and SIGXFSZ into errors of the write: a closed standard error ends nothing, and a file size limit is told in words.
void prepare_process();

}  // namespace bf
