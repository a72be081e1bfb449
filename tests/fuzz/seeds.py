"""The first inputs of the fuzzers: the files of tests/data in the short form of image.hpp, and the states that a file can
be in. tools/fuzz starts with them and with what was kept (corpus/).

Arguments: the folder for the seeds, which gets a folder for each fuzzer.
"""
import pathlib
import random
import struct
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
PAGE = 4096
RIGHT_CHECKSUMS, HERE, LIVE, CANARY = 7, 24, 32, 64
POISONED, SUPERSEDED, RECOVERING, SYNCING = (1 << bit for bit in range(32, 36))


def image(data, right=0, calls=0):
    """A file in the short form: what image.cpp decodes."""
    data = bytes(data).ljust(4 * PAGE, b"\0")
    slots = b"".join(data[start:start + 96] for start in (PAGE, 2 * PAGE))
    records = data[128:128 + min(200, struct.unpack_from("<I", data, 112)[0])]
    return (struct.pack("<BBI", right, calls, len(data)) + data[:128] + slots + data[3 * PAGE:3 * PAGE + 16] +
            bytes([len(records)]) + records + b"\0" + data[4 * PAGE:])


def states(good):
    """(name, bytes) of a good file in every state that a crash may leave."""
    newest = PAGE if struct.unpack_from("<Q", good, PAGE) > struct.unpack_from("<Q", good, 2 * PAGE) else 2 * PAGE
    for state in (1, 2, 3, 4):
        for live in (0, POISONED, SUPERSEDED, RECOVERING, SYNCING, RECOVERING | SYNCING):
            data = bytearray(good)
            struct.pack_into("<I", data, newest + 8, state)
            struct.pack_into("<QQQQ", data, newest + 64, 5, 9, 6, 10)  # two owners and their marks
            struct.pack_into("<Q", data, 3 * PAGE, struct.unpack_from("<Q", data, 3 * PAGE)[0] | live)
            yield f"state_{state}_live_{live >> 32}", data


def files():
    for path in sorted(DATA.glob("*.bf")):
        yield path.stem, image(path.read_bytes())
    good = (DATA / "good_blocked.bf").read_bytes()
    for number, (name, data) in enumerate(states(good)):
        right = RIGHT_CHECKSUMS | LIVE | CANARY
        yield name, image(data, right, number % 128)
        yield name + "_here", image(data, right | HERE, number * 5 % 128)
    for last in (2**63 - 1, 2**64 - 4, 2**64 - 1):  # as many slots as there can be were written
        data = bytearray(good)
        struct.pack_into("<Q", data, PAGE, last - 1)
        struct.pack_into("<Q", data, 2 * PAGE, last)
        struct.pack_into("<I", data, 2 * PAGE + 8, 1)
        yield f"sequence_{last}", image(data, RIGHT_CHECKSUMS, 15)
    read_only = bytearray(good)
    struct.pack_into("<I", read_only, 20, 1)
    yield "ro_compat", image(read_only, RIGHT_CHECKSUMS)


def buffers():
    for name, bits in (("good_embedded.record", 0), ("good_bare.trailer", 2)):
        data = (DATA / name).read_bytes()
        for how in (0, 1, 4, 0x14, 0x35):
            yield f"{name}_{how}", bytes([how | bits]) + data


def sequences():
    """Calls at random: most of them make sense."""
    numbers = random.Random(1)
    for i in range(64):
        yield f"random_{i}", bytes(numbers.choice((0, 0, 1, 2, 3, numbers.randrange(256))) for _ in range(256))


def main():
    for fuzzer, inputs in (("open_file", files), ("inspect", files), ("open_memory", buffers), ("sequence", sequences)):
        folder = pathlib.Path(sys.argv[1]) / fuzzer
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
