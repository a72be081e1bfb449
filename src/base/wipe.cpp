// explicit_bzero for glibc before 2.25, which lacks it (manylinux_2_17).
#include <string.h>

#ifdef __GLIBC__
#if !__GLIBC_PREREQ(2, 25)
// No compiler may drop the memset, because the empty assembly could read the bytes.
extern "C" void explicit_bzero(void* bytes, size_t length) noexcept {
  memset(bytes, 0, length);
  __asm__ volatile("" : : "r"(bytes) : "memory");
}
#endif
#endif
