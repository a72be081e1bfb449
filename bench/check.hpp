// No speed without truth: checks every subject before anything is timed.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "fail.hpp"
#include "subject.hpp"

namespace bench {

// The measured rate is within this factor of the theoretical one, either way, plus three standard errors.
inline constexpr double kFprTolerance = 1.02;

// At most this many questions are asked one by one. The rest is asked in batches, if the subject can, because it would
// take minutes.
inline constexpr std::size_t kMostAlone = 10'000'000;

// Counts the digests that may be present.
template <Asked S>
std::uint64_t count_maybes(const std::string&, const S& subject, std::span<const std::uint64_t> digests) {
  return ask_each(subject, digests);
}

// Asks one by one and in batches; the answers must agree.
template <class S>
requires Asked<S> && AskedMany<S> std::uint64_t count_maybes(const std::string& name, const S& subject,
                                                             std::span<const std::uint64_t> digests) {
  std::vector<std::uint8_t> answers(digests.size(), 2);
  const std::uint64_t counted = subject.contains_digests(digests, answers);
  for (std::size_t i = 0; i < std::min(digests.size(), kMostAlone); ++i) {
    if (answers[i] != (subject.contains_digest(digests[i]) ? 1 : 0))
      fail(name + ": one answer alone and among many differ for digest " + std::to_string(digests[i]));
  }
  const auto maybes = static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), 1));
  const auto noes = static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), 0));
  if (counted != maybes || maybes + noes != digests.size())
    fail(name + ": the batch counts " + std::to_string(counted) + " maybes and answers " + std::to_string(maybes));
  return maybes;
}

template <AskedByKey S>
void check_keys(const std::string& name, const S& subject, const Keys& keys) {
  std::vector<std::uint8_t> answers(keys.column.size(), 2);
  if constexpr (AskedByColumn<S>) static_cast<void>(subject.contains_column(keys.column, answers));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool of_digest = subject.contains_digest(keys.digests[i]);
    const bool column_differs = AskedByColumn<S> && answers[i] != (of_digest ? 1 : 0);
    if (column_differs || subject.contains(keys.column[i]) != of_digest) {
      fail(name + ": the answers for a key and for its digest differ, key number " + std::to_string(i));
    }
  }
}

// Returns the measured rate. A rival has no theory of ours to agree with.
inline double check_fpr(const std::string& name, std::uint64_t false_positives, std::uint64_t asked,
                        std::optional<double> promised) {
  const double measured = static_cast<double>(false_positives) / static_cast<double>(asked);
  if (!promised) return measured;
  const double theory = *promised;
  const double error = std::sqrt(theory * (1 - theory) / static_cast<double>(asked));
  const double most = theory * kFprTolerance + 3 * error;
  const double least = theory / kFprTolerance - 3 * error;
  if (measured >= least && measured <= most) return measured;
  std::ostringstream message;
  message << name << ": the false-positive rate is " << measured << ", and should be " << least << " to " << most;
  fail(message.str());
}

template <class S>
std::uint64_t add_all(S& subject, std::span<const std::uint64_t> digests) {
  if constexpr (FilledByMany<S>) {
    return subject.add_digests(digests);
  } else {
    return add_each(subject, digests);
  }
}

template <Removes S>
void remove_all(const std::string& name, S& subject, std::span<const std::uint64_t> digests) {
  const auto half = digests.size() / 2;
  std::uint64_t removed = remove_each(subject, digests.first(half));
  if constexpr (RemovesMany<S>) {
    removed += subject.remove_digests(digests.subspan(half));
  } else {
    removed += remove_each(subject, digests.subspan(half));
  }
  if (removed != digests.size()) fail(name + ": keys that were added were absent when they were removed");
}

// Adds and removes more keys, and checks that they are gone and took no other key with them. After all keys are
// removed, every answer must be no. The subject is as full as before when this returns.
template <Removes S>
void check_removes(const std::string& name, S& subject, const Population& population, const Truth& truth) {
  const std::span<const std::uint64_t> all = population.added.digests;
  const std::span<const std::uint64_t> besides = population.absent_queries;
  static_cast<void>(add_all(subject, besides));
  if (count_maybes(name, subject, besides) != besides.size()) fail(name + ": a wrong no for a key that was added last");
  remove_all(name, subject, besides);
  if (count_maybes(name, subject, all) != all.size()) fail(name + ": a wrong no after others were removed");
  if (count_maybes(name, subject, besides) != truth.maybes_of_absent) fail(name + ": what was removed is still there");
  remove_all(name, subject, all);
  if (count_maybes(name, subject, all) + count_maybes(name, subject, besides) != 0)
    fail(name + ": a filter without keys answers maybe");
  if (add_all(subject, all) != truth.new_keys) fail(name + ": an emptied filter is not as a new one");
}

// Fills the subject and checks it. `fpr` becomes the measured rate. Nothing is asked before the subject is full,
// because pages of a file that are first read are larger than those that are first written, and users write first.
template <class S>
Truth fill_and_check(const std::string& name, S& subject, const Population& population, std::optional<double> theory,
                     double& fpr) {
  Truth truth;
  const std::span<const std::uint64_t> absent = population.absent;
  truth.new_keys = add_all(subject, population.added.digests);
  const std::uint64_t found = count_maybes(name, subject, population.added.digests);
  if (found != population.added.digests.size()) {
    fail(name + ": a wrong no for " + std::to_string(population.added.digests.size() - found) +
         " of the keys that are in it");
  }
  fpr = check_fpr(name, count_maybes(name, subject, absent), absent.size(), theory);
  truth.maybes_of_absent = count_maybes(name, subject, population.absent_queries);
  truth.maybes_of_mixed = count_maybes(name, subject, population.mixed.digests);
  if constexpr (AskedByKey<S>) check_keys(name, subject, population.mixed);
  if constexpr (Removes<S>) check_removes(name, subject, population, truth);
  return truth;
}

}  // namespace bench
