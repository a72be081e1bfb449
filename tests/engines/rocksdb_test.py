"""The front of capi/engines/rocksdb over the real library. Its writer is killed at any moment, and so is the opening that adds
missing keys. A power cut keeps the synced bytes of the filter and of the WAL, and any part of the rest. Filters and databases
come back from backups. After each of these no row may be answered "no", to the writer and to other processes.

Arguments: see engines.py; or --bench for the measurement of README.md.
"""
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import engines

WRONG_NO = 7
PAGE = 4096
HEADER = 4 * PAGE


TREE, ASKED = engines.arguments(kills=20, bench=False)
engines.needs(programs={"g++": "g++"},
              files={"/usr/include/rocksdb/db.h": "librocksdb-dev", "/usr/lib/*/librocksdb.*": "librocksdb-dev"})


def build(source, *flags):
    program = TREE.out / pathlib.Path(source).stem
    subprocess.run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Werror", *flags,
                    f"-I{TREE.root / 'capi'}", f"-I{TREE.root / 'capi/engines/rocksdb'}", TREE.root / source, TREE.archive,
                    "-lrocksdb", "-o", program], check=True)
    return program


with concurrent.futures.ThreadPoolExecutor() as pool:
    DRIVER, EXAMPLE = pool.map(build, ["tests/engines/rocksdb_driver.cpp", "capi/engines/rocksdb/example.cpp"])


class WrongNo(Exception):
    pass


def finished(process):
    words = engines.finished(process, DRIVER)
    if process.returncode == WRONG_NO:
        raise WrongNo(words[1])
    return words


def started(*arguments, driver=None, **environment):
    return subprocess.Popen([driver or DRIVER, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


def run(*arguments, **how):
    process = started(*arguments, **how)
    out, error = finished(process)
    if process.returncode != 0:
        raise AssertionError(f"{arguments}: exit {process.returncode}: {error}")
    return out.split()


def killed(process, after):
    """Kills a process unless it ended before. Raises a wrong no that it saw first."""
    time.sleep(after)  # clock: no verdict needs it
    process.kill()
    _, error = finished(process)
    if process.returncode not in (-signal.SIGKILL, 0):
        raise AssertionError(f"exit {process.returncode}: {error}")


class Campaign:
    """One database. `how` counts the sources from which openings brought the filter up to date."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        self.counts, self.how, self.rows = collections.Counter(), collections.Counter(), 0
        self.lives = engines.Lives(0.25)

    @property
    def filter(self):
        return self.folder / "db.bf"

    def check(self):
        how, rows, told = run("check", self.folder)
        self.how[how] += 1
        self.rows = int(rows)
        self.counts["useful"] += int(told) > 900  # of 1,000
        self.counts["checks"] += 1

    def write(self):
        before = self.bytes()
        killed(started("write", self.folder, self.rng.getrandbits(60)), self.rng.uniform(0, self.lives.longest))
        self.lives.learn(self.bytes() != before)
        self.counts["kills"] += 1

    def logs(self):
        return set((self.folder / "db").glob("**/*.log"))

    def bytes(self, but=()):
        sizes = 0
        for path in self.logs():
            if path.name in but:
                continue
            with contextlib.suppress(FileNotFoundError):  # the log was archived
                sizes += path.stat().st_size
        return sizes

    def busy_writer(self, *more):
        """Starts a writer, and returns it when it has written rows, on a machine of any speed."""
        before = {path.name for path in self.logs()}  # they may be moved to the archive
        writer = started("write", self.folder, self.rng.getrandbits(60), *more)
        engines.wait_until(lambda: writer.poll() is not None or self.bytes(before) > 30000, "a writer")
        return writer

    def kill_an_opening(self):
        killed(started("check", self.folder), self.rng.uniform(0, 0.06))
        self.counts["kills"] += 1

    def save(self, name):
        """Makes a backup of the filter, which is in use if a writer is running."""
        saved = self.folder / name
        shutil.rmtree(saved, ignore_errors=True)
        saved.mkdir()
        if self.filter.exists():
            shutil.copy(self.filter, saved)
        shutil.copytree(self.folder / "db", saved / "db", ignore_dangling_symlinks=True)

    def restore_filter(self):
        """Puts the saved filter back by mv, as PROMISES.md says."""
        if (self.folder / "saved" / "db.bf").exists():
            shutil.copy(self.folder / "saved" / "db.bf", self.folder / "back")
            os.replace(self.folder / "back", self.filter)

    def restore_database(self):
        if (self.folder / "saved").exists():
            shutil.rmtree(self.folder / "db")
            shutil.copytree(self.folder / "saved" / "db", self.folder / "db")

    def remove_filter(self):
        self.filter.unlink(missing_ok=True)

    def archive_is_gone(self):
        shutil.rmtree(self.folder / "db" / "archive", ignore_errors=True)

    def save_closed(self):
        self.check()
        self.save("saved")

    def accident(self):
        happens = self.rng.choice([self.save_closed, self.save_closed, self.restore_filter, self.restore_filter,
                                   self.restore_database, self.remove_filter, self.archive_is_gone, self.cut_power, self.cut_power,
                                   self.cut_power])
        happens()
        self.counts[happens.__name__] += 1

    def cut_power(self):
        """Leaves the filter of a moment, whose later pages the kernel wrote or did not write, and a WAL whose end is lost."""
        writer = started("write", self.folder, self.rng.getrandbits(60))
        self.lives.wait(self.rng)
        before = self.folder / "before"
        synced = self.filter.exists() and shutil.copy(self.filter, before)
        killed(writer, self.rng.uniform(0.02, 0.2))
        if synced:
            self.mix_pages(before)
        logs = sorted((self.folder / "db").glob("*.log"))
        if logs:
            size = logs[-1].stat().st_size
            os.truncate(logs[-1], size - self.rng.randint(0, min(size, 5000)))

    def mix_pages(self, before):
        """Writes the filter to a new inode, as after a boot. Its state is that of `before`."""
        old, new = bytearray(before.read_bytes()), self.filter.read_bytes()
        if len(old) == len(new) and old[:64] == new[:64]:
            for at in range(HEADER, len(old) - PAGE, PAGE):
                if self.rng.random() < 0.5:
                    old[at:at + PAGE] = new[at:at + PAGE]
        (self.folder / "after").write_bytes(old)
        os.replace(self.folder / "after", self.filter)

    def round(self):
        self.write()
        if self.rng.random() < 0.3:
            self.kill_an_opening()
        if self.rng.random() < 0.5:
            self.accident()
        if self.rng.random() < 0.3:
            reader = started("readonly", self.folder)
            finished(reader)
            self.counts["read only" if reader.returncode == 0 else "no database yet"] += 1
            assert reader.returncode in (0, 3), reader.returncode
        self.check()
        if self.rows > 30000:
            shutil.rmtree(self.folder / "db")
            self.counts["began anew"] += 1

    def met(self):
        """Returns whether openings had to add keys, and the filter told enough keys apart: a full one makes no wrong no. (A writer
        that is killed before its rebuild is done leaves more keys than the capacity.)"""
        return self.how["wal"] + self.how["rows"] > 0 and self.counts["useful"] > self.counts["checks"] / 4

    def run(self, kills):
        engines.go_on(self.round, kills, lambda: self.counts["kills"], self.met)


class RocksDB(unittest.TestCase):
    def folder(self):
        """Returns a folder in memory: the disk is not tested."""
        folder = engines.folder()
        if os.access("/dev/shm", os.W_OK):
            folder = pathlib.Path("/dev/shm") / folder.name
            folder.mkdir()
            self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def campaign(self):
        return Campaign(self.folder(), random.Random(ASKED.seed))

    def test_no_row_is_answered_no_after_kills_power_cuts_and_backups(self):
        campaign = self.campaign()
        self.addClassCleanup(lambda: print(dict(campaign.counts), dict(campaign.how)))
        campaign.run(ASKED.kills)

    def test_a_killed_writer_loses_nothing_and_its_filter_goes_on_from_the_wal(self):
        campaign = self.campaign()
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        campaign.check()
        self.assertGreater(campaign.rows, 100)
        self.assertNotIn("rows", campaign.how)  # "nothing": it was killed right after a sync

    def test_after_a_power_cut_the_filter_of_an_earlier_moment_is_recovered_from_the_wal(self):
        campaign = self.campaign()
        campaign.check()
        writer = campaign.busy_writer("calm")
        before, size = campaign.filter.read_bytes(), campaign.bytes()
        engines.wait_until(lambda: campaign.bytes() != size, "more rows")
        killed(writer, 0.3)
        campaign.filter.unlink()
        campaign.filter.write_bytes(before)  # another inode, and dirty, so it is unclean, as after a boot
        self.assertEqual(run("readonly", campaign.folder)[1], "0")  # a reader does not ask this filter
        campaign.check()
        self.assertGreater(campaign.rows, 100)
        self.assertEqual(dict(campaign.how), {"rows": 1, "wal": 1})

    def test_a_secondary_instance_follows_its_writer(self):
        folder = self.folder()
        run("check", folder)
        reader, told = started("read", folder), []
        # A secondary's view may have holes, and show rows that the primary deleted before it rebuilt the filter (README).
        for seed in range(100):
            writer = started("write", folder, seed, "keep")
            lines = [reader.stdout.readline() for _ in range(2)]  # the reader may need longer than a writer
            killed(writer, 0.3)
            if not lines[-1]:
                finished(reader)
                self.fail(f"the reader ended with {reader.returncode}")
            told += [int(line.split()[1]) for line in lines]
            if seed >= 2 and max(told) > 980:
                break
        reader.kill()
        finished(reader)
        self.assertEqual(reader.returncode, -signal.SIGKILL)
        self.assertGreater(max(told), 980)

    def test_a_secondary_that_failed_to_catch_up_trusts_no_filter(self):
        folder = self.folder()
        run("check", folder)
        run("catchup", folder)

    def test_a_reader_trusts_no_filter_but_the_one_that_the_database_names(self):
        campaign = self.campaign()
        campaign.check()
        campaign.save("saved")
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        rows, told = map(int, run("readonly", campaign.folder))
        self.assertGreater(told, 980)
        campaign.restore_filter()
        rows, told = map(int, run("readonly", campaign.folder))
        self.assertGreater(rows, 100)
        self.assertEqual(told, 0)
        campaign.check()
        self.assertGreater(int(run("readonly", campaign.folder)[1]), 980)

    def test_a_reader_trusts_no_older_filter_that_was_copied_back_in_place(self):
        """The older filter is of the same opening: its epoch is the one that the database names, and its mark is lower."""
        for how in ("closed", "killed"):
            with self.subTest(how):
                campaign = self.campaign()
                run("older", campaign.folder, how)
                run("again", campaign.folder)
                shutil.copyfile(campaign.folder / "older", campaign.filter)
                rows, told = map(int, run("readonly", campaign.folder))
                self.assertGreater(rows, 100)
                self.assertEqual(told, 0)
                campaign.check()
                self.assertEqual(dict(campaign.how), {"wal": 1})
                self.assertGreater(int(run("readonly", campaign.folder)[1]), 980)

    def test_a_filter_that_was_copied_over_that_of_an_open_front_gets_no_mark(self):
        """The front refuses to sync such a copy, and to close it with a mark. Recover and the next opening add the missing keys."""
        campaign = self.campaign()
        run("over", campaign.folder)
        campaign.check()
        self.assertGreater(campaign.rows, 100)

    def test_a_history_that_was_abandoned_leaves_no_mark(self):
        """The database and its filter are restored together, and continue. Then the filter of the first history comes back. Its
        mark is not above the end of the log."""
        campaign = self.campaign()
        campaign.check()
        campaign.save("first")
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        later = (campaign.folder / "db.bf").read_bytes()
        shutil.rmtree(campaign.folder / "db")
        shutil.copytree(campaign.folder / "first" / "db", campaign.folder / "db")
        shutil.copy(campaign.folder / "first" / "db.bf", campaign.folder / "back")
        os.replace(campaign.folder / "back", campaign.filter)
        killed(campaign.busy_writer("calm"), 0.05)
        (campaign.folder / "back").write_bytes(later)
        os.replace(campaign.folder / "back", campaign.filter)
        campaign.check()
        self.assertEqual(campaign.how["rows"], 2)

    def test_rows_that_the_wal_lacks_are_a_gap(self):
        for where in ("middle", "tail"):
            with self.subTest(where):
                campaign = self.campaign()
                campaign.check()
                run("gaps", campaign.folder, where)
                campaign.check()
                self.assertEqual(campaign.how["rows"], 2)

    def test_whatever_was_put_to_the_filters_path_no_row_is_answered_no(self):
        def like_the_first(path):
            other = self.campaign()
            other.check()
            os.replace(other.filter, path)
        changes = {"removed": pathlib.Path.unlink, "moved away": lambda path: path.rename(path.with_suffix(".away")), "empty": lambda path: os.truncate(path, 0),
                   "truncated": lambda path: os.truncate(path, HEADER), "junk": lambda path: path.write_bytes(b"junk" * 9000), "of another database": like_the_first}
        for what, change in changes.items():
            with self.subTest(what):
                campaign = self.campaign()
                killed(campaign.busy_writer("calm"), 0.05)
                campaign.check()
                change(campaign.filter)
                self.assertEqual(run("readonly", campaign.folder)[1], "0")  # a reader does not ask this filter
                campaign.how.clear()
                campaign.check()
                self.assertGreater(campaign.rows, 100)
                self.assertEqual(dict(campaign.how), {"rows": 1})
                self.assertGreater(int(run("readonly", campaign.folder)[1]), 980)

    def test_rows_that_a_program_wrote_past_a_closed_front_are_found(self):
        campaign = self.campaign()
        campaign.check()
        campaign.check()
        run("past", campaign.folder)
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 100)
        self.assertEqual(campaign.how["wal"] + campaign.how["rows"], 2)

    def test_rows_that_were_written_past_an_open_front_are_found_after_its_next_sync_or_opening(self):
        """The front's mark once was above such rows, and no later opening noticed that they were missing."""
        for then in ("sync", "rebuild", "close", "flush"):
            with self.subTest(then):
                campaign = self.campaign()
                campaign.check()
                run("pastopen", campaign.folder, then)
                campaign.check()
                self.assertGreaterEqual(campaign.rows, 100)

    def test_rows_that_a_program_ingested_past_a_closed_front_are_found_if_the_filter_is_removed(self):
        campaign = self.campaign()
        campaign.check()
        run("ingestpast", campaign.folder)
        campaign.remove_filter()
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 100)
        self.assertEqual(dict(campaign.how), {"rows": 2})

    def test_a_filter_that_stayed_when_its_database_was_removed_is_not_gone_on_with(self):
        campaign = self.campaign()
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        shutil.rmtree(campaign.folder / "db")
        run("past", campaign.folder, "new")
        campaign.how.clear()
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 100)
        self.assertEqual(dict(campaign.how), {"rows": 1})

    def test_rows_that_a_program_wrote_where_others_were_lost(self):
        """Such rows have the sequence numbers of rows that the front wrote without a WAL and a kill lost, and numbers above the mark."""
        campaign = self.campaign()
        campaign.check()
        run("lose", campaign.folder)
        run("past", campaign.folder)
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 100)
        self.assertEqual(dict(campaign.how), {"rows": 1, "wal": 1})

    def test_rows_that_a_program_wrote_to_an_older_database_of_the_same_opening(self):
        campaign = self.campaign()
        campaign.check()
        (campaign.folder / "saved").mkdir()
        run("copy", campaign.folder)
        campaign.restore_database()
        run("past", campaign.folder)
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 150)
        self.assertEqual(campaign.how["rows"], 2)

    def test_an_older_filter_is_not_gone_on_with_after_an_ingest(self):
        campaign = self.campaign()
        campaign.check()
        campaign.save("saved")
        run("ingest", campaign.folder)
        campaign.restore_filter()
        campaign.check()
        self.assertGreaterEqual(campaign.rows, 100)
        self.assertEqual(campaign.how["rows"], 2)
        campaign.check()
        self.assertEqual(campaign.how["nothing"], 1)

    def test_without_old_files_of_the_wal_all_rows_are_added(self):
        campaign = self.campaign()
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        campaign.save("saved")
        killed(campaign.busy_writer("calm"), 0.05)
        campaign.check()
        shutil.rmtree(campaign.folder / "db" / "archive")
        campaign.restore_filter()
        campaign.check()
        self.assertEqual(campaign.how["rows"], 1)

    def test_each_case_of_the_driver(self):
        run("cases", self.folder())

    def test_a_reader_asks_no_copy_of_an_earlier_moment_whatever_its_flags(self):
        run("readacopy", self.folder())

    def test_a_secondary_that_shows_the_rows_of_a_dropped_family_finds_them(self):
        """A filter that was built after the drop has none of the keys of dropped families."""
        run("dropped", self.folder())

    def test_another_rocksdb_which_may_have_other_ways_to_write_is_refused(self):
        words = "#include <rocksdb/version.h>\n#undef ROCKSDB_MAJOR\n#define ROCKSDB_MAJOR 8\n#include <bfstore_rocksdb.h>\n"
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wfatal-errors", f"-I{TREE.root / 'capi'}",
                               f"-I{TREE.root / 'capi/engines/rocksdb'}", "-xc++", "-"], input=words, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("RocksDB 7", done.stderr)

    def test_the_example(self):
        folder = self.folder()
        self.assertEqual(run(folder, "put", "alice", "1", driver=EXAMPLE), [])
        self.assertEqual(run(folder, "get", "alice", driver=EXAMPLE), ["alice", "=", "1"])
        self.assertEqual(run(folder, "get", "zoe", driver=EXAMPLE), ["zoe", "is", "absent,", "says", "the", "filter"])


if __name__ == "__main__":
    if ASKED.bench:
        print(subprocess.run([DRIVER, "bench", engines.folder(), "1000000"], text=True, check=True, capture_output=True).stdout)
        sys.exit()
    engines.main()
