// libFuzzer's mutations of an image (image.hpp). Half of the time the checksums, and what else proves that a file is
// its own, are made right afterwards. Otherwise only a guess of 64 bits would reach the code after these checks.
#include <cstring>

#include "image.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned random) {
  const std::size_t mutated = LLVMFuzzerMutate(data, size, most);
  if (random % 2 == 0 || mutated == 0) return mutated;
  constexpr std::uint8_t kRight = fuzz::kRightChecksums | fuzz::kRightCanary | fuzz::kRightLiveWord;
  if ((data[0] & fuzz::kWholeFile) == 0) {
    data[0] |= kRight;
    constexpr std::size_t kMore = 3;  // where that byte is
    if (mutated > kMore && random % 16 == 1) data[kMore] |= fuzz::kSealed | fuzz::kRightSecretCheck;
  } else if (mutated >= bfstore::format::kFileHeaderBytes) {
    fuzz::make_right({reinterpret_cast<std::byte*>(data), bfstore::format::kFileHeaderBytes}, kRight, {});
  }
  return mutated;
}
