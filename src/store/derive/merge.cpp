// One filter takes in the keys of another: a union of their bits, or the sums of their counters, while others may add
// to both.
#include <bfstore/filter.hpp>

#include <memory>
#include <mutex>

#include "base/fail.hpp"
#include "layout/fold.hpp"
#include "store/derive/content.hpp"
#include "store/derive/union.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"

namespace bfstore {
namespace {

using base::fail;

Error check_can_merge(const store::Ask& into) {
  if (into.row.info.can.merge) return {};
  const Capabilities& can = into.row.info.can;
  return fail(Code::kUnsupported, into.home->name("the filter") + ": filters of the layout " + into.row.info.name +
                                      " do not merge. " +
                                      (can.build ? "Build one of the keys of all of them."
                                                 : std::string("Each has ") + (can.expire ? "epochs" : "slices") +
                                                       " of its own: ask them together."));
}

}  // namespace

// A key whose add to `from` returned before the call has its bits in `from` when they are read, or `from` is in doubt
// afterwards. Bits that were united before an error only make more answers "maybe". Counters that were summed before an
// error, and again by the next try, are too high: a leak.
Error Filter::merge(const Filter& from) {
  const store::Pinned source(*from.ask_);
  const std::string name = ask_->home->name("the filter");
  if (Error error = store::not_united(ask_->may_add(), name); !error.ok()) return error;
  const auto content = store::content_of(*source);
  if (!content) return content.error();
  if (Error error = check_can_merge(*ask_); !error.ok()) return error;
  if (Error error = store::check_fit(*source, "the filter to merge", *ask_, "the other filter"); !error.ok())
    return error;

  const std::uint64_t bits = source->shape.num_bits;
  layout::Folding folding(ask_->row, bits, layout::times_larger(bits, ask_->shape.num_bits));
  const auto united = std::make_unique<store::Union>(*ask_);  // on the heap, as stacks are small
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> words) { united->take(first, words); };
  std::unique_lock lock(ask_->one_at_a_time, std::defer_lock);
  if (ask_->alone) lock.lock();
  Error error = store::each_piece_of_body(*source, [&](std::uint64_t, std::span<const std::byte> piece) {
    folding.take(store::words_of(piece), give);
    return store::not_united(ask_->may_add(true), name);
  });
  if (error.ok()) folding.end(give);
  if (lock.owns_lock()) lock.unlock();  // shut() waits for this lock, and holds the one that the next line needs
  if (error.ok()) error = store::check_copied(*source, *content);
  if (error.ok()) ask_->count_keys(united->new_keys(content->keys_added));
  return error.ok() ? store::not_united(ask_->was_added(), name) : error;
}

}  // namespace bfstore
