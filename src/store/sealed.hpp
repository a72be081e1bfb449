// A sealed file's checksums: made, and checked. Everything is read through the descriptor, so that a place that cannot
// be read is damage, and not a signal.
#pragma once

#include <bfstore/seal.hpp>

#include "store/open_file.hpp"

namespace bfstore::store {

// Makes `made` a sealed file, with the body, the marks and the count of keys of `source`, which no process writes to
// meanwhile. kDamaged if the source is sealed itself, and damaged.
Error seal_as(OpenFile& made, const OpenFile& source, const format::Slot& marks);

// Checks at the opening of a sealed file, as the options ask: that it is undamaged, or that damaged parts answer
// "maybe".
Error check_seal(const OpenFile& opened, const Opening& options);

// For a sealed file, or for its copy in private memory if the mapping is one.
Verification verify_sealed(const OpenFile& opened);

// For a copy of the filter that is read through the mapping: kDamaged if bits in it are not as they were sealed, and do
// not say "maybe" either. What is not sealed has no damage that could be seen.
Error check_damage_is_covered(const OpenFile& opened);

Error not_sealed(const std::string& path);

}  // namespace bfstore::store
