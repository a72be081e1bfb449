// Parts of a filter: each has the lines of its digests, a digest of another part is never answered "no", and all parts
// together are the whole filter, bit for bit.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <bfstore/inline.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "format/identity.hpp"
#include "format/records.hpp"
#include "hash/hash.hpp"
#include "numbered.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kKeys = 4000;

std::vector<Layout> layouts_with_parts() { return {Layout::kBlocked, Layout::kCounting}; }

Options part_of(Layout layout, std::uint64_t units, Part part) {
  Options options = options_of(layout, units);
  options.part = part;
  return options;
}

// Makes all parts of one filter, each with those of the first keys that are its own.
std::vector<Filter> filled_parts(const TempDir& dir, Layout layout, std::uint64_t units, std::uint32_t parts) {
  std::vector<Filter> made;
  for (std::uint32_t number = 0; number < parts; ++number) {
    const std::string name = dir.file("part " + std::to_string(number) + " of " + std::to_string(parts));
    made.push_back(created(name, part_of(layout, units, {number, parts})));
  }
  for (std::uint64_t i = 0; i < kKeys; ++i)
    REQUIRE(made[Part::number_of(digest_of(i), parts)].add_digest(digest_of(i)).ok());
  return made;
}

// Joins the parts, given in another order than that of their numbers.
Error joined(const std::vector<Filter>& parts, const std::string& path, const SaveOptions& options = {}) {
  std::vector<const Filter*> pointers;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) pointers.push_back(&*part);
  return Filter::join(pointers, path, options);
}

// Returns the digests around the first one of each part, where rounding would show.
std::vector<std::uint64_t> digests_at_the_ends(std::uint32_t parts) {
  std::vector<std::uint64_t> digests{0, ~std::uint64_t{0}};
  for (std::uint32_t number = 1; number < parts; ++number) {
    const auto near = static_cast<std::uint64_t>((layout::Product{number} << 64) / parts);
    for (std::uint64_t i = 0; i < 5; ++i) digests.push_back(near - 2 + i);
  }
  return digests;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Digests of which the first changes when the last page of them is read for the first time.
class Changing {
 public:
  explicit Changing(std::span<const std::uint64_t> digests, std::uint64_t later) : later_(later) {
    bytes_ = (digests.size_bytes() + kPage - 1) / kPage * kPage;
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    digests_ = {static_cast<std::uint64_t*>(memory), digests.size()};
    std::copy(digests.begin(), digests.end(), digests_.begin());
    REQUIRE(mprotect(last_page(), kPage, PROT_NONE) == 0);
    one_ = this;
    struct sigaction action {};
    action.sa_handler = [](int) { one_->change(); };
    sigaction(SIGSEGV, &action, &before_);
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  ~Changing() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(digests_.data(), bytes_);
  }

  [[nodiscard]] Keys keys() const { return Keys::digests(digests_); }

 private:
  static constexpr std::size_t kPage = 4096;

  [[nodiscard]] std::byte* last_page() const { return reinterpret_cast<std::byte*>(digests_.data()) + bytes_ - kPage; }

  void change() {
    if (digests_.front() == later_) abort();  // another page faulted
    digests_.front() = later_;
    mprotect(last_page(), kPage, PROT_READ | PROT_WRITE);
  }

  static inline Changing* one_ = nullptr;
  std::uint64_t later_;
  std::size_t bytes_;
  std::span<std::uint64_t> digests_;
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("joined parts are the filter that one build of all keys makes, and each part answers as that one") {
  for (const Layout layout : layouts_with_parts()) {
    for (const std::uint32_t parts : {2U, 3U, 7U, 64U}) {
      CAPTURE(parts);
      TempDir dir;
      const std::uint64_t units = parts * 3ULL * 4;  // whole lines of each layout
      Filter whole = created(dir.file("whole"), options_of(layout, units));
      add_numbers(whole, 0, kKeys);
      const std::vector<Filter> made = filled_parts(dir, layout, units, parts);
      std::uint64_t bytes = 0;
      for (const Filter& part : made) bytes += part.stats().body_bytes;
      CHECK(bytes == whole.stats().body_bytes);
      for (std::uint64_t i = 0; i < 3 * kKeys; ++i) {
        const std::uint64_t digest = digest_of(i);
        const Filter& own = made[Part::number_of(digest, parts)];
        REQUIRE(own.contains_digest(digest) == whole.contains_digest(digest));
        REQUIRE(own.lookup().call(digest) == (whole.contains_digest(digest) ? 1 : 0));
      }
      REQUIRE(joined(made, dir.file("joined")).ok());
      const Filter all = opened(Filter::open(dir.file("joined"), OpenMode::kRead));
      CHECK(bits_of(all) == bits_of(whole));
      CHECK(all.part() == Part{});
      CHECK(all.shape().num_bits == whole.shape().num_bits);
      CHECK(all.shape().capacity == whole.shape().capacity);
      CHECK(all.stats().keys_added == whole.stats().keys_added);
      CHECK(state_of(dir.file("joined")) == FileState::kClean);
    }
  }
}

TEST_CASE("digests at the ends of parts lead to their own part and line") {
  for (const Layout layout : layouts_with_parts()) {
    for (const std::uint32_t parts : {2U, 3U, 5U, 12U}) {
      TempDir dir;
      Filter whole = created(dir.file("whole"), options_of(layout, parts * 4ULL));
      std::vector<Filter> made;
      for (std::uint32_t number = 0; number < parts; ++number)
        made.push_back(created(dir.file(std::to_string(number)), part_of(layout, parts * 4ULL, {number, parts})));
      for (const std::uint64_t digest : digests_at_the_ends(parts)) {
        REQUIRE(whole.add_digest(digest).ok());
        for (std::uint32_t number = 0; number < parts; ++number) {
          const bool own = number == Part::number_of(digest, parts);
          const Count count = made[number].add_digest(digest);
          CHECK((own ? count.ok() : !count.ok() && count.code() == Code::kPart));
        }
      }
      REQUIRE(joined(made, dir.file("joined")).ok());
      CHECK(bits_of(opened(Filter::open(dir.file("joined"), OpenMode::kRead))) == bits_of(whole));
    }
  }
}

TEST_CASE("a digest of another part is an error, and never a no, in every form of a part") {
  TempDir dir;
  constexpr std::uint32_t kParts = 5;
  const auto made = filled_parts(dir, Layout::kBlocked, kParts * 8, kParts);
  for (std::uint32_t number = 0; number < kParts; ++number) {
    const Filter& part = made[number];
    const std::string path = dir.file("saved " + std::to_string(number));
    REQUIRE(part.save(path).ok());
    std::vector<std::byte> bytes(*part.dumped_bytes() + 64);
    std::byte* const buffer = bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
    const std::span<std::byte> embedded(buffer, *part.dumped_bytes());
    REQUIRE(part.dump(embedded).ok());
    std::vector<Filter> forms;
    forms.push_back(opened(Filter::open(path, OpenMode::kRead)));
    forms.push_back(opened(Filter::open(path, OpenMode::kRead, {.map = {.copy = true}})));
    forms.push_back(opened(Filter::open(path, OpenMode::kRead, {.follow = true})));
    forms.push_back(opened(Filter::wrap(embedded)));
    forms.push_back(opened(Filter::load(embedded)));
    for (const Filter& form : forms) {
      CHECK(form.part() == Part{number, kParts});
      const Lookup lookup = form.lookup();
      for (std::uint64_t i = 0; i < 500; ++i) {
        const std::uint64_t digest = digest_of(i + kKeys / 2);
        if (Part::number_of(digest, kParts) == number) {
          CHECK(form.contains_digest(digest) == part.contains_digest(digest));
          continue;
        }
        CHECK(form.contains_digest(digest));
        CHECK(lookup.contains_digest(digest));
        CHECK(lookup.call(digest) == static_cast<std::int32_t>(Code::kPart));
        std::array<std::uint8_t, 3> answers{};
        std::array<std::uint64_t, 3> digests{digest, digest, digest};
        CHECK(form.contains_keys(Keys::digests(digests), answers).code() == Code::kPart);
        CHECK(std::all_of(answers.begin(), answers.end(), [](std::uint8_t answer) { return answer == 1; }));
      }
    }
  }
}

TEST_CASE("a part does not fit in the bare form, which would not say which part it is") {
  TempDir dir;
  Options options = part_of(Layout::kBlocked, 12, {1, 3});
  options.seed = 0;
  const Filter part = created(dir.file(), options);
  std::vector<std::byte> bare(*part.dumped_bytes());
  const Error refused = part.dump(bare, {.bare = true});
  CHECK(refused.code == Code::kInvalid);
  CHECK_MESSAGE(refused.message.find("a part of a whole filter") != std::string::npos, refused.message);
}

TEST_CASE("a batch with one digest of another part is all maybe, and adds nothing") {
  for (const unsigned threads : {1U, 3U}) {
    TempDir dir;
    Options options = part_of(Layout::kBlocked, 3 * 40, {1, 3});
    options.exclusive = true;
    Filter part = created(dir.file("part"), options);
    REQUIRE(part.use_threads(threads).ok());
    std::vector<std::uint64_t> digests;
    for (std::uint64_t i = 0; digests.size() < 200'000; ++i) {
      if (Part::number_of(digest_of(i), 3) == 1) digests.push_back(digest_of(i));
    }
    const auto before = bits_of(part);
    for (const std::size_t at : {std::size_t{0}, std::size_t{63}, std::size_t{64}, digests.size() - 1}) {
      CAPTURE(at);
      const std::uint64_t own = digests[at];
      for (const std::uint64_t foreign : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        digests[at] = foreign;
        CHECK(part.add_keys(Keys::digests(digests)).code() == Code::kPart);
        std::vector<std::uint8_t> answers(digests.size());
        CHECK(part.contains_keys(Keys::digests(digests), answers).code() == Code::kPart);
        CHECK(std::count(answers.begin(), answers.end(), 1) == static_cast<std::ptrdiff_t>(answers.size()));
        std::vector<std::uint32_t> indices(digests.size());
        CHECK(part.select_keys(Keys::digests(digests), indices).code() == Code::kPart);
        CHECK(indices.back() == digests.size() - 1);
      }
      digests[at] = own;
    }
    CHECK(bits_of(part) == before);
    REQUIRE(part.add_keys(Keys::digests(digests)).ok());
    Filter one_by_one = created(dir.file("one by one"), part_of(Layout::kBlocked, 3 * 40, {1, 3}));
    for (const std::uint64_t digest : digests) REQUIRE(one_by_one.add_digest(digest).ok());
    CHECK(bits_of(part) == bits_of(one_by_one));
  }
}

// A batch is checked, and then read again. bfstore.h forbids changing the keys meanwhile. Keys that were changed all
// the same once led to a write into other memory.
TEST_CASE("a digest that becomes one of another part after it was checked is refused") {
  for (const Layout layout : layouts_with_parts()) {
    for (const unsigned threads : {1U, 2U}) {
      TempDir dir;
      Options options = part_of(layout, 3 * 40, {1, 3});
      options.exclusive = true;
      Filter part = created(dir.file("part"), options);
      REQUIRE(part.use_threads(threads).ok());
      std::vector<std::uint64_t> digests;
      for (std::uint64_t i = 0; digests.size() < 50'000; ++i) {
        if (Part::number_of(digest_of(i), 3) == 1) digests.push_back(digest_of(i));
      }
      for (const std::uint64_t foreign : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        CHECK(part.add_keys(Changing(digests, foreign).keys()).code() == Code::kPart);
        if (layout != Layout::kCounting) continue;
        REQUIRE(part.add_keys(Keys::digests(digests)).ok());
        CHECK(part.remove_keys(Changing(digests, foreign).keys()).code() == Code::kPart);
      }
    }
  }
}

TEST_CASE("keys of a counting part are removed and counted there alone") {
  TempDir dir;
  Filter part = created(dir.file("part"), part_of(Layout::kCounting, 4 * 8, {2, 4}));
  std::uint64_t own = 0;
  while (Part::number_of(digest_of(own), 4) != 2) ++own;
  std::uint64_t foreign = 0;
  while (Part::number_of(digest_of(foreign), 4) == 2) ++foreign;
  REQUIRE(part.add_digest(digest_of(own)).ok());
  CHECK(part.count_digest(digest_of(own)).keys() == 1);
  CHECK(part.count_digest(digest_of(foreign)).code() == Code::kPart);
  CHECK(part.remove_digest(digest_of(foreign)).code() == Code::kPart);
  const std::array<std::uint64_t, 2> both{digest_of(own), digest_of(foreign)};
  CHECK(part.remove_keys(Keys::digests(both)).code() == Code::kPart);
  CHECK(part.count_digest(digest_of(own)).keys() == 1);
  CHECK(part.remove_digest(digest_of(own)).keys() == 1);
  CHECK_FALSE(part.contains_digest(digest_of(own)));
}

TEST_CASE("a join names the part that is missing, there twice, or of another filter") {
  TempDir dir;
  auto made = filled_parts(dir, Layout::kBlocked, 60, 5);
  const std::string to = dir.file("joined");
  const auto message = [&](std::initializer_list<const Filter*> parts) {
    const Error error = Filter::join(std::vector<const Filter*>(parts), to);
    CHECK(error.code == Code::kMismatch);
    return error.message;
  };
  CHECK(message({&made[0], &made[4]}).find("missing: 1 to 3.") != std::string::npos);
  CHECK(message({&made[1], &made[0], &made[3]}).find("missing: 2, 4.") != std::string::npos);
  CHECK(message({&made[0], &made[1], &made[1]}).find("both part 1 of 5") != std::string::npos);
  const Filter other_size = created(dir.file("other size"), part_of(Layout::kBlocked, 65, {1, 5}));
  CHECK(message({&made[0], &other_size}).find("number of bits") != std::string::npos);
  const Filter other_parts = created(dir.file("other parts"), part_of(Layout::kBlocked, 48, {1, 4}));
  CHECK(message({&made[0], &other_parts}).find("number of parts") != std::string::npos);
  Options seeded = part_of(Layout::kBlocked, 60, {1, 5});
  seeded.seed = 8;
  const Filter other_seed = created(dir.file("other seed"), seeded);
  CHECK(message({&made[0], &other_seed}).find("seed") != std::string::npos);
  const Filter whole = created(dir.file("whole"), options_of(Layout::kBlocked, 12));
  CHECK(message({&whole}).find("no part") != std::string::npos);
  CHECK(joined({}, to).code == Code::kInvalid);
  CHECK_FALSE(std::filesystem::exists(to));
}

TEST_CASE("parts are merged, folded, intersected and compared with their own number alone") {
  TempDir dir;
  auto made = filled_parts(dir, Layout::kBlocked, 24, 3);
  Filter same = created(dir.file("same"), part_of(Layout::kBlocked, 24, {1, 3}));
  Filter whole = created(dir.file("whole"), options_of(Layout::kBlocked, 8));
  CHECK(same.merge(made[0]).code == Code::kMismatch);
  CHECK(same.merge(whole).code == Code::kMismatch);
  CHECK(whole.merge(made[1]).code == Code::kMismatch);
  REQUIRE(same.merge(made[1]).ok());
  CHECK(bits_of(same) == bits_of(made[1]));
  CHECK(same.compare(made[1])->equal);
  CHECK_FALSE(made[0].compare(made[1])->comparable);
  CHECK(made[0].compare(made[1])->differ.part);
  CHECK(Filter::intersect(std::vector<const Filter*>{&made[0], &made[1]}, dir.file("none")).code == Code::kMismatch);
  REQUIRE(Filter::intersect(std::vector<const Filter*>{&same, &made[1]}, dir.file("both")).ok());
  CHECK(opened(Filter::open(dir.file("both"), OpenMode::kRead)).part() == Part{1, 3});

  std::vector<Filter> folded;
  for (std::uint32_t number = 0; number < 3; ++number) {
    folded.push_back(created(dir.file("folded " + std::to_string(number)), part_of(Layout::kBlocked, 12, {number, 3})));
    REQUIRE(folded.back().merge(made[number]).ok());
  }
  Filter small = created(dir.file("small"), options_of(Layout::kBlocked, 12));
  add_numbers(small, 0, kKeys);
  REQUIRE(joined(folded, dir.file("of folded")).ok());
  CHECK(bits_of(opened(Filter::open(dir.file("of folded"), OpenMode::kRead))) == bits_of(small));
}

TEST_CASE("a filter that cannot be a part is refused") {
  TempDir dir;
  const auto code = [&](const Options& options) {
    const auto made = Filter::create(dir.file("refused"), options);
    return made.ok() ? Code::kOk : made.error().code;
  };
  CHECK(code(part_of(Layout::kClassic, 8, {0, 2})) == Code::kInvalid);
  CHECK(code(part_of(Layout::kBlocked, 8, {2, 2})) == Code::kInvalid);
  CHECK(code(part_of(Layout::kBlocked, 8, {0, 0})) == Code::kInvalid);
  created(dir.file("like"), options_of(Layout::kBlocked, 8));
  Options like;
  like.like = dir.file("like");
  like.part = Part{0, 3};  // 8 lines
  CHECK(code(like) == Code::kInvalid);
  like.part = Part{3, 4};
  const Filter fourth = created(dir.file("fourth"), like);
  CHECK(fourth.shape().num_bits == 2 * 512);
  like.like = dir.file("fourth");
  like.part.reset();
  CHECK(created(dir.file("same part"), like).part() == Part{3, 4});
  like.part = Part{0, 8};
  CHECK(created(dir.file("eighth"), like).shape().num_bits == 512);
  like.part = Part{};
  CHECK(created(dir.file("whole again"), like).shape().num_bits == 8 * 512);
}

TEST_CASE("a part has room for its share of the keys, even if chance makes the share large") {
  TempDir dir;
  Options options;
  options.capacity = 1'000'000;
  options.part = Part{0, 10};
  const Filter part = created(dir.file("part"), options);
  CHECK(part.shape().capacity > 100'000);
  CHECK(part.shape().capacity < 102'000);
  CHECK(part.shape().fpr == 0.01);
}

TEST_CASE("a record of an impossible part is refused") {
  TempDir dir;
  created(dir.file("part"), part_of(Layout::kBlocked, 8, {1, 4}));
  const std::string good = contents(dir.file("part"));
  const auto code_with = [&](std::uint32_t number, std::uint32_t parts, std::uint64_t capacity) {
    std::string bytes = good;
    const std::span record(reinterpret_cast<std::byte*>(bytes.data()), format::kPageBytes);
    const auto value = record.subspan(format::kRecordsOffset + format::kRecordValueOffset);
    format::put(value, format::kPartNumberField, number);
    format::put(value, format::kPartPartsField, parts);
    format::put(value, format::kPartCapacityField, capacity);
    base::store(record.data() + record.size() - 8, hash::xxh3(record.data(), record.size() - 8, 0));
    write_file(dir.file("edited"), bytes);
    const auto opened = Filter::open(dir.file("edited"), OpenMode::kRead);
    return opened.ok() ? Code::kOk : opened.error().code;
  };
  CHECK(code_with(1, 4, 100) == Code::kOk);
  CHECK(code_with(3, 4, 100) == Code::kOk);
  CHECK(code_with(4, 4, 100) == Code::kRecord);
  CHECK(code_with(0, 1, 100) == Code::kRecord);
  CHECK(code_with(0, 0, 100) == Code::kRecord);
  CHECK(code_with(0, 4, 0) == Code::kRecord);
  CHECK(code_with(0, 4, ~std::uint64_t{0}) == Code::kRecord);
  CHECK(code_with(0, ~std::uint32_t{0}, 100) == Code::kOk);  // 2^32 - 1 parts of two lines: 2^42 bits
}
