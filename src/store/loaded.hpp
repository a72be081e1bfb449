// A filter in memory of its handle's own, which was copied from the caller's bytes: of any form, at any address.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "format/identity.hpp"
#include "format/state.hpp"

namespace bfstore::store {

// A body, where lookups can use it.
class OwnWords {
 public:
  // kNoMemory if there is not so much.
  static Result<OwnWords> copy_of(std::span<const std::byte> body);

  [[nodiscard]] std::uint64_t* words() const noexcept { return words_.get(); }

 private:
  struct Free {
    void operator()(std::uint64_t* words) const noexcept;
  };
  std::unique_ptr<std::uint64_t, Free> words_;
};

struct Loaded {
  OwnWords body;
  Shape shape{};
  std::uint64_t body_bytes = 0;
  std::optional<format::Identity> identity;  // nothing in the bare form
  std::optional<format::Slot> slot;          // of a file: its marks
  std::vector<std::byte> live_page;          // of a file: its counters
};

// What these bytes are: the bare form if `bare`, otherwise an embedded filter or a whole file that is clean. A sealed
// file is compared with its checksums.
Result<Loaded> load(std::span<const std::byte> bytes, bool bare, bool writing, const std::optional<SecretKey>& key);

}  // namespace bfstore::store
