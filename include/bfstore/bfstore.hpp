// bfstore's C++ API: Bloom filters in files that any number of processes share through a memory map.
#pragma once

#include <bfstore/bare.hpp>
#include <bfstore/compare.hpp>
#include <bfstore/delta.hpp>
#include <bfstore/error.hpp>
#include <bfstore/filter.hpp>
#include <bfstore/hashes.hpp>
#include <bfstore/inspect.hpp>
#include <bfstore/interop.hpp>
#include <bfstore/keys.hpp>
#include <bfstore/layouts.hpp>
#include <bfstore/marks.hpp>
#include <bfstore/options.hpp>
#include <bfstore/plan.hpp>
#include <bfstore/seal.hpp>

namespace bfstore {

// "1.2.3"
[[nodiscard]] const char* version() noexcept;

}  // namespace bfstore
