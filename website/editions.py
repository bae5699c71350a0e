"""The notebook that the site offers of each chapter, and a site without answers.

``notebooks/failures/counting.zip`` is what ``manuscript.edition`` makes of it, with the
data that it reads and the licences. A site without solutions has nothing in its pages
that the notebook lacks, leads to no place that has more, and says what it is. The
templates know the address as ``download``.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import manuscript
from manuscript import edition
from manuscript.edition import Notebook

FOLDER = "notebooks"
LICENCES = [manuscript.ROOT / name for name in ("LICENSE", "LICENSE-TEXT")]


def address(name: str) -> str:
    """Where the site keeps the notebook of a chapter."""
    return f"{FOLDER}/{name.removeprefix('book/')}.zip"


def archive(page: manuscript.Page, notebook: Notebook) -> bytes:
    """A zip of it, where it lies in the book, with its data and the licences."""
    files = {f"{page.name}.ipynb": edition.text_of(notebook).encode()}
    for path in (*LICENCES, *page.reads):
        files[path.relative_to(manuscript.ROOT).as_posix()] = path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def lead_to_no_answers(_app: Sphinx, config: Any) -> None:
    """Without solutions a site has no link to the repository, or to the whole site."""
    if not manuscript.SOLUTIONS:
        config.html_baseurl = ""
        config.html_theme_options["repository_url"] = ""


def leave_out_answers(_app: Sphinx, name: str, text: list[str]) -> None:
    """Take solutions and answers out of a chapter that is read, cell by cell."""
    page = manuscript.read().pages.get(name)
    if manuscript.SOLUTIONS or page is None or not page.is_notebook:
        return
    notebook = json.loads(text[0])
    notebook["cells"] = edition.without_solutions(page, notebook["cells"])
    text[0] = edition.text_of(notebook)


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Write the notebooks of all chapters of the site."""
    if exception or app.builder.format != "html":
        return
    repository = app.config.html_theme_options.get("repository_url", "")
    pages = manuscript.read().pages
    for name in sorted(app.env.found_docs & set(pages)):
        if pages[name].is_notebook:
            made = edition.make(
                pages[name], (), app.config.html_baseurl, repository=repository
            )
            path = Path(app.outdir) / address(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive(pages[name], made))
            alone = path.with_suffix(".ipynb")  # the page reads it
            alone.write_text(edition.text_of(made), "utf-8")


def tell_the_page(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Give the templates the notebook's address, and whether there are solutions."""
    page = manuscript.read().pages.get(pagename)
    is_there = page is not None and page.is_notebook
    context["download"] = context["pathto"](address(pagename), 1) if is_there else ""
    context["solutions"] = manuscript.SOLUTIONS


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", lead_to_no_answers)
    app.connect("source-read", leave_out_answers)
    app.connect("html-page-context", tell_the_page)
    app.connect("build-finished", write_notebooks)
