// One measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Row {
  // table.py groups and compares by these. They are joined by slashes into the benchmark's name.
  std::string place;      // "1000000/10/file": the number of keys, the bits for each, and the memory
  std::string subject;    // "blocked", "classic", "limit", "boost-classic", ...
  std::string operation;  // "contains", "add", "again" (adds keys that were added already)
  std::string way;        // "single", "branchy", "many"; for the limit "plain", "ahead-64"
  std::string input;      // "digests", "keys"
  std::string present;    // "present", "absent", "mixed": the keys that are asked about

  std::uint64_t num_keys = 0;             // in one pass
  std::function<std::uint64_t()> pass;    // the work that is timed
  std::function<void()> prepare;          // before each pass, not timed; may be empty
  std::optional<std::uint64_t> expected;  // the result that every pass must return, if it is known
  std::map<std::string, double> facts;    // for the table
  std::shared_ptr<const void> keep;       // an object that the rows of a subject refer to and no other object owns

  [[nodiscard]] std::string name() const {
    return place + '/' + subject + '/' + operation + '/' + way + '/' + input + '/' + present;
  }
};

using Rows = std::vector<Row>;

}  // namespace bench
