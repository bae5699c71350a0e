"""The two folders that need no grader: student/ and instructor/, each complete.

Each holds the chapters, the library, the data that chapters read, and its own
requirements. Nothing in it needs the book's folder, and nothing is fetched.
"""

import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import pe_lib
from course import exam, mine
from manuscript import ROOT, Page, edition, stubs, wrong_answers
from manuscript.edition import Notebook

KEPT = "open it in the folder of the course"
PIN = re.compile(r"^[\w.-]+==[\w.]+", re.MULTILINE)
README = """\
# {title}

From the executable book "Positional Encodings, Checked", version {version}.

1. Python 3.11 or newer. In this folder: `python -m venv .venv`, then
   `.venv/bin/python -m pip install -r requirements.txt`
   (on Windows `.venv\\Scripts\\python`).
2. The chapters marked with * use PyTorch, too:
   `.venv/bin/python -m pip install -r requirements-torch.txt`.
3. `.venv/bin/jupyter lab` (on Windows `.venv\\Scripts\\jupyter lab`), and open a
   chapter. Keep the folders as they are: the chapters find the library `pe_lib`
   beside them.

{advice}

| chapter | minutes to read | exercises | points |
|---|---|---|---|
{rows}

Text and figures: CC BY 4.0 (LICENSE-TEXT). Code: MIT (LICENSE).
"""
ADVICE = {
    "student": (
        "Write your answers into the cells that say *your code here*. The cell below "
        "each\nreports pass or fail, the points, and a hint, and Run All goes on. "
        "Hand in the\nnotebooks; do not rename the exercises. Those that end in "
        "`_exercises` have these alone."
    ),
    "instructor": (
        "Each chapter has its solutions, and below each check likely mistakes, with "
        "what the\ncheck says to them and the figure that clears them up. Not for "
        "students."
    ),
}


def short(page: Page) -> str:
    """A chapter's name within a kit, for example failures/counting."""
    return page.name.removeprefix("book/")


def student(
    page: Page, pages: Collection[Page] = (), *, solutions: bool = False
) -> Notebook:
    """The reader's edition, beside some pages."""
    return edition.make(
        page, pages, edition.site(), hint=KEPT, solutions=solutions, data_beside=True
    )


def instructor(page: Page, pages: Collection[Page] = ()) -> Notebook:
    """With solutions, and below each check likely mistakes, and why."""
    notebook = student(page, pages, solutions=True)
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        for label in edition.labels(cell, "check-"):
            text = remarks(label, edition.source(cell))
            cells.append(edition.markdown(f"wrong-{label}", text))
    return notebook | {"cells": cells}


def remarks(label: str, check: str) -> str:
    """What an instructor wants to know of an exercise."""
    found = wrong_answers.collected()[label]
    helps = f"(the figure that helps: {found.cure})"
    lines = [f"**Likely wrong answers to {label}** {helps}"]
    for wrong in found.wrong:
        lines += [
            f"*{wrong.thinks}* The check says: “{wrong.hint}”",
            f"```python\n{wrong.answer.rstrip()}\n```",
        ]
    if found.hidden_check(check) != check:
        pairs = [f"`{old}` becomes `{new}`" for old, new in found.hidden.items()]
        lines.append("Hidden check: " + ", ".join(pairs) + ".")
    if found.rubric:
        lines.append(f"Points of the proof:\n\n{rubric(label)}")
    return "\n\n".join(lines)


def rubric(label: str, points: Sequence[int] = ()) -> str:
    """What a proof must say, a line each, with its points: the book's, or others."""
    found = wrong_answers.collected()[label].rubric
    lines = zip(found, points or found.values(), strict=True)
    return "\n".join(f"- {worth}: {what}" for what, worth in lines)


def write(notebook: Notebook, path: Path) -> None:
    """Store a notebook, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edition.text_of(notebook), encoding="utf-8")


def write_kit(part: str, pages: list[Page], folder: Path) -> None:
    """One of the two folders."""
    for page in pages:
        made = {"": (student if part == "student" else instructor)(page, pages)}
        if part == "student" and page.exercises:
            made["_exercises"] = edition.exercises(made[""], page)
        for end, notebook in made.items():
            write(notebook, folder / f"{short(page)}{end}.ipynb")
        copy_data(page, folder / short(page).rpartition("/")[0])
    copy_library(folder)
    rows = [
        f"| [{short(page)}]({short(page)}.ipynb){'*' * page.needs_torch} | "
        f"{page.minutes} | {len(page.exercises)} | {points} |"
        for page in pages
        for points in [sum(stubs.points(one.title) for one in page.exercises)]
    ]
    text = README.format(
        title="Notebooks" if part == "student" else "Notebooks with solutions",
        version=pe_lib.__version__,
        advice=ADVICE[part],
        rows="\n".join(rows),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    for torch, name in enumerate(("requirements.txt", "requirements-torch.txt")):
        pins = ["-c constraints.txt", *requirements(torch=bool(torch))]
        write_pins(pins, folder, name)
    for name in ("constraints.txt", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, folder / name)
    if part == "instructor":
        (folder / "exam.md").write_text(exam.answers(pages), encoding="utf-8")
        (folder / "exam_paper.html").write_text(exam.paper(pages), encoding="utf-8")


def requirements(*, torch: bool) -> list[str]:
    """The pins that notebooks need, with PyTorch or without; no ``-e .``."""
    names = "requirements-numpy.txt", "requirements-torch.txt", "constraints.txt"
    numpy, more, every = (
        PIN.findall((ROOT / name).read_text(encoding="utf-8")) for name in names
    )
    lab = [pin for pin in every if pin.startswith("jupyterlab==")]
    return [*numpy, *lab, *(more if torch else ())]


def write_pins(
    pins: Collection[str], folder: Path, name: str = "requirements.txt"
) -> None:
    """What to install for a folder."""
    (folder / name).write_text("\n".join(pins) + "\n", encoding="utf-8")


def copy_library(folder: Path) -> None:
    """The library, as it is, with its licence."""
    library, ignored = folder / "pe_lib", shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "pe_lib", library, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(ROOT / "LICENSE", library)


def copy_data(page: Page, folder: Path) -> None:
    """What a chapter reads, in the folder ``data``, wherever in the book it is kept."""
    for kept in page.reads:
        home = next(p for p in kept.parents if p.name in ("data", "benchmarks"))
        copy = folder / "data" / kept.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kept, copy)


def chosen(pages: list[Page], names: list[str]) -> list[Page]:
    """The chapters of some names or parts; all without a name."""
    known = set().union(*map(mine.names, pages))
    mine.refuse_unknown("This course", "chapter", names, known)
    return [page for page in pages if not names or mine.names(page) & {*names}]
