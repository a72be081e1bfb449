"""capi/engines/sqlite in SQLite's own shell and in Debian's Python: the answers of each function, the events of its README, and
writers that are killed at any moment. No row of the table may be answered "no".

Arguments: see engines.py; or --bench, which only measures.
"""
import collections
import contextlib
import ctypes
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
import unittest

import engines

engines.needs(programs={"sqlite3": "sqlite3"}, files={"/usr/include/sqlite3ext.h": "libsqlite3-dev"})
if not hasattr(sqlite3.Connection, "enable_load_extension"):
    engines.missing("a Python whose sqlite3 loads extensions", "python3")
TREE, ASKED = engines.arguments(kills=100, bench=False)
SOURCES = TREE.root / "capi" / "engines" / "sqlite"
EXTENSION = TREE.out / "bfstore.so"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def build():
    warnings = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
    subprocess.run([*TREE.cc, *warnings, "-fPIC", "-shared", "-fvisibility=hidden", f"-I{TREE.root / 'capi'}", "-o", EXTENSION,
                    *sorted(SOURCES.glob("*.c")), TREE.library, f"-Wl,-rpath,{TREE.library.parent}"], check=True)


def connect(path, **how):
    database = sqlite3.connect(path, timeout=engines.PATIENCE, isolation_level=None, **how)
    database.enable_load_extension(True)
    database.execute("SELECT load_extension(?)", (str(EXTENSION.with_suffix("")),))
    return database


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-sqlite-", dir=MEMORY)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path, self.filter = self.folder / "rows.db", self.folder / "rows.bf"

    def connect(self, path=None, **how):
        database = connect(path or self.path, **how)
        self.addCleanup(database.close)
        return database

    def kept(self, capacity=1000, keys=("a", "b")):
        """Makes a table and its filter, by a connection that stays open."""
        database = self.connect()
        database.execute("PRAGMA journal_mode=WAL")
        database.execute('CREATE TABLE "rows" (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT)')  # a table that is renamed has these marks
        database.execute("SELECT bf_create('rows.bf', ?)", (capacity,))
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        self.insert(database, *keys)
        return database

    def insert(self, database, *keys):
        database.executemany("INSERT INTO rows (key) VALUES (?)", [(key,) for key in keys])

    def one(self, database, sql, *values):
        return database.execute(sql, values).fetchone()[0]

    def maybe(self, database, key, path="rows.bf"):
        return self.one(database, "SELECT bf_maybe(?, ?)", path, key)

    def assert_refused(self, words, database, sql, *values):
        with self.assertRaisesRegex(sqlite3.OperationalError, words):
            database.execute(sql, values).fetchall()

    def assert_answers(self, database, present=("a", "b"), absent="absent"):
        """Checks that the keys are there, and that an absent key gets a no."""
        self.assertEqual([self.maybe(database, key) for key in present], [1] * len(present))
        self.assertEqual(self.maybe(database, absent), 0)

    def assert_in_doubt(self, database):
        self.assertEqual(self.maybe(database, "absent"), 1)


class Functions(Case):
    def test_a_filter_made_by_hand_has_what_was_added_and_no_other_key(self):
        database = self.connect()
        self.one(database, "SELECT bf_create('rows.bf', 1000, 0.001, 'classic')")
        keys = [0, 1, -1, 2**63 - 1, 1.5, float("inf"), "text", "\u00fc\u20ac", "with\0nul", b"blob", b"", ""]
        for key in keys:
            self.one(database, "SELECT bf_add('rows.bf', ?)", key)
        self.assertEqual([self.maybe(database, key) for key in keys], [1] * len(keys))
        for kind in (str, lambda number: b"%d blob" % number):
            self.assertLess(sum(self.maybe(database, kind(f"no {number}" if kind is str else number)) for number in range(1000)), 20)

    def test_a_key_goes_to_the_file_that_has_the_path_now(self):
        database = self.connect()
        for name in ("rows.bf", "new.bf"):
            self.one(database, "SELECT bf_create(?, 1000)", name)
        self.one(database, "SELECT bf_add('rows.bf', 'x')")
        os.replace(self.folder / "new.bf", self.filter)
        self.one(database, "SELECT bf_add('rows.bf', 'y')")
        self.assertEqual([self.maybe(self.connect(), key) for key in "xy"], [0, 1])

    def test_keys_are_the_bytes_that_other_languages_use(self):
        import bfstore_ctypes as bfs
        database = self.connect()
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        for key in (258, "\u00fc", b"\0\1"):
            self.one(database, "SELECT bf_add('rows.bf', ?)", key)
        library = bfs.load(str(TREE.library))
        handle = bfs.open_path(library, str(self.filter).encode(), bfs.READ)
        self.addCleanup(library.bfs_close, handle, None)
        for key in (b"\2\1\0\0\0\0\0\0", b"\xc3\xbc", b"\0\1"):
            self.assertEqual(library.bfs_contains(handle, key, len(key)), 1)
        self.assertEqual(library.bfs_contains(handle, b"\1\2", 2), 0)

    def test_a_utf16_database_has_the_same_keys(self):
        database = self.connect()
        database.execute("PRAGMA encoding='UTF-16'")
        database.execute("CREATE TABLE rows (key TEXT)")
        database.execute("INSERT INTO rows VALUES ('\u00fc\u20ac')")
        self.one(database, "SELECT bf_build('rows.bf', bf_keys(key)) FROM rows")
        self.assertEqual(self.maybe(self.connect(self.folder / "other.db"), "\u00fc\u20ac"), 1)

    def test_null_is_maybe_and_no_key(self):
        database = self.kept()
        self.assertEqual(self.maybe(database, None), 1)
        self.insert(database, None)
        self.assertEqual(self.one(database, "SELECT keys_added FROM bf_info('rows.bf')"), 2)

    def test_a_number_that_is_equal_to_a_text_by_affinity_is_maybe(self):
        database = self.kept(keys=["1", "2"])
        database.execute("CREATE TABLE probe (k INTEGER)")
        database.execute("INSERT INTO probe VALUES (1), (7)")
        join = "SELECT k FROM probe CROSS JOIN rows ON rows.key = probe.k"
        self.assertEqual(database.execute(join).fetchall(), [(1,)])
        self.assertEqual(database.execute(join + " WHERE bf_maybe('rows.bf', k)").fetchall(), [(1,)])
        database.execute("CREATE TABLE numbers (key)")
        database.execute("INSERT INTO numbers VALUES (1)")
        self.one(database, "SELECT bf_create('n.bf', 1000)")
        self.one(database, "SELECT bf_keep('n.bf', 'numbers', 'key')")
        self.assertEqual([self.maybe(database, key, "n.bf") for key in (1, 2, "2", b"2")], [1, 0, 1, 0])
        database.execute("INSERT INTO numbers VALUES ('x')")
        self.assertEqual(self.maybe(database, 2, "n.bf"), 1)

    def test_a_column_with_a_collation_that_is_not_sqlites_own_is_refused(self):
        database = self.connect()
        database.create_collation("first", lambda a, b: (a[:1] > b[:1]) - (a[:1] < b[:1]))
        database.execute("CREATE TABLE rows (key TEXT COLLATE first)")
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.assert_refused("collation", database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        self.assertEqual(database.execute("SELECT name FROM sqlite_schema").fetchall(), [("rows",)])

    def test_build_writes_a_filter_of_the_distinct_keys(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (key)")
        database.executemany("INSERT INTO rows VALUES (?)", [(n % 1000,) for n in range(3000)])
        self.assertEqual(self.one(database, "SELECT bf_build('rows.bf', bf_keys(key), 0.001) FROM rows"), 1000)
        self.assertEqual(self.one(database, "SELECT sum(bf_maybe('rows.bf', key)) FROM rows"), 3000)
        self.assertEqual(database.execute("SELECT capacity, saturated FROM bf_info('rows.bf')").fetchall(), [(1000 + 17, 0)])  # and the words that note the kinds
        self.assertEqual(self.one(database, "SELECT bf_build('none.bf', bf_keys(key)) FROM rows WHERE 0"), 0)
        self.assertEqual(self.maybe(database, 1, "none.bf"), 0)
        self.assertEqual(self.one(database, "SELECT bf_build('rows.bf', bf_keys(key), 0.01, 5000) FROM rows"), 1000)
        self.assertEqual(self.one(database, "SELECT capacity FROM bf_info('rows.bf')"), 5000)

    def test_a_query_that_fails_writes_no_filter(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (key)")
        database.executemany("INSERT INTO rows VALUES (?)", [(n,) for n in range(100)])
        with self.assertRaises(sqlite3.OperationalError):  # abs() overflows in the last row
            database.execute("SELECT bf_build('rows.bf', bf_keys(key)), sum(abs(iif(key < 99, 1, -9223372036854775808))) FROM rows").fetchall()
        self.assertFalse(self.filter.exists())
        database.set_progress_handler(lambda: 1, 200)
        with self.assertRaises(sqlite3.OperationalError):
            database.execute("SELECT bf_build('rows.bf', bf_keys(key)) FROM rows").fetchall()
        self.assertFalse(self.filter.exists())

    def test_a_table_bfstore_filters_that_ended_leaves_the_connection_of_use(self):
        """A statement that reads the table once stayed prepared, and failed in every function of the connection."""
        create, keep, ask, info = "SELECT bf_create('rows.bf', 1000)", "SELECT bf_keep('rows.bf', 'rows', 'key')", "SELECT bf_maybe('rows.bf', 1)", "SELECT state FROM bf_info('rows.bf')"
        drop = ["DROP TABLE bfstore_filters", *(f'DROP TRIGGER "bfstore {event} rows.bf"' for event in ("insert", "update", "before insert", "before update")), 'DROP VIEW "bfstore last rows.bf"']
        for way in ([create, "BEGIN", keep, ask, "INSERT INTO rows VALUES ('x')", "ROLLBACK"], [create, "SAVEPOINT s", keep, info, "ROLLBACK TO s", "RELEASE s"], [create, keep, ask, *drop],
                    ["CREATE TABLE bfstore_filters (other)", ask, "DROP TABLE bfstore_filters"], None, [create, keep, ask, None]):
            with self.subTest(way):
                database = self.connect()
                database.execute("CREATE TABLE rows (key)")
                if way is None:
                    self.assert_refused("no such file", database, keep)
                for sql in way or []:
                    if sql is None:
                        with contextlib.closing(sqlite3.connect(self.path)) as other:
                            other.executescript(";".join(drop))
                    else:
                        database.execute(sql).fetchall()
                self.filter.unlink(missing_ok=True)
                self.one(database, create)
                self.assertEqual(self.maybe(database, b"a"), 0)
                self.assertEqual(database.execute("SELECT state, kept FROM bf_info('rows.bf')").fetchone(), ("good", 0))
                self.one(database, "SELECT bf_add('rows.bf', 1)")
                self.assertEqual(self.one(database, keep), 0)
                database.execute("INSERT INTO rows VALUES ('a')")
                for one in (database, self.connect()):
                    self.assertEqual([self.maybe(one, key) for key in "ab"], [1, 0])
                database.close()
            self.doCleanups()
            self.setUp()

    def test_counting_counts_and_removes_and_not_for_a_table(self):
        database = self.connect()
        for name in ("'countin'", "'Counting'", "''", "NULL"):
            self.assert_refused("no layout is called " + name, database, f"SELECT bf_create('c.bf', 100, 0.001, {name})")
        self.one(database, "SELECT bf_create('c.bf', 1000, 0.001, 'counting')")
        for _ in range(2):
            self.one(database, "SELECT bf_add('c.bf', 'x')")
        self.assertEqual(self.one(database, "SELECT bf_count('c.bf', 'x')"), 2)
        self.assertEqual(self.one(database, "SELECT bf_remove('c.bf', 'x')"), 1)
        self.assertEqual(self.one(database, "SELECT bf_count('c.bf', 'x')"), 1)
        database.execute("CREATE TABLE rows (key)")
        self.one(database, "SELECT bf_keep('c.bf', 'rows', 'key')")
        self.assert_refused("build it again", database, "SELECT bf_remove('c.bf', 'x')")
        other = self.connect(self.folder / "other.db")
        self.assert_refused("another database", other, "SELECT bf_remove('c.bf', 'x')")

    def test_info_is_one_row_of_facts(self):
        database = self.kept()
        facts = dict(zip([column[0] for column in database.execute("SELECT * FROM bf_info('rows.bf')").description],
                         database.execute("SELECT * FROM bf_info('rows.bf')").fetchone()))
        self.assertEqual((facts["state"], facts["kept"], facts["layout"], facts["capacity"], facts["keys_added"]),
                         ("good", 1, "blocked", 1000, 2))
        self.assertAlmostEqual(facts["estimated_keys"], 2, delta=0.5)
        self.assertEqual(database.execute("SELECT state, kept, layout FROM bf_info('none.bf')").fetchall(), [("BFS_ENOENT", 0, None)])
        self.assertEqual(database.execute("SELECT * FROM bf_info").fetchall(), [])

    def test_no_view_or_trigger_writes_files_and_trusted_schema_off_ends_bf_add_too(self):
        database = self.kept()
        for call in ("bf_sync('rows.bf')", "bf_create('x.bf', 1)", "bf_build('x.bf', bf_keys(1))", "bf_remove('rows.bf', 'a')",
                     "bf_keep('rows.bf', 'rows', 'key')"):
            database.execute(f"CREATE VIEW v AS SELECT {call}")
            self.assert_refused("unsafe use", database, "SELECT * FROM v")
            database.execute("DROP VIEW v")
        database.execute("PRAGMA trusted_schema=OFF")
        self.assert_refused("unsafe use of bf_add", database, "INSERT INTO rows (key) VALUES ('c')")

    def test_what_cannot_be_opened_is_maybe_and_never_an_error_of_the_query(self):
        database = self.connect()
        (self.folder / "junk.bf").write_bytes(b"x" * 9000)
        for path in ("none.bf", "junk.bf", str(self.folder)):
            self.assertEqual(self.maybe(database, "a", path), 1)
        self.assert_refused("not a text", database, "SELECT bf_maybe(NULL, 'a')")

    def test_a_connection_that_ends_lets_go_of_the_file(self):
        database = self.kept()
        self.assert_answers(database)
        self.assertIn("rows.bf", pathlib.Path("/proc/self/maps").read_text())
        database.close()
        self.assertNotIn("rows.bf", pathlib.Path("/proc/self/maps").read_text())


# Values that SQL compares in many ways, and values close to them.
VALUES = [0, -0.0, 1, 1.0, 5, 5.0, 5.5, -5, "5", "5.0", " 5 ", "05", "5e0", "+5", "5x", b"5", b"5.0", 2**53, 2**53 + 1, float(2**53), "9007199254740993",
          2**63 - 1, -2**63, float(2**63), -float(2**63), "9223372036854775807", 1e300, "1e300", float("inf"), "Inf", "-Inf", -float("inf"), "inf ",
          None, "", " ", b"", "a", "A", "a ", "A  ", " a", b"a", b"A", "a\0b", "A\0c", "a\0b ", "aB", "Ab ", "\u00c4", "\u00e4", "0x10", 16, "nan", ".5", 0.5]
TYPES = [f"{type}{collation}" for type in ("", "INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB") for collation in ("", " COLLATE NOCASE", " COLLATE RTRIM")]


class Equality(Case):
    """SQL finds with the filter every row that it finds without it, for every type and collation on both sides."""

    def compare(self, stored, ask, fill):
        """Each value in a column of each type, asked from a column of each type. One filter for each type and value."""
        database = self.connect()
        for number, kind in enumerate(TYPES):
            database.execute(f"CREATE TABLE probe{number} (k {kind})")
            database.executemany(f"INSERT INTO probe{number} VALUES (?)", [(value,) for value in VALUES])
        noes = 0
        for kind in stored:
            database.execute(f"CREATE TABLE rows (key {kind})")
            for value in VALUES:
                database.execute("DELETE FROM rows")
                fill(database, value)
                for number in range(len(TYPES)):
                    asked = database.execute(f"SELECT k, typeof(k), rows.key = k OR k = rows.key OR rows.key IS k FROM probe{number}, rows WHERE NOT {ask}").fetchall()
                    self.assertEqual([row for row in asked if row[2]], [], (kind, value, TYPES[number]))
                    noes += len(asked)
            database.execute("DROP TABLE rows")
        return noes

    def test_a_kept_filter_loses_no_row_that_sql_finds(self):
        """The triggers of a table are made again for each of its types."""
        def fill(database, value):
            self.filter.unlink(missing_ok=True)
            self.one(database, "SELECT bf_create('rows.bf', 1000)")
            self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
            database.execute("INSERT INTO rows VALUES (?)", (value,))
        self.assertGreater(self.compare(TYPES[::2], "bf_maybe('rows.bf', k)", fill), 1000)

    def test_a_filter_that_was_built_loses_no_row_that_sql_finds(self):
        def fill(database, value):
            database.execute("INSERT INTO rows VALUES (?)", (value,))
            self.one(database, "SELECT bf_build('rows.bf', bf_keys(key), 0.0001) FROM rows")
        self.assertGreater(self.compare(TYPES[1::2], "bf_maybe('rows.bf', k)", fill), 1000)

    def test_a_filter_that_was_added_to_by_hand_loses_no_row_that_sql_finds(self):
        def fill(database, value):
            self.filter.unlink(missing_ok=True)
            self.one(database, "SELECT bf_create('rows.bf', 1000, 0.001, 'counting')")
            database.execute("INSERT INTO rows VALUES (?)", (value,))
            database.execute("SELECT bf_add('rows.bf', key) FROM rows").fetchall()
        self.assertGreater(self.compare(TYPES[:6], "bf_count('rows.bf', k)", fill), 1000)

    def test_a_kept_column_that_ignores_case_has_each_spelling_for_other_programs(self):
        import bfstore_ctypes as bfs
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, key TEXT COLLATE NOCASE)")
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        database.execute("INSERT INTO rows (key) VALUES ('apple')")
        database.execute("UPDATE rows SET key = 'APPLE'")
        self.assertEqual([self.maybe(database, key) for key in ("apple", "APPLE", "aPPle ", "pear")], [1, 1, 1, 0])
        library = bfs.load(str(TREE.library))
        handle = bfs.open_path(library, str(self.filter).encode(), bfs.READ)
        self.addCleanup(library.bfs_close, handle, None)
        self.assertEqual(library.bfs_contains(handle, b"APPLE", 5), 1)

    def test_what_is_removed_is_removed_in_both_its_forms(self):
        database = self.connect()
        self.one(database, "SELECT bf_create('c.bf', 1000, 0.001, 'counting')")
        self.one(database, "SELECT bf_add('c.bf', 'Apple')")
        self.assertEqual([self.maybe(database, key, "c.bf") for key in ("Apple", "apple")], [1, 1])
        self.assertEqual(self.one(database, "SELECT bf_remove('c.bf', 'Apple')"), 1)
        self.assertEqual([self.maybe(database, key, "c.bf") for key in ("Apple", "apple")], [0, 0])

    def test_a_filter_of_another_program_may_have_numbers_or_texts_unless_the_caller_says_which(self):
        import bfstore_ctypes as bfs
        library = bfs.load(str(TREE.library))
        database = self.connect()
        for name, key in (("numbers.bf", (5).to_bytes(8, "little")), ("texts.bf", b"5")):
            self.one(database, "SELECT bf_create(?, 1000)", name)
            handle = bfs.open_path(library, str(self.folder / name).encode(), bfs.WRITE)
            self.assertEqual(library.bfs_add(handle, key, len(key)), 1)
            library.bfs_close(handle, None)
            self.assertEqual([self.maybe(database, asked, name) for asked in (5, "5", 6, "6", "x", b"6")], [1, 1, 1, 1, 0, 0])
        said = [[self.one(database, "SELECT bf_maybe(?, ?, ?)", name + ".bf", asked, name) for asked in (5, 5.0, 6, "x")] for name in ("numbers", "texts")]
        self.assertEqual(said, [[1, 1, 0, 0], [1, 1, 1, 0]])
        self.assertEqual([self.one(database, "SELECT bf_maybe('texts.bf', CAST(? AS BLOB))", asked) for asked in (5, 6)], [1, 0])
        self.assert_refused("'numbers' or 'texts'", database, "SELECT bf_maybe('texts.bf', 5, 'dates')")

    def foreign(self, name, keys, fpr=0.01, seed=1):
        """Makes a filter as another program does, with these bytes as keys."""
        import bfstore_ctypes as bfs
        library = bfs.load(str(TREE.library))
        handle = bfs.create(library, str(self.folder / name).encode(), capacity=max(len(keys), 1), fpr=fpr, seed=seed)
        for key in keys:
            self.assertGreaterEqual(library.bfs_add(handle, key, len(key)), 0)
        library.bfs_close(handle, None)

    def test_a_false_positive_of_a_mark_leaves_a_filter_of_another_program_any_kind(self):
        """Once one of the marks of kinds was there by chance, and said that there were no other kinds: a wrong no in 1 of 100 files."""
        database, kinds = self.connect(), {"INTEGER": lambda key: key.to_bytes(8, "little"), "TEXT": lambda key: b"%d" % key}
        for kind, bytes_of in kinds.items():
            database.execute(f"CREATE TABLE {kind}_rows (key {kind})")
            database.executemany(f"INSERT INTO {kind}_rows VALUES (?)", [(key,) for key in range(50)])
            for seed in range(100):
                self.foreign(f"{seed}.bf", [bytes_of(key) for key in range(50)], fpr=0.1, seed=seed)
                asked = "CAST(key AS TEXT)" if kind == "INTEGER" else "CAST(key AS INTEGER)"
                self.assertEqual(self.one(database, f"SELECT count(*) FROM {kind}_rows WHERE key = {asked}"), 50)
                self.assertEqual(self.one(database, f"SELECT count(*) FROM {kind}_rows WHERE NOT bf_maybe(?, {asked})", f"{seed}.bf"), 0, (kind, seed))
                (self.folder / f"{seed}.bf").unlink()

    def test_a_filter_of_another_program_keeps_any_kind_when_sqlite_adds_to_it(self):
        for keys, added, asked, absent in (([(5).to_bytes(8, "little")], "x", " 05", " 06"), ([b"5"], 7, 5, 6)):
            self.foreign("rows.bf", keys)
            database = self.connect()
            self.one(database, "SELECT bf_add('rows.bf', ?)", added)
            self.assertEqual([self.maybe(database, key) for key in (added, asked, absent, b"absent")], [1, 1, 1, 0])
            self.filter.unlink()
            self.foreign("rows.bf", [])  # a file without any key is SQLite's
            self.one(database, "SELECT bf_add('rows.bf', ?)", added)
            self.assertEqual([self.maybe(database, key) for key in (added, asked, absent)], [1, 0, 0])
            database.close()
            self.filter.unlink()

    def test_keys_that_another_program_adds_to_sqlites_filter_are_a_limit_that_info_names(self):
        import bfstore_ctypes as bfs
        database = self.connect()
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.one(database, "SELECT bf_add('rows.bf', 'x')")
        library = bfs.load(str(TREE.library))
        handle = bfs.open_path(library, str(self.filter).encode(), bfs.WRITE)
        self.assertEqual(library.bfs_add(handle, (5).to_bytes(8, "little"), 8), 1)
        library.bfs_close(handle, None)
        self.assertEqual(self.maybe(database, "05"), 0, "it is seen now: README and bf_info need not say otherwise")
        self.assertRegex(self.one(database, "SELECT not_seen FROM bf_info('rows.bf')"), "another program")
        self.assertEqual(self.one(database, "SELECT bf_maybe('rows.bf', 5)"), 1)


class Events(Case):
    """The lines of the table in DETAILS.md."""

    def test_rollback_leaves_the_key(self):
        database = self.kept()
        for end in ("ROLLBACK", "ROLLBACK TO s; RELEASE s"):
            database.executescript(f"{'SAVEPOINT s' if 's' in end else 'BEGIN'}; INSERT INTO rows (key) VALUES ('gone'); {end};")
            self.assertEqual(self.maybe(database, "gone"), 1)
            self.assertEqual(self.one(database, "SELECT count(*) FROM rows"), 2)
            self.assert_answers(database)

    def test_the_first_row_of_a_connection_is_rolled_back(self):
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        database = self.connect()
        database.executescript("BEGIN; INSERT INTO rows (key) VALUES ('gone'); ROLLBACK")
        self.insert(database, "c")
        self.assert_answers(database, "abc")
        self.assert_answers(self.connect(), "abc")
        database.close()
        os.replace(self.folder / "saved.bf", self.filter)
        self.assert_in_doubt(self.connect())

    def test_a_later_trigger_that_ignores_the_row_does_not_end_its_add(self):
        database = self.kept()
        for event in ("INSERT", "UPDATE"):
            database.execute(f"CREATE TRIGGER ignores_{event} AFTER {event} ON rows BEGIN SELECT RAISE(IGNORE); END")
        self.insert(database, "c", "d", "d")
        database.execute("UPDATE rows SET key = 'e' WHERE key = 'a'")
        self.assertEqual(self.one(database, "SELECT group_concat(key, '') FROM rows"), "ebcdd")
        self.assert_answers(database, "bcde")
        self.assert_answers(self.connect(), "bcde")

    def test_what_runs_before_the_after_trigger_finds_the_row(self):
        database = self.kept()
        found = "SELECT count(*) FROM (SELECT new.key AS k) AS probe CROSS JOIN rows ON rows.key = probe.k WHERE bf_maybe('rows.bf', k)"
        database.executescript(f"""CREATE TABLE found (event, number);
            CREATE TRIGGER joins AFTER INSERT ON rows BEGIN INSERT INTO found VALUES ('insert', ({found})); END;
            CREATE TRIGGER joins_too AFTER UPDATE ON rows BEGIN INSERT INTO found VALUES ('update', ({found})); END""")
        rows = database.execute("INSERT INTO rows (key) VALUES ('c'), ('d') RETURNING bf_maybe('rows.bf', key)").fetchall()
        rows += database.execute("UPDATE rows SET key = 'e' WHERE key = 'a' RETURNING bf_maybe('rows.bf', key)").fetchall()
        self.assertEqual(rows, [(1,)] * 3)
        self.assertEqual(database.execute("SELECT * FROM found").fetchall(), [("insert", 1), ("insert", 1), ("update", 1)])

    def test_a_key_that_sqlite_makes_late_is_maybe_within_its_row_and_refused_beside_another_trigger(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, key TEXT NOT NULL DEFAULT 'x', up TEXT AS (key || id))")
        for column in ("key", "up"):
            self.one(database, "SELECT bf_create(?, 1000)", column)
            self.one(database, "SELECT bf_keep(?, 'rows', ?)", column, column)
        rows = database.execute("REPLACE INTO rows (key) VALUES (NULL), ('y') RETURNING bf_maybe('key', key), bf_maybe('up', up)").fetchall()
        self.assertEqual(rows, [(1, 1)] * 2)
        self.assertEqual([self.maybe(database, key, "up") for key in ("x1", "y2", "x2")], [1, 1, 0])
        for temp in ("", "TEMP"):
            database.execute(f"CREATE {temp} TRIGGER ends AFTER INSERT ON rows BEGIN SELECT RAISE(IGNORE); END")
            self.assert_refused("another trigger", database, "INSERT INTO rows (key) VALUES ('z')")
            database.execute("DROP TRIGGER ends")
        database.execute("INSERT INTO rows (key) VALUES ('z')")
        self.assertEqual([self.maybe(database, key, "up") for key in ("x1", "y2", "z3", "x2")], [1, 1, 1, 0])

    def test_a_late_key_is_maybe_until_its_own_row_ends_whatever_a_foreign_key_changes_meanwhile(self):
        """The row that a cascade changed once ended the doubt about the row whose key it follows. A trigger of a third table asks."""
        default = "key TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'late' REFERENCES rows (k) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED"
        generated = "up TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'late' REFERENCES rows (k) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED, key AS (up)"
        rows, third = "CREATE TABLE rows (id INTEGER PRIMARY KEY, k TEXT UNIQUE, {});", "CREATE TABLE third (k TEXT REFERENCES rows (k) ON UPDATE CASCADE);"
        for column in (default, generated):
            for order in (rows + third, third + rows):
                for chain in (["a", "a"], ["a", "a", "a"], ["a", "b"]):
                    with self.subTest(column=column, order=order, chain=chain):
                        database = self.connect()
                        database.executescript("PRAGMA foreign_keys = ON; CREATE TABLE log (answer, number);" + order.format(column))
                        self.one(database, "SELECT bf_create('rows.bf', 1000)")
                        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                        name = "key" if column is default else "up"
                        database.executescript(f"""CREATE TRIGGER asks AFTER UPDATE ON third BEGIN INSERT INTO log SELECT bf_maybe('rows.bf', 'late'), (SELECT count(*) FROM rows WHERE key = 'late'); END;
                            BEGIN; INSERT INTO rows (id, k, {name}) VALUES (1, 'a', 'a'), (9, 'late', 'b'); INSERT INTO third VALUES ('a')""")
                        for number, follows in enumerate(chain):
                            database.execute(f"INSERT INTO rows (id, k, {name}) VALUES (?, ?, ?)", (2 + number, "bcd"[number], follows))
                        database.execute("COMMIT")
                        self.assertEqual([self.maybe(database, key) for key in ("late", "absent")], [0, 0])
                        database.execute(f"UPDATE rows SET k = 'new', {name} = NULL WHERE id = 1")
                        self.assertEqual(database.execute("SELECT * FROM log").fetchall(), [(1, 1)])
                        self.assertEqual([self.maybe(database, key) for key in ("late", "new", "absent")], [1, 1, 0])
                        database.close()
                    self.doCleanups()
                    self.setUp()

    def test_a_row_with_a_late_key_that_ends_early_is_maybe_to_the_end_of_its_statement(self):
        """Such a row has no AFTER trigger to end the doubt. Every key was once maybe until another row came, while bf_info said good."""
        generated, default = "key AS (u || '!')", "key TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'late'"
        for key, ends in ((generated, "INSERT OR IGNORE INTO rows (u) VALUES ('a')"), (generated, "INSERT INTO rows (u) VALUES ('a')"), (generated, "INSERT OR FAIL INTO rows (u) VALUES ('a')"),
                          (generated, "UPDATE OR IGNORE rows SET u = 'a' WHERE u = 'b'"), (generated, "INSERT INTO rows (u) VALUES ('a') ON CONFLICT DO NOTHING"),
                          (generated, "INSERT INTO rows (u) VALUES ('a') ON CONFLICT DO UPDATE SET id = 7"), (default, "INSERT OR IGNORE INTO rows VALUES (8, 'a', NULL)"),
                          (default, "UPDATE OR REPLACE rows SET key = NULL WHERE u = 'b'"), (default, "INSERT INTO rows (u, key) VALUES ('c', NULL), ('a', NULL)")):
            for begin in ("SELECT 1", "BEGIN"):
                with self.subTest((begin, ends)):
                    database = self.connect()
                    database.execute(f"CREATE TABLE rows (id INTEGER PRIMARY KEY, u UNIQUE, {key})")
                    self.one(database, "SELECT bf_create('rows.bf', 1000)")
                    self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                    database.execute("INSERT INTO rows (u) VALUES ('a'), ('b')")
                    database.execute(begin)
                    running = database.execute("SELECT u FROM rows")  # reads only
                    with contextlib.suppress(sqlite3.IntegrityError):
                        database.execute(ends).fetchall()
                    self.assertEqual(database.execute("SELECT state FROM bf_info('rows.bf')").fetchone(), ("good",))
                    self.assertEqual(self.maybe(database, "absent"), 0)
                    self.assertEqual(database.execute("SELECT key FROM rows WHERE NOT bf_maybe('rows.bf', key)").fetchall(), [])
                    running.close()
                    database.close()
                self.doCleanups()
                self.setUp()

    def test_info_says_why_every_key_is_maybe_while_a_statement_that_ended_a_row_early_runs(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (u UNIQUE, key AS (u || '!'))")
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        running = database.execute("INSERT OR IGNORE INTO rows (u) VALUES ('a'), ('a'), ('b'), ('c') RETURNING u")
        self.assertEqual(running.fetchone(), ("a",))
        self.assertEqual(self.maybe(database, "absent"), 1)
        state, message = database.execute("SELECT state, message FROM bf_info('rows.bf')").fetchone()
        self.assertEqual(state, "maybe")
        self.assertRegex(message, "a statement of this connection that writes .* end it")
        self.assertEqual(running.fetchall(), [("b",), ("c",)])
        self.assertEqual(self.maybe(database, "absent"), 0)
        self.assertEqual(database.execute("SELECT state FROM bf_info('rows.bf')").fetchone(), ("good",))

    def test_a_key_that_only_the_end_of_an_update_makes_is_maybe_within_its_row_and_refused_beside_another_trigger(self):
        """If the generated column is the same before a default replaces NULL, no BEFORE trigger runs, and once nothing was refused."""
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, more, \"x\"\"y\" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'r', key AS (ifnull(\"x\"\"y\", 'q')))")
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        database.execute("INSERT INTO rows VALUES (1, 1, 'q')")
        set_null = "UPDATE rows SET \"x\"\"y\" = NULL"
        for temp in ("", "TEMP"):
            database.execute(f"CREATE {temp} TRIGGER ends AFTER UPDATE ON rows BEGIN SELECT RAISE(IGNORE); END")
            self.assert_refused("another trigger", database, set_null)
            database.execute("UPDATE rows SET more = 2")
            database.execute("DROP TRIGGER ends")
        self.assertEqual(database.execute(set_null + " RETURNING key, bf_maybe('rows.bf', key)").fetchall(), [("r", 1)])
        self.assertEqual([self.maybe(database, key) for key in ("q", "r", "s")], [1, 1, 0])

    def test_a_key_that_sqlite_makes_after_the_before_triggers_is_added(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL DEFAULT 'x', up TEXT AS (upper(key)))")
        for column in ("key", "up"):
            self.one(database, "SELECT bf_create(?, 1000)", column)
            self.one(database, "SELECT bf_keep(?, 'rows', ?)", column, column)
        database.execute("REPLACE INTO rows (key) VALUES (NULL), ('y')")
        self.assertEqual([self.maybe(database, key, "key") for key in "xyz"], [1, 1, 0])
        self.assertEqual([self.maybe(database, key, "up") for key in "XYZ"], [1, 1, 0])

    def test_a_late_key_with_the_bytes_of_another_kind_is_found_in_any_case(self):
        """The BEFORE trigger adds a blob, which has no second form. The AFTER trigger once left out the text with the same bytes."""
        default = "key NOT NULL ON CONFLICT REPLACE DEFAULT 'ABC'"
        ended = "INSERT INTO rows VALUES (1, 1, 'x'), (2, 1, x'414243');"  # the second row by UNIQUE, after its BEFORE trigger
        for key, writes in (("key AS (iif(id < 0, x'414243', 'ABC'))", "INSERT INTO rows (u) VALUES (1)"),
                            (default, ended + "INSERT INTO rows VALUES (3, 3, NULL)"),
                            (default, ended + "UPDATE OR REPLACE rows SET key = NULL"),
                            (default, "INSERT INTO rows VALUES (1, 1, 'x'), (2, 2, 'y'); UPDATE OR IGNORE rows SET u = 2, key = x'414243' WHERE id = 1; INSERT INTO rows VALUES (3, 3, NULL)")):
            with self.subTest(writes):
                database = self.connect()
                database.execute(f"CREATE TABLE rows (id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT IGNORE, {key})")
                self.one(database, "SELECT bf_create('rows.bf', 1000)")
                self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                database.executescript(writes)
                self.assertEqual(self.one(database, "SELECT count(*) FROM rows WHERE key = 'abc' COLLATE NOCASE"), 1)
                self.assertEqual(self.maybe(database, "abc"), 1)
                database.close()
            self.doCleanups()
            self.setUp()

    def test_the_number_that_sqlite_gives_a_row_is_no_key(self):
        database = self.connect()
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        for columns in ("id INTEGER PRIMARY KEY, key", "id INTEGER PRIMARY KEY AUTOINCREMENT, key", "id, key"):
            database.executescript(f"DROP TABLE IF EXISTS rows; CREATE TABLE rows ({columns})")
            column = "rowid" if columns == "id, key" else "id"
            self.assert_refused("gives this number", database, "SELECT bf_keep('rows.bf', 'rows', ?)", column)
        for columns in ("id INTEGER, key, PRIMARY KEY (id, key)", "id INTEGER PRIMARY KEY, key) WITHOUT ROWID --", "id INT PRIMARY KEY, key"):
            database.executescript(f"DROP TABLE rows; CREATE TABLE rows ({columns}\n{')' if '--' not in columns else ''}")
            self.assertEqual(self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'id')"), 0)

    def test_a_row_counts_its_key_once(self):
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT)")
        self.one(database, "SELECT bf_create('rows.bf', 1000, 0.001, 'counting')")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        self.insert(database, "a", "b", "b")
        database.execute("UPDATE rows SET key = 'c' WHERE key = 'b'")
        self.assertEqual([self.one(database, "SELECT bf_count('rows.bf', ?)", key) for key in "abcd"], [1, 2, 2, 0])

    def test_an_update_adds_the_new_key(self):
        database = self.kept()
        database.execute("UPDATE rows SET key = 'c' WHERE key = 'a'")
        database.execute("INSERT INTO rows (id, key) VALUES (2, 'd') ON CONFLICT DO UPDATE SET key = 'e'")
        database.execute("REPLACE INTO rows (id, key) VALUES (1, 'f')")
        self.assert_answers(database, "abcef")

    def test_a_program_without_the_extension_cannot_insert(self):
        self.kept()
        with contextlib.closing(sqlite3.connect(self.path)) as bare:
            with self.assertRaisesRegex(sqlite3.OperationalError, "no such function: bf_add"):
                bare.execute("INSERT INTO rows (key) VALUES ('c')")

    def test_vacuum_changes_nothing(self):
        database = self.kept()
        database.execute("DELETE FROM rows WHERE key = 'a'")
        database.execute("VACUUM")
        self.assert_answers(database)
        self.insert(database, "c")
        self.assert_answers(self.connect(), "bc")

    def test_an_attached_database_has_its_own_filter_in_its_own_folder(self):
        self.kept().close()
        (self.folder / "other").mkdir()
        main = self.connect(self.folder / "other" / "main.db")
        self.assertEqual(self.maybe(main, "absent"), 1)  # no such file there
        main.execute("ATTACH ? AS side", (str(self.path),))
        self.assert_answers(main)
        main.execute("INSERT INTO side.rows (key) VALUES ('c')")
        self.assert_answers(main, "abc")
        main.execute("DETACH side")
        self.assert_in_doubt(main)
        self.assert_answers(self.connect(), "abc")

    def test_two_attached_databases_that_keep_one_name_are_maybe(self):
        self.kept().close()
        (self.folder / "other").mkdir()
        shutil.copy(self.path, self.folder / "other" / "rows.db")
        main = self.connect()
        self.assert_answers(main)
        main.execute("ATTACH ? AS side", (str(self.folder / "other" / "rows.db"),))
        self.assert_in_doubt(main)
        self.assert_refused("not one database", main, "INSERT INTO rows (key) VALUES ('c')")

    def test_a_filter_of_a_table_that_is_not_attached_is_maybe(self):
        self.kept()
        other = self.connect(self.folder / "other.db")
        self.assert_in_doubt(other)
        self.assertEqual(self.maybe(other, "absent", str(self.filter)), 1)

    def test_another_name_of_the_file_is_maybe(self):
        database = self.kept()
        self.assertEqual([self.maybe(database, "absent", name) for name in ("./rows.bf", str(self.filter))], [1, 1])

    def test_an_older_filter_that_was_restored_is_maybe_until_it_is_compared(self):
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        database = self.connect()
        self.insert(database, "c")
        database.close()
        os.replace(self.folder / "saved.bf", self.filter)
        database = self.connect()
        self.assertEqual([self.maybe(database, key) for key in ("c", "absent")], [1, 1])
        self.assert_refused("bf_sync", database, "INSERT INTO rows (key) VALUES ('d')")
        self.assertEqual(self.one(database, "SELECT bf_sync('rows.bf')"), 3)
        self.assert_answers(database, "abc")
        self.insert(database, "d")
        self.assert_answers(self.connect(), "abcd")

    def test_an_older_filter_under_an_open_writer(self):
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        writer = self.connect()
        self.insert(writer, "c")
        os.replace(self.folder / "saved.bf", self.filter)
        self.insert(writer, "d")
        self.assert_in_doubt(self.connect())
        self.assertEqual(self.one(self.connect(), "SELECT bf_sync('rows.bf')"), 4)
        self.insert(writer, "e")
        self.assert_answers(self.connect(), "abcde")

    def put_back(self, cut):
        """Writes the saved copy over the filter in place, as `cp` and `dd conv=notrunc` do."""
        with open(self.filter, "r+b") as file:
            if cut:
                file.truncate(0)
            file.write((self.folder / "saved.bf").read_bytes())

    def test_an_older_filter_that_was_written_over_it_in_place_is_seen_by_open_connections(self):
        for cut, other, journal in ((True, False, "WAL"), (False, False, "WAL"), (True, True, "WAL"), (False, True, "DELETE"), (False, False, "DELETE")):
            with self.subTest(cut=cut, other=other, journal=journal):
                with contextlib.closing(self.kept()) as database:
                    database.execute(f"PRAGMA journal_mode = {journal}").fetchall()
                shutil.copy(self.filter, self.folder / "saved.bf")
                if other:
                    self.one(self.connect(), "SELECT bf_create('other.bf', 1000)")
                    os.replace(self.folder / "other.bf", self.folder / "saved.bf")
                writer, reader, bulk = self.connect(), self.connect(), self.connect()
                self.insert(writer, "a")  # no bit changes
                self.assert_answers(reader)
                self.insert(bulk, "c", "d")
                for one in (writer, bulk):
                    self.assert_answers(one, "abcd")
                self.put_back(cut)
                for one in (reader, writer, bulk, self.connect()):
                    self.assertEqual(wrong_noes(one), 0)
                    self.assertEqual(one.execute("SELECT state FROM bf_info('rows.bf')").fetchone(), ("maybe",))
                    self.assert_refused("bf_sync", one, "INSERT INTO rows (key) VALUES ('e')")
                    self.assert_refused("bf_sync", one, "UPDATE rows SET key = 'e'")
                    one.execute("BEGIN")
                    self.assert_refused("bf_sync", one, "INSERT INTO rows (key) VALUES ('e')")
                    one.execute("ROLLBACK")
                self.assertEqual(self.one(writer, "SELECT bf_sync('rows.bf')"), 5)
                for one in (writer, bulk):
                    self.insert(one, "f")
                for one in (reader, writer, bulk, self.connect()):
                    self.assert_answers(one, "abcdf")
                for one in (writer, bulk):
                    one.close()
                self.assert_answers(reader, "abcdf")
                self.assert_answers(self.connect(), "abcdf")
            self.doCleanups()
            self.setUp()

    def test_a_writer_that_syncs_an_older_filter_in_place_has_it_in_use(self):
        """Keys that it adds afterwards may be lost in a power cut. So the file has to say that it is in use."""
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        writer = self.connect()
        self.insert(writer, "c")
        self.put_back(cut=False)
        self.assertEqual(self.one(writer, "SELECT bf_sync('rows.bf')"), 3)
        shutil.copy(self.filter, self.folder / "then.bf")
        self.insert(writer, "d")
        writer.close()
        os.replace(self.folder / "then.bf", self.filter)
        self.assert_in_doubt(self.connect())

    def test_an_older_filter_in_place_that_closes_after_its_writer_is_maybe(self):
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        writer = self.connect()
        self.insert(writer, "c")
        self.put_back(cut=False)
        writer.close()
        self.assert_in_doubt(self.connect())

    def test_a_writer_whose_filter_was_replaced_compares_the_one_at_the_path(self):
        self.kept().close()
        shutil.copy(self.filter, self.folder / "saved.bf")
        writer = self.connect()
        self.insert(writer, "c")
        os.replace(self.folder / "saved.bf", self.filter)
        self.assertEqual(self.one(writer, "SELECT bf_sync('rows.bf')"), 3)
        self.assert_answers(self.connect(), "abc")

    def save_database(self, database):
        with contextlib.closing(sqlite3.connect(self.folder / "saved.db")) as saved:
            database.backup(saved)

    def with_saved_database(self):
        for end in ("-wal", "-shm"):
            pathlib.Path(f"{self.path}{end}").unlink(missing_ok=True)
        os.replace(self.folder / "saved.db", self.path)
        return self.connect()

    def test_an_older_database_that_was_restored_has_all_its_keys(self):
        database = self.kept()
        self.save_database(database)
        self.insert(database, "later")
        database.close()
        database = self.with_saved_database()
        self.assert_answers(database)
        self.insert(database, "c")
        self.assert_answers(self.connect(), "abc")

    def test_a_saved_copy_of_the_filter_in_use_is_maybe(self):
        import bfstore_ctypes as bfs
        database = self.kept()
        library = bfs.load(str(TREE.library))
        handle = bfs.open_path(library, str(self.filter).encode(), bfs.READ)
        bfs.copy(library, handle, str(self.folder / "saved.bf").encode())
        library.bfs_close(handle, None)
        self.insert(database, "c")
        database.close()
        os.replace(self.folder / "saved.bf", self.filter)
        self.assert_in_doubt(self.connect())

    def after_a_power_cut(self, change):
        """Makes a file as it was at the last sync, and in use, under a database that has more rows."""
        database = self.kept()
        self.one(database, "SELECT bf_sync('rows.bf')")
        shutil.copy(self.filter, self.folder / "then.bf")
        change(database)
        database.close()
        os.replace(self.folder / "then.bf", self.filter)
        database = self.connect()
        self.assert_in_doubt(database)
        self.assert_refused("bf_sync", database, "INSERT INTO rows (key) VALUES ('z')")
        return database, self.one(database, "SELECT bf_sync('rows.bf')")

    def test_after_a_power_cut_the_rows_since_the_last_sync_are_added_again(self):
        database, rows = self.after_a_power_cut(lambda database: self.insert(database, "c", "d", "e"))
        self.assertEqual(rows, 3)
        self.assert_answers(database, "abcde")

    def test_after_a_power_cut_an_older_row_with_a_new_key_is_not_left_out(self):
        for change in ("UPDATE rows SET key = 'c' WHERE id = 1", "REPLACE INTO rows (id, key) VALUES (1, 'c')",
                       "INSERT INTO rows (id, key) VALUES (-5, 'c')",
                       *(f"CREATE TRIGGER ignores AFTER INSERT ON rows BEGIN SELECT RAISE(IGNORE); END;"
                         f"INSERT INTO rows (id, key) VALUES ({position}, 'c')" for position in (-5, -1)),
                       "INSERT INTO rows (key) VALUES ('c'); UPDATE rows SET id = -1 WHERE key = 'c'"):
            with self.subTest(change):
                database, _ = self.after_a_power_cut(lambda database: database.executescript(change))
                self.assert_answers(database, "bc")
                database.close()
            self.doCleanups()
            self.setUp()

    RESET = "DELETE FROM rows; DELETE FROM sqlite_sequence WHERE name = 'rows';"
    ENDERS = {"ignores": "SELECT RAISE(IGNORE)", "fails": "SELECT RAISE(FAIL, 'ended')", "violates": "INSERT INTO one VALUES (1)"}

    def test_after_a_power_cut_no_row_is_left_out_whatever_number_it_has(self):
        """A reset sequence gave a row an old number, a trigger ended the row before its AFTER trigger ran, and bf_sync then counted it
        as durable, for good."""
        changes = [f"{reset} CREATE {temp} TRIGGER ends AFTER INSERT ON rows BEGIN {ender}; END; {insert}"
                   for reset in (self.RESET, self.RESET + "INSERT INTO sqlite_sequence VALUES ('rows', 0);", "DELETE FROM rows; UPDATE sqlite_sequence SET seq = -7;",
                                 "CREATE TRIGGER resets BEFORE INSERT ON rows BEGIN DELETE FROM rows; DELETE FROM sqlite_sequence; END;")
                   for temp in ("", "TEMP") for ender in self.ENDERS.values() for insert in ("INSERT OR FAIL INTO rows (key) VALUES ('c')", "REPLACE INTO rows (key) VALUES ('c')")]
        changes += [f"{self.RESET} INSERT INTO rows (key) VALUES ('c')", "DELETE FROM rows WHERE id = 2; INSERT INTO rows (id, key) VALUES (2, 'c')",
                    "UPDATE rows SET id = -9 WHERE id = 2; UPDATE rows SET key = 'c' WHERE id = -9", "UPDATE rows SET id = id - 100, key = 'c'", "UPDATE OR REPLACE rows SET id = 1, key = 'c' WHERE id = 2",
                    "INSERT INTO rows (id, key) VALUES (2, 'x') ON CONFLICT (id) DO UPDATE SET key = 'c'", "INSERT INTO rows (id, key) VALUES (-9223372036854775808, 'c')",
                    f"{self.RESET} INSERT INTO rows (key) VALUES ('c'); VACUUM", "INSERT INTO rows (id, key) VALUES (9223372036854775807, 'z'); DELETE FROM rows; INSERT INTO rows (id, key) VALUES (1, 'c')",
                    f"ALTER TABLE rows RENAME TO other; CREATE TRIGGER ends AFTER INSERT ON other BEGIN SELECT RAISE(IGNORE); END; {self.RESET.replace('rows', 'other')}"
                    " INSERT INTO other (key) VALUES ('c'); DROP TRIGGER ends; ALTER TABLE other RENAME TO rows",
                    "CREATE TRIGGER copies AFTER INSERT ON one BEGIN INSERT OR REPLACE INTO rows VALUES (1, 'c'); END; DELETE FROM one; INSERT INTO one VALUES (1)"]
        lacking = 0
        for change in changes:
            with self.subTest(change):
                def run(database):
                    database.executescript("CREATE TABLE one (n UNIQUE); INSERT INTO one VALUES (1)")
                    for statement in self.statements(change):
                        with contextlib.suppress(sqlite3.IntegrityError):
                            database.execute(statement)
                database, _ = self.after_a_power_cut(run)
                has_row = self.one(database, "SELECT count(*) FROM rows WHERE key = 'c'")
                lacking += not has_row
                self.assertEqual(wrong_noes(database), 0)
                self.assert_answers(database, "c" if has_row else "")
                database.close()
            self.doCleanups()
            self.setUp()
        self.assertLess(lacking, len(changes) / 4, "the statements did not write the row")

    @staticmethod
    def statements(script):
        words = ""
        for part in script.split(";"):
            words += part + ";"
            if sqlite3.complete_statement(words):
                yield words
                words = ""

    def test_after_a_power_cut_a_trigger_that_is_there_no_more_counts_as_well(self):
        def change(database):
            database.executescript(self.RESET + "CREATE TRIGGER ends AFTER INSERT ON rows BEGIN SELECT RAISE(IGNORE); END")
            self.insert(database, "c")
            database.execute("DROP TRIGGER ends")
        database, rows = self.after_a_power_cut(change)
        self.assertEqual(rows, 1)
        self.assert_answers(database, "c")

    def test_after_a_power_cut_a_table_with_another_trigger_is_added_as_a_whole(self):
        def change(database):
            database.execute("CREATE TRIGGER more AFTER INSERT ON rows BEGIN SELECT 1; END")
            self.insert(database, "c")
        self.assertEqual(self.after_a_power_cut(change)[1], 3)

    def test_after_a_power_cut_a_second_filter_of_the_table_is_no_other_trigger(self):
        def change(database):
            self.one(database, "SELECT bf_create('two.bf', 100)")
            self.one(database, "SELECT bf_keep('two.bf', 'rows', 'key')")
            self.insert(database, "c")
        self.assertEqual(self.after_a_power_cut(change)[1], 1)

    def test_after_a_power_cut_an_older_database_does_not_trust_what_newer_rows_were_added_to(self):
        def change(database):
            self.insert(database, "c")
            self.save_database(database)
            database.execute("DELETE FROM rows WHERE key = 'c'")
        database, _ = self.after_a_power_cut(change)
        self.assert_answers(database)
        database.close()
        database = self.with_saved_database()
        self.assertEqual(self.maybe(database, "c"), 1)
        self.assertEqual(self.one(database, "SELECT bf_sync('rows.bf')"), 3)
        self.assert_answers(database, "abc")

    def test_a_copy_in_use_that_is_older_than_the_last_sync_gets_all_rows(self):
        database = self.kept()
        shutil.copy(self.filter, self.folder / "then.bf")
        self.insert(database, "c")
        self.one(database, "SELECT bf_sync('rows.bf')")
        database.close()
        os.replace(self.folder / "then.bf", self.filter)
        database = self.connect()
        self.assert_in_doubt(database)
        self.assertEqual(self.one(database, "SELECT bf_sync('rows.bf')"), 3)
        self.assert_answers(database, "abc")

    def test_a_query_that_runs_while_its_filter_is_replaced_finds_its_rows(self):
        database = self.kept(keys=[str(n) for n in range(500)])
        rows = database.execute("SELECT key, bf_maybe('rows.bf', key) FROM rows")
        found = [rows.fetchone()]
        self.one(database, "SELECT bf_build('rows.bf', bf_keys(key), 0.001, 1000) FROM rows WHERE id < 3")
        self.assertEqual(self.maybe(database, "absent"), 1)
        found += rows.fetchmany(100)
        self.one(database, "SELECT bf_sync('rows.bf')")
        found += rows.fetchall()
        self.assertEqual(([answer for _, answer in found]), [1] * 500)
        self.assertEqual(self.maybe(database, "absent"), 0)

    def test_a_query_that_runs_while_its_own_connection_loses_the_triggers_finds_what_that_writes(self):
        """The query asked once whether the filter is in step, and kept the answer to its end."""
        lose = {"drops": [f'DROP TRIGGER "bfstore {event} rows.bf"' for event in ("insert", "before insert")],
                "edits": ["PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE name LIKE 'bfstore %insert%'", "PRAGMA writable_schema = RESET"],
                "renames": ["CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT)", "ALTER TABLE rows RENAME TO old", "ALTER TABLE other RENAME TO rows"]}
        for begin in ("SELECT 1", "BEGIN"):
            for way, changes in lose.items():
                with self.subTest((begin, way)):
                    database = self.kept()
                    database.execute("PRAGMA journal_mode = DELETE").fetchall()
                    database.execute("CREATE TABLE probe (k)")
                    database.executemany("INSERT INTO probe VALUES (?)", [(key,) for key in ("absent", "x", "y", "c")])
                    database.execute(begin)
                    asked = database.execute("SELECT bf_maybe('rows.bf', k) FROM probe")
                    self.assertEqual([asked.fetchone(), asked.fetchone()], [(0,)] * 2)
                    for change in changes:
                        database.execute(change)
                    self.insert(database, "c")
                    self.assertEqual(asked.fetchall()[-1], (1,))  # the module may have fetched one row before
                    database.close()
                self.doCleanups()
                self.setUp()

    def test_a_trigger_of_another_databases_table_is_refused(self):
        database = self.kept()
        database.execute("UPDATE bfstore_filters SET id = id + 1")
        self.assert_refused("not of this database", database, "INSERT INTO rows (key) VALUES ('c')")

    def test_a_filter_that_was_removed_is_made_again(self):
        database = self.kept()
        self.filter.unlink()
        reader = self.connect()
        self.assert_in_doubt(reader)
        self.assert_refused("no such file", reader, "SELECT bf_sync('rows.bf')")
        reader.execute("BEGIN IMMEDIATE")
        self.one(reader, "SELECT bf_build('rows.bf', bf_keys(key), 0.01, 1000) FROM rows")
        self.assertEqual(self.one(reader, "SELECT bf_sync('rows.bf')"), 2)
        reader.execute("COMMIT")
        self.insert(database, "c")
        for one in (reader, database, self.connect()):
            self.assert_answers(one, "abc")

    def test_a_filter_that_was_built_again_is_maybe_until_it_is_compared(self):
        database = self.kept()
        self.one(database, "SELECT bf_build('rows.bf', bf_keys(key)) FROM rows WHERE key = 'a'")
        self.assertEqual(self.maybe(database, "b"), 1)
        self.assert_refused("bf_sync", database, "INSERT INTO rows (key) VALUES ('c')")

    def test_triggers_or_a_table_that_were_changed_are_maybe(self):
        for change in ('DROP TRIGGER "bfstore insert rows.bf"', 'DROP TRIGGER "bfstore update rows.bf"',
                       "ALTER TABLE rows RENAME TO others", "ALTER TABLE rows RENAME COLUMN key TO name",
                       "DROP TABLE rows; CREATE TABLE rows (id INTEGER, key TEXT)"):
            with self.subTest(change):
                database = self.kept()
                database.executescript(change)
                self.assert_in_doubt(database)
                self.assert_refused("bf_keep", database, "SELECT bf_sync('rows.bf')")
                table = "others" if "others" in change else "rows"
                column = "name" if "name" in change else "key"
                self.one(database, f"SELECT bf_keep('rows.bf', '{table}', '{column}')")
                database.execute(f"INSERT INTO {table} ({column}) VALUES ('c')")
                self.assert_answers(self.connect(), "c")
                database.close()
            self.doCleanups()
            self.setUp()

    def test_a_file_that_is_truncated_ends_no_program(self):
        self.kept(capacity=1000000).close()
        insert, ask = "INSERT INTO rows (key) VALUES ('c');", "SELECT sum(bf_maybe('rows.bf', key || id)), count(*) FROM rows;"
        for first in (insert, ask):
            done = subprocess.run(["sqlite3", str(self.path)], cwd=self.folder, capture_output=True, text=True, input=textwrap.dedent(f"""\
                SELECT load_extension('{EXTENSION.with_suffix("")}');
                {first}
                .shell truncate -s 4096 rows.bf
                {ask}
                {insert}
                SELECT state FROM bf_info('rows.bf');
                .shell rm rows.bf
                BEGIN IMMEDIATE; SELECT bf_build('rows.bf', bf_keys(key), 0.01, 1000000) FROM rows; SELECT bf_sync('rows.bf'); COMMIT;
                SELECT bf_maybe('rows.bf', key), bf_maybe('rows.bf', key || id) FROM rows WHERE id < 3;"""))
            self.assertRegex(done.stdout, r"^\n(0\|3\n)?3\|3\nBFS_\w+\n3\n3\n1\|0\n1\|0\n$")
            self.assertRegex(done.stderr, "rows.bf")
            self.assertEqual(done.returncode, 1)  # for the INSERT that was refused

    def test_the_guard_stays_when_the_last_connection_ends(self):
        script = f"""if True:
            import sqlite3
            database = sqlite3.connect(":memory:")
            database.enable_load_extension(True)
            database.execute("SELECT load_extension('{EXTENSION.with_suffix('')}')")
            database.close()
            print("{EXTENSION}" in open("/proc/self/maps").read())"""
        done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))

    def test_a_table_that_was_made_again_with_its_triggers_is_maybe(self):
        database = self.kept(keys="AB")
        triggers = [sql for sql, in database.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")]
        database.executescript("""BEGIN; CREATE TABLE made (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, more);
            INSERT INTO made SELECT id, lower(key), 1 FROM rows; DROP TABLE rows; ALTER TABLE made RENAME TO rows""")
        for sql in triggers:
            database.execute(sql)
        database.execute("COMMIT")
        for one in (database, self.connect()):
            self.assertEqual([self.maybe(one, key) for key in "abz"], [1, 1, 1])
        self.assert_refused("bf_keep", database, "SELECT bf_sync('rows.bf')")
        self.assertEqual(self.one(database, "SELECT bf_keep('rows.bf', 'Rows', 'key')"), 2)
        self.assert_answers(self.connect(), "ab")
        database.execute("ALTER TABLE rows ADD COLUMN other")
        self.assert_in_doubt(database)

    def test_a_row_whose_key_is_refused_is_taken_back_within_a_transaction(self):
        database = self.kept()
        self.filter.unlink()
        database.close()
        database = self.connect()
        database.execute("BEGIN")
        for words in ("INSERT", "INSERT OR IGNORE", "INSERT OR FAIL", "REPLACE"):
            self.assert_refused("no such file", database, f"{words} INTO rows (key) VALUES ('c')")
        for words in ("UPDATE", "UPDATE OR IGNORE", "UPDATE OR FAIL"):
            self.assert_refused("no such file", database, f"{words} rows SET key = 'c'")
        database.execute("COMMIT")
        self.assertEqual(database.execute("SELECT key FROM rows").fetchall(), [("a",), ("b",)])

    def test_a_table_without_autoincrement_is_added_again_as_a_whole(self):
        for columns in ("id INTEGER PRIMARY KEY, key TEXT", "key TEXT", "key TEXT PRIMARY KEY) WITHOUT ROWID --"):
            with self.subTest(columns):
                database = self.connect()
                database.execute(f"CREATE TABLE rows ({columns}\n)" if "--" not in columns else f"CREATE TABLE rows ({columns[:-3]}")
                database.execute("SELECT bf_create('rows.bf', 1000)")
                self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                self.insert(database, "a", "b")
                self.one(database, "SELECT bf_sync('rows.bf')")
                shutil.copy(self.filter, self.folder / "then.bf")
                self.insert(database, "c")
                database.close()
                os.replace(self.folder / "then.bf", self.filter)
                database = self.connect()
                self.assertEqual(self.one(database, "SELECT bf_sync('rows.bf')"), 3)
                self.assert_answers(database, "abc")
                database.close()
            self.doCleanups()
            self.setUp()

    def test_a_deleted_rows_key_stays_until_the_filter_is_built_again(self):
        database = self.kept()
        database.execute("DELETE FROM rows WHERE key = 'a'")
        self.assertEqual(self.maybe(database, "a"), 1)
        database.executescript("""BEGIN IMMEDIATE; SELECT bf_build('rows.bf', bf_keys(key), 0.001, 1000) FROM rows;
                                  SELECT bf_sync('rows.bf'); COMMIT""")
        self.assert_answers(database, "b", absent="a")

    def test_a_reader_of_an_older_state_still_finds_what_it_sees(self):
        database, reader = self.kept(), self.connect()
        reader.execute("BEGIN")
        self.assertEqual(self.one(reader, "SELECT count(*) FROM rows"), 2)
        for key in "cdefg":
            with contextlib.closing(self.connect()) as writer:
                self.insert(writer, key)
        database.execute("DELETE FROM rows")
        database.execute("BEGIN IMMEDIATE")
        self.one(database, "SELECT bf_build('rows.bf', bf_keys(key)) FROM rows")
        self.one(database, "SELECT bf_sync('rows.bf')")
        database.execute("COMMIT")
        self.assertEqual([self.maybe(reader, key) for key in "ab"], [1, 1])
        self.assertEqual(self.maybe(self.connect(), "a"), 0)


class BehindItsBack(Case):
    """The rows of README's table. After each event no row is answered no, and bf_info says what a reader gets."""

    def state(self, database, path="rows.bf"):
        """Returns bf_info's state, which has to be what a reader gets."""
        state, message, seen = database.execute("SELECT state, message, not_seen FROM bf_info(?)", (path,)).fetchone()
        self.assertEqual(self.maybe(database, "absent", path), int(state != "good"), (state, message))
        self.assertEqual(message is None, state == "good")
        return state, message

    def assert_state(self, state, words, *databases):
        for database in databases:
            self.assertEqual(wrong_noes(database), 0)
            got, message = self.state(database)
            self.assertEqual(got, state, message)
            self.assertRegex(message or "", words or "^$")

    def after(self, change, rows="rows", prepared=("a", "b")):
        """Checks a reader that was there before, a new one, and the writer."""
        writer, reader = self.kept(keys=prepared), self.connect()
        self.assertEqual(self.state(reader)[0], "good")
        change(writer)
        return writer, reader, self.connect()

    def each(self, changes, state, words, way_out=None):
        for change in changes:
            with self.subTest(change):
                run = change if callable(change) else (lambda database, sql=change: database.executescript(sql))
                databases = self.after(run)
                self.assert_state(state, words, *databases)
                if way_out:
                    self.one(databases[0], way_out)
                    self.assert_state("good", "", *databases)
                    self.insert(databases[1], "later")
                    self.assert_answers(databases[2], ["later"])
            self.doCleanups()
            self.setUp()

    def remake(self, *types):
        """Drops what bf_keep made of these types, writes a row, and makes it again with the same words."""
        def change(database):
            names = database.execute("SELECT type, name, sql FROM sqlite_schema WHERE name LIKE 'bfstore %' ORDER BY rowid").fetchall()
            for kind, name, _ in names:
                if kind in types:
                    database.execute(f'DROP {kind} "{name}"')
            if "trigger" in types:
                self.insert(database, "c")
            for kind, _, sql in names:
                if kind in types:
                    database.execute(sql)
        return change

    def remake_table(self, database):
        tables = "SELECT sql FROM sqlite_schema WHERE tbl_name = 'rows' ORDER BY rowid"
        words = [sql for sql, in database.execute(tables).fetchall()]
        database.executescript("CREATE TABLE saved AS SELECT * FROM rows; DROP TABLE rows")
        database.execute(words[0])
        database.executescript("INSERT INTO rows SELECT id, key || '!' FROM saved; DROP TABLE saved")
        for sql in words[1:]:
            database.execute(sql)

    LOST = "changed, dropped or made again: call bf_keep"

    def test_triggers_that_are_lost_or_were_absent_for_a_while(self):
        self.each([f'DROP TRIGGER "bfstore {event} rows.bf"; {write}' for event in ("insert", "update", "before insert", "before update")
                   for write in ("", "INSERT INTO rows (key) VALUES ('c'); UPDATE rows SET key = 'd' WHERE id = 1")] +
                  [self.remake("trigger"), self.remake_table, "DROP TABLE rows; CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT); INSERT INTO rows (key) VALUES ('c')"],
                  "maybe", self.LOST, "SELECT bf_keep('rows.bf', 'rows', 'key')")

    def test_a_single_trigger_that_was_absent_for_a_while(self):
        for name in ("insert", "before insert", "update", "before update"):
            def change(database):
                sql = self.one(database, "SELECT sql FROM sqlite_schema WHERE name = ?", f"bfstore {name} rows.bf")
                database.execute(f'DROP TRIGGER "bfstore {name} rows.bf"')
                self.insert(database, "c")
                database.execute(sql)
            self.each([change], "maybe", self.LOST, "SELECT bf_keep('rows.bf', 'rows', 'key')")

    def test_a_table_that_was_renamed_or_swapped(self):
        other = "CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT); INSERT INTO other (key) VALUES ('c');"
        self.each([other + "ALTER TABLE rows RENAME TO old; ALTER TABLE other RENAME TO rows", "ALTER TABLE rows ADD COLUMN more",
                   other + "DROP TABLE rows; ALTER TABLE other RENAME TO rows"], "maybe", self.LOST, "SELECT bf_keep('rows.bf', 'rows', 'key')")

    def test_what_changes_nothing(self):
        self.each([self.remake("view"), "VACUUM", "CREATE INDEX i ON rows (key); DROP INDEX i; CREATE TABLE more (x); VACUUM; DROP TABLE more; VACUUM", "ANALYZE", "REINDEX",
                   "CREATE TRIGGER t AFTER INSERT ON rows BEGIN SELECT 1; END; DROP TRIGGER t", "PRAGMA writable_schema = ON; PRAGMA writable_schema = RESET",
                   "PRAGMA recursive_triggers = OFF; REPLACE INTO rows (id, key) VALUES (1, 'c'), (9, 'd')", "PRAGMA recursive_triggers = ON; REPLACE INTO rows (id, key) VALUES (1, 'c')",
                   "PRAGMA foreign_keys = ON; CREATE TABLE up (k TEXT PRIMARY KEY); INSERT INTO up VALUES ('u')"], "good", "")

    def test_a_temporary_table_that_takes_the_tables_name(self):
        """A query that names no database means the temporary one, whose rows no trigger has seen."""
        for take in ("CREATE TEMP TABLE rows (key); INSERT INTO rows VALUES ('q')", "CREATE TEMP TABLE ROWS AS SELECT 'q' AS key", "CREATE TEMP VIEW Rows AS SELECT 'q' AS key",
                     "CREATE TEMP TABLE other AS SELECT 'q' AS key; ALTER TABLE other RENAME TO rows", "CREATE TEMP VIEW more AS SELECT 1; CREATE TEMP TABLE rows AS SELECT 'q' AS key"):
            with self.subTest(take):
                writer, reader = self.kept(), self.connect()
                self.assert_state("good", "", writer, reader)
                writer.executescript(take)
                self.assert_state("maybe", "temporary table or view has the name", writer)
                self.insert(reader, "c")
                self.assert_state("good", "", reader, self.connect())
                writer.execute(f"DROP {'VIEW temp.rows' if 'VIEW R' in take else 'TABLE temp.rows'}")
                self.assert_state("good", "", writer)
                writer.execute("CREATE TEMP TABLE others (key)")
                self.assert_state("good", "", writer)
            self.doCleanups()
            self.setUp()

    def test_another_databases_table_with_the_tables_name_is_a_limit(self):
        """A limit of README: the query has to name the database."""
        self.kept().close()
        main = self.connect(self.folder / "main.db")
        main.executescript(f"ATTACH '{self.path}' AS side; CREATE TABLE rows (key); INSERT INTO main.rows VALUES ('q')")
        self.assertEqual(self.maybe(main, "q"), 0, "it is seen now: README and bf_info need not say otherwise")
        self.assertRegex(self.one(main, "SELECT not_seen FROM bf_info('rows.bf')"), "table of that name in another database")
        self.assertEqual(self.one(main, "SELECT count(*) FROM side.rows WHERE NOT bf_maybe('rows.bf', key)"), 0)

    def test_a_foreign_key_that_changes_the_column(self):
        database = self.connect()
        database.executescript("""PRAGMA foreign_keys = ON; CREATE TABLE up (k TEXT PRIMARY KEY); INSERT INTO up VALUES ('a'), ('standard');
            CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT DEFAULT 'standard' REFERENCES up ON UPDATE CASCADE ON DELETE SET DEFAULT)""")
        self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        database.executescript("INSERT INTO rows (key) VALUES ('a'); UPDATE up SET k = 'c' WHERE k = 'a'")
        self.assert_answers(database, "c")
        database.execute("DELETE FROM up WHERE k = 'c'")
        self.assert_answers(database, ["standard"])

    def test_a_schema_that_was_edited(self):
        edit = "PRAGMA writable_schema = ON; {}; PRAGMA writable_schema = RESET; INSERT INTO rows (key) VALUES ('c')"
        self.each([edit.format("DELETE FROM sqlite_schema WHERE name = 'bfstore insert rows.bf'"), edit.format("DELETE FROM sqlite_schema WHERE type IN ('trigger', 'view')"),
                   edit.format("UPDATE sqlite_schema SET sql = replace(sql, 'new.', 'old.') WHERE name = 'bfstore update rows.bf'")], "maybe", self.LOST)

    def test_a_program_without_the_extension(self):
        def bare(sql):
            def run(_):
                with contextlib.closing(sqlite3.connect(self.path)) as database:
                    database.executescript(sql)
            return run
        self.each([bare("DELETE FROM rows WHERE id = 1"), bare("CREATE TABLE more (x)"), bare("VACUUM")], "good", "")
        self.each([bare('DROP TRIGGER "bfstore insert rows.bf"; DROP TRIGGER "bfstore before insert rows.bf"; INSERT INTO rows (key) VALUES (\'c\')')], "maybe", self.LOST,
                  "SELECT bf_keep('rows.bf', 'rows', 'key')")

    def test_a_connection_with_its_triggers_off_is_told_so(self):
        database = self.kept()
        control = ctypes.CDLL("libsqlite3.so.0").sqlite3_db_config
        pointer = ctypes.cast(id(database) + object.__basicsize__, ctypes.POINTER(ctypes.c_void_p))[0]  # sqlite3*, the first member
        control.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
        self.assertEqual(control(pointer, 1003, 0, None), 0)
        self.insert(database, "c")
        self.assertEqual(self.state(database)[0], "maybe")
        self.assertRegex(self.state(database)[1], "triggers off")
        self.assertEqual(control(pointer, 1003, 1, None), 0)
        self.assertRegex(self.one(database, "SELECT not_seen FROM bf_info('rows.bf')"), "triggers off.*sqlite3_blob_write.*collation")
        self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
        self.assert_state("good", "", database)

    def test_what_is_not_seen_is_found_after_bf_keep(self):
        """These are limits of README, which bf_info names."""
        def blob(database):
            with database.blobopen("rows", "key", 1) as key:
                key[:] = b"c"
        def copy_in_use(database):
            (self.folder / "saved.bf").write_bytes(self.filter.read_bytes())
            self.insert(database, b"c")
            with open(self.filter, "r+b") as file:
                file.write((self.folder / "saved.bf").read_bytes())
        def edit(database, sql):
            database.executescript(f"PRAGMA writable_schema = ON; {sql}; PRAGMA writable_schema = RESET")
        def edited_and_undone(database):
            insert = "WHERE name LIKE 'bfstore %insert%'"
            edit(database, f"UPDATE sqlite_schema SET sql = replace(sql, 'BEGIN', 'WHEN 0 BEGIN') {insert}")
            self.assert_state("maybe", self.LOST, database)
            self.insert(database, b"c")
            edit(database, f"UPDATE sqlite_schema SET sql = replace(sql, 'WHEN 0 BEGIN', 'BEGIN') {insert}")
        def deleted_and_undone(database):
            database.execute("CREATE TABLE saved AS SELECT rowid AS r, * FROM sqlite_schema WHERE name LIKE 'bfstore %insert%'")
            edit(database, "DELETE FROM sqlite_schema WHERE name LIKE 'bfstore %insert%'")
            self.insert(database, b"c")
            edit(database, "INSERT INTO sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) SELECT * FROM saved")
        def swapped_pages(database):
            database.executescript("CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT); INSERT INTO other (key) VALUES (x'63')")
            edit(database, "UPDATE sqlite_schema SET rootpage = (SELECT sum(rootpage) FROM sqlite_schema WHERE name IN ('rows', 'other')) - rootpage WHERE name IN ('rows', 'other')")
        for change, words in ((blob, "%blob_write%"), (self.remake("trigger", "view"), "%all of it was made again%"), (copy_in_use, "%in place%while a writer had it open%"),
                              *((change, "%writable_schema%undone%pages%") for change in (edited_and_undone, deleted_and_undone, swapped_pages))):
            with self.subTest(change):
                database = self.kept(keys=(b"a", b"b"))
                change(database)
                self.assertEqual(database.execute("SELECT state FROM bf_info('rows.bf') WHERE not_seen LIKE ?", (words,)).fetchone(), ("good",))
                self.assertEqual(wrong_noes(database), 1, "it is seen now: README and bf_info need not say otherwise")
                self.one(database, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                self.assertEqual(wrong_noes(database), 0)
                database.close()
            self.doCleanups()
            self.setUp()

    def test_a_returning_that_has_not_ended_without_the_triggers_is_a_limit(self):
        """A limit of README, in a query of the same connection that runs meanwhile."""
        database = self.kept()
        database.execute("CREATE TABLE probe (k)")
        database.executemany("INSERT INTO probe VALUES (?)", [(key,) for key in ("absent", "x", "c")])
        database.execute("BEGIN")
        asked = database.execute("SELECT bf_maybe('rows.bf', k) FROM probe")
        self.assertEqual(asked.fetchone(), (0,))
        for event in ("update", "before update"):
            database.execute(f'DROP TRIGGER "bfstore {event} rows.bf"')
        running = database.execute("UPDATE rows SET key = 'c' RETURNING key")
        self.assertEqual(running.fetchone(), ("c",))
        self.assertEqual(asked.fetchall()[-1], (0,), "it is seen now: README and bf_info need not say otherwise")
        self.assertRegex(self.one(database, "SELECT not_seen FROM bf_info('rows.bf')"), "RETURNING that has not ended")
        self.assertEqual(running.fetchall(), [("c",)])
        self.assertEqual(self.maybe(database, "c"), 1)

    def copied(self, make, folder="copy", path="rows.bf"):
        """Makes another database with the first one's content. Each then gets a row."""
        database = self.connect()
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT)")
        self.one(database, "SELECT bf_create(?, 1000)", path)
        self.one(database, "SELECT bf_keep(?, 'rows', 'key')", path)
        self.insert(database, "a", "b")
        target = self.folder / folder / "copy.db"
        target.parent.mkdir(exist_ok=True)
        make(database, target)
        return database, target

    def shell(self, database, *words, text=None):
        done = subprocess.run(["sqlite3", "-cmd", f".load {EXTENSION.with_suffix('')}", str(database), *words], input=text, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def ways(self):
        return {"VACUUM INTO": lambda database, target: database.execute("VACUUM INTO ?", (str(target),)),
                "cp": lambda database, target: shutil.copy(self.path, target),
                "backup": lambda database, target: self.backup(database, target),
                "dump": lambda database, target: self.shell(target, text=self.shell(self.path, ".dump")),
                "iterdump": lambda database, target: self.iterdump(database, target)}

    def backup(self, database, target):
        with contextlib.closing(sqlite3.connect(target)) as copy:
            database.backup(copy)

    def iterdump(self, database, target):
        with contextlib.closing(connect(target)) as copy:
            copy.executescript("\n".join(database.iterdump()))

    def test_a_copy_elsewhere_has_no_filter_until_it_makes_one(self):
        for way, make in self.ways().items():
            with self.subTest(way):
                database, target = self.copied(make)
                copy = self.connect(target)
                self.assertEqual(self.state(copy)[0], "BFS_ENOENT")
                self.assertEqual(wrong_noes(copy), 0)
                self.assert_state("good", "", database)
            self.doCleanups()
            self.setUp()

    def test_copies_that_share_one_file_make_no_wrong_no(self):
        for way, make in self.ways().items():
            with self.subTest(way):
                path = str(self.filter)
                database, target = self.copied(make, path=path)
                copy, rng = self.connect(target), random.Random(ASKED.seed)
                for step in range(40):
                    one = rng.choice((database, copy))
                    with contextlib.suppress(sqlite3.OperationalError):
                        if rng.random() < 0.2:
                            self.one(one, "SELECT bf_sync(?)", path)
                        elif rng.random() < 0.2:
                            one.executescript(f"DELETE FROM rows; DELETE FROM sqlite_sequence")
                        else:
                            self.insert(one, f"{'one' if one is copy else 'two'} {step}")
                    for each in (database, copy, self.connect(), self.connect(target)):
                        self.assertEqual(self.one(each, "SELECT count(*) FROM rows WHERE NOT bf_maybe(?, key)", path), 0)
            self.doCleanups()
            self.setUp()

    def test_a_copy_that_is_attached_is_maybe(self):
        database, target = self.copied(self.ways()["VACUUM INTO"])
        database.execute("ATTACH ? AS copy", (str(target),))
        state, message = self.state(database)
        self.assertEqual(state, "BFS_EMISMATCH")
        self.assertRegex(message, "more than one attached database")

    def test_a_database_that_was_restored_in_its_place(self):
        for way, make in self.ways().items():
            with self.subTest(way):
                database, target = self.copied(make)
                self.insert(database, "c")
                before = self.connect()
                self.assertEqual(self.state(before)[0], "good")
                if way in ("backup", "cp", "VACUUM INTO"):
                    self.shell(self.path, f".restore {target}")
                else:
                    for each in (database, before):
                        each.close()
                    os.replace(target, self.path)
                for each in (new := self.connect(), *([before] if way in ("backup", "cp", "VACUUM INTO") else [])):
                    self.assertEqual(wrong_noes(each), 0)
                    self.assertEqual(self.state(each)[0], "good")
                self.one(new, "SELECT bf_keep('rows.bf', 'rows', 'key')")
                self.assert_state("good", "", new)
            self.doCleanups()
            self.setUp()

    def test_the_file_of_the_filter(self):
        self.each([lambda _: self.filter.unlink()], "BFS_ENOENT", "no such file")
        def junk(_):
            (self.folder / "junk").write_bytes(b"junk" * 5000)
            os.replace(self.folder / "junk", self.filter)
        self.each([junk], "BFS_EMALFORMED", "not a bfstore file")
        def other(database):
            self.filter.unlink()
            self.one(database, "SELECT bf_create('rows.bf', 1000)")
        self.each([other], "maybe", "call bf_sync", "SELECT bf_sync('rows.bf')")
        self.each([lambda database: self.one(database, "SELECT bf_build('rows.bf', bf_keys(key)) FROM rows")], "maybe", "call bf_sync", "SELECT bf_sync('rows.bf')")


class Shell(Case):
    def test_the_example_of_the_readme(self):
        text = (SOURCES / "README.md").read_text()
        example = re.search(r"```sql\n(.*?)```", text, re.S).group(1)
        expected = re.search(r"prints\n*\s*```text\n(.*?)```", text, re.S).group(1)
        shutil.copy(EXTENSION, self.folder / "bfstore.so")
        done = subprocess.run(["sqlite3", "-bail", str(self.path)], input=example, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (expected, "", 0))

    def test_the_python_example_of_the_readme(self):
        shutil.copy(EXTENSION, self.folder / "bfstore.so")
        self.kept().close()
        example = re.search(r"```python\n(.*?)```", (SOURCES / "README.md").read_text(), re.S).group(1)
        done = subprocess.run([sys.executable, "-B", "-c", example], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("False True\n", "", 0))


# --- Kills ------------------------------------------------------------------------------------------------------------

class WrongNo(Exception):
    pass


def write_for_ever(path, rng):
    """Writes until it is killed."""
    while True:
        with contextlib.closing(connect(path)) as database:
            with contextlib.suppress(sqlite3.OperationalError):
                while True:
                    write(database, rng)
            with contextlib.suppress(sqlite3.OperationalError):
                mend(database)


def write(database, rng):
    with transaction(database):
        database.executemany("INSERT INTO rows (key) VALUES (?)", [(rng.randbytes(16),) for _ in range(rng.randint(1, 4))])
        if rng.random() < 0.1:
            database.execute("UPDATE rows SET key = ? WHERE id = (SELECT min(id) FROM rows)", (rng.randbytes(16),))
        if rng.random() < 0.05:
            raise sqlite3.OperationalError("rolled back")
    if rng.random() < 0.2:
        database.execute("SELECT bf_sync('rows.bf')").fetchall()


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


def mend(database):
    """Does what README says for a bf_add that refuses."""
    try:
        database.execute("SELECT bf_sync('rows.bf')").fetchall()
    except sqlite3.OperationalError as error:
        if "no such file" not in str(error):
            raise
        with transaction(database):
            database.execute("SELECT bf_build('rows.bf', bf_keys(key), 0.01, 20000) FROM rows").fetchall()
            database.execute("SELECT bf_sync('rows.bf')").fetchall()


def wrong_noes(database):
    return database.execute("SELECT count(*) FROM rows WHERE NOT bf_maybe('rows.bf', key)").fetchone()[0]


def read_for_ever(path, _):
    with contextlib.closing(connect(path)) as database:
        while True:
            with contextlib.suppress(sqlite3.OperationalError):
                if wrong_noes(database):
                    raise WrongNo


def forked(work, path, seed):
    pid = os.fork()
    if pid == 0:
        try:
            work(path, random.Random(seed))
        except WrongNo:
            os._exit(7)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    return pid


def killed(pid):
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        raise WrongNo("of a reader") if os.WEXITSTATUS(status) == 7 else AssertionError(f"exit {os.WEXITSTATUS(status)}")


class Campaign:
    def __init__(self, folder, rng, journal="WAL"):
        self.folder, self.rng, self.counts, self.reader = folder, rng, collections.Counter(), None
        self.lives = engines.Lives(0.03)
        self.path, self.filter = folder / "rows.db", folder / "rows.bf"
        self.saved_path, self.saved_filter = folder / "saved.db", folder / "saved.bf"
        with contextlib.closing(connect(self.path)) as database:
            database.execute(f"PRAGMA journal_mode={journal}")
            database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB)")
            database.execute("SELECT bf_create('rows.bf', 20000)")
            database.execute("SELECT bf_keep('rows.bf', 'rows', 'key')").fetchall()

    def check(self):
        with contextlib.closing(connect(self.path)) as database:
            self.counts["checks"] += 1
            if wrong := wrong_noes(database):
                raise WrongNo(f"{wrong} rows, after {dict(self.counts)}")
            absent = sum(database.execute("SELECT bf_maybe('rows.bf', ?)", (self.rng.randbytes(16),)).fetchone()[0] for _ in range(20))
            self.counts["trusted"] += absent < 20
            self.counts["rows"] = database.execute("SELECT count(*) FROM rows").fetchone()[0]

    def save_filter(self):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(self.filter, self.saved_filter)

    def restore_filter(self):
        if self.saved_filter.exists():
            shutil.copy(self.saved_filter, self.folder / "back.bf")
            os.replace(self.folder / "back.bf", self.filter)

    def remove_filter(self):
        self.filter.unlink(missing_ok=True)

    def close_clean(self):
        with contextlib.closing(connect(self.path)) as database, contextlib.suppress(sqlite3.OperationalError):
            mend(database)
            write(database, self.rng)
        self.save_filter()

    def save_database(self):
        with contextlib.closing(connect(self.path)) as database, contextlib.closing(sqlite3.connect(self.saved_path)) as saved:
            database.backup(saved)

    def restore_database(self):
        if not self.saved_path.exists():
            return
        self.without_reader()
        for end in ("-wal", "-shm", "-journal"):
            pathlib.Path(f"{self.path}{end}").unlink(missing_ok=True)
        shutil.copy(self.saved_path, self.path)

    def restore_database_in_place(self):
        if self.saved_path.exists():
            with contextlib.closing(sqlite3.connect(self.saved_path)) as saved, contextlib.closing(sqlite3.connect(self.path)) as database:
                saved.backup(database)

    def vacuum(self):
        with contextlib.closing(connect(self.path)) as database, contextlib.suppress(sqlite3.OperationalError):
            database.execute("DELETE FROM rows WHERE id % 2 = 0")
            database.execute("VACUUM")

    def without_reader(self):
        reader, self.reader = self.reader, None
        if reader is not None:
            killed(reader)

    def round(self):
        rows = self.counts["rows"]
        self.reader = self.reader or forked(read_for_ever, self.path, 0)
        writers = [forked(write_for_ever, self.path, self.rng.random()) for _ in range(2)]
        if self.rng.random() < 0.2:
            engines.any_moment(self.rng, 0.02)
            accident = self.rng.choice([self.save_filter, self.restore_filter, self.restore_database_in_place])
            self.counts[f"{accident.__name__} in use"] += 1
            accident()
        for writer in writers:
            self.lives.wait(self.rng)
            killed(writer)
            self.counts["kills"] += 1
        self.check()
        self.lives.learn(self.counts["rows"] != rows)
        if self.counts["rows"] > 10000:  # the filter's capacity; each vacuum removes half of the rows
            self.vacuum()
            self.remove_filter()
        accident = self.rng.choice([self.save_filter, self.close_clean, self.restore_filter, self.restore_filter, self.remove_filter,
                                    self.save_database, self.restore_database, self.vacuum] + [None] * 8)
        if accident:
            self.counts[accident.__name__] += 1
            accident()
            self.check()

    def met(self):
        """Returns whether enough queries trusted the filter: one that no query trusts makes no wrong no."""
        return self.counts["trusted"] > self.counts["checks"] / 10

    def run(self, kills):
        try:
            engines.go_on(self.round, kills, lambda: self.counts["kills"], self.met)
            self.without_reader()
        finally:
            with contextlib.suppress(WrongNo):
                self.without_reader()


class Kills(Case):
    def campaign(self, journal="WAL"):
        campaign = Campaign(self.folder, random.Random(ASKED.seed), journal)
        self.addClassCleanup(lambda: print(journal, dict(campaign.counts)))  # after the test's own line
        campaign.run(ASKED.kills)

    def test_no_row_is_answered_no_whenever_its_writers_are_killed(self):
        self.campaign()

    def test_nor_in_a_database_with_a_rollback_journal(self):
        self.campaign(journal="DELETE")


# --- Measuring --------------------------------------------------------------------------------------------------------

ROWS, PROBES, ROUNDS = 500_000, 100_000, 5


class Bench:
    def __init__(self, folder):
        self.path, self.database = folder / "rows.db", connect(folder / "rows.db")
        self.database.executescript("""
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
            CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, value BLOB);
            CREATE TABLE bare (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, value BLOB);
            CREATE TABLE probe (share INTEGER, k BLOB);""")
        self.rows("rows", ROWS)
        self.database.execute("SELECT bf_create('rows.bf', ?, 0.01)", (2 * ROWS,))
        self.database.execute("SELECT bf_keep('rows.bf', 'rows', 'key')").fetchall()
        with transaction(self.database):
            for share in (0, 10, 100):
                self.database.execute("""INSERT INTO probe SELECT ?1, iif(n % 100 < ?1, (SELECT key FROM rows WHERE id = 1 + n * 7919 % ?2),
                    randomblob(16)) FROM (WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT ?3)
                    SELECT n FROM numbers)""", (share, ROWS, PROBES))
            assert self.database.execute("SELECT count(DISTINCT k) FROM probe WHERE share = 100").fetchone()[0] == PROBES

    def rows(self, table, count):
        with transaction(self.database):
            self.database.execute(f"""INSERT INTO {table} (key, value) SELECT randomblob(16), randomblob(50) FROM
                (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) SELECT i FROM n)""", (count,))

    def timed(self, work):
        begin = time.perf_counter()  # clock: bench
        result = work()
        return time.perf_counter() - begin, result  # clock: bench

    def join(self, share, where):
        return f"SELECT count(value) FROM probe CROSS JOIN rows ON rows.key = probe.k WHERE share = {share}{where}"

    def pages(self, sql):
        lines = [f".load {EXTENSION.with_suffix('')}", "SELECT bf_maybe('rows.bf', 'x');", ".stats on", f"{sql};"]
        words = subprocess.run(["sqlite3", str(self.path)], capture_output=True, text=True, check=True, input="\n".join(lines)).stdout
        return int(re.search(r"Page cache misses: +(\d+)", words).group(1))

    def joins(self):
        ask = " AND bf_maybe('rows.bf', k)"
        wrong = self.database.execute(f"SELECT avg(bf_maybe('rows.bf', k)) FROM probe WHERE share = 0").fetchone()[0]
        print(f"absent keys answered maybe: {wrong:.4%}")
        assert wrong < 0.01
        for share in (0, 10, 100):
            times = {"": [], ask: []}
            for _ in range(ROUNDS):
                for where, seconds in times.items():
                    spent, result = self.timed(lambda: self.database.execute(self.join(share, where)).fetchone())
                    assert result[0] == PROBES * share // 100, result
                    seconds.append(spent)
            without, having = (statistics.median(seconds) * 1e6 / PROBES for seconds in times.values())
            print(f"join, {share} % present: {without:.2f} -> {having:.2f} us a key, {without / having:.1f} x; pages read: "
                  f"{self.pages(self.join(share, ''))} -> {self.pages(self.join(share, ask))}")

    def point_lookups(self):
        keys = [(os.urandom(16),) for _ in range(20_000)]
        times = []
        for sql in ("SELECT value FROM rows WHERE key = ?1", "SELECT value FROM rows WHERE bf_maybe('rows.bf', ?1) AND key = ?1"):
            spent, _ = self.timed(lambda: [self.database.execute(sql, key).fetchone() for key in keys])
            times.append(spent * 1e6 / len(keys))
        print(f"single statements from Python, absent keys: {times[0]:.1f} -> {times[1]:.1f} us")

    def triggers(self):
        times = {"bare": [], "rows": []}
        for _ in range(ROUNDS):
            for table, seconds in times.items():
                seconds.append(self.timed(lambda: self.rows(table, 50_000))[0] / 50_000 * 1e6)
        print("insert, 50,000 rows a transaction: {:.2f} us without, {:.2f} us a row with triggers".format(
            *(statistics.median(seconds) for seconds in times.values())))


def bench():
    with tempfile.TemporaryDirectory(prefix="bfstore-sqlite-") as folder:
        measured = Bench(pathlib.Path(folder))
        with contextlib.closing(measured.database):
            measured.joins()
            measured.point_lookups()
            # Both tables have as many rows.
            measured.rows("bare", ROWS)
            measured.triggers()


if __name__ == "__main__":
    build()
    if ASKED.bench:
        bench()
    else:
        engines.main()
