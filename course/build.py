"""What ``make course`` does: write the course kit, one folder a purpose.

    python -m course.build [--parts PART,...] [chapter ...]

A chapter is named as in its address (counting) or by its part (failures); without one
the course has all. Parts: student, instructor, nbgrader, questions, slides, handouts;
the last two need Chromium.
"""

import argparse
import hashlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import manuscript
from course import assignments, handouts, kit, mine, questions, slides
from manuscript import ROOT, Page

PARTS: dict[str, Callable[[list[Page], Path], None]] = {
    "student": partial(kit.write_kit, "student"),
    "instructor": partial(kit.write_kit, "instructor"),
    "nbgrader": assignments.write,
    "questions": questions.write,
    "slides": handouts.write_slides,
    "handouts": handouts.write_handouts,
}

WRITTEN = ".written.json"
MADE_BY_JUPYTER = {"__pycache__", ".ipynb_checkpoints"}


def build(names: list[str], parts: list[str], out: Path) -> None:
    """Write some parts anew."""
    pages = kit.chosen(manuscript.read().notebooks, names)
    mine.refuse_unknown("The kit", "part", parts, PARTS)  # before anything is written
    if "nbgrader" in parts:
        assignments.chosen(pages, mine.read())
    if "slides" in parts:
        slides.plans()
    if yours := [f"{part}/{it}" for part in parts for it in not_ours(out / part)]:
        raise SystemExit(
            f"In {out} there is what this did not write: {', '.join(yours[:5])}"
            f"{' ...' * (len(yours) > 5)}. Move it away first: nothing was changed."
        )
    for part in parts:
        print(f"{part} ...", flush=True)
        making, folder = out / ".making", out / part
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        PARTS[part](pages, making)
        text = json.dumps(digests(making), indent=0)
        (making / WRITTEN).write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        print(f"  {folder}: {size / 1e6:.0f} MB", flush=True)
    print("What to do with each is said in book/teach.md, under The course kit.")


def digests(folder: Path) -> dict[str, str]:
    """The files of a part, each with the digest of what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {*path.parts} & MADE_BY_JUPYTER
    }


def not_ours(folder: Path) -> list[str]:
    """What a part would lose: students' work, marks, files somebody changed."""
    kept = folder / WRITTEN
    ours = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    return sorted(dict(digests(folder).items() - ours.items()).keys() - {WRITTEN})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the course kit.")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--parts", default=",".join(PARTS))
    arguments = parser.parse_args()
    build(arguments.chapters, arguments.parts.split(","), ROOT / "_build/course")
