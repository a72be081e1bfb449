// Makes the identity of a new filter from Options. Makes no file, and reads only the file that `like` names.
#pragma once

#include <string.h>  // explicit_bzero
#include <bfstore/options.hpp>

#include "format/identity.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::store {

// A copy of the caller's options, to be changed.
struct OwnOptions : Options {
  explicit OwnOptions(const Options& given) : Options(given) {}
  OwnOptions(const OwnOptions&) = delete;
  OwnOptions& operator=(const OwnOptions&) = delete;
  // Wipes the copy of the secret, which is on a stack that other calls use later.
  ~OwnOptions() {
    if (secret) explicit_bzero(secret->data(), secret->size());
  }
};

// Makes the identity of a file or of an embedded filter. For a bare filter (Options::bare), what its bytes say.
Result<format::Identity> new_identity(const Options& options, format::Form form);

// The layout of a filter whose options name none.
Layout usual_layout(const Options& options, bool gives_positions) noexcept;

// How many times as large as the one before a slice is, for that many keys at most in all slices (0: not given).
// Nothing if the layout does not grow.
Result<std::optional<std::uint32_t>> growth_of(const layout::Row& row, const sizing::Size& size,
                                               std::uint64_t capacity_at_most);

// kInvalid if a window is given (it is not 0) to a layout whose keys do not expire.
Error check_has_window(const layout::Row& row, std::uint64_t window_ms);

// Checks that a filter of this layout, m and k can have the hash. `options` say whether m was given or computed.
Error check_hash_takes(const layout::Row& row, const hash::Row& hash, const Options& options, std::uint64_t num_bits,
                       std::uint32_t num_probes);

// Returns the number of bytes that a file of `max_bytes` has for the body.
std::uint64_t file_body_budget(std::uint64_t max_bytes) noexcept;

// Returns the length that a buffer needs for the filter.
std::uint64_t buffer_bytes_of(const Options& options, const format::Identity& identity) noexcept;

// Returns the identity for a new file or buffer: with `file_id` or a random id, and without the seal, which was the old
// one's own. The caller says where the body begins.
Result<format::Identity> as_new(format::Identity identity, const std::optional<FileId>& file_id = {});

// Returns the identity for that form, with the body where a writer of that form puts it.
Result<format::Identity> as_new(format::Identity identity, format::Form form, const std::optional<FileId>& file_id);

// Returns the shape of a bare filter with n and p. The bare form does not store them, so they follow from num_bits and
// num_probes alone.
Result<Shape> with_a_promise(Shape bare);

}  // namespace bfstore::store
