// A file in memory, as the options want it.
#pragma once

#include <bfstore/options.hpp>

#include "region/file.hpp"
#include "region/mapping.hpp"
#include "store/header.hpp"

namespace bfstore::store {

// Not on a filesystem where one process may not see what another one wrote. `file` may be opened again, for writing,
// too, unless `no_write`.
Error check_sharing(region::File& file, region::File::Access access, bool no_write);

// Huge pages are for reading and for loading: a writer among others syncs, and a sync writes every page with a new bit.
region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept;

// From now on a page of the mapping that can not be read is doubt, and no SIGBUS: the live word, which is in it, says
// so.
Error guard_with_live_word(region::Mapping& mapping, std::byte* live_page, region::File::Access access,
                           const format::Identity& identity);

// Mapped, with a guard if that is wanted, or copied. `header` is what was read of the file, and checked; a copy has it
// as it was then.
Result<region::Mapping> mapping_of(const region::File& file, region::File::Access access,
                                   const format::Identity& identity, const HeaderBytes& header,
                                   const MapOptions& options, region::Pages pages);

}  // namespace bfstore::store
