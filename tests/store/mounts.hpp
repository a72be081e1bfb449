// Filesystems of a test's own, which nobody else sees and which are gone when it ends.
#pragma once

namespace store_test {

// A view of the mounted filesystems of our own; who is not root becomes root of a world of its own first. False, with
// errno, where that is not allowed.
bool own_mounts();

}  // namespace store_test
