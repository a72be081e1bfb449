// See key_reader.hpp.
#include "key_reader.hpp"

#include "amounts.hpp"
#include "bytes.hpp"
#include "failures.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace bf {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr const char* kIfMeant = " If it belongs to a key: --binary.";

}  // namespace

KeyReader::KeyReader(KeySource& source, std::optional<Range> range, std::size_t buffer_bytes, std::size_t max_key_bytes)
    : source_(source),
      range_(range),
      separator_(source.format().separator),
      is_text_(source.format().is_text()),
      max_key_bytes_(max_key_bytes),
      buffer_(static_cast<char*>(std::malloc(buffer_bytes + kBlockBytes))),
      capacity_(buffer_bytes),
      bytes_before_(range ? static_cast<std::uint64_t>(range->begin) : 0) {
  if (!buffer_) throw std::bad_alloc();
  source_.begin();
}

bool KeyReader::next(std::vector<std::string_view>& keys) {
  keys.clear();
  for (;;) {
    split(keys);
    if (keys.empty() && at_end_) take_rest(keys);
    if (!keys.empty()) return true;
    if (at_end_) return false;
    fill();
  }
}

void KeyReader::split(std::vector<std::string_view>& keys) {
  const char* const text = buffer_.get();
  for (; scanned_ < end_; scanned_ = std::min(scanned_ + kBlockBytes, end_)) {
    const std::size_t left = end_ - scanned_;
    const std::uint64_t there = left < kBlockBytes ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    std::uint64_t found = matches(text + scanned_, separator_) & there;
    if (is_text_ && may_be_odd(text + scanned_)) check(text + scanned_, found, there);
    const std::size_t cr_bytes = line_ends_ == LineEnds::kCrLf ? 1 : 0;
    for (; found != 0; found &= found - 1) {
      if (keys.size() == kMaxBatch) {
        scanned_ = begin_;
        after_cr_ = false;
        drained_ = false;
        return;
      }
      const std::size_t stop = scanned_ + static_cast<std::size_t>(std::countr_zero(found));
      keys.emplace_back(text + begin_, stop - cr_bytes - begin_);
      if (looks_for_marks_) check_mark(keys.back());
      begin_ = stop + 1;
    }
  }
  drained_ = true;
}

// False for nearly every block of nearly every list, which then needs no other check.
bool KeyReader::may_be_odd(const char* block) const noexcept {
  return line_ends_ != LineEnds::kLf || after_cr_ || has_any<'\0', '\r', kByteOrderMark[0]>(block);
}

// The bits of `ends` are the LFs of the block, and those of `there` the bytes that were read.
void KeyReader::check(const char* block, std::uint64_t ends, std::uint64_t there) {
  std::uint64_t after_cr = after_cr_ ? 1 : 0;
  looks_for_marks_ = looks_for_marks_ || has_any<kByteOrderMark[0]>(block);
  if (const std::uint64_t nuls = matches(block, '\0') & there; nuls != 0)
    refuse_nul(scanned_ + static_cast<std::size_t>(std::countr_zero(nuls)));
  const std::uint64_t crs = matches(block, '\r') & there;
  after_cr |= crs << 1U;
  after_cr_ = (crs >> (std::bit_width(there) - 1) & 1) != 0;
  if (const std::uint64_t alone = after_cr & ~ends & there; alone != 0)
    refuse(scanned_ + static_cast<std::size_t>(std::countr_zero(alone)) - 1,
           "is a CR that no LF follows. If lines end in CR, make them end in LF (tr '\\r' '\\n').");
  take_line_end(LineEnds::kLf, ends & ~after_cr);  // LF first, so that a short list that has both gets one message only
  take_line_end(LineEnds::kCrLf, ends & after_cr);
}

// The bits of `where` are the line ends of that kind in the block.
void KeyReader::take_line_end(LineEnds found, std::uint64_t where) {
  if (where == 0 || line_ends_ == found) return;
  source_.take_line_end(found, place(scanned_ + static_cast<std::size_t>(std::countr_zero(where))));
  line_ends_ = found;
}

void KeyReader::check_mark(std::string_view key) const {
  if (key.starts_with(kByteOrderMark))
    refuse(begin_, "begins a byte order mark, as where one list was joined to another. Take it out.");
}

void KeyReader::take_rest(std::vector<std::string_view>& keys) {
  if (begin_ == end_) return;
  const bool is_first = bytes_before_ == 0 && begin_ == 0;
  if (is_first && separator_ == '\0' && !source_.format().any_bytes &&
      std::memchr(buffer_.get(), '\n', end_) != nullptr)
    throw BadList(name() + ": has lines, and no NUL at the end of a key. Leave -0 out.");
  if (after_cr_ && !interrupt::pending())
    refuse(end_ - 1, "is the last one, and a CR without its LF. The list may have been cut.");
  keys.emplace_back(buffer_.get() + begin_, end_ - begin_);
  if (is_text_) check_mark(keys.back());
  begin_ = scanned_ = end_;
  source_.take_unended_key();
}

// Of a Latin letter in UTF-16 the NUL is the second byte, or the first one where the higher byte comes first. Without a
// byte order mark iconv must be told which.
void KeyReader::refuse_nul(std::size_t at) const {
  const bool comes_second = place(at) % 2 == 0;
  refuse(at, std::string("is a NUL, so these are not lines of text. Text in UTF-16 has such bytes (iconv -f UTF-16") +
                 (comes_second ? "LE" : "BE") + " -t UTF-8). If keys end in NUL: -0.");
}

void KeyReader::refuse(std::size_t at, const std::string& what) const {
  throw BadList(name() + ": byte " + std::to_string(place(at)) + " " + what + kIfMeant);
}

void KeyReader::fill() {
  make_room();
  char* const to = buffer_.get() + end_;
  const std::size_t room = capacity_ - end_;
  const std::size_t got =
      range_ ? read_some(source_.fd(), to, room, name(), *range_) : read_some(source_.fd(), to, room, name());
  at_end_ = got == 0;
  if (at_end_) {
    const off_t reached = range_ ? range_->begin : source_.start() + static_cast<off_t>(bytes_read_);
    source_.ended(reached, range_ ? range_->end : std::numeric_limits<off_t>::max());
  }
  end_ += got;
  bytes_read_ += got;
}

// Moves the key that has begun to the front. A key that fills the whole buffer gets a larger buffer.
void KeyReader::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    bytes_before_ += begin_;
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < capacity_) return;
  if (end_ > max_key_bytes_) {
    throw Failure(name() + ": a key is longer than " + std::to_string(max_key_bytes_) +
                  " bytes. Are the keys separated by " + (separator_ == '\0' ? "LF (leave out -0)?" : "NUL (-0)?"));
  }
  const std::size_t larger = std::min(capacity_ * 2, std::max(capacity_, max_key_bytes_) + 1);
  char* const grown = static_cast<char*>(std::realloc(buffer_.get(), larger + kBlockBytes));
  if (grown == nullptr)
    throw Failure(name() + ": out of memory: a key has more than " + tools::human_bytes(end_) + ", and " +
                  tools::human_bytes(larger) + " are needed to read on. " + tools::memory_words());
  std::ignore = buffer_.release();
  buffer_.reset(grown);
  capacity_ = larger;
}

}  // namespace bf
