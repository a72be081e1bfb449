// bf recover: adds again keys that a crash may have lost.
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/inspect.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace bf {
namespace {

void declare_recover(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app,
                       "bf recover FILE [KEY... | --from PATH] [-0] [--owner N]... [--all-owners] [--epoch N]\n"
                       "                        [--secret-file PATH] [-q]\n"
                       "bf recover FILE --no-keys [--owner N]... [--all-owners] [--epoch N] [--secret-file PATH] [-q]\n"
                       "bf recover FILE --accept-loss [--secret-file PATH] [-q]",
                       {"--from", "--owner", "--all-owners", "--no-keys", "--accept-loss"});
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  add_secret_file(app, arguments);
  CLI::Option* const owner = add_text(
      app, "--owner", "an owner of these keys, as in its mark; once for each", "N",
      [&](const std::string& name, const std::string& text) { arguments.owners.push_back(parse_uint64(name, text)); });
  owner->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1, CLI::detail::expected_max_vector_size);
  owner->allow_extra_args(false);  // what follows its number is a key
  owner->excludes(app.add_flag("--all-owners", arguments.all_owners, "these are the keys of every owner of a mark"));
  add_text(app, "--epoch", "the log of these keys; refused if a mark is of another log", "N",
           [&](const std::string& name, const std::string& text) { arguments.epoch = parse_uint64(name, text); });
  CLI::Option* const none = app.add_flag("--no-keys", arguments.no_keys, "no key was added after the marks");
  none->excludes(app.get_option("--from"), app.get_option("KEY"));
  CLI::Option* const loss =
      app.add_flag("--accept-loss", arguments.accept_loss, "use the filter without the keys that may be missing");
  for (const char* other : {"--from", "--owner", "--all-owners", "--epoch", "--no-keys"})
    loss->excludes(app.get_option(other));
  loss->excludes(app.get_option("KEY"));
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      std::string(
          "For a filter that is unclean or poisoned (see bfinspect). It has the keys up to the marks. Give all keys\n"
          "that were added after the marks: bf calls a key absent that you leave out. Until the keys of every owner\n"
          "are added, every answer is maybe, and bf contains exits with 2. No keys at all are an error without "
          "--no-keys, which "
          "needs "
          "a mark.\nWithout marks give every key that was added since the filter was last closed well, or simply "
          "every key: bf\nwarns of a list that is shorter than the filter counted, and recovers all the same. A "
          "counting "
          "filter\ncounts each add; a window also counts keys that it has forgotten, so bf looks for the keys of its "
          "fullest "
          "epoch.\n"
          "With --accept-loss it answers absent for keys that may have been lost. Of a counting filter give also the "
          "keys\n"
          "that were removed since, and remove none of them again.\n"
          "A recovery moves no mark. While one runs, another is refused, unless each has an owner of its own.\n") +
          "\n" + kAboutKeys,
      "  bf recover users.bf --from users-since-the-last-mark.txt");
}

constexpr std::uint64_t kNobody = 0;  // the owner of keys that have no marks

std::string list(const std::vector<std::uint64_t>& numbers) {
  std::string words;
  for (const std::uint64_t number : numbers) words += (words.empty() ? "" : ", ") + std::to_string(number);
  return words;
}

// "the owner 8", "the owners 7, 8"
std::string owners_words(const std::vector<std::uint64_t>& owners) {
  return (owners.size() == 1 ? "the owner " : "the owners ") + list(owners);
}

// Warns of an owner without a mark in a file that has marks of others: the number may be a mistake, and no mark says
// which of its keys the file has. That such an owner has no keys says nothing.
void warn_of_unknown(const Arguments& arguments) {
  std::vector<std::uint64_t> known;
  for (const bfstore::OwnerMark& mark : unwrap(bfstore::inspect(arguments.file, false), arguments.file).marks)
    known.push_back(mark.owner);
  if (known.empty()) return;
  for (const std::uint64_t owner : arguments.owners) {
    if (std::find(known.begin(), known.end(), owner) != known.end()) continue;
    const std::string words = arguments.file + ": has no mark of the owner " + std::to_string(owner) + ", only of " +
                              owners_words(known) + ".";
    if (arguments.no_keys) throw Failure(words + " Nothing was changed.");
    warn(words);
  }
}

// Owners of marks that have not finished the recovery yet.
std::vector<std::uint64_t> awaited_owners(const std::string& file) {
  std::vector<std::uint64_t> owners;
  for (const bfstore::OwnerMark& mark : unwrap(bfstore::inspect(file, false), file).marks) {
    if (!mark.recovered) owners.push_back(mark.owner);
  }
  return owners;
}

// The keys are those after the mark in the log of that epoch. They are not enough if the mark is of another log.
void check_epoch(const Arguments& arguments, const std::vector<std::uint64_t>& owners) {
  if (!arguments.epoch) return;
  const auto marks = unwrap(bfstore::inspect(arguments.file, false), arguments.file).marks;
  for (const std::uint64_t owner : owners) {
    const auto of_owner = [owner](const bfstore::OwnerMark& mark) { return mark.owner == owner; };
    const auto mark = std::find_if(marks.begin(), marks.end(), of_owner);
    if (mark != marks.end() && mark->epoch == *arguments.epoch) continue;
    const std::string has = mark == marks.end() ? "no mark" : "a mark of epoch " + std::to_string(mark->epoch);
    throw Failure(arguments.file + ": owner " + std::to_string(owner) + " has " + has +
                  ", which says nothing of epoch " + std::to_string(*arguments.epoch) +
                  ". Give every key that the owner has, without --epoch.");
  }
}

// What a file without marks says of the number of its keys.
struct Counted {
  std::uint64_t keys = 0;
  std::string words;
};

// The bits of a window show the keys of each epoch. A key that was added in several is in the bits of each, so the keys
// of all epochs may be fewer than their sum, and are as many as those of the fullest one.
Counted counted_in_window(const bfstore::Report& before) {
  constexpr double kBelowChance = 0.9;  // the keys are an estimate
  if (!before.fill) return {};
  const auto& keys = before.fill->keys_of_epochs;
  const double most = *std::max_element(keys.begin(), keys.end());
  if (!(most >= 1 && most < 0x1p63)) return {};
  return {static_cast<std::uint64_t>(most * kBelowChance),
          "Its bits are those of about " + key_words(static_cast<std::uint64_t>(most)) + " in one epoch alone"};
}

Counted counted_in(const bfstore::Report& before) {
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(before.identity->layout));
  if (!layout) return {};
  if (layout->can.expire) return counted_in_window(before);
  const std::uint64_t keys = before.keys_added.value_or(0);
  if (!layout->can.remove) return {keys, "It counted " + key_words(keys)};
  return {keys,
          "It counted " + grouped(keys) + (keys == 1 ? " add" : " adds (a key that was added twice counts twice)")};
}

// Without marks nothing says which keys the file has for certain: those of the last close that ended well. A list that
// is shorter than what the file counted may be all that came later, or the wrong list.
void warn_of_fewer(const Arguments& arguments, const bfstore::Report& before, const Loader& loader) {
  if (!before.marks.empty() || !before.identity) return;
  const Counted counted = counted_in(before);
  if (loader.keys_read() >= counted.keys) return;
  warn(arguments.file + ": has no mark. " + counted.words + ", and " + key_words(loader.keys_read()) +
       (loader.keys_read() == 1 ? " was" : " were") +
       " given. Every key that was added since it was last closed well, and was not given, may be called absent. If "
       "in doubt, add every key (bf add).");
}

bool has_marks(const std::string& file) { return !unwrap(bfstore::inspect(file, false), file).marks.empty(); }

bool needs_recovery(const bfstore::Report& report) {
  using State = bfstore::FileState;
  return report.state == State::kUnclean || report.state == State::kPoisoned || report.state == State::kRecovering;
}

// What to do if there are no keys after the marks. Without marks any key may be missing.
std::string no_keys_words(const std::string& file) {
  if (!needs_recovery(unwrap(bfstore::inspect(file, false), file)))
    return "The filter needs no recovery, and has its keys.";
  return has_marks(file) ? "Give the keys that were added after the marks. If no key was added, say --no-keys."
                         : "It has no mark, so any key may be missing: give every key. If they may be answered absent: "
                           "--accept-loss instead.";
}

// The keys that a file counted may be gone, and no mark says that one of them is there.
void refuse_no_keys(const Arguments& arguments) {
  if (!arguments.no_keys) return;
  const bfstore::Report report = unwrap(bfstore::inspect(arguments.file, false), arguments.file);
  const std::uint64_t keys = report.keys_added.value_or(0);
  if (!needs_recovery(report) || !report.marks.empty() || keys == 0) return;
  throw Failure(arguments.file + ": has no mark and counted " + key_words(keys) + ": without " +
                (keys == 1 ? "it, it" : "its keys, they") +
                " would be answered absent. Give the keys, or --accept-loss instead of --no-keys.");
}

// An empty list that another program should have written would end the recovery, and the filter would answer "absent"
// for every missing key.
void check_there_are_keys(const Arguments& arguments, KeySource& source) {
  const bool none = source.at_end();
  if (interrupt::pending()) throw Failure(arguments.file + ": interrupted. Nothing was changed.");
  if (none)
    throw Failure(arguments.file + ": not recovered: " + source.name() + " has no keys. " +
                  no_keys_words(arguments.file));
}

// Refuses a list that has only a line end, as `echo "$keys"` writes it without keys, for the same reason.
void check_they_are_keys(const Arguments& arguments, const KeySource& source, const Loader& loader) {
  if (!loader.read_empty_keys_alone()) return;
  throw Failure(arguments.file + ": the recovery is not finished: " + source.name() + " has empty lines alone. " +
                no_keys_words(arguments.file) + " If it was the empty key, name it: bf recover " + arguments.file +
                " ''.");
}

// On a bad list the recovery stays unfinished, so the filter answers "maybe".
void add_list(const Arguments& arguments, KeySource& source, Loader& loader) {
  try {
    loader.add_all(source);
  } catch (const BadList& bad) {
    throw Failure(arguments.file + ": the recovery is not finished. " + bad.what() +
                  " Begin again with a list of all of the keys.");
  }
}

// A list with all keys of one owner may lack those of another. So the owner is only guessed if there is just one.
std::vector<std::uint64_t> owners_of_keys(const Arguments& arguments) {
  const std::vector<std::uint64_t> awaited = awaited_owners(arguments.file);
  if (!arguments.owners.empty()) return arguments.owners;
  if (awaited.empty()) return {kNobody};
  if (awaited.size() > 1 && !arguments.all_owners) {
    throw Failure(
        arguments.file + ": has marks of " + owners_words(awaited) +
        ". Name the owners of these keys with --owner. If these are the keys of all owners, give --all-owners.");
  }
  return awaited;
}

// A recovery for every owner that is awaited is the only writer. So the lock of a running one, which ends with its
// process, keeps out a second one, whose shorter list would end both. Recoveries for owners of their own run together.
bfstore::OpenMode mode_of(const Arguments& arguments, const bfstore::Report& before,
                          const std::vector<std::uint64_t>& owners) {
  const bool alone = needs_recovery(before) && owners.size() >= awaited_owners(arguments.file).size();
  return alone ? bfstore::OpenMode::kExclusive : bfstore::OpenMode::kWrite;
}

bfstore::Result<bfstore::Filter> open_to_recover(const Arguments& arguments, bfstore::OpenMode mode,
                                                 const bfstore::OpenOptions& options) {
  auto opened = open_filter(arguments, mode, options);
  if (opened.ok() || opened.error().code != bfstore::Code::kBusy) return opened;
  const auto now = bfstore::inspect(arguments.file, false);
  if (!now.ok() || now->state != bfstore::FileState::kRecovering) return opened;
  throw Failure(arguments.file + ": " + writer_named_in(opened.error().message, arguments.file) +
                " is recovering it. Wait until that has ended. If it was killed or gave up, recover it again with all "
                "of the keys.");
}

int accept_loss(const Arguments& arguments) {
  const bool needed = needs_recovery(unwrap(bfstore::inspect(arguments.file, false), arguments.file));
  const std::string missing =
      has_marks(arguments.file) ? "Keys that were added after the marks may be missing." : "Any key may be missing.";
  bfstore::Filter filter =
      unwrap(open_to_recover(arguments, bfstore::OpenMode::kWrite, {.accept_loss = true}), arguments.file);
  check(filter.close(), arguments.file);
  if (!arguments.quiet)
    report(arguments.file + (needed ? ": is in use again. " + missing : ": needed no recovery, and has its keys."));
  return 0;
}

// The bits of a window are counted, too, if no mark says which keys it has.
bfstore::Report report_before(const Arguments& arguments) {
  bfstore::Report before = unwrap(bfstore::inspect(arguments.file, false), arguments.file);
  const bool counts_bits = before.turning && before.marks.empty() && needs_recovery(before);
  return counts_bits ? unwrap(bfstore::inspect(arguments.file), arguments.file) : before;
}

// "The mark of owner 7 is still 100, ...": the next bf add --mark-after begins there.
std::string marks_words(const bfstore::Report& before, bool has_keys) {
  std::string words;
  for (const bfstore::OwnerMark& mark : before.marks) {
    words += (words.empty() ? "" : ", ") + std::to_string(mark.mark) + " of owner " + std::to_string(mark.owner) +
             (mark.epoch == 0 ? "" : " in epoch " + std::to_string(mark.epoch));
  }
  if (words.empty()) return "";
  return std::string(before.marks.size() == 1 ? ". The mark stays at " : ". The marks stay at ") + words +
         ": the next bf add --mark-after continues there" + (has_keys ? ", with these keys once more" : "");
}

// Where each add counts, keys that the filter has would count once more, and a remove would then leave them.
void refuse_to_count_again(const Arguments& arguments, const bfstore::Report& before) {
  if (arguments.no_keys || before.filling || needs_recovery(before) || !before.identity) return;
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(before.identity->layout));
  if (!layout || !layout->can.remove) return;
  throw Failure(
      arguments.file +
      ": needs no recovery, and has its keys. It counts each add, so these would count once more. Nothing was "
      "changed. To add keys: bf add.");
}

int recover(const Arguments& arguments) {
  interrupt::defer();
  if (arguments.accept_loss) return accept_loss(arguments);
  refuse_set(unwrap(bfstore::inspect(arguments.file, false), arguments.file));
  refuse_no_keys(arguments);
  const std::vector<std::uint64_t> owners = owners_of_keys(arguments);
  check_epoch(arguments, owners);
  warn_of_unknown(arguments);
  std::optional<KeySource> source;
  if (arguments.keys.empty() && !arguments.no_keys) source.emplace(arguments.from, arguments.list);
  if (source) refuse_itself(*source, arguments.file);
  if (source) check_there_are_keys(arguments, *source);
  const bfstore::Report before = report_before(arguments);
  refuse_to_count_again(arguments, before);
  bfstore::Filter filter =
      filter_of_keys(open_to_recover(arguments, mode_of(arguments, before, owners), {.recover = true}), arguments.file);
  const bool needed = filter.health() == bfstore::Code::kRecovering;
  Loader loader(filter, arguments.file);
  if (filter.part().parts > 1) loader.leave_out_other_parts();  // the log has keys of the whole filter
  if (source) {
    add_list(arguments, *source, loader);
  } else {
    warn_of_doubtful_keys(arguments);
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  if (interrupt::pending()) {
    throw Failure(arguments.file + ": interrupted, so the recovery is not finished. Begin again with all of the keys.");
  }
  if (source) check_they_are_keys(arguments, *source, loader);
  loader.finish();
  bool over = true;
  for (const std::uint64_t owner : owners) over = unwrap(filter.finish_recovery(owner), arguments.file);
  refuse_moved(filter, arguments.file, "The file that was moved is recovered.");
  check(filter.close(), arguments.file);
  if (source) warn_if_unended(*source);
  const std::string words = arguments.file + ": " + key_words(loader.keys_read()) + " added again";
  if (!over) {
    report(words + ". It answers maybe until the keys of " + owners_words(awaited_owners(arguments.file)) +
           " are added, too.");
    return 0;
  }
  if (needed && !arguments.no_keys) warn_of_fewer(arguments, before, loader);
  if (!arguments.quiet) {
    report(words + (needed ? "; recovered" + marks_words(before, loader.keys_read() != 0) : "; it needed no recovery"));
  }
  return 0;
}

}  // namespace

const Command kRecover{"recover", "Add again the keys that a filter may have lost in a crash", declare_recover,
                       recover};

}  // namespace bf
