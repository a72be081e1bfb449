// bf recover: keys that a crash may have taken, added again.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

#include <bfstore/inspect.hpp>

#include <optional>
#include <vector>

namespace bf {
namespace {

constexpr std::uint64_t kNobody = 0;  // the owner of keys that have no marks

std::string list(const std::vector<std::uint64_t>& numbers) {
  std::string words;
  for (const std::uint64_t number : numbers) words += (words.empty() ? "" : ", ") + std::to_string(number);
  return words;
}

// Owners of marks who have not yet said that their keys are there.
std::vector<std::uint64_t> awaited_owners(const std::string& file) {
  std::vector<std::uint64_t> owners;
  for (const bfstore::ReportedMark& mark : unwrap(bfstore::inspect(file, false), file).marks) {
    if (!mark.recovered) owners.push_back(mark.owner);
  }
  return owners;
}

// Who has all keys of one owner may lack those of another, so it is only guessed where there is nothing to guess.
std::vector<std::uint64_t> owners_of_keys(const Arguments& arguments) {
  const std::vector<std::uint64_t> awaited = awaited_owners(arguments.file);
  if (!arguments.owners.empty()) return arguments.owners;
  if (awaited.empty()) return {kNobody};
  if (awaited.size() > 1 && !arguments.all_owners) {
    throw Failure(
        arguments.file + ": has marks of the owners " + list(awaited) +
        ". Name the owners of these keys with --owner. If these are the keys of all owners, give --all-owners.");
  }
  return awaited;
}

int accept_loss(const Arguments& arguments) {
  bfstore::Filter filter =
      unwrap(open_filter(arguments, bfstore::OpenMode::kWrite, {.accept_loss = true}), arguments.file);
  check(filter.close(), arguments.file);
  if (!arguments.quiet)
    report(arguments.file + ": is in use again. Keys that were added after the marks may be missing.");
  return 0;
}

}  // namespace

int recover(const Arguments& arguments) {
  interrupt::defer();
  if (arguments.accept_loss) return accept_loss(arguments);
  const std::vector<std::uint64_t> owners = owners_of_keys(arguments);
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from);
  if (source && source->is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  bfstore::Filter filter =
      filter_of_keys(open_filter(arguments, bfstore::OpenMode::kWrite, {.recover = true}), arguments.file);
  const bool needed = filter.health() == bfstore::Code::kRecovering;
  Loader loader(filter, arguments.file);
  if (source) {
    loader.add_all(*source, arguments.separator);
  } else {
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  if (interrupt::pending()) {
    throw Failure(arguments.file + ": interrupted, so the recovery is not finished. Begin again with all of the keys.");
  }
  loader.finish();
  bool over = true;
  for (const std::uint64_t owner : owners) over = unwrap(filter.recovered(owner), arguments.file);
  check(filter.close(), arguments.file);
  const std::string words = arguments.file + ": " + key_words(loader.keys_read()) + " added again";
  if (!over) {
    report(words + ". It answers maybe until the keys of the owners " + list(awaited_owners(arguments.file)) +
           " are added, too.");
  } else if (!arguments.quiet) {
    report(words + (needed ? "; recovered" : "; it needed no recovery"));
  }
  return 0;
}

}  // namespace bf
