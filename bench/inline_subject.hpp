// Lookups that are inlined into the caller's loop (bfstore/inline.hpp), as a subject. Its file is compiled for this
// very CPU, as an engine that embeds bfstore would be.
#pragma once

#include "bfstore_subject.hpp"
#include "row.hpp"

namespace bench {

// Rows of lookups in a filled filter, which outlives them as everything else that is handed in. Throws if an answer
// differs from the filter's own.
Rows inline_rows(const std::string& place, const BfstoreSubject& filter, const Population& population,
                 std::span<std::uint8_t> answers);

}  // namespace bench
