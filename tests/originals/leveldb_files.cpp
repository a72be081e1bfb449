// Filters of LevelDB's built-in policy: what CreateFilter() appends. One of 10 bits a key, and one of 25 with the empty
// key and keys that are not ASCII.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <string>
#include <vector>

#include "common.h"

namespace {

struct Made {
  const leveldb::FilterPolicy* policy;
  std::string bytes;
};

int has(void* made, const char* key, size_t bytes) {
  const auto* const its = static_cast<Made*>(made);
  return its->policy->KeyMayMatch(leveldb::Slice(key, bytes), its->bytes);
}

void make(const std::string& folder, const char* name, const char* prefix, int count, int bits_per_key) {
  Made made{leveldb::NewBloomFilterPolicy(bits_per_key), {}};
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  made.policy->CreateFilter(slices.data(), count, &made.bytes);
  FILE* const file = fopen((folder + "/" + name).c_str(), "wb");
  fwrite(made.bytes.data(), 1, made.bytes.size(), file);
  fclose(file);
  const std::string original =
      "leveldb " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  print_row(name, "leveldb", "-", prefix, count, has, &made, original.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  make(argv[1], "leveldb.ten-bits.filter", "key-", 1000, 10);
  make(argv[1], "leveldb.five-bits.filter", "cl\xc3\xa9-", 777, 5);
}
