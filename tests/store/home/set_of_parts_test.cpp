// A set of parts: one handle answers as the whole filter, bit for bit; a part that is not listed, or is in doubt, is
// "maybe" for its own keys alone; and every bad list is refused by its defect.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bfstore/inline.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "faults.hpp"
#include "format/manifest.hpp"
#include "numbered.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kNumbers = 120'000;

std::vector<Layout> layouts_with_parts() { return {Layout::kBlocked, Layout::kCounting}; }

std::string name_of(std::uint32_t number) { return "part" + std::to_string(number); }

void write_list(const TempDir& dir, const std::string& text) {
  std::ofstream(dir.file("set"), std::ios::binary | std::ios::trunc)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Lists the parts of these numbers.
void list(const TempDir& dir, const std::vector<std::uint32_t>& numbers) {
  std::string text = "bfstore-set 1\n";
  for (const std::uint32_t number : numbers) text += name_of(number) + "\n";
  write_list(dir, text);
}

std::vector<std::uint32_t> all_of(std::uint32_t parts) {
  std::vector<std::uint32_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

// Makes the whole filter and its parts, with the keys of these numbers in both, and a list of all parts.
Filter make_all(const TempDir& dir, Options options, std::uint32_t parts, std::uint64_t numbers) {
  Filter whole = created(dir.file("whole"), options);
  std::vector<Filter> made;
  for (std::uint32_t number = 0; number < parts; ++number) {
    options.part = Part{number, parts};
    made.push_back(created(dir.file(name_of(number)), options));
  }
  for (std::uint64_t i = 0; i < numbers; ++i) {
    const std::string key = std::to_string(i);
    REQUIRE(whole.add(key).ok());
    REQUIRE(made[Part::number_of(*whole.digest(key), parts)].add(key).ok());
  }
  list(dir, all_of(parts));
  return whole;
}

Options shape_of(Layout layout, std::uint64_t lines) {
  Options options = options_of(layout, layout == Layout::kCounting ? lines / 4 : lines);
  options.capacity = 50'000;
  return options;
}

Filter open_set(const TempDir& dir, const OpenOptions& options = {}) {
  return opened(Filter::open_set(dir.file("set"), options));
}

Error error_of_set(const TempDir& dir, const OpenOptions& options = {}) {
  auto set = Filter::open_set(dir.file("set"), options);
  return set.ok() ? Error{} : set.error();
}

bool says(const Error& error, std::string_view words) { return error.message.find(words) != std::string::npos; }

// Checks the answers of a set that lacks the parts for which `lacks` is true. They are those of the whole filter, and
// "maybe" for keys of the missing parts.
template <class Lacks>
void check_answers(const Filter& set, const Filter& whole, std::uint32_t parts, std::uint64_t numbers, Lacks lacks) {
  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  std::vector<std::uint64_t> digests;
  std::vector<std::uint8_t> expected;
  std::vector<std::uint32_t> selected;
  for (std::uint64_t i = 0; i < numbers; ++i) keys.push_back(std::to_string(i));
  for (const std::string& key : keys) {
    const std::uint64_t digest = *whole.digest(key);
    const bool maybe = lacks(Part::number_of(digest, parts)) || whole.contains_digest(digest);
    if (maybe) selected.push_back(static_cast<std::uint32_t>(views.size()));
    views.push_back(key);
    digests.push_back(digest);
    expected.push_back(maybe ? 1 : 0);
    REQUIRE(set.answer(key) == (maybe ? 1 : 0));
    REQUIRE(set.lookup().call(digest) == (maybe ? 1 : 0));
    REQUIRE(set.lookup().contains_digest(digest) == maybe);
    REQUIRE(*set.digest(key) == digest);
  }
  const std::vector<std::uint8_t> valid((numbers + 7) / 8, 0xff);
  for (const Keys& form :
       {Keys::views(views), Keys::digests(digests), Keys::views(views).where_valid(valid.data(), 0)}) {
    std::vector<std::uint8_t> answers(numbers, 7);
    REQUIRE(set.contains_keys(form, answers).keys() == selected.size());
    CHECK(answers == expected);
    std::vector<std::uint32_t> indices(numbers);
    REQUIRE(set.select_keys(form, indices).keys() == selected.size());
    indices.resize(selected.size());
    CHECK(indices == selected);
  }
  std::vector<std::uint64_t> taken(numbers);
  CHECK(set.digest_keys(Keys::views(views), taken).ok());
  CHECK(taken == digests);
}

const auto kLacksNone = [](std::uint32_t) { return false; };

}  // namespace

TEST_CASE("a set of all parts answers as the whole filter, for present and absent keys, in every form") {
  for (const Layout layout : layouts_with_parts()) {
    for (const std::uint32_t parts : {2U, 3U, 16U}) {
      CAPTURE(parts);
      TempDir dir;
      const Filter whole = make_all(dir, shape_of(layout, 48ULL * 20), parts, kNumbers / 20);
      check_answers(open_set(dir), whole, parts, kNumbers, kLacksNone);
    }
  }
}

TEST_CASE("digests at the ends of the parts are asked in their own part") {
  for (const std::uint32_t parts : {2U, 3U, 5U, 12U}) {
    TempDir dir;
    make_all(dir, shape_of(Layout::kBlocked, parts * 4ULL), parts, 0);
    for (std::uint32_t number = 0; number < parts; ++number) {
      Filter part = opened(Filter::open(dir.file(name_of(number)), OpenMode::kWrite));
      const auto first = [&](std::uint64_t n) { return ((layout::Product{n} << 64) + parts - 1) / parts; };
      const auto begin = static_cast<std::uint64_t>(first(number));
      const auto last = static_cast<std::uint64_t>(first(number + 1ULL) - 1);
      for (const std::uint64_t digest : {begin, last}) {
        const Filter set = open_set(dir);
        CHECK_FALSE(set.contains_digest(digest));
        REQUIRE(part.add_digest(digest).ok());
        CHECK(set.contains_digest(digest));
      }
    }
  }
}

TEST_CASE("a part that is not listed is maybe for each of its keys, and for no other") {
  for (const Layout layout : layouts_with_parts()) {
    TempDir dir;
    const Filter whole = make_all(dir, shape_of(layout, 960), 4, 6000);
    list(dir, {3, 1});
    const Filter set = open_set(dir);
    check_answers(set, whole, 4, 20'000, [](std::uint32_t part) { return part % 2 == 0; });
    CHECK(set.health() == Code::kOk);
    if (layout != Layout::kCounting) continue;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const std::uint64_t digest = *whole.digest(std::to_string(i));
      const bool listed = Part::number_of(digest, 4) % 2 == 1;
      REQUIRE(set.count_digest(digest).keys() == (listed ? whole.count_digest(digest).keys() : 15));
      REQUIRE(set.count(std::to_string(i)).keys() == set.count_digest(digest).keys());
    }
  }
}

TEST_CASE("doubt of one part is doubt about its own keys alone, and the health of the set") {
  TempDir dir;
  const Filter whole = make_all(dir, shape_of(Layout::kBlocked, 960), 4, 6000);
  const auto lacks_2 = [](std::uint32_t part) { return part == 2; };
  SUBCASE("poisoned") {
    const Filter set = open_set(dir);
    check_answers(set, whole, 4, 20'000, kLacksNone);
    const OnDisk disk = look_at(dir.file(name_of(2)));
    set_live_word(dir.file(name_of(2)), disk.live_word | format::LiveWord::kPoisoned);
    check_answers(set, whole, 4, 20'000, lacks_2);
    CHECK(set.health() == Code::kPoisoned);
  }
  SUBCASE("truncated, with a guard") {
    const Filter set = open_set(dir, {.map = {.guard = true}});
    REQUIRE(::truncate(dir.file(name_of(2)).c_str(), 16384) == 0);
    check_answers(set, whole, 4, 20'000, lacks_2);
    CHECK(set.health() == Code::kFault);
    CHECK_FALSE(*set.is_current());
  }
  SUBCASE("overwritten with zeros") {
    const Filter set = open_set(dir);
    const auto bytes = std::filesystem::file_size(dir.file(name_of(2)));
    write_bytes(dir.file(name_of(2)), 0, std::string(bytes, '\0'));
    check_answers(set, whole, 4, 20'000, lacks_2);
    CHECK(set.health() == Code::kLost);
  }
  SUBCASE("replaced by another file") {
    const Filter set = open_set(dir);
    CHECK(*set.is_current());
    Options options = shape_of(Layout::kBlocked, 960);
    options.part = Part{2, 4};
    options.replace = true;
    created(dir.file(name_of(2)), options);
    check_answers(set, whole, 4, 20'000, lacks_2);
    CHECK(set.health() == Code::kSuperseded);
    CHECK_FALSE(*set.is_current());
    CHECK(open_set(dir).health() == Code::kOk);
  }
  SUBCASE("being filled") {
    Options options = shape_of(Layout::kBlocked, 960);
    options.part = Part{2, 4};
    options.replace = true;
    options.filling = true;
    Filter filling = created(dir.file(name_of(2)), options);
    const Filter set = open_set(dir);
    check_answers(set, whole, 4, 20'000, lacks_2);
    CHECK(set.health() == Code::kFilling);
    for (std::uint64_t i = 0; i < 6000; ++i) {
      const std::string key = std::to_string(i);
      if (Part::number_of(*whole.digest(key), 4) == 2) REQUIRE(filling.add(key).ok());
    }
    REQUIRE(filling.finish_filling().ok());
    check_answers(set, whole, 4, 20'000, kLacksNone);
  }
  SUBCASE("in a copy, nothing of it") {
    const Filter set = open_set(dir, {.map = {.copy = true}});
    REQUIRE(::truncate(dir.file(name_of(2)).c_str(), 16384) == 0);
    check_answers(set, whole, 4, 20'000, kLacksNone);
    CHECK(set.health() == Code::kOk);
    CHECK_FALSE(*set.is_current());
  }
}

// A set once asked no part after the first one that was replaced, and such a part continued to answer no.
TEST_CASE("a set learns of a failed write in one part, also while another part is not current") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 1000);
  const Filter set = open_set(dir);
  Options options = shape_of(Layout::kBlocked, 960);
  options.part = Part{0, 2};
  options.replace = true;
  created(dir.file(name_of(0)), options);
  const auto all_maybe_in_part_1 = [&set] {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const std::uint64_t digest = *set.digest("absent" + std::to_string(i));
      if (Part::number_of(digest, 2) == 1 && !set.contains_digest(digest)) return false;
    }
    return true;
  };
  CHECK_FALSE(all_maybe_in_part_1());
  const faults::Scope scope;
  faults::on_question = [](int) { return EIO; };
  CHECK_FALSE(*set.is_current());
  faults::on_question = nullptr;
  CHECK(all_maybe_in_part_1());
}

TEST_CASE("a listed file that cannot be used is its own error, named with the line of the list") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 4, 100);
  const auto broken = [&](Code code, std::string_view words) {
    const Error error = error_of_set(dir);
    CHECK(error.code == code);
    CHECK(says(error, dir.file("set") + ", line 4: " + dir.file(name_of(2))));
    CHECK_MESSAGE(says(error, words), error.message);
  };
  REQUIRE(error_of_set(dir).ok());
  SUBCASE("missing") {
    std::filesystem::remove(dir.file(name_of(2)));
    broken(Code::kNotFound, "no such file");
  }
  SUBCASE("poisoned") {
    const OnDisk disk = look_at(dir.file(name_of(2)));
    set_live_word(dir.file(name_of(2)), disk.live_word | format::LiveWord::kPoisoned);
    CHECK_FALSE(error_of_set(dir).ok());
  }
  SUBCASE("truncated") {
    REQUIRE(::truncate(dir.file(name_of(2)).c_str(), 20'000) == 0);
    broken(Code::kBody, "");
  }
  SUBCASE("no filter") {
    write_bytes(dir.file(name_of(2)), 0, std::string(4096, 'x'));
    broken(Code::kMagic, "");
  }
}

TEST_CASE("parts of different filters are refused, and the message has both files and the difference") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 4, 100);
  const auto refused = [&](const std::string& what, const std::function<void(Options&)>& change) {
    CAPTURE(what);
    Options options = shape_of(Layout::kBlocked, 960);
    options.part = Part{1, 4};
    options.replace = true;
    change(options);
    created(dir.file(name_of(1)), options);
    const Error error = error_of_set(dir);
    CHECK(error.code == Code::kMismatch);
    CHECK_MESSAGE(says(error, dir.file("set") + ", line 3: " + dir.file(name_of(1)) + " and " + dir.file(name_of(0))),
                  error.message);
    CHECK_MESSAGE(says(error, what), error.message);
  };
  refused("layout", [](Options& options) { options.layout = Layout::kCounting; });
  refused("hash", [](Options& options) { options.hash = Hash::kExternal, options.seed.reset(); });
  refused("seed", [](Options& options) { options.seed = 8; });
  refused("number of probes", [](Options& options) { options.num_probes = 6; });
  refused("number of bits", [](Options& options) { options.num_bits = 4 * 512; });
  refused("number of parts", [](Options& options) { options.part = Part{1, 2}, options.num_bits = 480 * 512; });
  refused("number of parts", [](Options& options) { options.part.reset(), options.num_bits = 240 * 512; });
  refused("both part 0 of 4", [](Options& options) { options.part = Part{0, 4}; });
  std::filesystem::remove(dir.file(name_of(1)));
  std::filesystem::create_hard_link(dir.file(name_of(0)), dir.file(name_of(1)));
  CHECK(says(error_of_set(dir), "both part 0 of 4"));  // the same file twice, by another name
}

TEST_CASE("a whole filter is a set of one, and a filter of a layout without parts is none") {
  TempDir dir;
  const Filter whole = make_all(dir, shape_of(Layout::kBlocked, 960), 2, 6000);
  write_list(dir, "bfstore-set 1\nwhole\n");
  check_answers(open_set(dir), whole, 1, 20'000, kLacksNone);
  write_list(dir, "bfstore-set 1\nwhole\nwhole\n");
  CHECK(says(error_of_set(dir), "both part 0 of 1"));
  created(dir.file("classic"), options_of(Layout::kClassic, 8));
  write_list(dir, "bfstore-set 1\nclassic\n");
  CHECK(error_of_set(dir).code == Code::kUnsupported);
  CHECK(says(error_of_set(dir), "classic, which has no parts"));
  for (const std::uint32_t parts : {65'536U, 65'537U}) {
    Options options = shape_of(Layout::kBlocked, parts);
    options.part = Part{parts - 1, parts};
    options.replace = true;
    created(dir.file("classic"), options);
    CHECK(error_of_set(dir).code == (parts == 65'536 ? Code::kOk : Code::kUnsupported));
  }
}

TEST_CASE("each bad list is refused by its defect, with the number of the line") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  const auto refused = [&](const std::string& text, Code code, const std::string& words) {
    CAPTURE(text.substr(0, 60));
    write_list(dir, text);
    const Error error = error_of_set(dir);
    CHECK(error.code == code);
    CHECK_MESSAGE(says(error, words), error.message);
    CHECK(says(error, dir.file("set")));
  };
  const std::string first = "bfstore-set 1\n";
  refused("", Code::kMagic, "first line");
  refused("part0\npart1\n", Code::kMagic, "first line");
  refused("bfstore-set1\npart0\n", Code::kMagic, "first line");
  refused("\nbfstore-set 1\npart0\n", Code::kMagic, "first line");
  refused("\xef\xbb\xbf" + first + "part0\n", Code::kMagic, "first line");
  refused(read_bytes(dir.file("part0")), Code::kMagic, "first line");
  refused("bfstore-set 2\npart0\n", Code::kVersion, "line 1: lists in version 2");
  refused("bfstore-set 1 \npart0\n", Code::kVersion, "line 1");
  refused("bfstore-set 1\r\npart0\r\n", Code::kInvalid, "line 1: has a carriage return");
  refused(first + "part0\r\npart1\r\n", Code::kInvalid, "line 2: has a carriage return");
  refused(first + "#\n\npart0\n" + std::string("pa\0rt1\n", 7), Code::kInvalid, "line 5: has a NUL byte");
  refused(first + "part0\n" + std::string(4096, 'x') + "\n", Code::kInvalid, "line 3: is 4096 bytes long");
  refused(first + "part0\n#" + std::string(4096, 'x'), Code::kInvalid, "line 3: is 4097 bytes long");
  refused(first + "part0\n" + std::string(4095, 'x') + "\n", Code::kSystem,
          "line 3: ");  // the kernel's limit of a name
  refused(first, Code::kInvalid, "lists no part");
  refused("bfstore-set 1", Code::kInvalid, "lists no part");
  refused(first + "# part0\n\n#\n", Code::kInvalid, "lists no part");
  refused(first + "part0\n part1\n", Code::kNotFound, "line 3: ");
  refused(first + "part0\nset\n", Code::kTooShort, "set: is a set of 2 parts, which only lookups take as one file");
  refused(std::string((16U << 20) + 1, '\n'), Code::kInvalid, "at most 16 MiB");

  write_list(dir, first + "# both\n\npart0\n" + dir.file("part1"));  // absolute, and the last line without its end
  CHECK(error_of_set(dir).ok());
  std::string many = first;
  for (int i = 0; i < 65'537; ++i) many += "none\n";
  const auto listed = format::read_manifest(many, "set");
  REQUIRE_FALSE(listed.ok());
  CHECK(says(listed.error(), "set, line 65538: lists more than 65536 files"));
  many.resize(many.size() - 5);
  CHECK(format::read_manifest(many, "set")->size() == 65'536);
}

TEST_CASE("a list that is no regular file is refused, and nothing waits for it") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  const auto code = [](const std::string& path, const OpenOptions& options = {}) {
    auto set = Filter::open_set(path, options);
    return set.ok() ? Code::kOk : set.error().code;
  };
  REQUIRE(::mkfifo(dir.file("fifo").c_str(), 0600) == 0);
  CHECK(code(dir.file("fifo")) == Code::kNotRegular);
  CHECK(code("/dev/zero") == Code::kNotRegular);
  CHECK(code(dir.path()) == Code::kNotRegular);
  CHECK(code(dir.file("nothing")) == Code::kNotFound);
  write_list(dir, "bfstore-set 1\nfifo\n");
  CHECK(code(dir.file("set")) == Code::kNotRegular);
  list(dir, {0, 1});
  std::filesystem::create_symlink(dir.file("set"), dir.file("link"));
  CHECK(code(dir.file("link")) == Code::kOk);
  CHECK(code(dir.file("link"), {.no_follow = true}) == Code::kSymlink);
  std::filesystem::create_symlink(dir.file("part0"), dir.file("link of a part"));
  write_list(dir, "bfstore-set 1\nlink of a part\n");
  CHECK(code(dir.file("set")) == Code::kOk);
  CHECK(code(dir.file("set"), {.no_follow = true}) == Code::kSymlink);
}

TEST_CASE("random bytes, and lists with random bytes in them, are refused or open parts that are there") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  std::mt19937_64 random(option("seed", 3));
  const std::string good = "bfstore-set 1\n# all\npart0\npart1\n";
  std::uint64_t opened_ones = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 3 == 0 ? "bfstore-set 1\n" : round % 3 == 1 ? good : "";
    if (round % 3 == 1) {
      for (std::uint64_t i = random() % 3; i > 0; --i) text[random() % text.size()] = static_cast<char>(random());
      text.resize(text.size() - random() % 6);
    } else {
      for (std::uint64_t i = random() % 200; i > 0; --i) text += static_cast<char>(random());
    }
    write_list(dir, text);
    const auto set = Filter::open_set(dir.file("set"));
    if (!set.ok()) {
      REQUIRE(says(set.error(), dir.file("set")));
      continue;
    }
    ++opened_ones;
    REQUIRE(set->contains("5"));
  }
  CHECK(opened_ones > 100);
}

TEST_CASE("a secret opens all parts, and another one none") {
  TempDir dir;
  Options options = shape_of(Layout::kBlocked, 960);
  options.hash = Hash::kSipHash;
  options.seed.reset();
  options.secret = Secret{1, 2, 3};
  const Filter whole = make_all(dir, options, 3, 6000);
  check_answers(open_set(dir, {.secret = options.secret}), whole, 3, 20'000, kLacksNone);
  CHECK(error_of_set(dir).code == Code::kSecret);
  CHECK(error_of_set(dir, {.secret = Secret{1}}).code == Code::kSecret);
  Options other = options;
  other.secret = Secret{4};
  other.replace = true;
  other.part = Part{1, 3};
  created(dir.file(name_of(1)), other);
  CHECK(error_of_set(dir, {.secret = options.secret}).code == Code::kSecret);
}

TEST_CASE("a set of a thousand parts answers as the whole filter") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  const TempDir dir(memory_folder());
  constexpr std::uint32_t kParts = 1000;
  const Filter whole = make_all(dir, shape_of(Layout::kBlocked, kParts), kParts, 5000);
  const Filter set = open_set(dir);
  check_answers(set, whole, kParts, kNumbers, kLacksNone);
  std::filesystem::remove(dir.file(name_of(999)));
  CHECK_FALSE(*set.is_current());
}

TEST_CASE("a set tells the facts of the whole filter, and sums those of its parts") {
  for (const Layout layout : layouts_with_parts()) {
    TempDir dir;
    const Filter whole = make_all(dir, shape_of(layout, 960), 4, 6000);
    const Stats one = whole.stats({.fill = true, .memory = true});
    const Filter set = open_set(dir);
    const Stats sum = set.stats({.fill = true, .memory = true});
    CHECK(sum.shape.num_bits == one.shape.num_bits);
    CHECK(sum.shape.capacity == one.shape.capacity);
    CHECK(sum.shape.fpr == one.shape.fpr);
    CHECK(sum.shape.seed == one.shape.seed);
    CHECK(sum.isa == one.isa);
    CHECK(sum.body_bytes == one.body_bytes);
    CHECK(sum.keys_added == one.keys_added);
    CHECK(sum.keys_removed == one.keys_removed);
    CHECK_FALSE(sum.file_id);
    CHECK(sum.saturated == one.saturated);
    CHECK(sum.fill->set_bits == one.fill->set_bits);
    CHECK(sum.fill->estimated_keys == doctest::Approx(one.fill->estimated_keys));
    CHECK(sum.fill->estimated_fpr == doctest::Approx(one.fill->estimated_fpr));
    CHECK(sum.memory->resident_bytes.value_or(0) > 0);
    CHECK(set.part() == Part{});
    CHECK(set.note().empty());
    CHECK(set.notes().size() == 4);
    CHECK(set.notes()[2].note.empty());
    CHECK(set.notes()[2].file.ends_with("2"));
    list(dir, {0});
    const Stats first = open_set(dir).stats({.fill = true});
    CHECK(first.shape.num_bits == one.shape.num_bits);
    CHECK(first.body_bytes == one.body_bytes / 4);
    CHECK(first.fill->estimated_keys == doctest::Approx(one.fill->estimated_keys / 4).epsilon(0.1));
    CHECK(first.fill->estimated_fpr == doctest::Approx(0.75 + one.fill->estimated_fpr / 4).epsilon(0.1));
  }
}

TEST_CASE("a part with more keys than its share saturates a set that lists it alone") {
  TempDir dir;
  Options options = shape_of(Layout::kBlocked, 960);
  options.capacity = 1000;
  make_all(dir, options, 4, 600);
  list(dir, {0, 1});
  CHECK_FALSE(open_set(dir).stats().saturated);
  {
    Filter part = opened(Filter::open(dir.file(name_of(0)), OpenMode::kWrite));
    for (std::uint64_t i = 600; i < 3000; ++i) {
      if (Part::number_of(*part.digest(std::to_string(i)), 4) == 0) REQUIRE(part.add(std::to_string(i)).ok());
    }
  }
  CHECK(open_set(dir).stats().saturated);
}

TEST_CASE("a set is current while its list and its parts are, whatever the working folder is") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  const std::string home = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  const Filter set = opened(Filter::open_set("set"));
  write_list(dir, "bfstore-set 1\npart0\ngone\n");
  CHECK(says(Filter::open_set("set").error(), "set, line 3: gone: no such file"));
  list(dir, {0, 1});
  std::filesystem::current_path(home);
  CHECK(*set.is_current());
  list(dir, {0});
  CHECK_FALSE(*set.is_current());
  list(dir, {0, 1});
  CHECK(*set.is_current());
  std::filesystem::remove(dir.file("set"));
  CHECK_FALSE(*set.is_current());
}

TEST_CASE("a set that is shut answers maybe, and says so") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  Filter set = open_set(dir);
  REQUIRE(set.shut().ok());
  CHECK(set.health() == Code::kShut);
  for (int i = 0; i < 100; ++i) CHECK(set.contains("absent" + std::to_string(i)));
  CHECK(set.is_current().error().code == Code::kShut);
  CHECK(set.shut().ok());
}

TEST_CASE("the child of a fork asks a set that it inherits") {
  TempDir dir;
  const Filter whole = make_all(dir, shape_of(Layout::kBlocked, 960), 3, 1000);
  Filter set = open_set(dir);
  CHECK(in_child([&] {
          for (std::uint64_t i = 0; i < 5000; ++i) {
            if (set.contains(std::to_string(i)) != whole.contains(std::to_string(i))) return 1;
          }
          const auto current = set.is_current();
          return current.ok() && *current && set.close().ok() ? 0 : 2;
        }) == 0);
  CHECK(*set.is_current());
}

TEST_CASE("options that a set does not take are refused with their names") {
  TempDir dir;
  make_all(dir, shape_of(Layout::kBlocked, 960), 2, 10);
  CHECK(says(error_of_set(dir, {.follow = true}), "does not follow"));
  CHECK(says(error_of_set(dir, {.descriptor = 0}), "descriptor"));
  CHECK(error_of_set(dir, {.recover = true}).code == Code::kInvalid);
  CHECK(error_of_set(dir, {.hard_limit = true}).code == Code::kInvalid);
  CHECK(error_of_set(dir, {.verify = true}).code == Code::kNotSealed);
}

TEST_CASE("damage to a sealed part is an error, or maybe for the keys in the damaged places alone") {
  TempDir dir;
  const Filter whole = make_all(dir, shape_of(Layout::kBlocked, 960), 2, 6000);
  for (const std::uint32_t number : {0U, 1U})
    REQUIRE(seal(dir.file(name_of(number)), dir.file(name_of(number)), {.replace = true}).ok());
  check_answers(open_set(dir, {.verify = true}), whole, 2, 20'000, kLacksNone);
  const auto bytes = std::filesystem::file_size(dir.file(name_of(1)));
  write_bytes(dir.file(name_of(1)), bytes / 2, "damage");
  CHECK(error_of_set(dir, {.verify = true}).code == Code::kDamaged);
  check_answers(open_set(dir, {.tolerate_damage = true}), whole, 2, 20'000,
                [](std::uint32_t part) { return part == 1; });
}
