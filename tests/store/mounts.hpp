// Filesystems of the test's own, which no other process sees and which are gone when it ends.
#pragma once

namespace store_test {

// Gives this process a view of the mounted filesystems of its own. A process that is not root first becomes root of a
// user namespace of its own. False, with errno, if that is not allowed.
bool own_mounts();

}  // namespace store_test
