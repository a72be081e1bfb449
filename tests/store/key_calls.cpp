#include "key_calls.hpp"

#include <bfstore/inline.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include "keys.hpp"

namespace store_test {

using namespace bfstore;

namespace {

constexpr std::size_t kFixedBytes = 40;
constexpr std::size_t kRecordBytes = 48;  // a key and other bytes after it

// Keys in every form. Those of fixed length are padded, so they are other keys.
struct Batch {
  Batch(const Filter& filter, unsigned writer, std::uint64_t count)
      : fixed(count * kFixedBytes), records(count * kRecordBytes) {
    for (std::uint64_t i = 0; i < count; ++i) keys.push_back(key_of(writer, i));
    offsets32.push_back(0);
    offsets64.push_back(0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      views.emplace_back(keys[i]);
      pointers.push_back(keys[i].data());
      lengths.push_back(keys[i].size());
      digests.push_back(*filter.digest(keys[i]));
      column += keys[i];
      offsets32.push_back(static_cast<std::int32_t>(column.size()));
      offsets64.push_back(static_cast<std::int64_t>(column.size()));
      std::memcpy(&fixed[i * kFixedBytes], keys[i].data(), std::min(keys[i].size(), kFixedBytes));
      std::memcpy(&records[i * kRecordBytes], &fixed[i * kFixedBytes], kFixedBytes);
    }
    for (std::string& key : keys) pairs.push_back({key.data(), key.size()});
  }

  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  std::vector<const void*> pointers;
  std::vector<std::size_t> lengths;
  std::vector<std::uint64_t> digests;
  std::string column;
  std::vector<std::int32_t> offsets32;
  std::vector<std::int64_t> offsets64;
  std::vector<std::byte> fixed;
  std::vector<std::byte> records;
  std::vector<iovec> pairs;
};

struct Form {
  const char* name;
  Keys (*keys)(const Batch&);
};

constexpr std::array kForms{
    Form{"views", [](const Batch& b) { return Keys::views(b.views); }},
    Form{"pointers", [](const Batch& b) { return Keys::pointers(b.pointers, b.lengths); }},
    Form{"pairs", [](const Batch& b) { return Keys::pairs(b.pairs); }},
    Form{"fixed", [](const Batch& b) { return Keys::fixed(b.fixed.data(), kFixedBytes, b.keys.size()); }},
    Form{"strided",
         [](const Batch& b) { return Keys::fixed(b.records.data(), kFixedBytes, b.keys.size(), kRecordBytes); }},
    Form{"column32", [](const Batch& b) { return Keys::column(b.column.data(), b.column.size(), b.offsets32); }},
    Form{"column64", [](const Batch& b) { return Keys::column(b.column.data(), b.column.size(), b.offsets64); }},
    Form{"digests", [](const Batch& b) { return Keys::digests(b.digests); }},
};

// Makes the form of `ask(filter, batch, answers)`. If the answers and the count do not say the same, its result is more
// than any number of keys.
template <class Ask>
AskForm batch(std::string name, Ask ask) {
  return {std::move(name), [ask](const Filter& filter, unsigned writer, std::uint64_t count) {
            const Batch keys(filter, writer, count);
            std::vector<std::uint8_t> answers(count, 7);
            const Count found = ask(filter, keys, answers);
            std::uint64_t ones = 0;
            for (const std::uint8_t answer : answers) ones += answer == 1 ? 1U : 0U;
            return found.ok() && found.keys() == ones ? ones : UINT64_MAX;
          }};
}

// One digest after the other: `contains(filter, digest)`.
template <class Contains>
AskForm singly(std::string name, Contains contains) {
  return {std::move(name), [contains](const Filter& filter, unsigned writer, std::uint64_t count) {
            std::uint64_t found = 0;
            for (const std::uint64_t digest : Batch(filter, writer, count).digests)
              found += contains(filter, digest) ? 1U : 0U;
            return found;
          }};
}

std::vector<AskForm> make_ask_forms() {
  std::vector<AskForm> forms{
      {"one key",
       [](const Filter& filter, unsigned writer, std::uint64_t count) { return maybes(filter, writer, 0, count); }},
      singly("one digest", [](const Filter& f, std::uint64_t digest) { return f.contains_digest(digest); }),
      singly("one inlined", [](const Filter& f, std::uint64_t digest) { return f.lookup().contains_digest(digest); }),
      singly("one called", [](const Filter& f, std::uint64_t digest) { return f.lookup().call(digest) == 1; }),
      batch("selected", [](const Filter& f, const Batch& b, std::span<std::uint8_t> a) {
        std::vector<std::uint32_t> indices(a.size());
        const Count found = f.select_keys(Keys::digests(b.digests), indices);
        std::fill(a.begin(), a.end(), std::uint8_t{0});
        for (std::uint64_t i = 0; found.ok() && i < found.keys(); ++i) a[indices[i]] = 1;
        return found;
      })};
  for (const Form& form : kForms) {
    forms.push_back(batch(form.name, [form](const Filter& f, const Batch& b, std::span<std::uint8_t> a) {
      return f.contains_keys(form.keys(b), a);
    }));
  }
  return forms;
}

// `add(filter, batch)` adds what the name says.
template <class Add>
AddForm adding(std::string name, Add add) {
  return {std::move(name), [add](Filter& filter, unsigned writer, std::uint64_t count) {
            return add(filter, Batch(filter, writer, count));
          }};
}

std::vector<AddForm> make_add_forms() {
  std::vector<AddForm> forms{
      adding("one key", [](Filter& f, const Batch& b) { return f.add(b.keys.front()); }),
      adding("one digest", [](Filter& f, const Batch& b) { return f.add_digest(b.digests.front()); })};
  for (const Form& form : kForms)
    forms.push_back(adding(form.name, [form](Filter& f, const Batch& b) { return f.add_keys(form.keys(b)); }));
  return forms;
}

}  // namespace

const std::vector<AskForm>& ask_forms() {
  static const std::vector<AskForm> forms = make_ask_forms();
  return forms;
}

const std::vector<AddForm>& add_forms() {
  static const std::vector<AddForm> forms = make_add_forms();
  return forms;
}

}  // namespace store_test
