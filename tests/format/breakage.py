"""Every way of breaking one field of a good file, and the code with which FORMAT.md's checklist refuses it: the tables
of broken_fields_test.py. A change takes the bytes (a bytearray) and breaks them in place.
"""
import functools
import operator
import struct

import reader

NAN, INFINITY = float("nan"), float("inf")
NOTE = b"the note"  # the note of every file that is broken
WINDOW_MS = 86_400_000  # for how long the keys of every file are kept whose keys expire
GROWING, GROWTH = 8, 10  # the layout that grows, and by how much every file of it
PAGE = 4096
SYNCING, LIVE_EPOCH, LIVE_NUM_SLICES = (3 * PAGE + at for at in (8, 16, 24))


def put(data, offset, layout, value):
    struct.pack_into("<" + layout, data, offset, value)


def number(data, offset, size):
    return int.from_bytes(data[offset:offset + size], "little")


def seal_identity(data):
    end = number(data, 12, 4)
    if 136 <= end <= len(data):
        put(data, end - 8, "Q", reader.xxh3(bytes(data[:end - 8]), 0))


def end_word(data):
    """Returns the end word of the filter at the beginning of `data`."""
    return struct.pack("<Q", reader.xxh3(bytes(data[88:104]), 1) | reader.END_BIT)


def seal_slots(data):
    for start in (PAGE, 2 * PAGE):
        put(data, start + 4088, "Q", reader.xxh3(bytes(data[start:start + 4088]), reader.xxh3(bytes(data[88:104]), 0)))


def record(kind, flags, value, length=None, padding=b"\0"):
    length = len(value) if length is None else length
    return struct.pack("<HHI", kind, flags, length) + value + padding * (-len(value) % 8)


def stretched(data, header_bytes, body_offset):
    """Returns an embedded filter whose record has another length and whose body begins elsewhere."""
    end, start = number(data, 12, 4), number(data, 72, 8)
    record = data[:end - 8].ljust(max(header_bytes, body_offset), b"\0")
    put(record, 12, "I", header_bytes)
    put(record, 72, "Q", body_offset)
    seal_identity(record)
    return record + data[start:]


def growth_record(growth, reserved=0, flags=1):
    return record(7, flags, struct.pack("<II", growth, reserved))


def needed_record(data):
    """Returns the record without which a filter is refused whose keys expire, or that grows."""
    layout = number(data, 32, 2)
    return record(6, 1, struct.pack("<Q", WINDOW_MS)) if layout in reader.EPOCHS else growth_record(GROWTH) if layout == GROWING else b""


def with_records(data, records, records_bytes=None):
    """Replaces the parameter records, except the one that the layout needs. The other spare bytes of the record become zero."""
    only_records(data, needed_record(data) + records, records_bytes)


def only_records(data, records, records_bytes=None):
    end = number(data, 12, 4) - 8
    data[128:end] = (records + bytes(end - 128))[:end - 128]
    put(data, 112, "I", len(records) if records_bytes is None else records_bytes)


def field(offset, layout, value):
    return lambda data: put(data, offset, layout, value)


def flipped(offset):
    return lambda data: put(data, offset, "B", data[offset] ^ 1)


def fill(offset, content):
    return lambda data: data.__setitem__(slice(offset, offset + len(content)), content)


def records(*arguments):
    return lambda data: with_records(data, *arguments)


def both(*changes):
    def change(data):
        for one in changes:
            one(data)
    return change


# name: (change to the identity, the code of both). None: both accept it.
IDENTITY = {
    "magic, first byte": (field(0, "B", 0x88), "BFS_EMAGIC"),
    "magic, last byte": (field(7, "B", 0x0D), "BFS_EMAGIC"),
    "magic of a file that went through text mode": (fill(0, b"\x89BFS\n\x1a\n\0"), "BFS_EMAGIC"),
    "version_major 0": (field(8, "H", 0), "BFS_EVERSION"),
    "version_major 1": (field(8, "H", 1), "BFS_EVERSION"),
    "version_major 3": (field(8, "H", 3), "BFS_EVERSION"),
    "version_major 1 with a larger minor version": (both(field(8, "H", 1), field(10, "H", 9)), "BFS_EVERSION"),
    "version_minor 1": (field(10, "H", 1), None),
    "version_minor 65535": (field(10, "H", 65535), None),
    "form 0": (field(28, "H", 0), "BFS_EFORM"),
    "form 65535": (field(28, "H", 65535), "BFS_EFORM"),
    "header_bytes 0": (field(12, "I", 0), "BFS_EHEADERSIZE"),
    "header_bytes 128": (field(12, "I", 128), "BFS_EHEADERSIZE"),
    "header_bytes no multiple of 64": (field(12, "I", 200), "BFS_EHEADERSIZE"),
    "header_bytes beyond the largest": (field(12, "I", 65536 + 64), "BFS_EHEADERSIZE"),
    "header_bytes 2^32 - 64": (field(12, "I", 2**32 - 64), "BFS_EHEADERSIZE"),
    "compat, all bits": (field(16, "I", 2**32 - 1), None),
    "incompat, bit 31": (field(24, "I", 1 << 31), "BFS_EFEATURE"),
    "reserved_a": (field(30, "H", 1), "BFS_ERESERVED"),
    "reserved_a of a later minor version": (both(field(30, "H", 1), field(10, "H", 1)), None),
    "reserved_b": (field(116, "I", 1 << 31), "BFS_ERESERVED"),
    "reserved_b of a later minor version": (both(field(116, "I", 1), field(10, "H", 1)), None),
    "reserved_c": (field(120, "Q", 1 << 63), "BFS_ERESERVED"),
    "layout 0": (field(32, "H", 0), "BFS_ELAYOUT"),
    "layout 65535": (field(32, "H", 65535), "BFS_ELAYOUT"),
    "hash 0": (field(34, "H", 0), "BFS_EHASH"),
    "hash 65535": (field(34, "H", 65535), "BFS_EHASH"),
    "hash 3 with a seed": (field(34, "H", 3), "BFS_EHASH"),
    "hash 3 without a secret check": (both(field(34, "H", 3), field(64, "Q", 0)), "BFS_ERECORD"),
    "a secret check of another hash": (records(record(2, 1, bytes(16))), "BFS_ERECORD"),
    "seeds of another hash": (records(record(5, 1, bytes(20))), "BFS_ERECORD"),
    "a window of a layout without epochs, or a second one": (records(record(6, 1, struct.pack("<Q", 1))), "BFS_ERECORD"),
    "a growth of a layout that does not grow, or a second one": (records(growth_record(GROWTH)), "BFS_ERECORD"),
    "layout 9": (field(32, "H", 9), "BFS_ELAYOUT"),
    "num_probes 0": (field(36, "I", 0), "BFS_EPROBES"),
    "num_probes 65": (field(36, "I", 65), "BFS_EPROBES"),
    "num_probes 2^32 - 1": (field(36, "I", 2**32 - 1), "BFS_EPROBES"),
    "num_bits 0": (field(40, "Q", 0), "BFS_EBITS"),
    "num_bits beyond 2^48": (field(40, "Q", 2**48 + 512), "BFS_EBITS"),
    "num_bits 2^64 - 512": (field(40, "Q", 2**64 - 512), "BFS_EBITS"),
    "num_bits 2^46 with the body of a small one": (field(40, "Q", 2**46), "BFS_EBODY"),
    "capacity 0": (field(48, "Q", 0), "BFS_ECAPACITY"),
    "capacity 2^63 - 1": (field(48, "Q", 2**63 - 1), None),
    "capacity 2^63": (field(48, "Q", 2**63), "BFS_ECAPACITY"),
    "fpr 0": (field(56, "d", 0.0), "BFS_ECAPACITY"),
    "fpr -0.5": (field(56, "d", -0.5), "BFS_ECAPACITY"),
    "fpr 1": (field(56, "d", 1.0), None),
    "fpr a little above 1": (field(56, "d", 1.0000000000000002), "BFS_ECAPACITY"),
    "fpr NaN": (field(56, "d", NAN), "BFS_ECAPACITY"),
    "fpr infinite": (field(56, "d", INFINITY), "BFS_ECAPACITY"),
    "seed changed": (field(64, "Q", 99), "BFS_ECANARY"),
    "canary": (lambda d: put(d, 104, "Q", number(d, 104, 8) ^ 1 << 63), "BFS_ECANARY"),
    "body_offset 0": (field(72, "Q", 0), "BFS_EBODY"),
    "body_offset one byte on": (lambda d: put(d, 72, "Q", number(d, 72, 8) + 1), "BFS_EBODY"),
    "body_offset so far on that the end overflows": (field(72, "Q", 2**64 - PAGE), "BFS_EBODY"),
    "body_offset 2^63": (field(72, "Q", 2**63), "BFS_EBODY"),
    "body_bytes 8 more": (lambda d: put(d, 80, "Q", number(d, 80, 8) + 8), "BFS_EBODY"),
    "body_bytes 8 less": (lambda d: put(d, 80, "Q", number(d, 80, 8) - 8), "BFS_EBODY"),
    "body_bytes so many that the end overflows": (field(80, "Q", 2**64 - 16384), "BFS_EBODY"),
    "no records": (records(b""), None),
    "a record of an unknown type": (records(record(65535, 0, b"later")), None),
    "the note behind a record of an unknown type": (records(record(65535, 0, b"later") + record(1, 0, NOTE)), None),
    "a critical record of an unknown type": (records(record(65535, 1, b"later")), "BFS_EFEATURE"),
    "a critical record of an unknown type, later minor version": (both(records(record(65535, 1, b"")), field(10, "H", 1)),
                                                                 "BFS_EFEATURE"),
    "a critical record of the first unknown type": (records(record(8, 1, b"")), "BFS_EFEATURE"),
    "a critical record of an unknown type behind the note": (records(record(1, 0, NOTE) + record(8, 1, b"later")), "BFS_EFEATURE"),
    "a critical record of an unknown type behind a malformed one": (records(record(1, 1, NOTE) + record(8, 1, b"")), "BFS_EFEATURE"),
    "a critical record of an unknown type with an unknown flag": (records(record(65535, 3, b"")), "BFS_EFEATURE"),
    "a critical record of an unknown type that is longer than what is left": (records(record(65535, 1, b"", 1)), "BFS_ERECORD"),
    "a critical record of an unknown type behind one that is longer than what is left": (
        records(record(1, 0, NOTE, 2**32 - 1) + record(8, 1, b"")), "BFS_ERECORD"),
    "a record of type 0": (records(record(0, 0, b"")), None),
    "a record with an unknown flag": (records(record(65535, 2, b"later")), "BFS_ERECORD"),
    "a record with an unknown flag, later minor version": (both(records(record(65535, 2, b"")), field(10, "H", 1)), None),
    "the note with an unknown flag, later minor version": (both(records(record(1, 2, NOTE)), field(10, "H", 1)), None),
    "the note marked critical, later minor version": (both(records(record(1, 1, NOTE)), field(10, "H", 1)), "BFS_ERECORD"),
    "the note marked critical": (records(record(1, 1, NOTE)), "BFS_ERECORD"),
    "two notes": (records(record(1, 0, NOTE) * 2), "BFS_ERECORD"),
    "an empty note": (records(record(1, 0, b"")), None),
    "a record longer than what is left": (records(record(1, 0, NOTE, 9)), "BFS_ERECORD"),
    "a record of 2^32 - 1 bytes": (records(record(1, 0, NOTE, 2**32 - 1)), "BFS_ERECORD"),
    "a record whose padding is not zero": (records(record(1, 0, b"odd", padding=b"x")), "BFS_ERECORD"),
    "a record whose padding is not zero, later minor version": (both(records(record(1, 0, b"odd", padding=b"x")),
                                                                     field(10, "H", 1)), None),
    "records_bytes beyond the record": (field(112, "I", 65536), "BFS_ERECORD"),
    "records_bytes 2^32 - 8": (field(112, "I", 2**32 - 8), "BFS_ERECORD"),
}


def window(*arguments):
    """Returns a change: the window's record becomes this one. The note stays."""
    return lambda data: only_records(data, record(*arguments) + record(1, 0, NOTE))


ONE_DAY = struct.pack("<Q", WINDOW_MS)

# Changes to a filter whose keys expire.
WINDOW_IDENTITY = {
    "no window": (lambda d: only_records(d, record(1, 0, NOTE)), "BFS_ERECORD"),
    "no record at all": (lambda d: only_records(d, b""), "BFS_ERECORD"),
    "window_ms 0": (window(6, 1, bytes(8)), "BFS_ERECORD"),
    "window_ms 0, later minor version": (both(window(6, 1, bytes(8)), field(10, "H", 1)), "BFS_ERECORD"),
    "window_ms 1": (window(6, 1, struct.pack("<Q", 1)), None),
    "window_ms 2^64 - 1": (window(6, 1, struct.pack("<Q", 2**64 - 1)), None),
    "the window not critical": (window(6, 0, ONE_DAY), "BFS_ERECORD"),
    "the window not critical, later minor version": (both(window(6, 0, ONE_DAY), field(10, "H", 1)), "BFS_ERECORD"),
    "the window with an unknown flag": (window(6, 3, ONE_DAY), "BFS_ERECORD"),
    "the window with an unknown flag, later minor version": (both(window(6, 3, ONE_DAY), field(10, "H", 1)), None),
    "a window of 0 bytes": (window(6, 1, b""), "BFS_ERECORD"),
    "a window of 4 bytes": (window(6, 1, ONE_DAY[:4]), "BFS_ERECORD"),
    "a window of 7 bytes": (window(6, 1, ONE_DAY[:7]), "BFS_ERECORD"),
    "a window of 9 bytes": (window(6, 1, ONE_DAY + b"\0"), "BFS_ERECORD"),
    "a window of 16 bytes": (window(6, 1, ONE_DAY * 2), "BFS_ERECORD"),
    "two windows": (lambda d: only_records(d, record(6, 1, ONE_DAY) * 2), "BFS_ERECORD"),
    "two windows, the second one impossible": (lambda d: only_records(d, record(6, 1, ONE_DAY) + record(6, 1, bytes(8))), "BFS_ERECORD"),
    "the window before the note": (window(6, 1, ONE_DAY), None),
    "the window and no note": (lambda d: only_records(d, record(6, 1, ONE_DAY)), None),
    "layout 1 with a window": (field(32, "H", 1), "BFS_ERECORD"),
    "layout 2 with a window": (field(32, "H", 2), "BFS_ERECORD"),
    "a hash that gives positions": (field(34, "H", 9), "BFS_EHASH"),
    "num_bits of half a line": (both(field(40, "Q", 512 * 63 + 256), field(80, "Q", 64 * 63 + 32)), "BFS_EBITS"),
    "num_bits of a line less": (field(40, "Q", 512 * 63), "BFS_EBODY"),
}
# Of IDENTITY: what has another code where a filter grows.
OF_GROWTH = {"capacity 2^63 - 1": (field(48, "Q", 2**63 - 1), "BFS_ERECORD")}
ALL_SLICES = sum(GROWTH**i for i in range(5))  # as many times as large as the first one


def growth(*arguments):
    """Returns a change: the record of the growth becomes this one. The note stays."""
    return lambda data: only_records(data, growth_record(*arguments) + record(1, 0, NOTE))


def growth_value(value):
    return lambda data: only_records(data, record(7, 1, value) + record(1, 0, NOTE))


# Changes to a file of one slice.
GROWTH_IDENTITY = {
    "no growth": (lambda d: only_records(d, record(1, 0, NOTE)), "BFS_ERECORD"),
    "no growth, later minor version": (both(lambda d: only_records(d, record(1, 0, NOTE)), field(10, "H", 1)), "BFS_ERECORD"),
    **{f"growth {number}": (growth(number), code) for number, code in (
        (0, "BFS_ERECORD"), (1, "BFS_ERECORD"), (2, None), (16, None), (17, "BFS_ERECORD"), (2**16, "BFS_ERECORD"), (2**32 - 1, "BFS_ERECORD"))},
    "growth 17, later minor version": (both(growth(17), field(10, "H", 1)), "BFS_ERECORD"),
    "reserved bytes of the growth": (growth(GROWTH, 1), "BFS_ERECORD"),
    "the last reserved byte of the growth": (growth(GROWTH, 1 << 31), "BFS_ERECORD"),
    "reserved bytes of the growth, later minor version": (both(growth(GROWTH, 2**32 - 1), field(10, "H", 1)), None),
    "the growth not critical": (growth(GROWTH, 0, 0), "BFS_ERECORD"),
    "the growth not critical, later minor version": (both(growth(GROWTH, 0, 0), field(10, "H", 1)), "BFS_ERECORD"),
    "the growth with an unknown flag": (growth(GROWTH, 0, 3), "BFS_ERECORD"),
    "the growth with an unknown flag, later minor version": (both(growth(GROWTH, 0, 3), field(10, "H", 1)), None),
    **{f"a growth of {size} bytes": (growth_value(struct.pack("<QQ", GROWTH, 0)[:size]), "BFS_ERECORD") for size in (0, 4, 7, 9, 16)},
    "the growth before the note": (growth(GROWTH), None),
    "two growths": (lambda d: only_records(d, growth_record(GROWTH) * 2), "BFS_ERECORD"),
    "two growths, the second one impossible": (lambda d: only_records(d, growth_record(GROWTH) + growth_record(1)), "BFS_ERECORD"),
    "the largest capacity for all slices": (field(48, "Q", (2**63 - 1) // ALL_SLICES), None),
    "one key more than that": (field(48, "Q", (2**63 - 1) // ALL_SLICES + 1), "BFS_ERECORD"),
    "a part": (records(record(4, 1, struct.pack("<IIQ", 0, 2, 5))), "BFS_ERECORD"),
    "a window": (records(record(6, 1, struct.pack("<Q", 1))), "BFS_ERECORD"),
    "layout 1 with a growth": (field(32, "H", 1), "BFS_ERECORD"),
    "layout 2 with a growth": (field(32, "H", 2), "BFS_ERECORD"),
    "layout 5 with a growth": (field(32, "H", 5), "BFS_ERECORD"),
    "a hash that gives positions": (field(34, "H", 9), "BFS_EHASH"),
    "num_bits of half a line": (both(field(40, "Q", 512 * 63 + 256), field(80, "Q", 64 * 63 + 32)), "BFS_EBITS"),
    "num_bits of a line less": (field(40, "Q", 512 * 63), "BFS_EBODY"),
    "body_bytes of all slices": (field(80, "Q", 64 * 64 * ALL_SLICES), "BFS_EBODY"),
}
SECRET = bytes(range(16))  # the secret of every file that SECRET_IDENTITY breaks
SECRET_CHECK = 128 + 8  # the offset of its value


def records_with_check(make):
    """Returns a change: the parameter records become those that `make` makes of the right check's value."""
    return lambda data: with_records(data, make(bytes(data[SECRET_CHECK:SECRET_CHECK + 16])))


# Changes to a file with hash 3 and no note.
SECRET_IDENTITY = {
    "seed of hash 3": (field(64, "Q", 1), "BFS_EHASH"),
    "no secret check": (records(b""), "BFS_ERECORD"),
    "a note and no secret check": (records(record(1, 0, NOTE)), "BFS_ERECORD"),
    "the secret check behind a note": (records_with_check(lambda c: record(1, 0, NOTE) + record(2, 1, c)), None),
    "the secret check not critical": (records_with_check(lambda c: record(2, 0, c)), "BFS_ERECORD"),
    "the secret check with an unknown flag": (records_with_check(lambda c: record(2, 3, c)), "BFS_ERECORD"),
    "the secret check with an unknown flag, later minor version": (both(records_with_check(lambda c: record(2, 3, c)),
                                                                     field(10, "H", 1)), None),
    "a secret check of 15 bytes": (records_with_check(lambda c: record(2, 1, c[:15])), "BFS_ERECORD"),
    "a secret check of 17 bytes": (records_with_check(lambda c: record(2, 1, c + b"\1")), "BFS_ERECORD"),
    "two secret checks": (records_with_check(lambda c: record(2, 1, c) * 2), "BFS_ERECORD"),
    "hash 1 with a secret check": (field(34, "H", 1), "BFS_ERECORD"),
    "the canary of hash 3": (lambda d: put(d, 104, "Q", number(d, 104, 8) ^ 1), "BFS_ECANARY"),
    "another secret check": (lambda d: put(d, SECRET_CHECK, "B", d[SECRET_CHECK] ^ 1), "BFS_ESECRET"),
    "another tag": (lambda d: put(d, SECRET_CHECK + 8, "B", d[SECRET_CHECK + 8] ^ 1), "BFS_ESECRET"),
}
SEEDED = {"hash": "murmur3", "layout": "classic", "num_bits": 1000, "num_probes": 3, "seed": None, "note": None}
SEEDS = struct.pack("<3I", 0, 1, 2)

# Changes to a file made of SEEDED.
SEEDED_IDENTITY = {
    "seed of hash 4": (field(64, "Q", 1), "BFS_EHASH"),
    "hash 4 in the blocked layout": (field(32, "H", 1), "BFS_EHASH"),
    "hash 5 with the canary of hash 4": (field(34, "H", 5), "BFS_ECANARY"),
    "hash 1 with seeds": (field(34, "H", 1), "BFS_ERECORD"),
    "num_bits of hash 4 beyond 2^32": (field(40, "Q", 2**32 + 64), "BFS_EBITS"),
    "num_bits of hash 4 one less": (field(40, "Q", 999), "BFS_ECANARY"),
    "more seeds than probes": (field(36, "I", 2), "BFS_ERECORD"),
    "fewer seeds than probes": (field(36, "I", 4), "BFS_ERECORD"),
    "no seeds": (records(b""), "BFS_ERECORD"),
    "a note and no seeds": (records(record(1, 0, NOTE)), "BFS_ERECORD"),
    "the seeds behind a note": (records(record(1, 0, NOTE) + record(5, 1, SEEDS)), None),
    "the seeds not critical": (records(record(5, 0, SEEDS)), "BFS_ERECORD"),
    "the seeds with an unknown flag": (records(record(5, 3, SEEDS)), "BFS_ERECORD"),
    "seeds of 0 bytes": (records(record(5, 1, b"")), "BFS_ERECORD"),
    "seeds of 8 bytes": (records(record(5, 1, SEEDS[:8])), "BFS_ERECORD"),
    "seeds of 11 bytes": (records(record(5, 1, SEEDS[:11])), "BFS_ERECORD"),
    "seeds of 13 bytes": (records(record(5, 1, SEEDS + b"\0")), "BFS_ERECORD"),
    "seeds of 16 bytes": (records(record(5, 1, SEEDS + bytes(4))), "BFS_ERECORD"),
    "two lists of seeds": (records(record(5, 1, SEEDS) * 2), "BFS_ERECORD"),
    "another seed": (records(record(5, 1, struct.pack("<3I", 0, 1, 3))), "BFS_ECANARY"),
    "the seeds in another order": (records(record(5, 1, struct.pack("<3I", 0, 2, 1))), "BFS_ECANARY"),
    "the canary of hash 4": (lambda d: put(d, 104, "Q", number(d, 104, 8) ^ 1), "BFS_ECANARY"),
}
JAVA = {**SEEDED, "hash": "java-polynomial", "num_bits": 1024, "seeds": [5, 7, 11]}

# Changes to a file made of JAVA.
JAVA_IDENTITY = {
    "num_bits of hash 6 beyond Java's int": (field(40, "Q", 2**31), "BFS_EBITS"),
    "hash 4 with the canary of hash 6": (field(34, "H", 4), "BFS_ECANARY"),
}
JAYBIRD = {**SEEDED, "hash": "jaybird", "num_bits": 999}

# Changes to a file made of JAYBIRD.
JAYBIRD_IDENTITY = {
    "seed of hash 7": (field(64, "Q", 1), "BFS_EHASH"),
    "hash 7 in the blocked layout": (field(32, "H", 1), "BFS_EHASH"),
    "num_bits of hash 7 no multiple of k": (field(40, "Q", 1000), "BFS_EBITS"),
    "k of hash 7 no divisor of num_bits": (field(36, "I", 4), "BFS_EBITS"),
    "k of hash 7 zero": (field(36, "I", 0), "BFS_EPROBES"),
    "num_bits of hash 7 in shorter slices": (field(40, "Q", 996), "BFS_ECANARY"),
    "hash 8 with the canary of hash 7": (field(34, "H", 8), "BFS_ECANARY"),
    "hash 4 of a file of hash 7": (field(34, "H", 4), "BFS_ERECORD"),
    "hash 7 with seeds": (records(record(5, 1, SEEDS)), "BFS_ERECORD"),
}


def foreign(name, num_bits, num_probes=8):
    return {**SEEDED, "hash": name, "num_bits": num_bits, "num_probes": num_probes}


# What each hash of another program cannot reach: the file, and changes to it.
FOREIGN_IDENTITY = [
    (foreign("guava", 1024), {
        "num_bits of hash 10 no multiple of 64": (field(40, "Q", 1032), "BFS_EBITS"),
        "num_bits of hash 10 beyond Java's long array": (field(40, "Q", 64 * 2**31), "BFS_EBITS")}),
    (foreign("guava-32", 1024), {
        "num_bits of hash 11 no multiple of 64": (field(40, "Q", 1032), "BFS_EBITS"),
        "num_bits of hash 11 beyond Java's int": (field(40, "Q", 2**31 + 64), "BFS_EBITS")}),
    (foreign("redisbloom", 1024), {"num_bits of hash 12 no multiple of 64": (field(40, "Q", 1032), "BFS_EBITS")}),
    (foreign("leveldb", 1024), {
        "num_bits of hash 14 no multiple of 8": (field(40, "Q", 1023), "BFS_EBITS"),
        "num_bits of hash 14 beyond 2^32": (field(40, "Q", 2**32 + 8), "BFS_EBITS")}),
    (foreign("rocksdb", 1024), {
        "num_bits of hash 15 no multiple of 512": (field(40, "Q", 1024 + 256), "BFS_EBITS"),
        "num_bits of hash 15 beyond 32 bits of bytes": (field(40, "Q", 2**35), "BFS_EBITS")}),
    (foreign("parquet", 1024), {
        "k of hash 16 seven": (field(36, "I", 7), "BFS_EPROBES"),
        "num_bits of hash 16 no multiple of 256": (field(40, "Q", 1024 + 128), "BFS_EBITS"),
        "num_bits of hash 16 beyond 31 bits of bytes": (field(40, "Q", 2**34), "BFS_EBITS")}),
    (foreign("libbloom", 1024), {"num_bits of hash 18 beyond 2^38": (field(40, "Q", 2**38 + 1), "BFS_EBITS")}),
    (foreign("rbloom", 1024), {"num_bits of hash 19 no multiple of 8": (field(40, "Q", 1023), "BFS_EBITS")}),
    (foreign("java-bytes", 1024), {
        "k of hash 20 nine": (field(36, "I", 9), "BFS_EPROBES"),
        "num_bits of hash 20 no multiple of 8": (field(40, "Q", 1023), "BFS_EBITS"),
        "num_bits of hash 20 beyond Java's array": (field(40, "Q", 2**34), "BFS_EBITS")}),
]
FILE_ONLY = {
    "form 2, an embedded record": (field(28, "H", 2), "BFS_EFORM"),
    "header_bytes of an embedded record": (field(12, "I", 192), "BFS_EHEADERSIZE"),
    "header_bytes 8192": (field(12, "I", 8192), "BFS_EHEADERSIZE"),
    "body_offset within the live page": (field(72, "Q", 12288), "BFS_EBODY"),
    "body_offset no multiple of a page": (field(72, "Q", 16384 + 64), "BFS_EBODY"),
    "body_offset one page on, the end outside the file": (field(72, "Q", 16384 + PAGE), "BFS_EBODY"),
    "a note of 1024 bytes": (records(record(1, 0, b"n" * 1024)), None),
    "a note of 1025 bytes": (records(record(1, 0, b"n" * 1025)), "BFS_ERECORD"),
    "records up to the checksum": (lambda d: with_records(d, record(65535, 0, bytes(4096 - 136 - 8 - len(needed_record(d))))), None),
    "records_bytes one record's head too many": (field(112, "I", 4096 - 136 + 8), "BFS_ERECORD"),
    "a reserved byte behind the records": (lambda d: put(d, 128 + number(d, 112, 4), "B", 1), "BFS_ERESERVED"),
    "the reserved byte before the checksum": (field(4087, "B", 1), "BFS_ERESERVED"),
    "reserved bytes of a later minor version": (both(field(4087, "B", 1), field(10, "H", 1)), None),
}
EMBEDDED_ONLY = {
    "form 1, a file": (field(28, "H", 1), "BFS_EFORM"),
    "body_offset within the record": (lambda d: put(d, 72, "Q", number(d, 12, 4) - 64), "BFS_EBODY"),
    "body_offset 64 bytes on, the end outside": (lambda d: put(d, 72, "Q", number(d, 12, 4) + 64), "BFS_EBODY"),
    "header_bytes beyond the range": (field(12, "I", 65536), "BFS_EHEADERSIZE"),
    "the reserved byte before the checksum": (lambda d: put(d, number(d, 12, 4) - 9, "B", 1), "BFS_ERESERVED"),
}


def slots(*changes):
    """Returns changes to both slots, or to slot A and slot B, sealed again."""
    def change(data):
        for start, one in zip((PAGE, 2 * PAGE), changes * (3 - len(changes))):
            page = data[start:start + PAGE]
            one(page)
            data[start:start + PAGE] = page
        seal_slots(data)
    return change


def later(data):
    """Makes the file one of a later minor version."""
    put(data, 10, "H", 1)
    seal_identity(data)


def right_words(data):
    """Makes the live word and the end word those of the file_id."""
    file_id = bytes(data[88:104])
    put(data, 3 * PAGE, "Q", reader.xxh3(file_id, 0) & ~0xffff | 1)
    put(data, len(data) - 8, "Q", reader.xxh3(file_id, 1) | reader.END_BIT)


def live_word(function):
    return lambda data: put(data, 3 * PAGE, "Q", function(number(data, 3 * PAGE, 8)))


# Changes after the identity.
STATE = {
    "both slots' checksums": (both(flipped(PAGE + 4088), flipped(2 * PAGE + 4088)), "BFS_ESLOTS"),
    "both slots zero": (fill(PAGE, bytes(2 * PAGE)), "BFS_ESLOTS"),
    "both slots in state 0": (slots(field(8, "I", 0)), "BFS_ESLOTS"),
    "both slots in state 65535": (slots(field(8, "I", 65535)), "BFS_ESLOTS"),
    "both slots clean with an owner recovered": (slots(field(64, "Q", 1)), "BFS_ERESERVED"),
    "both slots with 2 for filling": (slots(field(72, "I", 2)), "BFS_ERESERVED"),
    "both slots with two slices": (slots(field(12, "I", 2)), "BFS_ERESERVED"),
    "both slots with an epoch": (slots(field(80, "Q", 1)), "BFS_ERESERVED"),
    "both slots with turned_at": (slots(field(88, "Q", 1 << 63)), "BFS_ERESERVED"),
    "both slots with turned_after_boot": (slots(field(96, "Q", 1 << 63)), "BFS_ERESERVED"),
    "both slots with words of a later minor version": (both(slots(both(
        field(12, "I", 2), field(80, "Q", 2**64 - 1), field(88, "Q", 7), field(96, "Q", 9), fill(104, b"later"), field(4080, "Q", 3))), later),
        None),
    "the slots of another file": (both(flipped(88), seal_identity, right_words), "BFS_ESLOTS"),
    "the slots of a file whose id differs in its last byte": (both(flipped(103), seal_identity, right_words), "BFS_ESLOTS"),
    "the words of another file": (both(flipped(103), seal_identity, seal_slots), "BFS_ELIVEWORD"),
    "live word 0": (live_word(lambda word: 0), "BFS_ELIVEWORD"),
    "live word all ones": (live_word(lambda word: 2**64 - 1), "BFS_ELIVEWORD"),
    "live word, bit 0 clear": (live_word(lambda word: word & ~1), "BFS_ELIVEWORD"),
    "live word of another file": (live_word(lambda word: word ^ 1 << 16), "BFS_ELIVEWORD"),
    "live word, bit 15": (live_word(lambda word: word | 1 << 15), "BFS_ELIVEWORD"),
    "live word, bit 37": (live_word(lambda word: word ^ 1 << 37), "BFS_ELIVEWORD"),
    "live word, bit 63": (live_word(lambda word: word ^ 1 << 63), "BFS_ELIVEWORD"),
    "live word of another file, with a later state": (live_word(lambda word: word ^ 1 << 16 | 1 << 6), "BFS_ELIVEWORD"),
    "live word, every later state": (live_word(lambda word: word | reader.LATER_STATES), "BFS_ELATER"),
    "live word, a later state of a later minor version": (both(live_word(lambda word: word | 1 << 6), later), "BFS_ELATER"),
    "live word, a later state next to each known one": (live_word(lambda word: word | reader.STATES | 1 << 14), "BFS_ELATER"),
    **{f"live word, later state {bit}": (live_word(functools.partial(operator.or_, 1 << bit)), "BFS_ELATER") for bit in range(6, 15)},
    "syncing 1, of a closer that was killed": (field(SYNCING, "Q", 1), None),
    "syncing 2": (field(SYNCING, "Q", 2), "BFS_ERESERVED"),
    "syncing, bit 63": (field(SYNCING, "Q", 1 << 63), "BFS_ERESERVED"),
    "an epoch in the live page": (field(LIVE_EPOCH, "Q", 1), "BFS_ERESERVED"),
    "no slice in the live page": (field(LIVE_NUM_SLICES, "Q", 0), "BFS_ERESERVED"),
    "two slices in the live page": (field(LIVE_NUM_SLICES, "Q", 2), "BFS_ERESERVED"),
    "words of a later minor version in the live page": (both(
        field(LIVE_EPOCH, "Q", 2**64 - 1), field(LIVE_NUM_SLICES, "Q", 2), fill(3 * PAGE + 32, b"later"), field(4 * PAGE - 8, "Q", 3), later),
        None),
}


def epochs(of_slots, live, minor=0):
    """Returns a change: slot B and slot A, or both, are of this epoch, and the live page has this word."""
    of_b, of_a = of_slots if isinstance(of_slots, tuple) else (of_slots, of_slots)
    change = both(field(PAGE + 80, "Q", of_a), field(2 * PAGE + 80, "Q", of_b), field(LIVE_EPOCH, "Q", live), seal_slots)
    return both(change, later) if minor else change


# Changes to a clean file whose keys expire, and whether it is still clean. Slot A is the newest.
WINDOW_STATE = {
    **{f"epoch {epoch}, live page {live}": (epochs(epoch, live), True) for epoch, live in (
        (0, 1), (7, 14), (7, 15), (8, 16), (9, 19), (2**63 - 1, 2**64 - 2), (2**63 - 1, 2**64 - 1))},
    **{f"epoch {epoch}, live page {live}": (epochs(epoch, live), False) for epoch, live in (
        (0, 2), (0, 3), (1, 0), (1, 1), (7, 7), (7, 12), (7, 13), (7, 16), (7, 17), (8, 0), (2**63, 0), (2**63, 1), (2**64 - 1, 2**64 - 1))},
    "the older slot of another epoch": (epochs((6, 7), 14), True),
    "the older slot of a later epoch": (epochs((9, 7), 15), True),
    "the live page of the older slot's epoch": (epochs((6, 7), 12), False),
    "the live page of the older slot's epoch, in a turn": (epochs((6, 7), 13), False),
    "a turn of a later minor version": (epochs(7, 15, minor=1), True),
    "different epochs of a later minor version": (epochs(7, 16, minor=1), False),
    "turned_at 2^64 - 1": (slots(field(88, "Q", 2**64 - 1)), True),
    "turned_after_boot 2^64 - 1": (slots(field(96, "Q", 2**64 - 1)), True),
    "syncing and an epoch that a turn left": (both(epochs(3, 7), field(SYNCING, "Q", 1)), True),
}
# Of STATE: what is right, or no reserved byte, where keys expire.
OF_EPOCHS = {"both slots with an epoch", "both slots with turned_at", "both slots with turned_after_boot", "an epoch in the live page",
             "both slots with words of a later minor version", "words of a later minor version in the live page"}


def last_word(function):
    return lambda data: put(data, len(data) - 8, "Q", function(number(data, len(data) - 8, 8)))


def without_last_page(data):
    """Cuts the file, and grows it again."""
    cut = len(data) - 8 & -PAGE
    data[cut:] = bytes(len(data) - cut)


# Changes to the end of a file that is not sealed, or of an embedded filter.
END_WORD = {
    "end word 0": (last_word(lambda word: 0), "BFS_ELIVEWORD"),
    "end word all ones": (last_word(lambda word: 2**64 - 1), "BFS_ELIVEWORD"),
    "end word, bit 15 clear": (last_word(lambda word: word & ~reader.END_BIT), "BFS_ELIVEWORD"),
    "end word of another filter": (last_word(lambda word: word ^ 1 << 20), "BFS_ELIVEWORD"),
    "end word, bit 0": (last_word(lambda word: word ^ 1), "BFS_ELIVEWORD"),
    "the live word at the end": (lambda d: put(d, len(d) - 8, "Q", reader.xxh3(bytes(d[88:104]), 0) & ~0xffff | 1), "BFS_ELIVEWORD"),
    "the last page cut and grown again": (without_last_page, "BFS_ELIVEWORD"),
}


def end_word_of(which, change=lambda word: 0):
    """Returns a change to the end word of a slice, from 0 on."""
    def make(data):
        at = slices_of(data)[which].end_at
        put(data, at, "Q", change(number(data, at, 8)))
    return make


def slices_of(data):
    f = reader.Filter()
    f.layout, f.hash, f.k, f.m, f.start, f.growth_record = GROWING, 1, 1, number(data, 40, 8), number(data, 72, 8), struct.pack("<II", GROWTH, 0)
    f.file_id = bytes(data[88:104])
    return f.slices


def cut_to(which, more=8):
    """Returns a change: the file ends so many bytes after the beginning of a slice's end word."""
    return lambda data: data.__delitem__(slice(slices_of(data)[which].end_at + more, None))


def numbers(of_slots, live, minor=0):
    """Returns a change: slot A, the newest, and slot B, or both, have this number of slices, and so has the live page."""
    of_a, of_b = of_slots if isinstance(of_slots, tuple) else (of_slots, of_slots)
    change = both(field(PAGE + 12, "I", of_a), field(2 * PAGE + 12, "I", of_b), field(LIVE_NUM_SLICES, "Q", live), seal_slots)
    return both(change, later) if minor else change


# Changes to a clean file of three slices.
SLICES = {
    "the end word of the file": (end_word_of(0), "BFS_ELIVEWORD"),
    "the end word of a slice in the middle": (end_word_of(1), None),
    "the end word of the last slice": (end_word_of(2), "BFS_ELIVEWORD"),
    "the end word of the last slice with the value of the slice before": (end_word_of(2, lambda word: word - 2**16), "BFS_ELIVEWORD"),
    "the end word of the last slice with the value of the slice after it": (end_word_of(2, lambda word: word + 2**16 & 2**64 - 1), "BFS_ELIVEWORD"),
    "the end word of the last slice, bit 0": (end_word_of(2, lambda word: word ^ 1), "BFS_ELIVEWORD"),
    "cut by a byte": (cut_to(2, 7), "BFS_ELIVEWORD"),
    "cut before the last end word": (cut_to(2, 0), "BFS_ELIVEWORD"),
    "cut to two slices": (cut_to(1), "BFS_ELIVEWORD"),
    "cut to one slice": (cut_to(0), "BFS_ELIVEWORD"),
    "cut in the end word of the first slice": (cut_to(0, 7), "BFS_EBODY"),
    **{f"{name} in the live page": (field(LIVE_NUM_SLICES, "Q", value), code) for name, value, code in (
        ("no slice", 0, "BFS_ERESERVED"), ("four slices", 4, "BFS_ELIVEWORD"), ("five slices", 5, "BFS_ELIVEWORD"), ("six slices", 6, "BFS_ERESERVED"),
        ("2^32 + 3 slices", 2**32 + 3, "BFS_ERESERVED"), ("2^64 - 1 slices", 2**64 - 1, "BFS_ERESERVED"), ("one slice", 1, "BFS_EUNCLEAN"),
        ("two slices", 2, "BFS_EUNCLEAN"))},
    **{f"{name} in the live page, later minor version": (both(field(LIVE_NUM_SLICES, "Q", value), later), "BFS_ELIVEWORD") for name, value in (
        ("no slice", 0), ("six slices", 6), ("2^32 + 3 slices", 2**32 + 3), ("2^64 - 1 slices", 2**64 - 1))},
    **{f"{of_slots} in both slots": (numbers(of_slots, 3), code) for of_slots, code in (
        (0, "BFS_ERESERVED"), (1, "BFS_EUNCLEAN"), (2, "BFS_EUNCLEAN"), (4, "BFS_EUNCLEAN"), (5, "BFS_EUNCLEAN"), (6, "BFS_ERESERVED"),
        (2**32 - 1, "BFS_ERESERVED"))},
    **{f"{of_slots} in both slots, later minor version": (numbers(of_slots, 3, 1), "BFS_EUNCLEAN") for of_slots in (0, 2, 4, 6, 2**32 - 1)},
    "0 everywhere, later minor version": (numbers(0, 0, 1), "BFS_ELIVEWORD"),
    "6 everywhere, later minor version": (numbers(6, 6, 1), "BFS_ELIVEWORD"),
    "0 in the older slot": (numbers((3, 0), 3), "BFS_ERESERVED"),
    "6 in the older slot": (numbers((3, 6), 3), "BFS_ERESERVED"),
    "2 in the older slot": (numbers((3, 2), 3), None),
    "5 in the older slot": (numbers((3, 5), 3), None),
    "the number of the older slot in the live page": (numbers((3, 2), 2), "BFS_EUNCLEAN"),
    "two slices everywhere": (numbers(2, 2), None),  # the keys of the third one are lost: no reader can know
    "another file behind its end": (lambda data: data.extend(bytes(data)), None),
}
# Of STATE: what is another fault where a body grows.
OF_SLICES = {"both slots with two slices", "both slots with words of a later minor version", "two slices in the live page",
             "words of a later minor version in the live page"}
