"""Answers that a student saved on the site ("Save all answers"), as notebooks.

One JSON file holds the answers to the exercises of any number of chapters. For the
report it becomes a student's notebook a chapter, with those answers in it.
"""

import json
from pathlib import Path
from typing import Any

import editions
import kit
import manuscript

FORMAT = "answers to Positional Encodings, Checked"
"""As in ``book/_static/live/answers.js``."""
LARGEST = 20_000_000  # bytes of what one student hands in


def files(folder: Path) -> list[tuple[Path, str]]:
    """The files of answers below a folder, each with its student."""
    found = []
    for path in manuscript.visible(folder, "**/*.json"):
        parts = path.relative_to(folder).parts
        if answers(path):
            found.append((path, parts[0] if len(parts) > 1 else path.stem))
    return found


def text(path: Path) -> str:
    """What a file holds; a ValueError if it is a link, a pipe, or much too large."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("it is no file but a link, or worse")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST // 10**6} MB")
    return path.read_text(encoding="utf-8")


def answers(path: Path) -> dict[str, dict[str, str]]:
    """What a file says, by chapter and exercise; nothing if it is no such file."""
    try:
        told = json.loads(text(path))
        if told["format"] != FORMAT:
            return {}
        return {
            chapter: {label: str(one["answer"]) for label, one in all_.items()}
            for chapter, all_ in told["answers"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def notebooks(folder: Path, into: Path) -> list[tuple[Path, str]]:
    """All of them written as notebooks, each with its student."""
    chapters = {kit.short(page): page for page in manuscript.read().notebooks}
    written = []
    for number, (path, student) in enumerate(files(folder)):
        for chapter, told in answers(path).items():
            if chapter not in chapters:
                continue
            made = into / f"{number}" / f"{chapter.replace('/', '-')}.ipynb"
            made.parent.mkdir(exist_ok=True)
            notebook = filled(kit.student(chapters[chapter]), told)
            made.write_text(json.dumps(notebook), encoding="utf-8", errors="replace")
            written.append((made, student))
    return written


def filled(notebook: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """The student's edition with answers in their places; those left empty stay."""
    for cell in notebook["cells"]:
        for label in editions.labels(cell, "answer-"):
            if told.get(label):
                cell["source"] = editions.lines(told[label])
    return notebook
