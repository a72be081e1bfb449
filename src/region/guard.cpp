// Everything that the handler calls is async-signal-safe: system calls, and atomics on memory that is never freed.
#include "region/guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "base/shared_word.hpp"

namespace bfstore::region {
namespace {

using Action = struct sigaction;  // a function has that name, too

// The handler that was installed before ours. Never freed, because our handler may be reading it.
std::atomic<const Action*> before_us{nullptr};
std::atomic<bool> installed{false};

std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uintptr_t page_of(std::uintptr_t address) noexcept { return address & ~(page_bytes() - 1); }

// Fills a page with ones first and then moves it into place, so that other threads only see it full.
bool put_ones(std::uintptr_t page) noexcept {
  void* const fresh = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return false;
  std::memset(fresh, 0xff, page_bytes());
  return mremap(fresh, page_bytes(), page_bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(page)) !=
         MAP_FAILED;
}

// Reading the word may fault. Then it reads as 0, and nothing is written. SIGBUS must not be blocked meanwhile, because
// such a fault would end the process. A handler that was installed after ours, and calls ours, may have blocked it.
void tell_others(const DoubtWord& doubt) noexcept {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGBUS);
  sigset_t saved;
  pthread_sigmask(SIG_UNBLOCK, &ours, &saved);
  const base::SharedWord word(reinterpret_cast<std::byte*>(doubt.word));
  if ((word.load() & doubt.mask) == doubt.expected) word.fetch_or(doubt.tell_others);
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
}

// --- Faults that are not ours ----------------------------------------------------------------------------------------

// The fault happens again without a handler, and ends the process as it would have without us.
void end_as_by_default(int signal, const siginfo_t& info) noexcept {
  Action otherwise{};
  otherwise.sa_handler = SIG_DFL;
  sigaction(signal, &otherwise, nullptr);
  if (info.si_code <= 0) raise(signal);  // another process or thread sent it: nothing will raise it again
}

// Blocks the signals that the handler's installer asked for.
void call_handler(const Action& handler, int signal, siginfo_t* info, void* context) noexcept {
  sigset_t blocked = handler.sa_mask;
  if ((handler.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  sigset_t saved;
  pthread_sigmask(SIG_BLOCK, &blocked, &saved);
  if ((handler.sa_flags & SA_SIGINFO) != 0) {
    handler.sa_sigaction(signal, info, context);
  } else {
    handler.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
}

const Action* by_default() noexcept {
  static const Action otherwise{};  // SIG_DFL is 0
  return &otherwise;
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const Action* const other = before_us.load(std::memory_order_acquire);
  const bool takes_info = other != nullptr && (other->sa_flags & SA_SIGINFO) != 0;
  if (other == nullptr || (!takes_info && other->sa_handler == SIG_DFL)) return end_as_by_default(signal, *info);
  if ((other->sa_flags & static_cast<int>(SA_RESETHAND)) != 0)
    before_us.store(by_default());  // the installer wants one call
  if (!takes_info && other->sa_handler == SIG_IGN) {
    if (info->si_code > 0) end_as_by_default(signal, *info);  // as the kernel does: a fault cannot be ignored
    return;
  }
  call_handler(*other, signal, info, context);
}

}  // namespace

// --- The table -------------------------------------------------------------------------------------------------------

// A guarded range. `version` is odd while the slot changes. A thread with a fault in a range is using that range, so
// its slot does not change; the search skips every slot that does.
struct Guard::Slot {
  std::atomic<std::uint64_t> version{0};
  std::atomic<std::uintptr_t> begin{0};  // 0: the slot is free
  std::atomic<std::uintptr_t> end{0};
  DoubtWord doubt;  // read only after a fault in the range
  std::atomic<bool> faulted{false};
  std::atomic<bool> replaced{false};

  bool claim() noexcept {
    std::uint64_t seen = version.load();
    if ((seen & 1) != 0 || begin.load() != 0) return false;
    return version.compare_exchange_strong(seen, seen + 1);
  }

  [[nodiscard]] bool has(std::uintptr_t address) const noexcept {
    const std::uint64_t seen = version.load();
    const bool inside = address >= begin.load() && address < end.load();
    return inside && (seen & 1) == 0 && version.load() == seen;
  }
};

// Slots that are used again, in pieces that are never freed. No lock is used, because a forked child could inherit it
// locked.
struct Guard::Table {
  std::array<Slot, 64> slots;
  std::atomic<Table*> next{nullptr};

  static Table& first() noexcept {
    static Table table;
    return table;
  }

  // Returns a slot that is now claimed, or nullptr if there is no memory for more.
  static Slot* claim() noexcept {
    for (Table* table = &first();;) {
      for (Slot& slot : table->slots) {
        if (slot.claim()) return &slot;
      }
      Table* next = table->next.load();
      if (next == nullptr) {
        auto* const made = new (std::nothrow) Table;
        if (made == nullptr) return nullptr;
        if (table->next.compare_exchange_strong(next, made)) {
          next = made;
        } else {
          delete made;
        }
      }
      table = next;
    }
  }

  static Slot* with(std::uintptr_t address) noexcept {
    for (Table* table = &first(); table != nullptr; table = table->next.load()) {
      for (Slot& slot : table->slots) {
        if (slot.has(address)) return &slot;
      }
    }
    return nullptr;
  }
};

// --- A fault ---------------------------------------------------------------------------------------------------------

// No thread continues before the doubt is visible to it.
// Other processes learn of the doubt first, through the word in the file. If the word's page cannot be read either, a
// second fault occurs inside the handler. It replaces the whole range; the word is then 0, and other processes learn
// nothing.
// A thread that reads from the replaced range before it reads the word does no harm. Still, the page of this fault gets
// ones: "maybe", even for code that does not read the word.
bool Guard::replace(Slot& slot, std::uintptr_t address) noexcept {
  const DoubtWord& doubt = slot.doubt;
  const std::uintptr_t begin = slot.begin.load();
  const std::uintptr_t end = slot.end.load();
  const auto word = reinterpret_cast<std::uintptr_t>(doubt.word);
  const bool in_the_words_page = page_of(word) == page_of(address);
  slot.faulted.store(true);
  if (doubt.tell_others != 0 && !in_the_words_page && !slot.replaced.load()) tell_others(doubt);
  if (!slot.replaced.load()) {
    // The memory is writable, because a thread that adds now may write to it. Its pages cost no memory before that.
    void* const all = mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    slot.replaced.store(true);
  }
  return in_the_words_page || put_ones(page_of(address));
}

void Guard::on_fault(int signal, void* info, void* context) noexcept {
  auto* const what = static_cast<siginfo_t*>(info);
  const int saved = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(what->si_addr);
  Slot* const slot = what->si_code > 0 ? Table::with(address) : nullptr;  // otherwise a process sent it
  if (slot == nullptr || !replace(*slot, address)) pass_on(signal, what, context);
  errno = saved;
}

// --- Installing and watching -----------------------------------------------------------------------------------------

// Installs the handler only once: a handler that was installed after ours and passes faults to it would otherwise get
// them back. Two threads that install at once do the same thing.
Error Guard::install() {
  if (installed.load()) return {};
  page_bytes();
  Table::first();
  auto* const there = new Action();
  const Action* nobody = nullptr;
  if (sigaction(SIGBUS, nullptr, there) != 0 || !before_us.compare_exchange_strong(nobody, there)) delete there;
  Action ours{};
  ours.sa_sigaction = [](int signal, siginfo_t* info, void* context) { on_fault(signal, info, context); };
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;  // the handler may fault itself: see replace()
  if (sigaction(SIGBUS, &ours, nullptr) != 0) return base::fail_errno(errno, "", "installing a handler of SIGBUS");
  installed.store(true);
  return {};
}

Result<Guard> Guard::watch(void* begin, std::size_t bytes, const DoubtWord& doubt) {
  if (Error error = install(); !error.ok()) return error;
  Slot* const slot = Table::claim();
  if (slot == nullptr)
    return base::fail(Code::kNoMemory,
                      "no memory is left to guard a mapping. Free some, or open the file without a guard.");
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  slot->doubt = doubt;
  slot->faulted.store(false);
  slot->replaced.store(false);
  slot->end.store(base::round_up(first + bytes, page_bytes()));
  slot->begin.store(page_of(first));
  slot->version.fetch_add(1);
  return Guard(slot);
}

Guard::Guard(Guard&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}

Guard& Guard::operator=(Guard&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

// Runs before the range is unmapped, so that memory mapped there later is never mistaken for it.
Guard::~Guard() {
  if (slot_ == nullptr) return;
  slot_->version.fetch_add(1);
  slot_->begin.store(0);
  slot_->end.store(0);
  slot_->version.fetch_add(1);
}

bool Guard::faulted() const noexcept { return slot_ != nullptr && slot_->faulted.load(); }

}  // namespace bfstore::region
