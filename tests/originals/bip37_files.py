"""Filters of BIP-37 in the form of the wire: CBloomFilter of python-bitcoinlib, with two tweaks."""

import os
import sys
from importlib.metadata import version

from bitcoin.bloom import CBloomFilter

from common import answers, keys, print_row


def make(name, prefix, count, capacity, rate, tweak, flags):
    made = CBloomFilter(capacity, rate, tweak, flags)
    for key in keys(count, prefix):
        made.insert(key.encode())
    path = os.path.join(sys.argv[1], name)
    with open(path, "wb") as file:
        file.write(made.serialize())
    with open(path, "rb") as file:
        opened = CBloomFilter.deserialize(file.read())
    original = "python-bitcoinlib " + version("python-bitcoinlib")
    print_row(name, "bip37", "-", prefix, count, answers(lambda key: opened.contains(key.encode())), original)


make("bip37.tweak-0.bloom", "key-", 1000, 1000, 0.01, 0, CBloomFilter.UPDATE_ALL)
make("bip37.tweak-2147483649.bloom", "clé-", 23, 23, 0.0001, 2147483649, CBloomFilter.UPDATE_NONE)
