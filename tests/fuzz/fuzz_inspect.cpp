// Takes any bytes as a filter file (image.hpp). The inspector and an opening must agree about it. Opening a file with a
// secret takes it; inspecting or verifying it does not.
#include <bfstore/inspect.hpp>

#include <algorithm>

#include "image.hpp"

namespace {

// Bits of the input's second byte. Looking twice is rare: each time /proc/self/smaps is read, which is long in a
// sanitizer's process.
constexpr unsigned kCompare = 3;
constexpr unsigned kWrite = 12;

using bfstore::FileState;
using bfstore::Report;
using fuzz::check;

Report inspected(const char* path) {
  const auto report = bfstore::inspect(path);
  check(report.ok(), "a report, however bad the file is");
  return *report;
}

// Returns the code that a reader gets for a file that breaks no rule.
std::int32_t expected_code(FileState state) {
  switch (state) {
    case FileState::kClean:
    case FileState::kInUse:
    case FileState::kAdoptable:
      return BFS_OK;
    case FileState::kUnclean:
      return BFS_EUNCLEAN;
    case FileState::kRecovering:
      return BFS_ERECOVERING;
    case FileState::kPoisoned:
      return BFS_EPOISONED;
    default:
      return BFS_EINTERNAL;
  }
}

bool names(const Report& report, std::int64_t code, std::uint32_t rule) {
  return std::any_of(report.problems.begin(), report.problems.end(), [code, rule](const bfstore::Problem& problem) {
    const auto [number, of_rule] = fuzz::in_c(problem.code);
    return number == code && of_rule == rule;
  });
}

void compare(const Report& report, const bfs_statistics& facts) {
  check(report.identity && report.fill, "what opens is told in full");
  check(report.identity->num_bits == facts.num_bits && report.identity->num_probes == facts.num_probes &&
            report.identity->layout == facts.layout && report.identity->hash == facts.hash &&
            report.identity->capacity == facts.capacity && report.identity->seed == facts.seed &&
            report.identity->body_bytes == facts.body_bytes,
        "the same shape");
  check(report.keys_added == facts.keys_added, "the same number of keys");
  check(report.fill->set_bits == facts.set_bits, "the same bits");
}

// The process that superseded the file is gone. A reader that may write clears that flag, and gets the file's state.
void check_superseded(const char* path, std::int32_t code) {
  if (code == BFS_ESUPERSEDED) return;  // the reader may not write to it
  const Report then = inspected(path);
  check(then.valid() && code == expected_code(then.state), "a file goes on when its replacer is gone", code);
}

// Returns whether the identity keeps every rule. Rules that need a look at the state are checked later.
bool sound(const Report& report) {
  return report.identity &&
         std::all_of(report.problems.begin(), report.problems.end(), [](const bfstore::Problem& problem) {
           return problem.code == bfstore::Code::kSlots || problem.code == bfstore::Code::kLiveWord ||
                  problem.code == bfstore::Code::kLater;
         });
}

// An opening checks the key after the identity, and before the state.
bool sound_with_secret(const Report& report) { return sound(report) && report.identity->secret_check; }

void check_verifying(const char* path, const Report& report) {
  bfs_error error = fuzz::no_error();
  const std::int64_t found = bfs_verify(path, 0, nullptr, 0, &error);
  fuzz::check_code(found, "verifying");
  if (sound(report) && !report.identity->seal)
    return check(found == BFS_ENOTSEALED, "a file that is not sealed is not verified, whatever its state", found);
  if (!report.valid()) return check(names(report, found, error.rule), "a broken rule is reported", found);
  const bool as_sealed = report.state == FileState::kClean && !report.filling;
  if (as_sealed || report.state == FileState::kSuperseded)
    return check(found >= 0, "what is sealed is verified", found);
  check(found > 0, "a state that no sealed file has is damage", found);
}

void check_reading(const char* path, const Report& report, bool facts) {
  const auto [code, filter, needs_secret, rule] = fuzz::open_file(path, BFS_READ);
  check(needs_secret == (sound_with_secret(report)), "a secret is asked for where the report tells of one", code);
  if (needs_secret && code == BFS_ESECRET) return;  // it has another
  if (!report.valid()) {
    check(names(report, code, rule), "a broken rule that a reader is refused for is reported", code);
  } else if (report.state == FileState::kSuperseded) {
    check_superseded(path, code);
  } else {
    check(code == expected_code(report.state), "a reader is told what the inspector says", code);
  }
  if (filter != nullptr && facts) compare(report, fuzz::facts(filter));
  bfs_close(filter, nullptr);
}

// Checks the file while a writer has it open, and when the writer has closed it.
void check_writing(const char* path, const Report& report) {
  const auto opened = fuzz::open_file(path, BFS_WRITE);
  const std::int32_t code = opened.code;
  bfs_filter* const filter = opened.filter;
  if (report.valid() && report.identity->seal && code != BFS_ESECRET) {
    check(code == fuzz::writing_code(report.identity->ro_compat), "a sealed file is never written to", code);
  }
  if (filter == nullptr) return;
  const Report open = inspected(path);
  check(open.valid() && open.state == FileState::kInUse, "a file that a writer has open is in use",
        static_cast<std::int64_t>(open.state));
  fuzz::KeySet present;
  fuzz::add_some(filter, 0, 4, present);
  compare(inspected(path), fuzz::facts(filter));
  if (bfs_close(filter, nullptr) != BFS_OK) return;
  const Report closed = inspected(path);
  check(closed.valid() && closed.state == FileState::kClean, "a file that was closed is clean",
        static_cast<std::int64_t>(closed.state));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::ImageFile file;
  const unsigned calls = file.put({data, size}).calls;
  const Report report = inspected(file.path());
  check_verifying(file.path(), report);
  check_reading(file.path(), report, (calls & kCompare) == kCompare);
  if ((calls & kWrite) == kWrite) check_writing(file.path(), report);
  return 0;
}
