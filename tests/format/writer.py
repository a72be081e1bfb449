"""An independent writer of bfstore's file format, written from src/format/FORMAT.md: no code of the library's.

    shape(layout, m, k, ...)  ->  what a filter is, for:
    create(path, shape) | open_clean(path, secret)  ->  Writer, with add(), add_digests(), sync(), turn(), grow() and close()
    seal(path, to, secret) | create_static(path, shape, digests) | embedded(shape, digests) | bare(shape, digests)

It is always an exclusive writer. It refuses a file that is not clean, or that another writer has open: Refused has the code. Python has no atomic
OR, so the live word is changed under the state lock alone; it has no fence either, so the word is read by a system call. The checklist, the canary and SipHash
are the independent reader's. Needs python3-xxhash, and Linux on a little-endian machine of 64 bits.
"""
import contextlib
import copy
import ctypes
import errno
import fcntl
import mmap
import os
import stat
import struct
import time

import ribbon
from place import LIBC, place
from reader import FILLING, LATER_STATES, POISONED, RECOVERING, REPLACED, STATES, SUPERSEDED
from reader import EPOCHS, LAYOUTS, NUMBERS, Filter, Refused, body_bytes, canary, check, from_header, number, positions, siphash
from reader import end_word, healthy_word, up, xxh3

STATE, SYNC, GROWTH, WRITERS = (2**62, 1), (2**62 + 2, 1), (2**62 + 4, 1), (2**62 + 4096, 65536)
CLEAN, DIRTY = 1, 2
LIVE_WORD, SYNCING, EPOCH, NUM_SLICES, KEYS_ADDED, KEYS_REMOVED = 1536, 1537, 1538, 1539, 1544, 1545  # words of the file
CHUNK = 65536


def digest_of(shape, key):
    """Returns what the bits are computed from: digests, or positions if the hash gives those."""
    if shape.hash > 3:
        return tuple(positions(key, shape.hash, shape.m, shape.listed_seeds()))
    return xxh3(key, shape.seed) if shape.hash == 1 else siphash(key, shape.secret)


def cells_of(shape, digest, epoch_word=0):
    """A counter that two probes reach is one counter. The bits of a key whose layout expires are those in this epoch word."""
    epochs = EPOCHS.get(shape.layout, 1)
    bits_of_word, shift = 512 // epochs, {1: 23, 8: 26, 4: 25, 2: 24}[epochs]
    in_line = lambda h: 512 * (digest * (shape.m // 512) >> 64) + bits_of_word * epoch_word + (h >> shift)
    h, x, cells = digest % 2**32, digest | 1, set()
    for _ in range(shape.k):
        h = h * 0x9E3779B9 % 2**32
        cells.add({2: lambda: x * shape.m >> 64,
                   3: lambda: 128 * (digest * (shape.m // 128) >> 64) + (h >> 25)}.get(shape.layout, lambda: in_line(h))())
        x = x * 0xF1357AEA2E62A9C5 % 2**64
    return cells


def has_cells(words, shape, digest, epoch_word=0):
    bits = LAYOUTS[shape.layout][1]
    return all(words[cell * bits // 64] >> cell * bits % 64 & 2**bits - 1 for cell in cells_of(shape, digest, epoch_word))


def change_cells(words, shape, digest, change, epoch_word=0):
    """Changes each cell to change(cell, its highest value). Returns whether one was 0. Stores whole words."""
    bits, was_empty = LAYOUTS[shape.layout][1], False
    most = 2**bits - 1
    for cell in set(digest) if shape.hash > 3 else cells_of(shape, digest, epoch_word):
        word, shift = cell * bits // 64, cell * bits % 64
        old = words[word] >> shift & most
        words[word] += change(old, most) - old << shift
        was_empty = was_empty or not old
    return was_empty


def set_cells(words, shape, digest, epoch_word=0):
    return change_cells(words, shape, digest, lambda old, most: min(old + 1, most), epoch_word)


def add_to(words, shape, digest, epoch):
    """Adds a digest to a filter in this epoch. Returns whether the key counts: no epoch word had all of its bits."""
    epochs = EPOCHS.get(shape.layout)
    if not epochs:
        return set_cells(words, shape, digest)
    fresh = not any(has_cells(words, shape, digest, word) for word in range(epochs))
    set_cells(words, shape, digest, epoch % epochs)
    return fresh


def add_to_slices(bodies, slices, digest):
    """Adds a digest to the last of these slices, if none has all of its bits. Returns whether it set one."""
    if any(has_cells(body, one, digest) for body, one in zip(bodies, slices)):
        return False
    return set_cells(bodies[-1], slices[-1], digest)


def lower(words, shape, digest):
    """Lowers the counters of a key that was added to a counting filter."""
    change_cells(words, shape, digest, lambda old, most: old if old in (0, most) else old - 1)


def shape(layout, m, k, n=1000, p=0.01, hash=1, seed=0, note=None, secret=None, seeds=None, window_ms=None, growth=None):
    f = Filter()
    f.window = struct.pack("<Q", window_ms) if window_ms else None
    f.growth_record = struct.pack("<II", growth, 0) if growth else None
    f.seeds = struct.pack(f"<{k}I", *seeds) if seeds else None
    f.layout, f.m, f.k, f.n, f.p, f.hash, f.seed, f.note, f.secret = layout, m, k, n, p, hash, seed, note, secret
    f.body_bytes = body_bytes(layout, m)
    if hash == 3:
        random = os.urandom(8)
        f.secret_check = random + struct.pack("<Q", siphash(random, secret))
    return f


def identity(f, form, seal=None):
    records = b""
    for kind, value in ((1, f.note), (2, f.secret_check), (3, seal), (4, f.part_of), (5, f.seeds), (6, f.window), (7, f.growth_record)):
        if value:
            records += struct.pack("<HHI", kind, kind in (2, 4, 5, 6, 7), len(value)) + value + bytes(-len(value) % 8)
    size = 4096 if form == 1 else max(192, up(136 + len(records), 64))
    start = size if form == 2 else 16384 if f.body_bytes < 2 << 20 else 2 << 20
    record = struct.pack("<8sHHIIIIHHHHIQQdQQQ16sQIIQ", b"\x89BFS\r\n\x1a\n", 2, 0, size, 0, int(seal is not None), 0, form, 0, f.layout,
                         f.hash, f.k, f.m, f.n, f.p, f.seed, start, f.body_bytes, f.file_id,
                         canary(f.hash, f.seed, f.m, f.listed_seeds()), len(records), 0, 0)
    record = (record + records).ljust(size - 8, b"\0")
    return record + struct.pack("<Q", xxh3(record, 0))


def body_of(f, digests):
    body = bytearray(f.body_bytes)
    for digest in digests:
        set_cells(memoryview(body).cast("Q"), f, digest)
    return bytes(body)


def embedded(f, digests):
    f = copy.copy(f)
    f.file_id = os.urandom(16)
    return identity(f, 2) + body_of(f, digests) + struct.pack("<Q", end_word(f))


def bare(f, digests):
    return bare_of(f, body_of(f, digests))


def bare_of(f, body):
    trailer = struct.pack("<BBBB", 0xBF, f.layout, f.hash, f.k)
    return body + trailer + struct.pack("<I", xxh3(trailer + struct.pack("<Q", f.body_bytes), canary(f.hash, 0)) % 2**32)


def now():
    """Returns this moment as a slot has it: turned_at and turned_after_boot."""
    # clock: what the file has; no verdict depends on how long anything takes.
    return tuple(map(time.clock_gettime_ns, (time.CLOCK_REALTIME, time.CLOCK_BOOTTIME)))


def slot_page(f, sequence, its_state, its_place, lanes, slices=1, filling=0, recoveries=0, turned=bytes(24)):
    """`turned`: epoch, turned_at and turned_after_boot."""
    page = struct.pack("<QII48s8xII24s24x1536s2424x", sequence, its_state, slices, its_place, filling, recoveries, turned, lanes)
    return page + struct.pack("<Q", xxh3(page, xxh3(f.file_id, 0)))


def raised(lanes, owner, mark, epoch):
    """Returns the lanes with the owner's mark raised, or with the mark of another epoch."""
    if not mark and not epoch:
        return lanes
    for wanted in (lambda its_owner, used: used and its_owner == owner, lambda _, used: not used):
        for at in range(0, 1536, 24):
            its_owner, old, old_epoch = struct.unpack_from("<QQQ", lanes, at)
            if wanted(its_owner, old or old_epoch):
                return lanes[:at] + struct.pack("<QQQ", owner, max(old, mark) if epoch == old_epoch else mark, epoch) + lanes[at + 24:]
    raise Refused("BFS_EOWNERS")


def without(lanes, owner):
    """Returns the lanes without that owner."""
    each = [lanes[at:at + 24] for at in range(0, 1536, 24)]
    return b"".join(bytes(24) if number(lane[:8]) == owner else lane for lane in each)


def ask(fd, command, kind, part):
    return struct.unpack("hhqqi4x", fcntl.fcntl(fd, command, struct.pack("hhqqi4x", kind, 0, *part, 0)))[0]


def lock(fd, part):
    for _ in range(500):
        with contextlib.suppress(BlockingIOError, PermissionError):
            return ask(fd, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, part)
        time.sleep(0.01)
    raise Refused("BFS_EBUSY")


@contextlib.contextmanager
def locked(fd, part):
    lock(fd, part)
    try:
        yield
    finally:
        ask(fd, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, part)


class Writer:
    """Other processes wait for the state lock during a sync. Without close() the file is left as a kill leaves it."""

    def __init__(self, fd, folder, name, f):
        self.fd, self.folder, self.name, self.f = fd, folder, name, f
        self.lock_fd = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
        self.map_slices(f.num_slices)

    def map_slices(self, slices):
        """Maps the file up to the end word of the last one of so many slices. A body that does not grow is one slice."""
        f, self.slices = self.f, slices
        self.map = mmap.mmap(self.fd, end_of(f, slices))
        self.words = memoryview(self.map).cast("Q")
        self.body = self.words[f.start // 8:(f.start + f.body_bytes) // 8]
        self.bodies = [self.words[one.start // 8:(one.start + one.body_bytes) // 8] for one in all_slices(f)[:slices]]

    def unmap(self):
        for one in (*self.bodies, self.body, self.words):
            one.release()
        self.map.close()

    def counted(self):
        """Returns how many slices the live page counts, loaded through the descriptor, as the epoch is. Maps them."""
        slices = number(os.pread(self.fd, 8, 8 * NUM_SLICES)) if self.f.growth else 1
        check([(slices in NUMBERS, "BFS_ELOST")])
        if slices > self.slices:
            self.unmap()
            self.map_slices(slices)
        return slices

    def live_word(self):
        """Reads the live word through the descriptor: a mapping of a file that was cut is SIGBUS."""
        live, end = number(os.pread(self.fd, 8, 12288)), number(os.pread(self.fd, 8, self.f.end_at))
        last = all_slices(self.f)[self.counted() - 1] if self.f.growth else None
        check([(not last or number(os.pread(self.fd, 8, last.end_at)) == last.end_word, "BFS_ELOST"),
               (end == end_word(self.f), "BFS_ELOST"), (live & ~(STATES | LATER_STATES) == healthy_word(self.f), "BFS_ELOST"),
               (not live & (SUPERSEDED | REPLACED), "BFS_ESUPERSEDED")])
        return live

    def change_live_word(self, set_mask, clear_mask=0):
        """Changes the live word. The caller holds the state lock, which replaces an atomic operation."""
        self.words[LIVE_WORD] = self.words[LIVE_WORD] & ~clear_mask | set_mask

    def add(self, *keys):
        return self.add_digests([digest_of(self.f, key) for key in keys])

    def add_digests(self, digests):
        """Adds digests. Returns how many of them changed a bit."""
        changed = 0
        for i in range(0, len(digests), 64):
            self.grow_in_time()
            live = self.live_word()
            check([(not live & POISONED, "BFS_EPOISONED"), (not live & RECOVERING, "BFS_ERECOVERING"),
                   (not live & LATER_STATES, "BFS_ELATER")])
            fresh = self.add_in_an_epoch(digests[i:i + 64])
            self.words[KEYS_ADDED] = (self.words[KEYS_ADDED] + (len(digests[i:i + 64]) if self.f.layout == 3 else fresh)) % 2**64
            changed += fresh
        self.live_word()
        return changed

    def add_in_an_epoch(self, digests):
        """Adds digests, all in one epoch. Returns how many of them are new."""
        if self.f.growth:
            slices = self.counted()
            return sum(add_to_slices(self.bodies[:slices], self.f.slices[:slices], digest) for digest in digests)
        fresh = None
        while True:
            epoch = self.live_epoch()
            added = sum(add_to(self.body, self.f, digest, epoch // 2) for digest in digests)
            fresh = added if fresh is None else fresh
            if self.live_epoch() == epoch:
                return fresh

    def grow_in_time(self):
        """Adds slices while more keys were added than the slices are made for, if that is possible."""
        made_for = lambda slices: self.f.n * sum(self.f.growth**i for i in range(slices))
        while self.f.growth and sum(self.words[KEYS_ADDED:KEYS_ADDED + 256:8]) > made_for(self.counted()) and self.grow(self.counted()):
            pass

    def grow(self, slices):
        """Adds a slice to a body that has so many. Returns whether it did. The lock is on a descriptor, as that of a turn."""
        if slices == max(NUMBERS):
            return False
        try:
            ask(self.fd, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, GROWTH)
        except (BlockingIOError, PermissionError):
            return False
        try:
            return self.counted() == slices and self.has_grown(slices)
        finally:
            ask(self.fd, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, GROWTH)

    def has_grown(self, slices):
        """Does steps 2 to 5 of "To add a slice"."""
        new, size = self.f.slices[slices], os.fstat(self.fd).st_size
        if size < new.end_at + 8 and LIBC.fallocate(self.fd, 0, ctypes.c_int64(size), ctypes.c_int64(new.end_at + 8 - size)):
            return False
        self.unmap()
        self.map_slices(slices + 1)
        self.words[new.end_at // 8] = new.end_word
        try:
            check([(not self.live_word() & (POISONED | LATER_STATES), "BFS_EPOISONED")])
        except Refused:
            return False
        self.words[NUM_SLICES] = slices + 1
        return True

    def live_epoch(self):
        """Reads the epoch through the descriptor, as live_word() does: a system call is the fence."""
        return number(os.pread(self.fd, 8, 8 * EPOCH))

    def remove_digests(self, digests):
        """Removes digests. Returns how many of them were not certainly absent."""
        live, removed = self.live_word(), 0
        check([(self.f.layout == 3, "BFS_EUNSUPPORTED"), (not live & POISONED, "BFS_EPOISONED"),
               (not live & RECOVERING, "BFS_ERECOVERING"), (not live & LATER_STATES, "BFS_ELATER"), (not live & FILLING, "BFS_EFILLING")])
        for digest in digests:
            if has_cells(self.body, self.f, digest):
                lower(self.body, self.f, digest)
                removed += 1
        self.words[KEYS_REMOVED] = (self.words[KEYS_REMOVED] + removed) % 2**64
        self.live_word()
        return removed

    def newest_slot(self):
        """Returns the number and the page of the newest slot."""
        pages = [os.pread(self.fd, 4096, at) for at in (4096, 8192)]
        valid = [number(page[4088:]) == xxh3(page[:4088], xxh3(self.f.file_id, 0)) for page in pages]
        newest = max((0, 1), key=lambda i: (valid[i], number(pages[i][:8]), -i))
        check([(valid[newest], "BFS_ESLOTS")])
        return newest, pages[newest]

    def write_slot(self, its_state, its_place=b"", change=lambda lanes: lanes, filled=False, turned=None, slices=0):
        """Returns whether the slot says filling. `turned`: epoch, turned_at and turned_after_boot, `slices`: num_slices, if they change."""
        newest, old = self.newest_slot()
        sequence, new_place = number(old[:8]), its_place + old[16 + len(its_place):64]
        check([(sequence < 2**64 - 1, "BFS_ESLOTS")])
        lanes, filling = change(old[128:1664]), 0 if filled else number(old[72:76])
        same_boot = old[16:32] == new_place[:16]
        turned = turned or old[80:96] + (old[96:104] if same_boot else bytes(8))
        page = slot_page(self.f, sequence + 1, its_state, new_place, lanes, slices or number(old[12:16]), filling, number(old[76:80]), turned)
        os.pwrite(self.fd, page, 4096 if newest else 8192)
        os.fdatasync(self.fd)
        return filling

    def sync_and_write(self, its_state, change=lambda lanes: lanes, filled=False):
        """Does steps 3 to 9 of "Syncing". The caller holds the state lock and the sync lock."""
        self.live_word()
        died, self.words[SYNCING] = self.words[SYNCING], 1  # a process died in a sync
        try:
            check([(not died and not self.live_word() & POISONED, "BFS_EPOISONED")])
            slices = self.counted() if self.f.growth else 0  # before the sync that makes them durable
            os.fdatasync(self.fd)
            filling = self.write_slot(its_state, b"", change, filled, slices=slices)
        except Exception as error:
            if str(error) != "BFS_EOWNERS":
                self.change_live_word(POISONED)
                self.write_slot(DIRTY, bytes(48))
                raise
            self.words[SYNCING] = 0
            raise
        self.change_live_word(0, 0 if filling else FILLING)
        self.words[SYNCING] = 0

    def sync(self, owner=0, mark=0, epoch=0):
        self.sync_with(lambda lanes: raised(lanes, owner, mark, epoch))

    def drop_owner(self, owner):
        self.sync_with(lambda lanes: without(lanes, owner))

    def finish_filling(self):
        self.sync_with(lambda lanes: lanes, filled=True)

    def sync_with(self, change, filled=False):
        self.live_word()
        with locked(self.fd, SYNC), locked(self.fd, STATE):
            self.sync_and_write(DIRTY, change, filled)

    def turn(self, from_epoch=None):
        """Ends this epoch, or the current one if a turn is due. Returns whether it did. The sync lock is on a descriptor, which
        nothing in a Python process closes, and not kept by a mapping."""
        self.live_word()
        with locked(self.fd, SYNC):
            epoch = self.epoch_to_end()
            if from_epoch != epoch if from_epoch is not None else not self.turn_is_due():
                return False
            self.words[EPOCH] = 2 * epoch + 1
            self.clear_word((epoch + 1) % self.f.epochs)
            self.words[SYNCING] = 1
            try:
                os.fdatasync(self.fd)
                with locked(self.fd, STATE):
                    check([(not self.live_word() & POISONED, "BFS_EPOISONED")])
                    self.begin_epoch(epoch + 1)
            except OSError:
                self.poison()
                raise
            return True

    def begin_epoch(self, epoch):
        turned = lambda: struct.pack("<QQQ", epoch, *now())
        self.write_slot(DIRTY, turned=turned())
        self.words[EPOCH] = 2 * epoch
        filling = self.write_slot(DIRTY, turned=turned())  # adds went to the epoch before until now
        self.change_live_word(0, 0 if filling else FILLING)
        self.words[SYNCING] = 0

    def epoch_to_end(self):
        live, (_, slot) = self.live_word(), self.newest_slot()
        check([(self.f.epochs, "BFS_EUNSUPPORTED"), (not live & RECOVERING and number(slot[8:12]) < 3, "BFS_ERECOVERING"),
               (not live & POISONED and any(slot[16:64]), "BFS_EPOISONED")])
        epoch = number(slot[80:88])
        if self.words[SYNCING] or self.live_epoch() // 2 != epoch:
            self.poison()
            raise Refused("BFS_EPOISONED")
        return epoch

    def turn_is_due(self):
        _, slot = self.newest_slot()
        turned_at, after_boot = struct.unpack_from("<QQ", slot, 88)
        wall_clock, since_boot = now()
        counts = after_boot and any(slot[16:32]) and slot[16:32] == place(self.fd)[:16]
        passed = since_boot - after_boot if counts else wall_clock - turned_at
        return max(passed, 0) // 10**6 >= -(-self.f.window_ms // (self.f.epochs - 1))

    def clear_word(self, epoch_word):
        """Clears this word of every line, and checks the live word after each MiB of the body."""
        of_word = 8 // self.f.epochs
        for line in range(0, len(self.body), 8):
            for i in range(of_word):
                self.body[line + of_word * epoch_word + i] = 0
            if line % 131072 == 0:
                self.live_word()
        self.live_word()

    def poison(self):
        with locked(self.fd, STATE):
            self.change_live_word(POISONED)
            self.write_slot(DIRTY, bytes(48))

    def close(self):
        try:
            self.live_word()
            with locked(self.fd, STATE):
                with locked(self.fd, SYNC):
                    self.sync_and_write(CLEAN)
                ask(self.lock_fd, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, WRITERS)
        except Refused as error:  # a file that was replaced stays as it is
            if str(error) != "BFS_ESUPERSEDED":
                raise
        finally:
            self.drop()

    def drop(self):
        self.unmap()
        for fd in (self.lock_fd, self.fd, self.folder):
            os.close(fd)

    def publish(self):
        with locked(self.fd, STATE):
            os.fchmod(self.fd, 0o644)
            os.link(f"/proc/self/fd/{self.fd}", self.name, dst_dir_fd=self.folder, follow_symlinks=True)
            try:
                os.fsync(self.folder)
                os.fsync(self.fd)
            except OSError:
                os.unlink(self.name, dir_fd=self.folder)
                raise


def all_slices(f):
    """Returns the slices that a body has or may get. One that does not grow has itself."""
    return f.slices if f.growth else [f]


def end_of(f, slices):
    return (f.slices[slices - 1] if f.growth else f).end_at + 8  # num_slices of another layout says nothing


def folder_of(path):
    folder, name = os.path.split(os.fsdecode(path))
    return os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY), name


def nameless(path, f, sums_bytes=0, slices=1):
    """Does steps 1 to 5 of "Creating a file", without the identity."""
    folder, name = folder_of(path)
    f = copy.copy(f)
    f.file_id, f.start = os.urandom(16), 16384 if f.body_bytes < 2 << 20 else 2 << 20
    f.end_at = up(f.start + f.body_bytes, 4096) + sums_bytes
    f.__dict__.pop("slices", None)  # of another file
    f.num_slices, end = slices, end_of(f, slices)
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600, dir_fd=folder)
    os.posix_fallocate(fd, 0, 16384)
    os.posix_fallocate(fd, f.start, end - f.start)
    w = Writer(fd, folder, name, f)
    w.words[LIVE_WORD], w.words[NUM_SLICES] = healthy_word(f), slices
    w.words[f.end_at // 8] = end_word(f)
    for one in f.slices[:slices] if f.growth else []:
        w.words[one.end_at // 8] = one.end_word
    return w


def finish(w, lanes=bytes(1536), seal=None, filling=0, turned=bytes(24)):
    """Does steps 4 and 6 to 8 of "Creating a file". `turned` is that of the slot with a place."""
    os.pwrite(w.fd, identity(w.f, 1, seal), 0)
    os.pwrite(w.fd, slot_page(w.f, 1, CLEAN, bytes(48), bytes(1536), w.slices, filling, turned=turned[:16] + bytes(8)), 4096)
    os.pwrite(w.fd, slot_page(w.f, 2, DIRTY, place(w.fd), lanes, w.slices, filling, turned=turned), 8192)
    os.fdatasync(w.fd)
    lock(w.lock_fd, WRITERS)


def create(path, f, filling=False, slices=1):
    """Makes a file. One that grows may have several slices from the beginning, as a copy has."""
    w = nameless(path, f, slices=slices)
    w.change_live_word(FILLING if filling else 0)
    finish(w, filling=int(filling), turned=struct.pack("<QQQ", 0, *now()) if f.epochs else bytes(24))
    w.publish()
    return w


def judge(fd, secret):
    """Applies the checklist for a file that must be clean."""
    check([(stat.S_ISREG(os.fstat(fd).st_mode), "BFS_ENOTREGULAR")])
    f = from_header(fd, secret)
    ro_compat = number(f.header[20:24])
    check([(ro_compat < 2, "BFS_EFEATURE"), (not ro_compat, "BFS_ESEALED"),
           (not f.live_word & REPLACED, "BFS_ESUPERSEDED"), (not f.live_word & POISONED, "BFS_EPOISONED"),
           (not f.live_word & RECOVERING and f.state < 3, "BFS_ERECOVERING"), (not f.live_word & SUPERSEDED, "BFS_ESUPERSEDED"),
           (ask(fd, fcntl.F_OFD_GETLK, fcntl.F_RDLCK, WRITERS) == fcntl.F_UNLCK, "BFS_EBUSY"), (f.clean, "BFS_EUNCLEAN")])
    return f


def own_blocks(fd, f):
    """Allocates and unshares all blocks, without asking which are holes or shared. A filesystem that cannot unshare counts as
    one that shares nothing."""
    for at, length in ((0, 16384), (f.start, end_of(f, f.num_slices) - f.start)):
        for mode in (1, 0x40):  # FALLOC_FL_KEEP_SIZE, FALLOC_FL_UNSHARE_RANGE
            if LIBC.fallocate(fd, mode, ctypes.c_int64(at), ctypes.c_int64(length)) and (mode == 1 or ctypes.get_errno() != errno.EOPNOTSUPP):
                raise OSError(ctypes.get_errno(), "fallocate")


def open_clean(path, secret=None):
    folder, name = folder_of(path)
    fd = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    judge(fd, secret)
    with locked(fd, STATE):
        check([(os.path.samestat(os.fstat(fd), os.stat(name, dir_fd=folder, follow_symlinks=False)), "BFS_ESUPERSEDED")])
        f = judge(fd, secret)
        own_blocks(fd, f)
        w = Writer(fd, folder, name, f)
        w.words[SYNCING] = 0
        w.write_slot(DIRTY, place(fd))
        lock(w.lock_fd, WRITERS)
    return w


def nameless_sealed(path, f, body, keys_added):
    """Makes a file with its body and its checksums. Returns its Writer and its seal."""
    count = -(-f.body_bytes // CHUNK)
    w = nameless(path, f, 8 * count)
    w.map[w.f.start:w.f.start + f.body_bytes] = body
    salt = xxh3(w.f.file_id, 0)
    sums = b"".join(struct.pack("<Q", xxh3(body[i * CHUNK:(i + 1) * CHUNK], (salt + i) % 2**64)) for i in range(count))
    w.map[w.f.end_at - len(sums):w.f.end_at] = sums
    w.words[KEYS_ADDED] = keys_added
    return w, struct.pack("<IIQQQQ", CHUNK, 0, count, w.f.end_at - len(sums), xxh3(sums, salt), keys_added % 2**64)


def create_static(path, f, digests, body=None):
    """Makes a static filter of all its digests, with slots that this writer finds, or with that body. The file is sealed."""
    digests = set(digests)
    w, its_seal = nameless_sealed(path, f, body or ribbon.body(f.division, f.body_bytes, digests), len(digests))
    finish(w, seal=its_seal)
    w.sync_and_write(CLEAN)
    w.publish()
    w.drop()


def seal(path, to, secret=None):
    with open(path, "rb") as source:
        f = judge(source.fileno(), secret)
        check([(not f.filling and not f.live_word & FILLING, "BFS_EFILLING")])
        slots = f.header[4096:12288]
        w, its_seal = nameless_sealed(to, f, os.pread(source.fileno(), f.body_bytes, f.start), max(f.keys_added - f.keys_removed, 0))
        newest = max(slots[:4096], slots[4096:], key=lambda page: number(page[:8]))
        w.words[EPOCH] = f.live_epoch
        turned = newest[80:96] + (newest[96:104] if newest[16:32] == place(w.fd)[:16] else bytes(8))
        finish(w, newest[128:1664], its_seal, turned=turned)
        w.sync_and_write(CLEAN)
        check([(judge(source.fileno(), secret).header[4096:12288] == slots, "BFS_EBUSY")])
        w.publish()
        w.drop()
