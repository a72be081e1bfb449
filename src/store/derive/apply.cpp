// Applies a delta: copies the earlier file's body with the new bits into a new file, which is what the delta's maker
// had.
#include <utility>

#include "base/fail.hpp"
#include "store/derive/delta.hpp"
#include "store/derive/delta_file.hpp"
#include "store/derive/derive.hpp"
#include "store/file/sealed.hpp"

namespace bfstore {
namespace store {
namespace {

class Applied final : public Transform {
 public:
  Applied(RestingFile& before, DeltaFile& delta, const std::string& delta_path) noexcept
      : before_(before), delta_(delta), delta_path_(delta_path) {}

  Result<format::Identity> identity(const Sources&) override {
    const format::DeltaHeader& header = delta_.header();
    return as_new(header.after, format::Form::kFile, header.after.file_id);
  }

  // The new file may replace the earlier one, which no process writes to until none can open it for writing.
  Error check_target(const Sources&, const std::string&) override { return {}; }

  Result<Facts> fill(const Sources&, OpenFile& made) override {
    const format::DeltaHeader& header = delta_.header();
    Error error = header.sealed ? fill_sealed(made) : fill_plain(made);
    if (!error.ok()) return error;
    return Facts{header.keys_added, header.lanes};
  }

  Error check_read(const Sources&) override { return before_.at_rest.check_still("read"); }

 private:
  Error fill_plain(OpenFile& made) {
    return each_piece([&](std::uint64_t offset, std::span<const std::byte> piece) {
      return made.file().write_at(piece, made.identity().body_offset + offset);
    });
  }

  Error fill_sealed(OpenFile& made) {
    Sealing sealing(made, delta_.header().keys_added);
    Error error = sealing.make_room();
    if (error.ok())
      error = each_piece(
          [&](std::uint64_t offset, std::span<const std::byte> piece) { return sealing.put(offset, piece); });
    return error.ok() ? sealing.finish() : error;
  }

  // Calls put(offset in the body, piece) for all of the later body, in order.
  template <class Put>
  Error each_piece(Put put) {
    DeltaPieces pieces(*before_.ask);
    std::uint64_t offset = 0;
    std::uint64_t checksum = 0;
    for (std::uint32_t number = 0;; ++number) {
      const auto piece = pieces.next();
      if (!piece) return piece.error();
      if (piece->empty()) return check_bodies(pieces.checksum(), checksum);
      if (delta_.next_piece() == number) {
        if (Error error = delta_.set_in(*piece); !error.ok()) return blame(pieces, std::move(error));
      }
      checksum = format::next_checksum(checksum, *piece);
      if (Error error = put(offset, *piece); !error.ok()) return error;
      offset += piece->size();
    }
  }

  // In another body the gaps lead to other bits, or out of the piece. Then the delta is not what is wrong.
  [[nodiscard]] Error blame(DeltaPieces& pieces, Error error) const {
    for (;;) {
      const auto piece = pieces.next();
      if (!piece) return piece.error();
      if (piece->empty()) break;
    }
    Error other = check_before(pieces.checksum());
    return other.ok() ? error : other;
  }

  [[nodiscard]] Error check_before(std::uint64_t checksum) const {
    if (checksum == delta_.header().before_checksum) return {};
    return base::fail(Code::kMismatch, before_.ask->home->name("the filter") +
                                           ": has other bits than the file from which " + delta_path_ +
                                           " was made. Send a new file.");
  }

  [[nodiscard]] Error check_bodies(std::uint64_t before, std::uint64_t after) const {
    if (Error error = check_before(before); !error.ok()) return error;
    if (Error error = delta_.check_all_set(); !error.ok()) return error;
    if (after == delta_.header().after_checksum) return {};
    return format::broken_delta(Code::kChecksum, delta_path_, "it does not make the body that it was made from");
  }

  RestingFile& before_;
  DeltaFile& delta_;
  const std::string& delta_path_;
};

// Checks that the delta was made from this file, as far as headers tell.
Error check_is_for(const DeltaFile& delta, const std::string& delta_path, const format::Identity& before,
                   const std::string& before_path) {
  const format::Identity& after = delta.header().after;
  if (Error error = check_bits_stay(delta_path, layout::row_of(after.shape.layout)); !error.ok()) return error;
  if (before.file_id != delta.header().before)
    return base::fail(Code::kMismatch, before_path + ": is not the file from which " + delta_path +
                                           " was made: their file_ids differ (bfinspect shows both). Apply it to that "
                                           "file, or send a new file.");
  const bool possible = differences_in_words(before, after).empty() && after.file_id != before.file_id;
  if (possible && after.body_bytes == before.body_bytes) return {};
  return format::broken_delta(Code::kMismatch, delta_path, "it makes a file that cannot be this one with more keys");
}

}  // namespace
}  // namespace store

Error apply_delta(const std::string& before, const std::string& delta, const std::string& after,
                  const DeltaOptions& options) {
  const SaveOptions saving{.mode = options.mode,
                           .replace = options.replace,
                           .any_filesystem = options.any_filesystem,
                           .lock_timeout_ms = options.lock_timeout_ms};
  const auto making = store::making_at(after, saving);
  if (!making) return making.error();
  auto opened = store::DeltaFile::open(delta);
  if (!opened) return opened.error();
  auto earlier = store::open_resting(before, options);
  if (!earlier) return earlier.error();
  Error error = store::check_is_for(*opened, delta, earlier->content.identity, before);
  if (!error.ok()) return error;
  store::Applied applied(*earlier, *opened, delta);
  return store::derive({{earlier->ask.get()}}, after, *making, applied);
}

}  // namespace bfstore
