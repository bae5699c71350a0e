"""The command line: ``python -m pe_lib check package.module:Class``, or a file.

Prints a report about a positional encoding module. The exit status is 0 if there is no
error, 1 if there is one (or, with ``--strict``, a warning), 2 if nothing was checked.
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

NOT_RUN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of those of the process.
    """
    given = _parser().parse_args(arguments)
    from pe_lib.check import check
    from pe_lib.check.call import ExitCalledError, ForeignError, foreign

    theirs, sys.argv = sys.argv, [given.target]  # a file may read them
    try:
        with foreign():
            make = _load(given.target)
        report = check(
            _with_arguments(make, given.arg),
            d_model=given.d_model,
            kind=given.kind,
            axes=given.axes,
            positions=given.positions,
            ignore=given.ignore,
        )
    except (ForeignError, ExitCalledError, ValueError, TypeError) as error:
        print(f"could not run: {error}", file=sys.stderr)
        return NOT_RUN
    finally:
        sys.argv = theirs
    if given.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        print(report.as_text(verbose=given.verbose))
    wrong = report.errors or (given.strict and report.warnings)
    return int(bool(wrong)) if report.ran else NOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pe_lib",
        description="Check a positional encoding written for PyTorch.",
        epilog="Exit status: 0 no error, 1 an error, 2 nothing was checked.",
    )
    parser.add_argument("--version", action="version", version=f"pe_lib {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="run a module through the checks")
    add = check.add_argument
    add("target", metavar="MODULE_OR_FILE:CLASS", help="what makes it from its width")
    add(
        "--d-model", type=int, default=64, metavar="D", help="width, or heads of a bias"
    )
    add("--kind", choices=("added", "table", "rotary", "bias"), default="added")
    add("--axes", help='the axes of x, "batch length dim" for instance')
    add("--positions", metavar="NAME", help="forward's argument for positions")
    add(
        "--arg", metavar="NAME=VALUE", action="append", default=[], help="for the class"
    )
    add("--ignore", metavar="CHECK", action="append", default=[], help="leave it out")
    add("--strict", action="store_true", help="a warning is status 1 too")
    add("--json", action="store_true", help="print JSON")
    add("-v", "--verbose", action="store_true", help="print notes too")
    return parser


def _load(target: str) -> Any:
    """The object that ``package.module:name`` or ``path/to/file.py:name`` names."""
    module, _, name = target.rpartition(":")
    if not module or not name:
        raise ValueError(f"target must be MODULE_OR_FILE:CLASS, got {target!r}")
    if module.endswith(".py"):
        path = Path(module).resolve()
        sys.path.insert(0, str(path.parent))  # its siblings, as when Python runs it
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None  # of any name in .py
        found: Any = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _with_arguments(make: Any, given: Sequence[str]) -> Any:
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
    return functools.partial(make, **arguments) if arguments else make


if __name__ == "__main__":
    sys.exit(main())
