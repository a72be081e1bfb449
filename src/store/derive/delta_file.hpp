// A delta's file, read piece by piece.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/delta.hpp"
#include "region/file.hpp"

namespace bfstore::store {

// A delta, of which every byte was compared with a checksum when it was opened.
class DeltaFile {
 public:
  static Result<DeltaFile> open(const std::string& path);

  [[nodiscard]] const format::DeltaHeader& header() const noexcept { return header_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  // The number of the next piece that has new bits. None after the last one.
  [[nodiscard]] std::optional<std::uint32_t> next_piece() const noexcept { return next_; }
  // Sets the new bits of that piece in the earlier body's one, and reads on.
  Error set_in(std::span<std::byte> piece);
  // An error if bits are left, or if the number of bits is another one.
  [[nodiscard]] Error check_all_set() const;

 private:
  DeltaFile(region::File file, format::DeltaHeader header, std::uint64_t bytes)
      : file_(std::move(file)), header_(std::move(header)), bytes_(bytes), code_(format::kDeltaPieceBytes) {}
  Error check_codes();
  Error read_next();
  Error read(std::span<std::byte> into);
  [[nodiscard]] std::uint64_t codes_offset() const noexcept { return bytes_ - header_.codes_bytes; }
  [[nodiscard]] Error broken(const std::string& what) const {
    return format::broken_delta(Code::kRecord, file_.path(), what);
  }

  region::File file_;
  format::DeltaHeader header_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;  // in the file
  std::optional<std::uint32_t> next_;
  format::CodedBits coded_;      // of the next piece
  std::vector<std::byte> code_;  // a code is not longer than the piece that it is for
  std::uint64_t num_bits_ = 0;   // that were set
};

}  // namespace bfstore::store
