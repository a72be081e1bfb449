"""Makes the files of this folder. It is run by hand, once for each version of the format, and the files are kept.

Arguments: the shared library, and --secret or --seeded to make those with a secret, or with seeds, alone. Every good file holds the keys of KEYS (digests of the external one: DIGESTS).
With --windows alone: the files whose keys expire, which the independent writer makes. They need no library. So do the
files of the static layout, with --static alone, and those that grow, with --growing alone. Those of more than 2 MiB are
kept compressed.
"""
import ctypes
import gzip
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "support"), str(FOLDER.parent / "format")]
import bfstore_ctypes as bfs
from breakage import (FOREIGN_IDENTITY, IDENTITY, JAVA, JAVA_IDENTITY, JAYBIRD, JAYBIRD_IDENTITY, PAGE, SECRET, SECRET_IDENTITY, SEEDED, SEEDED_IDENTITY,
                      STATE, seal_identity, seal_slots)

KEYS = [b"", b"alice", b"bob", bytes(range(256)), b"x" * 1000] + [b"key %d" % i for i in range(40)]
DIGESTS = [0, 1, 2**64 - 1, 0x0123456789ABCDEF]
WINDOWS = ["window", "window-4", "window-2"]
WINDOW_MS = 1000 * 8766 * 3_600_000  # a thousand years: no epoch of a kept file is over
WINDOW_EPOCH = 10  # every word was cleared at least once


# {static file: (m, k, the shards that say "maybe", how many keys it has beside KEYS)}. The first one is full: some of its keys are in
# each layer. The others have two shards of 1052672 bytes, which no multiple of a chunk is, and a rest that means nothing.
STATIC = {"good_static.bf": (8 * 8192, 7, [], 8844), "good_static_shards.bf.gz": (8 * (2 * 1052672 + 64), 7, [], 300),
          "good_static_maybe.bf.gz": (8 * (2 * 1052672 + 64), 7, [1], 300)}


# {file that grows: (k, keys of the first slice, slices of its newest slot, slices of its live page)}. The last one is as a power cut may leave it:
# the slot is dirty and of another boot, the mark covers KEYS, and the newest slice has LATER_KEYS, which were not synced.
GROWING = {"good_growing.bf": (5, 60, 1, 1), "good_growing_slices.bf": (2, 10, 3, 3), "unclean_growing.bf": (2, 20, 2, 3)}
LATER_KEYS = [b"later %d" % i for i in range(20)]
OTHER_BOOT = b"another boot's i"


def static_keys(name):
    return KEYS + [b"static %d" % i for i in range(STATIC[name][3])]


def window_keys(epochs, epoch):
    """The keys that files of windows got in that epoch: all of KEYS come in the epochs that are found in the end."""
    found = WINDOW_EPOCH - epoch
    return [b"key of epoch %d" % epoch] + (KEYS[found::epochs] if found < epochs else [])


# One file for each code, so that the folder stays small.
BROKEN = ["magic of a file that went through text mode", "version_major 1", "version_major 3", "form 0", "header_bytes 0", "reserved_a",
          "incompat, bit 31", "a critical record of an unknown type", "layout 65535", "hash 65535", "num_probes 65", "num_bits 0", "capacity 0", "canary", "body_offset 0"]


def fill(library, handle, external):
    for digest in DIGESTS if external else []:
        library.bfs_add_digest(handle, digest)
    for key in [] if external else KEYS:
        assert library.bfs_add(handle, key, len(key)) >= 0
    assert library.bfs_close(handle, None) == 0


def make_file(library, name, external=False, **given):
    path = FOLDER / name
    path.unlink(missing_ok=True)
    seed = None if given.get("hash") else 7
    options = bfs.options(**{"num_bits": 1024, "num_probes": 5, "capacity": 60, "seed": seed, **given})
    fill(library, bfs.call(library.bfs_create, os.fsencode(path), 0, options), external)
    return bytearray(path.read_bytes())


def make_sealed(library, name, source):
    path = FOLDER / name
    path.unlink(missing_ok=True)
    bfs.seal(library, os.fsencode(FOLDER / source), os.fsencode(path))
    return path.read_bytes()


def make_buffer(library, name, flags=0, **given):
    options = bfs.options(num_bits=1024, num_probes=5, capacity=60, **given)
    size = bfs.bytes_needed(library, flags, options)
    keep, address = bfs.aligned_buffer(size)
    fill(library, bfs.call(library.bfs_format, address, size, flags, options), False)
    (FOLDER / name).write_bytes(ctypes.string_at(address, size))
    del keep


def break_file(good, defect, change, code):
    data = bytearray(good)
    change(data)
    seal_identity(data)
    words = "".join(c if c.isalnum() else "_" for c in defect)
    (FOLDER / f"{code}__{words}.bf").write_bytes(data)


def make_with_secret(library):
    """Makes the files of hash 3. Those of BFS_ESECRET are good, except for a reader with another secret."""
    good = make_file(library, "good_siphash.bf", hash="siphash", secret=SECRET, note=b"keyed")
    make_buffer(library, "good_siphash.record", hash="siphash", secret=SECRET)
    for defect, (change, code) in SECRET_IDENTITY.items():
        if code == "BFS_ERECORD" and "note" not in defect:
            break_file(good, defect, change, code)
    break_file(good, "seed of hash 3", *SECRET_IDENTITY["seed of hash 3"])
    break_file(good, "another secret check", *SECRET_IDENTITY["another secret check"])
    break_file(good, "hash 65535", *IDENTITY["hash 65535"])


def make_seeded(library):
    """Makes the files of hashes 4 and 5."""
    good = make_file(library, "good_murmur3.bf", **SEEDED)
    make_file(library, "good_murmur3_unsigned.bf", **{**SEEDED, "hash": "murmur3-unsigned"}, seeds=[41, 42, 2**32 - 1])
    for defect, (change, code) in SEEDED_IDENTITY.items():
        if code is not None:
            break_file(good, defect, change, code)


def make_java(library):
    """Makes the files of hash 6."""
    good = make_file(library, "good_java_polynomial.bf", **JAVA)
    for defect, (change, code) in JAVA_IDENTITY.items():
        break_file(good, defect, change, code)


def make_jaybird(library):
    """Makes the files of hashes 7 and 8."""
    good = make_file(library, "good_jaybird.bf", **JAYBIRD)
    make_file(library, "good_pybloom_live.bf", **{**JAYBIRD, "hash": "pybloom-live"})
    for defect, (change, code) in JAYBIRD_IDENTITY.items():
        break_file(good, defect, change, code)


def make_foreign(library):
    """Makes the files of hashes of other programs whose m or k they cannot have."""
    for given, rules in FOREIGN_IDENTITY:
        good = make_file(library, "foreign.bf", **given)
        (FOLDER / "foreign.bf").unlink()
        for defect, (change, code) in rules.items():
            break_file(good, defect, change, code)


def make_windows():
    """Makes the files of layouts 5 to 7, in epoch WINDOW_EPOCH: a third of KEYS is in each of the last epochs that are found."""
    import writer
    for layout in WINDOWS:
        f = writer.shape(bfs.LAYOUTS[layout], 4096, 5, n=60, seed=7, window_ms=WINDOW_MS)
        f.note = b"made for version 2.0 by the writer of the tests"
        path = FOLDER / f"good_{layout.replace('-', '_')}.bf"
        path.unlink(missing_ok=True)
        filter_ = writer.create(os.fsencode(path), f)
        for epoch in range(WINDOW_EPOCH + 1):
            if epoch:
                assert filter_.turn(epoch - 1)
            filter_.add(*window_keys(f.epochs, epoch))
        filter_.close()


def make_static():
    """Makes the files of layout 4."""
    import ribbon
    import writer
    for name, (m, k, given_up, _) in STATIC.items():
        f = writer.shape(bfs.LAYOUTS.get("static", 4), m, k, n=len(static_keys(name)), p=2**-k, seed=7)
        f.note = b"made for version 2.0 by the writer of the tests"
        digests = [writer.digest_of(f, key) for key in static_keys(name)]
        body = bytearray(ribbon.body(f.division, f.body_bytes, digests))
        size = f.division.shard_bytes
        for shard in given_up:
            body[size * shard:size * shard + 8] = b"\xff" * 8
        rest = size << f.division.shard_bits
        body[rest:] = b"\xa5" * (f.body_bytes - rest)
        path = FOLDER / name.removesuffix(".gz")
        path.unlink(missing_ok=True)
        writer.create_static(os.fsencode(path), f, digests, bytes(body))
        if name.endswith(".gz"):
            (FOLDER / name).write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


def make_growing():
    """Makes the files of layout 8. Each slice but the last one has as many keys as it is made for."""
    import writer
    for name, (k, first, durable, counted) in GROWING.items():
        f = writer.shape(bfs.LAYOUTS["growing"], 512, k, n=first, p=0.1, seed=7, growth=2)
        f.note = b"made for version 2.0 by the writer of the tests"
        path = FOLDER / name
        path.unlink(missing_ok=True)
        filter_ = writer.create(os.fsencode(path), f)
        for key in KEYS:
            filter_.add(key)
        filter_.sync(1, len(KEYS))
        assert filter_.counted() == durable, (name, filter_.counted())
        if counted == durable:
            filter_.close()
            continue
        for key in LATER_KEYS:
            filter_.add(key)
        assert filter_.counted() == counted, (name, filter_.counted())
        filter_.drop()
        data = bytearray(path.read_bytes())
        for slot in (PAGE, 2 * PAGE):
            data[slot + 16:slot + 32] = OTHER_BOOT
        seal_slots(data)
        path.write_bytes(data)


def main():
    if "--growing" in sys.argv:
        return make_growing()
    if "--windows" in sys.argv:
        return make_windows()
    if "--static" in sys.argv:
        return make_static()
    library = bfs.load(sys.argv[1])
    make_foreign(library)
    if "--foreign" in sys.argv:
        return
    make_jaybird(library)
    if "--jaybird" in sys.argv:
        return
    make_java(library)
    if "--java" in sys.argv:
        return
    make_seeded(library)
    if "--seeded" in sys.argv:
        return
    make_with_secret(library)
    if "--secret" in sys.argv:
        return
    good = make_file(library, "good_blocked.bf", note=b"made for version 2.0")
    make_file(library, "good_classic.bf", layout="classic")
    make_file(library, "good_external.bf", external=True, hash="external")
    make_buffer(library, "good_embedded.record", seed=7, note=b"embedded")
    make_buffer(library, "good_bare.trailer", flags=bfs.BARE, layout="classic")
    sealed = make_sealed(library, "good_sealed.bf", "good_classic.bf")
    (FOLDER / "BFS_EBODY__checksums_of_a_sealed_file_cut_off.bf").write_bytes(sealed[:-1])
    for rules in (IDENTITY, STATE):
        for defect, (change, code) in rules.items():
            if code is None or (rules is IDENTITY and defect not in BROKEN):
                continue
            break_file(good, defect, change, code)
    (FOLDER / "BFS_ECHECKSUM__one_bit_of_the_seed.bf").write_bytes(good[:64] + bytes([good[64] ^ 1]) + good[65:])
    (FOLDER / "BFS_EBODY__last_byte_cut_off.bf").write_bytes(good[:-1])
    (FOLDER / "BFS_ELIVEWORD__cut_in_its_body_and_grown_again.bf").write_bytes(good[:16384 + 64] + bytes(len(good) - 16384 - 64))
    (FOLDER / "BFS_ETOOSHORT__cut_in_the_live_page.bf").write_bytes(good[:16000])
    (FOLDER / "BFS_EMAGIC__zeros.bf").write_bytes(bytes(len(good)))


if __name__ == "__main__":
    main()
