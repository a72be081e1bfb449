// Lookups that are inlined into the caller's loop (bfstore/inline.hpp), as a subject. Its file is compiled for the CPU
// of this machine, as an engine with bfstore inside would be.
#pragma once

#include "bfstore_subject.hpp"
#include "row.hpp"

namespace bench {

// Rows of lookups in a filled filter. All arguments outlive the rows. Throws if an answer differs from the filter's
// own.
Rows inline_rows(const std::string& place, const BfstoreSubject& filter, const Population& population,
                 std::span<std::uint8_t> answers);

// The vectors that inlined lookups were compiled for: "AVX-512", "AVX2", "NEON" or "none".
const char* inlined_for() noexcept;

}  // namespace bench
