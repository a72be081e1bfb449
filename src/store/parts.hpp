// Which parts of one filter there are: all of them are alike, and none is there twice. `Core` is Filter::Core.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fail.hpp"
#include "store/fit.hpp"

namespace bfstore::store {

inline constexpr const char* kUnnamedPart = "a part in a buffer";

template <class Core>
class PartsInOrder {
 public:
  using Places = std::map<std::uint32_t, const Core*>;  // by their numbers

  // kMismatch if it is no part of the filter of the first one, or there already. A whole filter is part 0 of 1.
  Error add(const Core& core) {
    if (first_ == nullptr) first_ = &core;
    if (Error error = check_alike(core); !error.ok()) return error;
    const Part part = core.part();
    const auto [place, is_new] = places_.try_emplace(part.number, &core);
    if (is_new) return {};
    return base::fail(Code::kMismatch, name_of(core, kUnnamedPart) + " and " + name_of(*place->second, kUnnamedPart) +
                                           ": are both part " + std::to_string(part.number) + " of " +
                                           std::to_string(part.parts) +
                                           ". Give every part once, and merge equal ones before (bf merge).");
  }

  [[nodiscard]] const Core& first() const noexcept { return *first_; }
  [[nodiscard]] const Places& places() const noexcept { return places_; }

 private:
  // Parts of one filter, but for their numbers.
  [[nodiscard]] Error check_alike(const Core& core) const {
    Differences differ = differences(core, *first_);
    differ.part = core.part().parts != first_->part().parts;
    if (differ.but_for_the_size() && !differ.num_bits) return {};
    return base::fail(Code::kMismatch,
                      name_of(core, kUnnamedPart) + " and " + name_of(*first_, kUnnamedPart) +
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
    say(differ.secret, "secret key");
    say(differ.num_probes, "number of probes");
    say(differ.num_bits, "number of bits");
    say(differ.part, "number of parts");
    return words;
  }

  const Core* first_ = nullptr;
  Places places_;
};

}  // namespace bfstore::store
