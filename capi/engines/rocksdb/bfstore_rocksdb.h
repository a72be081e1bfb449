// A Bloom filter in a file in front of a whole RocksDB database: a lookup of an absent key costs no read of RocksDB.
// Header only; needs only bfstore.h.  RocksDBFront is for the process that writes, RocksDBReader for the processes that
// opened the database with OpenForReadOnly or OpenAsSecondary.  Both are a rocksdb::DB, and own the database.
//
// The order is "The engine's protocol" of bfstore.h, with RocksDB's WAL as the log.  A batch is log and visible row at
// once, so its keys are added before it is written.  Positions are sequence numbers.
//
// Keys in the filter: a key of the default column family as it is; a key of another family with the family's id after
// it (4 bytes, little-endian).  So a program in any language can look up keys of the default family.
#ifndef BFSTORE_ROCKSDB_H
#define BFSTORE_ROCKSDB_H

#include <rocksdb/version.h>

// Later versions have more ways to write (PutEntity with attribute groups), which would bypass the front: a wrong no.
#if ROCKSDB_MAJOR != 7
#error "bfstore_rocksdb.h knows the ways to write of RocksDB 7 alone"
#endif

#include <bfstore_engine.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bfstore {

struct RocksDBFrontOptions {
  std::string path;         // the filter's; empty: the database's folder plus ".bf"
  uint64_t capacity = 0;    // keys that a new filter is made for; twice the database's estimate if that is more
  double fpr = 0.001;       // at that many keys
  uint64_t owner = 1;       // the owner for bfs_sync
  uint32_t mode = 0;        // permission bits of a new filter file; 0: 0600
  uint64_t open_flags = 0;  // more flags of bfs_open, such as BFS_GUARD
  // The front keeps one row of its own in the default column family, which iterators see.
  std::string record_key = std::string("\0bfstore.front", 14);
};

namespace rocksdb_front {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using Families = std::vector<ColumnFamilyHandle*>;

inline Status StatusOf(int32_t code, const std::string& message) {
  return code == BFS_EBUSY ? Status::Busy("bfstore", message) : Status::IOError("bfstore", message);
}

// The bytes that a column family's key has in the filter.
class FilterKey {
 public:
  FilterKey(uint32_t family, const Slice& key) : data_(key.data()), bytes_(key.size()) {
    if (family == 0) return;
    char* made = bytes_ + sizeof family <= small_.size() ? small_.data() : Grown(bytes_ + sizeof family);
    if (bytes_ > 0) std::memcpy(made, key.data(), bytes_);
    for (unsigned i = 0; i < sizeof family; ++i) made[bytes_++] = static_cast<char>(family >> (8 * i));
    data_ = made;
  }
  FilterKey(const FilterKey&) = delete;
  FilterKey& operator=(const FilterKey&) = delete;

  const char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  char* Grown(size_t bytes) {
    large_.resize(bytes);
    return large_.data();
  }

  const char* data_;
  size_t bytes_;
  std::array<char, 256> small_;
  std::string large_;
};

// A gate that many threads pass at once; one thread closes it, and is then alone.  Slots, so that threads do not share
// a cache line.  The closing thread sets its mark first: with only a lock of the C library, a stream of passing threads
// would starve it.
class Gate {
  struct alignas(64) Slot {
    std::shared_mutex lock;
  };

 public:
  class Pass {
   public:
    explicit Pass(Gate& gate) : slot_(gate.slots_[std::hash<std::thread::id>()(std::this_thread::get_id()) % kSlots]) {
      for (;;) {
        gate.closing_.wait(true);
        slot_.lock.lock_shared();
        if (!gate.closing_) return;
        slot_.lock.unlock_shared();
      }
    }
    ~Pass() { slot_.lock.unlock_shared(); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Slot& slot_;
  };

  class Closed {
   public:
    explicit Closed(Gate& gate) : gate_(gate), one_at_a_time_(gate.closers_) {
      gate_.closing_ = true;
      for (Slot& slot : gate_.slots_) slot.lock.lock();
    }
    ~Closed() {
      for (Slot& slot : gate_.slots_) slot.lock.unlock();
      gate_.closing_ = false;
      gate_.closing_.notify_all();
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    Gate& gate_;
    std::lock_guard<std::mutex> one_at_a_time_;
  };

 private:
  static constexpr size_t kSlots = 16;
  std::array<Slot, kSlots> slots_;
  std::atomic<bool> closing_{false};
  std::mutex closers_;
};

// The families whose rows a filter has, by id.  RocksDB gives each family a new id, even if it has the name of a
// dropped one.  Handles that were opened before a drop still show the dropped rows, which a later filter does not have.
class FamilyIds {
 public:
  bool Has(uint32_t id) const { return id < has_.size() && has_[id]; }
  void Add(uint32_t id) {
    if (id >= has_.size()) has_.resize(id + 1);
    has_[id] = true;
  }
  void Remove(uint32_t id) {
    if (id < has_.size()) has_[id] = false;
  }

  void AppendTo(std::string* row) const {
    for (uint32_t id = 0; id < has_.size(); ++id) {
      if (has_[id]) row->append(reinterpret_cast<const char*>(&id), sizeof id);
    }
  }
  void ReadFrom(const Slice& words) {
    for (size_t at = 0; at + sizeof(uint32_t) <= words.size(); at += sizeof(uint32_t)) {
      uint32_t id = 0;
      std::memcpy(&id, words.data() + at, sizeof id);
      Add(id);
    }
  }

 private:
  std::vector<bool> has_;
};

// The one row that the front keeps in the database: this struct, and the ids of the filter's families.  `epoch` is that
// of the filter's mark, a new one at each opening: a filter with a mark in it was compared with this history of the
// database, not with an abandoned one.  Within an epoch the history may also be abandoned: a copy of the database is
// older than the filter, or rows without a WAL are lost, and a program writes other rows at the same sequence numbers.
// So the row is written before each mark: a database that has the row had all rows of this epoch up to its `mark`, and
// a higher mark of a filter does not count.
struct Record {
  uint64_t epoch = 0;
  uint64_t mark = 0;           // not above the row's own sequence number
  uint64_t previous = 0;       // the epoch before: still the filter's if the writer died before it stored the new one
  uint64_t previous_mark = 0;  // the mark in that epoch
  uint8_t file_id[16] = {};
};

// Reads the row by an iterator, which compares all versions of it: Get of a secondary instance takes the first version
// that it finds, and its active memtable may have an older one than its files.
inline Status ReadRecord(DB* db, const std::string& key, Record* record, FamilyIds* families) {
  ReadOptions all;
  all.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> row(db->NewIterator(all));
  row->Seek(key);
  *record = Record();
  *families = FamilyIds();
  if (!row->Valid() || row->key() != Slice(key) || row->value().size() < sizeof *record) return row->status();
  Slice words = row->value();
  std::memcpy(record, words.data(), sizeof *record);
  words.remove_prefix(sizeof *record);
  families->ReadFrom(words);
  return row->status();
}

// Needs that no thread writes: then the row gets the sequence number that it names.
inline Status WriteRecord(DB* db, const std::string& key, Record* record, const FamilyIds& families) {
  record->mark = db->GetLatestSequenceNumber() + 1;
  std::string row(reinterpret_cast<const char*>(record), sizeof *record);
  families.AppendTo(&row);
  return db->Put({}, key, row);
}

// Returns whether the record names this filter, and the filter has all keys up to the record's mark.  An older copy has
// a lower mark.  So has the filter itself between WriteRecord and bfs_sync.
inline bool IsNamed(const bfs_filter* filter, uint64_t owner, const Record& record) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  return bfs_stats(filter, 0, &facts, nullptr) == BFS_OK &&
         std::memcmp(facts.file_id, record.file_id, sizeof record.file_id) == 0 &&
         bfs_get_mark(filter, owner, record.epoch) >= record.mark;
}

inline uint64_t NewEpoch() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32 | random()) | 1;  // 0 means no epoch
}

// Adds the keys of a batch to one or two filters.  Deletes add and remove nothing: RocksDB's log could not keep a
// counting filter right.  A batch of two-phase commit is an error (from the base class): its sequence numbers are not
// those of its keys.
class KeyAdder : public rocksdb::WriteBatch::Handler {
 public:
  KeyAdder(bfs_filter* filter, bfs_filter* next) : filter_(filter), next_(next) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice&) override { return Add(family, key); }
  Status MergeCF(uint32_t family, const Slice& key, const Slice&) override { return Add(family, key); }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice&) override { return Add(family, key); }
  Status PutBlobIndexCF(uint32_t family, const Slice& key, const Slice&) override { return Add(family, key); }
  Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status MarkNoop(bool) override { return Status::OK(); }
  void LogData(const Slice&) override {}

  Status Add(uint32_t family, const Slice& key) {
    const FilterKey bytes(family, key);
    const int32_t code = bfs_add(filter_, bytes.data(), bytes.bytes());
    if (next_ != nullptr && bfs_add(next_, bytes.data(), bytes.bytes()) < 0) next_refused_ = true;
    return code < 0 ? StatusOf(code, bfs_strerror(code)) : Status::OK();
  }

  bool next_refused() const { return next_refused_; }

 private:
  bfs_filter* filter_;
  bfs_filter* next_;
  bool next_refused_ = false;
};

// The common part of the fronts of writer and readers: they ask the filter before they read.
class Asking : public rocksdb::StackableDB {
 public:
  Asking(DB* db, const RocksDBFrontOptions& options) : StackableDB(db), options_(options) {
    if (options_.path.empty()) options_.path = db->GetName() + ".bf";
  }

  // For bfs_stats and bfs_health.  NULL: every answer is "maybe".  Do not call this during Rebuild or Recover.
  const bfs_filter* filter() const { return filter_; }
  const std::string& filter_path() const { return options_.path; }

  // Returns true if RocksDB certainly has no such key.  False is "maybe".
  virtual bool CertainlyAbsent(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key) = 0;

  using StackableDB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             rocksdb::PinnableSlice* value) override {
    return CertainlyAbsent(options, family, key) ? Status::NotFound() : db_->Get(options, family, key, value);
  }

  using StackableDB::GetEntity;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   rocksdb::PinnableWideColumns* columns) override {
    return CertainlyAbsent(options, family, key) ? Status::NotFound() : db_->GetEntity(options, family, key, columns);
  }

  using StackableDB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                   bool* value_found = nullptr) override {
    if (value_found != nullptr) *value_found = false;
    return !CertainlyAbsent(options, family, key) && db_->KeyMayExist(options, family, key, value, value_found);
  }

  using StackableDB::MultiGet;
  std::vector<Status> MultiGet(const ReadOptions& options, const Families& families, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override {
    std::vector<Status> statuses(keys.size(), Status::NotFound());
    std::vector<size_t> asked;
    Families of_asked;
    std::vector<Slice> asked_keys;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (CertainlyAbsent(options, families[i], keys[i])) continue;
      asked.push_back(i);
      of_asked.push_back(families[i]);
      asked_keys.push_back(keys[i]);
    }
    std::vector<std::string> found;
    const std::vector<Status> answers = db_->MultiGet(options, of_asked, asked_keys, &found);
    values->assign(keys.size(), std::string());
    for (size_t i = 0; i < asked.size(); ++i) {
      statuses[asked[i]] = answers[i];
      (*values)[asked[i]] = std::move(found[i]);
    }
    return statuses;
  }

  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, const size_t num_keys, const Slice* keys,
                rocksdb::PinnableSlice* values, Status* statuses, const bool sorted_input = false) override {
    std::vector<size_t> asked;
    std::vector<Slice> asked_keys;
    for (size_t i = 0; i < num_keys; ++i) {
      statuses[i] = Status::NotFound();
      if (CertainlyAbsent(options, family, keys[i])) continue;
      asked.push_back(i);
      asked_keys.push_back(keys[i]);
    }
    std::vector<rocksdb::PinnableSlice> found(asked.size());
    std::vector<Status> answers(asked.size());
    db_->MultiGet(options, family, asked.size(), asked_keys.data(), found.data(), answers.data(), sorted_input);
    for (size_t i = 0; i < asked.size(); ++i) {
      statuses[asked[i]] = answers[i];
      values[asked[i]] = std::move(found[i]);
    }
  }

 protected:
  // A comparator may treat different bytes as one key, or compare only a part of the key (timestamps).
  static bool BytesAreTheKey(const ColumnFamilyHandle* family) {
    const rocksdb::Comparator* order = family->GetComparator();
    return !order->CanKeysWithDifferentByteContentsBeEqual() && order->timestamp_size() == 0;
  }

  // Needs that asks_ is passed, and that filter_ is not NULL.
  bool Lacks(ColumnFamilyHandle* family, const Slice& key) const {
    const uint32_t id = family->GetID();
    if (!in_filter_.Has(id)) return false;
    const FilterKey bytes(id, key);
    return bfs_contains(filter_, bytes.data(), bytes.bytes()) == 0;
  }

  RocksDBFrontOptions options_;
  Gate asks_;                     // closed while filter_ and in_filter_ change
  bfs_filter* filter_ = nullptr;  // NULL: no filter can be trusted
  FamilyIds in_filter_;
};

}  // namespace rocksdb_front

// The way in which an opening made the filter current.
enum class RocksDBRecovery { kNothingMissing, kFromWal, kFromAllRows };

// The front for the process that writes.  Every write of every process must go through it, from the first one on: a key
// that is written or ingested past it is answered "no" until its next Sync.  No program may ingest past it before it is
// opened again, either: ingested rows may have no sequence number of their own, and Open would not notice them.  If a
// program did, remove the filter first.  The database must not be a TransactionDB, whose commits do not pass through
// the front.  Keys of families with another order than that of bytes are not looked up in the filter: Get always reads
// them.
class RocksDBFront : public rocksdb_front::Asking {
  using Status = rocksdb::Status;
  using Slice = rocksdb::Slice;
  using Families = rocksdb_front::Families;
  using Family = rocksdb::ColumnFamilyHandle;
  using Gate = rocksdb_front::Gate;

 public:
  // Compares the filter with the database, and adds what is missing: from the WAL, if that reaches back to the filter's
  // mark (DBOptions.WAL_ttl_seconds must cover the time between two calls of Sync), otherwise from all rows into a new
  // filter.  `families` are those that DB::Open returned (for DB::Open without families: DefaultColumnFamily()).  With
  // OK *front owns `db`; otherwise the caller still does.
  static Status Open(rocksdb::DB* db, const RocksDBFrontOptions& options, const Families& families,
                     RocksDBFront** front) {
    std::unique_ptr<RocksDBFront> made(new RocksDBFront(db, options));
    const Status status = made->Start(families);
    *front = made.release();
    if (status.ok()) return status;
    (*front)->db_ = nullptr;
    delete *front;
    *front = nullptr;
    return status;
  }

  ~RocksDBFront() override {
    if (filter_ != nullptr && Sync().ok())
      bfs_close(filter_, nullptr);
    else
      bfs_abandon(filter_);
  }

  // Makes the WAL, and then the filter, durable up to now.  An opening after a power cut adds what came later.  After
  // an error call Recover.
  Status Sync() {
    uint64_t epoch = 0, mark = 0;
    {
      Gate::Closed no_writes(writes_);
      if (filter_ == nullptr) return Refused();
      Status written = HasItsMark();
      if (written.ok()) written = AddWhatWentPast(filter_);
      if (written.ok()) written = rocksdb_front::WriteRecord(db_, options_.record_key, &record_, in_filter_);
      if (!written.ok()) return written;
      passed_ = record_.mark;
      epoch = record_.epoch;
      mark = record_.mark;
    }
    Gate::Pass pass(writes_);
    if (filter_ == nullptr) return Refused();
    if (record_.epoch != epoch) return Status::OK();  // a later filter, or a later mark, was synced meanwhile
    const Status stored = StoreMark(filter_, epoch, mark);
    uint64_t last = stored_mark_;
    while (stored.ok() && last < mark && !stored_mark_.compare_exchange_weak(last, mark)) {
    }
    return stored;
  }

  // Replaces the filter by a new one of all rows, for more keys or after many deletes.  Other threads may read and
  // write meanwhile.  `families` are all families of the database.  After an error the old filter stays in use.
  Status Rebuild(const Families& families) {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    if (filter_ == nullptr) return Refused();
    return Replace(families);
  }

  // Opens the filter again, as Open does.  Call this after a write or Sync returned an error of bfstore.  Other threads
  // may read.
  Status Recover(const Families& families) {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    {
      Gate::Closed no_writes(writes_);
      Gate::Closed no_asks(asks_);
      bfs_close(filter_, nullptr);
      filter_ = nullptr;
    }
    return StartAlone(families);
  }

  Status Close() override {
    {
      std::lock_guard<std::mutex> one_at_a_time(changing_);
      const Status synced = filter_ == nullptr ? Status::OK() : Sync();
      if (!synced.ok()) return synced;
      Gate::Closed no_writes(writes_);
      Gate::Closed no_asks(asks_);
      bfs_close(filter_, nullptr);
      filter_ = nullptr;
    }
    return db_->Close();
  }

  RocksDBRecovery recovered_by() const { return recovered_by_; }

  bool CertainlyAbsent(const rocksdb::ReadOptions& options, Family* family, const Slice& key) override {
    if (!BytesAreTheKey(family)) return false;
    Gate::Pass pass(asks_);
    if (filter_ == nullptr) return false;
    // A new filter lacks keys that were deleted before it was built, but an older snapshot still shows their rows.
    if (options.snapshot != nullptr && options.snapshot->GetSequenceNumber() < built_at_) return false;
    return Lacks(family, key);
  }

  // Adds the keys, then writes the rows: a key without a row costs only a false positive.  After an error of bfstore
  // nothing was written.
  Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) override {
    if (batch == nullptr) return Status::InvalidArgument("no batch");
    Gate::Pass pass(writes_);
    if (filter_ == nullptr) return Refused();
    rocksdb_front::KeyAdder adder(filter_, next_);
    const Status added = batch->Iterate(&adder);
    if (adder.next_refused()) next_refused_ = true;
    if (!added.ok()) return added;
    const uint32_t count = batch->Count();
    const Status written = db_->Write(options, batch);
    if (written.ok()) passed_ += count;
    return written;
  }

  using StackableDB::Put;
  Status Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& value) override {
    return DB::Put(options, family, key, value);  // calls Write
  }
  Status Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& time,
             const Slice& value) override {
    return DB::Put(options, family, key, time, value);
  }

  using StackableDB::PutEntity;
  Status PutEntity(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                   const rocksdb::WideColumns& columns) override {
    return DB::PutEntity(options, family, key, columns);
  }

  using StackableDB::Merge;
  Status Merge(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& value) override {
    return DB::Merge(options, family, key, value);
  }

  // Deletes have no keys to add.  Write counts their sequence numbers.
  using StackableDB::Delete;
  Status Delete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) override {
    return DB::Delete(options, family, key);
  }

  using StackableDB::SingleDelete;
  Status SingleDelete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) override {
    return DB::SingleDelete(options, family, key);
  }

  using StackableDB::DeleteRange;
  Status DeleteRange(const rocksdb::WriteOptions& options, Family* family, const Slice& begin,
                     const Slice& end) override {
    return DB::DeleteRange(options, family, begin, end);
  }

  // Ingested rows are not in the WAL: so their keys are made durable first.  An older filter, which lacks them, may
  // come back, and their sequence number may be 0, which leaves no gap: so the filter gets a new epoch here, and a
  // filter with a mark of an earlier epoch does not continue.  Waits for a Rebuild.
  using StackableDB::IngestExternalFile;
  Status IngestExternalFile(Family* family, const std::vector<std::string>& files,
                            const rocksdb::IngestExternalFileOptions& options) override {
    rocksdb::IngestExternalFileArg one;
    one.column_family = family;
    one.external_files = files;
    one.options = options;
    return IngestExternalFiles({one});
  }

  using StackableDB::IngestExternalFiles;
  Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) override {
    std::lock_guard<std::mutex> one_at_a_time(changing_);  // so filter_ stays, and next_ is NULL
    if (filter_ == nullptr) return Refused();
    for (const auto& arg : args) {
      for (const std::string& file : arg.external_files) {
        const Status added = AddFile(arg.column_family, file);
        if (!added.ok()) return added;
      }
    }
    const Status synced = NewEpoch();
    if (!synced.ok()) return synced;
    Gate::Closed no_writes(writes_);  // RocksDB also stops writes
    const uint64_t before = db_->GetLatestSequenceNumber();
    const Status ingested = db_->IngestExternalFiles(args);
    passed_ += db_->GetLatestSequenceNumber() - before;
    return ingested;
  }

  // Families are created and dropped only while no Rebuild runs: so a filter has all rows of the families that it was
  // built of.
  Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                            Family** handle) override {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    const Status status = db_->CreateColumnFamily(options, name, handle);
    if (status.ok()) Created({*handle});
    return status;
  }

  Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              Families* handles) override {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    const Status status = db_->CreateColumnFamilies(options, names, handles);
    Created(*handles);
    return status;
  }

  Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              Families* handles) override {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    const Status status = db_->CreateColumnFamilies(families, handles);
    Created(*handles);
    return status;
  }

  Status DropColumnFamily(Family* family) override {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    const Status status = db_->DropColumnFamily(family);
    if (!status.ok()) return status;
    dropped_.insert(family->GetID());
    Gate::Closed no_writes(writes_);
    Gate::Closed no_asks(asks_);
    in_filter_.Remove(family->GetID());
    return status;
  }

  Status DropColumnFamilies(const Families& families) override {
    for (Family* family : families) {
      const Status status = DropColumnFamily(family);
      if (!status.ok()) return status;
    }
    return Status::OK();
  }

  using StackableDB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                      const rocksdb::ImportColumnFamilyOptions&,
                                      const rocksdb::ExportImportFilesMetaData&, Family**) override {
    return Status::NotSupported("bfstore", "import before the front is opened, and remove the filter");
  }

  // Not supported: a replayer would write to the database itself.
  using StackableDB::NewDefaultReplayer;
  Status NewDefaultReplayer(const Families&, std::unique_ptr<rocksdb::TraceReader>&&,
                            std::unique_ptr<rocksdb::Replayer>*) override {
    return Status::NotSupported("bfstore", "replay before the front is opened");
  }

 private:
  using Asking::Asking;

  Status NewEpoch() {
    Gate::Closed no_writes(writes_);
    rocksdb_front::Record next;
    Status status = HasItsMark();
    if (status.ok()) status = AddWhatWentPast(filter_);
    if (status.ok()) status = Announce(filter_, &next);
    if (status.ok()) status = SyncHandle(filter_, &next);
    if (status.ok()) Stored(next);
    return status;
  }

  static Status Refused() { return Status::IOError("bfstore", "there is no filter to add keys to: call Recover"); }

  Status AddFile(Family* family, const std::string& file) {
    rocksdb::SstFileReader reader(db_->GetOptions(family));
    Status status = reader.Open(file);
    if (!status.ok()) return status;
    rocksdb_front::KeyAdder adder(filter_, next_);
    status = AddRows(reader.NewIterator(rocksdb::ReadOptions()), family->GetID(), &adder);
    if (adder.next_refused()) next_refused_ = true;
    return status;
  }

  static Status AddRows(rocksdb::Iterator* rows, uint32_t family, rocksdb_front::KeyAdder* adder) {
    std::unique_ptr<rocksdb::Iterator> owned(rows);
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      const Status added = adder->Add(family, rows->key());
      if (!added.ok()) return added;
    }
    return rows->status();
  }

  // Needs that no thread writes: the keys of all rows up to the record were added before.
  Status SyncHandle(bfs_filter* filter, rocksdb_front::Record* record) {
    const Status written = rocksdb_front::WriteRecord(db_, options_.record_key, record, in_filter_);
    if (!written.ok()) return written;
    passed_ = record->mark;
    return StoreMark(filter, record->epoch, record->mark);
  }

  // A lower mark is that of an older filter, copied over this one: a new mark would hide the keys that it lacks.
  Status HasItsMark() const {
    if (bfs_get_mark(filter_, options_.owner, record_.epoch) >= stored_mark_) return Status::OK();
    return Status::Aborted("bfstore", options_.path + " has lost its mark: call Recover");
  }

  void Stored(const rocksdb_front::Record& record) {
    record_ = record;
    stored_mark_ = record.mark;
  }

  // A mark above a row that was written past the front would hide that row from every later opening.  Needs that no
  // thread writes.
  Status AddWhatWentPast(bfs_filter* filter) {
    const uint64_t latest = db_->GetLatestSequenceNumber();
    if (passed_ == latest) return Status::OK();
    Status status = db_->FlushWAL(false);
    if (status.ok()) status = AddFromWal(filter, record_.mark, latest);
    if (status.ok()) passed_ = latest;
    return status.ok() ? status : Status::Aborted("bfstore", "rows were written past the front: call Recover");
  }

  // Flushes the WAL first: the database has to know the epoch and the mark before the filter does.
  Status StoreMark(bfs_filter* filter, uint64_t epoch, uint64_t mark) {
    const Status flushed = db_->FlushWAL(true);
    if (!flushed.ok()) return flushed;
    bfs_error error = BFS_ERROR_INIT;
    const bfs_owner_mark known = {options_.owner, mark, epoch, 0, 0};
    const int32_t code = bfs_sync(filter, &known, &error);
    return code == BFS_OK ? Status::OK() : rocksdb_front::StatusOf(code, error.message);
  }

  Status Start(const Families& families) {
    std::lock_guard<std::mutex> one_at_a_time(changing_);
    return StartAlone(families);
  }

  // Needs that no thread writes; filter_ is NULL.
  Status StartAlone(const Families& families) {
    passed_ = db_->GetLatestSequenceNumber();
    rocksdb_front::Record record;
    rocksdb_front::FamilyIds of_its_filter;  // a filter that continues has the current families
    Status status = rocksdb_front::ReadRecord(db_, options_.record_key, &record, &of_its_filter);
    if (!status.ok()) return status;
    bfs_filter* filter = nullptr;
    bool recovers = false;
    status = OpenFile(&filter, &recovers);
    if (!status.ok()) return status;
    HasRowsOf(families);
    if (filter != nullptr) {
      if (Continue(filter, record, recovers).ok()) return Status::OK();
      bfs_close(filter, nullptr);
    }
    status = Replace(families);
    if (status.ok()) recovered_by_ = RocksDBRecovery::kFromAllRows;
    return status;
  }

  // Returns OK without a filter if none can continue.  A failure that is temporary, or that a person can mend,
  // is an error: it is no reason to throw a filter away.
  Status OpenFile(bfs_filter** filter, bool* recovers) {
    bfs_error error = BFS_ERROR_INIT;
    const uint64_t flags = BFS_WRITE | options_.open_flags;
    int32_t code = bfs_open(options_.path.c_str(), flags, nullptr, filter, &error);
    *recovers = code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING;
    if (*recovers) code = bfs_open(options_.path.c_str(), flags | BFS_RECOVER, nullptr, filter, &error);
    if (code == BFS_OK || code == BFS_ENOENT || BFS_IS_MALFORMED(code) || BFS_IS_STATE_ERROR(code)) return Status::OK();
    return rocksdb_front::StatusOf(code, error.message);
  }

  // Does step 4 of the protocol.  Returns an error if the filter cannot be made current from the WAL.
  Status Continue(bfs_filter* filter, const rocksdb_front::Record& record, bool recovers) {
    const uint64_t latest = db_->GetLatestSequenceNumber();
    uint64_t base = 0, proved = 0, mark = 0;
    for (const auto& [epoch, most] : {std::pair(record.epoch, record.mark), {record.previous, record.previous_mark}}) {
      if (mark != 0 || epoch == 0) continue;
      base = epoch;
      proved = most;
      mark = bfs_get_mark(filter, options_.owner, epoch);
    }
    if (mark == 0 || mark > proved || mark > latest) return Status::Aborted("the filter has no mark of this database");
    Status status = AddFromWal(filter, mark, latest);
    if (!status.ok()) return status;
    rocksdb_front::Record next;
    next.previous = base;
    next.previous_mark = proved;
    status = Announce(filter, &next);
    if (status.ok()) status = SyncHandle(filter, &next);
    if (!status.ok()) return status;
    if (recovers && bfs_finish_recovery(filter, options_.owner, nullptr) < 0) return Status::Aborted("not recovered");
    recovered_by_ = mark == latest ? RocksDBRecovery::kNothingMissing : RocksDBRecovery::kFromWal;
    Use(filter, next);
    return Status::OK();
  }

  // Adds the keys of all batches after `mark`.  Every sequence number up to `latest` has to be in a batch: rows that
  // were written without a WAL, or ingested, or are in a WAL file that is gone, leave a gap.
  Status AddFromWal(bfs_filter* filter, uint64_t mark, uint64_t latest) {
    if (mark == latest) return Status::OK();
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    Status status = db_->GetUpdatesSince(mark + 1, &log);
    uint64_t next = mark + 1;
    rocksdb_front::KeyAdder adder(filter, nullptr);
    for (; status.ok() && next <= latest && log->Valid(); log->Next()) {
      const rocksdb::BatchResult batch = log->GetBatch();
      if (batch.sequence > next) break;
      status = batch.writeBatchPtr->Iterate(&adder);
      next = std::max<uint64_t>(next, batch.sequence + batch.writeBatchPtr->Count());
    }
    if (!status.ok()) return status;
    return next == latest + 1 ? Status::OK() : Status::Aborted("the WAL has a gap");
  }

  // Makes a record of a new epoch, for SyncHandle.  The record is a row, too.
  Status Announce(bfs_filter* filter, rocksdb_front::Record* next) {
    bfs_statistics facts = BFS_STATISTICS_INIT;
    int32_t code = bfs_stats(filter, 0, &facts, nullptr);
    if (code == BFS_OK) code = bfs_add(filter, options_.record_key.data(), options_.record_key.size());
    if (code < 0) return rocksdb_front::StatusOf(code, bfs_strerror(code));
    next->epoch = rocksdb_front::NewEpoch();
    std::memcpy(next->file_id, facts.file_id, sizeof next->file_id);
    return Status::OK();
  }

  void Use(bfs_filter* filter, const rocksdb_front::Record& record) {
    Gate::Closed no_writes(writes_);
    Gate::Closed no_asks(asks_);
    filter_ = filter;
    Stored(record);
  }

  void Created(const Families& families) {
    Gate::Closed no_writes(writes_);
    Gate::Closed no_asks(asks_);
    for (const Family* family : families) in_filter_.Add(family->GetID());
  }

  // Sets the ids of the families that were not dropped.
  void HasRowsOf(const Families& families) {
    rocksdb_front::FamilyIds ids;
    for (const Family* family : families) {
      if (dropped_.count(family->GetID()) == 0) ids.Add(family->GetID());
    }
    Gate::Closed no_writes(writes_);
    Gate::Closed no_asks(asks_);
    in_filter_ = std::move(ids);
  }

  Status Replace(const Families& families) {
    Status status = HasAllFamilies(families);
    bfs_filter* fresh = nullptr;
    if (status.ok()) status = CreateFresh(families, &fresh);
    if (!status.ok()) return status;
    HasRowsOf(families);
    {
      Gate::Closed no_writes(writes_);  // once this is closed, every write that did not add to `fresh` is a row
      next_ = fresh;
      next_refused_ = false;
    }
    rocksdb_front::KeyAdder adder(fresh, nullptr);
    for (size_t i = 0; status.ok() && i < families.size(); ++i) {
      rocksdb::ReadOptions all;
      all.total_order_seek = true;
      all.fill_cache = false;
      status = AddRows(db_->NewIterator(all, families[i]), families[i]->GetID(), &adder);
    }
    Gate::Closed no_writes(writes_);
    next_ = nullptr;
    if (status.ok() && next_refused_) status = Status::IOError("bfstore", "the new filter took not every key");
    if (status.ok()) return Publish(fresh);
    bfs_abandon(fresh);
    return status;
  }

  // Needs that no thread writes.
  Status Publish(bfs_filter* fresh) {
    const uint64_t built_at = db_->GetLatestSequenceNumber();
    rocksdb_front::Record next;
    bfs_error error = BFS_ERROR_INIT;
    if (filter_ != nullptr) {
      next.previous = record_.epoch;
      next.previous_mark = record_.mark;
    }
    Status status = AddWhatWentPast(fresh);
    if (status.ok()) status = Announce(fresh, &next);
    if (status.ok()) status = SyncHandle(fresh, &next);
    const int32_t code = status.ok() ? bfs_publish(fresh, &error) : BFS_OK;
    bfs_close(fresh, nullptr);
    if (code != BFS_OK) status = rocksdb_front::StatusOf(code, error.message);
    if (!status.ok()) return status;
    Gate::Closed no_asks(asks_);
    bfs_close(filter_, nullptr);
    filter_ = nullptr;
    status = OpenPublished(next);
    built_at_ = built_at;
    return status;
  }

  // Opens the published file, since a published handle only reads.  Another program may have moved another file to the
  // path.
  Status OpenPublished(const rocksdb_front::Record& record) {
    bfs_error error = BFS_ERROR_INIT;
    const int32_t code = bfs_open(options_.path.c_str(), BFS_WRITE | options_.open_flags, nullptr, &filter_, &error);
    if (code != BFS_OK) return rocksdb_front::StatusOf(code, error.message);
    Stored(record);
    if (IsNamed(filter_, options_.owner, record)) return Status::OK();
    bfs_close(filter_, nullptr);
    filter_ = nullptr;
    return Status::IOError("bfstore", "another file was moved to " + options_.path);
  }

  Status HasAllFamilies(const Families& families) {
    std::vector<std::string> names;
    const Status status = DB::ListColumnFamilies(rocksdb::DBOptions(db_->GetOptions()), db_->GetName(), &names);
    std::set<std::string> given;
    for (const Family* family : families) {
      if (dropped_.count(family->GetID()) == 0) given.insert(family->GetName());
    }
    for (const std::string& name : names) {
      if (given.count(name) == 0) return Status::InvalidArgument("bfstore", "column family " + name + " is not given");
    }
    return status;
  }

  Status CreateFresh(const Families& families, bfs_filter** fresh) {
    uint64_t rows = 0;
    for (Family* family : families) {
      uint64_t estimate = 0;
      if (db_->GetIntProperty(family, DB::Properties::kEstimateNumKeys, &estimate)) rows += estimate;
    }
    bfs_options made = BFS_OPTIONS_INIT;
    made.capacity = std::max<uint64_t>({options_.capacity, 2 * rows, 1000});
    made.fpr = options_.fpr;
    made.mode = options_.mode;
    bfs_error error = BFS_ERROR_INIT;
    const int32_t code = bfs_create(options_.path.c_str(), BFS_UNPUBLISHED | BFS_REPLACE, &made, fresh, &error);
    return code == BFS_OK ? Status::OK() : rocksdb_front::StatusOf(code, error.message);
  }

  Gate writes_;                 // closed while filter_, in_filter_ or next_ changes; after changing_, before asks_
  std::mutex changing_;         // held by Rebuild, Recover, Close, and changes of families
  bfs_filter* next_ = nullptr;  // the filter that Rebuild builds
  std::atomic<bool> next_refused_{false};
  std::atomic<uint64_t> passed_{0};       // the last sequence number, if every row since record_ passed through here
  rocksdb_front::Record record_;          // filter_'s, as in the database; changes while writes_ is closed
  std::atomic<uint64_t> stored_mark_{0};  // filter_'s mark in record_'s epoch
  uint64_t built_at_ = 0;                 // the sequence number from which on filter_ has every key
  std::set<uint32_t> dropped_;            // ids; other families may have their names now
  RocksDBRecovery recovered_by_ = RocksDBRecovery::kNothingMissing;
};

// The front for other processes.  It asks a filter only if the database, as this process sees it, names that filter.
// Otherwise every answer is "maybe", until TryCatchUpWithPrimary shows a state that does.
class RocksDBReader : public rocksdb_front::Asking {
 public:
  // Owns `db`, which comes from OpenForReadOnly or OpenAsSecondary.  A secondary's GetName() is that of the primary.
  RocksDBReader(rocksdb::DB* db, const RocksDBFrontOptions& options) : Asking(db, options) {}
  ~RocksDBReader() override { bfs_close(filter_, nullptr); }

  // A failed call may have changed a part of the view: every answer is "maybe" until a later call succeeds.
  rocksdb::Status TryCatchUpWithPrimary() override {
    const rocksdb::Status status = db_->TryCatchUpWithPrimary();
    rocksdb_front::Gate::Closed no_asks(asks_);
    caught_up_ = status.ok();
    trusted_at_ = UINT64_MAX;
    if (caught_up_) return status;
    bfs_close(filter_, nullptr);
    filter_ = nullptr;
    return status;
  }

  bool CertainlyAbsent(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                       const rocksdb::Slice& key) override {
    if (options.snapshot != nullptr || !BytesAreTheKey(family)) return false;
    for (int tries = 0; tries < 2; ++tries) {
      const uint64_t view = db_->GetLatestSequenceNumber();
      {
        rocksdb_front::Gate::Pass pass(asks_);
        const bool trusted = view == trusted_at_ && filter_ != nullptr && bfs_health(filter_) == BFS_OK;
        if (trusted) return Lacks(family, key);
        if (view == trusted_at_ && Now() < next_try_) return false;
      }
      Trust();
    }
    return false;
  }

 private:
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // The view is read before the record: a record of a later state names a filter with at least the view's keys.  The
  // mark itself is not compared with the view, since a filter in use has keys after its mark.  So a reader also relies
  // on it that no program writes past the front.
  void Trust() {
    rocksdb_front::Gate::Closed no_asks(asks_);
    rocksdb_front::Record record;
    trusted_at_ = db_->GetLatestSequenceNumber();
    next_try_ = Now() + 100;
    const bool read = caught_up_ && rocksdb_front::ReadRecord(db_, options_.record_key, &record, &in_filter_).ok() &&
                      record.epoch != 0;
    if (read && filter_ != nullptr && MayAsk(record)) return;
    bfs_close(filter_, nullptr);
    filter_ = nullptr;
    if (!read) return;
    // A copy would not get the keys that the writer adds later.
    const uint64_t flags = BFS_READ | (options_.open_flags & ~BFS_PRIVATE);
    if (bfs_open(options_.path.c_str(), flags, nullptr, &filter_, nullptr) != BFS_OK) return;
    if (MayAsk(record)) return;
    bfs_close(filter_, nullptr);
    filter_ = nullptr;
  }

  bool MayAsk(const rocksdb_front::Record& record) const {
    return bfs_health(filter_) == BFS_OK && rocksdb_front::IsNamed(filter_, options_.owner, record) &&
           bfs_is_current(filter_, nullptr) == 1;
  }

  bool caught_up_ = true;
  uint64_t trusted_at_ = UINT64_MAX;  // the view that names filter_
  int64_t next_try_ = 0;
};

}  // namespace bfstore

#endif
