"""Recommends articles that a user has not read: one filter has the pairs of user and article of all users.

    python3 unseen_articles.py read.bf USER ARTICLE...   prints the articles that USER has not read, and marks them as read

A false positive hides an article from one user in a thousand, who never notices. Nobody is shown an article twice.
"""
import sys

import bfstore


def unseen(read, user, articles):
    """Asks for all articles at once: the cache misses of a call with many keys are under way together."""
    pairs = [f"{user}\0{article}" for article in articles]
    for article, maybe in zip(articles, read.contains_many(pairs)):
        if not maybe:
            yield article


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    path, user, *articles = sys.argv[1:]
    with bfstore.open(path, "a", capacity=10_000_000, fpr=0.001) as read:
        for article in list(unseen(read, user, articles)):
            print(article)
            read.add(f"{user}\0{article}")
