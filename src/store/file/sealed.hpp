// Makes and checks a sealed file's checksums. Everything is read through the descriptor, so that a place that cannot be
// read is damage, and not a signal.
#pragma once

#include <bfstore/seal.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Makes a file without a name a sealed one: make_room(), then put() for all of its body, then finish().
class Sealing {
 public:
  // `keys_added`: the number of keys that its live page will report.
  Sealing(OpenFile& made, std::uint64_t keys_added);

  Error make_room();
  // Takes the pieces in order. Each piece is a whole number of chunks, except for the last one.
  Error put(std::uint64_t offset_in_body, std::span<const std::byte> piece);
  Error finish();

 private:
  OpenFile& made_;
  format::Identity sealed_;
  std::vector<std::byte> checksums_;
};

// Checks a sealed file when it is opened, as the options ask: refuses a damaged file, or makes its damaged parts answer
// "maybe".
Error check_seal(const OpenFile& opened, const Opening& options);

// The bytes that the checksums are for: a file, or its copy in private memory.
struct SealedBytes {
  const region::File& file;
  const format::Identity& identity;
  const std::byte* copy = nullptr;
};
SealedBytes sealed_bytes(const OpenFile& opened) noexcept;

Verification verify_sealed(const SealedBytes& sealed);

// Reads the body for a copy of the filter, chunk by chunk and in order, and then the header and the checksums. A place
// that is not as it was sealed is kDamaged. If the handle tolerates damage, such a chunk is all ones instead.
class SealedPieces {
 public:
  explicit SealedPieces(const OpenFile& opened);
  ~SealedPieces();
  SealedPieces(SealedPieces&&) noexcept;

  // Returns the next chunk, valid until the one after it is read. Empty after the last one.
  Result<std::span<const std::byte>> next();

 private:
  struct Walk;
  std::unique_ptr<Walk> walk_;
};

Error not_sealed(const std::string& path);

}  // namespace bfstore::store
