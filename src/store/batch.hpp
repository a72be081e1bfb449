// Many keys at once, on one path for every form in which keys are given and answers are wanted.
#pragma once

#include <cstring>
#include <type_traits>

#include "layout/roll.hpp"
#include "store/core.hpp"
#include "store/divide.hpp"

namespace bfstore {
namespace store {

// The answers as bytes: 1 for maybe, 0 for no.
class Bytes {
 public:
  explicit Bytes(std::uint8_t* answers) noexcept : answers_(answers) {}

  // `ask(answers)` fills the answers of the keys [first, first + size) and returns how many are maybe; pieces come in
  // order.
  template <class Ask>
  std::size_t take(std::size_t first, std::size_t, Ask ask) noexcept {
    return ask(answers_ + first);
  }

 private:
  std::uint8_t* answers_;
};

// The indices of the keys that may be present, ascending: a selection vector.
class Indices {
 public:
  explicit Indices(std::uint32_t* indices) noexcept : next_(indices) {}

  // Without a branch on the answer. What is written behind the last index has room: there are never more indices than
  // keys so far.
  template <class Ask>
  std::size_t take(std::size_t first, std::size_t size, Ask ask) noexcept {
    std::array<std::uint8_t, layout::kStep> answers;
    const std::size_t maybes = ask(answers.data());
    for (std::size_t i = 0; i < size; ++i) {
      *next_ = static_cast<std::uint32_t>(first + i);
      next_ += answers[i];
    }
    return maybes;
  }

 private:
  std::uint32_t* next_;
};

}  // namespace store

template <class Source, class Visit>
void roll_over(const Source& source, Visit visit) noexcept {
  if constexpr (std::is_same_v<Source, store::Given>) {
    layout::roll(source.digests.data(), source.size(), visit);
  } else {
    layout::roll_hashed([&source](std::size_t i) { return source.digest(i); }, source.size(), visit);
  }
}

template <class Source, class Out>
Count Filter::Core::contains_all(const Source& source, Out out) const noexcept {
  std::uint64_t maybes = 0;
  roll_over(source, [&](const layout::Step& step, std::size_t first) {
    maybes += out.take(first, step.num_now, [&](std::uint8_t* answers) -> std::size_t {
      const std::size_t found = functions.contains.step(words, target.geometry, step, answers);
      if (!layout::in_doubt(target.sentinel)) [[likely]]
        return found;
      std::memset(answers, 1, step.num_now);  // in doubt: every key of this step may be there
      return step.num_now;
    });
    return true;
  });
  return maybes;
}

template <class Source>
Count Filter::Core::add_rolling(const Source& source) noexcept {
  std::uint64_t added = 0;
  Code refused = Code::kOk;
  roll_over(source, [&](const layout::Step& step, std::size_t) {
    refused = may_add();
    if (refused != Code::kOk) return false;
    const std::size_t changed = adds.step(words, target.geometry, step);
    count_keys(changed);
    added += changed;
    return true;
  });
  if (refused == Code::kOk && layout::in_doubt(add_sentinel)) refused = health();
  if (refused != Code::kOk) return refused;
  return added;
}

template <class Source>
Count Filter::Core::add_all(const Source& source) noexcept {
  if (!alone) return add_rolling(source);
  if (!born.here()) return Code::kForked;  // who has the lock may have stayed behind in the parent
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const layout::Geometry& geometry = target.geometry;
  const bool worth_it = threads > 1 && source.size() >= threads * store::kShare && geometry.range >= 2 * threads;
  if (!worth_it || !row.in_lines) return add_rolling(source);
  try {
    return store::add_divided(geometry, threads, source, [this](std::span<const std::uint64_t> digests) {
      return add_rolling(store::Given{digests});
    });
  } catch (const std::exception&) {
    return add_rolling(source);  // without more memory or threads: alone
  }
}

}  // namespace bfstore
