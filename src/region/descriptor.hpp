// Opens and closes files: at numbers that no program prints to, and for this process alone if they are for writing.
// Never sees filters.
#pragma once

#include <fcntl.h>

#include <cstdint>

namespace bfstore::region {

// As openat(2), close-on-exec, but never at the number of a standard stream that happens to be closed: a program's
// output must not go into a filter. Returns -1, with errno, on failure.
int open_high(const char* path, int flags, unsigned mode = 0, int folder = AT_FDCWD) noexcept;

// Whether a forked child gets a descriptor. An open-file-description lock ends with the description's last descriptor,
// so a child with its parent's descriptor would hold the parent's locks after the parent's death. With kDoNot, the
// child has at that number a descriptor of nothing, which it closes as it would have closed the file's. A child that is
// not made by fork() (vfork, clone) still has the file's. Any thread may fork at any time.
enum class Children { kInherit, kDoNot };

// Says of a descriptor, for as long as the process lives, whether it is still open and leads to what was opened there.
// It takes no notice of a description that other code opened for the same file (but see duplicate()).
struct DescriptorMark {
  int number = -1;
  std::uint64_t serial = 0;  // of all descriptors that this process opened here

  [[nodiscard]] bool is_there() const noexcept;
};

// A descriptor that remembers what it was opened for. Other code of the process may close it (closefrom(3), for
// instance) and open another file at its number, or the same one. Then it counts as closed, and never touches that.
class Descriptor {
 public:
  // As open_high(). On failure is_open() is false, and errno says why.
  static Descriptor open(const char* path, int flags, Children children, unsigned mode = 0, int folder = AT_FDCWD);

  // Another number for what the program has open at `number`: both are of one open file description, with one position
  // in the file and the same locks. Children inherit it. is_open() is false where that fails, with errno. Of the file
  // that is open there alone it can be told whether it is still there: the position is the program's.
  static Descriptor duplicate(int number);

  Descriptor() noexcept = default;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  // Whether the number still leads to the file that was opened here.
  [[nodiscard]] bool is_there() const noexcept { return mark().is_there(); }
  [[nodiscard]] DescriptorMark mark() const noexcept { return {number_, serial_}; }

  // From now on this descriptor's locks may be held for any time, and the rest of this process must not wait for them:
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
