// Compares two filters: in what they differ, and how many keys they have in common. Both may be in use meanwhile.
#include <bfstore/filter.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "layout/overlap.hpp"
#include "store/derive/content.hpp"
#include "store/file/reached.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"

namespace bfstore {
namespace {

using base::fail;

// Reads the words of a body, as many at once as the other filter has.
class Words {
 public:
  explicit Words(const store::Ask& ask) : body_(ask) {}

  // Returns at most that many of the next words.
  Result<std::span<const std::uint64_t>> next(std::uint64_t most) {
    if (left_.empty()) {
      const auto piece = body_.next();
      if (!piece) return piece.error();
      left_ = store::words_of(*piece);
    }
    const auto words = left_.first(std::min<std::uint64_t>(most, left_.size()));
    left_ = left_.subspan(words.size());
    return words;
  }

 private:
  store::Body body_;
  std::span<const std::uint64_t> left_;
};

// Reads the larger filter, folded, and in step with it the smaller one. `swapped`: the larger one is B.
Error compare_bits(const store::Ask& large, const store::Ask& small, bool swapped, layout::Overlap& overlap) {
  Words others(small);
  const std::uint64_t times = layout::times_larger(large.shape.num_bits, small.shape.num_bits);
  const auto take_both = store::row_of_rates(small.row, hash::row_of(small.shape.hash)).take_both;
  return store::each_folded_piece(large, times, [&](std::uint64_t, std::span<const std::uint64_t> words) -> Error {
    while (!words.empty()) {
      const auto other = others.next(words.size());
      if (!other) return other.error();
      if (other->empty()) return fail(Code::kInternal, "a filter has fewer words than its number of bits needs");
      const std::uint64_t* const a = swapped ? other->data() : words.data();
      const std::uint64_t* const b = swapped ? words.data() : other->data();
      take_both(overlap, small.target.geometry, a, b, other->size());
      words = words.subspan(other->size());
    }
    return {};
  });
}

// Estimates the keys of one filter.
Error estimate_keys(const store::Ask& ask, Interval& keys) {
  const auto counter =
      std::make_unique<layout::FillCounter>(store::fill_counter(ask.shape, ask.target.geometry));  // stacks are small
  Error error = store::each_piece_of_body(ask, [&](std::uint64_t, std::span<const std::byte> piece) {
    counter->take(store::words_of(piece).data(), store::words_of(piece).size());
    return Error{};
  });
  if (!error.ok()) return error;
  const Fill fill = counter->fill();
  keys = {fill.estimated_keys, fill.estimated_keys_low, fill.estimated_keys_high};
  return {};
}

Error compare_sets(const store::Ask& a, const store::Ask& b, Comparison& made) {
  if (a.row.take_both == nullptr)
    return fail(
        Code::kUnsupported,
        a.home->name("the filter") + ": filters of the layout " + a.row.info.name +
            " cannot be compared, for the same keys may have other bits in each of them. Compare lists of their keys.");
  const bool swapped = a.shape.num_bits < b.shape.num_bits;
  const auto overlap = std::make_unique<layout::Overlap>();
  const Error error = swapped ? compare_bits(b, a, true, *overlap) : compare_bits(a, b, false, *overlap);
  if (!error.ok()) return error;
  const layout::SetBits& set = overlap->set();
  made.num_bits = std::min(a.shape.num_bits, b.shape.num_bits);
  made.set_bits_a = set.a;
  made.set_bits_b = set.b;
  made.set_bits_both = set.a + set.b - set.either;
  made.a_in_b = overlap->a_in_b();
  made.b_in_a = overlap->b_in_a();
  made.equal = made.a_in_b && made.b_in_a && !made.differ.num_bits;
  overlap->estimate(a.shape.num_probes, made);
  return {};
}

bool fold_onto_each_other(const store::Ask& a, const store::Ask& b) {
  return store::times_folded(a, b) != 0 || store::times_folded(b, a) != 0;
}

}  // namespace

Result<Comparison> Filter::compare(const Filter& other) const {
  const store::Pinned a(*ask_);
  const store::Pinned b(*other.ask_);
  const auto content_a = store::content_of(*a);
  if (!content_a) return content_a.error();
  const auto content_b = store::content_of(*b);
  if (!content_b) return content_b.error();
  Comparison made;
  made.differ = store::differences(*a, *b);
  made.comparable = made.differ.but_for_the_size() && fold_onto_each_other(*a, *b);
  Error error;
  if (made.comparable) {
    error = compare_sets(*a, *b, made);
  } else {
    error = estimate_keys(*a, made.keys_a);
    if (error.ok()) error = estimate_keys(*b, made.keys_b);
  }
  if (error.ok()) error = store::check_copied(*a, *content_a);
  if (error.ok()) error = store::check_copied(*b, *content_b);
  if (!error.ok()) return error;
  return made;
}

}  // namespace bfstore
