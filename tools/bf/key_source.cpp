// See key_source.hpp.
#include "key_source.hpp"

#include "failures.hpp"
#include "interrupt.hpp"
#include "list_head.hpp"
#include "list_kind.hpp"
#include "spool.hpp"
#include "terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <utility>

namespace bf {
namespace {

struct stat stat_of(int fd) {
  struct stat facts {};
  ::fstat(fd, &facts);
  return facts;
}

// open(2) of a pipe with a name waits for a writer, and SA_RESTART begins it again after a signal: it must not wait.
bool is_pipe(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

// Waits for the first writer instead. A signal ends the wait: see interrupt.cpp.
void wait_for_writer(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

template <class Read>
std::size_t go_on(Read read, int fd, const std::string& name) {
  for (;;) {
    const ssize_t got = read();
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      pollfd waiting{fd, POLLIN, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      const char* const closed =
          errno == EBADF ? " It is closed: give it a file (< FILE) or a pipe, or name a file (--from PATH)." : "";
      throw Failure(name + ": cannot read the keys: " + tools::system_words(errno) + "." + closed);
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

KeySource::KeySource(const std::string& from, ListFormat format) : KeySource(from, "the keys", format) {}

KeySource::KeySource(const std::string& from, const std::string& what)
    : KeySource(from, what, ListFormat{.any_bytes = true}) {}

// Looks at the first bytes of a regular file now, because several threads may read it later.
KeySource::KeySource(const std::string& from, const std::string& what, ListFormat format)
    : format_(format), name_(from == "-" ? "standard input" : from) {
  // In both cases the descriptor is above 2, so that closing it never frees number 0.
  const bool may_lack_writer = from != "-" && is_pipe(from);
  fd_ = from == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                    : ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (may_lack_writer ? O_NONBLOCK : 0));
  if (fd_ < 0 && errno == ENOENT) throw Failure(name_ + ": no such file. Give the path of a file with " + what + ".");
  if (fd_ < 0) throw Failure(name_ + ": cannot open " + what + ": " + tools::not_opened_words(from, errno));
  try {
    const struct stat facts = stat_of(fd_);
    if (S_ISDIR(facts.st_mode)) throw Failure(name_ + ": a directory. Give the path of a file with " + what + ".");
    interrupt::watch(fd_);
    if (may_lack_writer) wait_for_writer(fd_);
    if (!S_ISREG(facts.st_mode)) return;
    start_ = ::lseek(fd_, 0, SEEK_CUR);
    first_end_ = facts.st_size;
    begin();
  } catch (...) {
    interrupt::watch(-1);
    ::close(fd_);
    throw;
  }
}

KeySource::~KeySource() {
  interrupt::watch(-1);
  ::close(fd_);
}

std::optional<std::uint64_t> KeySource::bytes() const {
  const struct stat facts = stat_of(fd_);
  if (!S_ISREG(facts.st_mode) || facts.st_size < start_) return std::nullopt;
  return static_cast<std::uint64_t>(facts.st_size - start_);
}

bool KeySource::is_same_file(const std::string& path) const {
  struct stat other {};
  if (::stat(path.c_str(), &other) != 0) return false;
  const struct stat own = stat_of(fd_);
  return own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

bool KeySource::is_standard_output() const {
  const struct stat own = stat_of(fd_);
  const struct stat output = stat_of(STDOUT_FILENO);
  return S_ISREG(own.st_mode) && own.st_dev == output.st_dev && own.st_ino == output.st_ino;
}

bool KeySource::is_terminal() const { return ::isatty(fd_) == 1; }

std::vector<Range> KeySource::ranges() const {
  constexpr std::uint64_t kWorthAThread = std::uint64_t{16} << 20;
  constexpr std::uint64_t kMostThreads = 4;  // more would wait for memory, and other programs need the machine, too
  const std::uint64_t size = bytes().value_or(0);
  const std::uint64_t count =
      std::min({kMostThreads, std::uint64_t{std::thread::hardware_concurrency()}, size / kWorthAThread});
  std::vector<Range> ranges;
  if (count < 2) return ranges;
  off_t begin = start_;
  for (std::uint64_t i = 1; i < count; ++i) {
    const off_t end = std::max(begin, next_key(start_ + static_cast<off_t>(size / count * i)));
    ranges.push_back({begin, end});
    begin = end;
  }
  ranges.push_back({begin, std::numeric_limits<off_t>::max()});  // the file may be growing
  return ranges;
}

void KeySource::begin() {
  if (std::exchange(begun_, true)) return;
  // A user who forgot the keys would take the wait for a program that hangs.
  if (is_terminal() && ::isatty(STDERR_FILENO) == 1) tell("reading keys from the terminal, until Ctrl-D");
  if (format_.any_bytes || is_terminal()) return;
  for (bool decompressed = false;; decompressed = true) {
    const auto kind = kind_of(head());
    if (!kind && format_.is_text()) refuse_digests();
    if (!kind) return;
    if (kind->mark != 0) {
      has_mark_ = true;
      return skip(kind->mark);
    }
    const std::string what = name_ + ": is " + std::string(kind->words);
    if (kind->program.empty()) throw BadList(what + ", and not a list of keys. " + std::string(kind->way_out) + ".");
    if (decompressed) throw BadList(what + " more than once. Decompress it first.");
    decompress(*kind);
  }
}

void KeySource::refuse_digests() const {
  if (!looks_like_digests() && !(bytes() && is_short_list_of_digests(head()))) return;
  throw BadList(name_ +
                ": is no text. If bf digest wrote it, bf build takes it (--digests --like FILTER), and bf merge --into "
                "adds what it makes. If the keys are any bytes: --binary.");
}

bool KeySource::looks_like_digests() const {
  const auto size = bytes();
  return size && *size % sizeof(std::uint64_t) == 0 && look_like_digests(head());
}

std::string KeySource::head() const {
  if (!can_be_read_twice()) return head_of_stream(fd_, name_);
  std::string head(kHeadBytes, '\0');
  Range here{start_, start_ + static_cast<off_t>(head.size())};
  std::size_t have = 0;
  while (const std::size_t got = read_some(fd_, head.data() + have, head.size() - have, name_, here)) have += got;
  head.resize(have);
  return head;
}

void KeySource::skip(std::size_t bytes) {
  if (can_be_read_twice()) {
    start_ += static_cast<off_t>(bytes);
    return rewind();
  }
  std::string mark(bytes, '\0');
  for (std::size_t have = 0; have < bytes;) {
    const std::size_t got = read_some(fd_, mark.data() + have, bytes - have, name_);
    if (got == 0) return;
    have += got;
  }
}

void KeySource::decompress(const ListKind& kind) {
  decompression_ = std::string(kind.program) + " " + std::string(kind.options);
  decompressor_.emplace(std::string(kind.program), std::string(kind.options), fd_, name_);
  replace(decompressor_->release_output());
  start_ = first_end_ = 0;
}

// After a signal the descriptor is /dev/null.
void KeySource::ended(off_t reached, off_t end_of_range) {
  if (!interrupt::pending()) {
    if (decompressor_) decompressor_->finish();
    const off_t expected = std::min(first_end_, end_of_range);
    const struct stat facts = stat_of(fd_);
    if (S_ISREG(facts.st_mode) && (reached < expected || facts.st_size < first_end_)) throw CutList(name_);
  }
  tell_of_mark();
}

// Once, and not before a line has ended: a list that is refused at once gets one message only.
void KeySource::tell_of_mark() {
  if (has_mark_.exchange(false)) warn(name_ + ": begins with a byte order mark, which is no part of the first key.");
}

void KeySource::take_line_end(LineEnds found, std::uint64_t at_byte) {
  LineEnds before = LineEnds::kUnknown;
  if (line_ends_.compare_exchange_strong(before, found)) {
    if (found == LineEnds::kLf) return tell_of_mark();
    const bool has_mark = has_mark_.exchange(false);
    warn(name_ +
         (has_mark ? ": begins with a byte order mark, and its lines end in CR LF. The mark and the CRs are "
                   : ": its lines end in CR LF. The CRs are ") +
         "no part of the keys.");
  } else if (before != found) {
    throw BadList(name_ + ": some lines end in CR LF and others in LF: see byte " + std::to_string(at_byte) +
                  ". Make them alike (sed 's/\\r$//'). If every CR is part of a key: --binary.");
  }
}

void KeySource::skip_to_end() const { ::lseek(fd_, 0, SEEK_END); }

// Returns the beginning of the first key at or after `from`, or the end of the file if no key begins there.
off_t KeySource::next_key(off_t from) const {
  std::vector<char> buffer(std::size_t{64} << 10);
  Range rest{from - 1, std::numeric_limits<off_t>::max()};
  while (const std::size_t got = read_some(fd_, buffer.data(), buffer.size(), name_, rest)) {
    const void* const found = std::memchr(buffer.data(), format_.separator, got);
    if (found == nullptr) continue;
    return rest.begin - static_cast<off_t>(got) + (static_cast<const char*>(found) - buffer.data()) + 1;
  }
  return rest.begin;
}

// A pipe tells how many bytes wait in it. A source that does not tell is copied, and the copy is used.
bool KeySource::at_end() {
  begin();
  if (!can_be_read_twice()) {
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    int bytes_ready = 0;
    if (::ioctl(fd_, FIONREAD, &bytes_ready) == 0 && bytes_ready > 0) return false;
    spool();
  }
  char first = 0;
  Range here{start_, start_ + 1};
  return read_some(fd_, &first, 1, name_, here) == 0;
}

bool KeySource::can_be_read_twice() const { return S_ISREG(stat_of(fd_).st_mode); }

void KeySource::rewind() {
  // After a signal the descriptor is /dev/null, which can be rewound, too.
  if (::lseek(fd_, start_, SEEK_SET) < 0)
    throw Failure(name_ + ": cannot read the keys again: " + std::strerror(errno));
}

void KeySource::spool() {
  Spool copy("give the keys in a file (--from PATH)");
  std::vector<char> buffer(kBufferBytes);
  Progress progress("reading " + name_, std::nullopt, !is_terminal());
  std::uint64_t total = 0;
  while (const std::size_t got = read_some(fd_, buffer.data(), buffer.size(), name_)) {
    copy.append(std::as_bytes(std::span(buffer).first(got)));
    progress.show(0, total += got);
  }
  ended(0, 0);
  replace(copy.release());
  start_ = 0;
  first_end_ = stat_of(fd_).st_size;
  rewind();
}

void KeySource::replace(int fd) {
  interrupt::watch(fd);
  ::close(fd_);
  fd_ = fd;
}

}  // namespace bf
