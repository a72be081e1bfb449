// One measurement of bfsystem. Each call is one repetition, on its own file or on one that is put back into its earlier
// state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::system {

struct Measured {
  double seconds = 0;
  std::map<std::string, double> facts;  // for the table
};

struct Row {
  std::string name;  // "processes/add/2": the name for system_table.py
  std::function<Measured()> measure;
};

using Rows = std::vector<Row>;

// This machine cannot make the measurement (no room on the disk, for example); a line of the table gives the reason.
// For a wrong answer use fail() of fail.hpp, which ends the program with exit code 1.
class Unmeasurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The sizes of all measurements.
struct Scale {
  std::uint64_t shared_keys = 10'000'000;  // of the file that several processes add to
  std::uint64_t large_bytes = std::uint64_t{16} << 30;
  std::uint64_t capacity = 100'000'000;   // of the files that are read cold and synced: 125 MB
  std::uint64_t filled_keys = 4'000'000;  // keys in them: several on every page
  std::uint64_t opens = 1000;
  std::uint64_t cold_lookups = 200;
  std::uint64_t syncs = 5;
  std::uint64_t lines = 10'000'000;             // lines of text
  std::uint64_t set_keys = 100'000'000;         // keys of each file that is merged, copied or folded
  std::uint64_t limited_bytes = 4'000'000'000;  // of a filter that is larger than the memory of its process; 0: none
  std::uint64_t limit_bytes = 1'000'000'000;
  std::uint64_t limited_keys = 10'000'000;
  std::uint64_t sparse_keys = 10'000;  // of a batch that needs few of that file's pages
};

inline constexpr double kBitsPerKey = 10;

struct Places {
  std::string folder;  // for files; a measurement removes those that it makes
  std::string bf;      // the program that builds filters from text
};

Rows process_rows(const Scale& scale, const Places& places);
Rows thread_rows(const Scale& scale, const Places& places);
Rows opening_rows(const Scale& scale, const Places& places);
Rows cold_rows(const Scale& scale, const Places& places);
Rows sync_rows(const Scale& scale, const Places& places);
Rows text_rows(const Scale& scale, const Places& places);
Rows set_rows(const Scale& scale, const Places& places);
Rows window_rows(const Scale& scale, const Places& places);
Rows limited_rows(const Scale& scale, const Places& places);

}  // namespace bench::system
