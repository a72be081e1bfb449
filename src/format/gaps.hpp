// The bits that a later body has and an earlier one lacks, coded as the gaps between them (FORMAT.md, "Deltas").
// Numbers only; no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/field.hpp"

namespace bfstore::format {

// A body is coded piece by piece. The last piece may be shorter. A piece's length is a multiple of 8 bytes.
inline constexpr std::size_t kDeltaPieceBytes = 262144;
// A gap is smaller than the number of bits of a piece.
inline constexpr std::uint32_t kMostRiceBits = 21;

// The new bits of a piece. A gap is the number of bits between a new bit and the one before it, or the piece's
// beginning, that the earlier body lacks. So bits that both bodies have cost nothing.
struct CodedBits {
  std::uint32_t num_bits = 0;
  std::uint32_t rice_bits = 0;  // each gap: gap >> rice_bits ones, a zero, and the low rice_bits bits
  Bytes code;
};

class GapCoder {
 public:
  // Codes the bits of a piece that `after` has and `before` lacks. The result is valid until the next call. Returns
  // nothing if `after` lacks a bit of `before`. The code is never longer than the piece.
  std::optional<CodedBits> code(Bytes before, Bytes after);

 private:
  std::vector<std::uint32_t> gaps_;
  std::vector<std::byte> code_;
};

// Sets the coded bits in a piece of the earlier body. Returns false if no coder made this code for this piece, whose
// bits are then wrong.
bool set_coded(std::span<std::byte> piece, const CodedBits& coded) noexcept;

}  // namespace bfstore::format
