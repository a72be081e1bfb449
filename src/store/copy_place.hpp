// Where a new file of filters goes, as the caller asks for it (SaveOptions).
#pragma once

#include <string>

#include "store/making.hpp"

namespace bfstore::store {

// What can be said without a look at any file.
Error check_place(const std::string& path, const SaveOptions& options);

Making making_of(const SaveOptions& options);

// A file whose bits are copied may get other bits meanwhile, and these would be in neither file.
Error check_is_another(const region::File& source, const std::string& path);

}  // namespace bfstore::store
