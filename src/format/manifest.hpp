// The text file that lists the parts of a set (FORMAT.md, "A set of parts"). This code never opens the listed files.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bfstore::format {

inline constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{16} << 20;
inline constexpr std::size_t kMaxManifestLine = 4095;  // bytes: the longest path that Linux takes
inline constexpr std::uint32_t kMaxPartsOfSet = 65536;

struct ListedFile {
  std::size_t line;  // from 1
  std::string path;  // as it is written
};

// Returns "PATH, line 3", the place of an error.
std::string line_of(const std::string& manifest, std::size_t line);

// Reads the list, which has at least one file. `manifest` is the path of the text, for messages.
Result<std::vector<ListedFile>> read_manifest(std::string_view text, const std::string& manifest);

}  // namespace bfstore::format
