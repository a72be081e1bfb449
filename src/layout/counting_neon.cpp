// The counting layout with NEON, which every 64-bit ARM has: the 64 bytes of a line in four registers, 16 probes at a
// time by table look-up. Adds and removes change word by word, as everywhere.
#include "layout/counting.hpp"
#include "layout/table.hpp"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((no_sanitize("thread")))
#define BFSTORE_LINE inline __attribute__((always_inline))

constexpr auto kPowers = powers<16>();
// In the sixteen bytes from kLanes + 16 - n, lanes 0 to n-1 are all ones.
alignas(16) constexpr std::uint8_t kLanes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 255, 255, 255};

struct CountingNeon {
  using Rules = Counting;

  // The numbers, in the line, of four probes' counters.
  static BFSTORE_LINE uint16x4_t four_counters(uint32x4_t h, const std::uint32_t* four_powers) noexcept {
    return vmovn_u32(vshrq_n_u32(vmulq_u32(h, vld1q_u32(four_powers)), Counting::kShift));
  }

  // True if all of the 16 probes that are in `lanes` find a counter that is not 0; h is the first probe's hash.
  static BFSTORE_LINE bool hit(const uint8x16x4_t& line, std::uint32_t h, uint8x16_t lanes) noexcept {
    const uint32x4_t all = vdupq_n_u32(h);
    const uint16x8_t first = vcombine_u16(four_counters(all, kPowers.of), four_counters(all, kPowers.of + 4));
    const uint16x8_t second = vcombine_u16(four_counters(all, kPowers.of + 8), four_counters(all, kPowers.of + 12));
    const uint8x16_t numbers = vcombine_u8(vmovn_u16(first), vmovn_u16(second));
    // Two counters are in a byte, the even one in its low half.
    const uint8x16_t halves = vbslq_u8(vtstq_u8(numbers, vdupq_n_u8(1)), vdupq_n_u8(0xf0), vdupq_n_u8(0x0f));
    const uint8x16_t not_empty = vtstq_u8(vqtbl4q_u8(line, vshrq_n_u8(numbers, 1)), halves);
    return vmaxvq_u8(vbicq_u8(lanes, not_empty)) == 0;
  }

  // One pass finds so many probes.
  static constexpr std::uint32_t kMostOfFew = 16;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_LINE bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const auto* bytes = static_cast<const std::uint8_t*>(at_word(body, at.word));
    const uint8x16x4_t line{{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
    if (doubt()) [[unlikely]]
      return true;
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    for (; !kFew && probes > 16; probes -= 16, h *= kPowers.next) {
      if (!hit(line, h, vdupq_n_u8(255))) return false;
    }
    return hit(line, h, vld1q_u8(kLanes + 16 - probes));
  }
};

using Kernel = CountingNeon;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kCountingNeon = functions("neon");

}  // namespace bfstore::layout
#endif
