// Chooses a layout's row and its kernel. Also has the code that is equal for all layouts.
#include "layout/layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "layout/cpu.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

// One set of instructions: its name, and whether this CPU has it.
struct IsaRow {
  Isa isa;
  const char* name;
  bool (*runs_here)() noexcept;
};

[[maybe_unused]] bool nowhere() noexcept { return false; }
[[maybe_unused]] bool everywhere() noexcept { return true; }

#if defined(__x86_64__)
bool has_avx512() noexcept { return cpu().avx512; }
bool has_avx2() noexcept { return cpu().avx2; }
#else
constexpr auto has_avx512 = nowhere;
constexpr auto has_avx2 = nowhere;
#endif
#if defined(__aarch64__) && !defined(__AARCH64EB__)
constexpr auto has_neon = everywhere;
#else
constexpr auto has_neon = nowhere;
#endif

// All sets, the best first.
constexpr IsaRow kIsas[kNumIsas] = {
    {Isa::kAvx512, "avx512", has_avx512}, {Isa::kAvx2, "avx2", has_avx2}, {Isa::kNeon, "neon", has_neon}};

const Functions* kernel_of(const Row& row, const IsaRow& isa) noexcept {
  return row.kernels[static_cast<std::size_t>(isa.isa)];
}

const Functions& best_here(const Row& row) noexcept {
  for (const IsaRow& isa : kIsas) {
    if (kernel_of(row, isa) != nullptr && isa.runs_here()) return *kernel_of(row, isa);
  }
  return *row.scalar;
}

Error unusable(std::string_view forced, const char* why) {
  return base::fail(Code::kInvalid,
                    "BFSTORE_FORCE_ISA=" + std::string(forced) + ": " + why +
                        ". Set it to scalar, avx2, avx512 or neon, if the CPU has it, or leave it unset.");
}

}  // namespace

const Row* find(std::uint16_t number) noexcept {
  for (const Row* row : rows()) {
    if (static_cast<std::uint16_t>(row->info.layout) == number) return row;
  }
  return nullptr;
}

const Row& row_of(Layout layout) noexcept { return *find(static_cast<std::uint16_t>(layout)); }

std::uint64_t body_bytes(const Row& row, std::uint64_t num_bits) noexcept {
  return base::round_up(num_bits * row.info.cell_bits, row.body_unit) / 8;
}

std::uint64_t whole_bits(const Row& row, std::uint64_t num_bits) noexcept {
  return base::round_up(num_bits, row.unit_bits);
}

const Functions* usable(const Row& row, const char* forced) noexcept {
  if (forced == nullptr) return &best_here(row);
  for (const IsaRow& isa : kIsas) {
    if (std::string_view(forced) != isa.name) continue;
    if (!isa.runs_here()) return nullptr;
    return kernel_of(row, isa) != nullptr ? kernel_of(row, isa) : row.scalar;
  }
  return std::string_view(forced) == "scalar" ? row.scalar : nullptr;
}

Result<Functions> choose(const Row& row, const char* forced) {
  if (const Functions* const functions = usable(row, forced); functions != nullptr) return *functions;
  const bool known = std::any_of(std::begin(kIsas), std::end(kIsas),
                                 [forced](const IsaRow& isa) { return isa.name == std::string_view(forced); });
  return unusable(forced, known ? "this CPU does not have these instructions" : "no such set of instructions exists");
}

std::vector<Functions> runnable(const Row& row) {
  std::vector<Functions> tables;
  for (const IsaRow& isa : kIsas) {
    if (kernel_of(row, isa) != nullptr && isa.runs_here()) tables.push_back(*kernel_of(row, isa));
  }
  tables.push_back(*row.scalar);
  return tables;
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

void set_estimate(Fill& fill, double keys, double variance) noexcept {
  const double reach = 1.96 * std::sqrt(variance);
  fill.estimated_keys = keys;
  fill.estimated_keys_low = std::isfinite(reach) ? std::max(keys - reach, 0.0) : 0;
  fill.estimated_keys_high = keys + reach;
}

bool ask_kernel(const Target& target, std::uint64_t digest) noexcept { return target.ask(target, digest) != 0; }

}  // namespace bfstore::layout

namespace bfstore {

std::vector<LayoutInfo> layouts() {
  std::vector<LayoutInfo> all;
  for (const layout::Row* row : layout::rows()) all.push_back(row->info);
  return all;
}

std::optional<LayoutInfo> layout_of(Layout layout) noexcept {
  const layout::Row* const row = layout::find(static_cast<std::uint16_t>(layout));
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

std::optional<LayoutInfo> layout_named(std::string_view name) noexcept {
  for (const layout::Row* row : layout::rows()) {
    if (name == row->info.name) return row->info;
  }
  return std::nullopt;
}

}  // namespace bfstore
