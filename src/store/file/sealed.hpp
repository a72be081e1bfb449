// A sealed file's checksums: made, and checked. Everything is read through the descriptor, so that a place that cannot
// be read is damage, and not a signal.
#pragma once

#include <bfstore/seal.hpp>

#include <memory>
#include <span>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Makes `made` a sealed file, with the body, the marks and the count of keys of `source`, which no process writes to
// meanwhile. kDamaged if the source is sealed itself, and damaged.
Error seal_as(OpenFile& made, const OpenFile& source, const format::Slot& marks);

// Checks at the opening of a sealed file, as the options ask: that it is undamaged, or that damaged parts answer
// "maybe".
Error check_seal(const OpenFile& opened, const Opening& options);

// What the checksums are about: a file, or its copy in private memory.
struct SealedBytes {
  const region::File& file;
  const format::Identity& identity;
  const std::byte* copy = nullptr;
};
SealedBytes sealed_bytes(const OpenFile& opened) noexcept;

Verification verify_sealed(const SealedBytes& sealed);

// The body for a copy of the filter, piece by piece and in order. A place that is not as it was sealed is kDamaged, or
// all ones if the handle tolerates damage.
class SealedPieces {
 public:
  explicit SealedPieces(const OpenFile& opened);
  ~SealedPieces();
  SealedPieces(SealedPieces&&) noexcept;

  // Valid until the next one is read. Empty after the last one.
  Result<std::span<const std::byte>> next();

 private:
  struct Walk;
  std::unique_ptr<Walk> walk_;
};

Error not_sealed(const std::string& path);

}  // namespace bfstore::store
