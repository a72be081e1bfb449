// One filter takes in the keys of another: a union of their bits, or the sums of their counters, while others may add
// to both.
#include <bfstore/hashes.hpp>

#include <cmath>
#include <memory>
#include <mutex>

#include "base/fail.hpp"
#include "layout/fold.hpp"
#include "store/content.hpp"
#include "store/core.hpp"
#include "store/follower.hpp"

namespace bfstore {
namespace {

using base::fail;

template <class Core>
std::string name_of(const Core& core, const char* otherwise) {
  return core.session != nullptr ? core.session->file().file().path() : otherwise;
}

std::string both(const std::string& what, const std::string& one, const std::string& other) {
  return what + " " + one + " and " + other + ", ";
}

// What keeps the keys of one filter from being found in the other. Empty if nothing does.
template <class Core>
std::string differences(const Core& from, const Core& into) {
  std::string found;
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  if (from.shape.layout != into.shape.layout)
    found += both("layout", layout_of(from.shape.layout)->name, layout_of(into.shape.layout)->name);
  if (from.shape.hash != into.shape.hash)
    found += both("hash", hash_of(from.shape.hash)->name, hash_of(into.shape.hash)->name);
  else if (from.secret.key() != into.secret.key())
    found += "secret key, ";
  if (from.shape.seed != into.shape.seed) found += both("seed", number(from.shape.seed), number(into.shape.seed));
  if (from.shape.num_probes != into.shape.num_probes)
    found += both("number of probes", number(from.shape.num_probes), number(into.shape.num_probes));
  if (layout::times_larger(from.shape.num_bits, into.shape.num_bits) == 0)
    found += both("number of bits", number(from.shape.num_bits), number(into.shape.num_bits));
  return found.empty() ? found : found.substr(0, found.size() - 2);
}

template <class Core>
Error check_fit(const Core& from, const Core& into) {
  if (!into.row.info.can.merge)
    return fail(Code::kUnsupported, name_of(into, "the filter") + ": filters of its layout do not merge.");
  const std::string different = differences(from, into);
  if (different.empty()) return {};
  return fail(Code::kMismatch, name_of(from, "the filter to merge") + " and " + name_of(into, "the other filter") +
                                   ": differ in " + different +
                                   ". Make filters that are to be merged like each other (bf create --like). A number "
                                   "of bits may be a multiple of that of the filter that is merged into.");
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
  const std::string name = name_of(*core_, "the filter");
  std::unique_lock<std::mutex> lock(core_->one_at_a_time, std::defer_lock);
  if (core_->alone && core_->born.here()) lock.lock();
  if (Error error = refused(core_->may_add(), name); !error.ok()) return error;
  const auto content = store::content_of(*source);
  if (!content) return content.error();
  if (Error error = check_fit(*source, *core_); !error.ok()) return error;

  const std::uint64_t bits = source->shape.num_bits;
  layout::Folding folding(core_->row, bits, layout::times_larger(bits, core_->shape.num_bits));
  const auto united = std::make_unique<Union<Core>>(*core_);  // on the heap, as stacks are small
  const auto give = [&](std::uint64_t first, std::span<const std::uint64_t> words) { united->take(first, words); };
  Error error = store::each_piece_of_body(*source, [&](std::uint64_t, std::span<const std::byte> piece) {
    folding.take({reinterpret_cast<const std::uint64_t*>(piece.data()), piece.size() / sizeof(std::uint64_t)}, give);
    return refused(core_->may_add(true), name);
  });
  if (error.ok()) folding.end(give);
  if (error.ok()) error = store::check_copied(*source, *content);
  if (error.ok()) core_->count_keys(united->new_keys(content->keys_added));
  return error.ok() ? refused(core_->was_added(), name) : error;
}

}  // namespace bfstore
