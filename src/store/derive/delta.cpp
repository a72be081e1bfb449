// Makes a delta: reads both bodies in step, and writes what the later one has more.
#include "store/derive/delta.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/fail.hpp"
#include "store/file/making.hpp"

namespace bfstore {
namespace store {

Result<std::span<std::byte>> DeltaPieces::next() {
  std::size_t filled = 0;
  while (filled < piece_.size()) {
    const auto part = body_.next();
    if (!part) return part.error();
    if (part->empty()) break;
    std::memcpy(piece_.data() + filled, part->data(), part->size());
    filled += part->size();
  }
  const std::span<std::byte> piece = std::span(piece_).first(filled);
  if (!piece.empty()) checksum_ = format::next_checksum(checksum_, piece);
  return piece;
}

Result<RestingFile> open_resting(const std::string& path, const DeltaOptions& options) {
  Opening reading;
  reading.map.random_access = true;  // the body is read through the descriptor
  reading.any_filesystem = options.any_filesystem;
  reading.lock_timeout_ms = options.lock_timeout_ms;
  reading.without_secret = true;
  auto session = Session::open_reader(path, reading);
  if (!session) return session.error();
  const OpenFile& file = (*session)->file();
  auto ask = ask_file(std::move(*session), Adding::kNever, {.secret = {}});
  if (!ask) return ask.error();
  auto content = content_of(**ask);
  if (!content) return content.error();
  auto at_rest = AtRest::look(file, content->recoveries,
                              "Seal it (bf seal), and take the sealed file. Or wait until its writers have closed it.");
  if (!at_rest) return at_rest.error();
  return RestingFile{std::move(*ask), std::move(*content), std::move(*at_rest)};
}

Error check_bits_stay(const std::string& path, const layout::Row& row) {
  if (row.bits_stay) return {};
  return base::fail(Code::kUnsupported, path + ": filters of the layout " + row.info.name + " have no deltas, for " +
                                            (row.info.can.add ? "a body of them can lose bits, or grow"
                                                              : "one more key may change any of their bits") +
                                            ". Send a new file.");
}

std::string differences_in_words(const format::Identity& before, const format::Identity& after) {
  std::string found;
  const auto note = [&](bool differs, const char* what) {
    if (differs) found += std::string(found.empty() ? "" : ", ") + what;
  };
  note(before.shape.layout != after.shape.layout, "layout");
  note(before.shape.hash != after.shape.hash, "hash");
  note(before.shape.seed != after.shape.seed || before.seeds != after.seeds, "seed");
  note(before.shape.num_probes != after.shape.num_probes, "number of probes");
  note(before.shape.num_bits != after.shape.num_bits, "number of bits");
  note(before.part != after.part, "part");
  return found;
}

namespace {

using base::fail;

// Checks that the second filter may be the first one with more keys.
Error check_pair(const std::string& before, const RestingFile& earlier, const std::string& after,
                 const RestingFile& later) {
  for (const auto& [path, file] : {std::pair(&before, &earlier), std::pair(&after, &later)}) {
    if (Error error = check_bits_stay(*path, file->ask->row); !error.ok()) return error;
  }
  const format::Identity& was = earlier.content.identity;
  const format::Identity& is = later.content.identity;
  if (const std::string different = differences_in_words(was, is); !different.empty())
    return fail(Code::kMismatch, after + ": differs from " + before + " in " + different +
                                     ", so it is not that filter with more keys. Send a new file.");
  if (was.file_id != is.file_id) return {};
  return fail(Code::kInvalid, after + ": has the file_id of " + before +
                                  ", so readers would not notice that it replaces that file. Seal each state of the "
                                  "filter (bf seal), and take the sealed files.");
}

// Writes the codes, in order, and computes their checksum.
class CodesFile {
 public:
  CodesFile(const region::File& file, std::uint64_t offset) : file_(file), offset_(offset) {
    waiting_.reserve(2 * format::kDeltaPieceBytes + format::kCodeHeaderBytes);
  }

  Error put(format::Bytes bytes) {
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    while (waiting_.size() >= format::kDeltaPieceBytes) {
      if (Error error = write(format::kDeltaPieceBytes); !error.ok()) return error;
    }
    return {};
  }
  Error end() { return waiting_.empty() ? Error{} : write(waiting_.size()); }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t checksum() const noexcept { return checksum_; }

 private:
  Error write(std::size_t bytes) {
    const format::Bytes piece = format::Bytes(waiting_).first(bytes);
    if (Error error = file_.write_at(piece, offset_ + bytes_); !error.ok()) return error;
    checksum_ = format::next_checksum(checksum_, piece);
    bytes_ += bytes;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(bytes));
    return {};
  }

  const region::File& file_;
  std::uint64_t offset_;
  std::uint64_t bytes_ = 0;
  std::uint64_t checksum_ = 0;
  std::vector<std::byte> waiting_;
};

Error put_piece(CodesFile& codes, std::uint32_t number, const format::CodedBits& coded) {
  const format::PieceCode code{number, coded, static_cast<std::uint32_t>(coded.code.size())};
  if (Error error = codes.put(format::encode_piece_header(code)); !error.ok()) return error;
  return codes.put(coded.code);
}

// Writes the codes of all pieces, and completes the header, but for its length.
Error put_codes(const region::File& made, const RestingFile& earlier, const RestingFile& later,
                const std::string& after, format::DeltaHeader& header) {
  DeltaPieces was(*earlier.ask);
  DeltaPieces is(*later.ask);
  CodesFile codes(made, format::delta_header_bytes(header));
  format::GapCoder coder;
  for (std::uint32_t number = 0;; ++number) {
    const auto old_piece = was.next();
    if (!old_piece) return old_piece.error();
    const auto new_piece = is.next();
    if (!new_piece) return new_piece.error();
    if (new_piece->empty()) break;
    const auto coded = coder.code(*old_piece, *new_piece);
    if (!coded)
      return fail(Code::kMismatch, after + ": lacks bits of " + earlier.ask->home->name("the filter") +
                                       ", so it is not that filter with more keys. Send a new file.");
    header.num_bits += coded->num_bits;
    if (coded->num_bits == 0) continue;
    if (Error error = put_piece(codes, number, *coded); !error.ok()) return error;
  }
  if (Error error = codes.end(); !error.ok()) return error;
  header.before_checksum = was.checksum();
  header.after_checksum = is.checksum();
  header.codes_bytes = codes.bytes();
  header.codes_checksum = codes.checksum();
  return {};
}

// The lanes up to the last one that is not free: an owner keeps its lane.
std::vector<LogPosition> taken_lanes(std::vector<LogPosition> lanes) {
  while (!lanes.empty() && lanes.back().mark == 0 && lanes.back().epoch == 0) lanes.pop_back();
  return lanes;
}

Result<format::DeltaHeader> begin_header(const RestingFile& earlier, const RestingFile& later) {
  const format::Identity& after = later.content.identity;
  format::DeltaHeader header;
  header.sealed = after.seal.has_value();
  header.before = earlier.content.identity.file_id;
  header.keys_added = later.content.keys_added;
  header.lanes = taken_lanes(later.content.lanes);
  const auto embedded = as_new(after, format::Form::kEmbedded, after.file_id);
  if (!embedded) return embedded.error();
  header.after = *embedded;
  return header;
}

// A delta replaces deltas alone: the processes that have a filter open would not learn that it is gone.
Error check_name_for_delta(const std::string& path, bool replace) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return {};
  if (!replace) return fail(Code::kExists, path + ": exists already. Choose another name, or replace it.");
  const auto file = region::File::open(path, region::File::Access::kRead);
  if (!file) return file.error();
  std::array<std::byte, format::kDeltaMagic.size()> first{};
  const auto got = file->read_at(first, 0);
  if (!got) return got.error();
  if (*got == first.size() && std::memcmp(first.data(), format::kDeltaMagic.data(), first.size()) == 0) return {};
  return fail(Code::kInvalid, path + ": is not a delta. Remove it, or choose another name.");
}

}  // namespace
}  // namespace store

Error make_delta(const std::string& before, const std::string& after, const std::string& delta,
                 const DeltaOptions& options) {
  constexpr std::uint32_t kPrivate = 0600;
  if (delta.empty()) return base::fail(Code::kInvalid, "the path is empty. Give one.");
  if (Error error = store::check_mode(options.mode); !error.ok()) return error;
  if (Error error = store::check_name_for_delta(delta, options.replace); !error.ok()) return error;
  const auto earlier = store::open_resting(before, options);
  if (!earlier) return earlier.error();
  const auto later = store::open_resting(after, options);
  if (!later) return later.error();
  if (Error error = store::check_pair(before, *earlier, after, *later); !error.ok()) return error;
  auto header = store::begin_header(*earlier, *later);
  if (!header) return header.error();
  auto made = region::File::create_unnamed(delta, options.mode.value_or(kPrivate));
  if (!made) return made.error();
  Error error = store::put_codes(*made, *earlier, *later, after, *header);
  if (error.ok()) error = earlier->at_rest.check_still("read");
  if (error.ok()) error = later->at_rest.check_still("read");
  if (error.ok()) error = made->write_at(format::encode_delta_header(*header), 0);
  if (error.ok()) error = made->sync();
  if (!error.ok()) return error;
  return made->publish(options.replace, [&] { return store::check_name_for_delta(delta, options.replace); });
}

}  // namespace bfstore
