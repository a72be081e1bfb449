// The command line: what was asked for, checked as far as it can be without touching a file.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace bf {

enum class Command { kCreate, kBuild, kAdd, kContains, kRecover };

// What `contains` prints.
enum class Answers { kAll, kMaybe, kAbsent, kCount };

struct Arguments {
  Command command = Command::kCreate;
  std::string file;
  bfstore::Options options;       // create, build
  std::string from = "-";         // a path, or "-" for standard input
  std::vector<std::string> keys;  // add, contains, recover: instead of `from`, if there are any
  char separator = '\n';
  Answers answers = Answers::kAll;
  std::vector<std::uint64_t> owners;  // recover: whose keys these are
  bool all_owners = false;            // recover
  bool accept_loss = false;           // recover: without keys
  bool any_filesystem = false;
  bool copy = false;  // contains: read the filter into memory first
  bool quiet = false;

  // build: the size is known without counting the keys.
  [[nodiscard]] bool is_sized() const {
    return options.capacity != 0 || options.num_bits != 0 || !options.like.empty();
  }
};

// The arguments; or the text that --help or --version print. Throws Failure.
std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv);

}  // namespace bf
