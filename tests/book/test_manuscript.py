"""The reader of the book's files; what it reads of the book the other tests rely on."""

from pathlib import Path

import pytest

from website import manuscript
from website.manuscript import Cell, Page

CHAPTER = """\
# A title

(one)=
(two)=
## What `x` *is*, and $y$

```python
# not a heading
```

### Deeper
"""


def test_formulas_are_words_and_options_are_none() -> None:
    """What one reads."""
    text = (
        "(a)=\n[Two words](b.md#c)\n\n$$\na + b\n$$\n:::{margin}\n:class: c\nOne.\n:::"
    )
    assert manuscript.count_words(text + "<!-- none -->") == 4


def test_a_page_is_cut_at_its_headings() -> None:
    """A comment in code is no heading; a cell belongs where it stands."""
    code = Cell("code", "code", "print(1)", {})
    rest = Cell("rest", "markdown", "Text of the third level.\n\n## The end\n", {})
    page = Page("a", Path("a.ipynb"), (Cell("0", "markdown", CHAPTER, {}), code, rest))
    assert page.title == "A title"
    assert [(s.title, s.level) for s in page.sections] == [
        ("A title", 1),
        ("What `x` *is*, and $y$", 2),
        ("Deeper", 3),
        ("The end", 2),
    ]
    _, second, third, last = page.sections
    assert second.labels == ("one", "two") and second.anchor == "what-x-is-and-y"
    assert "# not a heading" in second.texts[0].source and not second.cells
    assert [part.id for part in third.parts] == ["code", "rest"]
    assert not last.parts


def test_a_drawing_a_picture_and_a_line_have_their_seconds() -> None:
    """Each as often as it is there; no exercise counts."""

    def seconds(*cells: Cell) -> float:
        return Page(
            "a", Path("a.ipynb"), (Cell("0", "markdown", "# A", {}), *cells)
        ).seconds

    line = Cell("line", "code", "x = 1", {})
    picture = Cell(
        "picture", "code", "draw()", {"mystnb": {"figure": {"name": "fig-a"}}}
    )
    html = {"data": {"text/html": '<div class="pe-explorer"></div>'}}
    drawing = Cell("drawing", "code", "Dial()", {}, (html,))
    exercises = Cell("exercises", "markdown", f"## {manuscript.EXERCISES}", {})
    none = seconds()
    for cell, each in (
        (line, manuscript.SECONDS_A_LINE),
        (picture, manuscript.SECONDS_A_PICTURE),
        (drawing, manuscript.SECONDS_AN_EXPLORER),
    ):
        assert seconds(cell, cell) == none + 2 * each
        assert seconds(exercises, cell) == none


def test_claims_are_read_or_refused(tmp_path: Path) -> None:
    """A missing or a doubled one is an error that names the file."""
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/page\nparts: []\n")
    (tmp_path / "book/page.md").write_text("# Page\n")
    once = (
        "- {id: sky, claim: C, sources: [untraced], verdict: open,\n"
        "   why: W, settled_by: later}\n"
    )
    for text, message in (
        (once, ""),
        (once + once, "claims.yml: there are two claims 'sky'"),
        (once.replace("claim: C,", ""), "claims.yml, sky: .*claim"),
        (once.replace("untraced", ""), "claims.yml, sky: sources must say who"),
        (once.replace("untraced", "a, untraced"), "untraced. alone; got .'a', 'untr"),
    ):
        (tmp_path / "book/claims.yml").write_text(f"Q?:\n{text}")
        manuscript.read.cache_clear()
        if message:
            with pytest.raises(ValueError, match=message):
                manuscript.read(tmp_path)
        else:
            assert manuscript.read(tmp_path).claims["sky"].place == ""
