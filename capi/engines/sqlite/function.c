/* bfstore's extension of SQLite: the arguments of its functions, and their errors. */
#include "internal.h"

#include <string.h>
SQLITE_EXTENSION_INIT3

const char* text_of(sqlite3_context* context, sqlite3_value* value, const char* what) {
  char* message;
  if (sqlite3_value_type(value) == SQLITE_TEXT) return (const char*)sqlite3_value_text(value);
  message = sqlite3_mprintf("%s is not a text", what);
  sqlite3_result_error(context, message == NULL ? "out of memory" : message, -1);
  sqlite3_free(message);
  return NULL;
}

void fail(sqlite3_context* context, const char* what, const bfs_error* error) {
  char* message = strstr(error->message, what) != NULL || error->message[0] == 0
                      ? sqlite3_mprintf("%s", error->message[0] == 0 ? bfs_strerror(error->code) : error->message)
                      : sqlite3_mprintf("%s: %s", what, error->message);
  sqlite3_result_error(context, message == NULL ? "out of memory" : message, -1);
  sqlite3_free(message);
}
