#!/usr/bin/env python3
"""Makes a Markdown table of bfstatic's JSON; each figure is the median of the repetitions.

    bfstatic --keys 100000000 --json static.json && bench/report/static_table.py static.json
"""
import argparse
import collections
import json
import math
import statistics
import sys

from markdown_text import table

RIVALS = {"fuse8": "xor_singleheader", "rocksdb-ribbon": "librocksdb"}


def median_rows(data: dict) -> dict:
    """{filter: {"single" or "many": nanoseconds a key, "bits": of a key, "fpr": rate, "build": nanoseconds, "pages"}}"""
    samples = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in data["benchmarks"]:
        if row["run_type"] == "iteration":
            subject, way = row["run_name"].split("/")[:2]
            samples[subject][way].append(row["s/key"] * 1e9)
            for fact in ("bits", "fpr", "build", "pages"):
                samples[subject][fact].append(row[fact])
    if not samples:
        raise ValueError("nothing was measured")
    return {subject: {name: statistics.median(values) for name, values in facts.items()}
            for subject, facts in samples.items()}


def static_table(rows: dict, keys: int) -> str:
    blocked = rows["blocked"]
    lines = [[subject, f"{facts['bits']:.2f}", f"{100 * facts['fpr']:.3f} %",
              f"{facts['bits'] / -math.log2(facts['fpr']):.3f}" if facts["fpr"] else "",
              *(f"{facts[way]:.1f} ({facts[way] / blocked[way]:.2f})" for way in ("single", "many")),
              f"{facts['build']:.0f}", f"{facts['pages']:.2f}"] for subject, facts in rows.items()]
    left_out = [f"{name}: not measured, {library} is not there." for name, library in RIVALS.items() if name not in rows]
    return (f"## Static filters of {keys:,} keys\n\nNanoseconds a key that is absent, of the thread's CPU time; in brackets "
            "times blocked's. Least: times the least bits that any filter of this rate takes. Pages: of 4 KiB, that a cold "
            "lookup reads; of ours measured, 3,000 lookups of a file that was not in memory.\n\n" +
            table(["filter", "bits a key", "false positives", "least", "one lookup", "many", "build", "pages"], lines) +
            "".join("\n" + line + "\n" for line in left_out))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", help="what bfstatic wrote")
    path = parser.parse_args().json
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        print(static_table(median_rows(data), int(data["context"]["keys"])))
    except (OSError, ValueError, KeyError) as error:
        print(f"static_table.py: {path}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
