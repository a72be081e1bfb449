// The public Filter's functions for many keys. They look at the keys' form and the filter's hash once for all keys.
// Then each function has one path, in batch.hpp.
#include "hash/hasher.hpp"
#include "store/ask/batch.hpp"
#include "store/ask/by_position.hpp"
#include "store/home/followed.hpp"
#include "store/home/set.hpp"

namespace bfstore {
namespace {

// Keys of one form, each hashed when its turn comes.
template <class Form, class Hasher>
struct Hashed {
  Form keys;
  Hasher hasher;
  [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }
  [[nodiscard]] std::uint64_t digest(std::size_t i) const noexcept { return hasher(keys[i]); }
};

// Returns use(digests), where the digests are given, or computed when their turn comes. Returns an error of the keys
// before anything is done, and `none` (kDigestOnly or kKeyOnly) if the hash gives no digests of keys.
template <class Use>
Count with_digests(const Keys& keys, const Shape& shape, const store::KeptSecret& secret, Code none, Use use) noexcept {
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  return keys.visit([&]<class Form>(const Form& form) -> Count {
    if constexpr (std::is_same_v<Form, Keys::Digests>) {
      return use(store::GivenDigests{form.digests});
    } else {
      return hash::visit(
          shape.hash, shape.seed, secret.value(), [none] { return Count(none); },
          [&]<class Hasher>(const Hasher& hasher) {
            return use(Hashed<Form, Hasher>{form, hasher});
          });
    }
  });
}

store::Answers taker_of(std::span<std::uint8_t> answers) noexcept { return store::Answers(answers.data()); }
store::Indices taker_of(std::span<std::uint32_t> indices) noexcept { return store::Indices(indices.data()); }

// Answers "maybe" for every key, after an error.
Count all_maybe(std::span<std::uint8_t> answers, Code code) noexcept {
  std::fill(answers.begin(), answers.end(), std::uint8_t{1});
  return code;
}

Count all_maybe(std::span<std::uint32_t> indices, Code code) noexcept {
  std::uint32_t next = 0;
  for (std::uint32_t& index : indices) index = next++;
  return code;
}

// True if there is room for the answers of `count` keys.
bool has_room(std::span<std::uint8_t> answers, std::size_t count) noexcept { return answers.size() >= count; }
bool has_room(std::span<std::uint32_t> indices, std::size_t count) noexcept {
  return indices.size() >= count && count <= std::size_t{1} << 32;
}

// The most keys of a piece of a column with nulls: few enough for the stack, and enough for many cache misses at once.
constexpr std::size_t kPiece = 512;

// The keys of a piece that are not null: their digests without gaps, and their indices.
class Present {
 public:
  Count find(const Keys& piece, const Shape& shape, const store::KeptSecret& secret) noexcept {
    size_ = 0;
    return with_digests(piece, shape, secret, Code::kDigestOnly, [&](const auto& source) {
      for (std::size_t i = 0; i < source.size(); ++i) {
        if (piece.is_null(i)) continue;
        digests_[size_] = source.digest(i);
        numbers_[size_++] = static_cast<std::uint16_t>(i);
      }
      return Count(size_);
    });
  }

  [[nodiscard]] store::GivenDigests digests() const noexcept { return {std::span(digests_).first(size_)}; }
  [[nodiscard]] std::span<const std::uint16_t> numbers() const noexcept { return std::span(numbers_).first(size_); }

 private:
  std::array<std::uint64_t, kPiece> digests_;
  std::array<std::uint16_t, kPiece> numbers_;
  std::size_t size_ = 0;
};

// Returns the sum of what `use(present, first)` returns for each piece, which begins at the key `first`, or the first
// error. Checks all keys before the first piece.
template <class Use>
Count sum_of_pieces(const Keys& keys, const Shape& shape, const store::KeptSecret& secret, Use use) noexcept {
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  std::uint64_t sum = 0;
  Present present;
  for (std::size_t first = 0; first < keys.size(); first += kPiece) {
    const Keys piece = keys.part(first, std::min(kPiece, keys.size() - first));
    const Count found = present.find(piece, shape, secret);
    const Count outcome = found.ok() ? use(present, first) : found;
    if (!outcome.ok()) return outcome;
    sum += outcome.keys();
  }
  return sum;
}

void put_answers(std::span<std::uint8_t> answers, const Present& present, std::size_t first, std::uint64_t,
                 const std::uint8_t* found) noexcept {
  for (std::size_t i = 0; i < present.numbers().size(); ++i) answers[first + present.numbers()[i]] = found[i];
}

void put_answers(std::span<std::uint32_t> indices, const Present& present, std::size_t first, std::uint64_t so_far,
                 const std::uint8_t* found) noexcept {
  std::uint32_t* next = indices.data() + so_far;
  for (std::size_t i = 0; i < present.numbers().size(); ++i) {
    if (found[i] != 0) *next++ = static_cast<std::uint32_t>(first + present.numbers()[i]);
  }
}

}  // namespace

template <class Answer>
Count Filter::answer_some(const Keys& keys, std::span<Answer> out) const noexcept {
  if (!has_room(out, keys.size())) return Code::kInvalid;
  std::fill_n(out.begin(), keys.size(), Answer{0});
  std::uint64_t so_far = 0;
  store::follow_in_time(*ask_);
  const store::Pinned ask(*ask_);
  return sum_of_pieces(keys, ask_->shape, ask_->secret, [&](const Present& present, std::size_t first) {
    std::array<std::uint8_t, kPiece> found;
    const Count maybes = contains_all(*ask, present.digests(), store::Answers(found.data()));
    put_answers(out, present, first, so_far, found.data());
    so_far += maybes.keys();
    return maybes;
  });
}

template <class Answer>
Count Filter::answer_all(const Keys& keys, std::span<Answer> out) const noexcept {
  return with_digests(keys, ask_->shape, ask_->secret, ask_->no_digest(), [&](const auto& digests) -> Count {
    if (!has_room(out, digests.size())) return Code::kInvalid;
    store::follow_in_time(*ask_);
    return contains_all(*store::Pinned(*ask_), digests, taker_of(out), keys.scratch());
  });
}

// For a hash that gives positions.
template <class Answer>
Count Filter::answer_by_position(const Keys& keys, std::span<Answer> out) const noexcept {
  return store::with_keys(keys, [&](const auto& form) -> Count {
    if (!has_room(out, form.size())) return Code::kInvalid;
    store::follow_in_time(*ask_);
    return contains_by_position(*store::Pinned(*ask_), keys, form, taker_of(out));
  });
}

// Answers in bytes or in indices.
template <class Answer>
Count Filter::answer(const Keys& keys, std::span<Answer> out) const noexcept {
  const Count maybes = ask_->gives_positions   ? answer_by_position(keys, out)
                       : keys.may_have_nulls() ? answer_some(keys, out)
                                               : answer_all(keys, out);
  if (maybes.ok()) return maybes;
  // If something is wrong with the keys, their number is not known.
  const Code code = maybes.code();
  const bool counted = code == Code::kDigestOnly || code == Code::kKeyOnly || code == Code::kPart;
  return all_maybe(counted ? out.first(std::min(keys.size(), out.size())) : out, code);
}

Count Filter::add_keys(const Keys& keys) noexcept {
  if (ask_->gives_positions)
    return store::with_keys(keys, [&](const auto& form) { return add_by_position(*ask_, keys, form); });
  if (keys.may_have_nulls()) {
    return sum_of_pieces(keys, ask_->shape, ask_->secret,
                         [this](const Present& present, std::size_t) { return add_all(*ask_, present.digests()); });
  }
  return with_digests(keys, ask_->shape, ask_->secret, Code::kDigestOnly,
                      [&](const auto& digests) { return add_all(*ask_, digests, keys.scratch()); });
}

Count Filter::remove_keys(const Keys& keys) noexcept {
  if (!ask_->removes()) return Code::kUnsupported;
  if (keys.may_have_nulls()) {
    return sum_of_pieces(keys, ask_->shape, ask_->secret,
                         [this](const Present& present, std::size_t) { return remove_all(*ask_, present.digests()); });
  }
  return with_digests(keys, ask_->shape, ask_->secret, Code::kDigestOnly,
                      [this](const auto& digests) { return remove_all(*ask_, digests); });
}

Count Filter::count_keys(const Keys& keys, std::span<std::uint8_t> counts) const noexcept {
  const auto count_all = [&](const auto& source) -> Count {
    if (counts.size() < source.size()) return Code::kInvalid;
    std::uint64_t maybes = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Count count = keys.is_null(i) ? Count(std::uint64_t{0}) : count_digest(source.digest(i));
      if (!count.ok()) return count;
      counts[i] = static_cast<std::uint8_t>(count.keys());
      if (count.keys() != 0) ++maybes;
    }
    return maybes;
  };
  const Count maybes = ask_->removes() ? with_digests(keys, ask_->shape, ask_->secret, Code::kDigestOnly, count_all)
                                       : Count(Code::kUnsupported);
  if (!maybes.ok()) std::fill(counts.begin(), counts.end(), std::uint8_t{15});
  return maybes;
}

Count Filter::contains_keys(const Keys& keys, std::span<std::uint8_t> answers) const noexcept {
  return answer(keys, answers);
}

Count Filter::select_keys(const Keys& keys, std::span<std::uint32_t> indices) const noexcept {
  return answer(keys, indices);
}

Count Filter::digest_keys(const Keys& keys, std::span<std::uint64_t> digests) const noexcept {
  const auto digest = [&](const auto& source) -> Count {
    if (digests.size() < source.size()) return Code::kInvalid;
    for (std::size_t i = 0; i < source.size(); ++i) digests[i] = keys.is_null(i) ? 0 : source.digest(i);
    return source.size();
  };
  const bool are_digests = keys.visit([]<class Form>(const Form&) { return std::is_same_v<Form, Keys::Digests>; });
  if (ask_->gives_positions && are_digests)
    return store::with_keys(keys, [](const auto&) { return Count(Code::kKeyOnly); });
  return with_digests(keys, ask_->shape, ask_->secret, ask_->no_digest(), digest);
}

}  // namespace bfstore
