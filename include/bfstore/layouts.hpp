// The layouts that this version knows, and what each can do.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bfstore {

// The abilities of a layout's filters. Other calls are kUnsupported.
struct Capabilities {
  bool add = false;        // keys, by any number of processes at once
  bool add_alone = false;  // keys, by the only writer, with plain stores
  bool remove = false;     // keys
  bool merge = false;      // another filter of the same shape
  bool intersect = false;  // with another filter of the same shape, into a new one
  bool fold = false;       // into a filter that is a whole number of times smaller
  bool grow = false;       // beyond the size that it was made with
  bool expire = false;     // keys, by their age
  bool build = false;      // once, from all keys; then the file is sealed, and takes no more
  // A body of ones answers "maybe" to every key, so a damaged part can be made to do so.
  bool ones_are_maybe = false;
};

struct LayoutInfo {
  Layout layout{};
  const char* name = nullptr;  // as the tools write it
  Capabilities can;
  // Bits of one of the m cells, a power of two: 1, or 4 if cells are counters.
  std::uint32_t cell_bits = 1;
  // Where keys expire: the number of epochs whose keys are found, including the current one. Otherwise 0.
  std::uint32_t epochs = 0;
};

// All layouts, in the order of their numbers.
[[nodiscard]] std::vector<LayoutInfo> layouts();

// Empty if there is no such layout.
[[nodiscard]] std::optional<LayoutInfo> layout_of(Layout layout) noexcept;
[[nodiscard]] std::optional<LayoutInfo> layout_named(std::string_view name) noexcept;

}  // namespace bfstore
