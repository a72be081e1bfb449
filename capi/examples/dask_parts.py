"""A filter that Dask builds by parts: some tasks sort the digests of keys, Dask moves them, other tasks build a part each.

    pip install 'dask[distributed]' ./capi/bindings/python
    python3 dask_parts.py EMPTY_FOLDER [KEYS]

One worker is killed in the middle of a part. Dask starts another one, which does all that was lost again.
"""
import os
import sys
import time

import dask
from distributed import Client, LocalCluster

import spread


def sort(first, keys):
    return spread.sorted_digests(spread.list_of(first, min(spread.LIST, keys - first)))


def build(folder, number, keys, pieces):
    return spread.build_part(folder, number, keys, pieces, number == 1 and is_first(os.path.join(folder, "killed")))


def is_first(path):
    """Returns whether this is the first attempt."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


def moved_bytes(dask_worker):
    """Returns the bytes that a living worker has sent to others."""
    return dask_worker.transfer_outgoing_bytes_total


def main():
    folder, keys = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      local_directory=folder) as cluster, Client(cluster) as client:
        begin = time.monotonic()
        lists = [dask.delayed(sort, nout=spread.PARTS)(first, keys) for first in range(0, keys, spread.LIST)]
        parts = [dask.delayed(build)(folder, number, keys, [one[number] for one in lists]) for number in range(spread.PARTS)]
        memory = dask.compute(*parts)
        built = time.monotonic()
        spread.join(folder)
        print(f"{keys:,} keys in {spread.PARTS} parts: {built - begin:.1f} s, and {time.monotonic() - built:.1f} s to join")
        moved = sum(client.run(moved_bytes).values())
        print(f"moved: {moved / 1e6:.1f} MB; memory of the worker of a part: at most {max(memory)} MB")
    assert os.path.exists(os.path.join(folder, "killed"))
    spread.check(folder, keys)


if __name__ == "__main__":
    main()
