"""The first inputs of the fuzzers: the files of tests/data in the short form of image.hpp, and the states that a file
can be in. tools/fuzz starts with them and with what was kept (kept/).

Arguments: the folder for the seeds, which gets a folder for each fuzzer.
"""
import pathlib
import random
import re
import struct
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
PAGE = 4096
RIGHT_CHECKSUMS, HERE, LIVE, CANARY = 7, 24, 32, 64
POISONED, SUPERSEDED, RECOVERING, REPLACED, FILLING, LATER = (1 << bit for bit in range(1, 7))  # of the live word

SEALED, SECRET_CHECK, DAMAGE = 1, 2, 4
STATIC_LAYOUT = 4
COPY, GUARD, SEAL, CUT_OFF, CUT_PAGES, TURN = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 15


def image(data, right=0, calls=0, more=0, damage=b""):
    """Returns a file in the short form, which image.cpp decodes."""
    data = bytes(data).ljust(4 * PAGE, b"\0")
    slots = b"".join(data[start:start + 176] for start in (PAGE, 2 * PAGE))
    records = data[128:128 + min(200, struct.unpack_from("<I", data, 112)[0])]
    begin = struct.pack("<BHBI", right, calls, more, len(data))
    epoch = [(3 * PAGE + at, data[3 * PAGE + at]) for at in range(16, 24) if data[3 * PAGE + at]]  # of the live page
    return (begin + data[:128] + slots + data[3 * PAGE:3 * PAGE + 16] + bytes([len(records)]) + records + bytes([len(epoch)]) +
            b"".join(struct.pack("<HB", *one) for one in epoch) + damage + data[4 * PAGE:])


def states(good):
    """Yields (name, bytes) of a good file in every state that a crash may leave."""
    newest = PAGE if struct.unpack_from("<Q", good, PAGE) > struct.unpack_from("<Q", good, 2 * PAGE) else 2 * PAGE
    for state in (1, 2, 3, 4):
        for live, syncing in ((0, 0), (POISONED, 0), (SUPERSEDED, 0), (RECOVERING, 0), (0, 1), (RECOVERING, 1), (FILLING, 0),
                              (FILLING | RECOVERING, 0), (LATER, 0)):
            data = bytearray(good)
            struct.pack_into("<I", data, newest + 8, state)
            struct.pack_into("<I", data, newest + 72, int(live & FILLING != 0))
            struct.pack_into("<6Q", data, newest + 128, 5, 9, 0, 6, 10, 0)  # two owners and their marks
            struct.pack_into("<QQ", data, 3 * PAGE, struct.unpack_from("<Q", data, 3 * PAGE)[0] | live, syncing)
            yield f"state_{state}_live_{live}_syncing_{syncing}", data


def empty(data, layout, body_bytes):
    """Returns a good file of another size, without a key in it."""
    data = bytearray(data[:4 * PAGE])
    struct.pack_into("<H", data, 32, layout)
    struct.pack_into("<Q", data, 40, body_bytes * 8)
    struct.pack_into("<Q", data, 80, body_bytes)
    return data


def turned(offset, bits):
    """Returns the damage of bits in one byte, whose offset is counted from the body's beginning."""
    return struct.pack("<HBB", offset % 65536, offset // 65536, bits)


def sealed():
    """Yields (name, input) of files with a seal: whole, and damaged in the body, in its last chunk, and in the checksums."""
    right = RIGHT_CHECKSUMS | LIVE | CANARY
    chunk = 65536
    for file in ("good_blocked", "good_classic", "good_siphash"):
        good = (DATA / f"{file}.bf").read_bytes()
        layout = struct.unpack_from("<H", good, 32)[0]
        sizes = {body_bytes: empty(good, layout, body_bytes) for body_bytes in (64, 4096, chunk, 3 * chunk + 1024)}
        for body_bytes, data in {**sizes, len(good) - 4 * PAGE: good}.items():
            name = f"sealed_{file}_{body_bytes}"
            calls = SEAL | body_bytes % 16
            yield name, image(data, right, calls, SEALED | SECRET_CHECK)
            behind = -(-body_bytes // PAGE) * PAGE
            for number, at in enumerate((0, body_bytes - 1, behind, behind + 7, chunk + 5)):
                how = calls | COPY * (number % 2)
                one = image(data, right, how, SEALED | SECRET_CHECK | DAMAGE, turned(at, 1 + number))
                yield f"{name}_damaged_{number}", one
            ends = turned(0, 128) + turned(body_bytes - 1, 255)
            yield f"{name}_damaged_twice", image(data, right, calls | GUARD, SEALED | SECRET_CHECK | 2 * DAMAGE, ends)
        for pages in range(8):
            yield f"cut_{file}_{pages}", image(good, right, CUT_OFF | GUARD | pages * CUT_PAGES, SECRET_CHECK)
        yield f"copied_{file}", image(good, right, COPY)
    good = (DATA / "good_blocked.bf").read_bytes()
    for body_bytes in (64, 4096):
        data = empty(good, COUNTING, body_bytes)
        struct.pack_into("<Q", data, 40, 2 * body_bytes)  # counters of 4 bits
        for number, counter in enumerate((0, 0, 0, 0, 1, 14, 15)):  # every one
            calls = number * 37 % 256 | SEAL * (number % 2)
            yield f"counting_{body_bytes}_{number}", image(data + bytes([17 * counter]) * body_bytes, right, calls)
        for number, (name, one) in enumerate(states(data + bytes(body_bytes))):
            yield f"counting_{body_bytes}_{name}", image(one, right | HERE * (number % 2), number * 5 % 128)
    good = (DATA / "good_sealed.bf").read_bytes()
    yield "sealed_with_wrong_counters", image(good, right, SEAL)
    yield "sealed_body_bit", image(good[:4 * PAGE] + bytes([good[4 * PAGE] ^ 1]) + good[4 * PAGE + 1:], right, SEAL)
    for number, (name, data) in enumerate(states((DATA / "good_blocked.bf").read_bytes())):
        yield f"sealed_{name}", image(data, right | HERE, SEAL | number % 128, SEALED | DAMAGE, turned(3, 1))


def statics():
    """Yields files of the layout that is built once: one with keys, and with every m and k that no builder gives it."""
    right = RIGHT_CHECKSUMS | LIVE | CANARY
    good = (DATA / "good_blocked.bf").read_bytes()
    numbers = random.Random(4)
    for body_bytes in (64, 192, 256, 2048, 4096, 2 * 65536 + 64, 2097152, 2097152 + 64):
        data = empty(good, STATIC_LAYOUT, body_bytes)
        for k in (1, 8, 9, 16, 17, 32, 33, 64) if body_bytes < 65536 else (9, 16, 33):
            struct.pack_into("<I", data, 36, k)
            body = bytearray(numbers.randbytes(min(body_bytes, 300)))
            for number, seed in enumerate((numbers.randbytes(8), bytes(8), b"\xff" * 8)):
                body[:8] = seed
                calls = (SEAL if k % 2 else GUARD) | COPY * (number == 2) | number
                yield f"static_{body_bytes}_{k}_{number}", image(data + body, right, calls, SEALED * (k % 3 != 0))
            yield f"static_{body_bytes}_{k}_damaged", image(data + body, right, SEAL, SEALED | DAMAGE, turned(body_bytes - 1, 1))


def windows():
    """Yields files whose keys expire, in each state, in several epochs of the live page, turned, sealed and damaged."""
    right = RIGHT_CHECKSUMS | LIVE | CANARY
    for file in ("good_window", "good_window_4", "good_window_2"):
        good = (DATA / f"{file}.bf").read_bytes()
        for number, (name, data) in enumerate(states(good)):
            yield f"{file}_{name}", image(data, right | HERE * (number % 2), TURN | number * 5 % 128)
        for number in range(8):  # exclusive and shared, with a limit, copied, guarded
            yield f"{file}_turned_{number}", image(good, right, TURN | number * 37 % 128 | COPY * (number % 2) | GUARD * (number // 4))
        for live in (0, 19, 20, 21, 22, 23, 2**63, 2**64 - 1):
            data = bytearray(good)
            struct.pack_into("<Q", data, 3 * PAGE + 16, live)
            yield f"{file}_live_epoch_{live}", image(data, right | HERE * (live % 2), TURN | live % 128)
        yield f"{file}_sealed", image(good, right, SEAL, SEALED)
        yield f"{file}_sealed_and_damaged", image(good, right, SEAL, SEALED | DAMAGE, turned(3, 1))
        yield f"{file}_cut", image(good, right, CUT_OFF | GUARD | CUT_PAGES)


def files():
    yield from sealed()
    yield from statics()
    yield from windows()
    for path in sorted(DATA.glob("*.bf")):
        yield path.stem, image(path.read_bytes())
    good = (DATA / "good_blocked.bf").read_bytes()
    for number, (name, data) in enumerate(states(good)):
        right = RIGHT_CHECKSUMS | LIVE | CANARY
        yield name, image(data, right, number % 128)
        yield name + "_here", image(data, right | HERE, number * 5 % 128)
    for last in (2**63 - 1, 2**64 - 4, 2**64 - 1):  # the last sequences that a slot can have
        data = bytearray(good)
        struct.pack_into("<Q", data, PAGE, last - 1)
        struct.pack_into("<Q", data, 2 * PAGE, last)
        struct.pack_into("<I", data, 2 * PAGE + 8, 1)
        yield f"sequence_{last}", image(data, RIGHT_CHECKSUMS, 15)
    read_only = bytearray(good)
    struct.pack_into("<I", read_only, 20, 1)
    yield "ro_compat", image(read_only, RIGHT_CHECKSUMS)
    struct.pack_into("<I", read_only, 20, 1 << 31)  # unknown
    for number, (name, data) in enumerate(states(read_only)):
        yield f"ro_compat_{name}", image(data, RIGHT_CHECKSUMS | LIVE | CANARY | HERE, number * 7 % 128)


def buffers():
    for name, bits in (("good_embedded.record", 0), ("good_siphash.record", 0), ("good_bare.trailer", 2)):
        data = (DATA / name).read_bytes()
        for how in (0, 1, 4, 0x14, 0x35):
            yield f"{name}_{how}", bytes([how | bits]) + data
            for cut in (1, 64):
                yield f"{name}_{how}_cut_by_{cut}", bytes([how | bits]) + data[:-cut]


COUNTING, WINDOW, STATIC = 3, 1 << 11, 1 << 12
XXH3, EXTERNAL, SIPHASH = 0, 2, 3  # as calls.cpp numbers them


def create(path, flags, bits=1024, probes=5, layout=0, hash=XXH3):
    return bytes([0, path, 0, 0, 0]) + struct.pack("<HBHB", bits, probes, flags, layout + 4 * hash)


def created_window(path, layout, flags=0):
    """`layout`: 0 window, 1 window-4, 2 window-2, 3 window with epochs that are over at once."""
    return create(path, flags | WINDOW, bits=4096, layout=layout)


def created_static(path, flags=0, hash=XXH3, sized=True):
    """Its keys are gathered until it is published."""
    return create(path, flags | STATIC, bits=16384, layout=0 if sized else 2, hash=hash)


def like(path, other, flags=0):
    """Returns a call that makes a file like another one. `other`: the number of that file, plus 128 to give the key."""
    return bytes([0, path, 1, other]) + struct.pack("<HB", flags, 0)


def opened(path, mode, flags=0):
    """Returns a call that opens. `mode`: 0 to read, 1 to write, 2 exclusively; `flags` of bfs_open from BFS_POPULATE on."""
    number = next(flags + low for low in range(16) if (flags + low) % 3 == mode)
    return bytes([1, path]) + struct.pack("<H", number)


def on(handle, call, *arguments):
    """Returns a call on a handle. Handles are numbered as they are made; `call`: as in fuzz_sequence.cpp."""
    return bytes([7, handle, call, *arguments])


ADD, REMOVE, BATCH, REMOVE_BATCH, SYNC, RECOVERED, ASK, IS_CURRENT, SUPERSEDE, PUBLISH, CLOSE = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
REPLACE, UNPUBLISHED, BARE, EXCLUSIVE, LIMIT, GUARDED = 2, 4, 8, 16, 256, 512  # bits of make_flags() in calls.hpp
RECOVER, ACCEPT_LOSS = 64, 128
OPEN_COPY, OPEN_GUARD, VERIFY, TOLERATE = 2048, 4096, 8192, 16384


def seal(source, to, flags=0):
    return bytes([20, source, to, flags])


def damage(path, where, turned=255):
    return bytes([21, path]) + struct.pack("<HB", where, turned)


def batches(handle):
    return b"".join(on(handle, BATCH, form, 9, *range(form, form + 9)) for form in range(5))


def taken(handle):
    return b"".join(on(handle, REMOVE_BATCH, form, 9, *range(form, form + 9)) for form in range(5))


def sequences():
    """Yields sequences that use each call as it is meant, and mixtures of them, which make less sense."""
    made = create(0, 0) + on(0, ADD, 3) + on(0, SYNC, 1, 9) + batches(0)
    replaced = create(0, REPLACE | UNPUBLISHED) + on(2, ADD, 5) + on(2, SUPERSEDE) + on(0, IS_CURRENT) + on(0, ADD, 6)
    pieces = {
        "life": made + on(0, ASK, 1) + on(0, CLOSE) + opened(0, 0) + opened(0, 2) + batches(1) + on(1, SYNC, 2, 3),
        "external": create(1, 0, hash=EXTERNAL, layout=2) + batches(0) + on(0, ASK, 1) + on(0, ADD, 4),
        "superseded": made + opened(0, 0) + replaced + on(1, ASK, 0) + on(2, PUBLISH) + on(0, IS_CURRENT) +
                      on(0, SYNC, 1, 10) + on(1, IS_CURRENT) + on(2, IS_CURRENT) + opened(0, 1) + on(3, IS_CURRENT),
        "superseded_and_given_up": made + opened(0, 0) + replaced + on(2, CLOSE) + on(0, ADD, 7) + on(0, IS_CURRENT),
        "replaced": made + opened(0, 0) + create(0, REPLACE) + on(0, IS_CURRENT) + on(1, ASK, 0) + on(2, ADD, 1),
        "recovered": made + bytes([5, 0]) + opened(1, 1) + opened(1, 1, RECOVER) + on(1, ADD, 3) + on(1, ASK, 1) +
                     on(1, RECOVERED, 1) + on(1, ASK, 0) + on(1, CLOSE) + opened(1, 0),
        "paused": made + on(0, SYNC, 2, 7) + bytes([5, 0]) + opened(1, 1, RECOVER) + on(1, RECOVERED, 1) +
                  on(1, CLOSE) + opened(1, 0) + opened(1, 2, RECOVER) + on(1, RECOVERED, 2) +
                  on(1, CLOSE) + opened(1, 0),
        "loss_accepted": made + bytes([5, 0]) + opened(1, 1, ACCEPT_LOSS) + on(1, ASK, 1) + on(1, CLOSE) + opened(1, 0),
        "removed": made + bytes([6, 0]) + on(0, IS_CURRENT) + create(0, 0) + on(1, ADD, 1) + on(0, SYNC, 1, 11),
        "limited": create(2, LIMIT | EXCLUSIVE, bits=512) + b"".join(on(0, ADD, key) for key in range(24)) + batches(0),
        "owners": create(2, 0) + b"".join(on(0, SYNC, owner, 1) for owner in range(1, 20)),
        "buffers": bytes([3, 0, 0, 0]) + struct.pack("<HBHB", 1024, 5, 0, 0) + b"\0" + on(0, ADD, 1) + batches(0) +
                   bytes([4, 0]) + bytes([4, 1]) + on(2, ADD, 2) + on(1, ASK, 1) + on(0, CLOSE) +
                   bytes([3, 0, 0, 0]) + struct.pack("<HBHB", 640, 7, 8, 2) + b"\0" + batches(1) + bytes([4, 3]),
        "sealed": made + seal(0, 1) + on(0, CLOSE) + seal(0, 1) + opened(1, 0) + opened(1, 1) +
                  opened(1, 0, VERIFY) + opened(1, 0, TOLERATE | OPEN_COPY) + batches(0) + on(0, SYNC, 1, 12) +
                  seal(1, 1, REPLACE) + on(0, IS_CURRENT) + seal(1, 2),
        "sealed_in_its_place": made + on(0, CLOSE) + opened(0, 0) + seal(0, 0, REPLACE) + on(0, IS_CURRENT) +
                               opened(0, 0),
        "sealed_and_damaged": made + on(0, CLOSE) + seal(0, 1) + opened(1, 0, TOLERATE) + opened(1, 0, OPEN_COPY) +
                              damage(1, 7) + opened(1, 0) + opened(1, 0, VERIFY) + opened(1, 0, TOLERATE) +
                              opened(1, 0, TOLERATE | OPEN_COPY) + seal(1, 2) + bytes([5, 1]) +
                              opened(2, 0, TOLERATE) + batches(0) + batches(2),
        "copied": made + opened(0, 0, OPEN_COPY) + on(0, ADD, 6) + opened(0, 0, OPEN_COPY) + create(0, REPLACE) +
                  on(1, ASK, 1) + on(1, ADD, 2) + on(1, IS_CURRENT) + bytes([6, 0]) + on(2, ASK, 1) +
                  opened(0, 1, OPEN_COPY),
        "guarded": create(0, GUARDED) + on(0, ADD, 2) + opened(0, 0, OPEN_GUARD) + opened(0, 1, OPEN_GUARD) +
                   batches(0) + on(2, ADD, 9) + on(2, SYNC, 1, 2) + on(1, ASK, 1),
        "secret": create(0, 0, hash=SIPHASH) + on(0, ADD, 3) + batches(0) + on(0, SYNC, 1, 9) + opened(0, 0) +
                 opened(0, 1) + on(2, ADD, 4) + on(0, CLOSE) + on(1, CLOSE) + seal(0, 1) + opened(1, 0, VERIFY) +
                 opened(1, 0, OPEN_COPY) + batches(1) + damage(1, 9) + opened(1, 0, TOLERATE),
        "secret_buffer": bytes([3, 0, 0, 0]) + struct.pack("<HBHB", 1024, 5, 0, 4 * SIPHASH) + b"\0" + on(0, ADD, 1) +
                        batches(0) + bytes([4, 0]) + bytes([4, 1]) + on(2, ADD, 2) + on(1, ASK, 1),
        "sealed_like": made + on(0, CLOSE) + seal(0, 1) + like(2, 1) + on(0, ADD, 3) + batches(0) + on(0, CLOSE) +
                       opened(2, 1) + bytes([3, 1, 1]) + struct.pack("<HB", 0, 0) + b"\0" + on(1, ADD, 2) +
                       bytes([4, 1]),
        "secret_like": create(0, 0, hash=SIPHASH) + on(0, ADD, 3) + like(1, 129) + on(1, ADD, 3) +
                      like(2, 0) + on(0, CLOSE) + seal(0, 2) + like(0, 131, REPLACE) + on(1, ADD, 4) + on(1, CLOSE) +
                      bytes([3, 1, 131]) + struct.pack("<HB", 0, 0) + b"\0" + on(1, ADD, 2) + bytes([4, 0]),
        "counting": create(0, 0, layout=COUNTING) + on(0, ADD, 3) * 2 + on(0, REMOVE, 3) + on(0, SYNC, 1, 9) + batches(0) +
                    taken(0) + on(0, REMOVE, 3) + on(0, REMOVE, 3) + on(0, CLOSE) + opened(0, 2) + batches(0) + taken(0),
        "counted_to_the_limit": create(0, 0, bits=128, layout=COUNTING) + on(0, ADD, 4) * 20 + on(0, REMOVE, 4) * 12 +
                                on(0, ADD, 5) + on(0, REMOVE, 4) * 9,
        "counting_external": create(1, 0, hash=EXTERNAL, layout=COUNTING) + on(0, ADD, 1) + on(0, ADD, 5) +
                             on(0, REMOVE, 1) + batches(0) + taken(0) + on(0, ASK, 1),
        "counting_superseded": create(0, 0, layout=COUNTING) + on(0, ADD, 3) + on(0, ADD, 5) + opened(0, 1) +
                               create(0, REPLACE, layout=COUNTING) + on(0, REMOVE, 3) + on(1, REMOVE, 5) + on(2, ADD, 3) +
                               on(2, REMOVE, 3),
        "counting_recovered": create(0, 0, layout=COUNTING) + on(0, ADD, 3) + on(0, ADD, 5) + on(0, SYNC, 1, 9) +
                              bytes([5, 0]) + opened(1, 1, RECOVER) + on(1, REMOVE, 3) + on(1, ADD, 3) +
                              on(1, RECOVERED, 1) + on(1, REMOVE, 3) + on(1, REMOVE, 3) + taken(1) + on(1, CLOSE) +
                              opened(1, 0),
        "counting_buffer": bytes([3, 0, 0, 0]) + struct.pack("<HBHB", 1024, 5, 0, COUNTING) + b"\0" + on(0, ADD, 1) +
                           batches(0) + bytes([4, 0]) + bytes([4, 1]) + on(2, REMOVE, 1) + taken(2) + on(1, ASK, 1) +
                           on(1, REMOVE, 2),
        "counting_bare": bytes([3, 0, 0, 0]) + struct.pack("<HBHB", 1024, 5, BARE, COUNTING) + b"\0" + on(0, ADD, 1) +
                         on(0, REMOVE, 1) + batches(0) + taken(0) + bytes([4, 3]) + on(1, ADD, 2) + on(1, REMOVE, 2),
        "counting_copied": create(0, 0, layout=COUNTING) + on(0, ADD, 6) + opened(0, 0, OPEN_COPY) + on(0, REMOVE, 6) +
                           on(1, REMOVE, 6) + on(1, ASK, 1),
        "counting_sealed": create(0, 0, layout=COUNTING) + on(0, ADD, 6) + on(0, ADD, 7) + on(0, REMOVE, 6) +
                           on(0, CLOSE) + seal(0, 1) + opened(1, 0) + on(0, REMOVE, 7) + damage(1, 7, 1) +
                           opened(1, 0, TOLERATE),
        **{f"window_{layout}": created_window(0, layout) + b"".join(
               on(0, ADD, key) + on(0, ADD, 9) * (key % 3 == 0) + on(0, SYNC, 240, key) + on(0, ASK, key) for key in range(10, 22)) +
               batches(0) + opened(0, 0) + opened(0, 2) + on(0, SYNC, 250, 1) + on(2, ADD, 3) + on(0, CLOSE) + opened(0, 0, OPEN_COPY)
           for layout in range(4)},
        "window_recovered": created_window(0, 1) + on(0, ADD, 3) + on(0, SYNC, 241, 9) + bytes([5, 0]) + opened(1, 1, RECOVER) + on(1, ADD, 3) +
                            on(1, SYNC, 241, 9) + on(1, RECOVERED, 1) + on(1, SYNC, 241, 9) + on(1, CLOSE) + opened(1, 0),
        "window_sealed": created_window(0, 0) + on(0, ADD, 3) + on(0, SYNC, 255, 9) + on(0, ADD, 4) + on(0, CLOSE) + seal(0, 1) + opened(1, 0) +
                         damage(1, 7) + opened(1, 0, TOLERATE) + opened(1, 0, VERIFY),
        "window_superseded": created_window(0, 2) + on(0, ADD, 3) + opened(0, 1) + created_window(0, 2, REPLACE) + on(0, SYNC, 240, 1) +
                             on(2, ADD, 3) + on(2, SYNC, 240, 1) + on(2, SYNC, 240, 2) + like(1, 0) + on(3, ADD, 5) + on(3, SYNC, 240, 2),
        "static": created_static(0) + on(0, ADD, 3) + batches(0) + on(0, ASK, 1) + on(0, SYNC, 1, 9) + on(0, PUBLISH) + batches(0) +
                  on(0, IS_CURRENT) + on(0, PUBLISH) + opened(0, 0) + opened(0, 1) + opened(0, 0, VERIFY) +
                  opened(0, 0, OPEN_COPY) + damage(0, 70) + opened(0, 0, TOLERATE) + batches(0),
        "static_unsized": created_static(1, sized=False) + batches(0) + on(0, ADD, 7) * 2 + on(0, PUBLISH) + batches(0) +
                          on(0, CLOSE) + seal(1, 2) + opened(2, 0) + opened(1, 0) + like(0, 1) + on(2, ADD, 3),
        "static_external": created_static(0, hash=EXTERNAL) + batches(0) + on(0, ADD, 1) + on(0, PUBLISH) + batches(0),
        "static_secret": created_static(0, hash=SIPHASH) + on(0, ADD, 3) + batches(0) + on(0, PUBLISH) + batches(0) + opened(0, 0) +
                         batches(1) + created_static(1, hash=SIPHASH, sized=False) + on(2, ADD, 3) + on(2, PUBLISH) + batches(2),
        "static_replaced": created_static(0) + on(0, ADD, 3) + on(0, PUBLISH) + opened(0, 0) + created_static(0, REPLACE) + on(2, PUBLISH) +
                           on(2, ADD, 4) + on(1, ASK, 0) + on(2, SUPERSEDE) + on(2, PUBLISH) + on(0, IS_CURRENT) + on(0, ASK, 1) +
                           on(2, ADD, 5) + batches(2) + opened(0, 0),
        "static_over_another": made + opened(0, 0) + created_static(0, REPLACE) + on(2, ADD, 4) + on(0, ADD, 5) + on(2, PUBLISH) +
                               on(0, ADD, 6) + on(0, SYNC, 1, 12) + on(1, IS_CURRENT) + batches(2),
        "static_given_up": created_static(0) + on(0, ADD, 3) + on(0, CLOSE) + opened(0, 0) + created_static(0) + batches(0) + create(0, 0) +
                           on(0, PUBLISH) + batches(0) + bytes([6, 0]) + on(0, PUBLISH),
        "absurd": made + b"".join(on(0, 0, huge, what) for what in range(9) for huge in (0, 1, 4)),
    }
    yield from pieces.items()
    numbers = random.Random(1)
    for i in range(40):
        mixed = bytearray(b"".join(numbers.choices(list(pieces.values()), k=2)))
        for _ in range(8):
            mixed[numbers.randrange(len(mixed))] = numbers.choice((0, 1, 2, 3, numbers.randrange(256)))
        yield f"mixed_{i}", bytes(mixed)


def foreign():
    """Yields filters of other programs, whole and with each number of the header changed, and arrays of every length of a word."""
    header = {"p": 0.001, "k": 10, "slice": 15, "n": 10, "count": 3}
    bits = bytes.fromhex("80c21002480200179018000904114892002200")
    changes = [{}, *({name: number} for name, numbers in {
        "p": (0.0, 1.0, -0.5, float("nan"), 0.05), "k": (0, 1, 64, 65, 2**64 - 1), "slice": (0, 1, 2**15, 2**31, 2**48, 2**64 - 1),
        "n": (0, 2**63 - 1, 2**63, 2**64 - 1), "count": (0, 11, 12, 2**64 - 1)}.items() for number in numbers)]
    for number, change in enumerate(changes):
        data = struct.pack("<dQQQQ", *{**header, **change}.values()) + bits
        for choice in (0, 2, 6):
            yield f"jaybird_{number}_{choice}", bytes([choice]) + data
    for size in (0, 28, 39, 40, 41, 58, 60):
        yield f"jaybird_of_{size}_bytes", bytes([0]) + (struct.pack("<dQQQQ", *header.values()) + bits + b"\0")[:size]
    yield "scalable", bytes([0]) + struct.pack("<idQd", 4, 0.9, 100, 0.001) + bytes(40)
    for number in (0, 1, 7, 8, 9, 63, 64, 65, 124, 512, 4097):
        for choice in (1, 3):
            yield f"raw_{number}_{choice}", bytes([choice]) + struct.pack("<HB", number, 4) + bytes(-(-number // 8))
        yield f"raw_{number}_spare", bytes([1]) + struct.pack("<HB", number, 64) + b"\xff" * -(-number // 8)
        yield f"raw_{number}_longer", bytes([3]) + struct.pack("<HB", number, 65) + b"\x11" * (1 - -number // 8)


def hash_number(name):
    """The number of a hash in the C header; 0 if the bytes tell the hash."""
    text = (DATA.parent.parent / "capi" / "bfstore_interop.h").read_text("utf-8")
    found = re.search(rf"#define BFS_HASH_{name.upper().replace('-', '_')} (\d+)", text)
    return int(found[1]) if found else 0


def originals():
    """Yields the files that other programs made: whole, cut, and with bytes of their headers and trailers changed."""
    rows = (DATA / "foreign" / "files.tsv").read_text("utf-8").splitlines()
    for row in rows[1:]:
        name, form, _, options = row.split("\t")[:4]
        given = dict(option.split("=") for option in options.split() if "=" in option)
        begin = bytes([8]) + form.encode() + b"\0" + given.get("column", "").encode() + bytes([0, hash_number(given.get("hash", ""))])
        data = (DATA / "foreign" / name).read_bytes()
        yield f"{name}_whole", begin + data
        for size in (0, 1, 5, 8, 40, len(data) // 2, len(data) - 1):
            yield f"{name}_of_{size}_bytes", begin + data[:size]
        for at in (*range(0, min(64, len(data)), 3), *range(-9, 0)):
            for byte in (0, 0x7F, 0xFF):
                changed = bytearray(data)
                changed[at] = byte
                yield f"{name}_{at}_{byte}", begin + bytes(changed)


def deltas():
    """Yields changes of the deltas of fuzz_delta.cpp: of each byte of a header, of lengths and claims, and codes of every kind."""
    own_codes, right_codes, claims, record = 8, 16, 32, 64
    for files in range(4):
        for replace in (0, 4):
            for right in (0, right_codes, claims, right_codes | claims | record):
                yield f"whole_{files}_{replace}_{right}", bytes([files | replace | right, 0])
    for at in [*range(0, 296, 3), *range(8, 24), *range(40, 96)]:
        for right in (0, right_codes | claims | record):
            yield f"byte_{at}_{right}", bytes([at % 4 | right, 1]) + struct.pack("<HB", at, 1 << at % 8)
    yield "sealed", bytes([0, 1]) + struct.pack("<HB", 20, 1)
    codes = {"none": b"", "one": struct.pack("<4I", 0, 1, 0, 1) + b"\0", "of_no_bit": struct.pack("<4I", 0, 0, 0, 0),
             "far": struct.pack("<4I", 0, 1, 0, 1) + b"\x7f", "out": struct.pack("<4I", 0, 1, 21, 3) + b"\xfe\xff\xff",
             "twice": 2 * (struct.pack("<4I", 0, 1, 0, 1) + b"\0"), "second_piece": struct.pack("<4I", 1, 2, 1, 1) + b"\0",
             "two_pieces": struct.pack("<4I", 0, 1, 0, 1) + b"\1" + struct.pack("<4I", 1, 3, 2, 2) + b"\x10\0",
             "no_such_piece": struct.pack("<4I", 2**32 - 1, 1, 0, 1) + b"\0", "cut": struct.pack("<4I", 0, 1, 0, 9) + b"\0"}
    for name, code in codes.items():
        for files in range(4):
            for right in (right_codes, right_codes | claims):
                yield f"codes_{name}_{files}_{right}", bytes([files | own_codes | right, 0]) + code


def main():
    for fuzzer, inputs in (("open_file", files), ("inspect", files), ("open_memory", buffers), ("sequence", sequences),
                           ("foreign", foreign), ("foreign", originals), ("delta", deltas)):
        folder = pathlib.Path(sys.argv[1]) / fuzzer
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
