// The blocked layout's test with NEON, which every 64-bit ARM has: the 64 bytes of a line in four registers, 16 probes
// at a time by table look-up.
#pragma once

#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include <bfstore/layout/probes.hpp>

#include <arm_neon.h>

namespace bfstore::layout {

#define BFSTORE_NEON inline __attribute__((always_inline))

// In the struct they would be weak symbols.
static constexpr auto kNeonPowers = powers<16>();
alignas(16) static constexpr std::uint8_t kNeonBitOf[16] = {1, 2, 4, 8, 16, 32, 64, 128};
// In the sixteen bytes from kNeonLanes + 16 - n, lanes 0 to n-1 are all ones.
alignas(16) static constexpr std::uint8_t kNeonLanes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                            255, 255, 255, 255, 255, 255, 255, 255};

struct Neon {
  using Rules = Blocked;

  // The numbers, in the line, of four probes' bits.
  static BFSTORE_NEON uint16x4_t four_bits(uint32x4_t h, const std::uint32_t* four_powers) noexcept {
    return vmovn_u32(vshrq_n_u32(vmulq_u32(h, vld1q_u32(four_powers)), Blocked::kShift));
  }

  static BFSTORE_NEON bool hit(const uint8x16x4_t& line, std::uint32_t h, uint8x16_t lanes) noexcept {
    const uint32x4_t all = vdupq_n_u32(h);
    const uint16x8_t first = vcombine_u16(four_bits(all, kNeonPowers.of), four_bits(all, kNeonPowers.of + 4));
    const uint16x8_t second = vcombine_u16(four_bits(all, kNeonPowers.of + 8), four_bits(all, kNeonPowers.of + 12));
    const uint8x16_t byte_numbers = vcombine_u8(vshrn_n_u16(first, 3), vshrn_n_u16(second, 3));
    const uint8x16_t bit_numbers = vandq_u8(vcombine_u8(vmovn_u16(first), vmovn_u16(second)), vdupq_n_u8(7));
    const uint8x16_t bits = vandq_u8(vqtbl1q_u8(vld1q_u8(kNeonBitOf), bit_numbers), lanes);
    return vmaxvq_u8(vbicq_u8(bits, vqtbl4q_u8(line, byte_numbers))) == 0;
  }

  // One pass finds so many probes.
  static constexpr std::uint32_t kMostOfFew = 16;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_NEON bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const auto* bytes = static_cast<const std::uint8_t*>(at_word(body, at.word));
    const uint8x16x4_t line{{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
    if (doubt()) [[unlikely]]
      return true;
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    for (; !kFew && probes > 16; probes -= 16, h *= kNeonPowers.next) {
      if (!hit(line, h, vdupq_n_u8(255))) return false;
    }
    return hit(line, h, vld1q_u8(kNeonLanes + 16 - probes));
  }
};

}  // namespace bfstore::layout
#endif
