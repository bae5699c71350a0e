"""The process in which somebody's code runs: it prints a document, and no more.

The command line starts it, with a time limit.
"""

import ast
import functools
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pe_lib.__main__ import none
from pe_lib.check.call import ForeignError, foreign
from pe_lib.check.checker import check


def load(target: str) -> Any:
    """The object that ``package.module:name`` or ``path/to/file.py:name`` names.

    A file is loaded under a private name, and its folder comes last where modules are
    looked for: neither replaces anybody's.
    """
    module, _, name = target.rpartition(":")
    if not module or not name:
        raise ValueError(f"target must be MODULE_OR_FILE:CLASS, got {target!r}")
    if module.endswith(".py"):
        path = Path(module).resolve()
        sys.path.append(str(path.parent))
        private = f"_checked_{path.stem}"
        spec = importlib.util.spec_from_file_location(private, path)
        assert spec is not None and spec.loader is not None  # of any name in .py
        found: Any = importlib.util.module_from_spec(spec)
        sys.modules[private] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def with_arguments(make: Any, given: Sequence[str]) -> Any:
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


def answer(
    target: str, arg: Sequence[str] = (), verbose: bool = False, **options: Any
) -> dict[str, Any]:
    """A document: the report and its text; or the words of what went wrong."""
    theirs, sys.argv = sys.argv, [target]  # a file may read them
    try:
        with foreign():
            make = load(target)
        report = check(with_arguments(make, arg), **options)
    except (ForeignError, ValueError, TypeError) as error:
        return none(str(error))
    finally:
        sys.argv = theirs
    return {"report": report.as_dict(), "text": report.as_text(verbose=verbose)}


def main() -> None:
    """Print the document for the options in the first argument, in JSON.

    They are as :func:`answer` takes them. What else goes to stdout goes to stderr.
    """
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        sys.path += [str(Path.cwd())]
        json.dump(answer(**json.loads(sys.argv[1])), out)
