"""What bfbulk measured, read from its JSON: nanoseconds a digest of large batches."""
import collections
import statistics

Name = collections.namedtuple("Name", "filter_bytes num_digests pages subject operation way")


class Bulk:
    """One or more runs, each of one filter. A time that was not measured is None."""

    def __init__(self, runs: list) -> None:
        self.contexts = [data["context"] for data in runs]
        self.facts = {}
        self.samples = collections.defaultdict(list)
        for data in runs:
            for row in data["benchmarks"]:
                if row["run_type"] != "iteration":
                    continue
                if row.get("error_occurred"):
                    raise ValueError(f"{row['run_name']}: {row['error_message']}")
                filter_bytes, num_digests, *words = row["run_name"].split("/")
                name = Name(int(filter_bytes), int(num_digests), *words[:4])
                self.samples[name].append(row["real_time"] / row["num_keys"])
                if "fpr" in row:
                    self.facts[name[0], name.pages, name.subject] = row
        if not self.samples:
            raise ValueError("nothing was measured")

    def time(self, name: Name) -> float | None:
        return statistics.median(self.samples[name]) if name in self.samples else None

    def batches(self) -> list:
        return sorted({name[:3] for name in self.samples})

    def fastest_rival(self, batch: tuple, way: str) -> Name | None:
        ours = [name for name in self.samples if name[:3] == batch and name.subject.startswith("boost") and name.way == way]
        return min(ours, key=self.time, default=None)
