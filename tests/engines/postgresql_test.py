"""The PostgreSQL extension in a server of its own. pg_regress compares the answers of its functions. No row may be answered "no"
after backends and whole servers were killed, files were put back from copies, and clusters were restored and promoted.

Arguments: see engines.py (--kills=N: that many of each kind); --new-results writes expected/bfstore.out, to be read, and committed.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import unittest

import engines

BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
LIBRARY, SHARE = BIN.parent / "lib", pathlib.Path("/usr/share/postgresql/15")
REGRESS = LIBRARY / "pgxs/src/test/regress/pg_regress"
TREE, ASKED = engines.arguments(kills=2, bench=False, new_results=False)
engines.needs(programs={**{str(BIN / name): "postgresql-15" for name in ("postgres", "initdb")},
                        **{str(BIN / name): "postgresql-client-15" for name in ("psql", "pg_config", "pg_basebackup")},
                        str(REGRESS): "postgresql-client-15", "make": "make", "setpriv": "util-linux"},
              files={"/usr/include/postgresql/15/server/postgres.h": "postgresql-server-dev-15",
                     str(LIBRARY / "pgxs/src/makefiles/pgxs.mk"): "postgresql-client-15"})
# The server refuses root, and needs no rights.
AS_USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []


def give(folder):
    if AS_USER:
        shutil.chown(folder, "nobody", "nogroup")
    return folder


def run(command, **how):
    done = engines.run(command, stdin=subprocess.DEVNULL, **how)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]}: {done.stdout[-6000:]}{done.stderr[-6000:]}")
    return done.stdout


class Installation:
    """An installation that takes the extension without a change to the machine's own: a copy of the program, with links to all
    other files, because PostgreSQL finds its files from the place of its program."""

    def __init__(self, folder):
        self.root = folder / "installed"
        self.bin = self.root / BIN.relative_to("/")
        self.bin.mkdir(parents=True)
        for program in ("postgres", "initdb"):
            shutil.copy(BIN / program, self.bin)
        (self.bin / "psql").symlink_to(BIN / "psql")
        self._link(LIBRARY), self._link(SHARE), self._link(SHARE / "extension")
        self._build(folder / "build")

    def _link(self, source):
        target = self.root / source.relative_to("/")
        if target.is_symlink():
            target.unlink()
        target.mkdir(parents=True, exist_ok=True)
        for entry in source.iterdir():
            (target / entry.name).symlink_to(entry)

    def _build(self, folder):
        shutil.copytree(TREE.root / "capi/engines/postgresql", folder)
        # The last two are for clang: PGXS brings gcc's flags.
        flags = (f"-I{TREE.root}/capi -isystem /usr/include/postgresql/15/server -Wall -Wextra -Wshadow -Werror "
                 "-Wno-unknown-warning-option -Wno-ignored-optimization-argument")
        make = ["make", "-s", "-C", folder, f"PG_CONFIG={BIN}/pg_config", f"BFSTORE_CFLAGS={flags}",
                f"BFSTORE_LIBS={TREE.archive} -lstdc++ -lm", f"CC={' '.join(TREE.cc)}"]
        run(["make", "-s", "-C", folder, f"PG_CONFIG={BIN}/pg_config", "clean"])
        run(make)
        run([*make, f"DESTDIR={self.root}", "install"])


class Cluster:
    """One data directory and its server, which listens on a socket in the folder."""

    def __init__(self, installation, folder, copy_of=None):
        self.bin, self.folder, self.data = installation.bin, folder, folder / "data"
        self.port, self.server = 5432, None
        folder.mkdir()
        give(folder).chmod(0o700)
        if copy_of is not None:
            run([*AS_USER, "cp", "-a", copy_of, self.data])
            return
        run([*AS_USER, self.bin / "initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
             "-D", self.data], cwd=folder)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write("listen_addresses = ''\nshared_buffers = 32MB\nmax_connections = 30\nrestart_after_crash = on\n"
                           "autovacuum = off\nmax_prepared_transactions = 4\nauthentication_timeout = 600\n"
                           "wal_level = logical\n"
                           "dynamic_shared_memory_type = mmap\n")  # /dev/shm would keep that of a killed server

    @property
    def environment(self):
        # Debian's psql of /usr/bin is a program that looks for the psql of a cluster.
        others = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {**others, "PATH": f"{BIN}:{os.environ['PATH']}", "PGHOST": str(self.folder), "PGPORT": str(self.port),
                "PGUSER": "postgres", "PGDATABASE": "postgres", "PGOPTIONS": "", "PSQLRC": "/dev/null",
                "BFSTORE_FOLDER": str(self.folder)}

    def start(self):
        self.server = engines.Server([*AS_USER, self.bin / "postgres", "-D", self.data, "-k", self.folder], self.answers,
                                     self.folder / "log", cwd=self.folder)
        return self

    def stop(self):
        self.server.stop(signal.SIGINT)

    def psql(self, *arguments, **how):
        return engines.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", *arguments], env=self.environment, stdin=subprocess.DEVNULL, **how)

    def answers(self):
        return self.psql("-c", "SELECT 1").returncode == 0

    def ask(self, *statements):
        done = self.psql(*[word for statement in statements for word in ("-c", statement)])
        if done.returncode != 0:
            raise AssertionError(f"{statements}: {done.stderr}")
        return done.stdout.strip()

    def refused(self, *statements):
        done = self.psql(*[word for statement in statements for word in ("-c", statement)])
        return done.stderr if done.returncode != 0 else None

    def pids(self):
        children = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()
                    and status_of(entry.name, "PPid") == str(self.server.process.pid)]
        return [self.server.process.pid, *children]

    def backends(self):
        """Returns the processes of clients, with those that end: a process closes its files after it has left pg_stat_activity,
        and has lost its title."""
        titles = ((pid, title_of(pid)) for pid in self.pids())
        return [pid for pid, title in titles if "[local]" in title or not title]

    def kill_all(self):
        """Kills the server, which stops first, so that it starts no child meanwhile. Returns when its children have ended, too:
        until then they have its shared memory, and the next server would refuse to start."""
        server = self.server.process.pid
        os.kill(server, signal.SIGSTOP)
        engines.wait_until(lambda: status_of(server, "State").startswith("T"), "a server that stops")
        children = self.pids()[1:]
        for pid in children:
            kill(pid)
        self.server.kill()
        engines.wait_until(lambda: all(map(has_ended, children)), "the end of a server's children")


def status_of(pid, field):
    """Returns a field of the process's status, or "" if there is no such process."""
    try:
        return re.search(rf"^{field}:\s+(.*)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def has_ended(pid):
    """A process that is ending has lost its title before its memory is released; a zombie has released all."""
    return status_of(pid, "State")[:1] in ("", "Z", "X")


def title_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


FOLDER = engines.folder()
FOLDER.chmod(0o755)
INSTALLATION = Installation(FOLDER)
MAIN = Cluster(INSTALLATION, FOLDER / "main").start()


class Functions(unittest.TestCase):
    def test_every_function_answers_as_in_expected(self):
        out, inputs = FOLDER / "regress", FOLDER / "regress-input"
        out.mkdir()
        give(out)
        for folder in ("sql", "expected"):
            shutil.copytree(TREE.root / "capi/engines/postgresql" / folder, inputs / folder)
        MAIN.ask("CREATE DATABASE regress")
        done = subprocess.run([*AS_USER, str(REGRESS), "--use-existing", "--dbname=regress", f"--host={MAIN.folder}",
                               f"--port={MAIN.port}", "--user=postgres", f"--inputdir={inputs}", f"--outputdir={out}",
                               f"--bindir={MAIN.bin}", "bfstore"], env={**MAIN.environment, "PGDATABASE": "regress"},
                              cwd=out, capture_output=True, text=True, check=False)
        differences = out / "regression.diffs"
        words = differences.read_text("utf-8") if differences.exists() else done.stdout + done.stderr
        if ASKED.new_results and done.returncode != 0:
            shutil.copy(out / "results/bfstore.out", TREE.root / "capi/engines/postgresql/expected/bfstore.out")
        self.assertEqual(done.returncode, 0, words)


class Readme(unittest.TestCase):
    def test_its_example_runs(self):
        text = (TREE.root / "capi/engines/postgresql/README.md").read_text("utf-8")
        example = re.search(r"```sql\n(.*?)```", text, re.S)[1].replace("/srv/filters", str(MAIN.folder))
        MAIN.ask("CREATE DATABASE readme")
        statements = ["CREATE TABLE users (email text)", "INSERT INTO users VALUES ('a@b.c'), ('d@e.f')",
                      *re.sub("--.*", "", example).split(";")]
        done = MAIN.psql("-d", "readme", *[word for each in statements if each.strip() for word in ("-c", each)])
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["2", "a@b.c"]), done.stderr)


    def test_every_test_that_its_tables_name_is_here(self):
        text = (TREE.root / "capi/engines/postgresql/README.md").read_text("utf-8")
        table = re.search(r"\| what was done \|.*?(?=\n\n)", text, re.S)[0]
        named = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[3])]
        tests = [name for kind in (Behind, Copies, Files, Restored, Serializable) for name in dir(kind)]
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertTrue(any(each.startswith(f"test_{name}") for each in tests), name)


class Kills(unittest.TestCase):
    """Writers insert, and are killed with or without their server. Rows that a new server shows are "maybe" in the filter."""

    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(ASKED.seed)
        cls.path = MAIN.folder / "kills.bf"
        MAIN.ask("CREATE EXTENSION IF NOT EXISTS bfstore", "CREATE TABLE IF NOT EXISTS kills (id bigserial, key bigint)",
                 f"SELECT bf_attach('kills', 'key', '{cls.path}', 200000)")

    def writers(self):
        """Starts writers, which roll back half of their transactions. A backend sometimes ends, and then its file is closed."""
        script = """DO $$ BEGIN FOR i IN 1..1000000 LOOP
              INSERT INTO kills (key) SELECT (random() * 1e15)::bigint FROM generate_series(1, 3);
              IF random() < 0.5 THEN COMMIT; ELSE ROLLBACK; END IF;
              EXIT WHEN random() < 0.0005;
            END LOOP; END $$;"""
        words = open(MAIN.folder / "writers", "wb")
        with words:
            return [subprocess.Popen(["psql", "-qAtX"] + ["-c", script] * 50, env=MAIN.environment, stdin=subprocess.DEVNULL,
                                     stdout=words, stderr=words) for _ in range(3)]

    def check(self):
        """Builds the filter again if it is unclean, because a process was killed while it synced. Until then rows are refused."""
        engines.wait_until(MAIN.answers, "the server after a kill")
        if MAIN.ask(f"SELECT health FROM bf_info('{self.path}')") != "BFS_OK":
            MAIN.ask(f"SELECT bf_attach('kills', 'key', '{self.path}', 200000)")
            print("built again", file=sys.stderr)
        rows, wrong, false = MAIN.ask(
            f"SELECT count(*), count(*) FILTER (WHERE NOT bf_maybe('{self.path}', key)) FROM kills",
            f"SELECT count(*) FROM generate_series(1, 2000) AS i WHERE bf_maybe('{self.path}', -i)").replace("|", "\n").split()
        self.assertEqual(int(wrong), 0, f"of {rows} rows, --seed={ASKED.seed}")
        self.assertLess(int(false), 200, "the filter is still of use")

    def rows(self):
        return int(MAIN.ask("SELECT count(*) FROM kills"))

    def rounds(self, accident):
        for _ in range(ASKED.kills):
            enough = self.rows() + self.rng.randint(1, 300)
            writers = self.writers()
            engines.wait_until(lambda: self.rows() >= enough, "rows")
            engines.any_moment(self.rng, 0.02)
            accident()
            for writer in writers:
                engines.wait_until(lambda: writer.poll() is not None, "the end of a writer")
            self.check()
            if self.rows() > 50000:  # with what was rolled back the filter has twice as many keys
                self.begin_anew()

    def begin_anew(self):
        MAIN.ask("TRUNCATE kills", f"SELECT bf_attach('kills', 'key', '{self.path}', 200000)")

    def kill_a_backend(self):
        find = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO %'"
        engines.wait_until(lambda: MAIN.ask(find), "a writer")
        pids = MAIN.ask(find).split()
        kill(int(self.rng.choice(pids)))
        engines.wait_until(lambda: not set(map(int, pids)) & set(MAIN.pids()), "the other backends")

    def kill_the_server(self):
        MAIN.kill_all()
        MAIN.start()

    def test_a_killed_backend_leaves_no_row_without_its_key(self):
        self.rounds(self.kill_a_backend)

    def test_a_killed_server_leaves_no_row_without_its_key(self):
        self.rounds(self.kill_the_server)


class Kept(unittest.TestCase):
    """A table of 500 keys, and its filter."""

    number = 0

    def setUp(self):
        Kept.number += 1
        self.table, self.path = f"files{self.number}", MAIN.folder / f"files{self.number}.bf"
        MAIN.ask("CREATE EXTENSION IF NOT EXISTS bfstore",
                 f"CREATE TABLE {self.table} AS SELECT i::bigint AS key FROM generate_series(1, 500) AS i")
        self.attach()

    def attach(self, policy="error", cluster=None):
        (cluster or MAIN).ask(f"SELECT bf_attach('{self.table}', 'key', '{self.path}', 10000, 0.0001, '{policy}')")

    def insert(self, key):
        return f"INSERT INTO {self.table} VALUES ({key})"

    def wrong(self, cluster=None):
        return (cluster or MAIN).ask(f"SELECT count(*) FROM {self.table} WHERE NOT bf_maybe('{self.path}', key)")

    def believed(self, cluster=None):
        return (cluster or MAIN).ask(f"SELECT bf_maybe('{self.path}', -1)") == "f"

    def saved(self):
        run([*AS_USER, "cp", "--reflink=never", self.path, f"{self.path}.saved"])

    def put_back(self):
        run([*AS_USER, "mv", f"{self.path}.saved", self.path])

    def closed(self):
        """Waits until every backend that adds has ended, so that the file is clean."""
        engines.wait_until(lambda: not MAIN.backends(), "the end of the backends")

    def refused(self, statement):
        words = MAIN.refused(statement)
        self.assertIsNotNone(words, f"{statement} was not refused")
        return words


class Files(Kept):
    """Events of the file while the database does not look."""

    def test_an_older_copy_is_not_believed_and_takes_no_row(self):
        MAIN.ask(self.insert(1001))
        self.closed(), self.saved()
        MAIN.ask(self.insert(1002))
        self.closed()
        self.assertTrue(self.believed())
        self.put_back()
        self.assertEqual((self.wrong(), self.believed()), ("0", False))
        self.assertIn("older copy", self.refused(self.insert(1003)))
        self.attach()
        MAIN.ask(self.insert(1003))
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    WAYS_INTO_THE_FILE = ("cp --reflink=never {0}.saved {0}", "cat {0}.saved > {0}",
                          "dd if={0}.saved of={0} conv=notrunc status=none")

    def copied_before(self, key, policy="error"):
        """Makes a clean copy that lacks the key of a row, which another session adds."""
        self.attach(policy), self.closed(), self.saved()
        MAIN.ask(self.insert(key))
        self.closed()

    def test_an_older_copy_that_is_written_into_the_file_is_seen_by_sessions_that_have_it_open(self):
        """The file stays the same one for the kernel: open readers once answered "no", and open writers took rows."""
        ask = f"SELECT bf_maybe('{self.path}', -1), bf_maybe('{self.path}', 1001)"
        # A writer that closes the file after the copy was written into it poisons it.
        look = (f"\\! pid=$(psql -qAtX -c '{self.insert(1001)}' -c 'SELECT pg_backend_pid()'); "
                "while [ -d /proc/$pid ]; do sleep 0.01; done")
        for way in self.WAYS_INTO_THE_FILE:
            for looks_between in (True, False):
                with self.subTest(way, looks_between=looks_between):
                    MAIN.ask(f"DELETE FROM {self.table} WHERE key > 1000")
                    self.attach(), self.closed(), self.saved()
                    words = ["-c", ask, "-c", look, *(["-c", ask] if looks_between else []),
                             "-c", f"\\! {way.format(self.path)}", "-c", ask]
                    done = MAIN.psql(*words)
                    self.assertEqual(done.stdout.split(), ["f|f", *["f|t"] * looks_between, "t|t"], done.stderr)
                    self.assertIn("older copy", done.stderr)
                    self.assertIn("older copy", self.refused(self.insert(1002)))

    def test_an_older_copy_that_is_written_into_the_file_gets_no_row_and_no_mark_from_an_open_writer(self):
        """bf_sync once gave the copy a new mark, and every session believed it for good."""
        sync = f"SELECT bf_sync('{self.path}')"
        for way in self.WAYS_INTO_THE_FILE:
            way = way.format(self.path)
            in_one_statement = (f"DO $$ BEGIN {self.insert(1002)}; COPY out FROM PROGRAM '{way}'; "
                                f"PERFORM bf_sync('{self.path}'); END $$")
            for name, words in {"a row": ["-c", self.insert(1002), "-c", f"\\! {way}", "-c", self.insert(1003)],
                                "a sync": ["-c", self.insert(1002), "-c", f"\\! {way}", "-c", sync],
                                "in one statement": ["-c", "CREATE TEMP TABLE out (n int)", "-c", self.insert(1002),
                                                     "-c", in_one_statement]}.items():
                with self.subTest(name, way=way):
                    self.copied_before(1001)
                    done = MAIN.psql(*words)
                    self.assertNotEqual(done.returncode, 0, done.stderr)
                    # The session that looks first closes the file, and the library poisons the clean copy.
                    self.assertRegex(done.stderr, "older copy|a sync of this file did not end")
                    self.assertEqual((self.wrong(), self.believed()), ("0", False))
                    self.closed()
                    self.assertEqual((self.wrong(), self.believed()), ("0", False), "the writer has closed the file")

    def test_an_older_copy_that_is_written_into_the_file_is_seen_by_the_transaction_whose_rows_it_lacks(self):
        """No transaction ends meanwhile, and the rows of the open one are there."""
        ask = f"SELECT bf_maybe('{self.path}', 1001), bf_maybe('{self.path}', -1)"
        self.closed(), self.saved()
        done = MAIN.psql("-c", "BEGIN", "-c", ask, "-c", self.insert(1001), "-c", ask,
                         "-c", f"\\! {self.WAYS_INTO_THE_FILE[2].format(self.path)}", "-c", ask, "-c", "COMMIT", "-c", ask)
        self.assertEqual(done.stdout.split(), ["f|f", "t|f", "t|t", "t|t"], done.stderr)
        self.attach()
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        self.closed(), self.saved()
        done = MAIN.psql("-c", "BEGIN", "-c", f"SELECT bf_maybe('{self.path}', -1)", "-c", self.insert(1002),
                         "-c", f"\\! {self.WAYS_INTO_THE_FILE[2].format(self.path)}",
                         "-c", f"SELECT bf_maybe('{self.path}', 1002)")
        self.assertEqual(done.stdout.split(), ["f", "t"], done.stderr)

    def test_an_older_copy_that_is_written_into_the_file_costs_the_filter_with_the_policy_drop(self):
        self.copied_before(1001, "drop")
        done = MAIN.psql("-c", self.insert(1002), "-c", f"\\! {self.WAYS_INTO_THE_FILE[2].format(self.path)}",
                         "-c", self.insert(1003))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was dropped", done.stderr)
        self.assertEqual((self.wrong(), self.believed()), ("0", False))

    def test_a_copy_of_a_file_in_use_is_unclean_like_one_after_a_power_cut(self):
        with subprocess.Popen(["psql", "-qAtX", "-c", self.insert(1001), "-c", "SELECT pg_sleep(10000)"], env=MAIN.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as writer:
            engines.wait_until(lambda: MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key = 1001") == "1", "the row")
            self.saved()
            writer.kill()
        MAIN.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' "
                 "AND pid <> pg_backend_pid()")
        self.closed(), self.put_back()
        self.assertEqual((self.wrong(), self.believed()), ("0", False))
        self.refused(self.insert(1002))
        self.attach()
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_with_the_policy_drop_a_row_costs_the_filter_and_not_the_row(self):
        self.attach("drop")
        reader = f"SELECT bf_maybe('{self.path}', -1), bf_maybe('{self.path}', 1002)"
        self.closed(), self.saved()
        MAIN.ask(self.insert(1001))
        self.closed(), self.put_back()
        done = MAIN.psql("-c", reader, "-c", self.insert(1002), "-c", reader)
        self.assertEqual(done.stdout.split(), ["t|t", "t|t"], done.stderr)
        self.assertIn("was dropped", done.stderr)
        MAIN.ask(self.insert(1003))
        self.assertEqual((self.wrong(), self.believed()), ("0", False))
        self.attach("drop")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_the_policy_drop_reaches_readers_that_have_the_good_file_open(self):
        self.attach("drop")
        done = MAIN.psql("-c", f"SELECT bf_maybe('{self.path}', 5000)", "-c", f"\\! chmod 444 {self.path}",
                         "-c", f"\\! psql -qAtX -c '{self.insert(5000)}'", "-c", f"SELECT bf_maybe('{self.path}', 5000)")
        self.assertEqual((done.stdout.split(), self.wrong()), (["f", "t"], "0"), done.stderr)
        self.assertIn("was dropped", done.stderr)

    def test_a_file_that_is_removed_replaced_or_cut_is_noticed_in_the_next_statement(self):
        ask = f"SELECT bf_maybe('{self.path}', -1)"
        for accident in (f"rm {self.path}", f"truncate -s 5000 {self.path}", f"cp /etc/passwd {self.path}"):
            self.attach()
            done = MAIN.psql("-c", ask, "-c", f"\\! {accident}", "-c", ask, "-c", "SELECT 'alive'")
            self.assertEqual(done.stdout.split(), ["f", "t", "alive"], f"{accident}: {done.stderr}")
            self.refused(self.insert(1))

    def test_an_opening_of_a_prepared_transaction_does_not_count_before_it_commits(self):
        MAIN.ask("BEGIN", self.insert(1001), "PREPARE TRANSACTION 'late'", self.insert(1002))
        openings = f"SELECT count(*) FROM bfstore.opened WHERE path = '{self.path}' AND file_id IS NULL"
        self.assertEqual(MAIN.ask(openings), "1", "of the row that was committed")
        MAIN.ask("COMMIT PREPARED 'late'")
        self.assertEqual((MAIN.ask(openings), self.wrong()), ("2", "0"))

    def test_an_older_copy_is_not_believed_while_a_transaction_that_opened_the_file_is_under_way(self):
        """Readers and writers once did not see the copy's opening and used it as the file. Then a mark of theirs hid it for good."""
        self.closed(), self.saved()
        MAIN.ask("BEGIN", self.insert(1001), "PREPARE TRANSACTION 'under way'")
        self.closed(), self.put_back()
        done = MAIN.psql("-c", f"SELECT bf_maybe('{self.path}', -1)", "-c", "\\! psql -qAtX -c \"COMMIT PREPARED 'under way'\"",
                         "-c", f"SELECT bf_maybe('{self.path}', 1001)")
        self.assertEqual(done.stdout.split(), ["t", "t"], done.stderr)
        self.attach(), self.closed(), self.saved()
        MAIN.ask("BEGIN", self.insert(1002), "PREPARE TRANSACTION 'under way'")
        self.closed(), self.put_back()
        self.assertIn("older copy", self.refused(self.insert(1003)))
        MAIN.ask("COMMIT PREPARED 'under way'")
        self.assertEqual((self.wrong(), self.believed()), ("0", False))

    def test_an_argument_that_is_null_is_refused_and_ends_no_backend(self):
        for call in ("bf_build('/nowhere/x.bf', NULL)", "bf_build(NULL, 'SELECT 1')", "bf_add(NULL, 1)", "bf_count(NULL, 1)",
                     "bf_build('/nowhere/x.bf', 'SELECT 1', NULL, NULL)", "bf_remove(NULL, 1, '3'::xid8)",
                     f"bf_attach('{self.table}', 'key', NULL)"):
            with self.subTest(call):
                self.assertIn("is null", self.refused(f"SELECT {call}"))

    def test_a_query_without_a_column_is_refused(self):
        """The first column of such a table was once read all the same."""
        MAIN.ask("CREATE TABLE nothing ()", "INSERT INTO nothing DEFAULT VALUES")
        for query in ("SELECT", f"SELECT FROM {self.table}", "TABLE nothing"):
            with self.subTest(query):
                for capacity in ("", ", 100"):
                    words = self.refused(f"SELECT bf_build('{self.path}.none', '{query}'{capacity})")
                    self.assertIn("the query has no column", words)
        self.assertFalse(pathlib.Path(f"{self.path}.none").exists())

    def test_a_path_that_is_too_long_is_not_cut(self):
        path = f"{MAIN.folder}{'/' * (1023 - len(str(MAIN.folder)) - len('cut.bf'))}cut.bf"
        MAIN.ask(f"SELECT bf_create('{path}', 1000)")
        done = MAIN.psql("-c", f"SELECT bf_maybe('{path}', -1), bf_maybe('{path}x', -1)")
        self.assertEqual(done.stdout.split(), ["f|t"], done.stderr)
        self.assertIn("too long", done.stderr)

    def inserting(self, first, meanwhile, second):
        """Adds two rows in one DO. `meanwhile` happens between their commits, when the DO holds no lock."""
        MAIN.ask(f"CREATE TABLE go_{self.table} ()")
        statement = (f"DO $$ BEGIN {self.insert(first)}; COMMIT; WHILE NOT EXISTS (SELECT FROM go_{self.table}) LOOP "
                     f"PERFORM pg_sleep(0.01); END LOOP; {self.insert(second)}; COMMIT; END $$")
        with subprocess.Popen(["psql", "-qAtX", "-c", statement], env=MAIN.environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as writer:
            engines.wait_until(lambda: MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key = {first}") == "1", "a row")
            meanwhile()
            MAIN.ask(f"INSERT INTO go_{self.table} DEFAULT VALUES")
            words = engines.finished(writer, "a writer")[1]
        self.assertEqual(writer.returncode, 0, words)
        return words

    def test_rows_that_one_statement_adds_after_a_commit_reach_the_file_that_was_built_meanwhile(self):
        self.attach("drop")
        self.closed(), self.saved()
        MAIN.ask(self.insert(1001))
        self.closed(), self.put_back()
        self.assertIn("was dropped", self.inserting(1002, lambda: self.attach("drop"), 1003))
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_rows_that_one_statement_adds_after_a_commit_do_not_go_to_a_file_that_was_removed(self):
        def meanwhile():
            pathlib.Path(self.path).unlink()
            self.attach()
        self.inserting(1001, meanwhile, 1002)
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_key_of_another_type_than_the_column_is_maybe(self):
        values = {"bigint": ("'5'", "-1"), "uuid": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'" + "1" * 32 + "'::uuid"),
                  "bytea": ("'\\x3500'", "'\\x3501'::bytea"), "text": ("'5'", "'absent'"), "char(5)": ("'5  '", "'absent  '")}
        for kind, (present, absent) in values.items():
            with self.subTest(kind):
                path = f"{self.path}.{kind[:4]}"
                MAIN.ask("DROP TABLE IF EXISTS typed", f"CREATE TABLE typed (id {kind})", f"INSERT INTO typed VALUES ({present})",
                         f"SELECT bf_attach('typed', 'id', '{path}')")
                done = MAIN.psql("-c", f"SELECT count(*) FROM typed WHERE id = {present} AND bf_maybe('{path}', {present})",
                                 "-c", f"SELECT bf_maybe('{path}', {absent})")
                self.assertEqual(done.stdout.split(), ["1", "f"], done.stderr)
                self.assertNotIn("WARNING", done.stderr, "an untyped literal has the column's type")
                done = MAIN.psql("-c", f"SELECT bf_maybe('{path}', 'absent'::text)")
                self.assertEqual(done.stdout.split(), ["t" if kind in ("bigint", "uuid", "bytea") else "f"], done.stderr)
                self.assertEqual("another type" in done.stderr, kind in ("bigint", "uuid", "bytea"), done.stderr)
        MAIN.ask(f"SELECT bf_build('{self.path}.count', 'SELECT ''5''::text', layout => 'counting')")
        self.assertEqual(MAIN.ask(f"SELECT bf_count('{self.path}.count', '5'), bf_count('{self.path}.count', 5)"), "1|15")

    def test_a_build_does_not_hold_every_key_in_memory(self):
        MAIN.ask("CREATE TABLE long (key text)", "INSERT INTO long SELECT repeat('x', 1000000)")
        status = MAIN.ask(f"SELECT bf_build('{self.path}.long', 'SELECT key FROM long, generate_series(1, 200)') = 200",
                          "SELECT pg_read_file('/proc/self/status')")
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]), 100000, "of 200 MB")

    def test_another_column_of_the_same_name_takes_no_row(self):
        MAIN.ask(f"ALTER TABLE {self.table} DROP COLUMN key, ADD COLUMN key bigint DEFAULT 7000")
        self.assertIn("another column", self.refused(self.insert(1001)))
        self.attach()
        MAIN.ask(self.insert(1001))
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_column_that_is_renamed_takes_no_row_until_the_filter_is_built_or_detached(self):
        other = f"{self.table}_other"
        MAIN.ask(f"CREATE TABLE {other} (key bigint, id bigint)", f"SELECT bf_attach('{other}', 'key', '{self.path}.key')",
                 f"SELECT bf_attach('{other}', 'id', '{self.path}.id')", f"ALTER TABLE {other} RENAME key TO x",
                 f"ALTER TABLE {other} RENAME id TO key", f"ALTER TABLE {other} RENAME x TO id")
        insert = f"INSERT INTO {other} VALUES (5, 6)"
        self.assertIn("bf_attach", self.refused(insert))
        MAIN.ask(f"SELECT bf_attach('{other}', 'key', '{self.path}.key')", f"SELECT bf_attach('{other}', 'id', '{self.path}.id')",
                 insert)
        self.assertEqual(MAIN.ask("SELECT " + ", ".join(f"bf_maybe('{self.path}.{name}', {key})" for name in ("key", "id")
                                                        for key in (5, 6))), "f|t|t|f")
        for name in ("new", "old"):
            with self.subTest(f"detached by its {name} name"):
                MAIN.ask(f"ALTER TABLE {other} RENAME key TO new")
                self.assertIn("bf_attach", self.refused(insert))
                MAIN.ask(f"SELECT bf_detach('{other}', '{'key' if name == 'old' else 'new'}')", insert,
                         f"ALTER TABLE {other} RENAME new TO key", f"SELECT bf_attach('{other}', 'key', '{self.path}.key')")

    def test_another_database_believes_the_file_only_when_told(self):
        MAIN.ask("CREATE DATABASE other")
        ask = f"SELECT bf_maybe('{self.path}', -1), bf_maybe('{self.path}', 1)"
        done = MAIN.psql("-d", "other", "-c", "CREATE EXTENSION bfstore", "-c", ask,
                         "-c", "SET bfstore.trust_other_databases = on", "-c", "SELECT pg_sleep(0.01)")
        self.assertEqual(done.stdout.split(), ["t|t"], done.stderr)
        done = MAIN.psql("-d", "other", "-c", "SET bfstore.trust_other_databases = on", "-c", ask,
                         "-c", "RESET bfstore.trust_other_databases", "-c", ask)
        self.assertEqual(done.stdout.split(), ["f|t", "t|t"], done.stderr)
        done = MAIN.psql("-d", "other", "-c", "CREATE TABLE t (key bigint)", "-c", "CREATE TRIGGER t AFTER INSERT ON t "
                         f"FOR EACH ROW EXECUTE FUNCTION bf_keep('{self.path}', 'key', '20', 'drop', '1')",
                         "-c", "INSERT INTO t VALUES (1)")
        self.assertIn("another database", done.stderr)
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_standby_says_maybe_and_so_does_the_server_that_it_becomes(self):
        self.closed()
        MAIN.ask(self.insert(1001))
        base = FOLDER / "base"
        run(["pg_basebackup", "-D", base, "-X", "stream", "-c", "fast", "-R", "--no-sync"], env=MAIN.environment)
        if AS_USER:
            run(["chown", "-R", "nobody:nogroup", base])
        standby = Cluster(INSTALLATION, FOLDER / "standby", base).start()
        MAIN.ask(self.insert(1002))
        engines.wait_until(lambda: standby.ask(f"SELECT count(*) FROM {self.table}") == "502", "the standby")
        self.assertEqual((self.wrong(standby), self.believed(standby), self.believed()), ("0", False, True))
        told = standby.ask("SET bfstore.trust_on_standby = on", f"SELECT bf_maybe('{self.path}', -1)",
                           f"SELECT count(*) FROM {self.table} WHERE NOT bf_maybe('{self.path}', key)")
        self.assertEqual(told.split(), ["f", "0"], "on one machine a standby shares the file")
        trusting = standby.psql("-c", "SET bfstore.trust_on_standby = on", "-c", f"SELECT bf_maybe('{self.path}', -1)",
                                "-c", "SELECT pg_promote(true, 10000)", "-c", f"SELECT bf_maybe('{self.path}', -1)")
        self.assertEqual(trusting.stdout.split(), ["f", "t", "t"], "a session that lives through the promotion")
        self.assertIn("another database keeps", trusting.stderr)
        self.assertEqual((self.wrong(standby), self.believed(standby)), ("0", False))
        self.assertIn("another database keeps", standby.refused(self.insert(1003)) or "")
        attach = f"SELECT bf_attach('{self.table}', 'key', '{self.path}')"
        self.assertIn(f"{MAIN.data}", standby.refused(attach) or "", "the old primary may still run")
        self.assertTrue(self.believed())
        pathlib.Path(self.path).unlink()
        self.attach(cluster=standby)
        self.assertEqual((self.wrong(standby), self.believed(standby)), ("0", True))
        self.assertEqual((self.wrong(), self.believed()), ("0", False), "the file is the other server's now")
        standby.stop()


class Behind(Kept):
    """Events of the table, or of its description, of which the filter learns nothing."""

    ROW = -77  # a key that no build has seen

    def setUp(self):
        super().setUp()
        self.past = f"INSERT INTO {self.table} VALUES ({self.ROW})"

    def health(self):
        return MAIN.ask(f"SELECT health FROM bf_info('{self.path}')")

    def trigger(self, how, which="ALL"):
        return f"ALTER TABLE {self.table} {how} TRIGGER {which}"

    def always(self):
        return ", ".join(f'ENABLE ALWAYS TRIGGER "~bfstore {moment} 1"' for moment in ("before", "after"))

    def both_always(self):
        return f"ALTER TABLE {self.table} {self.always()}"

    def check_doubt(self, words, table=None):
        """Checks that every answer is "maybe", that the warning and bf_info say why, and that a build ends it."""
        done = MAIN.psql("-c", f"SELECT bf_maybe('{self.path}', -1), bf_maybe('{self.path}', -2)")
        self.assertEqual(done.stdout.split(), ["t|t"], done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("WARNING"), 1, "once in a statement")
        self.assertIn(words, self.health())
        table = table or self.table
        self.assertEqual(MAIN.ask(f"SELECT count(*) FROM {table} WHERE NOT bf_maybe('{self.path}', key)"), "0")

    def check_build(self):
        self.attach()
        self.assertEqual((self.wrong(), self.believed(), self.health()), ("0", True, "BFS_OK"))

    def test_a_row_that_came_while_the_triggers_were_disabled_is_maybe_when_they_are_enabled_again(self):
        """pg_restore --data-only --disable-triggers does the first."""
        ways = {"pg_restore's": [self.trigger("DISABLE"), self.past, self.trigger("ENABLE")],
                "again ALWAYS": [self.trigger("DISABLE"), self.past, self.trigger("ENABLE"), self.both_always()],
                "never another state after the commit": ["BEGIN",
                                                         self.trigger("DISABLE", "USER"), self.past, self.both_always(),
                                                         "COMMIT"],
                "a savepoint": ["BEGIN", "SAVEPOINT a", self.trigger("DISABLE"), self.past, self.both_always(), "RELEASE a",
                                "COMMIT"],
                "each trigger alone": [self.trigger("DISABLE", '"~bfstore before 1"'),
                                       self.trigger("DISABLE", '"~bfstore after 1"'), self.past, self.both_always()],
                "the system's table": ["UPDATE pg_trigger SET tgenabled = 'D' WHERE tgname LIKE '~bfstore%'", self.past,
                                       "UPDATE pg_trigger SET tgenabled = 'A' WHERE tgname LIKE '~bfstore%'"]}
        for name, statements in ways.items():
            with self.subTest(name):
                self.assertTrue(self.believed())
                MAIN.ask(*statements)
                self.check_doubt("ENABLE ALWAYS" if name == "pg_restore's" else "altered")
                for command in (f"VACUUM FREEZE {self.table}", "VACUUM FREEZE pg_trigger", "VACUUM FULL pg_trigger"):
                    MAIN.ask(command)
                self.check_doubt("ENABLE ALWAYS" if name == "pg_restore's" else "altered")
                MAIN.ask(f"DELETE FROM {self.table} WHERE key = {self.ROW}")
                self.check_build()

    def test_pg_restore_without_triggers(self):
        dump = MAIN.folder / "data.dump"
        run([BIN / "pg_dump", "--data-only", "-Fc", "-t", self.table, "-f", dump], env=MAIN.environment)
        MAIN.ask(f"TRUNCATE {self.table}")
        self.attach()
        run([BIN / "pg_restore", "--data-only", "--disable-triggers", "-d", "postgres", dump], env=MAIN.environment)
        self.assertEqual(MAIN.ask(f"SELECT count(*) FROM {self.table}"), "500")
        self.check_doubt("ENABLE ALWAYS")
        self.check_build()

    def test_a_row_that_came_past_the_triggers_in_the_transaction_that_built_the_file_is_maybe(self):
        attach = f"SELECT bf_attach('{self.table}', 'key', '{self.path}', 10000, 0.0001)"
        MAIN.ask("BEGIN", attach, self.trigger("DISABLE"), self.past, self.both_always(), "COMMIT")
        self.check_doubt("altered")
        self.check_build()

    def test_triggers_that_enable_trigger_left_without_always_are_seen_before_a_replica_adds_a_row(self):
        for which in ("ALL", "USER"):
            with self.subTest(which):
                MAIN.ask(self.trigger("ENABLE", which), "SET session_replication_role = replica", self.past)
                self.check_doubt("ENABLE ALWAYS")
                self.check_build()

    def test_a_replica_adds_rows_with_their_keys(self):
        MAIN.ask("SET session_replication_role = replica", self.past)
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_subscription_adds_rows_with_their_keys_and_not_when_its_triggers_are_not_always(self):
        MAIN.ask("CREATE DATABASE publisher")
        table = f"CREATE TABLE {self.table} AS SELECT i::bigint AS key FROM generate_series(1001, 1005) AS i"
        ask = ["-d", "publisher", "-c", table, "-c", f"ALTER TABLE {self.table} REPLICA IDENTITY FULL",
               "-c", "CREATE PUBLICATION p FOR ALL TABLES", "-c", "SELECT pg_create_logical_replication_slot('s', 'pgoutput')"]
        self.assertEqual(MAIN.psql(*ask).returncode, 0)
        MAIN.ask(f"CREATE SUBSCRIPTION s CONNECTION 'host={MAIN.folder} port={MAIN.port} dbname=publisher user=postgres' "
                 "PUBLICATION p WITH (create_slot = false)")
        rows = f"SELECT count(*) FROM {self.table} WHERE key > 1000"

        def insert(key):
            self.assertEqual(MAIN.psql("-d", "publisher", "-c", self.insert(key)).returncode, 0)
        try:
            engines.wait_until(lambda: MAIN.ask(rows) == "5", "the first copy")
            insert(1006)
            engines.wait_until(lambda: MAIN.ask(rows) == "6", "a row")
            self.assertEqual((self.wrong(), self.believed()), ("0", True))
            MAIN.ask(self.trigger("ENABLE"))
            insert(1007)
            engines.wait_until(lambda: MAIN.ask(rows) == "7", "another row")
            self.check_doubt("ENABLE ALWAYS")
        finally:
            MAIN.ask("DROP SUBSCRIPTION s")
        self.check_build()

    def test_a_publication_of_all_tables_has_the_registry_and_no_database_counts_the_rows_of_another(self):
        """Rows without a replica identity cannot be deleted, so bf_attach, bf_sync and bf_detach once failed on the publisher. On
        the subscriber a path that both use had two files, and openings that its file did not know."""
        def database(name):
            MAIN.ask(f"CREATE DATABASE {name}")

            def ask(*statements):
                done = MAIN.psql("-d", name, *[word for each in statements for word in ("-c", each)])
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout.strip()
            ask("CREATE EXTENSION bfstore", "CREATE TABLE t (key bigint PRIMARY KEY)")
            return ask
        near, far = database("all_tables"), database("all_subscribed")
        path, other = f"{self.path}.both", f"{self.path}.near"
        attach = "SELECT bf_attach('t', 'key', '{}')"
        near("CREATE PUBLICATION p FOR ALL TABLES", attach.format(path), "INSERT INTO t VALUES (1)",
             f"SELECT bf_sync('{path}') IS NULL", attach.format(path),
             "SELECT pg_create_logical_replication_slot('all', 'pgoutput')")
        pathlib.Path(path).unlink()
        far(attach.format(path), f"CREATE SUBSCRIPTION all_tables CONNECTION 'host={MAIN.folder} port={MAIN.port} "
            "dbname=all_tables user=postgres' PUBLICATION p WITH (create_slot = false, slot_name = 'all')")
        rows = "SELECT count(*) FROM bfstore.opened WHERE path = '{}'"
        good = f"SELECT bf_maybe('{path}', -1), (SELECT count(*) FROM t WHERE NOT bf_maybe('{path}', key))"

        def wait_for(number, words):
            engines.wait_until(lambda: far(words) == str(number), f"{number} of {words}")
        try:
            wait_for(1, "SELECT count(*) FROM t")
            engines.wait_until(lambda: int(far(rows.format(path))) > 2, "the publisher's rows of the path")
            self.assertEqual(far(good), "f|0")
            near("SELECT bf_detach('t', 'key')", attach.format(other), "INSERT INTO t VALUES (2)", f"SELECT bf_sync('{other}')")
            wait_for(2, "SELECT count(*) FROM t")
            wait_for(2, rows.format(other))
            self.assertEqual(far(good), "f|0")
            near("SELECT bf_detach('t', 'key')", "INSERT INTO t VALUES (3)")
            wait_for(3, "SELECT count(*) FROM t")
            wait_for(0, rows.format(other))
            far("INSERT INTO t VALUES (1000)", f"SELECT bf_sync('{path}')", attach.format(path), "INSERT INTO t VALUES (1001)")
            self.assertEqual(far(good), "f|0")
        finally:
            far("DROP SUBSCRIPTION all_tables")

    def test_a_role_without_the_table_does_not_build_its_filter(self):
        """bf_attach calls bfstore.build with the rows of the table; another caller has other rows."""
        role, own = f"writer_{self.table}", f"own_{self.table}"
        MAIN.ask(f"CREATE ROLE {role} LOGIN IN ROLE pg_write_server_files, pg_read_server_files",
                 f"GRANT CREATE ON SCHEMA public TO {role}", f"GRANT ALL ON {self.table} TO {role}")

        def refused(*statements):
            done = MAIN.psql("-U", role, *[word for each in statements for word in ("-c", each)])
            self.assertNotEqual(done.returncode, 0, statements)
            self.assertEqual((self.wrong(), self.believed()), ("0", True), statements)
            return done.stderr
        build = f"SELECT bfstore.build('{self.path}', 'SELECT 1::bigint', 10, 0.01, 'blocked', '{{}}', 1::smallint)"
        self.assertIn("must be owner", refused(build.format(self.table)))
        self.assertIn("must be owner", refused(f"SELECT bf_attach('{self.table}', 'key', '{self.path}')"))
        self.assertIn("must be owner", refused(f"SELECT bf_detach('{self.table}', 'key')"))
        attach = f"SELECT bf_attach('{own}', 'key', '{self.path}.own')"
        self.assertIn("is the filter of", refused(f"CREATE TABLE {own} (key bigint)", attach, build.format(own)))
        self.assertIn("another column", refused(f"SELECT bf_attach('{own}', 'key', '{self.path}')"))
        self.assertIn("is the filter of", refused(f"SELECT bf_build('{self.path}', 'SELECT 1')"))
        done = MAIN.psql("-U", role, "-c", f"INSERT INTO {own} VALUES (1)", "-c", attach,
                         "-c", f"SELECT bf_maybe('{self.path}.own', 1), bf_maybe('{self.path}.own', 2)")
        self.assertEqual(done.stdout.split(), ["1", "t|f"], done.stderr)

    def test_triggers_that_are_gone_renamed_or_other_ones_are_seen(self):
        for statement in (f'DROP TRIGGER "~bfstore after 1" ON {self.table}',
                          f'DROP TRIGGER "~bfstore before 1" ON {self.table}',
                          f'ALTER TRIGGER "~bfstore before 1" ON {self.table} RENAME TO other',
                          f'UPDATE pg_class SET relhastriggers = false WHERE oid = \'{self.table}\'::regclass'):
            with self.subTest(statement):
                MAIN.ask(statement, self.past)
                self.check_doubt("not both triggers")
                MAIN.ask(f"DELETE FROM {self.table} WHERE key = {self.ROW}",
                         f"UPDATE pg_class SET relhastriggers = true WHERE oid = '{self.table}'::regclass",
                         f'DROP TRIGGER IF EXISTS other ON {self.table}')
                self.check_build()
        arguments = f"'{self.path}', 'key', '20', 'error', '1'"
        MAIN.ask(f'CREATE OR REPLACE TRIGGER "~bfstore before 1" BEFORE INSERT ON {self.table} FOR EACH ROW WHEN (false) '
                 f"EXECUTE FUNCTION bf_keep({arguments})", self.both_always())
        self.check_doubt("altered")

    def test_values_that_alter_column_type_makes_are_maybe(self):
        other = f"ALTER TABLE {self.table} ALTER COLUMN key TYPE "
        MAIN.ask(other + "bigint USING key + 5000")
        self.check_doubt("written anew")
        self.check_build()
        MAIN.ask(other + "text USING 'x' || key", other + "bigint USING substr(key, 2)::bigint + 90000")
        self.check_doubt("written anew")
        self.check_build()
        MAIN.ask("BEGIN", other + "bigint USING key - 1", "ROLLBACK")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        MAIN.ask(other + "int")
        self.check_doubt("another type")

    def test_values_that_alter_column_type_makes_in_the_transaction_that_built_the_file_are_maybe(self):
        """The column's row in the catalog has the number of that transaction before and after."""
        attach = f"SELECT bf_attach('{self.table}', 'key', '{self.path}', 10000, 0.0001)"
        alter = f"ALTER TABLE {self.table} ALTER COLUMN key"
        other = f"{alter} TYPE bigint USING key + 5000"
        create = [f"DROP TABLE {self.table}",
                  f"CREATE TABLE {self.table} AS SELECT i::bigint AS key FROM generate_series(1, 9) AS i"]
        ways = {"a new table": [*create, attach, other], "a savepoint": [*create, "SAVEPOINT a", attach, "RELEASE a", other],
                "a column that was altered": [f"{alter} SET NOT NULL", attach, other],
                "built twice": [f"{alter} DROP NOT NULL", attach, attach, other],
                "another type and back": [*create, attach, f"{alter} TYPE text", f"{alter} TYPE bigint USING key::bigint + 700"]}
        for name, statements in ways.items():
            with self.subTest(name):
                MAIN.ask("BEGIN", *statements, "COMMIT")
                self.check_doubt("written anew")
                self.check_build()
        MAIN.ask("BEGIN", *create, attach, "COMMIT", f"{alter} SET STATISTICS 77", f"VACUUM FULL {self.table}")
        self.check_doubt("written anew")
        MAIN.ask("BEGIN", *create, f"{alter} SET STATISTICS 77", attach, "COMMIT", f"VACUUM FULL {self.table}")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        target = f"SELECT attstattarget FROM pg_attribute WHERE attrelid = '{self.table}'::regclass AND attname = 'key'"
        self.assertEqual(MAIN.ask(target), "77", "bf_attach leaves it as it is")

    def test_a_column_of_another_collation_is_maybe(self):
        MAIN.ask("CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                 f"ALTER TABLE {self.table} ALTER COLUMN key TYPE text")
        self.attach()
        MAIN.ask(f"ALTER TABLE {self.table} ALTER COLUMN key TYPE text COLLATE nocase")
        self.check_doubt("another collation")
        MAIN.ask(f"ALTER TABLE {self.table} ALTER COLUMN key TYPE text COLLATE \"default\"")
        absent = MAIN.ask(f"SELECT bf_maybe('{self.path}', 'absent')")
        self.assertEqual((self.wrong(), absent), ("0", "f"), "no row was written")

    def test_a_table_a_column_or_a_schema_that_has_the_name_of_the_kept_one_is_maybe(self):
        swap = [f"ALTER TABLE {self.table} RENAME TO {self.table}_old",
                f"CREATE TABLE {self.table} AS SELECT -5::bigint AS key"]
        MAIN.ask(*swap)
        self.check_doubt("renamed")
        MAIN.ask(f"DROP TABLE {self.table}", f"ALTER TABLE {self.table}_old RENAME TO {self.table}")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        MAIN.ask(f"ALTER TABLE {self.table} RENAME key TO old", f"ALTER TABLE {self.table} ADD COLUMN key bigint DEFAULT 5000")
        self.check_doubt("renamed")
        MAIN.ask(f"ALTER TABLE {self.table} DROP COLUMN key", f"ALTER TABLE {self.table} RENAME old TO key")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        MAIN.ask("CREATE SCHEMA one", "CREATE SCHEMA two", f"ALTER TABLE {self.table} SET SCHEMA one",
                 f"CREATE TABLE two.{self.table} AS SELECT -6::bigint AS key")
        MAIN.ask(f"SELECT bf_attach('one.{self.table}', 'key', '{self.path}')")
        MAIN.ask("ALTER SCHEMA one RENAME TO three", "ALTER SCHEMA two RENAME TO one")
        self.check_doubt("renamed", f"one.{self.table}")
        MAIN.ask("DROP SCHEMA one, three CASCADE")
        self.assertFalse(self.believed())
        self.assertIn("gone", self.health())

    def test_a_table_that_was_dropped_and_made_again_is_maybe(self):
        MAIN.ask(f"DROP TABLE {self.table}", f"CREATE TABLE {self.table} AS SELECT {self.ROW}::bigint AS key")
        self.check_doubt("gone")
        MAIN.ask(f"ALTER TABLE {self.table} DROP COLUMN key, ADD COLUMN key bigint")
        self.attach()
        MAIN.ask(f"ALTER TABLE {self.table} DROP COLUMN key, ADD COLUMN key bigint DEFAULT {self.ROW}")
        self.check_doubt("gone")

    def test_rows_of_children_are_maybe(self):
        MAIN.ask(f"CREATE TABLE {self.table}_child (key bigint)", f"INSERT INTO {self.table}_child VALUES ({self.ROW})",
                 f"ALTER TABLE {self.table}_child INHERIT {self.table}")
        self.check_doubt("inherit")
        MAIN.ask(f"DROP TABLE {self.table}_child", f"ANALYZE {self.table}")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_partition_gets_the_keys_of_rows_that_its_parent_routes_to_it(self):
        MAIN.ask(f"CREATE TABLE {self.table}_whole (key bigint) PARTITION BY RANGE (key)",
                 f"CREATE TABLE {self.table}_rest PARTITION OF {self.table}_whole DEFAULT",
                 f"ALTER TABLE {self.table}_whole ATTACH PARTITION {self.table} FOR VALUES FROM (0) TO (100000)",
                 f"INSERT INTO {self.table}_whole VALUES (2000), (-3000)",
                 f"UPDATE {self.table}_whole SET key = 3000 WHERE key = -3000")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))
        self.assertEqual(MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key >= 2000"), "2")

    def test_a_copy_of_the_table_leaves_the_filter_as_it_is(self):
        MAIN.ask(f"CREATE TABLE {self.table}_like (LIKE {self.table} INCLUDING ALL)",
                 f"INSERT INTO {self.table}_like VALUES (-1)", f"CREATE TABLE {self.table}_as AS TABLE {self.table}")
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_what_changes_no_value_leaves_the_filter_as_it_is(self):
        harmless = ["VACUUM FREEZE {}", "VACUUM FULL {}", "ANALYZE {}",
                    "ALTER TABLE {} ADD COLUMN more int DEFAULT random() * 10", "DELETE FROM {} WHERE key IS NULL",
                    "ALTER TABLE {} ALTER COLUMN key SET NOT NULL", "ALTER TABLE {} ADD PRIMARY KEY (key)",
                    "ALTER TABLE {} ALTER COLUMN key SET STATISTICS 50", "GRANT SELECT ON {} TO PUBLIC", "REINDEX TABLE {}",
                    "ALTER TABLE {} SET (fillfactor = 90)", "ALTER TABLE {} REPLICA IDENTITY FULL", "VACUUM FULL pg_trigger",
                    "VACUUM FREEZE pg_trigger", "CREATE INDEX ON {} (key)", "CREATE RULE r AS ON UPDATE TO {} DO ALSO SELECT 1",
                    "ALTER TABLE {} ENABLE ROW LEVEL SECURITY", "TRUNCATE {}", "INSERT INTO {} VALUES (4000), (4001)"]
        for statement in harmless[:5]:
            MAIN.ask(statement.format(self.table))
            self.assertEqual((self.wrong(), self.believed()), ("0", True), statement)
        self.attach()  # a column that was altered, and a table that was written anew: taken for ALTER TYPE
        for statement in harmless[5:]:
            MAIN.ask(statement.format(self.table))
            if statement.startswith("TRUNCATE"):
                self.attach()
            self.assertEqual((self.wrong(), self.believed()), ("0", True), statement)
        MAIN.ask("BEGIN", self.trigger("DISABLE"), "ROLLBACK")
        self.assertEqual((self.wrong(), self.believed()), ("0", True), "a command that was rolled back")

    def test_bf_info_has_the_limits_that_no_lookup_can_see(self):
        facts = f"SELECT answers_for, unseen FROM bf_info('{self.path}')"
        words = (rf"^public\.{self.table}\.key, compared as bigint\|.*search_path.*type or collation.*pg_surgery.*bf_keep is replaced"
                 ".*FOR UPDATE.*while a session added")
        self.assertRegex(MAIN.ask(facts), words)
        MAIN.ask(f"SELECT bf_build('{self.path}.q', 'SELECT 1')", f"SELECT bf_create('{self.path}.p', 10)")
        self.assertIn("since the build", MAIN.ask(f"SELECT unseen FROM bf_info('{self.path}.q')"))
        self.assertIn("a plain file", MAIN.ask(f"SELECT unseen FROM bf_info('{self.path}.p')"))

    # --- Snapshots

    def session(self, *words):
        done = MAIN.psql(*[word for each in words for word in ("-c", each)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def elsewhere(self, *statements):
        quoted = " ".join(f"-c '{statement}'" for statement in statements)
        self.assertNotIn("'", "".join(statements))
        return f"\\! psql -qAtX {quoted}"

    def test_rows_that_an_old_snapshot_sees_though_they_came_later_are_maybe(self):
        """Every snapshot sees the rows of COPY FREEZE, and those of children. The triggers as of that snapshot were good."""
        count = f"SELECT count(*) FROM {self.table}"
        look = [count, f"{count} WHERE NOT bf_maybe('{self.path}', key)"]
        begin = ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 'began'", f"SELECT bf_maybe('{self.path}', {self.ROW})"]
        (MAIN.folder / "frozen").write_text(f"{self.ROW}\n", encoding="utf-8")
        frozen = self.elsewhere("BEGIN", f"TRUNCATE {self.table}", self.trigger("DISABLE"),
                                f"COPY {self.table} FROM $${MAIN.folder}/frozen$$ WITH (FREEZE)", self.both_always(), "COMMIT")
        self.assertEqual(self.session(*begin, frozen, *look, "COMMIT"), ["began", "f", "1", "0"])
        MAIN.ask(f"TRUNCATE {self.table}")
        self.check_build()
        MAIN.ask(f"CREATE TABLE {self.table}_child AS SELECT {self.ROW}::bigint AS key")
        child = self.elsewhere(f"ALTER TABLE {self.table}_child INHERIT {self.table}")
        self.assertEqual(self.session(*begin, child, *look, "COMMIT"), ["began", "f", "1", "0"])

    def watched(self, meanwhile):
        """Asks in one DO until it sees the row, whatever happened to the file or the table before that row came."""
        go = f"go_{self.table}"
        MAIN.ask(f"DROP TABLE IF EXISTS {go}", f"CREATE TABLE {go} (n int)", f"INSERT INTO {go} VALUES (0)")
        statement = ("DO $$ DECLARE rows int; found int; BEGIN "
                     f"SELECT count(*) INTO rows FROM {self.table} WHERE bf_maybe('{self.path}', {self.ROW}); "
                     "PERFORM pg_advisory_lock(77); "
                     f"WHILE NOT EXISTS (SELECT FROM {go} WHERE n = 1) LOOP PERFORM pg_sleep(0.01); END LOOP; "
                     f"SELECT count(*), count(*) FILTER (WHERE bf_maybe('{self.path}', key)) INTO rows, found "
                     f"FROM {self.table} WHERE key = {self.ROW}; "
                     "RAISE NOTICE 'rows %, found %', rows, found; END $$")
        with subprocess.Popen(["psql", "-qAtX", "-c", statement], env=MAIN.environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as reader:
            locked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND granted"
            engines.wait_until(lambda: MAIN.ask(locked) == "1", "the first question")
            meanwhile()
            MAIN.ask(f"UPDATE {go} SET n = 1")
            words = engines.finished(reader, "a reader")[1]
        self.assertIn("rows 1, found 1", words)

    def test_one_statement_with_many_snapshots_sees_what_happened_between_them(self):
        self.watched(lambda: MAIN.ask(self.trigger("DISABLE"), self.past, self.both_always()))
        MAIN.ask(f"DELETE FROM {self.table} WHERE key = {self.ROW}")

        def removed_and_built():
            pathlib.Path(self.path).unlink()
            self.attach()
            MAIN.ask(self.past)
        self.check_build()
        self.watched(removed_and_built)
        MAIN.ask(f"DELETE FROM {self.table} WHERE key = {self.ROW}")

        def removed_and_dropped():
            pathlib.Path(self.path).unlink()
            MAIN.ask(self.past)
        self.attach("drop")
        self.watched(removed_and_dropped)

    def test_a_row_that_for_update_waits_for_is_asked_about_as_its_transaction_left_the_triggers(self):
        """The condition is checked again with the new row, in the same statement, with the same snapshot."""
        waits = ("DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                 "AND query LIKE '%FOR UPDATE%') LOOP PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP; END $$")
        update = f"UPDATE {self.table} SET key = {self.ROW} WHERE key = 5"
        build = f"SELECT bf_attach('{self.table}', 'key', '{self.path}', 10000, 0.0001)"
        detach = f"SELECT bf_detach('{self.table}', 'key')"
        past = [self.trigger("DISABLE", "USER"), update, self.both_always()]
        for name, done_before, words in (("past the triggers", past, "altered"),
                                         ("in a new file", [build, update], None),
                                         ("after a detach", [detach, update], "does not know")):
            with self.subTest(name):
                MAIN.ask(f"UPDATE {self.table} SET key = 5 WHERE key = {self.ROW}")
                self.attach()
                commands = [word for each in ("BEGIN", *done_before, waits, "COMMIT") for word in ("-c", each)]
                with subprocess.Popen(["psql", "-qAtX", *commands], env=MAIN.environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL) as writer:
                    engines.wait_until(lambda: MAIN.ask("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %'") == "1",
                                       "the writer")
                    found = MAIN.ask(f"SELECT key FROM {self.table} WHERE key IN (5, {self.ROW}) "
                                     f"AND bf_maybe('{self.path}', key) FOR UPDATE")
                    engines.finished(writer, "a writer")
                self.assertEqual(found, str(self.ROW))
                if words is not None:
                    self.check_doubt(words)

    # --- The own rows of a statement

    def asks_for_its_own_row(self):
        """An AFTER trigger that fires before bfstore's, and RETURNING."""
        name = self.table
        rows = f"SELECT count(*) INTO {{}} FROM {name} WHERE key = asked"
        MAIN.ask(f"CREATE FUNCTION {name}_look(asked text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$ DECLARE n int; m int; "
                 f"BEGIN {rows.format('n')}; {rows.format('m')} AND bf_maybe('{self.path}', asked); "
                 "RETURN n || ' ' || m; END $$",
                 f"CREATE FUNCTION {name}_audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                 f"RAISE NOTICE '%', {name}_look(NEW.key); RETURN NULL; END $$",
                 f"CREATE TRIGGER audit AFTER INSERT OR UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION {name}_audit()")

    def check_own_rows(self, *statements):
        for settings in ([], ["SET force_parallel_mode = on"]):
            words = [word for each in [*settings, "BEGIN", *statements, "ROLLBACK"] for word in ("-c", each)]
            done = MAIN.psql("-v", "VERBOSITY=terse", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = [line for line in done.stderr.splitlines() if "NOTICE" in line] + done.stdout.split("\n")[:-1]
            self.assertGreaterEqual(len(told), 2)
            for line in told:
                self.assertRegex(line, r"(^|NOTICE:  )(\d+) \2$", done.stderr)

    def test_a_generated_column_and_a_reader_in_the_statement(self):
        name = self.table
        MAIN.ask(f"DROP TABLE {name}", f"CREATE TABLE {name} (id int, b text, key text GENERATED ALWAYS AS (b || '!') STORED)",
                 f"SELECT bf_attach('{name}', 'key', '{self.path}')")
        self.asks_for_its_own_row()
        self.check_own_rows(f"INSERT INTO {name} (id, b) VALUES (1, 'x1'), (2, 'x2')",
                            f"INSERT INTO {name} (id, b) VALUES (3, 'x3') RETURNING {name}_look(key)",
                            f"UPDATE {name} SET b = 'y' || id RETURNING {name}_look(key)")
        MAIN.ask(f"INSERT INTO {name} (id, b) VALUES (1, 'x1')")
        self.assertEqual(MAIN.ask(f"SELECT bf_maybe('{self.path}', 'x1!'), bf_maybe('{self.path}', 'x1')"), "t|f")
        self.assertIn("may change the key", MAIN.ask(f"SELECT answers_for FROM bf_info('{self.path}')"))

    def test_a_trigger_that_changes_the_key_after_the_filters_trigger_and_a_reader_in_the_statement(self):
        name = self.table
        MAIN.ask(f"DROP TABLE {name}", f"CREATE TABLE {name} (id int, key text)",
                 "CREATE OR REPLACE FUNCTION low() RETURNS trigger LANGUAGE plpgsql AS $$ "
                 "BEGIN NEW.key := lower(NEW.key); RETURN NEW; END $$",
                 f"SELECT bf_attach('{name}', 'key', '{self.path}')",
                 f'CREATE TRIGGER "~normalize" BEFORE INSERT OR UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION low()')
        self.asks_for_its_own_row()
        self.check_own_rows(f"INSERT INTO {name} VALUES (1, 'ABC'), (2, 'DEF')",
                            f"INSERT INTO {name} VALUES (3, 'GHI') RETURNING {name}_look(key)",
                            f"UPDATE {name} SET key = 'NEW' || id RETURNING {name}_look(key)")
        MAIN.ask(f'DROP TRIGGER "~normalize" ON {name}', f"INSERT INTO {name} VALUES (4, 'JKL')")
        answer = self.session("BEGIN", f"INSERT INTO {name} VALUES (5, 'MNO')",
                              f"SELECT bf_maybe('{self.path}', 'MNO'), bf_maybe('{self.path}', '-')")
        self.assertEqual(answer, ["t|f"], "the trigger before the row sees what is stored")


class Keys(Kept):
    """Values that are equal to a stored one, and have other bytes or another type."""

    def setUp(self):
        super().setUp()
        self.path = f"{self.path}.k"

    def make(self, column, *values):
        MAIN.ask("DROP TABLE IF EXISTS k, o CASCADE", f"CREATE TABLE k (key {column})",
                 *[f"INSERT INTO k VALUES ({value})" for value in values], f"SELECT bf_attach('k', 'key', '{self.path}')")

    def equal(self, column, stored, asked):
        """Returns (the rows that `column = asked` finds, and those with bf_maybe, too); `asked` is an expression and a column."""
        self.make(column, stored)
        out = MAIN.ask(f"CREATE TABLE o AS SELECT {asked} AS asked",
                       f"SELECT count(*), count(*) FILTER (WHERE bf_maybe('{self.path}', asked)) FROM k JOIN o ON key = asked",
                       f"SELECT count(*), count(*) FILTER (WHERE bf_maybe('{self.path}', {asked})) FROM k WHERE key = {asked}")
        MAIN.ask(f"SELECT bf_detach('k', 'key')")
        return out.split()

    def test_a_value_that_is_equal_in_another_type_is_not_answered_no(self):
        MAIN.ask("CREATE EXTENSION IF NOT EXISTS citext", "CREATE DOMAIN padded AS char(8)", "CREATE DOMAIN folded AS citext",
                 "CREATE DOMAIN id AS bigint",
                 "CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        guid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
        for column, stored, asked in (
                ("varchar", "'abc  '", "'abc'::char(8)"), ("varchar(20)", "'abc  '", "'abc'::bpchar"),
                ("varchar", "'abc'", "'abc'::char(8)"), ("varchar", "'abc  '", "'abc'::padded"),
                ("char(3)", "'abc'", "'abc'::char(8)"), ("char(8)", "'abc'", "'abc   '::varchar::bpchar"),
                ("char(8)", "'abc'", "'abc   '::bpchar"), ("padded", "'abc'", "'abc  '::bpchar"),
                ("text", "'abc'", "'abc'::name"), ("text", "'abc'", "'abc'::char(8)"),
                ("varchar", "'abc'", "'abc'::folded"), ("text", "'abc'", "'abc'::citext"),
                ("text", "'abc'", "'ABC' COLLATE nocase"), ("varchar", "'abc'", "'ABC' COLLATE nocase"),
                ("bigint", "5", "5.000::numeric"), ("bigint", "0", "'-0'::float8"), ("int", "5", "5::float4"),
                ("bigint", "5", "5::oid"), ("smallint", "5", "5::id"), ("id", "5", "5::smallint"), ("int", "5", "5::bigint"),
                ("uuid", f"'{guid.upper()}'", f"'{guid.replace('-', '')}'::uuid"), ("bytea", "'\\x41'", "'A'::bytea")):
            with self.subTest(f"{column} {stored} = {asked}"):
                self.assertEqual(self.equal(column, stored, asked), ["1|1", "1|1"])

    def test_the_collation_is_the_keys_whatever_the_paths_is(self):
        """The call has one collation of both arguments. So an explicit collation of the path once hid that of the key. Two that
        differ are none, which once counted as deterministic."""
        MAIN.ask("CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                 "CREATE DOMAIN caseless AS text COLLATE nocase")
        self.make("text", "'a@b.c'")
        MAIN.ask("DROP TABLE IF EXISTS paths", 'CREATE TABLE paths (plain text, c text COLLATE "C", n text COLLATE nocase)',
                 f"INSERT INTO paths VALUES ('{self.path}', '{self.path}', '{self.path}')",
                 'CREATE TABLE o (a text COLLATE nocase, c text COLLATE "C", d caseless, other text)',
                 "INSERT INTO o VALUES ('A@B.C', 'A@B.C', 'A@B.C', 'A@B.C')")
        paths = (f"'{self.path}'", "paths.plain", "paths.c", "paths.n", f"'{self.path}' COLLATE \"C\"", "paths.c COLLATE \"C\"",
                 f"'{MAIN.folder}/' || substr(paths.c, {len(str(MAIN.folder)) + 2})")
        for path in paths:
            for key in ("a", "d", "a || ''", "lower(a)"):
                with self.subTest(f"{path}, {key}"):
                    found = MAIN.ask(f"SELECT count(*) FROM k JOIN o ON k.key = {key}, paths WHERE bf_maybe({path}, {key})")
                    self.assertEqual(found, "1")
            with self.subTest(path):
                done = MAIN.psql("-c", f"SELECT bf_maybe({path}, o.c || o.a) FROM o, paths")
                self.assertEqual(done.stdout.split(), ["t"], "two collations are none that is known")
                self.assertIn("collation", done.stderr)
                done = MAIN.psql("-c", f"SELECT bf_maybe({path}, 'absent'), bf_maybe({path}, o.c), bf_maybe({path}, o.other), "
                                 f"bf_maybe({path}, (o.a COLLATE \"C\") || '') FROM o, paths")
                self.assertEqual((done.stdout.split(), done.stderr), (["f|f|f|f"], ""), "deterministic ones are answered")
        MAIN.ask("DROP DOMAIN caseless CASCADE")

    def test_a_comparison_of_another_type_than_the_columns_is_maybe_where_the_key_shows_it(self):
        MAIN.ask("CREATE EXTENSION IF NOT EXISTS citext")
        self.make("text", "'A@B.C'", "'x  '")
        for asked in ("'a@b.c'::citext", "5.5", "now()", "'1 day'::interval", "'{}'::jsonb", "ARRAY['x']", "ROW(1, 2)", "true",
                      "1::oid", "'x'::name", "'\\x00'::bytea", "7"):
            with self.subTest(asked):
                done = MAIN.psql("-c", f"SELECT bf_maybe('{self.path}', {asked})")
                self.assertEqual(done.stdout.split(), ["t"], done.stderr)
                self.assertIn("another type", done.stderr)
        padded = f"SELECT count(*) FROM k WHERE key::bpchar = 'x' AND bf_maybe('{self.path}', 'x'::bpchar)"
        self.assertEqual(MAIN.ask(padded), "1")
        asked = ", ".join(f"bf_maybe('{self.path}', {key})" for key in ("'y'", "'y'::varchar", "'x'"))
        self.assertEqual(MAIN.ask(f"SELECT {asked}"), "f|f|t")
        self.assertIsNotNone(MAIN.refused(f"PREPARE p AS SELECT bf_maybe('{self.path}', $1)"), "a parameter needs a type")
        prepared = f"PREPARE p AS SELECT count(*) FROM k WHERE key = $1 AND bf_maybe('{self.path}', $1)"
        self.assertEqual(MAIN.ask(prepared, "EXECUTE p('x  ')"), "1")

    def test_an_untyped_literal_is_read_as_the_columns_type(self):
        self.make("bigint", "5")
        self.assertEqual(MAIN.ask(f"SELECT count(*) FROM k WHERE key = ' 5 ' AND bf_maybe('{self.path}', ' 5 ')",
                                  f"SELECT bf_maybe('{self.path}', '6')").split(), ["1", "f"])
        self.assertIn("invalid input syntax", self.refused(f"SELECT bf_maybe('{self.path}', 'x')"))

    def test_the_spaces_at_the_end_of_a_key_stay_in_the_file_for_other_programs(self):
        self.make("varchar", "'one  '")
        MAIN.ask("INSERT INTO k VALUES ('two  ')")
        ask = f"SELECT bf_maybe('{self.path}', key) FROM (VALUES ('one'), ('one  '), ('two'), ('two  '), ('absent')) AS v (key)"
        self.assertEqual(MAIN.ask(ask).split(), ["t", "t", "t", "t", "f"])
        self.assertEqual(MAIN.ask(f"SELECT keys_added FROM bf_info('{self.path}')"), "4", "each with its spaces, and without")

    def test_a_query_of_a_nondeterministic_collation_is_refused(self):
        MAIN.ask("CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        self.assertIn("nondeterministic", self.refused(f"SELECT bf_build('{self.path}.q', 'SELECT ''a'' COLLATE nocase')"))
        two = "SELECT a || b FROM (VALUES (''a'' COLLATE nocase)) AS v (a), (VALUES (''b'' COLLATE \"C\")) AS w (b)"
        self.assertIn("nondeterministic", self.refused(f"SELECT bf_build('{self.path}.q', '{two}')"))
        self.assertIn("no key has the type", self.refused(f"SELECT bf_build('{self.path}.q', 'SELECT 1.50')"))


class Copies(Kept):
    """Databases and servers that are copies of the one that keeps the file."""

    def check_refused(self, ask):
        """Checks that the file stays that of the original, whatever is called in the copy. `ask` runs a statement there."""
        MAIN.ask(self.insert(1001))
        build = (f"SELECT bf_attach('{self.table}', 'key', '{self.path}')", f"SELECT bf_build('{self.path}', 'SELECT 1')",
                 f"SELECT bf_create('{self.path}', 100, replace => true)", self.insert(1))
        before = pathlib.Path(self.path).stat()
        for statement in build:
            done = ask(statement)
            self.assertNotEqual(done.returncode, 0, statement)
            words = "another database keeps|is the filter of a table" if "bf_build" in statement else "another database keeps"
            self.assertRegex(done.stderr, words)
            after = pathlib.Path(self.path).stat()
            self.assertEqual((after.st_ino, self.wrong(), self.believed()), (before.st_ino, "0", True), statement)
        MAIN.ask(self.insert(1002))
        done = ask(f"SELECT bf_maybe('{self.path}', -1), (SELECT health FROM bf_info('{self.path}'))")
        self.assertRegex(done.stdout, r"^t\|.*another database keeps the file")
        for statement in (f"SELECT bf_detach('{self.table}', 'key')", self.insert(1),
                          f"SELECT bf_attach('{self.table}', 'key', '{self.path}.copy')", self.insert(2)):
            done = ask(statement)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = ask(f"SELECT bf_maybe('{self.path}.copy', 2), bf_maybe('{self.path}.copy', -1)")
        self.assertEqual(done.stdout.split(), ["t|f"], done.stderr)
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def in_database(self, name):
        return lambda statement: MAIN.psql("-d", name, "-c", statement)

    def terminated(self):
        others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        MAIN.ask(f"SELECT pg_terminate_backend(pid) {others}")
        self.closed()

    def test_a_database_made_from_a_template_does_not_take_the_file(self):
        self.terminated()
        done = MAIN.psql("-d", "template1", "-c", f"CREATE DATABASE copy_{self.table} TEMPLATE postgres")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_refused(self.in_database(f"copy_{self.table}"))

    def test_a_restored_dump_does_not_take_the_file(self):
        name, dump = f"restored_{self.table}", MAIN.folder / "whole.dump"
        run([BIN / "pg_dump", "-Fc", "-t", self.table, "-e", "bfstore", "-f", dump], env=MAIN.environment)
        MAIN.ask(f"CREATE DATABASE {name}")
        run([BIN / "pg_restore", "-d", name, dump], env=MAIN.environment)
        self.assertEqual(MAIN.psql("-d", name, "-c", f"SELECT count(*) FROM {self.table}").stdout.split(), ["500"])
        self.check_refused(self.in_database(name))

    def test_a_restored_dump_of_columns_that_have_other_numbers_is_attached_or_detached(self):
        """A dropped column is not in a dump: the columns after it move up, and triggers of the old numbers refuse every row."""
        name, dump, path = f"moved_{self.table}", MAIN.folder / "moved.dump", f"{self.path}.moved"
        table = ["CREATE EXTENSION bfstore", "CREATE TABLE d (x int, a text, b text)", "ALTER TABLE d DROP COLUMN x",
                 "INSERT INTO d VALUES ('a', 'b')"]
        attach = {column: f"SELECT bf_attach('d', '{column}', '{path}.{column}')" for column in "ab"}
        detach = {column: f"SELECT bf_detach('d', '{column}')" for column in "ab"}
        answers = "SELECT " + ", ".join(f"bf_maybe('{path}.{column}', '{key}')" for column in "ab" for key in "abc")

        def ask(*statements):
            done = MAIN.psql("-d", name, *[word for each in statements for word in ("-c", each)])
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split()
        for calls, found in (((attach["a"], attach["b"]), "t|f|t|f|t|t"), ((attach["b"], attach["a"]), "t|f|t|f|t|t"),
                             ((detach["a"], detach["b"]), "t|t|t|t|t|t"), ((detach["b"], attach["a"]), "t|f|t|t|t|t")):
            with self.subTest(calls):
                MAIN.ask(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
                ask(*table, attach["a"], attach["b"])
                run([BIN / "pg_dump", "-Fc", "-f", dump, name], env=MAIN.environment)
                MAIN.ask(f"DROP DATABASE {name}", f"CREATE DATABASE {name}")
                for column in "ab":
                    pathlib.Path(f"{path}.{column}").unlink()
                run([BIN / "pg_restore", "-d", name, dump], env=MAIN.environment)
                insert = "INSERT INTO d VALUES ('c', 'c')"
                self.assertIn("bf_attach", MAIN.psql("-d", name, "-c", insert).stderr)
                ask(*calls, insert)
                self.assertEqual(ask(answers)[-1], found)
                triggers = ask("SELECT count(*) FROM pg_trigger WHERE tgname LIKE '~bfstore%'")
                self.assertEqual(int(triggers[-1]), 2 * sum("attach" in call for call in calls))
                for column in "ab":
                    pathlib.Path(f"{path}.{column}").unlink()

    def test_a_data_directory_that_was_copied_is_another_server(self):
        base = FOLDER / f"copied-{self.table}"
        run(["pg_basebackup", "-D", base, "-X", "stream", "-c", "fast", "--no-sync"], env=MAIN.environment)
        if AS_USER:
            run(["chown", "-R", "nobody:nogroup", base])
        copy = Cluster(INSTALLATION, FOLDER / f"copy-{self.table}", base).start()
        try:
            self.check_refused(lambda statement: copy.psql("-c", statement))
        finally:
            copy.stop()

    def test_the_file_of_another_database_that_cannot_be_opened_is_not_replaced(self):
        """The file is unclean, so its note is read from its bytes."""
        MAIN.ask(f"CREATE DATABASE unclean_{self.table}")
        with subprocess.Popen(["psql", "-qAtX", "-c", self.insert(1001), "-c", "SELECT pg_sleep(10000)"], env=MAIN.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as writer:
            engines.wait_until(lambda: MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key = 1001") == "1", "the row")
            self.saved()
            writer.kill()
        self.terminated(), self.put_back()
        self.assertIn("not closed cleanly", MAIN.ask(f"SELECT health FROM bf_info('{self.path}')"))
        create = "CREATE EXTENSION IF NOT EXISTS bfstore"
        for call in (f"bf_create('{self.path}', 100, replace => true)", f"bf_build('{self.path}', 'SELECT 1')"):
            done = MAIN.psql("-d", f"unclean_{self.table}", "-c", create, "-c", f"SELECT {call}")
            self.assertIn("another database keeps", done.stderr)
        self.attach()
        self.assertEqual((self.wrong(), self.believed()), ("0", True))


class Restored(unittest.TestCase):
    def test_a_data_directory_that_was_put_back_is_older_than_the_file(self):
        """The copy is in its own place, and runs without recovery: neither the timeline nor the server differs."""
        server = Cluster(INSTALLATION, FOLDER / "restored").start()
        path, saved = server.folder / "t.bf", server.folder / "saved"
        server.ask("CREATE EXTENSION bfstore", "CREATE TABLE t AS SELECT i AS key FROM generate_series(1, 500) AS i",
                   f"SELECT bf_attach('t', 'key', '{path}')")
        server.stop()
        run([*AS_USER, "cp", "-a", server.data, saved])
        fill = "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, {})"
        server.start().ask(fill.format(5000), "INSERT INTO t VALUES (1001)")
        server.stop()
        run([*AS_USER, "rm", "-r", server.data]), run([*AS_USER, "mv", saved, server.data])
        server.start()
        ask = f"SELECT bf_maybe('{path}', -1), (SELECT count(*) FROM t WHERE NOT bf_maybe('{path}', key))"
        self.assertEqual(server.ask(ask), "t|0")
        self.assertIn("older than the file", server.refused("INSERT INTO t VALUES (1002)") or "")
        server.ask(fill.format(10000), "INSERT INTO t VALUES (1003)")
        self.assertEqual(server.ask(ask), "f|0", "the file has every key of the older table, and of the rows since")
        server.stop()

    def test_an_extension_that_was_dropped_and_made_again_knows_no_file(self):
        path = MAIN.folder / "again.bf"
        MAIN.ask("CREATE DATABASE again")

        def ask(*statements):
            done = MAIN.psql("-d", "again", *[word for each in statements for word in ("-c", each)])
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split()
        attach = f"SELECT bf_attach('t', 'key', '{path}') > 0"
        ask("CREATE EXTENSION bfstore", "CREATE TABLE t AS SELECT 1 AS key", attach)
        found = ask("DROP EXTENSION bfstore CASCADE", "INSERT INTO t VALUES (2)", "CREATE EXTENSION bfstore",
                    f"SELECT bf_maybe('{path}', 2)")
        self.assertEqual(found, ["t"])
        self.assertEqual(ask(attach, f"SELECT bf_maybe('{path}', 2), bf_maybe('{path}', 3)"), ["t", "t|f"])


class Serializable(Kept):
    """A "no" saves the scan that would have taken the predicate lock."""

    LEVEL = "BEGIN ISOLATION LEVEL SERIALIZABLE"

    def skewed(self, looks):
        """Runs two transactions, each of which looks for the row that the other one inserts. Returns the answer of the second one."""
        first, second = looks
        inside = " ".join(f"-c '{each}'" for each in (self.LEVEL, second, self.insert(1001), "COMMIT"))
        self.assertNotIn("'", second)
        done = MAIN.psql("-c", self.insert(900), "-c", self.LEVEL, "-c", first,
                         "-c", f"\\! psql -qAtX -v ON_ERROR_STOP=1 {inside}",
                         "-c", self.insert(1002), "-c", "COMMIT")
        rows = MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key IN (1001, 1002)")
        MAIN.ask(f"DELETE FROM {self.table} WHERE key >= 900")
        return done, rows

    def look(self, key, more=""):
        return f"SELECT count(*) FROM {self.table} WHERE key = {key}{more}"

    def maybe(self, key):
        return f" AND bf_maybe($${self.path}$$, {key})"

    def check_refused(self, looks):
        done, rows = self.skewed(looks)
        self.assertEqual(rows, "1", done.stdout + done.stderr)
        self.assertIn("could not serialize", done.stderr)

    def test_two_transactions_that_are_told_no_and_add_each_others_key_do_not_both_commit(self):
        self.attach()
        self.check_refused((self.look(1001), self.look(1002)))
        self.attach()
        self.assertEqual(MAIN.ask(f"SELECT bf_maybe('{self.path}', 1001), bf_maybe('{self.path}', 1002)"), "f|f")
        self.check_refused((self.look(1001, self.maybe(1001)), self.look(1002, self.maybe(1002))))
        self.attach()
        self.check_refused((self.look(1001, self.maybe(1001)), self.look(1002)))
        self.attach()
        self.check_refused((self.look(1001), self.look(1002, self.maybe(1002))))
        self.attach()
        self.check_refused([f"SELECT bf_maybe($${self.path}$$, {key})" for key in (1001, 1002)])

    def test_other_isolation_levels_are_as_before(self):
        for level in ("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"):
            with self.subTest(level):
                self.LEVEL = level
                self.attach()
                done, rows = self.skewed((self.look(1001, self.maybe(1001)), self.look(1002, self.maybe(1002))))
                self.assertEqual((rows, done.stderr), ("2", ""))

    def test_a_column_whose_keys_reach_the_file_after_their_rows_is_maybe(self):
        """The lock does not see a row that came before it, and the row's key may come later."""
        MAIN.ask(f"DROP TABLE {self.table}",
                 f"CREATE TABLE {self.table} (b bigint, key bigint GENERATED ALWAYS AS (b + 1) STORED)")
        self.attach()
        done = MAIN.psql("-c", self.LEVEL, "-c", f"SELECT bf_maybe('{self.path}', -1)", "-c", "COMMIT",
                         "-c", f"SELECT bf_maybe('{self.path}', -1)")
        self.assertEqual(done.stdout.split(), ["t", "f"], done.stderr)
        self.assertIn("SERIALIZABLE", done.stderr)

    def test_a_no_takes_the_lock_of_the_table_and_a_maybe_takes_none(self):
        locks = f"SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND relation = '{self.table}'::regclass"
        for key, taken in ((1, "0"), (-1, "1")):
            out = MAIN.ask(self.LEVEL, f"SELECT bf_maybe('{self.path}', {key})", locks, "COMMIT").split()
            self.assertEqual(out, ["f" if key < 0 else "t", taken])


class Rollbacks(Kept):
    """A build counts when it commits. Until then, and without it, the old file does."""

    def attached(self, path=None):
        return f"SELECT bf_attach('{self.table}', 'key', '{path or self.path}', 10000, 0.0001)"

    def check_good(self):
        MAIN.ask(self.insert(1000 + self.number))
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_a_build_that_is_rolled_back_leaves_the_old_file(self):
        before = pathlib.Path(self.path).stat().st_ino
        MAIN.ask("BEGIN", self.attached(), "ROLLBACK")
        self.check_good()
        MAIN.ask("BEGIN", "SAVEPOINT a", self.attached(), self.insert(2000), "ROLLBACK TO a", self.insert(2001), "COMMIT")
        self.check_good()
        self.assertIsNotNone(MAIN.refused("BEGIN", self.attached(), self.insert(2002), "SELECT 1 / 0"))
        self.check_good()
        self.assertIn("cannot be prepared", MAIN.refused("BEGIN", self.attached(), "PREPARE TRANSACTION 'built'"))
        self.check_good()
        MAIN.ask("CREATE TABLE IF NOT EXISTS parents (id int PRIMARY KEY)",
                 f"CREATE TABLE {self.table}_late (id int REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
        late = MAIN.refused("BEGIN", self.attached(), f"INSERT INTO {self.table}_late VALUES (1)", "COMMIT")
        self.assertIn("violates foreign key", late)
        self.check_good()
        with subprocess.Popen(["psql", "-qAtX", "-c", "BEGIN", "-c", self.attached(), "-c", "SELECT pg_sleep(10000)"],
                              env=MAIN.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as builder:
            sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            engines.wait_until(lambda: MAIN.ask(sleeping) == "1", "the build")
            self.assertEqual((self.wrong(), self.believed()), ("0", True), "readers use the old file meanwhile")
            MAIN.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
            engines.wait_until(lambda: builder.poll() is not None, "the end of the builder")
        self.check_good()
        self.assertEqual(pathlib.Path(self.path).stat().st_ino, before)

    def test_a_build_of_a_query_that_is_rolled_back_leaves_the_old_file(self):
        path = f"{self.path}.query"
        MAIN.ask(f"SELECT bf_build('{path}', 'SELECT 1')", "BEGIN", f"SELECT bf_build('{path}', 'SELECT 2')", "ROLLBACK")
        self.assertEqual(MAIN.ask(f"SELECT bf_maybe('{path}', 1), bf_maybe('{path}', 2)"), "t|f")

    def test_a_first_build_that_is_rolled_back_leaves_no_file(self):
        path = f"{self.path}.first"
        MAIN.ask(f"SELECT bf_detach('{self.table}', 'key')", "BEGIN", self.attached(path), "ROLLBACK", self.insert(1))
        self.assertFalse(pathlib.Path(path).exists())

    def test_rows_of_the_transaction_that_builds_are_in_the_file(self):
        MAIN.ask("BEGIN", self.insert(1), self.attached(), self.insert(3001),
                 "SAVEPOINT a", self.insert(3002), self.attached(), self.insert(3003), "ROLLBACK TO a", self.insert(3004),
                 "SAVEPOINT b", self.attached(), self.insert(3005), "RELEASE b", self.insert(3006), "COMMIT")
        self.check_good()
        self.assertEqual(MAIN.ask(f"SELECT count(*) FROM {self.table} WHERE key > 3000"), "4")

    def test_a_commit_that_fails_after_a_file_has_its_name_refuses_no_row(self):
        """The second build of a transaction cannot be published."""
        folder = MAIN.folder / f"{self.table}.folder"
        folder.mkdir()
        give(folder)
        other = f"{self.table}_other"
        MAIN.ask(f"CREATE TABLE {other} AS SELECT 1 AS key")
        done = MAIN.psql("-c", "BEGIN", "-c", f"SELECT bf_attach('{other}', 'key', '{folder}/other.bf')", "-c", self.attached(),
                         "-c", f"\\! rmdir {folder}", "-c", "COMMIT")
        self.assertIn("other.bf", done.stderr)
        MAIN.ask(self.insert(1001), f"INSERT INTO {other} VALUES (2)")
        self.assertEqual((self.wrong(), self.believed()), ("0", False))
        self.attach()
        self.check_good()

    def test_a_detach_that_is_rolled_back_leaves_the_filter(self):
        detach = f"SELECT bf_detach('{self.table}', 'key')"
        MAIN.ask("BEGIN", detach, "ROLLBACK")
        self.check_good()
        MAIN.ask("BEGIN", "SAVEPOINT a", detach, "ROLLBACK TO a", self.insert(2001), "COMMIT")
        self.check_good()
        MAIN.ask("BEGIN", detach, self.attached(), self.insert(2002), "COMMIT")
        self.check_good()
        MAIN.ask("BEGIN", "SAVEPOINT a", self.attached(), detach, "ROLLBACK TO a", self.insert(2003), "COMMIT")
        self.check_good()
        MAIN.ask("BEGIN", self.attached(), detach, self.insert(3007), "COMMIT")
        self.assertEqual((self.wrong(), self.believed()), ("0", False))


class Foreign(unittest.TestCase):
    def test_a_remote_lookup_is_saved_where_the_filter_says_no(self):
        path = make_foreign(MAIN, 500)
        plan = MAIN.ask(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM far WHERE key = -1 AND bf_maybe('{path}', -1)")
        self.assertIn("One-Time Filter: bf_maybe", plan)
        self.assertRegex(plan, r"Foreign Scan on far \(never executed\)")
        plan = MAIN.ask(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM far WHERE key = 7 AND bf_maybe('{path}', 7)")
        self.assertRegex(plan, r"Foreign Scan on far \(actual .* rows=1 loops=1\)")


def make_foreign(cluster, rows):
    """Makes the table `near`, and `far`, which is the same table through a connection of the server to itself."""
    path = cluster.folder / "near.bf"
    cluster.ask("CREATE EXTENSION IF NOT EXISTS bfstore", "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
                "CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw "
                f"OPTIONS (host '{cluster.folder}', port '{cluster.port}', dbname 'postgres')", "CREATE USER MAPPING FOR postgres SERVER itself OPTIONS (user 'postgres')",
                "CREATE TABLE near (key bigint PRIMARY KEY, value text)",
                f"INSERT INTO near SELECT i * 2 + 1, 'value ' || i FROM generate_series(1, {rows}) AS i",
                "CREATE FOREIGN TABLE far (key bigint, value text) SERVER itself OPTIONS (table_name 'near')",
                f"SELECT bf_attach('near', 'key', '{path}')", "VACUUM ANALYZE near")
    return path


def milliseconds(cluster, statement, settings=()):
    """Returns the time as the server measures it. A query comes first, so that the remote connection is there."""
    words = cluster.psql(*[word for setting in settings for word in ("-c", f"SET {setting}")],
                         "-c", "SELECT count(*) FROM far WHERE key = 1",
                         "-c", f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON, COSTS OFF) {statement}").stdout
    return float(re.search(r"Execution Time: ([0-9.]+) ms", words)[1])


def transactions(cluster, statement):
    script = cluster.folder / "bench.sql"
    script.write_text("\\set key random(1, 1000000) * 2\n" + statement + ";\n", encoding="utf-8")
    words = run([BIN / "pgbench", "-n", "-M", "prepared", "-T", "3", "-f", script], env=cluster.environment)
    return 1e3 / float(re.search(r"tps = ([0-9.]+)", words)[1])


def bench():
    """Checks the answers and the false-positive rate first. Then measures A B A B, and prints medians."""
    rows, asked = 1000000, 200000
    path = make_foreign(MAIN, rows)
    wrong, false = (int(MAIN.ask(f"SELECT count(*) FROM {what}")) for what in (
        f"near WHERE NOT bf_maybe('{path}', key)", f"generate_series(2, {2 * asked}, 2) AS i WHERE bf_maybe('{path}', i)"))
    print(f"{rows} rows, wrong no: {wrong}; {asked} absent keys, false maybe: {100 * false / asked:.3f} %", flush=True)
    assert wrong == 0 and false < asked / 50
    MAIN.ask(f"CREATE TABLE asked AS SELECT i * 2 AS key FROM generate_series(1, {asked}) AS i", "ANALYZE asked",
             f"CREATE TABLE tenth AS SELECT i * 2 + (i % 10 = 0)::int AS key FROM generate_series(1, {asked}) AS i",
             "ANALYZE tenth",
             "CREATE TABLE plain (key bigint PRIMARY KEY, value text)", "CREATE TABLE kept (LIKE plain INCLUDING ALL)",
             f"SELECT bf_attach('kept', 'key', '{MAIN.folder}/kept.bf', 2000000)")
    lookups = "SELECT count(*) FROM generate_series(2, {}, 2) AS g, LATERAL (SELECT 1 FROM {} WHERE key = g {} OFFSET 0) AS x"
    joins = "SELECT count(*) FROM {} AS a JOIN near USING (key) WHERE {}"
    loop = ("jit = off", "enable_hashjoin = off", "enable_mergejoin = off", "max_parallel_workers_per_gather = 0")
    hash_join = ("jit = off", "enable_nestloop = off", "enable_mergejoin = off", "max_parallel_workers_per_gather = 0")
    kinds = [("2,000 foreign lookups, absent", lookups.format(4000, "far", ""),
              lookups.format(4000, "far", f"AND bf_maybe('{path}', g)"), loop)]
    for table in ("asked", "tenth"):
        for name, how in (("nested loop", loop), ("hash join", hash_join)):
            kinds.append((f"{name}, {'absent' if table == 'asked' else 'a tenth present'}", joins.format(table, "true"),
                          joins.format(table, f"bf_maybe('{path}', a.key)"), how))
    fill = "INSERT INTO {} SELECT i, 'value' FROM generate_series({}, {}) AS i"
    for name, without, with_filter, how in kinds:
        times = [[], []]
        for _ in range(5):
            for which, statement in enumerate((without, with_filter)):
                times[which].append(milliseconds(MAIN, statement, how))
        tell(name, times)
    times = [[], []]
    for _ in range(5):
        times[0].append(transactions(MAIN, "SELECT value FROM near WHERE key = :key"))
        times[1].append(transactions(MAIN, f"SELECT value FROM near WHERE key = :key AND bf_maybe('{path}', :key::bigint)"))
    tell("one point lookup of a client, absent", times)
    times = [[], []]
    for round_number in range(5):
        first = round_number * 100000
        for which, table in enumerate(("plain", "kept")):
            times[which].append(milliseconds(MAIN, fill.format(table, first, first + 99999)))
    tell("inserting 100,000 rows", times)


def tell(name, times):
    without, with_filter = (sorted(each)[len(each) // 2] for each in times)
    print(f"{name}: {without:.3f} ms without, {with_filter:.3f} ms with the filter: {without / with_filter:.2f} x", flush=True)


if __name__ == "__main__":
    if ASKED.bench:
        bench()
    else:
        engines.main()
