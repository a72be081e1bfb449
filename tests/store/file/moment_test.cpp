// Events between two instructions of a lookup or an add. The body's first page is made inaccessible, and the first
// access to it lets something happen to the file before it continues.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kThreeWindows = 700;  // of a batch
constexpr std::size_t kEndWord = 8;           // the file's last bytes

// Data of the signal handler, which neither allocates nor locks.
struct Moment {
  void* body = nullptr;           // where the library has mapped the body
  std::size_t bytes = 0;          // bytes of it that are taken away
  std::uint64_t* live = nullptr;  // the same file's live word, in a mapping of our own
  std::byte* own_body = nullptr;  // the same file's body, in that mapping
  std::uint64_t set = 0;          // bits of the live word to set then
  bool loses_bits = false;        // zero the body, too
  bool loses_the_end = false;     // zero the end word, too
  bool came = false;
} moment;

void happen(int /*signal*/, siginfo_t* where, void* /*context*/) {
  const auto at = reinterpret_cast<std::uintptr_t>(where->si_addr);
  const auto begin = reinterpret_cast<std::uintptr_t>(moment.body);
  if (moment.came || at < begin || at >= begin + moment.bytes) {
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  moment.came = true;
  __atomic_fetch_or(moment.live, moment.set, __ATOMIC_SEQ_CST);
  if (moment.loses_bits) std::memset(moment.own_body, 0, moment.bytes - (moment.loses_the_end ? 0 : kEndWord));
  mprotect(moment.body, moment.bytes, PROT_READ | PROT_WRITE);
}

// Returns where this process has mapped the first byte of the file: in the first mapping that is not our own.
char* mapped_at(const std::string& path, const void* but_not) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.size() < path.size() || line.compare(line.size() - path.size(), path.size(), path) != 0) continue;
    if (line.find(" ---s ") != std::string::npos) continue;  // this mapping holds a lock, and nothing else
    auto* const begin = reinterpret_cast<char*>(std::stoull(line, nullptr, 16));
    if (begin != but_not) return begin;
  }
  return nullptr;
}

// From now on, the first access of a handle to the body of this file sets those bits of its live word.
class AtFirstTouch {
 public:
  AtFirstTouch(const std::string& path, int access, std::uint64_t set, bool loses_bits, bool loses_the_end = false) {
    const std::uint64_t length = read_bytes(path).size();
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    own_ = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    REQUIRE(own_ != MAP_FAILED);
    length_ = length;
    auto* const bytes = static_cast<std::byte*>(own_);
    char* const theirs = mapped_at(path, own_);
    REQUIRE(theirs != nullptr);
    moment = {theirs + format::kFileHeaderBytes,
              length - format::kFileHeaderBytes,
              reinterpret_cast<std::uint64_t*>(bytes + format::kLivePageOffset),
              bytes + format::kFileHeaderBytes,
              set,
              loses_bits,
              loses_the_end,
              false};
    struct sigaction action {};
    action.sa_sigaction = happen;
    action.sa_flags = SA_SIGINFO;
    REQUIRE(sigaction(SIGSEGV, &action, &before_) == 0);
    REQUIRE(mprotect(moment.body, moment.bytes, access) == 0);
  }
  AtFirstTouch(const AtFirstTouch&) = delete;
  AtFirstTouch& operator=(const AtFirstTouch&) = delete;
  ~AtFirstTouch() {
    CHECK(moment.came);
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(own_, length_);
  }

 private:
  void* own_ = nullptr;
  std::uint64_t length_ = 0;
  struct sigaction before_ {};
};

Filter filled_in_every_form(const TempDir& dir) {
  CHECK(created(dir.file()).close().ok());
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  for (const AddForm& add : add_forms()) CHECK(add.add(writer, 1, kThreeWindows).ok());
  return writer;
}

}  // namespace

// The bits are gone, as after a truncation, and the live word says so at the same moment.
TEST_CASE("a lookup that is under way when a file is put in doubt and loses its bits answers maybe") {
  for (const std::uint64_t doubt :
       {format::LiveWord::kPoisoned, format::LiveWord::kSuperseded, format::LiveWord::kRecovering}) {
    for (const AskForm& form : ask_forms()) {
      CAPTURE(form.name);
      TempDir dir;
      Filter writer = filled_in_every_form(dir);
      std::uint64_t found = 0;
      {
        const AtFirstTouch moment_of(dir.file(), PROT_NONE, doubt, true);
        found = form.ask(writer, 1, kThreeWindows);
      }
      CHECK(found == kThreeWindows);
    }
  }
}

// Bytes after a file's new end are zeros, when it is truncated in the middle of a page, or grown again.
TEST_CASE("a lookup that is under way when a file loses its bits and the word at its end answers maybe") {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    TempDir dir;
    Filter writer = filled_in_every_form(dir);
    std::uint64_t found = 0;
    {
      const AtFirstTouch moment_of(dir.file(), PROT_NONE, 0, true, true);
      found = form.ask(writer, 1, kThreeWindows);
    }
    CHECK(found == kThreeWindows);
    CHECK(writer.health() == Code::kLost);
  }
}

// The bits may be set when the process that fills the successor has read them already.
TEST_CASE("an add that is under way when its file is superseded is refused") {
  for (const AddForm& form : add_forms()) {
    CAPTURE(form.name);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    Code code = Code::kOk;
    {
      const AtFirstTouch moment_of(dir.file(), PROT_READ, format::LiveWord::kSuperseded, false);
      code = form.add(writer, 1, 3).code();
    }
    CHECK(code == Code::kSuperseded);
  }
}
