// Where a new file of filters goes, as the caller asks for it (SaveOptions).
#pragma once

#include <string>

#include "store/file/making.hpp"

namespace bfstore::store {

// The first step of a call: it looks at the name before anything that takes time.
Result<Making> making_at(const std::string& path, const SaveOptions& options);

// A file whose bits are copied may get other bits meanwhile, and these would be in neither file.
Error check_is_another(const region::File& source, const std::string& path);

}  // namespace bfstore::store
