#include "store/file/memory.hpp"

#include "base/fail.hpp"
#include "format/sections.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {

using base::fail;
using region::File;

namespace {

// A sealed file is never written to again, except for the sign that another file replaced it.
bool is_sealed(const File& file) {
  const auto facts = file.facts();
  const auto header = read_header(file);
  if (!facts || !header) return false;
  const auto checked = format::check_identity(header_there(*header, *facts), format::Form::kFile, facts->bytes, false);
  const auto identity = checked.identity();
  return identity && identity->seal;
}

}  // namespace

// Checks that processes share the file as memory. On an overlay a reader that opens a file before its first writer
// keeps the lower layer's file for good. So such a reader makes itself the first writer, for a moment. A sealed file
// has no first writer.
Error check_sharing(File& file, File::Access access, bool no_write) {
  const auto sharing = file.sharing();
  if (!sharing) return sharing.error();
  if (*sharing == region::Sharing::kRemote) return remote_filesystem(file);
  if (*sharing == region::Sharing::kLocal || access == File::Access::kReadWrite || is_sealed(file)) return {};
  if (no_write || !file.open_again(File::Access::kReadWrite)) {
    return fail(Code::kFilesystem,
                file.path() +
                    ": on an overlay filesystem, and this process may not write to it, so it would "
                    "miss later writes. If no process writes to it, seal it or allow any filesystem.");
  }
  auto again = file.open_again(access);
  if (!again) return again.error();
  file = std::move(*again);
  return {};
}

std::vector<region::Extent> parts_of(const format::Identity& identity, std::uint32_t num_slices) {
  const format::Sections sections = format::sections_of(identity, num_slices);
  return {{sections.header.offset, sections.header.bytes},
          {sections.behind_header.offset, sections.behind_header.bytes}};
}

region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept {
  if (map.random_access) return region::Pages::kSmall;
  return reads_or_loads ? region::Pages::kHuge : region::Pages::kAny;
}

Error guard_with_live_word(region::Mapping& mapping, std::byte* live_page, File::Access access,
                           const format::Identity& identity) {
  return mapping.guard({reinterpret_cast<std::uint64_t*>(live_page), format::LiveWord::kFixed,
                        format::LiveWord::healthy(identity.file_id).bits & format::LiveWord::kFixed,
                        access == File::Access::kRead ? 0 : format::LiveWord::kPoisoned});
}

Result<region::Mapping> mapping_of(const File& file, File::Access access, const format::Identity& identity,
                                   const HeaderBytes& header, std::uint32_t num_slices, const MapOptions& options,
                                   region::Pages pages) {
  const format::Sections sections = format::sections_of(identity, num_slices);
  const std::uint64_t bytes = sections.end;
  if (options.copy && access == File::Access::kRead)  // a reader may have to be a writer for a moment
    return region::Mapping::room_for_copy(file, header, sections.body.offset, bytes);
  const std::uint64_t reach = format::sections_of(identity, format::most_slices(identity)).end;
  auto mapping = region::Mapping::map(file, access, 0, bytes, pages, reach);
  if (!mapping) return mapping;
  if (options.guard) {
    std::byte* const live_page = mapping->data() + format::kLivePageOffset;
    if (Error error = guard_with_live_word(*mapping, live_page, access, identity); !error.ok()) return error;
  }
  // Always reads the header and the end word. So a lookup in a file that is not in memory has no page fault except for
  // its line, and a header that cannot be read is an error.
  if (Error error = mapping->populate(0, sections.header.bytes); !error.ok()) return error;
  if (Error error = mapping->populate(sections.end_word.offset, sections.end_word.bytes); !error.ok()) return error;
  return mapping;
}

Error load(const File& file, const region::Mapping& mapping, const format::Identity& identity, std::uint32_t num_slices,
           const MapOptions& options) {
  const format::Sections sections = format::sections_of(identity, num_slices);
  if (mapping.is_copy()) return mapping.fill_copy(file, 0, sections.body.offset);
  if (Error error = mapping.fill_holes(file, 0, parts_of(identity, num_slices)); !error.ok()) return error;
  return options.populate ? mapping.populate(0, sections.end) : Error{};
}

}  // namespace bfstore::store
