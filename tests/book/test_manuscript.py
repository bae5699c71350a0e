"""The reader of the book's files, on a book of two pages."""

import json
import subprocess
import sys
from pathlib import Path

import manuscript
import pytest
from manuscript import Figure

CHAPTER = (
    """\
# A title

:::{dropdown} Before you start
- **You need** [that](../other/b.ipynb) and [this](c.ipynb#part).
- **Level** core.
:::

(one)=
(two)=
## What `x` *is*, and $y$

```python
# not a heading
```

### Deeper
""",
    """\
Text of the third level.

:::{exercise} Try it. Build, 5 minutes
:label: first
Do this.
:::

:::{exercise} Again. Prove, 9 minutes
:label: second
Do that.
:::

## The end
""",
)
FIGURE = {"figure": {"name": "fig-a", "caption": "C"}, "image": {"alt": "A"}}


def test_formulas_are_words_and_options_are_none() -> None:
    """What one reads."""
    text = (
        "(a)=\n[Two words](b.md#c)\n\n$$\na + b\n$$\n:::{margin}\n:class: c\nOne.\n:::"
    )
    assert manuscript.count_words(text + "<!-- none -->") == 4


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table of contents, a chapter, a page that it does not list, a claim."""
    (tmp_path / "book/part/.hidden").mkdir(parents=True)
    (tmp_path / "book/claims").mkdir()
    (tmp_path / "_toc.yml").write_text(
        "root: book/part/page\n"
        "parts: [{caption: Part, chapters: [{file: book/part/a}, {file: book/no}]}]\n"
    )
    (tmp_path / "book/part/page.md").write_text(
        "---\ndescription: What it is.\n---\n# Page\n\nText.\n"
    )
    (tmp_path / "book/part/.hidden/page.md").write_text("# An editor's copy\n")
    (tmp_path / "book/another.md").write_text("# Another\n")
    drawing = {"data": {"image/svg+xml": ["<svg>", "</svg>"], "text/plain": "x"}}
    code = {
        "cell_type": "code",
        "id": "code",
        "source": ["print(1)\n", "plot()"],
        "metadata": {"tags": ["claim-sky", "cover"], "mystnb": FIGURE},
        "execution_count": 1,
        "outputs": [{"text": ["1\n"]}, drawing],
    }
    cells = [
        {"cell_type": "markdown", "id": str(i), "source": text, "metadata": {}}
        for i, text in enumerate(CHAPTER)
    ]
    about = {"description": "What one finds."}
    notebook = {"cells": [cells[0], code, cells[1]], "metadata": about}
    (tmp_path / "book/part/a.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "book/claims/sky.yml").write_text(
        "- {id: sky, question: 'Q?', claim: C, sources: [], verdict: open,\n"
        "   why: W, settled_by: later}\n"
    )
    return tmp_path


def test_pages_in_reading_order_and_then_the_others(root: Path) -> None:
    """What is listed and missing is listed; what an editor hides is not read."""
    book = manuscript.read(root)
    assert book.listed == ["book/part/page", "book/part/a", "book/no"]
    assert list(book.pages) == ["book/part/page", "book/part/a", "book/another"]
    assert book.contents["book/part/a"] == "Part"


def test_a_page_is_cut_at_its_headings(root: Path) -> None:
    """A comment in code is no heading; a cell belongs where it stands."""
    page = manuscript.read(root).pages["book/part/a"]
    assert page.title == "A title"
    assert [(s.title, s.level) for s in page.sections] == [
        ("A title", 1),
        ("What `x` *is*, and $y$", 2),
        ("Deeper", 3),
        ("The end", 2),
    ]
    first, second, third, last = page.sections
    assert second.labels == ("one", "two") and second.anchor == "what-x-is-and-y"
    assert "# not a heading" in second.texts[0].source and not second.cells
    assert [part.id for part in third.parts] == ["code", "1"]
    assert first.texts and not last.parts


def test_descriptions(root: Path) -> None:
    """Of a notebook in its metadata, of a Markdown page in front of its text."""
    pages = manuscript.read(root).pages
    assert pages["book/part/a"].description == "What one finds."
    page = pages["book/part/page"]
    assert page.description == "What it is." and page.text.startswith("# Page")
    assert pages["book/another"].description == ""


def test_opening_block_and_exercises(root: Path) -> None:
    """Names of pages, not of files; titles and labels."""
    page = manuscript.read(root).pages["book/part/a"]
    assert set(page.opening) == {"You need", "Level"}
    assert page.needs == ("book/other/b", "book/part/c")
    assert [(e.label, e.text) for e in page.exercises] == [
        ("first", "Do this.\n"),
        ("second", "Do that.\n"),
    ]


def test_a_cell_and_what_it_puts_out(root: Path) -> None:
    """Text, drawings, tags, and what the metadata say of the figure."""
    book = manuscript.read(root)
    page, cell = book.figures["fig-a"]
    assert book.settled == {"sky": (page, cell)}
    assert cell.source == "print(1)\nplot()" and page.code_cells == [cell]
    assert cell.printed.strip() == page.printed.strip() == "1"
    assert cell.drawings == ["<svg></svg>"] and cell.tables == []
    assert cell.figure == Figure("fig-a", "A", "C")


def test_claims_are_read_or_refused(root: Path) -> None:
    """A missing or a doubled one is an error that names the file."""
    assert manuscript.read(root).claims["sky"].place == ""
    path = root / "book/claims/sky.yml"
    once = path.read_text()
    for text, message in (
        (once + once, "sky.yml: there are two claims 'sky'"),
        (once.replace("claim: C,", ""), "sky.yml, sky: .*claim"),
    ):
        path.write_text(text)
        manuscript.read.cache_clear()
        with pytest.raises(ValueError, match=message):
            manuscript.read(root)


def test_needs_neither_the_library_nor_sphinx() -> None:
    """Whoever takes over can read the book with PyYAML alone."""
    code = (
        "import manuscript, sys; manuscript.read(); "
        "print({m.partition('.')[0] for m in sys.modules} "
        "& {'pe_lib', 'numpy', 'sphinx', 'docutils', 'nbformat'})"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(manuscript.__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "set()\n"
