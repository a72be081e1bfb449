"""A list of spammers with a white list: the filter has the spammers, and a small set has the good senders that it would catch.

    python3 spam_list.py build spam.bf SPAMMERS GOOD    files with an address a line; makes spam.bf and spam.bf.white
    python3 spam_list.py check spam.bf ADDRESS...       prints "spam" or "good" for each address

Every spammer is caught. Of the good senders that were known when the list was built, none is: those that the filter would catch are
few (one in a hundred), so they fit into memory. Of all others one in a hundred is, as with every Bloom filter.
"""
import pathlib
import sys

import bfstore


def lines_of(path):
    return [line.strip().lower() for line in pathlib.Path(path).read_text("utf-8").splitlines() if line.strip()]


def build(path, spammers, good):
    bad = set(lines_of(spammers))
    with bfstore.build(path, bad, fpr=0.01, replace=True) as spam:
        known = [address for address in lines_of(good) if address not in bad]
        caught = [known[i] for i in spam.select(known)]
    pathlib.Path(path + ".white").write_text("".join(address + "\n" for address in caught), encoding="utf-8")
    print(f"{len(caught)} of {len(known)} good senders are on the white list")


def check(path, addresses):
    white = set(lines_of(path + ".white"))
    with bfstore.open(path) as spam:
        for address in addresses:
            is_spam = address.lower() not in white and address.lower() in spam
            print(f"{address}: {'spam' if is_spam else 'good'}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, *arguments = sys.argv[1:]
    build(*arguments) if command == "build" else check(arguments[0], arguments[1:])
