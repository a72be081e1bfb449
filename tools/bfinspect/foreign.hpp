// Looks at a file of another program: which format it has, and what its bytes say.
#pragma once

#include <bfstore/inspect.hpp>
#include <bfstore/interop.hpp>

#include <optional>
#include <string>
#include <vector>

#include "verdict.hpp"

namespace bfinspect {

struct Foreign {
  std::vector<bfstore::ForeignFormat> formats;   // the one that was asked for, or those that the bytes have
  std::optional<bfstore::ForeignFilter> filter;  // what the bytes say, if they are a filter of one format
  bool asked_in_place = true;                    // otherwise its bits are not as in memory, and are not counted

  [[nodiscard]] bool has_several_filters() const { return filter && filter->filters > 1; }
};

// Looks at the report's file, unless it is a bfstore file and no format is wanted. Returns nothing if it has no known
// format. Otherwise puts the fill and the shape of its filters into the report, and what is wrong with them instead of
// its problems.
std::optional<Foreign> look_at_foreign(bfstore::Report& report, const bfstore::ForeignForm& wanted, bool count_bits);

// The formats: "rbloom or sbbf".
std::string format_names(const Foreign& foreign);

// The hash, or those that it may be: "jaybird or pybloom-live".
std::string hash_names(const Foreign& foreign);

Verdict verdict_of(const Foreign& foreign, const bfstore::Report& report, std::optional<bool> overfull);

}  // namespace bfinspect
