"""Checks that a jar or an npm package has the library for every system. tools/package --everywhere runs it for each package.

usage: check_natives.py PACKAGE...          bfstore-VERSION.jar, bfstore-VERSION.tgz

The libraries for glibc need no symbol of a later one than 2.17, and no library but glibc's; those for musl need musl alone. They
show bfs_* alone. This machine's program takes the one that is for it.
"""
import io
import pathlib
import platform
import re
import tarfile
import tempfile
import zipfile

from check_wheel import MACHINES, ROOT, check_needs, main, require, run, visible_of

MEMBER = re.compile(r"(?:natives|package/prebuilt)/(linux(-musl)?)-(x86_64|aarch64|x64|arm64)/libbfstore\.so$")
PROCESSORS = {"x64": "x86_64", "arm64": "aarch64"}
NODE = """
import * as bfstore from "bfstore";
const made = bfstore.create(process.argv[2], {capacity: 100});
made.add("alice");
console.log(made.contains("alice"), made.contains("bob"));
made.close();
"""
JAVA = """
import dev.bfstore.*;
class Use {
  public static void main(String[] words) throws Exception {
    try (Filter made = Filter.create(java.nio.file.Path.of(words[0]), new CreateOptions().capacity(100))) {
      made.add("alice");
      System.out.println(made.contains("alice") + " " + made.contains("bob"));
    }
  }
}
"""


def members(package):
    """Returns {name: contents} of the package."""
    data = package.read_bytes()
    if package.suffix == ".jar":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        return {one.name: packed.extractfile(one).read() for one in packed if one.isfile()}


def check_library(library, processor, is_musl):
    newest = check_needs(library, None if is_musl else "17")
    require(MACHINES[processor] in run("readelf", "-hW", library), f"is not for {processor}")
    strangers = {name for name in visible_of(library) if not re.match(r"(bfs_|BFSTORE_)", name)}
    require(not strangers, f"shows {sorted(strangers)[:20]}")
    return newest


def use_by_node(package, folder):
    modules = folder / "node_modules"
    modules.mkdir()
    with tarfile.open(package) as packed:
        packed.extractall(modules)
    (modules / "package").rename(modules / "bfstore")
    for one in ("koffi", "@koromix"):
        (modules / one).symlink_to(ROOT / "build-deps" / "node" / "node_modules" / one)
    (folder / "use.mjs").write_text(NODE, "utf-8")
    return run("node", folder / "use.mjs", folder / "file.bf")


def use_by_java(package, folder):
    jna = next((ROOT / "build-deps" / "java" / "jars").glob("jna-*.jar"))
    (folder / "Use.java").write_text(JAVA, "utf-8")
    return run("java", "-Dbfstore.backend=jna", "-cp", f"{package}:{jna}", folder / "Use.java", folder / "file.bf")


def check(package):
    contents = members(package)
    systems = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in filter(MEMBER.match, contents):
            _, is_musl, processor = MEMBER.match(name).groups()
            library = folder / "libbfstore.so"
            library.write_bytes(contents[name])
            processor = PROCESSORS.get(processor, processor)
            systems[processor, bool(is_musl)] = check_library(library, processor, is_musl)
        processors = {processor for processor, _ in systems}
        require(processors and len(systems) == 2 * len(processors), f"has the library for {sorted(systems)} alone")
        is_for_here = platform.machine() in processors
        if is_for_here:
            said = (use_by_java if package.suffix == ".jar" else use_by_node)(package, folder)
            require(said == "true false\n", f"said {said!r}")
    print(f"{package.name}: {len(systems)} libraries for {', '.join(sorted(processors))}, {'' if is_for_here else 'not '}used here")


if __name__ == "__main__":
    main(check)
