#include "format/manifest.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace bfstore::format {
namespace {

using base::fail;

constexpr std::string_view kName = "bfstore-set ";
constexpr std::string_view kVersion = "1";

Error check_bytes(std::string_view line, const std::string& manifest, std::size_t number) {
  if (line.size() > kMaxManifestLine) {
    return fail(Code::kInvalid, line_of(manifest, number) + ": is " + std::to_string(line.size()) +
                                    " bytes long. Give a path of at most " + std::to_string(kMaxManifestLine) + ".");
  }
  if (line.find('\0') != std::string_view::npos)
    return fail(Code::kInvalid,
                line_of(manifest, number) + ": has a NUL byte, which no path has. Give one path in each line.");
  if (line.find('\r') != std::string_view::npos)
    return fail(Code::kInvalid,
                line_of(manifest, number) + ": has a carriage return (CR LF). End lines with LF alone.");
  return {};
}

Error check_first(std::string_view line, const std::string& manifest) {
  if (!line.starts_with(kName)) {
    return fail(Code::kMagic,
                manifest + ": does not list the parts of a set, whose first line is \"bfstore-set 1\". Give the list.");
  }
  if (Error wrong = check_bytes(line, manifest, 1); !wrong.ok()) return wrong;
  line.remove_prefix(kName.size());
  if (line == kVersion) return {};
  return fail(Code::kVersion, line_of(manifest, 1) + ": lists in version " + base::printable(line) +
                                  ", which this library does not know. Write version 1, or use a later library.");
}

}  // namespace

bool begins_manifest(std::string_view bytes) { return bytes.starts_with(kName); }

std::string path_of_listed(const std::string& manifest, const std::string& listed) {
  return listed.starts_with('/') ? listed : manifest.substr(0, manifest.rfind('/') + 1) + listed;
}

std::string one_file_words(std::string_view text, bool is_whole, const std::string& manifest) {
  if (!is_whole) text = text.substr(0, text.rfind('\n') + 1);
  const auto listed = read_manifest(text, manifest);
  const std::size_t parts = listed ? listed->size() : 0;
  const std::string number = parts == 0 || !is_whole ? "" : std::to_string(parts) + " ";
  const std::string example = parts == 0 ? "" : ", such as " + path_of_listed(manifest, listed->front().path);
  return "is a set of " + number + (parts == 1 && is_whole ? "part" : "parts") +
         ", which only lookups take as one file. Open each part by itself" + example +
         ", or join them to one file (bf join).";
}

std::string line_of(const std::string& manifest, std::size_t line) {
  return manifest + ", line " + std::to_string(line);
}

Result<std::vector<ListedFile>> read_manifest(std::string_view text, const std::string& manifest) {
  std::vector<ListedFile> listed;
  for (std::size_t number = 1; number == 1 || !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Error wrong = number == 1 ? check_first(line, manifest) : check_bytes(line, manifest, number);
    if (!wrong.ok()) return wrong;
    if (number == 1 || line.empty() || line.front() == '#') continue;
    if (listed.size() == kMaxPartsOfSet)
      return fail(Code::kInvalid,
                  line_of(manifest, number) + ": lists more than " + std::to_string(kMaxPartsOfSet) + " files.");
    listed.push_back({number, std::string(line)});
  }
  if (listed.empty()) return fail(Code::kInvalid, manifest + ": lists no part. Write the path of one part at least.");
  return listed;
}

}  // namespace bfstore::format
