// The layouts that this version knows, and what each can do.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace bfstore {

// What a filter of a layout can do. What it cannot is kUnsupported where it is asked for.
struct Capabilities {
  bool add = false;        // keys, by any number of processes at once
  bool add_alone = false;  // keys, with plain stores, by the only process that adds
  bool remove = false;     // keys
  bool merge = false;      // another filter of the same shape
  bool fold = false;       // into a filter that is a whole number of times smaller
  // A body of ones answers "maybe" to everything: so a part that is damaged can be made to.
  bool ones_are_maybe = false;
};

struct LayoutInfo {
  Layout layout{};
  const char* name = nullptr;  // as the tools write it
  Capabilities can;
};

// All of them, in the order of their numbers.
[[nodiscard]] std::vector<LayoutInfo> layouts();

// Nothing if there is no such layout.
[[nodiscard]] std::optional<LayoutInfo> layout_of(Layout layout) noexcept;
[[nodiscard]] std::optional<LayoutInfo> layout_named(std::string_view name) noexcept;

// The mean part of the m bits that is set when n keys are in them, with k probes each.
[[nodiscard]] std::optional<double> expected_fill(Layout layout, std::uint64_t num_keys, std::uint64_t num_bits,
                                                  std::uint32_t num_probes) noexcept;

}  // namespace bfstore
