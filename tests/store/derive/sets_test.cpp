// Filters are intersected and compared, in every layout and form, while others add to them. Filters that are in doubt,
// or do not fit together, are refused. A filter is cleared by another one that replaces it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <functional>
#include <thread>

#include "faults.hpp"
#include "format/sections.hpp"
#include "numbered.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kKeys = 3000;

Filter filled(const std::string& path, const Options& options, std::uint64_t first, std::uint64_t end) {
  Filter made = created(path, options);
  add_numbers(made, first, end);
  return made;
}

std::uint64_t how_many(const Filter& filter, std::uint64_t first, std::uint64_t end) {
  std::uint64_t found = 0;
  for (std::uint64_t i = first; i < end; ++i) found += filter.contains_digest(digest_of(i)) ? 1U : 0U;
  return found;
}

Error intersected(std::initializer_list<const Filter*> filters, const std::string& path,
                  const SaveOptions& options = {}) {
  return Filter::intersect(std::vector<const Filter*>(filters), path, options);
}

Comparison compared(const Filter& a, const Filter& b) {
  const auto found = a.compare(b);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

Code code_of_comparing(const Filter& a, const Filter& b) {
  const auto found = a.compare(b);
  return found.ok() ? Code::kOk : found.error().code;
}

std::vector<LayoutInfo> layouts_with_intersections() {
  std::vector<LayoutInfo> found;
  for (const LayoutInfo& layout : layouts()) {
    if (layout.can.intersect) found.push_back(layout);
  }
  return found;
}

}  // namespace

TEST_CASE("an intersection has the keys of all filters, and is the AND of their bits, also where some are folded") {
  for (const LayoutInfo& layout : layouts_with_intersections()) {
    CAPTURE(layout.name);
    for (const std::uint64_t times : {1U, 2U, 3U, 8U}) {
      CAPTURE(times);
      TempDir dir;
      const Options small = options_of(layout.layout, 96);
      const Filter one = filled(dir.file("one"), small, 0, 2 * kKeys);
      const Filter other = filled(dir.file("other"), options_of(layout.layout, 96 * times), kKeys, 3 * kKeys);
      Filter folded = created(dir.file("folded"), small);
      REQUIRE(folded.merge(other).ok());
      for (const bool larger_first : {false, true}) {
        const std::string path = dir.file(larger_first ? "there" : "here");
        REQUIRE((larger_first ? intersected({&other, &one}, path) : intersected({&one, &other}, path)).ok());
        const Filter both = opened(Filter::open(path, OpenMode::kRead));
        CHECK(how_many(both, kKeys, 2 * kKeys) == kKeys);
        std::vector<std::byte> anded = bits_of(one);
        const std::vector<std::byte> others = bits_of(folded);
        std::transform(anded.begin(), anded.end(), others.begin(), anded.begin(), std::bit_and<>());
        CHECK(bits_of(both) == anded);
        CHECK(both.shape().num_bits == small.num_bits);
        CHECK(both.shape().capacity == one.shape().capacity);
        CHECK(both.shape().fpr == one.shape().fpr);
        CHECK(state_of(path) == FileState::kClean);
      }
    }
  }
}

TEST_CASE("a vast intersection, of sealed and of plain files, loses no key between two pieces") {
  TempDir dir;
  for (const LayoutInfo& layout : layouts_with_intersections()) {
    CAPTURE(layout.name);
    const std::uint64_t units = 5 * 4096 + 7;  // a piece is 4096 lines, a sealed chunk 1024
    REQUIRE(filled(dir.file("one"), options_of(layout.layout, units), 0, 2 * kKeys).close().ok());
    REQUIRE(filled(dir.file("other"), options_of(layout.layout, 3 * units), kKeys, 3 * kKeys).close().ok());
    const auto into = SealOptions{.replace = true};
    REQUIRE(seal(dir.file("one"), dir.file("sealed"), into).ok());
    REQUIRE(seal(dir.file("other"), dir.file("sealed too"), into).ok());
    std::vector<std::byte> first;
    for (const char* a : {"one", "sealed"}) {
      for (const char* b : {"other", "sealed too"}) {
        CAPTURE(a);
        CAPTURE(b);
        const Filter one = opened(Filter::open(dir.file(a), OpenMode::kRead));
        const Filter other = opened(Filter::open(dir.file(b), OpenMode::kRead));
        REQUIRE(intersected({&one, &other}, dir.file("both"), {.replace = true}).ok());
        const Filter both = opened(Filter::open(dir.file("both"), OpenMode::kRead));
        CHECK(how_many(both, kKeys, 2 * kKeys) == kKeys);
        CHECK(how_many(both, 0, kKeys) < kKeys / 10);
        if (first.empty()) first = bits_of(both);
        CHECK(bits_of(both) == first);
        const Comparison found = compared(one, other);
        CHECK(found.keys_both.estimate == doctest::Approx(kKeys).epsilon(0.05));
        const Comparison turned = compared(other, one);
        CHECK(turned.keys_both.estimate == doctest::Approx(found.keys_both.estimate));
        CHECK(turned.set_bits_a == found.set_bits_b);
        CHECK(turned.keys_a.high == doctest::Approx(found.keys_b.high));
      }
    }
    for (const std::string& name : dir.names()) std::filesystem::remove(dir.file(name));
  }
}

TEST_CASE("an intersection has no marks, and counts as many keys as its bits are enough for") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 400);
  Filter one = filled(dir.file("one"), options, 0, 2 * kKeys);
  Filter other = filled(dir.file("other"), options, kKeys, 3 * kKeys);
  Filter third = filled(dir.file("third"), options, 0, 2 * kKeys);
  for (Filter* const source : {&one, &other, &third}) REQUIRE(source->sync({1, 2, 3}).ok());
  REQUIRE(intersected({&one, &other, &third}, dir.file("both")).ok());
  const Filter both = opened(Filter::open(dir.file("both"), OpenMode::kRead));
  CHECK(both.get_mark(1, 2) == 0);
  CHECK(both.list_marks()->empty());
  const Stats stats = both.stats({.fill = true});
  CHECK(static_cast<double>(stats.keys_added) == doctest::Approx(stats.fill->estimated_keys).epsilon(0.001));
  CHECK(stats.keys_added >= kKeys);
  CHECK(stats.file_id != one.stats().file_id);
  const double rate_of_one = one.stats({.fill = true}).fill->estimated_fpr;
  const double rate_of_other = other.stats({.fill = true}).fill->estimated_fpr;
  CHECK(stats.fill->estimated_fpr < std::min(rate_of_one, rate_of_other));
  CHECK(stats.fill->estimated_fpr > rate_of_one * rate_of_other);
  const auto absent = 200'000 / kKeyScale;
  const double maybes =
      static_cast<double>(how_many(both, 10 * kKeys, 10 * kKeys + absent)) / static_cast<double>(absent);
  CHECK(maybes == doctest::Approx(stats.fill->estimated_fpr).epsilon(0.1));
}

TEST_CASE("an intersection has the note that all sources have, or the one that is given") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 400);
  options.note = "of all";
  const Filter one = filled(dir.file("one"), options, 0, kKeys);
  const Filter other = filled(dir.file("other"), options, 0, kKeys);
  options.note = "of one";
  const Filter third = filled(dir.file("third"), options, 0, kKeys);
  options.note.clear();
  const Filter silent = filled(dir.file("silent"), options, 0, kKeys);
  const auto note_of = [&](const std::vector<const Filter*>& sources, const SaveOptions& saving) {
    SaveOptions all = saving;
    all.replace = true;
    REQUIRE(Filter::intersect(sources, dir.file("both"), all).ok());
    return opened(Filter::open(dir.file("both"), OpenMode::kRead)).note();
  };
  CHECK(note_of({&one, &other}, {}) == "of all");
  CHECK(note_of({&one, &third}, {}).empty());
  CHECK(note_of({&one, &silent}, {}).empty());
  CHECK(note_of({&silent, &one}, {}).empty());
  CHECK(note_of({&one, &third}, {.note = "given"}) == "given");
  CHECK(note_of({&one, &other}, {.note = ""}).empty());
  const std::vector<const Filter*> both{&one, &other};
  const SaveOptions long_note{.replace = true, .note = std::string(kMaxNoteBytes + 1, 'n')};
  CHECK(Filter::intersect(both, dir.file("both"), long_note).code == Code::kInvalid);
  CHECK(one.save(dir.file("copy"), {.note = "given"}).code == Code::kInvalid);
}

TEST_CASE("every form of a filter is intersected and compared: a buffer, a bare one, a follower, and a filter itself") {
  TempDir dir;
  Options options = options_of(Layout::kBlocked, 64);
  options.seed = 0;
  Filter one = filled(dir.file("one"), options, 0, kKeys);
  std::vector<std::byte> embedded(*one.dumped_bytes());
  REQUIRE(one.dump(embedded).ok());
  const Filter loaded = opened(Filter::load(embedded));
  std::vector<std::byte> bytes(*one.dumped_bytes({.bare = true}));
  REQUIRE(one.dump(bytes, {.bare = true}).ok());
  const Filter bare = opened(Filter::load(bytes, OpenMode::kRead, true));
  const Filter follower = opened(Filter::open(dir.file("one"), OpenMode::kRead, {.follow = true}));
  const auto bits = bits_of(one);
  int number = 0;
  for (const Filter* const source : std::initializer_list<const Filter*>{&one, &loaded, &bare, &follower}) {
    const std::string path = dir.file("made" + std::to_string(number++));
    REQUIRE(intersected({source, &one, source}, path).ok());
    CHECK(bits_of(opened(Filter::open(path, OpenMode::kRead))) == bits);
    REQUIRE(intersected({source}, path + "alone").ok());
    CHECK(bits_of(opened(Filter::open(path + "alone", OpenMode::kRead))) == bits);
    const Comparison found = compared(*source, one);
    CHECK(found.equal);
    CHECK(found.jaccard.low == doctest::Approx(1));
  }
}

TEST_CASE("filters that do not fit together are not intersected, and a comparison says in what they differ") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  const Filter one = filled(dir.file("one"), options, 0, 100);
  const auto refused = [&](const char* what, bool Differences::*differs, const std::function<void(Options&)>& change) {
    Options changed = options;
    change(changed);
    Filter other = filled(dir.file("other"), changed, 0, 100);
    const Error error = intersected({&one, &other}, dir.file("both"));
    CHECK(error.code == Code::kMismatch);
    CHECK_MESSAGE(error.message.find(what) != std::string::npos, error.message);
    const Comparison found = compared(one, other);
    CHECK(found.differ.*differs);
    CHECK_FALSE(found.comparable);
    CHECK_FALSE(found.equal);
    CHECK(found.keys_both.high == 0);
    CHECK(found.keys_a.estimate == doctest::Approx(100).epsilon(0.05));
    CHECK(found.keys_b.estimate == doctest::Approx(100).epsilon(0.05));
    REQUIRE(other.close().ok());
    std::filesystem::remove(dir.file("other"));
  };
  refused("layout classic and blocked", &Differences::layout, [](Options& other) { other.layout = Layout::kClassic; });
  refused("hash external and xxh3", &Differences::hash, [](Options& other) {
    other.hash = Hash::kExternal;
    other.seed.reset();
  });
  refused("seed 8 and 7", &Differences::seed, [](Options& other) { other.seed = 8; });
  refused("number of probes 6 and 5", &Differences::num_probes, [](Options& other) { other.num_probes = 6; });
  refused("number of bits", &Differences::num_bits, [](Options& other) { other.num_bits -= 512; });
  Options with_secret = options;
  with_secret.seed.reset();
  with_secret.hash = Hash::kSipHash;
  with_secret.secret = Secret{1};
  const Filter known = created(dir.file("known"), with_secret);
  with_secret.secret = Secret{2};
  const Filter stranger = created(dir.file("stranger"), with_secret);
  CHECK(intersected({&known, &stranger}, dir.file("both")).code == Code::kMismatch);
  CHECK(compared(known, stranger).differ.secret);
  CHECK_FALSE(compared(known, stranger).comparable);
  CHECK(dir.names().size() == 3);
}

TEST_CASE("a wrong request for an intersection gets a message, and no file appears or is replaced") {
  TempDir dir;
  const Filter one = filled(dir.file("one"), options_of(Layout::kBlocked, 64), 0, kKeys);
  const Filter other = filled(dir.file("other"), options_of(Layout::kBlocked, 64), 0, kKeys);
  CHECK(intersected({}, dir.file("both")).code == Code::kInvalid);
  CHECK(intersected({&one}, "").code == Code::kInvalid);
  CHECK(intersected({&one}, dir.file("both"), {.mode = 01000}).code == Code::kInvalid);
  CHECK(intersected({&one}, dir.file("both"), {.fpr = 0.5}).code == Code::kInvalid);
  CHECK(intersected({&one}, dir.file("both"), {.same_file_id = true}).code == Code::kInvalid);
  CHECK(intersected({&one, &other}, dir.file("other")).code == Code::kExists);
  CHECK(intersected({&one, &other}, dir.file("other"), {.replace = true}).code == Code::kInvalid);
  CHECK(intersected({&one, &other}, dir.file("one"), {.replace = true}).code == Code::kInvalid);
  CHECK(one.health() == Code::kOk);
  CHECK(other.health() == Code::kOk);
  CHECK(dir.names().size() == 2);
}

TEST_CASE("a filter in doubt is not intersected and not compared, whatever the doubt") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  const Filter one = filled(dir.file("one"), options, 0, kKeys);
  Options filling = options;
  filling.filling = true;
  const Filter half = filled(dir.file("half"), filling, 0, kKeys);
  Filter shut = filled(dir.file("shut"), options, 0, kKeys);
  REQUIRE(shut.shut().ok());
  Options guarded = options;
  guarded.map.guard = true;
  Filter cut = created(dir.file("cut"), guarded);
  std::filesystem::resize_file(dir.file("cut"), 100);
  const Filter old = filled(dir.file("old"), options, 0, kKeys);
  Options replacing = options;
  replacing.replace = true;
  const Filter next = created(dir.file("old"), replacing);
  const std::pair<const Filter*, Code> doubts[] = {
      {&half, Code::kFilling}, {&shut, Code::kShut}, {&cut, Code::kLost}, {&old, Code::kSuperseded}};
  for (const auto& doubt : doubts) {
    CAPTURE(doubt.second);
    CHECK(intersected({doubt.first, &one}, dir.file("both")).code == doubt.second);
    CHECK(intersected({&one, doubt.first}, dir.file("both")).code == doubt.second);
    CHECK(code_of_comparing(*doubt.first, one) == doubt.second);
    CHECK(code_of_comparing(one, *doubt.first) == doubt.second);
  }
  cut.abandon();
  CHECK_FALSE(std::filesystem::exists(dir.file("both")));
}

TEST_CASE("a filter that comes into doubt while it is read is an error, and nothing appears") {
  const faults::Scope scope;
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 64);
  const Filter one = filled(dir.file("one"), options, 0, kKeys);
  const Filter other = filled(dir.file("other"), options, 0, kKeys);
  for (const char* const name : {"one", "other"}) {
    CAPTURE(name);
    const std::uint64_t before = look_at(dir.file(name)).live_word;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      if (offset == format::kFileHeaderBytes && bytes > 8)
        set_live_word(dir.file(name), before | format::LiveWord::kPoisoned);
      return 0;
    };
    CHECK(intersected({&one, &other}, dir.file("both")).code == Code::kPoisoned);
    set_live_word(dir.file(name), before);
    CHECK(code_of_comparing(one, other) == Code::kPoisoned);
    faults::on_read = nullptr;
    set_live_word(dir.file(name), before);
  }
  for (const int which : {1, 2, 3}) {  // the first source, the second one, and what is made
    CAPTURE(which);
    int reads = 0;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      return offset == format::kFileHeaderBytes && bytes > 8 && ++reads == which ? EIO : 0;
    };
    CHECK(intersected({&one, &other}, dir.file("both")).code == Code::kSystem);
    CHECK(reads >= which);
  }
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t bytes) {
    return offset == format::kFileHeaderBytes && bytes > 8 ? EIO : 0;
  };
  CHECK(code_of_comparing(one, other) == Code::kSystem);
  faults::on_read = nullptr;
  CHECK(dir.names().size() == 2);
  CHECK(intersected({&one, &other}, dir.file("both")).ok());
}

TEST_CASE("keys whose adds to both filters returned before the call are in the intersection, while threads add") {
  TempDir dir;
  const Options options = options_of(Layout::kBlocked, 4096);
  Filter one = created(dir.file("one"), options);
  Filter other = created(dir.file("other"), options);
  std::atomic<std::uint64_t> added{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !stop && i < 400'000; ++i) {
      static_cast<void>(one.add_digest(digest_of(i)));
      static_cast<void>(other.add_digest(digest_of(i)));
      added = i + 1;
    }
  });
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t before = added;
    REQUIRE(intersected({&one, &other}, dir.file("both"), {.replace = true}).ok());
    CHECK(how_many(opened(Filter::open(dir.file("both"), OpenMode::kRead)), 0, before) == before);
    const Comparison found = compared(one, other);
    CHECK(found.keys_both.high >= 0.9 * static_cast<double>(before));
  }
  stop = true;
  writer.join();
}

TEST_CASE("a comparison is right about equal, subset, larger and disjoint bits") {
  for (const LayoutInfo& layout : layouts_with_intersections()) {
    CAPTURE(layout.name);
    TempDir dir;
    const Options options = options_of(layout.layout, 256);
    Filter one = filled(dir.file("one"), options, 0, kKeys);
    Filter same = filled(dir.file("same"), options, 0, kKeys);
    const Filter part = filled(dir.file("part"), options, 0, kKeys / 2);
    const Filter large = filled(dir.file("large"), options_of(layout.layout, 512), 0, kKeys);
    const Filter apart = filled(dir.file("apart"), options, kKeys, 2 * kKeys);
    const Filter empty = created(dir.file("empty"), options);
    const Comparison equal = compared(one, same);
    CHECK(equal.equal);
    CHECK_FALSE(equal.differ.num_bits);
    CHECK(equal.num_bits == options.num_bits);
    CHECK(equal.set_bits_both == equal.set_bits_a);
    const Comparison subset = compared(part, one);
    CHECK(subset.a_in_b);
    CHECK_FALSE(subset.b_in_a);
    CHECK_FALSE(subset.equal);
    CHECK(subset.jaccard.estimate == doctest::Approx(0.5).epsilon(0.05));
    CHECK(compared(one, part).b_in_a);
    CHECK_FALSE(compared(one, part).a_in_b);
    const Comparison folded = compared(large, one);
    CHECK(folded.comparable);
    CHECK(folded.differ.num_bits);
    CHECK(folded.a_in_b);
    CHECK(folded.b_in_a);
    CHECK_FALSE(folded.equal);
    CHECK(folded.num_bits == options.num_bits);
    const Comparison none = compared(one, apart);
    CHECK_FALSE(none.a_in_b);
    CHECK_FALSE(none.b_in_a);
    CHECK_FALSE(none.some_in_both);
    CHECK(none.set_bits_both > 0);
    CHECK(none.keys_either.estimate == doctest::Approx(2 * kKeys).epsilon(0.05));
    CHECK(compared(empty, one).a_in_b);
    CHECK(compared(empty, one).set_bits_both == 0);
    CHECK(same.add_digest(digest_of(10 * kKeys)).ok());
    CHECK_FALSE(compared(one, same).equal);
    CHECK(compared(one, same).a_in_b);
  }
}

TEST_CASE("a comparison estimates as the statistics do, also where a hash has the probes of a key together") {
  for (const Hash hash : {Hash::kRocksDb, Hash::kParquet}) {
    CAPTURE(hash);
    TempDir dir;
    Options options;
    options.layout = Layout::kClassic;
    options.hash = hash;
    options.num_bits = 512 * 128;
    options.num_probes = 8;
    Filter one = created(dir.file("one"), options);
    Filter other = created(dir.file("other"), options);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      CHECK(one.add("one " + std::to_string(i)).ok());
      CHECK(other.add("other " + std::to_string(i)).ok());
    }
    const Comparison found = compared(one, other);
    CHECK(found.comparable);
    CHECK(found.keys_a.estimate == doctest::Approx(one.stats({.fill = true}).fill->estimated_keys).epsilon(1e-6));
    CHECK(found.keys_b.high == doctest::Approx(other.stats({.fill = true}).fill->estimated_keys_high).epsilon(1e-6));
    CHECK(found.keys_either.high > 2 * kKeys);
    CHECK_FALSE(found.some_in_both);
  }
}

// Clearing (bf clear) replaces the file by an empty filter like it.
TEST_CASE("an empty filter like it replaces a filter that is cleared, and handles of the old one learn of it") {
  TempDir dir;
  Options options = options_of(Layout::kClassic, 64);
  Filter writer = filled(dir.file(), options, 0, kKeys);
  REQUIRE(writer.sync({1, 2, 3}).ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  const Filter follower = opened(Filter::open(dir.file(), OpenMode::kRead, {.follow = true}));
  const FileId old = *reader.stats().file_id;
  const Shape shape = reader.shape();
  Options like;
  like.like = dir.file();
  like.replace = true;
  const Filter cleared = created(dir.file(), like);
  CHECK(how_many(reader, 0, 2 * kKeys) == 2 * kKeys);
  CHECK(reader.health() == Code::kSuperseded);
  CHECK(writer.add_digest(1).code() == Code::kSuperseded);
  CHECK(how_many(cleared, 0, 2 * kKeys) == 0);
  CHECK(cleared.stats().file_id != old);
  CHECK(cleared.get_mark(1, 2) == 0);
  CHECK(cleared.shape().num_bits == shape.num_bits);
  CHECK(cleared.shape().capacity == shape.capacity);
  CHECK(cleared.shape().seed == shape.seed);
  CHECK(*follower.is_current());
  CHECK(how_many(follower, 0, kKeys) == 0);
}
