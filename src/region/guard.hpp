// Turns a fault in a mapped page (an I/O error, or the file was truncated) into doubt about one mapping. Without a
// guard it would end the process. Never sees filters.
//
// The handler of SIGBUS is installed once and stays. It looks the address up in a table without locks. A fault replaces
// the whole guarded range with private memory. So a range faults once, however many of its pages cannot be read, and
// the word that every lookup reads after the bits is then 0. Lookups need no extra instruction.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>

namespace bfstore::region {

// A 64-bit word that users of the mapping read after everything else, to see that they must not believe it.
struct DoubtWord {
  std::uint64_t* word = nullptr;  // in the mapping: it is 0 after a fault
  // If the word has the expected value under the mask, these bits are set in it before it is replaced, so that other
  // processes see them in the file.
  std::uint64_t mask = 0;
  std::uint64_t expected = 0;
  std::uint64_t tell_others = 0;  // 0: the mapping is for reading
};

class Guard {
 public:
  // Guards a range that is mapped, and must stay mapped until the guard is destroyed.
  static Result<Guard> watch(void* begin, std::size_t bytes, const DoubtWord& doubt);

  Guard() noexcept = default;  // guards nothing
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&& other) noexcept;
  ~Guard();

  [[nodiscard]] bool is_on() const noexcept { return slot_ != nullptr; }
  // True if a page could not be read. Then the contents of the range are not from the file.
  [[nodiscard]] bool faulted() const noexcept;

 private:
  struct Slot;
  struct Table;
  explicit Guard(Slot* slot) noexcept : slot_(slot) {}
  static void on_fault(int signal, void* info, void* context) noexcept;
  static bool replace(Slot& slot, std::uintptr_t address) noexcept;
  static Error install();

  Slot* slot_ = nullptr;
};

}  // namespace bfstore::region
