// LevelDB with bfstore filters.
//
//   c++ -std=c++20 example.cpp $(pkg-config --cflags --libs bfstore) -lleveldb -o example
//   ./example FOLDER
#include <bfstore_leveldb.h>
#include <leveldb/db.h>

#include <iostream>
#include <memory>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::unique_ptr<const leveldb::FilterPolicy> policy(bfstore::NewLevelDBFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, argv[1], &opened).ok()) return 1;
  const std::unique_ptr<leveldb::DB> db(opened);  // ends before the policy
  if (!db->Put({}, "alice", "1").ok()) return 1;
  for (const char* key : {"alice", "zoe"}) {
    std::string value;
    const leveldb::Status status = db->Get({}, key, &value);
    std::cout << key << ": " << (status.ok() ? value : status.ToString()) << "\n";
  }
  return 0;
}
