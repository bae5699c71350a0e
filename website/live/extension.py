"""Let the reader run the NumPy chapters on the page, beside what is stored.

Above the first code that one sees, or the first exercise, stands a button; nothing is
fetched before it is pressed. Then ``scripts/page.js`` takes over: it reads the page's
cells with their stored outputs (``_static/live/cells/``) and starts Python in a worker.
The engine comes from ``engine.py``, which `make book` runs; without it the site is
built without the button, as that has said. A chapter that needs PyTorch says so.
"""

import base64
import gzip
import hashlib
import html
import io
import json
import os
import re
import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_enumerable_node

import manuscript
from manuscript import stubs
from manuscript.dependencies import cell_dependencies
from manuscript.pages import TORCH, visible
from manuscript.values import MARK
from pe_lib import explorers
from pe_lib.explorers.drawing import compared
from website import editions

ROOT = manuscript.ROOT
SCRIPTS = Path(__file__).with_name("scripts")
ENGINE = Path(os.environ.get("LIVE_ENGINE", ROOT / ".venv/live"))
FOLDER = "_static/live"
FIRST = "start.js"
"""The one script that an ordinary page loads: ``page_context.py`` names it."""

OURS = [
    ROOT / "website" / f"{name}.py"
    for name in ("__init__", "live/__init__", "live/inside", "live/backend")
]
"""Of the site's own modules those that run in the browser, under their full names."""
FIRST_FILES = ("python", "library", "drawing", "book")
"""What worker.js fetches before the first cell."""
PACKS = {
    "scipy": r"\bscipy\b|\bpe_lib\.fit\b|\bdecay_law\b",
    "sympy": r"\bsympy\b",
    "mpmath": r"\b(mpmath|sympy)\b",
}
"""What comes when a cell whose text asks for it runs; page.js asks the same."""
DATA = [
    *sorted((ROOT / "book/beyond/data").glob("*.[cn][sp][vz]")),
    *(ROOT / "book/beyond/data/LICENSE-models.txt", ROOT / "benchmarks/angles.txt"),
]
"""What cells open, with its licence; in the browser, too, they run in book/beyond."""


@cache
def engine() -> dict[str, dict[str, Any]]:
    """The files of the engine, by what they are; empty if it could not be had."""
    about = ENGINE / "engine.json"
    if not about.is_file():
        return {}
    files: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))["files"]
    name = f"engine/book-{hashlib.sha256(book()).hexdigest()[:8]}.zip.gz"
    return files | {"book": {"name": name, "bytes": len(book())}}


@cache
def book() -> bytes:
    """The book's own Python, pe_lib and what runs the cells, and the kept data."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for path in (*OURS, *visible(ROOT / "pe_lib", "**/*.*"), *DATA):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix != ".pyc" and not name.replace("/", ".").startswith(TORCH):
                target.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return gzip.compress(packed.getvalue(), 9, mtime=0)


@cache
def version() -> str:
    """The folder of the scripts: another one whenever one of them changes."""
    files = sorted(path for path in SCRIPTS.iterdir() if path.name != FIRST)
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()[:8]


def runs(name: str) -> bool:
    """Whether the cells of a page can be run on it: no browser has PyTorch."""
    page = manuscript.read().pages.get(name)
    return bool(engine() and page and first(page) and not page.needs_torch)


def first(page: manuscript.Page) -> manuscript.Cell | None:
    """The first code that one sees; where all folds, the first cell one writes."""
    seen = [c for s in page.main for c in s.cells if c.role == "idea"]
    answers = [c for c in page.code_cells if c.role == "exercise"]
    return next(iter(seen + answers), None)


@cache
def cells(name: str) -> str:
    """What the script must know of a page: its cells and what they gave."""
    page = manuscript.read().pages[name]
    listed: list[dict[str, Any]] = []
    for cell in page.code_cells:
        known: dict[str, Any] = {
            "id": cell.id,
            "source": cell.source,
            "stored": stored(cell),
        }
        for label in set(cell.tagged("solution-")) & set(page.checks):
            stub = stubs.stub(label, cell.source, page.checks[label])
            above = [one.source for one in page.code_cells[: len(listed)]]
            needed = cell_dependencies(above, [cell.source, page.checks[label]])
            needs = [at for at, text in enumerate(above) if text in needed]
            known |= {"exercise": label, "stub": stub, "needs": needs}
            if not manuscript.SOLUTIONS:
                known |= {"source": stub, "stored": []}
        listed.append(known)
    about = {
        "cells": listed,
        "first": page.code_cells.index(first(page)),  # type: ignore[arg-type]
        "files": engine(),
        "packs": PACKS,
        "reads": bool(page.reads),
        "scripts": scripts(),
        "values": MARK,
    }
    return json.dumps(about, ensure_ascii=False)


@cache
def scripts() -> list[str]:
    """The explorers' scripts by their hashes, as a policy names them: no other runs."""
    drawn = (getattr(explorers, name)()._repr_html_() for name in explorers.__all__)
    texts = {re.findall("<script>(.*?)</script>", one, re.DOTALL)[0] for one in drawn}
    hashed = (hashlib.sha256(text.encode()).digest() for text in texts)
    return sorted(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashed)


def stored(cell: manuscript.Cell) -> list[tuple[str, str]]:
    """The outputs of a cell as page.js compares them: type, and text."""
    found: list[tuple[str, str]] = []
    for output in cell.outputs:
        if output["output_type"] == "stream":
            found.append((output["name"], "".join(output["text"])))
            continue
        kinds = ("image/svg+xml", "text/html", "text/plain")
        kind = next(kind for kind in kinds if kind in output["data"])
        text = "".join(output["data"][kind])
        found.append((kind, compared(text) if kind == "text/html" else text))
    return found


def cells_file(name: str) -> str:
    """The address of what `cells` says, inside `FOLDER`."""
    plain = name.removeprefix("book/").replace("/", "-")
    hashed = hashlib.sha256(cells(name).encode()).hexdigest()
    return f"cells/{plain}-{hashed[:8]}.json"


def weight(name: str) -> int:
    """What a first visit fetches as all cells run, in bytes."""
    text = "\n".join(cell.source for cell in manuscript.read().pages[name].code_cells)
    packs = [key for key, asks in PACKS.items() if re.search(asks, text)]
    return sum(engine()[key]["bytes"] for key in (*FIRST_FILES, *packs))


def start(name: str) -> str:
    """The button."""
    data = {
        "page": name.removeprefix("book/"),
        "cells": cells_file(name),
        "version": version(),
        "cache": f"live-{Path(engine()['python']['name']).stem.partition('.')[0]}",
    }
    attributes = " ".join(f'data-{k}="{html.escape(v)}"' for k, v in data.items())
    return (
        f'<div class="live-start" {attributes}>'
        '<button class="live-button" type="button">Edit and run</button>'
        f"<p>Fetches Python, {-(-weight(name) // 1_000_000)} MB, once; then cells run "
        "in this browser, also as you change them.</p></div>\n"
    )


def why_not(name: str) -> str:
    """The sentence on a page that cannot be run."""
    here = os.path.dirname(name)  # noqa: PTH120 (a name, not a path)
    address = os.path.relpath(editions.address(name), here)
    return (
        '<div class="live-start"><p>Some cells need PyTorch, '
        "which does not run in a browser. To run the page, take "
        f'<a href="{address}" download>its notebook</a>, or the book, and there type '
        "<code>make lab</code>.</p></div>\n"
    )


class Live(SphinxPostTransform):
    """Number the cells of a page, and put the button above the first code."""

    default_priority = 950  # after the folds
    formats = ("html",)

    def run(self, **_options: Any) -> None:
        """On the chapters, where there is an engine."""
        name = self.env.docname
        page = manuscript.read().pages.get(name)
        if not engine() or page is None or (begin := first(page)) is None:
            return
        below: Any = next(self.document.findall(exercise_enumerable_node), None)
        for container in self.document.findall(nodes.container):
            if container.get("nb_element") != "cell_code":
                continue
            cell = page.cells[container["cell_index"]]
            container["classes"].append(f"c{page.code_cells.index(cell)}")
            if cell is begin and cell.role == "idea":
                below = container
        text = start(name) if runs(name) else why_not(name)
        around = below.parent
        around.insert(around.index(below), nodes.raw("", text, format="html"))


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Copy the engine into the site, and put the scripts under their version."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    shutil.rmtree(folder, ignore_errors=True)  # also what an earlier build left
    if not engine():
        return
    shutil.copytree(SCRIPTS, folder / version(), ignore=shutil.ignore_patterns(FIRST))
    shutil.copy(SCRIPTS / FIRST, folder)
    shutil.copytree(ENGINE, folder / "engine")
    (folder / engine()["book"]["name"]).write_bytes(book())
    (folder / "cells").mkdir()
    for name in filter(runs, app.env.found_docs):
        (folder / cells_file(name)).write_text(cells(name), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(Live)
    app.connect("build-finished", write_files)
