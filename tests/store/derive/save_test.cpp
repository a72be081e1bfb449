// A filter goes from a buffer to a file and back, and is the same in each form, also when it is saved while others add
// to it. A filter in doubt is not copied, and incomplete bytes are no filter.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/bytes.hpp"
#include "faults.hpp"
#include "format/sections.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Secret kSecret{1, 2, 3};

struct Kind {
  Layout layout;
  Hash hash;
  [[nodiscard]] std::optional<Secret> secret() const {
    return hash == Hash::kSipHash ? std::optional(kSecret) : std::nullopt;
  }
};

std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  for (const LayoutInfo& layout : layouts()) {
    if (layout.can.expire) continue;  // not in every form: file/window_test.cpp
    if (layout.can.grow) continue;    // nor this one: file/growing_test.cpp
    if (layout.can.build) continue;   // gathered_test.cpp
    for (const HashInfo& hash : hashes()) {
      if (!hash.gives_positions) kinds.push_back({layout.layout, hash.hash});  // otherwise filter/seeded_test.cpp
    }
  }
  return kinds;
}

Options options_of(const Kind& kind) {
  Options options;
  options.capacity = 3000;
  options.fpr = 0.01;
  options.layout = kind.layout;
  options.hash = kind.hash;
  options.secret = kind.secret();
  options.note = "whose it is";
  return options;
}

std::uint64_t digest_of(std::uint64_t number) { return (number + 1) * 0x9e3779b97f4a7c15; }

void fill(Filter& filter) {
  for (std::uint64_t i = 0; i < kSome; ++i) CHECK(filter.add_digest(digest_of(i)).ok());
}

// Memory aligned to 64 bytes.
class Buffer {
 public:
  explicit Buffer(std::uint64_t bytes) : lines_(bytes / 64 + 1), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> all() { return {lines_.front().bytes.data(), bytes_}; }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::vector<Line> lines_;
  std::uint64_t bytes_;
};

Bytes dumped(const Filter& filter, const DumpOptions& options = {}) {
  const auto bytes = filter.dumped_bytes(options);
  if (!bytes) FAIL(bytes.error().message);
  Bytes made(*bytes);
  const Error error = filter.dump(made, options);
  if (!error.ok()) FAIL(error.message);
  return made;
}

Bytes bytes_of(const std::string& path) {
  const std::string text = read_bytes(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Returns the filter's bits, whatever its form is.
Bytes body_of(const Filter& filter) {
  const Bytes bytes = dumped(filter);
  const auto identity = format::check_identity(bytes, format::Form::kEmbedded, bytes.size(), false).identity();
  REQUIRE(identity.has_value());
  const auto body = std::span(bytes).subspan(identity->body_offset, identity->body_bytes);
  return {body.begin(), body.end()};
}

std::string note_in(const Bytes& bytes, format::Form form) {
  const auto identity = format::check_identity(bytes, form, bytes.size(), false).identity();
  REQUIRE(identity.has_value());
  return identity->note.value_or("");
}

void check_same(const Filter& found, const Filter& source) {
  const Shape& a = found.shape();
  const Shape& b = source.shape();
  CHECK(a.layout == b.layout);
  CHECK(a.hash == b.hash);
  CHECK(a.num_bits == b.num_bits);
  CHECK(a.num_probes == b.num_probes);
  CHECK(a.seed == b.seed);
  for (std::uint64_t i = 0; i < kSome; ++i) REQUIRE(found.contains_digest(digest_of(i)));
  CHECK(body_of(found) == body_of(source));
  CHECK(found.digest("a key") == source.digest("a key"));
}

// Checks that the filter is the same in every form that is made of it.
void check_each_form_of(const Filter& source, const TempDir& dir, const Kind& kind, const std::string& note) {
  const std::string path = dir.file("saved");
  REQUIRE(source.save(path).ok());
  CHECK(state_of(path) == FileState::kClean);
  OpenOptions opening;
  opening.secret = kind.secret();
  {
    const Filter saved = opened(Filter::open(path, OpenMode::kRead, opening));
    check_same(saved, source);
    CHECK(saved.stats().keys_added == source.stats().keys_added);
    const auto marks = saved.list_marks();
    const auto expected = source.list_marks();
    CHECK(*marks == (expected ? *expected : std::vector<OwnerMark>()));
    CHECK(note_in(bytes_of(path), format::Form::kFile) == note);
    const Filter loaded = opened(Filter::load(bytes_of(path), OpenMode::kRead, false, opening.secret));
    check_same(loaded, source);
    CHECK(*loaded.list_marks() == *marks);
    CHECK(loaded.stats().keys_added == saved.stats().keys_added);
  }
  const Bytes embedded = dumped(source);
  CHECK(note_in(embedded, format::Form::kEmbedded) == note);
  check_same(opened(Filter::load(embedded, OpenMode::kRead, false, opening.secret)), source);
  std::filesystem::remove(path);
}

// A filter, and the buffer that it may be in.
struct Source {
  std::optional<Buffer> buffer;
  std::optional<Filter> filter;
};

}  // namespace

TEST_CASE("a filter is the same in every form that it is saved, dumped and loaded in") {
  for (const Kind& kind : every_kind()) {
    CAPTURE(static_cast<int>(kind.layout));
    CAPTURE(static_cast<int>(kind.hash));
    TempDir dir;
    OpenOptions opening;
    opening.secret = kind.secret();
    Filter writer = created(dir.file(), options_of(kind));
    fill(writer);
    REQUIRE(writer.sync({.owner = 7, .epoch = 3, .mark = kSome}).ok());
    check_each_form_of(writer, dir, kind, "whose it is");
    REQUIRE(writer.close().ok());

    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead, opening));
    CHECK(reader.get_mark(7, 3) == kSome);
    check_each_form_of(reader, dir, kind, "whose it is");
    OpenOptions copying = opening;
    copying.map.copy = true;
    check_each_form_of(opened(Filter::open(dir.file(), OpenMode::kRead, copying)), dir, kind, "whose it is");

    Buffer buffer(*Filter::required_bytes(options_of(kind)));
    Filter embedded = opened(Filter::format(buffer.all(), options_of(kind)));
    fill(embedded);
    check_each_form_of(embedded, dir, kind, "whose it is");
    std::ofstream(dir.file("range"), std::ios::binary)
        << std::string(192, 'x')
        << std::string(reinterpret_cast<const char*>(buffer.all().data()), buffer.all().size());
    check_each_form_of(opened(Filter::open_range(dir.file("range"), 192, 0, opening)), dir, kind, "whose it is");
    Filter loaded = opened(Filter::load(buffer.all(), OpenMode::kWrite, false, opening.secret));
    CHECK(loaded.add_digest(digest_of(kSome)).ok());
    CHECK(loaded.contains_digest(digest_of(kSome)));
    check_each_form_of(loaded, dir, kind, "whose it is");
  }
}

TEST_CASE("who watches a copy gets each word of the source once and in order, whatever is made of it") {
  const TempDir dir;
  Options options = options_of({Layout::kBlocked, Hash::kXxh3});
  options.capacity = 600'000;  // several pieces
  {
    Filter filter = created(dir.file("source"), options);
    fill(filter);
    CHECK(filter.close().ok());
  }
  const Filter source = opened(Filter::open(dir.file("source"), OpenMode::kRead));
  const std::string file = read_bytes(dir.file("source"));
  const std::uint64_t body_bytes = source.stats().body_bytes;
  const std::string body = file.substr(format::body_offset_in_file(body_bytes), body_bytes);
  std::string seen;
  const WatchWords watch = [&](std::span<const std::uint64_t> words) {
    seen.append(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  };
  for (const SaveOptions& how : {SaveOptions{.watch = watch}, SaveOptions{.fpr = 0.5, .watch = watch},
                                 SaveOptions{.sealed = true, .watch = watch}}) {
    seen.clear();
    CHECK(source.save(dir.file("copy"), how).ok());
    CHECK((seen == body));
    unlink(dir.file("copy").c_str());
  }
  seen.clear();
  CHECK(seal(dir.file("source"), dir.file("copy"), {.watch = watch}).ok());
  CHECK((seen == body));
  seen.clear();
  CHECK(
      seal(dir.file("copy"), dir.file("copy"), {.replace = true, .watch = watch}).ok());  // a sealed one, in its place
  CHECK((seen == body));
}

TEST_CASE("a bare filter becomes a file that promises the rate of its m and k, and such a file becomes bare again") {
  for (const Kind& kind : every_kind()) {
    if (kind.hash == Hash::kSipHash) continue;
    TempDir dir;
    Options options = options_of(kind);
    options.bare = true;
    options.note.clear();
    Buffer buffer(*Filter::required_bytes(options));
    Filter bare = opened(Filter::format(buffer.all(), options));
    fill(bare);
    check_each_form_of(bare, dir, kind, "");
    REQUIRE(bare.save(dir.file()).ok());
    const Filter file = opened(Filter::open(dir.file(), OpenMode::kRead));
    Options same;
    same.num_bits = bare.shape().num_bits;
    same.num_probes = bare.shape().num_probes;
    same.layout = kind.layout;
    const Filter expected = created(dir.file("expected"), same);
    CHECK(file.shape().capacity == expected.shape().capacity);
    CHECK(file.shape().fpr == expected.shape().fpr);
    const Bytes again = dumped(file, {.bare = true});
    CHECK(std::ranges::equal(again, buffer.all()));
    check_same(opened(Filter::load(again, OpenMode::kRead, true)), bare);
  }
}

TEST_CASE("a filter that the bare form cannot hold is refused with a message, and never answers otherwise") {
  TempDir dir;
  const auto refused = [&](const char* word, const auto& change) {
    Options options = small_options();
    options.seed = 0;
    change(options);
    const Filter filter = created(dir.file(word), options);
    const auto bytes = filter.dumped_bytes({.bare = true});
    REQUIRE_FALSE(bytes.ok());
    CHECK(bytes.error().code == Code::kInvalid);
    CHECK(bytes.error().message.find(word) != std::string::npos);
    Bytes buffer(100'000);
    CHECK(filter.dump(buffer, {.bare = true}).code == Code::kInvalid);
    CHECK(filter.dumped_bytes().ok());
  };
  refused("seed", [](Options& options) { options.seed = 1; });
  refused("note", [](Options& options) { options.note = "mine"; });
  refused("siphash", [](Options& options) {
    options.seed.reset();
    options.hash = Hash::kSipHash;
    options.secret = kSecret;
  });
  refused("words", [](Options& options) {
    options.layout = Layout::kClassic;
    options.num_bits = 1001;
    options.num_probes = 3;
    options.capacity = 0;
    options.bits_per_key = 0;
  });
  refused("expire", [](Options& options) {
    options.layout = Layout::kWindow;
    options.window_ms = 86'400'000;
  });
  const Filter filter = created(dir.file("id"));
  CHECK(filter.dumped_bytes({.bare = true, .same_file_id = true}).error().code == Code::kInvalid);
}

// A bare one of its first slice was made, which answered no to the keys of the others.
TEST_CASE("a filter that grows has no embedded and no bare form, with one slice and with several") {
  TempDir dir;
  Options options;
  options.layout = Layout::kGrowing;
  options.capacity = 50;
  options.seed = 0;
  Filter filter = created(dir.file("grows.bf"), options);
  Bytes buffer(100'000);
  for (const std::uint32_t slices : {1U, 2U}) {
    for (std::uint64_t i = 0; filter.stats({}).growing->num_slices < slices; ++i)
      REQUIRE(filter.add("key " + std::to_string(i)).ok());
    for (const bool bare : {false, true}) {
      const auto bytes = filter.dumped_bytes({.bare = bare});
      REQUIRE_FALSE(bytes.ok());
      const Error error = filter.dump(buffer, {.bare = bare});
      CHECK(error.code == Code::kUnsupported);
      CHECK(error.message ==
            dir.file("grows.bf") + ": a filter that grows is a file, and has no other form. Copy the file.");
      CHECK(bytes.error().message == error.message);
    }
  }
  CHECK(filter.save(dir.file("copy.bf")).ok());
}

TEST_CASE("a filter is dumped to and loaded from any address, whole or not at all") {
  TempDir dir;
  Options options = small_options();
  options.seed = 0;
  Filter filter = created(dir.file(), options);
  add_keys(filter, 1, 0, kSome);
  for (const bool bare : {false, true}) {
    const Bytes expected = dumped(filter, {.bare = bare, .same_file_id = !bare});
    for (std::size_t skew = 0; skew < 64; ++skew) {
      CAPTURE(skew);
      Buffer memory(expected.size() + 128);
      const std::span<std::byte> all = memory.all();
      std::fill(all.begin(), all.end(), std::byte{0x5a});
      const std::span<std::byte> there = all.subspan(skew, expected.size());
      REQUIRE(filter.dump(there, {.bare = bare, .same_file_id = !bare}).ok());
      CHECK(std::ranges::equal(there, expected));
      const auto untouched = [](std::byte byte) { return byte == std::byte{0x5a}; };
      CHECK(std::ranges::all_of(all.first(skew), untouched));
      CHECK(std::ranges::all_of(all.subspan(skew + expected.size()), untouched));
      const Filter loaded = opened(Filter::load(there, OpenMode::kRead, bare));
      std::fill(all.begin(), all.end(), std::byte{0xff});  // the caller's bytes are not needed any more
      CHECK(maybes(loaded, 1, 0, kSome) == kSome);
      CHECK(answers_no(loaded));
      CHECK(filter.dump(there.first(expected.size() - 1), {.bare = bare}).code == Code::kInvalid);
      CHECK(std::ranges::all_of(all, [](std::byte byte) { return byte == std::byte{0xff}; }));
    }
  }
  CHECK(filter.dump({}, {}).code == Code::kInvalid);
}

TEST_CASE("a filter is not dumped into the buffer that it is in") {
  Buffer buffer(*Filter::required_bytes(small_options()) + 64);
  Filter filter = opened(Filter::format(buffer.all(), small_options()));
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.dump(buffer.all()).code == Code::kInvalid);
  CHECK(filter.dump(buffer.all().subspan(1)).code == Code::kInvalid);
  CHECK(filter.health() == Code::kOk);
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
}

// --- While others add ------------------------------------------------------------------------------------------------

namespace {

// Checks that the copy has what its marks promise: owner N of the sync workers adds key M before it stores mark M.
void check_marks_hold(const Filter& copy, unsigned owners) {
  for (unsigned owner = 1; owner <= owners; ++owner) {
    const std::uint64_t mark = copy.get_mark(owner);
    REQUIRE(maybes(copy, owner, 1, mark) == mark);
  }
}

Options roomy() {
  Options options;
  options.capacity = 200'000;
  options.bits_per_key = 16;
  return options;
}

}  // namespace

TEST_CASE("a file is saved while three processes add: the copy is clean, and has every key up to its marks") {
  TempDir dir(memory_folder());
  REQUIRE(created(dir.file(), roomy()).close().ok());
  constexpr unsigned kOwners = 3;
  const std::uint64_t rounds = option("rounds", 2000);
  std::vector<pid_t> workers;
  for (unsigned owner = 1; owner <= kOwners; ++owner)
    workers.push_back(start_worker({"sync", dir.file(), std::to_string(owner), std::to_string(rounds)}));
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead, {.lock_timeout_ms = kWaitForEver}));
  std::uint64_t beside_writers = 0;
  std::uint64_t last_mark = 0;
  for (int copies = 0; copies < 2000 && last_mark < rounds; ++copies) {
    const std::string path = dir.file("copy");
    REQUIRE(reader.save(path, {.replace = true}).ok());
    CHECK(state_of(path) == FileState::kClean);
    const Filter copy = opened(Filter::open(path, OpenMode::kRead));
    check_marks_hold(copy, kOwners);
    check_marks_hold(opened(Filter::load(bytes_of(path))), kOwners);
    last_mark = copy.get_mark(1);
    if (last_mark > 0 && last_mark < rounds) ++beside_writers;
  }
  for (const pid_t worker : workers) CHECK(wait_for(worker) == 0);
  CHECK(beside_writers > 3);
  CHECK(dir.names().size() == 2);
}

// The bits are read right after the marks: a key that is added and synced between the two is not promised.
TEST_CASE("the marks of a copy are those from before its first bit was read") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  bool added = false;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t) {
    if (added || offset < format::kFileHeaderBytes) return 0;
    const bool last_word = offset >= format::kFileHeaderBytes + 8000;  // the end word, not the body
    if (last_word) return 0;
    added = true;
    CHECK(writer.add("late").ok());
    CHECK(writer.sync({.owner = 1, .mark = 9}).ok());
    return 0;
  };
  REQUIRE(reader.save(dir.file("copy")).ok());
  faults::on_read = nullptr;
  CHECK(added);
  const Filter copy = opened(Filter::open(dir.file("copy"), OpenMode::kRead));
  CHECK(copy.get_mark(1) == 0);
  CHECK(copy.contains("late"));
}

// --- Doubt -----------------------------------------------------------------------------------------------------------

namespace {

// Checks that the filter is copied neither to a file nor to memory.
void check_not_copied(const Filter& filter, const TempDir& dir, Code code) {
  const std::size_t names = dir.names().size();
  CHECK(filter.save(dir.file("no copy")).code == code);
  CHECK(dir.names().size() == names);
  Bytes buffer(300'000);
  CHECK(filter.dump(buffer).code == code);
  const bool only_bits = code == Code::kDamaged;
  CHECK(filter.dumped_bytes().ok() == only_bits);
  CHECK_FALSE(Filter::load(buffer).ok());
}

}  // namespace

TEST_CASE("a filter in doubt is not copied, whatever the doubt") {
  const std::pair<std::uint64_t, Code> doubts[] = {{format::LiveWord::kPoisoned, Code::kPoisoned},
                                                   {format::LiveWord::kSuperseded, Code::kSuperseded},
                                                   {format::LiveWord::kReplaced, Code::kSuperseded},
                                                   {format::LiveWord::kRecovering, Code::kRecovering},
                                                   {format::LiveWord::kFilling, Code::kFilling}};
  for (const auto& [flag, code] : doubts) {
    TempDir dir;
    REQUIRE(created(dir.file()).close().ok());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    set_live_word(dir.file(), look_at(dir.file()).live_word | flag);
    check_not_copied(reader, dir, code);
  }
  TempDir dir;
  REQUIRE(created(dir.file()).close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  REQUIRE(truncate(dir.file().c_str(), 20'000) == 0);
  check_not_copied(reader, dir, Code::kLost);
}

TEST_CASE("a recoverer's own filter is not copied before the recovery is over") {
  TempDir dir;
  REQUIRE(created(dir.file()).close().ok());
  leave_behind(dir.file());
  edit_slots(dir.file(), [](format::Slot& slot) { slot.place.boot_id[0] ^= 1; });
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
  check_not_copied(filter, dir, Code::kRecovering);
  REQUIRE(filter.finish_recovery(0).ok());
  CHECK(filter.save(dir.file("copy")).ok());
}

TEST_CASE("a buffer or a range that was overwritten is not copied") {
  TempDir dir;
  Buffer buffer(*Filter::required_bytes(small_options()));
  const Filter filter = opened(Filter::format(buffer.all(), small_options()));
  buffer.all().back() ^= std::byte{1};
  check_not_copied(filter, dir, Code::kLost);
  buffer.all().back() ^= std::byte{1};
  CHECK(filter.save(dir.file("copy")).ok());
}

TEST_CASE("a filter that comes into doubt while it is copied is not copied") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  bool poisoned = false;
  faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
    if (poisoned || offset != format::kFileHeaderBytes) return;
    poisoned = true;
    set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  };
  CHECK(writer.save(dir.file("copy")).code == Code::kPoisoned);
  faults::on_write = nullptr;
  CHECK(poisoned);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a page that the kernel failed to write is found before a copy believes the bits") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  faults::on_question = [](int) { return EIO; };
  CHECK(writer.save(dir.file("copy")).code == Code::kPoisoned);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a page that cannot be read is an error, and not half a copy") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t bytes) {
    return offset == format::kFileHeaderBytes && bytes > 8 ? EIO : 0;
  };
  CHECK(writer.save(dir.file("copy")).code == Code::kSystem);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a forked child copies nothing through its parent's writer") {
  TempDir dir;
  const Filter writer = created(dir.file());
  CHECK(in_child([&] { return writer.save(dir.file("copy")).code == Code::kForked ? 0 : 1; }) == 0);
  CHECK(writer.save(dir.file("copy")).ok());
}

// --- Failed writes that the kernel reports ---------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kBody = format::kFileHeaderBytes;  // where the body of these filters begins

// Sets calls for the moments before the first piece of a body is read and after it. What they do is not hooked.
void at_the_body(const std::function<void()>& before, const std::function<void()>& after) {
  enum class Stage { kToCome, kReading, kOver };
  const auto stage = std::make_shared<Stage>(Stage::kToCome);
  faults::on_read = [stage, before](int, std::uint64_t offset, std::uint64_t bytes) {
    if (*stage != Stage::kToCome || offset != kBody || bytes <= 8) return 0;
    *stage = Stage::kOver;
    before();
    *stage = Stage::kReading;
    return 0;
  };
  faults::after_read = [stage, after] {
    if (*stage != Stage::kReading) return;
    *stage = Stage::kOver;
    after();
  };
}

// A sync of another thread. It hangs until finish(), and then ends with that errno.
class HangingSync {
 public:
  explicit HangingSync(Filter& filter) {
    faults::on_sync = [this](int) {
      if (std::this_thread::get_id() != thread_.get_id() || over_) return 0;
      hangs_ = true;
      while (outcome_ < 0) std::this_thread::yield();
      over_ = true;
      return outcome_.load();
    };
    thread_ = std::thread([this, &filter] {
      while (!started_) std::this_thread::yield();
      code_ = filter.sync({.owner = 1, .mark = 1}).code;
    });
    started_ = true;
    while (!hangs_) std::this_thread::yield();
  }
  HangingSync(const HangingSync&) = delete;
  HangingSync& operator=(const HangingSync&) = delete;
  ~HangingSync() {
    finish(0);
    faults::on_sync = nullptr;  // handles that are closed later sync, too
  }

  void finish(int os_errno) {
    int none = -1;
    outcome_.compare_exchange_strong(none, os_errno);
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] Code code() const { return code_; }

 private:
  std::atomic<bool> started_{false};
  std::atomic<bool> hangs_{false};
  std::atomic<bool> over_{false};
  std::atomic<int> outcome_{-1};
  Code code_ = Code::kOk;
  std::thread thread_;
};

}  // namespace

// The handle of an unpublished filter once never asked the kernel.
TEST_CASE("failed writes of pages of an unpublished filter are found, before its body is read and after") {
  for (const bool afterwards : {false, true}) {
    for (const bool saves : {false, true}) {
      CAPTURE(afterwards);
      CAPTURE(saves);
      bool was_read = false;
      bool told = false;
      const faults::Scope scope;
      TempDir dir;
      Options options = small_options();
      options.unpublished = true;
      options.writeback_check_ms = 3'600'000;
      Filter filter = created(dir.file(), options);
      add_keys(filter, 1, 0, kSome);
      Bytes buffer(300'000);
      REQUIRE(filter.dump(buffer).ok());
      at_the_body([&] { was_read = true; }, [] {});
      faults::on_question = [&](int) {
        if (told || was_read != afterwards) return 0;
        told = true;
        return EIO;
      };
      CHECK((saves ? filter.save(dir.file("copy")) : filter.dump(buffer)).code == Code::kPoisoned);
      CHECK(told);
      if (afterwards && !saves) CHECK_FALSE(Filter::load(buffer).ok());
      CHECK(dir.names().empty());
      CHECK(filter.publish().code == Code::kPoisoned);
      CHECK(dir.names().empty());
    }
  }
}

// The kernel tells a sync of a failure, and then does not tell it to a thread with the same open file. A copy that is
// made meanwhile has bits of pages that may have been dropped.
TEST_CASE("a copy waits for a sync of another thread or another handle, and fails if that sync fails") {
  enum class By { kSameHandle, kWriter, kReader };
  for (const By by : {By::kSameHandle, By::kWriter, By::kReader}) {
    for (const int outcome : {0, EIO}) {
      CAPTURE(static_cast<int>(by));
      CAPTURE(outcome);
      const faults::Scope scope;
      TempDir dir;
      Filter syncing = created(dir.file());
      add_keys(syncing, 1, 0, kSome);
      const Filter other = opened(Filter::open(dir.file(), by == By::kReader ? OpenMode::kRead : OpenMode::kWrite));
      const Filter& source = by == By::kSameHandle ? syncing : other;
      HangingSync sync(syncing);
      Bytes buffer(300'000);
      Error saved;
      Error dumped;
      std::atomic<bool> returned{false};
      std::thread copier([&] {
        saved = source.save(dir.file("copy"));
        dumped = source.dump(buffer);
        returned = true;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      CHECK_FALSE(returned);
      sync.finish(outcome);
      copier.join();
      CHECK(sync.code() == (outcome == 0 ? Code::kOk : Code::kPoisoned));
      CHECK(saved.code == (outcome == 0 ? Code::kOk : Code::kPoisoned));
      CHECK(dumped.code == (outcome == 0 ? Code::kOk : Code::kPoisoned));
      CHECK(dir.names().size() == (outcome == 0 ? 2 : 1));
      CHECK(Filter::load(buffer).ok() == (outcome == 0));
    }
  }
}

TEST_CASE("a copy waits for a sync no longer than its handle waits for locks") {
  const faults::Scope scope;
  TempDir dir;
  Options options = small_options();
  options.lock_timeout_ms = 30;
  Filter syncing = created(dir.file(), options);
  const Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 30}));
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead, {.lock_timeout_ms = 30}));
  HangingSync sync(syncing);
  for (const Filter* source : {&std::as_const(syncing), &writer, &reader}) {
    Bytes buffer(300'000);
    CHECK(source->dump(buffer).code == Code::kBusy);
    CHECK(source->save(dir.file("copy")).code == Code::kBusy);
  }
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a filter whose syncing process died is not copied, because only that process got the kernel's answer") {
  TempDir dir;
  const Filter writer = created(dir.file());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  set_syncing(dir.file());
  Bytes buffer(300'000);
  CHECK(reader.dump(buffer).code == Code::kUnclean);
  CHECK(reader.save(dir.file("copy")).code == Code::kUnclean);
  CHECK(writer.save(dir.file("copy")).code == Code::kPoisoned);
  CHECK(reader.save(dir.file("copy")).code == Code::kPoisoned);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a filter whose slot says poisoned is not copied, though the page of the live word was dropped") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  const std::uint64_t healthy = look_at(dir.file()).live_word;
  faults::on_sync = [&, synced = false](int) mutable { return std::exchange(synced, true) ? 0 : EIO; };
  REQUIRE(writer.sync({.owner = 1, .mark = 1}).code == Code::kPoisoned);
  faults::on_sync = nullptr;
  set_live_word(dir.file(), healthy);
  for (const Filter* source : {&reader, &std::as_const(writer)}) {
    CHECK(source->health() == Code::kOk);
    CHECK_FALSE(source->save(dir.file("copy")).ok());
  }
  CHECK(dir.names().size() == 1);
}

// Before and after, the file looks good. In between the kernel dropped pages, and a recovery added their keys again.
TEST_CASE("a body that was read while the file was poisoned and recovered is not copied") {
  for (const bool saves : {false, true}) {
    CAPTURE(saves);
    const faults::Scope scope;
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    const std::string whole = read_bytes(dir.file());
    at_the_body([&] { write_bytes(dir.file(), kBody, std::string(whole.size() - kBody - 4096, '\0')); },
                [&] {
                  faults::on_sync = [](int) { return EIO; };
                  CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kPoisoned);
                  faults::on_sync = nullptr;
                  CHECK(writer.close().code == Code::kPoisoned);
                  Filter recoverer = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
                  add_keys(recoverer, 1, 0, kSome);
                  CHECK(*recoverer.finish_recovery(1));
                  CHECK(recoverer.close().ok());
                });
    Bytes buffer(300'000);
    const Error error = saves ? reader.save(dir.file("copy")) : reader.dump(buffer);
    CHECK(error.code == Code::kBusy);
    CHECK(dir.names().size() == 1);
    CHECK(reader.health() == Code::kOk);
    REQUIRE((saves ? reader.save(dir.file("copy")) : reader.dump(buffer)).ok());
    const Filter copy =
        opened(saves ? Filter::open(dir.file("copy"), OpenMode::kRead) : Filter::load(buffer, OpenMode::kRead));
    CHECK(maybes(copy, 1, 0, kSome) == kSome);
  }
}

// --- Pages that cannot be read ---------------------------------------------------------------------------------------

namespace {

Options seven_chunks() {
  Options options;
  options.num_bits = std::uint64_t{7} * 65536 * 8;
  options.num_probes = 4;
  return options;
}

}  // namespace

// Chunks that a tolerant reader covers with ones were once read from the mapping.
TEST_CASE("a sealed file that is cut while it is copied is an error and no signal") {
  for (const bool tolerates : {false, true}) {
    CHECK(in_child([&] {
            const faults::Scope scope;
            const TempDir dir;
            Filter filter = *Filter::create(dir.file(), seven_chunks());
            if (!filter.close().ok() || !seal(dir.file(), dir.file("sealed")).ok()) return 1;
            const Filter sealed = *Filter::open(dir.file("sealed"), OpenMode::kRead, {.tolerate_damage = tolerates});
            faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
              if (offset == kBody && truncate(dir.file("sealed").c_str(), kBody + 4096) != 0) _exit(2);
            };
            const Code code = sealed.save(dir.file("copy")).code;
            return code == (tolerates ? Code::kLost : Code::kDamaged) && dir.names().size() == 2 ? 0 : 3;
          }) == 0);
  }
}

TEST_CASE("a page of a sealed file that became unreadable is damage in a copy, and maybe if that is tolerated") {
  const faults::Scope scope;
  TempDir dir;
  Filter filter = created(dir.file(), seven_chunks());
  add_keys(filter, 1, 0, kSome);
  REQUIRE(filter.close().ok());
  REQUIRE(seal(dir.file(), dir.file("sealed")).ok());
  const Filter strict = opened(Filter::open(dir.file("sealed"), OpenMode::kRead));
  const Filter tolerant = opened(Filter::open(dir.file("sealed"), OpenMode::kRead, {.tolerate_damage = true}));
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t) { return offset == kBody + 65536 ? EIO : 0; };
  CHECK(strict.save(dir.file("copy")).code == Code::kDamaged);
  REQUIRE(tolerant.save(dir.file("copy")).ok());
  const Bytes bytes = dumped(tolerant);
  faults::on_read = nullptr;
  CHECK(maybes(opened(Filter::open(dir.file("copy"), OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(maybes(opened(Filter::load(bytes)), 1, 0, kSome) == kSome);
}

// A reader looks at the header twice before it reads the first bit, and twice after the last one.
TEST_CASE("a file that is cut after a copy looked at its header is an error and no signal") {
  for (const bool last : {false, true}) {
    CAPTURE(last);
    CHECK(in_child([&] {
            const faults::Scope scope;
            const TempDir dir;
            if (!Filter::create(dir.file(), seven_chunks())->close().ok()) return 1;
            const Filter source = *Filter::open(dir.file(), OpenMode::kRead);
            int looks = 0;
            bool now = false;
            faults::on_read = [&](int, std::uint64_t, std::uint64_t bytes) {
              if (bytes == format::kEndWordBytes) ++looks;  // it is read after the header
              now = bytes == format::kEndWordBytes;
              return 0;
            };
            faults::after_read = [&] {
              if (now && looks == (last ? 4 : 2) && truncate(dir.file().c_str(), 0) != 0) _exit(2);
            };
            const Code code = source.save(dir.file("copy")).code;
            return code == Code::kFault && dir.names().size() == 1 ? 0 : 3;
          }) == 0);
  }
}

TEST_CASE("a range of a file that was cut is not copied, and causes no signal") {
  for (const bool guarded : {false, true}) {
    CHECK(in_child([&] {
            const TempDir dir;
            Buffer buffer(*Filter::required_bytes(seven_chunks()));
            if (!Filter::format(buffer.all(), seven_chunks()).ok()) return 1;
            std::ofstream(dir.file(), std::ios::binary)
                << std::string(reinterpret_cast<const char*>(buffer.all().data()), buffer.all().size());
            const auto range = Filter::open_range(dir.file(), 0, 0, {.map = {.guard = guarded}});
            if (!range.ok() || !range->save(dir.file("good")).ok()) return 2;
            for (const off_t length : {off_t{100'000}, off_t{0}}) {
              if (truncate(dir.file().c_str(), length) != 0) return 3;
              Bytes into(buffer.all().size());
              if (range->dump(into).code != Code::kFault || range->save(dir.file("copy")).code != Code::kFault)
                return 4;
            }
            return dir.names().size() == 2 ? 0 : 5;
          }) == 0);
  }
}

// --- The new file ----------------------------------------------------------------------------------------------------

TEST_CASE("a saved file takes a name that is free, or with replace another file's, never its own") {
  TempDir dir;
  Filter source = created(dir.file());
  add_keys(source, 1, 0, kSome);
  REQUIRE(created(dir.file("other")).close().ok());
  const Filter onlooker = opened(Filter::open(dir.file("other"), OpenMode::kRead));
  CHECK(source.save("").code == Code::kInvalid);
  CHECK(source.save(dir.file("copy"), {.mode = 01000}).code == Code::kInvalid);
  CHECK(source.save(dir.file("other")).code == Code::kExists);
  CHECK(source.save(dir.file()).code == Code::kExists);
  CHECK(onlooker.health() == Code::kOk);
  for (const std::string& own : {dir.file(), dir.file("link")}) {
    if (own != dir.file()) std::filesystem::create_hard_link(dir.file(), own);
    CHECK(source.save(own, {.replace = true}).code == Code::kInvalid);
    CHECK(source.health() == Code::kOk);
    CHECK(source.add("more").ok());
  }
  CHECK(source.save(dir.file("other"), {.mode = 0640, .replace = true}).ok());
  CHECK(onlooker.health() == Code::kSuperseded);
  CHECK((std::filesystem::status(dir.file("other")).permissions() & std::filesystem::perms::group_read) !=
        std::filesystem::perms::none);
  Filter saved = opened(Filter::open(dir.file("other"), OpenMode::kWrite));
  CHECK(maybes(saved, 1, 0, kSome) == kSome);
  CHECK(saved.contains("more"));
  CHECK(saved.add("a new key").ok());
  CHECK(saved.close().ok());
}

TEST_CASE("a copy does not replace its source, which got the copy's name meanwhile") {
  const faults::Scope scope;
  TempDir dir;
  Filter source = created(dir.file());
  REQUIRE(created(dir.file("other")).close().ok());
  bool moved = false;
  faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
    if (moved || offset != format::kFileHeaderBytes) return;
    moved = true;
    std::filesystem::rename(dir.file(), dir.file("other"));
  };
  CHECK(source.save(dir.file("other"), {.replace = true}).code == Code::kSuperseded);
  faults::on_write = nullptr;
  CHECK(moved);
  CHECK(source.health() == Code::kOk);
  CHECK(source.add("late").ok());
  CHECK(opened(Filter::open(dir.file("other"), OpenMode::kRead)).contains("late"));
}

TEST_CASE("a filter that has no name yet is saved, and continues") {
  TempDir dir;
  Options options = small_options();
  options.unpublished = true;
  Filter filter = created(dir.file(), options);
  add_keys(filter, 1, 0, kSome);
  REQUIRE(filter.sync({.owner = 1, .mark = 5}).ok());
  REQUIRE(filter.save(dir.file("early")).ok());
  CHECK(filter.add("late").ok());
  REQUIRE(filter.publish().ok());
  const Filter early = opened(Filter::open(dir.file("early"), OpenMode::kRead));
  CHECK(maybes(early, 1, 0, kSome) == kSome);
  CHECK_FALSE(early.contains("late"));
  CHECK(early.get_mark(1) == 5);
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).contains("late"));
}

TEST_CASE("a sealed file is saved if it is whole, or if its damage is maybe in the copy, too") {
  TempDir dir;
  Options options;
  options.num_bits = 3 * 65536 * 8;
  options.num_probes = 4;
  Filter filter = created(dir.file(), options);
  add_keys(filter, 1, 0, kSome);
  REQUIRE(filter.sync({.owner = 5, .mark = kSome}).ok());
  REQUIRE(filter.close().ok());
  REQUIRE(seal(dir.file(), dir.file("sealed")).ok());
  const Filter whole = opened(Filter::open(dir.file("sealed"), OpenMode::kRead));
  REQUIRE(whole.save(dir.file("copy")).ok());
  Filter copy = opened(Filter::open(dir.file("copy"), OpenMode::kWrite));  // which a sealed file does not allow
  CHECK(maybes(copy, 1, 0, kSome) == kSome);
  CHECK(copy.get_mark(5) == kSome);
  CHECK(copy.stats().keys_added == whole.stats().keys_added);
  CHECK(opened(Filter::load(bytes_of(dir.file("sealed")))).get_mark(5) == kSome);
  CHECK(code_of(Filter::load(bytes_of(dir.file("sealed")), OpenMode::kWrite)) == Code::kSealed);

  write_bytes(dir.file("sealed"), format::kFileHeaderBytes + 65536, std::string(65536, '\0'));
  check_not_copied(opened(Filter::open(dir.file("sealed"), OpenMode::kRead)), dir, Code::kDamaged);
  CHECK(code_of(Filter::load(bytes_of(dir.file("sealed")))) == Code::kDamaged);
  for (const bool in_memory : {false, true}) {
    OpenOptions tolerant;
    tolerant.tolerate_damage = true;
    tolerant.map.copy = in_memory;
    const Filter damaged = opened(Filter::open(dir.file("sealed"), OpenMode::kRead, tolerant));
    REQUIRE(damaged.save(dir.file("copy"), {.replace = true}).ok());
    CHECK(maybes(opened(Filter::open(dir.file("copy"), OpenMode::kRead)), 1, 0, kSome) == kSome);
    CHECK(maybes(opened(Filter::load(dumped(damaged))), 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a copy in memory is saved with its own marks, whatever the file has by now") {
  TempDir dir;
  Filter writer = created(dir.file());
  OpenOptions copying;
  copying.map.copy = true;
  const Filter copy = opened(Filter::open(dir.file(), OpenMode::kRead, copying));
  CHECK(writer.add("late").ok());
  CHECK(writer.sync({.owner = 1, .mark = 9}).ok());
  REQUIRE(copy.save(dir.file("copy")).ok());
  const Filter saved = opened(Filter::open(dir.file("copy"), OpenMode::kRead));
  CHECK_FALSE(saved.contains("late"));
  CHECK(saved.get_mark(1) == 0);
}

// --- Loading ---------------------------------------------------------------------------------------------------------

TEST_CASE("only the whole bytes of a filter are a filter") {
  TempDir dir;
  Options options = small_options();
  options.seed = 0;
  options.num_bits = 4096;
  options.num_probes = 3;
  options.capacity = 0;
  options.bits_per_key = 0;
  Filter filter = created(dir.file(), options);
  add_keys(filter, 1, 0, 20);
  REQUIRE(filter.close().ok());
  REQUIRE(seal(dir.file(), dir.file("sealed")).ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  const std::pair<Bytes, bool> forms[] = {{dumped(reader), false},
                                          {dumped(reader, {.bare = true}), true},
                                          {bytes_of(dir.file()), false},
                                          {bytes_of(dir.file("sealed")), false}};
  for (const auto& [bytes, bare] : forms) {
    CHECK(Filter::load(bytes, OpenMode::kRead, bare).ok());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));  // its end is the memory's
      REQUIRE_FALSE(Filter::load(part, OpenMode::kRead, bare).ok());
    }
  }
  CHECK(code_of(Filter::load({}, OpenMode::kRead)) == Code::kInvalid);
  CHECK(code_of(Filter::load(forms[0].first, OpenMode::kExclusive)) == Code::kInvalid);
  CHECK(code_of(Filter::load(forms[0].first, OpenMode::kRead, false, kSecret)) == Code::kSecret);
  CHECK_FALSE(Filter::load(forms[0].first, OpenMode::kRead, true).ok());
}

// Flips every bit that is not a filter bit. Each is refused, or has no meaning for answers.
TEST_CASE("a flipped bit of the header makes no wrong no in bytes that are loaded") {
  TempDir dir;
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  REQUIRE(filter.close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  // Bits of every place in a byte: no part of eight.
  const std::size_t kEvery = tests::if_slow(7, 1);
  for (Bytes bytes : {dumped(reader), bytes_of(dir.file())}) {
    std::uint64_t loaded = 0;
    const std::size_t end = bytes.size() > format::kFileHeaderBytes ? format::kFileHeaderBytes : 192;
    for (std::size_t bit = 0; bit < end * 8; bit += kEvery) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      const auto found = Filter::load(bytes);
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      if (!found) continue;
      ++loaded;
      REQUIRE(maybes(*found, 1, 0, kSome) == kSome);
    }
    CHECK(loaded < end * 8 / kEvery / 2);
  }
}

TEST_CASE("random bytes are no filter") {
  std::mt19937_64 random(option("seed", 1));
  TempDir dir;
  const Filter filter = created(dir.file());
  const Bytes good = dumped(filter);
  const std::uint64_t rounds = option("rounds", 20'000) / kKeyScale;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Bytes bytes(random() % 400 + (round % 2) * 16'384);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (round % 3 == 0) std::copy_n(good.begin(), std::min<std::size_t>(bytes.size(), random() % 192), bytes.begin());
    for (const bool bare : {false, true}) CHECK_FALSE(Filter::load(bytes, OpenMode::kRead, bare).ok());
  }
}

TEST_CASE("bytes of a file that was not clean are refused with the code of its state") {
  TempDir dir;
  {
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    CHECK(code_of(Filter::load(bytes_of(dir.file()))) == Code::kUnclean);
    CHECK(writer.close().ok());
  }
  const auto code_with = [&](std::uint64_t flags) {
    Bytes bytes = bytes_of(dir.file());
    std::byte* const word = bytes.data() + format::kLivePageOffset;
    base::store(word, base::load<std::uint64_t>(word) ^ flags);
    return code_of(Filter::load(bytes));
  };
  CHECK(code_with(0) == Code::kOk);
  CHECK(code_with(format::LiveWord::kPoisoned) == Code::kPoisoned);
  CHECK(code_with(format::LiveWord::kRecovering) == Code::kRecovering);
  CHECK(code_with(format::LiveWord::kSuperseded) == Code::kSuperseded);
  CHECK(code_with(format::LiveWord::kReplaced) == Code::kSuperseded);
  CHECK(code_with(format::LiveWord::kFilling) == Code::kFilling);
  CHECK(code_with(format::LiveWord::kNever) == Code::kLiveWord);
  CHECK(code_with(std::uint64_t{1} << 16) == Code::kLiveWord);
  CHECK(code_with(std::uint64_t{1} << 6) == Code::kLater);
  Bytes syncing = bytes_of(dir.file());  // left by a closing process that was killed
  base::store(syncing.data() + format::kLivePageOffset + format::kSyncingField.offset, std::uint64_t{1});
  CHECK(code_of(Filter::load(syncing)) == Code::kOk);
  REQUIRE(created(dir.file("left")).close().ok());
  leave_behind(dir.file("left"));
  CHECK(code_of(Filter::load(bytes_of(dir.file("left")))) == Code::kUnclean);
}

// --- Equal byte for byte ---------------------------------------------------------------------------------------------

namespace {

constexpr FileId kId{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Options replica(const Kind& kind) {
  Options options = options_of(kind);
  if (kind.hash == Hash::kXxh3) options.seed = 5;
  options.file_id = kId;
  return options;
}

// Adds in this number of threads. Each lives until the last one ended, so no two have one id, and calls with many keys
// count on several stripes, whatever the ids are. (Single adds of the only writer all count on one.)
void fill_in_threads(Filter& filter, unsigned threads, std::uint64_t first = 0) {
  std::thread([&] {
    const std::uint64_t end = first + (kSome - first) / threads;
    std::vector<std::uint64_t> many;
    for (std::uint64_t i = first; i < end; ++i) {
      if (i % 2 == 0) CHECK(filter.add_digest(digest_of(i)).ok());
      if (i % 2 != 0) many.push_back(digest_of(i));
    }
    CHECK(filter.add_keys(Keys::digests(many)).ok());
    if (threads > 1) fill_in_threads(filter, threads - 1, end);
  }).join();
}

void publish_filled(const std::string& path, Options options, std::uint64_t syncs) {
  options.unpublished = true;
  Filter filter = created(path, options);
  fill_in_threads(filter, 8);
  for (std::uint64_t i = 1; i <= syncs; ++i) REQUIRE(filter.sync({.owner = 1, .mark = i}).ok());
  REQUIRE(filter.sync({.owner = 1, .mark = 9}).ok());
  REQUIRE(filter.publish().ok());
}

}  // namespace

TEST_CASE("filters that are built alike with one file_id are equal byte for byte, in every process and place") {
  for (const Kind& kind : every_kind()) {
    CAPTURE(static_cast<int>(kind.layout));
    CAPTURE(static_cast<int>(kind.hash));
    TempDir dir;
    const TempDir elsewhere(memory_folder());
    const Options options = replica(kind);
    publish_filled(dir.file("a"), options, 0);
    publish_filled(elsewhere.file("b"), options, 5);
    CHECK(read_bytes(dir.file("a")) == read_bytes(elsewhere.file("b")));
    CHECK(look_at(dir.file("a")).file_id == kId);
    CHECK(look_at(dir.file("a")).newest().place == format::Place{});
    CHECK(look_at(dir.file("a")).keys_added > kSome / 2);

    OpenOptions opening;
    opening.secret = kind.secret();
    const Filter published = opened(Filter::open(dir.file("a"), OpenMode::kRead, opening));
    REQUIRE(published.save(dir.file("saved"), {.same_file_id = true}).ok());
    CHECK(read_bytes(dir.file("saved")) == read_bytes(dir.file("a")));
    REQUIRE(published.save(dir.file("fresh")).ok());
    CHECK(look_at(dir.file("fresh")).file_id != kId);

    Buffer one(*Filter::required_bytes(options));
    Buffer two(*Filter::required_bytes(options));
    for (Buffer* const buffer : {&one, &two}) {
      Filter filter = opened(Filter::format(buffer->all(), options));
      fill(filter);
    }
    CHECK(std::ranges::equal(one.all(), two.all()));
    CHECK(std::ranges::equal(dumped(published, {.same_file_id = true}), one.all()));
    const Filter buffered = opened(Filter::wrap_to_read(one.all(), false, opening.secret));
    CHECK(std::ranges::equal(dumped(buffered, {.same_file_id = true}), one.all()));
    CHECK_FALSE(std::ranges::equal(dumped(buffered), one.all()));
  }
}

TEST_CASE("a published file is opened, marked and adopted like any other, though it says nothing of its place") {
  TempDir dir;
  publish_filled(dir.file(), replica({Layout::kBlocked, Hash::kXxh3}), 0);
  CHECK(look_at(dir.file()).slots.whole());
  leave_behind(dir.file());
  CHECK(state_of(dir.file()) == FileState::kAdoptable);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(filter.get_mark(1) == 9);
  CHECK(filter.sync({.owner = 1, .mark = 10}).ok());
  CHECK(filter.close().ok());
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).get_mark(1) == 10);
}

TEST_CASE("a filter does not replace one with its own file_id") {
  TempDir dir;
  Options options = replica({Layout::kBlocked, Hash::kXxh3});
  REQUIRE(created(dir.file(), options).close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  options.replace = true;
  CHECK(code_of(Filter::create(dir.file(), options)) == Code::kInvalid);
  REQUIRE(created(dir.file("other"), options).close().ok());
  const Filter other = opened(Filter::open(dir.file("other"), OpenMode::kRead));
  CHECK(other.save(dir.file(), {.replace = true, .same_file_id = true}).code == Code::kInvalid);
  CHECK(reader.health() == Code::kOk);
  CHECK(answers_no(reader));
  CHECK(dir.names().size() == 2);
  options.file_id->front() ^= 1;
  CHECK(Filter::create(dir.file(), options).ok());
  CHECK(reader.health() == Code::kSuperseded);
}

TEST_CASE("a file_id of zeros, and one for the bare form, are refused") {
  TempDir dir;
  Options options = small_options();
  options.file_id.emplace();
  CHECK(code_of(Filter::create(dir.file(), options)) == Code::kInvalid);
  CHECK_FALSE(Filter::required_bytes(options).ok());
  options.file_id = kId;
  CHECK(Filter::required_bytes(options).ok());
  options.bare = true;
  CHECK_FALSE(Filter::required_bytes(options).ok());
  Options bare = small_options();
  bare.bare = true;
  Buffer buffer(*Filter::required_bytes(bare));
  const Filter filter = opened(Filter::format(buffer.all(), bare));
  CHECK(filter.save(dir.file(), {.same_file_id = true}).code == Code::kInvalid);
  CHECK(dir.names().empty());
}
