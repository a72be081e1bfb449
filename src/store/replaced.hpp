// The file whose place another takes (FORMAT.md, "Replacing a file").
#pragma once

#include <bfstore/error.hpp>

#include <memory>
#include <optional>
#include <string>

#include "region/file.hpp"
#include "region/mapping.hpp"

namespace bfstore::store {

// While this lives, the file is superseded, and nobody can open it for writing. If it has its name still in the
// destructor, nobody took its place, and it goes on as before.
class Replaced {
 public:
  // The file that has the name which `successor` is to get; nullptr if no file has. What is no filter is not written
  // to.
  static Result<std::unique_ptr<Replaced>> begin(const region::File& successor);

  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced();

 private:
  explicit Replaced(region::File file) : file_(std::move(file)) {}
  Result<bool> supersede();

  region::File file_;                         // the state lock is held
  std::optional<region::Mapping> live_page_;  // of a filter
};

}  // namespace bfstore::store
