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

// True of a text that begins as a list of parts does.
bool begins_manifest(std::string_view bytes);

// Returns the path that leads to a listed file. `manifest` is the path of the list.
std::string path_of_listed(const std::string& manifest, const std::string& listed);

// Says what a list of parts is, and what to do where one filter file is needed. `text` may be only the begin of the
// list: then the number of parts is not said.
std::string one_file_words(std::string_view text, bool is_whole, const std::string& manifest);

// Returns "PATH, line 3", the place of an error.
std::string line_of(const std::string& manifest, std::size_t line);

// Reads the list, which has at least one file. `manifest` is the path of the text, for messages.
Result<std::vector<ListedFile>> read_manifest(std::string_view text, const std::string& manifest);

}  // namespace bfstore::format
