// A RocksDB database with a filter in front of it.
//
//   c++ -std=c++20 example.cpp $(pkg-config --cflags --libs bfstore) -lrocksdb -o example
//   ./example FOLDER put KEY VALUE
//   ./example FOLDER get KEY          even while another process writes
#include <bfstore_rocksdb.h>

#include <iostream>

using rocksdb::DB;
using rocksdb::Status;

static int Put(const std::string& folder, const std::string& key, const std::string& value) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.WAL_ttl_seconds = 24 * 3600;  // longer than the time between two calls of Sync
  DB* db = nullptr;
  Status status = DB::Open(options, folder + "/db", &db);
  bfstore::RocksDBFront* front = nullptr;
  if (status.ok()) status = bfstore::RocksDBFront::Open(db, {}, {db->DefaultColumnFamily()}, &front);
  if (status.ok()) status = front->Put({}, key, value);  // front is a DB: use it as a DB without a filter
  if (status.ok()) status = front->Sync();               // a long-running program does this every minute
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  delete front;
  return status.ok() ? 0 : 1;
}

static int Get(const std::string& folder, const std::string& key) {
  DB* db = nullptr;
  Status status = DB::OpenForReadOnly({}, folder + "/db", &db);
  if (!status.ok()) return 1;
  bfstore::RocksDBReader reader(db, {});
  std::string value;
  if (reader.CertainlyAbsent({}, reader.DefaultColumnFamily(), key)) {
    std::cout << key << " is absent, says the filter\n";
  } else if (reader.Get({}, key, &value).ok()) {
    std::cout << key << " = " << value << "\n";
  } else {
    std::cout << key << " is absent\n";
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 5 && argv[2] == std::string("put")) return Put(argv[1], argv[3], argv[4]);
  if (argc == 4 && argv[2] == std::string("get")) return Get(argv[1], argv[3]);
  std::cerr << "example FOLDER put KEY VALUE | get KEY\n";
  return 2;
}
