// bf seal and bf verify: filters that detect damage.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

#include <bfstore/seal.hpp>

namespace bf {

int seal(const Arguments& arguments) {
  interrupt::defer();
  bfstore::SealOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  const bfstore::Error error = bfstore::seal(arguments.file, arguments.target, options);
  if (error.code == bfstore::Code::kExists)
    throw Failure(arguments.target + ": exists already. Replace it (--force), or choose another name.");
  check(error, arguments.file);
  if (!arguments.quiet) report(arguments.target + ": sealed");
  return 0;
}

int verify(const Arguments& arguments) {
  const bfstore::Verification found = unwrap(bfstore::verify(arguments.file), arguments.file);
  const std::string chunks = grouped(found.num_chunks) + " chunks of 64 KiB";
  if (found.damaged.empty()) {
    if (!arguments.quiet) report(arguments.file + ": is as it was sealed, " + chunks);
    return 0;
  }
  for (const bfstore::DamagedRange& range : found.damaged) {
    report(arguments.file + ": damaged: bytes " + std::to_string(range.offset) + " to " +
           std::to_string(range.offset + range.bytes - 1));
  }
  complain(arguments.file + ": " + grouped(found.num_damaged_chunks) + " of " + chunks +
           " are damaged. Use a copy, or rebuild it (bf build --force).");
  return 1;
}

}  // namespace bf
