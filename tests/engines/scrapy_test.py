"""capi/engines/scrapy: crawlers of the real Scrapy share one filter of the requests that were seen. They crawl a site on loopback
that counts how often each page is fetched, and they are killed and started again. Real URLs go through this filter and through
Scrapy's own duplicates filter.

Arguments: see engines.py; --scrapy=FOLDER: a Scrapy that tools/setup.sh fetched (without it Debian's);
 or --bench, which has a million real URLs (--urls=N: so many)
 through both filters, and prints memory, seconds and how many URLs were called seen that were not.
"""
import asyncio
import contextlib
import http.server
import itertools
import logging
import multiprocessing
import pathlib
import pickle
import random
import re
import resource
import select
import socket
import sys
import time
import types
import unittest

import engines
import debian_urls

TREE, ASKED = engines.arguments(kills=2, urls=1_000_000, scrapy="", bench=False)
SCRAPY = ASKED.scrapy and pathlib.Path(ASKED.scrapy)
engines.needs(programs={"apt-cache": "apt"}, files=engines.PYTHON_HEADER)
if not SCRAPY:
    engines.needs(modules={"scrapy": "python3-scrapy"})
elif (SCRAPY / "complete").exists():
    sys.path.insert(0, str(SCRAPY))
    if "zope" in sys.modules:  # Debian's: a package with a file of its own comes before any other of its name
        sys.modules["zope"].__path__.insert(0, str(SCRAPY / "zope"))
else:
    engines.unfetched("the newest Scrapy")
import python  # noqa: E402  # tests/bindings/python.py, found only after engines

python.build(TREE)
EXAMPLE = TREE.root / "capi" / "engines" / "scrapy"
sys.path[:0] = [str(TREE.out), str(EXAMPLE)]
import bfstore  # noqa: E402
import scrapy  # noqa: E402
import scrapy.cmdline  # noqa: E402
from scrapy import Request, Spider, signals  # noqa: E402
from scrapy.crawler import Crawler  # noqa: E402
from scrapy.dupefilters import RFPDupeFilter  # noqa: E402
from scrapy.http import Response  # noqa: E402
from scrapy.utils.request import RequestFingerprinter  # noqa: E402
import bloom_dupefilter  # noqa: E402

print(f"Scrapy {scrapy.__version__}")
PAGES, CONNECTIONS = max(300, 20 * ASKED.kills), 4


# --- A site -----------------------------------------------------------------------------------------------------------

def links(page):
    """Returns the links of a page. Each page except the first has a link from another one, and there are many more links."""
    rng = random.Random(page)
    return [number for number in (2 * page + 1, 2 * page + 2) if number < PAGES] + rng.choices(range(1, PAGES), k=8)


class Site:
    """A site in a process of its own. Page 0 is the root. It answers requests while fewer pages than `limit` were fetched; later
    requests wait."""

    def __init__(self):
        self.fetched, self.limit = multiprocessing.Array("L", PAGES), multiprocessing.Value("L", PAGES + 1)
        server = self.bound()
        self.port = server.server_port
        self.process = multiprocessing.Process(target=server.serve_forever, daemon=True)
        self.process.start()
        server.socket.close()

    @property
    def root(self):
        return f"http://127.0.0.1:{self.port}/"

    def bound(self):
        """It listens already: the kernel keeps connections until the other process accepts them."""
        site, fetched = self, self.fetched

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                page = int(self.path[1:] or 0)
                while site.pages() >= site.limit.value:
                    time.sleep(0.01)  # clock: between two looks
                    if self.is_alone():
                        return
                with fetched.get_lock():
                    fetched[page] += 1
                body = "".join(f'<a href="/{number}">{number}</a>' for number in links(page)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def is_alone(self):
                """The crawler was killed while its request waited."""
                ready, _, _ = select.select([self.connection], [], [], 0)
                return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_):  # a crawler was killed
                pass

        return Server(("127.0.0.1", 0), Handler)

    def close(self):
        self.process.terminate()
        self.process.join()

    def pages(self):
        return sum(1 for count in self.fetched if count)


class Crawlers(unittest.TestCase):
    def setUp(self):
        self.folder, self.site, self.running = engines.folder(), Site(), {}
        self.addCleanup(self.site.close)
        self.addCleanup(self.kill_all)

    def start(self, name, spider=EXAMPLE / "spider.py"):
        """Starts scrapy runspider in a fork of this process, which has already imported Scrapy."""
        settings = [f"BLOOM_PATH={self.folder / 'seen.bf'}", "BLOOM_CAPACITY=100000", f"BLOOM_JOURNAL={self.folder / name}.journal",
                    f"LOG_FILE={self.folder / name}.log", "LOG_LEVEL=WARNING", "TELNETCONSOLE_ENABLED=0", "DOWNLOAD_TIMEOUT=3600",
                    f"CONCURRENT_REQUESTS_PER_DOMAIN={CONNECTIONS}"]
        words = itertools.chain.from_iterable(("-s", setting) for setting in settings)
        command = ["scrapy", "runspider", str(spider), "-a", f"site={self.site.root}", *words]
        assert "twisted.internet.reactor" not in sys.modules, "each crawler needs its own"
        self.running[name] = multiprocessing.Process(target=scrapy.cmdline.execute, args=(command,))
        self.running[name].start()

    def kill_all(self):
        for crawler in self.running.values():
            crawler.kill()
            crawler.join()
        self.running.clear()

    def wait(self):
        for name, crawler in self.running.items():
            self.assertEqual(engines.joined(crawler, name), 0, name)
            self.assertEqual((self.folder / f"{name}.log").read_text("utf-8"), "")
        self.running.clear()

    def assert_fetched(self, crawlers, under_way=0):
        """Checks that each page was fetched, and none twice by one crawler. Two crawlers may fetch one page in a race, which is rare
        on an idle machine."""
        counts = list(self.site.fetched)[1:]
        self.addClassCleanup(print, f"{len(counts)} pages, fetched {sum(counts)} times; under way at a kill: {under_way}")
        self.assertEqual(counts.count(0), 0, "pages that no crawler fetched")
        self.assertLessEqual(max(counts), crawlers)

    def test_four_crawlers_fetch_every_page_and_share_what_was_seen(self):
        for number in range(4):
            self.start(f"crawler-{number}")
        self.wait()
        self.assert_fetched(4)
        self.assertLess(sum(self.site.fetched), 4 * PAGES, "each crawler fetched every page")

    def test_callbacks_that_are_coroutines_are_finished_too(self):
        spider = self.folder / "waits.py"
        spider.write_text("from spider import Site\n\n\nclass Waits(Site):\n    async def parse(self, response):\n"
                          "        for one in super().parse(response):\n            yield one\n")
        self.start("crawler-0", spider)
        self.wait()
        self.assert_fetched(1)
        self.assertEqual(self.unfinished(), [])

    def test_a_file_that_is_no_filter_ends_the_crawl_with_a_word_in_the_log(self):
        (self.folder / "seen.bf").write_bytes(b"junk" * 5000)
        self.start("crawler-0")
        engines.joined(self.running.pop("crawler-0"), "a crawler")
        self.assertEqual(self.site.pages(), 0)
        self.assertIn("not a bfstore file", (self.folder / "crawler-0.log").read_text("utf-8"))

    def unfinished(self):
        """Returns the pages that the journals still have. A record that a kill cut short is left out here, so that no crawler warns."""
        journals = [bloom_dupefilter.Journal(str(path)) for path in self.folder.glob("*.journal")]
        for journal in journals:
            journal.close()
        requests = [pickle.loads(words) for journal in journals for words in journal.unfinished.values()]
        return [int(request["url"].rpartition("/")[2] or 0) for request in requests]

    def test_crawlers_that_are_killed_and_started_again_fetch_every_page(self):
        rng, under_way = random.Random(ASKED.seed), 0
        self.site.limit.value = PAGES - 1  # so that there is something left to do, however late a kill comes
        for kill in range(ASKED.kills):
            for number in range(2):
                self.start(f"crawler-{number}")
            enough = (kill + 1) * PAGES // (ASKED.kills + 2)
            engines.wait_until(lambda: self.site.pages() >= enough, f"{enough} pages")
            engines.any_moment(rng, 0.02)
            self.kill_all()
            under_way += sum(1 for page in self.unfinished() if self.site.fetched[page])
        self.assertLess(self.site.pages(), PAGES, "nothing was left to do")
        self.site.limit.value = PAGES + 1
        self.start("crawler-0")
        self.start("crawler-1")
        self.wait()
        self.assert_fetched(2 * (ASKED.kills + 1), under_way)
        self.assertEqual(self.unfinished(), [])

    def test_a_page_that_its_callback_asks_for_again_is_handled_after_a_kill(self):
        """The callback asks for its page again, as with Scrapy's get_retry_request. The request has dont_filter, so that Scrapy asks no
        duplicates filter, and has the page's fingerprint. It once was in no journal, and the page counted as finished."""
        spider, asked, handled = self.folder / "asks.py", self.folder / "asked", self.folder / "handled"
        spider.write_text("from spider import Site\n\n\nclass Asks(Site):\n    def parse(self, response):\n"
                          "        if 'again' not in response.meta:\n"
                          "            yield response.request.replace(dont_filter=True, meta={'again': True})\n"
                          f"            self.note(response, {str(asked)!r})\n"
                          "            return\n"
                          f"        self.note(response, {str(handled)!r})\n"
                          "        yield from super().parse(response)\n\n"
                          "    def note(self, response, path):\n"
                          "        with open(path, 'a') as file:\n            print(response.url, file=file)\n")
        self.site.limit.value = PAGES // 5
        self.start("crawler-0", spider)
        engines.wait_until(lambda: asked.exists() and len(asked.read_text().split()) >= PAGES // 5, "pages")
        self.kill_all()
        self.assertNotEqual(self.unfinished(), [])
        self.site.limit.value = PAGES + 1
        self.start("crawler-0", spider)
        self.wait()
        self.assertEqual(len(set(handled.read_text().split())), PAGES)
        self.assertEqual(self.unfinished(), [])

    def test_a_callback_that_was_renamed_ends_no_crawl_and_its_pages_come_when_it_is_back(self):
        words = ("from spider import Site\n\n\nclass Follows(Site):\n    def parse(self, response):\n"
                 "        yield from response.follow_all(css='a', callback=self.OTHER)\n\n"
                 "    def OTHER(self, response):\n        yield from super().parse(response)\n")
        before, renamed = self.folder / "before.py", self.folder / "renamed.py"
        before.write_text(words.replace("OTHER", "parse_page"))
        renamed.write_text(words.replace("OTHER", "parse_item"))
        self.site.limit.value = 5  # the root, and four of its links, whose callbacks lead to parse
        self.start("crawler-0", before)
        engines.wait_until(lambda: self.site.pages() >= 5, "pages")
        self.kill_all()
        self.assertNotEqual(self.unfinished(), [])
        self.site.limit.value = PAGES + 1
        root = self.site.fetched[0]
        self.start("crawler-0", renamed)
        self.assertEqual(engines.joined(self.running.pop("crawler-0"), "a crawler"), 0)
        self.assertGreater(self.site.fetched[0], root, "no start URL was sent")
        self.assertRegex((self.folder / "crawler-0.log").read_text("utf-8"), "stays in the journal.*'parse_page' not found")
        self.assertNotEqual(self.unfinished(), [])
        (self.folder / "crawler-0.log").unlink()
        self.start("crawler-0", before)
        self.wait()
        self.assertEqual(list(self.site.fetched).count(0), 0)
        self.assertEqual(self.unfinished(), [])


FINGERPRINTS = {"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"} if scrapy.version_info < (2, 12) else {}


# --- The memory of the filter -----------------------------------------------------------------------------------------

def dupefilter(folder, **settings):
    """Makes it as Scrapy does."""
    words = {"BLOOM_PATH": str(folder / "seen.bf"), "BLOOM_CAPACITY": 1000, "SPIDER_MIDDLEWARES": {"bloom_dupefilter.Unfinished": 50}, **FINGERPRINTS, **settings}
    crawler = Crawler(Spider, {**words, "DUPEFILTER_CLASS": "bloom_dupefilter.BloomDupeFilter"})
    crawler.spider, crawler.request_fingerprinter = Spider("test"), RequestFingerprinter(crawler)
    return bloom_dupefilter.BloomDupeFilter.from_crawler(crawler)


def page(number):
    return Request(f"http://127.0.0.1/{number}")


class Readme(unittest.TestCase):
    def test_readme_promises_the_versions_that_this_test_has(self):
        words = (EXAMPLE / "README.md").read_text("utf-8")
        oldest, newest = re.search(r"Scrapy (\S+) \(Debian 12\) to (\S+) ", words).groups()
        self.assertEqual(scrapy.__version__, newest if SCRAPY else oldest)
        self.assertIn(f"\nScrapy=={newest} ", (pathlib.Path(__file__).parent / "scrapy.lock").read_text("utf-8"))


class Opens(unittest.TestCase):
    def setUp(self):
        self.folder = engines.folder()
        logging.getLogger("bloom_dupefilter").setLevel(logging.ERROR)

    def opened(self, **settings):
        made = dupefilter(self.folder, **settings)
        self.addCleanup(made.filter.abandon)
        return made


class Seen(Opens):
    def test_a_request_is_seen_by_every_crawler_and_after_a_restart(self):
        one, other = self.opened(), self.opened()
        self.assertFalse(one.request_seen(page(1)))
        self.assertTrue(one.request_seen(page(1)))
        self.assertTrue(other.request_seen(page(1)))
        one.close("finished")
        other.close("finished")
        self.assertTrue(self.opened().request_seen(page(1)))

    def test_a_page_is_fetched_again_after_the_window_although_it_was_asked_for_all_the_time(self):
        one, other = self.opened(BLOOM_WINDOW=3600), self.opened()
        self.assertEqual(other.window, 3600, "the file's window holds for every crawler")
        self.assertFalse(one.request_seen(page(1)))
        for turn in range(8):
            for crawler in (one, other):
                self.assertTrue(crawler.request_seen(page(1)), f"forgotten after {turn} turns")
            self.assertTrue(one.filter.turn(one.filter.stats().epoch))
            self.assertFalse(other.request_seen(page(100 + turn)))
        self.assertFalse(other.request_seen(page(1)))
        self.assertTrue(one.request_seen(page(1)))

    def test_an_epoch_that_is_over_is_ended_by_the_first_crawler_that_looks(self):
        seen = self.opened(BLOOM_WINDOW=0.007)  # an epoch of a millisecond
        self.assertFalse(seen.request_seen(page(1)))
        while not seen.filter.stats().turn_due:
            time.sleep(0.001)  # clock: an epoch takes so long
        epoch, seen._next_look = seen.filter.stats().epoch, 0.0
        seen.request_seen(page(2))
        self.assertGreater(seen.filter.stats().epoch, epoch)
        self.assertGreater(seen._next_look, 0.0, "it would look at each request")

    def test_with_a_window_no_page_is_skipped_in_doubt(self):
        seen = self.opened(BLOOM_WINDOW=3600)
        self.assertFalse(seen.request_seen(page(1)))
        bfstore.create(self.folder / "seen.bf", capacity=1000, window=3600, replace=True).close()
        self.assertIn(b"any key", seen.filter)  # everything is "maybe" now
        self.assertFalse(seen.request_seen(page(2)))
        self.assertTrue(seen.request_seen(page(2)))

    def race(self, first, count, crawlers):
        """Returns how many crawlers got "new" for each page, and how many crawlers got it for any page."""
        won = [multiprocessing.Array("B", count, lock=False) for _ in range(crawlers)]
        barrier = multiprocessing.Barrier(crawlers)

        def crawl(mine):
            seen, requests = dupefilter(self.folder), [page(first + number) for number in range(count)]
            barrier.wait()
            for number, request in enumerate(requests):
                mine[number] = not seen.request_seen(request)
            seen.close("finished")
        processes = [multiprocessing.Process(target=crawl, args=(mine,)) for mine in won]
        for process in processes:
            process.start()
        for process in processes:
            self.assertEqual(engines.joined(process, "a crawler"), 0)
        return [sum(column) for column in zip(*won, strict=True)], sum(1 for mine in won if any(mine))

    def test_of_crawlers_that_see_a_request_at_one_moment_one_at_least_wins(self):
        self.opened(BLOOM_CAPACITY=1_000_000).close("finished")  # so many that no page of a few rounds is there by chance
        count, crawlers, winners, racing = 3000, 4, [], 1
        while racing == 1 and len(winners) < 20 * count:  # on a busy machine one crawler may be ready before another begins
            more, racing = self.race(len(winners), count, crawlers)
            winners += more
        self.addClassCleanup(print, f"{len(winners)} pages were new {sum(winners)} times")
        self.assertEqual(winners.count(0), 0)
        self.assertGreater(racing, 1, "no race")
        self.assertLess(sum(winners), count * crawlers, "each crawler was told that each page is new")

    def test_in_doubt_no_page_is_skipped_and_each_is_fetched_once_by_each_crawler(self):
        seen = self.opened()
        self.assertFalse(seen.request_seen(page(1)))
        bfstore.create(self.folder / "seen.bf", capacity=1000, replace=True).close()
        self.assertIn(b"any key", seen.filter)  # everything is "maybe" now
        for number in (1, 2, 3):
            self.assertFalse(seen.request_seen(page(number)))
            self.assertTrue(seen.request_seen(page(number)))

    def behind_its_back(self, change):
        """Checks what two crawlers, and a third one, do after the change with a page that they saw, and with new ones."""
        one, other = self.opened(), self.opened()
        self.assertFalse(one.request_seen(page(1)))
        change()
        seen = [[crawler.request_seen(page(number)) for number in (1, 2, 2)] for crawler in (one, other)]
        return [*seen, [self.opened().request_seen(page(2))]]

    def test_a_file_that_is_truncated_ends_no_crawler_and_each_fetches_a_page_once(self):
        def truncate():
            with open(self.folder / "seen.bf", "r+b") as file:
                file.truncate(0)
        one, other = self.opened(BLOOM_CAPACITY=1_000_000), self.opened()
        self.assertFalse(one.request_seen(page(1)))
        truncate()
        for crawler in (one, other):
            first = [crawler.request_seen(page(number)) for number in range(2, 50)]
            self.assertFalse(any(first))
            self.assertTrue(all(crawler.request_seen(page(number)) for number in range(2, 50)))

    def test_a_file_that_is_removed_or_moved_away_is_made_again_and_its_pages_are_fetched_again(self):
        for change in ((self.folder / "seen.bf").unlink, lambda: (self.folder / "seen.bf").rename(self.folder / "away.bf")):
            self.assertEqual(self.behind_its_back(change), [[True, False, True], [True, True, True], [False]])
            self.setUp()

    def test_another_file_that_is_moved_to_the_path_is_that_of_new_crawlers_alone(self):
        def move():
            bfstore.create(self.folder / "other.bf", capacity=1000).close()
            (self.folder / "other.bf").replace(self.folder / "seen.bf")
        self.assertEqual(self.behind_its_back(move), [[True, False, True], [True, True, True], [False]])

    def test_a_file_of_another_size_keeps_its_own_size_and_rate(self):
        bfstore.create(self.folder / "seen.bf", capacity=77, fpr=0.001).close()
        self.assertEqual(self.opened(BLOOM_CAPACITY=5000, BLOOM_FPR=0.01).filter.stats().capacity, 77)

    def test_two_crawlers_with_one_journal_are_refused(self):
        path = str(self.folder / "one.journal")
        seen = self.opened(BLOOM_JOURNAL=path)
        with self.assertLogs("bloom_dupefilter", "CRITICAL"), self.assertRaisesRegex(RuntimeError, "another crawler has this journal"):
            self.opened(BLOOM_JOURNAL=path)
        seen.close("finished")
        self.opened(BLOOM_JOURNAL=path).close("finished")

    def test_a_journal_that_no_middleware_reads_is_refused(self):
        with self.assertLogs("bloom_dupefilter", "CRITICAL"), self.assertRaisesRegex(RuntimeError, "BLOOM_JOURNAL needs SPIDER_MIDDLEWARES"):
            self.opened(BLOOM_JOURNAL=str(self.folder / "one.journal"), SPIDER_MIDDLEWARES={})

    def test_a_scrapy_that_does_not_ask_for_what_is_unfinished_is_named(self):
        path = str(self.folder / "one.journal")
        for _ in range(2):
            seen = self.opened(BLOOM_JOURNAL=path)
            seen.request_seen(page(1))
            with contextlib.ExitStack() as stack:
                words = stack.enter_context(self.assertLogs("bloom_dupefilter", "ERROR")) if seen.journal.unfinished else None
                seen.close("finished")
        self.assertIn("did not ask for the unfinished requests", words.output[0])

    def test_a_full_filter_skips_no_more_pages_than_promised(self):
        bfstore.create(self.folder / "seen.bf", capacity=500, fpr=0.001, seed=1).close()  # the false positives are fixed
        seen = self.opened()  # not by the crawler that made the file
        new = sum(not seen.request_seen(page(number)) for number in range(4000))
        self.assertGreater(new, 4000 * (1 - 0.004))
        self.assertLess(seen.filter.stats().keys_added, 700)
        self.assertTrue(all(seen.request_seen(page(number)) for number in range(0, 4000, 3)))

    def journal(self):
        """Makes a journal of three pages, one of which is finished. Returns its bytes, and where its head and each record end."""
        path = self.folder / "one.journal"
        seen, pages = self.opened(BLOOM_JOURNAL=str(path)), [page(number) for number in range(3)]
        ends = [path.stat().st_size]
        for request in pages:
            self.assertFalse(seen.request_seen(request))
            ends.append(path.stat().st_size)
        seen.finish(seen.name(pages[1]))
        seen.settle()
        seen.journal.close()
        return path.read_bytes(), ends

    def test_the_journal_has_what_was_not_finished_whatever_byte_is_its_last(self):
        whole, ends = self.journal()
        self.assertEqual(self.unfinished(whole), ["0", "2"])
        self.assertEqual(self.unfinished(whole[:-1]), ["0", "1", "2"], "the note that it is finished was cut short")
        for length in sorted({0, *range(ends[0], ends[3], 41), *(end - 1 for end in ends[1:]), *ends}):
            names = self.unfinished(whole[:length])
            self.assertEqual(names, ["0", "1", "2"][:sum(end <= length for end in ends[1:])])

    def test_a_record_that_is_damaged_hides_no_later_one_and_is_told(self):
        whole, ends = self.journal()
        begin, end = ends[1:3]
        record = whole[begin:end]
        damages = [record[:cut] for cut in range(1, len(record), 7)]
        damages += [record[:at] + bytes([record[at] ^ 1]) + record[at + 1:] for at in range(len(record))]
        damages += [bytes(len(record)), b"", record[:40] + record[:50]]
        for damage in damages:
            with self.assertLogs("bloom_dupefilter", "WARNING") if damage else contextlib.nullcontext() as words:
                self.assertEqual(self.unfinished(whole[:begin] + damage + whole[end:]), ["0", "2"])
            if damage:
                self.assertIn(f"journal: bytes {begin} to {begin + len(damage)} ", words.output[0])

    def test_bytes_that_a_site_chose_are_no_record(self):
        """The objects are in a request's meta, and the record of that request is damaged."""
        other, _ = self.journal()
        for chosen in (other, other[other.index(b"\n") + 1:]):
            self.setUp()
            path = self.folder / "one.journal"
            seen = self.opened(BLOOM_JOURNAL=str(path))
            begin = path.stat().st_size
            seen.request_seen(Request("http://127.0.0.1/7", meta={"chosen": chosen}))
            seen.journal.close()
            words = bytearray(path.read_bytes())
            words[begin + 30] ^= 1
            self.assertEqual(self.unfinished(bytes(words)), [])

    def test_a_file_that_is_no_journal_is_refused_and_stays(self):
        path = self.folder / "one.journal"
        for words in (b"a list of mine\n" * 9, self.journal()[0][:5]):
            path.write_bytes(words)
            with self.assertLogs("bloom_dupefilter", "CRITICAL"), self.assertRaisesRegex(RuntimeError, "no journal"):
                self.opened(BLOOM_JOURNAL=str(path))
            self.assertEqual(path.read_bytes(), words)

    def unfinished(self, words):
        folder = engines.folder()
        (folder / "journal").write_bytes(words)
        seen = dupefilter(folder, BLOOM_JOURNAL=str(folder / "journal"))
        requests = list(seen.unfinished())
        for request in requests:
            self.assertTrue(request.dont_filter)
            self.assertTrue(seen.request_seen(request), "the killed crawler had not added it, and now it is added")
        seen.close("finished")
        return [request.url.rpartition("/")[2] for request in requests]

    def test_real_urls_are_seen_as_scrapys_own_filter_sees_them(self):
        urls = debian_urls.urls(5000)
        if len(urls) < 5000:
            self.skipTest("apt's lists of packages are not on this machine: apt-get update fetches them")
        fpr = 1e-3
        bfstore.create(self.folder / "seen.bf", capacity=len(urls), fpr=fpr, seed=1).close()
        seen = self.opened()
        own = RFPDupeFilter(fingerprinter=seen.fingerprinter)
        requests = [Request(url) for url in urls]
        pairs = [(seen.request_seen(request), own.request_seen(request)) for request in requests]
        self.assertEqual(pairs.count((False, True)), 0)
        self.assertLess(pairs.count((True, False)), len(urls) * fpr * 2)  # 0.7 on average: 1e-3 is the rate at the end
        self.assertTrue(all(seen.request_seen(request) for request in requests))


class Callbacks(Spider):
    name = "callbacks"

    def parse(self, response):
        pass

    def other(self, response):
        pass


class Unfinished(Opens):
    """The requests that a crawler sends after it was killed at this moment, between two of Scrapy's calls, and started again."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "one.journal"
        self.seen = self.opened(BLOOM_JOURNAL=str(self.path))
        self.addCleanup(self.seen.journal.close)
        self.spider = self.seen.crawler.spider = Callbacks()
        self.middleware = bloom_dupefilter.Unfinished(self.seen.crawler)

    def scheduled(self, *requests):
        """Schedules requests as the engine does."""
        for request in requests:
            self.seen.crawler.signals.send_catch_log(signals.request_scheduled, request=request, spider=self.spider)
            if not request.dont_filter:
                self.assertFalse(self.seen.request_seen(request))

    def handled(self, request, *made):
        """Lets the callback of this page make these requests. Scrapy takes all of them before it schedules the first."""
        return list(self.middleware.process_spider_output(Response(request.url, request=request), iter(made)))

    async def awaited(self, request, *made):
        async def result():
            for one in made:
                yield one
        return [one async for one in self.middleware.process_spider_output_async(Response(request.url, request=request), result())]

    def left(self):
        folder = engines.folder()
        (folder / "one.journal").write_bytes(self.path.read_bytes())
        again = dupefilter(folder, BLOOM_JOURNAL=str(folder / "one.journal"))
        self.addCleanup(again.close, "finished")
        again.crawler.spider = self.spider
        return sorted((int(request.url.rpartition("/")[2]), request.callback.__name__ if request.callback else None)
                      for request in again.unfinished())

    def test_a_page_is_finished_when_each_request_of_it_has_been_through_the_filter(self):
        """If asyncio takes a callback's requests to a queue, a page once counted as finished while they were there."""
        for number, take in ((1, self.handled), (11, lambda *all_of: asyncio.run(self.awaited(*all_of)))):
            parent, first, second = map(page, range(number, number + 3))
            self.scheduled(parent)
            before = self.left()
            take(parent, first, {"item": 1}, second)
            self.assertEqual(self.left(), before)
            self.scheduled(first)
            self.assertIn((number, None), self.left())
            self.scheduled(second)
            self.assertEqual([left for left, _ in self.left() if left in range(number, number + 3)], [number + 1, number + 2])

    def test_a_request_that_another_handler_dropped_keeps_no_page_unfinished(self):
        """Scrapy's later OffsiteMiddleware drops requests in this way, without asking the filter."""
        self.scheduled(page(1))
        parent, offsite = page(2), page(3)
        self.scheduled(parent)
        self.handled(parent, offsite)
        self.seen.crawler.signals.send_catch_log(signals.request_scheduled, request=offsite, spider=self.spider)
        self.seen.close("finished")
        self.assertEqual(self.left(), [(1, None)])

    def test_requests_past_the_filter_are_unfinished_until_each_was_handled(self):
        parent = page(1)
        self.scheduled(parent)
        past = [Request(parent.url, callback, dont_filter=True) for callback in (self.spider.parse, self.spider.other)]
        self.handled(parent, *past)
        self.assertEqual(self.left(), [(1, "other"), (1, "parse")])
        self.scheduled(*past)
        self.handled(past[0])
        self.assertEqual(self.left(), [(1, "other")])
        self.handled(past[1].copy())  # as after a retry
        self.assertEqual(self.left(), [])

    def test_requests_past_the_filter_are_not_added_to_it_by_a_restart(self):
        """A link to the page of such requests is followed, as without a kill."""
        parent = page(1)
        self.scheduled(parent)
        self.handled(parent, Request(page(2).url, self.spider.other, dont_filter=True))
        self.seen.journal.close()
        again = self.opened(BLOOM_JOURNAL=str(self.path))
        self.addCleanup(again.journal.close)
        again.crawler.spider = self.spider
        self.assertEqual(len(list(again.unfinished())), 1)
        self.assertFalse(again.request_seen(page(2)))

    def test_a_request_with_the_meta_of_another_one_finishes_itself_alone(self):
        parent = page(1)
        self.scheduled(parent)
        children = [Request(page(number).url, self.spider.parse, meta=parent.meta, dont_filter=number == 3) for number in (2, 3)]
        self.handled(parent, *children)
        self.scheduled(*children)
        self.assertEqual(self.left(), [(2, "parse"), (3, "parse")])
        self.handled(children[1])
        self.assertEqual(self.left(), [(2, "parse")])
        failed = children[0]
        by_its_errback = Request(page(4).url, self.spider.parse, meta=failed.meta, dont_filter=True)
        self.scheduled(by_its_errback)
        self.handled(by_its_errback)
        self.assertEqual(self.left(), [(2, "parse")])

    def test_a_page_that_is_handled_does_not_finish_a_request_of_the_same_page(self):
        """A start URL is not in the journal, and a link to it is."""
        start, link = Request(page(1).url, dont_filter=True), Request(page(1).url, self.spider.other)
        self.scheduled(start, link)
        self.handled(start)
        self.assertEqual(self.left(), [(1, "other")])
        self.handled(link)
        self.assertEqual(self.left(), [])

    def test_a_request_that_cannot_be_made_again_is_named_and_stays_and_the_others_are_sent(self):
        """A request whose callback, errback, class, or a class in whose meta is gone."""
        def gone(response):
            pass
        module = types.ModuleType("gone_module")
        exec("from scrapy import Request\n\nclass Note:\n    pass\n\nclass Mine(Request):\n    pass\n", module.__dict__)
        sys.modules["gone_module"] = module
        self.addCleanup(sys.modules.pop, "gone_module", None)
        self.spider.gone = types.MethodType(gone, self.spider)
        requests = [Request(page(1).url, self.spider.gone), Request(page(2).url, errback=self.spider.gone),
                    module.Mine(page(3).url), Request(page(4).url, meta={"note": module.Note()}), page(5), page(6)]
        self.scheduled(*requests)
        del self.spider.gone, sys.modules["gone_module"]
        self.seen.journal.close()
        for _ in range(2):
            again = dupefilter(self.folder, BLOOM_JOURNAL=str(self.path))
            again.crawler.spider = self.spider
            with self.assertLogs("bloom_dupefilter", "ERROR") as words:
                sent = list(again.unfinished())
            self.assertEqual([request.url for request in sent], [page(5).url, page(6).url])
            for text in ("'gone' not found", page(1).url, page(2).url, "gone_module"):
                self.assertIn(text, "\n".join(words.output))
            again.close("finished")
            self.assertEqual(len(again.journal.unfinished), 6)
        sys.modules["gone_module"] = module
        self.spider.gone = types.MethodType(gone, self.spider)
        self.assertEqual([number for number, _ in self.left()], [1, 2, 3, 4, 5, 6])

    @contextlib.contextmanager
    def full_disk(self, left):
        """Limits the journal to this number of bytes, and then lifts the limit."""
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.path.stat().st_size + left, limits[1]))
        try:
            with self.assertLogs("bloom_dupefilter", "WARNING"):
                yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    def test_a_journal_whose_disk_was_full_loses_no_page(self):
        """The journal once had a part of a record, which made it unreadable as a whole."""
        for number, left, past_the_filter in ((1, 0, False), (11, 40, False), (21, 0, True), (31, 40, True)):
            parent, child, later = (page(number + step) for step in range(3))
            if past_the_filter:
                child = child.replace(dont_filter=True)
            self.scheduled(parent)
            before = self.left()
            with self.full_disk(left):
                self.handled(parent, child)
                self.scheduled(child)  # it is sent, nevertheless
                self.assertTrue(past_the_filter or self.seen.request_seen(child), "it is in this crawler's memory")
            self.assertEqual(self.left(), before, "its page is not finished")
            self.scheduled(later)
            self.assertEqual(self.left(), [*before, (number + 2, None)])
        self.seen.journal.close()
        again = self.opened(BLOOM_JOURNAL=str(self.path))
        self.addCleanup(again.journal.close)
        self.assertFalse(again.request_seen(page(2)), "its page is sent again, and its link is followed")

    def test_in_doubt_and_with_a_full_disk_no_page_is_skipped(self):
        bfstore.create(self.folder / "seen.bf", capacity=1000, replace=True).close()
        with self.full_disk(40):
            self.scheduled(page(1))
            self.assertTrue(self.seen.request_seen(page(1)))

    def test_a_note_that_a_page_is_finished_is_written_later_if_the_disk_is_full(self):
        parent = page(1)
        self.scheduled(parent)
        with self.full_disk(10):
            self.handled(parent)
        self.assertEqual(self.left(), [(1, None)])
        self.scheduled(page(2))
        self.assertEqual(self.left(), [(2, None)])

    def test_a_callback_that_sends_its_own_request_again_does_not_finish_that(self):
        mine = page(1)
        self.scheduled(mine)
        mine.dont_filter = True
        self.handled(mine, mine)
        self.assertEqual(self.left(), [(1, None)])


# --- Measured ---------------------------------------------------------------------------------------------------------

class Bench(unittest.TestCase):
    """Measures each filter's own time: the fingerprints, which are most of the work, are computed before."""
    BLOCK = 1000

    def measure(self):
        urls = debian_urls.urls(ASKED.urls)
        self.assertEqual(len(urls), ASKED.urls)
        folder = engines.folder()
        bloom = dupefilter(folder, BLOOM_CAPACITY=ASKED.urls)
        own = RFPDupeFilter(fingerprinter=bloom.fingerprinter)
        seconds, wrong, alike = {bloom: 0, own: 0, "fingerprints": 0}, 0, 0
        for begin in range(0, ASKED.urls, self.BLOCK):
            start = time.process_time()  # clock: bench
            requests = [Request(url) for url in urls[begin:begin + self.BLOCK]]
            for request in requests:
                bloom.fingerprinter.fingerprint(request)
            seconds["fingerprints"] += time.process_time() - start
            answers = []
            for one in (bloom, own):
                start = time.process_time()
                answers.append(list(map(one.request_seen, requests)))
                seconds[one] += time.process_time() - start
            pairs = list(zip(*answers, strict=True))
            self.assertNotIn((False, True), pairs)
            wrong, alike = wrong + pairs.count((True, False)), alike + pairs.count((True, True))
        self.assertLess(wrong, ASKED.urls * 1e-4)
        self.assertTrue(all(bloom.request_seen(Request(url)) for url in urls[::100]), "forgotten")
        fingerprints = getattr(own, "_fingerprints", None) or own.fingerprints
        memory = sys.getsizeof(fingerprints) + sum(map(sys.getsizeof, fingerprints))
        print(f"\n{ASKED.urls} URLs ({alike} are another's in canonical form), requests and fingerprints: {seconds['fingerprints']:.1f} s of CPU")
        print(f"Scrapy's set: {seconds[own]:.1f} s, {memory / 1e6:.1f} MB in each crawler")
        print(f"BloomDupeFilter: {seconds[bloom]:.1f} s, {(folder / 'seen.bf').stat().st_size / 1e6:.1f} MB of file for all crawlers, "
              f"{wrong} wrong seen")
        bloom.close("finished")


def load_tests(loader, _tests, _pattern):
    if ASKED.bench:
        return unittest.TestSuite([Bench("measure")])
    return unittest.TestSuite(loader.loadTestsFromTestCase(kind) for kind in (Crawlers, Readme, Seen, Unfinished))


if __name__ == "__main__":
    engines.main()
