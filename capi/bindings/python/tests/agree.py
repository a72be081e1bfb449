"""The program that tests/bindings/ runs for this language: languages.py there has its interface."""

import sys

import bfstore


def keys(prefix, count):
    return [f"{prefix}-{number}" for number in range(int(count))]


def create(path, capacity):
    bfstore.create(path, int(capacity), fpr=0.01).close()


def add(path, prefix, count):
    with bfstore.open(path, "r+") as opened:
        for key in keys(prefix, count)[::2]:
            opened.add(key)
        opened.add_many(keys(prefix, count)[1::2])


def ask(path, prefix, count):
    with bfstore.open(path) as opened:
        single = [key in opened for key in keys(prefix, count)]
        if single != [bool(answer) for answer in opened.contains_many(keys(prefix, count))]:
            sys.exit("one by one and as a batch are not the same")
    print("".join(str(int(answer)) for answer in single))


def fail(path):
    try:
        bfstore.open(path)
    except bfstore.Error as error:
        print(error.code, error.os_errno, type(error).__name__)
    else:
        sys.exit("opened")


{"create": create, "add": add, "ask": ask, "fail": fail}[sys.argv[1]](*sys.argv[2:])
