#include "format/checksums.hpp"

#include "base/bytes.hpp"
#include "hash/hash.hpp"

namespace bfstore::format {
namespace {

std::uint64_t salt_of(const Identity& identity) noexcept { return id_hash(identity.file_id); }

}  // namespace

std::uint64_t chunk_checksum(Bytes chunk, std::uint64_t number, const Identity& identity) noexcept {
  return hash::xxh3(chunk.data(), chunk.size(), salt_of(identity) + number);
}

std::uint64_t checksum_of_checksums(Bytes checksums, const Identity& identity) noexcept {
  return hash::xxh3(checksums.data(), checksums.size(), salt_of(identity));
}

}  // namespace bfstore::format
