/* bfstore_reader.h as a module for Python's ctypes, with loops over many keys and over damage, and with system calls
 * that do what a test wants. */
#define _DEFAULT_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* --- System calls ------------------------------------------------------------------------------------------------- */

/* What is done before the nth read from now on (0: nothing): returns this result with this errno, unless it is 0. */
static void (*before_read)(void);
static int reads_until_then;
static ssize_t read_result;
static int read_errno;
static size_t most_bytes_read; /* 0: no limit */
static int fail_map;           /* 1: each, more: those of more bytes than this */
static int fail_memory;
static long filesystem; /* 0: the real one */

static ssize_t shim_pread(int file, void* into, size_t bytes, off_t from) {
  if (reads_until_then > 0 && --reads_until_then == 0) {
    if (before_read != NULL) before_read();
    if (read_result != 0 || read_errno != 0) return errno = read_errno, read_result;
  }
  if (most_bytes_read > 0 && bytes > most_bytes_read) bytes = most_bytes_read;
  return pread(file, into, bytes, from);
}

static void* shim_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t from) {
  if (fail_map == 1 || (fail_map > 1 && bytes > (size_t)fail_map)) return errno = ENODEV, MAP_FAILED;
  return mmap(at, bytes, protection, flags, file, from);
}

static int copies; /* that are not freed */

static void* shim_calloc(size_t count, size_t bytes) {
  if (fail_memory) return NULL;
  ++copies;
  return calloc(count, bytes);
}

static void shim_free(void* copy) {
  copies -= copy != NULL;
  free(copy);
}

int shim_copies(void) { return copies; }

static int shim_fstatfs(int file, struct statfs* facts) {
  const int result = fstatfs(file, facts);
  if (filesystem != 0) memcpy(&facts->f_type, &filesystem, sizeof facts->f_type);
  return filesystem < 0 ? -1 : result;
}

#define pread shim_pread
#define mmap shim_mmap
#define calloc shim_calloc
#define free shim_free
#define fstatfs shim_fstatfs
#define BFSTORE_READER_IMPLEMENTATION
#include "bfstore_reader.h"
#undef mmap
#undef calloc
#undef free

void shim_reads(int until, void (*deed)(void), long result, int error, size_t most_bytes) {
  reads_until_then = until;
  before_read = deed;
  read_result = (ssize_t)result;
  read_errno = error;
  most_bytes_read = most_bytes;
}

void shim_fail(int map, int memory, long filesystem_is) {
  fail_map = map;
  fail_memory = memory;
  filesystem = filesystem_is;
}

/* --- Many keys ---------------------------------------------------------------------------------------------------- */

size_t shim_filter_bytes(void) { return sizeof(bfr_filter); }

/* Key i is data[offsets[i]] to data[offsets[i + 1]]. */
void shim_contains(const bfr_filter* f, const char* data, const int64_t* offsets, size_t count, int8_t* answers) {
  size_t i;
  for (i = 0; i < count; ++i)
    answers[i] = (int8_t)bfr_contains(f, data + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
}

void shim_contains_digests(const bfr_filter* f, const uint64_t* digests, size_t count, int8_t* answers) {
  size_t i;
  for (i = 0; i < count; ++i) answers[i] = (int8_t)bfr_contains_digest(f, digests[i]);
}

static int says_maybe_to_all(const bfr_filter* f, const char* data, const int64_t* offsets, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (bfr_contains(f, data + offsets[i], (size_t)(offsets[i + 1] - offsets[i])) == BFR_ABSENT) return 0;
  }
  return 1;
}

/* --- Damage ------------------------------------------------------------------------------------------------------- */

/* A damaged file.  Returns 1 if it was opened, 0 if it was refused, and -1 for a wrong no of one of the keys. */
static int opened(const unsigned char* bytes, size_t n, const unsigned char* secret, const char* data,
                  const int64_t* offsets, size_t count) {
  bfr_filter f;
  int result = bfr_open_memory(&f, bytes, n, secret) == BFR_OK;
  if (result == 1 && !says_maybe_to_all(&f, data, offsets, count)) result = -1;
  if (result == 0 && bfr_contains(&f, "", 0) != BFR_ENOTOPEN) result = -1;
  bfr_close(&f);
  return result;
}

/* Memory of exactly this length, which a sanitizer watches. */
static unsigned char* exact(const unsigned char* bytes, size_t n) {
  return (unsigned char*)memcpy(malloc(n > 0 ? n : 1), bytes, n);
}

/* Flips each `step`th bit from byte `from` to byte `end`.  Returns how many such files were opened, or -1 after a wrong
 * no. */
long shim_flip(const unsigned char* bytes, size_t n, size_t from, size_t end, size_t step, const unsigned char* secret,
               const char* data, const int64_t* offsets, size_t count) {
  unsigned char* copy = exact(bytes, n);
  long sum = 0;
  size_t bit;
  for (bit = 8 * from; sum >= 0 && bit < 8 * end; bit += step) {
    int result;
    copy[bit / 8] = (unsigned char)(bytes[bit / 8] ^ 1u << bit % 8);
    result = opened(copy, n, secret, data, offsets, count);
    copy[bit / 8] = bytes[bit / 8];
    sum = result < 0 ? -1 : sum + result;
  }
  free(copy);
  return sum;
}

/* Cuts the file to every shorter length. */
long shim_cut(const unsigned char* bytes, size_t n, const unsigned char* secret, const char* data,
              const int64_t* offsets, size_t count) {
  long sum = 0;
  size_t length;
  for (length = 0; sum >= 0 && length < n; ++length) {
    unsigned char* cut = exact(bytes, length);
    const int result = opened(cut, length, secret, data, offsets, count);
    free(cut);
    sum = result < 0 ? -1 : sum + result;
  }
  return sum;
}

/* Changes one to four bytes of the identity, makes its checksum right again, and asks.  There is no right answer:
 * nothing outside the bytes is read.  Returns how many such files were opened. */
long shim_scramble(const unsigned char* bytes, size_t n, long rounds, uint64_t seed, const unsigned char* secret) {
  unsigned char* copy = exact(bytes, n);
  long sum = 0;
  for (; rounds > 0; --rounds) {
    int i;
    bfr_filter f;
    memcpy(copy, bytes, n);
    for (i = 0; i <= (int)(seed % 4); ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      copy[seed >> 32 & 255] = (unsigned char)((seed >> 40 & 3) == 0 ? 255 : (seed >> 40 & 3) == 1 ? 0 : seed >> 48);
    }
    bfr_store(copy + BFR_PAGE - 8, bfr_xxh3(copy, BFR_PAGE - 8, 0));
    sum += bfr_open_memory(&f, copy, n, secret) == BFR_OK;
    for (i = 0; i < 100; ++i) bfr_contains_digest(&f, seed = seed * 6364136223846793005u + 1442695040888963407u);
    bfr_verify(&f);
    bfr_close(&f);
  }
  free(copy);
  return sum;
}

/* --- Between two instructions ------------------------------------------------------------------------------------- */

static unsigned char* whole;
static size_t body_bytes, body_at, word_at;
static uint64_t word_then;

/* The lookup has read the words, and now reads the bits. */
static void when_it_reads_bits(int number) {
  (void)number;
  mprotect(whole + body_at, body_bytes, PROT_READ | PROT_WRITE);
  bfr_store(whole + word_at, word_then);
}

/* Asks for an absent digest of this file while the word at byte `at` changes from `before` to `then`, at the moment at
 * which the lookup has read the words and reads the bits.  Returns the answer. */
int shim_ask_while_word(const unsigned char* bytes, size_t n, const unsigned char* secret, uint64_t digest, size_t at,
                        uint64_t before, uint64_t then) {
  struct sigaction ours, old;
  bfr_filter f;
  int answer;
  whole = (unsigned char*)mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(whole, bytes, n);
  answer = bfr_open_memory(&f, whole, n, secret);
  if (answer == BFR_OK) {
    body_at = (size_t)f.body_at;
    body_bytes = (size_t)f.body_bytes;
    word_then = then;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = when_it_reads_bits;
    sigaction(SIGSEGV, &ours, &old);
    word_at = at;
    bfr_store(whole + at, before);
    mprotect(whole + body_at, body_bytes, PROT_NONE);
    answer = bfr_contains_digest(&f, digest);
    sigaction(SIGSEGV, &old, NULL);
    bfr_close(&f);
  }
  munmap(whole, n);
  return answer;
}

/* The same for the live word. */
int shim_ask_while(const unsigned char* bytes, size_t n, const unsigned char* secret, uint64_t digest, uint64_t before,
                   uint64_t then) {
  return shim_ask_while_word(bytes, n, secret, digest, BFR_LIVE_AT, before, then);
}
