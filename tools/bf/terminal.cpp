// See terminal.hpp.
#include "terminal.hpp"

#include "colour.hpp"
#include "numbers.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace bf {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
std::atomic<bool> progress_shown{false};  // one thread shows progress, and any thread may complain

// If standard error cannot be written to, no error can be reported.
void write_error(std::string_view text) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

// The length of the printable UTF-8 sequence at the beginning of `text`, or 0. C1 control characters (U+0080 to U+009F)
// control a terminal as ESC does, so they are not printable. Neither are overlong forms and surrogates.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tails = [&](std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return false;
    }
    return true;
  };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (first >= 0xC2 && first <= 0xDF) return tails(1) && (first != 0xC2 || second >= 0xA0) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool good = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return good && tails(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool good = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
    return good && tails(3) ? 4 : 0;
  }
  return 0;
}

std::string escaped(unsigned char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

void write_line(std::string_view head, tools::Ink ink, std::string_view message) {
  std::string line(progress_shown.exchange(false) ? kEraseLine : "");
  line += tools::inked(head, ink, tools::has_colour(STDERR_FILENO)) + " " + printable(message) + "\n";
  write_error(line);
}

// With three digits that are not zeros, since a rate changes all the time.
std::uint64_t rounded(double rate) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(rate, 1.0))) - 2));
  return static_cast<std::uint64_t>(std::llround(rate / unit) * std::llround(unit));
}

// "0:12", "1:02:03"
std::string minutes(double seconds) {
  constexpr double kLongest = 1e9;  // no estimate of so many years is true
  const auto all = static_cast<unsigned long long>(std::min(std::ceil(seconds), kLongest));
  std::array<char, 32> text{};
  if (all < 3600) {
    std::snprintf(text.data(), text.size(), "%llu:%02llu", all / 60, all % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%llu:%02llu:%02llu", all / 3600, all / 60 % 60, all % 60);
  }
  return text.data();
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    safe += length > 0 ? std::string(text.substr(0, length)) : escaped(static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return safe;
}

void complain(std::string_view message) { write_line("bf:", tools::Ink::kRed, message); }

void warn(std::string_view message) { write_line("bf: warning:", tools::Ink::kYellow, message); }

void tell(std::string_view message) { write_line("bf:", tools::Ink::kDim, message); }

Progress::Progress(std::string what, std::optional<std::uint64_t> total_bytes, bool wanted)
    : what_(printable(what)),
      total_bytes_(total_bytes),
      on_(wanted && ::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      next_(begin_ + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (progress_shown) write_error(kEraseLine);
  progress_shown = false;
}

std::string Progress::pace(std::uint64_t keys, std::uint64_t bytes, double seconds) const {
  const std::uint64_t total = total_bytes_.value_or(0);
  std::string text;
  if (total > 0) text += ", " + std::to_string(std::min<std::uint64_t>(100, bytes / (total / 100 + 1))) + " %";
  text += keys > 0 ? ", " + grouped(rounded(static_cast<double>(keys) / seconds)) + " keys/s"
                   : ", " + human_bytes(rounded(static_cast<double>(bytes) / seconds)) + "/s";
  // The files of a source may grow while they are read.
  if (total > 0 && bytes > 0) {
    const std::uint64_t left = total - std::min(total, bytes);
    text += ", " + minutes(seconds * static_cast<double>(left) / static_cast<double>(bytes)) + " left";
  }
  return text;
}

void Progress::show(std::uint64_t keys, std::uint64_t bytes) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  std::string line = std::string(kEraseLine) + what_ + ": ";
  line += keys > 0 ? grouped(keys) + " keys" : human_bytes(bytes);
  line += pace(keys, bytes, std::chrono::duration<double>(now - begin_).count());
  write_error(line);
  progress_shown = true;
}

}  // namespace bf
