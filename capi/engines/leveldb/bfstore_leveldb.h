// A filter policy for LevelDB: options.filter_policy = bfstore::NewLevelDBFilterPolicy(bits_per_key), instead of
// leveldb::NewBloomFilterPolicy.  Header only; needs only bfstore.h.
#ifndef BFSTORE_LEVELDB_H
#define BFSTORE_LEVELDB_H

#include <bfstore_memory.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace bfstore {

// Builds filters in the bare form.  The trailer of each filter names its layout: so any of these policies reads filters
// that were made with other bits per key, or with the other layout.
class LevelDBFilterPolicy : public leveldb::FilterPolicy {
 public:
  // layout: BFS_LAYOUT_CLASSIC, BFS_LAYOUT_BLOCKED, or 0 for the better one, which LayoutFor chooses.
  explicit LevelDBFilterPolicy(double bits_per_key, uint32_t layout = 0)
      : bits_per_key_(bits_per_key), layout_(layout) {}

  // The version of the form.  LevelDB stores filters under this name, and does not read those of another name.
  const char* Name() const override { return "bfstore.bare.1"; }

  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    const uint64_t count = n > 0 ? static_cast<uint64_t>(n) : 0;
    const uint32_t layout = layout_ == 0 ? LayoutFor(count, bits_per_key_) : layout_;
    const uint64_t bytes = bfs_bare_bytes(count > 0 ? count : 1, bits_per_key_, layout);
    std::vector<bfs_key> pairs(count);
    for (uint64_t i = 0; i < count; ++i) pairs[i] = {keys[i].data(), keys[i].size()};
    const bfs_keys view = bfs_keys_pairs(pairs.data(), count);
    const size_t start = dst->size();
    dst->resize(start + bytes);
    if (bytes > 0 && bfs_bare_build(dst->data() + start, bytes, layout, 0, &view) == BFS_OK) return;
    // LevelDB treats an empty filter as one without keys.  One byte is no filter: "maybe".
    dst->resize(start);
    dst->push_back('\0');
  }

  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return bfs_bare_contains(filter.data(), filter.size(), key.data(), key.size()) != 0;
  }

  // Blocked answers faster, but rounds up to lines of 512 bits.  With 33 keys at 10 bits, LevelDB's normal case, a key
  // then has 15 bits: half as many blocks are read as with the built-in policy, in as many bytes.  The choice is
  // classic if lines would more than double a filter, or if a filter of several lines has so many bits for each key
  // that the built-in policy needs fewer reads than blocked (the test's --bench prints the table).
  static uint32_t LayoutFor(uint64_t count, double bits_per_key) {
    const double bits = static_cast<double>(count) * bits_per_key;
    const double lines = std::ceil(bits / 512) * 512;
    const bool many_bits = bits > 512 && bits_per_key >= 12;
    return lines <= 2 * bits && !many_bits ? BFS_LAYOUT_BLOCKED : BFS_LAYOUT_CLASSIC;
  }

 private:
  double bits_per_key_;
  uint32_t layout_;
};

// The caller deletes it after the database.
inline const leveldb::FilterPolicy* NewLevelDBFilterPolicy(double bits_per_key) {
  return new LevelDBFilterPolicy(bits_per_key);
}

}  // namespace bfstore

#endif
