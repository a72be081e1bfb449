// The forms in which many keys are given, so that a test can try each: the same keys as pointers, views, one array, one
// column or digests.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/support.hpp"

namespace rooms {

enum class Form { kOneByOne, kPointers, kViews, kFixed, kColumn32, kColumn64, kDigests, kDigestsOneByOne };
inline constexpr std::array kKeyForms{Form::kOneByOne, Form::kPointers, Form::kViews,   Form::kFixed,
                                      Form::kColumn32, Form::kColumn64, Form::kDigests, Form::kDigestsOneByOne};
inline constexpr std::array kDigestForms{Form::kDigests, Form::kDigestsOneByOne};

// Keys of one batch and what each form needs. For kFixed they are equally long, and not empty.
class Batch {
 public:
  // Keys, and their digests in the filter that they are for.
  Batch(std::vector<std::string> keys, const Filter& filter) : keys_(std::move(keys)), offsets_(1) {
    for (const std::string& key : keys_) {
      views_.push_back(key);
      pointers_.push_back(key.empty() ? nullptr : key.data());
      lengths_.push_back(key.size());
      bytes_ += key;
      offsets_.push_back(bytes_.size());
      digests_.push_back(*filter.digest(key));
    }
  }

  explicit Batch(std::vector<std::uint64_t> digests) : offsets_(1), digests_(std::move(digests)) {}

  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::vector<std::uint64_t>& digests() const noexcept { return digests_; }

  Count add_to(Filter& filter, Form form) const {
    switch (form) {
      case Form::kPointers:
        return filter.add_many(pointers_, lengths_);
      case Form::kViews:
        return filter.add_many(views_);
      case Form::kFixed:
        return filter.add_fixed(fixed(), key_bytes());
      case Form::kColumn32:
        return filter.add_column(column(), offsets<std::int32_t>());
      case Form::kColumn64:
        return filter.add_column(column(), offsets<std::int64_t>());
      case Form::kDigests:
        return filter.add_digests(digests_);
      case Form::kOneByOne:
        return one_by_one(keys_, [&](const std::string& key) { return filter.add(key).keys(); });
      case Form::kDigestsOneByOne:
        break;
    }
    return one_by_one(digests_, [&](std::uint64_t digest) { return filter.add_digest(digest).keys(); });
  }

  // The answers as bytes; where there is a selection vector of this form, it must say the same.
  Count ask(const Filter& filter, Form form, std::span<std::uint8_t> answers) const {
    const Count count = answer(filter, form, answers);
    std::vector<std::uint32_t> indices(answers.size(), 0xdeadbeef);
    const std::optional<Count> selected = select(filter, form, indices);
    if (!selected) return count;
    REQUIRE(selected->raw() == count.raw());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == 1) expected.push_back(i);
    }
    REQUIRE(std::equal(expected.begin(), expected.end(), indices.begin()));
    return count;
  }

 private:
  Count answer(const Filter& filter, Form form, std::span<std::uint8_t> answers) const {
    switch (form) {
      case Form::kPointers:
        return filter.contains_many(pointers_, lengths_, answers);
      case Form::kViews:
        return filter.contains_many(views_, answers);
      case Form::kFixed:
        return filter.contains_fixed(fixed(), key_bytes(), answers);
      case Form::kColumn32:
        return filter.contains_column(column(), offsets<std::int32_t>(), answers);
      case Form::kColumn64:
        return filter.contains_column(column(), offsets<std::int64_t>(), answers);
      case Form::kDigests:
        return filter.contains_digests(digests_, answers);
      case Form::kOneByOne:
        return one_by_one(keys_, [&, i = std::size_t{0}](const std::string& key) mutable {
          return std::uint64_t{answers[i++] = filter.contains(key) ? 1 : 0};
        });
      case Form::kDigestsOneByOne:
        break;
    }
    return one_by_one(digests_, [&, i = std::size_t{0}](std::uint64_t digest) mutable {
      return std::uint64_t{answers[i++] = filter.contains_digest(digest) ? 1 : 0};
    });
  }

  std::optional<Count> select(const Filter& filter, Form form, std::span<std::uint32_t> indices) const {
    switch (form) {
      case Form::kPointers:
        return filter.select_many(pointers_, lengths_, indices);
      case Form::kViews:
        return filter.select_many(views_, indices);
      case Form::kFixed:
        return filter.select_fixed(fixed(), key_bytes(), indices);
      case Form::kColumn32:
        return filter.select_column(column(), offsets<std::int32_t>(), indices);
      case Form::kColumn64:
        return filter.select_column(column(), offsets<std::int64_t>(), indices);
      case Form::kDigests:
        return filter.select_digests(digests_, indices);
      case Form::kOneByOne:
      case Form::kDigestsOneByOne:
        break;
    }
    return std::nullopt;
  }

  template <class Items, class Call>
  static Count one_by_one(const Items& items, Call call) {
    std::uint64_t sum = 0;
    for (const auto& item : items) sum += call(item);
    return sum;
  }

  [[nodiscard]] const std::byte* column() const { return reinterpret_cast<const std::byte*>(bytes_.data()); }
  [[nodiscard]] std::span<const std::byte> fixed() const { return {column(), bytes_.size()}; }
  [[nodiscard]] std::size_t key_bytes() const { return keys_.empty() ? 8 : keys_.front().size(); }

  template <class Offset>
  [[nodiscard]] std::vector<Offset> offsets() const {
    std::vector<Offset> narrow;
    for (const std::size_t offset : offsets_) narrow.push_back(static_cast<Offset>(offset));
    return narrow;
  }

  std::vector<std::string> keys_;
  std::vector<std::string_view> views_;
  std::vector<const void*> pointers_;
  std::vector<std::size_t> lengths_;
  std::string bytes_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint64_t> digests_;
};

}  // namespace rooms
