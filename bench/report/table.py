#!/usr/bin/env python3
"""Makes a Markdown table of bfbench's JSON: nanoseconds per key, and how that compares within the same run.

    bfbench --quick --json quick.json && bench/report/table.py quick.json

The limit of single lookups is the plain loop that touches one random line per key; that of many at once is the fastest
of the plain loop and the loops with a prefetch ahead (@ how many keys). `limit-line` reads all 64 bytes of the line
with the vectors that every machine has. For keys, these loops hash them. Adding is compared with loops that read the
line and write it back, which only a single writer may do; `limit-atomic` does a fetch_or for each probe, as several
writers must.

The best rival is the fastest whose false-positive rate is not lower than ours by more than 2 % (and what chance makes
of equal ones). Rivals are on the heap.
"""
import argparse
import json
import pathlib
import sys

from markdown_text import machine, table
from results import CHANGES, MANY, Group, Place, Results

TITLES = {"contains": "contains", "add": "add, new keys", "again": "add, keys already there",
          "remove": "remove"}
WAYS = {"single": "one by one", "branchy": "one by one, branched on", "many": "many at once",
        "sorted": "millions at once, sorted"}
ORDER = {word: i for i, word in enumerate(
    ["contains", "add", "again", "remove", "single", "branchy", "many", "sorted", "digests", "keys", "keys-16", "mixed", "absent",
     "present"])}
NOTES = """\
- `blocked`, `classic`, `counting`: ours, C++; `-abi`: the same filter by way of the shared library's C ABI; `-inline`: lookups inlined
  into the loop, built for this very CPU; `-pointer`: a call by the handle's own pointer, as a C header could inline it; `-plt`: the C
  ABI as a program calls it that is linked with the shared library, keys (of 16 bytes) with one call; `-plt-twice`: bfs_digest, then
  bfs_contains_digest; `limit-call`: a call of a shared library's function that does nothing; `-alone`: adding by a handle that is the
  only one that adds
- `boost-...`: Boost.Bloom's `fast_multiblock32<8>`, `fast_multiblock64<8>`, `block<uint64_t[8], k>` and `block<unsigned
  char, 1>` with k probes; built for this very CPU; its own calls for many keys; `-equal` has as many bits a key as it takes to
  reach the rate that `blocked` promises
- `rocksdb`: librocksdb's reader and builder, which hash a digest as a key of 8 bytes once more; `rocksdb-digest`: its
  test of hashed keys; `rocksdb-avx2`: the same filter with the vectors that RocksDB has where it is built for AVX2,
  written anew because Debian's is not
- `leveldb`, `libbloom`: a digest is a key of 8 bytes, which they hash once more; `std-set`: std::unordered_set
- `counting` has four bits for each bit of the others, and `btllib`, a filter with counters of 8 bits, has as many; what is
  removed are keys that were added besides, as often as the filter is asked; `btllib` removes none
- rivals are given digests unless it says otherwise, and lie on the heap in huge pages as ours, but for `std-set`, `btllib`
  and small `libbloom`s"""


def place_text(place: Place) -> str:
    return f"{place.num_keys:,} {place.memory}"


def machine_text(results: Results) -> str:
    return "\n".join([
        *machine(results.context),
        f"- {results.context['date']}; medians of up to {results.repetitions} repetitions in random order, whose times "
        f"lie {results.spread:.0%} apart in the median row (CPU time of the thread)"])


def filters_text(results: Results, bits: float) -> str:
    """A row for each filter, with its facts in its largest size and its FPR in each size."""
    sizes = sorted({place.num_keys for place in results.places(bits)})
    rows = []
    for memory, subject in sorted({(place.memory, name) for place, name in results.facts if place.bits == bits},
                                  key=lambda pair: (results.is_rival(pair[1]), *pair)):
        facts = {size: results.facts.get((Place(size, bits, memory), subject)) for size in sizes}
        largest, last = max((size, fact) for size, fact in facts.items() if fact is not None)
        rates = []
        for fact in facts.values():
            theory = f" ({fact['fpr'] / fact['theory']:.3f})" if fact and "theory" in fact else ""
            rates.append(f"{100 * fact['fpr']:.4f}{theory}" if fact else "")
        rows.append([f"{subject} {memory}", f"{last['k']:.0f}", f"{8 * last['body_bytes'] / largest:.2f}",
                     f"{last['huge']:.0%}", *rates])
    header = ["filter", "k", "bits a key", "in huge pages", *(f"FPR % (times theory), {size:,}" for size in sizes)]
    return table(header, rows)


def cell(time: float | None, ratios: list, note: str = "") -> str:
    if time is None:
        return ""
    known = [f"{ratio:.2f}" for ratio in ratios if ratio is not None]
    return f"{time:.3g}" + (f" ({', '.join(known)})" if known else "") + note


def limit_row(results: Results, bits: float, group: Group, subject: str) -> list:
    cells = []
    for place in results.places(bits):
        time, way = results.limit(place, group, subject)
        note = "" if way in (None, "plain") or group.way not in MANY else " @" + way.removeprefix("ahead-")
        least = results.limit(place, group)[0]
        cells.append(cell(time, [time / least if time is not None and subject != "limit" else None], note))
    return [subject, *cells]


def subject_row(results: Results, bits: float, group: Group, subject: str, rival: bool) -> list:
    def text(place: Place) -> str:
        ratios = [results.ratio(place, subject, group)]
        if not rival:
            ratios.append(results.against_best(place, subject, group))
        return cell(results.time(place, subject, group), ratios)
    return [subject, *map(text, results.places(bits))]


def best_row(results: Results, bits: float, group: Group) -> list:
    ours = next((name for name in ("blocked", "counting") if name in results.subjects(bits, group, False)), "blocked")
    return [f"best rival of `{ours}`", *(results.best_rival(place, ours, group)[1] or ""
                                         for place in results.places(bits))]


def times_text(results: Results, bits: float) -> str:
    rows = []
    for group in sorted(results.groups(bits), key=lambda group: [ORDER[word] for word in group]):
        asked = f", {group.present}" if group.operation == "contains" else ""
        limits = ["limit", "limit-atomic" if group.operation in CHANGES else "limit-line"]
        limits += ["limit-call"] if (group.way, group.input) == ("single", "digests") and group.operation == "contains" else []
        lines = [row for row in (limit_row(results, bits, group, limit) for limit in limits) if any(row[1:])]
        for rival in (False, True):
            lines += [subject_row(results, bits, group, subject, rival)
                      for subject in results.subjects(bits, group, rival)]
        best = best_row(results, bits, group)
        lines += [best] if any(best[1:]) else []
        titles = [f"{TITLES[group.operation]}, {WAYS[group.way]}, {group.input}{asked}"]
        rows += [[title, *line] for title, line in zip(titles + [""] * len(lines), lines)]
    header = ["ns a key (times the limit, ours: times the best rival)", "", *map(place_text, results.places(bits))]
    return table(header, rows)


# A title, the operation, and the way in which we do it.
EQUAL_COLUMNS = [("one by one", Group("contains", "single", "digests", "mixed"), "blocked-inline"),
                 ("many at once", Group("contains", "many", "digests", "mixed"), "blocked"),
                 ("add, one by one", Group("add", "single", "digests", "absent"), "blocked-alone"),
                 ("add, many at once", Group("add", "many", "digests", "absent"), "blocked-alone")]


def equal_rates_text(results: Results, bits: float) -> str:
    """A row for each filter on the heap whose rate is ours: the blocked one, and rivals with as many bits as that takes."""
    rows = []
    for place in results.places(bits):
        for subject in results.equal_rate(place):
            facts = results.facts[place, subject]
            times = [results.time(place, ours if subject == "blocked" else subject, group) for _, group, ours in EQUAL_COLUMNS]
            rows.append([f"{place.num_keys:,}", subject, f"{8 * facts['body_bytes'] / place.num_keys:.2f}",
                         f"{100 * facts['fpr']:.4f}", *(cell(time, []) for time in times)])
    header = ["keys", "ns a key at equal rates", "bits a key", "FPR %", *(title for title, _, _ in EQUAL_COLUMNS)]
    return table(header, rows) if rows else ""


def goals_text(results: Results, bits: float) -> str:
    def text(value: float | None, most: float) -> str:
        return "" if value is None else f"{value:.2f} " + ("yes" if value <= most else "**no**")

    rows = [[name, f"{most:g}", *(text(measured(place), most) for place in results.places(bits))]
            for name, most, measured in results.goals()]
    return table(["goal", "at most", *map(place_text, results.places(bits))], rows)


def not_measured_text(results: Results) -> str:
    where = {}
    for num_keys, bits, rival, why in results.not_measured():
        where.setdefault((rival, why), []).append(f"{num_keys:,} at {bits:g} bits")
    return table(["not measured", "keys", "why"], [[rival, ", ".join(at), why] for (rival, why), at in where.items()])


def python_text(python: dict) -> str:
    """The results of bench/rivals/python_rivals.py: a line for each filter, a column for each operation."""
    lines, columns = {}, {}
    for row in python["rows"]:
        column = f"{row['way']}, {row['present']}" if row["way"] in WAYS.values() else row["way"]
        line = lines.setdefault((row["num_keys"], row["bits_per_key"], row["subject"]), {"fpr": row["fpr"]})
        line[column] = columns[column] = row["ns"]
    rows = [[subject, f"{num_keys:,}", f"{bits:g}", f"{100 * line['fpr']:.4f}",
             *(f"{line[column]:.3g}" if column in line else "" for column in columns)]
            for (num_keys, bits, subject), line in sorted(lines.items())]
    rows += [[subject, "", "", "", "not measured: " + why, *[""] * (len(columns) - 1)]
             for subject, why in python["not_measured"].items()]
    return table(["ns a key, from Python", "keys", "bits a key", "FPR %", *(columns or ["why"])], rows)


def report(results: Results, python: dict | None) -> str:
    parts = ["# bfbench", machine_text(results), NOTES]
    for bits in results.bits():
        parts += [f"## {bits:g} bits a key", goals_text(results, bits), filters_text(results, bits),
                  equal_rates_text(results, bits), times_text(results, bits)]
    if results.not_measured():
        parts += ["## Not measured", not_measured_text(results)]
    if python is not None:
        parts += ["## From Python", python["note"], python_text(python)]
    return "\n\n".join(part for part in parts if part)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, help="what bfbench --json wrote")
    parser.add_argument("--python", type=pathlib.Path, help="what python_rivals.py wrote")
    parser.add_argument("--summary", type=pathlib.Path, help="write the same as JSON to this file")
    arguments = parser.parse_args()
    path = arguments.json
    try:
        results = Results(json.loads(path.read_text("utf-8")))
        python = None
        if arguments.python is not None:
            path = arguments.python
            python = json.loads(path.read_text("utf-8"))
        text = report(results, python)
        if arguments.summary is not None:
            path = arguments.summary
            path.write_text(json.dumps({**results.summary(), "python": python}, indent=1), "utf-8")
    except (OSError, ValueError, KeyError) as error:
        print(f"table.py: {path}: not a whole result of bfbench: {error!r}", file=sys.stderr)
        return 1
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
