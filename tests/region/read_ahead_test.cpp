// What a mapping asks the kernel to read before it is needed.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "region/file.hpp"
#include "region/mapping.hpp"
#include "support/support.hpp"

using namespace rooms;
using region::File;
using region::Mapping;

namespace {

struct Range {
  std::uintptr_t first;
  std::size_t bytes;
};

std::vector<Range> asked;  // for what madvise was called with MADV_WILLNEED
int fails_with = 0;

}  // namespace

// Replaces libc's function.
extern "C" int madvise(void* from, std::size_t bytes, int advice) noexcept {
  if (advice != MADV_WILLNEED) return static_cast<int>(syscall(SYS_madvise, from, bytes, advice));
  asked.push_back({reinterpret_cast<std::uintptr_t>(from), bytes});
  errno = fails_with;
  return fails_with == 0 ? 0 : -1;
}

// Linux reads no more than a disk's readahead of a call, which is 128 KiB unless somebody set it, and drops the rest.
TEST_CASE("a long range is asked for whole, in pieces that no disk's readahead cuts, and errno stays") {
  constexpr std::uint64_t kMostOfACall = 128 << 10;
  constexpr std::uint64_t kBytes = 1 << 20;
  const TemporaryDirectory directory;
  File file = must(File::create_unnamed(directory.file("long"), 0600));
  must(file.allocate(0, kBytes));
  const Mapping mapping = must(Mapping::map(file, File::Access::kRead, 0, kBytes));
  const auto start = reinterpret_cast<std::uintptr_t>(mapping.data());
  for (const int code : {0, EAGAIN}) {
    fails_with = code;
    asked.clear();
    errno = ERANGE;
    mapping.read_ahead(5000, 700'001);
    CHECK(errno == ERANGE);
    std::uintptr_t next = start + 4096;
    for (const Range& range : asked) {
      CHECK(range.first == next);
      CHECK(range.bytes <= kMostOfACall);
      next += range.bytes;
    }
    CHECK(next == start + 705'001);
  }
}
