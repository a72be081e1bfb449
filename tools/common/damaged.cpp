// See damaged.hpp.
#include "damaged.hpp"

#include <bfstore/layouts.hpp>

#include <algorithm>
#include <iterator>

namespace tools {
namespace {

using namespace std::string_view_literals;

struct Change {
  std::string_view bytes;
  const char* words;
};

constexpr const char* kLineEnds = "a filter file whose line ends were converted";
constexpr const char* kTakenForText = "a filter file that was taken for text and written in another encoding";

constexpr Change kChanges[] = {
    {"\x89"
     "BFS\n\x1a\n"sv,
     kLineEnds},
    {"\x89"
     "BFS\r\r\n\x1a"sv,
     kLineEnds},
    {"\x09"
     "BFS\r\n\x1a\n"sv,
     "a filter file that lost the eighth bit of its bytes"},
    {"\xC2\x89"
     "BFS"sv,
     kTakenForText},
    {"\xEF\xBF\xBD"
     "BFS"sv,
     kTakenForText},
};

}  // namespace

const char* changed_filter(std::string_view first_bytes) {
  const auto* const found = std::find_if(std::begin(kChanges), std::end(kChanges),
                                         [&](const Change& change) { return first_bytes.starts_with(change.bytes); });
  return found == std::end(kChanges) ? nullptr : found->words;
}

std::string or_put_copy_back(const std::string& path, bool sealed) {
  return sealed ? "or put an undamaged copy of this same sealed file in its place (bf seal COPY " + path + " --force)."
                : kByThreeSteps;
}

std::string layout_to_keep(const bfstore::Report& report) {
  if (!report.identity) return "";
  const auto layout = bfstore::layout_of(bfstore::Layout{report.identity->layout});
  if (!layout || layout->layout == bfstore::Layout::kBlocked || layout->can.expire) return "";
  return std::string(" --layout ") + layout->name;
}

std::string build_again(const std::string& path) {
  const auto report = bfstore::inspect(path, false);
  return "bf build --force" + (report.ok() ? layout_to_keep(*report) : "");
}

}  // namespace tools
