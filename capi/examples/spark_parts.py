"""A filter that PySpark builds by parts: some tasks sort the digests of keys, Spark moves them, other tasks build a part each.

    pip install pyspark ./capi/bindings/python          # and a Java 17
    python3 spark_parts.py EMPTY_FOLDER [KEYS]

One worker is killed in the middle of a part, and Spark does its task again.
"""
import glob
import json
import os
import pathlib
import sys
import time

from pyspark import SparkConf, SparkContext, TaskContext

import spread

HERE = pathlib.Path(__file__).resolve().parent


def context(folder):
    """Two workers on this machine, and four attempts for each task."""
    conf = SparkConf().setMaster("local[2,4]").setAppName("parts").setAll([
        ("spark.ui.enabled", "false"), ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.host", "127.0.0.1"), ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.memory", "512m"), ("spark.local.dir", folder), ("spark.eventLog.enabled", "true"),
        ("spark.eventLog.dir", folder), ("spark.eventLog.rolling.enabled", "false"), ("spark.eventLog.compress", "false")])
    spark = SparkContext(conf=conf)
    spark.setLogLevel("ERROR")
    spark.addPyFile(str(HERE / "spread.py"))
    return spark


def moved_bytes(folder):
    """Returns the bytes that tasks wrote for others, from Spark's log."""
    [log] = glob.glob(os.path.join(folder, "local-*"))
    with open(log, encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    metrics = [event.get("Task Metrics") for event in events if event["Event"] == "SparkListenerTaskEnd"]
    return sum(one["Shuffle Write Metrics"]["Shuffle Bytes Written"] for one in metrics if one)


def main():
    folder, keys = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000

    def sort(first):
        return enumerate(spread.sorted_digests(spread.list_of(first, min(spread.LIST, keys - first))))

    def build(number, pieces):
        dies = number == 1 and TaskContext.get().attemptNumber() == 0
        yield spread.build_part(folder, number, keys, (digests for _, digests in pieces), dies)

    spark = context(folder)
    begin = time.monotonic()
    firsts = range(0, keys, spread.LIST)
    memory = (spark.parallelize(firsts, len(firsts)).flatMap(sort).partitionBy(spread.PARTS, int)
              .mapPartitionsWithIndex(build).collect())
    built = time.monotonic()
    spread.join(folder)
    print(f"{keys:,} keys in {spread.PARTS} parts: {built - begin:.1f} s, and {time.monotonic() - built:.1f} s to join")
    spark.stop()
    print(f"moved: {moved_bytes(folder) / 1e6:.1f} MB; memory of the worker of a part: at most {max(memory)} MB")
    spread.check(folder, keys)


if __name__ == "__main__":
    main()
