/* Asks a file with bfstore_reader.h, as a C99 program:
 *   ask PATH FIRST END [copy]
 * It prints how many of the keys "key FIRST" to "key END - 1", and of 100 strangers, may be in the filter, or the code
 * with which the file is refused. */
#define BFSTORE_READER_IMPLEMENTATION
#include "bfstore_reader.h"
/* After it: the header brings what it needs. */
#include <stdio.h>

static unsigned long maybes(const bfr_filter* filter, const char* kind, unsigned long first, unsigned long end) {
  unsigned long sum = 0;
  for (; first < end; ++first) {
    char key[64];
    const int length = snprintf(key, sizeof key, "%s %lu", kind, first);
    if (bfr_contains(filter, key, (size_t)length) != BFR_ABSENT) ++sum;
  }
  return sum;
}

int main(int count, char** values) {
  bfr_filter filter;
  int code;
  if (count < 4) return 2;
  code = bfr_open(&filter, values[1], count > 4 ? BFR_COPY : 0, NULL);
  if (code != BFR_OK) return printf("%s: %s\n", bfr_error_name(code), bfr_error_text(code)) < 0 ? 3 : 1;
  printf("maybe %lu ", maybes(&filter, "key", strtoul(values[2], NULL, 10), strtoul(values[3], NULL, 10)));
  printf("strangers %lu\n", maybes(&filter, "no", 0, 100));
  bfr_close(&filter);
  return 0;
}
