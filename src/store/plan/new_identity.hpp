// From Options to the identity of a new filter. Makes nothing, and reads only the file that `like` names.
#pragma once

#include <bfstore/options.hpp>

#include "format/identity.hpp"

namespace bfstore::store {

// The identity of a file or of an embedded filter. For a bare filter (Options::bare), what its bytes say.
Result<format::Identity> new_identity(const Options& options, format::Form form);

// How many of a file's bytes are for the body.
std::uint64_t file_body_budget(std::uint64_t max_bytes) noexcept;

// How long a buffer has to be for the filter.
std::uint64_t buffer_bytes_of(const Options& options, const format::Identity& identity) noexcept;

// The shape, note and key check of a filter in a new file or buffer: with a random id, and without what was that one's
// own, its seal and features. Where the body begins is the caller's to say. `file_id`: that one instead of a random id.
Result<format::Identity> as_new(format::Identity identity, const std::optional<FileId>& file_id = {});

// The same in that form, with its body where a writer of that form puts it.
Result<format::Identity> as_new(format::Identity identity, format::Form form, const std::optional<FileId>& file_id);

// The shape of a bare filter, and n and p: the bare form does not store them, so they are those that num_bits and
// num_probes alone lead to.
Result<Shape> with_a_promise(Shape bare);

}  // namespace bfstore::store
