#!/usr/bin/env python3
"""Makes a Markdown table of the aims for speed, from the results of one run of tools/bench: each is reached, or not, with the figure.

    bench/report/aims.py bench-results/full [--before OLD/bench-results/full]

The argument is how the names of the JSON files begin. A figure is the median of the repetitions, or a ratio or difference of
medians, with the lowest and the highest value that the repetitions allow. No figure is written here: an aim whose measurements are
not in the files is "not measured here". Some aims are about the code of an older commit. They need its results, made on the same
machine by its own tools/bench: --before.
"""
import argparse
import collections
import glob
import json
import pathlib
import statistics
import sys

from bulk import Bulk
from bulk import Name as Batch
from markdown_text import machine, table
from results import Group, Name, Results
import system_table

OLD = "2d8dbac"
# What the older commit took, for the reader: nothing is computed from these. Nanoseconds, but for `bf build`.
OLD_MACHINE = "a virtual Xeon with AVX-512, two shared cores, in November 2026"
OLD_INLINED = {100_000: "2.05", 1_000_000: "3.61", 100_000_000: "17.0"}
OLD_SHARED_ADD = {100_000: "44 to 57", 100_000_000: "88 to 124"}
OLD_BULK_ADD = {"huge": "18.5 to 28", "small": "46 to 52"}
OLD_BUILD = "0.0511 s of CPU"  # a million lines, of a hundred million

SINGLE = Group("contains", "single", "digests", "mixed")
SINGLE_KEY = Group("contains", "single", "keys-16", "mixed")
ADD = Group("add", "single", "digests", "absent")
ADD_MANY = Group("add", "many", "digests", "absent")
ADD_SORTED = Group("add", "sorted", "digests", "absent")
LOOP = Group("contains", "plain", "digests", "mixed")
BITS = 10.0
LANGUAGES = ("python", "rust", "java", "go", "node")
LARGE = ((128_000_000, 10_000_000, {"huge": 1.3, "small": 2.4}), (1_280_000_000, 100_000_000, {"huge": 1.7, "small": 3.4}),
         (8_000_000_000, 100_000_000, {"huge": 2.3, "small": 4.0}))
PAGES = {"huge": "2 MiB pages", "small": "4 KiB pages"}
FEWEST_SORTED = 3_145_728
THREADS_SCALE = 1.6  # two threads share the memory's bandwidth, and here a core

Figure = collections.namedtuple("Figure", "value low high")
Row = collections.namedtuple("Row", "part aim figure wanted verdict")


# --- Figures of samples: lists of measured times, or None -------------------------------------------------------------------

def time(samples):
    return samples and Figure(statistics.median(samples), min(samples), max(samples))


def ratio(ours, other):
    return ours and other and Figure(statistics.median(ours) / statistics.median(other), min(ours) / max(other), max(ours) / min(other))


def difference(ours, other):
    return ours and other and Figure(statistics.median(ours) - statistics.median(other), min(ours) - max(other), max(ours) - min(other))


def fastest(*samples):
    return min((one for one in samples if one), key=statistics.median, default=None)


def number(value):
    return f"{value:.3g}"


def text_of(figure, unit):
    spread = f" ({number(figure.low)} to {number(figure.high)})" if number(figure.low) != number(figure.high) else ""
    return number(figure.value) + spread + (f" {unit}" if unit else "")


def verdict_of(figure, most, least):
    reached = figure.value <= most if most is not None else figure.value >= least
    bound = most if most is not None else least
    word = "reached" if reached else "**not reached**"
    return word + (", within the spread" if figure.low < bound < figure.high else "")


def row(part, aim, figure, why, *, most=None, least=None, unit="x", note=""):
    """`why` says what the run lacks, if there is no figure. `note` is said of the figure."""
    wanted = f"at most {most:g}" if most is not None else f"at least {least:g}"
    wanted += f" {unit}"
    if figure is None:
        return Row(part, aim, note, wanted, f"not measured here: {why}")
    return Row(part, aim, "; ".join(filter(None, [text_of(figure, unit), note])), wanted, verdict_of(figure, most, least))


# --- One run ----------------------------------------------------------------------------------------------------------------

def parsed(path, made=lambda data: data):
    try:
        return made(json.loads(pathlib.Path(path).read_text("utf-8")))
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path}: not whole results of tools/bench: {error!r}") from error


class Run:
    """The files of one run of tools/bench. A file that is missing has measured nothing."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.filters = self.read("raw", Results)
        self.system = self.read("system", system_table.Results)
        self.languages = self.read("languages")
        bulk = [parsed(path) for path in sorted(glob.glob(f"{glob.escape(prefix)}-bulk-*.json"))]
        self.bulk = Bulk(bulk) if bulk else None
        if not (self.filters or self.system or self.languages or self.bulk):
            raise ValueError(f"there is no result whose name begins with {prefix}")

    def read(self, name, *made):
        path = f"{self.prefix}-{name}.json"
        return parsed(path, *made) if pathlib.Path(path).exists() else None

    def filter(self, num_keys, subject, group, memory="heap"):
        """The samples of bfbench."""
        return self.filters and self.filters.samples.get(Name(num_keys, BITS, memory, subject, *group))

    def large(self, filter_bytes, num_digests, pages, subject, operation, way):
        """The samples of bfbulk."""
        return self.bulk and self.bulk.samples.get(Batch(filter_bytes, num_digests, pages, subject, operation, way))

    def vectors(self):
        return self.filters.context.get("inlined_for") if self.filters else None


def lacks(num_keys):
    return f"no filter of {num_keys:,} keys in this run"


def against_old(part, aim, ours, old, was, before, most, why, unit="ns"):
    """A row about the older commit: compared only with its own results on this machine."""
    figure = ratio(ours, old)
    note = f"{text_of(time(ours), unit)} a key" if ours and unit == "ns" else ""
    note = "; ".join(filter(None, [note, f"{was} at {OLD} on another machine" if was else ""]))
    if ours and not old:
        why = f"no such figure in the results of {OLD}" if before else f"no results of {OLD} on this machine (--before)"
    return row(part, f"{aim}: times {OLD}", figure, why, most=most, note=note)


# --- The aims ---------------------------------------------------------------------------------------------------------------

def one_by_one(run, before):
    of_vectors = {"AVX-512": (0.80, 1.0), "AVX2": (0.92, 1.05)}.get(run.vectors(), (0.80, 1.0))
    built = f", built for {run.vectors()}" if run.vectors() else ""
    for num_keys in OLD_INLINED:
        ours, old = (of and of.filter(num_keys, "blocked-inline", SINGLE) for of in (run, before))
        yield against_old(1, f"a lookup inlined, {num_keys:,} keys{built}", ours, old, f"{OLD_INLINED[num_keys]} ns", before, of_vectors[0],
                          lacks(num_keys))
    for num_keys in OLD_INLINED:
        ours, rocksdb = run.filter(num_keys, "blocked-inline", SINGLE), run.filter(num_keys, "rocksdb-avx2", SINGLE)
        yield row(1, f"a lookup inlined, {num_keys:,} keys{built}: times RocksDB's test for AVX2", ratio(ours, rocksdb),
                  "RocksDB's was not measured" if ours else lacks(num_keys), most=of_vectors[1])
    num_keys = 100_000_000
    yield row(1, f"a lookup inlined, {num_keys:,} keys: times the loop that reads the whole line",
              ratio(run.filter(num_keys, "blocked-inline", SINGLE), run.filter(num_keys, "limit-line", LOOP)), lacks(num_keys), most=1.05)
    yield Row(1, "instructions of an inlined lookup, and nothing reloaded", "", "held by a test",
              "not measured here: the suite's test of machine code counts them")


def by_the_abi(run):
    num_keys = 100_000
    plt = run.filter(num_keys, "blocked-plt", SINGLE)
    yield row(2, "bfs_contains_digest, in cache: ns more than an empty call, both through the linkage table",
              difference(plt, run.filter(num_keys, "limit-call", LOOP)), lacks(num_keys), most=1.0, unit="ns")
    yield row(2, "a call by the handle's pointer, which a header could inline if it earned 15 %: times bfs_contains_digest",
              ratio(run.filter(num_keys, "blocked-pointer", SINGLE), plt), lacks(num_keys), most=0.85)
    once, twice = (run.filter(num_keys, subject, SINGLE_KEY) for subject in ("blocked-plt", "blocked-plt-twice"))
    yield row(2, "keys of 16 bytes, hashed and asked in one call: times bfs_digest and bfs_contains_digest", ratio(once, twice),
              lacks(num_keys), most=1.0)


def many_at_once(run):
    for filter_bytes, num_digests, wanted in LARGE:
        for pages, least in wanted.items():
            plain, in_order = (run.large(filter_bytes, num_digests, pages, "blocked", "contains", way) for way in ("many", "sorted"))
            yield row(3, f"{num_digests:,} digests, {filter_bytes:,} bytes, {PAGES[pages]}: sorted, times as fast as they come",
                      ratio(plain, in_order), "no such batch in this run", least=least)
    filter_bytes, num_digests, _ = LARGE[0]
    rival = run.bulk and run.bulk.fastest_rival((filter_bytes, num_digests, "huge"), "many")
    ours = run.large(filter_bytes, num_digests, "huge", "blocked", "contains", "sorted")
    yield row(3, f"{num_digests:,} digests, {filter_bytes:,} bytes, {PAGES['huge']}: times as fast as Boost.Bloom's call, at equal rates",
              ratio(rival and run.bulk.samples[rival], ours), "Boost.Bloom's was not measured" if ours else "no such batch in this run",
              least=1.3)
    for count, text in ((FEWEST_SORTED - 1, "just below the threshold"), (FEWEST_SORTED, "at the threshold")):
        for pages in PAGES:
            plain, in_order = (run.large(filter_bytes, count, pages, "blocked", "contains", way) for way in ("many", "sorted"))
            yield row(3, f"{count:,} digests, {text}, {filter_bytes:,} bytes, {PAGES[pages]}: with memory for sorting, times without",
                      ratio(in_order, plain), "no such batch in this run", most=1.02)


def larger_than_memory(run):
    cat, few = ("batch, sorted", "cat"), ("few keys, one by one", "few keys, one batch")
    yield row(4, "10,000,000 keys, a file of 4 GB, 1 GB of memory: times `cat FILE`", *in_limited_memory(run, cat), most=1.2)
    yield row(4, "10,000 keys, the same file: one call, which asks for the pages of the next keys, times as fast as a call a key",
              *in_limited_memory(run, few), least=3)


def in_limited_memory(run, names):
    """The ratio of two ways to read the file of 4 GB, and why there is none."""
    wanted, seconds, why = 4e9, {}, "files and processes were not measured"
    for name in names:
        samples = run.system and run.system.samples.get(f"limited/{name}")
        if samples and samples["file_bytes"][0] == wanted:
            seconds[name] = samples["seconds"]
        elif run.system:
            why = "this run has no such file" if samples else run.system.reasons.get(f"limited/{name}", "bfsystem left it out")
    return ratio(*(seconds.get(name) for name in names)), why


def adding(run, before):
    num_keys, many = 100_000, 100_000_000
    alone, large = (run.filter(keys, "blocked-alone", ADD) for keys in (num_keys, many))
    yield row(5, f"adding exclusively, one by one, {num_keys:,} keys", time(alone), lacks(num_keys), most=5, unit="ns",
              note=rivals_that_add(run, num_keys))
    yield row(5, f"adding exclusively, one by one, {many:,} keys: times Boost.Bloom, at equal rates",
              ratio(large, boost_that_adds(run, many)), "Boost.Bloom was not measured" if large else lacks(many), most=1.3,
              note=rivals_that_add(run, many))
    yield row(5, f"bfs_add_digest, exclusively, {num_keys:,} keys: ns more than C++",
              difference(run.filter(num_keys, "blocked-alone-abi", ADD), alone), lacks(num_keys), most=3, unit="ns")
    for keys, was in OLD_SHARED_ADD.items():
        yield against_old(5, f"adding next to other writers, one by one, {keys:,} keys", run.filter(keys, "blocked", ADD),
                          before and before.filter(keys, "blocked", ADD), f"{was} ns", before, 0.7, lacks(keys))
    for pages, most in (("huge", 0.6), ("small", 0.3)):
        ours, old = (of and adding_many(of, many, pages) for of in (run, before))
        yield against_old(5, f"adding {many:,} digests exclusively in one call, {PAGES[pages]}", ours, old, f"{OLD_BULK_ADD[pages]} ns",
                          before, most, f"no call with {many:,} digests in this run")
    yield building(run, before)
    yield by_threads(run)


def by_threads(run):
    """One call of an exclusive handle, by one thread and by one for each core."""
    teams = sorted(int(name.split("/")[-1]) for name in (run.system.samples if run.system else ()) if name.startswith("threads/add/"))
    one, all_cores = ((run.system.samples[f"threads/add/{team}"]["seconds"] for team in (teams[0], teams[-1])) if len(teams) > 1
                      else (None, None))
    title = f"adding many digests exclusively in one call, {teams[-1] if teams else 'several'} threads: times as fast as one"
    return row(5, title, ratio(one, all_cores), "files and processes were not measured", least=THREADS_SCALE)


def boost_that_adds(run, num_keys):
    """The faster of Boost.Bloom's filters that have as many bits as our rate takes."""
    return fastest(*(run.filter(num_keys, f"boost-fast{bits}x8-equal", ADD) for bits in (32, 64)))


def rivals_that_add(run, num_keys):
    rivals = {"Boost.Bloom": boost_that_adds(run, num_keys), "RocksDB": run.filter(num_keys, "rocksdb-avx2", ADD)}
    return ", ".join(f"{name} {text_of(time(samples), 'ns')}" for name, samples in rivals.items() if samples)


def adding_many(run, count, pages):
    """The fastest way: sorted or not. bfbench has huge pages alone, and an older commit only bfbench."""
    filters = [run.filter(count, "blocked-alone", group) for group in (ADD_SORTED, ADD_MANY)] if pages == "huge" else []
    return fastest(*filters) or fastest(*(run.large(128_000_000, count, pages, "blocked-alone", "add", way) for way in ("sorted", "many")))


def building(run, before):
    """`bf build`, whose CPU time bfsystem measures."""
    def facts(of):
        return of and of.system and of.system.facts.get("text/bf build")

    def seconds(of):
        return facts(of) and [1e6 * facts(of)["cpu_seconds"] / facts(of)["num_keys"]]

    ours, lines = seconds(run), int(facts(run)["num_keys"]) if facts(run) else 0
    comparable = facts(before) and facts(before)["num_keys"] == lines
    made = against_old(5, f"bf build, {lines:,} lines" if lines else "bf build", ours, seconds(before) if comparable else None,
                       f"{OLD_BUILD} for 100,000,000 lines", before, 0.67, "bf was not measured", unit="s")
    return made._replace(figure=f"{text_of(time(ours), 's of CPU')} a million lines; {made.figure}") if ours else made


def in_languages(run):
    rows = collections.defaultdict(dict)
    for one in (run.languages or {"rows": []})["rows"]:
        language = one["language"].removesuffix(", a rival")
        kind = "rival" if one["filter"] == "rival" else one["filter"]
        rows[language][kind, one["way"]] = one["ns"]
    for language in LANGUAGES:
        times = rows.get(language, {})
        rivals = {way: ns for (kind, way), ns in times.items() if kind == "rival"}
        rival = min(rivals, key=rivals.get, default=None)
        for title, ways in (("one by one", ("one", "one-reader")), ("in bulk", ("objects", "column"))):
            ours = min((times["blocked", way] for way in ways if ("blocked", way) in times), default=None)
            figure = ratio([rivals[rival]], [ours]) if rival and ours else None
            why = "its rival was not measured" if ours else "the language was not measured"
            yield row(6, f"{language}, {title}: times as fast as {rival or 'its favourite'}, asked one by one", figure, why, least=1.3)


def windows(run):
    """Keys that expire, next to the blocked layout, in a file that others may share."""
    def samples(name, fact="seconds"):
        found = run.system and run.system.samples.get(f"windows/{name}")
        return found and found[fact]

    why = "files and processes were not measured"
    for layout, most in (("window", 26), ("window-4", 21)):
        yield row(7, f"{layout}: bits for a key of the window, at 1 %", time(samples(f"ask/{layout}", "bits_per_key")), why, most=most, unit="bits")
    for name, title in (("add", "adding next to other writers, one by one"), ("ask", "a lookup"), ("ask many", "many lookups in one call")):
        yield row(7, f"window, {title}: times blocked", ratio(samples(f"{name}/window"), samples(f"{name}/blocked")), why, most=1.3)
    yield row(7, "window, a turn: times writing and syncing as many bytes", ratio(samples("turn/window"), samples("write/window")), why, most=1.3)


def aims(run, before):
    return [*one_by_one(run, before), *by_the_abi(run), *many_at_once(run), *larger_than_memory(run), *adding(run, before),
            *in_languages(run), *windows(run)]


def aims_text(run, before):
    rows = aims(run, before)
    count = collections.Counter(one.verdict.split(",")[0].split(":")[0] for one in rows)
    summary = "; ".join(f"{number_of} {word.strip('*')}" for word, number_of in count.most_common())
    facts = machine(run.filters.context) if run.filters else []
    note = ("In brackets: the lowest and the highest value that the repetitions allow. A time of part 6 is the least of some rounds. "
            f"Ratios to {OLD} are of two runs on one machine. What it took on another machine is a remark: {OLD_MACHINE}.")
    return "\n\n".join(filter(None, ["## Aims", "\n".join(facts), note, table(["part", "aim", "figure", "wanted", "verdict"],
                                                                                  [[str(one.part), *one[1:]] for one in rows]), summary]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", help="how the names of the run's files begin")
    parser.add_argument("--before", metavar="PREFIX", help=f"the same of {OLD}'s run on this machine")
    arguments = parser.parse_args()
    try:
        text = aims_text(Run(arguments.prefix), Run(arguments.before) if arguments.before else None)
    except (OSError, ValueError) as error:
        print(f"aims.py: {error}", file=sys.stderr)
        return 1
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
