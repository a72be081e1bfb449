/* Loops in a library of their own, which calls libbfstore.so as a program that is linked with it: through its procedure
 * linkage table.  bfbench has the static library in it, and so cannot be linked with the shared one.  All return how
 * many answers are not 0. */
#ifndef BFBENCH_PLT_CALLS_H
#define BFBENCH_PLT_CALLS_H

#include <bfstore_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BFBENCH_KEY_BYTES = 16 };

uint64_t bfbench_ask_digests(const bfs_filter* filter, const uint64_t* digests, size_t count);
/* Keys without gaps, of BFBENCH_KEY_BYTES each: with one call for a key, or with bfs_digest and bfs_contains_digest. */
uint64_t bfbench_ask_keys(const bfs_filter* filter, const unsigned char* keys, size_t count);
uint64_t bfbench_digest_and_ask_keys(const bfs_filter* filter, const unsigned char* keys, size_t count);
/* Calls a function that does nothing. */
uint64_t bfbench_call_nothing(const bfs_filter* filter, const uint64_t* digests, size_t count);

#ifdef __cplusplus
}
#endif
#endif
