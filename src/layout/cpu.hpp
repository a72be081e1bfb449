// The sets of instructions that this CPU has and the operating system lets programs use. Compilers have
// __builtin_cpu_supports for that, but it needs a word of their run-time library (__cpu_model), which zig's lacks.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace bfstore::layout {

struct Cpu {
  bool avx2 = false;
  bool avx512 = false;  // F, VL, BW and DQ: what every CPU has that has VL
};

// Intel's manual, volume 1, 14.7.1 and 15.3: the CPU must have the instructions, and the operating system must save
// their registers. The bits of XCR0 are 1 and 2 for the registers of AVX, and 5 to 7 for those of AVX-512.
inline Cpu read_cpu() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0 || (ecx & bit_AVX) == 0) return {};
  std::uint32_t saved = 0, saved_high = 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return {};
  constexpr std::uint32_t kSavedByAvx = 0x06, kSavedByAvx512 = 0xe6;
  constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ;
  return {(saved & kSavedByAvx) == kSavedByAvx && (ebx & bit_AVX2) != 0,
          (saved & kSavedByAvx512) == kSavedByAvx512 && (ebx & kAvx512) == kAvx512};
}

// Asked once: a hypervisor may take many microseconds to answer.
inline const Cpu& cpu() noexcept {
  static const Cpu read = read_cpu();
  return read;
}

}  // namespace bfstore::layout
#endif
