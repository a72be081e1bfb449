/* A spell checker: a filter of all words of a dictionary, which every process that checks shares.
 *
 *   cc -std=c99 spell_check.c $(pkg-config --cflags --libs bfstore) -o spell_check
 *   ./spell_check build words.bf < /usr/share/dict/words     makes the filter of the words, one a line
 *   ./spell_check words.bf < letter.txt                      prints each word of the text that is not among them
 *
 * No word of the dictionary is ever called wrong.  One misspelled word in a thousand passes. */
#include <bfstore.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bfs_error error = BFS_ERROR_INIT;

static int failed(void) {
  fprintf(stderr, "spell_check: %s\n", error.message);
  return 2;
}

/* Reads the next word: letters and apostrophes between letters.  Returns its length, 0 at the end. */
static size_t next_word(char* word, size_t room) {
  size_t bytes = 0;
  int letter;
  while ((letter = getchar()) != EOF) {
    const int belongs = isalpha(letter) || letter >= 0x80 || (letter == '\'' && bytes > 0);
    if (belongs && bytes < room) word[bytes++] = (char)tolower(letter);
    if (!belongs && bytes > 0) break;
  }
  while (bytes > 0 && word[bytes - 1] == '\'') --bytes;
  return bytes > 0 || letter == EOF ? bytes : next_word(word, room);
}

int main(int count, char** arguments) {
  const int builds = count == 3 && strcmp(arguments[1], "build") == 0;
  if (count != 2 && !builds) return fprintf(stderr, "usage: spell_check [build] FILTER < TEXT\n"), 2;
  const bfs_options options = {sizeof options, .capacity = 1000000, .fpr = 0.001};
  bfs_filter* words;
  const uint64_t flags = builds ? BFS_WRITE | BFS_CREATE : BFS_READ;
  if (bfs_open(arguments[count - 1], flags, builds ? &options : NULL, &words, &error) < 0) return failed();
  char word[64];
  for (size_t bytes; (bytes = next_word(word, sizeof word)) > 0;) {
    if (builds && bfs_add(words, word, bytes) < 0) return failed();
    if (!builds && bfs_contains(words, word, bytes) == 0) printf("%.*s\n", (int)bytes, word);
  }
  return bfs_close(words, &error) == BFS_OK ? 0 : failed();
}
