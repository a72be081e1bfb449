// Measures digests in a file that is larger than the memory of its process: a control group limits that. A large batch
// is compared with `cat`, which reads the file once, in the same group, and a small batch with one call for each
// digest.
#include <unistd.h>

#include <bfstore/inspect.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "children.hpp"
#include "filters.hpp"
#include "kernel.hpp"
#include "processes.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::uint64_t kPresentSeed = 11;
constexpr std::uint64_t kAbsentSeed = 12;

void write_to(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw Unmeasurable("a control group that limits memory can not be made: " + path);
}

// The folder of control groups that limit memory, and the name of a group's file with the limit.
std::pair<std::string, std::string> hierarchy() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream place(line);
    std::string folder;
    for (int i = 0; i < 5; ++i) place >> folder;
    std::istringstream kind(line.substr(line.find(" - ") + 3));
    std::string type;
    std::string source;
    std::string options;
    kind >> type >> source >> options;
    if (type == "cgroup" && (',' + options + ',').find(",memory,") != std::string::npos)
      return {folder, "memory.limit_in_bytes"};
    std::ifstream control(folder + "/cgroup.subtree_control");
    std::string controllers;
    std::getline(control, controllers);
    if (type == "cgroup2" && controllers.find("memory") != std::string::npos) return {folder, "memory.max"};
  }
  throw Unmeasurable("no control groups that limit memory are mounted");
}

class Group {
 public:
  explicit Group(std::uint64_t limit_bytes) {
    const auto [folder, limit] = hierarchy();
    folder_ = folder + "/bfsystem-" + std::to_string(getpid());
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error) || error)
      throw Unmeasurable("a control group that limits memory can not be made: " + folder_);
    try {
      write_to(folder_ + '/' + limit, std::to_string(limit_bytes));
    } catch (...) {
      rmdir(folder_.c_str());
      throw;
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { rmdir(folder_.c_str()); }

  // The file by which a process enters.
  [[nodiscard]] std::string members() const { return folder_ + "/cgroup.procs"; }

 private:
  std::string folder_;
};

// How a child asks. With memory for sorting the file is read in order; without it the pages of later digests are asked
// for; one call for each digest waits for each page.
constexpr const char* kSorted = "batch, sorted";
constexpr const char* kSparse = "few keys, one batch";
constexpr const char* kOneByOne = "few keys, one by one";

// Half of these are present.
std::vector<std::uint64_t> questions(std::uint64_t count) {
  std::vector<std::uint64_t> digests = digests_of(kPresentSeed, count / 2);
  const std::vector<std::uint64_t> absent = digests_of(kAbsentSeed, count - count / 2);
  digests.insert(digests.end(), absent.begin(), absent.end());
  std::shuffle(digests.begin(), digests.end(), std::mt19937_64(kPresentSeed));
  return digests;
}

// The file, every page of which is written: the disk would not read others. It is made once.
class File {
 public:
  File(const Scale& scale, const Places& places) : scale_(scale), path_(places.folder + "/limited.bf") {}

  Measured cat() {
    const Group group(scale_.limit_bytes);
    make();
    drop_from_memory(path_);
    const std::string command = "echo $$ > '" + group.members() + "' && exec cat '" + path_ + "'";
    const Run run = run_program({"sh", "-c", command}, "/dev/null");
    return measured(run.seconds, scale_.limited_keys);
  }

  Measured ask(const char* way, std::uint64_t num_keys) {
    const Group group(scale_.limit_bytes);
    make();
    drop_from_memory(path_);
    Team team({{kLimitedChild, path_, group.members(), std::to_string(num_keys), way}});
    const std::vector<Outcome> outcomes = team.go();
    return measured(outcomes.front().end - outcomes.front().begin, num_keys);
  }

 private:
  void make() {
    if (std::filesystem::exists(path_)) return;
    if (scale_.limited_bytes == 0) throw Unmeasurable("it takes a file of 4 GB, which --quick does not make");
    if (std::filesystem::space(scale_path()).available < 2 * scale_.limited_bytes)
      throw Unmeasurable("the disk has too little room");
    const auto capacity = static_cast<std::uint64_t>(static_cast<double>(scale_.limited_bytes) * 8 / kBitsPerKey);
    check(make_file(path_, capacity, kBitsPerKey).close());
    write_body();
    bfstore::Filter filter = value_of(bfstore::Filter::open(path_, bfstore::OpenMode::kExclusive));
    add_all(filter, digests_of(kPresentSeed, scale_.limited_keys / 2));
    check(filter.close());
  }

  [[nodiscard]] std::filesystem::path scale_path() const { return std::filesystem::path(path_).parent_path(); }

  // A quarter of the bits, at random.
  void write_body() const {
    const auto report = value_of(bfstore::inspect(path_, false));
    if (!report.identity) fail(path_ + ": the file that was just made has no identity");
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(report.identity->body_offset));
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> words(1U << 17U);
    for (std::uint64_t left = scale_.limited_bytes; left != 0;) {
      const std::uint64_t now = std::min<std::uint64_t>(left, words.size() * sizeof words[0]);
      for (std::uint64_t& word : words) word = random() & random();
      file.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(now));
      left -= now;
    }
    if (!file.flush()) fail(path_ + ": can not be written");
  }

  [[nodiscard]] Measured measured(double seconds, std::uint64_t num_keys) const {
    return {seconds,
            {{"num_keys", static_cast<double>(num_keys)},
             {"file_bytes", static_cast<double>(scale_.limited_bytes)},
             {"limit_bytes", static_cast<double>(scale_.limit_bytes)}}};
  }

  Scale scale_;
  std::string path_;
};

}  // namespace

// In the group from before the file is opened, as a server is. The library's memory for sorting counts, too.
int ask_limited(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5) fail("a child in a control group takes five arguments");
  write_to(arguments[2], std::to_string(getpid()));
  const std::vector<std::uint64_t> digests = questions(std::stoull(arguments[3]));
  const std::string& way = arguments[4];
  const bfstore::Filter filter = value_of(bfstore::Filter::open(arguments[1], bfstore::OpenMode::kRead));
  std::uint64_t maybes = 0;
  if (way == kOneByOne) {
    work_with_the_others([&] {
      for (const std::uint64_t digest : digests) maybes += filter.contains_digest(digest) ? 1U : 0U;
    });
  } else {
    std::vector<std::uint8_t> answers(digests.size());
    std::vector<std::byte> scratch(way == kSorted ? bfstore::Keys::scratch_for(digests.size()) : 0);
    work_with_the_others([&] {
      const bfstore::Keys keys = bfstore::Keys::digests(digests).with_scratch(scratch);
      const bfstore::Count counted = filter.contains_keys(keys, answers);
      if (!counted.ok()) fail("asking was refused");
      maybes = counted.keys();
    });
  }
  const std::uint64_t present = digests.size() / 2;
  if (maybes < present || maybes > present + digests.size() / 20) fail("a wrong number of answers");
  return 0;
}

Rows limited_rows(const Scale& scale, const Places& places) {
  auto file = std::make_shared<File>(scale, places);
  Rows rows{{"limited/cat", [=] { return file->cat(); }}};
  for (const auto& [way, keys] : {std::pair(kSorted, scale.limited_keys), std::pair(kSparse, scale.sparse_keys),
                                  std::pair(kOneByOne, scale.sparse_keys)}) {
    rows.push_back({std::string("limited/") + way, [=, way = way, keys = keys] { return file->ask(way, keys); }});
  }
  return rows;
}

}  // namespace bench::system
