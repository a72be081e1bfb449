"""Has the model checker Spin look for a wrong "no" in protocol.pml, replacing.pml, window.pml and growth.pml: the models as they
are must have none, and each of their seeded bugs must lead to one (in growth.pml, some to a file that looks lost, or to an access
past its end). Arguments: protocol.pml, replacing.pml, window.pml, growth.pml, and --long for every case and the full search (a
quarter of an hour) instead of those that take a few seconds each."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

# Each bug with the smallest numbers of kills, power cuts and failed syncs that show it; long: only with --long.
BUGS = {
    "ADOPT_IN_ANY_BOOT": (0, 1, 0), "MARK_BEFORE_BODY": (0, 1, 0), "CLEAN_BEFORE_BODY": (0, 1, 0),
    "EVERY_CLOSE_IS_LAST": (0, 1, 0), "RECOVERED_SURVIVES": (0, 2, 0), "ANSWER_WHILE_RECOVERING": (0, 1, 0),
    "JOIN_WITHOUT_LOOKING": (0, 1, 0), "END_WITHOUT_SYNC": (0, 2, 0), "RETRY_AFTER_FAILURE": (0, 1, 1),
    "LOCK_FIRST": (1, 0, 1), "ASK_WITHOUT_FLAG": (1, 0, 1), "JOIN_WITHOUT_ASKING": (1, 0, 1),
    "ASK_DURING_A_SYNC": (0, 1, 1), "LEAVE_AFTER_CLOSING": (0, 0, 0), "STRANGER_IS_A_WRITER": (0, 0, 0),
    "NO_REWRITE": (0, 1, 1), "ADOPT_RECOVERING": (1, 1, 0), "ADOPT_WHILE_SYNCING": (1, 1, 1),
}
# Bugs of the model in which keys are removed, too.
REMOVING_BUGS = {
    "REPLAY_REMOVES": (0, 1, 0), "REMOVE_WHILE_RECOVERING": (0, 1, 0), "REPEAT_REMOVE": (1, 0, 0),
    "REPLAY_IF_ABSENT": (0, 1, 0), "ADD_LOOKS_FIRST": (0, 0, 0), "LEAVE_THE_TOP": (0, 0, 0),
}
# Bugs of replacing.pml, each found in less than a second, with one kill and one power cut.
REPLACING_BUGS = ["ONE_BIT", "SAID_AFTER_ONLY", "NOT_ON_DISK", "OPENER_CLEARS_IT", "UNLINKED_GOES_ON", "LETS_GO_TOO_EARLY"]
# Bugs of window.pml: the scene, and its numbers.
WINDOW_BUGS = {
    "ADDER_LOOKS_ONCE": ("LIVE", {}), "QUIET_ADDER_LOOKS_ONCE": ("LIVE", {}), "ANY_WORD_WILL_DO": ("LIVE", {}),
    "READER_LOOKS_ONCE": ("LIVE", {"STOPPED_READER": 1, "TURNERS": 1}), "NO_CLEARING_BIT": ("LIVE", {"STOPPED_READER": 1, "TURNERS": 1}),
    "SMALL_EPOCH": ("LIVE", {}), "FROM_IS_NOT_COMPARED": ("TIMED", {}), "LOCK_IS_TRUSTED": ("LIVE", {"PARTS": 2}),
    "CLEAR_AFTER_TURNING": ("LIVE", {}), "DUE_OUTSIDE_THE_LOCK": ("TIMED", {}), "SLOT_ONCE": ("TIMED", {}),
    "TIME_OF_DAY_ALONE": ("TIMED", {"MOST_JUMPS": 1}), "CATCH_UP": ("TIMED", {"MOST_JUMPS": 1, "MOST_CUTS": 1}),
    "BACK_IS_DUE": ("TIMED", {"MOST_JUMPS": 1, "MOST_CUTS": 1}), "NUMBER_OF_A_TURN": ("TIMED", {}),
    "COPY_EPOCH_FIRST": ("COPYING", {"TURNERS": 1}), "COPY_ONCE": ("COPYING", {"TURNERS": 1}), "COPY_TIME_OF_A_TURN": ("COPYING", {"TURNERS": 1}),
    "LIVE_BEFORE_SLOT": ("DURABLE", {"MOST_CUTS": 1}), "SLOT_NOT_SYNCED": ("DURABLE", {"MOST_CUTS": 1}), "BODY_NOT_SYNCED": ("DURABLE", {"MOST_CUTS": 1}),
    "MIXTURE_IS_CLEAN": ("DURABLE", {"MOST_CUTS": 1}), "RECOVERY_KEEPS_LIVE": ("DURABLE", {"MOST_CUTS": 1}),
    "RECOVERY_LOWERS": ("DURABLE", {"MOST_KILLS": 1, "STOPPED_READER": 1, "TURNS": 2}),
}
WINDOW_WITHOUT_BUG = [("LIVE", {}), ("LIVE", {"STOPPED_READER": 1, "TURNERS": 1}), ("TIMED", {}), ("DURABLE", {"MOST_CUTS": 1, "TURNS": 2})]
LONG_WINDOW_WITHOUT_BUG = [
    ("LIVE", {"MOST_KILLS": 1, "PARTS": 2}), ("LIVE", {"E": 3, "MOST_KILLS": 1}),
    ("LIVE", {"E": 3, "STOPPED_READER": 1, "TURNERS": 1}), ("LIVE", {"PARTS": 2, "STOPPED_READER": 1, "TURNERS": 1}),
    ("TIMED", {"MOST_JUMPS": 1, "MOST_CUTS": 1}), ("TIMED", {"E": 3, "MOST_KILLS": 1}), ("TIMED", {"STOPPED_READER": 1, "TURNERS": 1}),
    ("COPYING", {"TURNERS": 1}), ("DURABLE", {"MOST_CUTS": 1, "TURNS": 4}), ("DURABLE", {"MOST_KILLS": 1, "MOST_CUTS": 1}),
    ("DURABLE", {"MOST_KILLS": 1, "STOPPED_READER": 1, "TURNS": 2}), ("DURABLE", {"E": 3, "MOST_CUTS": 1}),
]
# Bugs of growth.pml: the scene, and its numbers.
GROWTH_BUGS = {
    "PUBLISH_BEFORE_END_WORD": ("LIVE", {}), "PUBLISH_BEFORE_EXTENSION": ("LIVE", {}), "ADD_BEFORE_PUBLISHED": ("LIVE", {}),
    "CHECK_BEFORE_EXTENSION": ("LIVE", {"MOST_CUTS": 1}), "NO_CHECK": ("LIVE", {"MOST_CUTS": 1}),
    "NO_LOOK_UNDER_THE_LOCK": ("LIVE", {"MOST_CUTS": 1}), "LOCK_IS_TRUSTED": ("LIVE", {"LOSES_LOCK": 1, "MOST_CUTS": 1}),
    "STORE_PUBLISHES": ("LIVE", {"LOSES_LOCK": 1}), "EXTENSION_WRITES_ZEROS": ("LIVE", {"LOSES_LOCK": 1}),
    "EXTENSION_SETS_SIZE": ("LIVE", {"LOSES_LOCK": 1}), "READER_KEEPS_SLICES": ("LIVE", {"STOPPED_READER": 1}),
    "FIRST_END_WORD_ONLY": ("LIVE", {"STOPPED_READER": 1, "MOST_CUTS": 1}), "COPY_SLICES_FIRST": ("COPYING", {}),
    "REPLACER_SLICES_FIRST": ("COPYING", {"REPLACES": 1}), "QUIET_ADD_COMPARES_ONCE": ("COPYING", {"REPLACES": 1}),
    "SYNC_OLD_SLICES": ("DURABLE", {"MOST_POWER_CUTS": 1, "MOST_CUTS": 1}), "SYNC_LATE_SLICES": ("DURABLE", {"MOST_POWER_CUTS": 1}),
    "ADOPTION_BELIEVES_SLOT": ("DURABLE", {"MOST_KILLS": 1}), "RECOVERY_BELIEVES_LIVE": ("DURABLE", {"MOST_POWER_CUTS": 1}),
    "RECOVERY_LOWERS_SLICES": ("DURABLE", {"MOST_KILLS": 1, "STOPPED_READER": 1, "TRUNCATES": 0}),
    "RECOVERY_SLOT_FIRST": ("DURABLE", {"MOST_KILLS": 1, "MOST_POWER_CUTS": 1}),
    "RECOVERY_RAISES_SLOT": ("DURABLE", {"MOST_KILLS": 1, "MOST_POWER_CUTS": 1}),
    "RECOVERY_COPIES_END_WORD": ("DURABLE", {"MOST_KILLS": 1, "MOST_CUTS": 1}),
    "MIXTURE_IS_CLEAN": ("DURABLE", {"MIXES": 1}), "ONLY_MORE_IS_UNCLEAN": ("DURABLE", {"MIXES": 1}),
}
GROWTH_WITHOUT_BUG = [
    ("LIVE", {"LOSES_LOCK": 1, "MOST_CUTS": 1}), ("LIVE", {"STOPPED_READER": 1, "MOST_CUTS": 1}), ("COPYING", {"MOST_CUTS": 1}),
    ("COPYING", {"REPLACES": 1}), ("DURABLE", {"MOST_POWER_CUTS": 1, "MIXES": 1}),
    ("DURABLE", {"MOST_KILLS": 1, "STOPPED_READER": 1}),
]
LONG_GROWTH_WITHOUT_BUG = [
    ("LIVE", {"MOST_KILLS": 1, "LOSES_LOCK": 1, "MOST_CUTS": 1}), ("LIVE", {"LOSES_LOCK": 1, "STOPPED_READER": 1, "MOST_CUTS": 1}),
    ("COPYING", {"MOST_KILLS": 1, "MOST_CUTS": 1}), ("COPYING", {"REPLACES": 1, "MOST_CUTS": 1}), ("DURABLE", {"MOST_POWER_CUTS": 2}),
    ("DURABLE", {"MOST_POWER_CUTS": 1, "TRUNCATES": 0, "OTHERS_ADD": 1}), ("DURABLE", {"MOST_POWER_CUTS": 1, "MOST_CUTS": 1}),
    ("DURABLE", {"MOST_POWER_CUTS": 1, "STOPPED_READER": 1}), ("DURABLE", {"MOST_KILLS": 1, "MOST_POWER_CUTS": 1}),
    ("DURABLE", {"MOST_POWER_CUTS": 1, "SLICES": 3}), ("DURABLE", {"MOST_KILLS": 1, "STOPPED_READER": 1, "OTHERS_ADD": 1}),
]
# Bugs that lie deep are searched in an order that a seed decides.
SEEDS = {"ADOPT_WHILE_SYNCING": 11}
LONG_BUGS = {"RETRY_AFTER_FAILURE", "NO_REWRITE", "ADOPT_RECOVERING", "ADOPT_WHILE_SYNCING", "LOCK_FIRST", "JOIN_WITHOUT_ASKING",
             "ASK_DURING_A_SYNC", "ASK_WITHOUT_FLAG", "REMOVE_WHILE_RECOVERING", "REPEAT_REMOVE",
             "REPLAY_IF_ABSENT", "RECOVERY_LOWERS", "PUBLISH_BEFORE_EXTENSION", "NO_CHECK", "EXTENSION_SETS_SIZE", "SYNC_LATE_SLICES",
             "RECOVERY_RAISES_SLOT", "ONLY_MORE_IS_UNCLEAN"}
WITHOUT_BUG = [(0, 0, 0), (0, 1, 0)]
LONG_WITHOUT_BUG = [(0, 0, 1), (0, 2, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
REMOVING_WITHOUT_BUG = [(0, 0, 0)]
LONG_REMOVING_WITHOUT_BUG = [(0, 1, 0), (1, 0, 0)]


# The checker keeps three bits of each state in a table of 2^TABLE bits, and takes a new state for an old one if its bits are
# set. The longest search without a bug visits 126 million states, which set a twentieth of the large table.
TABLE = 28
LONG_TABLE = 33


def build(model, folder, bug, numbers):
    """Builds the checker for one case."""
    subprocess.run(["spin", "-a", f"-DBUG={bug}", *(f"-D{name}={value}" for name, value in numbers.items()), str(model)],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    order = ["-DT_RAND", "-DP_RAND"] if bug in SEEDS else []
    # A bug is found so soon that to optimize its checker takes longer than the search.
    optimization = "-O0" if bug in {*REPLACING_BUGS, *WINDOW_BUGS, *GROWTH_BUGS, *BUGS, *REMOVING_BUGS} - LONG_BUGS else "-O2"
    subprocess.run(["gcc", optimization, "-w", "-DSAFETY", "-DBITSTATE", "-DNOREDUCE", *order, "-o", "checker", "pan.c"],
                   cwd=folder, check=True)


def search(model, bug, numbers, table):
    """Returns whether a wrong "no" was found, and a report of the search."""
    with tempfile.TemporaryDirectory() as folder:
        build(model, folder, bug, numbers)
        began = time.monotonic()  # clock: for the report
        order = [f"-RS{SEEDS[bug]}"] if bug in SEEDS else []
        ran = subprocess.run(["./checker", "-E", "-m40000", f"-w{table}", *order], cwd=folder, capture_output=True, text=True)
        if ran.returncode != 0 or "max search depth too small" in ran.stdout or "errors:" not in ran.stdout:
            raise SystemExit(f"the checker failed: {ran.stdout}{ran.stderr}")
        states = next(line.split()[0] for line in ran.stdout.splitlines() if line.endswith("states, stored"))
        return "assertion violated" in ran.stdout, f"{states} states, {time.monotonic() - began:.0f} s"


def of_protocol(numbers, removes):
    kills, cuts, failures = numbers
    return {"MOST_KILLS": kills, "MOST_CUTS": cuts, "MOST_FAILURES": failures, "REMOVES": int(removes)}


def of_window(scene, numbers):
    return {"SCENE": scene, "MOST_KILLS": 0, "MOST_CUTS": 0, **numbers}


def of_growth(scene, numbers):
    return {"SCENE": scene, "MOST_KILLS": 0, **numbers}


def main():
    if shutil.which("spin") is None:
        print("SKIP: the model checker Spin is not installed (Debian's package spin)")
        sys.exit(77)
    model, replacing, window, growth = (pathlib.Path(path).resolve() for path in sys.argv[1:5])
    long = sys.argv[5:] == ["--long"]
    wrong = []
    cases = []
    for removes, bugs, without, long_without in ((False, BUGS, WITHOUT_BUG, LONG_WITHOUT_BUG),
                                                 (True, REMOVING_BUGS, REMOVING_WITHOUT_BUG, LONG_REMOVING_WITHOUT_BUG)):
        cases += [(model, "NONE", of_protocol(numbers, removes)) for numbers in without + (long_without if long else [])]
        cases += [(model, bug, of_protocol(numbers, removes)) for bug, numbers in bugs.items() if long or bug not in LONG_BUGS]
    cases += [(replacing, bug, {"MOST_KILLS": 1, "MOST_CUTS": 1}) for bug in ["NONE", *REPLACING_BUGS]]
    cases += [(window, "NONE", of_window(*scene)) for scene in WINDOW_WITHOUT_BUG + (LONG_WINDOW_WITHOUT_BUG if long else [])]
    cases += [(window, bug, of_window(*scene)) for bug, scene in WINDOW_BUGS.items() if long or bug not in LONG_BUGS]
    cases += [(growth, "NONE", of_growth(*scene)) for scene in GROWTH_WITHOUT_BUG + (LONG_GROWTH_WITHOUT_BUG if long else [])]
    cases += [(growth, bug, of_growth(*scene)) for bug, scene in GROWTH_BUGS.items() if long or bug not in LONG_BUGS]
    for which, bug, numbers in cases:
        found, words = search(which, bug, numbers, LONG_TABLE if long else TABLE)
        case = f"{which.stem}: {bug}, {', '.join(f'{name} {value}' for name, value in numbers.items())}: {'a' if found else 'no'} wrong no"
        print(f"{case} ({words})", flush=True)
        if found != (bug != "NONE"):
            wrong.append(case)
    sys.exit(f"not as it must be: {'; '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
