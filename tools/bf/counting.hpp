// What remove and count share, the commands of counting filters.
#pragma once

#include "arguments.hpp"
#include "key_reader.hpp"

#include <bfstore/bfstore.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bf {

using Batch = std::span<const std::string_view>;

// The keys of the command line, or those of the source until an interrupt, some at a time; and who read them, if
// anyone did.
void each_batch(const Arguments& arguments, const std::function<void(Batch, const KeyReader*)>& take);

// Throws Failure for a filter of another layout, which `what` says that it cannot: "removes no keys".
void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what);

}  // namespace bf
