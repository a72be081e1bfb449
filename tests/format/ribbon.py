"""Builds the body of a static filter (layout 4), from src/format/FORMAT.md: a bumped ribbon whose equations are solved by
Gaussian elimination. FORMAT.md fixes how a body is read, and leaves free how its slots are found: this finds other slots
than the library does.

    body(division, body_bytes, digests)  ->  bytes
"""
import collections
import struct

from reader import NO_SEED, THRESHOLDS

TRIES = 64  # seeds that a shard gets before it says "maybe"
Key = collections.namedtuple("Key", "starts coefficients fingerprint")


class Band:
    """The equations of a layer. The row of slot p says that the slots p + i, for each bit i of its coefficients, have the xor `right`."""

    def __init__(self, slots):
        self.coefficients, self.right = [0] * slots, [0] * slots

    def add(self, start, key):
        """Adds an equation. Returns its row, None if other rows say the same, or False if they say the contrary."""
        at, coefficients, right = start, key.coefficients, key.fingerprint
        while self.coefficients[at]:
            coefficients ^= self.coefficients[at]
            right ^= self.right[at]
            if not coefficients:
                return False if right else None
            zeros = (coefficients & -coefficients).bit_length() - 1
            at, coefficients = at + zeros, coefficients >> zeros
        self.coefficients[at], self.right[at] = coefficients, right
        return at

    def take_back(self, row):
        """Removes the equation that was added last."""
        self.coefficients[row] = self.right[row] = 0

    def solved(self):
        """Returns the slots. One without a row is 0."""
        slots = [0] * (len(self.right) + 31)
        for at in reversed(range(len(self.right))):
            rest, slots[at] = self.coefficients[at] & ~1, self.right[at]
            while rest:
                slots[at] ^= slots[at + (rest & -rest).bit_length() - 1]
                rest &= rest - 1
        return slots[:-31]


def into_bucket(band, keys, layer):
    """Adds the keys of a bucket, those of high slots first. Returns the number of its threshold, and the keys below that."""
    added = []
    for key in sorted(keys, key=lambda key: (-key.starts[layer], key)):
        row = band.add(key.starts[layer], key)
        if row is False:
            code = next(code for code, threshold in enumerate(THRESHOLDS) if key.starts[layer] % 64 < threshold)
            is_below = lambda one: one.starts[layer] % 64 < THRESHOLDS[code]
            for one, its_row in reversed(added):
                if is_below(one) and its_row is not None:
                    band.take_back(its_row)
            return code, list(filter(is_below, keys))
        added.append((key, row))
    return 0, []


def into_layer(slots, keys, layer):
    """Returns the solved slots of layer 0 or 1, the numbers of its buckets' thresholds, and the keys of the layers after it."""
    band, buckets, codes, bumped = Band(slots), [[] for _ in range(slots // 64)], [], []
    for key in keys:
        buckets[key.starts[layer] // 64].append(key)
    for bucket in buckets:
        code, left = into_bucket(band, bucket, layer)
        codes.append(code)
        bumped += left
    return band.solved(), codes, bumped


def into_last_layer(slots, keys):
    """Returns the solved slots, or None."""
    band = Band(slots)
    return None if any(band.add(key.starts[2], key) is False for key in sorted(keys)) else band.solved()


def solved(division, seed, digests):
    """Returns (thresholds' numbers, slots of all layers) with this seed, or None."""
    keys = [Key(*division.hashed(digest, seed)) for digest in digests]
    first, codes, keys = into_layer(division.slots[0], keys, 0)
    middle, more_codes, keys = into_layer(division.slots[1], keys, 1)
    last = into_last_layer(division.slots[2], keys)
    return last and (codes + more_codes, first + middle + last)


def shard_of(division, seed, num_keys, codes, slots):
    """Returns the bytes of a shard."""
    made = bytearray(division.shard_bytes)
    struct.pack_into("<QQ", made, 0, seed, num_keys)
    for bucket, code in enumerate(codes):
        made[64 + bucket // 4] |= code << bucket % 4 * 2
    for granule in range(len(slots) // 16):
        of_granule = slots[16 * granule:16 * granule + 16]
        if any(of_granule):
            columns = (sum((slot >> c & 1) << j for j, slot in enumerate(of_granule)) for c in range(division.k))
            struct.pack_into(f"<{division.k}H", made, division.granules_at + granule * 2 * division.k, *columns)
    return bytes(made)


def shard(division, digests):
    for seed in range(TRIES if division.usable else 0):
        found = solved(division, seed, digests)
        if found:
            return shard_of(division, seed, len(digests), *found)
    return shard_of(division, NO_SEED, 0, [], []) if division.shard_bytes >= 16 else b""


def body(division, body_bytes, digests):
    shards = [[] for _ in range(2**division.shard_bits)]
    for digest in sorted(set(digests)):
        shards[division.shard_of(digest)].append(digest)
    return b"".join(shard(division, of_shard) for of_shard in shards).ljust(body_bytes, b"\0")
