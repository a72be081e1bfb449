// Full filters of RocksDB's NewBloomFilterPolicy in the form of format_version 5: the filter block of a table, which
// RocksDB's own builder makes and its own reader asks. The library does not publish the headers of these two classes:
// their declarations here are those of RocksDB 7.8 (table/block_based/filter_policy_internal.h).
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <memory>
#include <string>

#include "common.h"

static_assert(ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8);

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& entry) = 0;
};

}  // namespace rocksdb

namespace {

int has(void* reader, const char* key, size_t bytes) {
  return static_cast<rocksdb::FilterBitsReader*>(reader)->MayMatch(rocksdb::Slice(key, bytes));
}

void make(const std::string& folder, const char* name, const std::string& prefix, int count, double bits_per_key) {
  const std::unique_ptr<const rocksdb::FilterPolicy> policy(rocksdb::NewBloomFilterPolicy(bits_per_key));
  rocksdb::BlockBasedTableOptions options;
  options.format_version = 5;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
  for (int i = 0; i < count; ++i) builder->AddKey(prefix + std::to_string(i));
  std::unique_ptr<const char[]> kept;
  const rocksdb::Slice made = builder->Finish(&kept);
  FILE* const file = fopen((folder + "/" + name).c_str(), "wb");
  fwrite(made.data(), 1, made.size(), file);
  fclose(file);
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(made));
  const std::string original = "rocksdb " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
                               std::to_string(ROCKSDB_PATCH);
  print_row(name, "rocksdb", "-", prefix.c_str(), count, has, reader.get(), original.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  make(argv[1], "rocksdb.ten-bits.filter", "key-", 1000, 10);
  // Keys of more than 240 bytes, which have another path through the hash.
  make(argv[1], "rocksdb.long-keys.filter", std::string(250, 'a') + "-", 300, 25.5);
}
