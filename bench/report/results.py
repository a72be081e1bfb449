"""What bfbench measured, read from its JSON: medians in nanoseconds per key, and how they compare with the limit and
with the rivals of the same run. table.py makes text of it."""
import collections
import math
import statistics

Name = collections.namedtuple("Name", "num_keys bits memory subject operation way input present")
Place = collections.namedtuple("Place", "num_keys bits memory")
Group = collections.namedtuple("Group", "operation way input present")

# The work of the limit's loops for an operation. Adding a key again only reads, and a remove writes like an add.
LIMIT_OPERATION = {"contains": "contains", "again": "contains", "add": "add", "remove": "add"}
CHANGES = {"add", "remove"}
# Ways of asking in which the caller gives all keys in one call.
MANY = {"many", "sorted"}
# A rival whose false-positive rate is lower than ours by more than this has bought it with time.
FPR_MARGIN = 0.02


def name_of(benchmark: dict) -> Name:
    num_keys, bits, *rest = benchmark["run_name"].split("/")  # Google Benchmark appends "/manual_time" and more
    return Name(int(num_keys), float(bits), *rest[:len(Name._fields) - 2])


def place_of(name: Name) -> Place:
    return Place(*name[:3])


def group_of(name: Name) -> Group:
    return Group(*name[4:])


class Results:
    """One run. A time or a ratio that was not measured is None."""

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
                self.facts[place_of(name), name.subject] = benchmark
        self.samples = dict(samples)
        self.median = {name: statistics.median(times) for name, times in samples.items()}
        self.repetitions = max(map(len, samples.values()))
        self.spread = statistics.median((max(times) - min(times)) / self.median[name]
                                        for name, times in samples.items())

    def bits(self) -> list:
        return sorted({name.bits for name in self.median})

    def places(self, bits: float) -> list:
        return sorted({place_of(name) for name in self.median if name.bits == bits})

    def groups(self, bits: float) -> set:
        return {group_of(name) for name in self.median if name.bits == bits and not name.subject.startswith("limit")}

    def subjects(self, bits: float, group: Group, rivals: bool) -> list:
        return sorted({name.subject for name in self.median
                       if name.bits == bits and group_of(name) == group and not name.subject.startswith("limit")
                       and self.is_rival(name.subject) == rivals})

    def is_rival(self, subject: str) -> bool:
        """True for a rival. Our filters have a theory, and other ways to ask them have no facts."""
        return any("theory" not in facts for (_, name), facts in self.facts.items() if name == subject)

    def not_measured(self) -> list:
        """Returns (number of keys, bits a key, rival, why)."""
        rows = []
        for key, why in self.context.items():
            if key.startswith("not_measured/"):  # "not_measured/1000000/10/RocksDB"
                _, num_keys, bits, rival = key.split("/", 3)
                rows.append((int(num_keys), float(bits), rival, why))
        return sorted(rows)

    def time(self, place: Place, subject: str, group: Group) -> float | None:
        return self.median.get(Name(*place, subject, *group))

    def limit(self, place: Place, group: Group, subject: str = "limit") -> tuple:
        """Returns (time, name) of the fastest limit loop comparable with the group, or (None, None)."""
        operation = LIMIT_OPERATION[group.operation]
        loops = [(time, name.way) for name, time in self.median.items()
                 if place_of(name) == place and name.subject == subject and name.operation == operation
                 and name.input == group.input and (name.way == "plain" or group.way in MANY)]
        return min(loops, default=(None, None))

    def ratio(self, place: Place, subject: str, group: Group, limit_group: Group | None = None,
              limit: str = "limit") -> float | None:
        time, (least, _) = self.time(place, subject, group), self.limit(place, limit_group or group, limit)
        return time / least if time is not None and least is not None else None

    def comparable(self, ours: dict, rival: dict) -> bool:
        """False if the rival's rate is lower by more than the margin and by more than chance explains."""
        chance = math.sqrt(sum(1 / max(facts["fpr"] * facts["asked"], 1) for facts in (ours, rival)))
        return rival["fpr"] >= ours["fpr"] * (1 - FPR_MARGIN - 3 * chance)

    def equal_rate(self, place: Place) -> list:
        """Returns the blocked filter and the rivals whose rate is neither lower nor higher than its rate."""
        ours = self.facts.get((place._replace(memory="heap"), "blocked"))
        return sorted((name for (where, name), facts in self.facts.items()
                       if where == place and ours is not None and (name == "blocked" or self.is_rival(name))
                       and self.comparable(ours, facts) and self.comparable(facts, ours)),
                      key=lambda name: (name != "blocked", name)) if place.memory == "heap" else []

    def best_rival(self, place: Place, subject: str, group: Group) -> tuple:
        """Returns (time, name) of the fastest comparable rival, or (None, None). Rivals are on the heap."""
        ours = self.facts.get((place, subject.split("-")[0]))
        heap = place._replace(memory="heap")
        rivals = [(self.time(heap, name, group), name) for (where, name), facts in self.facts.items()
                  if where == heap and self.is_rival(name) and ours is not None and self.comparable(ours, facts)
                  and self.time(heap, name, group) is not None]
        return min(rivals, default=(None, None))

    def against_best(self, place: Place, subject: str, group: Group) -> float | None:
        time, (best, _) = self.time(place, subject, group), self.best_rival(place, subject, group)
        return time / best if time is not None and best is not None else None

    def goals(self) -> list:
        """Returns goals: a name, the highest value wanted, and a function from a place to its measured value."""
        single, many = Group("contains", "single", "digests", "mixed"), Group("contains", "many", "digests", "mixed")
        many_keys, add = Group("contains", "many", "keys", "mixed"), Group("add", "many", "digests", "absent")

        def compare(place: Place, group: Group, subject: str, how) -> float | None:
            other, abi = self.time(place, subject, group), self.time(place, "blocked-abi", group)
            return how(abi, other) if other is not None and abi is not None else None

        def fpr(place: Place, layout: str) -> float | None:
            facts = self.facts.get((place, layout))
            return facts["fpr"] / facts["theory"] if facts else None

        def sorted_to_many(place: Place) -> float | None:
            ours, unsorted = self.time(place, "blocked", many._replace(way="sorted")), self.time(place, "blocked", many)
            return ours / unsorted if ours is not None and unsorted is not None else None

        rows = [("blocked, many at once, digests: times the limit", 1.10,
                 lambda place: self.ratio(place, "blocked", many)),
                ("blocked, millions at once, sorted: times many at once", 0.77, sorted_to_many),
                ("blocked, many at once, keys: times the limit for digests", 1.6,
                 lambda place: self.ratio(place, "blocked", many_keys, many))]
        for present in ("mixed", "absent", "present"):
            group = single._replace(present=present)
            rows.append((f"blocked-inline, one by one, {present}: times limit-line", 1.0,
                         lambda place, group=group: self.ratio(place, "blocked-inline", group, limit="limit-line")))
        for way, subject, text in (("single", "blocked-inline", "one by one"),
                                   ("branchy", "blocked-inline", "one by one, branched on"),
                                   ("many", "blocked", "many at once")):
            for present in ("mixed", "absent", "present"):
                group = Group("contains", way, "digests", present)
                rows.append((f"{subject}, {text}, {present}: times the best rival", 1.0,
                             lambda place, group=group, subject=subject: self.against_best(place, subject, group)))
        return rows + [
            ("C ABI, one by one: ns more than inlined", 3.0,
             lambda place: compare(place, single, "blocked-inline", lambda abi, inlined: abi - inlined)),
            ("C ABI, many at once: times C++", 1.03,
             lambda place: compare(place, many, "blocked", lambda abi, cpp: abi / cpp)),
            ("blocked, adding many exclusively: times the limit", 1.25,
             lambda place: self.ratio(place, "blocked-alone", add)),
            ("blocked, adding many with other writers: times limit-atomic", 1.15,
             lambda place: self.ratio(place, "blocked", add, limit="limit-atomic")),
            ("blocked: FPR, times theory", 1.02, lambda place: fpr(place, "blocked")),
            ("classic: FPR, times theory", 1.02, lambda place: fpr(place, "classic"))]

    def summary(self) -> dict:
        """Returns the same numbers for programs."""
        rows = []
        for name, time in sorted(self.median.items()):
            place, group = place_of(name), group_of(name)
            row = {**name._asdict(), "ns": time, "times_limit": self.ratio(place, name.subject, group)}
            if not name.subject.startswith("limit") and not self.is_rival(name.subject):
                row["best_rival"] = self.best_rival(place, name.subject, group)[1]
                row["times_best_rival"] = self.against_best(place, name.subject, group)
            rows.append(row)
        filters = [{**place._asdict(), "subject": subject,
                    **{key: facts[key] for key in ("k", "body_bytes", "huge", "fpr", "theory") if key in facts}}
                   for (place, subject), facts in sorted(self.facts.items())]
        goals = [{**place._asdict(), "goal": name, "at_most": most, "measured": measured(place)}
                 for name, most, measured in self.goals() for bits in self.bits() for place in self.places(bits)]
        not_measured = [dict(zip(("num_keys", "bits", "rival", "why"), row)) for row in self.not_measured()]
        return {"context": self.context, "filters": filters, "rows": rows, "goals": goals, "not_measured": not_measured}
