// A filter is opened, or made if there is none, by any number of processes at once: one makes it, and no key is lost.
// And a file is built of keys: it appears when it is complete, or not at all.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "format/live_word.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr OpenMode kWriting[] = {OpenMode::kWrite, OpenMode::kExclusive};

struct Either {
  Filter filter;
  bool made;
};

Either either(const std::string& path, OpenMode mode = OpenMode::kWrite, const Options& options = small_options()) {
  bool made = false;
  Filter filter = opened(Filter::open_or_create(path, mode, options, {}, &made));
  return {std::move(filter), made};
}

// Returns the code of a refusal, which says that it made nothing.
Code refused(const std::string& path, OpenMode mode, const Options& options, const OpenOptions& opening = {}) {
  bool made = true;
  const auto result = Filter::open_or_create(path, mode, options, opening, &made);
  CHECK_FALSE(made);
  const std::string folder = std::filesystem::path(path).parent_path();
  if (!result.ok()) CHECK(result.error().message.find(folder) != std::string::npos);
  return code_of(result);
}

std::vector<std::uint64_t> digests(std::uint64_t count) {
  std::vector<std::uint64_t> made(count);
  for (std::uint64_t i = 0; i < count; ++i) made[i] = (i + 1) * 0x9e3779b97f4a7c15;
  return made;
}

}  // namespace

TEST_CASE("the first call makes the file, and the next one opens it") {
  for (const OpenMode mode : kWriting) {
    const TempDir dir;
    {
      Either first = either(dir.file(), mode);
      CHECK(first.made);
      CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
      add_keys(first.filter, 1, 0, kSome);
      CHECK(first.filter.close().ok());
    }
    Either second = either(dir.file(), mode);
    CHECK_FALSE(second.made);
    CHECK(maybes(second.filter, 1, 0, kSome) == kSome);
    CHECK(answers_no(second.filter));
    add_keys(second.filter, 2, 0, kSome);
    CHECK(second.filter.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
    for (const char* name : {"filter.bf", "another.bf"})  // who does not ask which it was
      CHECK(Filter::open_or_create(dir.file(name), mode, small_options()).ok());
  }
}

TEST_CASE("of processes that begin at once one makes the file, and each key is in it") {
  constexpr int kProcesses = 4;
  const TempDir dir(memory_folder());
  for (int round = 0; round < 25; ++round) {
    std::array<int, 2> gate{};
    REQUIRE(pipe(gate.data()) == 0);
    std::array<pid_t, kProcesses> children{};
    for (unsigned i = 0; i < kProcesses; ++i) {
      children.at(i) = fork();
      REQUIRE(children.at(i) >= 0);
      if (children.at(i) != 0) continue;
      close(gate[1]);
      char byte = 0;
      static_cast<void>(!read(gate[0], &byte, 1));  // until all are there
      bool made = false;
      auto filter = Filter::open_or_create(dir.file(), OpenMode::kWrite, small_options(), {}, &made);
      const bool good = filter.ok() && filter->add(key_of(i, 0)).keys() == 1 && filter->close().ok();
      _exit(!good ? 9 : made ? 1 : 0);
    }
    close(gate[0]);
    close(gate[1]);
    int makers = 0;
    for (const pid_t child : children) {
      const int code = wait_for(child);
      CHECK((code == 0 || code == 1));
      makers += code == 1 ? 1 : 0;
    }
    CHECK(makers == 1);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    for (unsigned i = 0; i < kProcesses; ++i) CHECK(reader.contains(key_of(i, 0)));
    CHECK(reader.stats().keys_added == kProcesses);
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}

TEST_CASE("a file that another process makes while this one makes its own is opened") {
  const TempDir dir(memory_folder());
  for (const bool no_unnamed : {false, true}) {
    const faults::Scope scope;
    faults::no_unnamed_files = no_unnamed;
    bool other = false;
    faults::before_naming = [&] {
      if (std::exchange(other, true)) return;
      Filter first = created(dir.file());
      add_keys(first, 1, 0, kSome);
      CHECK(first.close().ok());
    };
    const Either second = either(dir.file());
    CHECK(other);
    CHECK_FALSE(second.made);
    CHECK(maybes(second.filter, 1, 0, kSome) == kSome);
    CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
    REQUIRE(std::remove(dir.file().c_str()) == 0);
  }
}

TEST_CASE("a file that appears and vanishes again and again is busy after a while, and nothing is left over") {
  const TempDir dir(memory_folder());
  const faults::Scope scope;
  int appeared = 0;
  faults::naming_errno = EEXIST;  // as if it were there whenever it is made
  faults::before_naming = [&] { ++appeared; };
  CHECK(refused(dir.file(), OpenMode::kWrite, small_options()) == Code::kBusy);
  CHECK(dir.names().empty());
}

// The maker may have been killed between the name and the sync of the folder: then the name would be lost in a power
// cut, and with it what this handle syncs.
TEST_CASE("the name of a file that was there is durable before the handle is given out") {
  const TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const faults::Scope scope;
  int folder_syncs = 0;
  faults::on_folder_sync = [&] {
    ++folder_syncs;
    return 0;
  };
  CHECK_FALSE(either(dir.file()).made);
  CHECK(folder_syncs == 1);
  faults::on_folder_sync = [] { return EIO; };
  CHECK(refused(dir.file(), OpenMode::kWrite, small_options()) == Code::kSystem);
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a mistaken path to read from is an error, and no new filter that calls every key absent") {
  const TempDir dir;
  CHECK(refused(dir.file(), OpenMode::kRead, small_options()) == Code::kInvalid);
  CHECK(dir.names().empty());
}

TEST_CASE("options that would replace a file, or keep it without a name, are refused") {
  const TempDir dir;
  for (bool Options::*const option : {&Options::replace, &Options::unpublished}) {
    Options options = small_options();
    options.*option = true;
    CHECK(refused(dir.file(), OpenMode::kWrite, options) == Code::kInvalid);
    CHECK(dir.names().empty());
  }
}

TEST_CASE("layout, hash, seed, seeds, part and secret must be those of the file, and its size may be another one") {
  const TempDir dir;
  Options made = small_options();
  made.seed = 5;
  CHECK(created(dir.file(), made).close().ok());
  const auto with = [&](const std::function<void(Options&)>& change) {
    Options options = small_options();
    change(options);
    return options;
  };
  for (const OpenMode mode : kWriting) {
    CHECK(refused(dir.file(), mode, with([](Options& o) { o.layout = Layout::kClassic; })) == Code::kMismatch);
    CHECK(refused(dir.file(), mode, with([](Options& o) { o.hash = Hash::kExternal; })) == Code::kMismatch);
    CHECK(refused(dir.file(), mode, with([](Options& o) { o.seed = 6; })) == Code::kMismatch);
    CHECK(refused(dir.file(), mode, with([](Options& o) { o.part = Part{0, 2}; })) == Code::kMismatch);
    CHECK(refused(dir.file(), mode, made, {.secret = Secret{1}}) == Code::kSecret);
    CHECK(state_of(dir.file()) == FileState::kClean);
    for (const Options& other :
         {with([](Options& o) { o.capacity = 7; }), with([](Options& o) { o.bits_per_key = 40; }),
          with([](Options& o) { o.note = "another"; }), with([](Options& o) { o.file_id = FileId{9}; }), made}) {
      const Either found = either(dir.file(), mode, other);
      CHECK_FALSE(found.made);
      CHECK(found.filter.shape().seed == 5);
      CHECK(found.filter.note().empty());
    }
  }
}

TEST_CASE("a file like another one has its seed, or is refused") {
  const TempDir dir;
  Options options = small_options();
  options.seed = 5;
  CHECK(created(dir.file("model"), options).close().ok());
  Options like;
  like.like = dir.file("model");
  for (const bool made : {true, false}) {
    const Either found = either(dir.file(), OpenMode::kWrite, like);
    CHECK(found.made == made);
    CHECK(found.filter.shape().seed == 5);
  }
  options.seed = 6;
  options.replace = true;
  CHECK(created(dir.file("model"), options).close().ok());
  CHECK(refused(dir.file(), OpenMode::kWrite, like) == Code::kMismatch);
}

TEST_CASE("no file in another state, of another kind or in other hands is replaced or changed") {
  const TempDir dir;
  const auto untouched = [&](Code code, const OpenOptions& opening = {}) {
    const std::string before = read_bytes(dir.file());
    for (const OpenMode mode : kWriting) CHECK(refused(dir.file(), mode, small_options(), opening) == code);
    CHECK(read_bytes(dir.file()) == before);
  };
  for (const std::string& content : {std::string(), std::string("a list of names\n"), std::string(30'000, '\0')}) {
    std::filesystem::remove(dir.file());
    const auto file = std::fopen(dir.file().c_str(), "wb");
    REQUIRE(file != nullptr);
    CHECK(std::fwrite(content.data(), 1, content.size(), file) == content.size());
    CHECK(std::fclose(file) == 0);
    untouched(content.size() < 16'384 ? Code::kTooShort : Code::kMagic);
  }
  std::filesystem::remove(dir.file());
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  untouched(Code::kUnclean, {.strict = true});
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  untouched(Code::kPoisoned);
}

TEST_CASE("nothing is made or opened for writing through a symbolic link") {
  const TempDir dir;
  CHECK(created(dir.file("target")).close().ok());
  for (const char* const to : {"target", "nowhere"}) {
    REQUIRE(symlink(dir.file(to).c_str(), dir.file().c_str()) == 0);
    for (const OpenMode mode : kWriting) CHECK(refused(dir.file(), mode, small_options()) == Code::kSymlink);
    REQUIRE(unlink(dir.file().c_str()) == 0);
  }
  CHECK(dir.names() == std::vector<std::string>{"target"});
}

TEST_CASE("who may open the file beside whom is as without making it") {
  const TempDir dir;
  Either first = either(dir.file());
  Either second = either(dir.file());
  CHECK(refused(dir.file(), OpenMode::kExclusive, small_options(), {.lock_timeout_ms = 0}) == Code::kBusy);
  CHECK(first.filter.close().ok());
  CHECK(second.filter.close().ok());
  const Either alone = either(dir.file(), OpenMode::kExclusive);
  CHECK(refused(dir.file(), OpenMode::kWrite, small_options(), {.lock_timeout_ms = 0}) == Code::kBusy);
}

TEST_CASE("a file that an exclusive writer makes is its own from the beginning") {
  const TempDir dir;
  const Either alone = either(dir.file(), OpenMode::kExclusive);
  CHECK(alone.made);
  CHECK(refused(dir.file(), OpenMode::kWrite, small_options(), {.lock_timeout_ms = 0}) == Code::kBusy);
}

// --- A file of keys --------------------------------------------------------------------------------------------------

TEST_CASE("a file that is built of keys has each of them, in every layout and by several threads") {
  const std::vector<std::uint64_t> keys = digests(50'000);
  for (const LayoutInfo& row : layouts()) {
    for (const unsigned threads : {1U, 2U}) {
      CAPTURE(row.name);
      CAPTURE(threads);
      const TempDir dir(memory_folder());
      Options options;
      options.layout = row.layout;
      options.window_ms = row.can.expire ? 1 : 0;
      options.fpr = 0.001;
      const auto built = Filter::build(dir.file(), options, Keys::digests(keys), threads);
      if (row.layout == Layout::kClassic && threads > 1 && !built.ok()) continue;  // it takes no threads
      REQUIRE(built.ok());
      std::vector<std::uint8_t> answers(keys.size());
      CHECK(built->contains_keys(Keys::digests(keys), answers).keys() == keys.size());
      const std::uint64_t epochs_of_capacity = row.can.expire ? row.epochs - 1 : 1;
      CHECK(built->shape().capacity == epochs_of_capacity * keys.size());
      CHECK_FALSE(built->stats().saturated);
      CHECK(*built->is_current());
      CHECK(state_of(dir.file()) == FileState::kClean);
      CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
    }
  }
}

TEST_CASE("a file that is built has the bits of one to which the keys were added") {
  const TempDir dir(memory_folder());
  const std::vector<std::uint64_t> keys = digests(1000);
  Options options = small_options();
  options.seed = 3;
  Filter added = created(dir.file("added"), options);
  CHECK(added.add_keys(Keys::digests(keys)).ok());
  const Filter built = opened(Filter::build(dir.file("built"), options, Keys::digests(keys)));
  const auto compared = built.compare(added);
  REQUIRE(compared.ok());
  CHECK(compared->equal);
  CHECK(built.stats().keys_added == added.stats().keys_added);
}

TEST_CASE("a window that is built has room for all of its keys in one epoch") {
  const TempDir dir(memory_folder());
  const std::vector<std::uint64_t> keys = digests(30'000);
  Options options;
  options.window_ms = 3'600'000;
  for (const auto& [layout, others] : std::map<Layout, std::uint64_t>{{Layout::kWindow, 7}, {Layout::kWindow4, 3}}) {
    options.layout = layout == Layout::kWindow ? std::nullopt : std::optional(layout);
    const Filter built = opened(Filter::build(dir.file(std::to_string(others)), options, Keys::digests(keys)));
    CHECK(built.shape().layout == layout);
    CHECK(built.shape().capacity == others * keys.size());
    CHECK(built.stats({.fill = true}).fill->estimated_fpr < 1.5 * built.shape().fpr);
  }
}

TEST_CASE("of no keys a filter is built that calls each key absent") {
  const TempDir dir;
  const Filter built = opened(Filter::build(dir.file(), {}, Keys()));
  CHECK(built.shape().capacity == 1);
  CHECK(answers_no(built));
  CHECK(built.stats({.fill = true}).fill->set_bits == 0);
}

// As a list has that could not be read: the file that has the keys would go.
TEST_CASE("a build of no keys replaces no file") {
  const TempDir dir;
  const std::vector<std::uint64_t> keys = digests(10);
  const std::vector<std::uint64_t> none;
  Options replacing;
  replacing.replace = true;
  CHECK(Filter::build(dir.file(), replacing, Keys::digests(keys)).ok());
  const auto refused = Filter::build(dir.file(), replacing, Keys::digests(none));
  CHECK(code_of(refused) == Code::kInvalid);
  CHECK(refused.error().message.find(dir.file()) == 0);
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains_digest(keys[0]));
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
  CHECK(Filter::build(dir.file("other"), replacing, Keys::digests(none)).ok());
  CHECK(Filter::build(dir.file(), replacing, Keys::digests(keys)).ok());
}

TEST_CASE("keys that cannot be added, or that are too many, leave no file and replace none") {
  const TempDir dir;
  const std::vector<std::uint64_t> keys = digests(1000);
  const std::string_view texts[] = {"one", "two"};
  Options full;
  full.capacity = 100;
  Options external;
  external.hash = Hash::kExternal;
  Options part = small_options();
  part.part = Part{0, 2};
  for (const bool there : {false, true}) {
    if (there) CHECK(created(dir.file()).close().ok());
    const std::vector<std::string> before = dir.names();
    const auto code = [&](Options options, const Keys& of) {
      options.replace = there;
      return code_of(Filter::build(dir.file(), options, of));
    };
    CHECK(code(full, Keys::digests(keys)) == Code::kFull);
    CHECK(code(external, Keys::views(texts)) == Code::kDigestOnly);
    CHECK(code(part, Keys::digests(keys)) == Code::kPart);
    CHECK(dir.names() == before);
    if (there) CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  }
  Options plain;
  CHECK(code_of(Filter::build(dir.file(), plain, Keys::digests(keys))) == Code::kExists);
}

TEST_CASE("a process that is killed while it builds leaves no file, and a power cut none that is not whole") {
  const TempDir dir;
  const faults::Scope scope;
  const std::vector<std::uint64_t> keys = digests(1000);
  int named = 0;
  bool synced_before = false;
  int syncs = 0;
  faults::on_sync = [&](int) {
    ++syncs;
    return 0;
  };
  faults::before_naming = [&] {
    ++named;
    synced_before = syncs > 0;
    CHECK(dir.names().empty());
  };
  CHECK(Filter::build(dir.file(), {}, Keys::digests(keys)).ok());
  CHECK(named == 1);
  CHECK(synced_before);
}
