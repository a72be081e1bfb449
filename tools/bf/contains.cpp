// bf contains: says which keys may be in a filter, and which are certainly absent.
#include "colour.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "foreign.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bf {
namespace {

void declare_contains(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf contains FILE [KEY... | --from PATH] [-0] [--maybe | --absent | --count | -q]\n"
      "                   [--secret-file PATH]\n"
      "bf contains FILE --any OTHER [--any OTHER]... [KEY... | --from PATH] ...\n"
      "bf contains --set FILE [KEY... | --from PATH] ...\n"
      "bf contains FILE --format F [--column C] [--member N] [--order little|big] [--hash H]\n"
      "                   [--bits M (--probes K | --seeds S) | --like OTHER | ...] [KEY... | --from PATH] ...",
      {"--from", "--maybe", "--absent", "--count", "--any"});
  add_file(app, arguments, "the filter");
  CLI::Option* const set = app.add_flag("--set", arguments.set, "FILE lists the parts of the filter");
  add_any(app, arguments)->excludes(set);
  add_keys(app, arguments);
  add_key_form(app, arguments);
  add_secret_file(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  app.add_flag("--copy", arguments.copy,
               "read the filter into memory first, so that later changes of the file do not matter");
  CLI::Option* const tolerate = app.add_flag("--tolerate-damage", arguments.tolerate_damage,
                                             "a sealed filter: answer maybe for keys in damaged places");
  app.add_flag("--verify", arguments.verify, "a sealed filter: compare it with its checksums first")
      ->excludes(tolerate);
  const auto choice = [&](const char* name, Answers answers, const char* help) {
    return app.add_flag_callback(
        name, [&arguments, answers] { arguments.answers = answers; }, help);
  };
  CLI::Option* const maybe = choice("--maybe", Answers::kMaybe, "print only the keys that may be present");
  CLI::Option* const absent = choice("--absent", Answers::kAbsent, "print only the keys that are certainly absent");
  CLI::Option* const count =
      choice("--count", Answers::kCount, "print only how many keys may be present, and how many are absent");
  CLI::Option* const none =
      choice("-q,--quiet", Answers::kNone, "print no answer: the exit code tells whether any key may be present");
  maybe->excludes(absent, count, none);
  absent->excludes(count, none);
  count->excludes(none);
  CLI::Option* const format = add_format(app, arguments, "");
  const std::size_t first = app.get_options().size();
  add_order(app, arguments);
  add_choice(app, arguments);
  add_unsaid(app, arguments, format, first);
  add_texts(
      app,
      std::string(
          "Prints maybe<TAB>KEY or absent<TAB>KEY for each key, in order. A list without keys is an error: the "
          "program\n"
          "that should have written it may have failed, and no key would be absent.\n"
          "\nWith --any, maybe<TAB>KEY is followed by <TAB>FILE for each filter that may have the key. Filters with "
          "one "
          "hash\n"
          "and seed (bf create --like) hash it once.\n"
          "\nA list of parts is the line bfstore-set 1, and one path a line, relative to the list's folder. Keys of a\n"
          "part that is not listed may be present.\n"
          "\nWith --format, FILE is another program's filter, which is asked where it is: no file is made, and the "
          "options\n"
          "for the order, the size and the hash say what its bytes do not (see bf import). A key is in a file of "
          "several filters if one of "
          "them\n"
          "has it. If the file changes meanwhile, the command ends with an error; --copy asks the file as it was.\n") +
          "\n" + kAboutKeys,
      "  bf contains users.bf alice\n  bf contains seen.bf --absent < urls.txt > new-urls.txt\n"
      "  bf contains spam.bf --any phishing.bf --any own.bf mallory@example.org\n"
      "  bf contains --set parts.set alice\n  bf contains words.jay --format jaybird --hash pybloom-live alice",
      answer_codes());
}

// Keys that belong to a part of a set which its list lacks. Each of them is maybe, whatever was added.
class Unlisted {
 public:
  Unlisted(const bfstore::Filter& filter, std::string name) : filter_(filter), name_(std::move(name)) {
    for (const bfstore::NoteOfFile& file : filter.notes()) {
      if (file.file == name_) continue;  // no set
      const auto part = bfstore::inspect(file.file, false);
      if (!part.ok() || !part->identity || !part->identity->part) return;
      listed_.resize(part->identity->part->part.parts);
      listed_[part->identity->part->part.number] = true;
    }
    lacks_ = std::count(listed_.begin(), listed_.end(), false) != 0;
  }

  void count(std::span<const std::string_view> keys) {
    if (!lacks_) return;
    for (const std::string_view key : keys) {
      const auto digest = filter_.digest(key);
      const auto parts = static_cast<std::uint32_t>(listed_.size());
      if (digest && !listed_[bfstore::Part::number_of(*digest, parts)]) ++keys_;
    }
  }

  void warn() const {
    if (keys_ == 0) return;
    bf::warn(name_ + ": lists " +
             grouped(static_cast<std::uint64_t>(std::count(listed_.begin(), listed_.end(), true))) + " of " +
             grouped(listed_.size()) + " parts. " + key_words(keys_) + (keys_ == 1 ? " belongs" : " belong") +
             " to no listed part, and " + (keys_ == 1 ? "its" : "their") +
             " maybe says nothing. Add the lines of all parts to " + name_ + ".");
  }

 private:
  const bfstore::Filter& filter_;
  std::string name_;
  std::vector<bool> listed_;  // by the parts' numbers
  bool lacks_ = false;
  std::uint64_t keys_ = 0;
};

class Asker {
 public:
  // `list` is the name of the list of keys.
  Asker(std::span<const bfstore::Filter> filters, const KeyForm& form, const std::string& list,
        const Arguments& arguments)
      : filter_(filters.front()), maker_(form, list), arguments_(arguments), which_(filters.size()) {
    for (const bfstore::Filter& filter : filters) filters_.push_back(&filter);
    for (std::size_t i = 0; i < filters_.size(); ++i) unlisted_.emplace_back(*filters_[i], name_of(i));
  }

  void ask(std::span<const std::string_view> lines);
  void finish();
  void flush() { output_.flush(); }

  [[nodiscard]] std::uint64_t keys_asked() const noexcept { return maybe_ + absent_; }
  [[nodiscard]] bool any_maybe() const noexcept { return maybe_ > 0; }

 private:
  void ask_batch(std::span<const std::string_view> lines);
  void refuse_other_part(std::span<const std::string_view> lines, std::span<const std::string_view> keys);
  // Asks several filters.
  void ask_any(std::string_view line, std::string_view key);
  [[nodiscard]] bool prints_keys() const noexcept {
    return arguments_.answers != Answers::kCount && arguments_.answers != Answers::kNone;
  }
  void print(std::string_view line, bool maybe);
  void print_which();
  // A filter in doubt answers "maybe" for every key: true, but useless, so the user should learn why.
  void check_health(bfstore::Code code) { check_health(code, arguments_.file); }
  void check_health(bfstore::Code code, const std::string& file);
  [[nodiscard]] const std::string& name_of(std::size_t number) const {
    return number == 0 ? arguments_.file : arguments_.sources[number - 1];
  }

  const bfstore::Filter& filter_;
  std::vector<const bfstore::Filter*> filters_;  // that one, and those of --any
  std::vector<Unlisted> unlisted_;               // of each
  KeyMaker maker_;
  const Arguments& arguments_;
  Output output_;
  std::string maybe_word_ = tools::inked("maybe", tools::Ink::kGreen, tools::has_colour(STDOUT_FILENO));
  std::string absent_word_ = tools::inked("absent", tools::Ink::kDim, tools::has_colour(STDOUT_FILENO));
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers_{};
  std::vector<std::uint8_t> which_;  // the answer of each filter
  std::uint64_t maybe_ = 0;
  std::uint64_t absent_ = 0;
};

void Asker::ask(std::span<const std::string_view> lines) {
  while (!lines.empty()) {
    const auto batch = lines.first(std::min(lines.size(), answers_.size()));
    ask_batch(batch);
    lines = lines.subspan(batch.size());
  }
}

void Asker::ask_batch(std::span<const std::string_view> lines) {
  const auto keys = maker_.keys_of(lines);
  for (Unlisted& unlisted : unlisted_) unlisted.count(keys);
  if (filters_.size() > 1) {
    for (std::size_t i = 0; i < lines.size(); ++i) ask_any(lines[i], keys[i]);
    return;
  }
  const bfstore::Count count = filter_.contains_keys(bfstore::Keys::views(keys), answers_);
  if (count.code() == bfstore::Code::kPart && !arguments_.set) refuse_other_part(lines, keys);
  check_health(count.ok() ? filter_.health() : count.code());
  maybe_ += count.keys();
  absent_ += keys.size() - count.keys();
  if (!prints_keys()) return;
  for (std::size_t i = 0; i < lines.size(); ++i) print(lines[i], answers_[i] != 0);
}

// Names the first key of another part, which the user may look for in a long list.
void Asker::refuse_other_part(std::span<const std::string_view> lines, std::span<const std::string_view> keys) {
  const bfstore::Part own = filter_.part();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto digest = filter_.digest(keys[i]);
    const std::uint32_t number = digest ? bfstore::Part::number_of(*digest, own.parts) : own.number;
    if (number == own.number) continue;
    output_.flush();
    const std::string parts = "/" + std::to_string(own.parts);
    throw Failure(arguments_.file + ": is part " + std::to_string(own.number) + parts + ", and the key '" +
                  std::string(lines[i]) + "' belongs to part " + std::to_string(number) + parts +
                  ". Ask all parts: bf contains --set.");
  }
}

void Asker::ask_any(std::string_view line, std::string_view key) {
  const bfstore::Count maybes = bfstore::Filter::contains_any(filters_, key, which_);
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    check_health(filters_[i]->health(), name_of(i));
    if (!maybes.ok())
      check_health(filters_[i]->contains_keys(bfstore::Keys::views({&key, 1}), answers_).code(), name_of(i));
  }
  if (!maybes.ok()) check_health(maybes.code());
  const bool maybe = maybes.keys() != 0;
  ++(maybe ? maybe_ : absent_);
  if (prints_keys()) print(line, maybe);
}

void Asker::print_which() {
  for (std::size_t i = 0; i < which_.size(); ++i) {
    if (which_[i] == 0) continue;
    output_.append("\t");
    output_.append(name_of(i));
  }
}

void Asker::print(std::string_view line, bool maybe) {
  if (arguments_.answers == Answers::kAll) {
    output_.append(maybe ? maybe_word_ : absent_word_);
    output_.append("\t");
  } else if (maybe != (arguments_.answers == Answers::kMaybe)) {
    return;
  }
  output_.append(line);
  if (filters_.size() > 1 && maybe && arguments_.answers == Answers::kAll) print_which();
  output_.append({&arguments_.list.separator, 1});
}

void Asker::check_health(bfstore::Code code, const std::string& file) {
  if (code == bfstore::Code::kOk) return;
  output_.flush();
  const bool foreign = !arguments_.form.format.empty();
  const std::string after = keys_asked() == 0 ? "" : " after " + key_words(keys_asked());
  const std::string why = doubt_words(code, arguments_.set ? "PART" : file);
  throw Failure(file + ": no answers" + after + ": " + why +
                (foreign ? ". Ask it while no program writes to it, or ask a copy of it (--copy)." : ""));
}

void Asker::finish() {
  if (arguments_.answers == Answers::kCount) {
    output_.append("maybe\t" + std::to_string(maybe_) + "\nabsent\t" + std::to_string(absent_) + "\n");
  }
  output_.flush();
  for (const Unlisted& unlisted : unlisted_) unlisted.warn();
}

void ask_all(Asker& asker, KeySource& source) {
  KeyReader reader(source);
  const bool terminal_is_free = ::isatty(STDOUT_FILENO) != 1 && !source.is_terminal();
  Progress progress("asking " + source.name(), source.bytes(), terminal_is_free);
  std::vector<std::string_view> keys;
  while (reader.next(keys)) {
    asker.ask(keys);
    if (reader.drained()) asker.flush();
    progress.show(asker.keys_asked(), reader.bytes_read());
  }
}

void ask_list(Asker& asker, KeySource& source) {
  try {
    ask_all(asker, source);
  } catch (const BadList& bad) {
    asker.finish();
    if (asker.keys_asked() == 0) throw;
    throw Failure(std::string(bad.what()) + " Only the first " + key_words(asker.keys_asked()) +
                  " of it got an answer.");
  }
}

std::string first_bytes(const std::string& file) {
  std::array<char, std::max(kFilterMagic.size(), kSetBegin.size())> head{};
  std::ifstream from(file, std::ios::binary);
  from.read(head.data(), head.size());
  return {head.data(), static_cast<std::size_t>(from.gcount())};
}

bool is_filter(const std::string& file) { return first_bytes(file).starts_with(kFilterMagic); }

// True for a filter that was truncated, and for a set, whose parts the error may be about.
bool is_ours(const std::string& file) {
  const std::string there = first_bytes(file);
  return there == kSetBegin || (!there.empty() && kFilterMagic.starts_with(there.substr(0, kFilterMagic.size())));
}

bfstore::Result<bfstore::Filter> open_own(const Arguments& arguments, const bfstore::OpenOptions& options) {
  auto own = open_filter(arguments, bfstore::OpenMode::kRead, options);
  const bool is_other =
      !own && (own.error().code == bfstore::Code::kMagic || own.error().code == bfstore::Code::kTooShort);
  if (!is_other) return own;
  refuse_foreign(arguments.file, arguments);
  if (is_ours(arguments.file)) return own;
  refuse_list(own.error(), arguments.file);
  throw Failure(own.error().message + " If it is another program's filter, give --format.");
}

bfstore::Result<bfstore::Filter> open_listed(const Arguments& arguments, const bfstore::OpenOptions& options) {
  auto set = open_set(arguments, options);
  if (set.ok()) return set;
  if (set.error().code == bfstore::Code::kMagic && is_filter(arguments.file))
    throw Failure(arguments.file + ": is a filter, and not a list of the parts of one. Leave --set out.");
  return set;
}

// For another program's filter, the library's message says which file does not exist.
bfstore::Filter opened(const Arguments& arguments, const bfstore::OpenOptions& options) {
  const bool foreign = !arguments.form.format.empty();
  if (!arguments.set && !foreign) return filter_of_keys(open_own(arguments, options), arguments.file);
  if (foreign) refuse_own_format(arguments.file);
  auto other = foreign ? open_foreign(arguments, options) : open_listed(arguments, options);
  if (!other) refuse_other_format(other.error(), arguments.file);
  bfstore::Filter filter = unwrap(std::move(other), arguments.file);
  refuse_external(filter, arguments.file);
  return filter;
}

// Throws Failure for an option that has no meaning for another program's filter.
void check_contains(Arguments& arguments) {
  if (arguments.form.format.empty()) return;
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given) throw Failure("contains: " + std::string(option) + " " + why + ". Leave it or --format out.");
  };
  refuse(!arguments.sources.empty(), "--any", "is for bfstore filters, and --format for one file of another program");
  refuse(arguments.set, "--set", "is for parts of bfstore filters, and --format for one file of another program");
  refuse(arguments.verify, "--verify", "is for sealed bfstore filters, and another program's file has no checksums");
  refuse(arguments.tolerate_damage, "--tolerate-damage",
         "is for sealed bfstore filters, and another program's file has no checksums");
  refuse(!arguments.secret_file.empty(), "--secret-file", "is for siphash, and no file with it is asked where it is");
  check_foreign(arguments);
}

// Opens the filters of --any.
void open_others(const Arguments& arguments, const bfstore::OpenOptions& options,
                 std::vector<bfstore::Filter>& filters) {
  for (const std::string& path : arguments.sources)
    filters.push_back(filter_of_keys(open_filter_at(path, arguments, bfstore::OpenMode::kRead, options), path));
}

// Of such a filter, perhaps an import, only the user knows what the other program made bytes of.
bool has_hash_of_another_program(const bfstore::Filter& filter) {
  return bfstore::hash_of(filter.shape().hash)->gives_positions;
}

// The form of the keys of all filters, and of all parts of a set.
KeyForm form_of_all(const Arguments& arguments, const std::vector<bfstore::Filter>& filters) {
  if (!arguments.form.format.empty()) {  // it is open: if another file has replaced it, this handle gives no answer
    OneForm form(form_of_foreign(arguments, arguments.file), "");
    form.take(note_of_like(arguments), arguments.file);
    return form.form();
  }
  OneForm forms(arguments.key_form, "Ask them one by one.");
  for (const bfstore::Filter& filter : filters) {
    for (const bfstore::NoteOfFile& one : filter.notes()) forms.take(one.note, one.file);
  }
  if (!std::all_of(filters.begin(), filters.end(), has_hash_of_another_program)) forms.refuse_to_ask();
  return forms.form();
}

int contains(const Arguments& arguments) {
  bfstore::OpenOptions options{.verify = arguments.verify, .tolerate_damage = arguments.tolerate_damage};
  options.map.copy = arguments.copy;
  std::vector<bfstore::Filter> filters;
  filters.push_back(opened(arguments, options));
  open_others(arguments, options, filters);
  const KeyForm form = form_of_all(arguments, filters);
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from, arguments.list);
  if (source) refuse_own_output(*source);
  Asker asker(filters, form, source ? source->name() : "KEY", arguments);
  if (source) {
    ask_list(asker, *source);
  } else {
    warn_of_doubtful_keys(arguments);
    asker.ask(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  asker.finish();
  // The program that should have written the list may have failed, and the exit code 1 would say "all absent".
  if (asker.keys_asked() == 0) throw Failure(source->name() + ": has no keys, so nothing was asked.");
  return asker.any_maybe() ? 0 : 1;
}

}  // namespace

const Command kContains{"contains", "Ask whether keys may be in a filter, or certainly are not", declare_contains,
                        contains, check_contains};

}  // namespace bf
