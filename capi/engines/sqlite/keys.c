/* bfstore's extension of SQLite: values as keys. */
#include "extension.h"
SQLITE_EXTENSION_INIT3

int key_of(sqlite3_value* value, struct key* key) {
  const int type = sqlite3_value_type(value);
  uint64_t number;
  int i;
  key->data = "";
  key->bytes = 0;
  key->kind = 0;
  if (type == SQLITE_FLOAT) return -1;
  if (type == SQLITE_NULL) return 0;
  if (type == SQLITE_INTEGER) {
    number = (uint64_t)sqlite3_value_int64(value);
    for (i = 0; i < 8; ++i) key->number[i] = (unsigned char)(number >> 8 * i);
    key->data = key->number;
    key->bytes = sizeof key->number;
    key->kind = NUMBERS;
    return 0;
  }
  key->kind = type == SQLITE_TEXT ? TEXTS : BLOBS;
  key->data = type == SQLITE_TEXT ? (const void*)sqlite3_value_text(value) : sqlite3_value_blob(value);
  key->bytes = (size_t)sqlite3_value_bytes(value);
  if (key->data != NULL) return 0;
  key->data = "";
  return key->bytes == 0 && type == SQLITE_BLOB ? 0 : -1; /* no memory for the UTF-8 of a text in UTF-16 */
}
