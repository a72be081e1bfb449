// The forms of many keys, one by one: equal answers in each, batches around the window's size, and arguments that can
// not be right, on which nothing is added and every answer is "maybe".
#include "forms.hpp"

#include <numeric>

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

// Every answer became 1, whatever it was.
void check_all_maybe(const Count& count, Code code, const std::vector<std::uint8_t>& answers) {
  CHECK(count.code() == code);
  CHECK(std::all_of(answers.begin(), answers.end(), [](std::uint8_t answer) { return answer == 1; }));
}

}  // namespace

TEST_CASE("every form adds and finds the same keys, whatever their number") {
  for (const Layout layout : every_layout()) {
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

TEST_CASE("a column's first offset need not be 0, and keys in it may be empty") {
  InMemory made = InMemory::make(small());
  const std::string bytes = "skipped.alpha.betagamma";
  const auto* column = reinterpret_cast<const std::byte*>(bytes.data());
  const std::vector<std::int32_t> narrow{8, 13, 13, 14, 18, 23};
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  CHECK(made.filter.add_column(column, narrow).keys() == 5);
  for (const char* key : {"alpha", "", ".", "beta", "gamma"}) CHECK(made.filter.contains(key));
  CHECK_FALSE(made.filter.contains("skipped."));
  CHECK(made.filter.add_column(column, wide).keys() == 0);
  std::vector<std::uint8_t> answers(5);
  CHECK(made.filter.contains_column(column, wide, answers).keys() == 5);
  CHECK(made.filter.contains_column(column, std::span(narrow).first(1), answers).keys() == 0);
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

TEST_CASE("arguments that can not be right add nothing and answer maybe") {
  InMemory made = InMemory::make(small());
  Filter& filter = made.filter;
  const std::vector<std::string> keys = keys_of(0, 4);
  const std::string joined = std::accumulate(keys.begin(), keys.end(), std::string());
  const auto bytes = std::as_bytes(std::span(joined));
  const std::vector<const void*> pointers(4, joined.data());
  const std::vector<std::size_t> lengths(3, 6);

  const auto fresh = [] { return std::vector<std::uint8_t>(4, 0); };
  std::vector<std::uint8_t> answers = fresh();
  CHECK(filter.add_many(pointers, lengths).code() == Code::kInvalid);
  check_all_maybe(filter.contains_many(pointers, lengths, answers), Code::kInvalid, answers);
  const std::vector<const void*> nowhere{joined.data(), nullptr, joined.data()};
  answers = fresh();
  CHECK(filter.add_many(nowhere, lengths).code() == Code::kInvalid);
  check_all_maybe(filter.contains_many(nowhere, lengths, answers), Code::kInvalid, answers);
  for (const std::size_t key_bytes : {std::size_t{0}, std::size_t{5}, std::size_t{25}}) {
    answers = fresh();
    CHECK(filter.add_fixed(bytes, key_bytes).code() == Code::kInvalid);
    check_all_maybe(filter.contains_fixed(bytes, key_bytes, answers), Code::kInvalid, answers);
  }
  const std::vector<std::vector<std::int32_t>> bad{{}, {-1, 0, 6}, {0, 6, 5, 12}, {6, 0}, {0, 6, 12, -1}};
  for (const std::vector<std::int32_t>& narrow : bad) {
    const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
    answers = fresh();
    CHECK(filter.add_column(bytes.data(), narrow).code() == Code::kInvalid);
    check_all_maybe(filter.contains_column(bytes.data(), narrow, answers), Code::kInvalid, answers);
    answers = fresh();
    CHECK(filter.add_column(bytes.data(), wide).code() == Code::kInvalid);
    check_all_maybe(filter.contains_column(bytes.data(), wide, answers), Code::kInvalid, answers);
  }
  CHECK(filter.stats(true).fill->set_bits == 0);
}

TEST_CASE("answers that are too few are all maybe, in every form") {
  InMemory made = InMemory::make(small());
  const Batch batch(keys_of(0, 5), made.filter);
  for (const Form form :
       {Form::kPointers, Form::kViews, Form::kFixed, Form::kColumn32, Form::kColumn64, Form::kDigests}) {
    std::vector<std::uint8_t> answers(4, 0);
    check_all_maybe(batch.ask(made.filter, form, answers), Code::kInvalid, answers);
  }
}

TEST_CASE("external digests alone: keys are refused, and asked for they are maybe") {
  InMemory made = InMemory::make(small(Hash::kExternal));
  InMemory hashed = InMemory::make(small());
  const Batch batch(keys_of(0, 5), hashed.filter);
  CHECK(made.filter.add("key").code() == Code::kDigestOnly);
  CHECK(made.filter.contains("key"));
  CHECK(made.filter.digest("key") == std::nullopt);
  for (const Form form : {Form::kPointers, Form::kViews, Form::kFixed, Form::kColumn32, Form::kColumn64}) {
    std::vector<std::uint8_t> answers(5, 0);
    CHECK(batch.add_to(made.filter, form).code() == Code::kDigestOnly);
    check_all_maybe(batch.ask(made.filter, form, answers), Code::kDigestOnly, answers);
  }
  CHECK(made.filter.stats(true).fill->set_bits == 0);
  CHECK(batch.add_to(made.filter, Form::kDigests).keys() == 5);
  CHECK_FALSE(made.filter.contains_digest(mix(0)));
}

TEST_CASE("a handle that only reads refuses every form of adding, and changes nothing") {
  InMemory made = InMemory::make(small());
  const Batch batch(keys_of(0, 5), made.filter);
  const Buffer& unwritten = made.buffer;
  Filter reader = must(Filter::wrap(unwritten.bytes()));
  const Batch nothing({}, made.filter);
  for (const Form form :
       {Form::kPointers, Form::kViews, Form::kFixed, Form::kColumn32, Form::kColumn64, Form::kDigests}) {
    CHECK(batch.add_to(reader, form).code() == Code::kReadOnly);
    CHECK(nothing.add_to(reader, form).keys() == 0);
  }
  CHECK(reader.add("key").code() == Code::kReadOnly);
  CHECK(reader.add_digest(1).code() == Code::kReadOnly);
  CHECK(made.filter.stats(true).fill->set_bits == 0);
}
