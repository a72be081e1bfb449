// See facts.hpp.
#include "facts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "link.hpp"
#include "tar.hpp"
#include "text.hpp"
#include "words.hpp"

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

// "bytes 16,384 to 18,879, and 3 more ranges"
std::string words_for(const std::vector<bfstore::DamagedRange>& ranges) {
  const bfstore::DamagedRange& first = ranges.front();
  const std::string words = "bytes " + grouped(first.offset) + " to " + grouped(first.offset + first.bytes - 1);
  const std::size_t more = ranges.size() - 1;
  return more == 0 ? words : words + ", and " + grouped(more) + (more == 1 ? " more range" : " more ranges");
}

bool has_sign_of_tar(const std::string& path) {
  std::array<char, tools::kTarBytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return tools::is_tar({head.data(), static_cast<std::size_t>(file.gcount())});
}

bool is_sealed(const Facts& facts) {
  return !facts.foreign && facts.report.valid() && facts.report.identity && facts.report.identity->seal;
}

void compare_checksums(Facts& facts) {
  const auto found = bfstore::verify(facts.report.path);
  if (!found) {
    facts.report.problems.push_back({found.error().code, found.error().message});
    return;
  }
  facts.verification = *found;
  if (found->damaged.empty()) return;
  facts.report.problems.push_back(
      {bfstore::Code::kDamaged, "changed since it was sealed: " + words_for(found->damaged)});
}

// Reads only a file that begins as a delta does.
std::optional<bfstore::DeltaFacts> look_at_delta(const bfstore::Report& report) {
  if (!is_like_a_delta(report.first_bytes)) return std::nullopt;
  const auto found = bfstore::inspect_delta(report.path);
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace

bool Facts::unverified() const { return is_sealed(*this) && !verification; }

std::optional<bool> Facts::missing_bits() const { return foreign ? std::nullopt : may_lack_bits(report, stretches); }

bool Facts::lacks_bits() const { return missing_bits().value_or(false); }

bool Facts::all_openers_seen() const {
  if (!openers || !openers->complete()) return false;
  const auto may_write = [](const Opener& opener) { return opener.writing.value_or(true); };
  return report.state != bfstore::FileState::kInUse ||
         std::any_of(openers->seen.begin(), openers->seen.end(), may_write);
}

// A file whose bits are counted is read for its fill (by the library's inspect()), for its stretches, and, if it is
// sealed, for its checksums. The library has no function that does these in one reading. The checksums would also have
// to be read from the disk, and not from the page cache, where a bit that rotted on the disk does not show.
Facts gather(bfstore::Report report, bool counted, const bfstore::ForeignForm& wanted) {
  Facts facts;
  facts.report = std::move(report);
  facts.counted = counted;
  struct stat status {};
  facts.link_target = tools::target_of_link(facts.report.path);
  if (stat(facts.report.path.c_str(), &status) == 0) {
    facts.kind = kind_of(status.st_mode);
    facts.modified_seconds =
        static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
    if (facts.kind == FileKind::kRegular) {
      facts.is_tar = !facts.report.identity && has_sign_of_tar(facts.report.path);
      facts.openers = find_openers(status.st_dev, status.st_ino);
      facts.foreign = look_at_foreign(facts.report, wanted, counted);
      facts.delta = look_at_delta(facts.report);
    }
  }
  if (counted && is_sealed(facts)) compare_checksums(facts);
  if (counted && !facts.foreign) facts.stretches = look_along(facts.report);
  facts.overfull = is_overfull(facts.report);
  facts.leaky = is_leaky(facts.report);
  facts.remaining_keys = remaining_keys(facts.report);
  facts.verdict = facts.foreign ? verdict_of(*facts.foreign, facts.report, facts.overfull)
                                : verdict_of(facts.report, facts.stretches);
  return facts;
}

}  // namespace bfinspect
