// The command line, with all checks that need no file.
#pragma once

#include "key_form.hpp"
#include "list_format.hpp"

#include <bfstore/interop.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bf {

struct Command;

// The output of `contains`.
enum class Answers { kAll, kMaybe, kAbsent, kCount, kNone };

struct Arguments {
  const Command* command = nullptr;
  std::string file;
  bfstore::Options options;       // create, build, add, seal, merge, copy, fold, intersect, clear, import, contains
  bool create = false;            // add: make the file if there is none
  std::string from = "-";         // a path, or "-" for standard input
  std::vector<std::string> keys;  // add, remove, count, contains, recover: used instead of `from`, if any
  ListFormat list;
  std::optional<KeyForm> key_form;  // if it was given
  Answers answers = Answers::kAll;
  std::vector<std::uint64_t> owners;        // recover: the owners of these keys; add: at most one, of the mark
  bool all_owners = false;                  // recover
  std::optional<std::uint64_t> epoch;       // recover, add: the epoch of the log that the keys are from
  std::optional<std::uint64_t> mark;        // add: the position in that log up to which all keys are added
  std::optional<std::uint64_t> mark_after;  // add: the position in that log before the first of these keys
  bool skip_absent = false;                 // remove: keys of a list may be absent
  bool no_keys = false;                     // recover: no key was added after the marks
  bool accept_loss = false;                 // recover: recover without keys; with --force: keys may go
  std::string target;                       // seal, copy, fold: the new file; compare: B; plan: the picture, or empty
  std::uint64_t key_bytes = 24;             // plan: average length of a hash set's keys
  std::vector<std::string> sources;         // merge, intersect, join: the filters to read; contains: those of --any
  bool into = false;                        // merge: `file` exists
  bool json = false;                        // compare, plan
  bool curve = false;                       // plan: JSON has the curves
  bool formulas = false;                    // plan: the table has Bloom's formulas
  bool verify = false;                      // contains
  bool tolerate_damage = false;             // contains
  bool any_filesystem = false;
  bool small_pages = false;
  std::optional<std::uint32_t> lock_timeout_ms;  // commands that open for writing, or replace
  bool set = false;                              // contains: `file` lists the parts of the filter
  bool copy = false;                             // contains: read the filter into memory first
  std::string secret_file;                       // path of the file with the filter's secret, or empty
  std::optional<bfstore::Secret> secret;         // the secret in that file, until main() ends
  bool at_least_once = false;                    // dedup: print before the add
  bool refresh = false;                          // dedup: what comes again is added again
  bool now = false;                              // turn: although the epoch is not over
  bool quiet = false;
  std::string topic;  // help: a command, or empty

  std::uint64_t bits_asked = 0;  // --bits as given, which options.num_bits may be rounded up from

  bool digests = false;      // build: the keys are digests, 8 bytes each
  std::uint32_t spools = 0;  // build, digest: the number of parts whose digests are kept apart
  std::string spool_prefix;  // digest: the prefix of the names of their files

  // import, export, contains
  std::string raw;            // the other program's filter, or "-"
  bfstore::ForeignForm form;  // the form of its bytes; contains: without a format, `file` is a bfstore file
  std::string check;          // import: keys that must be present, a path or "-", or empty

  // create, build, add: true if the size is known without counting the keys.
  [[nodiscard]] bool is_sized() const {
    return options.capacity != 0 || options.capacity_at_most != 0 || options.num_bits != 0 || !options.like.empty();
  }
};

// Returns the arguments, or the text that --help or --version print. Throws Failure.
std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv);

}  // namespace bf
