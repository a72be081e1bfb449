// The layouts of filters in buffers.
#pragma once

#include <bfstore/layouts.hpp>

#include <vector>

namespace rooms {

// Filters whose keys expire, that grow, or that are built once, are files (store_window_test, store_growing_test,
// filter_static_layout_test).
inline std::vector<bfstore::Layout> every_layout_in_memory() {
  std::vector<bfstore::Layout> all;
  for (const bfstore::LayoutInfo& info : bfstore::layouts()) {
    if (info.can.add && !info.can.expire && !info.can.grow) all.push_back(info.layout);
  }
  return all;
}

}  // namespace rooms
