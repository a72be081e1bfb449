// Asks and adds keys of hashes that give positions instead of digests (hash/positions.hpp): some at a time, in any
// form, with or without nulls.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>

#include "hash/positions.hpp"
#include "store/ask/batch.hpp"

namespace bfstore::store {

// The positions of some keys, all of them prefetched. As many keys as fit in a small stack, with 64 probes each.
class Window {
 public:
  static constexpr std::size_t kKeys = 8;

  // The keys [first, first + size()) of the form.
  template <class Form>
  Window(const PositionedBits& bits, const Keys& keys, const Form& form, std::size_t first) noexcept
      : size_(size_at(form, first)) {
    for (std::size_t i = 0; i < size_; ++i) {
      is_null_[i] = keys.is_null(first + i);
      if (is_null_[i]) continue;
      bits.source.find(form[first + i], positions_[i]);
      for (const std::uint64_t position : positions_[i].all()) __builtin_prefetch(bits.bytes + position / 8);
    }
  }

  template <class Form>
  static std::size_t size_at(const Form& form, std::size_t first) noexcept {
    return std::min(kKeys, form.size() - first);
  }

  // Calls use(number in the window, positions) for each key that is not a null.
  template <class Use>
  void each(Use use) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (!is_null_[i]) use(i, positions_[i].all());
    }
  }

 private:
  std::size_t size_;
  std::array<bool, kKeys> is_null_;
  std::array<hash::Positions, kKeys> positions_;
};

// In these functions `keys` says which keys are null, and `form` has the keys. They are not inlined, because a call
// that makes a digest does not need the stack of a window.

// True if the bits stay in the caches of a core once they were asked often. Then to compute the positions that a lookup
// does not need costs more than it saves to bring their lines to the caches together.
inline bool are_cached(const PositionedBits& bits) noexcept {
  constexpr std::uint64_t kCachedBits = std::uint64_t{8} << 18;
  return bits.source.num_bits() <= kCachedBits;
}

// Looks for the keys of a window in bits, except for those that were found already.
template <class Form>
void look_in(const PositionedBits& bits, const Keys& keys, const Form& form, std::size_t first,
             std::uint8_t* answers) noexcept {
  if (are_cached(bits)) {
    for (std::size_t i = 0; i < Window::size_at(form, first); ++i) {
      if (answers[i] == 0 && !keys.is_null(first + i)) answers[i] = bits.have(form[first + i]) ? 1 : 0;
    }
    return;
  }
  const Window window(bits, keys, form, first);
  window.each([&](std::size_t i, std::span<const std::uint64_t> positions) {
    if (answers[i] == 0) answers[i] = bits.have(positions) ? 1 : 0;
  });
}

// True if the answers of a lookup that has read its bits are in doubt. Only a "no" can be wrong.
inline bool is_in_doubt(const Ask& ask, bool has_no) noexcept {
  return layout::in_doubt(ask.target.sentinel) || (!ask.has_live_word && has_no && !ask.home->is_unchanged());
}

// The answer for one key, whose last probes are the first ones that find a clear bit.
[[gnu::noinline]] inline std::int32_t answer_one_of_any(const Ask& ask, std::string_view key) noexcept {
  const bool early = ask.too_early();
  for (const PositionedBits& bits : ask.positioned) {
    if (bits.have(key)) return 1;
  }
  return early || is_in_doubt(ask, true) ? 1 : 0;
}

// Nearly every handle has one filter, and had its answers when it was opened: fewer registers are saved for those.
[[gnu::noinline]] inline std::int32_t answer_one_by_position(const Ask& ask, std::string_view key) noexcept {
  if (ask.positioned.size() != 1 || ask.target.kernel != nullptr) [[unlikely]]
    return answer_one_of_any(ask, key);
  return ask.positioned.front().have(key) || is_in_doubt(ask, true) ? 1 : 0;
}

// `out` takes the answers. No allocation, no lock. A null is answered 0.
template <class Form, class Out>
[[gnu::noinline]] Count contains_by_position(const Ask& ask, const Keys& keys, const Form& form, Out out) noexcept {
  static_assert(layout::kStep % Window::kKeys == 0);
  std::uint64_t maybes = 0;
  for (std::size_t first = 0; first < form.size(); first += layout::kStep) {
    const std::size_t size = std::min(layout::kStep, form.size() - first);
    maybes += out.take(first, size, [&](std::uint8_t* answers) {
      std::memset(answers, 0, size);
      const bool early = ask.too_early();
      for (std::size_t i = 0; i < size; i += Window::kKeys) {
        for (const PositionedBits& bits : ask.positioned) look_in(bits, keys, form, first + i, answers + i);
      }
      const bool has_no = std::memchr(answers, 0, size) != nullptr;
      const bool doubt = early || is_in_doubt(ask, has_no);
      std::size_t found = 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (doubt && !keys.is_null(first + i)) answers[i] = 1;  // every key of this step may be there
        found += answers[i];
      }
      return found;
    });
  }
  return maybes;
}

template <class Form>
[[gnu::noinline]] Count add_by_position(Ask& ask, const Keys& keys, const Form& form) noexcept {
  std::unique_lock lock(ask.one_at_a_time, std::defer_lock);
  if (ask.alone) {
    if (!ask.born.here()) return Code::kForked;  // a thread of the parent may hold the lock, and is not in this child
    lock.lock();
  }
  const auto add = ask.alone ? ask.functions.by_position.add_alone : ask.functions.by_position.add;
  std::uint64_t added = 0;
  for (std::size_t first = 0; first < form.size(); first += store::Window::kKeys) {
    if (const Code code = ask.may_add(first != 0); code != Code::kOk) return code;
    const store::Window window(ask.positioned.front(), keys, form, first);
    std::uint64_t changed = 0;
    window.each(
        [&](std::size_t, std::span<const std::uint64_t> positions) { changed += add(ask.words, positions) ? 1U : 0U; });
    ask.count_keys(changed);
    added += changed;
  }
  if (const Code code = ask.was_added(); code != Code::kOk) return code;
  return added;
}

// Returns use(form) for keys that have no digests. Returns an error of the keys before anything is done.
template <class Use>
Count with_keys(const Keys& keys, Use use) noexcept {
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  return keys.visit([&]<class Form>(const Form& form) -> Count {
    if constexpr (std::is_same_v<Form, Keys::Digests>) {
      return form.size() == 0 ? Count(std::uint64_t{0}) : Count(Code::kKeyOnly);
    } else {
      return use(form);
    }
  });
}

}  // namespace bfstore::store
