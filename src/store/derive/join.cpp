// A new file of the whole filter whose parts are given: their bodies, one after the other.
//
// A key of the whole has its bits in the line that its part has at the same place (Ask::be_part). Bits that other
// threads and processes set meanwhile are only more.
#include <bfstore/filter.hpp>

#include <cstdint>
#include <deque>
#include <string>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/content.hpp"
#include "store/file/copy_place.hpp"
#include "store/file/session.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"
#include "store/home/parts.hpp"

namespace bfstore {
namespace {

using base::fail;
using store::Content;

Error check_parts_wish(std::size_t parts, const SaveOptions& options) {
  if (parts == 0) return fail(Code::kInvalid, "no part to join was given. Give all parts of one filter.");
  if (options.same_file_id)
    return fail(Code::kInvalid, "a whole filter is another one than its parts. Leave the file_id out.");
  if (!sizing::is_given(options.fpr)) return {};
  return fail(Code::kInvalid, "a join does not fold. Leave the fpr out, and fold what comes of it.");
}

// "0 to 2, 5": the numbers below `parts` that are not there. A file may claim billions of parts.
template <class Places>
std::string missing_in(const Places& there, std::uint64_t parts) {
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

// The parts, all of them open and not in doubt when they are added.
class Parts {
 public:
  Error add(const store::Ask& ask) {
    const store::InUse& part = in_use_.emplace_back(ask);
    auto content = store::content_of(*part);
    if (!content) return content.error();
    contents_.push_back(std::move(*content));
    return {};
  }

  // Sorts them by their numbers.
  Error check(const std::string& path, bool replace) {
    for (const store::InUse& part : in_use_) {
      if (part->part().parts == 1) {
        return fail(Code::kMismatch,
                    part->home->name(store::kUnnamedPart) + ": is no part of a filter, but a whole one. Leave it out.");
      }
      if (Error error = order_.add(*part); !error.ok()) return error;
      if (Error error = replace ? part->home->check_is_another(path) : Error{}; !error.ok()) return error;
    }
    const std::uint32_t parts = first().part().parts;
    const std::string missing = missing_in(order_.places(), parts);
    if (missing.empty()) return {};
    return fail(Code::kMismatch, first().home->name(store::kUnnamedPart) + ": is one of " + std::to_string(parts) +
                                     " parts, of which these are missing: " + missing + ". Give every part once.");
  }

  // As the parts, but whole. Marks and a note would be those of one part.
  [[nodiscard]] Result<format::Identity> identity() const {
    format::Identity whole = contents_.front().identity;
    const PartOfWhole part = *whole.part;
    whole.part.reset();
    whole.note.reset();
    whole.shape.num_bits *= part.part.parts;
    whole.shape.capacity = part.capacity;
    whole.body_bytes *= part.part.parts;
    return store::as_new(std::move(whole), format::Form::kFile, {});
  }

  [[nodiscard]] Error write(const store::OpenFile& made) const {
    std::uint64_t begin = made.identity().body_offset;
    for (const auto& [number, part] : order_.places()) {
      const auto put = [&](std::uint64_t offset, std::span<const std::byte> piece) {
        return made.file().write_at(piece, begin + offset);
      };
      if (Error error = store::each_piece_of_body(*part, put); !error.ok()) return error;
      begin += first().body_bytes;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t keys() const noexcept {
    std::uint64_t sum = 0;
    for (const Content& content : contents_) sum += content.keys_added;
    return sum;
  }

  // After the last bit was read.
  [[nodiscard]] Error check_copied() const {
    for (std::size_t i = 0; i < in_use_.size(); ++i) {
      if (Error error = store::check_copied(*in_use_[i], contents_[i]); !error.ok()) return error;
    }
    return {};
  }

 private:
  [[nodiscard]] const store::Ask& first() const noexcept { return order_.first(); }

  std::deque<store::InUse> in_use_;
  std::deque<Content> contents_;
  store::PartsInOrder order_;
};

}  // namespace

Error Filter::join(std::span<const Filter* const> parts, const std::string& path, const SaveOptions& options) {
  if (Error error = check_parts_wish(parts.size(), options); !error.ok()) return error;
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  Parts sources;
  for (const Filter* const part : parts) {
    if (Error error = sources.add(*part->ask_); !error.ok()) return error;
  }
  if (Error error = sources.check(path, options.replace); !error.ok()) return error;
  const auto identity = sources.identity();
  if (!identity) return identity.error();
  const auto made = store::Session::make(path, *identity, *making);
  if (!made) return made.error();
  const store::OpenFile& file = (*made)->unpublished();
  if (Error error = sources.write(file); !error.ok()) return error;
  Error error = store::write_keys_added(file, sources.keys());
  // The parts are looked at last: if the path was given to one of them meanwhile, that one is superseded.
  if (error.ok()) error = (*made)->supersede_found();
  if (error.ok()) error = sources.check_copied();
  return error.ok() ? (*made)->publish() : error;
}

}  // namespace bfstore
