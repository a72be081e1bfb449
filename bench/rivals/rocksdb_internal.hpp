// The two classes of RocksDB 7.8 that its public header only names. The order of their virtual functions is their ABI.
// (In its sources they are in table/block_based/filter_policy_internal.h.)
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <cstdint>
#include <memory>

static_assert(ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8, "another version may order these functions in another way");

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual std::size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
};

// At most 32 keys at once. HashMayMatch is a function of the built-in readers, and all filters here have one.
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& key) = 0;
  virtual void MayMatch(int count, Slice** keys, bool* answers) = 0;
  virtual bool HashMayMatch(std::uint64_t hash) = 0;
};

}  // namespace rocksdb
