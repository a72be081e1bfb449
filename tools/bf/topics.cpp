// See topics.hpp.
#include "topics.hpp"

#include "key_form.hpp"
#include "options.hpp"

#include <bfstore/interop.hpp>

#include <cctype>

namespace bf {
namespace {

struct Topic {
  const char* name;
  const char* title;
  std::vector<tools::Entry> (*entries)();
  const char* after;
};

std::vector<tools::Entry> formats() {
  std::vector<tools::Entry> all;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats()) all.push_back({format.name, format.about});
  return all;
}

std::vector<tools::Entry> key_forms() {
  std::vector<tools::Entry> all;
  for (const KeyStep& step : key_steps()) all.push_back({step.name, step.about});
  return all;
}

std::vector<tools::Entry> key_rules() {
  return {
      {"a key", "any bytes, which bf does not interpret; a blank line is the empty key"},
      {"a line's end",
       "LF, or CR LF if all lines end so; it is not part of the key, nor is a byte order mark before the first one"},
      {"-0", "keys end in NUL instead, as find -print0 writes them"},
      {"--binary", "any bytes: no list is refused or decompressed, and no CR is left out"},
      {"gzip, xz, zstd, ...", "a compressed list is read through its program; a cut one is an error"},
      {"refused", "a list that is not lines of text: UTF-16, mixed line ends, an archive, a database"},
      {"-", "standard input, which is also read without KEY and --from"},
      {"--", "before a key that begins with a dash"}};
}

}  // namespace

std::vector<tools::Entry> exit_codes() {
  return {{"0", "it was done"},
          {"1", "contains, count, compare and verify: the answer is no (their help says what that means)"},
          {"2", kErrorCode},
          {"3", "bf inspect alone, whose codes are others: see bf inspect --help"}};
}

namespace {

// "exit-codes" of "Exit codes".
std::string hyphenated(std::string words) {
  for (char& c : words) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return words;
}

constexpr Topic kTopics[] = {
    {"exit", "Exit codes", exit_codes, "bf help COMMAND says what 1 means."},
    {"keys", "How keys are read (KEY, --from)", key_rules,
     "The last line may lack its end: it is a key, and bf says so. --key-form makes other keys of the lines: see bf "
     "help key-forms."},
    {"formats", "Formats of other programs' filters (--format)", formats,
     "The guide's page foreign.md says which keys the programs have."},
    {"key-forms", "Forms of keys: what a line of a list is (--key-form)", key_forms,
     "The form is text if none is given and no note names one. Several are applied in order: lower,hex."},
    {"topics", "What bf help explains besides the commands", topics, "bf help TOPIC shows one of them."},
};

}  // namespace

std::vector<tools::Entry> topics() {
  std::vector<tools::Entry> all;
  for (const Topic& topic : kTopics) {
    if (topic.entries != topics) all.push_back({topic.name, topic.title});
  }
  return all;
}

std::vector<std::string> names_of_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

std::string text_of_topic(const std::string& name) {
  for (const Topic& topic : kTopics) {
    if (name == topic.name || hyphenated(name) == topic.name || hyphenated(name) == hyphenated(topic.title))
      return tools::list_text(topic.title, topic.entries(), topic.after);
  }
  return "";
}

}  // namespace bf
