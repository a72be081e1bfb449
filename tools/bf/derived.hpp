// What copy, fold, intersect and join share: a new file of filters that stay as they are.
#pragma once

#include "arguments.hpp"

#include <bfstore/bfstore.hpp>

#include <string>

namespace bf {

// What the command line says of the new file.
bfstore::SaveOptions save_options(const Arguments& arguments);

// Makes `target` of the filter, which may be in use, and reports it with that participle.
void save(const Arguments& arguments, const bfstore::SaveOptions& options, const std::string& participle);

}  // namespace bf
