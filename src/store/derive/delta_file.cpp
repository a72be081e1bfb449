#include "store/derive/delta_file.hpp"

#include <bfstore/delta.hpp>

#include <algorithm>
#include <array>

#include "base/fail.hpp"

namespace bfstore {
namespace store {

Result<DeltaFile> DeltaFile::open(const std::string& path) {
  auto file = region::File::open(path, region::File::Access::kRead, region::File::Links::kFollow);
  if (!file && file.error().code == Code::kNotFound)
    return Error{Code::kNotFound, file.error().os_errno, path + ": no such file. Give the path of a delta."};
  if (!file) return file.error();
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular) return base::fail(Code::kNotRegular, path + ": not a regular file. Give the path of a delta.");
  std::vector<std::byte> first(format::kMostDeltaHeader);
  const auto got = file->read_at(first, 0);
  if (!got) return got.error();
  auto header = format::check_delta_header(format::Bytes(first).first(*got), facts->bytes, path);
  if (!header) return header.error();
  DeltaFile opened(std::move(*file), std::move(*header), facts->bytes);
  Error error = opened.check_codes();
  if (error.ok()) error = opened.read_next();
  if (!error.ok()) return error;
  return opened;
}

Error DeltaFile::check_codes() {
  std::uint64_t checksum = 0;
  for (at_ = codes_offset(); at_ < bytes_;) {
    const std::span<std::byte> piece = std::span(code_).first(std::min<std::uint64_t>(code_.size(), bytes_ - at_));
    if (Error error = read(piece); !error.ok()) return error;
    checksum = format::next_checksum(checksum, piece);
  }
  at_ = codes_offset();
  if (checksum == header_.codes_checksum) return {};
  return format::broken_delta(Code::kChecksum, file_.path(), "its bits do not match their checksum");
}

Error DeltaFile::read(std::span<std::byte> into) {
  if (into.size() > bytes_ - at_) return broken("it ends within a piece");
  const auto got = file_.read_at(into, at_);
  if (!got) return got.error();
  if (*got != into.size()) return broken("it was cut off while it was read");
  at_ += into.size();
  return {};
}

Error DeltaFile::read_next() {
  const auto before = std::exchange(next_, std::nullopt);
  if (at_ == bytes_) return {};
  std::array<std::byte, format::kCodeHeaderBytes> bytes{};
  if (Error error = read(bytes); !error.ok()) return error;
  const format::PieceCode code = format::decode_piece_header(bytes);
  const bool ascends = !before || code.piece > *before;
  const bool exists = code.piece < format::num_delta_pieces(header_.after.body_bytes);
  if (!ascends || !exists || code.coded.num_bits == 0 || code.code_bytes > code_.size())
    return broken("a piece of it breaks a rule");
  const std::span<std::byte> into = std::span(code_).first(code.code_bytes);
  if (Error error = read(into); !error.ok()) return error;
  coded_ = code.coded;
  coded_.code = into;
  next_ = code.piece;
  return {};
}

Error DeltaFile::set_in(std::span<std::byte> piece) {
  if (!format::set_coded(piece, coded_)) return broken("the bits of a piece are not in it");
  num_bits_ += coded_.num_bits;
  return read_next();
}

Error DeltaFile::check_all_set() const {
  return !next_ && num_bits_ == header_.num_bits ? Error{} : broken("it has another number of bits than it says");
}

}  // namespace store

Result<DeltaFacts> inspect_delta(const std::string& delta) {
  const auto opened = store::DeltaFile::open(delta);
  if (!opened) return opened.error();
  const format::DeltaHeader& header = opened->header();
  return DeltaFacts{.before = header.before,
                    .after = header.after.file_id,
                    .shape = header.after.shape,
                    .num_bits = header.num_bits,
                    .bytes = opened->bytes(),
                    .sealed = header.sealed};
}

}  // namespace bfstore
