"""capi/examples/dask_parts.py compares its filter with one build of all keys. Here it runs on a real Dask, and one of the workers
is killed. (spark_parts.py is run by hand: PySpark has 500 MB.)

Arguments: see engines.py; --kills=N builds N times, with a killed worker each time.
"""
import os
import sys
import unittest

import engines

TREE, ASKED = engines.arguments(kills=1)
DASK = TREE.root / "build-deps" / "dask"  # tools/setup.sh fetches it
engines.needs(files=engines.PYTHON_HEADER)
if not (DASK / "complete").exists():
    engines.unfetched("Dask")
import python  # noqa: E402  # tests/bindings/python.py, found only after engines

python.build(TREE)


class Dask(unittest.TestCase):
    # Dask gives up connections and silent workers after 30 seconds. A busy machine needs longer. But Dask tries a refused
    # connection again until that time is over, so a worker may wait so long for the one that was killed.
    PATIENT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "3600s",
               "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3600s"}

    def test_a_filter_that_dask_builds_by_parts_is_that_of_one_build_although_a_worker_is_killed(self):
        for _ in range(ASKED.kills):
            folder = engines.folder()
            done = engines.run([sys.executable, "-B", TREE.root / "capi" / "examples" / "dask_parts.py", folder, "400000"],
                               env={**os.environ, **self.PATIENT, "PYTHONPATH": f"{TREE.out}:{DASK}"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?s)^400,000 keys in 8 parts: .*"
                                          r"\nthe joined filter has the same bits; false positives: [01]\.\d+%")
            self.assertTrue((folder / "killed").exists())


if __name__ == "__main__":
    engines.main()
