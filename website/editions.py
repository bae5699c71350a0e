"""The editions of a chapter: what a student downloads, and the author's beside it.

A notebook is here what ``json.load`` makes of its file. Each function returns a new one
and leaves the old one alone:

    students(notebook)          the answers out, code and prose; the checks report,
                                and nbgrader finds both by their names
    findable(notebook, hint)    with a first cell that finds pe_lib, or says the hint

The course kit (``course``) builds on these two. The site offers both editions of
every chapter, each as a zip with the data that the chapter reads and the licences:
``notebooks/failures/counting.zip`` is the student's, ``counting-author.zip`` the other.
The templates know their addresses as ``download_student`` and ``download_author``.
"""

import copy
import io
import json
import re
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from website import manuscript, sources, stubs

Notebook = dict[str, Any]

ANSWER = re.compile(
    r"^:::\{solution-start\} \S+\n(?::\w+:.*\n)*:::(?:\n|\Z)", re.MULTILINE
)
END = re.compile(r"^:::\{solution-end\}\n:::(?:\n|\Z)", re.MULTILINE)
FENCE = re.compile(
    r"^:{3,}\{([\w-]+)\} *(.*)\n((?::[\w-]+:.*\n)*)|^:{3,}(?:\n|\Z)", re.MULTILINE
)
ANCHOR = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)(?: <[^`]*>)?`")
KINDS = {"exercise": "Exercise. ", "solution-start": "Solution of "}
FOLDER = "notebooks"
LICENCES = [manuscript.ROOT / name for name in ("LICENSE", "LICENSE-TEXT")]
FIND = """\
# Finds pe_lib, the library of the book, also in a folder above this.
import sys
from pathlib import Path

sys.path += [str(folder) for folder in (Path.cwd(), *Path.cwd().parents)
             if (folder / "pe_lib").is_dir()]
{colab}try:
    import pe_lib
except ModuleNotFoundError as error:
    if error.name != "pe_lib":
        raise
    raise ModuleNotFoundError("pe_lib is missing: {hint}, "
        "then in it: pip install -r requirements.txt") from None
"""
COLAB = """\
if "google.colab" in sys.modules:    # a machine of Google's, empty at first
    import subprocess
    clone = ["git", "clone", "--depth", "1", "{repository}", "book"]
    if not Path("book").is_dir():
        subprocess.run(clone, check=True)
    sys.path.append(str(Path("book").resolve()))
"""
TO_THE_DATA = """
import os
folder = Path(pe_lib.__file__).parents[1] / "{folder}"
if folder.is_dir():    # this page reads files that lie beside it
    os.chdir(folder)
"""


def whole(
    notebook: Notebook, page: manuscript.Page, pages: Collection[manuscript.Page] = ()
) -> Notebook:
    """With sources by name, and links that lead somewhere beside some pages."""

    def text(cell: dict[str, Any]) -> list[str]:
        if cell["cell_type"] != "markdown":
            return lines(source(cell))
        return lines(sources.linked(sources.cited(source(cell)), page, pages))

    cells = [cell | {"source": text(cell)} for cell in notebook["cells"]]
    return notebook | {"cells": cells}


def students(notebook: Notebook) -> Notebook:
    """Without the answers: prose out, code a stub; a check reports, and goes on."""
    edition = copy.deepcopy(notebook)
    solutions, checks = (
        {label: source(c) for c in notebook["cells"] for label in labels(c, prefix)}
        for prefix in ("solution-", "check-")
    )
    worth = {label: stubs.points(title) for label, title in _titles(notebook).items()}
    kept, inside = [], False
    for cell in edition["cells"]:
        if cell["cell_type"] == "markdown":
            text, inside = _without_answers(source(cell), inside=inside)
            text = plain(text)
            if text.strip():
                kept.append(cell | {"source": lines(text)})
        elif found := labels(cell, "solution-"):
            text = stubs.stub(found[0], source(cell), checks.get(found[0], ""))
            name = f"answer-{found[0]}"
            kept.append(noted(blank(cell, text, name), name, solution=True))
        elif found := labels(cell, "check-"):
            names = stubs.checked_names(solutions[found[0]], source(cell))
            text = stubs.reported(found[0], worth[found[0]], names, source(cell))
            name, points = f"check-{found[0]}", worth[found[0]]
            kept.append(noted(blank(cell, text, name), name, points=points))
        elif not inside:
            kept.append(cell)
    if checks:
        runs = [cell["cell_type"] == "code" for cell in kept]
        kept.insert(runs.index(True), setup_cell("report-checks", stubs.REPORTER))
        text = stubs.TOTAL.format(points=sum(worth.values()))
        kept.append(setup_cell("points-so-far", text))
    return edition | {"cells": kept}


def plain(text: str) -> str:
    """Markdown that every viewer shows: a box is a bold title above its text."""

    def title(fence: re.Match[str]) -> str:
        name, words, _ = fence.groups(default="")
        kind = KINDS.get(name, "")
        return f"**{kind}{words}**\n\n" if words else ""

    return ROLE.sub(r"[\1]", ANCHOR.sub("", FENCE.sub(title, text))).strip("\n")


def findable(
    notebook: Notebook, hint: str, folder: str = "", repository: str = ""
) -> Notebook:
    """With a cell before all others that run, which finds the library.

    ``folder`` is where the chapter lies in the book, for one that reads files there.
    With a ``repository`` the cell fetches the library where it runs on Colab.
    """
    colab = COLAB.format(repository=repository) if repository else ""
    text = FIND.format(hint=hint, colab=colab)
    if folder:
        text += TO_THE_DATA.format(folder=folder)
    edition = copy.deepcopy(notebook)
    runs = [c["cell_type"] == "code" for c in edition["cells"]]
    edition["cells"].insert(runs.index(True), setup_cell("find-pe-lib", text))
    return edition


def setup_cell(name: str, text: str) -> dict[str, Any]:
    """A cell that the site would fold."""
    cell = {"cell_type": "code", "id": name, "metadata": {}}
    return blank(cell, text.rstrip(), "setup")


def blank(cell: dict[str, Any], text: str, *tags: str) -> dict[str, Any]:
    """The same cell with another text and other tags, not run yet."""
    return cell | {
        "execution_count": None,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "source": lines(text),
    }


def noted(
    cell: dict[str, Any], name: str, *, solution: bool = False, points: int = 0
) -> dict[str, Any]:
    """With the note by which nbgrader knows an answer, a check, or a locked cell."""
    note = {
        "grade": points > 0,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    note |= {"points": points} if points else {}
    return cell | {"metadata": cell["metadata"] | {"nbgrader": note}}


def source(cell: dict[str, Any]) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def lines(text: str) -> list[str]:
    """A text as a notebook's file stores it."""
    return text.splitlines(keepends=True)


def labels(cell: dict[str, Any], prefix: str) -> list[str]:
    """What follows a prefix in the tags of a cell."""
    tags: list[str] = cell["metadata"].get("tags", [])
    return [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]


def _titles(notebook: Notebook) -> dict[str, str]:
    """The titles of the exercises, by their labels."""
    texts = [source(c) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    found = manuscript.EXERCISE.findall("\n\n".join(texts))
    return {label: title for title, label, _ in found}


def _without_answers(text: str, *, inside: bool) -> tuple[str, bool]:
    """What of a text stands outside of answers, and whether one goes on below it."""
    kept = ""
    while text:
        match = (END if inside else ANSWER).search(text)
        if not inside:
            kept += text[: match.start()] if match else text
        if match is None:
            break
        text, inside = text[match.end() :], not inside
    return kept.strip("\n"), inside


def hint(repository: str) -> str:
    """How to get the folder that the library comes from, in one line."""
    return f"git clone {repository}" if repository else "get the folder of the book"


def addresses(name: str) -> dict[str, str]:
    """Where the site keeps the two editions of a chapter."""
    place = f"{FOLDER}/{name.removeprefix('book/')}"
    return {"student": f"{place}.zip", "author": f"{place}-author.zip"}


def text_of(notebook: Notebook) -> str:
    """A notebook as its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def archive(page: manuscript.Page, notebook: Notebook) -> bytes:
    """A zip of it, where it lies in the book, with its data and the licences."""
    files = {f"{page.name}.ipynb": text_of(notebook).encode()}
    for path in (*LICENCES, *data_files(page)):
        files[path.relative_to(manuscript.ROOT).as_posix()] = path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def data_files(page: manuscript.Page) -> list[Path]:
    """The kept files that a chapter reads, and their licence.

    A name in a cell may be the beginning of several.
    """
    found = {
        path
        for folder, name in page.reads
        for start in (page.path.parent / folder).glob(f"{name or '*.'}*")
        for path in ([*start.rglob("*")] if start.is_dir() else [start])
        if path.suffix in (".csv", ".npz", ".txt")
    }
    found |= {licence for path in found for licence in path.parent.glob("LICENSE*")}
    return sorted(path.resolve() for path in found)


def both(page: manuscript.Page, repository: str = "") -> dict[str, Notebook]:
    """The two editions of a chapter, ready to be taken anywhere."""
    notebook = json.loads(page.path.read_text(encoding="utf-8"))
    folder = page.name.rpartition("/")[0] if page.reads else ""
    student = students(whole(notebook, page))
    return {
        "student": findable(student, hint(repository), folder, repository),
        "author": findable(notebook, hint(repository), folder, repository),
    }


def write_editions(app: Sphinx, exception: Exception | None) -> None:
    """Write the editions of all chapters of the site."""
    if exception or app.builder.format != "html":
        return
    repository = app.config.html_theme_options.get("repository_url", "")
    pages = manuscript.read().pages
    for name in sorted(app.env.found_docs & set(pages)):
        if not pages[name].is_notebook:
            continue
        made = both(pages[name], repository)
        for edition, notebook in made.items():
            path = Path(app.outdir) / addresses(name)[edition]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive(pages[name], notebook))
        alone = Path(app.outdir) / addresses(name)["student"]  # the page reads it
        alone.with_suffix(".ipynb").write_text(text_of(made["student"]), "utf-8")


def tell_the_page(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Give the templates the addresses of the two editions, relative to the page."""
    page = manuscript.read().pages.get(pagename)
    for edition, address in addresses(pagename).items():
        is_there = page is not None and page.is_notebook
        relative = context["pathto"](address, 1) if is_there else ""
        context[f"download_{edition}"] = relative


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", tell_the_page)
    app.connect("build-finished", write_editions)
