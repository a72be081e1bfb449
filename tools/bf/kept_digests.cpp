// See kept_digests.hpp.
#include "kept_digests.hpp"

namespace bf {

void KeptDigests::append(std::span<const std::uint64_t> digests) {
  last_.insert(last_.end(), digests.begin(), digests.end());
  if (last_.size() < in_memory_) return;
  if (!spool_) spool_.emplace();
  spool_->append(std::as_bytes(std::span(last_)));
  spooled_ += last_.size();
  last_.clear();
}

}  // namespace bf
