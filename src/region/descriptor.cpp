#include "region/descriptor.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace bfstore::region {
namespace {

constexpr std::array kStandardStreams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

// Occupies the numbers of closed standard streams while a file is opened.
class Fillers {
 public:
  Fillers() noexcept {
    const bool all_open = std::all_of(kStandardStreams.begin(), kStandardStreams.end(),
                                      [](int stream) { return fcntl(stream, F_GETFD) != -1; });
    while (!all_open && count_ < fillers_.size()) {
      const int filler = open("/", O_PATH | O_CLOEXEC);
      if (filler > STDERR_FILENO) close(filler);
      if (filler < 0 || filler > STDERR_FILENO) return;
      fillers_[count_++] = filler;
    }
  }
  Fillers(const Fillers&) = delete;
  Fillers& operator=(const Fillers&) = delete;
  ~Fillers() {
    const int saved = errno;
    for (std::size_t i = 0; i < count_; ++i) close(fillers_[i]);
    errno = saved;
  }

 private:
  std::array<int, kStandardStreams.size()> fillers_{};
  std::size_t count_ = 0;
};

// The file that was opened at a descriptor number.
struct Opened {
  std::uint64_t serial;
  dev_t device;
  ino_t inode;
  int access;
  Children children;
  bool held_for_long;
  off_t position;  // kNoPosition, or where mark_position() put it
};

constexpr off_t kNoPosition = -1;

struct All {
  std::mutex forks;              // held during fork(), so that every open file of a child is in the map
  std::mutex mutex;              // for the map; never held while a file is opened, which may wait for a slow filesystem
  std::map<int, Opened> opened;  // by number
  std::uint64_t last_serial = 0;
};

// Never destroyed: other objects' destructors may use it later. An empty map holds no memory.
All& all() {
  alignas(All) static std::byte room[sizeof(All)];
  static All& only = *new (room) All;
  return only;
}

bool same_file(const Opened& one, const Opened& other) noexcept {
  return one.device == other.device && one.inode == other.inode;
}

// The position tells open file descriptions of one file apart, since no code here uses it to read or write. Each gets
// its own position, far from the beginning, where a description of other code begins. Returns kNoPosition if the
// filesystem has no such offsets.
off_t mark_position(int number, std::uint64_t serial) noexcept {
  constexpr off_t kFar = off_t{1} << 40;
  const off_t wanted = kFar + static_cast<off_t>(serial);
  return lseek(number, wanted, SEEK_SET) == wanted ? wanted : kNoPosition;
}

// A program that closes descriptors that are not its own may have opened another file at that number, or the same file
// once more. If the system cannot tell, the answer is true: a descriptor that is not closed would keep its locks.
bool is_there(int number, const Opened& opened) noexcept {
  struct stat now {};
  if (fstat(number, &now) != 0) return errno != EBADF;
  if (now.st_dev != opened.device || now.st_ino != opened.inode) return false;
  const int flags = fcntl(number, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) != opened.access) return false;
  return opened.position == kNoPosition || lseek(number, 0, SEEK_CUR) == opened.position;
}

// Returns nullptr if other code closed the descriptor and this process opened another one here at its number. The
// caller holds the mutex.
Opened* find(int number, std::uint64_t serial) noexcept {
  const auto found = all().opened.find(number);
  return found == all().opened.end() || found->second.serial != serial ? nullptr : &found->second;
}

// Keeps the number occupied. Otherwise the child might open another file there, which would then be closed in place of
// this descriptor. It closes first, because no other number may be free; no other thread runs in this child yet.
// Returns false if the number is free now.
bool put_nothing_there(int number, Opened& opened) noexcept {
  close(number);
  const int nothing = open("/", O_PATH | O_CLOEXEC);
  if (nothing >= 0 && nothing != number) {
    dup3(nothing, number, O_CLOEXEC);
    close(nothing);
  }
  struct stat facts {};
  if (fstat(number, &facts) != 0) return false;
  opened = {opened.serial, facts.st_dev, facts.st_ino, O_RDONLY, Children::kInherit, false, kNoPosition};
  return true;
}

void before_fork() {
  all().forks.lock();
  all().mutex.lock();
}
void after_fork() {
  all().mutex.unlock();
  all().forks.unlock();
}
void in_child() {
  std::map<int, Opened>& opened = all().opened;
  for (auto each = opened.begin(); each != opened.end();) {
    if (each->second.children == Children::kInherit) {
      ++each;
    } else if (is_there(each->first, each->second) && put_nothing_there(each->first, each->second)) {
      ++each;
    } else {
      each = opened.erase(each);
    }
  }
  after_fork();
}

// Runs before main(). So our handler is the last one before a fork and the first one in the child, and other handlers,
// which may close filters, find the mutex unlocked.
[[gnu::constructor]] void register_handlers() {
  static_cast<void>(pthread_atfork(before_fork, after_fork, in_child));  // without it a child keeps the locks
}

}  // namespace

int open_high(const char* path, int flags, unsigned mode, int folder) noexcept {
  const Fillers fillers;
  return openat(folder, path, flags | O_CLOEXEC, static_cast<mode_t>(mode));
}

// `own`: the open file description is new, and no other code knows it.
template <class Open>
Descriptor Descriptor::made_by(const Open& open, int access, Children children, bool own) {
  const std::lock_guard<std::mutex> no_fork(all().forks);
  Descriptor made;
  std::map<int, Opened> one{{-1, Opened{++all().last_serial, 0, 0, access, children, false, kNoPosition}}};
  auto entry = one.extract(-1);  // allocates before there is something to close
  made.number_ = open();
  if (!made.is_open()) return made;
  struct stat facts {};
  if (fstat(made.number_, &facts) != 0) {
    const int failed = errno;
    close(std::exchange(made.number_, -1));
    errno = failed;
    return made;
  }
  made.serial_ = entry.mapped().serial;
  entry.mapped().device = facts.st_dev;
  entry.mapped().inode = facts.st_ino;
  if (own && S_ISREG(facts.st_mode)) entry.mapped().position = mark_position(made.number_, made.serial_);
  entry.key() = made.number_;
  const std::lock_guard<std::mutex> lock(all().mutex);
  all().opened.erase(made.number_);  // other code closed the file that was open here before
  all().opened.insert(std::move(entry));
  return made;
}

Descriptor Descriptor::open(const char* path, int flags, Children children, unsigned mode, int folder) {
  return made_by([&] { return open_high(path, flags, mode, folder); }, flags & O_ACCMODE, children, true);
}

Descriptor Descriptor::duplicate(int number) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0) return {};
  return made_by([&] { return fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); }, flags & O_ACCMODE,
                 Children::kInherit, false);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), serial_(std::exchange(other.serial_, 0)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(serial_, other.serial_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  const std::lock_guard<std::mutex> no_fork(all().forks);
  const std::lock_guard<std::mutex> lock(all().mutex);
  const Opened* const opened = find(number_, serial_);
  const bool ours = opened != nullptr && region::is_there(number_, *opened);
  if (ours) close(number_);
  if (opened != nullptr) all().opened.erase(number_);
}

bool DescriptorMark::is_there() const noexcept {
  if (number < 0) return false;
  const std::lock_guard<std::mutex> lock(all().mutex);
  const Opened* const opened = find(number, serial);
  return opened != nullptr && region::is_there(number, *opened);
}

void Descriptor::hold_for_long() const noexcept {
  const std::lock_guard<std::mutex> lock(all().mutex);
  if (Opened* const opened = find(number_, serial_); opened != nullptr) opened->held_for_long = true;
}

bool Descriptor::held_for_long() const noexcept {
  const std::lock_guard<std::mutex> lock(all().mutex);
  const Opened* const own = find(number_, serial_);
  return own != nullptr && std::any_of(all().opened.begin(), all().opened.end(), [&](const auto& each) {
           return &each.second != own && each.second.held_for_long && same_file(each.second, *own);
         });
}

}  // namespace bfstore::region
