// Many keys in the caller's own form, for Filter::add_keys, contains_keys and select_keys.
//
// A Keys is a view and cheap to copy. It owns nothing: the caller's memory must outlive it, and no thread may change
// that memory during a call.
// One key is a std::string_view, and many keys are a Keys. Neither converts to the other: each form has a named
// function that makes it.
#pragma once

#include <bfstore/error.hpp>

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

namespace bfstore {

class Keys {
 public:
  // No keys, which every filter takes.
  Keys() noexcept = default;

  // Key i has key_bytes[i] bytes at keys[i]. Only an empty key may have a null pointer.
  [[nodiscard]] static Keys pointers(std::span<const void* const> keys,
                                     std::span<const std::size_t> key_bytes) noexcept {
    return Keys(Pointers{keys, key_bytes});
  }

  [[nodiscard]] static Keys views(std::span<const std::string_view> keys) noexcept { return Keys(Views{keys}); }

  // Pointer and length in one struct, as in C programs and many languages. Views differ: the standard library decides
  // where a string_view keeps its pointer (libstdc++ puts the length first). Only an empty key may have a null pointer.
  [[nodiscard]] static Keys pairs(std::span<const iovec> keys) noexcept { return Keys(Pairs{keys}); }

  // `count` keys of `key_bytes` bytes each, which is not 0. Each key begins `stride` bytes after the one before, for
  // example in a field of an array of records. Without a stride the keys have no gaps.
  // Keys that overlap (a stride below key_bytes) are an error: two arguments may be swapped, and a filter of the wrong
  // keys answers "no" to the right ones. For windows that slide over a text use views or pairs.
  [[nodiscard]] static Keys fixed(const void* bytes, std::size_t key_bytes, std::size_t count,
                                  std::size_t stride) noexcept {
    return Keys(Fixed{static_cast<const char*>(bytes), key_bytes, count, stride});
  }
  [[nodiscard]] static Keys fixed(const void* bytes, std::size_t key_bytes, std::size_t count) noexcept {
    return fixed(bytes, key_bytes, count, key_bytes);
  }

  // Key i is bytes[offsets[i]] .. bytes[offsets[i + 1]], with one more offset than keys, as in string columns of Apache
  // Arrow. The offsets do not descend, the first is at least 0, and the last at most `num_bytes`; check() compares
  // them.
  [[nodiscard]] static Keys column(const void* bytes, std::size_t num_bytes,
                                   std::span<const std::int32_t> offsets) noexcept {
    return Keys(Column<std::int32_t>{{static_cast<const char*>(bytes), num_bytes}, offsets});
  }
  [[nodiscard]] static Keys column(const void* bytes, std::size_t num_bytes,
                                   std::span<const std::int64_t> offsets) noexcept {
    return Keys(Column<std::int64_t>{{static_cast<const char*>(bytes), num_bytes}, offsets});
  }

  // Digests of the filter's hash: see Filter::digest().
  [[nodiscard]] static Keys digests(std::span<const std::uint64_t> digests) noexcept { return Keys(Digests{digests}); }

  // These keys, some of them null: key i is present if bit first_bit + i of `bits` is 1, the lowest bit of a byte first
  // (Apache Arrow's validity bitmap). A null is not the empty key: no call can have added it, so add_keys() skips it,
  // contains_keys() answers 0, and select_keys() leaves it out.
  // The place of a null must be valid, too; its bytes are not read.
  [[nodiscard]] Keys where_valid(const std::uint8_t* bits, std::size_t first_bit = 0) const noexcept {
    Keys keys = *this;
    keys.validity_ = bits;
    keys.first_bit_ = first_bit;
    return keys;
  }
  [[nodiscard]] bool may_have_nulls() const noexcept { return validity_ != nullptr; }
  [[nodiscard]] bool is_null(std::size_t i) const noexcept {
    const std::size_t bit = first_bit_ + i;
    return validity_ != nullptr && (static_cast<unsigned>(validity_[bit / 8]) >> (bit % 8) & 1U) == 0;
  }

  // These keys, with memory that contains_keys(), select_keys(), add_keys() and a build may write during the call, and
  // that no other call or thread uses meanwhile. Nothing in it is needed afterwards; it may hold digests. With it
  // lookups, and adds of an exclusive handle, sort millions of keys without nulls by the lines of a filter of more than
  // 32 MiB, and so read each line, and each page, once for all of its keys; lookups read a file (not a set of parts)
  // that does not fit in memory once, in order. scratch_for(size()) bytes sort all at once, less in turns; memory that
  // does not help is not touched. Use the same memory again: fresh memory costs as much as sorting saves.
  [[nodiscard]] Keys with_scratch(std::span<std::byte> scratch) const noexcept {
    Keys keys = *this;
    keys.scratch_ = scratch;
    return keys;
  }
  [[nodiscard]] std::span<std::byte> scratch() const noexcept { return scratch_; }
  static constexpr std::size_t kFewestSorted = std::size_t{3} << 20;
  // 0: so few keys are not sorted.
  [[nodiscard]] static constexpr std::size_t scratch_for(std::size_t count) noexcept {
    return count < kFewestSorted ? 0 : 12 * count + (std::size_t{8} << 20);
  }

  // The number of keys, nulls included. Meaningless if check() finds a mistake.
  [[nodiscard]] std::size_t size() const noexcept {
    return std::visit([](const auto& keys) { return keys.size(); }, form_);
  }

  // kOk, or kInvalid if the arguments cannot be right: arrays of unequal length, a null pointer to a key that is not
  // empty, offsets that descend or leave the column, a width of 0, keys that overlap or that no memory can hold. Reads
  // the pointers and the offsets, and no key. Each function of Filter that takes keys calls this first.
  [[nodiscard]] Code check() const noexcept;

  // The forms. In all but Digests, key i is at [i].
  struct Pointers {
    std::span<const void* const> keys;
    std::span<const std::size_t> key_bytes;
    [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }
    [[nodiscard]] Pointers part(std::size_t first, std::size_t count) const noexcept {
      return {keys.subspan(first, count), key_bytes.subspan(first, count)};
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
      return {static_cast<const char*>(keys.data()[i]), key_bytes.data()[i]};
    }
  };

  struct Views {
    std::span<const std::string_view> keys;
    [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }
    [[nodiscard]] Views part(std::size_t first, std::size_t count) const noexcept {
      return {keys.subspan(first, count)};
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept { return keys.data()[i]; }
  };

  struct Pairs {
    std::span<const iovec> keys;
    [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }
    [[nodiscard]] Pairs part(std::size_t first, std::size_t count) const noexcept {
      return {keys.subspan(first, count)};
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
      return {static_cast<const char*>(keys.data()[i].iov_base), keys.data()[i].iov_len};
    }
  };

  struct Fixed {
    const char* bytes;
    std::size_t key_bytes;
    std::size_t count;
    std::size_t stride;
    [[nodiscard]] std::size_t size() const noexcept { return count; }
    [[nodiscard]] Fixed part(std::size_t first, std::size_t part_count) const noexcept {
      return {bytes + first * stride, key_bytes, part_count, stride};
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept { return {bytes + i * stride, key_bytes}; }
  };

  template <class Offset>
  struct Column {
    std::string_view bytes;
    std::span<const Offset> offsets;
    [[nodiscard]] std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
    [[nodiscard]] Column part(std::size_t first, std::size_t count) const noexcept {
      return {bytes, offsets.subspan(first, count + 1)};
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
      return {bytes.data() + offsets.data()[i], static_cast<std::size_t>(offsets.data()[i + 1] - offsets.data()[i])};
    }
  };

  struct Digests {
    std::span<const std::uint64_t> digests;
    [[nodiscard]] std::size_t size() const noexcept { return digests.size(); }
    [[nodiscard]] Digests part(std::size_t first, std::size_t count) const noexcept {
      return {digests.subspan(first, count)};
    }
  };

  // Returns what `use` makes of the form. A loop in `use` is compiled once for each form, and chooses no form at each
  // key.
  template <class Use>
  decltype(auto) visit(Use use) const {
    return std::visit(use, form_);
  }

  // The keys [first, first + count).
  [[nodiscard]] Keys part(std::size_t first, std::size_t count) const noexcept {
    Keys keys;
    visit([&](const auto& form) { keys.form_ = form.part(first, count); });
    keys.validity_ = validity_;
    keys.first_bit_ = first_bit_ + first;
    return keys;
  }

 private:
  using Form = std::variant<Digests, Pointers, Views, Pairs, Fixed, Column<std::int32_t>, Column<std::int64_t>>;
  explicit Keys(const Form& form) noexcept : form_(form) {}

  Form form_;
  const std::uint8_t* validity_ = nullptr;
  std::size_t first_bit_ = 0;
  std::span<std::byte> scratch_;
};

static_assert(std::is_trivially_copyable_v<Keys>);

}  // namespace bfstore
