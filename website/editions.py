"""The notebooks that the site offers: the reader's edition, and the author's beside it.

Each is a zip, with the data that the chapter reads and the licences:
``notebooks/failures/counting.zip`` is what ``reader`` makes of the chapter, and
``counting-author.zip`` has all solutions, too. A site without solutions has neither
the second nor, in its pages, what the first lacks. The templates know the addresses as
``download_reader`` and ``download_author``.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from website import manuscript, reader
from website.reader import Notebook

FOLDER = "notebooks"
LICENCES = [manuscript.ROOT / name for name in ("LICENSE", "LICENSE-TEXT")]


def addresses(name: str) -> dict[str, str]:
    """Where the site keeps the two editions of a chapter."""
    place = f"{FOLDER}/{name.removeprefix('book/')}"
    author = {"author": f"{place}-author.zip"} if manuscript.SOLUTIONS else {}
    return {"reader": f"{place}.zip"} | author


def both(
    page: manuscript.Page, site: str = "", repository: str = ""
) -> dict[str, Notebook]:
    """The two editions of a chapter, ready to be taken anywhere."""
    return {
        name: reader.edition(
            page, (), site, repository=repository, solutions=name == "author"
        )
        for name in addresses(page.name)
    }


def archive(page: manuscript.Page, notebook: Notebook) -> bytes:
    """A zip of it, where it lies in the book, with its data and the licences."""
    files = {f"{page.name}.ipynb": reader.text_of(notebook).encode()}
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


def leave_out_answers(_app: Sphinx, name: str, text: list[str]) -> None:
    """Take solutions and answers out of a chapter that is read, cell by cell."""
    page = manuscript.read().pages.get(name)
    if manuscript.SOLUTIONS or page is None or not page.is_notebook:
        return
    notebook = json.loads(text[0])
    notebook["cells"] = reader.without_solutions(page, notebook["cells"])
    text[0] = reader.text_of(notebook)


def write_editions(app: Sphinx, exception: Exception | None) -> None:
    """Write the editions of all chapters of the site."""
    if exception or app.builder.format != "html":
        return
    repository = app.config.html_theme_options.get("repository_url", "")
    pages = manuscript.read().pages
    for name in sorted(app.env.found_docs & set(pages)):
        if not pages[name].is_notebook:
            continue
        made = both(pages[name], app.config.html_baseurl, repository)
        for edition, notebook in made.items():
            path = Path(app.outdir) / addresses(name)[edition]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive(pages[name], notebook))
        alone = Path(app.outdir) / addresses(name)["reader"]  # the page reads it
        alone.with_suffix(".ipynb").write_text(reader.text_of(made["reader"]), "utf-8")


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
    app.connect("source-read", leave_out_answers)
    app.connect("html-page-context", tell_the_page)
    app.connect("build-finished", write_editions)
