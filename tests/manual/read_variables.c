/* For LD_PRELOAD: writes the name of each environment variable that a program asks for into the file READ_VARIABLES. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

static char* value_of(const char* name) {
  const size_t length = strlen(name);
  for (char** one = environ; *one != NULL; ++one) {
    if (strncmp(*one, name, length) == 0 && (*one)[length] == '=') return *one + length + 1;
  }
  return NULL;
}

char* getenv(const char* name) {
  const char* const path = value_of("READ_VARIABLES");
  const int fd = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd >= 0) {
    const size_t length = strlen(name);
    if (write(fd, name, length) != (ssize_t)length || write(fd, "\n", 1) != 1) abort();
    close(fd);
  }
  return value_of(name);
}

char* secure_getenv(const char* name) { return getenv(name); }
