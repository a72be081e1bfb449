/* For libraries of LD_PRELOAD: ends or stops a program before the call with the number KILL_AT or STOP_AT, of those
 * that the library counts.  KILL_SIGNAL is the number of the signal that ends it: SIGKILL if it is not set.  The call's
 * name goes to standard error.  The call with the number FAIL_AT is not made: it fails with the errno FAIL_ERRNO. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number_in(const char* variable) {
  const char* const text = getenv(variable);
  return text != NULL ? atoi(text) : 0;
}

/* 1: the call is to fail. */
static int step(const char* name) {
  static int number = 0;
  const int now = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
  const int dies = number_in("KILL_AT") == now;
  if (!dies && number_in("STOP_AT") != now) return number_in("FAIL_AT") == now;
  syscall(SYS_write, 2, name, strlen(name));
  syscall(SYS_write, 2, "\n", 1);
  const int wanted = number_in("KILL_SIGNAL");
  raise(!dies ? SIGSTOP : wanted != 0 ? wanted : SIGKILL);
  return 0;
}

#define COUNTED(result, name, parameters, arguments) \
  result name parameters;                            \
  result name parameters {                           \
    result(*next) parameters;                        \
    void* const found = dlsym(RTLD_NEXT, #name);     \
    memcpy(&next, &found, sizeof next);              \
    if (step(#name)) {                               \
      errno = number_in("FAIL_ERRNO");               \
      return (result)-1;                             \
    }                                                \
    return next arguments;                           \
  }
