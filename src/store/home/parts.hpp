// The parts of one filter: all of them are alike, and none is there twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fail.hpp"
#include "store/home/fit.hpp"

namespace bfstore::store {

inline constexpr const char* kUnnamedPart = "a part in a buffer";

class PartsInOrder {
 public:
  using ByNumber = std::map<std::uint32_t, const Ask*>;  // by their numbers

  // Adds a part. kMismatch if it is no part of the first one's filter, or already there. A whole filter is part 0 of 1.
  Error add(const Ask& ask) {
    if (first_ == nullptr) first_ = &ask;
    if (Error error = check_alike(ask); !error.ok()) return error;
    const Part part = ask.part();
    const auto [there, is_new] = by_number_.try_emplace(part.number, &ask);
    if (is_new) return {};
    return base::fail(Code::kMismatch, ask.home->name(kUnnamedPart) + " and " +
                                           there->second->home->name(kUnnamedPart) + ": are both part " +
                                           std::to_string(part.number) + " of " + std::to_string(part.parts) +
                                           ". Give every part once, and merge equal ones before (bf merge).");
  }

  [[nodiscard]] const Ask& first() const noexcept { return *first_; }
  [[nodiscard]] const ByNumber& by_number() const noexcept { return by_number_; }

 private:
  // Checks that the part differs from the first one only in its number.
  [[nodiscard]] Error check_alike(const Ask& ask) const {
    Differences differ = differences(ask, *first_);
    differ.part = ask.part().parts != first_->part().parts;
    if (differ.but_for_the_size() && !differ.num_bits) return {};
    return base::fail(Code::kMismatch,
                      ask.home->name(kUnnamedPart) + " and " + first_->home->name(kUnnamedPart) +
                          ": are not parts of one filter, since they differ in " + words_of(differ) +
                          ". Make all parts with one seed and size, or like each other (bf build --like).");
  }

  static std::string words_of(const Differences& differ) {
    std::string words;
    const auto say = [&](bool is, const char* what) {
      if (is) words += (words.empty() ? "" : ", ") + std::string(what);
    };
    say(differ.layout, "layout");
    say(differ.hash, "hash");
    say(differ.seed, "seed");
    say(differ.secret, "secret");
    say(differ.num_probes, "number of probes");
    say(differ.num_bits, "number of bits");
    say(differ.part, "number of parts");
    return words;
  }

  const Ask* first_ = nullptr;
  ByNumber by_number_;
};

}  // namespace bfstore::store
