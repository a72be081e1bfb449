// Checks what two filters must have in common, so that one can be merged into the other, intersected or compared with
// it.
#pragma once

#include <bfstore/compare.hpp>
#include <bfstore/hashes.hpp>

#include <string>

#include "base/fail.hpp"
#include "layout/fold.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

inline Differences differences(const Ask& one, const Ask& other) {
  Differences found;
  found.layout = one.shape.layout != other.shape.layout;
  found.hash = one.shape.hash != other.shape.hash;
  found.seed = one.shape.seed != other.shape.seed || one.seeds() != other.seeds();
  found.secret = !found.hash && one.secret.value() != other.secret.value();
  found.num_probes = one.shape.num_probes != other.shape.num_probes;
  found.num_bits = one.shape.num_bits != other.shape.num_bits;
  found.part = one.part() != other.part();
  return found;
}

// Returns how many times `from` is folded to have the size of `into`, or 0 if that is impossible.
inline std::uint64_t times_folded(const Ask& from, const Ask& into) {
  const std::uint64_t times = layout::times_larger(from.shape.num_bits, into.shape.num_bits);
  return times == 1 || from.folds() ? times : 0;
}

// Returns the differences that keep the keys of `from`, folded, from being found in `into`. Empty if there are none.
inline std::string misfit(const Ask& from, const Ask& into) {
  std::string found;
  const Differences differ = differences(from, into);
  const auto both = [&](const char* what, const std::string& one, const std::string& other) {
    found += std::string(what) + " " + one + " and " + other + ", ";
  };
  const auto numbers = [&](const char* what, std::uint64_t one, std::uint64_t other) {
    both(what, std::to_string(one), std::to_string(other));
  };
  if (differ.layout) both("layout", layout_of(from.shape.layout)->name, layout_of(into.shape.layout)->name);
  if (differ.hash) both("hash", hash_of(from.shape.hash)->name, hash_of(into.shape.hash)->name);
  if (differ.secret) found += "secret, ";
  const bool seed = from.shape.seed != into.shape.seed;
  if (seed) numbers("seed", from.shape.seed, into.shape.seed);
  const bool seeds = !differ.hash && from.seeds() != into.seeds();
  if (seeds) found += "list of seeds, ";
  if (differ.num_probes) numbers("number of probes", from.shape.num_probes, into.shape.num_probes);
  const auto part_of = [](const Ask& ask) {
    const Part part = ask.part();
    return std::to_string(part.number) + " of " + std::to_string(part.parts);
  };
  if (differ.part) both("part", part_of(from), part_of(into));
  if (times_folded(from, into) == 0) numbers("number of bits", from.shape.num_bits, into.shape.num_bits);
  return found.empty() ? found : found.substr(0, found.size() - 2);
}

// Checks that `from`, folded, has its keys' bits where `into` has them. The names are for filters that are in no file.
inline Error check_fit(const Ask& from, const char* from_name, const Ask& into, const char* into_name) {
  const std::string different = misfit(from, into);
  if (different.empty()) return {};
  return base::fail(Code::kMismatch,
                    from.home->name(from_name) + " and " + into.home->name(into_name) + ": differ in " + different +
                        ". Make filters that are to fit together like each other (bf create --like). "
                        "Only their numbers of bits may differ: that of " +
                        from.home->name(from_name) + " may be a multiple of the other, if the hash gives digests.");
}

}  // namespace bfstore::store
