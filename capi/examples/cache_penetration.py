"""Requests for rows that do not exist reach neither the cache nor the database: the filter in front of both says no.

    python3 cache_penetration.py shop.db    makes 10,000 products, and asks for 1,000 that are there and 100,000 that are not

Without the filter an attacker who asks for ids at random makes each request a query: a cache has only rows that exist.
"""
import sqlite3
import sys

import bfstore


class Shop:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.cache, self.queries = {}, 0
        self.ids = bfstore.open(path + ".bf", "a", capacity=1_000_000, fpr=0.001)

    def insert(self, rows):
        """The filter has the keys before the rows are committed: a crash in between leaves a key too many, and never one too few."""
        rows = list(rows)
        self.ids.update(number for number, _ in rows)
        self.ids.sync()
        with self.database:
            self.database.executemany("INSERT OR REPLACE INTO products VALUES (?, ?)", rows)

    def product(self, number):
        if number not in self.ids:
            return None  # certain: no query
        if number not in self.cache:
            self.queries += 1
            row = self.database.execute("SELECT name FROM products WHERE id = ?", (number,)).fetchone()
            if row is None:
                return None  # a false positive: it is not cached, since there are too many of them
            self.cache[number] = row[0]
        return self.cache[number]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    shop = Shop(sys.argv[1])
    shop.database.execute("CREATE TABLE IF NOT EXISTS products (id INTEGER PRIMARY KEY, name TEXT)")
    shop.insert((number, f"product {number}") for number in range(0, 20_000, 2))
    found = sum(shop.product(number) is not None for number in range(0, 2_000, 2))
    wrong = sum(shop.product(number) is not None for number in range(1, 200_000, 2))
    print(f"{found} found, {wrong} wrong, {shop.queries} queries")
    shop.ids.close()


if __name__ == "__main__":
    main()
