"""A deck says what the book says, in the minutes that it has, and asks nobody."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import handouts, kit, slides

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
PLANS = slides.plans(BOOK, PAGES)
FETCHED = re.compile(r"""(?:\b(?:src|href)=["']?|url\(["']?|@import )(?:https?:)?//""")


def test_there_is_a_plan_for_each_lecture_and_each_of_thirteen_pages() -> None:
    """Their minutes are those of the slides, and no slide lacks its note."""
    names = [plan.name for plan in PLANS]
    assert names[:4] == ["45", "90", "lecture-1", "lecture-2"]
    assert len(names) == 4 + len(PAGES) == 17
    for plan in PLANS:
        assert plan.slides and all(slide.note for slide in plan.slides), plan.name
    assert [plan.minutes for plan in PLANS[:4]] == [45, 90, 45, 45]
    for page, plan in zip(PAGES, PLANS[4:], strict=True):
        *_, exercise, last = plan.slides
        assert exercise.exercise == page.exercises[0].label
        assert last.markdown.count("\n1. ") >= 1 and page.answer[1:] in last.markdown
        assert page.main[-1].title in last.markdown
    kinds = {
        kind for plan in PLANS[4:] for slide in plan.slides for kind, _ in slide.places
    }
    of_the_book = {"question", "figure", "exercise", "claim"}
    assert kinds == {*slides.QUOTED, *of_the_book}
    (rotation,) = [plan for plan in PLANS if plan.name == "sinusoidal-rotation"]
    shown = [(bool(s.figure), bool(s.theorem), len(s.claims)) for s in rotation.slides]
    assert {(True, False, 0), (False, True, 0), (False, False, 1)} <= {*shown}


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All of them."""
    return slides.write(BOOK.notebooks, tmp_path_factory.mktemp("slides"), BOOK)


def test_the_slides_say_what_the_book_says(decks: list[Path]) -> None:
    """Figures, claims, pages and numbers are there; nothing comes from elsewhere."""
    assert [path.stem for path in decks] == [plan.name for plan in PLANS]
    for path, plan in zip(decks, PLANS, strict=True):
        deck = path.read_text(encoding="utf-8")
        assert deck.count("<section") == 1 + len(plan.slides)
        markup = re.sub(r"<(script|style)>.*?</\1>", "", deck, flags=re.DOTALL)
        assert not FETCHED.search(markup)
        assert all('alt="' in image for image in re.findall(r"<img[^>]*>", markup))
        assert len(deck) < 2_000_000
    long = decks[1].read_text(encoding="utf-8")
    assert all(text in long for text in (">softmax<", "RoPE rotates", "angular"))


def test_a_changed_book_turns_a_deck_red() -> None:
    """A number that no cell prints, a figure, a claim, a page that is gone."""
    (slide,) = [slide for slide in PLANS[1].slides if slide.source]

    def red(book: manuscript.Manuscript = BOOK, **changes: Any) -> str:
        plan = replace(PLANS[1], slides=(replace(slide, **changes),))
        return "\n".join(slides.errors(plan, book))

    assert red() == ""
    assert "159.156 is not printed" in red(title=slide.title.replace(".155", ".156"))
    assert "is not printed by a cell" in red(source="")
    assert "no figure" in red(figure="fig-gone")
    assert "no question" in red(question="part/gone")
    assert "no claim 'gone'" in red(claims=("even-width", "gone"))
    for kind in ("formula", "theorem", "proof", "code"):
        for place in ("sinusoidal/rotation#gone", "part/gone#the-formula"):
            assert f"no {kind} '{place}'" in red(**{kind: place})
    assert "no theorem" in red(theorem="sinusoidal/formula#the-formula")
    assert "no exercise 'ex-gone'" in red(exercise="ex-gone")
    bare = replace(PLANS[1], slides=(slides.Slide(1, "note"),))
    assert slides.errors(bare, BOOK) == ["90, slide 1: it shows nothing"]
    with pytest.raises(SystemExit, match="no longer say what the book says"):
        slides.deck(bare, BOOK)
    page = BOOK.pages["book/sinusoidal/formula_deeper"]
    (cell,) = [
        c for c in page.code_cells if "first-hand-is-the-hour" in c.tagged("claim-")
    ]
    (output,) = cell.outputs
    text = "".join(output["text"]).replace("159.155", "159.2")
    changed = replace(cell, outputs=({**output, "text": text},))
    cells = tuple(changed if c is cell else c for c in page.cells)
    pages = {**BOOK.pages, page.name: replace(page, cells=cells)}
    assert red(replace(BOOK, pages=pages))


def test_a_slide_quotes_its_page() -> None:
    """Each kind, from the section, the cell or the label that the plan names."""

    def shown(**quote: str) -> str:
        return slides.section(slides.Slide(1, "note", **quote), BOOK)

    at = "sinusoidal/rotation#no-position-in-the-matrix"
    assert "<h2>Theorem (shift)</h2>" in shown(theorem=at)
    assert "Proof" in shown(proof=at) and ":class:" not in shown(theorem=at)
    assert 'display="block"' in shown(formula=at, title="One block")
    assert "<h2>One block</h2>" in shown(formula=at, title="One block")
    cells = BOOK.pages["book/sinusoidal/rotation"].cells
    (cell,) = [c for c in cells if c.id == "build"]
    code = html.unescape(shown(code="sinusoidal/rotation#build"))
    assert f"<pre>{cell.source}</pre>" in code and "1 minute. note" in code
    assert "Three shifts in one" in shown(exercise="ex-net-shift")
    assert "<li>a place</li>" in shown(formula=at, markdown="- a place\n- b")
    voted = shown(claims=("even-width", "unique-codes"), title="True?")
    assert "<h2>True?</h2>" in voted and voted.count('class="fragment answer"') == 2
    listed = slides.blocks("One.\n\n1. $a$\n2. b\n\n- {cite:t}`denk2019`")
    assert re.search(r"<ol>\s*<li>(<span[^>]*>)*<math", listed)
    assert re.search(r"<ul>\s*<li>Denk \(2019\)</li>\s*</ul>", listed)


OWN = """\
In [room 2](https://a.org), on **3 May**: $T(k)$.

| a | b |
|---|---|
| 1 | 2 |

```python
x < 1
```

- ![A dot](dot.png)
"""


def test_a_lecturer_adds_a_slide(tmp_path) -> None:
    """All of Markdown, with pictures beside the plan; the numbers are one's own."""
    path = tmp_path / "mine.yml"
    (tmp_path / "dot.png").write_bytes(b"dot")
    slide = {"title": "Exam", "markdown": OWN, "minutes": 5, "note": "n"}
    plan = {"title": "x", "minutes": 5, "slides": [slide]}
    path.write_text(json.dumps(plan), encoding="utf-8")
    read = slides.read(path)
    assert slides.errors(read, BOOK) == []
    shown = slides.section(read.slides[0], BOOK)
    for part in (
        "<h2>Exam</h2>",
        '<a href="https://a.org">room 2</a>, on <strong>3 May</strong>',
        "<math",
        "<td>2</td>",
        '<code class="language-python">x &lt; 1\n</code>',
        '<li><img src="data:image/png;base64,ZG90" alt="A dot"',
    ):
        assert part in shown, part


def test_a_deck_of_each_chapter_that_is_chosen() -> None:
    """Of no other, beside the lectures; each chapter can be chosen."""
    pages = [BOOK.pages["book/sinusoidal/geometry"], BOOK.pages["book/failures/dials"]]
    assert slides.with_decks(pages, BOOK) == pages
    assert slides.with_decks(BOOK.notebooks, BOOK) == PAGES
    _, last = slides.plans(BOOK, pages)[-2:]
    assert last.name == "failures-dials" and len(slides.plans(BOOK, pages)) == 6
    for page in BOOK.notebooks:
        assert slides.errors(slides.of_chapter(page, BOOK), BOOK) == []


def test_each_slide_fits_its_page_and_a_page_is_16_by_9(
    browser, decks: list[Path], tmp_path: Path
) -> None:
    """In the PDF, too: a page for each slide; what hangs out is refused."""
    page = browser.new_page()
    for path in decks:
        handouts.laid_out(page, path)
    handouts.print_deck(page, decks[1])
    boxes = re.findall(
        rb"MediaBox \[([^]]*)\]", decks[1].with_suffix(".pdf").read_bytes()
    )
    assert boxes == [b"0 0 960 540"] * (1 + len(PLANS[1].slides))  # in points
    seen = "all => all.map(one => getComputedStyle(one).visibility)"
    assert {*page.locator(".answer").evaluate_all(seen)} == {"hidden"}  # the verdicts
    (long,) = kit.chosen(BOOK.notebooks, ["criteria_deeper"])  # its proof is
    handouts.laid_out(page, slides.write([long], tmp_path, BOOK)[-1])
    deck = decks[0].with_stem("long")
    text = decks[0].read_text(encoding="utf-8")
    deck.write_text(text.replace("<h2>", "<h2>Too long. " * 99), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"long\.html: no room for"):
        handouts.print_deck(page, deck)
    page.close()


def test_words_of_a_slide() -> None:
    """Formulas are MathML, code and emphasis HTML, links their words."""
    drawn = slides.inline("*old* `x < 1` $T(k)$ [here](a.md) **b** {cite}`v17`")
    assert "<i>old</i> <code>x &lt; 1</code>" in drawn and "<math" in drawn
    assert "here <b>b</b>" in drawn and "a.md" not in drawn and "cite" not in drawn


def test_a_slip_in_a_plan_is_named(tmp_path: Path) -> None:
    """Minutes that do not add up, a word that nothing reads."""
    path = tmp_path / "x.yml"
    for slip, named in (
        ("minutes: 4", r"x\.yml: the slides take 4 minutes"),
        ("minutes: 5, say: c", r"x\.yml, slide 1: there is no word say"),
    ):
        path.write_text(
            f"title: x\nminutes: 5\nslides: [{{question: a, note: b, {slip}}}]\n"
        )
        with pytest.raises(SystemExit, match=named):
            slides.read(path)
