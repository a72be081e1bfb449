// The program that leveldb_test.py runs.  Exit code 7 is a wrong no.
//   policy                          every key that was put is found, in filters of all sizes, at any address
//   write FOLDER SEED               puts numbered rows, and says which are durable, until it is killed
//   check FOLDER POLICY ROWS [1]    every row of the database is found with this policy; prints how many there are
//                                   (1: with paranoid_checks)
//   repair FOLDER POLICY            RepairDB
//   reads FOLDER POLICY ROWS GETS   the number of blocks that Gets of absent keys read, each Get without a cache
//   table                           rates and times of filters of many sizes, next to the built-in policy
//   asks POLICY                     the table's questions in filters of 33 keys, in AskAll(): for valgrind to count
// POLICY: none, NUMBER (bits per key) of bfstore, or builtin:NUMBER.
#include <bfstore_leveldb.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/write_batch.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <random>

using leveldb::Slice;
using leveldb::Status;
using Policy = std::unique_ptr<const leveldb::FilterPolicy>;

namespace {

[[noreturn]] void Fail(int code, const std::string& words) {
  std::cerr << words << std::endl;
  _exit(code);
}
void Need(const Status& status) {
  if (!status.ok()) Fail(2, status.ToString());
}
void Expect(bool good, const std::string& words) {
  if (!good) Fail(7, words);
}

// --- The policy alone -----------------------------------------------------------------------------------------------

std::string RandomKey(std::mt19937_64& random, size_t bytes) {
  std::string key(bytes, '\0');
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t some = random();
    std::memcpy(key.data() + at, &some, std::min(sizeof some, bytes - at));
  }
  return key;
}

std::string FilterOf(const leveldb::FilterPolicy& policy, const std::vector<std::string>& keys) {
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter = "before";
  policy.CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  Expect(filter.compare(0, 6, "before") == 0, "the contents of *dst stay");
  Expect(filter.size() > 6, "LevelDB takes an empty filter for one without keys");
  return filter.substr(6);
}

// Expects the keys in the filter at each address of a line: LevelDB's blocks put it anywhere.
void ExpectKeys(const leveldb::FilterPolicy& policy, const std::string& filter, const std::vector<std::string>& keys) {
  std::vector<char> room(filter.size() + 128);
  for (size_t at = 0; at < 64; at += keys.size() < 40 ? 1 : 13) {
    std::memcpy(room.data() + at, filter.data(), filter.size());
    for (const std::string& key : keys)
      Expect(policy.KeyMayMatch(key, Slice(room.data() + at, filter.size())),
             "a key of " + std::to_string(keys.size()) + " at address + " + std::to_string(at));
  }
}

// Expects "maybe" from everything that is not a whole filter.  A changed bit of the body does not show: a body has no
// checksum.
void ExpectDoubt(const leveldb::FilterPolicy& policy, const std::string& filter, const std::string& absent) {
  Expect(policy.KeyMayMatch(absent, Slice()), "an empty slice");
  for (size_t bytes = 0; bytes < filter.size(); ++bytes)
    Expect(policy.KeyMayMatch(absent, Slice(filter.data(), bytes)), "cut to " + std::to_string(bytes));
  for (size_t at = filter.size() - 8; at < filter.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = filter;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      Expect(policy.KeyMayMatch(absent, damaged), "a damaged trailer, byte " + std::to_string(at));
    }
  }
  Expect(policy.KeyMayMatch(absent, filter + "x"), "a filter that is too long");
}

std::string AbsentOf(const leveldb::FilterPolicy& policy, const std::string& filter, std::mt19937_64& random) {
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string key = RandomKey(random, 20);
    if (!policy.KeyMayMatch(key, filter)) return key;
  }
  Fail(7, "a filter of " + std::to_string(filter.size()) + " bytes tells nothing apart");
}

void TestPolicy() {
  std::mt19937_64 random(1);
  for (const double bits : {0.5, 4.0, 10.0, 16.0, 40.0}) {
    for (const uint32_t layout : {0, BFS_LAYOUT_BLOCKED, BFS_LAYOUT_CLASSIC}) {
      const bfstore::LevelDBFilterPolicy policy(bits, layout);
      std::vector<std::string> keys;
      for (size_t count = 0; count <= 2000; count += count < 70 ? 1 : count / 3) {
        while (keys.size() < count) keys.push_back(RandomKey(random, keys.size() % 37));
        const std::string filter = FilterOf(policy, keys);
        ExpectKeys(policy, filter, keys);
        if (bits >= 4) ExpectDoubt(policy, filter, AbsentOf(policy, filter, random));
      }
    }
  }
  for (const double impossible : {0.0, -1.0, 1e300}) {
    const bfstore::LevelDBFilterPolicy policy(impossible);
    ExpectKeys(policy, FilterOf(policy, {"a", "b"}), {"a", "b"});
  }
}

// --- Databases ------------------------------------------------------------------------------------------------------

Policy PolicyOf(const std::string& words) {
  if (words == "none") return nullptr;
  if (words.compare(0, 8, "builtin:") == 0) return Policy(leveldb::NewBloomFilterPolicy(std::atoi(words.c_str() + 8)));
  return Policy(bfstore::NewLevelDBFilterPolicy(std::atof(words.c_str())));
}

std::string RowKey(uint64_t number) {
  std::mt19937_64 random(number * 2 + 1);
  return RandomKey(random, 16);
}

// Counts the reads of tables.  (LevelDB maps tables where it can. This Env does not.)
class CountingEnv : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override {
    const Status status = target()->NewRandomAccessFile(name, file);
    if (status.ok()) *file = new Counted(*file, &reads);
    return status;
  }

  std::atomic<uint64_t> reads{0};

 private:
  struct Counted : leveldb::RandomAccessFile {
    Counted(leveldb::RandomAccessFile* file, std::atomic<uint64_t>* reads) : file_(file), reads_(reads) {}
    Status Read(uint64_t offset, size_t bytes, Slice* result, char* scratch) const override {
      ++*reads_;
      return file_->Read(offset, bytes, result, scratch);
    }
    std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<uint64_t>* reads_;
  };
};

struct Database {
  CountingEnv env;
  Policy policy;
  std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(0)};
  std::unique_ptr<leveldb::DB> db;

  Database(const std::string& folder, const std::string& words, size_t write_buffer = 64 << 10, bool paranoid = false)
      : policy(PolicyOf(words)) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.paranoid_checks = paranoid;
    options.filter_policy = policy.get();
    options.env = &env;
    options.block_cache = cache.get();
    options.write_buffer_size = write_buffer;
    options.compression = leveldb::kNoCompression;
    leveldb::DB* opened = nullptr;
    Need(leveldb::DB::Open(options, folder, &opened));
    db.reset(opened);
  }
  bool Has(const std::string& key) {
    std::string value;
    const Status status = db->Get({}, key, &value);
    if (!status.ok() && !status.IsNotFound()) Need(status);
    return status.ok();
  }
};

// Writes rows of about 120 bytes: 33 of them are a block of 4 KiB.
void Write(const std::string& folder, const std::string& words, uint64_t from, uint64_t to) {
  Database place(folder, words);
  const std::string value(100, 'v');
  for (uint64_t number = from; number < to; ++number) {
    leveldb::WriteOptions how;
    how.sync = number % 512 == 511;
    Need(place.db->Put(how, RowKey(number), value));
    if (number % 64 == 63) std::cout << number << "\n" << std::flush;
  }
}

void Check(const std::string& folder, const std::string& words, uint64_t rows, bool paranoid) {
  Database place(folder, words, 64 << 10, paranoid);
  uint64_t found = 0;
  std::unique_ptr<leveldb::Iterator> all(place.db->NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next(), ++found)
    Expect(place.Has(all->key().ToString()), "a row that the iterator shows");
  Need(all->status());
  for (uint64_t number = 0; number < rows; ++number) Expect(place.Has(RowKey(number)), "row " + std::to_string(number));
  std::cout << found << std::endl;
}

void Repair(const std::string& folder, const std::string& words) {
  const Policy policy = PolicyOf(words);
  leveldb::Options options;
  options.filter_policy = policy.get();
  Need(leveldb::RepairDB(folder, options));
}

void Reads(const std::string& folder, const std::string& words, uint64_t rows, uint64_t gets) {
  {
    Database place(folder, words, 64 << 20);
    const std::string value(100, 'v');
    for (uint64_t number = 0; number < rows; ++number) Need(place.db->Put({}, RowKey(number), value));
    place.db->CompactRange(nullptr, nullptr);
  }
  Database place(folder, words);
  place.db->CompactRange(nullptr, nullptr);  // no compaction reads while Gets are counted
  for (uint64_t number = 0; number < rows; number += 100) Expect(place.Has(RowKey(number)), "a row");
  place.env.reads = 0;
  for (uint64_t number = rows; number < rows + gets; ++number) Expect(!place.Has(RowKey(number)), "an absent row");
  uint64_t bytes = 0;
  std::vector<std::string> names;
  Need(place.env.GetChildren(folder, &names));
  for (const std::string& name : names) {
    uint64_t size = 0;
    if (name.find(".ldb") != std::string::npos && place.env.GetFileSize(folder + "/" + name, &size).ok()) bytes += size;
  }
  std::printf("%.5f %llu\n", static_cast<double>(place.env.reads) / static_cast<double>(gets),
              static_cast<unsigned long long>(bytes));
}

// --- The table ------------------------------------------------------------------------------------------------------

constexpr size_t kQuestions = 20000;

// Questions in random order, each with a key of its own.  If a few keys were repeated, a CPU would learn their answers,
// as it cannot in a database.
struct Questions {
  std::vector<Slice> keys, filters;
};

__attribute__((noinline)) size_t AskAll(const leveldb::FilterPolicy& policy, const Questions& questions) {
  size_t maybes = 0;
  for (size_t i = 0; i < kQuestions; ++i) maybes += policy.KeyMayMatch(questions.keys[i], questions.filters[i]);
  return maybes;
}

double ThreadNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);  // clock: table
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double MedianOf(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// A policy's filters of `count` keys each, one after the other at all kinds of addresses, and their measurements.
class Measured {
 public:
  Measured(std::string name, const leveldb::FilterPolicy* policy, size_t count, size_t filters)
      : name_(std::move(name)), policy_(policy) {
    std::mt19937_64 random(count);
    std::vector<size_t> starts;
    std::vector<std::string> keys(count), first;
    for (size_t i = 0; i < filters; ++i) {
      for (std::string& key : keys) key = RandomKey(random, 16);
      const std::string filter = FilterOf(*policy_, keys);
      for (const std::string& key : keys) Expect(policy_->KeyMayMatch(key, filter), "a key");
      starts.push_back(room_.size());
      bytes_ = filter.size();
      room_ += filter + std::string(i % 7, 'x');
      first.push_back(keys[0]);
    }
    for (size_t i = 0; i < kQuestions; ++i) {
      const size_t at = random() % filters;
      const Slice filter(room_.data() + starts[at], bytes_);
      absent_keys_ += RandomKey(random, 16);
      present_keys_ += first[at];
      absent_.filters.push_back(filter);
      present_.filters.push_back(filter);
    }
    for (size_t i = 0; i < kQuestions; ++i) {
      absent_.keys.emplace_back(absent_keys_.data() + 16 * i, 16);
      present_.keys.emplace_back(present_keys_.data() + 16 * i, 16);
    }
  }

  size_t Bytes() const { return bytes_; }
  const Questions& Absent() const { return absent_; }
  const leveldb::FilterPolicy& Policy() const { return *policy_; }

  double Rate() const {
    std::mt19937_64 random(7);
    size_t wrong = 0, asked = 0;
    for (; asked < 400000; ++asked)
      wrong += policy_->KeyMayMatch(RandomKey(random, 16), absent_.filters[asked % kQuestions]);
    return static_cast<double>(wrong) / static_cast<double>(asked);
  }

  void Ask() {
    const double start = ThreadNanoseconds();
    const size_t wrong = AskAll(*policy_, absent_);
    const double middle = ThreadNanoseconds();
    const size_t found = AskAll(*policy_, present_);
    const double end = ThreadNanoseconds();
    Expect(found == kQuestions && wrong < kQuestions / 2, "the answers");
    absent_times_.push_back((middle - start) / kQuestions);
    present_times_.push_back((end - middle) / kQuestions);
  }

  void Print(size_t count, int bits, const char* where) const {
    std::printf("%4zu  %4d  %-20s %6zu   %.5f %6.1f %6.1f  %s\n", count, bits, name_.c_str(), Bytes(), Rate(),
                MedianOf(absent_times_), MedianOf(present_times_), where);
  }

 private:
  std::string name_;
  ::Policy policy_;
  std::string room_;  // the filters
  size_t bytes_ = 0;
  std::string absent_keys_, present_keys_;
  Questions absent_, present_;
  std::vector<double> absent_times_, present_times_;
};

// Rounds take turns, so that other load of the machine affects all filters alike.
void TableOf(size_t count, int bits, size_t filters, const char* where) {
  std::deque<Measured> all;
  const auto add = [&](const std::string& name, const leveldb::FilterPolicy* policy) {
    all.emplace_back(name, policy, count, filters);
  };
  add("chosen", new bfstore::LevelDBFilterPolicy(bits));
  const int as_many = static_cast<int>((all[0].Bytes() - 1) * 8 / count);
  add("blocked", new bfstore::LevelDBFilterPolicy(bits, BFS_LAYOUT_BLOCKED));
  add("classic", new bfstore::LevelDBFilterPolicy(bits, BFS_LAYOUT_CLASSIC));
  add("built-in", leveldb::NewBloomFilterPolicy(bits));
  add("built-in, as large", leveldb::NewBloomFilterPolicy(as_many));
  for (int round = 0; round < 30; ++round)
    for (Measured& one : all) one.Ask();
  for (const Measured& one : all) one.Print(count, bits, where);
}

void Asks(const std::string& words) {
  const Measured one(words, PolicyOf(words).release(), 33, 64);
  Expect(AskAll(one.Policy(), one.Absent()) < kQuestions / 20, "absent keys");
}

void Table() {
  std::puts("keys  bits  policy                bytes   rate    absent present (ns)");
  for (const int bits : {10, 16}) TableOf(33, bits, 50000, "cold");
  for (const size_t count : {10, 20, 33, 50, 100, 300})
    for (const int bits : {10, 16}) TableOf(count, bits, 64, "hot");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "", folder = argc > 2 ? argv[2] : "", words = argc > 3 ? argv[3] : "";
  const uint64_t first = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  const uint64_t second = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : UINT64_MAX;
  if (mode == "policy")
    TestPolicy();
  else if (mode == "write")
    Write(folder, words, first, second);
  else if (mode == "check")
    Check(folder, words, first, second == 1);
  else if (mode == "repair")
    Repair(folder, words);
  else if (mode == "reads")
    Reads(folder, words, first, second);
  else if (mode == "table")
    Table();
  else if (mode == "asks")
    Asks(folder);
  else
    Fail(2, "what to do?");
}
