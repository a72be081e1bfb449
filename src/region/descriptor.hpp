// Opens and closes files, at numbers that no program prints to. Forked children do not get files for writing. Never
// sees filters.
#pragma once

#include <fcntl.h>

#include <cstdint>

namespace bfstore::region {

// Like openat(2), with close-on-exec, but never uses the number of a closed standard stream: a program's output must
// not go into a filter. Returns -1, with errno, on failure.
int open_high(const char* path, int flags, unsigned mode = 0, int folder = AT_FDCWD) noexcept;

// Says whether a forked child gets a descriptor. An open-file-description lock ends with the description's last
// descriptor, so a child with its parent's descriptor would hold the parent's locks after the parent's death. With
// kDoNot, the child has at that number a descriptor of no file, which it closes as it would have closed the file's. A
// child that is not made by fork() (vfork, clone) still has the file's descriptor. Any thread may fork at any time.
enum class Children { kInherit, kDoNot };

// Tells, for as long as the process lives, whether a descriptor is still open and leads to the file that was opened
// there. It detects a description that other code opened for the same file (but see duplicate()).
struct DescriptorMark {
  int number = -1;
  std::uint64_t serial = 0;  // unique among all descriptors that this process opened here

  [[nodiscard]] bool is_there() const noexcept;
};

// A descriptor that remembers what it was opened for. Other code of the process may close it (closefrom(3), for
// instance) and open another file at its number, or the same one. Then it counts as closed, and never touches that
// file.
class Descriptor {
 public:
  // Opens like open_high(). On failure is_open() is false, and errno says why.
  static Descriptor open(const char* path, int flags, Children children, unsigned mode = 0, int folder = AT_FDCWD);

  // Duplicates a descriptor of the program. Both numbers share one open file description, with one position in the file
  // and the same locks. Children inherit it. On failure is_open() is false, and errno says why. is_there() then
  // compares the file alone, because the position is the program's.
  static Descriptor duplicate(int number);

  Descriptor() noexcept = default;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  // True if the number still leads to the file that was opened here.
  [[nodiscard]] bool is_there() const noexcept { return mark().is_there(); }
  [[nodiscard]] DescriptorMark mark() const noexcept { return {number_, serial_}; }

  // Says that this descriptor's locks may be held for any time, and the rest of this process must not wait for them:
  // held_for_long() is true for every other descriptor of the same file.
  void hold_for_long() const noexcept;
  [[nodiscard]] bool held_for_long() const noexcept;

 private:
  template <class Open>
  static Descriptor made_by(const Open& open, int access, Children children, bool own);

  int number_ = -1;
  std::uint64_t serial_ = 0;
};

}  // namespace bfstore::region
