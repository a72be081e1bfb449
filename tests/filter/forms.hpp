// The forms in which many keys are given, for tests that try each: the same keys as pointers, views, pairs, one array,
// records, one column or digests.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/support.hpp"

namespace rooms {

enum class Form {
  kOneByOne,
  kPointers,
  kViews,
  kPairs,
  kFixed,
  kStrided,
  kColumn32,
  kColumn64,
  kDigests,
  kDigestsOneByOne
};
// The forms of Keys that hold bytes; all forms of Keys; and all forms in which keys are given.
inline constexpr std::array kManyKeysForms{Form::kPointers, Form::kViews,    Form::kPairs,   Form::kFixed,
                                           Form::kStrided,  Form::kColumn32, Form::kColumn64};
inline constexpr std::array kManyForms{Form::kPointers, Form::kViews,    Form::kPairs,    Form::kFixed,
                                       Form::kStrided,  Form::kColumn32, Form::kColumn64, Form::kDigests};
inline constexpr std::array kKeyForms{Form::kOneByOne, Form::kPointers,       Form::kViews,    Form::kPairs,
                                      Form::kFixed,    Form::kStrided,        Form::kColumn32, Form::kColumn64,
                                      Form::kDigests,  Form::kDigestsOneByOne};
inline constexpr std::array kDigestForms{Form::kDigests, Form::kDigestsOneByOne};

constexpr bool equally_long(Form form) noexcept { return form == Form::kFixed || form == Form::kStrided; }

// Keys of one batch and what each form needs. For kFixed and kStrided they are equally long, and not empty.
class Batch {
 public:
  // Keys, and their digests in the filter that they are for.
  Batch(std::vector<std::string> keys, const Filter& filter) : keys_(std::move(keys)) {
    for (const std::string& key : keys_) {
      views_.push_back(key);
      pointers_.push_back(key.empty() ? nullptr : key.data());
      lengths_.push_back(key.size());
      pairs_.push_back({const_cast<void*>(pointers_.back()), key.size()});
      bytes_ += key;
      records_.append(key).append(kRestOfRecord);
      offsets32_.push_back(static_cast<std::int32_t>(bytes_.size()));
      offsets64_.push_back(static_cast<std::int64_t>(bytes_.size()));
      digests_.push_back(*filter.digest(key));
    }
  }

  explicit Batch(std::vector<std::uint64_t> digests) : digests_(std::move(digests)) {}

  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::vector<std::uint64_t>& digests() const noexcept { return digests_; }

  // Returns the keys in one of kManyForms.
  [[nodiscard]] Keys many(Form form) const {
    switch (form) {
      case Form::kPointers:
        return Keys::pointers(pointers_, lengths_);
      case Form::kViews:
        return Keys::views(views_);
      case Form::kPairs:
        return Keys::pairs(pairs_);
      case Form::kFixed:
        return Keys::fixed(bytes_.data(), key_bytes(), keys_.size());
      case Form::kStrided:
        return Keys::fixed(records_.data(), key_bytes(), keys_.size(), key_bytes() + kRestOfRecord.size());
      case Form::kColumn32:
        return Keys::column(bytes_.data(), bytes_.size(), offsets32_);
      case Form::kColumn64:
        return Keys::column(bytes_.data(), bytes_.size(), offsets64_);
      default:
        return Keys::digests(digests_);
    }
  }

  Count add_to(Filter& filter, Form form) const {
    if (form == Form::kOneByOne)
      return one_by_one(keys_, [&](const std::string& key) { return filter.add(key).keys(); });
    if (form == Form::kDigestsOneByOne)
      return one_by_one(digests_, [&](std::uint64_t digest) { return filter.add_digest(digest).keys(); });
    return filter.add_keys(many(form));
  }

  // Returns the answers as bytes. If this form has a selection vector, it must say the same.
  Count ask(const Filter& filter, Form form, std::span<std::uint8_t> answers) const {
    if (form == Form::kOneByOne)
      return answer_one_by_one(keys_, answers, [&](const auto& key) { return filter.contains(key); });
    if (form == Form::kDigestsOneByOne)
      return answer_one_by_one(digests_, answers, [&](std::uint64_t digest) { return filter.contains_digest(digest); });
    const Count count = filter.contains_keys(many(form), answers);
    std::vector<std::uint32_t> indices(answers.size(), 0xdeadbeef);
    REQUIRE(filter.select_keys(many(form), indices).raw() == count.raw());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == 1) expected.push_back(i);
    }
    REQUIRE(std::equal(expected.begin(), expected.end(), indices.begin()));
    return count;
  }

 private:
  static constexpr std::string_view kRestOfRecord = "#rest";

  template <class Items, class Call>
  static Count one_by_one(const Items& items, Call call) {
    std::uint64_t sum = 0;
    for (const auto& item : items) sum += call(item);
    return sum;
  }

  template <class Items, class Contains>
  static Count answer_one_by_one(const Items& items, std::span<std::uint8_t> answers, Contains contains) {
    return one_by_one(items, [&, i = std::size_t{0}](const auto& item) mutable {
      return std::uint64_t{answers[i++] = contains(item) ? 1 : 0};
    });
  }

  [[nodiscard]] std::size_t key_bytes() const { return keys_.empty() ? 8 : keys_.front().size(); }

  std::vector<std::string> keys_;
  std::vector<std::string_view> views_;
  std::vector<const void*> pointers_;
  std::vector<std::size_t> lengths_;
  std::vector<iovec> pairs_;
  std::string bytes_;    // one key after the other
  std::string records_;  // keys with other bytes after each
  std::vector<std::int32_t> offsets32_{0};
  std::vector<std::int64_t> offsets64_{0};
  std::vector<std::uint64_t> digests_;
};

}  // namespace rooms
