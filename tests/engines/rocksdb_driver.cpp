// The program that rocksdb_test.py runs and kills.  Exit code 7 is a wrong no; 2 is an unexpected error.
//   write FOLDER SEED [calm|keep]  writes until it is killed, and unless calm rebuilds; keep: deletes nothing
//   check FOLDER       opens the front, and asks for every row that the database has
//   read FOLDER        a secondary instance that follows the writer, and asks for every row, until it is killed
//   readonly FOLDER    the same once, with OpenForReadOnly; exit code 3: there is no database yet
//   catchup FOLDER     a secondary instance that cannot follow the writer, and then can
//   readacopy FOLDER   a secondary instance that was told to copy the filter
//   dropped FOLDER     a secondary instance that still shows the rows of dropped families
//   older FOLDER HOW   copies the filter, and puts more rows in the same opening; HOW=killed: syncs them, and is killed
//   over FOLDER        an older filter is copied over that of an open front, in place
//   again FOLDER       a reader that has an older filter in place, and then the later one again
//   cases FOLDER       what has no place in a campaign
//   gaps FOLDER WHERE  rows that the WAL does not have
//   lose FOLDER        rows without a WAL, then a Sync, and a kill
//   copy FOLDER        saves the database between two Syncs of one opening
//   past FOLDER        rows of a program that does not know the front
//   ingest FOLDER      rows that have no sequence number
//   bench FOLDER ROWS  times of Gets without a filter, with RocksDB's own, and with the front
#include <bfstore_rocksdb.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/replayer.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>

using bfstore::RocksDBFront;
using bfstore::RocksDBFrontOptions;
using bfstore::RocksDBReader;
using bfstore::RocksDBRecovery;
using rocksdb::Slice;
using rocksdb::Status;
using Families = std::vector<rocksdb::ColumnFamilyHandle*>;

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

rocksdb::Options DatabaseOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.WAL_ttl_seconds = 3600;
  options.write_buffer_size = 64 << 10;
  options.max_background_jobs = 1;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  options.keep_log_file_num = 1;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> Descriptors() {
  return {{"default", DatabaseOptions()}, {"other", DatabaseOptions()}};
}

// A database with its two families and its front.
struct Place {
  Families families;
  RocksDBFront* front = nullptr;

  explicit Place(const std::string& folder, RocksDBFrontOptions options = {}) {
    rocksdb::DB* db = nullptr;
    Need(rocksdb::DB::Open(DatabaseOptions(), folder + "/db", Descriptors(), &families, &db));
    if (options.capacity == 0) options.capacity = 20000;
    Need(RocksDBFront::Open(db, options, families, &front));
  }
  ~Place() {
    DestroyHandles();
    delete front;
  }
  void DestroyHandles() {
    for (rocksdb::ColumnFamilyHandle* family : families) Need(front->DestroyColumnFamilyHandle(family));
    families.clear();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  RocksDBFront* operator->() const { return front; }
};

std::string RandomKey(std::mt19937_64& random) {
  std::string key(random() % 3 == 0 ? 8 + random() % 300 : 16, '\0');
  for (char& byte : key) byte = static_cast<char>(random());
  return key;
}

// Fails if the front does not find a row that its database finds without the filter.  (A secondary's view may have
// holes, and its Get and its iterator differ in them.)
void ExpectFound(const Status& got, rocksdb::StackableDB& front, rocksdb::ColumnFamilyHandle* family,
                 const Slice& key) {
  rocksdb::PinnableSlice value;
  if (!got.ok() && front.GetBaseDB()->Get({}, family, key, &value).ok())
    Fail(7, "a row of " + family->GetName() + ": " + got.ToString());
}

// Asks the front, by Get and MultiGet, for the rows that the iterators of its database show from a key on.
uint64_t CheckRows(rocksdb::StackableDB& front, const Families& families, const std::string& from = "",
                   size_t most = SIZE_MAX) {
  uint64_t rows = 0;
  for (rocksdb::ColumnFamilyHandle* family : families) {
    std::unique_ptr<rocksdb::Iterator> all(front.NewIterator({}, family));
    std::vector<std::string> keys;
    for (all->Seek(from); all->Valid() && keys.size() < most; all->Next()) keys.push_back(all->key().ToString());
    Need(all->status());
    for (const std::string& key : keys) {
      rocksdb::PinnableSlice value;
      ExpectFound(front.Get({}, family, key, &value), front, family, key);
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const std::vector<Status> found = front.MultiGet({}, Families(keys.size(), family), slices, &values);
    for (size_t i = 0; i < keys.size(); ++i) ExpectFound(found[i], front, family, keys[i]);
    rows += keys.size();
  }
  return rows;
}

uint64_t AbsentTold(bfstore::rocksdb_front::Asking& front, const Families& families, uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15ULL);
  uint64_t told = 0;
  for (int i = 0; i < 1000; ++i) told += front.CertainlyAbsent({}, families[i % families.size()], RandomKey(random));
  return told;
}

void Write(const std::string& folder, uint64_t seed, bool calm, bool keeps) {
  Place place(folder);
  std::mt19937_64 random(seed);
  std::vector<std::string> put;
  for (;;) {
    rocksdb::WriteBatch batch;
    for (uint64_t count = 1 + random() % 20; count-- > 0;) {
      rocksdb::ColumnFamilyHandle* family = place.families[random() % 2];
      if (!keeps && random() % 6 == 0 && !put.empty()) {
        Need(batch.Delete(family, put[random() % put.size()]));
      } else {
        put.push_back(RandomKey(random));
        Need(batch.Put(family, put.back(), std::to_string(random())));
      }
    }
    rocksdb::WriteOptions how;
    how.sync = random() % 8 == 0;
    Need(place->Write(how, &batch));
    const uint64_t dice = random() % 6000;
    if (dice < 60) Need(place->Sync());
    if (dice < 10) Need(place->Flush({}, place.families[random() % 2]));
    if (calm) continue;
    if (dice == 10) Need(place->Rebuild(place.families));
    if (dice == 11) Need(place->Recover(place.families));
  }
}

const char* Words(RocksDBRecovery how) {
  switch (how) {
    case RocksDBRecovery::kNothingMissing:
      return "nothing";
    case RocksDBRecovery::kFromWal:
      return "wal";
    case RocksDBRecovery::kFromAllRows:
      return "rows";
  }
  return "?";
}

void Check(const std::string& folder) {
  Place place(folder);
  const uint64_t rows = CheckRows(*place.front, place.families);
  std::cout << Words(place->recovered_by()) << " " << rows << " " << AbsentTold(*place.front, place.families, rows)
            << std::endl;
}

void Read(const std::string& folder, bool secondary) {
  rocksdb::Options options = DatabaseOptions();
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  Families families;
  const std::string path = folder + "/db", own = folder + "/secondary";
  const Status opened = secondary ? rocksdb::DB::OpenAsSecondary(options, path, own, Descriptors(), &families, &db)
                                  : rocksdb::DB::OpenForReadOnly(options, path, Descriptors(), &families, &db);
  if (!opened.ok()) Fail(3, opened.ToString());
  RocksDBReader reader(db, {});
  std::mt19937_64 random(1);
  for (uint64_t seed = 1;; ++seed) {
    if (secondary && !reader.TryCatchUpWithPrimary().ok()) continue;
    const std::string from = secondary ? RandomKey(random) : "";
    const uint64_t rows = CheckRows(reader, families, from, secondary ? 500 : SIZE_MAX);
    std::cout << rows << " " << AbsentTold(reader, families, seed) << std::endl;
    if (!secondary) break;
  }
  for (rocksdb::ColumnFamilyHandle* family : families) Need(reader.DestroyColumnFamilyHandle(family));
}

void CatchUp(const std::string& folder) {
  rocksdb::Options options = DatabaseOptions();
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  Families families;
  const std::string path = folder + "/db", manifest = path + "/CURRENT", away = folder + "/away";
  Need(rocksdb::DB::OpenAsSecondary(options, path, folder + "/secondary", Descriptors(), &families, &db));
  RocksDBReader reader(db, {});
  Expect(AbsentTold(reader, families, 1) > 980, "a filter before");
  if (std::rename(manifest.c_str(), away.c_str()) != 0) Fail(2, "rename");
  std::ofstream(manifest) << "damaged";  // where there is none, nothing seems to have changed
  Expect(!reader.TryCatchUpWithPrimary().ok(), "a damaged database");
  Expect(AbsentTold(reader, families, 1) == 0, "no filter for a view that is in doubt");
  if (std::rename(away.c_str(), manifest.c_str()) != 0) Fail(2, "rename");
  Need(reader.TryCatchUpWithPrimary());
  Expect(AbsentTold(reader, families, 1) > 980, "a filter after");
  for (rocksdb::ColumnFamilyHandle* family : families) Need(reader.DestroyColumnFamilyHandle(family));
}

// Asks for a row that came after the reader had opened the filter.
void ReadACopy(const std::string& folder) {
  Place place(folder);
  Need(place->Sync());
  rocksdb::Options options = DatabaseOptions();
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  Families families;
  Need(rocksdb::DB::OpenAsSecondary(options, folder + "/db", folder + "/secondary", Descriptors(), &families, &db));
  RocksDBFrontOptions copies;
  copies.open_flags = BFS_PRIVATE;
  RocksDBReader reader(db, copies);
  Expect(AbsentTold(reader, families, 1) > 980, "a filter");
  Need(place->Put({}, "later", "1"));
  Need(reader.TryCatchUpWithPrimary());
  std::string value;
  ExpectFound(reader.Get({}, families[0], "later", &value), reader, families[0], "later");
  for (rocksdb::ColumnFamilyHandle* family : families) Need(reader.DestroyColumnFamilyHandle(family));
}

std::string NewTable(const std::string& folder) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), DatabaseOptions());
  Need(writer.Open(folder + "/new.sst"));
  for (int i = 100; i < 200; ++i) Need(writer.Put("ingested " + std::to_string(i), "1"));
  Need(writer.Finish());
  return folder + "/new.sst";
}

void Ingest(Place& place, const std::string& folder) {
  Need(place->IngestExternalFile(place.families[0], {NewTable(folder)}, {}));
}

// Expects the rows that the view of `reader` shows, whatever the writer did to their family.
void ExpectShown(RocksDBReader& reader, rocksdb::ColumnFamilyHandle* family, const std::string& when) {
  std::string value;
  if (!reader.GetBaseDB()->Get({}, family, "row", &value).ok()) Fail(2, when + ": nothing to test");
  Expect(reader.Get({}, family, "row", &value).ok(), when + ": a row of " + family->GetName());
  const Families twice = {family, family};
  std::vector<std::string> values;
  Expect(reader.MultiGet({}, twice, {"row", "row"}, &values)[1].ok(), when + ": MultiGet of " + family->GetName());
}

// A filter that was built after a family was dropped lacks its rows, as does each later opening's.
void Dropped(const std::string& folder) {
  const std::string path = folder + "/db";
  rocksdb::Options options = DatabaseOptions();
  options.max_open_files = -1;
  Families seen;
  std::unique_ptr<RocksDBReader> reader;
  const auto catch_up = [&](const std::string& when) {
    Need(reader->TryCatchUpWithPrimary());
    ExpectShown(*reader, seen[1], when);
    ExpectShown(*reader, seen[2], when);
    Expect(AbsentTold(*reader, {seen[0]}, 1) > 980, when + ": the filter is asked about the family that is left");
  };
  {
    Place place(folder);
    rocksdb::ColumnFamilyHandle* later = nullptr;
    Need(place->CreateColumnFamily(options, "later", &later));
    place.families.push_back(later);
    for (rocksdb::ColumnFamilyHandle* family : place.families) Need(place->Put({}, family, "row", "1"));
    Need(place->Flush({}, place.families));
    Need(place->Sync());
    std::vector<rocksdb::ColumnFamilyDescriptor> all = Descriptors();
    all.emplace_back("later", options);
    rocksdb::DB* db = nullptr;
    Need(rocksdb::DB::OpenAsSecondary(options, path, folder + "/secondary", all, &seen, &db));
    reader = std::make_unique<RocksDBReader>(db, RocksDBFrontOptions());
    Expect(AbsentTold(*reader, seen, 1) > 980, "the filter is asked about a family that came after it was built");
    Need(place->DropColumnFamilies({place.families[1], later}));
    catch_up("dropped");
    Need(place->Rebuild({place.families[0]}));
    catch_up("rebuilt");
    Ingest(place, folder);
    catch_up("ingested");
  }
  {
    rocksdb::DB* db = nullptr;
    RocksDBFront* front = nullptr;
    Need(rocksdb::DB::Open(options, path, &db));
    Need(RocksDBFront::Open(db, {}, {db->DefaultColumnFamily()}, &front));
    if (front->recovered_by() == RocksDBRecovery::kFromAllRows) Fail(2, "the filter was not continued");
    rocksdb::ColumnFamilyHandle* other = nullptr;
    Need(front->CreateColumnFamily(options, "other", &other));  // another family of that name
    Need(front->Sync());
    catch_up("opened again");
    Need(front->Rebuild({db->DefaultColumnFamily(), other}));  // this process has not seen the dropped families
    catch_up("rebuilt again");
    Need(front->DestroyColumnFamilyHandle(other));
    delete front;
  }
  catch_up("closed");
  for (rocksdb::ColumnFamilyHandle* family : seen) Need(reader->DestroyColumnFamilyHandle(family));
}

void CopyInPlace(const std::string& from, const std::string& to) {
  std::ofstream(to, std::ios::binary) << std::ifstream(from, std::ios::binary).rdbuf();
}

void Older(const std::string& folder, bool killed) {
  Place place(folder);
  Need(place->Put({}, "early", "1"));
  Need(place->Sync());
  CopyInPlace(place->filter_path(), folder + "/older");
  for (int i = 0; i < 100; ++i) Need(place->Put({}, "late " + std::to_string(i), "1"));
  if (!killed) return;
  Need(place->Sync());
  _exit(0);
}

// A Sync would give the copy a mark that is above the rows that it lacks, for every later opening.
void Over(const std::string& folder) {
  Place place(folder);
  Need(place->Put({}, "early", "1"));
  Need(place->Sync());
  CopyInPlace(place->filter_path(), folder + "/older");
  for (int i = 0; i < 100; ++i) Need(place->Put({}, "late " + std::to_string(i), "1"));
  Need(place->Sync());
  CopyInPlace(folder + "/older", place->filter_path());
  Expect(place->Sync().IsAborted(), "a mark in an older copy");
  Need(place->Recover(place.families));
  CheckRows(*place.front, place.families);
  Need(place->Sync());
  CopyInPlace(folder + "/older", place->filter_path());
}

void Again(const std::string& folder) {
  rocksdb::DB* db = nullptr;
  Families families;
  Need(rocksdb::DB::OpenForReadOnly(DatabaseOptions(), folder + "/db", Descriptors(), &families, &db));
  RocksDBReader reader(db, {});
  const std::string path = reader.filter_path();
  CopyInPlace(path, folder + "/later");
  CopyInPlace(folder + "/older", path);
  Expect(AbsentTold(reader, families, 1) == 0, "an older filter");
  CopyInPlace(folder + "/later", path);
  while (AbsentTold(reader, families, 1) == 0) std::this_thread::yield();  // it looks again
  CheckRows(reader, families);
  for (rocksdb::ColumnFamilyHandle* family : families) Need(reader.DestroyColumnFamilyHandle(family));
}

// --- Cases ----------------------------------------------------------------------------------------------------------

bool Has(Place& place, const std::string& key, const rocksdb::Snapshot* snapshot = nullptr, int family = 0) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  return place->Get(options, place.families[family], key, &value).ok();
}

void SnapshotsOlderThanARebuild(Place& place) {
  Need(place->Put({}, "old", "1"));
  const rocksdb::Snapshot* snapshot = place->GetSnapshot();
  Need(place->Delete({}, "old"));
  Need(place->Rebuild(place.families));
  Expect(Has(place, "old", snapshot), "a snapshot shows a row that was deleted before the rebuild");
  place->ReleaseSnapshot(snapshot);
  Expect(place->CertainlyAbsent({}, place.families[0], "old"), "a rebuild forgets deleted rows");
}

void DroppedFamilies(Place& place) {
  rocksdb::ColumnFamilyHandle* dropped = nullptr;
  Need(place->CreateColumnFamily(DatabaseOptions(), "dropped", &dropped));
  Need(place->Put({}, dropped, "row", "1"));
  Expect(!place->Rebuild(place.families).ok(), "a rebuild without a family has to fail");
  Need(place->DropColumnFamily(dropped));
  Need(place->Rebuild(place.families));
  std::string value;
  Need(place->Get({}, dropped, "row", &value));
  rocksdb::ColumnFamilyHandle* again = nullptr;
  Need(place->CreateColumnFamily(DatabaseOptions(), "dropped", &again));
  Need(place->Put({}, again, "row", "1"));
  Families with_the_old_one = place.families;
  with_the_old_one.push_back(dropped);
  Expect(!place->Rebuild(with_the_old_one).ok(), "a dropped family is not the one that has its name now");
  Need(place->DropColumnFamily(again));
  Need(place->DestroyColumnFamilyHandle(again));
  Need(place->DestroyColumnFamilyHandle(dropped));
  rocksdb::ColumnFamilyHandle* later = nullptr;
  Need(place->CreateColumnFamily(DatabaseOptions(), "later", &later));
  Need(place->Put({}, later, "row", "1"));
  Need(place->Get({}, later, "row", &value));
  Expect(place->CertainlyAbsent({}, later, "no row"), "a family that came later is in the filter");
  Need(place->DropColumnFamily(later));
  Need(place->DestroyColumnFamilyHandle(later));
}

// A filter with different digests for "ABC" and "abc" would answer a wrong no.
class WithoutCase : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "without case"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return strcasecmp(a.ToString().c_str(), b.ToString().c_str());
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

void FamiliesWithAnotherOrder(Place& place) {
  static WithoutCase without_case;
  rocksdb::ColumnFamilyOptions options = DatabaseOptions();
  options.comparator = &without_case;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  Need(place->CreateColumnFamily(options, "without case", &family));
  Need(place->Put({}, family, "abc", "1"));
  std::string value;
  Need(place->Get({}, family, "ABC", &value));
  Need(place->DropColumnFamily(family));
  Need(place->DestroyColumnFamilyHandle(family));
}

void EachWayToWriteAndToAsk(Place& place) {
  Need(place->Put({}, place.families[1], "put", "1"));

  Need(place->PutEntity({}, place.families[1], "entity", {{"", "1"}}));
  Need(place->Put({}, "", "the empty key"));
  Need(place->Put({}, place.families[1], "", "the empty key"));
  Need(place->Put({}, place.families[1], std::string(255, 'x'), "longer than the small buffer"));
  for (const std::string& key : {std::string("put"), std::string("entity"), std::string(), std::string(255, 'x')}) {
    Expect(Has(place, key, nullptr, 1), "Get of '" + key + "'");
    rocksdb::PinnableWideColumns columns;
    Need(place->GetEntity({}, place.families[1], key, &columns));
    std::string value;
    Expect(place->KeyMayExist({}, place.families[1], key, &value), "KeyMayExist of '" + key + "'");
  }
  Expect(Has(place, ""), "the empty key of the default family");
  const Slice keys[] = {"none 1", "put", "none 2", "entity"};
  rocksdb::PinnableSlice values[4];
  Status statuses[4];
  place->MultiGet({}, place.families[1], 4, keys, values, statuses);
  Expect(statuses[0].IsNotFound() && statuses[2].IsNotFound(), "MultiGet of what is absent");
  Expect(statuses[1].ok() && statuses[3].ok() && values[1] == "1" && values[3] == "1", "MultiGet of what is there");
  std::string value;
  Expect(!place->KeyMayExist({}, place.families[1], "none", &value), "KeyMayExist of what is absent");
}

void IngestedFiles(Place& place, const std::string& folder) {
  Ingest(place, folder);
  for (int i = 100; i < 200; ++i) Expect(Has(place, "ingested " + std::to_string(i)), "an ingested row");
}

// Two threads write while filters replace each other.
void RebuildsUnderWriters(Place& place) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&place, &stop, thread] {
      for (int i = 0; !stop; ++i) {
        const std::string key = std::to_string(thread) + " of a thread " + std::to_string(i);
        Need(place->Put({}, key, "1"));
        Expect(Has(place, key), "a row while a filter is replaced");
      }
    });
  }
  for (int i = 0; i < 8; ++i) Need(i % 4 == 3 ? place->Sync() : place->Rebuild(place.families));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CheckRows(*place.front, place.families);
}

// A stranger supersedes the filter. Then adds are refused, and so are rows.
void RefusedWrites(Place& place) {
  bfs_options made = BFS_OPTIONS_INIT;
  made.like = place->filter_path().c_str();
  bfs_filter* stranger = nullptr;
  if (bfs_create(made.like, BFS_REPLACE, &made, &stranger, nullptr) != BFS_OK) Fail(2, "bfs_create");
  bfs_close(stranger, nullptr);
  Expect(!place->Put({}, "refused", "1").ok(), "a row without a key in the filter");
  Expect(!Has(place, "refused"), "a refused row");
  Need(place->Recover(place.families));
  Expect(place->recovered_by() == RocksDBRecovery::kFromAllRows, "a stranger's filter has to be replaced");
  CheckRows(*place.front, place.families);
  Need(place->Put({}, "refused", "1"));
}

void Cases(const std::string& folder) {
  Place place(folder);
  SnapshotsOlderThanARebuild(place);
  DroppedFamilies(place);
  FamiliesWithAnotherOrder(place);
  EachWayToWriteAndToAsk(place);
  IngestedFiles(place, folder);
  RebuildsUnderWriters(place);
  RefusedWrites(place);
  std::unique_ptr<rocksdb::Replayer> replayer;
  Expect(place->NewDefaultReplayer(place.families, nullptr, &replayer).IsNotSupported(),
         "a replayer is past the front");
  place.DestroyHandles();  // RocksDB wants that before it is closed
  Need(place->Close());
  Expect(!place->Put({}, "closed", "1").ok(), "a write after Close");
}

// Writes rows that survive a power cut and are not in the WAL.  With `tail` they are the last ones.
void Gaps(const std::string& folder, bool tail) {
  Place place(folder);
  Need(place->Sync());
  rocksdb::WriteOptions without;
  without.disableWAL = true;
  for (int i = 0; i < 100; ++i) Need(place->Put(without, "not in the WAL " + std::to_string(i), "1"));
  Need(place->Flush({}, place.families));
  if (!tail) Need(place->Put({}, "in the WAL", "1"));
  Need(place->FlushWAL(true));
  _exit(0);
}

void PutRows(Place& place, const std::string& name, const rocksdb::WriteOptions& how) {
  for (int i = 0; i < 50; ++i) Need(place->Put(how, name + std::to_string(i), "1"));
}

void Lose(const std::string& folder) {
  Place place(folder);
  rocksdb::WriteOptions without;
  without.disableWAL = true;
  PutRows(place, "lost ", without);
  Need(place->Sync());
  _exit(0);
}

void Copy(const std::string& folder) {
  Place place(folder);
  PutRows(place, "early ", {});
  rocksdb::Checkpoint* made = nullptr;
  Need(rocksdb::Checkpoint::Create(place->GetBaseDB(), &made));
  Need(made->CreateCheckpoint(folder + "/saved/db", 0));
  delete made;
  PutRows(place, "late ", {});
  Need(place->Sync());
}

// Writes more rows than were lost or were still missing.  So they have the sequence numbers of those and higher ones.
void WritePast(const std::string& folder) {
  rocksdb::DB* db = nullptr;
  Families families;
  Need(rocksdb::DB::Open(DatabaseOptions(), folder + "/db", Descriptors(), &families, &db));
  for (int i = 0; i < 100; ++i) Need(db->Put({}, "past the front " + std::to_string(i), "1"));
  for (rocksdb::ColumnFamilyHandle* family : families) Need(db->DestroyColumnFamilyHandle(family));
  delete db;
}

// Writes rows past the open front, which then syncs.  A mark above these rows would hide them from every later opening.
void WritePastOpen(const std::string& folder, const std::string& then) {
  Place place(folder);
  rocksdb::WriteOptions how;
  how.disableWAL = then == "flush";
  for (int i = 0; i < 100; ++i) Need(place->GetBaseDB()->Put(how, "past the open front " + std::to_string(i), "1"));
  Expect(!Has(place, "past the open front 1"), "README says that it is not seen");
  if (then == "flush") Need(place->Flush({}, place.families));
  if (then == "rebuild") Need(place->Rebuild(place.families));
  if (then == "sync") Need(place->Sync());
  if (then != "flush")
    Need(place->Put({}, "through the front", "1"));
  else
    Expect(place->Sync().IsAborted(), "rows that the WAL lacks");
}

void IngestPast(const std::string& folder) {
  rocksdb::DB* db = nullptr;
  Families families;
  Need(rocksdb::DB::Open(DatabaseOptions(), folder + "/db", Descriptors(), &families, &db));
  Need(db->IngestExternalFile(families[0], {NewTable(folder)}, {}));
  for (rocksdb::ColumnFamilyHandle* family : families) Need(db->DestroyColumnFamilyHandle(family));
  delete db;
}

void IngestAlone(const std::string& folder) {
  Place place(folder);
  const uint64_t before = place->GetLatestSequenceNumber();
  Ingest(place, folder);
  Expect(place->GetLatestSequenceNumber() <= before + 1,
         "ingested rows take no sequence number: there is a case to test");
}

// --- The measurement ------------------------------------------------------------------------------------------------

std::string RowKey(uint64_t number) {
  std::mt19937_64 random(number * 2 + 1);
  std::string key(16, '\0');
  for (char& byte : key) byte = static_cast<char>(random());
  return key;
}

// Rows in several levels; a cache of a tenth of them.
rocksdb::Options BenchOptions(bool own_filter) {
  rocksdb::Options options = DatabaseOptions();
  options.write_buffer_size = 8 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  if (own_filter) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

double Microseconds(rocksdb::DB& db, const std::vector<std::string>& keys, bool there) {
  std::string value;
  const auto start = std::chrono::steady_clock::now();  // clock: bench
  for (const std::string& key : keys)
    if (db.Get({}, key, &value).ok() != there) Fail(7, "a Get answered the wrong way");
  // clock: bench
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(keys.size());
}

struct Bench {
  rocksdb::DB* db = nullptr;

  Bench(const std::string& folder, bool own_filter, bool front, uint64_t rows) {
    Need(rocksdb::DB::Open(BenchOptions(own_filter), folder, &db));
    RocksDBFront* made = nullptr;
    RocksDBFrontOptions options;
    options.capacity = rows;
    if (front) Need(RocksDBFront::Open(db, options, {db->DefaultColumnFamily()}, &made));
    if (front) db = made;
    const auto start = std::chrono::steady_clock::now();  // clock: bench
    const std::string value(100, 'v');
    for (uint64_t number = 0; number < rows; number += 100) {
      rocksdb::WriteBatch batch;
      for (uint64_t i = number; i < number + 100; ++i) Need(batch.Put(RowKey(i), value));
      Need(db->Write({}, &batch));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;  // clock: bench
    std::printf("%s: loaded in %.2f s\n", folder.c_str() + folder.rfind('/') + 1, took.count());
    Need(db->Flush({}));
    Need(rocksdb::Status(db->CompactRange({}, nullptr, nullptr)));
    if (!front) return;
    uint64_t maybes = 0;
    for (uint64_t i = rows; i < 2 * rows; ++i)
      maybes += !made->CertainlyAbsent({}, db->DefaultColumnFamily(), RowKey(i));
    std::printf("the filter's false positives: %.5f\n", static_cast<double>(maybes) / static_cast<double>(rows));
    if (maybes > rows / 500) Fail(2, "more false positives than promised");
  }
  ~Bench() { delete db; }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
};

void Measure(const std::string& folder, uint64_t rows) {
  Bench none(folder + "/none", false, false, rows), own(folder + "/bloom10", true, false, rows),
      front(folder + "/front", false, true, rows);
  std::mt19937_64 random(1);
  std::vector<std::string> absent, there;
  for (int i = 0; i < 20000; ++i) absent.push_back(RowKey(rows + random() % rows));
  for (int i = 0; i < 20000; ++i) there.push_back(RowKey(random() % rows));
  std::puts("us a Get: absent without, bloom(10), front; present without, bloom(10), front");
  for (int round = 0; round < 5; ++round) {
    for (const auto& [keys, expected] : {std::pair(&absent, false), std::pair(&there, true)})
      for (const Bench* bench : {&none, &own, &front}) std::printf("%8.3f", Microseconds(*bench->db, *keys, expected));
    std::puts("");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "", folder = argc > 2 ? argv[2] : "";
  const std::string more = argc > 3 ? argv[3] : "", how = argc > 4 ? argv[4] : "";
  if (mode == "write")
    Write(folder, std::strtoull(more.c_str(), nullptr, 10), how == "calm", how == "keep");
  else if (mode == "check")
    Check(folder);
  else if (mode == "read")
    Read(folder, true);
  else if (mode == "readonly")
    Read(folder, false);
  else if (mode == "catchup")
    CatchUp(folder);
  else if (mode == "dropped")
    Dropped(folder);
  else if (mode == "older")
    Older(folder, more == "killed");
  else if (mode == "over")
    Over(folder);
  else if (mode == "again")
    Again(folder);
  else if (mode == "cases")
    Cases(folder);
  else if (mode == "readacopy")
    ReadACopy(folder);
  else if (mode == "gaps")
    Gaps(folder, more == "tail");
  else if (mode == "lose")
    Lose(folder);
  else if (mode == "copy")
    Copy(folder);
  else if (mode == "past")
    WritePast(folder);
  else if (mode == "pastopen")
    WritePastOpen(folder, more);
  else if (mode == "ingestpast")
    IngestPast(folder);
  else if (mode == "ingest")
    IngestAlone(folder);
  else if (mode == "bench")
    Measure(folder, std::strtoull(more.c_str(), nullptr, 10));
  else
    Fail(2, "what to do?");
}
