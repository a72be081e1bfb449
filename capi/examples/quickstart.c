/* The shortest whole story: open a filter file, or make it, add keys, close it, open it again and ask.
 *
 *   cc quickstart.c $(pkg-config --cflags --libs bfstore) -o quickstart && ./quickstart seen.bf */
#include <bfstore.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "seen.bf";
  const char* keys[] = {"ada", "grace", "edsger", "barbara"};
  const char* questions[] = {"ada", "donald", "barbara", "niklaus"};
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;
  size_t i;

  /* Sized for 100,000 keys: then one in a thousand keys that were never added is answered "maybe". Every field that is
   * left zero takes its default. Any number of processes may do this at once: one of them makes the file. */
  bfs_options options = {.struct_bytes = sizeof options, .capacity = 100000, .fpr = 0.001};
  if (bfs_open(path, BFS_WRITE | BFS_CREATE, &options, &filter, &error) < 0) {
    fprintf(stderr, "quickstart: %s\n", error.message);
    return 1;
  }
  for (i = 0; i < sizeof keys / sizeof *keys; ++i) {
    const int32_t added = bfs_add(filter, keys[i], strlen(keys[i])); /* 1: new; 0: perhaps added before; < 0: error */
    if (added < 0) {
      fprintf(stderr, "quickstart: %s: %s\n", path, bfs_strerror(added));
      return 1;
    }
  }
  /* Closing syncs: only when it returns BFS_OK are the keys safe from a power cut. */
  if (bfs_close(filter, &error) != BFS_OK) {
    fprintf(stderr, "quickstart: %s\n", error.message);
    return 1;
  }

  /* Readers share one copy in memory. */
  if (bfs_open(path, BFS_READ, NULL, &filter, &error) != BFS_OK) {
    fprintf(stderr, "quickstart: %s\n", error.message);
    return 1;
  }
  for (i = 0; i < sizeof questions / sizeof *questions; ++i) {
    /* 0 is the only no. Everything else, an error too, is a reason to look where the truth is. */
    const int32_t answer = bfs_contains(filter, questions[i], strlen(questions[i]));
    printf("%s: %s\n", questions[i], answer == 0 ? "certainly absent" : "maybe present");
  }
  bfs_close(filter, NULL);
  return 0;
}
