// Maps a file, or copies it to memory, as the options ask.
#pragma once

#include <bfstore/options.hpp>

#include <vector>

#include "region/file.hpp"
#include "region/mapping.hpp"
#include "store/file/header.hpp"

namespace bfstore::store {

// Refuses a filesystem on which one process may not see what another one wrote. May open `file` again, even for
// writing, unless `no_write`. A sealed file on an overlay is not opened again: only is_current() tells its reader that
// the file was replaced.
Error check_sharing(region::File& file, region::File::Access access, bool no_write);

// Returns the parts of the file that has this identity, and so many slices. Between them is a hole.
std::vector<region::Extent> parts_of(const format::Identity& identity, std::uint32_t num_slices);

// Huge pages are for reading and for bulk loading. A writer next to others syncs, and a sync writes every page with a
// new bit.
region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept;

// From now on a page of the mapping that cannot be read is doubt, and no SIGBUS. The live word in the mapping says so.
Error guard_with_live_word(region::Mapping& mapping, std::byte* live_page, region::File::Access access,
                           const format::Identity& identity);

// Maps the file, with a guard if the options want one, or makes room for a copy. `header` was read and checked before,
// and a copy keeps it as it was then. If the body grows, maps what all slices need, of which the file has `num_slices`.
// Reads nothing of the body, because the file may still be refused.
Result<region::Mapping> mapping_of(const region::File& file, region::File::Access access,
                                   const format::Identity& identity, const HeaderBytes& header,
                                   std::uint32_t num_slices, const MapOptions& options, region::Pages pages);

// Fills a copy. In any other file makes every page readable for lookups (Mapping::fill_holes). If the options want
// that, also brings the whole file into memory, which takes as long as reading it.
Error load(const region::File& file, const region::Mapping& mapping, const format::Identity& identity,
           std::uint32_t num_slices, const MapOptions& options);

}  // namespace bfstore::store
