// The header pages of a file, read into private memory and checked: on the way from a path to a handle everybody comes
// through here.
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

// The four header pages of a file as they are now; zeros behind the file's end.
Result<HeaderBytes> read_header(const region::File& file);

// As much of them as the file has.
std::span<const std::byte> header_there(const HeaderBytes& header, const region::FileFacts& facts) noexcept;

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept;
format::LiveWord live_word_of(const HeaderBytes& header) noexcept;

// Whether the word at the end of a file is there and its own. A file that was cut behind its header has lost it,
// whether or not it was grown again.
Result<bool> has_end_word(const region::File& file, const format::Identity& identity);

struct CheckedHeader {
  HeaderBytes bytes;
  format::Identity identity;
};

// For whom a header is checked.
struct Reading {
  bool writing = false;
  bool without_key = false;             // who copies or checks bits, and hashes no keys
  const std::optional<SecretKey>& key;  // no copy: whoever has one wipes it
};

// Of a regular file whose identity keeps every rule of the format, and to which the key belongs. The states and the end
// word were not looked at.
Result<CheckedHeader> checked_header(const region::File& file, const Reading& reading);

}  // namespace bfstore::store
