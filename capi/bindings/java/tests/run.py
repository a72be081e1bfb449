"""Runs the tests with both back ends at once, each in a JVM of its own, and prints the output of each. Arguments go to
JUnit."""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(os.environ["BFSTORE_JAVA_TESTS"])
JARS = os.environ["BFSTORE_JARS"].split(os.pathsep)


def start(back_end, home, folders, *options):
    out = pathlib.Path(os.environ["BFSTORE_OUT"]) / back_end
    (out / "tmp").mkdir(parents=True, exist_ok=True)
    classpath = os.pathsep.join([*JARS, *(str(TESTS / folder) for folder in folders)])
    command = [pathlib.Path(home) / "bin" / "java", *options, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
               f"-Djava.io.tmpdir={out / 'tmp'}", f"-Duser.home={out}", f"-Dbfstore.backend={back_end}",
               f"-XX:ErrorFile={out / 'crash.log'}", "-cp", classpath, "org.junit.platform.console.ConsoleLauncher", "execute",
               "--disable-banner", "--disable-ansi-colors", "--details=tree", "--fail-if-no-tests",
               *(f"--scan-classpath={TESTS / folder}" for folder in folders), *sys.argv[1:]]
    log = open(out / "log", "w+b")
    return back_end, log, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=out)


started = [start("jna", os.environ["BFSTORE_JAVA_WITH_JNA"], ["all"]),
           start("ffm", os.environ["BFSTORE_JAVA_WITH_FFM"], ["all", "ffm"], "--enable-native-access=ALL-UNNAMED")]
failed = []
for back_end, log, process in started:
    if process.wait() != 0:
        failed.append(back_end)
    log.seek(0)
    print(f"--- {back_end} ---", log.read().decode("utf-8", "replace"), sep="\n", flush=True)
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
