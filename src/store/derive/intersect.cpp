// A new file of the keys that several filters have: the AND of their bits, folded to the size of the smallest one. It
// is always a new file: where bits were cleared in a filter in use, its readers would be told "no" of keys that it has.
//
// A key of every filter has its bits in each of them, folded or not, so they are in the AND. Bits that other threads
// and processes set meanwhile are only more.
#include <bfstore/filter.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/content.hpp"
#include "store/file/copy_place.hpp"
#include "store/file/session.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"

namespace bfstore {
namespace {

using base::fail;
using store::Content;

constexpr const char* kUnnamedInput = "a filter to intersect";

Error check_wish(std::size_t filters, const SaveOptions& options) {
  if (filters == 0) return fail(Code::kInvalid, "no filter to intersect was given. Give one or more.");
  if (options.same_file_id)
    return fail(Code::kInvalid, "an intersection is another filter than its sources. Leave the file_id out.");
  if (!sizing::is_given(options.fpr)) return {};
  return fail(Code::kInvalid, "an intersection is not folded further. Leave the fpr out, and fold what comes of it.");
}

// The words of the new file's body, from one source after the other.
class NewBody {
 public:
  explicit NewBody(const store::OpenFile& made) noexcept : made_(made) {}

  Error put(std::uint64_t first, std::span<const std::uint64_t> words) const {
    return made_.file().write_at(std::as_bytes(words), offset_of(first));
  }

  // The bits that are there and in `words`.
  Error keep(std::uint64_t first, std::span<const std::uint64_t> words) {
    there_.resize(words.size());
    const auto got = made_.file().read_at(std::as_writable_bytes(std::span(there_)), offset_of(first));
    if (!got) return got.error();
    if (*got != words.size_bytes())
      return fail(Code::kLost, made_.file().path() + ": truncated while it was made. Try again.");
    std::transform(words.begin(), words.end(), there_.begin(), there_.begin(), std::bit_and<>());
    return put(first, there_);
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t word) const noexcept {
    return made_.identity().body_offset + word * sizeof(std::uint64_t);
  }

  const store::OpenFile& made_;
  std::vector<std::uint64_t> there_;
};

// For how many keys the bits are enough: not fewer than the keys of all sources, as some bits are there by chance. So
// the filter is at its capacity when its rate is the promised one.
Result<std::uint64_t> keys_in(const store::OpenFile& made, const layout::Row& row) {
  const Shape& shape = made.identity().shape;
  const auto counter = std::make_unique<layout::FillCounter>(row, row.geometry(shape.num_bits, shape.num_probes));
  constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 15;
  const std::uint64_t num_words = made.identity().body_bytes / sizeof(std::uint64_t);
  std::vector<std::uint64_t> words(std::min(kPieceWords, num_words));
  for (std::uint64_t first = 0; first < num_words; first += words.size()) {
    const auto piece = std::span(words).first(std::min<std::uint64_t>(words.size(), num_words - first));
    const std::uint64_t offset = made.identity().body_offset + first * sizeof(std::uint64_t);
    const auto got = made.file().read_at(std::as_writable_bytes(piece), offset);
    if (!got) return got.error();
    counter->take(piece.data(), piece.size());
  }
  return static_cast<std::uint64_t>(std::llround(counter->fill().estimated_keys));
}

// The sources, all of them open and not in doubt when this is made.
class Sources {
 public:
  Error add(const store::Ask& ask) {
    const store::InUse& source = in_use_.emplace_back(ask);
    auto content = store::content_of(*source);
    if (!content) return content.error();
    contents_.push_back(std::move(*content));
    contents_.back().identity.note.reset();  // it is of one source
    if (source->shape.num_bits < smallest().shape.num_bits) smallest_ = in_use_.size() - 1;
    return {};
  }

  [[nodiscard]] const store::Ask& smallest() const noexcept { return *in_use_[smallest_]; }

  // Of the smallest one. It has no marks: they would speak of keys that the other sources lack.
  [[nodiscard]] Result<format::Identity> identity() const {
    return store::as_new(contents_[smallest_].identity, format::Form::kFile, {});
  }

  [[nodiscard]] Error check(const std::string& path, bool replace) const {
    if (!smallest().row.info.can.intersect)
      return fail(Code::kUnsupported, smallest().home->name(kUnnamedInput) + ": filters of the layout " +
                                          smallest().row.info.name +
                                          " have no intersection. Build a filter of the keys that all of them have.");
    for (const store::InUse& source : in_use_) {
      if (Error error = store::check_fit(*source, kUnnamedInput, smallest(), kUnnamedInput); !error.ok()) return error;
      if (Error error = replace ? source->home->check_is_another(path) : Error{}; !error.ok()) return error;
    }
    return {};
  }

  Error write(const store::OpenFile& made) const {
    NewBody body(made);
    for (const store::InUse& source : in_use_) {
      const bool first_one = &source == &in_use_.front();
      const std::uint64_t times = layout::times_larger(source->shape.num_bits, made.identity().shape.num_bits);
      const auto take = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
        return first_one ? body.put(first, words) : body.keep(first, words);
      };
      if (Error error = store::each_folded_piece(*source, times, take); !error.ok()) return error;
    }
    return {};
  }

  // After the last bit was read.
  [[nodiscard]] Error check_copied() const {
    for (std::size_t i = 0; i < in_use_.size(); ++i) {
      if (Error error = store::check_copied(*in_use_[i], contents_[i]); !error.ok()) return error;
    }
    return {};
  }

 private:
  std::deque<store::InUse> in_use_;
  std::deque<Content> contents_;
  std::size_t smallest_ = 0;
};

}  // namespace

Error Filter::intersect(std::span<const Filter* const> filters, const std::string& path, const SaveOptions& options) {
  if (Error error = check_wish(filters.size(), options); !error.ok()) return error;
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  Sources sources;
  for (const Filter* const filter : filters) {
    if (Error error = sources.add(*filter->ask_); !error.ok()) return error;
  }
  if (Error error = sources.check(path, options.replace); !error.ok()) return error;
  const auto identity = sources.identity();
  if (!identity) return identity.error();
  const auto made = store::Session::make(path, *identity, *making);
  if (!made) return made.error();
  const store::OpenFile& file = (*made)->unpublished();
  if (Error error = sources.write(file); !error.ok()) return error;
  const auto keys = keys_in(file, sources.smallest().row);
  if (!keys) return keys.error();
  Error error = store::write_keys_added(file, *keys);
  // The sources are looked at last: if the path was given to one of them meanwhile, that one is superseded.
  if (error.ok()) error = (*made)->supersede_found();
  if (error.ok()) error = sources.check_copied();
  return error.ok() ? (*made)->publish() : error;
}

}  // namespace bfstore
