// Finds and checks embedded filters in bytes, and asks them in place.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// An embedded filter with a checked identity, and with its end word in place.
struct Embedded {
  format::Identity identity;
  std::uint64_t checksum = 0;  // of its identity
};

// Finds the filter at the beginning of `bytes`.
Result<Embedded> find_embedded(std::span<const std::byte> bytes, bool writing, const std::optional<Secret>& secret);

// Finds the filter without its end word, which is within `available_bytes` but perhaps not in `bytes`. Messages begin
// with `where`.
Result<Embedded> begin_embedded(std::span<const std::byte> bytes, std::uint64_t available_bytes, bool writing,
                                const std::optional<Secret>& secret, const std::string& where);
Error cut_or_overwritten(const std::string& where);

// Makes a handle of the embedded filter that begins at `start`. It is in doubt if the checksum or the end word differs.
Result<std::unique_ptr<Ask>> ask_embedded(std::byte* start, const Embedded& embedded, Adding how,
                                          const std::optional<Secret>& secret, std::unique_ptr<Home> home);

// Makes a handle of the embedded filter at the start of a caller's buffer.
Result<std::unique_ptr<Ask>> ask_buffer(std::byte* start, const Embedded& embedded, Adding how,
                                        const std::optional<Secret>& secret);

// Makes a handle of a bare filter. Nothing in its bytes puts it in doubt.
Result<std::unique_ptr<Ask>> ask_bare(const BodyWords& body, Adding how);

}  // namespace bfstore::store
