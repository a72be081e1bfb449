// The SQLite database: made once. Then each worker asks it through a prepared statement in one transaction.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace demo {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// Makes a table with one row per word and a unique index of the words.
void build_database(const std::string& path, const std::vector<std::string>& words);

// One read transaction over an existing database. Its own page cache is small and starts empty.
class Session {
 public:
  explicit Session(const std::string& path);

  // Looks a word up and reads its row.
  bool find(const std::string& word);

  // Pages that SQLite has fetched from the file so far.
  [[nodiscard]] std::uint64_t page_fetches() const;

 private:
  Database database_;
  Statement select_;  // after the database, which must outlive it
};

}  // namespace demo
