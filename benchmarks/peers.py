"""What the programs beside this share: other libraries, and where results are kept."""

import importlib
from pathlib import Path
from typing import Any


def peer(path: str) -> Any:
    """One name of a package beside ours."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def keep(program: str, lines: list[str]) -> None:
    """Print a report, and store it beside the program that made it."""
    text = "\n".join(map(str.rstrip, lines)) + "\n"
    print(text, end="")
    Path(program).with_suffix(".txt").write_text(text, encoding="utf-8")
