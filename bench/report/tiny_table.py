#!/usr/bin/env python3
"""Makes a Markdown table of bftiny's JSON; each figure is the median of the repetitions.

    bftiny --benchmark_repetitions=9 --benchmark_out=tiny.json && bench/report/tiny_table.py tiny.json
"""
import argparse
import collections
import json
import statistics
import sys

from markdown_text import table

RIVAL = "leveldb"


def median_rows(data: dict) -> dict:
    """{filter: {"build" or "contains": nanoseconds a key, "fpr": rate, "bytes": of one filter}}"""
    samples = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in data["benchmarks"]:
        if row["run_type"] == "iteration":
            subject, operation = row["run_name"].split("/")
            samples[subject][operation].append(row["s/key"] * 1e9)
            for fact in ("fpr", "bytes"):
                samples[subject][fact].append(row[fact])
    if not samples:
        raise ValueError("nothing was measured")
    return {subject: {name: statistics.median(values) for name, values in facts.items()}
            for subject, facts in samples.items()}


def cell(value: float, rival: float | None) -> str:
    return f"{value:.1f}" + (f" ({value / rival:.2f})" if rival else "")


def tiny_table(rows: dict) -> str:
    rival = rows.get(RIVAL, {})
    lines = [[subject, *(cell(facts[operation], rival.get(operation)) for operation in ("build", "contains")),
              f"{100 * facts['fpr']:.2f} %", f"{facts['bytes']:.0f}"] for subject, facts in sorted(rows.items())]
    note = f"In brackets: times {RIVAL}'s." if rival else f"{RIVAL}: not measured, it is not installed."
    return ("## Filters of 33 keys\n\nNanoseconds a key, warm, at least 10 bits a key. " + note + "\n\n" +
            table(["filter", "build", "one lookup", "false positives", "bytes"], lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", help="what bftiny wrote")
    path = parser.parse_args().json
    try:
        with open(path, encoding="utf-8") as file:
            print(tiny_table(median_rows(json.load(file))))
    except (OSError, ValueError, KeyError) as error:
        print(f"tiny_table.py: {path}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
