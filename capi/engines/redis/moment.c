/* Linux's clock of the time since the boot, which also counts while the machine sleeps, and the id of the boot. */
#include "moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NANOSECONDS_IN_MS 1000000ull

static uint64_t read_clock(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000 * NANOSECONDS_IN_MS + (uint64_t)time.tv_nsec;
}

/* The kernel writes the id as 8-4-4-4-12 hexadecimal digits. */
static void read_boot(uint64_t boot[2]) {
  uint64_t part[5];
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file == NULL) return;
  if (fscanf(file, "%8" SCNx64 "-%4" SCNx64 "-%4" SCNx64 "-%4" SCNx64 "-%12" SCNx64, &part[0], &part[1], &part[2],
             &part[3], &part[4]) == 5) {
    boot[0] = part[0] << 32 | part[1] << 16 | part[2];
    boot[1] = part[3] << 48 | part[4];
  }
  fclose(file);
}

struct moment moment_now(void) {
  static struct moment now;
  static int is_read;
  if (!is_read) read_boot(now.boot);
  is_read = 1;
  now.nanoseconds = read_clock(CLOCK_BOOTTIME);
  return now;
}

struct moment moment_here(const struct moment* moment) {
  const struct moment now = moment_now();
  const int is_known = (now.boot[0] | now.boot[1]) != 0;
  const int is_of_this_boot = is_known && memcmp(moment->boot, now.boot, sizeof now.boot) == 0;
  return is_of_this_boot && moment->nanoseconds < now.nanoseconds ? *moment : now;
}

uint64_t moment_age_ms(const struct moment* moment) {
  return (moment_now().nanoseconds - moment->nanoseconds) / NANOSECONDS_IN_MS;
}

uint64_t moment_since_1970_ms(const struct moment* moment) {
  return read_clock(CLOCK_REALTIME) / NANOSECONDS_IN_MS - moment_age_ms(moment);
}

void moment_write(const struct moment* moment, char* text) {
  snprintf(text, MOMENT_BYTES, "%016" PRIx64 ":%016" PRIx64 ":%" PRIu64, moment->boot[0], moment->boot[1],
           moment->nanoseconds);
}

int moment_read(const char* text, struct moment* moment) {
  int end = 0;
  return sscanf(text, "%16" SCNx64 ":%16" SCNx64 ":%" SCNu64 "%n", &moment->boot[0], &moment->boot[1],
                &moment->nanoseconds, &end) == 3 &&
         text[end] == 0;
}
