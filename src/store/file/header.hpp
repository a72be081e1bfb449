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

// The file at the path, or at the descriptor, if the options have one.
Result<region::File> open_for_reading(const std::string& path, const OpenOptions& options);

// Of a file that came without a path, for messages.
std::string name_of(int descriptor);

// The four header pages of a file as they are now, with zeros after the file's end.
Result<HeaderBytes> read_header(const region::File& file);

// The part of them that the file has.
std::span<const std::byte> header_there(const HeaderBytes& header, const region::FileFacts& facts) noexcept;

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept;
format::LiveWord live_word_of(const HeaderBytes& header) noexcept;

// Blocks of its own for the page of the live word. A store to a page of a hole, or of a block that the file shares with
// a copy, would be SIGBUS on a full disk.
Error own_live_page(const region::File& file);

// Whether the file's end word is there and its own. A file that was truncated after its header has lost it, even if it
// was grown again.
Result<bool> has_end_word(const region::File& file, const format::Identity& identity);

struct CheckedHeader {
  HeaderBytes bytes;
  format::Identity identity;
};

// What a header is checked for.
struct Reading {
  bool writing = false;
  bool without_key = false;             // the caller copies or checks bits, and hashes no keys
  const std::optional<SecretKey>& key;  // a reference: a holder of a copy would have to wipe it
};

// The header of a regular file whose identity keeps every rule of the format, and whose secret is `key`. Does not check
// the states and the end word.
Result<CheckedHeader> checked_header(const region::File& file, const Reading& reading);

}  // namespace bfstore::store
