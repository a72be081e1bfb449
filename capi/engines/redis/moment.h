/* Moments on the clock that counts from the system's boot, which no person sets. */
#ifndef BFSTORE_ENGINES_REDIS_MOMENT_H
#define BFSTORE_ENGINES_REDIS_MOMENT_H

#include <stdint.h>

/* On another machine, and after another boot, such a clock says nothing: the boot's id tells. */
struct moment {
  uint64_t boot[2];     /* zeros: unknown */
  uint64_t nanoseconds; /* since that boot */
};

struct moment moment_now(void);

/* Returns the moment if it was in this boot of this machine.  Otherwise returns now: what began then lasts longer. */
struct moment moment_here(const struct moment* moment);

uint64_t moment_age_ms(const struct moment* moment); /* in whole milliseconds; of a moment of this boot */
uint64_t moment_since_1970_ms(const struct moment* moment);

/* As text, for the commands that the server keeps in its log.  Reading returns 0 for other text. */
#define MOMENT_BYTES 80
void moment_write(const struct moment* moment, char* text);
int moment_read(const char* text, struct moment* moment);

#endif
