"""Node.js: the package is assembled as npm packs it, with the library in it, and with koffi from what tools/setup.sh fetched."""

import hashlib
import platform
import shutil
import subprocess

import languages
import programs

OLDEST = "18"  # package.json
ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def renewed(folder, name, data):
    """Writes these bytes to the file `name` of the folder. Returns whether it had others."""
    path = folder / name
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def assemble(source, library, package, modules):
    """Puts the sources, the library and the packages into a folder of their own, so that nothing is written into the source tree.
    Another test may run them there, so a file that is right is not touched."""
    wanted = {path.relative_to(source) for path in files_of(source) if path.parent.name != "types"}  # see make_types
    for path in [*files_of(package / "lib"), *files_of(package / "tests")]:
        if path.relative_to(package) not in wanted:
            path.unlink()
    for path in wanted:
        renewed(package, path, (source / path).read_bytes())
    renewed(package, "LICENSE", (source.parents[2] / "LICENSE").read_bytes())
    renewed(package, f"prebuilt/linux-{ARCHITECTURES[platform.machine()]}/libbfstore.so", library.read_bytes())
    if not (package / "node_modules").is_symlink():
        (package / "node_modules").symlink_to(modules)


def make_types(package, modules):
    """Makes types/*.d.ts from the comments of lib/*.js. tsc needs seconds, and runs only if the sources have changed. The source tree has
    the same files, for users who install from it: types.test.js compares them."""
    inputs = b"".join(path.read_bytes() for path in [*files_of(package / "lib"), package / "tsconfig.json"])
    if not renewed(package.parent, "types.sha256", hashlib.sha256(inputs).digest()) and (package / "types").is_dir():
        return
    shutil.rmtree(package / "types", ignore_errors=True)
    done = subprocess.run([programs.find("node", OLDEST), modules / "typescript" / "bin" / "tsc", "-p", package], check=False)
    if done.returncode != 0:
        (package.parent / "types.sha256").unlink()
        raise RuntimeError("tsc found errors in the types")


def build(tree):
    node = programs.find("node", OLDEST)
    modules = tree.fetched("node", "fetch_node_packages") / "node_modules"
    package = tree.out / "package"
    assemble(tree.bindings / "node", tree.library, package, modules)
    make_types(package, modules)
    tests = sorted(str(path) for path in (package / "tests").glob("*.test.js"))
    return languages.Binding(tests=[node, "--test", *tests], agree=[node, str(package / "tests" / "agree.js")], folder=package,
                             environment={"PATH": programs.path(node), "BFSTORE_ROOT": str(tree.root), "npm_config_cache": str(tree.out / "npm")})


def times(tree, binding):
    """Returns the command that bench/bindings.py runs."""
    return [binding.agree[0], str(tree.root / "bench" / "bindings" / "node_times.mjs"), str(binding.folder / "lib" / "index.js")]
