"""One language: builds its binding from the tree, and runs the binding's own tests in their own runner.

Arguments: the language, the root of the repository, libbfstore.a, libbfstore.so, the C compiler, a folder for what is
built, and then the arguments of the tests' runner.
"""

import subprocess
import sys

import languages

try:
    binding, environment = languages.prepared(*sys.argv[1:7])
except languages.Missing as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)
sys.exit(subprocess.run(binding.tests + sys.argv[7:], env=environment, cwd=binding.folder, check=False).returncode)
