// Which kernel, and what needs no kernel.
#include "layout/layout.hpp"

#include <bit>
#include <string_view>

#include "base/fail.hpp"
#include "layout/tables.hpp"

namespace bfstore::layout {
namespace {

// One set of instructions: its name, whether this CPU has it, and the kernel of the blocked layout for it.
struct Isa {
  const char* name;
  bool (*runs_here)() noexcept;
  const Functions* blocked;
};

bool nowhere() noexcept { return false; }

#if defined(__x86_64__)
bool has_avx512() noexcept { return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0; }
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") != 0; }
constexpr Isa kIsas[] = {
    {"avx512", has_avx512, &kBlockedAvx512}, {"avx2", has_avx2, &kBlockedAvx2}, {"neon", nowhere, nullptr}};
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
bool everywhere() noexcept { return true; }
constexpr Isa kIsas[] = {{"neon", everywhere, &kBlockedNeon}, {"avx512", nowhere, nullptr}, {"avx2", nowhere, nullptr}};
#else
constexpr Isa kIsas[] = {{"avx512", nowhere, nullptr}, {"avx2", nowhere, nullptr}, {"neon", nowhere, nullptr}};
#endif

const Functions& scalar(Layout layout) noexcept { return layout == Layout::kBlocked ? kBlockedScalar : kClassicScalar; }

const Functions& with(const Isa& isa, Layout layout) noexcept {
  return layout == Layout::kBlocked ? *isa.blocked : kClassicScalar;
}

Error unusable(std::string_view forced, const char* why) {
  return base::fail(Code::kInvalid,
                    "BFSTORE_FORCE_ISA=" + std::string(forced) + ": " + why +
                        "; give scalar, avx2, avx512 or neon as far as the CPU has it, or leave it unset");
}

}  // namespace

Result<Functions> choose(Layout layout, const char* forced) {
  if (forced == nullptr) return runnable(layout).front();
  if (std::string_view(forced) == "scalar") return scalar(layout);
  for (const Isa& isa : kIsas) {
    if (std::string_view(forced) != isa.name) continue;
    if (!isa.runs_here()) return unusable(forced, "this CPU does not have these instructions");
    return with(isa, layout);
  }
  return unusable(forced, "there is no such set of instructions");
}

std::vector<Functions> runnable(Layout layout) {
  std::vector<Functions> tables;
  for (const Isa& isa : kIsas) {
    if (layout == Layout::kBlocked && isa.runs_here()) tables.push_back(with(isa, layout));
  }
  tables.push_back(scalar(layout));
  return tables;
}

Geometry geometry_of(Layout layout, std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  if (layout == Layout::kBlocked) return {num_bits, num_bits / kBlockBits, num_probes};
  return {num_bits, num_bits, num_probes};
}

std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept {
  std::uint64_t set = 0;
  for (std::uint64_t bit = first_bit; bit < first_bit + num_bits; bit += 64) {
    const std::uint64_t left = first_bit + num_bits - bit;
    const std::uint64_t counted = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    set += static_cast<std::uint64_t>(std::popcount(little_endian(load_word(words, bit)) & counted));
  }
  return set;
}

}  // namespace bfstore::layout
