"""The PostgreSQL extension in a server of its own: what its functions answer (pg_regress), and that no row is answered "no"
after backends and whole servers were killed, files were put back from copies, and clusters were restored and promoted.

Arguments: see engines.py (--kills=N: that many of each kind); or --bench for the README's times.
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
NEW_RESULTS = engines.flag("new-results")  # to be read, and committed
BENCH = engines.flag("bench")
KILLS, SEED = engines.option("kills", 2), engines.seed()
engines.needs(programs={**{str(BIN / name): "postgresql-15" for name in ("postgres", "initdb")},
                        **{str(BIN / name): "postgresql-client-15" for name in ("psql", "pg_config", "pg_basebackup")},
                        str(REGRESS): "postgresql-client-15", "make": "make", "setpriv": "util-linux"},
              files={"/usr/include/postgresql/15/server/postgres.h": "postgresql-server-dev-15",
                     str(LIBRARY / "pgxs/src/makefiles/pgxs.mk"): "postgresql-client-15"})
TREE = engines.tree()
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
    """PostgreSQL finds its files from where its program is: a copy of that, with links to the others, takes the extension
    without touching the machine's own."""

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
                    and parent_of(entry) == self.server.process.pid]
        return [self.server.process.pid, *children]

    def kill_all(self):
        """The server stops first, so that no child is born meanwhile."""
        os.kill(self.server.process.pid, signal.SIGSTOP)
        for pid in reversed(self.pids()):
            kill(pid)
        self.server.kill()


def parent_of(entry):
    try:
        return int(re.search(r"^PPid:\s+(\d+)", (entry / "status").read_text(), re.M)[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


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
        if NEW_RESULTS and done.returncode != 0:
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


class Kills(unittest.TestCase):
    """Writers insert, and are killed with or without their server. What a new server shows is "maybe" in the filter."""

    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)
        cls.path = MAIN.folder / "kills.bf"
        MAIN.ask("CREATE EXTENSION IF NOT EXISTS bfstore", "CREATE TABLE IF NOT EXISTS kills (id bigserial, key bigint)",
                 f"SELECT bf_attach('kills', 'key', '{cls.path}', 200000)")

    def writers(self):
        """Half of the transactions are rolled back; a backend sometimes ends, and then its file is closed."""
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
        """A process that is killed while it syncs leaves an unclean file: then rows are refused until it is built again."""
        engines.wait_until(MAIN.answers, "the server after a kill")
        if MAIN.ask(f"SELECT health FROM bf_info('{self.path}')") != "BFS_OK":
            MAIN.ask(f"SELECT bf_attach('kills', 'key', '{self.path}', 200000)")
            print("built again", file=sys.stderr)
        rows, wrong, false = MAIN.ask(
            f"SELECT count(*), count(*) FILTER (WHERE NOT bf_maybe('{self.path}', key)) FROM kills",
            f"SELECT count(*) FROM generate_series(1, 2000) AS i WHERE bf_maybe('{self.path}', -i)").replace("|", "\n").split()
        self.assertEqual(int(wrong), 0, f"of {rows} rows, --seed={SEED}")
        self.assertLess(int(false), 200, "the filter is still of use")

    def rows(self):
        return int(MAIN.ask("SELECT count(*) FROM kills"))

    def rounds(self, accident):
        for _ in range(KILLS):
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


class Files(unittest.TestCase):
    """What happens to the file while the database does not look."""

    number = 0

    def setUp(self):
        Files.number += 1
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
        """Every backend that adds has ended, so that the file is clean."""
        others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        engines.wait_until(lambda: MAIN.ask(others) == "0", "the end of the backends")

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

    def refused(self, statement):
        words = MAIN.refused(statement)
        self.assertIsNotNone(words, f"{statement} was not refused")
        return words

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
        """Readers and writers did not see its opening, took the copy for the file, and a mark of theirs hid it for good."""
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

    def test_a_path_that_is_too_long_is_not_cut(self):
        path = f"{MAIN.folder}{'/' * (1023 - len(str(MAIN.folder)) - len('cut.bf'))}cut.bf"
        MAIN.ask(f"SELECT bf_create('{path}', 1000)")
        done = MAIN.psql("-c", f"SELECT bf_maybe('{path}', -1), bf_maybe('{path}x', -1)")
        self.assertEqual(done.stdout.split(), ["f|t"], done.stderr)
        self.assertIn("too long", done.stderr)

    def inserting(self, first, meanwhile, second):
        """One DO adds two rows; `meanwhile` happens between their commits, when it holds no lock."""
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
        MAIN.ask(f"DROP TRIGGER \"~bfstore before 1\" ON {self.table}", f"DROP TRIGGER \"~bfstore after 1\" ON {self.table}")
        self.attach()
        MAIN.ask(self.insert(1001))
        self.assertEqual((self.wrong(), self.believed()), ("0", True))

    def test_another_database_believes_the_file_only_when_told(self):
        MAIN.ask("CREATE DATABASE other")
        ask = f"SELECT bf_maybe('{self.path}', -1), bf_maybe('{self.path}', 1)"
        done = MAIN.psql("-d", "other", "-c", "CREATE EXTENSION bfstore", "-c", ask,
                         "-c", "SET bfstore.trust_other_databases = on", "-c", "SELECT pg_sleep(0.01)")
        self.assertEqual(done.stdout.split(), ["t|t"], done.stderr)
        done = MAIN.psql("-d", "other", "-c", "SET bfstore.trust_other_databases = on", "-c", ask)
        self.assertEqual(done.stdout.split(), ["f|t"], done.stderr)
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
        self.assertEqual(standby.ask("SELECT pg_promote(true, 10000)"), "t")
        self.assertEqual((self.wrong(standby), self.believed(standby)), ("0", False))
        self.assertIn("promoted", standby.refused(self.insert(1003)) or "")
        self.attach(cluster=standby)
        self.assertEqual((self.wrong(standby), self.believed(standby)), ("0", True))
        self.assertEqual((self.wrong(), self.believed()), ("0", False), "the file is the other server's now")
        standby.stop()


class Foreign(unittest.TestCase):
    def test_a_remote_lookup_is_saved_where_the_filter_says_no(self):
        path = make_foreign(MAIN, 500)
        plan = MAIN.ask(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM far WHERE key = -1 AND bf_maybe('{path}', -1)")
        self.assertIn("One-Time Filter: bf_maybe", plan)
        self.assertRegex(plan, r"Foreign Scan on far \(never executed\)")
        plan = MAIN.ask(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM far WHERE key = 7 AND bf_maybe('{path}', 7)")
        self.assertRegex(plan, r"Foreign Scan on far \(actual .* rows=1 loops=1\)")


def make_foreign(cluster, rows):
    """The table `near`, and `far`, which is the same through a connection of the server to itself."""
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
    """As the server measures it. A query comes first, so that the remote connection is there."""
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
    """Answers and the false-positive rate first. Then A B A B, and medians."""
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
    if BENCH:
        bench()
    else:
        engines.main()
