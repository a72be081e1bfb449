"""capi/engines/nginx: nginx asks a filter before it asks a database. The test runs the real nginx with Lua, a small server over SQLite
that counts the requests which reach it, a writer and a builder of the filter. All of them are killed. No item that is there may
be answered 404.

Arguments: see engines.py; or --bench, which needs wrk and prints how many requests reach the database, and requests a second.
"""
import collections
import contextlib
import http.client
import http.server
import itertools
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import time
import traceback
import unittest

import engines
import bfstore_ctypes as bfs  # found only after engines
import bfstore_header


TREE, ASKED = engines.arguments(kills=40, search=False, bench=False)
engines.needs(programs={"nginx": "nginx"})
LIBRARY = bfs.load(TREE.library)
CODES = bfstore_header.codes(TREE.root / "capi" / "bfstore.h")
RECOVERABLE = [CODES[name] for name in ("BFS_EUNCLEAN", "BFS_EPOISONED", "BFS_ERECOVERING")]
EXAMPLE = TREE.root / "capi" / "engines" / "nginx"
OWNER = EPOCH = 1
ITEMS, FPR, TICK = 5000, 0.01, 0.1

# Debian's packages of Lua for nginx cannot be installed next to its luajit: tools/setup.sh unpacks them here.
UNPACKED = TREE.root / "build-deps" / "nginx-lua" / "root"
PLACE = UNPACKED if UNPACKED.is_dir() else pathlib.Path("/")
MODULES = PLACE / "usr" / "lib" / "nginx" / "modules"
engines.needs(files={f"{MODULES}/ndk_http_module.so": "libnginx-mod-http-ndk", f"{MODULES}/ngx_http_lua_module.so": "libnginx-mod-http-lua",
                     f"{PLACE}/usr/share/lua/5.1/resty/core.lua": "lua-resty-core",
                     f"{PLACE}/usr/share/lua/5.1/resty/lrucache.lua": "lua-resty-lrucache",
                     f"{PLACE}/usr/lib/*/libluajit-5.1.so.2": "libluajit2-5.1-2", "/usr/lib/*/libpcre.so.3": "libpcre3"})


class WrongNo(Exception):
    pass


class Refused(Exception):
    """The filter took no key, or could not be opened: the transaction is rolled back, and the filter opened again."""


def good(code):
    if code < 0:
        raise Refused(code)
    return code


# --- The application: a database and its filter -----------------------------------------------------------------------

class Place:
    def __init__(self, folder):
        self.database, self.filter = folder / "items.db", folder / "items.bf"

    @property
    def name(self):
        return os.fsencode(self.filter)

    @contextlib.contextmanager
    def connected(self):
        database = sqlite3.connect(self.database, timeout=engines.PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            yield database
        finally:
            database.close()

    def make(self, count):
        with self.connected() as database:
            database.executescript("""PRAGMA journal_mode=WAL;
                CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE)""")
            with transaction(database):
                database.executemany("INSERT INTO items (key) VALUES (?)", [(f"item-{number}",) for number in range(count)])

    def keys(self, after=0):
        with self.connected() as database:
            return keys_of(database, after)

    def build(self, keys, path=None, **size):
        """Builds the filter as bf build --force does."""
        handle = bfs.create(LIBRARY, path or self.name, bfs.UNPUBLISHED | bfs.REPLACE,
                            **{"capacity": len(keys), "fpr": FPR, "seed": 1, **size})
        try:
            add(handle, keys)
            good(LIBRARY.bfs_publish(handle, None))
        finally:
            LIBRARY.bfs_close(handle, None)


def keys_of(database, after=0):
    return [key for key, in database.execute("SELECT key FROM items WHERE id > ? ORDER BY id", (after,))]


def add(handle, keys):
    for key in keys:
        good(LIBRARY.bfs_add(handle, key.encode(), len(key)))


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


class Writer:
    """Adds items, by the engine's protocol, until it is killed."""

    def __init__(self, place, seed):
        self.place, self.rng, self.handle = place, random.Random(seed), None

    def work(self):
        with self.place.connected() as self.database:
            while True:
                try:
                    self.open()
                    while True:
                        self.put(f"item-{self.rng.getrandbits(60):x}")
                        if self.rng.random() < 0.05:
                            self.sync()
                except (Refused, bfs.CodeError, sqlite3.OperationalError):
                    time.sleep(0.001)  # clock: between two tries

    def close(self):
        if self.handle is not None:
            LIBRARY.bfs_close(self.handle, None)
        self.handle = None

    def open(self):
        self.close()
        try:
            self.handle = bfs.open_path(LIBRARY, self.place.name, bfs.WRITE)
        except bfs.CodeError as refused:
            if refused.code not in RECOVERABLE:
                raise
            self.handle = bfs.open_path(LIBRARY, self.place.name, bfs.WRITE | bfs.RECOVER)
            self.compare()
            good(LIBRARY.bfs_finish_recovery(self.handle, OWNER, None))
        self.compare()

    def compare(self):
        with transaction(self.database):
            add(self.handle, keys_of(self.database, LIBRARY.bfs_get_mark(self.handle, OWNER, EPOCH)))

    def put(self, key):
        with transaction(self.database):
            self.database.execute("INSERT INTO items (key) VALUES (?)", (key,))
            add(self.handle, [key])

    def sync(self):
        """Syncs the filter. There is one writer, so every committed row has its key in the filter."""
        last, = self.database.execute("SELECT max(id) FROM items").fetchone()
        good(LIBRARY.bfs_sync(self.handle, bfs.mark(OWNER, EPOCH, last), None))


class Builder:
    """Replaces the filter while the writer uses it, again and again, until it is killed."""

    def __init__(self, place, seed):
        self.place, self.rng = place, random.Random(seed)

    def work(self):
        while True:
            with contextlib.suppress(Refused, bfs.CodeError, sqlite3.OperationalError):
                self.replace()
            time.sleep(self.rng.uniform(0, 0.3))  # clock: between two builds

    def replace(self):
        with self.place.connected() as database:
            last, = database.execute("SELECT max(id) FROM items").fetchone()
            handle = bfs.create(LIBRARY, self.place.name, bfs.UNPUBLISHED | bfs.REPLACE, capacity=self.rng.randint(40_000, 80_000), fpr=FPR)
            try:
                add(handle, keys_of(database))
                self.end_of_the_log(handle, database, last)
                good(LIBRARY.bfs_publish(handle, None))
            finally:
                LIBRARY.bfs_close(handle, None)

    def end_of_the_log(self, handle, database, last):
        """Waits in a transaction for one that has added to the old filter, and has not committed yet."""
        good(LIBRARY.bfs_supersede(handle, None))
        with transaction(database):
            add(handle, keys_of(database, last))


class Backend:
    """A server over the database, in a process of its own. It counts the requests that reach it."""

    def __init__(self, place):
        self.place, self.reached = place, multiprocessing.Value("Q")
        server = self.bound()
        self.port = server.server_port
        self.process = multiprocessing.Process(target=self.serve, args=(server,), daemon=True)
        self.process.start()
        server.socket.close()

    def serve(self, server):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        server.serve_forever()

    def bound(self):
        """It listens already: the kernel keeps connections until the other process accepts them."""
        place, reached = self.place, self.reached

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle(self):
                with place.connected() as self.database:
                    super().handle()

            def do_GET(self):
                with reached.get_lock():
                    reached.value += 1
                key = self.path.partition("?")[0].rpartition("/")[2]
                row = self.database.execute("SELECT id FROM items WHERE key = ?", (key,)).fetchone()
                body = b"" if self.command == "HEAD" else b"%d\n" % row if row else b"none\n"
                self.send_response(200 if row else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_HEAD = do_PUT = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_):  # nginx's worker was killed
                pass

        return Server(("127.0.0.1", 0), Handler)

    def count(self, work):
        before = self.reached.value
        work()
        return self.reached.value - before


# --- nginx ------------------------------------------------------------------------------------------------------------

def replaced(text, *pairs):
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the example"
        text = text.replace(old, new)
    return text


class Nginx:
    """The example as it is, except for ports, places and the time between two looks."""

    def __init__(self, prefix, backend, lua=(), configuration=()):
        self.port = engines.free_port()
        temporary = "".join(f"{kind}_temp_path {kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        prefix.joinpath("nginx.conf").write_text(replaced(
            EXAMPLE.joinpath("nginx.conf").read_text("utf-8"), ("127.0.0.1:8081", f"127.0.0.1:{backend.port}"),
            ("127.0.0.1:8080", f"127.0.0.1:{self.port}"), ("/usr/lib/nginx/modules/ndk", f"{MODULES}/ndk"),
            ("/usr/lib/nginx/modules/ngx_http_lua", f"{MODULES}/ngx_http_lua"), ("/usr/share/lua", f"{PLACE}/usr/share/lua"),
            ('"items.bf", 1)', f'"items.bf", {TICK})'), ("access_log off;", "access_log off;\n" + temporary), *configuration), "utf-8")
        prefix.joinpath("filter.lua").write_text(replaced(EXAMPLE.joinpath("filter.lua").read_text("utf-8"), *lua), "utf-8")
        libraries = [str(TREE.library.parent), *map(str, PLACE.glob("usr/lib/*-linux-gnu"))]
        user = "user root; " if os.geteuid() == 0 else ""
        self.errors = prefix / "error.log"
        self.server = engines.Server(
            ["nginx", "-p", f"{prefix}/", "-c", "nginx.conf", "-e", "error.log", "-g", f"daemon off; {user}"], self.serves,
            prefix / "words.log", env={**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)})

    def stop(self):
        self.server.stop()

    def serves(self):
        """The master listens before it has workers."""
        words = self.errors.read_text("utf-8") if self.errors.exists() else ""
        return words.count("start worker process ") == 2

    def workers(self):
        pid = self.server.process.pid
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


class Client:
    """A client that asks again if the connection broke because a worker was killed, or if nginx got no answer from the database."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def ask(self, path, method="GET"):
        deadline = engines.Deadline("an answer of nginx")
        while True:
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=engines.PATIENCE)
                self.connection.request(method, path)
                answer = self.connection.getresponse()
                answer.read()
                if answer.status not in (502, 504):
                    return answer.status
            except (ConnectionError, TimeoutError, http.client.HTTPException):
                self.__exit__()
            deadline.check()

    def item(self, key):
        return self.ask(f"/items/{key}")


# --- The campaign -----------------------------------------------------------------------------------------------------

def forked(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    return pid


def put(place, key):
    """Puts an item, from a process of its own."""
    def work():
        writer = Writer(place, 0)
        with place.connected() as writer.database:
            writer.open()
            writer.put(key)
    status = os.waitpid(forked(work), 0)[1]
    if status != 0:
        raise AssertionError(f"a writer ended with {status}")


KILLED = ("writers killed", "builders killed", "nginx's workers killed")


class Campaign:
    """Each accident waits until nginx has answered from the filter since the last one, and then for some more questions. So it
    comes at any moment, and the filter is asked on a machine of any speed."""
    Writer, Builder = Writer, Builder

    def __init__(self, place, nginx, backend, rng):
        self.place, self.nginx, self.backend, self.rng = place, nginx, backend, rng
        self.client, self.counts = Client(nginx.port), collections.Counter()
        self.processes = {}
        self.names, self.until_accident = itertools.count(), None

    def start(self, kind):
        worker = kind(self.place, self.rng.random())
        self.processes[kind] = forked(worker.work)

    def kill(self, kind):
        os.kill(self.processes[kind], signal.SIGKILL)
        if not os.WIFSIGNALED(os.waitpid(self.processes.pop(kind), 0)[1]):
            raise AssertionError(f"the {kind.__name__} ended by itself")
        self.counts[f"{kind.__name__.lower()}s killed"] += 1

    def accident(self):
        self.until_accident = None
        what = self.rng.choice([self.Writer, self.Builder, None])
        if what:
            self.kill(what)
            self.start(what)
            return
        workers = self.nginx.workers()
        if workers:
            os.kill(self.rng.choice(workers), signal.SIGKILL)
            self.counts["nginx's workers killed"] += 1

    def check(self):
        with self.place.connected() as database:  # closed at once: SQLite's connections do not survive a fork
            rows = [key for key, in database.execute("SELECT key FROM items ORDER BY id DESC LIMIT 10")]
        rows += [f"item-{self.rng.randrange(ITEMS)}" for _ in range(5)]
        for key in rows:
            status = self.client.item(key)
            if status == 404:
                raise WrongNo(key)
            if status != 200:  # from the database, or from nginx: the filter answers only 404
                raise AssertionError(f"{key}: {status}")
        self.counts["asked"] += len(rows)
        reached = self.backend.count(lambda: [self.client.item(f"absent-{next(self.names)}") for _ in range(5)])
        self.counts["absent asked"] += 5
        self.counts["absent reached"] += reached
        if reached < 5 and self.until_accident is None:
            self.until_accident = self.rng.randrange(10)

    def is_filtered(self):
        """Whether the worker that has this campaign's connection answers from the filter."""
        return self.backend.count(lambda: [self.client.item(f"absent-{next(self.names)}") for _ in range(20)]) < 10

    def round(self):
        self.check()
        if self.until_accident == 0:
            self.accident()
        elif self.until_accident:
            self.until_accident -= 1

    def kills(self):
        return sum(self.counts[kind] for kind in KILLED)

    def met(self):
        return min(self.counts[kind] for kind in KILLED) >= 3

    def run(self, kills):
        try:
            for kind in (self.Writer, self.Builder):
                self.start(kind)
            engines.go_on(self.round, kills, self.kills, self.met)
        finally:
            self.client.__exit__()
            for kind in list(self.processes):
                self.kill(kind)


class AddsAfterTheCommit(Campaign):
    class Writer(Writer):
        def put(self, key):
            with transaction(self.database):
                self.database.execute("INSERT INTO items (key) VALUES (?)", (key,))
            in_the_mistake(0.003)
            add(self.handle, [key])


class PublishesWithoutTheEnd(Campaign):
    class Builder(Builder):
        def end_of_the_log(self, handle, database, last):
            in_the_mistake(0.02)


def in_the_mistake(seconds):
    """Stops where a look finds the mistake. In a search at random it only waits for that time."""
    time.sleep(seconds) if ASKED.search else engines.stop_here()  # clock: --search


# --- Tests ------------------------------------------------------------------------------------------------------------

class Filtered(unittest.TestCase):
    def setUp(self):
        self.groups = itertools.count()  # numbers absent items: with fixed names and a fixed seed the false positives are fixed
        folder = engines.folder()
        self.place = Place(folder)
        self.place.make(ITEMS)
        self.place.build(self.place.keys())
        self.backend = Backend(self.place)
        self.addCleanup(self.backend.process.join)
        self.addCleanup(self.backend.process.terminate)
        self.serve(folder)

    def serve(self, folder, **changes):
        self.nginx = Nginx(folder, self.backend, **changes)
        self.addCleanup(self.nginx.stop)
        self.client = self.enterContext(Client(self.nginx.port))

    def reached(self, count=400):
        """Returns how many of `count` absent items reach the database. Asks over several connections, so that both workers answer."""
        name = f"absent-{next(self.groups)}"

        def ask():
            with contextlib.ExitStack() as open_ones:
                clients = [open_ones.enter_context(Client(self.nginx.port)) for _ in range(10)]
                for number in range(count):
                    self.assertEqual(clients[number % 10].item(f"{name}-{number}"), 404)
        return self.backend.count(ask)

    def present_pass(self, step=7):
        for key in self.place.keys()[::step]:
            self.assertEqual(self.client.item(key), 200, key)

    def wait_until_filtered(self):
        engines.wait_until(lambda: self.reached(60) < 10, "the filter in use")

    def wait_until_open(self):
        engines.wait_until(lambda: self.reached(60) == 60, "everything passes")


class Answers(Filtered):
    def test_items_that_are_there_pass_and_of_the_others_the_false_positives_alone(self):
        self.present_pass(step=3)
        count = self.reached(3000)
        self.assertLess(count, 3000 * FPR * 2)  # 30 on average, and 5.5 the standard deviation
        self.assertGreater(count, 3000 * FPR / 3)

    def test_only_the_one_spelling_and_no_method_that_writes_is_answered_by_the_filter(self):
        def passes(path, method="GET"):
            return self.backend.count(lambda: self.client.ask(path, method)) == 1
        for path, method in (("/items/none", "GET"), ("/items/none", "HEAD"), ("/items/none?page=2", "GET")):
            self.assertFalse(passes(path, method), path)
        for path, method in (("/items/none", "PUT"), ("/items/none", "DELETE"), ("/items/n%6Fne", "GET"), ("//items/none", "GET"),
                             ("/x/../items/none", "GET"), ("/items/none/", "GET"), ("/items/", "GET"), ("/", "GET")):
            self.assertTrue(passes(path, method), f"{method} {path}")

    def test_an_item_that_another_process_adds_passes_at_once(self):
        for number in range(100):
            key = f"new-{number}"
            put(self.place, key)
            self.assertEqual(self.client.item(key), 200, key)

    def test_a_filter_that_replaces_another_is_picked_up(self):
        workers = self.nginx.workers()
        with self.place.connected() as database:
            database.execute("INSERT INTO items (key) VALUES ('late')")
        self.assertEqual(self.client.item("late"), 404, "what this test stands on")
        self.place.build(self.place.keys(), capacity=4 * ITEMS, seed=2)
        self.assertEqual(self.client.item("late"), 200)  # without a wait: the old filter is in doubt
        self.wait_until_filtered()
        self.present_pass()
        with self.place.connected() as database:
            database.execute("INSERT INTO items (key) VALUES ('later')")
        self.place.build(self.place.keys(), path=self.place.name + b".new")
        os.replace(self.place.name + b".new", self.place.name)  # by another program
        self.assertEqual([self.client.item("later") for _ in range(20)], [200] * 20)
        self.present_pass()
        self.assertEqual(self.nginx.workers(), workers)


class BehindItsBack(Filtered):
    """The rows of README's table that no other test has. No worker looks at the file between two requests here."""

    def serve(self, folder, **changes):
        super().serve(folder, configuration=[(f'"items.bf", {TICK})', '"items.bf", 1e6)')], **changes)

    def replace(self, move):
        """Makes a filter of one more item, and moves it to the path, as another program does."""
        with self.place.connected() as database:
            database.execute("INSERT INTO items (key) VALUES ('late')")
        self.assertEqual(self.client.item("late"), 404, "what this test stands on")
        new = self.place.filter.with_suffix(".new")
        self.place.build(self.place.keys(), path=os.fsencode(new))
        move(new, self.place.filter)
        self.assertEqual([self.client.item("late") for _ in range(40)], [200] * 40)
        self.present_pass(step=50)

    def test_another_file_that_is_moved_to_the_path_is_seen_at_the_next_request(self):
        self.replace(os.replace)

    def test_another_file_that_is_copied_over_it_is_seen_at_the_next_request(self):
        self.replace(shutil.copyfile)

    def test_another_file_that_is_written_over_it_in_place_is_seen_at_the_next_request(self):
        def write(new, path):
            with open(path, "r+b") as file:
                file.write(new.read_bytes())
        self.replace(write)

    def test_an_older_file_that_comes_back_is_asked_only_after_it_was_opened(self):
        shutil.copy(self.place.filter, self.place.filter.with_suffix(".old"))
        put(self.place, "late")
        self.assertEqual(self.client.item("late"), 200)
        os.replace(self.place.filter.with_suffix(".old"), self.place.filter)
        self.assertEqual([self.client.item("late") for _ in range(40)], [200] * 40)

    def test_a_file_that_is_moved_away_lets_everything_pass(self):
        os.rename(self.place.filter, self.place.filter.with_suffix(".away"))
        self.assertEqual(self.reached(60), 60)

    def test_an_item_of_the_database_alone_is_404_as_readme_says(self):
        with self.place.connected() as database:
            database.execute("INSERT INTO items (key) VALUES ('past-the-filter')")
        self.assertEqual(self.client.item("past-the-filter"), 404)


class Doubt(Filtered):
    def test_a_missing_or_damaged_file_lets_everything_pass_until_there_is_a_good_one(self):
        workers, size = self.nginx.workers(), self.place.filter.stat().st_size
        accidents = {"removed": self.place.filter.unlink,
                     "another file": lambda: self.place.filter.write_bytes(b"<html>" * 1000),
                     "truncated": lambda: os.truncate(self.place.filter, 4096),
                     "empty": lambda: os.truncate(self.place.filter, 0),
                     "zeros": lambda: self.place.filter.write_bytes(bytes(size))}
        for name, accident in accidents.items():
            with self.subTest(name):
                self.wait_until_filtered()
                accident()
                self.present_pass(step=50)
                self.wait_until_open()
                self.present_pass(step=50)
                with contextlib.suppress(FileNotFoundError):
                    self.place.filter.unlink()
                self.place.build(self.place.keys())
        self.wait_until_filtered()
        self.assertEqual(self.nginx.workers(), workers, "a worker died")

    def test_while_another_filter_is_being_put_in_its_place_everything_passes(self):
        handle = bfs.create(LIBRARY, self.place.name, bfs.UNPUBLISHED | bfs.REPLACE, capacity=ITEMS, fpr=FPR)
        good(LIBRARY.bfs_supersede(handle, None))
        self.assertEqual(self.reached(60), 60)
        LIBRARY.bfs_close(handle, None)
        self.wait_until_filtered()

    def test_without_the_library_or_with_an_error_in_lua_everything_passes(self):
        for what, lua in (("no library", ("libbfstore.so.0", "libbfstore-none.so.0")), ("an error", ("if filter == nil", "if none.such"))):
            with self.subTest(what):
                folder = engines.folder()
                shutil.copy(self.place.filter, folder)
                self.serve(folder, lua=[lua])
                self.assertEqual(self.reached(60), 60)
                self.present_pass(step=50)


class Kills(Filtered):
    def campaign(self, kind=Campaign):
        rng = random.Random(f"{ASKED.seed} {kind.__name__}")  # of its own: two campaigns in one database write other keys
        campaign = kind(self.place, self.nginx, self.backend, rng)
        self.addCleanup(campaign.client.__exit__)
        return campaign

    def recover(self):
        """Recovers the filter, as the next writer does. The last one may have been killed while it recovered; until then all requests
        pass."""
        def opens():
            with contextlib.suppress(Refused, bfs.CodeError, sqlite3.OperationalError):
                writer.open()
                return True
        with contextlib.closing(Writer(self.place, 0)) as writer, self.place.connected() as writer.database:
            engines.wait_until(opens, "a writer")

    def test_no_item_is_answered_404_whatever_is_killed(self):
        campaign = self.campaign()
        self.addClassCleanup(lambda: print(dict(campaign.counts)))
        campaign.run(ASKED.kills)
        self.recover()
        self.wait_until_filtered()

    def search(self, mistake):
        with self.assertRaises(WrongNo):
            self.campaign(mistake).run(2**62)

    def go_on(self, campaign, kind):
        """Lets it run until it stops in its next mistake."""
        os.kill(campaign.processes[kind], signal.SIGCONT)
        engines.stopped(campaign.processes[kind])

    def test_a_writer_that_adds_after_the_commit_makes_a_wrong_no(self):
        if ASKED.search:
            return self.search(AddsAfterTheCommit)
        campaign = self.campaign(AddsAfterTheCommit)
        writer = campaign.Writer
        self.addCleanup(lambda: campaign.kill(writer))
        campaign.start(writer)
        engines.stopped(campaign.processes[writer])
        with self.assertRaises(WrongNo):
            for _ in range(3):  # a key may be one of the filter's false positives
                engines.wait_until(campaign.is_filtered, "the filter in use")
                campaign.check()
                self.go_on(campaign, writer)

    def test_a_builder_that_publishes_without_the_end_of_the_log_makes_a_wrong_no(self):
        if ASKED.search:
            return self.search(PublishesWithoutTheEnd)
        campaign = self.campaign(PublishesWithoutTheEnd)
        builder = campaign.Builder
        self.addCleanup(lambda: campaign.kill(builder))
        campaign.start(builder)
        engines.stopped(campaign.processes[builder])
        for number in range(3):  # a key may be one of the filter's false positives
            put(self.place, f"late-{number}")
        self.go_on(campaign, builder)
        engines.wait_until(campaign.is_filtered, "the filter in use")
        with self.assertRaises(WrongNo):
            campaign.check()


# --- Measured ---------------------------------------------------------------------------------------------------------

LOAD = """
local present, numbers = %f, %d
math.randomseed(%d)
request = function()
  local name = math.random() < present and "item-" or "absent-"
  return wrk.format("GET", "/items/" .. name .. math.random(0, numbers - 1))
end
"""


class Bench(Filtered):
    """Measures in turns: with the filter, and without one in the same nginx, whose configuration then has no Lua."""
    ROUNDS, LENGTH = 5, 3

    def measure(self):
        engines.needs(programs={"wrk": "wrk"})
        self.present_pass()
        self.assertLess(self.reached(1000), 1000 * FPR * 2.5)
        plain = engines.folder()
        shutil.copy(self.place.filter, plain)
        text = EXAMPLE.joinpath("nginx.conf").read_text("utf-8")
        block = re.search(r"      access_by_lua_block \{.*?\n      \}\n", text, re.DOTALL)[0]
        without = Nginx(plain, self.backend, configuration=[(block, "")])
        self.addCleanup(without.stop)
        for present in (0, 0.1, 1):
            rounds = [(self.load(self.nginx, present), self.load(without, present)) for _ in range(self.ROUNDS)]
            for name, runs in (("filter", [one for one, _ in rounds]), ("none", [one for _, one in rounds])):
                rate, share = (statistics.median(column) for column in zip(*runs, strict=True))
                print(f"{present:4.0%} present, {name:6}: {rate:6.0f} requests/s, {share:7.2%} reach the database", flush=True)
            print(f"     ratio: {statistics.median(one[0] / other[0] for one, other in rounds):.1f}")

    def load(self, nginx, present):
        """Returns (requests a second, share of them that reached the database)."""
        script = nginx.errors.parent / "load.lua"
        script.write_text(LOAD % (present, ITEMS, ASKED.seed), "utf-8")
        words = []
        reached = self.backend.count(lambda: words.append(subprocess.run(
            ["wrk", "-t1", "-c8", f"-d{self.LENGTH}", "-s", str(script), f"http://127.0.0.1:{nginx.port}"],
            check=True, capture_output=True, text=True).stdout))
        requests = int(re.search(r"(\d+) requests in", words[0])[1])
        self.assertNotIn("Socket errors", words[0])
        return float(re.search(r"Requests/sec: +([\d.]+)", words[0])[1]), reached / requests


def load_tests(loader, _tests, _pattern):
    if ASKED.bench:
        return unittest.TestSuite([Bench("measure")])
    return unittest.TestSuite(loader.loadTestsFromTestCase(kind) for kind in (Answers, BehindItsBack, Doubt, Kills))


if __name__ == "__main__":
    engines.main()
