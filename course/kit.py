"""The two folders that need no grader: student/ and instructor/, each complete.

Each holds the chapters, the library, the data that chapters read, and its own
requirements. Nothing in it needs the book's folder, and nothing is fetched.
"""

import json
import re
import shutil
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

import yaml

from website import editions, stubs, wrong_answers
from website.editions import Notebook
from website.manuscript import KEPT_FILE, ROOT, Page

EXAM = Path(__file__).parent / "exam.yml"
KEPT = "open it in the folder of the course"
TORCH = re.compile(r"\btorch\b|pe_lib\.(?:nn|check|experiments)\b")
PIN = re.compile(r"^[\w.-]+==[\w.]+", re.MULTILINE)
README = """\
# {title}

From the executable book "Positional Encodings, Checked", {version}.

1. Python 3.11 or newer. In this folder: `python -m venv .venv`, then
   `.venv/bin/python -m pip install -r requirements.txt`
   (on Windows `.venv\\Scripts\\python`).
{torch}`.venv/bin/jupyter lab` (on Windows `.venv\\Scripts\\jupyter lab`), and open a
   chapter. Keep the folders as they are: the chapters find the library `pe_lib`
   beside them.

{advice}

| chapter | minutes to read | exercises | points |
|---|---|---|---|
{rows}

Text and figures: CC BY 4.0 (LICENSE-TEXT). Code: MIT (LICENSE).
"""
ONE_THREAD = """\
# Tensors as small as these are faster on one core than on many.
import torch

torch.set_num_threads(1)
"""
TORCH_STEP = """\
2. The chapters marked with * use PyTorch, too:
   `.venv/bin/python -m pip install -r requirements-torch.txt`.
"""
ADVICE = {
    "student": (
        "Write your answers into the cells that say *your code here*. The cell below "
        "each\nreports pass or fail, the points, and a hint, and Run All goes on. "
        "Hand in the\nnotebooks; do not rename the exercises."
    ),
    "instructor": (
        "Each chapter has its solutions, and below each check the wrong answers that "
        "are given\nmost, with what the check says to them and the figure that clears "
        "them up. Not for\nstudents."
    ),
}


def version() -> str:
    """The version of the book."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    number: str = tomllib.loads(text)["project"]["version"]
    return number


def short(page: Page) -> str:
    """A chapter's name within a kit, for example failures/counting."""
    return page.name.removeprefix("book/")


def needs_torch(page: Page) -> bool:
    """Whether a cell imports PyTorch, or what is built on it."""
    return any(
        TORCH.search(line)
        for cell in page.code_cells
        for line in cell.source.splitlines()
        if line.lstrip().startswith(("import ", "from "))
    )


def worth(page: Page) -> int:
    """The points of a chapter."""
    return sum(stubs.points(exercise.title) for exercise in page.exercises)


def load(page: Page) -> Notebook:
    """The notebook as it is stored."""
    notebook: Notebook = json.loads(page.path.read_text(encoding="utf-8"))
    return notebook


def marked(notebook: Notebook, page: Page, edition: str) -> Notebook:
    """With a note in its metadata that says what it is, whatever its file is called."""
    note = {"chapter": short(page), "edition": edition}
    return notebook | {"metadata": notebook["metadata"] | {"course": note}}


def student(page: Page, pages: Collection[Page] = ()) -> Notebook:
    """The student's edition, for the kit, beside some pages."""
    folder = short(page).rpartition("/")[0] if page.reads else ""
    notebook = editions.students(whole(load(page), page, pages))
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        for label in editions.labels(cell, "check-"):
            cells.append(markdown(f"hints-{label}", hints(label)))
    notebook = editions.findable(notebook | {"cells": cells}, KEPT, folder)
    if needs_torch(page):
        runs = [cell["cell_type"] == "code" for cell in notebook["cells"]]
        cell = editions.setup_cell("one-thread", ONE_THREAD)
        notebook["cells"].insert(runs.index(True), cell)
    return marked(notebook, page, "student")


def instructor(page: Page, pages: Collection[Page] = ()) -> Notebook:
    """With solutions, and below each check what is answered wrongly, and why."""
    notebook = whole(load(page), page, pages)
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = editions.plain(editions.source(cell))
            if text:
                cells.append(cell | {"source": editions.lines(text)})
            continue
        cells.append(cell)
        for label in editions.labels(cell, "check-"):
            text = remarks(label, editions.source(cell))
            cells.append(markdown(f"wrong-{label}", text))
    folder = short(page).rpartition("/")[0] if page.reads else ""
    notebook = editions.findable(notebook | {"cells": cells}, KEPT, folder)
    return marked(notebook, page, "instructor")


def hints(label: str) -> str:
    """What others thought, folded, for a student who is stuck; no code of theirs."""
    thought = [wrong.thinks for wrong in wrong_answers.collected()[label].wrong]
    return "\n".join(
        [
            "<details><summary>Stuck? What others got wrong</summary>\n",
            *(f"- {one}" for one in thought),
            "\n</details>",
        ]
    )


def remarks(label: str, check: str) -> str:
    """What an instructor wants to know of an exercise."""
    found = wrong_answers.collected()[label]
    lines = [
        f"**Common wrong answers to {label}** (the figure that helps: {found.cure})"
    ]
    for wrong in found.wrong:
        lines += [
            f"*{wrong.thinks}* The check says: “{wrong.hint}”",
            f"```python\n{wrong.answer.rstrip()}\n```",
        ]
    if found.hidden_check(check) != check:
        pairs = [f"`{old}` becomes `{new}`" for old, new in found.hidden.items()]
        lines.append("Hidden check: " + ", ".join(pairs) + ".")
    return "\n\n".join(lines)


def markdown(name: str, text: str) -> dict[str, object]:
    """A cell of text."""
    return {
        "cell_type": "markdown",
        "id": re.sub(r"[^\w-]", "-", name)[:64],
        "metadata": {},
        "source": editions.lines(text),
    }


def beside(code: str) -> str:
    """What reads kept files of the book reads them beside it, where a kit has them."""
    return KEPT_FILE.sub(r'"data/\2', code)


def whole(notebook: Notebook, page: Page, pages: Collection[Page]) -> Notebook:
    """With links that lead somewhere, sources by name, and files beside it."""
    cells = [
        cell
        if cell["cell_type"] == "markdown"
        else cell | {"source": editions.lines(beside(editions.source(cell)))}
        for cell in editions.whole(notebook, page, pages)["cells"]
    ]
    return notebook | {"cells": cells}


def write(notebook: Notebook, path: Path) -> None:
    """Store a notebook, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_kit(edition: str, pages: list[Page], folder: Path) -> None:
    """One of the two folders."""
    for page in pages:
        students = edition == "student"
        made = student(page, pages) if students else instructor(page, pages)
        write(made, folder / f"{short(page)}.ipynb")
    copy_library(folder)
    for page in pages:
        copy_data(page, folder / short(page).rpartition("/")[0])
    rows = [
        f"| [{short(page)}]({short(page)}.ipynb){'*' if needs_torch(page) else ''} "
        f"| {page.minutes} | {len(page.exercises)} | {worth(page)} |"
        for page in pages
    ]
    torch = any(map(needs_torch, pages))
    text = README.format(
        torch=TORCH_STEP + "3. " if torch else "2. ",
        title="Notebooks" if edition == "student" else "Notebooks with solutions",
        version=f"version {version()}",
        advice=ADVICE[edition],
        rows="\n".join(rows),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    for name, lines in requirements().items():
        if "torch" in name and not torch:
            continue
        text = "\n".join(["-c constraints.txt", *lines])
        (folder / name).write_text(text + "\n", encoding="utf-8")
    for name in ("constraints.txt", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, folder / name)
    if edition == "instructor":
        (folder / "exam.md").write_text(exam(pages), encoding="utf-8")


def exam(pages: list[Page]) -> str:
    """The questions for an exam on some chapters, with their answers."""
    entries = yaml.safe_load(EXAM.read_text(encoding="utf-8"))
    names = [short(page) for page in pages]
    text = ["# Questions for an exam, with answers. Not for students."]
    for entry in entries:
        if entry["chapter"] in names:
            text += [
                f"## {entry['chapter']}, {entry['points']} points",
                entry["question"],
                f"*Answer.* {entry['answer']}",
            ]
    return "\n\n".join(text) + "\n"


def requirements() -> dict[str, list[str]]:
    """The pins that notebooks need, and those with torch; without ``-e .``."""
    numpy, torch = (
        PIN.findall((ROOT / f"requirements-{part}.txt").read_text(encoding="utf-8"))
        for part in ("numpy", "torch")
    )
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lab = re.findall(r"^jupyterlab==.*$", constraints, re.MULTILINE) or ["jupyterlab"]
    return {
        "requirements.txt": [*numpy, *lab],
        "requirements-torch.txt": ["-r requirements.txt", *torch],
    }


def copy_library(folder: Path) -> None:
    """The library, as it is."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(
        ROOT / "pe_lib", folder / "pe_lib", ignore=ignored, dirs_exist_ok=True
    )


def copy_data(page: Page, folder: Path) -> None:
    """What a chapter reads, in the folder ``data``, wherever in the book it is kept."""
    for kept in editions.data_files(page):
        home = next(p for p in kept.parents if p.name in ("data", "benchmarks"))
        copy = folder / "data" / kept.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kept, copy)


def chosen(pages: Iterable[Page], names: list[str]) -> list[Page]:
    """The chapters of some names or parts; all of them if there is no name."""
    pages = list(pages)
    known = {part for page in pages for part in (*short(page).split("/"), short(page))}
    unknown = sorted(set(names) - known)
    if unknown:
        raise SystemExit(
            f"There is no chapter {', '.join(unknown)}. Try: {sorted(known)}"
        )
    return [
        page
        for page in pages
        if not names or {short(page), *short(page).split("/")} & set(names)
    ]
