// Shared by the tests of the foreign formats: bytes, and filters that are made of them in a directory of their own.
#pragma once

#include <bfstore/interop.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "support/support.hpp"

namespace foreign {

using namespace rooms;
using Bytes = std::vector<std::byte>;

inline Bytes of_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

inline ForeignForm form(const std::string& format, std::optional<BitOrder> order = {}) { return {format, order, {}}; }

inline Options unpublished(Options options) {
  options.unpublished = true;
  return options;
}

inline Result<ForeignFilter> inspected(std::span<const std::byte> first, const ForeignForm& as,
                                       const Options& options) {
  return inspect_foreign(first, as, &options);
}

// Imports these bytes into a file that never gets a name.
inline Result<Filter> imported(const Bytes& bytes, const ForeignForm& as, const Options& options) {
  const TemporaryDirectory directory;
  auto made = Filter::import_foreign(directory.file("f"), bytes, as, unpublished(options));
  CHECK(directory.entries() == 0);
  return made;
}

inline Bytes exported(const Filter& filter, const ForeignForm& as) {
  Bytes bytes(must(filter.exported_bytes(as)));
  must(filter.export_foreign(bytes, as));
  return bytes;
}

}  // namespace foreign
