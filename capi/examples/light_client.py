"""A light client of Bitcoin and the node that it asks (BIP-37): the client sends a filter of its scripts, the node sends what matches.

    python3 light_client.py watch filterload SCRIPT...    the client: makes the message's bytes; scripts in hexadecimal
    python3 light_client.py match filterload SCRIPT...    the node: prints the scripts that the client may want

Every script that the client watches matches. Others match by chance, which hides from the node which ones are the client's.
"""
import math
import pathlib
import secrets
import sys

import bfstore

MOST_BITS, MOST_PROBES = 36000 * 8, 50  # of the protocol


def seeds_of(count, tweak):
    return [(i * 0xFBA4C795 + tweak) % 2**32 for i in range(count)]


def watch(path, scripts, fpr=0.001):
    num_bits = min(MOST_BITS, max(8, 8 * math.ceil(-len(scripts) * math.log(fpr) / math.log(2) ** 2 / 8)))
    num_probes = max(1, min(MOST_PROBES, round(num_bits / len(scripts) * math.log(2))))
    seeds = seeds_of(num_probes, secrets.randbits(32))
    with bfstore.build(path + ".bf", scripts, num_bits=num_bits, num_probes=num_probes, layout="classic", hash="murmur3-unsigned",
                       seeds=seeds, replace=True) as wanted:  # fmt: skip
        pathlib.Path(path).write_bytes(wanted.export_foreign("bip37"))


def match(path, scripts):
    with bfstore.open_foreign(path, "bip37") as wanted:
        for script in scripts:
            if script in wanted:
                print(script.hex())


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, path, *scripts = sys.argv[1:]
    {"watch": watch, "match": match}[command](path, [bytes.fromhex(script) for script in scripts])
