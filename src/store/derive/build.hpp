// A layout that is built once: a handle gathers its keys, and the file is made of all of them when it is published.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/file/making.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {

// True if the options give no size and name a layout that is built from all of its keys: then it is as many keys as
// there are different ones.
bool counts_its_keys(const Options& options) noexcept;

// Returns the handle that gathers the keys. `identity` is that of the file to come. Its size is another one if the
// options give none (it is then that of one key) or name a file that it is like: the new file's follows from its keys.
Result<std::unique_ptr<Ask>> gather_for(const std::string& path, const Options& options, const Making& making,
                                        const format::Identity& identity);

}  // namespace bfstore::store
