// A sealed file's checksums: made, and asked. Everything is read through the descriptor: what can not be read is
// damaged, and no signal.
#pragma once

#include <bfstore/seal.hpp>

#include "store/open_file.hpp"

namespace bfstore::store {

// The file that `made` is from now on is sealed: it has the body, the marks and the count of keys of `source`, which
// nobody writes to meanwhile. kDamaged if that one is sealed itself, and not whole.
Error seal_as(OpenFile& made, const OpenFile& source, const format::Slot& marks);

// What the opening of a sealed file asks for: that it is whole, or that what is damaged answers "maybe".
Error check_seal(const OpenFile& opened, const Opening& options);

// Of a sealed file; of its copy in private memory, where the mapping is one.
Verification verify_sealed(const OpenFile& opened);

// For a copy of the filter that is read through the mapping: kDamaged if bits in it are not as they were sealed, and do
// not say "maybe" either. What is not sealed has no damage that could be seen.
Error check_damage_is_covered(const OpenFile& opened);

Error not_sealed(const std::string& path);

}  // namespace bfstore::store
