#!/usr/bin/env python3
"""Makes a Markdown table of bfbulk's JSON files; each figure is the median of the repetitions.

    bfbulk --json bulk.json && bench/report/bulk_table.py bulk.json
"""
import argparse
import json
import pathlib
import sys

from bulk import Bulk, Name
from markdown_text import table

NOTE = """\
Nanoseconds a digest, one thread, CPU time. Sorted: with memory of the caller's in which the library sorts the digests; for a
rival, whose call does not sort, the caller asks by 512 partitions and puts the answers in order. `limit` reads the filter once in
order, and the digests, and writes an answer for each. Rivals have as many bits as it takes to reach our rate. `blocked-alone` adds
to an empty filter. Pages: of the filter, and of the memory for sorting."""


def cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def rows_of(bulk: Bulk, batch: tuple) -> list:
    rows = []
    subjects = sorted({(name.operation, name.subject) for name in bulk.samples if name[:3] == batch and name.subject != "limit"},
                      key=lambda pair: (pair[0] != "contains", pair[1]))
    limit = bulk.time(Name(*batch, "limit", "contains", "stream"))
    for operation, subject in subjects:
        plain, in_order = (bulk.time(Name(*batch, subject, operation, way)) for way in ("many", "sorted"))
        facts = bulk.facts.get((batch[0], batch[2], subject), {})
        times = f"{plain / in_order:.2f}" if plain and in_order else ""
        rows.append([f"{batch[0]:,}", "4 KiB" if batch[2] == "small" else "2 MiB", f"{batch[1]:,}", f"{operation}, {subject}", cell(plain),
                     cell(in_order), times, cell(limit) if operation == "contains" else "",
                     f"{100 * facts['fpr']:.4f}" if "fpr" in facts else ""])
    return rows


def bulk_text(bulk: Bulk) -> str:
    rows = [row for batch in bulk.batches() for row in rows_of(bulk, batch)]
    header = ["bytes of the filter", "pages", "digests", "", "as they come", "sorted", "times as fast", "limit", "FPR %"]
    return "\n\n".join(["## Large batches", NOTE, table(header, rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, nargs="+", help="what bfbulk --json wrote")
    paths = parser.parse_args().json
    try:
        text = bulk_text(Bulk([json.loads(path.read_text("utf-8")) for path in paths]))
    except (OSError, ValueError, KeyError) as error:
        print(f"bulk_table.py: {', '.join(map(str, paths))}: not a whole result of bfbulk: {error!r}", file=sys.stderr)
        return 1
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
