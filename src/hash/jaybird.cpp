// The two hashes of Jay Baird's python-bloomfilter, which differ in their smallest message digest.
#include "hash/jaybird.hpp"

namespace bfstore::hash {

constinit const Row kJaybirdRow{
    .info = gives_positions(Hash::kJaybird, "jaybird"), .positions = jaybird_positions<Salted<Md5>>, .slices = true};
constinit const Row kPybloomLiveRow{.info = gives_positions(Hash::kPybloomLive, "pybloom-live"),
                                    .positions = jaybird_positions<SaltedXxh128>,
                                    .slices = true};

}  // namespace bfstore::hash
