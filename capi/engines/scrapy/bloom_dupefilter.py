"""A duplicates filter for Scrapy whose memory is a bfstore file that any number of crawlers share. README.md says what for.

DUPEFILTER_CLASS = "bloom_dupefilter.BloomDupeFilter"
SPIDER_MIDDLEWARES = {"bloom_dupefilter.Unfinished": 50}   # with a journal

BLOOM_PATH      the file; it is made if it is missing
BLOOM_CAPACITY  the requests of the whole crawl, 10 million by default: what comes after that is in this process's memory
BLOOM_FPR       1e-4 by default: a wrong "seen" skips a page for ever
BLOOM_WINDOW    in seconds: a page that was seen so long ago is fetched again, a seventh of that time later at the latest; then
                BLOOM_CAPACITY counts the requests of that time. Without it a page is seen for ever
BLOOM_JOURNAL   a file of this crawler alone, with the requests that a killed crawler had not finished
"""

import errno
import fcntl
import logging
import mmap
import os
import pickle
import struct
import time
import weakref
import zlib

import bfstore
import scrapy
from scrapy import Request, signals
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

if scrapy.version_info < (2, 8):
    raise ImportError(f"bloom_dupefilter needs Scrapy 2.8 or later, and this is {scrapy.__version__}")

logger = logging.getLogger(__name__)
NAME = "bloom_journal"  # in Request.meta: the name of the request's record in the journal


def _opened(path, capacity, fpr, window):
    """Opens the filter, or creates it. accept_loss: keys that a power cut took are fetched again, a page each. limit: a
    filter that is too full would skip more pages than promised. guard: a file that is truncated does not end the
    crawler."""
    return bfstore.open(path, "a", capacity=capacity, fpr=fpr, limit=True, accept_loss=True, guard=True,
                        **({"window": window} if window else {}))


class Records:
    """The format of a journal file. After the head comes a mark, which begins each record. A reader uses it to find the
    next record after a damaged one. The mark is random, so that no site can have it in the bytes that a request
    keeps."""
    HEAD, MARK_BYTES, FACTS = b"bloom_dupefilter journal 1\n", 16, struct.Struct("<II")  # a record's length, CRC-32

    def __init__(self, path, mark):
        self.path, self.mark, self.first = path, mark, len(self.HEAD) + self.MARK_BYTES

    @classmethod
    def of(cls, path):
        """Returns the Records of an existing file."""
        with open(path, "rb") as file:
            if file.read(len(cls.HEAD)) != cls.HEAD:
                raise RuntimeError(f"{path} is no journal: give BLOOM_JOURNAL another path, or remove the file")
            return cls(path, file.read(cls.MARK_BYTES))

    def head(self):
        return self.HEAD + self.mark

    def record(self, name, request):
        """Returns a record's bytes. `request`: bytes, or None. They are unpickled only when a request is made: their
        classes may be gone."""
        words = pickle.dumps((name, request))
        return self.mark + self.FACTS.pack(len(words), zlib.crc32(words)) + words

    def read(self):
        """Yields (name, request) of each whole record."""
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as words:
            at = self.first
            while at < len(words):
                end = self._end(words, at)
                if end is None:
                    at = self._after_damage(words, at)
                else:
                    yield pickle.loads(words[at + self.MARK_BYTES + self.FACTS.size:end])
                    at = end

    def _end(self, words, at):
        """Returns the end of the record at `at`, or None if no whole record is there."""
        begin = at + self.MARK_BYTES + self.FACTS.size
        if words[at:at + self.MARK_BYTES] != self.mark or begin > len(words):
            return None
        size, checksum = self.FACTS.unpack(words[begin - self.FACTS.size:begin])
        end = begin + size
        return end if end <= len(words) and zlib.crc32(words[begin:end]) == checksum else None

    def _after_damage(self, words, begin):
        at = begin
        while at >= 0 and self._end(words, at) is None:
            at = words.find(self.mark, at + 1)
        end = len(words) if at < 0 else at
        logger.warning("%s: bytes %d to %d are no whole record, as after a kill or a full disk. A request in them is not sent "
                       "again", self.path, begin, end)
        return end


class Journal:
    """The requests that were scheduled (name, dict), and those whose page was handled (name, None). A name is a
    fingerprint plus random bytes: requests for one page may run at once, with different callbacks, and each finishes
    separately."""

    def __init__(self, path):
        self._lock = self._locked(path + ".lock")
        try:
            self._open(path)
        except Exception:
            self._lock.close()
            raise

    def _open(self, path):
        self.unfinished = self._read(path) if os.path.exists(path) and os.path.getsize(path) else {}
        self._records = Records(path, os.urandom(Records.MARK_BYTES))
        with open(path + ".new", "wb") as new:
            new.write(self._records.head())
            for name, request in self.unfinished.items():
                new.write(self._records.record(name, request))
            new.flush()
            os.fsync(new.fileno())  # otherwise a power cut may leave neither file
        os.replace(path + ".new", path)
        self._file = open(path, "ab", buffering=0)  # each record goes to the kernel at once: a kill loses none

    @staticmethod
    def _locked(path):
        """Locks the journal: a second crawler would leave out the records that this one writes from now on. The lock
        ends with the process."""
        lock = open(path, "ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise RuntimeError(f"{path}: another crawler has this journal. Give each crawler its own BLOOM_JOURNAL") from None
        return lock

    @staticmethod
    def _read(path):
        unfinished = {}
        for name, request in Records.of(path).read():
            unfinished.pop(name, None) if request is None else unfinished.setdefault(name, request)
        return unfinished

    def add(self, key, request):
        """Returns the name of the request's record."""
        name = key + os.urandom(8)
        self._write(name, pickle.dumps(request))
        return name

    def remove(self, name):
        self._write(name, None)

    def _write(self, name, request):
        """Raises OSError if the record cannot be written: then no part of it is in the file."""
        record, size = self._records.record(name, request), os.fstat(self._file.fileno()).st_size
        if self._file.write(record) != len(record):  # no space for the rest
            self._file.truncate(size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._records.path)

    def close(self):
        self._file.close()
        self._lock.close()


class BloomDupeFilter(RFPDupeFilter):
    def __init__(self, crawler):
        settings = crawler.settings
        if settings["BLOOM_JOURNAL"] and not _has_middleware(settings):
            raise RuntimeError("BLOOM_JOURNAL needs SPIDER_MIDDLEWARES = {'bloom_dupefilter.Unfinished': 50}, which sends again what it has")
        super().__init__(None, settings.getbool("DUPEFILTER_DEBUG"), fingerprinter=crawler.request_fingerprinter)
        self.crawler = crawler
        self.journal = Journal(settings["BLOOM_JOURNAL"]) if settings["BLOOM_JOURNAL"] else None
        self.filter = _opened(settings["BLOOM_PATH"], settings.getint("BLOOM_CAPACITY", 10_000_000),
                              settings.getfloat("BLOOM_FPR", 1e-4), settings.getfloat("BLOOM_WINDOW"))
        self.window, self._next_look = self.filter.stats().window, 0.0  # the file's, whatever this crawler was told
        self.warned = self.sent_again = False
        self._handled = []  # records of pages that finish when the current request is in the journal
        self.failures = 0  # the number of requests that the journal could not take
        crawler.bloom_dupefilter = self  # for Unfinished

    @classmethod
    def from_crawler(cls, crawler):
        try:
            return cls(crawler)
        except Exception as error:  # Scrapy may end with 0 and without a message
            logger.critical("No page is fetched: %s", error)
            raise

    def request_seen(self, request):
        """Logs, adds, schedules: a request that is killed between two of these steps is in the journal, and is sent
        again."""
        key = self.fingerprinter.fingerprint(request)
        self._turn()
        failures = self.failures
        logged = key not in self.filter and self.record(request)
        if self.failures != failures:  # not in the journal: so this process remembers it, and not the filter
            return super().request_seen(request)
        new = self._add(key, request)
        if new and not logged:
            self.record(request)
        if logged and not new:  # another crawler was faster
            self.finish(self.name(request))
        if self._handled:
            self.settle()
        return not new

    def _add(self, key, request):
        """Returns True if the request was certainly not seen. In doubt this process remembers requests itself: no page
        is skipped. To add a key again would keep it for another window: a page that many others link to would never be
        fetched again."""
        try:
            found = self.window and key in self.filter and self.filter.health == "ok"  # in this order: a doubt is true, too
            return not found and self.filter.add(key)
        except bfstore.FullError as error:
            self._warn(error)
            in_filter = key in self.filter and self.filter.health == "ok"  # in this order: a doubt is true, too
            return not in_filter and not super().request_seen(request)
        except bfstore.Error as error:
            self._warn(error)
            return not super().request_seen(request)

    def _turn(self):
        """Forgets the pages of an epoch that is over. Every crawler looks from time to time, and one does it."""
        if self.window and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + self.window / 100
            try:
                self.filter.turn()
            except bfstore.Error as error:
                logger.warning("No page is forgotten now: %s", error)

    def _warn(self, error):
        if not self.warned:
            logger.warning("%s  From here on this crawler remembers in memory what it has seen.", error)
        self.warned = True

    def record(self, request):
        """Returns whether the journal has the request now. A name in its meta belonged to another request, whose meta
        the spider, a redirect or a retry passed on."""
        if self.journal is None:
            return False
        request.meta.pop(NAME, None)
        try:
            words = request.to_dict(spider=self.crawler.spider)
            request.meta[NAME] = self.journal.add(self.fingerprinter.fingerprint(request), words)
        except OSError as error:
            self.failures += 1
            self._handled.clear()  # the page of this request may be one of them
            logger.warning("%s is not in the journal, and the page that it is on stays unfinished: %s", request, error)
            return False
        except Exception as error:  # a callback that is not a method, or any error of an object in its meta
            logger.warning("%s is not in the journal: %s", request, error)
            return False
        return True

    def name(self, request):
        """Returns the name of the request's record, or None. If a redirect or an errback passed the meta on to a
        request for another page, that request does not finish the record."""
        name = request.meta.get(NAME)
        return name if name and name.startswith(self.fingerprinter.fingerprint(request)) else None

    def finish(self, name):
        """Marks the record as finished at the next settle()."""
        if self.journal and name:
            self._handled.append(name)

    def settle(self):
        """Writes the finished records. Records that cannot be written now are tried again later."""
        try:
            while self._handled:
                self.journal.remove(self._handled[-1])
                self._handled.pop()
        except OSError as error:
            logger.warning("The journal cannot note that %d pages are finished: %s", len(self._handled), error)

    def unfinished(self):
        """Returns the requests that a killed crawler had not finished. The filter may lack their keys: they are added
        first."""
        self.sent_again = True
        requests = list(self._made_again())
        for key, request in requests:
            if key:
                self._add(key, request)
        yield from (request for _, request in requests)

    def _made_again(self):
        """Yields (fingerprint, request); None if the request bypassed the filter, and was never added. A request that
        cannot be made stays in the journal: a later start may have its callback, or its class, again."""
        for name, words in self.journal.unfinished.items() if self.journal else ():
            what = f"The request {name.hex()}"
            try:
                facts = pickle.loads(words)
                what = f"The request of {facts['url']}"
                request = request_from_dict(facts, spider=self.crawler.spider)
                key = None if request.dont_filter else self.fingerprinter.fingerprint(request)
                request = request.replace(dont_filter=True, meta={**request.meta, NAME: name})
            except Exception as error:  # any error of the spider's classes
                logger.error("%s stays in the journal, and is not sent: %s", what, error)
            else:
                yield key, request

    def close(self, reason):
        if self.journal:
            self.settle()
            if self.journal.unfinished and not self.sent_again:
                logger.error("Scrapy %s did not ask for the unfinished requests of BLOOM_JOURNAL. They stay in it", scrapy.__version__)
            self.journal.close()
        self.filter.close()


def _has_middleware(settings):
    middlewares = settings.getdict("SPIDER_MIDDLEWARES")
    return any(order is not None and issubclass(load_object(name), Unfinished) for name, order in middlewares.items())


class Page:
    """A page, finished when its callback has ended, and each request that the callback made has reached the scheduler:
    Scrapy may take many requests from a callback before it schedules the first one. The page stays unfinished if the
    journal refused a request meanwhile, which may be one of this page."""

    def __init__(self, name, failures):
        self.name, self.failures, self.awaited = name, failures, 1  # the end of the callback


class Unfinished:
    """Sends the unfinished requests of a killed crawler again, and notes which are finished. Scrapy asks its duplicates
    filter only about requests without dont_filter: the others are logged here, before their page can be finished. Each
    step has two forms: Scrapy before 2.13 and later versions call different methods, and callbacks may be
    coroutines."""

    def __init__(self, crawler):
        self.crawler = crawler
        self._pages = weakref.WeakKeyDictionary()  # keys: requests that have not reached the scheduler
        crawler.signals.connect(self._scheduled, signals.request_scheduled)

    @classmethod
    def from_crawler(cls, crawler):
        if not issubclass(load_object(crawler.settings["DUPEFILTER_CLASS"]), BloomDupeFilter):
            raise NotConfigured("DUPEFILTER_CLASS is not bloom_dupefilter.BloomDupeFilter")
        return cls(crawler)

    @property
    def _dupefilter(self):
        return self.crawler.bloom_dupefilter

    def process_start_requests(self, start_requests, spider):
        yield from self._dupefilter.unfinished()
        yield from start_requests

    async def process_start(self, start):
        for request in self._dupefilter.unfinished():
            yield request
        async for request in start:
            yield request

    def process_spider_output(self, response, result, spider=None):
        page = self._page(response)
        for one in result:
            yield self._made(one, page)
        self._at_its_end(page)

    async def process_spider_output_async(self, response, result, spider=None):
        page = self._page(response)
        async for one in result:
            yield self._made(one, page)
        self._at_its_end(page)

    def _page(self, response):
        return Page(self._dupefilter.name(response.request), self._dupefilter.failures)

    def _made(self, one, page):
        if self._dupefilter.journal and isinstance(one, Request):
            if one.dont_filter:
                self._dupefilter.record(one)
            elif one not in self._pages:
                self._pages[one] = page
                page.awaited += 1
        return one

    def _at_its_end(self, page):
        self._came(page)
        self._dupefilter.settle()

    def _scheduled(self, request):
        """Runs right before the filter is asked, if it is asked: another handler may drop the request."""
        self._dupefilter.settle()
        page = self._pages.pop(request, None)
        if page:
            self._came(page)

    def _came(self, page):
        page.awaited -= 1
        if page.awaited == 0 and page.failures == self._dupefilter.failures:
            self._dupefilter.finish(page.name)
