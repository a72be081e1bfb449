// The bit arrays of other programs: taken in by a filter, and made of one. Bit i of the array is bit i of a filter
// whose layout takes positions, so that a hash of the other program (hash/positions.hpp) finds its bits again.
//
// The bits come as the keys of a merge do: they only ever appear, so a filter in use may take them in, and an error in
// the middle leaves more answers "maybe".
#include <bfstore/filter.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "store/derive/content.hpp"
#include "store/derive/union.hpp"
#include "store/home/ask.hpp"
#include "store/home/fit.hpp"
#include "store/home/followed.hpp"

namespace bfstore {
namespace {

using base::fail;

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

// Exchanges neighbours, pairs and halves: the classic way without a table (Warren, "Hacker's Delight", 7-1).
std::uint64_t with_bytes_reversed(std::uint64_t word) noexcept {
  constexpr std::uint64_t kBits = 0x5555555555555555, kPairs = 0x3333333333333333, kHalves = 0x0f0f0f0f0f0f0f0f;
  word = (word >> 1 & kBits) | (word & kBits) << 1;
  word = (word >> 2 & kPairs) | (word & kPairs) << 2;
  return (word >> 4 & kHalves) | (word & kHalves) << 4;
}

// From a word of the array to one of the filter, and back.
std::uint64_t turned(std::uint64_t word, BitOrder order) noexcept {
  return order == BitOrder::kBig ? with_bytes_reversed(word) : word;
}

// The bits of the last word that are bits of the filter.
std::uint64_t last_mask(std::uint64_t num_bits) noexcept {
  return num_bits % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << num_bits % 64) - 1;
}

// The words of an array of so many bits, which may end in the middle of one.
class Array {
 public:
  Array(std::span<const std::byte> bytes, BitOrder order) noexcept : bytes_(bytes), order_(order) {}

  [[nodiscard]] std::uint64_t num_words() const noexcept { return (bytes_.size() + kWordBytes - 1) / kWordBytes; }
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const noexcept {
    std::array<std::byte, kWordBytes> whole{};
    const auto there = bytes_.subspan(number * kWordBytes);
    std::memcpy(whole.data(), there.data(), std::min<std::size_t>(there.size(), kWordBytes));
    return turned(base::load<std::uint64_t>(whole.data()), order_);
  }
  [[nodiscard]] bool has_spare_bits(std::uint64_t num_bits) const noexcept {
    return (word(num_words() - 1) & ~last_mask(num_bits)) != 0;
  }

 private:
  std::span<const std::byte> bytes_;
  BitOrder order_;
};

Error check_array(const store::Ask& ask, std::span<const std::byte> bits, BitOrder order, const std::string& name) {
  if (bits.data() == nullptr) return fail(Code::kInvalid, "the bit array is null. Give one.");
  if (order != BitOrder::kLittle && order != BitOrder::kBig)
    return fail(Code::kInvalid, "the order of the bits is neither little nor big. Give one of them.");
  if (!layout::takes_positions(ask.row)) {
    return fail(Code::kUnsupported,
                name + ": the layout " + ask.row.info.name +
                    " has bits in an order of its own. Bit arrays are those of the classic layout.");
  }
  const std::uint64_t num_bits = ask.shape.num_bits;
  const std::uint64_t bytes = (num_bits + 7) / 8;
  if (bits.size() == bytes) return {};
  return fail(Code::kInvalid, name + ": a bit array of " + std::to_string(num_bits) + " bits is " +
                                  std::to_string(bytes) + " bytes long, and this one is " +
                                  std::to_string(bits.size()) + ".");
}

Error check_spare_bits(const Array& array, std::uint64_t num_bits, const std::string& name) {
  if (!array.has_spare_bits(num_bits)) return {};
  return fail(Code::kInvalid, name + ": the bit array has bits after the last one of " + std::to_string(num_bits) +
                                  ". Its number of bits or their order is another one.");
}

// The array of the filter's bits, less what its last word has after them.
Error copy_bits(const store::Ask& ask, std::span<std::byte> into, BitOrder order) {
  const auto content = store::content_of(ask);
  if (!content) return content.error();
  const std::uint64_t last_word = ask.shape.num_bits / 64;
  Error error = store::each_piece_of_body(ask, [&](std::uint64_t offset, std::span<const std::byte> piece) {
    for (std::size_t at = 0; at < piece.size(); at += kWordBytes) {
      std::array<std::byte, kWordBytes> whole;
      auto word = base::load<std::uint64_t>(piece.data() + at);
      if ((offset + at) / kWordBytes == last_word) word &= last_mask(ask.shape.num_bits);
      base::store(whole.data(), turned(word, order));
      const auto there = into.subspan(offset + at);
      std::memcpy(there.data(), whole.data(), std::min<std::size_t>(there.size(), kWordBytes));
    }
    return Error{};
  });
  return error.ok() ? store::check_copied(ask, *content) : error;
}

// Makes every bit of an array 1, which is "maybe" for every key, unless the array became whole.
class OnesUnlessWhole {
 public:
  explicit OnesUnlessWhole(std::span<std::byte> bits) noexcept : bits_(bits) {}
  OnesUnlessWhole(const OnesUnlessWhole&) = delete;
  OnesUnlessWhole& operator=(const OnesUnlessWhole&) = delete;
  ~OnesUnlessWhole() {
    if (!whole_ && bits_.data() != nullptr) std::fill(bits_.begin(), bits_.end(), std::byte{0xff});
  }
  void is_whole() noexcept { whole_ = true; }

 private:
  std::span<std::byte> bits_;
  bool whole_ = false;
};

}  // namespace

Error Filter::import_bits(std::span<const std::byte> bits, BitOrder order) {
  const std::string name = ask_->home->name("the filter");
  if (Error error = store::not_united(ask_->may_add(), name); !error.ok()) return error;
  std::unique_lock<std::mutex> lock(ask_->one_at_a_time, std::defer_lock);
  if (ask_->alone) lock.lock();
  if (Error error = check_array(*ask_, bits, order, name); !error.ok()) return error;
  const Array array(bits, order);
  if (Error error = check_spare_bits(array, ask_->shape.num_bits, name); !error.ok()) return error;

  constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 15;
  const auto united = std::make_unique<store::Union>(*ask_);  // on the heap, as stacks are small
  std::vector<std::uint64_t> words;
  for (std::uint64_t first = 0; first < array.num_words(); first += words.size()) {
    if (Error error = first == 0 ? Error{} : store::not_united(ask_->may_add(true), name); !error.ok()) return error;
    words.resize(std::min(kPieceWords, array.num_words() - first));
    for (std::uint64_t i = 0; i < words.size(); ++i) words[i] = array.word(first + i);
    united->take(first, words);
  }
  // Where all bits are set, as many keys as can be: the filter is above its capacity.
  ask_->count_keys(united->new_keys(ask_->shape.num_bits));
  return store::not_united(ask_->was_added(), name);
}

Error Filter::export_bits(std::span<std::byte> bits, BitOrder order) const {
  OnesUnlessWhole array(bits);
  const store::Pinned ask(*ask_);
  Error error = check_array(*ask, bits, order, ask->home->name("the filter"));
  if (error.ok()) error = copy_bits(*ask, bits, order);
  if (error.ok()) array.is_whole();
  return error;
}

}  // namespace bfstore
