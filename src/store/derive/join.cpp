// Makes a new file of the whole filter whose parts are given: their bodies, one after the other.
//
// A key of the whole has its bits in the line that its part has at the same place (Ask::be_part). Bits that other
// threads and processes set meanwhile only make more answers "maybe".
#include <bfstore/filter.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/derive.hpp"
#include "store/home/parts.hpp"

namespace bfstore {
namespace {

using base::fail;

Error check_parts_wish(std::size_t parts, const SaveOptions& options) {
  if (parts == 0) return fail(Code::kInvalid, "no part to join was given. Give all parts of one filter.");
  if (options.same_file_id)
    return fail(Code::kInvalid, "a whole filter is another one than its parts. Leave the file_id out.");
  if (!sizing::is_given(options.fpr)) return {};
  return fail(Code::kInvalid, "a join does not fold. Leave the fpr out, and fold what comes of it.");
}

// Returns the numbers below `parts` that are missing, such as "0 to 2, 5". A file may claim billions of parts,
// so this goes through the parts that are there, and not through all numbers.
template <class ByNumber>
std::string missing_in(const ByNumber& there, std::uint64_t parts) {
  std::string words;
  const auto say = [&](std::uint64_t first, std::uint64_t end) {
    if (first == end) return;
    words += (words.empty() ? "" : ", ") + std::to_string(first);
    if (end - first > 1) words += " to " + std::to_string(end - 1);
  };
  std::uint64_t next = 0;
  for (const auto& [number, part] : there) {
    say(next, number);
    next = std::uint64_t{number} + 1;
  }
  say(next, parts);
  return words;
}

class Join final : public store::Transform {
 public:
  explicit Join(const SaveOptions& options) noexcept : options_(options) {}

  // Returns the identity of the parts, made whole. Marks would be those of one part.
  Result<format::Identity> identity(const store::Sources& sources) override {
    for (const store::Source& source : sources) {
      if (source.ask->part().parts == 1) {
        return fail(Code::kMismatch, source.ask->home->name(store::kUnnamedPart) +
                                         ": is no part of a filter, but a whole one. Leave it out.");
      }
      if (Error error = order_.add(*source.ask); !error.ok()) return error;
      if (Error error = check_epoch(source, sources.front()); !error.ok()) return error;
    }
    if (Error error = check_complete(); !error.ok()) return error;
    format::Identity whole = sources.front().content.identity;
    const PartOfWhole part = *whole.part;
    whole.part.reset();
    if (Error error = store::set_note(whole, sources, options_); !error.ok()) return error;
    whole.shape.num_bits *= part.part.parts;
    whole.shape.capacity = part.capacity;
    whole.body_bytes *= part.part.parts;
    return store::as_new(std::move(whole), format::Form::kFile, {});
  }

  Result<store::Facts> fill(const store::Sources& sources, store::OpenFile& made) override {
    std::uint64_t begin = made.identity().body_offset;
    for (const auto& [number, part] : order_.by_number()) {
      const auto put = [&](std::uint64_t offset, std::span<const std::byte> piece) {
        return made.file().write_at(piece, begin + offset);
      };
      if (Error error = store::each_piece_of_body(*part, put); !error.ok()) return error;
      begin += part->body_bytes;
    }
    store::Facts facts;
    for (const store::Source& source : sources) facts.keys_added += source.content.keys_added;
    return facts;
  }

 private:
  // A word of a line is of another epoch in each of them.
  static Error check_epoch(const store::Source& source, const store::Source& first) {
    const std::uint64_t one = first.content.turned.epoch.number();
    const std::uint64_t other = source.content.turned.epoch.number();
    if (one == other && source.content.identity.window_ms == first.content.identity.window_ms) return {};
    return fail(Code::kMismatch, source.ask->home->name(store::kUnnamedPart) + ": is in epoch " +
                                     std::to_string(other) + " or has another window, and another part is in epoch " +
                                     std::to_string(one) + ". Turn the parts until they are in one epoch (bf turn).");
  }

  [[nodiscard]] Error check_complete() const {
    const std::uint32_t parts = order_.first().part().parts;
    const std::string missing = missing_in(order_.by_number(), parts);
    if (missing.empty()) return {};
    return fail(Code::kMismatch, order_.first().home->name(store::kUnnamedPart) + ": is one of " +
                                     std::to_string(parts) + " parts, of which these are missing: " + missing +
                                     ". Give every part once.");
  }

  const SaveOptions& options_;
  store::PartsInOrder order_;
};

}  // namespace

Error Filter::join(std::span<const Filter* const> parts, const std::string& path, const SaveOptions& options) {
  if (Error error = check_parts_wish(parts.size(), options); !error.ok()) return error;
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  std::vector<const store::Ask*> from;
  for (const Filter* const part : parts) from.push_back(part->ask_.get());
  Join join(options);
  return store::derive(from, path, *making, join);
}

}  // namespace bfstore
