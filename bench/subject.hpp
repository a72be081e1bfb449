// A subject is measured next to the limit. It is any type that has these functions. A rival is one more such type, and
// one more line in rivals/rivals.cpp. It leaves out a function that it cannot have, and then has no such rows.
//
// The loops are instantiated for each type, so they call its code without an interface in between.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "keys.hpp"
#include "row.hpp"

namespace bench {

template <class S>
concept Asked = requires(const S& subject, std::uint64_t digest) {
  { subject.contains_digest(digest) } -> std::same_as<bool>;
};

template <class S>
concept AskedMany = requires(const S& subject, std::span<const std::uint64_t> digests,
                             std::span<std::uint8_t> answers) {
  // answers[i] is 0 or 1; returns the number of ones.
  { subject.contains_digests(digests, answers) } -> std::same_as<std::uint64_t>;
};

// The same with memory for sorting them, for as many as S::kFewestSorted.
template <class S>
concept AskedSorted = requires(const S& subject, std::span<const std::uint64_t> digests,
                               std::span<std::uint8_t> answers) {
  { subject.contains_sorted(digests, answers) } -> std::same_as<std::uint64_t>;
};

template <class S>
concept AskedByKey = requires(const S& subject, std::string_view key) {
  { subject.contains(key) } -> std::same_as<bool>;
};

template <class S>
concept AskedByColumn = requires(const S& subject, const Column& keys, std::span<std::uint8_t> answers) {
  { subject.contains_column(keys, answers) } -> std::same_as<std::uint64_t>;
};

// Adding returns the number of new keys, or always 0 if the subject does not tell.
template <class S>
concept Filled = requires(S& subject, std::uint64_t digest) {
  { subject.add_digest(digest) } -> std::same_as<std::uint64_t>;
  subject.clear();
};

// A subject that is not Filled, too, makes a new filter of the keys that it is given, as LevelDB and RocksDB do.
template <class S>
concept FilledByMany = requires(S& subject, std::span<const std::uint64_t> digests) {
  { subject.add_digests(digests) } -> std::same_as<std::uint64_t>;
  subject.clear();
};

// The same with memory for sorting them, for as many as S::kFewestSorted.
template <class S>
concept FilledSorted = FilledByMany<S> && requires(S& subject, std::span<const std::uint64_t> digests) {
  { subject.add_sorted(digests) } -> std::same_as<std::uint64_t>;
};

template <class S>
concept FilledByKey = requires(S& subject, const Column& keys) {
  { subject.add_column(keys) } -> std::same_as<std::uint64_t>;
};

// Removes digests that were added. Returns the number of those that were not certainly absent.
template <class S>
concept Removes = Filled<S> && requires(S& subject, std::uint64_t digest) {
  { subject.remove_digest(digest) } -> std::same_as<std::uint64_t>;
};

template <class S>
concept RemovesMany = requires(S& subject, std::span<const std::uint64_t> digests) {
  { subject.remove_digests(digests) } -> std::same_as<std::uint64_t>;
};

// A key that is added twice is in it twice. So adding keys again would change the filter, and has no row.
template <class S>
concept Counts = S::kCounts;

// The facts that check.hpp finds about a subject that is filled with the population's keys.
struct Truth {
  std::uint64_t new_keys = 0;  // keys that were new when they were added
  std::uint64_t maybes_of_mixed = 0;
  std::uint64_t maybes_of_absent = 0;
};

// --- The loops -------------------------------------------------------------------------------------------------------

// A subject that is a small value, which a hot loop keeps in a local variable.
template <class S>
concept SmallValue = S::kIsSmallValue;
template <class S>
struct InLoopOf {
  using Type = const S&;
};
template <SmallValue S>
struct InLoopOf<S> {
  using Type = const S;
};
template <class S>
using InLoop = typename InLoopOf<S>::Type;

template <class S>
std::uint64_t ask_each(const S& asked, std::span<const std::uint64_t> digests) {
  InLoop<S> subject = asked;
  std::uint64_t maybes = 0;
  for (const std::uint64_t digest : digests) maybes += subject.contains_digest(digest) ? 1U : 0U;
  return maybes;
}

// Asks like most programs, whose next step depends on the answer. If that cannot be predicted, it costs every filter
// some nanoseconds. The asm keeps the compiler from removing the branch.
template <class S>
std::uint64_t ask_and_branch(const S& asked, std::span<const std::uint64_t> digests) {
  InLoop<S> subject = asked;
  std::uint64_t maybes = 0;
  std::uint64_t noes = 0;
  for (const std::uint64_t digest : digests) {
    if (subject.contains_digest(digest)) {
      ++maybes;
      asm volatile("" : "+r"(maybes));
    } else {
      ++noes;
      asm volatile("" : "+r"(noes));
    }
  }
  return noes + maybes == digests.size() ? maybes : ~std::uint64_t{0};
}

template <class S>
std::uint64_t ask_each_key(const S& subject, const Column& keys) {
  std::uint64_t maybes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) maybes += subject.contains(keys[i]) ? 1U : 0U;
  return maybes;
}

template <class S>
std::uint64_t add_each(S& subject, std::span<const std::uint64_t> digests) {
  std::uint64_t added = 0;
  for (const std::uint64_t digest : digests) added += subject.add_digest(digest);
  return added;
}

template <class S>
std::uint64_t remove_each(S& subject, std::span<const std::uint64_t> digests) {
  std::uint64_t removed = 0;
  for (const std::uint64_t digest : digests) removed += subject.remove_digest(digest);
  return removed;
}

// --- The rows --------------------------------------------------------------------------------------------------------

// Makes rows that share place, name and facts.
struct RowMaker {
  std::string place;
  std::string subject;
  std::map<std::string, double> facts;
  Rows rows;

  Row& make(const char* operation, const char* way, const char* input, const char* present, std::uint64_t num_keys,
            std::uint64_t expected) {
    Row& row = rows.emplace_back();
    row.place = place;
    row.subject = subject;
    row.operation = operation;
    row.way = way;
    row.input = input;
    row.present = present;
    row.num_keys = num_keys;
    row.expected = expected;
    row.facts = facts;
    return row;
  }
};

template <Asked S>
void ask_rows(RowMaker& maker, const S& subject, const char* present, std::span<const std::uint64_t> digests,
              std::span<std::uint8_t> answers, std::uint64_t expected) {
  maker.make("contains", "single", "digests", present, digests.size(), expected).pass = [&subject, digests] {
    return ask_each(subject, digests);
  };
  maker.make("contains", "branchy", "digests", present, digests.size(), expected).pass = [&subject, digests] {
    return ask_and_branch(subject, digests);
  };
  if constexpr (AskedMany<S>) {
    maker.make("contains", "many", "digests", present, digests.size(), expected).pass = [&subject, digests, answers] {
      return subject.contains_digests(digests, answers);
    };
  }
  if constexpr (AskedSorted<S>) {
    if (digests.size() < S::kFewestSorted) return;
    maker.make("contains", "sorted", "digests", present, digests.size(), expected).pass = [&subject, digests, answers] {
      return subject.contains_sorted(digests, answers);
    };
  }
}

template <AskedByKey S>
void ask_key_rows(RowMaker& maker, const S& subject, const Column& keys, std::span<std::uint8_t> answers,
                  std::uint64_t expected) {
  maker.make("contains", "single", "keys", "mixed", keys.size(), expected).pass = [&subject, &keys] {
    return ask_each_key(subject, keys);
  };
  if constexpr (AskedByColumn<S>) {
    maker.make("contains", "many", "keys", "mixed", keys.size(), expected).pass = [&subject, &keys, answers] {
      return subject.contains_column(keys, answers);
    };
  }
}

// Every pass begins with an empty filter and ends with a full one, so that it does not affect the other rows.
template <Filled S>
void add_single_rows(RowMaker& maker, S& subject, const Population& population, const Truth& truth) {
  const std::span<const std::uint64_t> all = population.added.digests;
  Row& single = maker.make("add", "single", "digests", "absent", all.size(), truth.new_keys);
  single.prepare = [&subject] { subject.clear(); };
  single.pass = [&subject, all] { return add_each(subject, all); };
  if constexpr (Counts<S>) return;
  const auto there = population.present_queries;
  maker.make("again", "single", "digests", "present", there.size(), 0).pass = [&subject, there] {
    return add_each(subject, there);
  };
}

template <FilledByMany S>
void add_many_rows(RowMaker& maker, S& subject, const Population& population, const Truth& truth) {
  const std::span<const std::uint64_t> all = population.added.digests;
  Row& many = maker.make("add", "many", "digests", "absent", all.size(), truth.new_keys);
  many.prepare = [&subject] { subject.clear(); };
  many.pass = [&subject, all] { return subject.add_digests(all); };
  if constexpr (FilledSorted<S>) {
    if (all.size() >= S::kFewestSorted) {
      Row& sorted = maker.make("add", "sorted", "digests", "absent", all.size(), truth.new_keys);
      sorted.prepare = [&subject] { subject.clear(); };
      sorted.pass = [&subject, all] { return subject.add_sorted(all); };
      // In another order other keys are new: those that no key before them has made a false positive.
      sorted.prepare();
      sorted.expected = sorted.pass();
    }
  }
  if constexpr (!Filled<S> || Counts<S>) return;
  const auto there = population.present_queries;
  maker.make("again", "many", "digests", "present", there.size(), 0).pass = [&subject, there] {
    return subject.add_digests(there);
  };
}

template <FilledByKey S>
void add_key_rows(RowMaker& maker, S& subject, const Column& keys, const Truth& truth) {
  Row& many = maker.make("add", "many", "keys", "absent", keys.size(), truth.new_keys);
  many.prepare = [&subject] { subject.clear(); };
  many.pass = [&subject, &keys] { return subject.add_column(keys); };
}

// The removed keys are keys that no other row adds, and they are added before each pass. So a pass leaves the filter as
// it was. (The filter's own keys, added twice, could bring counters to their limit, where they stay.)
template <Removes S>
void remove_rows(RowMaker& maker, S& subject, const Population& population) {
  const std::span<const std::uint64_t> besides = population.absent_queries;
  const auto add = [&subject, besides] { static_cast<void>(add_each(subject, besides)); };
  Row& single = maker.make("remove", "single", "digests", "present", besides.size(), besides.size());
  single.prepare = add;
  single.pass = [&subject, besides] { return remove_each(subject, besides); };
  if constexpr (RemovesMany<S>) {
    Row& many = maker.make("remove", "many", "digests", "present", besides.size(), besides.size());
    many.prepare = add;
    many.pass = [&subject, besides] { return subject.remove_digests(besides); };
  }
}

// Makes all rows that the subject's functions allow. All arguments outlive the rows.
template <class S>
Rows subject_rows(RowMaker maker, S& subject, const Population& population, const Truth& truth,
                  std::span<std::uint8_t> answers) {
  const bool has_bytes = population.added.column.size() != 0;
  ask_rows(maker, subject, "mixed", population.mixed.digests, answers, truth.maybes_of_mixed);
  ask_rows(maker, subject, "absent", population.absent_queries, answers, truth.maybes_of_absent);
  ask_rows(maker, subject, "present", population.present_queries, answers, population.num_queries);
  if constexpr (AskedByKey<S>) {
    if (has_bytes) ask_key_rows(maker, subject, population.mixed.column, answers, truth.maybes_of_mixed);
  }
  if constexpr (Filled<S>) add_single_rows(maker, subject, population, truth);
  if constexpr (FilledByMany<S>) add_many_rows(maker, subject, population, truth);
  if constexpr (Removes<S>) remove_rows(maker, subject, population);
  if constexpr (FilledByKey<S>) {
    if (has_bytes) add_key_rows(maker, subject, population.added.column, truth);
  }
  return std::move(maker.rows);
}

}  // namespace bench
