"""What the headers of the C ABI declare, as tools/abigen reads them: constants, codes, functions. `path`: of bfstore.h."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "abigen"))
import declarations
from declarations import without_comments  # pylint: disable=unused-import


def _read(path):
    return declarations.read(declarations.headers(pathlib.Path(path).parent))


def constants(path):
    """Every #define of a number: {"BFS_EINVAL": -1, "BFS_OPEN_READ": 1, ...}."""
    return {one.name: one.value for one in _read(path).constants}


def codes(path):
    """BFS_OK and every BFS_E code."""
    return {one.name: one.value for one in _read(path).constants if one.is_code}


def installed(path):
    """Every header of the C ABI: bfstore.h, and what is next to it for some programs alone."""
    return [str(path), *sorted(str(one) for one in pathlib.Path(path).parent.glob("bfstore_*.h"))]


def functions(path):
    """The name of every function that these headers declare."""
    return [one.name for one in _read(path).functions]
