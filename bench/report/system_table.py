#!/usr/bin/env python3
"""Makes Markdown tables of bfsystem's JSON; each figure is the median of the repetitions.

    bfsystem --quick --json system.json && bench/report/system_table.py system.json

What could not be measured is a row that says why.
"""
import argparse
import collections
import json
import pathlib
import statistics
import sys

from markdown_text import machine, table


class Results:
    """The facts and seconds of each row, or why there are none. Names are without Google Benchmark's own parts."""

    def __init__(self, data: dict) -> None:
        self.context = data["context"]
        self.facts = {}
        self.reasons = {}
        samples = collections.defaultdict(lambda: collections.defaultdict(list))
        for row in data["benchmarks"]:
            if row["run_type"] != "iteration":
                continue
            name = row["run_name"].split("/iterations:")[0]
            if row.get("error_occurred"):
                self.reasons[name] = row["error_message"]
                continue
            samples[name]["seconds"].append(row["real_time"] * 1e-9)
            for fact, value in row.items():
                if isinstance(value, float) and fact not in ("real_time", "cpu_time"):
                    samples[name][fact].append(value)
        self.facts = {name: {fact: statistics.median(values) for fact, values in facts.items()}
                      for name, facts in samples.items()}
        if not self.facts:
            raise ValueError("nothing was measured")
        self.samples = {name: dict(facts) for name, facts in samples.items()}
        self.repetitions = max(len(facts["seconds"]) for facts in samples.values())

    def names(self, first: str) -> list:
        """Sorts by words, and numbers as numbers."""
        found = [name for name in [*self.facts, *self.reasons] if name.startswith(first + "/")]
        return sorted(set(found), key=lambda name: [(word.isdigit(), int(word) if word.isdigit() else 0, word)
                                                    for word in name.split("/")])


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(value: float, other: float | None) -> str:
    return f"{value / other:.2f}" if other else ""


def bytes_text(value: float | None) -> str:
    if value is None:
        return ""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} GiB"


def section(results: Results, first: str, header: list, row_of) -> str:
    """`row_of` takes a row's words after `first` and its facts, and returns the cells. Empty if nothing was run."""
    rows = []
    for name in results.names(first):
        words = name.split("/")[1:]
        if name in results.reasons:
            rows.append([" ".join(words), f"not measured: {results.reasons[name]}", *[""] * (len(header) - 2)])
        else:
            rows.append(row_of(words, results.facts[name]))
    return table(header, rows) if rows else ""


def machine_text(results: Results) -> str:
    return "\n".join([
        *machine(results.context),
        f"- {results.context['date']}; medians of {results.repetitions} repetitions in random order, "
        "time of the clock"])


def processes_text(results: Results) -> str:
    titles = {"add": "add", "contains": "ask", "both": "add and ask in turn"}

    def row(words: list, facts: dict) -> list:
        alone = results.facts.get(f"processes/{words[0]}/1", {})
        # On a machine that others use too, only the CPU time tells how much the processes cost each other.
        return [titles[words[0]], words[1], number(facts["num_keys"] / facts["seconds"] / 1e6),
                ratio(alone["seconds"], facts["seconds"]) if alone else "",
                number(1e9 * facts["cpu_seconds"] / facts["num_keys"]),
                ratio(int(words[1]) * alone["cpu_seconds"], facts["cpu_seconds"]) if alone else ""]

    return section(results, "processes", ["one file", "processes", "million keys/s together", "times one process",
                                          "CPU ns a key", "times one, had each a core"], row)


def threads_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        alone = results.facts.get("threads/add/1")
        return [words[1], number(facts["num_keys"] / facts["seconds"] / 1e6),
                ratio(alone["seconds"], facts["seconds"]) if alone else ""]

    return section(results, "threads", ["adding in one call, threads", "million keys/s", "times one"], row)


def windows_text(results: Results) -> str:
    """Keys that expire: each kind next to the blocked layout, whose keys do not."""
    titles = {"add": "adding", "ask": "asking", "ask many": "asking many", "turn": "a turn", "write": "writing as much"}

    def row(words: list, facts: dict) -> list:
        alone = results.facts.get(f"windows/{words[0]}/blocked")
        of_blocked = ratio(facts["seconds"], alone["seconds"]) if alone else ""
        return [titles[words[0]], words[1], number(facts["bits_per_key"]), number(1e9 * facts["seconds"] / facts["num_keys"]),
                of_blocked, number(facts["bytes"] / facts["seconds"] / 1e6) if words[0] in ("turn", "write") else ""]

    return section(results, "windows", ["keys of a window, at 1 %", "layout", "bits for a key", "ns a key", "times blocked", "MB/s"], row)


def sharing_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        one = facts["rss_bytes"] / int(words[0])
        return [words[0], bytes_text(one), bytes_text(facts["pss_bytes"]), ratio(facts["pss_bytes"], one)]

    return section(results, "sharing", ["processes that have one file open", "each has resident", "PSS of all",
                                        "copies in memory"], row)


def opening_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        return [f"{bytes_text(float(words[0]))}, {words[1]}", number(facts["us_median"]), number(facts["us_p90"]),
                number(facts.get("pages_most")), bytes_text(facts.get("device_bytes"))]

    return section(results, "opening", ["opening for reading", "us, median", "us, 90th percentile",
                                        "pages brought into memory, at most", "read from the device"], row)


def cold_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        return [", ".join(words), number(facts["us_median"]), number(facts["us_p90"]), number(facts["faults_median"]),
                number(facts["faults_most"]), number(facts["major_median"]), number(facts["pages_median"]),
                number(facts.get("open_us")), number(facts.get("open_pages"))]

    return section(results, "cold", ["one lookup in a cold file", "us, median", "us, 90th percentile", "page faults",
                                     "at most", "major", "pages brought in", "opening it, us",
                                     "pages that brought in"], row)


def sync_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        return [f"{words[0]}, {words[1]}", bytes_text(facts["file_bytes"]), bytes_text(facts["huge_bytes"]),
                number(1e3 * facts["seconds"]), bytes_text(facts["dirtied_bytes"]),
                bytes_text(facts.get("device_bytes"))]

    return section(results, "sync", ["100 keys and a sync; pages as they were", "file",
                                     "in huge pages", "ms", "made dirty by the process",
                                     "written to the device by all"], row)


def text_text(results: Results) -> str:
    def seconds(name: str) -> float | None:
        return results.facts.get(f"text/{name}", {}).get("seconds")

    def row(words: list, facts: dict) -> list:
        return [words[0], number(facts["num_keys"] / facts["seconds"] / 1e6),
                number(1e9 * facts["seconds"] / facts["num_keys"]), ratio(facts["seconds"], seconds("wc -l")),
                ratio(facts["seconds"], seconds("sort -u")),
                number(1e9 * facts["cpu_seconds"] / facts["num_keys"])]

    return section(results, "text", ["lines of 16 to 32 bytes", "million lines/s", "ns a line", "times wc -l",
                                     "times sort -u", "CPU ns a line"], row)


def sets_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        cat = results.facts.get("sets/cat of 1 file")
        rate = facts["bytes"] / facts["seconds"]
        return [words[0], bytes_text(facts["bytes"]), number(1e3 * facts["seconds"]), number(rate / 1e9),
                ratio(rate, cat["bytes"] / cat["seconds"]) if cat else ""]

    return section(results, "sets", ["files of filters, up to the disk", "read", "ms", "GB/s read", "times cat"], row)


def limited_text(results: Results) -> str:
    def row(words: list, facts: dict) -> list:
        cat = results.facts.get("limited/cat")
        return [words[0], bytes_text(facts["file_bytes"]), bytes_text(facts["limit_bytes"]), f"{facts['num_keys']:,.0f}",
                number(facts["seconds"]), number(1e6 * facts["seconds"] / facts["num_keys"]),
                ratio(facts["seconds"], cat["seconds"]) if cat else ""]

    return section(results, "limited",
                   ["a cold file that is larger than memory", "file", "memory", "keys", "s", "us a key", "times cat"], row)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, help="what bfsystem --json wrote")
    path = parser.parse_args().json
    try:
        results = Results(json.loads(path.read_text("utf-8")))
        parts = [text(results) for text in (machine_text, processes_text, threads_text, windows_text, sharing_text, opening_text, cold_text,
                                            sync_text, text_text, sets_text, limited_text)]
    except (OSError, ValueError, KeyError) as error:
        print(f"system_table.py: {path}: not a whole result of bfsystem: {error!r}", file=sys.stderr)
        return 1
    print("\n\n".join(part for part in parts if part))
    return 0


if __name__ == "__main__":
    sys.exit(main())
