#include "looks.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>

#include "format/state.hpp"

namespace store_test {

namespace {

struct Mapping {
  std::size_t end = 0;
  int protection = PROT_READ;
};

// By their first address.
std::map<std::size_t, Mapping> all_mappings_of(const std::string& path) {
  std::map<std::size_t, Mapping> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(" " + path)) continue;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t offset = 0;
    char dash = 0;
    std::string kind;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> kind >> offset;
    if (offset != 0 || kind.empty() || kind[0] != 'r') continue;
    found[begin] = {end, kind[1] == 'w' ? PROT_READ | PROT_WRITE : PROT_READ};
  }
  return found;
}

#if defined(__x86_64__)

constexpr long long kSingleStep = 1 << 8;  // the flag TF

struct Watch {
  std::byte* begin;
  std::size_t bytes;
  int protection;
  const std::function<void(unsigned)>* before_look;
  unsigned looks = 0;
  struct sigaction old_fault {};
  struct sigaction old_step {};
};
Watch* watch = nullptr;

void faulted(int, siginfo_t* info, void* context) {
  const auto* const at = static_cast<const std::byte*>(info->si_addr);
  if (at < watch->begin || at >= watch->begin + watch->bytes) {  // as without a handler
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  mprotect(watch->begin, watch->bytes, watch->protection);
  (*watch->before_look)(++watch->looks);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kSingleStep;
}

void stepped(int, siginfo_t*, void* context) {
  mprotect(watch->begin, watch->bytes, PROT_NONE);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kSingleStep;
}

unsigned watch_mapping(std::size_t begin, const Mapping& mapping, const std::function<void(unsigned)>& before_look,
                       const std::function<void()>& call) {
  const std::size_t first = begin + bfstore::format::kLivePageOffset;
  Watch own{reinterpret_cast<std::byte*>(first), mapping.end - first, mapping.protection, &before_look};
  watch = &own;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = faulted;
  sigaction(SIGSEGV, &action, &own.old_fault);
  action.sa_sigaction = stepped;
  sigaction(SIGTRAP, &action, &own.old_step);
  mprotect(own.begin, own.bytes, PROT_NONE);
  call();
  mprotect(own.begin, own.bytes, own.protection);
  sigaction(SIGSEGV, &own.old_fault, nullptr);
  sigaction(SIGTRAP, &own.old_step, nullptr);
  watch = nullptr;
  return own.looks;
}

#else

unsigned watch_mapping(std::size_t, const Mapping&, const std::function<void(unsigned)>&,
                       const std::function<void()>& call) {
  call();
  return 0;
}

#endif

}  // namespace

std::set<std::size_t> mappings_of(const std::string& path) {
  std::set<std::size_t> begins;
  for (const auto& entry : all_mappings_of(path)) begins.insert(entry.first);
  return begins;
}

unsigned watch_looks(const std::string& path, const std::set<std::size_t>& others,
                     const std::function<void(unsigned)>& before_look, const std::function<void()>& call) {
  for (const auto& [begin, mapping] : all_mappings_of(path)) {
    if (others.count(begin) == 0) return watch_mapping(begin, mapping, before_look, call);
  }
  call();
  return 0;
}

}  // namespace store_test
