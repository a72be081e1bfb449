// See kept_digests.hpp.
#include "kept_digests.hpp"

namespace bf {

void KeptDigests::append(std::span<const std::uint64_t> digests) {
  if (last_.capacity() == 0) last_.reserve(in_memory_ + digests.size());  // growing would take up to twice as much
  last_.insert(last_.end(), digests.begin(), digests.end());
  if (last_.size() < in_memory_) return;
  if (!spool_) spool_.emplace(instead_);
  spool_->append(std::as_bytes(std::span(last_)));
  spooled_ += last_.size();
  last_.clear();
}

}  // namespace bf
