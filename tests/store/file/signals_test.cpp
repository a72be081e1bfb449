// The guard's handler of SIGBUS and the handlers of other code, each in a child: this process itself never has a guard.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "region/guard.hpp"
#include "support.hpp"
#include "unreadable.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr off_t kHeader = format::kFileHeaderBytes;

constexpr int kSawTheFault = 3;

// The findings of the handlers in a child.
volatile sig_atomic_t calls = 0;
volatile sig_atomic_t usr1_was_blocked = 0;

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

void plain_handler(int signal) {
  calls = calls + 1;
  usr1_was_blocked = is_blocked(SIGUSR1) && is_blocked(signal) ? 1 : 0;
  if (calls == 2) _exit(kSawTheFault + 10 * usr1_was_blocked);
}

void info_handler(int, siginfo_t* info, void*) {
  _exit(kSawTheFault + (info->si_addr != nullptr && is_blocked(SIGBUS) ? 20 : 0));
}

void mask_handler(int signal) { _exit(kSawTheFault + (is_blocked(signal) ? 0 : 30) + (is_blocked(SIGUSR1) ? 1 : 0)); }

void install(struct sigaction action) {
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGBUS, &action, nullptr);
}

std::string left(const TempDir& dir) {
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.close().ok());
  return dir.file();
}

// In a child: after `before`, a guarded filter is opened and answers maybe after a fault of its own. Then a page of
// other code faults. Returns what becomes of the child.
int fate_of_another_fault(
    const std::function<void()>& before, const std::function<void()>& after = [] {}) {
  const TempDir dir(memory_folder());
  const std::string path = left(dir);
  const Unreadable others;
  return in_child([&] {
    before();
    auto filter = Filter::open(path, OpenMode::kWrite, OpenOptions{.map = {.guard = true}});
    if (!filter || truncate(path.c_str(), 0) != 0) return 100;  // so that the word faults, too
    after();
    if (!filter->contains(key_of(1, 0)) || filter->health() != Code::kFault || calls != 0) return 101;
    return static_cast<int>(others.words()[0]) == 0 ? 102 : 103;
  });
}

}  // namespace

TEST_CASE("a fault that is not the guard's ends the process as it would without a guard") {
  CHECK(fate_of_another_fault([] { signal(SIGBUS, SIG_DFL); }) == 1000 + SIGBUS);
  CHECK(fate_of_another_fault([] { signal(SIGBUS, SIG_IGN); }) == 1000 + SIGBUS);
}

TEST_CASE("a fault that is not the guard's goes to the handler that was there before, as it would without a guard") {
  struct sigaction plain {};
  plain.sa_handler = plain_handler;
  CHECK(fate_of_another_fault([&] { install(plain); }) == kSawTheFault + 10);
  struct sigaction with_info {};
  with_info.sa_sigaction = info_handler;
  with_info.sa_flags = SA_SIGINFO;
  CHECK(fate_of_another_fault([&] { install(with_info); }) == kSawTheFault + 20);
}

TEST_CASE("a handler that wants its signal not blocked is called with the other signals that it named blocked alone") {
  struct sigaction not_deferred {};
  not_deferred.sa_handler = mask_handler;
  not_deferred.sa_flags = static_cast<int>(SA_NODEFER);
  CHECK(fate_of_another_fault([&] { install(not_deferred); }) == kSawTheFault + 30 + 1);
  not_deferred.sa_flags = 0;
  CHECK(fate_of_another_fault([&] { install(not_deferred); }) == kSawTheFault + 1);
}

TEST_CASE("a handler that wants to be called once is called once") {
  struct sigaction once {};
  once.sa_handler = [](int) { calls = calls + 1; };  // the fault happens again
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  CHECK(fate_of_another_fault([&] { install(once); }) == 1000 + SIGBUS);
  struct sigaction raises {};
  raises.sa_handler = [](int signal) { raise(signal); };
  raises.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  CHECK(fate_of_another_fault([&] { install(raises); }) == 1000 + SIGBUS);
}

TEST_CASE("a handler that was installed later and passes faults on leaves the guard its own faults") {
  static struct sigaction guards;
  static volatile sig_atomic_t passed_on = 0;
  const auto later = [] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;  // the signal is blocked meanwhile
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      passed_on = passed_on + 1;
      guards.sa_sigaction(signal, info, context);
    };
    sigaction(SIGBUS, &action, &guards);
    // The guard of a second handle does not put itself in front again: each would pass faults on to the other for ever.
    TempDir dir(memory_folder());
    static_cast<void>(Filter::create(dir.file(), [] {
      Options options = small_options();
      options.map.guard = true;
      return options;
    }()));
  };
  struct sigaction with_info {};
  with_info.sa_flags = SA_SIGINFO;
  with_info.sa_sigaction = [](int, siginfo_t*, void*) { _exit(passed_on == 3 ? 40 : 41); };
  CHECK(fate_of_another_fault([&] { install(with_info); }, later) == 40);
}

TEST_CASE("a guard that is gone guards nothing, and its place in the table is used again") {
  const Unreadable there;
  CHECK(in_child([&] {
          signal(SIGBUS, SIG_DFL);  // a sanitizer has one of its own
          auto* const words = const_cast<std::uint64_t*>(there.words());
          for (int round = 0; round < 1000; ++round) {
            const auto guard = region::Guard::watch(words, Unreadable::kBytes, {words});
            if (!guard) return 100;
          }
          return static_cast<int>(there.words()[0]) == 0 ? 101 : 102;
        }) == 1000 + SIGBUS);
}

TEST_CASE("a SIGBUS that a process sent is not the guard's") {
  const auto sent = [](const std::function<void()>& before) {
    return in_child([&] {
      before();
      TempDir dir(memory_folder());
      Options options = small_options();
      options.map.guard = true;
      const auto filter = Filter::create(dir.file(), options);
      raise(SIGBUS);
      return filter.ok() ? static_cast<int>(calls) : 100;
    });
  };
  CHECK(sent([] { signal(SIGBUS, SIG_DFL); }) == 1000 + SIGBUS);
  CHECK(sent([] { signal(SIGBUS, SIG_IGN); }) == 0);
  CHECK(sent([] { signal(SIGBUS, plain_handler); }) == 1);
}

TEST_CASE("without a guard a page that cannot be read is SIGBUS, and no handler is installed") {
  CHECK(in_child([] {
          signal(SIGBUS, SIG_DFL);  // a sanitizer has one of its own
          TempDir dir(memory_folder());
          const auto filter = Filter::create(dir.file(), small_options());
          struct sigaction there {};
          if (!filter || sigaction(SIGBUS, nullptr, &there) != 0) return 100;
          if (there.sa_handler != SIG_DFL) return 101;
          if (truncate(dir.file().c_str(), kHeader) != 0) return 102;
          return filter->contains("a key") ? 103 : 104;
        }) == 1000 + SIGBUS);
}
