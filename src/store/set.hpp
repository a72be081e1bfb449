// A set: parts of one whole filter, behind one handle that asks. Each part is a handle of a file's, opened for reading.
// A digest is asked in its part alone, by the part's own kernel and words: so the answer is the part's own, and a
// part's doubt is doubt about its keys alone. A part that is not there answers "maybe".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/core.hpp"

namespace bfstore {

struct Filter::Core::Set {
  // The manifest is at `path`, an absolute one.
  static Result<std::unique_ptr<Set>> open(const std::string& path, const OpenOptions& options);

  // layout::Target::ask of the handle; the target's words lead to the set.
  static std::int32_t ask(const layout::Target& target, std::uint64_t digest) noexcept;
  // A step of roll.hpp: answers[i] is 1 for maybe and 0 for no. Returns how many are maybe.
  std::size_t ask_step(const layout::Step& step, std::uint8_t* answers) const noexcept;
  [[nodiscard]] std::uint64_t count(std::uint64_t digest) const noexcept;

  // The first part in doubt says why.
  [[nodiscard]] Code health() const noexcept;
  [[nodiscard]] Result<bool> is_current() const;
  // All of them, whatever happens; the first error.
  Error shut();
  // Of the parts that there are; the shape is that of the whole filter.
  [[nodiscard]] Stats stats(const Shape& whole, StatsWish wish) const;

  // Of the whole filter.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] const layout::Functions& functions() const noexcept { return there_.front()->functions; }

 private:
  // Where a digest is asked. Without the look whether it is the part's own, which it is.
  struct Place {
    const layout::Target* target;
    layout::Ask ask;
    const std::uint64_t* lines;  // nullptr where the part is not there
    const Core* part;
  };

  Set(std::string path, std::string text, bool no_follow) noexcept
      : path_(std::move(path)), text_(std::move(text)), no_follow_(no_follow) {}
  Error open_parts(const OpenOptions& options);
  [[nodiscard]] const Place& place_of(std::uint64_t digest) const noexcept {
    return places_[Part::number_of(digest, parts_)];
  }
  [[nodiscard]] Fill fill() const;

  std::vector<Place> places_;  // by the parts' numbers
  std::uint32_t parts_ = 1;
  layout::Geometry geometry_;                 // of the whole filter, in lines; every part's is the same
  std::vector<std::unique_ptr<Core>> there_;  // in the manifest's order
  const std::string path_;
  const std::string text_;  // of the manifest
  const bool no_follow_;
};

}  // namespace bfstore
