#include "key_calls.hpp"

#include <bfstore/inline.hpp>

#include <algorithm>
#include <cstring>

#include "keys.hpp"

namespace store_test {

using namespace bfstore;

namespace {

constexpr std::size_t kFixedBytes = 40;

// The same keys in every shape; those of fixed length are padded, so that they are keys of their own.
struct Keys {
  Keys(const Filter& filter, unsigned writer, std::uint64_t count) : fixed(count * kFixedBytes) {
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
      std::memcpy(fixed.data() + i * kFixedBytes, keys[i].data(), std::min(keys[i].size(), kFixedBytes));
    }
  }
  [[nodiscard]] const std::byte* column_bytes() const { return reinterpret_cast<const std::byte*>(column.data()); }

  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  std::vector<const void*> pointers;
  std::vector<std::size_t> lengths;
  std::vector<std::uint64_t> digests;
  std::string column;
  std::vector<std::int32_t> offsets32;
  std::vector<std::int64_t> offsets64;
  std::vector<std::byte> fixed;
};

using Ask = Count (*)(const Filter&, const Keys&, std::span<std::uint8_t>);
using Add = Count (*)(Filter&, const Keys&);

// A batch's answers and its count say the same, or it is more than any number of keys.
AskForm batch(std::string name, Ask ask) {
  return {std::move(name), [ask](const Filter& filter, unsigned writer, std::uint64_t count) {
            const Keys keys(filter, writer, count);
            std::vector<std::uint8_t> answers(count, 7);
            const Count found = ask(filter, keys, answers);
            std::uint64_t ones = 0;
            for (const std::uint8_t answer : answers) ones += answer == 1 ? 1U : 0U;
            return found.ok() && found.keys() == ones ? ones : UINT64_MAX;
          }};
}

AddForm form(std::string name, Add add) {
  return {std::move(name), [add](Filter& filter, unsigned writer, std::uint64_t count) {
            return add(filter, Keys(filter, writer, count));
          }};
}

// One digest after the other: `contains(filter, digest)`.
template <class Contains>
AskForm singly(std::string name, Contains contains) {
  return {std::move(name), [contains](const Filter& filter, unsigned writer, std::uint64_t count) {
            std::uint64_t found = 0;
            for (const std::uint64_t digest : Keys(filter, writer, count).digests)
              found += contains(filter, digest) ? 1U : 0U;
            return found;
          }};
}

}  // namespace

const std::vector<AskForm>& ask_forms() {
  static const std::vector<AskForm> forms{
      {"one key",
       [](const Filter& filter, unsigned writer, std::uint64_t count) { return maybes(filter, writer, 0, count); }},
      singly("one digest", [](const Filter& f, std::uint64_t digest) { return f.contains_digest(digest); }),
      singly("one inlined", [](const Filter& f, std::uint64_t digest) { return f.lookup().contains_digest(digest); }),
      singly("one called", [](const Filter& f, std::uint64_t digest) { return f.lookup().call(digest) == 1; }),
      batch("selected",
            [](const Filter& f, const Keys& k, std::span<std::uint8_t> a) {
              std::vector<std::uint32_t> indices(a.size());
              const Count found = f.select_digests(k.digests, indices);
              std::fill(a.begin(), a.end(), std::uint8_t{0});
              for (std::uint64_t i = 0; found.ok() && i < found.keys(); ++i) a[indices[i]] = 1;
              return found;
            }),
      batch("views",
            [](const Filter& f, const Keys& k, std::span<std::uint8_t> a) { return f.contains_many(k.views, a); }),
      batch("pointers", [](const Filter& f, const Keys& k,
                           std::span<std::uint8_t> a) { return f.contains_many(k.pointers, k.lengths, a); }),
      batch("fixed", [](const Filter& f, const Keys& k,
                        std::span<std::uint8_t> a) { return f.contains_fixed(k.fixed, kFixedBytes, a); }),
      batch("column32", [](const Filter& f, const Keys& k,
                           std::span<std::uint8_t> a) { return f.contains_column(k.column_bytes(), k.offsets32, a); }),
      batch("column64", [](const Filter& f, const Keys& k,
                           std::span<std::uint8_t> a) { return f.contains_column(k.column_bytes(), k.offsets64, a); }),
      batch("digests", [](const Filter& f, const Keys& k, std::span<std::uint8_t> a) {
        return f.contains_digests(k.digests, a);
      })};
  return forms;
}

const std::vector<AddForm>& add_forms() {
  static const std::vector<AddForm> forms{
      form("one key", [](Filter& f, const Keys& k) { return f.add(k.keys.front()); }),
      form("one digest", [](Filter& f, const Keys& k) { return f.add_digest(k.digests.front()); }),
      form("views", [](Filter& f, const Keys& k) { return f.add_many(k.views); }),
      form("pointers", [](Filter& f, const Keys& k) { return f.add_many(k.pointers, k.lengths); }),
      form("fixed", [](Filter& f, const Keys& k) { return f.add_fixed(k.fixed, kFixedBytes); }),
      form("column32", [](Filter& f, const Keys& k) { return f.add_column(k.column_bytes(), k.offsets32); }),
      form("column64", [](Filter& f, const Keys& k) { return f.add_column(k.column_bytes(), k.offsets64); }),
      form("digests", [](Filter& f, const Keys& k) { return f.add_digests(k.digests); })};
  return forms;
}

}  // namespace store_test
