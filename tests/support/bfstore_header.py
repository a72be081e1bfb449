"""What capi/bfstore.h declares, and the headers next to it that include it, read from their text: constants, codes,
functions."""
import pathlib
import re


def _text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def constants(path):
    """Every #define of a number: {"BFS_EINVAL": -1, "BFS_OPEN_READ": 1, ...}."""
    pattern = r"^#define\s+(BFS_\w+)\s+\(?(-?(?:0x[0-9a-f]+|\d+))(?:u|ull)?\)?\s*$"
    found = re.findall(pattern, without_comments(_text(path)), flags=re.M)
    return {name: int(value, 0) for name, value in found}


def codes(path):
    """BFS_OK and every BFS_E code."""
    return {name: value for name, value in constants(path).items() if name == "BFS_OK" or re.match(r"BFS_E[A-Z]", name)}


def installed(path):
    """Every header of the C ABI: bfstore.h, and what is next to it for some programs alone."""
    return [str(path), *sorted(str(one) for one in pathlib.Path(path).parent.glob("bfstore_*.h"))]


def functions(path):
    """The name of every declared function."""
    return re.findall(r"BFS_API[^;(]*?\b(bfs_\w+)\s*\(", without_comments(_text(path)))


def all_functions(path):
    """The name of every function that these headers declare."""
    return [name for header in installed(path) for name in functions(header)]


def structs(path):
    """{name: [field, ...]} of every struct whose fields are declared."""
    found = re.findall(r"typedef struct (bfs_\w+) \{([^}]*)\}", without_comments(_text(path)))
    return {name: [field for line in body.split(";") for field in re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", line.strip())]
            for name, body in found}
