"""Makes the files of this folder: run by hand, once for each version of the format; the files are what is kept.

Arguments: the shared library. Every good file holds the keys of KEYS (digests of the external one: DIGESTS).
"""
import ctypes
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "format")]
import bfstore_ctypes as bfs
from breakage import IDENTITY, STATE, seal_identity

KEYS = [b"", b"alice", b"bob", bytes(range(256)), b"x" * 1000] + [b"key %d" % i for i in range(40)]
DIGESTS = [0, 1, 2**64 - 1, 0x0123456789ABCDEF]
# Of each code one file, so that the folder stays small.
BROKEN = ["magic of a file that went through text mode", "version_major 2", "form 0", "header_bytes 0", "reserved_a",
          "incompat, bit 0", "layout 3", "hash 3", "num_probes 65", "num_bits 0", "capacity 0", "canary", "body_offset 0"]


def fill(library, handle, external):
    for digest in DIGESTS if external else []:
        library.bfs_add_digest(handle, digest)
    for key in [] if external else KEYS:
        assert library.bfs_add(handle, key, len(key)) >= 0
    assert library.bfs_close(handle) == 0


def make_file(library, name, external=False, **given):
    path = FOLDER / name
    path.unlink(missing_ok=True)
    options = bfs.options(num_bits=1024, num_probes=5, capacity=60, seed=7, **given)
    fill(library, bfs.call(library.bfs_create, os.fsencode(path), options), external)
    return bytearray(path.read_bytes())


def make_sealed(library, name, source):
    path = FOLDER / name
    path.unlink(missing_ok=True)
    bfs.seal(library, os.fsencode(FOLDER / source), os.fsencode(path))
    return path.read_bytes()


def make_buffer(library, name, flags=0, **given):
    options = bfs.options(num_bits=1024, num_probes=5, capacity=60, flags=flags, **given)
    size = ctypes.c_uint64()
    assert library.bfs_required_bytes(ctypes.byref(options), ctypes.byref(size), None) == 0
    keep, address = bfs.aligned_buffer(size.value)
    fill(library, bfs.call(library.bfs_format, address, size.value, options), False)
    (FOLDER / name).write_bytes(ctypes.string_at(address, size.value))
    del keep


def main():
    library = bfs.load(sys.argv[1])
    good = make_file(library, "good_blocked.bf", note=b"made for version 1.0")
    make_file(library, "good_classic.bf", layout="classic")
    make_file(library, "good_external.bf", external=True, hash="external")
    make_buffer(library, "good_embedded.record", seed=7, note=b"embedded")
    make_buffer(library, "good_bare.trailer", flags=bfs.OPTION_BARE, layout="classic")
    sealed = make_sealed(library, "good_sealed.bf", "good_classic.bf")
    (FOLDER / "BFS_EBODY__checksums_of_a_sealed_file_cut_off.bf").write_bytes(sealed[:-1])
    for rules in (IDENTITY, STATE):
        for defect, (change, code) in rules.items():
            if code is None or (rules is IDENTITY and defect not in BROKEN):
                continue
            data = bytearray(good)
            change(data)
            if rules is IDENTITY:
                seal_identity(data)
            words = "".join(c if c.isalnum() else "_" for c in defect)
            (FOLDER / f"{code}__{words}.bf").write_bytes(data)
    (FOLDER / "BFS_ECHECKSUM__one_bit_of_the_seed.bf").write_bytes(good[:64] + bytes([good[64] ^ 1]) + good[65:])
    (FOLDER / "BFS_EBODY__last_byte_cut_off.bf").write_bytes(good[:-1])
    (FOLDER / "BFS_ETOOSHORT__cut_in_the_live_page.bf").write_bytes(good[:16000])
    (FOLDER / "BFS_EMAGIC__zeros.bf").write_bytes(bytes(len(good)))


if __name__ == "__main__":
    main()
