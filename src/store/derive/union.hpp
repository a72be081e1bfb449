// Adds cells to a filter in use, from another filter or from a bit array of another program.
#pragma once

#include <bfstore/layout/words.hpp>
#include <bfstore/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/file/reached.hpp"

namespace bfstore::store {

// Unites word by word, and estimates how many keys the words stand for before and after.
class Union {
 public:
  explicit Union(Ask& into) noexcept
      : into_(into), before_(fill_counter(into.shape, into.target.geometry)), after_(before_) {}

  void take(std::uint64_t first, std::span<const std::uint64_t> words) noexcept {
    std::uint64_t* const there = into_.words + first;
    before_.take(there, words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint64_t word = words[i];
      layout::Shared::change(there + i, [&](std::uint64_t was) { return into_.row.unite(was, word); });
    }
    after_.take(there, words.size());
  }

  // Returns an estimate, at most `keys_of_source` if that is known (not 0). Bits that are set for every key do not tell
  // the number of keys: then every key of the source counts as new.
  [[nodiscard]] std::uint64_t new_keys(std::uint64_t keys_of_source) const noexcept {
    const Fill after = after_.fill();
    if (after.estimated_fpr >= 1 && keys_of_source != 0) return keys_of_source;
    const double more = after.estimated_keys - before_.fill().estimated_keys;
    const auto estimated = static_cast<std::uint64_t>(std::llround(std::max(more, 0.0)));
    return keys_of_source == 0 ? estimated : std::min(estimated, keys_of_source);
  }

 private:
  Ask& into_;
  layout::FillCounter before_;
  layout::FillCounter after_;
};

inline Error not_united(Code code, const std::string& name) {
  return code == Code::kOk ? Error{} : base::fail(code, name + ": takes in nothing: " + code_text(code) + ".");
}

}  // namespace bfstore::store
