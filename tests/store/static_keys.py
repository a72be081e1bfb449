"""Keys and questions for static_storm_test.py: sets of keys of every form, and every way to ask a filter for them. A key that was
built in and is answered "no" is a WrongNo, wherever it was asked."""
import ctypes
import os
import subprocess

import bfstore_ctypes as bfs

SECRET = bytes(range(16))
ISAS = ("", "", "scalar", "avx2")
BF = os.environ.get("BF", "bf")


class WrongNo(AssertionError):
    pass


def number_of_zeros(answers, count):
    return bytes(answers)[:count].count(0)


class Keys:
    """Keys in one buffer, of one form: fixed, digests, column or text (which bf reads). A set is the first so many of them."""

    def __init__(self, chance, form, count, may_skew=True):
        self.form, self.count = form, count
        self.width = {"fixed": chance.randint(6, 24), "digests": 8}.get(form, 0)
        self.skewed = may_skew and form == "digests" and chance.random() < 0.3
        if self.skewed:  # runs of neighbors, and few different bytes: what a sort may get wrong
            first, apart, bits = chance.getrandbits(64), chance.choice((1, 1, 256, 2 ** 32, 2 ** 56)), chance.choice((1, 4, 64))
            numbers = [(first + i * apart + (chance.getrandbits(bits) << 32)) % 2 ** 64 for i in range(count)]
            data = bytes((ctypes.c_uint64 * count)(*numbers))
        elif self.width:
            data = chance.randbytes(count * self.width)
        else:
            lengths = [chance.choice((1, 3, 8, 16, 17, 130, 250)) if chance.random() < 0.3 else chance.randint(8, 20) for _ in range(count)]
            data = chance.randbytes(sum(lengths))
            if form == "text":
                data = data.hex().encode()[:sum(lengths)]
            ends = [0]
            for length in lengths:
                ends.append(ends[-1] + length)
            self.offsets = (ctypes.c_int64 * (count + 1))(*ends)
        self.data = ctypes.create_string_buffer(data, len(data) + 8)
        self.bytes = len(data)

    def some(self, first, count):
        """Returns bfs_keys of these keys. The buffers stay this object's."""
        if self.width:
            kind = bfs.KEYS_DIGESTS if self.form == "digests" else bfs.KEYS_FIXED
            made = bfs.many_keys(kind, count, key_bytes=0 if self.form == "digests" else self.width)
            made.data = ctypes.addressof(self.data) + first * self.width
        else:
            made = bfs.many_keys(bfs.KEYS_COLUMN64, count, data_bytes=self.bytes)
            made.data = ctypes.addressof(self.data)
            made.offsets = ctypes.addressof(self.offsets) + 8 * first
        return made

    def one(self, i):
        if self.width:
            return self.data.raw[i * self.width:(i + 1) * self.width] if self.bytes < 65536 else \
                ctypes.string_at(ctypes.addressof(self.data) + i * self.width, self.width)
        return ctypes.string_at(ctypes.addressof(self.data) + self.offsets[i], self.offsets[i + 1] - self.offsets[i])

    def lines(self, count):
        return b"".join(self.one(i) + b"\n" for i in range(count))


class Asker:
    """Asks handles in every way."""

    def __init__(self, library, chance, stats):
        self.library, self.chance, self.stats = library, chance, stats

    def one_by_one(self, handle, keys, numbers):
        answers = bytearray()
        for i in numbers:
            key = keys.one(i)
            said = (self.library.bfs_contains_digest(handle, int.from_bytes(key, "little")) if keys.form == "digests"
                    else self.library.bfs_contains(handle, key, len(key)))
            answers.append(said != 0)
        return answers

    def many(self, handle, keys, first, count, way):
        some = keys.some(first, count)
        if way == "select":
            indices = (ctypes.c_uint32 * max(1, count))()
            found = self.library.bfs_select_keys(handle, ctypes.byref(some), indices)
            return count - found if found >= 0 else 0
        if way == "hashed" and keys.form != "digests":
            digests = (ctypes.c_uint64 * max(1, count))()
            code = self.library.bfs_digest_keys(handle, ctypes.byref(some), digests)
            assert code in (count, bfs.EKEYONLY), code
            some = bfs.many_keys(bfs.KEYS_DIGESTS, count, digests) if code >= 0 else some
        elif way == "scratch":
            scratch = ctypes.create_string_buffer(count * 12 + 8388608)
            some.scratch, some.scratch_bytes = ctypes.addressof(scratch), len(scratch)
        answers = (ctypes.c_uint8 * max(1, count))(*([7] * min(count, 1)))
        code = self.library.bfs_contains_keys(handle, ctypes.byref(some), answers)
        zeros = number_of_zeros(answers, count)
        assert code < 0 or code == count - zeros, (code, zeros)
        return zeros

    def all_found(self, handle, keys, count, where, first=0, ways=("many", "select", "hashed", "scratch", "one")):
        """Asks for these keys in one way, and for a few of them one by one."""
        way = self.chance.choice(ways)
        count -= first
        if count <= 0:
            return
        if way != "one":
            zeros = self.many(handle, keys, first, count, way)
            self.stats["asked"] += count
            if zeros:
                raise WrongNo(f"{where}: {zeros} of {count} {keys.form} keys are no ({way})")
        numbers = [first + self.chance.randrange(count) for _ in range(min(60, count))] + [first, first + count - 1]
        self.stats["asked"] += len(numbers)
        if 0 in self.one_by_one(handle, keys, numbers):
            raise WrongNo(f"{where}: {keys.form} keys are no, one by one")

    def answers_are_real(self, handle, form, rate, where):
        """Of keys that no process added only the share that the rate says is maybe."""
        strangers = Keys(self.chance, form, 500, may_skew=False)
        if form in ("column", "text"):  # short ones may be keys
            return
        maybes = 500 - self.many(handle, strangers, 0, 500, "many")
        assert maybes <= 500 * rate + 10 * (500 * rate) ** 0.5 + 5, f"{where}: {maybes} of 500 strangers are maybe, at a rate of {rate}"

    def tool_finds(self, path, keys, count, secret_file, where):
        """bf contains finds text keys."""
        if count == 0:
            return
        secret = ["--secret-file", secret_file] if secret_file else []
        done = subprocess.run([BF, "contains", path, "--from", "-", "--absent", *secret], input=keys.lines(count), capture_output=True, check=False)
        self.stats["asked"] += count
        if done.stdout:
            raise WrongNo(f"{where}: bf contains says no: {done.stdout[:200]}")
        assert done.returncode in (0, 1), (done.returncode, done.stderr)
