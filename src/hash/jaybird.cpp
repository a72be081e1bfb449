// The two hashes of Jay Baird's python-bloomfilter, which differ in their smallest message digest.
#include "hash/jaybird.hpp"

namespace bfstore::hash {

constinit const Row kJaybirdRow{.info = gives_positions(Hash::kJaybird, "jaybird"),
                                .probes = probes_of(kEachOfJaybird<Salted<Md5>>),
                                .slices = true};
constinit const Row kPybloomLiveRow{.info = gives_positions(Hash::kPybloomLive, "pybloom-live"),
                                    .probes = probes_of(kEachOfJaybird<SaltedXxh128>),
                                    .slices = true};

}  // namespace bfstore::hash
