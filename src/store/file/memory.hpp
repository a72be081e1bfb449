// A file in memory, as the options ask for it.
#pragma once

#include <bfstore/options.hpp>

#include <vector>

#include "region/file.hpp"
#include "region/mapping.hpp"
#include "store/file/header.hpp"

namespace bfstore::store {

// Refuses a filesystem on which one process may not see what another one wrote. May open `file` again, for writing,
// too, unless `no_write`. A sealed file on an overlay stays where it is: its reader learns from is_current() alone that
// the file was replaced.
Error check_sharing(region::File& file, region::File::Access access, bool no_write);

// The parts of its file, between which is a hole.
std::vector<region::Extent> parts_of(const format::Identity& identity);

// Huge pages are for reading and for bulk loading. A writer next to others syncs, and a sync writes every page with a
// new bit.
region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept;

// From now on a page of the mapping that cannot be read is doubt, and no SIGBUS: the live word, which is in it, says
// so.
Error guard_with_live_word(region::Mapping& mapping, std::byte* live_page, region::File::Access access,
                           const format::Identity& identity);

// Mapped, with a guard if that is wanted, or memory for a copy. `header` is what was read of the file, and checked; a
// copy has it as it was then. Of the body nothing is read: the file may yet be refused.
Result<region::Mapping> mapping_of(const region::File& file, region::File::Access access,
                                   const format::Identity& identity, const HeaderBytes& header,
                                   const MapOptions& options, region::Pages pages);

// Fills a copy; or brings the whole file into that memory, if the options want that, which takes as long as reading it.
// In every other file the lookups can read each page (Mapping::fill_holes).
Error load(const region::File& file, const region::Mapping& mapping, const format::Identity& identity,
           const MapOptions& options);

}  // namespace bfstore::store
