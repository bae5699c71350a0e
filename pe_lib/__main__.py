"""The command line: ``python -m pe_lib check package.module:Class``, or a file.

Prints a report about a positional encoding module. The exit status is 0 if there is no
error, 1 if there is one (or, with ``--strict``, a warning), 2 if there is no verdict.
The module runs in a process of its own: what it prints goes to stderr, and after
``--timeout`` seconds it is ended.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pe_lib import __version__

NO_VERDICT = 2
SCHEMA = 1  # as in pe_lib.check.report, which loads torch
ROOT = str(Path(__file__).resolve().parents[1])
CHILD = (
    f"import sys; sys.path.append({ROOT!r}); import pe_lib.check.child as c; c.main()"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of those of the process.
    """
    words = sys.argv[1:] if arguments is None else [*arguments]
    options = vars(parser(as_json="--json" in words).parse_args(words))
    del options["command"]
    as_json, strict, limit = (options.pop(n) for n in ("json", "strict", "timeout"))
    try:
        document = asked(options, limit)
    except KeyboardInterrupt:
        document = none("it was interrupted")
    report = document["report"]
    if as_json:
        tell(json.dumps(report, indent=2))
    elif "error" in report:
        print(f"could not run: {report['error']}", file=sys.stderr)
    else:
        tell(document["text"])
    warned = any(f["level"] == "warning" for f in report.get("findings", ()))
    return 1 if report["status"] == 0 and strict and warned else int(report["status"])


def asked(options: dict[str, Any], limit: float) -> dict[str, Any]:
    """The document that a process of its own prints, within a time in seconds."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", CHILD, json.dumps(options)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return none(f"it took longer than {limit:g} seconds (--timeout)")
    if not done.stdout:
        return none(f"its process ended with status {done.returncode}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def none(words: str) -> dict[str, Any]:
    """The document where there is no verdict."""
    told = {"schema": SCHEMA, "status": NO_VERDICT, "ok": False, "ran": False}
    return {"report": told | {"error": words}}


def tell(text: str) -> None:
    """Print it, though nobody may be reading any more."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Parser(argparse.ArgumentParser):
    """One whose complaints are JSON as well, where that is asked for."""

    as_json = False

    def error(self, message: str) -> NoReturn:
        if Parser.as_json:
            tell(json.dumps(none(message)["report"], indent=2))
        super().error(message)


def parser(*, as_json: bool) -> argparse.ArgumentParser:
    """Of the whole command line."""
    Parser.as_json = as_json
    root = Parser(
        prog="python -m pe_lib",
        description="Check a positional encoding written for PyTorch.",
        epilog="Exit status: 0 no error, 1 an error, 2 no verdict.",
    )
    root.add_argument("--version", action="version", version=f"pe_lib {__version__}")
    commands = root.add_subparsers(dest="command", required=True)
    add = commands.add_parser(
        "check", help="run a module through the checks"
    ).add_argument
    add("target", metavar="MODULE_OR_FILE:CLASS", help="what makes it from its width")
    add("--d-model", type=int, default=64, metavar="D", help="width")
    kinds = "added", "rotary"
    add("--kind", choices=kinds, default="added", help="what forward does")
    add("--axes", help='the axes of x, "batch length dim" for instance')
    add("--positions", metavar="NAME", help="forward's argument for positions")
    repeated: Any = {"action": "append", "default": []}
    add("--arg", metavar="NAME=VALUE", help="for the class", **repeated)
    add("--ignore", metavar="CHECK", help="leave it out", **repeated)
    add("--strict", action="store_true", help="a warning is status 1 too")
    add(
        "--timeout",
        type=float,
        default=120.0,
        metavar="S",
        help="seconds at most (120)",
    )
    add("--json", action="store_true", help="print JSON")
    add(
        "-v",
        "--verbose",
        action="store_true",
        help="print notes, and what was not asked",
    )
    return root


if __name__ == "__main__":
    sys.exit(main())
