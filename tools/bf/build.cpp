// bf build: makes a filter of the right size from a list of keys.
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "key_count.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "replaced.hpp"
#include "secret.hpp"
#include "sorted_digests.hpp"
#include "terminal.hpp"
#include "unfinished.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace bf {
namespace {

void declare_build(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf build FILE [--from KEYS] [-0] [--capacity N] [--fpr P | --bits-per-key B | --max-bytes SIZE]\n"
      "bf build FILE [--from KEYS] [-0] --bits M [--probes K]\n"
      "bf build FILE [--from KEYS] [-0] --like OTHER\n"
      "options of all: [--parts N] [--part I/N] [--digests | --key-form FORM] [--file-id ID] " +
          std::string(kShapeUsage),
      {"--from", "--fpr", "--capacity", "--layout", "--force"});
  add_file(app, arguments, "the filter to make; it appears when it is complete");
  add_path_or_stream(app, "--from", "the keys, one a line (default: standard input, which is -, too)", "PATH",
                     arguments.from);
  add_separator(app, arguments);
  add_shape(app, arguments, true, kForce);
  add_part(app, arguments.options);
  add_key_form(app, arguments);
  app.add_flag("--digests", arguments.digests, "the keys are digests, as bf digest writes them, 8 bytes each")
      ->excludes("--null", "--key-form");
  add_text(
      app, "--file-id",
      "32 hexadecimal digits instead of a random id: equal sets of keys with equal id, seed and rate are equal static "
      "files",
      "ID",
      [&](const std::string& name, const std::string& text) { arguments.options.file_id = parse_file_id(name, text); });
  add_parts(app, arguments, "sort the digests into N parts in $TMPDIR first, for a filter larger than memory");
  add_texts(
      app,
      std::string(kAboutNumbers) +
          "\nThe keys are counted first, unless --capacity, --bits or --like give the size. A key that comes twice\n"
          "counts twice, so the filter may be larger than necessary. With --window the keys are in one epoch, so the "
          "filter\n"
          "has room for 7 times as many (window-4: 3 times). A pipe is read once: bf keeps 8 bytes of each key\n"
          "until it has counted them, up to 8 MiB in memory, and the rest in an unnamed file in $TMPDIR. With --parts "
          "it\n"
          "keeps 8 bytes of each key of any list: 16 MiB in memory, and the rest in N such files. A list without keys "
          "is\n"
          "an error: bf create makes empty filters. Which keys are certainly new: bf help add.\n"
          "With --force the list is taken for all keys: none is compared with those of the filter that is replaced.\n" +
          kAboutForce,
      "  bf build words.bf --from words.txt --fpr 0.001");
}

bool builds_at_once(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (!options.like.empty()) {
    const auto report = bfstore::inspect(options.like, false);
    const auto known = report && report->identity ? bfstore::layout_of(bfstore::Layout{report->identity->layout})
                                                  : std::nullopt;  // the library says what is wrong with the file
    return known && known->can.build;
  }
  return options.layout && bfstore::layout_of(*options.layout)->can.build;
}

// All keys of a list are added in one epoch. Where keys expire, the promise is for keys that come evenly in the epochs
// of a window: one fewer than the layout has. So that many times as many keys have room.
std::uint64_t epochs_of_window(const bfstore::Options& options) {
  const auto usual = options.window_ms != 0 ? bfstore::Layout::kWindow : bfstore::Layout::kBlocked;
  const auto layout = bfstore::layout_of(options.layout.value_or(usual));
  return layout && layout->can.expire ? std::uint64_t{layout->epochs} - 1 : 1;
}

void check_parts(const Arguments& arguments) {
  const auto& part = arguments.options.part;
  if (part && !arguments.digests && !arguments.is_sized())
    throw Failure("build: the keys of one part do not tell the size of the whole. Give --capacity, --bits or --like.");
  if (arguments.digests && arguments.options.like.empty())
    throw Failure(
        "build: digests do not tell by which hash and seed they were made. Give --like, the filter that bf "
        "digest was given.");
  if (arguments.spools != 0 && builds_at_once(arguments))
    throw Failure(
        "build: --parts sorts keys for a layout to which they are added, and static sorts its own. Leave it out.");
  if (part && arguments.spools != 0)
    throw Failure("build: --parts builds all parts, and --part one of them. Give one of the two.");
  const auto& hash = arguments.options.hash;
  const bool needs_digests = part || arguments.digests || arguments.spools != 0;
  if (needs_digests && hash && bfstore::hash_of(*hash)->gives_positions)
    throw Failure(std::string("--hash: ") + bfstore::hash_of(*hash)->name +
                  " has no digests, by which keys belong to parts. Use xxh3.");
}

void check_build(Arguments& arguments) {
  complete_size(arguments);
  check_parts(arguments);
  check_hash(arguments);
}

// The note of the new filter. bf digest made digests of keys in the form that the filter of --like names.
std::string note_of_built(const Arguments& arguments) {
  std::string note = note_of_new(arguments);
  if (!arguments.digests) return note;
  OneForm forms(std::nullopt, "The digests are of keys in the form of " + arguments.options.like + ".");
  forms.take(note_of_like(arguments), arguments.options.like);
  forms.take(note, "--note");
  return note;
}

[[noreturn]] void fail_empty(const KeySource& source, const Arguments& arguments) {
  const auto& part = arguments.options.part;
  const std::string& like = arguments.options.like;
  const std::string way_out = part ? "If no key belongs to this part, make it with bf create " + arguments.file +
                                         (like.empty() ? "" : " --like " + like) + " --part " +
                                         std::to_string(part->number) + "/" + std::to_string(part->parts) + "."
                              : builds_at_once(arguments) ? "Look at the list."
                                                          : "Make an empty filter with bf create.";
  throw Failure(source.name() + ": holds no keys, and an empty filter calls every key absent. " + way_out);
}

// Hashes keys as the filter that will be made with these options.
class Hasher {
 public:
  // Chooses the seed, if the hash takes one and the options have none.
  Hasher(const Arguments& arguments, bfstore::Options& options) : filter_(made(arguments, options)) {
    if (!filter_.digest(""))
      throw Failure(std::string(bfstore::hash_of(filter_.shape().hash)->name) +
                    " makes no digests of keys, by which they are sorted. Build without --parts, and from a file.");
    if (options.like.empty() && bfstore::hash_of(filter_.shape().hash)->takes_seed) options.seed = filter_.shape().seed;
  }

  [[nodiscard]] std::uint64_t operator()(std::string_view key) const noexcept { return *filter_.digest(key); }
  [[nodiscard]] bfstore::Shape shape() const { return filter_.shape(); }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };

  static void take_hash_of(const std::string& like, bfstore::Options& options) {
    const bfstore::Report report = unwrap(bfstore::inspect(like, false), like);
    if (!report.identity) throw Failure(like + ": is not a filter file.");
    options.hash = static_cast<bfstore::Hash>(report.identity->hash);
    const auto known = bfstore::hash_of(*options.hash);
    if (!known) throw Failure(like + ": has a hash that this bf does not know.");
    if (known->takes_seed) options.seed = report.identity->seed;
  }

  bfstore::Filter made(const Arguments& arguments, const bfstore::Options& options) {
    bfstore::Options small;
    const SecretWiper wiper(small.secret);
    small.hash = options.hash;
    small.seed = options.seed;
    small.secret = arguments.secret;
    small.capacity = 1;
    if (!options.like.empty()) take_hash_of(options.like, small);
    const std::uint64_t bytes = unwrap(bfstore::Filter::required_bytes(small), arguments.file);
    memory_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
    return unwrap(bfstore::Filter::format(std::as_writable_bytes(std::span(memory_)).first(bytes), small),
                  arguments.file);
  }

  std::vector<Line> memory_;
  bfstore::Filter filter_;
};

// Reads a source that cannot be read twice, in one pass.
template <class Kept>
void keep_digests(KeySource& source, const Hasher& hasher, const KeyForm& form, Kept& kept) {
  KeyMaker maker(form, source.name());
  std::vector<std::uint64_t> digests;
  Progress progress("reading " + source.name(), std::nullopt, !source.is_terminal());
  read_keys(source, std::nullopt, [&](std::span<const std::string_view> lines, std::uint64_t bytes) {
    digests.clear();
    for (const std::string_view key : maker.keys_of(lines)) digests.push_back(hasher(key));
    kept.append(digests);
    progress.show(kept.count(), bytes);
    return true;
  });
}

// The input of a build: keys that are read now, or digests of keys that were read before.
class Input {
 public:
  Input(const Arguments& arguments, const std::string& note)
      : source_(arguments.from, arguments.digests ? ListFormat{.any_bytes = true} : arguments.list),
        digests_(arguments.digests),
        form_(form_of_keys(note, std::nullopt, arguments.file)) {}

  [[nodiscard]] const KeySource& source() const noexcept { return source_; }

  // Returns the number of keys. May choose the seed.
  std::uint64_t count(const Arguments& arguments, bfstore::Options& options) {
    if (sorted_) return sorted_->count();
    if (source_.can_be_read_twice()) {
      const std::uint64_t keys = count_keys(source_);
      source_.rewind();
      return keys;
    }
    if (options.hash && bfstore::hash_of(*options.hash)->gives_positions) {
      throw Failure(source_.name() + ": can be read only once, and " + bfstore::hash_of(*options.hash)->name +
                    " has no digests to keep. Give --capacity or --bits, or a file.");
    }
    keep_digests(source_, hasher(arguments, options), form_, kept_.emplace());
    return kept_->count();
  }

  // Keeps the digests of all keys, sorted by that many parts. May choose the seed.
  void sort(const Arguments& arguments, bfstore::Options& options) {
    sorted_.emplace(arguments.spools);
    if (digests_) {
      read_digests(source_, [&](std::span<const std::uint64_t> digests) {
        sorted_->append(digests);
        return !interrupt::pending();
      });
    } else {
      keep_digests(source_, hasher(arguments, options), form_, *sorted_);
    }
  }

  // The kept digests fit the filter only if no process replaced the file of --like meanwhile.
  void check_hash(const bfstore::Filter& filter, const Arguments& arguments) const {
    if (!hasher_ || (hasher_->shape().hash == filter.shape().hash && hasher_->shape().seed == filter.shape().seed))
      return;
    throw Failure(arguments.options.like +
                  ": was replaced, while the keys were read, by a filter with another hash or seed. Run bf again.");
  }

  // Throws Failure if the list lost keys while it was read. It may have got more, like a log that grows.
  void check_whole(const Loader& loader, std::uint64_t keys_counted) const {
    const std::optional<std::uint64_t> bytes = source_.bytes();
    const bool shorter = bytes_before_ && bytes && *bytes < *bytes_before_;
    if (shorter || loader.keys_read() + loader.keys_left_out() < keys_counted) throw CutList(source_.name());
  }

  void load(Loader& loader) {
    if (sorted_) {
      for (std::uint32_t part = 0; part < sorted_->parts(); ++part) loader.add_all(sorted_->of(part));
    } else if (digests_)
      loader.add_all_digests(source_);
    else if (kept_)
      loader.add_all(*kept_);
    else
      loader.add_all(source_);
  }

 private:
  const Hasher& hasher(const Arguments& arguments, bfstore::Options& options) {
    return hasher_.emplace(arguments, options);
  }

  KeySource source_;
  bool digests_;
  KeyForm form_;
  std::optional<std::uint64_t> bytes_before_ = source_.bytes();  // if the source is a file
  std::optional<KeptDigests> kept_;
  std::optional<SortedDigests> sorted_;
  std::optional<Hasher> hasher_;  // made the kept digests
};

// "a.bf: built from 1,000 keys (990 of them certainly new), room for ..."
std::string built_words(const Loader& loader, const bfstore::Stats& before, const bfstore::Stats& now,
                        const std::string& file) {
  const bool at_once = bfstore::layout_of(now.shape.layout)->can.build;
  return file + ": built from " + key_words(loader.keys_read()) + " (" +
         (at_once ? grouped(now.keys_added) + " different" : new_words(loader)) + "), " +
         shape_words(at_once ? now : before, file);
}

std::string room_words(std::uint64_t epochs) {
  if (epochs == 1) return ". --capacity leaves room for more keys";
  return ". The keys are in one epoch, so it has room for " + std::to_string(epochs) + " times as many in a window";
}

void use_all_processors(bfstore::Filter& filter, const std::string& file) {
  constexpr unsigned kMost = 16;
  check(filter.use_threads(std::clamp(std::thread::hardware_concurrency(), 1U, kMost)), file);
}

int build_of(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Options options = arguments.options;
  options.note = with_form_of_replaced(arguments, note_of_built(arguments));
  const bool is_part = arguments.digests && arguments.from != "-";
  if (is_part) refuse_unfinished(arguments.from);
  Input input(arguments, options.note);
  if (!arguments.digests && arguments.list.any_bytes && input.source().looks_like_digests())
    warn(input.source().name() + ": looks like digests, and is taken for keys that end in " +
         (arguments.list.separator == '\0' ? "NUL" : "LF") + ". If bf digest wrote it: --digests instead of --binary.");
  options.replace = refuse_taken(arguments.file, arguments.options.replace, "Add to it (bf add)");
  if (input.source().is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the list of keys itself. Name another file.");
  refuse_no_filter(arguments, arguments.file);
  keep_hash_of_replaced(arguments, options);
  options.unpublished = true;
  if (arguments.spools != 0) input.sort(arguments, options);
  std::uint64_t keys_counted = 0;
  const bool counted = !arguments.is_sized() && !builds_at_once(arguments);  // such a layout counts different keys
  if (counted) {
    keys_counted = input.count(arguments, options);
    options.capacity = keys_counted * epochs_of_window(options);
    interrupt::obey();
    if (options.capacity == 0) fail_empty(input.source(), arguments);
  }
  bfstore::Filter filter = make_filter(arguments, options);
  refuse_external(filter, arguments.file);
  input.check_hash(filter, arguments);
  if (bfstore::layout_of(filter.shape().layout)->can.build) use_all_processors(filter, arguments.file);
  Loader loader(filter, arguments.file);
  // Digests are not left out: bf digest sorted them, so one of another part shows that this is the wrong file.
  if (arguments.options.part && !arguments.digests) loader.leave_out_other_parts();
  input.load(loader);
  if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  if (loader.keys_read() + loader.keys_left_out() == 0) fail_empty(input.source(), arguments);
  input.check_whole(loader, keys_counted);
  if (is_part) refuse_unfinished(arguments.from);
  loader.finish();
  const bfstore::Stats stats = filter.stats();
  const Displaced displaced(arguments);
  publish(filter, arguments.file);
  displaced.report(stats, options.note);
  warn_if_useless(stats.shape, arguments.file);
  advise_if_past_capacity(stats, arguments.file);
  warn_if_unended(input.source());
  if (!arguments.quiet) {
    report(built_words(loader, stats, filter.stats(), arguments.file) +
           (arguments.options.part && !arguments.digests
                ? "; " + key_words(loader.keys_left_out()) + " of other parts left out"
                : "") +
           rounded_words(arguments, filter) + (counted ? room_words(epochs_of_window(options)) : ""));
  }
  return 0;
}

int build(const Arguments& arguments) {
  try {
    return build_of(arguments);
  } catch (const CutList& cut) {
    throw Failure(std::string(cut.what()) + " Build again.");
  }
}

}  // namespace

const Command kBuild{"build", "Make a filter of a list of keys, of the right size", declare_build, build, check_build};

}  // namespace bf
