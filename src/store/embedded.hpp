// Embedded filters: found in bytes and checked, and in a range of a file of any format, mapped for reading.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "format/sections.hpp"
#include "region/mapping.hpp"

namespace bfstore::store {

// An embedded filter with a checked identity, and with its end word in place.
struct Embedded {
  format::Identity identity;
  std::uint64_t checksum = 0;  // of its identity
};

// The filter at the beginning of `bytes`.
Result<Embedded> find_embedded(std::span<const std::byte> bytes, bool writing, const std::optional<SecretKey>& key);

class Range {
 public:
  static Result<std::unique_ptr<Range>> open(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                             const OpenOptions& options);

  [[nodiscard]] const Embedded& embedded() const noexcept { return embedded_; }
  [[nodiscard]] const region::Mapping& mapping() const noexcept { return mapping_; }
  // Where the filter begins.
  [[nodiscard]] std::byte* start() const noexcept { return mapping_.data() + offset_ % format::kPageBytes; }
  // Whether the path still names the file, and the file has the filter's two words in their places.
  [[nodiscard]] Result<bool> is_current() const;
  // For a copy of the filter: kFault where the words that a lookup compares cannot be read.
  [[nodiscard]] Error check_readable() const;
  // Of the body. What cannot be read is an error, and no signal.
  [[nodiscard]] Error read_body(std::span<std::byte> into, std::uint64_t offset) const;
  // As Session::shut: from now on there is another word in the place of the checksum, for this handle alone.
  Error shut();
  [[nodiscard]] bool is_shut() const noexcept { return shut_.load(); }

 private:
  Range(std::string path, region::FileFacts facts, std::uint64_t offset, Embedded embedded, region::Mapping mapping);

  [[nodiscard]] Result<bool> has_its_words(const region::File& file) const;

  std::string path_;
  std::optional<region::File> by_descriptor_;  // where the path leads nowhere
  region::FileFacts facts_;                    // when it was opened
  std::uint64_t offset_;                       // of the filter, in the file
  Embedded embedded_;
  region::Mapping mapping_;  // from the beginning of the filter's first page
  std::atomic<bool> shut_{false};
};

}  // namespace bfstore::store
