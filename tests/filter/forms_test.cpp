// The forms of many keys, one by one: equal answers in each, batches around the window's size, and arguments that
// cannot be right, with which nothing is added and every answer is "maybe".
#include "forms.hpp"
#include "support/memory_layouts.hpp"

#include <string_view>
#include <type_traits>

using namespace rooms;

namespace {

Options small(Hash hash = Hash::kXxh3) {
  Options options;
  options.hash = hash;
  options.capacity = 2000;
  options.fpr = 0.001;
  return options;
}

std::vector<std::string> keys_of(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(std::to_string(100000 + first + i));  // 6 bytes each
  return keys;
}

// Checks that every answer became 1, whatever it was before.
void check_all_maybe(const Count& count, Code code, const std::vector<std::uint8_t>& answers) {
  CHECK(count.code() == code);
  CHECK(std::all_of(answers.begin(), answers.end(), [](std::uint8_t answer) { return answer == 1; }));
}

constexpr const char* kText = "100000100001100002100003";

// Checks keys that cannot be right: none is added, and every answer is maybe.
void check_refused(const Keys& wrong) {
  InMemory made = InMemory::make(small());
  CHECK(wrong.check() == Code::kInvalid);
  CHECK(made.filter.add_keys(wrong).code() == Code::kInvalid);
  CHECK(made.filter.stats({.fill = true}).fill->set_bits == 0);
  std::vector<std::uint8_t> answers(4, 0);
  check_all_maybe(made.filter.contains_keys(wrong, answers), Code::kInvalid, answers);
  std::vector<std::uint32_t> indices(4, 9);
  CHECK(made.filter.select_keys(wrong, indices).code() == Code::kInvalid);
  CHECK(indices == std::vector<std::uint32_t>{0, 1, 2, 3});
}

// Makes every third key a null, in every form. Checks that adding, finding, selecting and digesting skip the nulls.
void check_nulls(const Options& given, std::uint64_t count, std::size_t first_bit) {
  Options options = given;
  if (options.hash == Hash::kSipHash) options.secret = Secret{1, 2, 3};
  for (const Form form : kManyForms) {
    InMemory made = InMemory::make(options);
    InMemory expected = InMemory::make(options);
    const Batch batch(keys_of(0, count), made.filter);
    std::vector<std::uint8_t> bits((first_bit + count + 7) / 8, 0);
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 3 == 1) continue;
      bits[(first_bit + i) / 8] |= static_cast<std::uint8_t>(1U << ((first_bit + i) % 8));
      changed += expected.filter.add_digest(batch.digests()[i]).keys();
    }
    const Keys keys = batch.many(form).where_valid(bits.data(), first_bit);
    CHECK(made.filter.add_keys(keys).keys() == changed);
    CHECK(std::ranges::equal(body_of(made), body_of(expected)));
    CHECK(batch.add_to(made.filter, Form::kDigests).ok());  // now all are there, and nulls are not asked for
    std::vector<std::uint8_t> answers(count, 9);
    std::vector<std::uint32_t> indices(count, 9);
    std::vector<std::uint64_t> digests(count, 9);
    const std::uint64_t present = made.filter.contains_keys(keys, answers).keys();
    CHECK(made.filter.select_keys(keys, indices).keys() == present);
    CHECK(made.filter.digest_keys(keys, digests).keys() == count);
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool null = i % 3 == 1;
      REQUIRE(answers[i] == (null ? 0 : 1));
      REQUIRE(digests[i] == (null ? 0 : batch.digests()[i]));
      if (!null) REQUIRE(indices[next++] == i);
    }
    CHECK(next == present);
  }
}

}  // namespace

TEST_CASE("every form adds and finds the same keys, whatever their number") {
  for (const Layout layout : every_layout_in_memory()) {
    Options options = small();
    options.layout = layout;
    for (const Form form : kKeyForms) {
      for (const std::uint64_t count : {0U, 1U, 2U, 255U, 256U, 257U, 511U, 512U, 513U, 1500U}) {
        InMemory made = InMemory::make(options);
        InMemory single = InMemory::make(options);
        const Batch batch(keys_of(0, count), made.filter);
        std::uint64_t changed = 0;
        for (const std::uint64_t digest : batch.digests()) changed += single.filter.add_digest(digest).keys();
        CHECK(batch.add_to(made.filter, form).keys() == changed);
        CHECK(std::ranges::equal(body_of(made), body_of(single)));
        for (const Form other : kKeyForms) {
          std::vector<std::uint8_t> answers(count + 5, 9);
          CHECK(batch.ask(made.filter, other, answers).keys() == count);
          CHECK(std::count(answers.begin(), answers.end(), 1) == static_cast<std::ptrdiff_t>(count));
          CHECK(answers.back() == 9);
        }
      }
    }
  }
}

TEST_CASE("answers and selections tell present keys from absent ones, in every form and of any number") {
  InMemory made = InMemory::make(small());
  std::vector<std::string> keys = keys_of(0, 1000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (mix(i) % 3 == 0) CHECK(made.filter.add(keys[i]).ok());
  }
  for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 127U, 128U, 129U, 145U, 1000U}) {
    const Batch batch({keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count)}, made.filter);
    std::vector<std::uint8_t> expected;
    for (const std::string& key : batch.keys()) expected.push_back(made.filter.contains(key) ? 1 : 0);
    for (const Form form : kKeyForms) {
      std::vector<std::uint8_t> answers(count, 9);
      const auto maybes = std::count(expected.begin(), expected.end(), 1);
      CHECK(batch.ask(made.filter, form, answers).keys() == static_cast<std::uint64_t>(maybes));
      CHECK(answers == expected);
    }
    if (count == 1000) CHECK(std::count(expected.begin(), expected.end(), 0) > 600);
  }
}

TEST_CASE("keys of unequal length, the empty one among them, are the same in every form that can have them") {
  std::vector<std::string> keys;
  for (std::size_t bytes = 0; bytes < 300; ++bytes) keys.push_back(std::string(bytes, 'k'));
  Options options = small();
  options.seed = 1;
  InMemory single = InMemory::make(options);
  for (const std::string& key : keys) CHECK(single.filter.add(key).ok());
  const Batch batch(keys, single.filter);
  for (const Form form : kManyForms) {
    if (equally_long(form)) continue;
    InMemory made = InMemory::make(options);
    CHECK(batch.add_to(made.filter, form).ok());
    CHECK(std::ranges::equal(body_of(made), body_of(single)));
    std::vector<std::uint8_t> answers(keys.size(), 9);
    CHECK(batch.ask(single.filter, form, answers).keys() == keys.size());
  }
}

TEST_CASE("a column's first offset need not be 0, and keys in it may be empty") {
  InMemory made = InMemory::make(small());
  const std::string bytes = "skipped.alpha.betagamma";
  const std::vector<std::int32_t> narrow{8, 13, 13, 14, 18, 23};
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  CHECK(made.filter.add_keys(Keys::column(bytes.data(), bytes.size(), narrow)).keys() == 5);
  for (const char* key : {"alpha", "", ".", "beta", "gamma"}) CHECK(made.filter.contains(key));
  CHECK_FALSE(made.filter.contains("skipped."));
  CHECK(made.filter.add_keys(Keys::column(bytes.data(), bytes.size(), wide)).keys() == 0);
  std::vector<std::uint8_t> answers(5);
  CHECK(made.filter.contains_keys(Keys::column(bytes.data(), bytes.size(), wide), answers).keys() == 5);
  CHECK(
      made.filter.contains_keys(Keys::column(bytes.data(), bytes.size(), std::span(narrow).first(1)), answers).keys() ==
      0);
}

TEST_CASE("keys of fixed length may be fields of records: what is between them is no key") {
  InMemory made = InMemory::make(small());
  const std::string records = "[alpha][omega][gamma]";
  const Keys fields = Keys::fixed(records.data() + 1, 5, 3, 7);
  CHECK(fields.size() == 3);
  CHECK(made.filter.add_keys(fields).keys() == 3);
  for (const char* key : {"alpha", "omega", "gamma"}) CHECK(made.filter.contains(key));
  for (const char* key : {"][ome", "a][om", "[alph", "]"}) CHECK_FALSE(made.filter.contains(key));
  // The last record ends with its key: no bytes follow it.
  std::vector<std::uint8_t> answers(3, 9);
  const std::vector<char> cut(records.begin(), records.end() - 1);
  CHECK(made.filter.contains_keys(Keys::fixed(cut.data() + 1, 5, 3, 7), answers).keys() == 3);
  CHECK(made.filter.contains_keys(Keys::fixed(records.data() + 1, 6, 3, 7), answers).keys() == 0);
}

TEST_CASE("no keys need no memory, whatever their form") {
  InMemory made = InMemory::make(small());
  constexpr std::size_t kMost = SIZE_MAX;
  const std::int32_t narrow = 0;
  const std::int64_t wide = 0;
  for (const Keys& none :
       {Keys(), Keys::pointers({}, {}), Keys::views({}), Keys::pairs({}), Keys::digests({}), Keys::fixed(nullptr, 8, 0),
        Keys::fixed(nullptr, kMost, 0), Keys::fixed(nullptr, 1, 0, kMost), Keys::column(nullptr, 0, {&narrow, 1}),
        Keys::column(nullptr, 0, {&wide, 1})}) {
    CHECK(none.check() == Code::kOk);
    CHECK(none.size() == 0);
    CHECK(made.filter.add_keys(none).raw() == 0);
    CHECK(made.filter.contains_keys(none, {}).raw() == 0);
    CHECK(made.filter.select_keys(none, {}).raw() == 0);
    std::vector<std::uint8_t> answers(2, 9);
    CHECK(made.filter.contains_keys(none, answers).raw() == 0);
    CHECK(answers == std::vector<std::uint8_t>{9, 9});
  }
}

TEST_CASE("one key is never taken for many, nor many for one") {
  static_assert(!std::is_constructible_v<Keys, std::string_view>);
  static_assert(!std::is_constructible_v<Keys, const char*>);
  static_assert(!std::is_constructible_v<Keys, std::string>);
  static_assert(!std::is_constructible_v<Keys, std::span<const std::string_view>>);
  static_assert(!std::is_constructible_v<Keys, std::span<const std::uint64_t>>);
  static_assert(!std::is_convertible_v<Keys, std::string_view>);
  constexpr auto adds = [](auto& filter, const auto& key) {
    return requires { filter.add(key); };
  };
  constexpr auto adds_many = [](auto& filter, const auto& key) {
    return requires { filter.add_keys(key); };
  };
  InMemory made = InMemory::make(small());
  const std::string_view key = "a key";
  CHECK(adds(made.filter, key));
  CHECK(adds(made.filter, "a key"));
  CHECK_FALSE(adds(made.filter, Keys()));
  CHECK(adds_many(made.filter, Keys()));
  CHECK_FALSE(adds_many(made.filter, key));
  CHECK_FALSE(adds_many(made.filter, "a key"));
  CHECK(made.filter.add(key).keys() == 1);
  CHECK(made.filter.contains(key));
  CHECK(made.filter.add_keys(Keys::views({&key, 1})).keys() == 0);
}

TEST_CASE("keys are bytes: NUL, high bytes, a trailing blank and the empty key are keys of their own") {
  InMemory made = InMemory::make(small());
  const std::array<std::string, 7> keys{
      std::string(), std::string(1, '\0'), std::string(2, '\0'), "a", "a ", std::string("a\0", 2), "\xff\xfe"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < keys.size(); ++j) CHECK(made.filter.contains(keys[j]) == (j < i));
    CHECK(made.filter.add(keys[i]).keys() == 1);
  }
}

TEST_CASE("arrays of unequal length are no keys: nothing is added, and every answer is maybe") {
  const std::vector<const void*> four(4, kText);
  const std::vector<std::size_t> three(3, 6);
  check_refused(Keys::pointers(four, three));
  check_refused(Keys::pointers(std::span(four).first(2), three));
  check_refused(Keys::pointers({}, three));
}

TEST_CASE("only the empty key may be at a null pointer") {
  const std::vector<const void*> pointers{kText, nullptr, kText};
  const std::vector<std::size_t> lengths{6, 0, 6};
  const std::vector<iovec> pairs{{nullptr, 0}, {const_cast<char*>(kText), 6}, {nullptr, 1}};
  const std::vector<std::int32_t> narrow{0, 0, 6};
  const std::vector<std::int64_t> wide{0, 0, 6};
  CHECK(Keys::pointers(pointers, lengths).check() == Code::kOk);
  CHECK(Keys::pairs(std::span(pairs).first(2)).check() == Code::kOk);
  CHECK(Keys::column(nullptr, 0, std::span(narrow).first(2)).check() == Code::kOk);
  CHECK(Keys::column(nullptr, 0, std::span(wide).first(2)).check() == Code::kOk);
  check_refused(Keys::pointers(pointers, std::vector<std::size_t>(3, 6)));
  check_refused(Keys::pairs(pairs));
  check_refused(Keys::fixed(nullptr, 6, 4));
  check_refused(Keys::column(nullptr, 0, narrow));
  check_refused(Keys::column(nullptr, 0, wide));
}

TEST_CASE("keys of width 0 are refused, even if there are none") {
  check_refused(Keys::fixed(kText, 0, 4));
  check_refused(Keys::fixed(kText, 0, 4, 6));
  check_refused(Keys::fixed(nullptr, 0, 0));
}

TEST_CASE("keys that overlap are refused, as where width and stride are swapped") {
  for (const std::size_t stride : {0U, 1U, 5U}) check_refused(Keys::fixed(kText, 6, 4, stride));
  check_refused(Keys::fixed(kText, 6, 1, 5));
  check_refused(Keys::fixed(nullptr, 6, 0, 5));
}

TEST_CASE("more keys than memory can hold are refused, and the largest number that it can hold is not") {
  constexpr std::size_t kMost = PTRDIFF_MAX;
  check_refused(Keys::fixed(kText, 1, SIZE_MAX));
  check_refused(Keys::fixed(kText, SIZE_MAX, 1));
  check_refused(Keys::fixed(kText, SIZE_MAX, SIZE_MAX));
  check_refused(Keys::fixed(kText, kMost + 1, 1));
  check_refused(Keys::fixed(kText, 1, kMost + 1));
  check_refused(Keys::fixed(kText, 2, 2, kMost - 1));                // one byte too many
  check_refused(Keys::fixed(kText, 2, 2, SIZE_MAX));                 // width and stride make 1
  check_refused(Keys::fixed(kText, 6, 3, std::size_t{1} << 63));     // twice the stride makes 0
  check_refused(Keys::fixed(kText, 8, (std::size_t{1} << 61) + 1));  // the last begins at 0
  CHECK(Keys::fixed(kText, kMost, 1).check() == Code::kOk);
  CHECK(Keys::fixed(kText, 1, kMost).check() == Code::kOk);
  CHECK(Keys::fixed(kText, 1, 2, kMost - 1).check() == Code::kOk);
  CHECK(Keys::fixed(kText, 1, 1, SIZE_MAX).check() == Code::kOk);
}

TEST_CASE("offsets that descend, are negative or are missing are refused") {
  const std::vector<std::vector<std::int32_t>> bad{{}, {-1, 0, 6}, {0, 6, 5, 12}, {6, 0}, {0, 6, 12, -1}};
  for (const std::vector<std::int32_t>& narrow : bad) {
    check_refused(Keys::column(kText, 24, narrow));
    check_refused(Keys::column(kText, 24, std::vector<std::int64_t>(narrow.begin(), narrow.end())));
  }
}

TEST_CASE("offsets that lead out of the column are refused, to the byte") {
  const std::vector<std::int32_t> narrow{0, 6, 12};
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  CHECK(Keys::column(kText, 12, narrow).check() == Code::kOk);
  CHECK(Keys::column(kText, 12, wide).check() == Code::kOk);
  check_refused(Keys::column(kText, 11, narrow));
  check_refused(Keys::column(kText, 11, wide));
  check_refused(Keys::column(kText, 0, wide));
  check_refused(Keys::column(nullptr, 12, narrow));  // a null pointer has no bytes, whatever length is given
  const std::vector<std::int64_t> far{0, 6, INT64_MAX};
  check_refused(Keys::column(kText, 24, far));
}

TEST_CASE("a null is no key: it is not added, found or selected, and it is not the empty key") {
  for (const Hash hash : {Hash::kXxh3, Hash::kSipHash}) {
    for (const std::size_t first_bit : {0U, 1U, 7U, 8U, 13U}) {
      for (const std::uint64_t count : {1U, 9U, 511U, 512U, 513U, 1500U}) check_nulls(small(hash), count, first_bit);
    }
  }
}

TEST_CASE("a mistake in keys of which some are null is found before any is added") {
  const std::vector<std::int32_t> descends{0, 6, 12, 18, 17};
  const std::uint8_t bits = 0x0f;
  check_refused(Keys::column(kText, 24, descends).where_valid(&bits));
}

TEST_CASE("places for too few answers all get maybe, in every form") {
  InMemory made = InMemory::make(small());
  const Batch batch(keys_of(0, 5), made.filter);
  for (const Form form : kManyForms) {
    std::vector<std::uint8_t> answers(4, 0);
    check_all_maybe(batch.ask(made.filter, form, answers), Code::kInvalid, answers);
  }
}

TEST_CASE("places after the keys' answers are not written, with a hash and without one") {
  InMemory made = InMemory::make(small());
  InMemory external = InMemory::make(small(Hash::kExternal));
  const Batch batch(keys_of(0, 5), made.filter);
  for (const Form form : kManyKeysForms) {
    std::vector<std::uint8_t> answers(7, 9);
    CHECK(made.filter.contains_keys(batch.many(form), answers).keys() == 0);
    CHECK(answers == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 9, 9});
    CHECK(external.filter.contains_keys(batch.many(form), answers).code() == Code::kDigestOnly);
    CHECK(answers == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 9, 9});
    std::vector<std::uint32_t> indices(7, 9);
    CHECK(external.filter.select_keys(batch.many(form), indices).code() == Code::kDigestOnly);
    CHECK(indices == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 9, 9});
    std::vector<std::uint8_t> few(3, 9);
    check_all_maybe(external.filter.contains_keys(batch.many(form), few), Code::kDigestOnly, few);
  }
}

TEST_CASE("a filter of external digests refuses keys, and answers maybe to them") {
  InMemory made = InMemory::make(small(Hash::kExternal));
  InMemory hashed = InMemory::make(small());
  const Batch batch(keys_of(0, 5), hashed.filter);
  CHECK(made.filter.add("key").code() == Code::kDigestOnly);
  CHECK(made.filter.contains("key"));
  CHECK(made.filter.digest("key") == std::nullopt);
  for (const Form form : kManyKeysForms) {
    std::vector<std::uint8_t> answers(5, 0);
    CHECK(batch.add_to(made.filter, form).code() == Code::kDigestOnly);
    check_all_maybe(batch.ask(made.filter, form, answers), Code::kDigestOnly, answers);
  }
  CHECK(made.filter.stats({.fill = true}).fill->set_bits == 0);
  CHECK(batch.add_to(made.filter, Form::kDigests).keys() == 5);
  CHECK_FALSE(made.filter.contains_digest(mix(0)));
}

TEST_CASE("a handle that only reads refuses every form of adding, and changes nothing") {
  InMemory made = InMemory::make(small());
  const Batch batch(keys_of(0, 5), made.filter);
  const Buffer& unwritten = made.buffer;
  Filter reader = must(Filter::wrap_to_read(unwritten.bytes()));
  const Batch nothing({}, made.filter);
  for (const Form form : kManyForms) {
    CHECK(batch.add_to(reader, form).code() == Code::kReadOnly);
    CHECK(nothing.add_to(reader, form).keys() == 0);
  }
  CHECK(reader.add("key").code() == Code::kReadOnly);
  CHECK(reader.add_digest(1).code() == Code::kReadOnly);
  CHECK(made.filter.stats({.fill = true}).fill->set_bits == 0);
}
