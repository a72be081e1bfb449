// The blocked layout, scalar: one 64-byte line a key (FORMAT.md, "Layouts").
#include "base/arith.hpp"
#include "layout/batch.hpp"
#include "layout/words.hpp"

namespace bfstore::layout {
namespace {

struct Blocked {
  struct Probe {
    std::uint64_t first_bit;  // of the line
    std::uint32_t h;
  };

  static Probe locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    const base::Uint128 product = static_cast<base::Uint128>(digest) * geometry.range;
    return {static_cast<std::uint64_t>(product >> 64) * kBlockBits,
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32)};
  }

  static std::uint64_t first_word(const Probe& probe) noexcept { return probe.first_bit / 64; }

  static bool test(const std::uint64_t* words, const Geometry& geometry, Probe probe) noexcept {
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i, probe.h *= kNext) {
      if (!test_bit(words, probe.first_bit + (probe.h >> kShift))) return false;
    }
    return true;
  }

  static bool set(std::uint64_t* words, const Geometry& geometry, Probe probe) noexcept {
    bool changed = false;
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i, probe.h *= kNext) {
      changed |= set_bit(words, probe.first_bit + (probe.h >> kShift));
    }
    return changed;
  }

  static constexpr std::uint32_t kNext = 0x9e3779b9;
  static constexpr unsigned kShift = 23;  // 32 bits of h, of which the top 9 number a bit of the line
};

}  // namespace

constexpr Functions kBlockedScalar = scalar_functions<Blocked>();

}  // namespace bfstore::layout
