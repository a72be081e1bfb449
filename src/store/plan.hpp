// From Options to the identity of a new filter. Makes nothing, and reads only the file that `like` names.
#pragma once

#include <bfstore/options.hpp>

#include "format/identity.hpp"

namespace bfstore::store {

// The identity of a file or of an embedded filter. For a bare filter (Options::bare), what its bytes say.
Result<format::Identity> plan(const Options& options, format::Form form);

// How long a buffer has to be for the filter.
std::uint64_t buffer_bytes_of(const Options& options, const format::Identity& identity) noexcept;

// The shape, note and key check of a filter for a new file or buffer: with a random id, and without the old one's seal
// and features. The caller decides where the body begins.
Result<format::Identity> as_new(format::Identity identity);

}  // namespace bfstore::store
