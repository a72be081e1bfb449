"""The module capi/engines/redis in a real server. Its replies are compared, and no key that a server acknowledged may be
answered "no", whatever happened to the server.

Arguments: see engines.py; or --bench, which only measures, and --rival=MODULE, another module with the BF commands to measure beside.
--server=PATH is another server than Debian's: a newer one, or Valkey's.
"""

import contextlib
import itertools
import logging
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
from typing import NamedTuple

import engines

TREE, ASKED = engines.arguments(kills=2, server="redis-server", bench=False, rival="")
SERVER = ASKED.server
CLI = str(pathlib.Path(SERVER).with_name(pathlib.Path(SERVER).name.replace("server", "cli")))
if not shutil.which(CLI):
    CLI = "redis-cli"  # if only a server is there: both know each other's commands
if "/" in SERVER and not shutil.which(SERVER):
    engines.unfetched(SERVER)
engines.needs(programs={SERVER: "redis-server", CLI: "redis-tools"}, modules={"redis": "python3-redis"})
import bfstore_ctypes as bfs
import redis

LIBRARY = bfs.load(str(TREE.library))
MODULE = TREE.out / "bfstore-redis.so"
ABSENT = [f"absent-{i}" for i in range(2000)]
FPR = 0.01
YEAR = 365 * 86_400_000  # milliseconds: no epoch of such a window ends while a test runs
KEYS_OF_A_LIFE = 1000  # at most, of a server that is killed; and some while the kill comes
logging.getLogger("redis.cluster").setLevel(logging.CRITICAL)  # it tells of every slot that moved


REWRITING = ["--appendonly", "yes", "--auto-aof-rewrite-percentage", "50", "--auto-aof-rewrite-min-size", "20kb"]


def build(module, *more):
    sources = sorted((TREE.root / "capi" / "engines" / "redis").glob("*.c"))
    subprocess.run([*TREE.cc, "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
                    "-Werror", f"-I{TREE.root / 'capi'}", *sources, *more, TREE.archive, "-lstdc++", "-lm", "-pthread", "-o", module],
                   check=True)


def setUpModule():
    build(MODULE)


def keys(count, first=0):
    return [f"key-{i}" for i in range(first, first + count)]


class Redis:
    """A server with the module in a folder of its own, which it finds again when it is started again. Its log has every
    acknowledged add: with the server's default, everysec, a kill loses adds while an fsync is slow."""

    def __init__(self, *options, folder=None, module=("--loadmodule", MODULE), environment=None):
        self.folder, self.options, self.environment = folder or engines.folder(), (*module, *options), environment
        self.start()

    def start(self):
        self.port = engines.free_port()
        command = [SERVER, "--bind", "127.0.0.1", "--port", self.port, "--dir", self.folder, "--save", "",
                   "--appendfsync", "always", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0", *self.options]
        self.client = redis.Redis(port=self.port)
        self.server = engines.Server(command, self.answers, self.folder / "log", env=self.environment)

    def answers(self):
        with contextlib.suppress(redis.ConnectionError, redis.BusyLoadingError):
            return self.client.ping()
        return False

    def warnings(self):
        return [line for line in (self.folder / "log").read_text("utf-8", "replace").splitlines() if "maybe" in line][-5:]

    def call(self, *words):
        return self.client.execute_command(*(str(word) if isinstance(word, pathlib.Path) else word for word in words))

    def add(self, name, items):
        return self.call("BF.MADD", name, *items)

    def ask(self, name, items):
        return self.call("BF.MEXISTS", name, *items)

    def state(self, name):
        return self.call("BF.INFO", name, "STATE")[0]

    def digest(self, *names):
        return self.call("DEBUG", "DIGEST-VALUE", *names)

    def wait_for_rewrite(self):
        def is_done():
            told = self.client.info()
            return told["aof_rewrite_in_progress"] == 0 and told["aof_rewrite_scheduled"] == 0
        engines.wait_until(is_done, "a rewritten log")

    def wait_for_replica(self):
        """Waits until the replica has all writes of this client."""
        engines.wait_until(lambda: self.call("WAIT", 1, 1000) == 1, "a replica in step")

    def rewrite(self):
        self.call("BGREWRITEAOF")
        self.wait_for_rewrite()

    def restart(self, by=signal.SIGTERM):
        self.server.stop(by)
        self.start()


@contextlib.contextmanager
def running(*options, **how):
    made = Redis(*options, **how)
    try:
        yield made
    finally:
        made.server.kill()


class Wire:
    """A client that returns replies without a client library's conversions: an error is ("error", text), a map a dict."""

    def __init__(self, port, protocol):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            self.stream = connection.makefile("rwb")
        self.call("HELLO", protocol)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stream.close()

    def call(self, *words):
        encoded = [str(word).encode() for word in words]
        self.stream.write(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        self.stream.flush()
        return self.read()

    def read(self):
        line = self.stream.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind in b"+$" and kind != b"":
            return rest.decode() if kind == b"+" else self.bulk(int(rest))
        if kind == b"-":
            return ("error", rest.decode())
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        if kind == b"*":
            return [self.read() for _ in range(int(rest))] if rest != b"-1" else None
        return {b":": lambda: int(rest), b"#": lambda: rest == b"t", b"_": lambda: None}[kind]()

    def bulk(self, length):
        return None if length < 0 else self.stream.read(length + 2)[:-2]


class FilterCase(unittest.TestCase):
    def assert_there(self, server, name, items):
        for at in range(0, len(items), 1000):
            self.assertNotIn(0, server.ask(name, items[at:at + 1000]))

    def filters(self, server, name, fpr=FPR, deviations=5):
        """Returns whether absent keys get the answer no, except for the promised share (and that many standard deviations). The
        seeds are fixed, and so is the answer."""
        return sum(server.ask(name, ABSENT)) <= len(ABSENT) * fpr + deviations * (len(ABSENT) * fpr) ** 0.5

    def assert_filters(self, server, name, **how):
        self.assertTrue(self.filters(server, name, **how), (name, server.warnings()))

    def assert_all_maybe(self, server, name):
        self.assertEqual(server.ask(name, ABSENT[:50]), [1] * 50)

    def refuses(self, text, server, *words):
        with self.assertRaisesRegex(redis.ResponseError, text):
            server.call(*words)

    def follow(self, replica, server):
        replica.call("REPLICAOF", "127.0.0.1", server.port)
        engines.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up", "a replica")
        server.wait_for_replica()

    def kill_often(self, server, come_back=lambda acknowledged: None):
        """Kills the server at any moment, while it adds keys or rewrites its log. come_back() does what an operator does then."""
        acknowledged, chance = [], random.Random(ASKED.seed)

        def add():
            server.call("BF.ADD", "f", f"key-{len(acknowledged)}")
            acknowledged.append(f"key-{len(acknowledged)}")
        for _ in range(ASKED.kills):
            for _ in range(chance.randint(1, KEYS_OF_A_LIFE)):
                add()
            killer = threading.Timer(chance.uniform(0, 0.01), server.server.process.kill)
            killer.start()
            with contextlib.suppress(redis.ConnectionError):
                while True:
                    add()
            killer.join()
            server.restart(signal.SIGKILL)
            self.assert_there(server, "f", acknowledged)
            come_back(acknowledged)
            self.assert_filters(server, "f")
            self.assert_there(server, "f", acknowledged)


class Replies(FilterCase):
    def test_resp2_replies_are_redisbloom_s(self):
        with running() as server, Wire(server.port, 2) as wire:
            self.assertEqual(wire.call("BF.RESERVE", "f", "0.001", "100"), "OK")
            self.assertEqual(wire.call("BF.ADD", "f", "a"), 1)
            self.assertEqual(wire.call("BF.ADD", "f", "a"), 0)
            self.assertEqual(wire.call("BF.MADD", "f", "a", "b"), [0, 1])
            self.assertEqual(wire.call("BF.MEXISTS", "f", "a", "b", "c"), [1, 1, 0])
            self.assertEqual(wire.call("BF.EXISTS", "none", "a"), 0)
            self.assertEqual(wire.call("BF.CARD", "f"), 2)
            self.assertEqual(wire.call("BF.CARD", "none"), 0)
            size = wire.call("BF.INFO", "f", "SIZE")[0]
            self.assertGreater(size, 100 * 14 / 8)
            self.assertEqual(wire.call("BF.INFO", "f"),
                             ["Capacity", 100, "Size", size, "Number of filters", 1, "Number of items inserted", 2,
                              "Expansion rate", 2])
            self.assertEqual(wire.call("BF.INSERT", "n", "CAPACITY", 2, "NONSCALING", "ITEMS", "a", "b", "c", "d"),
                             [1, 1, ("error", "ERR non scaling filter is full")])
            self.assertEqual(wire.call("BF.INFO", "n", "EXPANSION"), [None])
            self.assertEqual(wire.call("BF.RESERVE", "f", "0.01", "9"), ("error", "ERR item exists"))
            self.assertEqual(wire.call("BF.INFO", "none"), ("error", "ERR not found"))
            self.assertEqual(wire.call("SET", "text", "a"), "OK")
            self.assertTrue(wire.call("BF.EXISTS", "text", "a")[1].startswith("WRONGTYPE"))

    def test_resp3_replies_have_booleans_and_maps(self):
        with running() as server, Wire(server.port, 3) as wire:
            self.assertIs(wire.call("BF.ADD", "f", "a"), True)
            self.assertIs(wire.call("BF.EXISTS", "f", "b"), False)
            self.assertEqual([type(answer) for answer in wire.call("BF.MADD", "f", "a", "b")], [bool, bool])
            self.assertEqual([type(answer) for answer in wire.call("BF.MEXISTS", "f", "a", "c")], [bool, bool])
            told = wire.call("BF.INFO", "f")
            self.assertEqual(list(told.items())[0], ("Capacity", 100))
            self.assertEqual(len(told), 5)
            self.assertEqual(wire.call("BF.INFO", "f", "ITEMS"), {"Number of items inserted": 2})
            self.assertEqual(wire.call("BF.CARD", "f"), 2)

    def test_redis_py_s_client_works_unchanged(self):
        with running() as server:
            client = server.client.bf()
            self.assertTrue(client.create("f", FPR, 1000, expansion=4))
            self.assertEqual(client.add("f", "a"), 1)
            self.assertEqual(client.madd("f", "a", "b"), [0, 1])
            self.assertEqual(client.insert("g", ["a", "b"], capacity=500, error=0.001, noScale=True), [1, 1])
            with self.assertRaises(redis.ResponseError):
                client.insert("none", ["a"], noCreate=True)
            self.assertEqual((client.exists("f", "b"), client.exists("f", "c")), (1, 0))
            self.assertEqual(client.mexists("f", "a", "c"), [1, 0])
            told = client.info("f")
            self.assertEqual((told.capacity, told.filterNum, told.insertedNum, told.expansionRate), (1000, 1, 2, 4))
            self.assertIsNone(client.info("g").expansionRate)
            at, chunks = 0, []
            while True:
                at, chunk = client.scandump("f", at)
                if at == 0:
                    break
                chunks.append((at, chunk))
            for at, chunk in chunks:
                client.loadchunk("copy", at, chunk)
            self.assertEqual(server.digest("f"), server.digest("copy"))

    def test_clients_find_the_module_by_redisbloom_s_name(self):
        with running() as server:
            versions = {module[b"name"]: module[b"ver"] for module in server.client.module_list()}  # Valkey's Lua is one, too
            self.assertEqual(versions[b"bf"] // 10000, 2)
            self.assertEqual(server.client.info("bf"), {"bf_bfstore_version": LIBRARY.bfs_version().decode()})

    def test_wrong_calls_are_refused(self):
        with running() as server:
            for words in (["0", "100"], ["1", "100"], ["x", "100"], ["0.1", "0"], ["0.1", "x"], ["0.1", 2**30 + 1],
                          ["0.1", "100", "EXPANSION"], ["0.1", "100", "EXPANSION", "-1"], ["0.1", "100", "OTHER"],
                          ["0.1", "100", "NONSCALING", "EXPANSION", "2"], ["0.1", "100", "LAYOUT", "round"],
                          ["0.1", "100", "LAYOUT", "COUNTING", "EXPANSION", "2"], ["nan", "100"]):
                self.refuses("", server, "BF.RESERVE", "f", *words)
            self.assertEqual(server.call("EXISTS", "f"), 0)
            self.refuses("wrong number", server, "BF.INSERT", "f", "ITEMS")
            self.refuses("NOCREATE", server, "BF.INSERT", "f", "NOCREATE", "CAPACITY", "9", "ITEMS", "a")

    def test_categories_and_memory_are_told(self):
        with running() as server:
            flags = {name: told["flags"] for name, told in server.client.command().items() if name.startswith("bf.")}
            self.assertEqual(len(flags), 15)
            self.assertTrue({"write", "denyoom"} <= set(flags["bf.add"]) and "readonly" in flags["bf.mexists"])
            server.call("BF.RESERVE", "f", FPR, 100000)
            self.assertGreater(server.call("MEMORY", "USAGE", "f"), 100000 * 9.5 / 8)

    def test_a_user_may_have_the_commands_by_category_or_by_name(self):
        with running() as server:
            try:
                server.call("ACL", "SETUSER", "ann", "on", "nopass", "~*", "+@bloom")
            except redis.ResponseError as error:
                self.assertIn("Unknown command or category name", str(error))
                self.assertFalse(self.has_categories(server))
                server.call("ACL", "SETUSER", "ann", "on", "nopass", "~*", "+bf.reserve", "+bf.add", "+bf.exists")
            ann = redis.Redis(port=server.port, username="ann", password="any")
            ann.execute_command("BF.RESERVE", "f", FPR, 100)
            self.assertEqual([ann.execute_command("BF.ADD", "f", "a"), ann.execute_command("BF.EXISTS", "f", "a")], [1, 1])
            with self.assertRaises(redis.exceptions.NoPermissionError):
                ann.execute_command("GET", "f")

    @staticmethod
    def has_categories(server):
        """Returns whether the server lets a module make one. Every Valkey calls itself Redis 7.2.4."""
        told = server.client.info()
        version, first = (told["valkey_version"], (8, 0)) if "valkey_version" in told else (told["redis_version"], (7, 4))
        return tuple(map(int, version.split(".")[:2])) >= first


class Readme(FilterCase):
    def test_the_readme_s_example_is_what_a_server_says(self):
        text = (TREE.root / "capi" / "engines" / "redis" / "README.md").read_text(encoding="utf-8")
        lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
        lines = lines[lines.index(next(line for line in lines if line.startswith("> "))):]
        with attaching() as server:
            os.rename(server.file, server.folder / "users.bf")
            for prompt, said in itertools.groupby(lines, key=lambda line: line.startswith(("> ", "$ "))):
                said = list(said)
                if not prompt:
                    self.assertEqual(answer.splitlines(), said)
                for line in said if prompt else []:
                    words = line[2:].replace("/srv/filters", str(server.folder)).split()
                    answer = "" if line.startswith("$") else self.cli(server, words)

    def cli(self, server, words):
        return subprocess.run([CLI, "--no-raw", "-p", str(server.port), *words], check=True, capture_output=True,
                              text=True).stdout


class Chains(FilterCase):
    def test_a_growing_filter_keeps_its_rate_and_every_key(self):
        with running() as server:
            for expansion in (1, 2, 4):
                name, items = f"f{expansion}", keys(3000)
                server.call("BF.RESERVE", name, FPR, 100, "EXPANSION", expansion, "SEED", 1)
                for at in range(0, len(items), 500):
                    server.add(name, items[at:at + 500])
                self.assert_there(server, name, items)
                self.assert_filters(server, name)
                self.assertGreater(server.client.bf().info(name).filterNum, 2)
            self.assertEqual(server.client.bf().info("f2").filterNum, 5)  # 100 + 200 + 400 + 800 + 1600

    LINKS = 1024

    def longest(self, server, name, seed):
        server.call("BF.RESERVE", name, 0.5, 1, "EXPANSION", 1, "SEED", seed)
        answers = server.add(name, keys(3 * self.LINKS, 10000 * seed))
        self.assertEqual(server.client.bf().info(name).filterNum, self.LINKS)
        return answers

    def test_a_chain_that_has_all_the_filters_it_may_have_takes_no_key_and_keeps_its_own(self):
        with running("--appendonly", "yes") as server, running("--replica-read-only", "no") as replica:
            self.follow(replica, server)
            answers = self.longest(server, "f", 1)
            self.assertRegex(str(answers[-1]), "Maximum expansions reached.* EXPANSION")
            self.assertEqual(sum(answers[:-1]), self.LINKS)
            has = keys(len(answers) - 1, 10000)
            self.refuses("Maximum expansions", server, "BF.ADD", "f", next(key for key in ABSENT if not server.call("BF.EXISTS", "f", key)))
            self.longest(server, "g", 2)
            self.refuses("Maximum expansions", server, "BF.MERGE", "f", "g")
            # Adds by a client of the replica take no filter from the primary's keys.
            server.call("BF.RESERVE", "theirs", 0.5, 1, "EXPANSION", 1, "SEED", 3)
            server.wait_for_replica()
            self.assertRegex(str(replica.add("theirs", keys(3 * self.LINKS, 50000))[-1]), "Maximum expansions")
            server.add("theirs", keys(100))
            server.wait_for_replica()
            self.assert_there(replica, "theirs", keys(100))
            self.assertEqual(replica.state("theirs"), b"good")
            for _ in range(2):
                self.assert_there(server, "f", has)
                self.assertEqual(replica.digest("f"), server.digest("f"))
                payload = server.call("DUMP", "f")
                server.call("RESTORE", "f", 0, payload, "REPLACE")
                server.call("COPY", "f", "copy", "REPLACE")
                for chunk in Dumps.chunks_of(server, "f"):
                    server.call("BF.LOADCHUNK", "loaded", *chunk)
                self.assertEqual(server.digest("copy", "loaded"), server.digest("f") * 2)
                server.call("DEL", "loaded")
                server.rewrite()
                server.restart()
                self.follow(replica, server)

    def test_a_full_filter_that_does_not_grow_takes_no_key_and_keeps_its_own(self):
        with running() as server:
            server.call("BF.RESERVE", "f", FPR, 100, "NONSCALING")
            answers = server.add("f", keys(200))
            self.assertIsInstance(answers[-1], redis.ResponseError)
            self.assertEqual(sum(answers[:-1]), 100)
            self.assert_there(server, "f", keys(len(answers) - 1))

    def test_merging_takes_every_key_of_both(self):
        with running() as server:
            for name, first, seed in (("a", 0, 7), ("b", 5000, 7), ("c", 10000, 8)):
                server.call("BF.RESERVE", name, FPR, 1000, "SEED", seed)
                server.add(name, keys(400, first))
            self.assertEqual(server.call("BF.MERGE", "union", "a", "b", "c"), b"OK")
            for first in (0, 5000, 10000):
                self.assert_there(server, "union", keys(400, first))
            told = server.client.bf().info("union")
            self.assertEqual((told.filterNum, told.insertedNum), (2, 1200))  # equal seeds: one filter
            self.assert_filters(server, "union", fpr=2 * FPR)
            server.add("union", keys(3000, 20000))
            self.assert_there(server, "union", keys(3000, 20000) + keys(400, 10000))
            self.refuses("not found", server, "BF.MERGE", "a", "none")
            server.call("EXPIRE", "union", 1000)
            server.call("BF.MERGE", "union", "a")
            self.assertGreater(server.call("TTL", "union"), 900)
            self.assert_there(server, "union", keys(3000, 20000))

    def test_counting_filters_take_keys_out_again(self):
        with running() as server:
            server.call("BF.RESERVE", "f", FPR, 1000, "LAYOUT", "COUNTING", "SEED", 1)
            server.add("f", keys(500) + keys(250))
            for key in keys(500):
                self.assertEqual(server.call("BF.REM", "f", key), 1)
            self.assert_there(server, "f", keys(250))
            self.assertLess(sum(server.ask("f", keys(250, 250))), 15)
            self.assertEqual(server.call("BF.CARD", "f"), 250)
            self.assertGreaterEqual(server.call("BF.COUNT", "f", "key-0"), 1)
            self.assertEqual(server.call("BF.REM", "f", "never-added"), 0)
            server.add("g", ["a"])
            self.refuses("COUNTING", server, "BF.REM", "g", "a")


class Dumps(FilterCase):
    @staticmethod
    def fill(server):
        """Makes values of all kinds. Returns {name: keys}."""
        server.call("BF.RESERVE", "chain", FPR, 100, "SEED", 1)
        server.call("BF.RESERVE", "tight", 1e-12, 100, "NONSCALING", "SEED", 1)
        server.call("BF.RESERVE", "counting", FPR, 1000, "LAYOUT", "COUNTING", "SEED", 1)
        server.call("BF.RESERVE", "large", FPR, 2000000, "SEED", 1)
        server.call("BF.RESERVE", "window", FPR, 700, "WINDOW", YEAR, "SEED", 1)
        has = {"chain": keys(2000), "tight": keys(90), "counting": keys(500), "large": keys(1000), "made": keys(300),
               "window": keys(300)}
        for name, items in has.items():
            server.add(name, items)
        for epoch in range(3):
            server.call("BF.TURN", "window", epoch)
        for key in has["counting"][250:]:
            server.call("BF.REM", "counting", key)
        has["counting"] = has["counting"][:250]
        return has

    def assert_equal_values(self, server, has, digests):
        for name, items in has.items():
            self.assert_there(server, name, items)
            self.assert_filters(server, name, deviations=10 if name == "made" else 5)  # "made": the server drew its seed
        self.assertEqual(server.digest(*has), digests)

    def test_values_survive_snapshots_and_logs(self):
        for options in (["--save", "3600", "1"], ["--appendonly", "yes"],
                        ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), running(*options) as server:
                has = self.fill(server)
                digests = server.digest(*has)
                server.restart()
                self.assert_equal_values(server, has, digests)
                if "--appendonly" in options:
                    server.rewrite()
                    server.restart()
                    self.assert_equal_values(server, has, digests)
                    server.add("chain", keys(1000, 2000))
                    self.assert_there(server, "chain", keys(3000))

    def test_dump_restore_and_copy_give_equal_values(self):
        with running() as server:
            has = self.fill(server)
            digests = server.digest(*has)
            for name in has:
                server.call("COPY", name, "copy-" + name)
                payload = server.call("DUMP", name)
                server.call("DEL", name)
                server.call("RESTORE", name, 0, payload)
            self.assert_equal_values(server, has, digests)
            self.assertEqual(server.digest(*("copy-" + name for name in has)), digests)

    def test_a_damaged_dump_is_refused(self):
        with running("--sanitize-dump-payload", "no") as server:
            has = self.fill(server)
            payload = server.call("DUMP", "chain")
            chance = random.Random(1)
            for _ in range(200):
                bad = bytearray(payload)
                bad[chance.randrange(len(bad) - 10)] ^= 1 << chance.randrange(8)
                with contextlib.suppress(redis.ResponseError):
                    server.call("RESTORE", "bad", 0, bytes(bad), "REPLACE")
            self.assert_there(server, "chain", has["chain"])

    @staticmethod
    def chunks_of(server, name):
        chunks = [server.call("BF.SCANDUMP", name, 0)]
        while chunks[-1][0] != 0:
            chunks.append(server.call("BF.SCANDUMP", name, chunks[-1][0]))
        return chunks[:-1]

    def test_chunks_after_a_damaged_one_are_those_that_answer(self):
        with running() as server:
            chunks = {}
            for seed, name in enumerate(("f", "other")):
                server.call("BF.RESERVE", name, FPR, 100, "SEED", seed)
                server.add(name, keys(250, 1000 * seed))
                chunks[name] = self.chunks_of(server, name)
            head, first, second = chunks["f"]
            server.call("BF.LOADCHUNK", "g", *head)
            server.call("BF.LOADCHUNK", "g", *chunks["other"][1])
            self.refuses("bad data", server, "BF.LOADCHUNK", "g", second[0], bytes(len(second[1])))
            self.assert_all_maybe(server, "g")
            for chunk in (first, second):
                server.call("BF.LOADCHUNK", "g", *chunk)
            self.assert_there(server, "g", keys(250))
            self.assert_filters(server, "g")

    @staticmethod
    def large(server, seed=1):
        """Makes a filter of several chunks. Returns the chunks."""
        server.call("BF.RESERVE", f"large-{seed}", FPR, 2000000, "SEED", seed)
        server.add(f"large-{seed}", keys(1000))
        return Dumps.chunks_of(server, f"large-{seed}")

    def test_a_chunk_that_is_not_the_next_one_is_refused(self):
        with running("--appendonly", "yes") as server:
            head, *chunks = self.large(server)
            self.assertGreater(len(chunks), 2)
            server.call("BF.LOADCHUNK", "g", *head)
            begin = 0
            for i, (at, chunk) in enumerate(chunks):
                wrong = {"none": b"", "decoded to text": chunk.decode("latin-1").encode(), "cut": chunk[:-1],
                         "half": chunk[:len(chunk) // 2], "lacks its first byte": chunk[1:], "longer": chunk + b"\0",
                         "longer at its front": b"\0" + chunk, "twice": chunk * 2}
                for what, bad in wrong.items():
                    with self.subTest(what):
                        self.refuses(f"invalid offset.* byte {begin}\\b", server, "BF.LOADCHUNK", "g", at, bad)
                for other in (*chunks[:i], *chunks[i + 1:], (at + 1, chunk), (at - 1, chunk), (begin + 2, chunk), (0, chunk),
                              (-1, chunk), (2**63 - 1, chunk)):
                    self.refuses(f"invalid offset.* byte {begin}\\b", server, "BF.LOADCHUNK", "g", *other)
                self.refuses("bad data", server, "BF.LOADCHUNK", "g", *head)
                self.assert_all_maybe(server, "g")
                self.assertEqual(server.state("g"), b"loading")
                server.call("BF.LOADCHUNK", "g", at, chunk)
                begin = at - 1
            for at, chunk in chunks:
                self.refuses("invalid offset", server, "BF.LOADCHUNK", "g", at, chunk)
            for _ in range(2):
                self.assertEqual(server.state("g"), b"good")
                self.assertEqual(server.digest("g"), server.digest("large-1"))
                server.restart()

    def test_bytes_that_changed_on_their_way_are_not_answered_from(self):
        chance = random.Random(ASKED.seed)
        with running("--appendonly", "yes") as server, running("--appendonly", "yes") as replica:
            self.follow(replica, server)
            head, *chunks = self.large(server)
            other = self.large(server, seed=2)[1:]
            server.call("BF.LOADCHUNK", "g", *head)

            def load(changed):
                for at, chunk in chunks[:-1]:
                    server.call("BF.LOADCHUNK", "g", at, changed.get(at, chunk))
                at, chunk = chunks[-1]
                return server.call("BF.LOADCHUNK", "g", at, changed.get(at, chunk))
            for at, chunk in chunks:
                bad = bytearray(chunk)
                bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
                for wrong in (bytes(bad), bytes(len(chunk)), b"?" * len(chunk), dict(other)[at]):
                    with self.assertRaisesRegex(redis.ResponseError, "bad data.* all of them again"):
                        load({at: wrong})
                    self.assert_all_maybe(server, "g")
            with self.assertRaisesRegex(redis.ResponseError, "bad data"):  # the first two are as long
                load({chunks[0][0]: chunks[1][1], chunks[1][0]: chunks[0][1]})
            self.assertEqual(load({}), b"OK")
            server.wait_for_replica()
            replica.wait_for_rewrite()
            for either in (server, replica):
                for _ in range(2):
                    self.assertEqual(either.digest("g"), server.digest("large-1"))
                    self.assertEqual(either.state("g"), b"good")
                    either.restart()

    def test_a_dump_of_a_filter_that_changed_meanwhile_is_refused(self):
        with running() as server:
            for name, how in (("grows", ["2000000"]), ("counts", ["1000000", "LAYOUT", "COUNTING"])):
                server.call("BF.RESERVE", name, FPR, *how, "SEED", 1)
                server.add(name, keys(1000))
                chunks = [server.call("BF.SCANDUMP", name, 0)]
                while chunks[-1][0] != 0:
                    chunks.append(server.call("BF.SCANDUMP", name, chunks[-1][0]))
                    server.add(name, keys(100, 1000 * len(chunks)))
                for chunk in chunks[:-2]:
                    server.call("BF.LOADCHUNK", "copy-" + name, *chunk)
                self.refuses("bad data", server, "BF.LOADCHUNK", "copy-" + name, *chunks[-2])
                self.assert_all_maybe(server, "copy-" + name)

    def test_a_dump_of_a_filter_that_grew_meanwhile_is_refused(self):
        # The keys once went to a new filter. The first one matched its checksum, so the copy was called good.
        for when in (1, 2):
            with self.subTest(when), running() as server, running("--appendonly", "yes") as other, running() as replica:
                self.follow(replica, other)
                server.call("BF.RESERVE", "f", FPR, 1000, "SEED", 1)
                items = iter(keys(2000))
                while server.call("BF.CARD", "f") < 1000:
                    server.add("f", [next(items)])
                self.assertEqual(server.client.bf().info("f").filterNum, 1)
                chunks = [server.call("BF.SCANDUMP", "f", 0)]
                while chunks[-1][0] != 0:
                    if len(chunks) == when:
                        server.add("f", keys(100, 5000))
                    chunks.append(server.call("BF.SCANDUMP", "f", chunks[-1][0]))
                head, first, second, _ = chunks
                other.call("BF.LOADCHUNK", "g", *head)
                other.call("BF.LOADCHUNK", "g", *first)
                other.add("g", ["theirs"])
                self.refuses("grew.* delete the key", other, "BF.LOADCHUNK", "g", *second)
                for chunk in (head, first, second):  # a client that heeds no error continues in this way
                    self.refuses("", other, "BF.LOADCHUNK", "g", *chunk)
                other.wait_for_replica()
                for either in (other, replica, other):
                    self.assert_all_maybe(either, "g")
                    self.assertEqual(either.state("g"), b"in doubt")
                    other.restart()
                other.call("DEL", "g")
                for chunk in self.chunks_of(server, "f"):
                    other.call("BF.LOADCHUNK", "g", *chunk)
                self.assertEqual(other.digest("g"), server.digest("f"))

    def test_a_filter_whose_chunks_are_not_all_there_answers_maybe(self):
        with running("--appendonly", "yes") as server:
            server.call("BF.RESERVE", "f", FPR, 2000000)
            server.add("f", keys(1000))
            chunks = self.chunks_of(server, "f")
            self.assertGreater(len(chunks), 3)
            for at, chunk in chunks[:-1]:
                server.call("BF.LOADCHUNK", "g", at, chunk)
                self.assert_all_maybe(server, "g")
            self.refuses("being loaded", server, "BF.ADD", "g", "a")
            self.refuses("invalid offset", server, "BF.LOADCHUNK", "g", chunks[-1][0] + 5, chunks[-1][1])
            server.restart()
            self.assert_all_maybe(server, "g")
            server.call("BF.LOADCHUNK", "g", *chunks[-1])
            self.assert_there(server, "g", keys(1000))
            self.assertEqual(server.digest("f"), server.digest("g"))
            server.call("BF.LOADCHUNK", "copied", *chunks[0])
            server.call("BF.LOADCHUNK", "copied", *chunks[1])
            for _ in range(2):
                server.call("RESTORE", "copied", 0, server.call("DUMP", "copied"), "REPLACE")
                self.assert_all_maybe(server, "copied")
                server.rewrite()
                server.restart()
                server.call("DEBUG", "RELOAD")
            bad = bytearray(chunks[2][1])
            bad[7] ^= 1
            server.call("BF.LOADCHUNK", "copied", chunks[2][0], bytes(bad))
            with self.assertRaisesRegex(redis.ResponseError, "bad data"):  # the proof went with it
                for chunk in chunks[3:]:
                    server.call("BF.LOADCHUNK", "copied", *chunk)
            other = bytearray(chunks[0][1])
            other[16] ^= 1  # the capacity
            for bad in (b"", b"x" * 200, bytes(other), chunks[0][1][:-1], bytes([chunks[0][1][0] ^ 1]) + chunks[0][1][1:]):
                self.refuses("bad data", server, "BF.LOADCHUNK", "h", 1, bad)

    def test_migrate_moves_values_to_another_server(self):
        with running() as server, running() as other:
            has = self.fill(server)
            digests = server.digest(*has)
            for name in has:
                server.call("MIGRATE", "127.0.0.1", other.port, name, 0, 1000 * engines.PATIENCE)
                self.assertEqual(server.call("EXISTS", name), 0)
            self.assert_equal_values(other, has, digests)


def fletcher(text):
    low, high = 1, 0
    for byte in text:
        low = (low + byte) % 0xfffffffb
        high = (high + low) % 0xfffffffb
    return struct.pack("<Q", high << 32 | low)


BLOCKED = 1


def header(*links, capacity=1000, fpr=FPR, expansion=2, layout=0, proof=1):
    """Returns the first chunk of a dump, as any program can write it. A link: (bytes, capacity, items, rate, layout)."""
    text = struct.pack("<8sd6Q", b"BFSDUMP1", fpr, capacity, expansion, 1, layout, len(links), proof)
    text += b"".join(struct.pack("<3QdQ", *link) for link in links)
    return text + fletcher(text)


class Memory(FilterCase):
    LIMIT = "bf.bloom-memory-usage-limit"

    def limit(self, server, num_bytes):
        server.call("CONFIG", "SET", self.LIMIT, num_bytes)

    def size(self, server, name):
        return server.call("BF.INFO", name, "SIZE")[0]

    def said(self, server, text):
        return text in (server.folder / "log").read_text("utf-8", "replace")

    def test_no_client_makes_a_filter_above_the_limit(self):
        with running("--appendonly", "yes", "--" + self.LIMIT, "1mb", "--aof-use-rdb-preamble", "no") as server:
            self.assertEqual(server.call("CONFIG", "GET", self.LIMIT), [self.LIMIT.encode(), b"1048576"])
            server.call("BF.RESERVE", "first", FPR, 500000)
            chunks = Dumps.chunks_of(server, "first")
            payload = server.call("DUMP", "first")
            server.call("BF.RESERVE", "grows", FPR, 10, "EXPANSION", 1000, "SEED", 1)
            server.call("BF.RESERVE", "other", FPR, 400000, "SEED", 2)
            for words in (("BF.RESERVE", "f", FPR, 2000000), ("BF.RESERVE", "f", 1e-7, 500000), ("BF.RESERVE", "f", FPR, 2**30),
                          ("BF.RESERVE", "f", FPR, 500000, "LAYOUT", "COUNTING"),
                          ("BF.INSERT", "f", "CAPACITY", 2000000, "ITEMS", "a"), ("BF.MERGE", "first", "other")):
                self.refuses("limit.* " + self.LIMIT, server, *words)
            added = keys(20000)
            answers = server.add("grows", added)
            self.assertRegex(str(answers[-1]), "limit.* " + self.LIMIT)
            self.assertGreater(len(answers), 10)
            self.assert_there(server, "grows", added[:len(answers) - 1])
            self.assert_filters(server, "grows")
            self.assertLess(self.size(server, "grows"), 1 << 20)
            self.limit(server, 200)
            self.refuses("limit.* " + self.LIMIT, server, "BF.ADD", "auto", "a")
            self.refuses("limit.* " + self.LIMIT, server, "BF.LOADCHUNK", "f", *chunks[0])
            for words in (("RESTORE", "f", 0, payload), ("COPY", "first", "f")):
                self.refuses("", server, *words)
                self.assertTrue(self.said(server, self.LIMIT), words)
                os.truncate(server.folder / "log", 0)
            self.assertEqual(server.call("EXISTS", "f", "auto"), 0)
            digests = server.digest("first", "grows", "other")
            with running("--" + self.LIMIT, "0") as replica:  # a server keeps the filters that it has, and so does its replica
                self.follow(replica, server)
                self.limit(server, "1gb")
                server.call("BF.RESERVE", "later", FPR, 500000)
                server.wait_for_replica()
                self.assertEqual(replica.digest("first", "grows", "other"), digests)
                self.assertEqual(replica.digest("later"), server.digest("later"))
                self.assertEqual(replica.state("later"), b"good")
            for rewrite in (False, True):
                if rewrite:
                    server.rewrite()
                server.restart()
                self.assertEqual(server.digest("first", "grows", "other"), digests)

    def test_the_limit_is_valkey_s_by_default(self):
        with running() as server:
            self.assertEqual(server.call("CONFIG", "GET", self.LIMIT)[1], b"134217728")
            self.refuses(self.LIMIT, server, "BF.RESERVE", "f", FPR, 2**30)
            self.refuses(self.LIMIT, server, "BF.RESERVE", "f", FPR, 2**27)
            server.call("BF.RESERVE", "f", FPR, 80_000_000)

    FORGED = {
        "16 TiB": [(1 << 44, 1000, 0, FPR, BLOCKED)],
        "1 MiB": [(1 << 20, 1000, 0, FPR, BLOCKED)],
        "all": [(2**64 - 1, 1000, 0, FPR, BLOCKED)],
        "almost all": [(2**64 - 64, 1000, 0, FPR, BLOCKED), (128, 1000, 0, FPR, BLOCKED)],
        "16 TiB by its capacity": [(1 << 44, 2**43, 0, FPR, BLOCKED)],
        "16 TiB by its rate": [(1 << 44, 2**30, 0, 1e-300, BLOCKED)],
        "no rate": [(1 << 44, 2**30, 0, 0.0, 0)],
        "no number": [(1 << 20, 1000, 0, float("nan"), BLOCKED)],
        "another layout": [(1 << 20, 1000, 0, FPR, 2**32 + BLOCKED)],
        "too many items": [(1 << 20, 1000, 2**63, FPR, BLOCKED)],
        "no bytes": [(0, 1000, 0, FPR, BLOCKED)],
        "in many links": [(1 << 20, 1000, 0, FPR, BLOCKED)] * 5000,
    }

    def test_a_header_that_claims_more_than_its_numbers_need_takes_nothing(self):
        with running("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru") as server:
            for i in range(2000):
                server.call("SET", f"other-{i}", "x" * 100)
            before = server.client.info("memory")["used_memory"]
            forged = {what: header(*links) for what, links in self.FORGED.items()}
            for what, text in forged.items():
                with self.subTest(what):
                    self.refuses("bad data|" + self.LIMIT, server, "BF.LOADCHUNK", "f", 1, text)
            self.assertEqual(server.call("DBSIZE"), 2000)
            self.assertLess(server.client.info("memory")["used_memory"], before + (4 << 20))
            self.assertEqual(server.client.info("stats")["evicted_keys"], 0)

    def test_a_dump_that_claims_more_than_its_numbers_need_is_refused(self):
        with running("--rdbcompression", "no", "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru") as server:
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            for i in range(2000):
                server.call("SET", f"other-{i}", "x" * 100)
            server.call("BF.RESERVE", "f", FPR, 1000)
            server.add("f", keys(10))
            payload = server.call("DUMP", "f")
            right = server.call("BF.SCANDUMP", "f", 0)[1]
            at = payload.index(right)
            num_bytes, capacity, items, fpr, layout = struct.unpack_from("<3QdQ", right, 64)
            server.call("RESTORE", "g", 0, payload)
            self.assertEqual(server.digest("f"), server.digest("g"))
            for link in ((1 << 44, capacity, items, fpr, layout), (num_bytes + 64, capacity, items, fpr, layout),
                         (num_bytes - 64, capacity, items, fpr, layout), (num_bytes, capacity + 64, items, fpr, layout),
                         (num_bytes, capacity, capacity + 1, fpr, layout), (num_bytes, capacity, items, fpr / 2, layout),
                         (num_bytes, capacity, items, fpr, layout + 1)):
                made = right[:64] + struct.pack("<3QdQ", *link)
                self.refuses("Bad data", server, "RESTORE", "h", 0, payload[:at] + made + fletcher(made) + payload[at + len(right):])
            bits = bytearray(payload)
            bits[at + len(right) + 500] ^= 4  # no checksum of the server's sees it
            self.refuses("Bad data", server, "RESTORE", "h", 0, bytes(bits))
            self.assertTrue(self.said(server, "bad data"))
            self.assertEqual(server.call("DBSIZE"), 2002)

    def test_a_filter_that_maxmemory_leaves_no_room_for_is_refused(self):
        with running() as server:
            server.call("BF.RESERVE", "f", FPR, 40000000)
            head = server.call("BF.SCANDUMP", "f", 0)
        for policy in ("noeviction", "allkeys-lru", "volatile-lru"):
            with self.subTest(policy), running("--maxmemory", "40mb", "--maxmemory-policy", policy) as server:
                for i in range(2000):
                    server.call("SETEX", f"other-{i}", 10000, "x" * 100)
                server.call("BF.RESERVE", "grows", FPR, 10000, "EXPANSION", 4000, "SEED", 1)
                for words in (("BF.RESERVE", "f", FPR, 40000000), ("BF.INSERT", "f", "CAPACITY", 40000000, "ITEMS", "a"),
                              ("BF.LOADCHUNK", "f", *head)):
                    self.refuses("maxmemory", server, *words)
                answers = [answer for at in range(0, 12000, 1000) for answer in server.add("grows", keys(1000, at))]
                self.assertRegex(str(answers[-1]), "maxmemory")
                self.assertEqual(server.call("DBSIZE"), 2001)
                self.assertEqual(server.client.info("stats")["evicted_keys"], 0)
                server.call("BF.RESERVE", "f", FPR, 4000000)
                self.assertEqual(server.client.info("stats")["evicted_keys"], 0)

    def resident(self, server):
        words = pathlib.Path(f"/proc/{server.server.process.pid}/status").read_text().split()
        return int(words[words.index("VmRSS:") + 1]) << 10

    def test_a_new_filter_takes_the_pages_that_its_keys_need(self):
        # If the allocator is the C library's, meson's variable fills the memory that it gives out.
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
        with running("--" + self.LIMIT, "8gb", environment=environment) as server:
            before = self.resident(server)
            server.call("BF.RESERVE", "f", FPR, 200_000_000, "SEED", 1)
            self.assertGreater(self.size(server, "f"), 200 << 20)
            server.add("f", keys(100))
            self.assertLess(self.resident(server) - before, 50 << 20)
            for _ in range(2):  # the next one may get memory that was used
                self.assert_there(server, "f", keys(100))
                self.assert_filters(server, "f")
                server.call("BF.RESERVE", "dirty", FPR, 3000000, "SEED", 2)
                server.add("dirty", keys(20000))
                server.call("DEL", "f", "dirty")
                server.call("BF.RESERVE", "f", FPR, 200_000_000, "SEED", 1)
                server.add("f", keys(100))

    def test_a_new_filter_in_memory_that_was_used_is_empty(self):
        with running() as server:
            for seed in range(1, 30):
                server.call("BF.RESERVE", "f", FPR, 1000 if seed % 3 else 1000000 + 1000 * seed, "SEED", seed)
                self.assertLess(sum(server.ask("f", keys(1000))), 3)
                server.add("f", keys(1000))
                server.call("DEL", "f")


FOREIGN = TREE.root / "tests" / "data" / "foreign"
REDISBLOOM_HEAD, REDISBLOOM_LINK = struct.Struct("<QIII"), struct.Struct("<QQQddIQB")
NO_ROUND, OF_BITS, FORCE64, NO_SCALING = 1, 2, 4, 8
REDISBLOOM_FIELDS = ("num_bytes", "num_bits", "items", "fpr", "bits_per_key", "num_probes", "capacity", "log2_bits")
ONE_LINK = "redisbloom.one-link.dump"


def redisbloom_dumps():
    """Returns {file: the row of files.tsv} of the dumps that RedisBloom made."""
    lines = [line.split("\t") for line in (FOREIGN / "files.tsv").read_text("utf-8").splitlines()]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    return {row["file"]: row for row in rows if row["format"] == "redisbloom"}


def redisbloom_chunks(name, most=16 << 20):
    """Returns [iterator, chunk] of a kept dump as BF.SCANDUMP gave them: no chunk goes beyond the end of a filter."""
    dump = (FOREIGN / name).read_bytes()
    end = REDISBLOOM_HEAD.size + REDISBLOOM_HEAD.unpack_from(dump)[1] * REDISBLOOM_LINK.size
    chunks, at = [(1, dump[:end])], 0
    for link in REDISBLOOM_LINK.iter_unpack(dump[REDISBLOOM_HEAD.size:end]):
        for begin in range(0, link[0], most):
            chunk = dump[end + at:][:min(most, link[0] - begin)]
            at += len(chunk)
            chunks.append((1 + at, chunk))
    assert end + at == len(dump)
    return chunks


def redisbloom_header(**changes):
    """Returns the first chunk of the dump of one filter, with changes: of the chain (flags, growth, total, links) or the filter."""
    header = redisbloom_chunks(ONE_LINK)[0][1]
    total, links, flags, growth = REDISBLOOM_HEAD.unpack_from(header)
    link = dict(zip(REDISBLOOM_FIELDS, REDISBLOOM_LINK.unpack_from(header, REDISBLOOM_HEAD.size)))
    link.update((field, value) for field, value in changes.items() if field in link)
    head = REDISBLOOM_HEAD.pack(changes.get("total", total), changes.get("links", links), changes.get("flags", flags),
                                changes.get("growth", growth))
    return head + REDISBLOOM_LINK.pack(*link.values()) * changes.get("times", 1)


class RedisBloom(FilterCase):
    """RedisBloom's own dumps, which its code made (tests/originals/redisbloom_files.c)."""

    ROWS = redisbloom_dumps()

    @staticmethod
    def keys_of(name):
        row = RedisBloom.ROWS[name]
        return [f"{row['prefix']}{i}" for i in range(int(row["keys"]))]

    @staticmethod
    def load(server, key, chunks):
        for at, chunk in chunks:
            server.call("BF.LOADCHUNK", key, at, chunk)

    def assert_answers_as_redisbloom(self, server, name, key=None):
        """Compares the false positives, one by one, with those of RedisBloom."""
        row, fold, found = self.ROWS[name], 0xcbf29ce484222325, 0
        answers = itertools.chain.from_iterable(
            server.ask(key or name, [f"absent-{i}" for i in range(at, at + 1000)]) for at in range(0, 10000, 1000))
        for i, answer in enumerate(answers):
            if answer:
                found += 1
                for byte in struct.pack("<I", i):
                    fold = (fold ^ byte) * 0x100000001b3 % 2**64
        self.assertEqual((found, f"{fold:016x}"), (int(row["false_positives_of_10000"]), row["fold_of_10000"]))
        self.assert_there(server, key or name, self.keys_of(name))

    def loaded(self, server):
        for name in self.ROWS:
            self.load(server, name, redisbloom_chunks(name))
        return list(self.ROWS)

    def test_a_dump_of_redisbloom_answers_as_redisbloom_did(self):
        self.assertEqual(len(self.ROWS), 4)
        for most in (16 << 20, 100, 1):
            with running() as server:
                for name in self.ROWS:
                    head, *chunks = redisbloom_chunks(name, most)
                    server.call("BF.LOADCHUNK", name, *head)
                    for at, chunk in chunks:
                        self.assertEqual((server.state(name), server.ask(name, ABSENT[:3])), (b"loading", [1] * 3))
                        server.call("BF.LOADCHUNK", name, at, chunk)
                    self.assertEqual(server.state(name), b"good")
                    self.assert_answers_as_redisbloom(server, name)

    def test_a_dump_of_redisbloom_says_its_numbers(self):
        with running() as server:
            self.loaded(server)
            for name, told in {ONE_LINK: (1, 2), "redisbloom.five-links.dump": (5, 2), "redisbloom.no-scaling.dump": (1, None),
                               "redisbloom.rounded.dump": (2, 4)}.items():
                info = server.client.bf().info(name)
                self.assertEqual((info.filterNum, info.expansionRate), told, name)
                total, links, *_ = REDISBLOOM_HEAD.unpack_from(redisbloom_chunks(name)[0][1])
                self.assertEqual((info.insertedNum, server.call("BF.CARD", name), info.filterNum), (total, total, links))
            self.assertEqual(server.client.bf().info(ONE_LINK).capacity, 1000)

    def test_a_chain_of_redisbloom_grows(self):
        with running("--appendonly", "yes") as server, running() as replica:
            self.follow(replica, server)
            names = self.loaded(server)
            for name in names:
                before = server.ask(name, ABSENT)
                if name == "redisbloom.no-scaling.dump":
                    server.add(name, [f"more-{i}" for i in range(10)])
                    continue
                links, capacity = (getattr(server.client.bf().info(name), field) for field in ("filterNum", "capacity"))
                server.add(name, [f"more-{i}" for i in range(3 * capacity)])
                self.assertGreater(server.client.bf().info(name).filterNum, links)
                self.assert_there(server, name, [f"more-{i}" for i in range(3 * capacity)])
                self.assert_there(server, name, self.keys_of(name))
                self.assertLessEqual(sum(server.ask(name, ABSENT)), sum(before) + 4 * len(ABSENT) * FPR)
            digests = server.digest(*names)
            server.wait_for_replica()
            self.assertEqual(replica.digest(*names), digests)
            for again in (server.restart, server.rewrite, server.restart, lambda: server.call("DEBUG", "RELOAD")):
                again()
                self.assertEqual(server.digest(*names), digests)

    def test_a_filter_of_redisbloom_that_does_not_grow_is_full_at_its_capacity(self):
        name = "redisbloom.no-scaling.dump"
        with running() as server:
            self.load(server, name, redisbloom_chunks(name))
            replies = server.add(name, [f"more-{i}" for i in range(1000)])
            self.assertIsInstance(replies[-1], redis.ResponseError)
            self.assertEqual(server.call("BF.CARD", name), 321)

    def test_filters_of_redisbloom_survive_every_way_of_keeping_them(self):
        for options in (["--save", "3600", "1"], ["--appendonly", "yes"],
                        ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), running(*options) as server, running() as replica:
                self.follow(replica, server)
                names = self.loaded(server)
                digests = server.digest(*names)
                for name in names:
                    server.call("COPY", name, "copy-" + name)
                    server.call("RESTORE", "restored-" + name, 0, server.call("DUMP", name))
                    self.load(server, "ours-" + name, Dumps.chunks_of(server, name))
                    server.call("BF.MERGE", "merged-" + name, name)
                server.wait_for_replica()
                for again in (lambda: None, server.restart, server.rewrite if "--appendonly" in options else lambda: None, server.restart):
                    again()
                    for how in ("", "copy-", "restored-", "ours-", "merged-"):
                        self.assertEqual(server.digest(*(how + name for name in names)), digests)
                for name in names:
                    self.assert_answers_as_redisbloom(server, name)
                self.assertEqual(replica.digest(*names), digests)

    def test_a_dump_of_redisbloom_of_which_a_part_has_arrived_is_kept(self):
        name = "redisbloom.five-links.dump"
        chunks = redisbloom_chunks(name, 500)
        for options in (["--save", "3600", "1"], ["--appendonly", "yes"],
                        ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), running(*options) as server:
                for chunk in chunks[:-1]:
                    server.call("BF.LOADCHUNK", "f", *chunk)
                    if "--appendonly" in options:
                        server.rewrite()
                    else:
                        server.call("RESTORE", "f", 0, server.call("DUMP", "f"), "REPLACE")
                    self.refuses("being loaded", server, "BF.ADD", "f", "a")
                    self.refuses("being loaded", server, "BF.SCANDUMP", "f", 0)
                    server.restart()
                    self.assertEqual(server.state("f"), b"loading")
                    self.assert_all_maybe(server, "f")
                server.call("BF.LOADCHUNK", "f", *chunks[-1])
                self.assert_answers_as_redisbloom(server, name, "f")

    def test_a_replica_that_comes_between_two_chunks_of_redisbloom_gets_every_bit(self):
        chunks = redisbloom_chunks("redisbloom.five-links.dump", 500)
        with running() as server, running() as replica:
            self.load(server, "f", chunks[:3])
            self.follow(replica, server)
            self.assert_all_maybe(replica, "f")
            self.load(server, "f", chunks[3:])
            server.add("f", keys(2000, 5000))
            server.wait_for_replica()
            self.assertEqual((replica.state("f"), replica.digest("f")), (b"good", server.digest("f")))

    def test_a_first_chunk_of_redisbloom_that_contradicts_itself_is_refused(self):
        wrong = {
            "hash of 32 bits": dict(flags=NO_ROUND), "unknown flags": dict(flags=FORCE64 | 16),
            "bad data   ": dict(links=0, times=0), "bad data": dict(links=2), "bad data ": dict(links=2**32 - 1), "bad data  ": dict(times=2),
            "at most 1024": dict(links=1025, times=1025), "an expansion of 0": dict(growth=0), "an expansion of 4294967295": dict(growth=2**32 - 1),
            "counts 1001 keys, and its filters 998": dict(total=1001), "counts 1001 keys, and is for 1000": dict(items=1001),
            "counts 0 keys, and its filters": dict(total=0), "bad data    ": dict(total=2**64 - 1),
            "several filters": dict(links=2, times=2, flags=FORCE64 | NO_ROUND | NO_SCALING, total=2 * 998),
            "is for 1073741825 keys": dict(capacity=2**30 + 1), "n is 0": dict(capacity=0, items=0, total=0),
            "half of the chain's rate": dict(fpr=0.5), "p is not": dict(fpr=float("nan")), "p is not ": dict(fpr=1.0), "p is not  ": dict(fpr=-0.1),
            "m is 0": dict(num_bytes=0, num_bits=0), "m is ": dict(num_bits=64), "m is  ": dict(num_bytes=2**64 - 1, num_bits=2**64 - 1),
            "m or its k contradicts": dict(num_probes=7), "m or its k contradicts ": dict(log2_bits=10), "m or its k contradicts  ": dict(log2_bits=10, flags=FORCE64),
            "m or its k contradicts   ": dict(bits_per_key=float("nan")), "k is": dict(num_probes=2**32 - 1), "k is ": dict(num_probes=0),
            "m is 1, not": dict(num_bytes=0, num_bits=1), "m is   ": dict(log2_bits=255),
            "memory limit": dict(num_bytes=2**31, num_bits=2**34)}
        with running("--appendonly", "yes") as server:
            before = server.client.info("memory")["used_memory"]
            for words, changes in wrong.items():
                with self.subTest(changes):
                    self.refuses(words.strip(), server, "BF.LOADCHUNK", "f", 1, redisbloom_header(**changes))
            header = redisbloom_header()
            for bad in (b"", header[:-1], header + b"\0", header[:20], header[:19]):
                self.refuses("bad data", server, "BF.LOADCHUNK", "f", 1, bad)
            self.assertEqual(server.call("EXISTS", "f"), 0)
            self.assertLess(server.client.info("memory")["used_memory"], before + (4 << 20))
            server.add("f", ["a"])
            self.refuses("bad data", server, "BF.LOADCHUNK", "f", 1, header)
            self.assertEqual((server.state("f"), server.ask("f", ["a"])), (b"good", [1]))

    def test_no_bit_of_redisbloom_s_first_chunk_makes_another_filter(self):
        for name in self.ROWS:
            head, *chunks = redisbloom_chunks(name)
            taken = 0
            with running() as server:
                for bit in range(8 * len(head[1])):
                    bad = bytearray(head[1])
                    bad[bit // 8] ^= 1 << bit % 8
                    with contextlib.suppress(redis.ResponseError):
                        self.load(server, "f", [(1, bytes(bad)), *chunks])
                        taken += 1
                    if server.call("EXISTS", "f"):
                        self.assert_there(server, "f", self.keys_of(name)[::10])
                        server.call("DEL", "f")
                self.assertGreater(taken, 50)  # numbers that decide no position: of the rate for instance

    def test_a_chunk_of_redisbloom_that_is_not_the_next_one_is_refused(self):
        name = "redisbloom.five-links.dump"
        head, *chunks = redisbloom_chunks(name, 300)
        with running("--appendonly", "yes") as server, running() as replica:
            self.follow(replica, server)
            server.call("BF.LOADCHUNK", "f", *head)
            begin = 0
            for i, (at, chunk) in enumerate(chunks):
                for bad in (b"", chunk[:-1], chunk[1:], chunk + b"\0", b"\0" + chunk, chunk * 2):
                    self.refuses(f"invalid offset.* byte {begin}\\b", server, "BF.LOADCHUNK", "f", at, bad)
                for other in (*chunks[:i], *chunks[i + 1:], (at + 1, chunk), (at - 1, chunk), (0, chunk), (-1, chunk), (2**63 - 1, chunk)):
                    self.refuses(f"invalid offset.* byte {begin}\\b", server, "BF.LOADCHUNK", "f", *other)
                self.refuses("bad data", server, "BF.LOADCHUNK", "f", *head)
                self.assert_all_maybe(server, "f")
                server.call("BF.LOADCHUNK", "f", at, chunk)
                begin = at - 1
            for at, chunk in chunks:
                self.refuses("invalid offset", server, "BF.LOADCHUNK", "f", at, chunk)
            self.assert_answers_as_redisbloom(server, name, "f")
            server.wait_for_replica()
            self.assertEqual(replica.digest("f"), server.digest("f"))
            self.refuses("grew", server, "BF.LOADCHUNK", "f", chunks[-1][0] + 8, bytes(8))  # of a filter that RedisBloom added meanwhile
            server.wait_for_replica()
            for either in (server, replica):
                self.assert_all_maybe(either, "f")

    def test_arrays_that_cannot_have_the_keys_of_redisbloom_s_dump_are_refused(self):
        with running("--appendonly", "yes") as server:
            for name in self.ROWS:
                head, *chunks = redisbloom_chunks(name)
                self.load(server, name, [head, *chunks[:-1]])
                at, chunk = chunks[-1]
                for bad in (bytes(len(chunk)), b"\xff" * len(chunk)):
                    with self.assertRaisesRegex(redis.ResponseError, "bad data.* all of them again"):
                        self.load(server, name, [(at, bad)])
                    self.assert_all_maybe(server, name)
                    self.load(server, name, chunks[:-1])
                self.load(server, name, chunks[-1:])
                self.assert_answers_as_redisbloom(server, name)
            digests = server.digest(*self.ROWS)
            server.restart()
            self.assertEqual(server.digest(*self.ROWS), digests)

    def test_our_own_header_of_a_filter_of_redisbloom_claims_no_more_than_it_needs(self):
        with running() as server:
            self.load(server, "f", redisbloom_chunks(ONE_LINK))
            (_, text), chunk = Dumps.chunks_of(server, "f")
            self.assertEqual(text[:8], b"BFSDUMP2")
            measure = list(struct.unpack_from("<3QdQ3Q", text, 64))
            for at, values in {0: (2**44, measure[0] + 64, 0), 1: (0, 2**30 + 1), 2: (measure[1] + 1,), 4: (1, 3, 2**32 + 2, 99),
                               5: (0, 1, 2, 11, 2**32 + 12), 6: (0, 2**63, measure[6] * 2, measure[6] - 64), 7: (0, 65, 2**32 + measure[7])}.items():
                for value in values:
                    bad = measure[:at] + [value] + measure[at + 1:]
                    made = text[:64] + struct.pack("<3QdQ3Q", *bad)
                    with self.subTest(bad):
                        self.refuses("bad data", server, "BF.LOADCHUNK", "g", 1, made + fletcher(made))
            for at, value in ((1, measure[1] + 1), (7, measure[7] + 1)):  # as long, and not this filter
                bad = measure[:at] + [value] + measure[at + 1:]
                made = text[:64] + struct.pack("<3QdQ3Q", *bad)
                with self.subTest(bad):
                    server.call("BF.LOADCHUNK", "g", 1, made + fletcher(made))
                    self.refuses("bad data", server, "BF.LOADCHUNK", "g", *chunk)
                    self.assert_all_maybe(server, "g")
                    server.call("DEL", "g")

    def test_a_dump_of_redisbloom_takes_no_more_memory_than_others(self):
        with running("--maxmemory", "50mb") as server:
            server.call("CONFIG", "SET", Memory.LIMIT, 1000)
            self.refuses(Memory.LIMIT, server, "BF.LOADCHUNK", "f", *redisbloom_chunks(ONE_LINK)[0])
            server.call("CONFIG", "SET", Memory.LIMIT, 128 << 20)
            for megabytes in (60, 30):  # a filter of 30 MB has no room next to its array
                size = dict(num_bytes=megabytes << 20, num_bits=megabytes << 23, capacity=2**24)
                self.refuses("maxmemory", server, "BF.LOADCHUNK", "f", 1, redisbloom_header(**size))
            size = dict(num_bytes=20 << 20, num_bits=20 << 23, capacity=2**24)
            server.call("BF.LOADCHUNK", "f", 1, redisbloom_header(**size))
            self.assertGreater(server.call("MEMORY", "USAGE", "f"), 40 << 20)
            server.call("DEL", "f")

    def test_a_damaged_dump_of_a_filter_of_redisbloom_changes_no_answer(self):
        with running("--sanitize-dump-payload", "no", "--rdbcompression", "no") as server:
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            name, chance = "redisbloom.five-links.dump", random.Random(ASKED.seed)
            self.load(server, "whole", redisbloom_chunks(name))
            self.load(server, "part", redisbloom_chunks(name)[:-1])
            for what in ("whole", "part"):
                payload = server.call("DUMP", what)
                for _ in range(300):
                    bad = bytearray(payload)
                    bad[chance.randrange(2, len(bad) - 10)] ^= 1 << chance.randrange(8)
                    with contextlib.suppress(redis.ResponseError):
                        server.call("RESTORE", "bad", 0, bytes(bad), "REPLACE")
                        self.assert_there(server, "bad", self.keys_of(name))
            self.assert_answers_as_redisbloom(server, name, "whole")

    def test_a_log_of_redisbloom_brings_its_filters(self):
        """RedisBloom rewrites a log as chunks. An add comes after them as it came."""
        name = "redisbloom.five-links.dump"
        with running("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.incr.aof"))
            broken = [(1, redisbloom_header(flags=NO_ROUND)), *redisbloom_chunks(ONE_LINK)[1:]]
            with open(log, "ab") as end:
                end.write(log_of(*(("BF.LOADCHUNK", "f", *chunk) for chunk in redisbloom_chunks(name)), ("BF.ADD", "f", "later"),
                                 *(("BF.LOADCHUNK", "old", *chunk) for chunk in broken),
                                 *(("BF.LOADCHUNK", "part", *chunk) for chunk in redisbloom_chunks(name)[:-1]),
                                 *(("BF.LOADCHUNK", "gap", *chunk) for chunk in redisbloom_chunks(name)[::2])))
            server.start()
            for _ in range(2):
                self.assert_there(server, "f", [*self.keys_of(name), "later"])
                self.assertEqual(server.state("f"), b"good")
                for name_of_bad, state in (("old", b"in doubt"), ("part", b"loading"), ("gap", b"in doubt")):
                    self.assert_all_maybe(server, name_of_bad)
                    self.assertEqual(server.state(name_of_bad), state)
                server.rewrite()
                server.restart()


class Copies(FilterCase):
    def test_a_replica_has_the_same_bits(self):
        with running() as server, running() as replica:
            has = Dumps.fill(server)
            self.follow(replica, server)
            server.add("later", keys(1000))  # an add makes it: the master draws its seed
            server.call("BF.MERGE", "union", "chain", "later")
            for key in keys(50):
                server.call("BF.REM", "counting", key)
            names = [*has, "later", "union"]
            engines.wait_until(lambda: server.call("WAIT", 1, 1000) == 1 and replica.call("DBSIZE") == len(names), "a replica")
            self.assertEqual(replica.digest(*names), server.digest(*names))
            self.assertEqual(replica.ask("later", ABSENT), server.ask("later", ABSENT))
            replica.call("REPLICAOF", "NO", "ONE")
            for name in names:
                self.assertEqual(sum(replica.ask(name, ABSENT)), sum(server.ask(name, ABSENT)))

    def test_a_replica_of_another_geometry_has_every_key_too(self):
        with running() as server, running("--replica-read-only", "no") as replica:
            for name in ("full", "equal"):
                server.call("BF.RESERVE", name, FPR, 100, "NONSCALING", "SEED", 1)
            server.call("BF.RESERVE", "f", 0.5, 100, "SEED", 1)
            self.follow(replica, server)
            replica.call("DEL", "f", "full")
            replica.call("BF.RESERVE", "f", 0.5, 100, "SEED", 2)
            replica.call("BF.RESERVE", "full", FPR, 50, "NONSCALING")
            self.assertIn(0, [server.call("BF.ADD", "f", key) for key in keys(100)])
            added = {name: len(server.add(name, keys(200))) - 1 for name in ("full", "equal")}
            server.wait_for_replica()
            self.assert_there(replica, "f", keys(100))
            for name in added:
                self.assert_there(replica, name, keys(added[name]))
            self.assert_filters(replica, "equal")
            self.assertEqual(replica.digest("equal"), server.digest("equal"))

    def test_a_replica_that_lacks_a_source_of_a_merge_answers_maybe(self):
        with running() as server, running("--appendonly", "yes", "--replica-read-only", "no") as replica:
            for name in ("into", "from"):
                server.add(name, [name])
            self.follow(replica, server)
            replica.wait_for_rewrite()
            replica.call("DEL", "from")
            for name in ("into", "made"):
                self.assertEqual(server.call("BF.MERGE", name, "from"), b"OK")
            server.wait_for_replica()
            for _ in range(2):
                for name in ("into", "made"):
                    self.assert_all_maybe(replica, name)
                replica.restart()
            self.assertEqual(replica.client.info()["role"], "master")

    def test_a_replica_without_the_memory_for_a_filter_answers_maybe(self):
        with running() as server, running("--appendonly", "yes") as replica:
            server.call("BF.RESERVE", "grows", FPR, 250, "EXPANSION", 32768, "SEED", 1)
            server.add("small", ["a"])
            self.follow(replica, server)
            replica.wait_for_rewrite()
            self.cap_memory(replica, 8 << 20)  # the replica needs some memory for itself
            server.add("grows", keys(300))
            server.call("BF.MERGE", "union", "grows", "small")
            server.call("BF.INSERT", "made", "CAPACITY", 20000000, "ITEMS", "a")
            server.wait_for_replica()
            for name in ("grows", "made", "union"):
                self.assert_filters(server, name, deviations=5 if name == "grows" else 10)  # the server drew the others' seeds
                self.assert_all_maybe(replica, name)
            replica.call("REPLICAOF", "NO", "ONE")
            self.refuses("maybe", replica, "BF.ADD", "grows", "a")

    @staticmethod
    def cap_memory(server, more):
        """Limits the memory that the server gets from the kernel to that many bytes more."""
        process = server.server.process.pid
        pages = int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[0])
        resource.prlimit(process, resource.RLIMIT_AS, ((pages << 12) + more,) * 2)

    def test_a_copy_that_a_replica_cannot_make_answers_maybe(self):
        # The server drops a failed COPY. The key was then missing, or was the older one, and answered no.
        with running() as server, running("--replica-read-only", "no", "--appendonly", "yes") as replica:
            for name in ("lost", "good", "older", "oldest"):
                server.add(name, keys(100))
            self.follow(replica, server)
            replica.wait_for_rewrite()
            replica.call("DEL", "lost")
            server.add("lost", keys(100, 100))
            server.call("COPY", "lost", "copy")
            server.call("COPY", "lost", "older", "REPLACE")
            server.call("COPY", "copy", "oldest", "REPLACE")
            server.call("COPY", "good", "equal")
            server.wait_for_replica()
            for _ in range(2):
                for name in ("copy", "older", "oldest"):
                    self.assert_all_maybe(replica, name)
                    self.assertEqual(replica.state(name), b"in doubt")
                self.assertEqual(replica.digest("equal"), server.digest("equal"))
                replica.restart()
            replica.call("REPLICAOF", "NO", "ONE")
            self.refuses("", replica, "COPY", "copy", "another")  # a client gets the error
            self.assertEqual(replica.call("EXISTS", "another"), 0)

    def test_what_a_primary_attaches_or_merges_replaces_what_a_replica_s_client_made(self):
        with attaching() as server, attaching("--replica-read-only", "no", "--appendonly", "yes") as replica:
            server.add("merged", keys(100))
            server.add("from", keys(100, 100))
            self.follow(replica, server)
            replica.wait_for_rewrite()
            replica.add("attached", ["theirs"])
            replica.call("DEL", "merged")
            replica.call("BF.ATTACH", "merged", replica.file)
            server.call("BF.ATTACH", "attached", server.file)
            server.call("BF.MERGE", "merged", "from")
            server.wait_for_replica()
            self.assert_filters(server, "merged", deviations=10)
            for _ in range(2):
                for name in ("attached", "merged"):
                    self.assert_all_maybe(replica, name)
                with Outside(replica.file) as outside:
                    self.assertEqual(bfs.list_marks(LIBRARY, outside.handle), [])
                replica.restart()

    def test_a_copy_that_a_replica_has_no_memory_for_answers_maybe(self):
        with running() as server, running("--appendonly", "yes") as replica:
            server.call("BF.RESERVE", "f", FPR, 20000000)
            for name in ("f", "older"):
                server.add(name, keys(100))
            self.follow(replica, server)
            replica.wait_for_rewrite()
            self.cap_memory(replica, 8 << 20)
            server.call("COPY", "f", "copy")
            server.call("COPY", "f", "older", "REPLACE")
            server.wait_for_replica()
            for name in ("copy", "older"):
                self.assert_filters(server, name, deviations=10)
                self.assert_all_maybe(replica, name)

    def test_a_log_that_copies_what_is_in_doubt_brings_a_copy_in_doubt(self):
        with running("--appendonly", "yes") as server:
            server.add("older", keys(100))
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.incr.aof"))
            with open(log, "ab") as end:
                end.write(log_of(("BF.MADD", "theirs", "a"), ("COPY", "theirs", "copy"), ("COPY", "theirs", "older", "REPLACE")))
            server.start()
            for name in ("theirs", "copy", "older"):
                self.assert_all_maybe(server, name)

    def test_a_client_of_a_writable_replica_spoils_no_filter(self):
        for options in ([], ["--appendonly", "yes"]):
            with self.subTest(options), running() as server, running("--replica-read-only", "no", *options) as replica:
                for name in ("full", "later"):
                    server.call("BF.RESERVE", name, FPR, 100, "NONSCALING", "SEED", 1)
                server.call("BF.RESERVE", "grows", FPR, 100, "SEED", 1)
                for name in ("counts", "merged"):
                    server.call("BF.RESERVE", name, FPR, 1000, "LAYOUT", "COUNTING", "SEED", 1)
                full = len(server.add("full", keys(200))) - 1
                server.add("counts", keys(500))
                self.follow(replica, server)
                for _ in range(2):
                    self.refuses("full", replica, "BF.ADD", "full", "theirs")
                    self.assertRegex(str(replica.add("full", keys(300, 5000))[-1]), "full")
                    self.refuses("primary", replica, "BF.REM", "counts", "key-0")
                    self.refuses("", replica, "BF.LOADCHUNK", "full", 300, b"chunk")
                    self.refuses("", replica, "BF.LOADCHUNK", "full", 1, b"chunk")
                    self.refuses("not found", replica, "BF.MERGE", "full", "none")
                    replica.add("later", keys(100, 5000))
                    replica.add("grows", keys(500, 5000))
                    replica.add("merged", keys(400, 5000))
                    server.call("BF.MERGE", "merged", "counts")
                    later = len(server.add("later", keys(200))) - 1
                    server.add("grows", keys(500))
                    for key in keys(100):
                        server.call("BF.REM", "counts", key)
                    server.wait_for_replica()
                    self.assert_filters(replica, "full")
                    self.assertEqual(replica.digest("full", "counts"), server.digest("full", "counts"))
                    for name, items in (("later", keys(later)), ("grows", keys(500)), ("full", keys(full)), ("counts", keys(400, 100)),
                                        ("merged", keys(400, 100))):
                        self.assert_there(replica, name, items)
                        self.assertEqual(replica.state(name), b"good")
                        self.assertTrue(self.filters(replica, name, fpr=10 * FPR), name)  # it has two clients' keys
                    replica.wait_for_rewrite()
                    if options:
                        replica.restart()
                        replica.call("REPLICAOF", "127.0.0.1", server.port)
                        self.follow(replica, server)

    def test_a_replica_that_may_not_serve_stale_data_answers_no_key_without_its_primary(self):
        with running("--min-replicas-to-write", "1") as server, running("--replica-serve-stale-data", "no") as replica:
            self.refuses("NOREPLICAS", server, "BF.ADD", "f", "a")
            self.follow(replica, server)
            engines.wait_until(lambda: server.client.info("replication")["min_slaves_good_slaves"] == 1, "a replica that counts")
            server.add("f", keys(100))
            server.wait_for_replica()
            self.assert_there(replica, "f", keys(100))
            server.server.kill()
            engines.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "down", "a link that is down")
            for words in (("BF.EXISTS", "f", "key-0"), ("BF.MEXISTS", "none", "key-0"), ("BF.INFO", "f"), ("BF.CARD", "f")):
                self.refuses("MASTERDOWN", replica, *words)
            replica.call("REPLICAOF", "NO", "ONE")
            self.assert_there(replica, "f", keys(100))

    def test_a_replica_that_lost_a_key_answers_maybe_once_its_primary_adds_to_it(self):
        with running() as server, running("--replica-read-only", "no", "--appendonly", "yes") as replica:
            for name in ("deleted", "flushed"):
                server.add(name, keys(100))
            self.follow(replica, server)
            replica.wait_for_rewrite()
            replica.call("DEL", "deleted")
            replica.call("FLUSHALL")
            for name in ("deleted", "flushed"):
                server.add(name, keys(10, 100))
            server.call("BF.RESERVE", "made", FPR, 100, "SEED", 1)
            server.add("made", keys(100))
            server.wait_for_replica()
            for _ in range(2):
                for name in ("deleted", "flushed"):
                    self.assert_all_maybe(replica, name)
                    self.assertEqual(replica.state(name), b"in doubt")
                self.assertEqual(replica.digest("made"), server.digest("made"))
                replica.restart()

    def test_a_replica_takes_its_primary_s_filter_for_one_that_its_client_made(self):
        with running() as server, running("--replica-read-only", "no") as replica:
            head, *chunks = Dumps.large(server)
            self.follow(replica, server)
            for name in ("g", "made", "added"):
                replica.call("BF.RESERVE", name, FPR, 500, "LAYOUT", "COUNTING")
                replica.add(name, ["theirs"])
            for chunk in (head, *chunks):
                server.call("BF.LOADCHUNK", "g", *chunk)
            server.call("BF.RESERVE", "made", FPR, 100, "SEED", 1)
            for name in ("made", "added"):
                server.add(name, keys(300))
            server.wait_for_replica()
            self.assertEqual(replica.digest("g", "made", "added"), server.digest("g", "made", "added"))
            server.call("DEL", "g")
            server.call("BF.LOADCHUNK", "g", *head)
            server.wait_for_replica()
            replica.call("BF.LOADCHUNK", "g", *chunks[0])  # so this chunk comes twice
            for chunk in chunks:
                server.call("BF.LOADCHUNK", "g", *chunk)
            server.wait_for_replica()
            self.assert_all_maybe(replica, "g")
            self.assert_filters(server, "g")
            self.assertNotIn("sending an error", (replica.folder / "log").read_text())

    def test_a_replica_without_the_memory_to_restore_a_filter_answers_maybe(self):
        with running() as other, running() as server, running() as replica:
            other.call("BF.RESERVE", "f", FPR, 20000000)
            other.add("f", keys(100))
            payload = other.call("DUMP", "f")
            self.follow(replica, server)
            self.cap_memory(replica, 16 << 20)
            server.call("RESTORE", "f", 0, payload)
            server.wait_for_replica()
            self.assert_filters(server, "f", deviations=10)
            self.assert_all_maybe(replica, "f")

    def test_a_replica_without_the_memory_for_one_more_chunk_of_a_dump_answers_maybe(self):
        # A chunk needs as much as a filter of the chain: the first chain that fails has its filters, and lacks a chunk's memory.
        with running() as other, running() as server, running() as replica:
            payloads = []
            for seed in range(1, 25):
                other.call("BF.RESERVE", "one", FPR, 780000, "NONSCALING", "SEED", seed)
                other.add("one", keys(10, 10 * seed))
                other.call("BF.MERGE", "f", "one")
                other.call("DEL", "one")
                payloads.append(other.call("DUMP", "f"))
            self.follow(replica, server)
            self.cap_memory(replica, 16 << 20)
            states = []
            for count, payload in enumerate(payloads, 1):
                server.add("f", ["older"])
                server.call("RESTORE", "f", 0, payload, "REPLACE")
                server.wait_for_replica()
                self.assert_filters(server, "f")
                self.assert_there(replica, "f", keys(10 * count, 10))
                states.append(replica.state("f"))
                if states[-1] == b"good":
                    self.assertEqual(replica.digest("f"), server.digest("f"))
                else:
                    self.assert_all_maybe(replica, "f")
                server.call("DEL", "f")
            self.assertEqual(set(states), {b"good", b"in doubt"})
            self.assertNotIn("sending an error", (replica.folder / "log").read_text("utf-8", "replace"))

    def test_a_replica_that_has_hardly_any_memory_restores_a_filter_that_answers_maybe_or_ends(self):
        # Less than one chunk is left: a string of the dump found no memory, and the server cannot skip one.
        with running() as other, running() as server:
            other.call("BF.RESERVE", "f", FPR, 5000000)
            other.add("f", keys(300))
            payload = other.call("DUMP", "f")
            for more in range(1, 8):
                with self.subTest(more), running() as replica:
                    self.follow(replica, server)
                    self.cap_memory(replica, more << 18)
                    server.call("RESTORE", "f", 0, payload, "REPLACE")
                    has_ended = replica.server.process.poll
                    engines.wait_until(lambda: has_ended() is not None or server.call("WAIT", 1, 300) == 1, "a replica in step, or its end")
                    with contextlib.suppress(redis.ConnectionError):  # its own allocations end it
                        self.assert_all_maybe(replica, "f")
                    server.call("DEL", "f")

    def test_a_restore_in_a_log_that_cannot_be_repeated_brings_a_filter_in_doubt(self):
        with running("--appendonly", "yes", "--rdbcompression", "no", "--aof-use-rdb-preamble", "no") as server:
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            server.call("BF.RESERVE", "f", FPR, 1000, "SEED", 1)
            server.add("f", keys(100))
            right = server.call("BF.SCANDUMP", "f", 0)[1]
            payload = bytearray(server.call("DUMP", "f"))
            payload[payload.index(right) + len(right) + 500] ^= 4
            server.add("older", keys(100))
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.incr.aof"))
            with open(log, "ab") as end:
                end.write(log_of(("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1), ("RESTORE", "g", 0, bytes(payload)),
                                 ("RESTORE", "older", 0, bytes(payload), "REPLACE")))
            server.start()
            for name in ("g", "older"):
                self.assert_all_maybe(server, name)
                self.assertEqual(server.state(name), b"in doubt")

    def test_no_acknowledged_key_is_lost_when_the_server_is_killed(self):
        with running(*REWRITING) as server:
            server.call("BF.RESERVE", "f", FPR, 200, "SEED", 1)
            self.kill_often(server)


class Outside:
    """A handle of a file that the server cannot tell from another process's."""

    def __init__(self, path, mode=bfs.WRITE):
        self.handle = bfs.open_path(LIBRARY, str(path).encode(), mode)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        LIBRARY.bfs_close(self.handle, None)

    def add(self, items):
        for key in items:
            assert LIBRARY.bfs_add(self.handle, key.encode(), len(key)) >= 0

    def ask(self, items):
        return [LIBRARY.bfs_contains(self.handle, key.encode(), len(key)) for key in items]


def other(i):
    return f"other-{i}"


def add_until_killed(path, opened, added):
    """Adds one key after the other. When the file is poisoned, closes it, and adds all of them again to the file that comes."""
    while True:
        with contextlib.suppress(bfs.CodeError), Outside(path) as outside:
            added.value = 0
            opened.value += 1
            code = bfs.OK
            while code >= 0:
                code = LIBRARY.bfs_add(outside.handle, other(added.value).encode(), len(other(added.value)))
                added.value += code >= 0
                time.sleep(0.0001)  # clock: the server needs the processor, too
            assert code == bfs.EPOISONED, code
        time.sleep(0.001)  # clock: until the file can be opened


def sync_and_die(path):
    """Another process syncs the file, and is killed before the kernel has answered."""
    dies = TREE.out / "dies_in_a_sync.so"
    subprocess.run([*TREE.cc, "-shared", "-fPIC", "-x", "c", "-", "-o", dies], check=True, text=True,
                   input="#include <signal.h>\nint fdatasync(int file) { return (void)file, raise(SIGKILL); }\n")
    code = ("import sys, bfstore_ctypes as bfs; library = bfs.load(sys.argv[1]); "
            "library.bfs_sync(bfs.open_path(library, sys.argv[2].encode(), bfs.WRITE), None, None)")
    return subprocess.run([sys.executable, "-B", "-c", code, TREE.library, path],
                          env={**os.environ, "LD_PRELOAD": str(dies), "PYTHONPATH": os.path.dirname(bfs.__file__)})


FILE_SEEDS = itertools.count(1)  # each file is unlike the others, and like itself in another run


def make_file(path, capacity=20000, fpr=FPR, flags=0, **given):
    if "like" not in given:
        given["seed"] = next(FILE_SEEDS)
    LIBRARY.bfs_close(bfs.create(LIBRARY, str(path).encode(), flags, capacity=capacity, fpr=fpr, **given), None)
    return path


@contextlib.contextmanager
def attaching(*options):
    folder = engines.folder()
    with running(*options, "--loadmodule", MODULE, "ATTACH_FOLDER", folder, folder=folder, module=[]) as server:
        server.file = make_file(folder / "shared.bf")
        yield server


class Attached(FilterCase):
    def attach(self, server, *how):
        self.assertEqual(server.call("BF.ATTACH", "f", server.file, *how), b"OK")

    def test_the_server_and_other_processes_share_a_file(self):
        with attaching() as server:
            self.attach(server)
            with Outside(server.file) as outside:
                outside.add(keys(500))
                self.assert_there(server, "f", keys(500))
                server.add("f", keys(500, 500))
                self.assertNotIn(0, outside.ask(keys(1000)))
            self.assert_filters(server, "f")
            self.assertEqual(server.client.bf().info("f").capacity, 20000)
            self.assertLess(server.call("MEMORY", "USAGE", "f"), 2000)
            for words in (("BF.REM", "f", "key-1"), ("BF.MERGE", "g", "f"), ("BF.SCANDUMP", "f", 0)):
                self.refuses("attached file", server, *words)
            self.refuses("exists", server, "BF.ATTACH", "f", server.file)
            self.refuses("ATTACH_FOLDER", server, "BF.ATTACH", "g", "/etc/passwd")
            self.refuses("ATTACH_FOLDER", server, "BF.ATTACH", "g", f"{server.folder}/../x")
            self.refuses("none.bf", server, "BF.ATTACH", "g", server.folder / "none.bf")
            with running() as other:
                self.refuses("ATTACH_FOLDER", other, "BF.ATTACH", "f", server.file)

    def test_a_file_attached_for_reading_follows_its_path(self):
        with attaching("--appendonly", "yes") as server:
            with Outside(server.file) as outside:
                outside.add(keys(100))
            self.attach(server, "READONLY")
            server.call("BF.ATTACH", "asked", server.file)
            self.refuses("", server, "BF.ADD", "f", "a")
            self.assert_there(server, "f", keys(100))
            following = make_file(server.folder / "next.bf", capacity=0, fpr=0, like=str(server.file).encode())
            with Outside(following) as outside:
                outside.add(keys(200))
                bfs.copy(LIBRARY, outside.handle, str(server.file).encode(), bfs.REPLACE)
            self.assert_there(server, "f", keys(200))
            engines.wait_until(lambda: self.filters(server, "f"), "the next file")
            self.assert_there(server, "asked", keys(200))
            self.assert_filters(server, "asked")
            server.restart(signal.SIGKILL)
            self.assert_there(server, "f", keys(200))
            self.assert_filters(server, "f")

    def test_a_killed_server_loses_no_key_of_a_file(self):
        for options in (["--appendonly", "yes"], ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), attaching(*options) as server:
                self.attach(server)
                for part in range(4):
                    server.add("f", keys(200, 200 * part))
                    if part == 1:
                        server.rewrite()
                    server.restart(signal.SIGKILL)
                    self.assert_there(server, "f", keys(200 * part + 200))
                    self.assert_filters(server, "f")

    def test_no_key_is_lost_when_the_server_and_another_process_are_killed(self):
        sizes = {"capacity": 3 * KEYS_OF_A_LIFE * (ASKED.kills + 100), "flags": bfs.REPLACE}
        with attaching(*REWRITING) as server:
            make_file(server.file, **sizes)
            self.attach(server)
            processes = multiprocessing.get_context("fork")
            opened, added = processes.Value("Q", 0), processes.Value("Q", 0)
            outside = processes.Process(target=add_until_killed, args=(server.file, opened, added))

            def come_back(acknowledged):
                """A server that was killed in a sync poisoned the file, unless nobody else had it open: then it recovered the file."""
                with contextlib.suppress(bfs.CodeError), Outside(server.file):
                    return
                before = opened.value
                self.replace_poisoned(server, acknowledged, **sizes)
                engines.wait_until(lambda: opened.value > before, "the other process in the new file")
            outside.start()
            self.kill_often(server, come_back)
            engines.wait_until(lambda: added.value > 100, "keys from outside")
            outside.kill()
            outside.join()
            self.assertEqual(outside.exitcode, -signal.SIGKILL)
            server.restart(signal.SIGKILL)
            self.assertNotIn(0, server.ask("f", [other(i) for i in range(added.value)]))
            self.assert_filters(server, "f")

    def replace_poisoned(self, server, items, **sizes):
        """The way back that the module's README names: the file is built anew and attached again."""
        with self.assertRaises(bfs.CodeError) as raised:
            Outside(server.file)
        self.assertEqual(raised.exception.code, bfs.EPOISONED)
        self.assert_all_maybe(server, "f")
        server.call("DEL", "f")
        with Outside(make_file(server.file, **sizes)) as anew:
            anew.add(items)
        self.attach(server)

    def test_a_file_whose_sync_was_killed_is_built_anew_and_attached_again(self):
        with attaching("--appendonly", "yes") as server, Outside(server.file) as outside:
            self.attach(server)
            server.add("f", keys(100))
            self.assertEqual(sync_and_die(server.file).returncode, -signal.SIGKILL)
            server.restart(signal.SIGKILL)
            self.assertEqual(server.state("f"), b"in doubt")
            self.refuses("", server, "BF.ADD", "f", "a")
            self.assertEqual(LIBRARY.bfs_add(outside.handle, b"a", 1), bfs.EPOISONED)
            self.assertNotIn(0, outside.ask(ABSENT[:50]))
            self.replace_poisoned(server, keys(100), flags=bfs.REPLACE)
            for _ in range(2):
                self.assert_there(server, "f", keys(100))
                self.assert_filters(server, "f")
                server.restart(signal.SIGKILL)

    def test_the_file_knows_the_server_before_it_has_a_key_from_it(self):
        def owners(file):
            with Outside(file) as outside:
                return len(bfs.list_marks(LIBRARY, outside.handle))
        with attaching() as server:
            self.attach(server)
            self.assertEqual(owners(server.file), 1)
            make_file(server.file, flags=bfs.REPLACE)
            self.assertEqual(owners(server.file), 0)
            server.add("f", keys(1))
            self.assertEqual(owners(server.file), 1)
            server.call("RENAME", "f", "g")
            self.assertEqual(owners(server.file), 1)
            server.add("g", keys(1, 1))
            self.assertEqual(owners(server.file), 1)
            with Outside(make_file(server.folder / "crowded.bf")) as crowded:
                for owner in range(1, 65):
                    self.assertEqual(LIBRARY.bfs_sync(crowded.handle, bfs.mark(owner, 1, 1), None), 0)
                self.refuses("owner", server, "BF.ATTACH", "h", server.folder / "crowded.bf")
                self.assertEqual(server.call("EXISTS", "h"), 0)

    def test_a_key_of_the_log_that_reaches_no_file_is_remembered_as_missing(self):
        with attaching("--appendonly", "yes") as server:
            self.attach(server)
            old = shutil.copy(server.file, server.folder / "old.bf")
            server.add("f", keys(100))
            server.server.kill()
            server.file.unlink()
            server.start()
            self.assert_all_maybe(server, "f")
            server.rewrite()  # drops the adds from the log
            os.replace(old, server.file)
            server.restart()
            self.assert_there(server, "f", keys(100))

    @contextlib.contextmanager
    def after_a_kill_that_lost_the_log_s_end(self, *options):
        """The file alone has 100 keys, and `old` is the file without them. No snapshot has what came after it, and with
        appendfsync everysec the write of the log may still wait for an fsync."""
        with attaching(*options) as server:
            self.attach(server)
            server.keep = server.rewrite if "--appendonly" in options else lambda: server.call("SAVE")
            if "--appendonly" not in options:
                server.call("SAVE")
            written = {path: path.stat().st_size for path in server.folder.glob("appendonlydir/*")}
            server.old = shutil.copy(server.file, server.folder / "old.bf")
            server.add("f", keys(100))
            server.server.kill()
            for path, size in written.items():
                os.truncate(path, size)
            yield server

    LOSING = (["--appendonly", "yes"], ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"], [])

    def test_a_file_that_was_away_at_a_start_is_in_doubt_once_the_server_has_kept_that(self):
        for options in self.LOSING:
            with self.subTest(options), self.after_a_kill_that_lost_the_log_s_end(*options) as server:
                right = server.file.rename(server.folder / "right.bf")
                server.start()
                self.assert_all_maybe(server, "f")
                server.server.kill()
                shutil.copy(right, server.file)
                server.start()  # with the same log
                self.assert_there(server, "f", keys(100))
                self.assert_filters(server, "f")
                server.server.kill()
                server.file.unlink()
                server.start()
                server.keep()
                os.replace(server.old, server.file)
                server.restart()
                self.assert_there(server, "f", keys(100))
                self.assert_all_maybe(server, "f")

    def test_a_server_counts_on_the_file_that_it_started_with_also_where_its_log_has_no_add(self):
        for options in self.LOSING:
            with self.subTest(options), self.after_a_kill_that_lost_the_log_s_end(*options) as server:
                server.start()
                self.assert_there(server, "f", keys(100))
                server.keep()
                server.server.stop()
                os.replace(server.old, server.file)
                server.start()
                self.assert_there(server, "f", keys(100))
                self.assert_all_maybe(server, "f")

    def test_a_server_follows_no_file_of_which_its_log_may_not_know_all(self):
        with self.after_a_kill_that_lost_the_log_s_end("--appendonly", "yes") as server:
            server.start()
            make_file(server.file, flags=bfs.REPLACE)
            self.assert_there(server, "f", keys(100))

    def test_a_deleted_key_leaves_no_owner_in_the_file(self):
        with attaching("--save", "3600 1") as server:
            for name in ("f", "g"):
                server.call("BF.ATTACH", name, server.file)
                server.add(name, keys(10))
            server.call("SAVE")
            with Outside(server.file) as outside:
                self.assertEqual(len(bfs.list_marks(LIBRARY, outside.handle)), 2)
                server.call("DEL", "g")
                self.assertEqual(len(bfs.list_marks(LIBRARY, outside.handle)), 1)
                server.call("RENAME", "f", "h")
                server.call("SAVE")
                self.assertEqual(len(bfs.list_marks(LIBRARY, outside.handle)), 1)
            server.restart(signal.SIGKILL)
            self.assert_there(server, "h", keys(10))
            self.assert_filters(server, "h")

    def test_a_key_that_is_renamed_or_moved_keeps_its_place_in_the_file(self):
        # The file forgot the server then. What the log begins with counts on a mark, and a server that was killed found none.
        def rename(server):
            server.call("RENAME", "f", "g")
            server.call("RENAMENX", "g", "f")

        def rename_over_another(server):
            server.call("BF.ATTACH", "other", make_file(server.folder / "other.bf"))
            server.add("other", keys(10))
            server.call("RENAME", "f", "other")
            server.call("RENAME", "other", "f")

        def move(server):
            server.call("MOVE", "f", 1)
            server.call("SELECT", 1)
            server.call("MOVE", "f", 0)
            server.call("SELECT", 0)

        def script(server):
            server.call("EVAL", "redis.call('RENAME', 'f', 'g'); redis.call('RENAME', 'g', 'f')", 0)
        for how in (rename, rename_over_another, move, script):
            for started_again, adds in itertools.product((0, 1), (0, 1)):
                with self.subTest(how.__name__, started_again=started_again, adds=adds), \
                        attaching("--appendonly", "yes") as server:
                    self.attach(server)
                    server.add("f", keys(100))
                    server.rewrite()
                    for _ in range(started_again):
                        server.restart(signal.SIGKILL)
                        server.add("f", keys(10, 100))
                    how(server)
                    server.call("SET", "text", "text")
                    server.call("DEL", "text")
                    for key in keys(adds, 200):
                        server.add("f", [key])
                    for _ in range(2):
                        server.restart(signal.SIGKILL)
                        self.assertEqual(server.state("f"), b"good")
                        self.assert_there(server, "f", keys(100) + keys(10 * (started_again > 0), 100) + keys(adds, 200))
                        self.assert_filters(server, "f")
                    server.call("DEL", "f")
                    with Outside(server.file) as outside:
                        self.assertEqual(bfs.list_marks(LIBRARY, outside.handle), [])

    def test_a_key_that_was_renamed_and_then_loaded_again_finds_its_file(self):
        with attaching("--save", "3600 1") as server:
            self.attach(server)
            server.add("f", keys(100))
            server.call("RENAME", "f", "g")
            server.call("DEBUG", "RELOAD")
            self.assertEqual(server.state("g"), b"good")
            self.assert_there(server, "g", keys(100))
            self.assert_filters(server, "g")

    def test_a_key_that_goes_in_any_way_leaves_no_owner_in_the_file(self):
        def unlink(server):
            server.call("UNLINK", "f")

        def expire(server):
            server.call("PEXPIREAT", "f", 1)

        def overwrite(server):
            server.call("SET", "f", "text")

        def rename_over(server):
            server.call("SET", "text", "text")
            server.call("RENAME", "text", "f")

        def delete_what_was_renamed(server):
            server.call("RENAME", "f", "g")
            server.call("DEL", "g")
        for how in (unlink, expire, overwrite, rename_over, delete_what_was_renamed):
            with self.subTest(how.__name__), attaching() as server, Outside(server.file) as outside:
                self.attach(server)
                server.add("f", keys(10))
                self.assertEqual(len(bfs.list_marks(LIBRARY, outside.handle)), 1)
                how(server)
                engines.wait_until(lambda: not bfs.list_marks(LIBRARY, outside.handle), "an owner that left")
                self.assertNotIn(0, outside.ask(keys(10)))

    def test_a_snapshot_finds_its_file_again(self):
        with attaching() as server:
            self.attach(server)
            server.add("f", keys(300))
            server.call("SAVE")
            server.add("f", keys(300, 300))
            for _ in range(3):
                server.restart(signal.SIGKILL)
                self.assert_there(server, "f", keys(600))
                self.assert_filters(server, "f")
            with running() as replica:  # the fork for it syncs the file, and keeps no snapshot
                self.follow(replica, server)
            server.restart(signal.SIGKILL)
            self.assert_filters(server, "f")
            server.call("DEBUG", "RELOAD")
            self.assert_there(server, "f", keys(600))
            self.assert_filters(server, "f")

    def test_a_file_after_a_power_cut_gets_its_keys_from_the_log(self):
        with attaching("--appendonly", "yes") as server:
            self.attach(server)
            server.add("f", keys(300))
            server.rewrite()
            old = shutil.copy(server.file, server.folder / "old.bf")  # in use: a crash would leave it so
            server.add("f", keys(300, 300))
            with Outside(server.file) as outside:  # its log is not the server's
                outside.add(keys(50, 5000))
            self.assertEqual(sum(server.add("f", keys(50, 5000))), 0)
            server.server.kill()
            os.replace(old, server.file)
            with self.assertRaises(bfs.CodeError):
                Outside(server.file)
            server.start()
            self.assert_there(server, "f", keys(600) + keys(50, 5000))
            self.assert_filters(server, "f")

    def test_a_file_that_lacks_what_the_log_has_no_more_answers_maybe(self):
        with attaching("--appendonly", "yes") as server:
            self.attach(server)
            server.call("BF.ATTACH", "asked", server.file)  # the server adds nothing to it
            server.add("f", keys(300))
            server.server.stop()
            old = shutil.copy(server.file, server.folder / "old.bf")
            server.start()
            server.add("f", keys(300, 300))
            server.rewrite()
            server.server.stop()
            os.replace(old, server.file)
            server.start()
            self.assert_all_maybe(server, "f")
            self.refuses("in doubt", server, "BF.ADD", "f", "a")
            server.server.stop()
            server.file.unlink()
            make_file(server.file)
            server.start()
            self.assert_all_maybe(server, "f")
            self.assert_all_maybe(server, "asked")

    def test_histories_that_part_are_told_apart(self):
        with attaching() as server:
            self.attach(server)
            server.add("f", keys(100))
            server.call("SAVE")
            snapshot = shutil.copy(server.folder / "dump.rdb", server.folder / "kept.rdb")
            server.add("f", keys(100, 100))
            server.call("SAVE")
            server.server.stop()
            first = shutil.copy(server.file, server.folder / "first.bf")  # has marks up to 200
            shutil.copy(snapshot, server.folder / "dump.rdb")
            server.start()
            server.add("f", keys(50, 1000))  # positions 101 to 150 of another history
            server.call("SAVE")
            server.server.stop()
            os.replace(first, server.file)
            server.start()
            self.assertNotIn(0, server.ask("f", keys(50, 1000)))

    def test_a_replica_and_a_dump_answer_maybe(self):
        with attaching("--appendonly", "yes") as server, attaching("--appendonly", "yes") as replica:
            self.follow(replica, server)
            self.attach(server)
            server.add("f", keys(100))
            server.wait_for_replica()
            self.assert_all_maybe(replica, "f")
            server.call("RESTORE", "copy", 0, server.call("DUMP", "f"))
            self.assert_all_maybe(server, "copy")
            self.assertNotIn("sending an error", (replica.folder / "log").read_text())
            self.assertIn("slave", replica.client.info()["role"])
            replica.wait_for_rewrite()  # it refuses to end before
            replica.restart()
            self.assertEqual(replica.client.info()["role"], "master")
            self.assert_all_maybe(replica, "f")
            self.assert_filters(server, "f")

    def test_a_restored_dump_answers_maybe_when_the_log_brings_it_again(self):
        with attaching("--appendonly", "yes") as server:
            with Outside(server.file) as outside:
                outside.add(keys(100))
            self.attach(server, "READONLY")
            payload = server.call("DUMP", "f")
            server.call("DEL", "f")
            server.rewrite()  # the log has a snapshot, followed by the RESTORE
            server.call("RESTORE", "f", 0, payload)
            make_file(server.file, flags=bfs.REPLACE)  # another machine may have such a file there
            for _ in range(2):
                server.restart()
                self.assert_there(server, "f", keys(100))
                self.assert_all_maybe(server, "f")
                server.rewrite()

    def test_a_dump_of_an_attached_file_is_checked(self):
        with attaching("--rdbcompression", "no") as server:
            self.attach(server)
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            payload = server.call("DUMP", "f")
            path = str(server.file).encode() + b"\0"
            state = payload.index(path) + len(path) + 3  # the string's kind and length
            for at, is_good in ((0, True), (16, False), (32, False), (40, False)):  # owner, turn, reads, doubted
                bad = bytearray(payload)
                bad[state + at] ^= 2
                with self.subTest(at):
                    if is_good:
                        server.call("RESTORE", "g", 0, bytes(bad))
                        self.assert_all_maybe(server, "g")
                    else:
                        self.refuses("Bad data", server, "RESTORE", "h", 0, bytes(bad))

    def test_a_log_opens_no_file_outside_the_folder(self):
        for options in (["--appendonly", "yes"], ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), attaching(*options) as server:
                self.attach(server, "READONLY")
                server.rewrite()
                right = server.options
                server.options = [engines.folder() if word == server.folder else word for word in right]
                server.restart()
                self.assert_all_maybe(server, "f")
                server.options = right
                server.restart()
                self.assert_filters(server, "f")

    def test_a_file_that_another_program_moved_away_is_seen(self):
        for reads in ([], ["READONLY"]):
            with self.subTest(reads), attaching("--appendonly", "yes") as server:
                old, away = shutil.copy(server.file, server.folder / "old.bf"), server.folder / "away.bf"
                with Outside(server.file) as outside:
                    outside.add(keys(100))
                self.attach(server, *reads)
                if not reads:
                    server.add("f", keys(100))

                def is_seen():
                    self.assert_there(server, "f", keys(100))
                    self.assert_all_maybe(server, "f")
                    self.refuses("", server, "BF.ADD", "f", "a")
                    self.assertNotEqual(server.state("f"), b"good")

                def is_good():
                    engines.wait_until(lambda: server.state("f") == b"good", "the file")
                    self.assert_there(server, "f", keys(100))
                    self.assert_filters(server, "f")
                os.rename(server.file, away)
                is_seen()
                if not reads:  # a reader follows to it
                    os.rename(shutil.copy(old, server.folder / "copy.bf"), server.file)
                    is_seen()
                os.replace(away, server.file)
                is_good()
                os.rename(server.file, away)
                server.file.symlink_to(away)
                is_good()
                server.file.unlink()
                server.file.symlink_to(old)  # a switched link
                if not reads:
                    is_seen()
                server.file.unlink()
                is_seen()
                server.restart()
                is_seen()

    def test_a_file_that_another_program_moved_to_the_path_is_followed_by_a_key_that_added_nothing(self):
        with attaching() as server:
            self.attach(server, "READONLY")
            server.call("BF.ATTACH", "asked", server.file)
            for part in range(3):
                new = make_file(server.folder / "new.bf", capacity=0, fpr=0, like=str(server.file).encode())
                with Outside(new) as outside:
                    outside.add(keys(100, 1000 * part))
                os.replace(new, server.file)
                for name in ("f", "asked"):
                    self.assert_there(server, name, keys(100, 1000 * part))
                    engines.wait_until(lambda name=name: self.filters(server, name), "the next file")
            self.assertGreater(sum(server.add("asked", keys(1000, 5000))), 900)
            self.assert_there(server, "f", keys(1000, 5000))

    def test_a_file_that_is_truncated_ends_no_server(self):
        with attaching() as server:
            self.attach(server)
            server.add("f", keys(100))
            os.truncate(server.file, 4096)
            self.assert_there(server, "f", keys(100))
            self.assertTrue(server.client.ping())

    def test_a_file_that_is_truncated_ends_no_server_whose_handlers_of_signals_changed(self):
        # The server sets SIGBUS, too, and takes the file's guard away.
        for changes in (["no"], ["no", "yes"], ["yes"]):
            with self.subTest(changes), attaching() as server:
                self.attach(server)
                server.add("f", keys(100))
                for value in changes:
                    server.call("CONFIG", "SET", "crash-log-enabled", value)
                os.truncate(server.file, 4096)
                self.assert_there(server, "f", keys(100))
                self.assertTrue(server.client.ping())
        with attaching() as server:
            server.call("CONFIG", "SET", "crash-log-enabled", "no")
            server.call("CONFIG", "SET", "crash-log-enabled", "yes")  # before there is a guard
            self.attach(server)
            server.add("f", keys(100))
            server.call("CONFIG", "SET", "crash-log-enabled", "no")
            os.truncate(server.file, 4096)
            self.assert_there(server, "f", keys(100))
            self.assertTrue(server.client.ping())


EPOCHS = 8


class Windows(FilterCase):
    """Epochs end by BF.TURN, as the server replicates it, so that no verdict depends on a clock."""

    def reserve(self, server, name="f", capacity=7000, window=YEAR, *how):
        server.call("BF.RESERVE", name, FPR, capacity, "WINDOW", window, "SEED", 1, *how)

    def epoch(self, server, name="f"):
        return server.call("BF.INFO", name, "EPOCH")[0]

    def links(self, server, name="f"):
        return server.call("BF.INFO", name, "FILTERS")[0]

    def turn(self, server, times=1, name="f"):
        for _ in range(times):
            self.assertEqual(server.call("BF.TURN", name, self.epoch(server, name)), 1)

    def assert_gone(self, server, name, items):
        found = sum(server.ask(name, items))
        self.assertLessEqual(found, len(items) * FPR + 5 * (len(items) * FPR) ** 0.5)

    def test_a_key_is_forgotten_after_eight_turns_and_not_before(self):
        with running() as server:
            self.reserve(server)
            self.assertEqual(self.epoch(server), 0)
            added = {}
            for epoch in range(2 * EPOCHS):
                added[epoch] = keys(500, 1000 * epoch)
                self.assertGreater(sum(server.add("f", added[epoch])), 450)
                for older in range(max(0, epoch - EPOCHS + 1), epoch + 1):
                    self.assert_there(server, "f", added[older])
                for older in range(epoch - EPOCHS + 1):
                    self.assert_gone(server, "f", added[older])
                for other in (epoch + 1, max(0, epoch - 1) if epoch else 7, 2**64 - 1):
                    self.assertEqual(server.call("BF.TURN", "f", other), 0)  # not in that epoch
                self.assertEqual(server.call("BF.TURN", "f"), 0)  # not over
                self.turn(server)
                self.assertEqual(self.epoch(server), epoch + 1)
            self.turn(server, EPOCHS)
            self.assertEqual([sum(server.ask("f", ABSENT + keys(1000))), server.call("BF.CARD", "f")], [0, 0])
            self.assertEqual(self.links(server), EPOCHS)

    def test_a_key_is_kept_after_its_last_add(self):
        with running() as server:
            self.reserve(server)
            server.add("f", keys(200))
            self.assertEqual(server.call("BF.CARD", "f"), 200)
            self.turn(server, 5)
            self.assertEqual(sum(server.add("f", keys(100))), 0)  # in the filter, and added again to this epoch
            self.assertEqual(server.call("BF.CARD", "f"), 300)
            self.assertEqual(sum(server.add("f", keys(100))), 0)
            self.assertEqual(server.call("BF.CARD", "f"), 300)  # this epoch has them
            self.turn(server, 3)
            self.assert_there(server, "f", keys(100))
            self.assert_gone(server, "f", keys(100, 100))
            self.turn(server, 4)
            self.assert_there(server, "f", keys(100))
            self.turn(server)
            self.assert_gone(server, "f", keys(100))

    def test_the_rate_holds_for_the_keys_of_a_window_and_for_those_of_a_burst(self):
        with running() as server:
            for name, how in (("f", ()), ("fixed", ("NONSCALING",)), ("four", ("EXPANSION", 4))):
                self.reserve(server, name, 7000, YEAR, *how)
                for epoch in range(EPOCHS):
                    server.add(name, keys(990, 1000 * epoch))
                    self.turn(server, epoch < EPOCHS - 1, name)
                self.assert_filters(server, name)
                self.assertEqual(self.links(server, name), EPOCHS)
                for epoch in range(EPOCHS):
                    self.assert_there(server, name, keys(990, 1000 * epoch))
            answers = server.add("fixed", keys(200, 50000))
            self.assertRegex(str(answers[-1]), "full")
            self.assert_there(server, "fixed", keys(len(answers) - 1, 50000))
            self.turn(server, 1, "fixed")
            self.assertGreater(sum(server.add("fixed", keys(900, 60000))), 800)  # a new epoch has room
            for name in ("f", "four"):
                for first in range(50000, 57000, 1000):
                    server.add(name, keys(1000, first))
                for first in range(50000, 57000, 1000):
                    self.assert_there(server, name, keys(1000, first))
                self.assert_filters(server, name)
                self.assertGreater(self.links(server, name), EPOCHS)
                self.turn(server, EPOCHS, name)
                self.assertEqual(self.links(server, name), EPOCHS)
                self.assertEqual(sum(server.ask(name, keys(1000, 50000))), 0)
            self.reserve(server, "many", 7000, YEAR, "EXPANSION", 1)
            for first in range(0, 70000, 1000):
                server.add("many", keys(1000, first))
            self.assertGreater(self.links(server, "many"), 60)
            self.assert_filters(server, "many")

    def test_windows_are_told(self):
        with attaching() as server, Wire(server.port, 3) as wire:
            self.reserve(server, "f", 1000, YEAR)
            self.turn(server, 3)
            told = wire.call("BF.INFO", "f")
            self.assertEqual(list(told)[5:], ["Window", "Epoch", "Epoch began"])
            self.assertEqual((told["Capacity"], told["Window"], told["Epoch"]), (1000, YEAR, 3))
            self.assertEqual(wire.call("BF.INFO", "f", "WINDOW"), {"Window": YEAR})
            self.assertEqual(wire.call("BF.INFO", "f", "STATE"), {"State": "good"})
            self.assertIs(type(wire.call("BF.INFO", "f", "BEGAN")["Epoch began"]), int)
            server.add("g", ["a"])
            server.call("BF.ATTACH", "file", server.file)
            for name in ("g", "file"):
                for fact in ("WINDOW", "EPOCH", "BEGAN"):
                    self.assertEqual(server.call("BF.INFO", name, fact), [None])
                self.refuses("no window", server, "BF.TURN", name)
                self.assertEqual(len(server.call("BF.INFO", name)), 10)

    def test_what_a_window_does_not_go_with_is_refused(self):
        with running() as server:
            for words in (["WINDOW"], ["WINDOW", 0], ["WINDOW", -1], ["WINDOW", "1h"], ["WINDOW", 2**40 + 1],
                          ["WINDOW", 1000, "LAYOUT", "COUNTING"], ["LAYOUT", "WINDOW"], ["LAYOUT", "window-2"],
                          ["WINDOW", 1000, "SINCE", "now"], ["WINDOW", 1000, "SINCE", "1:2:3:4"],
                          ["WINDOW", 1000, "NONSCALING", "EXPANSION", 2]):
                self.refuses("", server, "BF.RESERVE", "g", FPR, 1000, *words)
                self.refuses("", server, "BF.INSERT", "g", *words, "ITEMS", "a")
            self.refuses("window must be in the range", server, "BF.RESERVE", "g", FPR, 1000, "WINDOW", 2**40 + 1)
            self.refuses("counting filters have no window", server, "BF.RESERVE", "g", FPR, 1, "WINDOW", 9, "LAYOUT", "COUNTING")
            self.refuses("WINDOW milliseconds", server, "BF.RESERVE", "g", FPR, 1, "LAYOUT", "WINDOW")
            self.assertEqual(server.call("EXISTS", "g"), 0)
            self.refuses("not found", server, "BF.TURN", "g")
            self.reserve(server, "f", 1000, 2**40)
            self.assertEqual(server.call("BF.INSERT", "h", "CAPACITY", 10, "WINDOW", YEAR, "ITEMS", "a", "a"), [1, 0])
            self.assertEqual(server.call("BF.INFO", "h", "WINDOW"), [YEAR])
            for words in ([], ["f", "x"], ["f", -1], ["f", 0, "SINCE"], ["f", 0, "SINCE", "x"], ["f", 0, "SINCE", "1:2:x"]):
                self.refuses("", server, "BF.TURN", *words)
            server.add("g", ["a"])
            for words in (("g", "f"), ("f", "g"), ("f", "h"), ("none", "f"), ("none", "g", "f")):
                self.refuses("window", server, "BF.MERGE", *words)
            self.assertEqual([self.epoch(server), server.call("EXISTS", "none")], [0, 0])

    def test_windows_survive_snapshots_and_logs(self):
        for options in (["--save", "3600", "1"], ["--appendonly", "yes"],
                        ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]):
            with self.subTest(options), running("--rdbcompression", "no", *options) as server:
                self.reserve(server, "f", 700)  # keys of one epoch need several filters
                by = signal.SIGTERM if "--save" in options else signal.SIGKILL
                for epoch in range(EPOCHS + 3):
                    server.add("f", keys(300, 1000 * epoch))
                    kept = server.call("DUMP", "f")  # also when the epoch began
                    if "--save" not in options and epoch % 4 == 2:
                        server.rewrite()
                    server.restart(by)
                    self.assertEqual(server.call("DUMP", "f"), kept)
                    self.assertEqual(self.epoch(server), epoch)
                    for older in range(max(0, epoch - EPOCHS + 1), epoch + 1):
                        self.assert_there(server, "f", keys(300, 1000 * older))
                    self.assert_filters(server, "f")
                    if epoch >= EPOCHS:
                        self.assert_gone(server, "f", keys(300, 1000 * (epoch - EPOCHS)))
                    self.turn(server)

    def test_no_acknowledged_key_is_lost_when_the_server_is_killed(self):
        with running(*REWRITING) as server:
            self.reserve(server, "f", 2000)
            turns = []

            def come_back(_):
                if len(turns) < EPOCHS - 1:  # later ones would forget the first keys
                    self.turn(server)
                    turns.append(None)
            self.kill_often(server, come_back)
            self.assertEqual(self.epoch(server), len(turns))

    @staticmethod
    def boot():
        text = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")
        return text[:16], text[16:]

    def kept_time(self, server, *since):
        """Reserves a filter whose epoch began then. Returns when it began according to its dump: (boot, boot, nanoseconds)."""
        server.call("DEL", "g")
        self.reserve(server, "g", 1000, YEAR, "SINCE", ":".join(map(str, since)))
        dump = server.call("DUMP", "g")
        return struct.unpack_from("<3Q", dump, dump.index(b"BFSDUMP3") + 80)

    def test_an_epoch_that_began_in_this_boot_is_over_in_time_and_any_other_begins_anew(self):
        with running("--rdbcompression", "no") as server:
            boot = self.boot()
            number = tuple(int(half, 16) for half in boot)
            self.assertEqual(self.kept_time(server, *boot, 5), (*number, 5))
            for since in (("0", "0", 5), (boot[0], "1", 5), ("1", boot[1], 5), (*boot, 2**63)):
                found = self.kept_time(server, *since)
                self.assertEqual(found[:2], number)
                self.assertTrue(5 < found[2] < 2**62, since)
            with server.client.pipeline() as both:  # an epoch of one second, which began when the machine did
                both.execute_command("BF.RESERVE", "over", FPR, 1000, "WINDOW", 7000, "SINCE", ":".join((*boot, "0")))
                both.execute_command("BF.TURN", "over")
                self.assertEqual(both.execute(), [b"OK", 1])

    def test_the_primary_ends_epochs_that_are_over(self):
        with running("--appendonly", "yes") as server, running() as replica:
            self.follow(replica, server)
            self.reserve(server, "f", 1000, 7)
            engines.wait_until(lambda: self.epoch(server) > 0, "a turn")
            server.wait_for_replica()
            engines.wait_until(lambda: self.epoch(replica) > 0, "a turn of the replica")
            server.call("RENAME", "f", "g")
            server.call("MOVE", "g", 1)
            before = self.epoch_in(server, 1)
            engines.wait_until(lambda: self.epoch_in(server, 1) > before + 1, "two turns")
            server.wait_for_rewrite()
            server.restart(signal.SIGKILL)
            before = self.epoch_in(server, 1)
            self.assertGreater(before, 1)
            engines.wait_until(lambda: self.epoch_in(server, 1) > before, "a turn after a start")

    @staticmethod
    def epoch_in(server, database):
        with contextlib.closing(redis.Redis(port=server.port, db=database)) as client:
            return client.execute_command("BF.INFO", "g", "EPOCH")[0]

    def test_a_replica_ends_no_epoch_of_its_own_and_goes_on_as_a_primary(self):
        with running() as server, running("--replica-read-only", "no") as replica:
            self.reserve(server)
            self.reserve(server, "short", 1000, 7)
            server.add("f", keys(100))
            self.follow(replica, server)
            self.turn(server, 3)
            server.add("f", keys(100, 100))
            server.wait_for_replica()
            self.assertEqual(replica.digest("f"), server.digest("f"))
            self.assertEqual(self.epoch(replica), 3)
            for words in (("f",), ("f", 3)):
                self.refuses("primary", replica, "BF.TURN", *words)
            replica.add("f", keys(100, 200))  # by a client of the replica
            server.server.kill()
            replica.call("REPLICAOF", "NO", "ONE")
            before = self.epoch(replica, "short")
            engines.wait_until(lambda: self.epoch(replica, "short") > before, "a turn of the new primary")
            self.turn(replica, 4)
            self.assert_there(replica, "f", keys(300))
            self.turn(replica)
            self.assert_gone(replica, "f", keys(100))
            self.assert_there(replica, "f", keys(200, 100))

    def test_a_primary_that_becomes_a_replica_ends_no_more_epochs(self):
        def uptime():
            return server.client.info("server")["uptime_in_seconds"]
        with attaching() as server:
            make_file(server.file, flags=bfs.REPLACE, layout="window", window_ms=1)
            server.call("BF.ATTACH", "file", server.file)
            self.reserve(server, "f", 1000, 7)
            engines.wait_until(lambda: self.epoch(server, "file") > 0 < self.epoch(server), "turns")
            server.call("REPLICAOF", "127.0.0.1", engines.free_port())  # where no server is
            asked = uptime()
            engines.wait_until(lambda: uptime() > asked + 1, "the end of a turn that had begun")
            asked, epochs = uptime(), (self.epoch(server), self.epoch(server, "file"))
            engines.wait_until(lambda: uptime() > asked + 2, "the next looks of the server")
            self.assertEqual((self.epoch(server), self.epoch(server, "file")), epochs)
            server.call("REPLICAOF", "NO", "ONE")
            engines.wait_until(lambda: self.epoch(server) > epochs[0] and self.epoch(server, "file") > epochs[1], "turns")

    def test_a_replica_that_lost_the_filter_answers_maybe_also_after_turns(self):
        with running() as server, running("--replica-read-only", "no") as replica:
            for name in ("f", "g"):
                self.reserve(server, name)
            self.follow(replica, server)
            replica.call("DEL", "f", "g")
            self.turn(server, 1, "g")
            server.add("f", keys(100))
            self.turn(server, EPOCHS)
            server.wait_for_replica()
            self.assert_all_maybe(replica, "f")
            self.assertEqual(replica.state("f"), b"in doubt")
            self.assertEqual(replica.call("EXISTS", "g"), 0)
            self.assertNotIn("command 'bf.turn'", (replica.folder / "log").read_text())  # no error for the primary

    def test_no_epoch_ends_while_writes_are_paused(self):
        with running() as server:
            self.reserve(server, "f", 1000, 7)
            engines.wait_until(lambda: self.epoch(server) > 0, "a turn")
            server.call("CLIENT", "PAUSE", 10**9, "WRITE")
            epoch, asked = self.epoch(server), server.client.info("server")["uptime_in_seconds"]
            engines.wait_until(lambda: server.client.info("server")["uptime_in_seconds"] > asked + 2, "the next looks of the server")
            self.assertEqual(self.epoch(server), epoch)
            server.call("CLIENT", "UNPAUSE")
            engines.wait_until(lambda: self.epoch(server) > epoch, "the next turn")

    def test_a_replica_without_the_memory_for_a_turn_answers_maybe(self):
        with running() as server, running() as replica:
            self.reserve(server, "f", 40_000_000)
            server.add("f", keys(100))
            self.follow(replica, server)
            Copies.cap_memory(replica, 4_000_000)
            self.turn(server, 2)
            server.wait_for_replica()
            self.assert_all_maybe(replica, "f")
            self.assertEqual(replica.state("f"), b"in doubt")
            self.assertNotIn("command 'bf.turn'", (replica.folder / "log").read_text())
            self.assert_filters(server, "f")

    def test_copies_and_dumps_have_the_epochs_and_go_on_by_themselves(self):
        with running() as server, running() as replica:
            self.follow(replica, server)
            self.reserve(server, "f", 700)
            for epoch in range(4):
                server.add("f", keys(300, 1000 * epoch))
                self.turn(server)
            server.call("COPY", "f", "copied")
            server.call("RESTORE", "restored", 0, server.call("DUMP", "f"))
            for chunk in Dumps.chunks_of(server, "f"):
                server.call("BF.LOADCHUNK", "loaded", *chunk)
            names = ("f", "copied", "restored", "loaded")
            self.assertEqual(server.digest(*names), server.digest("f") * 4)
            self.turn(server, 4, "copied")
            self.turn(server, 3, "loaded")
            for name in names:
                for epoch in range(name == "copied", 4):
                    self.assert_there(server, name, keys(300, 1000 * epoch))
            self.assert_gone(server, "copied", keys(300))
            server.wait_for_replica()
            self.assertEqual(replica.digest(*names), server.digest(*names))

    def test_a_dump_in_which_an_epoch_ended_is_refused(self):
        with running() as server:
            self.reserve(server, "f", 4_000_000)
            server.add("f", keys(1000))
            chunks = [server.call("BF.SCANDUMP", "f", 0)]
            while chunks[-1][0] != 0:
                chunks.append(server.call("BF.SCANDUMP", "f", chunks[-1][0]))
                self.turn(server, len(chunks) == 3)
            for chunk in chunks[:-2]:
                server.call("BF.LOADCHUNK", "g", *chunk)
                self.refuses("loaded", server, "BF.TURN", "g", 0)
            self.refuses("bad data", server, "BF.LOADCHUNK", "g", *chunks[-2])
            self.assert_all_maybe(server, "g")

    @staticmethod
    def header(links, window=YEAR, epoch=0, layout=0):
        """Returns the first chunk of a dump with a window, as any program can write it: see header()."""
        text = struct.pack("<8sd6Q", b"BFSDUMP3", FPR, 1000, 2, 1, layout, len(links), 1)
        text += struct.pack("<5Q", window, epoch, 0, 0, 0)
        for link in links:
            text += struct.pack("<QQQdQ4Q", *link)
        return text + fletcher(text)

    def test_a_first_chunk_whose_epochs_are_not_those_of_a_window_is_refused(self):
        with running() as server:
            server.call("BF.RESERVE", "one", FPR, 100, "NONSCALING", "LAYOUT", "BLOCKED")
            num_bytes = len(Dumps.chunks_of(server, "one")[1][1])

            def links(*epochs):
                return [(num_bytes, 100, 0, FPR, BLOCKED, 0, 0, 0, until) for until in epochs]
            good = links(*range(EPOCHS))
            self.assertEqual(server.call("BF.LOADCHUNK", "good", 1, self.header(good)), b"OK")
            server.call("BF.LOADCHUNK", "more", 1, self.header(links(3, 3, 4, 5, 6, 7, 8, 9, 10, 10), epoch=3))
            for wrong in (self.header(links(*range(1, EPOCHS + 1))), self.header(links(*range(EPOCHS - 1))),
                          self.header(links(*range(EPOCHS + 1))), self.header(links(0, 1, 2, 3, 5, 6, 7)),
                          self.header(links(1, 0, 2, 3, 4, 5, 6, 7)), self.header(links(7)), self.header(good, window=0),
                          self.header(good, window=2**40 + 1), self.header(good, epoch=2**64 - 7),
                          self.header(good, epoch=1), self.header(links(*range(2**50, 2**50 + EPOCHS)), epoch=2**50)):
                self.refuses("bad data", server, "BF.LOADCHUNK", "g", 1, wrong)
            self.assertEqual(server.call("EXISTS", "g"), 0)

    def test_a_filter_with_a_window_has_room_for_all_its_epochs_from_the_beginning(self):
        with running("--" + Memory.LIMIT, "2mb") as server:
            self.reserve(server, "f", 700_000)
            size = server.call("BF.INFO", "f", "SIZE")[0]
            self.refuses(Memory.LIMIT, server, "BF.RESERVE", "g", FPR, 900_000, "WINDOW", YEAR)
            server.call("CONFIG", "SET", Memory.LIMIT, 1)
            self.turn(server, 3 * EPOCHS)  # the limit keeps no key from being forgotten
            self.assertEqual(server.call("BF.INFO", "f", "SIZE"), [size])
        with running("--maxmemory", "20mb", "--maxmemory-policy", "allkeys-lru") as server:
            server.call("SET", "mine", "here")
            self.refuses("maxmemory", server, "BF.RESERVE", "g", FPR, 14_000_000, "WINDOW", YEAR)
            self.assertEqual(server.call("EXISTS", "mine", "g"), 1)


class AttachedGrowth(FilterCase):
    def test_a_file_that_grows_does_so_under_the_server(self):
        with attaching("--appendonly", "yes") as server:
            make_file(server.file, flags=bfs.REPLACE, layout="growing", capacity=100)
            self.assertEqual(server.call("BF.ATTACH", "f", server.file), b"OK")
            with Outside(server.file, bfs.READ) as outside:
                self.assertGreater(sum(server.add("f", keys(5000))), 4900)
                self.assert_there(server, "f", keys(5000))
                self.assertNotIn(0, outside.ask(keys(5000)))
                self.assertEqual(bfs.statistics(LIBRARY, outside.handle).capacity, 111 * 100)
                self.assertLess(sum(outside.ask(keys(1000, 5000))), 20)
            server.restart(signal.SIGKILL)
            self.assert_there(server, "f", keys(5000))
            self.assertEqual(server.state("f"), b"good")

    def test_the_layout_of_files_is_refused_in_memory(self):
        with running() as server:
            self.refuses("grows in every layout, by EXPANSION", server, "BF.RESERVE", "g", FPR, 1000, "LAYOUT", "growing")


class AttachedWindows(FilterCase):
    @contextlib.contextmanager
    def attached(self, *options, window=YEAR, layout="window"):
        with attaching(*options) as server:
            make_file(server.file, flags=bfs.REPLACE, layout=layout, window_ms=window)
            self.assertEqual(server.call("BF.ATTACH", "f", server.file), b"OK")
            yield server

    @staticmethod
    def epoch_of(outside):
        return bfs.statistics(LIBRARY, outside.handle).epoch

    def test_the_keys_of_a_file_expire_for_the_server_and_for_other_processes(self):
        with self.attached("--appendonly", "yes") as server, Outside(server.file, bfs.READ) as outside:
            self.assertEqual(sum(server.add("f", keys(500))), 500)
            for epoch in range(EPOCHS):
                self.assert_there(server, "f", keys(500))
                self.assertNotIn(0, outside.ask(keys(500)))
                self.assertEqual(server.call("BF.INFO", "f", "EPOCH"), [epoch])
                self.assertEqual(server.call("BF.TURN", "f"), 0)
                self.assertEqual(server.call("BF.TURN", "f", epoch + 1), 0)
                if epoch == 4:
                    server.add("f", keys(100))
                self.assertEqual(server.call("BF.TURN", "f", epoch), 1)
                self.assertEqual(self.epoch_of(outside), epoch + 1)
            self.assert_there(server, "f", keys(100))
            self.assertLess(sum(server.ask("f", keys(400, 100))), 20)
            self.assertLess(sum(outside.ask(keys(400, 100))), 20)
            self.assertEqual(server.call("BF.INFO", "f", "WINDOW"), [YEAR])
            self.assertEqual(server.state("f"), b"good")
            for _ in range(2):
                server.restart(signal.SIGKILL)
                self.assert_there(server, "f", keys(100))
                self.assertEqual(server.call("BF.INFO", "f", "EPOCH"), [EPOCHS])  # the log ends no epoch again
                self.assertEqual(server.state("f"), b"good")
                server.rewrite()

    def test_the_server_ends_epochs_that_are_over_of_files_attached_for_writing(self):
        with self.attached("--appendonly", "yes", window=1, layout="window-2") as server, Outside(server.file) as outside:
            other = make_file(server.folder / "other.bf", layout="window-2", window_ms=1)
            read = make_file(server.folder / "read.bf", layout="window-2", window_ms=1)
            server.call("BF.ATTACH", "other", other)
            server.call("BF.ATTACH", "read", read, "READONLY")
            server.add("f", keys(100))
            engines.wait_until(lambda: self.epoch_of(outside) >= 2, "two turns")
            engines.wait_until(lambda: server.call("BF.INFO", "other", "EPOCH")[0] >= 2, "two turns of another file")
            self.assertLess(sum(outside.ask(keys(100))), 10)
            self.assertEqual(server.call("BF.INFO", "read", "EPOCH"), [0])
            self.assertNotIn("no epoch ended", (server.folder / "log").read_text("utf-8", "replace"))
            self.refuses("", server, "BF.TURN", "read", 0)
            for words in (("RENAME", "f", "g"), ("SAVE",), ("BGREWRITEAOF",)):  # syncs and turns do not refuse each other
                server.call(*words)
                server.wait_for_rewrite()
                server.add("g", keys(10))
                self.assertEqual(server.state("g"), b"good")
            server.call("DEL", "other")
            server.restart()
            before = self.epoch_of(outside)
            engines.wait_until(lambda: self.epoch_of(outside) > before, "a turn after a start")
            self.assertEqual(server.state("g"), b"good")
            with Outside(other) as deleted:
                self.assertEqual(bfs.list_marks(LIBRARY, deleted.handle), [])

    HELD = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
/* The library's, in a module of its own.  In a thread other than the first one it waits while there is a file of that name, and makes another one. */
int fdatasync(int file) {
  const char* hold = getenv("HOLD");
  if (getpid() != syscall(SYS_gettid) && access(hold, F_OK) == 0) {
    close(creat(getenv("HELD"), 0600));
    while (access(hold, F_OK) == 0) usleep(1000);
  }
  return (int)syscall(SYS_fdatasync, file);
}
"""

    def test_commands_go_on_while_a_file_is_turned_and_what_needs_its_end_waits(self):
        module, source, folder = TREE.out / "bfstore-redis-holds.so", TREE.out / "holds_a_sync.c", engines.folder()
        source.write_text(self.HELD)
        build(module, source)
        hold, held = folder / "hold", folder / "held"
        environment = {**os.environ, "HOLD": str(hold), "HELD": str(held)}
        file = make_file(folder / "shared.bf", layout="window", window_ms=1)
        with running("--loadmodule", module, "ATTACH_FOLDER", folder, folder=folder, module=[], environment=environment) as server:
            for words in (("SAVE",), ("BF.TURN", "f"), ("DEL", "f"), ("FLUSHALL",)):
                if server.call("EXISTS", "f") == 0:
                    server.call("BF.ATTACH", "f", file)
                hold.touch()
                engines.wait_until(held.exists, "a turn in another thread")
                self.assertEqual(len(server.add("f", keys(100))), 100)
                self.assert_there(server, "f", keys(100))
                self.assertEqual(server.state("f"), b"good")
                waits = threading.Thread(target=server.call, args=words)
                waits.start()
                time.sleep(0.5)  # clock: a server that does not wait for the turn makes its mistake in this time
                hold.unlink()
                waits.join()
                held.unlink()
                self.assertTrue(server.client.ping())
                if words[0] == "DEL":
                    with Outside(file) as outside:
                        self.assertEqual(bfs.list_marks(LIBRARY, outside.handle), [])
            server.call("BF.ATTACH", "g", file)  # the file was left in order, and the server turns it again
            before = server.call("BF.INFO", "g", "EPOCH")[0]
            engines.wait_until(lambda: server.call("BF.INFO", "g", "EPOCH")[0] > before + 1, "two turns")
            self.assertEqual(server.state("g"), b"good")
            log = (folder / "log").read_text("utf-8", "replace")
            self.assertNotIn("not synced", log)
            self.assertNotIn("still knows", log)

    def test_a_file_may_go_in_any_moment_of_its_turns(self):
        with self.attached(window=1, layout="window-2") as server:
            for _ in range(30):
                for words in (("UNLINK", "f"), ("DEL", "f")):
                    server.call("BF.ATTACH", "f" if server.call("EXISTS", "f") == 0 else "g", server.file)
                    server.add("f", keys(10))
                    server.call(*words)
                    server.call("DEL", "g")
            self.assertTrue(server.client.ping())
            with Outside(server.file) as outside:
                engines.wait_until(lambda: bfs.list_marks(LIBRARY, outside.handle) == [], "no owner")

    def test_a_replica_turns_no_file(self):
        with self.attached() as server, running("--replica-read-only", "no") as replica:
            self.follow(replica, server)
            self.assert_all_maybe(replica, "f")
            self.refuses("primary", replica, "BF.TURN", "f", 0)
            server.add("f", keys(10))
            self.assertEqual(server.call("BF.TURN", "f", 0), 1)
            server.wait_for_replica()
            self.assertEqual(replica.call("BF.INFO", "f", "EPOCH"), [None])
            self.assert_all_maybe(replica, "f")


def module_type(name, version):
    """Returns the number of a type of values in snapshots: nine letters of six bits, and a version."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    return number << 10 | version


def log_of(*commands):
    words = [[word if isinstance(word, bytes) else str(word).encode() for word in command] for command in commands]
    return b"".join(b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in command)
                    for command in words)


class BehindItsBack(FilterCase):
    """Commands other than BF's that act on a filter. README.md has a row for each."""

    def has(self, server):
        has = Dumps.fill(server)
        return has, dict(zip(has, server.digest(*has)))

    def test_a_filter_moves_between_names_and_databases_with_every_bit(self):
        with running("--appendonly", "yes") as server:
            has, digests = self.has(server)
            for name in has:
                server.call("RENAME", name, "moved")
                server.call("COPY", "moved", name, "DB", 1)
                server.call("RENAMENX", "moved", name)
                server.call("MOVE", name, 2)
            for swapped in ((1, 0), (2, 0)):
                server.call("SWAPDB", *swapped)
                for _ in range(2):
                    self.assertEqual(dict(zip(has, server.digest(*has))), digests)
                    for name, items in has.items():
                        self.assert_there(server, name, items)
                    server.restart()

    @staticmethod
    def change(path, pattern, offset):
        """Flips a bit at that distance after the pattern."""
        content = bytearray(path.read_bytes())
        at = content.index(pattern) + offset
        content[at] ^= 4
        path.write_bytes(content)

    def test_a_bit_that_changed_in_a_snapshot_lets_no_server_start(self):
        for where in ("bits", "numbers"):
            with self.subTest(where), running("--save", "3600 1", "--rdbchecksum", "no", "--rdbcompression", "no") as server:
                server.call("BF.RESERVE", "f", FPR, 1000, "SEED", 1)
                server.add("f", keys(1000))
                head, chunk = (text for _, text in Dumps.chunks_of(server, "f"))
                server.server.stop()
                self.change(server.folder / "dump.rdb", *((chunk, 500) if where == "bits" else (head, 20)))
                with self.assertRaises(RuntimeError):
                    server.start()

    def test_a_bit_that_changed_in_a_log_makes_its_filter_maybe(self):
        with running("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
            for seed, name in enumerate(("bits", "numbers", "good")):
                server.call("BF.RESERVE", name, FPR, 1000, "SEED", seed)
                server.add(name, keys(1000))
            bits, numbers = Dumps.chunks_of(server, "bits")[1][1], Dumps.chunks_of(server, "numbers")[0][1]
            server.rewrite()
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.base.aof"))
            self.change(log, bits, 500)
            self.change(log, numbers, 20)
            server.start()
            for _ in range(2):
                for name in ("bits", "numbers"):
                    self.assert_all_maybe(server, name)
                self.assert_there(server, "good", keys(1000))
                self.assert_filters(server, "good")
                server.rewrite()
                server.restart()

    def test_debug_reload_changes_no_bit(self):
        with running() as server:
            has, digests = self.has(server)
            server.call("DEBUG", "RELOAD")
            self.assertEqual(dict(zip(has, server.digest(*has))), digests)

    def test_scripts_and_transactions_reach_replicas_and_the_log(self):
        script = """redis.call('BF.RESERVE', KEYS[1], '0.01', 100)
            for i = 1, 300 do redis.call('BF.ADD', KEYS[1], 'key-' .. i) end
            redis.call('BF.MADD', KEYS[2], 'key-1', 'key-2')
            return redis.call('BF.MEXISTS', KEYS[1], 'key-1', 'key-300')"""
        with running("--appendonly", "yes") as server, running() as replica:
            self.follow(replica, server)
            self.assertEqual(server.call("EVAL", script, 2, "script", "added"), [1, 1])
            with server.client.pipeline(transaction=True) as transaction:
                transaction.execute_command("BF.ADD", "transaction", "key-0")
                transaction.execute_command("BF.RESERVE", "transaction", FPR, 100)
                for i in range(1, 300):
                    transaction.execute_command("BF.ADD", "transaction", f"key-{i}")
                transaction.execute(raise_on_error=False)
            names = ["script", "added", "transaction"]
            server.wait_for_replica()
            self.assert_there(server, "transaction", keys(300))
            digests = server.digest(*names)
            self.assertEqual(replica.digest(*names), digests)
            server.restart(signal.SIGKILL)
            self.assertEqual(server.digest(*names), digests)

    def test_a_replica_gets_the_same_bits_by_every_way(self):
        for master, slave in ((["--repl-diskless-sync", "no"], []), ([], ["--repl-diskless-load", "on-empty-db"]),
                              ([], ["--repl-diskless-load", "swapdb"])):
            with self.subTest(slave), running(*master) as server, running(*slave) as replica:
                has, digests = self.has(server)
                replica.add("chain", keys(10, 5000))
                self.follow(replica, server)
                self.assertEqual(dict(zip(has, replica.digest(*has))), digests)
                server.add("chain", keys(1000, 9000))
                server.wait_for_replica()
                self.assertEqual(replica.digest("chain"), server.digest("chain"))

    def test_a_replica_without_the_module_has_no_key_to_answer_from(self):
        with running() as server, running(module=()) as replica:
            server.add("f", keys(100))
            replica.call("REPLICAOF", "127.0.0.1", server.port)

            def is_refused():
                return "bfstore-1" in (replica.folder / "log").read_text("utf-8", "replace")
            engines.wait_until(is_refused, "a snapshot that is refused")
            with self.assertRaises((redis.ResponseError, redis.ConnectionError)):  # some servers end
                replica.call("BF.EXISTS", "f", "key-0")

    def test_a_server_does_not_start_without_the_module_if_it_has_filters(self):
        for options in (["--appendonly", "yes"], ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"], ["--save", "3600 1"]):
            with self.subTest(options), running(*options) as server:
                server.add("f", keys(100))
                if "--appendonly" in options:
                    server.rewrite()
                server.server.stop()
                with self.assertRaisesRegex(RuntimeError, "bfstore-1|BF.LOADCHUNK"):
                    Redis(*options, folder=server.folder, module=())
                server.start()
                self.assert_there(server, "f", keys(100))
                self.assert_filters(server, "f", deviations=10)

    def test_the_module_stays_loaded(self):
        with running() as server:
            self.refuses("", server, "MODULE", "UNLOAD", "bf")
            self.assertEqual(server.call("BF.ADD", "f", "a"), 1)

    def test_flushed_filters_are_gone_and_leave_the_file_of_an_attached_key(self):
        for words in (("FLUSHALL",), ("FLUSHALL", "ASYNC"), ("FLUSHDB", "ASYNC"), ("UNLINK", "f", "file")):
            with self.subTest(words), attaching("--appendonly", "yes") as server:
                server.add("f", keys(1000))
                server.call("BF.ATTACH", "file", server.file)
                server.add("file", keys(100))
                server.call(*words)
                self.refuses("not found", server, "BF.INFO", "f")
                with Outside(server.file) as outside:
                    self.assertNotIn(0, outside.ask(keys(100)))
                server.call("BF.ATTACH", "file", server.file)
                server.add("f", keys(10, 5000))
                for _ in range(2):
                    self.assert_there(server, "file", keys(100))
                    self.assert_filters(server, "file")
                    self.assert_there(server, "f", keys(10, 5000))
                    server.restart(signal.SIGKILL)

    def test_a_filter_that_expired_or_was_evicted_is_gone_for_bf_info_too(self):
        with running() as server:
            server.add("expires", keys(10))
            server.call("PEXPIREAT", "expires", 1)
            self.refuses("not found", server, "BF.INFO", "expires")
        with running("--maxmemory", "4mb", "--maxmemory-policy", "allkeys-random", "--maxmemory-clients", "0") as server:
            server.call("BF.RESERVE", "evicted", FPR, 100000)
            while server.call("EXISTS", "evicted"):
                server.call("SET", os.urandom(8), "x" * 10000)
            self.refuses("not found", server, "BF.INFO", "evicted", "STATE")

    def test_a_restored_dump_has_the_keys_of_its_time(self):
        with running() as server:
            server.add("f", keys(100))
            payload = server.call("DUMP", "f")
            digest = server.digest("f")
            server.add("f", keys(100, 100))
            self.refuses("BUSYKEY", server, "RESTORE", "f", 0, payload)
            self.assert_there(server, "f", keys(200))
            server.call("RESTORE", "f", 0, payload, "REPLACE")
            self.assertEqual(server.digest("f"), digest)

    def test_a_log_that_lacks_a_chunk_makes_its_filter_maybe(self):
        with running("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
            server.call("BF.RESERVE", "f", FPR, 10)
            server.add("f", keys(25))
            chunks = Dumps.chunks_of(server, "f")
            self.assertEqual(len(chunks), 3)
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.incr.aof"))
            with open(log, "ab") as end:
                end.write(log_of(*(("BF.LOADCHUNK", "log", *chunk) for chunk in chunks),
                                 *(("BF.LOADCHUNK", "part", *chunk) for chunk in chunks[:2]),
                                 *(("BF.LOADCHUNK", "gap", *chunk) for chunk in chunks[::2])))
            server.start()
            for _ in range(2):
                self.assert_there(server, "log", keys(25))
                self.assert_filters(server, "log")
                for name, state in (("part", b"loading"), ("gap", b"in doubt")):
                    self.assert_all_maybe(server, name)
                    self.assertEqual(server.state(name), state)
                server.rewrite()
                server.restart()

    def test_a_later_version_s_snapshot_is_refused(self):
        with running("--rdbcompression", "no") as server:
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            server.add("f", ["a"])
            payload = server.call("DUMP", "f")
            for version in (0, 1, 2, 1023):
                number = struct.pack(">Q", module_type("bfstore-1", version))
                changed = payload[:2] + number + payload[10:]
                if version == 1:
                    self.assertEqual(changed, payload)
                else:
                    self.refuses("Bad data", server, "RESTORE", "g", 0, changed)

    def test_what_other_modules_kept_is_refused(self):
        with running() as server:
            server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
            server.add("f", ["a"])
            payload = server.call("DUMP", "f")
            for name, version in (("MBbloom--", 4), ("bloomfltr", 1), ("MBbloomCF", 4)):
                changed = payload[:2] + struct.pack(">Q", module_type(name, version)) + payload[10:]
                self.refuses("Bad data", server, "RESTORE", "g", 0, changed)
            theirs = struct.pack("<QIIII", 10, 1, 0, 2, 0) + struct.pack("<QQQddIQQ", 96, 768, 10, FPR, 0.005, 7, 100, 10) + bytes(8)
            self.refuses("bad data", server, "BF.LOADCHUNK", "g", 1, theirs)
            self.assertEqual(server.call("EXISTS", "g"), 0)

    def test_a_log_of_another_module_s_adds_is_not_a_filter_of_ours(self):
        """RedisBloom and Valkey's module keep an add as it came, and make a filter by it."""
        with running("--appendonly", "yes") as server:
            server.call("BF.RESERVE", "ours", FPR, 100, "SEED", 1)
            server.server.stop()
            log = next(server.folder.glob("appendonlydir/*.incr.aof"))
            with open(log, "ab") as end:
                end.write(log_of(("BF.ADD", "theirs", "a"), ("BF.MADD", "theirs", "b"), ("BF.INSERT", "inserted", "ITEMS", "c"),
                                 ("BF.RESERVE", "reserved", "0.01", "100"), ("BF.ADD", "reserved", "a")))
            server.start()
            for _ in range(2):
                for name in ("theirs", "inserted"):
                    self.assert_all_maybe(server, name)
                self.assert_there(server, "reserved", ["a"])
                self.assert_filters(server, "reserved", deviations=10)
                server.rewrite()
                server.restart()

    def test_the_state_says_why_every_answer_is_maybe(self):
        with attaching() as server:
            server.call("BF.ATTACH", "file", server.file)
            server.add("f", ["a"])
            self.assertEqual((server.state("f"), server.state("file")), (b"good", b"good"))
            with Wire(server.port, 3) as wire:
                self.assertEqual(wire.call("BF.INFO", "f", "STATE"), {"State": "good"})
            make_file(server.folder / "next.bf")
            server.add("file", ["a"])
            make_file(server.file, flags=bfs.REPLACE)
            self.assert_all_maybe(server, "file")
            self.assertNotEqual(server.state("file"), b"good")
            server.call("RESTORE", "copy", 0, server.call("DUMP", "file"))
            self.assertEqual(server.state("copy"), b"in doubt")


class Clusters(FilterCase):
    """Six nodes, three masters, as redis-cli makes them. A key's slot says which node has it; {tags} choose the slot."""

    def cli(self, *words):
        done = engines.run([CLI, "--cluster", *words])
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)

    def is_ready(self, nodes):
        return all(node.client.execute_command("CLUSTER INFO")["cluster_state"] == "ok"
                   and len(node.client.execute_command("CLUSTER NODES")) >= 6 for node in nodes)

    def masters(self, nodes):
        return [node for node in nodes if node.client.info("replication")["role"] == "master"]

    def test_filters_survive_a_failover_and_move_with_their_slots(self):
        with contextlib.ExitStack() as stack:
            nodes = [stack.enter_context(running("--cluster-enabled", "yes", "--cluster-port", engines.free_port(),
                                                 "--cluster-node-timeout", 1000 * engines.PATIENCE)) for _ in range(6)]
            self.cli("create", *(f"127.0.0.1:{node.port}" for node in nodes), "--cluster-replicas", 1, "--cluster-yes")
            engines.wait_until(lambda: self.is_ready(nodes), "a cluster")
            client = redis.RedisCluster(host="127.0.0.1", port=nodes[0].port)
            names = [f"filter-{i}" for i in range(12)]
            for i, name in enumerate(names):
                client.execute_command("BF.MADD", name, *keys(300, 1000 * i))
            answers = self.check(client, names)
            for master in self.masters(nodes):
                master.wait_for_replica()
            replica = next(node for node in nodes if node not in self.masters(nodes))
            engines.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up", "a replica in step")
            self.fail_over(nodes, replica)
            self.assertEqual(self.check(client, names), answers)
            self.reshard(nodes, names[0])
            self.assertEqual(self.check(client, names), answers)
            self.refuses_atomic_migration(nodes, names[1])
            self.assertEqual(self.check(client, names), answers)

    def fail_over(self, nodes, replica):
        """Fails over without a vote: a vote ends after a few seconds, whatever else the machine does."""
        replica.call("CLUSTER", "FAILOVER", "TAKEOVER")
        engines.wait_until(lambda: replica in self.masters(nodes) and len(self.masters(nodes)) == 3, "a failover")

    def reshard(self, nodes, name):
        """Moves the slot of this key to another master, under a client that adds nothing meanwhile."""
        masters = self.masters(nodes)
        slot = masters[0].client.execute_command("CLUSTER KEYSLOT", name)
        source = next(node for node in masters if node.client.execute_command("CLUSTER COUNTKEYSINSLOT", slot))
        target = next(node for node in masters if node is not source)
        ids = {node: node.client.execute_command("CLUSTER MYID") for node in masters}
        target.call("CLUSTER SETSLOT", slot, "IMPORTING", ids[source])
        source.call("CLUSTER SETSLOT", slot, "MIGRATING", ids[target])
        for key in source.call("CLUSTER GETKEYSINSLOT", slot, 10):
            source.call("MIGRATE", "127.0.0.1", target.port, key, 0, 1000 * engines.PATIENCE)
        for node in (target, source):
            node.call("CLUSTER SETSLOT", slot, "NODE", ids[target])
        self.assertEqual(target.call("EXISTS", name), 1)

    def refuses_atomic_migration(self, nodes, name):
        """Valkey's own migration, from 9.0 on, is for modules that say that they support it."""
        source, target = self.masters(nodes)[:2]
        slot = source.client.execute_command("CLUSTER KEYSLOT", name)
        self.refuses("(?i)unknown|does not support", source, "CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE",
                     target.client.execute_command("CLUSTER MYID"))

    def check(self, client, names):
        """Checks that every key is there. Returns the answers to absent ones, with their false positives, which must stay the same."""
        for i, name in enumerate(names):
            self.assertNotIn(0, client.execute_command("BF.MEXISTS", name, *keys(300, 1000 * i)))
        return [client.execute_command("BF.MEXISTS", name, *ABSENT[:200]) for name in names]


# --- Figures: --bench -------------------------------------------------------------------------------------------------

ROUNDS, MANY, BATCH = 5, 200000, 1000


def median_seconds(work, rounds):
    took = []
    for _ in range(rounds):
        begin = time.perf_counter()  # clock: bench
        work()
        took.append(time.perf_counter() - begin)  # clock: bench
    return sorted(took)[len(took) // 2]


def in_turns(works):
    """Returns {name: the median of ROUNDS}, measured A B A B."""
    took = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            took[name].append(median_seconds(work, 1))
    return {name: sorted(seconds)[ROUNDS // 2] for name, seconds in took.items()}


def batches(items):
    return [items[at:at + BATCH] for at in range(0, len(items), BATCH)]


def piped(server, command, name, items):
    for batch in batches(items):
        pipe = server.client.pipeline(transaction=False)
        for item in batch:
            pipe.execute_command(command, name, item)
        pipe.execute()


def batched(server, command, name, items):
    return [answer for batch in batches(items) for answer in server.call(command, name, *batch)]


def tell(what, took, count):
    print(f"{what}: " + ", ".join(f"{name} {seconds / count * 1e6:.2f} us" for name, seconds in took.items()) + " a key")


def requests_per_second(server, *command):
    """Returns redis-benchmark's rate: 50 clients, 16 requests under way in each. __rand_int__ is a number of twelve digits."""
    words = ["redis-benchmark", "-p", str(server.port), "-n", "400000", "-c", "50", "-P", "16", "-r", "1000000000", "--csv", *command]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return float(lines[-1].split('","')[1])


class Store(NamedTuple):
    """One thing that a server is asked: a set, or a filter."""

    server: Redis
    key: str
    one: str  # the commands that ask for one, ask for many, and add many
    many: str
    add: str


@contextlib.contextmanager
def stores():
    """Yields {name: Store}, each empty, and the server that has an attached file."""
    with contextlib.ExitStack() as open_ones:
        server = open_ones.enter_context(attaching())
        make_file(server.file, MANY, flags=bfs.REPLACE)
        server.call("BF.ATTACH", "file", server.file)
        server.call("BF.RESERVE", "filter", FPR, MANY)
        bf = ("BF.EXISTS", "BF.MEXISTS", "BF.MADD")
        found = {"set": Store(server, "set", "SISMEMBER", "SMISMEMBER", "SADD"), "filter": Store(server, "filter", *bf),
                 "file": Store(server, "file", *bf)}
        if ASKED.rival:
            rival = open_ones.enter_context(running(module=("--loadmodule", os.path.abspath(ASKED.rival))))
            rival.call("BF.RESERVE", "filter", FPR, MANY)
            found["rival"] = Store(rival, "filter", *bf)
        yield found, server


def check_answers(all_stores, there, absent):
    for name, store in all_stores.items():
        assert 0 not in batched(store.server, store.many, store.key, there)
        rate = sum(batched(store.server, store.many, store.key, absent)) / MANY
        assert rate < 1.1 * FPR, rate
        print(f"{name}: every key is there, {100 * rate:.2f} % false positives, "
              f"{store.server.call('MEMORY', 'USAGE', store.key, 'SAMPLES', 0)} bytes")


def bench():
    setUpModule()
    there, absent = keys(MANY), [f"absent-{i}" for i in range(MANY)]
    with stores() as (all_stores, server):
        def each(work):
            return {name: lambda store=store: work(store) for name, store in all_stores.items()}
        tell("adding in batches", {name: median_seconds(work, 1) for name, work in each(
            lambda store: [store.server.call(store.add, store.key, *batch) for batch in batches(there)]).items()}, MANY)
        check_answers(all_stores, there, absent)
        few = absent[:20000]
        tell("absent keys, one a command in a pipeline", in_turns(each(lambda store: piped(store.server, store.one, store.key, few))), len(few))
        tell("absent keys in batches", in_turns(each(lambda store: batched(store.server, store.many, store.key, absent))), MANY)
        rates = {name: [] for name in all_stores}
        for _ in range(ROUNDS):
            for name, store in all_stores.items():
                rates[name].append(requests_per_second(store.server, store.one, store.key, "absent-__rand_int__"))
        print("redis-benchmark, absent keys: " + ", ".join(f"{name} {sorted(rate)[ROUNDS // 2]:.0f}/s" for name, rate in rates.items()))
        few = absent[:5000]
        with Outside(server.file, bfs.READ) as outside:
            tell("absent keys, one at a time", in_turns(
                {**each(lambda store: [store.server.call(store.one, store.key, key) for key in few]),
                 "the attached file from Python": lambda: outside.ask(few)}), len(few))


if __name__ == "__main__":
    bench() if ASKED.bench else engines.main()
