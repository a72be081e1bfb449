// Code of remove and count, the commands of counting filters.
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

// Calls take() with some lines and their keys at a time: those of the command line, with nullptr, or those of the
// source until an interrupt, with the reader. The keys have the form that the filter's note names, or that was given.
void each_batch(const bfstore::Filter& filter, const Arguments& arguments,
                const std::function<void(Batch lines, Batch keys, const KeyReader*)>& take);

// Throws Failure for a filter of another layout. `what` says what such a filter cannot do: "removes no keys".
void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what);

}  // namespace bf
