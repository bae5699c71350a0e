"""The command line: ``python -m pe_lib check package.module:Class``, or a file.

Prints a report about a positional encoding module. The exit status is 0
if nothing is wrong, 1 if something is, 2 if the module could not be run or is of a
kind that is not checked.
"""

import argparse
import ast
import functools
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pe_lib import __version__

WIDTH = 72  # of the printed report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m pe_lib",
        description="Check a positional encoding written for PyTorch.",
        epilog="Exit status: 0 nothing wrong, 1 something is, 2 nothing was checked.",
    )
    parser.add_argument("--version", action="version", version=f"pe_lib {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="run a module through all checks")
    check.add_argument(
        "target",
        metavar="package.module:Class",
        help="what makes the module from d_model alone; or path/to/file.py:Class",
    )
    check.add_argument("--d-model", type=int, default=64, help="width (64)")
    check.add_argument(
        "--arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an argument for the class; VALUE as Python writes it, or a word",
    )
    check.add_argument("--ignore", metavar="CHECK", action="append", default=[])
    check.add_argument(
        "--positions", metavar="NAME", help="forward's argument for them"
    )
    check.add_argument("--offset", metavar="NAME", help="forward's first position")
    check.add_argument(
        "--axes", metavar="AXES", help="those of x, as a report has them"
    )
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument("--quiet", action="store_true", help="print what is wrong alone")
    given = parser.parse_args(arguments)
    try:
        from pe_lib.check.conformance import Options, check_encoding

        build = _with_arguments(_load(given.target), given.arg)
        options: Options = {
            "d_model": given.d_model,
            "ignore": given.ignore,
            "positions": given.positions,
            "offset": given.offset,
            "axes": given.axes,
        }
        report = check_encoding(build, **options)
    except Exception as error:
        print(f"could not run: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps(report.as_dict(), indent=2))
    elif given.quiet:
        for found in report.wrong:
            print(found.as_text(WIDTH))
    else:
        print(report.as_text(WIDTH))
    return 2 if not report.ran else int(not report.ok)


def _load(target: str) -> Any:
    """The object that ``package.module:name`` or ``path/to/file.py:name`` names."""
    module, _, name = target.rpartition(":")
    if not module or not name:
        raise ValueError(
            f"target must be package.module:Class or file.py:Class, got {target!r}"
        )
    found: Any
    if module.endswith(".py"):
        path = Path(module).resolve()
        sys.path.insert(0, str(path.parent))  # its siblings, as when Python runs it
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None  # of any name in .py
        found = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _with_arguments(build: Any, given: Sequence[str]) -> Any:
    """The object, called with these arguments besides the width."""
    arguments = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and name.isidentifier()):
            raise ValueError(f"--arg must be NAME=VALUE, got {text!r}")
        try:
            arguments[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):  # a word
            arguments[name] = value
    return functools.partial(build, **arguments) if arguments else build


if __name__ == "__main__":
    sys.exit(main())
