// The header pages of a file, read into private memory and checked. Every way from a path to a handle comes through
// here.
#pragma once

#include <bfstore/options.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/state.hpp"
#include "region/file.hpp"

namespace bfstore::store {

// On the heap: threads and fibers with small stacks open filters, too.
using HeaderBytes = std::vector<std::byte>;

// Opens the file at the options' descriptor if they have one, otherwise the file at the path.
Result<region::File> open_for_reading(const std::string& path, const OpenOptions& options);

// Returns the name in messages for a file that was opened by descriptor.
std::string name_of(int descriptor);

// Reads the four header pages of a file as they are now, with zeros after the file's end.
Result<HeaderBytes> read_header(const region::File& file);

// Returns the part of the header that the file has: a file may be shorter.
std::span<const std::byte> header_there(const HeaderBytes& header, const region::FileFacts& facts) noexcept;

// Says what the file is if it lists the parts of a set instead of being a filter. Empty for every other file.
std::string set_words(const region::File& file, const region::FileFacts& facts, std::span<const std::byte> there);

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept;
format::LiveWord live_word_of(const HeaderBytes& header) noexcept;
bool syncing_in(const HeaderBytes& header) noexcept;
format::LiveEpoch epoch_in(const HeaderBytes& header) noexcept;
// True if the header names a layout whose keys expire, or one that grows.
bool keys_expire(const HeaderBytes& header) noexcept;
bool grows(const HeaderBytes& header) noexcept;
// The number of slices in the live page.
std::uint64_t num_slices_in(const HeaderBytes& header) noexcept;

// Gives the page of the live word blocks of its own. A store to a page of a hole, or of a block that the file shares
// with a copy, would be SIGBUS on a full disk.
Error own_live_page(const region::File& file);

// True if the file has an end word, and it is the file's own. A file that was truncated after its header has lost it,
// even if it was grown again. Of a file that grows, it is the end word of the last slice that the live page counts.
Result<bool> has_end_word(const region::File& file, const format::Identity& identity);
// Does the same for a file with so many slices.
Result<bool> has_end_word(const region::File& file, const format::Identity& identity, std::uint32_t num_slices);

// The number of slices that the live page counts now: 1 if the body does not grow, and 0 for a number that no body can
// have.
Result<std::uint32_t> num_slices_of(const region::File& file, const format::Identity& identity);

struct CheckedHeader {
  HeaderBytes bytes;
  format::Identity identity;
};

// The options of checked_header().
struct Reading {
  bool writing = false;
  bool without_secret = false;          // the caller copies or checks bits, and hashes no keys
  const std::optional<Secret>& secret;  // a reference: a holder of a copy would have to wipe it
};

// Reads the header of a regular file. Its identity must keep every rule of the format, and its secret must be `secret`.
// Does not check the states and the end word.
Result<CheckedHeader> checked_header(const region::File& file, const Reading& reading);

}  // namespace bfstore::store
