"""Writes the layers of the bindings that only repeat the C headers: constants, structs, signatures, checks of the layout. Also the
tables by which each binding says the library's messages in its own words (words.py).

    python3 tools/abigen    after a change of capi/bfstore*.h or of words.py; prints the files that have changed

tests/capi/abigen_test.py fails as long as that was not done.
"""

import sys

import declarations
import layers

if len(sys.argv) > 1:
    sys.exit(__doc__)
FILES = layers.made(declarations.read())
for path in layers.stale(FILES):
    (layers.ROOT / path).write_text(FILES[path], encoding="utf-8")
    print(path)
