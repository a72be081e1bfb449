// See words.hpp. CLI11 knows the grammar. It would change a few unusual words, and so the keys. Therefore these words
// are masked before it parses and unmasked after.
#include "words.hpp"

#include "colour.hpp"
#include "description.hpp"
#include "failures.hpp"

#include <utility>

namespace bf {

using tools::kMask;

namespace {

constexpr const char* kStream = "-";

}  // namespace

// Makes the words for CLI11. Without masks CLI11 would split the key "[a,b]" in two, drop the key "++", take the next
// word as the value of "--note=", and refuse "--" after the first key. So this masks every word after the command's
// name that does not begin with a dash, and every word after "--".
std::vector<std::string> masked_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool named = false;
  bool only_text = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool dashed = word.starts_with('-');
    if (only_text || (named && !dashed)) {
      words.push_back(kMask + word);
    } else if (word == "--") {
      only_text = true;
    } else if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.push_back(tools::spelled(word.substr(0, word.size() - 1)));
      words.emplace_back(1, kMask);
    } else {
      named = named || !dashed;
      words.push_back(tools::spelled(std::move(word)));
    }
  }
  return words;
}

CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      Take take) {
  const std::size_t dashes = name.rfind("--");
  const std::string last = dashes == std::string::npos ? name : name.substr(dashes);
  const auto callback = [last, take = std::move(take)](const CLI::results_t& results) {
    for (const std::string& result : results) take(last, unmasked(result));
    return true;
  };
  return app.add_option(name, callback, help)->type_name(type)->type_size(1)->expected(1);
}

CLI::Option* add_path(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      std::string& path) {
  const auto take = [&path](const std::string& option, const std::string& text) { path = named_path(option, text); };
  return tools::mark_path(add_text(app, name, help, type, take));
}

CLI::Option* add_path_or_stream(CLI::App& app, const std::string& name, const std::string& help,
                                const std::string& type, std::string& path) {
  const auto take = [&path](const std::string& option, const std::string& text) {
    path = text == kStream ? text : named_path(option, text);
  };
  return tools::mark_path(add_text(app, name, help, type, take));
}

std::string named_path(const std::string& option, std::string text) {
  if (text.empty()) throw Failure(option + ": the name is empty. Give a path.");
  if (text != kStream) return text;
  throw Failure(option +
                ": - is no standard stream here, and would name a file. Give a path. For a file of that name: ./-");
}

}  // namespace bf
