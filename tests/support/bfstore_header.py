"""The declarations of the C ABI's headers, as tools/abigen reads them: constants, codes, functions. `path`: of bfstore.h."""
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "abigen"))
import declarations
from declarations import without_comments  # pylint: disable=unused-import


def _read(path):
    return declarations.read(declarations.headers(pathlib.Path(path).parent))


def constants(path):
    """Every #define of a number: {"BFS_EINVAL": -1, "BFS_READ": 1, ...}."""
    return {one.name: one.value for one in _read(path).constants}


def flags(path):
    """Every flag: they alone are written in hexadecimal, with the suffix of 64 bits."""
    text = "".join(pathlib.Path(one).read_text("utf-8") for one in installed(path))
    return {name: constants(path)[name] for name in re.findall(r"#define (BFS_\w+) 0x[0-9a-f]+ull\b", text)}


def codes(path):
    """Returns BFS_OK and every BFS_E code."""
    return {one.name: one.value for one in _read(path).constants if one.is_code}


def installed(path):
    """Every header of the C ABI. Each includes those before it that it needs."""
    return [str(one) for one in declarations.headers(pathlib.Path(path).parent)]


def functions(path):
    """Returns the name of every function that these headers declare."""
    return [one.name for one in _read(path).functions]
