// The classic layout, scalar: k probes anywhere in m bits (FORMAT.md, "Layouts").
#include "base/arith.hpp"
#include "layout/batch.hpp"
#include "layout/words.hpp"

namespace bfstore::layout {
namespace {

struct Classic {
  struct Probe {
    std::uint64_t x;
    std::uint64_t first_bit;
  };

  static Probe locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    const std::uint64_t x = digest | 1;  // a multiplicative generator needs an odd state
    return {x, base::mul_high(x, geometry.range)};
  }

  static std::uint64_t first_word(const Probe& probe) noexcept { return probe.first_bit / 64; }

  static bool test(const std::uint64_t* words, const Geometry& geometry, const Probe& probe) noexcept {
    std::uint64_t x = probe.x;
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i, x *= kNext) {
      if (!test_bit(words, base::mul_high(x, geometry.range))) return false;
    }
    return true;
  }

  static bool set(std::uint64_t* words, const Geometry& geometry, const Probe& probe) noexcept {
    bool changed = false;
    std::uint64_t x = probe.x;
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i, x *= kNext) {
      changed |= set_bit(words, base::mul_high(x, geometry.range));
    }
    return changed;
  }

  static constexpr std::uint64_t kNext = 0xf1357aea2e62a9c5;
};

}  // namespace

constexpr Functions kClassicScalar = scalar_functions<Classic>();

}  // namespace bfstore::layout
