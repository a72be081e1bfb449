// What making a delta and applying one have in common: files at rest, and their bodies in pieces.
#pragma once

#include <bfstore/delta.hpp>

#include <memory>
#include <string>
#include <vector>

#include "format/delta.hpp"
#include "store/derive/at_rest.hpp"
#include "store/derive/content.hpp"
#include "store/home/file.hpp"

namespace bfstore::store {

// A filter file that no process writes to, opened without its secret.
struct RestingFile {
  std::unique_ptr<Ask> ask;
  Content content;
  AtRest at_rest;
};
Result<RestingFile> open_resting(const std::string& path, const DeltaOptions& options);

// kUnsupported if bits of the filter can go away.
Error check_bits_stay(const std::string& path, const layout::Row& row);

// Names what keeps the keys of the earlier filter from being found in the later one. Empty if nothing does.
std::string differences_in_words(const format::Identity& before, const format::Identity& after);

// Reads a body in the pieces of a delta.
class DeltaPieces {
 public:
  explicit DeltaPieces(const Ask& ask)
      : body_(ask), piece_(std::min<std::uint64_t>(ask.body_bytes, format::kDeltaPieceBytes)) {}

  // Returns the next piece, valid until the one after it is read. Empty after the last one.
  Result<std::span<std::byte>> next();

  // Of the pieces that were read.
  [[nodiscard]] std::uint64_t checksum() const noexcept { return checksum_; }

 private:
  Body body_;
  std::vector<std::byte> piece_;
  std::uint64_t checksum_ = 0;
};

}  // namespace bfstore::store
