// One filter takes in the keys of another: a union of their bits, or the sums of their counters, while others may add
// to both.
#include <bfstore/filter.hpp>

#include <cmath>
#include <memory>
#include <mutex>

#include "base/fail.hpp"
#include "layout/fold.hpp"
#include "store/content.hpp"
#include "store/core.hpp"
#include "store/fit.hpp"
#include "store/follower.hpp"

namespace bfstore {
namespace {

using base::fail;

template <class Core>
Error check_can_merge(const Core& into) {
  if (into.row.info.can.merge) return {};
  return fail(Code::kUnsupported, store::name_of(into, "the filter") + ": filters of its layout do not merge.");
}

// Unites word by word, and knows how many keys the words stand for before and after.
template <class Core>
class Union {
 public:
  explicit Union(Core& into) noexcept
      : into_(into), before_(into.row, into.target.geometry), after_(into.row, into.target.geometry) {}

  void take(std::uint64_t first, std::span<const std::uint64_t> words) noexcept {
    std::uint64_t* const there = into_.words + first;
    before_.take(there, words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint64_t word = words[i];
      layout::Shared::change(there + i, [&](std::uint64_t was) { return into_.row.unite(was, word); });
    }
    after_.take(there, words.size());
  }

  // An estimate, at most `keys_of_source` if that is known.
  [[nodiscard]] std::uint64_t new_keys(std::uint64_t keys_of_source) const noexcept {
    const double more = after_.fill().estimated_keys - before_.fill().estimated_keys;
    if (!std::isfinite(more)) return keys_of_source;
    const auto estimated = static_cast<std::uint64_t>(std::llround(std::max(more, 0.0)));
    return keys_of_source == 0 ? estimated : std::min(estimated, keys_of_source);
  }

 private:
  Core& into_;
  layout::FillCounter before_;
  layout::FillCounter after_;
};

Error refused(Code code, const std::string& name) {
  return code == Code::kOk ? Error{} : fail(code, name + ": not merged into: " + code_text(code) + ".");
}

}  // namespace

// A key whose add to `from` returned before the call has its bits there when they are read, or `from` is in doubt
// afterwards. What was united before an error only makes more answers "maybe". Counters that were summed, and are
// summed again by the next try, are too high: a leak.
Error Filter::merge(const Filter& from) {
  const Core::InUse source(*from.core_);
  const std::string name = store::name_of(*core_, "the filter");
  if (Error error = refused(core_->may_add(), name); !error.ok()) return error;
  const auto content = store::content_of(*source);
  if (!content) return content.error();
  if (Error error = check_can_merge(*core_); !error.ok()) return error;
  if (Error error = store::check_fit(*source, "the filter to merge", *core_, "the other filter"); !error.ok())
    return error;

  const std::uint64_t bits = source->shape.num_bits;
  layout::Folding folding(core_->row, bits, layout::times_larger(bits, core_->shape.num_bits));
  const auto united = std::make_unique<Union<Core>>(*core_);  // on the heap, as stacks are small
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> words) { united->take(first, words); };
  std::unique_lock<std::mutex> lock(core_->one_at_a_time, std::defer_lock);
  if (core_->alone) lock.lock();
  Error error = store::each_piece_of_body(*source, [&](std::uint64_t, std::span<const std::byte> piece) {
    folding.take(store::words_of(piece), give);
    return refused(core_->may_add(true), name);
  });
  if (error.ok()) folding.end(give);
  if (lock.owns_lock()) lock.unlock();  // a shut waits for it with the lock that the next line wants
  if (error.ok()) error = store::check_copied(*source, *content);
  if (error.ok()) core_->count_keys(united->new_keys(content->keys_added));
  return error.ok() ? refused(core_->was_added(), name) : error;
}

}  // namespace bfstore
