// Every single bit of the four header pages, flipped in turn in a file that no process has open: the file is refused,
// or the bit is on a short list of bits that can make no wrong "no".
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::size_t kBits = format::kFileHeaderBytes * 8;
constexpr std::size_t kLiveWordBit = 8 * (format::kLivePageOffset + format::kLiveWordField.offset);

enum class State { kClean, kAdoptable };

constexpr std::size_t kFillingBit = 5;
constexpr std::size_t kSyncingBit = 64;  // of the next word

// Returns why the bit does not matter, or nullptr if it must be refused.
const char* does_not_matter(std::size_t bit, State state) {
  if (bit == kLiveWordBit + 2) return "superseded, and its replacer is gone: whoever opens it lets it go on";
  if (bit == kLiveWordBit + kFillingBit) return "filling, and the slot says that it is over: maybe until the next sync";
  if (bit == kLiveWordBit + kSyncingBit && state == State::kClean) return "syncing: what is clean was synced";
  const std::size_t stripes = 8 * (format::kLivePageOffset + format::kStripesField.offset);
  if (bit < stripes || bit >= stripes + 8 * format::kStripesField.bytes) return nullptr;
  return (bit - stripes) % (8 * format::kStripeBytes) < 128 ? "keys added and removed: only told" : nullptr;
}

// Returns the code with which FORMAT.md refuses the bit; kOk: any.
Code expected_code(std::size_t bit) {
  const std::size_t page = bit / 8 / format::kPageBytes;
  if (page == 0) return bit < 64 ? Code::kMagic : Code::kOk;
  if (page < 3) return Code::kUnclean;
  const std::size_t live = bit - kLiveWordBit;
  if (live == 1) return Code::kPoisoned;
  if (live == 3) return Code::kRecovering;
  if (live == 4) return Code::kSuperseded;
  if (live >= 6 && live <= 14) return Code::kLater;
  if (live == kSyncingBit) return Code::kUnclean;
  return live < 64 ? Code::kLiveWord : Code::kReserved;
}

class Flipper {
 public:
  explicit Flipper(const std::string& path) : header_(read_bytes(path)), descriptor_(open(path.c_str(), O_RDWR)) {
    REQUIRE(descriptor_ >= 0);
  }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;
  ~Flipper() { close(descriptor_); }

  void flip(std::size_t bit) const { put(bit / 8, static_cast<char>(header_[bit / 8] ^ (1 << bit % 8))); }
  void restore(std::size_t bit) const { put(bit / 8, header_[bit / 8]); }

 private:
  void put(std::size_t offset, char byte) const {
    REQUIRE(pwrite(descriptor_, &byte, 1, static_cast<off_t>(offset)) == 1);
  }
  std::string header_;
  int descriptor_;
};

// Flips each bit in turn. Returns how many bits did not matter.
std::size_t flip_all(const std::string& path, State state) {
  const Flipper flipper(path);
  std::size_t harmless = 0;
  for (std::size_t bit = 0; bit < kBits; bit += option("every", 1)) {
    flipper.flip(bit);
    CAPTURE(bit);
    const auto filter = Filter::open(path, OpenMode::kRead);
    if (does_not_matter(bit, state) != nullptr) {
      ++harmless;
      REQUIRE(filter.ok());
      REQUIRE(maybes(*filter, 1, 0, kSome) == kSome);
      REQUIRE(((bit == kLiveWordBit + kFillingBit) == (filter->health() == Code::kFilling)));
    } else {
      REQUIRE_FALSE(filter.ok());
      const Code expected = expected_code(bit);
      REQUIRE((filter.error().code == expected || expected == Code::kOk));
    }
    flipper.restore(bit);
  }
  return harmless;
}

}  // namespace

TEST_CASE("every flipped bit of a clean file's header is refused, except 4099 that do not matter") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  REQUIRE(filter.sync({.owner = 1, .mark = kSome}).ok());
  REQUIRE(filter.close().ok());
  const std::string before = read_bytes(dir.file());
  const std::size_t harmless = flip_all(dir.file(), State::kClean);
  if (option("every", 1) == 1) CHECK(harmless == 32 * 128 + 3);
  CHECK(read_bytes(dir.file()) == before);
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("every flipped bit of a killed process's header is refused, except 4098 that do not matter") {
  const TempDir dir(memory_folder());
  REQUIRE(created(dir.file()).close().ok());
  leave_behind(dir.file());
  REQUIRE(state_of(dir.file()) == FileState::kAdoptable);
  const std::string before = read_bytes(dir.file());
  const std::size_t harmless = flip_all(dir.file(), State::kAdoptable);
  if (option("every", 1) == 1) CHECK(harmless == 32 * 128 + 2);
  CHECK(read_bytes(dir.file()) == before);
}
