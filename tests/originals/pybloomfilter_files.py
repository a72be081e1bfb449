"""Files of BloomFilter of pybloomfiltermmap3: one of a capacity and a rate, and one of five listed seeds."""

import os
import random
import sys
from importlib.metadata import version

from pybloomfilter import BloomFilter

from common import answers, keys, print_row, print_time


def make(name, prefix, count, *size, **more):
    path = os.path.join(sys.argv[1], name)
    made = BloomFilter(*size, path, **more)
    for key in keys(count, prefix):
        made.add(key)
    made.sync()
    made.close()
    opened = BloomFilter.open(path, "r")
    original = "pybloomfiltermmap3 " + version("pybloomfiltermmap3")
    print_row(name, "pybloomfilter", "-", prefix, count, answers(opened.__contains__), original)
    print_time(name, opened.__contains__)


random.seed(1)  # its seeds
make("pybloomfilter.capacity-1000.bloom", "key-", 1000, 1000, 0.01)
make("pybloomfilter.five-seeds.bloom", "schlüssel-", 700, 777, 0.03, hash_seeds=[0, 1, 0xFFFFFFFF, 42, 0x80000000])
