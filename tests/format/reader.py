"""An independent reader of bfstore's file format, written from src/format/FORMAT.md alone: no code of the library's.

    open_file(path) | open_range(path, offset, max_bytes) | embedded(bytes) | bare(bytes)  ->  Filter

All but the last take a `secret` of 16 bytes, too. Bad bytes raise Refused, whose code is the name that the checklist gives ("BFS_EMAGIC"). Needs python3-xxhash.
"""
import functools
import hashlib
import math
import os
import stat
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import programs  # found only now

programs.need_module("xxhash", "python3-xxhash")
from xxhash import xxh3_64_intdigest as xxh3, xxh64_intdigest as xxh64, xxh128

from place import is_elsewhere  # needs xxhash, too

POISONED, SUPERSEDED, RECOVERING, REPLACED, FILLING = (1 << bit for bit in range(1, 6))  # of the live word
STATES = POISONED | SUPERSEDED | RECOVERING | REPLACED | FILLING
LATER_STATES = sum(1 << bit for bit in range(6, 15))
END_BIT = 1 << 15


class Refused(Exception):
    code = property(str)


def check(rules):
    for holds, code in rules:
        if not holds:
            raise Refused(code)


def number(data):
    return int.from_bytes(data, "little")


def siphash(data, secret):
    """Computes SipHash-2-4 as the paper's section 2 describes it."""
    rotate = lambda x, bits: (x << bits | x >> 64 - bits) % 2**64
    k0, k1 = struct.unpack("<QQ", secret)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        a, b, c, d = v
        for _ in range(count):
            a, c = (a + b) % 2**64, (c + d) % 2**64
            b, d = rotate(b, 13) ^ a, rotate(d, 16) ^ c
            a = rotate(a, 32)
            c, a = (c + b) % 2**64, (a + d) % 2**64
            b, d = rotate(b, 17) ^ c, rotate(d, 21) ^ a
            c = rotate(c, 32)
        v[:] = a, b, c, d

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for word, in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def murmur3(data, seed):
    """Computes MurmurHash3_x86_32 as its author's code does."""
    rotate = lambda x, bits: (x << bits | x >> 32 - bits) % 2**32
    mixed = lambda word: rotate(word * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32
    h, whole = seed, len(data) // 4 * 4
    for word, in struct.iter_unpack("<I", data[:whole]):
        h = (rotate(h ^ mixed(word), 13) * 5 + 0xE6546B64) % 2**32
    h ^= mixed(number(data[whole:])) ^ len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


def polynomial(data, seed):
    """Computes Java's `h = seed * h + charAt(i)`."""
    units = struct.iter_unpack("<H", data.decode("utf-8", "replace").encode("utf-16-le"))
    return functools.reduce(lambda h, unit: (seed * h + unit[0]) % 2**32, units, 0)


def in_slices(key, smallest, m, k):
    """Returns python-bloomfilter's positions: words of salted digests, each modulo the length of its slice."""
    part = m // k
    size = 2 if part < 2**15 else 4 if part < 2**31 else 8
    bits = 8 * k * size
    digest = (hashlib.sha512 if bits > 384 else hashlib.sha384 if bits > 256 else hashlib.sha256 if bits > 160 else
              hashlib.sha1 if bits > 128 else smallest)
    salted = lambda i: digest(digest(struct.pack("<I", i)).digest() + key).digest()
    per_salt = digest(b"").digest_size // size
    stream = b"".join(salted(i) for i in range(-(-k // per_salt)))
    for i in range(k):
        yield part * i + number(stream[i * size:(i + 1) * size]) % part


def murmur3_128(data, seed):
    """Computes MurmurHash3_x64_128 as its author's code does: two words of 64 bits."""
    rotate = lambda x, bits: (x << bits | x >> 64 - bits) % 2**64
    first, second = 0x87C37B91114253D5, 0x4CF5AD432745937F
    mixed_1 = lambda word: rotate(word * first % 2**64, 31) * second % 2**64
    mixed_2 = lambda word: rotate(word * second % 2**64, 33) * first % 2**64
    h1 = h2 = seed
    whole = len(data) // 16 * 16
    for a, b in struct.iter_unpack("<QQ", data[:whole]):
        h1 = ((rotate(h1 ^ mixed_1(a), 27) + h2) * 5 + 0x52DCE729) % 2**64
        h2 = ((rotate(h2 ^ mixed_2(b), 31) + h1) * 5 + 0x38495AB5) % 2**64
    h1 ^= mixed_1(number(data[whole:whole + 8])) ^ len(data)
    h2 ^= mixed_2(number(data[whole + 8:])) ^ len(data)

    def finished(h):
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD % 2**64
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
        return h ^ h >> 33

    h1, h2 = (h1 + h2) % 2**64, (h1 + 2 * h2) % 2**64
    h1, h2 = finished(h1), finished(h2)
    return (h1 + h2) % 2**64, (h1 + 2 * h2) % 2**64


def leveldb(key):
    h, whole = 0xBC9F1D34 ^ len(key) * 0xC6A4A793 % 2**32, len(key) // 4 * 4
    for word, in struct.iter_unpack("<I", key[:whole]):
        h = (h + word) * 0xC6A4A793 % 2**32
        h ^= h >> 16
    if len(key) > whole:
        h = (h + number(key[whole:])) * 0xC6A4A793 % 2**32
        h ^= h >> 24
    return h


XXPH3_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)
S1, S2, S3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D


def xxph3(key):
    size = len(key)
    word = lambda data, at: number(data[at:at + 8])
    secret = lambda at: word(XXPH3_SECRET, at)
    fold = lambda a, b: a * b % 2**64 ^ a * b >> 64
    pair = lambda at, s: fold(word(key, at) ^ secret(s), word(key, at + 8) ^ secret(s + 8))

    def end(h):
        h = (h ^ h % 2**64 >> 37) % 2**64 * P3 % 2**64
        return h ^ h >> 32

    if size == 0:
        return fold(secret(0), P2)
    if size <= 3:
        bytes_of_key = bytes([key[0], key[size // 2], key[-1], size])
        return end((number(bytes_of_key) ^ secret(0) % 2**32) * P1 % 2**64)
    if size <= 8:
        keyed = number(key[:4] + key[-4:]) ^ secret(0)
        mixed = (size + (keyed ^ keyed >> 51) * S1) % 2**64
        return end((mixed ^ mixed >> 47) * P2 % 2**64)
    if size <= 16:
        low, high = word(key, 0) ^ secret(0), word(key, size - 8) ^ secret(8)
        return end((size + low + high + fold(low, high)) % 2**64)
    if size <= 128:
        pairs = range((size + 31) // 32)
        return end((size * P1 + sum(pair(16 * i, 32 * i) + pair(size - 16 * (i + 1), 32 * i + 16) for i in pairs)) % 2**64)
    if size <= 240:
        first = end((size * P1 + sum(pair(16 * i, 16 * i) for i in range(8))) % 2**64)
        return end((first + sum(pair(16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16)) + pair(size - 16, 119)) % 2**64)
    lanes = [S3, P1, P2, P3, P4, S2, P5, S1]

    def add(at, s):
        for i in range(8):
            data = word(key, at + 8 * i)
            keyed = data ^ secret(s + 8 * i)
            lanes[i] = (lanes[i] + data + keyed % 2**32 * (keyed >> 32)) % 2**64

    for stripe in range(size // 64):
        add(64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            lanes = [(lane ^ lane >> 47 ^ secret(128 + 8 * i)) * S1 % 2**64 for i, lane in enumerate(lanes)]
    if size % 64:
        add(size - 64, 121)
    return end((size * P1 + sum(fold(lanes[i] ^ secret(11 + 8 * i), lanes[i + 1] ^ secret(19 + 8 * i)) for i in range(0, 8, 2))) % 2**64)


def murmur2(data, seed):
    """Computes MurmurHash2 as its author's code does."""
    by, whole = 0x5BD1E995, len(data) // 4 * 4
    h = seed ^ len(data)
    for word, in struct.iter_unpack("<I", data[:whole]):
        word = word * by % 2**32
        h = h * by % 2**32 ^ (word ^ word >> 24) * by % 2**32
    if len(data) > whole:
        h = (h ^ number(data[whole:])) * by % 2**32
    h = (h ^ h >> 13) * by % 2**32
    return h ^ h >> 15


def of_pybloomfilter(key, m, seeds):
    for first, second in (murmur3_128(key, seed) for seed in seeds):
        yield (first ^ second) % m


def of_leveldb(key, m, seeds):
    h = leveldb(key)
    step = (h >> 17 | h << 15) % 2**32
    return ((h + i * step) % 2**32 % m for i in range(len(seeds)))


def of_rocksdb(key, m, seeds):
    digest = xxph3(key)
    line, h = digest % 2**32 * (m // 512) >> 32, digest >> 32
    for _ in seeds:
        yield 512 * line + (h >> 23)
        h = h * 0x9E3779B9 % 2**32


def of_parquet(key, m, seeds):
    digest = xxh64(key)
    block = (digest >> 32) * (m // 256) >> 32
    salts = 0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31
    return (256 * block + 32 * i + (digest % 2**32 * salt % 2**32 >> 27) for i, salt in enumerate(salts))


def of_libbloom(key, m, seeds):
    a = murmur2(key, 0x9747B28C)
    b = murmur2(key, a)
    return ((a + i * b) % m for i in range(len(seeds)))


def of_rbloom(key, m, seeds):
    state = int.from_bytes(hashlib.sha256(key).digest()[:16], "big")
    for _ in seeds:
        state = (state * 47026247687942121848144207491837418733 + 1) % 2**128
        yield (state >> 32) % 2**64 % m


def of_java_bytes(key, m, seeds):
    units = [unit for unit, in struct.iter_unpack("<H", key.decode("utf-8", "replace").encode("utf-16-le"))]
    for i, seed in enumerate((33, 53, 79, 97, 113, 137, 163, 181)):
        h = functools.reduce(lambda h, unit: (seed * h + unit) % 2**32, units, 5381)
        yield 8 * (((h ^ h >> 16) & 2**31 - 1) % (m // 8)) + i


def murmur64a(data, seed):
    """Computes MurmurHash64A as its author's code does."""
    c, whole = 0xC6A4A7935BD1E995, len(data) // 8 * 8
    mixed = lambda word: word ^ word >> 47
    h = seed ^ len(data) * c % 2**64
    for word, in struct.iter_unpack("<Q", data[:whole]):
        h = (h ^ mixed(word * c % 2**64) * c % 2**64) * c % 2**64
    if len(data) > whole:
        h = (h ^ number(data[whole:])) * c % 2**64
    return mixed(mixed(h) * c % 2**64)


def of_dcso(key, m, seeds):
    p, g = 18446744073709551557, 18446744073709550147
    x = functools.reduce(lambda h, byte: h * 0x100000001B3 % 2**64 ^ byte, key, 0xCBF29CE484222325) % p
    for _ in seeds:
        x = x * g % 2**64 % p
        yield x % m


def of_guava(key, m, seeds):
    h1, h2 = murmur3_128(key, 0)
    return ((h1 + i * h2) % 2**63 % m for i in range(len(seeds)))


def of_guava_32(key, m, seeds):
    h1, _ = murmur3_128(key, 0)
    sums = ((h1 + (i + 1) * (h1 >> 32)) % 2**32 for i in range(len(seeds)))
    return ((2**32 - 1 - c if c >= 2**31 else c) % m for c in sums)


def of_redisbloom(key, m, seeds):
    a = murmur64a(key, 0xC6A4A7935BD1E995)
    b = murmur64a(key, a)
    return ((a + i * b) % 2**64 % m for i in range(len(seeds)))


def of_bits_and_blooms(key, m, seeds):
    h, longer = murmur3_128(key, 0), murmur3_128(key + b"\1", 0)
    return ((h[i % 2] + i * longer[0 if i % 4 in (0, 3) else 1]) % 2**64 % m for i in range(len(seeds)))


# {number of the hash: (its positions, m is at most this, a multiple of this, and k is this or any)}
FOREIGN = {
    9: (of_dcso, 2**48, 1, 0),
    10: (of_guava, 64 * (2**31 - 1), 64, 0),
    11: (of_guava_32, 2**31, 64, 0),
    12: (of_redisbloom, 2**48, 64, 0),
    13: (of_pybloomfilter, 2**48, 1, 0),
    14: (of_leveldb, 2**32, 8, 0),
    15: (of_rocksdb, 2**35 - 512, 512, 0),
    16: (of_parquet, 2**34 - 256, 256, 8),
    17: (of_bits_and_blooms, 2**48, 1, 0),
    18: (of_libbloom, 2**38, 1, 0),
    19: (of_rbloom, 2**48, 8, 0),
    20: (of_java_bytes, 2**34 - 8, 8, 8),
}
WITH_SEEDS = 4, 5, 6, 13


def positions(key, hash_number, m, seeds):
    """`seeds` has k numbers, also where the hash takes none."""
    if hash_number in FOREIGN:
        yield from FOREIGN[hash_number][0](key, m, seeds)
        return
    if hash_number > 6:
        yield from in_slices(key, hashlib.md5 if hash_number == 7 else xxh128, m, len(seeds))
        return
    if hash_number == 6:
        yield from (polynomial(key, seed) & m - 1 for seed in seeds)
        return
    for h in (murmur3(key, seed) for seed in seeds):
        yield (h - 2**32 if hash_number == 4 and h >= 2**31 else h) % m


def canary(hash_number, seed, m=0, seeds=()):
    c = 0
    for length in (0, 3, 8, 16, 100, 240, 1000) if hash_number != 2 else ():
        key = bytes(j % 251 for j in range(length))
        for part in positions(key, hash_number, m, seeds) if hash_number > 3 else [
                xxh3(key, seed) if hash_number == 1 else siphash(key, bytes(range(16)))]:
            c = (c << 9 | c >> 55) % 2**64 ^ part
    return c


# {number: (m is a multiple of this, bits of a cell, the body's bits are a multiple of this)}
LAYOUTS = {1: (512, 1, 512), 2: (1, 1, 64), 3: (128, 4, 512), 4: (512, 1, 512), 5: (512, 1, 512), 6: (512, 1, 512), 7: (512, 1, 512), 8: (512, 1, 512)}
EPOCHS = {5: 8, 6: 4, 7: 2}  # {number of a layout whose keys expire: E}
GROWING, NUMBERS = 8, range(1, 6)  # of slices


def body_bytes(layout, m):
    _, cell, unit = LAYOUTS[layout]
    return -(-m * cell // unit) * unit // 8


NO_SEED = 2**64 - 1  # of a shard that answers "maybe"
THRESHOLDS = 0, 12, 28, 64  # a key that starts below its bucket's is in a later layer


def up(x, unit):
    return -(-x // unit) * unit


class Division:
    """How the body of a static filter is divided: 2^shard_bits shards, and in each of them three layers of slots."""

    def __init__(self, body_length, k):
        self.k, self.shard_bits = k, 0
        while body_length >> self.shard_bits > 2097152:
            self.shard_bits += 1
        unit = 4096 if self.shard_bits else 64
        self.shard_bytes = (body_length >> self.shard_bits) // unit * unit
        all_slots = 32 * (max(self.shard_bytes - 208, 0) * 8) // (32 * k + 1) // 64 * 64
        root = math.isqrt(all_slots)
        middle, last = up(all_slots * 53 // 1024 + root, 64), up(all_slots // 256 + root // 2 + 32, 64)
        self.slots = all_slots - middle - last, middle, last
        self.usable = self.slots[0] >= 64 and self.shard_bytes >= 208 and k <= 32
        self.first_bucket = 0, self.slots[0] // 64
        self.first_slot = 0, self.slots[0], self.slots[0] + middle
        self.granules_at = 64 + up(-(-(self.slots[0] + middle) // 64 // 4), 16)  # 4 buckets in a byte

    def shard_of(self, digest):
        return digest >> 64 - self.shard_bits

    def hashed(self, digest, seed):
        """Returns (a key's starts in the three layers, its coefficients, its fingerprint)."""
        folded = lambda x: x % 2**64 ^ x % 2**64 >> 32
        a = folded((digest ^ seed) * 0x9E3779B97F4A7C15)
        a = folded(a * 0xD6E8FEB86659FD93)
        e = folded(a * 0xA0761D6478BD642F)
        words = a >> 32, a % 2**32, (a >> 16) % 2**32
        return [w * (n - 31) >> 32 for w, n in zip(words, self.slots)], e >> 32 | 1, e % 2**self.k

    def threshold(self, shard, layer, start):
        bucket = self.first_bucket[layer] + start // 64
        return THRESHOLDS[shard[64 + bucket // 4] >> bucket % 4 * 2 & 3]

    def place_of(self, shard, starts):
        """Returns the slot, counted from the first one of all layers, at which a key begins."""
        layer = next((layer for layer in (0, 1) if starts[layer] % 64 >= self.threshold(shard, layer, starts[layer])), 2)
        return self.first_slot[layer] + starts[layer]

    def may_be_in(self, shard, digest):
        seed = number(shard[:8])
        if not self.usable or seed == NO_SEED:
            return True
        starts, coefficients, fingerprint = self.hashed(digest, seed)
        place = self.place_of(shard, starts)
        found = 0
        for slot in (place + i for i in range(32) if coefficients >> i & 1):
            granule = self.granules_at + slot // 16 * 2 * self.k
            columns = struct.unpack_from(f"<{self.k}H", shard, granule)
            found ^= sum((column >> slot % 16 & 1) << c for c, column in enumerate(columns))
        return found == fingerprint


class Filter:
    note, seal, marks, keys_added, keys_removed, state, clean, live_word = None, None, {}, 0, 0, None, None, 0
    damaged_shards = frozenset()
    secret, secret_check, filling, seeds, part_of = None, None, False, None, None
    window, epoch, turned_at, turned_after_boot, live_epoch = None, 0, 0, 0, 0
    growth_record, num_slices, of_one_number, has_end = None, 1, True, True
    epochs = property(lambda self: EPOCHS.get(self.layout, 0))
    growth = property(lambda self: number((self.growth_record or b"")[:4]))  # 0: does not grow
    window_ms = property(lambda self: number(self.window or b""))

    slices = functools.cached_property(lambda self: list(slices_of(self)))
    division = functools.cached_property(lambda self: Division(self.body_bytes, self.k))

    def shard(self, i):
        """Returns the bytes of a shard of a static filter."""
        size = self.division.shard_bytes
        return memoryview(self.body)[size * i:size * (i + 1)]

    def in_shard(self, digest):
        i = self.division.shard_of(digest)
        return i in self.damaged_shards or self.division.may_be_in(self.shard(i), digest)

    def digest(self, key):
        check([(self.hash != 2, "BFS_EDIGESTONLY"), (self.hash < 4, "BFS_EKEYONLY")])
        return xxh3(key, self.seed) if self.hash == 1 else siphash(key, self.secret)

    def listed_seeds(self):
        return struct.unpack(f"<{self.k}I", self.seeds or bytes(4 * self.k))

    def probes(self, digest):
        unit = LAYOUTS[self.layout][0]  # the cells of a line, or 1
        part, parts, _ = struct.unpack("<IIQ", self.part_of or struct.pack("<IIQ", 0, 1, 0))
        check([(digest * parts >> 64 == part, "BFS_EPART")])
        x = digest * (self.m // unit) * parts if unit > 1 else digest | 1
        line, h = (x >> 64) - part * (self.m // unit), digest % 2**32
        if self.epochs:  # the cells of the first epoch word: word `w` has them W * w further on
            bits_of_word = 512 // self.epochs
            for _ in range(self.k):
                h = h * 0x9E3779B9 % 2**32
                yield 512 * line + h * bits_of_word // 2**32
            return
        for _ in range(self.k):
            h = h * 0x9E3779B9 % 2**32
            yield unit * line + h * unit // 2**32 if unit > 1 else x * self.m >> 64
            x = x * 0xF1357AEA2E62A9C5 % 2**64

    def cell(self, i):
        bits = LAYOUTS[self.layout][1]
        return self.body[i * bits // 8] >> i * bits % 8 & 2**bits - 1

    def count_digest(self, digest):
        return min(self.cell(i) for i in self.probes(digest))

    def in_doubt(self):
        return self.filling or not self.has_end or bool(self.live_word & (STATES | LATER_STATES))

    def has(self, cells):
        bits = LAYOUTS[self.layout][1]
        mask = 2**bits - 1
        is_in = lambda its_cells: all(self.body[i * bits // 8] >> i * bits % 8 & mask for i in its_cells)
        return self.in_doubt() or any(map(is_in, self.in_each_word(cells)))

    def in_each_word(self, cells):
        """Returns lists of cells: the key may be in the filter if all cells of one list are set."""
        cells = list(cells)
        return [[i + 512 // self.epochs * word for i in cells] for word in range(self.epochs)] if self.epochs else [cells]

    def words_with(self, digest):
        """Returns the numbers of the epoch words that have all bits of a digest."""
        return [word for word, cells in enumerate(self.in_each_word(self.probes(digest))) if all(self.cell(i) for i in cells)]

    def contains_digest(self, digest):
        check([(self.hash < 4, "BFS_EKEYONLY")])
        if self.layout == 4:
            return self.in_doubt() or self.in_shard(digest)
        if self.growth:
            return self.in_doubt() or any(one.contains_digest(digest) for one in self.slices[:self.num_slices])
        return self.has(self.probes(digest))

    def contains(self, key):
        if self.hash > 3:
            return self.has(positions(key, self.hash, self.m, self.listed_seeds()))
        return self.contains_digest(self.digest(key))


def slices_of(f):
    """Yields the slices that a body has or may get, each as a filter of layout 1."""
    at = f.start
    for i in range(max(NUMBERS)):
        one = Filter()
        one.layout, one.hash, one.k, one.m = 1, f.hash, f.k, f.m * f.growth**i
        one.body_bytes, one.end_word = one.m // 8, (end_word(f) + (i << 16)) % 2**64
        one.start = up(at, 4096 if i == 0 or one.body_bytes < 2 << 20 else 2 << 20)
        one.end_at = up(one.start + one.body_bytes, 4096)
        yield one
        at = one.end_at + 8


def kinds(records):
    """Yields the type of each record, and whether it is critical, up to the first one that is longer than what is left."""
    while len(records) >= 8:
        kind, flags, length = struct.unpack_from("<HHI", records)
        if 8 + length > len(records):
            return
        yield kind, flags & 1
        records = records[8 + -(-length // 8) * 8:]


def identity(data, form, limit, secret):
    """Reads the identity record at the beginning of `data`. The sections that it describes must end within `limit` bytes."""
    check([(limit >= (16384 if form == 1 else 192), "BFS_ETOOSHORT")])
    f = Filter()
    (magic, major, minor, size, _, ro, incompat, its_form, a, f.layout, f.hash, f.k, f.m, f.n, f.p, f.seed, f.start,
     f.body_bytes, f.file_id, its_canary, records, b, c) = struct.unpack_from("<8sHHIIIIHHHHIQQdQQQ16sQIIQ", data)
    align, least = (4096, 16384) if form == 1 else (64, size)
    check([(magic == b"\x89BFS\r\n\x1a\n", "BFS_EMAGIC"), (major == 2, "BFS_EVERSION"), (its_form == form, "BFS_EFORM"),
           (size in ([4096] if form == 1 else range(192, 65537, 64)) and size <= limit, "BFS_EHEADERSIZE"),
           (xxh3(data[:size - 8], 0) == number(data[size - 8:size]), "BFS_ECHECKSUM"),
           (minor > 0 or not (a or b or c or any(data[128 + records:size - 8])), "BFS_ERESERVED"),
           (incompat == 0, "BFS_EFEATURE"), (f.layout in LAYOUTS, "BFS_ELAYOUT"), (f.hash in {*range(1, 9), *FOREIGN}, "BFS_EHASH"),
           (f.hash < 3 or f.seed == 0, "BFS_EHASH"), (f.hash < 4 or f.layout == 2, "BFS_EHASH"), (1 <= f.k <= 64, "BFS_EPROBES"), (1 <= f.m <= 2**48 // LAYOUTS.get(f.layout, (1, 1))[1] and f.m % LAYOUTS.get(f.layout, (1,))[0] == 0 and (f.hash not in (4, 5) or f.m <= 2**32), "BFS_EBITS"),
           (f.hash != 6 or f.m < 2**31, "BFS_EBITS"), (f.hash not in (7, 8) or f.m % (f.k or 1) == 0, "BFS_EBITS"),
           (f.hash not in FOREIGN or FOREIGN[f.hash][3] in (0, f.k), "BFS_EPROBES"), (f.hash not in FOREIGN or f.m <= FOREIGN[f.hash][1] and f.m % FOREIGN[f.hash][2] == 0, "BFS_EBITS"),
           (1 <= f.n < 2**63 and 0 < f.p <= 1, "BFS_ECAPACITY"),
           (f.layout in LAYOUTS and f.body_bytes == body_bytes(f.layout, f.m), "BFS_EBODY"),
           (f.start % align == 0 and least <= f.start <= limit - f.body_bytes - 8, "BFS_EBODY"),
           (records % 8 == 0 and records <= size - 136, "BFS_ERECORD")])
    left = data[128:128 + records]
    check([(not any(critical and kind not in range(1, 8) for kind, critical in kinds(left)), "BFS_EFEATURE")])
    while left:
        kind, flags, length = struct.unpack_from("<HHI", left)
        end = 8 + -(-length // 8) * 8
        value, kind_of = left[8:8 + length], {1: "note", 2: "secret_check", 3: "seal", 4: "part_of", 5: "seeds", 6: "window", 7: "growth_record"}.get(kind)
        fits = {1: length <= 1024, 2: length == 16, 3: length == 40, 4: length == 16, 5: length in range(4, 257, 4), 6: length == 8, 7: length == 8}.get(kind, True) and flags % 2 == (kind in (2, 4, 5, 6, 7))
        check([(end <= len(left) and fits, "BFS_ERECORD"),
               (minor or flags < 2 and not any(left[8 + length:end]), "BFS_ERECORD"),
               (not kind_of or getattr(f, kind_of) is None, "BFS_ERECORD")])
        if kind_of:
            setattr(f, kind_of, value)
        left = left[end:]
    check([((f.seal is not None) == (ro & 1 == 1) and (form == 1 or not ro & 1), "BFS_ERECORD"),
           ((f.secret_check is not None) == (f.hash == 3), "BFS_ERECORD"),
           ((f.window is not None) == (f.epochs > 0) and (f.window is None or f.window_ms >= 1), "BFS_ERECORD"),
           ((f.growth_record is not None) == (f.layout == GROWING) and (form == 1 or not f.growth_record), "BFS_ERECORD"),
           ((f.seeds is not None) == (f.hash in WITH_SEEDS) and len(f.seeds or bytes(4 * f.k)) == 4 * f.k, "BFS_ERECORD")])
    if f.layout == GROWING:
        growth, zero = struct.unpack("<II", f.growth_record)
        together = sum(growth**i for i in range(max(NUMBERS)))
        check([(2 <= growth <= 16 and (minor or not zero) and f.m * together <= 2**48 and f.n * together < 2**63 and not f.seal, "BFS_ERECORD")])
    if f.part_of:
        part, parts, capacity = struct.unpack("<IIQ", f.part_of)
        unit, bits = LAYOUTS[f.layout][:2]
        check([(parts >= 2 and part < parts and unit > 1 and f.layout not in (4, GROWING) and f.m * parts <= 2**48 // bits and 1 <= capacity < 2**63, "BFS_ERECORD")])
    seeds = f.listed_seeds()
    f.end_at = f.start + f.body_bytes
    if form == 1:
        f.end_at = -(-f.end_at // 4096) * 4096
        check([(f.end_at + 8 <= limit, "BFS_EBODY")])
    if f.seal:
        chunk, zero, count, f.sums_at, f.sums_sum, f.keys_sealed = struct.unpack("<IIQQQQ", f.seal)
        check([(chunk == 65536 and (minor or not zero) and count == -(-f.body_bytes // chunk), "BFS_ERECORD"),
               (f.sums_at == -(-(f.start + f.body_bytes) // 4096) * 4096, "BFS_ERECORD"),
               (f.sums_at + 8 * count + 8 <= limit, "BFS_EBODY")])
        f.end_at = f.sums_at + 8 * count
    check([(its_canary == canary(f.hash, f.seed, f.m, seeds), "BFS_ECANARY"), ((secret is not None) == (f.hash == 3), "BFS_ESECRET"),
           (not secret or not f.secret_check or number(f.secret_check[8:]) == siphash(f.secret_check[:8], secret), "BFS_ESECRET")])
    f.secret = secret
    return f, minor


def end_word(f):
    return xxh3(f.file_id, 1) | END_BIT


def healthy_word(f):
    """Returns the live word without a state."""
    return xxh3(f.file_id, 0) & ~0xffff | 1


def check_end(f, word):
    check([(number(word) == end_word(f), "BFS_ELIVEWORD")])


def is_valid(f, slot):
    return number(slot[4088:]) == xxh3(slot[:4088], xxh3(f.file_id, 0)) and number(slot[8:12]) in (1, 2, 3, 4)


def state(f, minor, a, b, live):
    """Reads the two state slots and the live page."""
    slots = [(number(s[:8]), number(s[8:12]), s) for s in (b, a) if is_valid(f, s)]  # if the sequences are equal, A is the newest
    slots.sort(key=lambda slot: slot[0])
    syncing, epoch, f.num_slices = struct.unpack_from("<QQQ", live, 8)
    numbers = NUMBERS if f.growth else (1,)
    check([(minor or not any(number(s[12:16]) not in numbers or any(s[64 if kind < 3 else 72:72] + s[104 if f.epochs else 80:128] + s[1664:4088]) for _, kind, s in slots), "BFS_ERESERVED"),
           (minor or not any(number(s[72:76]) > 1 for _, _, s in slots), "BFS_ERESERVED"),
           (minor or syncing < 2 and (f.epochs or not epoch) and f.num_slices in numbers and not any(live[32:64] + live[2112:]) and not any(any(live[at + 16:at + 64]) for at in range(64, 2112, 64)), "BFS_ERESERVED"), (slots, "BFS_ESLOTS")])
    sequence, f.state, newest = slots[-1]
    f.filling, f.live_word = number(newest[72:76]) != 0, number(live[:8])
    behind = f.filling and not f.live_word & FILLING  # of another moment than the live word
    f.live_epoch, (f.epoch, f.turned_at, f.turned_after_boot) = epoch, struct.unpack_from("<QQQ", newest, 80)
    f.of_one_epoch = not f.epochs or f.live_epoch // 2 == f.epoch
    f.clean = len(slots) == 2 and sequence == slots[0][0] + 1 and f.state == 1 and not behind and f.of_one_epoch
    f.slot_slices = number(newest[12:16])
    f.of_one_number = not f.growth or f.num_slices == f.slot_slices or f.num_slices > f.slot_slices and not f.clean
    f.clean = f.clean and f.of_one_number
    f.marks = {owner: (mark, epoch) for owner, mark, epoch in struct.iter_unpack("<QQQ", newest[128:1664]) if mark or epoch}
    f.keys_added, f.keys_removed = (sum(number(live[i:i + 8]) for i in range(at, 2112, 64)) for at in (64, 72))
    check([(f.live_word & ~(STATES | LATER_STATES) == healthy_word(f), "BFS_ELIVEWORD"), (not f.live_word & LATER_STATES, "BFS_ELATER")])


def check_last_end(f, fd, minor, live, slots):
    """Checks the end word of the last slice that the live page counts. A file that may come from before a power cut needs that of
    the slot's last slice alone: it is unclean then."""
    has = lambda slices: number(os.pread(fd, 8, f.slices[slices - 1].end_at)) == f.slices[slices - 1].end_word
    counted = number(live[24:32])
    if counted in NUMBERS and has(counted) or counted not in NUMBERS and not minor:  # which are reserved
        return
    newest = max((page for page in slots if is_valid(f, page)), key=lambda page: number(page[:8]), default=bytes(4096))
    durable = number(newest[12:16])
    check([(counted in NUMBERS and durable in NUMBERS and is_elsewhere(fd, newest) and has(durable), "BFS_ELIVEWORD")])
    f.has_end = False


def from_header(fd, secret):
    """Returns the filter by its header pages and its end word, without its bits."""
    header = os.pread(fd, 16384, 0)
    f, minor = identity(header, 1, os.fstat(fd).st_size, secret)
    a, b, live = header[4096:8192], header[8192:12288], header[12288:]
    check_end(f, os.pread(fd, 8, f.end_at))
    if f.growth:
        check_last_end(f, fd, minor, live, (a, b))
    state(f, minor, a, b, live)
    f.clean = f.clean and f.has_end
    f.header = header
    return f


def read(file, at, size):
    file.seek(at)
    return file.read(size)


def open_file(path, secret=None):
    check([(not os.path.islink(path), "BFS_ESYMLINK"), (stat.S_ISREG(os.lstat(path).st_mode), "BFS_ENOTREGULAR")])
    with open(path, "rb") as file:
        f = from_header(file.fileno(), secret)
        f.body, f.sums = read(file, f.start, f.body_bytes), read(file, f.sums_at, 8 * -(-f.body_bytes // 65536)) if f.seal else b""
        for one in f.slices[:f.num_slices] if f.growth else []:
            one.body = read(file, one.start, one.body_bytes)
    return f


def damaged(f):
    """Returns the damaged chunks of a sealed file, and whether its checksums and counters are as they were sealed."""
    salt = xxh3(f.file_id, 0)
    chunks = [f.body[i:i + 65536] for i in range(0, f.body_bytes, 65536)]
    return ([i for i, chunk in enumerate(chunks) if xxh3(chunk, (salt + i) % 2**64) != number(f.sums[8 * i:8 * i + 8])],
            xxh3(f.sums, salt) == f.sums_sum and f.keys_added == f.keys_sealed)


def tolerate(f):
    """Goes on with a damaged sealed file: each bit of a damaged chunk counts as 1, and a static filter's shard with a damaged byte says "maybe"."""
    chunks, _ = damaged(f)
    body = bytearray(f.body)
    for i in chunks:
        of_chunk = slice(65536 * i, min(65536 * (i + 1), f.body_bytes))
        body[of_chunk] = b"\xff" * (of_chunk.stop - of_chunk.start)
    size, count = (f.division.shard_bytes, 2**f.division.shard_bits) if f.layout == 4 else (1, 0)
    f.damaged_shards = frozenset(shard for shard in range(count) for i in chunks if 65536 * i < size * (shard + 1) and size * shard < 65536 * (i + 1))
    f.body = bytes(body)
    return f


def embedded(data, secret=None):
    f = identity(data, 2, len(data), secret)[0]
    check_end(f, data[f.end_at:f.end_at + 8])
    f.body = data[f.start:f.start + f.body_bytes]
    return f


def open_range(path, offset, max_bytes=0, secret=None):
    with open(path, "rb") as file:
        file.seek(offset)
        return embedded(file.read(max_bytes or -1), secret)


def bare(data):
    check([(len(data) >= 16, "BFS_ETOOSHORT")])
    f = Filter()
    f.body, (marker, f.layout, f.hash, f.k, its_check) = data[:-8], struct.unpack("<BBBBI", data[-8:])
    unit, cell, _ = LAYOUTS.get(f.layout, (1, 1, 1))
    f.m, f.n, f.p, f.seed = 8 * len(f.body) // cell, None, None, 0
    mine = xxh3(data[-8:-4] + struct.pack("<Q", len(f.body)), canary(f.hash, 0)) % 2**32
    check([(marker == 0xBF, "BFS_EMAGIC"), (f.layout in (1, 2, 3), "BFS_ELAYOUT"), (f.hash in (1, 2), "BFS_EHASH"),
           (1 <= f.k <= 64, "BFS_EPROBES"), (8 * len(f.body) <= 2**48 and 8 * len(f.body) % LAYOUTS.get(f.layout, (1, 1, 64))[2] == 0, "BFS_EBITS"),
           (its_check == mine, "BFS_ECHECKSUM")])
    return f
