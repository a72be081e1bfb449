// Checksums of a sealed body (FORMAT.md, "Sealed files"). Numbers only; no I/O.
#pragma once

#include <cstdint>

#include "format/identity.hpp"

namespace bfstore::format {

inline constexpr std::uint64_t kChunkBytes = 65536;

// The number of chunks. The last one may be shorter.
constexpr std::uint64_t num_chunks_of(std::uint64_t body_bytes) noexcept {
  return body_bytes / kChunkBytes + (body_bytes % kChunkBytes != 0 ? 1 : 0);
}

constexpr std::uint64_t checksums_bytes_of(std::uint64_t num_chunks) noexcept { return num_chunks * 8; }

// The checksum of a chunk. Equal bytes have another checksum in another file, or at another place in the file.
std::uint64_t chunk_checksum(Bytes chunk, std::uint64_t number, const Identity& identity) noexcept;

// The checksum of all checksums.
std::uint64_t checksum_of_checksums(Bytes checksums, const Identity& identity) noexcept;

}  // namespace bfstore::format
