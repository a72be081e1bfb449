#include "store/memory.hpp"

#include "base/fail.hpp"
#include "format/sections.hpp"

namespace bfstore::store {

using base::fail;
using region::File;

// A file that processes share as memory. On an overlay a reader that comes before the first writer has the lower
// layer's file for good: it makes itself the first writer, for a moment.
Error check_sharing(File& file, File::Access access, bool no_write) {
  const auto sharing = file.sharing();
  if (!sharing) return sharing.error();
  if (*sharing == region::Sharing::kRemote) {
    return fail(Code::kFilesystem, file.path() +
                                       ": on a network or FUSE filesystem, where a reader may miss another machine's "
                                       "writes. Copy it to a local disk, or allow any filesystem.");
  }
  if (*sharing == region::Sharing::kLocal || access == File::Access::kReadWrite) return {};
  if (no_write || !file.open_again(File::Access::kReadWrite)) {
    return fail(Code::kFilesystem, file.path() +
                                       ": on an overlay filesystem, and this process may not write to it, so it would "
                                       "miss later writes. If no process writes to it, allow any filesystem.");
  }
  auto again = file.open_again(access);
  if (!again) return again.error();
  file = std::move(*again);
  return {};
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
                                   const HeaderBytes& header, const MapOptions& options, region::Pages pages) {
  const format::Sections sections = format::sections_of(identity);
  const std::uint64_t bytes = sections.end;
  if (options.copy && access == File::Access::kRead)  // a reader may have to be a writer for a moment
    return region::Mapping::copy(file, header, 0, sections.body.offset, bytes);
  auto mapping = region::Mapping::map(file, access, 0, bytes, pages);
  if (!mapping) return mapping;
  if (options.guard) {
    std::byte* const live_page = mapping->data() + format::kLivePageOffset;
    if (Error error = guard_with_live_word(*mapping, live_page, access, identity); !error.ok()) return error;
  }
  // The header and the end word always, so that a lookup in a file that is not in memory has no other page fault than
  // for its line, and a header that can not be read is an error.
  const std::uint64_t wanted = options.populate ? mapping->bytes() : sections.header.bytes;
  if (Error error = mapping->populate(0, wanted); !error.ok()) return error;
  if (Error error = mapping->populate(sections.end_word.offset, sections.end_word.bytes); !error.ok()) return error;
  return mapping;
}

}  // namespace bfstore::store
