// A sequence of calls of the C ABI, on several handles of several files and buffers, compared with multisets that
// know what was added and removed. After every call each key that is there is still "maybe", marks are where they were
// put, and errors are known ones. Some files are copied while in use: they are unclean, and are recovered. Some are
// sealed, and some of these are damaged. A reader that does not compare the checksums gets what their bytes say, and is
// not asked any more.
#include <sys/resource.h>

#include <csignal>

#include "sequence.hpp"

namespace {

constexpr rlim_t kMostFileBytes = 1 << 20;  // the system refuses an absurd size, like a full disk

void limit_files() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = kMostFileBytes;
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool limited = (limit_files(), true);
  static_cast<void>(limited);
  fuzz::Sequence({data, size}).run();
  return 0;
}
