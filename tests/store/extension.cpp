#include "extension.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace store_test::faults {

std::function<int(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_extend;
std::function<void()> after_extend;

}  // namespace store_test::faults

namespace faults = store_test::faults;

extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (faults::on_extend) {
    const int failed =
        faults::on_extend(descriptor, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes));
    if (failed != 0) {
      errno = failed;
      return -1;
    }
  }
  const auto outcome = static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
  if (outcome == 0 && faults::after_extend) faults::after_extend();
  return outcome;
}
