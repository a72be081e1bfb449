// See facts.hpp.
#include "facts.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bfinspect {
namespace {

FileKind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileKind::kRegular;
    case S_IFDIR:
      return FileKind::kDirectory;
    case S_IFIFO:
      return FileKind::kFifo;
    case S_IFSOCK:
      return FileKind::kSocket;
    case S_IFCHR:
    case S_IFBLK:
      return FileKind::kDevice;
    default:
      return FileKind::kUnknown;
  }
}

// Returns nothing if the path is not a symbolic link.
std::string target_of(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<std::size_t>(length));
}

}  // namespace

bool Facts::all_openers_seen() const {
  if (!openers || !openers->complete()) return false;
  const auto may_write = [](const Opener& opener) { return opener.writing.value_or(true); };
  return report.state != bfstore::FileState::kInUse ||
         std::any_of(openers->seen.begin(), openers->seen.end(), may_write);
}

Facts gather(bfstore::Report report, bool counted, const bfstore::ForeignForm& wanted) {
  Facts facts;
  facts.report = std::move(report);
  facts.counted = counted;
  struct stat status {};
  facts.link_target = target_of(facts.report.path);
  if (stat(facts.report.path.c_str(), &status) == 0) {
    facts.kind = kind_of(status.st_mode);
    facts.modified_seconds =
        static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
    if (facts.kind == FileKind::kRegular) {
      facts.openers = find_openers(status.st_dev, status.st_ino);
      facts.foreign = look_at_foreign(facts.report, wanted, counted);
    }
  }
  facts.overfull = is_overfull(facts.report);
  facts.remaining_keys = remaining_keys(facts.report);
  facts.verdict = facts.foreign ? verdict_of(*facts.foreign, facts.report, facts.overfull) : verdict_of(facts.report);
  return facts;
}

}  // namespace bfinspect
