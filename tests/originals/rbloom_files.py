"""Files of rbloom: one with the hash function of its documentation, and one with SHA-256 of the text itself."""

import os
import sys
from hashlib import sha256
from importlib.metadata import version
from pickle import dumps

from rbloom import Bloom

from common import answers, keys, print_row, print_time


def number_of(digest):
    return int.from_bytes(digest[:16], "big", signed=True)


def of_pickle(obj):
    return number_of(sha256(dumps(obj, 4)).digest())


def of_text(text):
    return number_of(sha256(text.encode()).digest())


def make(name, prefix, count, capacity, rate, hash_func, key_form):
    made = Bloom(capacity, rate, hash_func)
    made.update(keys(count, prefix))
    path = os.path.join(sys.argv[1], name)
    with open(path, "wb") as file:
        file.write(made.save_bytes())
    opened = Bloom.load(path, hash_func)
    original = "rbloom " + version("rbloom")
    print_row(name, "rbloom", "hash=rbloom", prefix, count, answers(opened.__contains__), original, key_form)
    print_time(name, opened.__contains__)


make("rbloom.pickle.bloom", "key-", 1000, 1000, 0.01, of_pickle, "pickle4")
make("rbloom.text.bloom", "clé-", 333, 333, 0.002, of_text, "utf8")
