// The SQLite database: made once. Then each worker asks it through a prepared statement in one transaction.
#include "database.hpp"

#include "fail.hpp"

#include <functional>

namespace demo {
namespace {

[[noreturn]] void fail_sqlite(sqlite3* database, const std::string& doing) {
  fail("SQLite: " + doing + ": " + sqlite3_errmsg(database));
}

Database open_database(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) fail_sqlite(raw, "opening " + path);
  return database;
}

void execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail_sqlite(database, sql);
}

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK) fail_sqlite(database, sql);
  return Statement(raw);
}

// SQLite does not copy the text: it must stay as it is until the statement is reset.
void bind_text(sqlite3_stmt* statement, int place, const std::string& text) {
  sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

// A stand-in for the entry of a dictionary. Only the length matters: a row of some 70 bytes.
std::string payload(const std::string& word) {
  return "entry " + std::to_string(std::hash<std::string>{}(word)) + ", checked, of american-english-insane";
}

void insert_words(sqlite3* database, const std::vector<std::string>& words) {
  const Statement insert = prepare(database, "INSERT INTO words(word, entry) VALUES (?, ?)");
  for (const std::string& word : words) {
    const std::string entry = payload(word);
    bind_text(insert.get(), 1, word);
    bind_text(insert.get(), 2, entry);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) fail_sqlite(database, "inserting a word");
    sqlite3_reset(insert.get());
  }
}

}  // namespace

void build_database(const std::string& path, const std::vector<std::string>& words) {
  const Database database = open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // An interruption loses nothing: the whole database is thrown away then.
  execute(database.get(), "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536");
  execute(database.get(), "BEGIN; CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT NOT NULL, entry TEXT NOT NULL)");
  insert_words(database.get(), words);
  execute(database.get(), "CREATE UNIQUE INDEX words_by_word ON words(word); COMMIT");
}

Session::Session(const std::string& path) : database_(open_database(path, SQLITE_OPEN_READONLY)) {
  // 2,000 KiB is SQLite's own default. It is set here because the page fetches depend on it.
  execute(database_.get(), "PRAGMA cache_size=-2000; BEGIN");
  select_ = prepare(database_.get(), "SELECT id, entry FROM words WHERE word = ?");
}

bool Session::find(const std::string& word) {
  bind_text(select_.get(), 1, word);
  const int code = sqlite3_step(select_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail_sqlite(database_.get(), "looking a word up");
  const bool found = code == SQLITE_ROW && sqlite3_column_bytes(select_.get(), 1) > 0;
  sqlite3_reset(select_.get());
  return found;
}

std::uint64_t Session::page_fetches() const {
  int fetches = 0;
  int unused = 0;
  if (sqlite3_db_status(database_.get(), SQLITE_DBSTATUS_CACHE_MISS, &fetches, &unused, 0) != SQLITE_OK)
    fail("SQLite does not say how many pages it fetched");
  return static_cast<std::uint64_t>(fetches);
}

}  // namespace demo
