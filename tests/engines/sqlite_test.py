"""A filter in front of a SQLite database in WAL mode. The programs that write to the database keep the filter in step. They are
killed at any moment. Filters and databases come back from backups, and the log begins anew. After each kill no row may be
answered "no".

Arguments: see engines.py.
"""
import collections
import contextlib
import mmap
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import unittest

import engines
import bfstore_ctypes as bfs  # found only after engines
import bfstore_header

TREE, ASKED = engines.arguments(kills=100, search=False)
LIBRARY = bfs.load(TREE.library)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
OWNER, KEY_BYTES, NEVER = 1, 16, 2**63 - 1
CODES = bfstore_header.codes(TREE.root / "capi" / "bfstore.h")
RECOVERIES = mmap.mmap(-1, 1)  # recoveries of all processes together, at most 255
RECOVERABLE = [CODES[name] for name in ("BFS_EUNCLEAN", "BFS_EPOISONED", "BFS_ERECOVERING")]


class WrongNo(Exception):
    pass


class Refused(Exception):
    """The filter took no key, or could not be opened: the transaction is rolled back, and the filter opened again."""


def good(code):
    if code < 0:
        raise Refused(code)
    return code


# --- The engine: the steps of programs that use both -----------------------------------------------------------------

class Place:
    """The two files. `rows` is the log too: its ids are the positions, given in the order of the commits."""

    def __init__(self, folder):
        self.database, self.filter = os.path.join(folder, "rows.db"), os.path.join(folder, "rows.bf")

    @contextlib.contextmanager
    def connected(self):
        database = sqlite3.connect(self.database, timeout=engines.PATIENCE, isolation_level=None)
        try:
            yield database
        finally:
            database.close()

    def make(self):
        with self.connected() as database:
            database.executescript(f"""
                PRAGMA journal_mode=WAL;
                CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB);
                CREATE TABLE filter (epoch INTEGER, compared INTEGER, file_id BLOB);
                INSERT INTO filter VALUES (1, {NEVER}, NULL);""")


@contextlib.contextmanager
def transaction(database):
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def kept(database):
    """Returns the epoch, the row up to which a filter was compared in it, and that filter's file_id."""
    return database.execute("SELECT epoch, compared, file_id FROM filter").fetchone()


def file_id(handle):
    return bytes(bfs.statistics(LIBRARY, handle).file_id)


def is_the_one(handle, epoch, compared, its_id):
    """Returns whether the handle has the compared file. The mark tells it from files of an earlier state; the file_id tells it from
    a copy that bfs_copy made, which has the mark, too."""
    return LIBRARY.bfs_get_mark(handle, OWNER, epoch) >= compared and file_id(handle) == its_id


class Writer:
    def __init__(self, place, database):
        self.place, self.database, self.handle = place, database, None
        self.known = None  # the result of `kept` when this handle's file was the last compared one

    def close(self):
        if self.handle is not None:
            LIBRARY.bfs_close(self.handle, None)
        self.handle = None

    def add(self, keys):
        good(LIBRARY.add_fixed(self.handle, b"".join(keys), KEY_BYTES, len(keys)))

    def keys_after(self, mark):
        return [key for key, in self.database.execute("SELECT key FROM rows WHERE id > ? AND key IS NOT NULL", (mark,))]

    def open(self):
        self.close()
        try:
            self.handle = bfs.open_path(LIBRARY, self.place.filter.encode(), bfs.WRITE)
            recovers = False
        except bfs.CodeError as refused:
            if refused.code not in RECOVERABLE:
                return self.build() if refused.code == CODES["BFS_ENOENT"] or refused.code <= -200 else good(refused.code)
            recovers = True
            with contextlib.suppress(bfs.CodeError):
                self.handle = bfs.open_path(LIBRARY, self.place.filter.encode(), bfs.WRITE | bfs.RECOVER)
            if self.handle is None:
                raise Refused(refused.code) from None
        self.compare()
        if recovers:
            good(LIBRARY.bfs_finish_recovery(self.handle, OWNER, None))
            RECOVERIES[0] = min(255, RECOVERIES[0] + 1)
        return None

    def compare(self):
        """Step 4. A row without a key tells this opening from all others. No row is committed meanwhile."""
        with transaction(self.database):
            (epoch,), (last,) = self.database.execute("SELECT epoch FROM filter UNION ALL SELECT ifnull(max(id), 0) FROM rows")
            mark = LIBRARY.bfs_get_mark(self.handle, OWNER, epoch)
            if mark > last:
                epoch, mark = self.new_epoch(), 0
            self.add(self.keys_after(mark))
            position, its_id = self.database.execute("INSERT INTO rows (key) VALUES (NULL)").lastrowid, file_id(self.handle)
            self.database.execute("UPDATE filter SET epoch = ?, compared = ?, file_id = ?", (epoch, NEVER, its_id))
        good(LIBRARY.bfs_sync(self.handle, bfs.mark(OWNER, epoch, position), None))
        self.database.execute("UPDATE filter SET compared = ? WHERE epoch = ? AND compared = ? AND file_id = ?",
                              (position, epoch, NEVER, its_id))
        self.known = epoch, position, its_id

    def new_epoch(self):
        return time.time_ns()  # clock: a number that no other epoch has

    def build(self):
        """There is no filter, or a damaged one. Rows that are committed meanwhile are added when it is opened."""
        path = self.place.filter.encode()
        self.handle = bfs.create(LIBRARY, path, bfs.UNPUBLISHED | bfs.REPLACE, capacity=20000, fpr=0.01)
        self.add(self.keys_after(0))
        good(LIBRARY.bfs_publish(self.handle, None))
        self.open()

    def check(self):
        """To be called in a transaction. Raises Refused if another program has moved or removed the filter, or compared another file."""
        state = kept(self.database)
        if state != self.known and not (is_the_one(self.handle, *state) and LIBRARY.bfs_is_current(self.handle, None) == 1):
            raise Refused(CODES["BFS_EMISMATCH"])
        self.known = state

    def put(self, keys):
        """Insert, add, commit: the commit makes the rows both durable and visible."""
        with transaction(self.database):
            self.check()
            self.database.executemany("INSERT INTO rows (key) VALUES (?)", [(key,) for key in keys])
            self.add(keys)

    def sync(self):
        """Step 3: every row that is committed has returned from an add to this file."""
        with transaction(self.database):
            self.check()
            (epoch,), (last,) = self.database.execute("SELECT epoch FROM filter UNION ALL SELECT ifnull(max(id), 0) FROM rows")
        good(LIBRARY.bfs_sync(self.handle, bfs.mark(OWNER, epoch, last), None))

    def work(self, rng):
        """Until it is killed."""
        while True:
            try:
                self.open()
                while LIBRARY.bfs_is_current(self.handle, None) == 1:
                    self.put([rng.randbytes(KEY_BYTES) for _ in range(rng.randint(1, 4))])
                    if rng.random() < 0.2:
                        self.sync()
            except (Refused, bfs.CodeError, sqlite3.OperationalError):
                time.sleep(0.001)  # clock: between two tries


class Reader:
    """Asks the filter that was compared with this database last, and no other."""

    def __init__(self, place, database):
        self.place, self.database, self.handle, self.trusted = place, database, None, None

    def close(self):
        if self.handle is not None:
            LIBRARY.bfs_close(self.handle, None)
        self.handle = self.trusted = None

    def trust(self, *state):
        if self.trusted == state:
            return True
        self.close()
        with contextlib.suppress(bfs.CodeError):
            self.handle = bfs.open_path(LIBRARY, self.place.filter.encode(), bfs.READ)
            if self.is_the_one(*state):
                self.trusted = state
        return self.trusted is not None

    def is_the_one(self, *state):
        return is_the_one(self.handle, *state)

    def check(self, rng, newest=2**62):
        """Returns None if no filter is to be trusted; otherwise how many of 50 absent keys were told apart. Reads the rows before it
        asks the filter: visible rows have their keys there."""
        self.database.execute("BEGIN")
        state = kept(self.database)
        rows = self.database.execute("SELECT id, key FROM rows WHERE key IS NOT NULL ORDER BY id DESC LIMIT ?", (newest,)).fetchall()
        self.database.execute("COMMIT")
        if not self.trust(*state):
            return None
        for (number, _), answer in zip(rows, self.ask([key for _, key in rows])):
            if answer == 0:
                raise WrongNo(f"row {number} of {len(rows)} is answered no, in epoch {state[0]}, compared at {state[1]}")
        return self.ask([rng.randbytes(KEY_BYTES) for _ in range(50)]).count(0)

    def ask(self, keys):
        answers = (bfs.c_uint8 * len(keys))()
        LIBRARY.contains_fixed(self.handle, b"".join(keys), KEY_BYTES, len(keys), answers)
        return bytes(answers)


# --- The campaign: their accidents ------------------------------------------------------------------------------------

def forked(work):
    """Starts a process that does this, and ends with 1 if anything is raised."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except WrongNo as wrong:
            print(f"a reader: {wrong}", file=sys.stderr)
            os._exit(7)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def killed(pid):
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        raise WrongNo("in another process") if os.WEXITSTATUS(status) == 7 else AssertionError(f"exit {os.WEXITSTATUS(status)}")


class Campaign:
    Writer, Reader = Writer, Reader
    calm = 16  # rounds without an accident, for eight with one

    def __init__(self, folder, rng):
        self.folder, self.rng, self.place = folder, rng, Place(folder)
        self.saved_filter, self.saved_database = os.path.join(folder, "saved.bf"), os.path.join(folder, "saved.db")
        self.counts, self.lives = collections.Counter(), engines.Lives(0.012)
        self.reader = None
        self.place.make()

    def write_for_ever(self, seed):
        with self.place.connected() as database:
            self.Writer(self.place, database).work(random.Random(seed))

    def read_for_ever(self, seed):
        rng = random.Random(seed)
        with self.place.connected() as database:
            reader = self.Reader(self.place, database)
            while True:
                with contextlib.suppress(sqlite3.OperationalError):
                    reader.check(rng, 20)

    def without_reader(self):
        reader, self.reader = self.reader, None
        if reader is not None:
            killed(reader)

    def check(self):
        with self.place.connected() as database:
            reader = self.Reader(self.place, database)
            told = reader.check(self.rng)
            reader.close()
            self.counts["rows"] = database.execute("SELECT count(key) FROM rows").fetchone()[0]
        self.counts["trusted" if told is not None else "not trusted"] += 1
        self.counts["useful"] += (told or 0) > 40  # of 50

    def save_filter(self):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(self.place.filter, self.saved_filter)

    def restore_filter(self):
        if os.path.exists(self.saved_filter):
            shutil.copy(self.saved_filter, self.place.filter + ".back")
            os.replace(self.place.filter + ".back", self.place.filter)

    def remove_filter(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.place.filter)

    def close_clean(self):
        """Runs a writer that ends as it should. Then a backup of its file is clean."""
        with self.place.connected() as database:
            writer = self.Writer(self.place, database)
            with contextlib.suppress(Refused):
                writer.open()
                writer.put([self.rng.randbytes(KEY_BYTES)])
                writer.sync()
            writer.close()
        self.save_filter()

    @contextlib.contextmanager
    def writing(self):
        with self.place.connected() as database:
            writer = self.Writer(self.place, database)
            writer.open()
            try:
                yield writer
            finally:
                writer.close()

    def write(self, rows):
        """Runs a writer that ends as it should."""
        with self.writing() as writer:
            for _ in range(rows):
                writer.put([self.rng.randbytes(KEY_BYTES)])
            writer.sync()

    def save_database(self):
        with self.place.connected() as database, contextlib.closing(sqlite3.connect(self.saved_database)) as saved:
            database.backup(saved)

    def restore_database(self):
        """Restores the log to an earlier moment, and gives it a new epoch, as a program has to."""
        if not os.path.exists(self.saved_database):
            return
        self.without_reader()
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.place.database + suffix)
        shutil.copy(self.saved_database, self.place.database)
        with self.place.connected() as database:
            database.execute("PRAGMA journal_mode=WAL")
            self.begin_anew(database)

    def reset_log(self):
        """Lets the positions begin anew, with few rows."""
        with self.place.connected() as database, transaction(database):
            rows = database.execute("SELECT key FROM rows WHERE key IS NOT NULL ORDER BY id DESC LIMIT 5").fetchall()
            database.execute("DELETE FROM rows")
            database.execute("DELETE FROM sqlite_sequence")
            database.executemany("INSERT INTO rows (key) VALUES (?)", rows)
            self.begin_anew(database)

    def begin_anew(self, database):
        database.execute("UPDATE filter SET epoch = ?, compared = ?", (time.time_ns(), NEVER))  # clock: as above

    def round(self):
        """Kills two writers; something may happen to the files meanwhile."""
        rows = self.counts["rows"]
        if self.reader is None:
            seed = self.rng.random()
            self.reader = forked(lambda: self.read_for_ever(seed))
        writers = []
        for _ in range(2):
            seed = self.rng.random()
            writers.append(forked(lambda: self.write_for_ever(seed)))
        if self.rng.random() < 0.1:
            engines.any_moment(self.rng, 0.008)
            self.save_filter()  # in use
        for writer in writers:
            self.lives.wait(self.rng)
            killed(writer)
            self.counts["kills"] += 1
        self.check()
        self.lives.learn(self.counts["rows"] != rows)
        accident = self.rng.choice([self.save_filter, self.close_clean, self.restore_filter, self.restore_filter, self.remove_filter,
                                    self.save_database, self.restore_database, self.reset_log] + [None] * self.calm)
        if accident:
            self.counts[accident.__name__] += 1
            accident()
            self.check()
        if self.counts["rows"] > 10000:
            self.reset_log()

    def met(self, kills):
        """Returns whether readers trusted the filter, and it told keys apart: otherwise it makes no wrong no."""
        return self.counts["useful"] > self.counts["kills"] / 20 and (kills < 500 or RECOVERIES[0] > 0)

    def run(self, kills):
        try:
            engines.go_on(self.round, kills, lambda: self.counts["kills"], lambda: self.met(kills))
        finally:
            with contextlib.suppress(WrongNo):
                self.without_reader()


class AddsAfterTheCommit(Campaign):
    class Writer(Writer):
        def put(self, keys):
            with transaction(self.database):
                self.database.executemany("INSERT INTO rows (key) VALUES (?)", [(key,) for key in keys])
            self.after_the_commit()
            self.add(keys)

        def after_the_commit(self):
            time.sleep(0.0005)  # clock: --search


class ComparesNothing(Campaign):
    calm = 2

    class Writer(Writer):
        def keys_after(self, mark):
            return [b"x" * KEY_BYTES]


class KeepsItsEpoch(Campaign):
    calm = 2

    def reset_log(self):
        super().reset_log()
        self.remove_filter()

    def begin_anew(self, database):
        database.execute("UPDATE filter SET compared = ?", (NEVER,))


class TrustsAnyFilter(Campaign):
    calm = 2

    class Reader(Reader):
        def is_the_one(self, *state):
            return True


class AddsToAnyFile(Writer):
    def check(self):
        pass


class ChecksTheMarkAlone(Reader):
    def is_the_one(self, epoch, compared, its_id):
        return LIBRARY.bfs_get_mark(self.handle, OWNER, epoch) >= compared


def several_keys():
    return [bytes([number]) * KEY_BYTES for number in range(8)]


class Sqlite(unittest.TestCase):
    def two(self, first=Writer, second=Writer):
        """Makes two connections to new files, each of which adds or asks."""
        folder = tempfile.TemporaryDirectory(prefix="bfstore-sqlite-", dir=MEMORY)
        self.addCleanup(folder.cleanup)
        place, made = Place(folder.name), []
        place.make()
        for kind in (first, second):
            connected = place.connected()
            made.append(kind(place, connected.__enter__()))
            self.addCleanup(connected.__exit__, None, None, None)
            self.addCleanup(made[-1].close)
        return place, *made

    def noes(self, place):
        with place.connected() as database:
            reader = Reader(place, database)
            try:
                return reader.check(random.Random(ASKED.seed))
            finally:
                reader.close()

    def with_another_file(self, kind, replace):
        """A writer has checked that its file is current. Then another writer compares another file."""
        place, writer, other = self.two(kind)
        for each in (writer, other):
            each.open()
            each.put([b"a" * KEY_BYTES])
        self.assertEqual(LIBRARY.bfs_is_current(writer.handle, None), 1)
        writer.put([b"b" * KEY_BYTES])  # both write to one file
        writer.sync()
        replace(place.filter)
        other.open()
        other.put([b"c" * KEY_BYTES])
        with contextlib.suppress(Refused):
            writer.sync()
        writer.put([b"d" * KEY_BYTES])
        return place

    def test_no_row_goes_to_a_file_that_is_not_the_one_that_was_compared(self):
        for replace in (os.unlink, lambda path: (shutil.copy(path, path + ".new"), os.replace(path + ".new", path))):
            with self.assertRaises(Refused):
                self.with_another_file(Writer, replace)
            with self.assertRaises(WrongNo):
                self.noes(self.with_another_file(AddsToAnyFile, replace))

    def with_a_saved_copy(self, kind):
        place, writer, reader = self.two(second=kind)
        writer.open()
        writer.put([b"a" * KEY_BYTES])
        bfs.copy(LIBRARY, writer.handle, (place.filter + ".saved").encode())
        writer.put([b"b" * KEY_BYTES])
        os.replace(place.filter + ".saved", place.filter)
        return reader.check(random.Random(ASKED.seed))

    def test_a_saved_copy_that_was_moved_back_is_not_trusted(self):
        self.assertIsNone(self.with_a_saved_copy(Reader))
        with self.assertRaises(WrongNo):
            self.with_a_saved_copy(ChecksTheMarkAlone)

    def campaign(self, kind=Campaign):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-sqlite-", dir=MEMORY)
        self.addCleanup(folder.cleanup)
        return kind(folder.name, random.Random(ASKED.seed))

    def test_no_row_is_answered_no_whenever_its_writers_are_killed(self):
        campaign = self.campaign()
        self.addClassCleanup(lambda: print(dict(campaign.counts), f"recoveries: {RECOVERIES[0]}"))  # after the test's own line
        campaign.run(ASKED.kills)

    # Each mistake in the steps that show it. The same steps without the mistake show no wrong no.

    def asked_after_the_commit(self, kind):
        campaign = self.campaign(kind)
        with campaign.writing() as writer:
            writer.after_the_commit = campaign.check
            writer.put(several_keys())
            campaign.check()

    def an_older_filter_comes_back(self, kind):
        campaign = self.campaign(kind)
        campaign.write(3)
        campaign.save_filter()
        campaign.write(3)
        campaign.restore_filter()
        campaign.check()
        campaign.write(0)  # compares
        campaign.check()

    def a_log_begins_anew(self, kind):
        """The log then grows past the mark of an older filter, which comes back."""
        campaign = self.campaign(kind)
        campaign.write(10)  # a mark above the rows that the new log keeps
        campaign.save_filter()
        campaign.reset_log()
        campaign.write(20)
        campaign.restore_filter()
        campaign.write(0)
        campaign.check()

    def test_each_mistake_of_an_engine_over_sqlite_makes_a_wrong_no(self):
        for mistake, steps in ((AddsAfterTheCommit, self.asked_after_the_commit), (ComparesNothing, self.an_older_filter_comes_back),
                               (TrustsAnyFilter, self.an_older_filter_comes_back), (KeepsItsEpoch, self.a_log_begins_anew)):
            with self.subTest(mistake.__name__):
                steps(Campaign)
                with self.assertRaises(WrongNo):
                    self.campaign(mistake).run(2**62) if ASKED.search else steps(mistake)


if __name__ == "__main__":
    engines.main()
