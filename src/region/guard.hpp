// A fault of a mapped page (an I/O error, or the file was truncated) that puts one mapping in doubt instead of ending
// the process. Never sees filters.
//
// The handler of SIGBUS is installed once and stays. It looks the address up in a table that nobody locks. What is
// guarded is replaced as a whole, by private memory: so one fault is the last one, however many pages can not be read,
// and the word that everybody looks at after the bits is 0, with not a single instruction more in a lookup.
#pragma once

#include <bfstore/error.hpp>

#include <cstddef>
#include <cstdint>

namespace bfstore::region {

// How those who use the mapping see that they must not believe it: 64 bits that they look at after everything else.
struct DoubtWord {
  std::uint64_t* word = nullptr;  // in the mapping: it is 0 after a fault
  // Where the word has the expected value as far as the mask goes, these bits are set before it is replaced, so that
  // others see them in the file.
  std::uint64_t mask = 0;
  std::uint64_t expected = 0;
  std::uint64_t tell_others = 0;  // none: the mapping is for reading
};

class Guard {
 public:
  // The range is mapped, and stays so until the guard is gone.
  static Result<Guard> watch(void* begin, std::size_t bytes, const DoubtWord& doubt);

  Guard() noexcept = default;  // of nothing
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&& other) noexcept;
  ~Guard();

  [[nodiscard]] bool is_on() const noexcept { return slot_ != nullptr; }
  // Whether a page could not be read: what is in the range now is not from the file.
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
