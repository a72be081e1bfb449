// The public Filter's verbs for many keys. The form of the keys and the filter's hash are looked at once for all of
// them; then each verb has one path, in batch.hpp.
#include "hash/hasher.hpp"
#include "store/batch.hpp"

namespace bfstore {
namespace {

// Keys of one form that are turned into digests when it is their turn.
template <class Form, class Hasher>
struct Hashed {
  Form keys;
  Hasher hasher;
  [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }
  [[nodiscard]] std::uint64_t digest(std::size_t i) const noexcept { return hasher(keys[i]); }
};

// What `use` makes of the keys' digests, be they given or yet to be computed; or an error of the keys, before anything
// was done. kDigestOnly where the filter takes no keys.
template <class Use>
Count with_digests(const Keys& keys, const Shape& shape, const store::Secret& secret, Use use) noexcept {
  if (const Code wrong = keys.check(); wrong != Code::kOk) return wrong;
  return keys.visit([&]<class Form>(const Form& form) -> Count {
    if constexpr (std::is_same_v<Form, Keys::Digests>) {
      return use(store::Given{form.digests});
    } else {
      return hash::visit(shape.hash, shape.seed, secret.key(), Count(Code::kDigestOnly),
                         [&]<class Hasher>(const Hasher& hasher) {
                           return use(Hashed<Form, Hasher>{form, hasher});
                         });
    }
  });
}

store::Bytes taker_of(std::span<std::uint8_t> answers) noexcept { return store::Bytes(answers.data()); }
store::Indices taker_of(std::span<std::uint32_t> indices) noexcept { return store::Indices(indices.data()); }

// In doubt or in error: every key may be present.
Count all_maybe(std::span<std::uint8_t> answers, Code code) noexcept {
  std::fill(answers.begin(), answers.end(), std::uint8_t{1});
  return code;
}

Count all_maybe(std::span<std::uint32_t> indices, Code code) noexcept {
  std::uint32_t next = 0;
  for (std::uint32_t& index : indices) index = next++;
  return code;
}

// So many keys can be answered there.
bool has_room(std::span<std::uint8_t> answers, std::size_t count) noexcept { return answers.size() >= count; }
bool has_room(std::span<std::uint32_t> indices, std::size_t count) noexcept {
  return indices.size() >= count && count <= std::size_t{1} << 32;
}

}  // namespace

// In bytes or in indices.
template <class Answer>
Count Filter::answer(const Keys& keys, std::span<Answer> out) const noexcept {
  const Count maybes = with_digests(keys, core_->shape, core_->secret, [&](const auto& digests) -> Count {
    if (!has_room(out, digests.size())) return Code::kInvalid;
    return contains_all(*core_, digests, taker_of(out));
  });
  if (maybes.ok()) return maybes;
  // How many keys there are is not known where something is wrong with them.
  const bool counted = maybes.code() == Code::kDigestOnly;
  return all_maybe(counted ? out.first(std::min(keys.size(), out.size())) : out, maybes.code());
}

Count Filter::add_keys(const Keys& keys) noexcept {
  return with_digests(keys, core_->shape, core_->secret,
                      [this](const auto& digests) { return add_all(*core_, digests); });
}

Count Filter::contains_keys(const Keys& keys, std::span<std::uint8_t> answers) const noexcept {
  return answer(keys, answers);
}

Count Filter::select_keys(const Keys& keys, std::span<std::uint32_t> indices) const noexcept {
  return answer(keys, indices);
}

}  // namespace bfstore
