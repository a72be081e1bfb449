"""The place of a file as a slot has it (FORMAT.md, "When a dirty file may be used"), and whether a slot says here and now.
Needs python3-xxhash, and Linux.
"""
import contextlib
import ctypes
import os
import struct

from xxhash import xxh3_64_intdigest as xxh3

LIBC = ctypes.CDLL(None, use_errno=True)


def inode_mark(fd):
    handle, mount_id, known = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136), ctypes.c_int(), b""
    for flags in (0x1000, 0x1000 | 0x200):  # AT_EMPTY_PATH, AT_HANDLE_FID
        if not known and LIBC.name_to_handle_at(fd, b"", handle, ctypes.byref(mount_id), flags) == 0:
            known = handle.raw[4:8 + int.from_bytes(handle.raw[:4], "little")]
    statx = ctypes.create_string_buffer(256)
    if LIBC.statx(fd, b"", 0x1000, 0x800, statx) == 0 and int.from_bytes(statx[:4], "little") & 0x800:  # STATX_BTIME
        known += statx[80:92]
    return xxh3(known, 0) if known else 0


def place(fd):
    """Returns boot_id, device, inode, inode_mark and mount, as a slot has them."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = bytes.fromhex(file.read().strip().replace("-", ""))
    at, mount = os.fstat(fd), 0
    for kind in ("ext4", "xfs", "f2fs"):
        with contextlib.suppress(OSError):
            device = os.path.basename(os.readlink(f"/sys/dev/block/{os.major(at.st_dev)}:{os.minor(at.st_dev)}"))
            mount = os.stat(f"/sys/fs/{kind}/{device}").st_ino
    return boot + struct.pack("<QQQQ", at.st_dev, at.st_ino, inode_mark(fd), mount)


def here_and_now(fd, slot):
    """Returns whether the slot, a page, has this system's boot id and the place of this file."""
    (boot, *at, mark, mount), (our_boot, *our_at, our_mark, our_mount) = (
        struct.unpack("<16s4Q", one) for one in (slot[16:64], place(fd)))
    unlike = lambda one, other: one and other and one != other
    return any(boot) and (boot, at) == (our_boot, our_at) and not unlike(mark, our_mark) and not unlike(mount, our_mount)


def is_elsewhere(fd, slot):
    """Returns whether the slot is of a known place that is not here and now."""
    return any(slot[16:32]) and not here_and_now(fd, slot)
