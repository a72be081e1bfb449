// See commands.hpp.
#include "commands.hpp"

namespace bf {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> all = {&kCreate,  &kBuild,  &kAdd,          &kRemove,  &kCount, &kContains,
                                                  &kRecover, &kSeal,   &kVerify,       &kMerge,   &kJoin,  &kDigest,
                                                  &kCopy,    &kFold,   &kIntersect,    &kCompare, &kClear, &kPlan,
                                                  &kImport,  &kExport, &kFinishFilling};
  return all;
}

}  // namespace bf
