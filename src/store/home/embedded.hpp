// Embedded filters: found in bytes and checked, and asked where they are.
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

// The filter at the beginning of `bytes`.
Result<Embedded> find_embedded(std::span<const std::byte> bytes, bool writing, const std::optional<SecretKey>& key);

// The same, but for its end, which is among `available_bytes` and perhaps not in `bytes`. Messages begin with `where`.
Result<Embedded> begin_embedded(std::span<const std::byte> bytes, std::uint64_t available_bytes, bool writing,
                                const std::optional<SecretKey>& key, const std::string& where);
Error cut_or_overwritten(const std::string& where);

// A handle of the embedded filter that begins at `start`. It is in doubt where the checksum or the end word differs.
Result<std::unique_ptr<Ask>> ask_embedded(std::byte* start, const Embedded& embedded, Adding how,
                                          const std::optional<SecretKey>& key, std::unique_ptr<Home> home);

// The same in a caller's buffer.
Result<std::unique_ptr<Ask>> ask_buffer(std::byte* start, const Embedded& embedded, Adding how,
                                        const std::optional<SecretKey>& key);

// A handle of a bare filter, which nothing in its bytes puts in doubt.
Result<std::unique_ptr<Ask>> ask_bare(const BodyWords& body, Adding how);

}  // namespace bfstore::store
