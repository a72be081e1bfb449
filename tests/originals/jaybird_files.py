"""Files of ScalableBloomFilter of pybloom-live: filters that grow by 2 and by 4."""

import os
import sys
from importlib.metadata import version

from pybloom_live import ScalableBloomFilter

from common import answers, keys, print_row, print_time


def make(name, prefix, count, **size):
    made = ScalableBloomFilter(**size)
    for key in keys(count, prefix):
        made.add(key)
    path = os.path.join(sys.argv[1], name)
    with open(path, "wb") as file:
        made.tofile(file)
    with open(path, "rb") as file:
        opened = ScalableBloomFilter.fromfile(file)
    original = "pybloom-live " + version("pybloom-live")
    options = "hash=pybloom-live"
    print_row(name, "jaybird-scalable", options, prefix, count, answers(opened.__contains__), original)
    print_time(name, opened.__contains__)


make("jaybird.scalable-2.bloom", "key-", 1000, initial_capacity=100, error_rate=0.01, mode=2)
make("jaybird.scalable-4.bloom", "clé-", 900, initial_capacity=37, error_rate=0.05, mode=4)
