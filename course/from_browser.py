"""Whose a file is; and answers saved on the site ("Save all answers"), as notebooks.

One JSON file holds the answers to the exercises of any number of chapters. For the
report it becomes a student's notebook a chapter, with those answers in it.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from website import editions
from course import kit
from website import manuscript

FORMAT = "answers to Positional Encodings, Checked"
"""As in ``website/live/scripts/answers.js``."""
LARGEST = 8_000_000  # bytes of what one student hands in; read, some take 40 times that
COPY = re.compile(r" ?\((\d+)\)$")
"""How a browser ends the name of a file that it saves once more."""


def roster(folder: Path) -> list[str]:
    """The names in students.txt, if there is one."""
    path = folder / "students.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [name.strip() for name in lines if name.strip()]


def owner(folder: Path, path: Path) -> str:
    """The student: the folder below, or the file's name without a copy's number."""
    first, *rest = path.relative_to(folder).parts
    if rest or path.stem in roster(folder):
        return first if rest else path.stem
    return COPY.sub("", path.stem)


def files(folder: Path) -> list[tuple[Path, str]]:
    """The files of answers below a folder, each with its student."""
    found = []
    for path in manuscript.visible(folder, "**/*.json"):
        if answers(path):
            found.append((path, owner(folder, path)))
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
        content = json.loads(text(path))
        if content["format"] != FORMAT:
            return {}
        return {
            chapter: {label: str(one["answer"]) for label, one in all_.items()}
            for chapter, all_ in content["answers"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def notebooks(folder: Path, into: Path) -> list[tuple[Path, str]]:
    """All of them written as notebooks, each with its student."""
    chapters = {kit.short(page): page for page in manuscript.read().notebooks}
    written = []
    for number, (path, student) in enumerate(files(folder)):
        for chapter, texts in answers(path).items():
            if chapter not in chapters:
                continue
            made = into / f"{number}" / f"{chapter.replace('/', '-')}.ipynb"
            made.parent.mkdir(exist_ok=True)
            notebook = filled(kit.student(chapters[chapter]), texts)
            made.write_text(json.dumps(notebook), encoding="utf-8", errors="replace")
            os.utime(made, (path.stat().st_atime, path.stat().st_mtime))
            written.append((made, student))
    return written


def filled(notebook: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The student's edition with answers in their places; those left empty stay."""
    for cell in notebook["cells"]:
        for label in editions.labels(cell, "answer-"):
            if texts.get(label):
                cell["source"] = editions.lines(texts[label])
    return notebook
