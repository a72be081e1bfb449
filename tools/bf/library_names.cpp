// See library_names.hpp.
#include "library_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace bf {
namespace {

using Name = std::pair<std::string_view, std::string_view>;
// Words that are English, too, stay: a user finds --capacity from "capacity".
constexpr std::array kNames{
    Name{"num_bits", "--bits"},
    Name{"num_probes", "--probes"},
    Name{"bits_per_key", "--bits-per-key"},
    Name{"max_bytes", "--max-bytes"},
    Name{"Build it (bf build, bfs_build), or create it unpublished, add the keys and publish it.",
         "Build it (bf build)."},
    Name{"Open it for reading, or build another one.",
         "Add to the filter that it was made of, or build another one from all keys (bf build)."},
    Name{"Open each part by itself", "Give its parts one by one"},
    Name{"capacity_at_most", "--capacity-at-most"},
    Name{" and seeds", " and --seeds"},
    Name{"with the seeds", "with --seeds"},
    Name{"open it with the option tolerate damage", "ask it with bf contains --tolerate-damage"},
    Name{"No mark was stored. Recover it (bf recover) with the keys after the marks,",
         "No mark was stored, so any key may be missing. Recover it (bf recover FILE --from ALL-KEYS),"},
    Name{"accept the loss, or", "accept the loss (bf recover --accept-loss), or"},
    Name{"Open the path again, and add again the keys that are not in the new file.",
         "The new file may lack the keys that were added here: add them again (bf add)."},
    Name{"Give the window: for how long they are kept.", "Give --window, for how long they are kept, such as 24h."},
    Name{"Give no window, or a layout that has one.", "Leave --window out, or give --layout window."},
    Name{" of its own: ask them together.", " of its own: ask them together (bf contains --any)."},
    Name{"Correct the path, or create it first.", "Give the path of a filter."},
    Name{
        " bytes are too few for a header and a filter. Give more.",
        " bytes (--max-bytes) are too few for a header and a filter, whatever the other numbers are. The smallest file "
        "has 20,488 bytes."},
    Name{"is not a delta. Remove it, or choose another name.",
         "is no delta, and --force replaces deltas alone. Choose another name, or move it away first (mv)."},
    Name{"Drop an owner whose log has ended.",
         "Give an owner that has a mark (--owner), or let a program drop one whose log has ended (bfs_drop_owner)."},
    Name{"list of seeds. Give one, such as", "list of seeds. Give --seeds, such as"}};

// "100000000 keys" becomes "100,000,000 keys", as in bf's own words. Bytes of a path stay.
std::string with_grouped_numbers(const std::string& text, std::size_t begin) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kShort = 4;
  std::string made = text.substr(0, begin);
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    const std::string_view after = std::string_view(text).substr(end);
    const bool counts = after.starts_with(" keys") || after.starts_with(" bits") || after.starts_with(" bytes") ||
                        after.starts_with(" are free");
    std::string word = text.substr(at, end - at);
    if (counts && word.size() > kShort && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(')) {
      for (std::size_t left = word.size(); left > 3; left -= 3) word.insert(left - 3, 1, ',');
    }
    made += word;
    at = std::min(text.find_first_of(kDigits, end), text.size());
    made += text.substr(end, at - end);
  }
  return made;
}

}  // namespace

namespace {

// "1 keys" becomes "1 key".
std::string with_singulars(std::string text, std::size_t begin) {
  for (const auto& [many, one] : {Name{"1 bytes (--max-bytes) are too few", "1 byte (--max-bytes) is too little"},
                                  Name{"1 bytes", "1 byte"}, Name{"1 keys", "1 key"}, Name{"1 bits", "1 bit"}}) {
    for (std::size_t at = text.find(many, begin); at != std::string::npos; at = text.find(many, at + 1)) {
      if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(') text.replace(at, many.size(), one);
    }
  }
  return text;
}

}  // namespace

std::string with_names_of_options(const std::string& message, const std::string& file) {
  std::string text = message;
  const std::size_t begin = text.starts_with(file) ? file.size() : 0;
  for (const auto& [name, option] : kNames) {
    for (std::size_t at = text.find(name, begin); at != std::string::npos; at = text.find(name, at + option.size()))
      text.replace(at, name.size(), option);
  }
  constexpr std::string_view kFile = " FILE ";
  if (const std::size_t at = text.find(kFile, begin); begin != 0 && at != std::string::npos)
    text.replace(at + 1, kFile.size() - 2, file);
  return with_singulars(with_grouped_numbers(text, begin), begin);
}

}  // namespace bf
