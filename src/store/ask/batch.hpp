// Many keys at once, on one path for all forms of keys and answers.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "layout/roll.hpp"
#include "store/ask/cold.hpp"
#include "store/ask/divide.hpp"
#include "store/ask/partition.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// The answers as bytes: 1 for maybe, 0 for no.
class Answers {
 public:
  explicit Answers(std::uint8_t* answers) noexcept : answers_(answers) {}

  // `give(answers)` fills the answers of the keys [first, first + size) and returns how many are maybe; pieces come in
  // order.
  template <class Give>
  std::size_t take(std::size_t first, std::size_t, Give give) noexcept {
    return give(answers_ + first);
  }

 private:
  std::uint8_t* answers_;
};

// The indices of the keys that may be present, ascending: a selection vector.
class Indices {
 public:
  explicit Indices(std::uint32_t* indices) noexcept : next_(indices) {}

  // Has no branch on the answer. The write after the last index has room: there are never more indices than keys so
  // far.
  template <class Give>
  std::size_t take(std::size_t first, std::size_t size, Give give) noexcept {
    std::array<std::uint8_t, layout::kStep> answers;
    const std::size_t maybes = give(answers.data());
    for (std::size_t i = 0; i < size; ++i) {
      *next_ = static_cast<std::uint32_t>(first + i);
      next_ += answers[i];
    }
    return maybes;
  }

 private:
  std::uint32_t* next_;
};

// If this is a part, reads each digest once: another thread may change the caller's array between the check of a digest
// and its use.
template <class Source, class Visit>
void roll_over(const Ask& ask, const Source& source, Visit visit) noexcept {
  const auto digest_at = [&source](std::size_t i) { return source.digest(i); };
  if constexpr (!std::is_same_v<Source, store::GivenDigests>) {
    layout::roll_hashed(digest_at, source.size(), visit);
  } else if (ask.is_part()) {
    layout::roll_hashed<layout::kStep>(digest_at, source.size(), visit);
  } else {
    layout::roll(source.digests.data(), source.size(), visit);
  }
}

// Does the same for adds. A body that grows is asked after each step whether it is full. In a small one a step has one
// key: more would fill a slice far beyond what it was made for.
template <class Source, class Visit>
void roll_adds(const Ask& ask, const Source& source, Visit visit) noexcept {
  constexpr std::uint64_t kManyKeys = 64 * layout::kStep;
  if (ask.slices == nullptr || ask.shape_of_all().capacity >= kManyKeys) return roll_over(ask, source, visit);
  layout::roll_hashed<1>([&source](std::size_t i) { return source.digest(i); }, source.size(), visit);
}

// True if every digest of the step has memory here.
inline bool has_all(const Ask& ask, const layout::Step& step) noexcept {
  if (!ask.is_part()) return true;
  unsigned others = 0;  // without a branch, so that the compiler takes several at once
  for (const std::uint64_t digest : std::span(step.now, step.num_now)) others |= ask.target.has(digest) ? 0U : 1U;
  return others == 0;
}

// True if every digest has memory here. Asked before anything is changed. Each step asks again, because the caller's
// keys may have changed by then, although bfstore.h forbids that.
template <class Source>
bool has_all_of(const Ask& ask, const Source& source) noexcept {
  if (!ask.is_part()) return true;
  unsigned others = 0;
  for (std::size_t i = 0; i < source.size(); ++i) others |= ask.target.has(source.digest(i)) ? 0U : 1U;
  return others == 0;
}

// Answers the digests of a step, and returns how many may be there.
inline std::size_t answer_step(const Ask& ask, const layout::Step& step, std::uint8_t* answers) noexcept {
  const bool early = ask.too_early();
  const std::size_t found = ask.functions.contains.step(ask.lines, ask.target.geometry, step, answers);
  if (!early && !layout::in_doubt(ask.target.sentinel)) [[likely]]
    return found;
  std::memset(answers, 1, step.num_now);  // in doubt: every key of this step may be there
  return step.num_now;
}

// Asks the keys in their order.
template <class Source, class Out>
Count contains_rolling(const Ask& ask, const Source& source, Out& out) noexcept {
  std::uint64_t maybes = 0;
  bool all = true;
  ColdPages cold(ask);
  roll_over(ask, source, [&](const layout::Step& step, std::size_t first) {
    all = has_all(ask, step);
    if (!all) return false;
    maybes += out.take(first, step.num_now, [&](std::uint8_t* answers) {
      const auto answer = [&] { return answer_step(ask, step, answers); };
      return cold ? cold.ahead_of(step, answer) : answer();
    });
    return true;
  });
  if (!all) return Code::kPart;
  return maybes;
}

// Answers the digests of every partition. False: one has no memory here.
inline bool answer_partitions(const Ask& ask, Partitioned& sorted) noexcept {
  std::array<std::uint8_t, layout::kStep> answers;
  bool all = true;
  const ColdPages cold(ask);
  if (cold) cold.read(0, sorted.count());
  for (std::size_t partition = 0; partition < sorted.count() && all; ++partition) {
    if (cold && partition + 1 < sorted.count()) cold.read(partition + 1, sorted.count());
    const std::span<const std::uint64_t> digests = sorted[partition];
    layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t first) {
      all = has_all(ask, step);
      if (!all) return false;
      answer_step(ask, step, answers.data());
      sorted.put(partition, first, std::span(answers).first(step.num_now));
      return true;
    });
  }
  return all;
}

// Asks the keys [first, first + size), partition by partition.
template <class Source, class Out>
Count contains_sorted(const Ask& ask, const Source& source, Out& out, std::size_t first, std::size_t size,
                      std::byte* scratch) noexcept {
  Partitioned sorted(Partitioning::of(ask.body_bytes, size), size, scratch);
  sorted.sort(size, ask.part().parts, [&](std::size_t i) { return source.digest(first + i); });
  if (!answer_partitions(ask, sorted)) return Code::kPart;
  bool all = true;
  const auto answer_alone = [&](std::uint64_t digest) -> std::uint8_t {
    all = all && (!ask.is_part() || ask.target.has(digest));
    return all && ask.answer(digest) == 0 ? 0 : 1;
  };
  std::uint64_t maybes = 0;
  Partitioned::Answers sorted_answers(sorted);
  for (std::size_t done = 0; done < size; done += layout::kStep) {
    const std::size_t num_now = std::min(layout::kStep, size - done);
    maybes += out.take(first + done, num_now, [&](std::uint8_t* answers) {
      std::size_t found = 0;
      for (std::size_t i = 0; i < num_now; ++i) {
        const std::uint8_t* const answer = sorted_answers.next();
        answers[i] = answer != nullptr ? *answer : answer_alone(source.digest(first + done + i));
        found += answers[i];
      }
      return found;
    });
  }
  if (!all) return Code::kPart;
  return maybes;
}

// Returns the sum of what use(first, size) returns for the keys [first, first + size), or its first error.
template <class Use>
Count in_turns(std::size_t keys, std::size_t at_once, Use use) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t first = 0; first < keys; first += at_once) {
    const Count count = use(first, std::min(at_once, keys - first));
    if (!count.ok()) return count;
    sum += count.keys();
  }
  return sum;
}

// `source` has digests, or computes them (many.cpp). `out` takes the answers. Uses `scratch`, which may be empty, where
// that is faster. No allocation, no lock.
template <class Source, class Out>
Count contains_all(const Ask& ask, const Source& source, Out out, std::span<std::byte> scratch = {}) noexcept {
  const bool cold{ColdPages(ask)};
  const std::size_t at_once =
      ask.row.in_lines ? sorted_at_once(ask.body_bytes, cold, source.size(), scratch.size()) : 0;
  if (at_once == 0) return contains_rolling(ask, source, out);
  return in_turns(source.size(), at_once, [&](std::size_t first, std::size_t size) {
    return contains_sorted(ask, source, out, first, size, scratch.data());
  });
}

// Adds in the calling thread.
template <class Source>
Count add_rolling(Ask& ask, const Source& source) noexcept {
  std::uint64_t added = 0;
  Code refused = Code::kOk;
  roll_adds(ask, source, [&](const layout::Step& step, std::size_t first) {
    refused = has_all(ask, step) ? ask.may_add(first != 0) : Code::kPart;
    if (refused != Code::kOk) return false;
    const std::size_t changed = ask.adds.step(ask.lines, ask.target.geometry, step);
    ask.count_adds(step.num_now, changed);
    added += changed;
    return true;
  });
  if (refused == Code::kOk) refused = ask.was_added();
  if (refused != Code::kOk) return refused;
  return added;
}

// Adds the keys [first, first + size), partition by partition, and after them those that found no room.
template <class Source>
Count add_sorted(Ask& ask, const Source& source, std::size_t first, std::size_t size, std::byte* scratch) noexcept {
  Partitioned sorted(Partitioning::of(ask.body_bytes, size), size, scratch);
  sorted.sort(size, ask.part().parts, [&](std::size_t i) { return source.digest(first + i); });
  const Count added = in_turns(sorted.count(), 1, [&](std::size_t partition, std::size_t) {
    return add_rolling(ask, GivenDigests{sorted[partition]});
  });
  if (!added.ok() || !sorted.any_is_full()) return added;
  std::array<std::uint64_t, 512> without_room;
  std::size_t gathered = 0;
  Partitioned::Answers places(sorted);
  const Count others = in_turns(size, 1, [&](std::size_t i, std::size_t) -> Count {
    if (places.next() == nullptr) without_room[gathered++] = source.digest(first + i);
    if (gathered < without_room.size() && i + 1 < size) return std::uint64_t{0};
    return add_rolling(ask, GivenDigests{std::span(without_room).first(std::exchange(gathered, 0))});
  });
  return others.ok() ? Count(added.keys() + others.keys()) : others;
}

// Adds in the calling thread, as the only writer. Uses `scratch`, which may be empty, where that is faster.
template <class Source>
Count add_alone(Ask& ask, const Source& source, std::span<std::byte> scratch) noexcept {
  const std::size_t at_once =
      ask.row.in_lines ? sorted_at_once(ask.body_bytes, false, source.size(), scratch.size()) : 0;
  if (at_once == 0) return add_rolling(ask, source);
  return in_turns(source.size(), at_once, [&](std::size_t first, std::size_t size) {
    return add_sorted(ask, source, first, size, scratch.data());
  });
}

// Removes in the calling thread. After a refusal, does not report how many keys were removed before it, because a
// remove is never repeated.
template <class Source>
Count remove_all(Ask& ask, const Source& source) noexcept {
  if (!ask.removes()) return Code::kUnsupported;
  if (!has_all_of(ask, source)) return Code::kPart;
  std::unique_lock lock(ask.one_at_a_time, std::defer_lock);
  if (ask.alone) {
    if (!ask.born.here()) return Code::kForked;  // as in add_all()
    lock.lock();
  }
  const layout::Changes& removing = ask.alone ? ask.functions.counts.remove_alone : ask.functions.counts.remove;
  std::uint64_t removed = 0;
  Code refused = ask.may_remove();
  if (refused != Code::kOk) return refused;
  roll_over(ask, source, [&](const layout::Step& step, std::size_t first) {
    refused = has_all(ask, step) ? ask.may_remove(first != 0) : Code::kPart;
    if (refused != Code::kOk) return false;
    const std::size_t changed = removing.step(ask.lines, ask.target.geometry, step);
    ask.count_removes(changed);
    removed += changed;
    return true;
  });
  if (refused == Code::kOk) refused = ask.was_removed();
  if (refused != Code::kOk) return refused;
  return removed;
}

inline store::Lines lines_of(const Ask& ask) noexcept {
  const Part part = ask.part();
  const std::uint64_t count = ask.target.geometry.range / part.parts;
  return {count, part};
}

// Adds in the calling thread, or, if this handle is the only writer, in as many threads as the caller asked for.
template <class Source>
Count add_all(Ask& ask, const Source& source, std::span<std::byte> scratch = {}) noexcept {
  if (!has_all_of(ask, source)) return Code::kPart;
  if (!ask.alone) return add_rolling(ask, source);
  if (!ask.born.here()) return Code::kForked;  // a thread of the parent may hold the lock, and is not in this child
  const std::lock_guard lock(ask.one_at_a_time);
  const store::Lines lines = lines_of(ask);
  const bool worth_it =
      ask.threads > 1 && source.size() >= ask.threads * store::kFewestForAThread && lines.count >= 2 * ask.threads;
  if (!worth_it || !ask.row.in_lines) return add_alone(ask, source, scratch);
  try {
    const auto division = store::Division::of(lines, ask.body_bytes, ask.threads, source.size());
    return store::add_divided(lines, division, source, [&ask](std::span<const std::uint64_t> digests) {
      return add_rolling(ask, store::GivenDigests{digests});
    });
  } catch (const std::exception&) {
    return add_rolling(ask, source);  // memory or threads are lacking: adds in this thread
  }
}

}  // namespace bfstore::store
