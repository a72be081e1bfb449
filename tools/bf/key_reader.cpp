// See key_reader.hpp.
#include "key_reader.hpp"

#include "bytes.hpp"
#include "failure.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace bf {

namespace {

template <class Read>
std::size_t go_on(Read read, int fd, const std::string& name) {
  for (;;) {
    const ssize_t got = read();
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      pollfd waiting{fd, POLLIN, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      throw Failure(name + ": cannot read the keys: " + std::strerror(errno));
    }
  }
}

}  // namespace

std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name) {
  return go_on([&] { return ::read(fd, to, bytes); }, fd, name);
}

std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name, Range& rest) {
  bytes = std::min(bytes, static_cast<std::size_t>(rest.end - rest.begin));
  const std::size_t got = go_on([&] { return ::pread(fd, to, bytes, rest.begin); }, fd, name);
  rest.begin += static_cast<off_t>(got);
  return got;
}

KeyReader::KeyReader(int fd, std::string name, char separator, std::size_t buffer_bytes, std::size_t max_key_bytes)
    : fd_(fd),
      name_(std::move(name)),
      separator_(separator),
      max_key_bytes_(max_key_bytes),
      buffer_(static_cast<char*>(std::malloc(buffer_bytes + kBlockBytes))),
      capacity_(buffer_bytes) {
  if (!buffer_) throw std::bad_alloc();
}

KeyReader::KeyReader(int fd, std::string name, char separator, std::optional<Range> range)
    : KeyReader(fd, std::move(name), separator) {
  range_ = range;
}

bool KeyReader::next(std::vector<std::string_view>& keys) {
  keys.clear();
  for (;;) {
    split(keys);
    if (!keys.empty() && !seen_first_line_) {
      seen_first_line_ = true;
      first_line_ends_in_cr_ = separator_ == '\n' && keys.front().ends_with('\r');
    }
    if (keys.empty() && at_end_) take_rest(keys);
    if (!keys.empty()) return true;
    if (at_end_) return false;
    fill();
  }
}

void KeyReader::split(std::vector<std::string_view>& keys) {
  const char* const text = buffer_.get();
  for (; scanned_ < end_; scanned_ = std::min(scanned_ + kBlockBytes, end_)) {
    std::uint64_t found = matches(text + scanned_, separator_);
    if (end_ - scanned_ < kBlockBytes) found &= (std::uint64_t{1} << (end_ - scanned_)) - 1;
    for (; found != 0; found &= found - 1) {
      if (keys.size() == kMaxBatch) {
        scanned_ = begin_;
        drained_ = false;
        return;
      }
      const std::size_t stop = scanned_ + static_cast<std::size_t>(std::countr_zero(found));
      keys.emplace_back(text + begin_, stop - begin_);
      begin_ = stop + 1;
    }
  }
  drained_ = true;
}

void KeyReader::take_rest(std::vector<std::string_view>& keys) {
  if (begin_ == end_) return;
  keys.emplace_back(buffer_.get() + begin_, end_ - begin_);
  begin_ = scanned_ = end_;
  ended_without_separator_ = true;
}

void KeyReader::fill() {
  make_room();
  char* const to = buffer_.get() + end_;
  const std::size_t room = capacity_ - end_;
  const std::size_t got = range_ ? read_some(fd_, to, room, name_, *range_) : read_some(fd_, to, room, name_);
  at_end_ = got == 0;
  end_ += got;
  bytes_read_ += got;
}

// Moves the key that has begun to the front. A key that fills the whole buffer gets a larger buffer.
void KeyReader::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < capacity_) return;
  if (end_ > max_key_bytes_) {
    throw Failure(name_ + ": a key is longer than " + std::to_string(max_key_bytes_) +
                  " bytes. Are the keys separated by " + (separator_ == '\0' ? "LF (leave out -0)?" : "NUL (-0)?"));
  }
  const std::size_t larger = std::min(capacity_ * 2, std::max(capacity_, max_key_bytes_) + 1);
  char* const grown = static_cast<char*>(std::realloc(buffer_.get(), larger + kBlockBytes));
  if (grown == nullptr) throw std::bad_alloc();
  std::ignore = buffer_.release();
  buffer_.reset(grown);
  capacity_ = larger;
}

}  // namespace bf
