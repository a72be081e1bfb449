// Measures 1, 2 and 4 processes that add to one file, ask it, and do both at once, and the memory that they take.
#include "processes.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "children.hpp"
#include "filters.hpp"
#include "kernel.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::array kTeams{1, 2, 4};
constexpr std::size_t kBatch = 4096;

// A part of all keys: its seed, and its number of keys. Parts with different seeds share no key (but for a chance of
// 2^-64 a pair).
struct Part {
  std::uint64_t seed;
  std::uint64_t count;
  [[nodiscard]] std::vector<std::uint64_t> digests() const { return digests_of(seed, count); }
};

Part part_of(std::uint64_t keys, int members, int member, int generation) {
  return {static_cast<std::uint64_t>(generation * 100 + members * 10 + member),
          keys / static_cast<std::uint64_t>(members)};
}

// --- In the children ---

void in_batches(std::span<const std::uint64_t> digests, auto&& use) {
  for (std::size_t i = 0; i < digests.size(); i += kBatch)
    use(digests.subspan(i, std::min(kBatch, digests.size() - i)), i);
}

void add_part(const std::string& path, const Part& part) {
  bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kWrite));
  const auto digests = part.digests();
  work_with_the_others([&] { in_batches(digests, [&](auto batch, std::size_t) { add_all(filter, batch); }); });
  check(filter.close());
}

void ask_part(const std::string& path, const Part& part) {
  const bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kRead));
  const auto digests = part.digests();
  std::uint64_t present = 0;
  work_with_the_others(
      [&] { in_batches(digests, [&](auto batch, std::size_t) { present += count_present(filter, batch); }); });
  if (present != digests.size()) fail("a wrong no while other readers ask");
}

// Adds new keys, and after each batch asks about as many keys that other processes added before.
void add_and_ask(const std::string& path, const Part& added, const Part& asked) {
  bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kWrite));
  const auto fresh = added.digests();
  const auto old = asked.digests();
  std::uint64_t present = 0;
  work_with_the_others([&] {
    in_batches(fresh, [&](auto batch, std::size_t i) {
      add_all(filter, batch);
      present += count_present(filter, std::span(old).subspan(i, batch.size()));
    });
  });
  if (present != old.size()) fail("a wrong no while writers add");
  check(filter.close());
}

// Touches every page, and stays until all processes have done so.
void hold(const std::string& path, const Part& part) {
  const bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kRead));
  check_present(filter, part.digests());
  work_with_the_others([] {});
}

// --- In the parent ---

std::vector<std::string> words_of(const char* work, const std::string& path, const Part& part, const Part& other) {
  return {work,
          path,
          std::to_string(part.seed),
          std::to_string(part.count),
          std::to_string(other.seed),
          std::to_string(other.count)};
}

void fill(bfstore::Filter& filter, std::uint64_t keys, int members, int generation) {
  for (int i = 0; i < members; ++i) add_all(filter, part_of(keys, members, i, generation).digests());
}

void check_all(const std::string& path, std::uint64_t keys, int members, int generation) {
  const bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kRead));
  for (int i = 0; i < members; ++i) check_present(filter, part_of(keys, members, i, generation).digests());
}

// The time from the first begin to the last end.
Measured together(const std::vector<Outcome>& outcomes, std::uint64_t keys) {
  double begin = outcomes.front().begin;
  double end = outcomes.front().end;
  double cpu = 0;
  for (const Outcome& outcome : outcomes) {
    begin = std::min(begin, outcome.begin);
    end = std::max(end, outcome.end);
    cpu += outcome.cpu;
  }
  return {end - begin, {{"num_keys", static_cast<double>(keys)}, {"cpu_seconds", cpu}}};
}

Measured measure_team(const std::string& work, int members, std::uint64_t keys, const std::string& path) {
  const std::uint64_t half = work == "both" ? keys / 2 : keys;  // half is added before, half meanwhile
  bfstore::Filter made = make_file(path, keys, kBitsPerKey);
  if (work != "add") fill(made, half, members, 0);
  check(made.close());
  std::vector<std::vector<std::string>> arguments;
  for (int i = 0; i < members; ++i) {
    const Part old = part_of(half, members, i, 0);
    const Part fresh = part_of(half, members, i, 1);
    arguments.push_back(words_of(work.c_str(), path, work == "contains" ? old : fresh, old));
  }
  const Measured measured = together(Team(arguments).go(), keys);
  if (work != "add") check_all(path, half, members, 0);
  if (work != "contains") check_all(path, half, members, 1);
  std::filesystem::remove(path);
  return measured;
}

// Every process has all pages of the file in its page tables. Memory has one copy, of which each process has its share.
Measured measure_sharing(int members, std::uint64_t keys, const std::string& path) {
  bfstore::Filter made = make_file(path, keys, kBitsPerKey);
  fill(made, keys, members, 0);
  check(made.close());
  std::vector<std::vector<std::string>> arguments;
  for (int i = 0; i < members; ++i) {
    const Part part = part_of(keys, members, i, 0);
    arguments.push_back(words_of("hold", path, part, part));
  }
  Team team(arguments);
  Memory all;
  for (const pid_t process : team.processes()) {
    const Memory memory = memory_of(process, path);
    all.resident_bytes += memory.resident_bytes;
    all.proportional_bytes += memory.proportional_bytes;
  }
  const double file_bytes = static_cast<double>(std::filesystem::file_size(path));
  const Measured measured = together(team.go(), keys);
  std::filesystem::remove(path);
  return {measured.seconds,
          {{"file_bytes", file_bytes},
           {"rss_bytes", static_cast<double>(all.resident_bytes)},
           {"pss_bytes", static_cast<double>(all.proportional_bytes)}}};
}

}  // namespace

int run_child(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == kLimitedChild) return ask_limited(arguments);
  if (arguments.size() != 6) fail("a child takes six arguments");
  const std::string& path = arguments[1];
  const Part part{std::stoull(arguments[2]), std::stoull(arguments[3])};
  const Part other{std::stoull(arguments[4]), std::stoull(arguments[5])};
  if (arguments[0] == "add") {
    add_part(path, part);
  } else if (arguments[0] == "contains") {
    ask_part(path, part);
  } else if (arguments[0] == "both") {
    add_and_ask(path, part, other);
  } else if (arguments[0] == "hold") {
    hold(path, part);
  } else {
    fail("a child does not know how to " + arguments[0]);
  }
  return 0;
}

Rows process_rows(const Scale& scale, const Places& places) {
  Rows rows;
  for (const int members : kTeams) {
    const std::string path = places.folder + "/shared.bf";
    for (const char* work : {"add", "contains", "both"}) {
      rows.push_back({std::string("processes/") + work + '/' + std::to_string(members),
                      [=, keys = scale.shared_keys] { return measure_team(work, members, keys, path); }});
    }
    rows.push_back({"sharing/" + std::to_string(members),
                    [=, keys = scale.shared_keys] { return measure_sharing(members, keys, path); }});
  }
  return rows;
}

}  // namespace bench::system
