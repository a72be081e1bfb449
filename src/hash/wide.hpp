// Products of 64 bits by 64 bits.
#pragma once

namespace bfstore::hash {

__extension__ using Wide = unsigned __int128;

}  // namespace bfstore::hash
