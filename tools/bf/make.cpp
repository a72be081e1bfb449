// bf create and bf build: new filters; bf clear: an empty one in the place of another; bf finish-filling: the end of an
// online build.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "key_count.hpp"
#include "numbers.hpp"
#include "secret.hpp"
#include "sorted_digests.hpp"
#include "terminal.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bf {
namespace {

[[noreturn]] void fail_empty(const KeySource& source) {
  throw Failure(source.name() + ": holds no keys, and an empty filter calls every key absent. " +
                "Make an empty filter with bf create.");
}

// Hashes as the filter will that is made of these options later.
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
    const KeyWiper wiper(small.key);
    small.hash = options.hash;
    small.seed = options.seed;
    small.key = arguments.key;
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

// One pass: of a source that cannot be read twice.
template <class Kept>
void keep_digests(KeySource& source, const Hasher& hasher, Kept& kept) {
  std::vector<std::uint64_t> digests;
  Progress progress("reading " + source.name(), std::nullopt, !source.is_terminal());
  read_keys(source, std::nullopt, [&](std::span<const std::string_view> keys, std::uint64_t bytes) {
    digests.clear();
    for (const std::string_view key : keys) digests.push_back(hasher(key));
    kept.append(digests);
    progress.show(kept.count(), bytes);
    return true;
  });
}

// What is added to the filter: keys that are read now, or digests of keys that were read before.
class Input {
 public:
  explicit Input(const Arguments& arguments)
      : source_(arguments.from, arguments.digests ? ListFormat{.any_bytes = true} : arguments.list),
        digests_(arguments.digests) {}

  [[nodiscard]] const KeySource& source() const noexcept { return source_; }

  // How many keys there are. May choose the seed.
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
    keep_digests(source_, hasher(arguments, options), kept_.emplace());
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
      keep_digests(source_, hasher(arguments, options), *sorted_);
    }
  }

  // The filter has the digests that were kept, only if no process replaced the one that it is made like.
  void check_hash(const bfstore::Filter& filter, const Arguments& arguments) const {
    if (!hasher_ || (hasher_->shape().hash == filter.shape().hash && hasher_->shape().seed == filter.shape().seed))
      return;
    throw Failure(arguments.options.like +
                  ": was replaced, while the keys were read, by a filter with another hash or seed. Run bf again.");
  }

  // Throws Failure if the list lost keys while it was read: more is what a log does that grows.
  void check_whole(const Loader& loader, std::uint64_t keys_counted) const {
    const std::optional<std::uint64_t> bytes = source_.bytes();
    const bool shorter = bytes_before_ && bytes && *bytes < *bytes_before_;
    if (shorter || loader.keys_read() + loader.keys_left_out() < keys_counted)
      throw Failure(source_.name() + ": was written anew, or cut, while it was read. Build again.");
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
  std::optional<std::uint64_t> bytes_before_ = source_.bytes();  // of a file
  std::optional<KeptDigests> kept_;
  std::optional<SortedDigests> sorted_;
  std::optional<Hasher> hasher_;  // of the digests that were kept
};

}  // namespace

int create(const Arguments& arguments) {
  interrupt::defer();
  refuse_taken(arguments.file, arguments.options.replace);
  bfstore::Filter filter = make_filter(arguments, arguments.options);
  const std::string words = shape_words(filter.stats());
  check(filter.close(), arguments.file);
  interrupt::obey();
  const std::string filling = arguments.options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet) report(arguments.file + ": created, " + words + filling);
  return 0;
}

// The empty filter is a new file: readers of the old one must not see its bits go.
int clear(const Arguments& arguments) {
  interrupt::defer();
  if (!arguments.options.replace)
    throw Failure(arguments.file + ": would lose every key, and bf would call them absent. If that is meant: --force.");
  refuse_taken(arguments.file, true);
  const bfstore::Report old = unwrap(bfstore::inspect(arguments.file, false), arguments.file);
  bfstore::Options options = arguments.options;
  options.like = arguments.file;
  if (old.identity && old.identity->note) options.note = *old.identity->note;
  bfstore::Filter filter = make_filter(arguments, options);
  const std::string words = shape_words(filter.stats());
  check(filter.close(), arguments.file);
  interrupt::obey();
  const std::string filling = options.filling ? ". It answers maybe until bf finish-filling" : "";
  if (!arguments.quiet) report(arguments.file + ": cleared, " + words + filling);
  return 0;
}

int build(const Arguments& arguments) {
  interrupt::defer();
  Input input(arguments);
  bfstore::Options options = arguments.options;
  options.replace = refuse_taken(arguments.file, arguments.options.replace);
  if (input.source().is_same_file(arguments.file))
    throw Failure(arguments.file + ": is the list of keys itself. Name another file.");
  options.unpublished = true;
  if (arguments.spools != 0) input.sort(arguments, options);
  std::uint64_t keys_counted = 0;
  if (!arguments.is_sized()) {
    options.capacity = keys_counted = input.count(arguments, options);
    interrupt::obey();
    if (options.capacity == 0) fail_empty(input.source());
  }
  bfstore::Filter filter = make_filter(arguments, options);
  refuse_external(filter, arguments.file);
  input.check_hash(filter, arguments);
  Loader loader(filter, arguments.file);
  // Not of digests, which bf digest sorted: one of another part shows that this is the wrong file.
  if (arguments.options.part && !arguments.digests) loader.leave_out_other_parts();
  input.load(loader);
  if (interrupt::pending()) return 2;  // main() obeys, after the filter is gone
  if (loader.keys_read() + loader.keys_left_out() == 0) fail_empty(input.source());
  input.check_whole(loader, keys_counted);
  loader.finish();
  const std::string words = shape_words(filter.stats());
  publish(filter, arguments.file);
  if (!arguments.quiet) {
    report(arguments.file + ": built from " + key_words(loader.keys_read()) + " (" + grouped(loader.keys_new()) +
           " new to it), " + words +
           (arguments.options.part ? "; " + key_words(loader.keys_left_out()) + " of other parts left out" : ""));
  }
  return 0;
}

int finish_filling(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = unwrap(open_filter(arguments, bfstore::OpenMode::kWrite, {}), arguments.file);
  const bool needed = filter.health() == bfstore::Code::kFilling;
  check(filter.finish_filling(), arguments.file);
  check(filter.close(), arguments.file);
  if (!arguments.quiet) report(arguments.file + (needed ? ": filled, and answers now" : ": was not being filled"));
  return 0;
}

}  // namespace bf
