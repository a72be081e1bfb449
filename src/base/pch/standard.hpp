// The standard headers that most sources of the library include, precompiled: they take longer to read than the sources
// themselves. The build includes this file before each source. Sources do not rely on it: each includes what it uses,
// and CI builds without it (.ci/abi).

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
