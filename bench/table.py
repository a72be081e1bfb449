#!/usr/bin/env python3
"""Makes a Markdown table of bfbench's JSON: nanoseconds per key, and how many times the limit of the same run that is.

    bfbench --quick --json quick.json && bench/table.py quick.json

The limit of single lookups is the plain loop that touches one random line per key; that of many at once is the fastest
of the plain loop and the loops with a prefetch ahead (@ how many keys). `limit-line` reads all 64 bytes of the line with
the vectors that every machine has. For keys, these loops hash them. Adding is compared with loops that OR a word per
probe, which only a single writer may do; `limit-atomic` does it as several writers must.
"""
import argparse
import collections
import json
import pathlib
import statistics
import sys

Name = collections.namedtuple("Name", "num_keys memory subject operation way input present")
Group = collections.namedtuple("Group", "operation way input present")

# What the limit's loops do for an operation, and adding what is there already only reads.
LIMIT_OPERATION = {"contains": "contains", "again": "contains", "add": "add"}
TITLES = {"contains": "contains", "add": "add, new keys", "again": "add, keys already there"}
WAYS = {"single": "one by one", "many": "many at once"}


def name_of(benchmark: dict) -> Name:
    num_keys, *rest = benchmark["run_name"].split("/")  # Google Benchmark appends "/manual_time" and more
    return Name(int(num_keys), *rest[:len(Name._fields) - 1])


class Results:
    """What one run measured: the median over its repetitions, in nanoseconds per key."""

    def __init__(self, data: dict) -> None:
        self.context = data["context"]
        self.facts = {}
        samples = collections.defaultdict(list)
        for benchmark in data["benchmarks"]:
            if benchmark["run_type"] != "iteration":
                continue
            name = name_of(benchmark)
            if benchmark.get("error_occurred"):
                raise ValueError(f"{benchmark['run_name']}: {benchmark['error_message']}")
            samples[name].append(benchmark["real_time"] / benchmark["num_keys"])
            if "fpr" in benchmark:
                self.facts[name.num_keys, name.memory, name.subject] = benchmark
        self.median = {name: statistics.median(times) for name, times in samples.items()}
        self.repetitions = max(map(len, samples.values()))
        self.spread = statistics.median((max(times) - min(times)) / self.median[name]
                                        for name, times in samples.items())

    def places(self) -> list:
        return sorted({(name.num_keys, name.memory) for name in self.median})

    def time(self, place: tuple, subject: str, group: Group) -> float | None:
        return self.median.get(Name(*place, subject, *group))

    def limit(self, place: tuple, group: Group, subject: str = "limit") -> tuple:
        """The time of the limit's fastest loop that may be compared with the group, and the loop's name; or Nones."""
        operation = LIMIT_OPERATION[group.operation]
        loops = [(time, name.way) for name, time in self.median.items()
                 if (name.num_keys, name.memory) == place and name.subject == subject and name.operation == operation
                 and name.input == group.input and (name.way == "plain" or group.way == "many")]
        return min(loops, default=(None, None))

    def ratio(self, place: tuple, subject: str, group: Group, limit_group: Group | None = None,
              limit: str = "limit") -> float | None:
        time, (least, _) = self.time(place, subject, group), self.limit(place, limit_group or group, limit)
        return time / least if time is not None and least is not None else None


def table(header: list, rows: list) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    return "\n".join(lines)


def bytes_text(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"


def place_text(place: tuple) -> str:
    return f"{place[0]:,} {place[1]}"


def machine_text(results: Results) -> str:
    context = results.context
    load = context.get("load_avg") or [0]
    return "\n".join([
        f"- bfstore {context['bfstore']}, {context['bits_per_key']} bits a key, compiler {context['compiler']}",
        f"- {context['cpu']}, {context['num_cpus']} cores, {context['machine']}; {context['kernel']}; files on "
        f"{context['filesystem']}; load {load[0]:.1f} at the start",
        f"- {context['date']}; medians of {results.repetitions} repetitions in random order, whose times lie "
        f"{results.spread:.0%} apart in the median row (CPU time of the thread)"])


def filters_text(results: Results) -> str:
    rows = []
    for (num_keys, memory, subject), facts in sorted(results.facts.items()):
        rows.append([f"{num_keys:,} {memory}", subject, f"{facts['k']:.0f}", bytes_text(facts["body_bytes"]),
                     f"{facts['huge']:.0%}", f"{100 * facts['fpr']:.4f}", f"{100 * facts['theory']:.4f}",
                     f"{facts['fpr'] / facts['theory']:.3f}"])
    return table(["keys, memory", "layout", "k", "size", "in huge pages", "FPR %", "theory %", "ratio"], rows)


def cell(time: float | None, ratio: float | None, note: str = "") -> str:
    if time is None:
        return ""
    return f"{time:.3g}" + (f" ({ratio:.2f})" if ratio is not None else "") + note


def limit_row(results: Results, group: Group, subject: str) -> list:
    cells = []
    for place in results.places():
        time, way = results.limit(place, group, subject)
        note = "" if way in (None, "plain") or group.way == "single" else " @" + way.removeprefix("ahead-")
        least = results.limit(place, group)[0]
        ratio = time / least if time is not None and subject != "limit" else None
        cells.append(cell(time, ratio, note))
    return ["", subject, *cells]


def times_text(results: Results) -> str:
    names = [name for name in results.median if not name.subject.startswith("limit")]
    order = {word: i for i, word in enumerate(
        ["contains", "add", "again", "single", "many", "digests", "keys", "mixed", "absent", "present"])}
    groups = sorted({Group(*name[3:]) for name in names}, key=lambda group: [order[word] for word in group])
    rows = []
    for group in groups:
        asked = f", {group.present}" if group.operation == "contains" else ""
        title = f"{TITLES[group.operation]}, {WAYS[group.way]}, {group.input}{asked}"
        limits = ["limit", "limit-atomic" if group.operation == "add" else "limit-line"]
        subjects = sorted({name.subject for name in names if Group(*name[3:]) == group})
        lines = [limit_row(results, group, limit) for limit in limits]
        for subject in subjects:
            lines.append(["", subject, *(cell(results.time(place, subject, group), results.ratio(place, subject, group))
                                         for place in results.places())])
        lines[0][0] = title
        rows += lines
    return table(["ns a key (times the limit)", "", *map(place_text, results.places())], rows)


def goal_rows(results: Results) -> list:
    """Name of the goal, the most that is wanted, and a function from a place to what was measured there."""
    single, many = Group("contains", "single", "digests", "mixed"), Group("contains", "many", "digests", "mixed")
    many_keys, add = Group("contains", "many", "keys", "mixed"), Group("add", "many", "digests", "absent")

    def compare(place: tuple, group: Group, how) -> float | None:
        inlined, abi = results.time(place, "blocked", group), results.time(place, "blocked-abi", group)
        return how(abi, inlined) if inlined is not None and abi is not None else None

    def fpr(place: tuple, layout: str) -> float | None:
        facts = results.facts.get((*place, layout))
        return facts["fpr"] / facts["theory"] if facts else None

    rows = [("blocked, many at once, digests: times the limit", 1.10,
             lambda place: results.ratio(place, "blocked", many)),
            ("blocked, many at once, keys: times the limit for digests", 1.6,
             lambda place: results.ratio(place, "blocked", many_keys, many))]
    for present in ("mixed", "absent", "present"):
        group = single._replace(present=present)
        rows.append((f"blocked, one by one, {present}: times limit-line", 1.0,
                     lambda place, group=group: results.ratio(place, "blocked", group, limit="limit-line")))
    return rows + [
        ("C ABI, one by one: ns more than C++", 3.0, lambda place: compare(place, single, lambda abi, cpp: abi - cpp)),
        ("C ABI, many at once: times C++", 1.03, lambda place: compare(place, many, lambda abi, cpp: abi / cpp)),
        ("blocked, adding many beside other writers: times limit-atomic", 1.15,
         lambda place: results.ratio(place, "blocked", add, limit="limit-atomic")),
        ("blocked: FPR, times theory", 1.02, lambda place: fpr(place, "blocked")),
        ("classic: FPR, times theory", 1.02, lambda place: fpr(place, "classic"))]


def goals_text(results: Results) -> str:
    def text(value: float | None, most: float) -> str:
        return "" if value is None else f"{value:.2f} " + ("yes" if value <= most else "**no**")

    rows = [[name, f"{most:g}", *(text(measured(place), most) for place in results.places())]
            for name, most, measured in goal_rows(results)]
    return table(["goal", "at most", *map(place_text, results.places())], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, help="what bfbench --json wrote")
    path = parser.parse_args().json
    try:
        results = Results(json.loads(path.read_text("utf-8")))
        parts = [machine_text(results), filters_text(results), times_text(results), goals_text(results)]
    except (OSError, ValueError, KeyError) as error:
        print(f"table.py: {path}: not a whole result of bfbench: {error!r}", file=sys.stderr)
        return 1
    print("\n\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
