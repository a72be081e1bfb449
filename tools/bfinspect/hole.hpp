// What bf says of a file with a hole, as bfinspect does.
#pragma once

#include <bfstore/inspect.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stretches.hpp"

namespace bfinspect {

// Looks for missing bits of a filter file while its body is read for another purpose.
class HoleWatch {
 public:
  // Reads the header. Looks for nothing if that is not a good filter's.
  explicit HoleWatch(std::string path);

  // Gets the words of the body, in order.
  void take(std::span<const std::uint64_t> words);

  // After the last word: what it means that bits of the file may be missing, and what to do. Empty if none are, or if
  // that cannot be told. Where they seem to be missing the body is read again, for a process may have added keys
  // meanwhile, unless `reads_again` is false.
  [[nodiscard]] std::string words(bool reads_again) const;

 private:
  std::string path_;
  std::optional<bfstore::Report> report_;
  std::optional<StretchCounter> counter_;
};

}  // namespace bfinspect
