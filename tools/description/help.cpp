// See help.hpp. CLI11 breaks no lines and has one help for all, so only its options and groups are used here.
#include "help.hpp"

#include "colour.hpp"

#include <bfstore/bfstore.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace tools {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kMostNameColumns = 28;  // a longer name has a line of its own
constexpr std::size_t kUsualOptions = 5;

// $COLUMNS, or the width of the terminal, or 80.
std::size_t terminal_columns() {
  if (const char* const said = std::getenv("COLUMNS")) {
    const std::string_view text(said);
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns > 0) return columns;
  }
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

std::size_t help_columns() {
  constexpr std::size_t kLeast = 40;  // a narrower terminal breaks the lines itself
  constexpr std::size_t kMost = 100;  // longer lines are hard to read
  return std::clamp(terminal_columns(), kLeast, kMost);
}

Lines lines_of(const std::string& text) { return CLI::detail::split(text, '\n'); }

std::string trimmed(std::string text) { return CLI::detail::trim(text); }

// Splits at blanks, but not between brackets or quotes.
Lines pieces_of(const std::string& text, std::string_view opening, std::string_view closing) {
  Lines pieces(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (opening.find(c) != std::string_view::npos) ++depth;
    if (closing.find(c) != std::string_view::npos) --depth;
    if (c == ' ' && depth == 0 && !quoted) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  std::erase(pieces, "");
  return pieces;
}

// Returns the text with `by` for each of these characters.
std::string replaced(std::string text, std::string_view characters, char by) {
  for (char& c : text) {
    if (characters.find(c) != std::string_view::npos) c = by;
  }
  return text;
}

Lines words_of(const std::string& text) {
  Lines words = CLI::detail::split(text, ' ');
  std::erase(words, "");
  return words;
}

// Breaks a text into lines. The first one is `first` and what fits after it, and the others begin with `rest` blanks.
// Every line but the last ends with `end`.
std::string filled(std::string first, const Lines& pieces, std::size_t rest, std::size_t columns,
                   const std::string& end = "") {
  std::string lines;
  std::string line = std::move(first);
  bool empty = true;
  for (const std::string& piece : pieces) {
    if (!empty && line.size() + 1 + piece.size() + end.size() > columns) {
      lines += line + end + "\n";
      line = std::string(rest, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + piece;
    empty = false;
  }
  return lines + line + "\n";
}

// The name in two columns, and what it means.
std::string entry(const std::string& name, const std::string& about, std::size_t at, std::size_t columns) {
  std::string begin = "  " + name;
  if (begin.size() + 2 > at) return begin + "\n" + filled(std::string(at, ' '), words_of(about), at, columns);
  begin.resize(at, ' ');
  return filled(begin, words_of(about), at, columns);
}

std::size_t width_of_names(const std::vector<Entry>& entries, std::size_t columns) {
  const std::size_t most = std::min(kMostNameColumns, columns / 3);
  std::size_t widest = 0;
  for (const Entry& one : entries) {
    if (one.name.size() + 4 <= most) widest = std::max(widest, one.name.size() + 4);
  }
  return widest == 0 ? most : widest;
}

std::string section(const std::string& title, const std::vector<Entry>& entries, std::size_t at, std::size_t columns) {
  if (entries.empty()) return "";
  std::string text = "\n" + title + ":\n";
  for (const Entry& one : entries) text += entry(one.name, one.about, at, columns);
  return text;
}

Entry entry_of(const CLI::Option& option) {
  Entry entry;
  if (option.get_positional()) {
    entry.name = option.get_name(true);
    if (option.get_allow_extra_args()) entry.name += "...";
  } else {
    for (const std::string& name : option.get_snames()) entry.name += (entry.name.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.get_lnames()) entry.name += (entry.name.empty() ? "--" : ", --") + name;
  }
  const std::string type = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  entry.name += type.empty() ? "" : " " + type;
  entry.about = option.get_description();
  return entry;
}

// What a long description says before its first colon outside of parentheses, where its list begins.
std::string in_short(const std::string& about) {
  constexpr std::size_t kLong = 160;
  if (about.size() <= kLong) return about;
  int depth = 0;
  for (std::size_t i = 0; i < about.size(); ++i) {
    if (about[i] == '(') ++depth;
    if (about[i] == ')') --depth;
    if (depth == 0 && about.compare(i, 2, ": ") == 0) return about.substr(0, i);
  }
  return about;
}

// A line of a list such as "  0  healthy": the length of what is before its text; 0 if the line is an example.
std::size_t list_mark(const std::string& line) {
  const std::size_t blank = line.find(' ', 2);
  const bool is_list = blank != std::string::npos && blank + 2 < line.size() && line[blank + 1] == ' ';
  return is_list ? blank + 2 : 0;
}

// An indented line is an example, or of a list. Deeper lines continue it.
std::string indented(const std::string& line, std::size_t columns) {
  const std::size_t mark = list_mark(line);
  if (mark != 0) return filled(line.substr(0, mark), words_of(line.substr(mark)), mark, columns);
  return filled("  ", pieces_of(line, "", ""), 6, columns, " \\");
}

// Fills each paragraph. Empty lines separate them.
std::string footer_text(const std::string& footer, std::size_t columns) {
  std::string text;
  std::string open;  // the lines of a paragraph, or of one indented line, in one line
  const auto close = [&] {
    if (!open.empty()) text += open[0] == ' ' ? indented(open, columns) : filled("", words_of(open), 0, columns);
    open.clear();
  };
  for (const std::string& line : lines_of(footer)) {
    const bool deeper = line.starts_with("   ");
    if (line.empty() || (line.starts_with(" ") ? !deeper : open.starts_with(" "))) close();
    if (line.empty()) text += "\n";
    if (!open.empty()) {
      open += " " + trimmed(line);
    } else if (!line.empty()) {
      open = line;
    }
    if (!deeper && open.starts_with(" ") && list_mark(open) == 0) close();
  }
  close();
  return text;
}

// Titles are bold: lines with a colon at the end after an empty line, and the usage's.
std::string with_titles(const std::string& text, bool colour) {
  const std::string usage = "Usage:";
  const Lines lines = lines_of(text);
  std::string shown;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool titled = line.ends_with(':') && !line.starts_with(' ') && (i == 0 || lines[i - 1].empty());
    const std::size_t title = titled ? line.size() : line.starts_with(usage) ? usage.size() : 0;
    if (title > 0) shown += inked(line.substr(0, title), Ink::kBold, colour);
    shown += line.substr(title) + "\n";
  }
  return shown;
}

class Help : public CLI::Formatter {
 public:
  Help(const std::string& usage, Lines usual) : usual_(std::move(usual)) {
    for (const std::string& line : lines_of(usage)) {
      if (line.starts_with(' ') && !usage_.empty()) {
        usage_.back() += " " + trimmed(line);
      } else {
        usage_.push_back(line);
      }
    }
  }

  std::string make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode mode) const override {
    const std::size_t columns = help_columns();
    std::string text =
        filled("", words_of(app->get_description() + (app->get_description().ends_with('.') ? "" : ".")), 0, columns);
    text += mode == CLI::AppFormatMode::All ? all_of(*app, columns) : short_of(*app, columns);
    text.pop_back();  // the last line's end
    return with_titles(text, has_colour(STDOUT_FILENO));
  }

  void set(Texts texts) { texts_ = std::move(texts); }
  [[nodiscard]] const Texts& texts() const { return texts_; }
  void set(std::vector<Group> groups) { groups_ = std::move(groups); }

  // All ways to call the command.
  [[nodiscard]] std::string usage(const std::string& before, std::size_t columns) const {
    return usage(usage_, before, columns);
  }

  // The options in no group come first, and in each group the usual ones.
  [[nodiscard]] std::vector<GroupedOptions> grouped(const CLI::App& app) const {
    std::vector<GroupedOptions> all{{"Options", {}}};
    for (const Group& group : groups_) all.push_back({group.title, {}});
    for (const CLI::Option* const option : in_order(app)) all[group_of(*option)].options.push_back(option);
    std::erase_if(all, [](const GroupedOptions& one) { return one.options.empty(); });
    return all;
  }

 private:
  static constexpr std::size_t kHanging = 4;

  static std::string usage(const Lines& ways, const std::string& before, std::size_t columns) {
    std::string text;
    for (const std::string& way : ways) {
      const std::string begin = text.empty() ? before : std::string(before.size(), ' ');
      text += filled(begin, usage_pieces(way, columns - before.size() - kHanging), before.size() + kHanging, columns);
    }
    return text;
  }

  static bool is_in(const CLI::Option& option, const std::string& way) {
    const Lines words = words_of(replaced(way, "[]()|", ' '));
    const auto has = [&](const std::string& name) {
      return std::find(words.begin(), words.end(), name) != words.end();
    };
    return std::any_of(option.get_lnames().begin(), option.get_lnames().end(),
                       [&](const std::string& name) { return has("--" + name); }) ||
           std::any_of(option.get_snames().begin(), option.get_snames().end(),
                       [&](const std::string& name) { return has("-" + name); });
  }

  // The first way to call the command, and each other one that alone has an option which the short help explains. A
  // line of options that all ways have is long, and for the long help alone.
  [[nodiscard]] Lines usual_ways(const CLI::App& app) const {
    Lines ways;
    const std::string program = usage_.front().substr(0, usage_.front().find(' ') + 1);
    for (const std::string& way : usage_) {
      const auto is_news = [&](const CLI::Option* option) {
        return is_in(*option, way) && std::none_of(ways.begin(), ways.end(),
                                                   [&](const std::string& before) { return is_in(*option, before); });
      };
      const std::vector<const CLI::Option*> shown = usual_of(app);
      if (ways.empty() || (way.starts_with(program) && std::any_of(shown.begin(), shown.end(), is_news)))
        ways.push_back(way);
    }
    return ways;
  }

  [[nodiscard]] std::string short_of(const CLI::App& app, std::size_t columns) const {
    std::string text = "\n" + usage(usual_ways(app), "Usage: ", columns);
    text += commands_of(app).empty() ? usual_options(app, columns) : usual_commands(app, columns);
    return text + "\n" + filled("", words_of(more(app)), 0, columns);
  }

  [[nodiscard]] std::string all_of(const CLI::App& app, std::size_t columns) const {
    std::string text = "\n" + usage("Usage: ", columns);
    if (!texts_.about.empty()) text += "\n" + footer_text(texts_.about, columns);
    text += commands(app, columns) + section("Topics", texts_.topics, width_of_names(texts_.topics, columns), columns);
    text += options(app, columns);
    if (!texts_.examples.empty()) text += "\nExamples:\n" + footer_text(texts_.examples, columns);
    return text + section("Exit codes", texts_.codes, width_of_names(texts_.codes, columns), columns);
  }

  // What is in brackets stays together where it fits in a line.
  static Lines usage_pieces(const std::string& usage, std::size_t columns) {
    Lines pieces;
    for (const std::string& piece : pieces_of(usage, "[(", "])")) {
      if (piece.size() <= columns) {
        pieces.push_back(piece);
      } else {
        for (const std::string& word : words_of(piece)) pieces.push_back(word);
      }
    }
    return pieces;
  }

  static std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
  }

  static std::string commands(const CLI::App& app, std::size_t columns) {
    std::vector<std::pair<std::string, std::vector<Entry>>> groups;
    std::vector<Entry> all;
    for (const CLI::App* const command : commands_of(app)) {
      if (groups.empty() || groups.back().first != command->get_group()) groups.push_back({command->get_group(), {}});
      all.push_back({command->get_name(), command->get_description()});
      groups.back().second.push_back(all.back());
    }
    const std::size_t at = width_of_names(all, columns);
    std::string text;
    for (const auto& [title, entries] : groups) text += section(title, entries, at, columns);
    return text;
  }

  // The usual commands, and the names of the others.
  [[nodiscard]] std::string usual_commands(const CLI::App& app, std::size_t columns) const {
    std::vector<Entry> entries;
    for (const std::string& name : usual_) entries.push_back({name, app.get_subcommand(name)->get_description()});
    Lines others;
    for (const CLI::App* const command : commands_of(app)) {
      if (std::find(usual_.begin(), usual_.end(), command->get_name()) == usual_.end())
        others.push_back(command->get_name() + ",");
    }
    if (!others.empty()) others.back().pop_back();
    return section("Usual commands", entries, width_of_names(entries, columns), columns) + "\nOther commands:\n" +
           filled("  ", others, 2, columns);
  }

  static bool has_name(const CLI::Option& option, const std::string& name) {
    const std::vector<std::string>& names = option.get_lnames();
    return name.starts_with("--") && std::find(names.begin(), names.end(), name.substr(2)) != names.end();
  }

  // 0: in no group.
  [[nodiscard]] std::size_t group_of(const CLI::Option& option) const {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::vector<std::string>& names = groups_[i].names;
      if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return has_name(option, name); }))
        return i + 1;
    }
    const bool is_short_help = option.get_lnames().empty();
    return is_short_help ? groups_.size() : 0;
  }

  // The usual options first, and -h, --help and --version last.
  [[nodiscard]] std::vector<const CLI::Option*> in_order(const CLI::App& app) const {
    std::vector<const CLI::Option*> own;
    std::vector<const CLI::Option*> last;
    if (commands_of(app).empty()) {
      for (const std::string& name : usual_) own.push_back(app.get_option(name));
    }
    for (const CLI::Option* const option : app.get_options()) {
      if (option->get_positional()) continue;
      if (option == app.get_help_ptr() || option == app.get_help_all_ptr() || option == app.get_version_ptr()) {
        last.push_back(option);
      } else if (std::find(own.begin(), own.end(), option) == own.end()) {
        own.push_back(option);
      }
    }
    own.insert(own.end(), last.begin(), last.end());
    return own;
  }

  static std::vector<Entry> places_of(const CLI::App& app) {
    std::vector<Entry> places;
    for (const CLI::Option* const option : app.get_options()) {
      if (option->get_positional()) places.push_back(entry_of(*option));
    }
    return places;
  }

  [[nodiscard]] std::string options(const CLI::App& app, std::size_t columns) const {
    const std::vector<Entry> places = places_of(app);
    std::vector<Entry> all = places;
    std::vector<std::pair<std::string, std::vector<Entry>>> sections;
    for (const GroupedOptions& group : grouped(app)) {
      sections.push_back({group.title, {}});
      for (const CLI::Option* const option : group.options) sections.back().second.push_back(entry_of(*option));
      all.insert(all.end(), sections.back().second.begin(), sections.back().second.end());
    }
    const std::size_t at = width_of_names(all, columns);
    std::string text = section("Arguments", places, at, columns);
    for (const auto& [title, entries] : sections) text += section(title, entries, at, columns);
    return text;
  }

  // The colour, which every command has, is no usual option.
  [[nodiscard]] std::vector<const CLI::Option*> usual_of(const CLI::App& app) const {
    std::vector<const CLI::Option*> shown;
    if (!commands_of(app).empty()) return shown;
    for (const CLI::Option* const option : in_order(app)) {
      const bool is_last = option->get_lnames().empty() || has_name(*option, "--help") ||
                           has_name(*option, "--version") || has_name(*option, kColourOption);
      const bool is_rare = usual_.empty() && std::none_of(usage_.begin(), usage_.end(),
                                                          [&](const std::string& way) { return is_in(*option, way); });
      if (is_last || is_rare || shown.size() == (usual_.empty() ? kUsualOptions : usual_.size())) continue;
      shown.push_back(option);
    }
    return shown;
  }

  [[nodiscard]] std::string usual_options(const CLI::App& app, std::size_t columns) const {
    const std::vector<Entry> places = places_of(app);
    std::vector<Entry> entries;
    for (const CLI::Option* const option : usual_of(app)) {
      entries.push_back(entry_of(*option));
      entries.back().about = in_short(entries.back().about);
    }
    std::vector<Entry> all = places;
    all.insert(all.end(), entries.begin(), entries.end());
    const std::size_t at = width_of_names(all, columns);
    return section("Arguments", places, at, columns) + section("Options", entries, at, columns);
  }

  // The last line of the short help.
  static std::string more(const CLI::App& app) {
    const std::string name =
        app.get_parent() == nullptr ? app.get_name() : app.get_parent()->get_name() + " " + app.get_name();
    if (commands_of(app).empty()) return name + " --help shows all options and examples.";
    return name + " COMMAND -h shows the usual options of a command, and " + name + " help COMMAND all of it. " + name +
           " --help says what each command does.";
  }

  Lines usage_;
  Lines usual_;
  Texts texts_;
  std::vector<Group> groups_;
};

Help& help_of(const CLI::App& app) { return dynamic_cast<Help&>(*app.get_formatter()); }

}  // namespace

void add_help_and_version(CLI::App& app, const std::string& usage, const std::vector<std::string>& usual) {
  const std::string program = usage.substr(0, usage.find(' '));
  app.formatter(std::make_shared<Help>(usage, usual));
  app.set_help_flag("-h", "print a short help and exit");
  app.set_help_all_flag("--help", "print this help and exit");
  app.set_version_flag("--version", program + " " + bfstore::version(), "print the version and exit");
}

std::string list_text(const std::string& title, const std::vector<Entry>& entries, const std::string& after) {
  const std::size_t columns = help_columns();
  const std::string list = section(title, entries, width_of_names(entries, columns), columns).substr(1);
  return with_titles(list + "\n" + filled("", words_of(after), 0, columns), has_colour(STDOUT_FILENO));
}

std::string in_lines(const std::string& paragraph) {
  constexpr std::size_t kMost = 80;
  return filled("", words_of(paragraph), 0, std::min(kMost, help_columns()));
}

void set_texts(CLI::App& app, Texts texts) { help_of(app).set(std::move(texts)); }

const Texts& texts_of(const CLI::App& app) { return help_of(app).texts(); }

void set_groups(CLI::App& app, std::vector<Group> groups) { help_of(app).set(std::move(groups)); }

std::vector<GroupedOptions> grouped_options(const CLI::App& app) { return help_of(app).grouped(app); }

std::string usage_of(const CLI::App& app, std::size_t columns) { return help_of(app).usage("", columns); }

}  // namespace tools
