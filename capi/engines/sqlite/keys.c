/* bfstore's extension of SQLite: values as keys, and what a filter has of each.
 *
 * Values that are equal in SQL have one key, if the values alone decide that: a real number that equals an integer has
 * the integer's key.  But a comparison decides more: it may ignore case (NOCASE) or trailing spaces (RTRIM), and a
 * column's affinity may make a number of a text.  So a filter has a text twice, if the two differ: as it is, and in a
 * form common to all texts that a collation of SQLite treats as equal.  Also, the kinds of a filter's keys are known:
 * if it has both numbers and texts, one may equal the other. */
#include <string.h>

#include "internal.h"
SQLITE_EXTENSION_INIT3

static void set_number(struct key* key, uint64_t bits) {
  int i;
  for (i = 0; i < 8; ++i) key->number[i] = (unsigned char)(bits >> 8 * i);
  key->data = key->number;
  key->bytes = sizeof key->number;
  key->kind = NUMBERS;
}

/* SQLite compares a real number and an integer exactly.  -0.0 is 0. */
static uint64_t bits_of_real(double number) {
  uint64_t bits;
  if (number >= -0x1p63 && number < 0x1p63 && number == (double)(int64_t)number) return (uint64_t)(int64_t)number;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

int key_of(sqlite3_value* value, struct key* key) {
  const int type = sqlite3_value_type(value);
  key->data = "";
  key->bytes = 0;
  key->kind = 0;
  if (type == SQLITE_NULL) return 0;
  if (type == SQLITE_INTEGER) {
    set_number(key, (uint64_t)sqlite3_value_int64(value));
    return 0;
  }
  if (type == SQLITE_FLOAT) {
    set_number(key, bits_of_real(sqlite3_value_double(value)));
    return 0;
  }
  key->kind = type == SQLITE_TEXT ? TEXTS : BLOBS;
  key->data = type == SQLITE_TEXT ? (const void*)sqlite3_value_text(value) : sqlite3_value_blob(value);
  key->bytes = (size_t)sqlite3_value_bytes(value);
  if (key->data != NULL) return 0;
  key->data = "";
  return key->bytes == 0 && type == SQLITE_BLOB ? 0 : -1; /* no memory for the UTF-8 of a text in UTF-16 */
}

/* --- Collations --------------------------------------------------------------------------------------------------- */

/* NOCASE ignores letters after a NUL. */
static size_t folded_bytes(const struct key* key) {
  const char* const end = memchr(key->data, 0, key->bytes);
  size_t bytes = end == NULL ? key->bytes : (size_t)(end - (const char*)key->data);
  while (bytes > 0 && ((const char*)key->data)[bytes - 1] == ' ') --bytes;
  return bytes;
}

static int is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

int folded_of(struct connection* connection, const struct key* key, struct key* folded) {
  const char* const text = key->data;
  const size_t bytes = folded_bytes(key);
  size_t i, capital = 0;
  char* letters;
  if (key->kind != TEXTS) return 0;
  while (capital < bytes && !is_capital(text[capital])) ++capital;
  if (capital == bytes && bytes == key->bytes) return 0;
  letters = sqlite3_realloc64(connection->folded, bytes + 1);
  if (letters == NULL) return -1;
  connection->folded = letters;
  for (i = 0; i < bytes; ++i) letters[i] = is_capital(text[i]) ? (char)(text[i] - 'A' + 'a') : text[i];
  folded->data = letters;
  folded->bytes = bytes;
  folded->kind = TEXTS;
  return 1;
}

/* --- A key in a filter -------------------------------------------------------------------------------------------- */

int32_t add_key(struct connection* connection, bfs_filter* handle, const struct key* key) {
  struct key folded;
  const int differs = folded_of(connection, key, &folded);
  int32_t code;
  if (differs < 0) return BFS_ENOMEM;
  if (differs && (code = bfs_add(handle, folded.data, folded.bytes)) < 0) return code;
  return bfs_add(handle, key->data, key->bytes);
}

/* If the filter cannot remove the second form, that costs only a false positive. */
int32_t remove_key(struct connection* connection, bfs_filter* handle, const struct key* key) {
  struct key folded;
  const int differs = folded_of(connection, key, &folded);
  const int32_t code = differs < 0 ? BFS_ENOMEM : bfs_remove(handle, key->data, key->bytes);
  if (code == 1 && differs && bfs_remove(handle, folded.data, folded.bytes) < 0) return code;
  return code;
}

int may_have(struct connection* connection, const bfs_filter* handle, const struct key* key) {
  struct key folded;
  int differs;
  if (bfs_contains(handle, key->data, key->bytes) != 0) return 1;
  differs = folded_of(connection, key, &folded);
  return differs < 0 || (differs && bfs_contains(handle, folded.data, folded.bytes) != 0);
}

int32_t count_of(struct connection* connection, const bfs_filter* handle, const struct key* key) {
  struct key folded;
  const int32_t count = bfs_count(handle, key->data, key->bytes);
  const int differs = count == 0 ? folded_of(connection, key, &folded) : 0;
  if (differs < 0) return BFS_ENOMEM;
  return differs ? bfs_count(handle, folded.data, folded.bytes) : count;
}

/* --- Kinds -------------------------------------------------------------------------------------------------------- */

/* A filter that no table has stores its kinds as keys of its own (MARKS).  In a filter of another program one of these
 * keys may be a false positive, and any kind may exist.  So when SQLite adds the first key, it also adds MADE words,
 * and the marks count only if all these words are there. */
static const struct {
  int kind;
  char word[32];
} MARKS[] = {{NUMBERS, "\0bfstore in SQLite: numbers"},
             {TEXTS, "\0bfstore in SQLite: texts"},
             {BLOBS, "\0bfstore in SQLite: blobs"}};

enum { NUMBER_OF_MARKS = sizeof MARKS / sizeof *MARKS, MADE = NUMBER_OF_WORDS - NUMBER_OF_MARKS };

struct word {
  char bytes[32];
};

static struct word made(int number) {
  struct word word = {"\0bfstore in SQLite made this"};
  word.bytes[sizeof word.bytes - 1] = (char)number;
  return word;
}

static int is_made(const bfs_filter* handle) {
  struct word word;
  int i;
  for (i = 0; i < MADE; ++i) {
    word = made(i);
    if (bfs_contains(handle, word.bytes, sizeof word.bytes) == 0) return 0;
  }
  return 1;
}

/* Adds no word if another program has added keys: their kinds are not known. */
static int32_t mark_made(bfs_filter* handle) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  struct word word;
  int32_t code = bfs_stats(handle, 0, &facts, NULL);
  int i;
  if (code != BFS_OK || facts.keys_added != 0) return code;
  for (i = 0; i < MADE && code >= 0; ++i) {
    word = made(i);
    code = bfs_add(handle, word.bytes, sizeof word.bytes);
  }
  return code;
}

int32_t mark_kinds(bfs_filter* handle, int kinds) {
  int32_t code = BFS_OK;
  int i;
  for (i = 0; i < NUMBER_OF_MARKS && code >= 0; ++i) {
    if ((kinds & MARKS[i].kind) == 0 || bfs_contains(handle, MARKS[i].word, sizeof MARKS[i].word) != 0) continue;
    code = mark_made(handle);
    if (code >= 0) code = bfs_add(handle, MARKS[i].word, sizeof MARKS[i].word);
  }
  return code;
}

size_t digests_of_kinds(const bfs_filter* hash, int kinds, uint64_t digests[NUMBER_OF_WORDS]) {
  struct word word;
  size_t count = 0;
  int i;
  for (i = 0; i < MADE; ++i) {
    word = made(i);
    bfs_digest(hash, word.bytes, sizeof word.bytes, &digests[count++]);
  }
  for (i = 0; i < NUMBER_OF_MARKS; ++i)
    if ((kinds & MARKS[i].kind) != 0) bfs_digest(hash, MARKS[i].word, sizeof MARKS[i].word, &digests[count++]);
  return count;
}

static int marked_kinds(struct filter* filter) {
  int kinds = 0, i;
  if (filter->made_in != filter->generation && !is_made(filter->handle)) return NUMBERS | TEXTS | BLOBS;
  filter->made_in = filter->generation;
  for (i = 0; i < NUMBER_OF_MARKS; ++i)
    if (bfs_contains(filter->handle, MARKS[i].word, sizeof MARKS[i].word) != 0) kinds |= MARKS[i].kind;
  return kinds == 0 ? NUMBERS | TEXTS | BLOBS : kinds;
}

/* SQLite makes the text "Inf" or "-Inf" of an infinite number, but does not read this text as a number. */
static int is_infinite(const char* text) {
  if (*text == '-' || *text == '+') ++text;
  return sqlite3_strnicmp(text, "Inf", 3) == 0;
}

/* Invalidates the value's own text. */
static int looks_like_number(sqlite3_value* value) {
  const char* const text = (const char*)sqlite3_value_text(value);
  return text == NULL || is_infinite(text) || sqlite3_value_numeric_type(value) != SQLITE_TEXT;
}

int may_equal_another_kind(struct filter* filter, int known, const struct key* key, sqlite3_value* value) {
  const int other = key->kind == NUMBERS ? TEXTS : key->kind == TEXTS ? NUMBERS : 0;
  int kinds = *filter->schema != 0 ? filter->kinds : known;
  if (other == 0) return 0;
  if (kinds == 0 && *filter->schema == 0) kinds = marked_kinds(filter);
  return (kinds & other) != 0 && (key->kind == NUMBERS || looks_like_number(value));
}
