"""Deltas against FORMAT.md: a reader that was written from the document alone makes of a delta the file that the library and
bf make, and refuses what they refuse.

Argument: bf.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"), os.path.dirname(os.path.abspath(__file__))]
import programs  # found only now

programs.need_module("xxhash", "python3-xxhash")
from xxhash import xxh3_64_intdigest as xxh3

import reader

BF = os.path.abspath(sys.argv.pop(1))
HEADER = struct.Struct("<8sHHIII16sQQQQQQII")
MAGIC = b"\x89BFD\r\n\x1a\n"
PIECE = 262144


class Bad(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Bad(what)


def checksum(data):
    found = 0
    for at in range(0, len(data), PIECE):
        found = xxh3(data[at:at + PIECE], found)
    return found


class Delta:
    """Reads a delta, as the sections "Deltas" and "Codes of a delta" say."""

    def __init__(self, data):
        need(data[:8] == MAGIC, "magic")
        need(len(data) >= 296, "length")
        (_, self.major, _, header_bytes, incompat, self.sealed, self.before_id, self.before_checksum, self.after_checksum, self.num_new_bits,
         codes_bytes, codes_checksum, self.keys_added, num_lanes, identity_bytes) = HEADER.unpack_from(data)
        need(self.major == 1, "version")
        need(296 <= header_bytes <= 8192 and header_bytes % 8 == 0 and header_bytes <= len(data), "header_bytes")
        need(xxh3(data[:header_bytes - 8]) == int.from_bytes(data[header_bytes - 8:header_bytes], "little"), "checksum")
        need(incompat == 0 and self.sealed <= 1 and num_lanes <= 64, "rules")
        need(96 + identity_bytes + 24 * num_lanes + 8 == header_bytes, "lengths")
        need(len(data) == header_bytes + codes_bytes, "length of the file")
        self.identity = data[96:96 + identity_bytes]
        self.lanes = data[96 + identity_bytes:header_bytes - 8]
        self.codes = data[header_bytes:]
        need(checksum(self.codes) == codes_checksum, "codes_checksum")

    def pieces(self):
        at, last = 0, -1
        while at < len(self.codes):
            need(at + 16 <= len(self.codes), "record")
            piece, num_bits, rice_bits, code_bytes = struct.unpack_from("<IIII", self.codes, at)
            need(piece > last and num_bits > 0 and rice_bits <= 21 and code_bytes <= PIECE and at + 16 + code_bytes <= len(self.codes), "record")
            yield piece, num_bits, rice_bits, self.codes[at + 16:at + 16 + code_bytes]
            at, last = at + 16 + code_bytes, piece

    def apply(self, body):
        """Returns the later body."""
        need(checksum(body) == self.before_checksum, "before_checksum")
        made, sum_of_bits = bytearray(body), 0
        for piece, num_bits, rice_bits, code in self.pieces():
            part = body[piece * PIECE:(piece + 1) * PIECE]
            need(part, "piece")
            zeros = [i for i in range(8 * len(part)) if not part[i // 8] >> i % 8 & 1]
            next_zero = 0
            for gap in gaps(code, num_bits, rice_bits):
                need(next_zero + gap < len(zeros), "gap")
                bit = zeros[next_zero + gap]
                next_zero += gap + 1
                made[piece * PIECE + bit // 8] |= 1 << bit % 8
            sum_of_bits += num_bits
        need(sum_of_bits == self.num_new_bits, "num_new_bits")
        need(checksum(bytes(made)) == self.after_checksum, "after_checksum")
        return bytes(made)


def gaps(code, count, rice_bits):
    bits = int.from_bytes(code, "little")
    at = 0
    for _ in range(count):
        quotient = 0
        while bits >> at & 1:
            at, quotient = at + 1, quotient + 1
        at += 1
        yield quotient << rice_bits | bits >> at & (1 << rice_bits) - 1
        at += rice_bits
        need(at <= 8 * len(code), "code")
    need(8 * len(code) - at < 8 and bits >> at == 0, "end of the code")


def body_of(path):
    with open(path, "rb") as file:
        data = file.read()
    offset, length = struct.unpack_from("<QQ", data, 72)
    return data[offset:offset + length]


class Deltas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-delta-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def bf(self, *arguments, keys=()):
        done = subprocess.run([BF, *arguments], cwd=self.folder, input=b"".join(key + b"\n" for key in keys), capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done)  # a filter that is too full is a warning

    def path(self, name):
        return os.path.join(self.folder, name)

    def delta(self, *shape, before=3000, after=200, seal="seal"):
        for name in os.listdir(self.folder):
            os.remove(self.path(name))
        self.bf("create", "users", "-q", "--seed", "1", "--note", "words", *shape)
        self.bf("add", "users", "-q", "--from", "-", keys=[b"before %d" % i for i in range(before)])
        self.bf(seal, "users", "before", "-q")
        if after:
            self.bf("add", "users", "-q", "--from", "-", "--owner", "3", "--mark", "77", keys=[b"after %d" % i for i in range(after)])
        self.bf(seal, "users", "after", "-q")
        self.bf("delta", "before", "after", "d", "-q")
        with open(self.path("d"), "rb") as file:
            return file.read()

    def test_the_reader_makes_the_body_that_the_library_made(self):
        for shape, after in ((("--bits", "512", "--probes", "4"), 1), (("--bits", "1k", "--probes", "3", "--layout", "classic"), 30),
                             (("--capacity", "400k"), 0), (("--capacity", "400k"), 3000), (("--bits", "5_000_001", "--probes", "2", "--layout", "classic"), 900)):
            for seal in ("seal", "copy"):
                with self.subTest(shape=shape, seal=seal):
                    data = self.delta(*shape, before=300, after=after, seal=seal)
                    delta = Delta(data)
                    self.assertEqual(delta.apply(body_of(self.path("before"))), body_of(self.path("after")))
                    with open(self.path("before"), "rb") as file:
                        self.assertEqual(delta.before_id, file.read(104)[88:])
                    reader.identity(delta.identity, 2, 1 << 50, None)  # keeps every rule of the embedded form
                    with open(self.path("after"), "rb") as file:
                        header = file.read(4096)
                    self.assertEqual(delta.identity[32:72], header[32:72])  # layout to seed
                    self.assertEqual(delta.identity[88:112], header[88:112])  # file_id and canary
                    self.assertIn(b"words", delta.identity)
                    self.assertEqual(delta.sealed, seal == "seal")
                    if after:
                        self.assertIn(struct.pack("<QQ", 3, 77), delta.lanes)
                    self.bf("apply", "before", "d", "made", "-q")
                    self.assertEqual(open(self.path("made"), "rb").read(), open(self.path("after"), "rb").read())

    def test_reader_and_library_refuse_the_same_changes(self):
        data = self.delta("--bits", "4096", "--probes", "4", before=100, after=20)
        header_bytes = struct.unpack_from("<I", data, 12)[0]
        places = random.Random(1).sample(range(10), 2) + list(range(10, len(data), 7)) + list(range(header_bytes, header_bytes + 16))
        for place in places:
            bad = bytearray(data)
            bad[place] ^= 1 << place % 8
            repaired = bytearray(bad)
            if place >= header_bytes:
                struct.pack_into("<Q", repaired, 72, checksum(bytes(repaired[header_bytes:])))
            struct.pack_into("<Q", repaired, header_bytes - 8, xxh3(bytes(repaired[:header_bytes - 8])))
            for content in (bad, repaired):
                try:
                    found = Delta(bytes(content))
                    reader.identity(found.identity, 2, 1 << 50, None)
                    made = found.apply(body_of(self.path("before")))
                    with open(self.path("before"), "rb") as file:
                        need(found.before_id == file.read(104)[88:], "before_file_id")
                except (Bad, reader.Refused):
                    made = None
                with open(self.path("bad"), "wb") as file:
                    file.write(content)
                done = subprocess.run([BF, "apply", "before", "bad", "made"], cwd=self.folder, capture_output=True, check=False)
                self.assertEqual(done.returncode, 2 if made is None else 0, (place, done))
                if made is not None:  # the minor version, and numbers that no rule is about: keys_added, a lane
                    self.assertEqual(made, body_of(self.path("made")))
                    os.remove(self.path("made"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
