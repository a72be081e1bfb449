// Makes a new file of the keys that several filters have: the AND of their bits, folded to the size of the smallest
// one. It is always a new file: if bits were cleared in a filter in use, its readers would get "no" for keys that it
// has.
//
// A key of every filter has its bits in each of them, folded or not, so they are in the AND. Bits that other threads
// and processes set meanwhile only make more answers "maybe".
#include <bfstore/filter.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/derive.hpp"
#include "store/file/reached.hpp"
#include "store/home/fit.hpp"

namespace bfstore {
namespace {

using base::fail;

constexpr const char* kUnnamedInput = "a filter to intersect";

Error check_wish(std::size_t filters, const SaveOptions& options) {
  if (filters == 0) return fail(Code::kInvalid, "no filter to intersect was given. Give one or more.");
  if (options.same_file_id)
    return fail(Code::kInvalid, "an intersection is another filter than its sources. Leave the file_id out.");
  if (!sizing::is_given(options.fpr)) return {};
  return fail(Code::kInvalid, "an intersection is not folded further. Leave the fpr out, and fold what comes of it.");
}

// The words of the new file's body.
class NewBody {
 public:
  explicit NewBody(const store::OpenFile& made) noexcept : made_(made) {}

  // Keeps the bits that are set both in the file and in `words`.
  Error keep(std::uint64_t first, std::span<const std::uint64_t> words) {
    there_.resize(words.size());
    const std::uint64_t offset = made_.identity().body_offset + first * sizeof(std::uint64_t);
    const auto got = made_.file().read_at(std::as_writable_bytes(std::span(there_)), offset);
    if (!got) return got.error();
    if (*got != words.size_bytes())
      return fail(Code::kLost, made_.file().path() + ": truncated while it was made. Try again.");
    std::transform(words.begin(), words.end(), there_.begin(), there_.begin(), std::bit_and<>());
    return store::write_words(made_, first, there_);
  }

 private:
  const store::OpenFile& made_;
  std::vector<std::uint64_t> there_;
};

// Returns the number of keys that the bits are enough for. It is not less than the number of keys that all sources
// have, because some bits are set by chance. So the filter is at its capacity when its rate is the promised one.
Result<std::uint64_t> keys_in(const store::OpenFile& made) {
  const Shape& shape = made.identity().shape;
  const auto counter = std::make_unique<layout::FillCounter>(store::fill_counter(shape, store::geometry_of(shape)));
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

const store::Source& smallest_of(const store::Sources& sources) {
  return *std::min_element(sources.begin(), sources.end(), [](const store::Source& one, const store::Source& other) {
    return one.ask->shape.num_bits < other.ask->shape.num_bits;
  });
}

class Intersect final : public store::Transform {
 public:
  explicit Intersect(const SaveOptions& options) noexcept : options_(options) {}

  // Returns the identity of the smallest source. Leaves out a note that is of that source alone, and its marks, which
  // would speak of keys that the other sources lack.
  Result<format::Identity> identity(const store::Sources& sources) override {
    const store::Source& smallest = smallest_of(sources);
    const layout::Row& row = smallest.ask->row;
    if (!row.info.can.intersect)
      return fail(Code::kUnsupported, smallest.ask->home->name(kUnnamedInput) + ": filters of the layout " +
                                          row.info.name +
                                          " have no intersection. Build a filter of the keys that all of them have.");
    for (const store::Source& source : sources) {
      Error error = store::check_fit(*source.ask, kUnnamedInput, *smallest.ask, kUnnamedInput);
      if (!error.ok()) return error;
    }
    // On the heap, because GCC 12 warns that the note of one on the stack is uninitialized.
    auto identity = std::make_unique<format::Identity>(smallest.content.identity);
    if (Error error = store::set_note(*identity, sources, options_); !error.ok()) return error;
    return store::as_new(std::move(*identity), format::Form::kFile, {});
  }

  Result<store::Facts> fill(const store::Sources& sources, store::OpenFile& made) override {
    NewBody body(made);
    for (const store::Source& source : sources) {
      const bool first_one = &source == &sources.front();
      const std::uint64_t times = layout::times_larger(source.ask->shape.num_bits, made.identity().shape.num_bits);
      const auto take = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
        return first_one ? store::write_words(made, first, words) : body.keep(first, words);
      };
      if (Error error = store::each_folded_piece(*source.ask, times, take); !error.ok()) return error;
    }
    const auto keys = keys_in(made);
    if (!keys) return keys.error();
    return store::Facts{*keys};
  }

 private:
  const SaveOptions& options_;
};

}  // namespace

Error Filter::intersect(std::span<const Filter* const> filters, const std::string& path, const SaveOptions& options) {
  if (Error error = check_wish(filters.size(), options); !error.ok()) return error;
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  std::vector<const store::Ask*> from;
  for (const Filter* const filter : filters) from.push_back(filter->ask_.get());
  Intersect intersect(options);
  return store::derive(from, path, *making, intersect);
}

}  // namespace bfstore
