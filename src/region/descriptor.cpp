#include "region/descriptor.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "base/mutant.hpp"

namespace bfstore::region {
namespace {

constexpr std::array kStandardStreams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

// Takes the numbers of closed standard streams, for as long as something is opened.
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

// A descriptor that children do not get, and the file that it was opened for: a program that closes descriptors that
// are not its own may have another one at that number by now.
struct Own {
  int descriptor;
  dev_t device;
  ino_t inode;

  [[nodiscard]] bool is_there() const noexcept {
    struct stat now {};
    return fstat(descriptor, &now) == 0 && now.st_dev == device && now.st_ino == inode;
  }
};

struct All {
  std::mutex mutex;  // held during fork(), so that a child finds the list whole, and nothing open that is not in it
  std::vector<Own> own;
};

// Never destroyed: other objects' destructors may still come. What the list holds it gives back when it is empty.
All& all() {
  alignas(All) static std::byte room[sizeof(All)];
  static All& only = *new (room) All;
  return only;
}

// The number stays taken, so that nothing else of the child's gets it and is closed for it. Closed first: there may be
// no other number left, and nobody else runs in this child yet.
void put_nothing_there(int descriptor) noexcept {
  close(descriptor);
  const int nothing = open("/", O_PATH | O_CLOEXEC);
  if (nothing < 0 || nothing == descriptor) return;
  dup3(nothing, descriptor, O_CLOEXEC);
  close(nothing);
}

void before_fork() { all().mutex.lock(); }
void after_fork() { all().mutex.unlock(); }
void in_child() {
  for (const Own& own : all().own) {
    if (own.is_there() && !base::mutant("children_keep_the_locks")) put_nothing_there(own.descriptor);
  }
  all().own.clear();
  all().own.shrink_to_fit();
  all().mutex.unlock();
}

// Before main(): so our handler is the last one before a fork and the first one in the child, and what others do in
// theirs, closing filters for instance, meets an unlocked mutex.
[[gnu::constructor]] void register_handlers() {
  static_cast<void>(pthread_atfork(before_fork, after_fork, in_child));  // without it a child keeps the locks
}

}  // namespace

int open_high(const char* path, int flags, unsigned mode, int folder) noexcept {
  const Fillers fillers;
  return openat(folder, path, flags | O_CLOEXEC, static_cast<mode_t>(mode));
}

int open_own(const char* path, int flags, unsigned mode, int folder) {
  const std::lock_guard<std::mutex> lock(all().mutex);
  std::vector<Own>& own = all().own;
  own.reserve(own.size() + 1);  // before there is something to close
  const int descriptor = open_high(path, flags, mode, folder);
  struct stat facts {};
  if (descriptor >= 0 && fstat(descriptor, &facts) == 0) own.push_back({descriptor, facts.st_dev, facts.st_ino});
  return descriptor;
}

void close_own(int descriptor) noexcept {
  const std::lock_guard<std::mutex> lock(all().mutex);
  std::vector<Own>& own = all().own;
  const auto found =
      std::find_if(own.begin(), own.end(), [descriptor](const Own& each) { return each.descriptor == descriptor; });
  if (found != own.end()) own.erase(found);
  if (own.empty()) own.shrink_to_fit();
  close(descriptor);
}

}  // namespace bfstore::region
