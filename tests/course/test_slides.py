"""A deck says what the book says, in the minutes that it has, and asks nobody."""

import html
import json
import re
from dataclasses import replace

import pytest

import manuscript
from course import handouts, slides
from website import katex_math

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
PLANS = slides.plans(BOOK, PAGES)
FETCHED = re.compile(r"""(?:\b(?:src|href)=["']?|url\(["']?|@import )(?:https?:)?//""")


def with_cell(page: manuscript.Page, changed: manuscript.Cell) -> manuscript.Page:
    """The same page, with one cell replaced by one of the same id."""
    cells = (changed if c.id == changed.id else c for c in page.cells)
    return replace(page, cells=tuple(cells))


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


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_slides_say_what_the_book_says(plan: slides.Plan) -> None:
    """Figures, claims, pages and numbers are there; nothing comes from elsewhere."""
    assert slides.errors(plan, BOOK) == []
    deck = slides.deck(plan, BOOK)
    assert deck.count("<section") == 1 + len(plan.slides)
    markup = re.sub(r"<(script|style)>.*?</\1>", "", deck, flags=re.DOTALL)
    assert not FETCHED.search(markup)
    assert all('alt="' in image for image in re.findall(r"<img[^>]*>", markup))
    assert len(deck) < 2_000_000


def test_a_changed_book_turns_a_deck_red() -> None:
    """A number that no cell prints, a figure, a claim, a page that is gone."""
    (slide,) = [slide for slide in PLANS[1].slides if slide.source]
    assert slide.say

    def red(**changes: str) -> str:
        plan = replace(PLANS[1], slides=(replace(slide, **changes),))
        return "\n".join(slides.errors(plan, BOOK))

    assert red() == ""
    assert "159.156 is not printed" in red(say=slide.say.replace("159.155", "159.156"))
    assert "is not printed by a cell" in red(source="")
    assert "no figure" in red(figure="fig-gone")
    assert "no claim" in red(claim="gone")
    assert "no page" in red(question="part/gone")
    assert "no claim 'gone'" in red(claims=("even-width", "gone"))
    for kind in ("formula", "theorem", "proof", "code"):
        for place in ("sinusoidal/rotation#gone", "part/gone#the-formula"):
            assert f"no {kind} at '{place}'" in red(**{kind: place})
    assert "no theorem" in red(theorem="sinusoidal/formula#the-formula")
    assert "no exercise at 'ex-gone'" in red(exercise="ex-gone")
    bare = replace(PLANS[1], slides=(slides.Slide(1, "note"),))
    assert slides.errors(bare, BOOK) == ["90, slide 1: it shows nothing"]
    page = BOOK.pages["book/sinusoidal/formula_deeper"]
    (cell,) = [
        c for c in page.code_cells if "first-hand-is-the-hour" in c.tagged("claim-")
    ]
    (output,) = cell.outputs
    changed = {**output, "text": "".join(output["text"]).replace("159.155", "159.2")}
    pages = dict(BOOK.pages)
    pages[page.name] = with_cell(page, replace(cell, outputs=(changed,)))
    plan = replace(PLANS[1], slides=(slide,))
    assert slides.errors(plan, replace(BOOK, pages=pages))


def test_a_figure_drawn_anew_turns_a_deck_red() -> None:
    """One stroke is enough; decks made from a page have no words of their own."""
    page, cell = BOOK.figures["fig-dials"]
    (output,) = [o for o in cell.outputs if "image/svg+xml" in o.get("data", {})]
    svg = "".join(output["data"]["image/svg+xml"]).replace("</svg>", "<path/></svg>")
    new = replace(cell, outputs=({**output, "data": {"image/svg+xml": svg}},))
    pages = {**BOOK.pages, page.name: with_cell(page, new)}
    book = replace(BOOK, pages=pages)
    red = {plan.name: slides.errors(plan, book) for plan in PLANS}
    assert {name for name, found in red.items() if found} == {"45", "90", "lecture-1"}
    assert "fig-dials was drawn anew" in red["45"][0] and len(red["45"]) == 1
    gone = replace(PLANS[0], seen={})
    assert len(slides.errors(gone, BOOK)) == sum(bool(s.figure) for s in gone.slides)


def test_a_slide_quotes_its_page() -> None:
    """Each kind, from the section, the cell or the label that the plan names."""

    def shown(**quote: str) -> str:
        return slides.section(slides.Slide(1, "note", **quote), BOOK)

    at = "sinusoidal/rotation#no-position-in-the-matrix"
    assert "<h2>Theorem (shift)</h2>" in shown(theorem=at)
    assert "Proof" in shown(proof=at) and ":class:" not in shown(theorem=at)
    assert 'display="block"' in shown(formula=at, say="One block")
    assert "<h2>One block</h2>" in shown(formula=at, say="One block")
    cells = BOOK.pages["book/sinusoidal/rotation"].cells
    (cell,) = [c for c in cells if c.id == "build"]
    code = html.unescape(shown(code="sinusoidal/rotation#build"))
    assert f"<pre>{cell.source}</pre>" in code and "1 minute. note" in code
    assert "Three shifts in one" in shown(exercise="ex-net-shift")
    assert "<li>a place</li>" in shown(formula=at, legend="- a place\n- b")
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


def test_the_lectures_show_what_they_name() -> None:
    """Attention, the formula with its legend, RoPE, three claims."""
    long = slides.deck(PLANS[1], BOOK)
    assert all(text in long for text in (">softmax<", "RoPE rotates", "angular"))
    assert [len(s.claims) for s in PLANS[1].slides if s.claims] == [3]


def test_a_deck_of_each_chapter_that_is_chosen(tmp_path) -> None:
    """Of no other, beside the lectures; all of them without a choice."""
    pages = [BOOK.pages["book/sinusoidal/geometry"], BOOK.pages["book/failures/dials"]]
    made = slides.write(pages, tmp_path, BOOK)
    chosen = ["sinusoidal-geometry", "failures-dials"]
    assert [path.stem for path in made] == [
        "45",
        "90",
        "lecture-1",
        "lecture-2",
        *chosen,
    ]
    assert katex_math.engine.cache_info().currsize == 0  # no thread goes on
    assert len(slides.write(BOOK.notebooks, tmp_path, BOOK)) == len(PLANS)
    for page in BOOK.notebooks:
        assert slides.errors(slides.of_chapter(page, BOOK), BOOK) == []


def test_each_slide_fits_its_page_and_a_page_is_16_by_9(browser, tmp_path) -> None:
    """In the PDF, too: a page for each slide; what hangs out is refused."""
    page = browser.new_page()
    for path in slides.write(BOOK.notebooks, tmp_path, BOOK):
        handouts.print_deck(page, path)
    boxes = re.findall(rb"MediaBox \[([^]]*)\]", (tmp_path / "90.pdf").read_bytes())
    assert boxes == [b"0 0 960 540"] * (1 + len(PLANS[1].slides))  # in points
    page.goto(f"{(tmp_path / 'lecture-1.html').as_uri()}?view=print")
    page.wait_for_function("() => document.querySelector('.pdf-page')")
    seen = "all => all.map(one => getComputedStyle(one).visibility)"
    assert {*page.locator(".answer").evaluate_all(seen)} == {"hidden"}  # the verdicts
    deck = tmp_path / "45.html"
    text = deck.read_text(encoding="utf-8")
    deck.write_text(text.replace("<h2>", "<h2>Too long. " * 99), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"45\.html: no room for"):
        handouts.print_deck(page, deck)
    page.close()


def test_words_of_a_slide() -> None:
    """Formulas are MathML, code and emphasis HTML, links their words."""
    drawn = slides.inline("*old* `x < 1` $T(k)$ [here](a.md) **b** {cite}`v17`")
    assert "<i>old</i> <code>x &lt; 1</code>" in drawn and "<math" in drawn
    assert "here <b>b</b>" in drawn and "a.md" not in drawn and "cite" not in drawn


def test_minutes_must_add_up(tmp_path) -> None:
    """A plan that overruns is refused."""
    path = tmp_path / "x.yml"
    path.write_text(
        "title: x\nminutes: 5\nslides: [{question: a, minutes: 4, note: b}]\n"
    )
    with pytest.raises(ValueError, match=r"x\.yml: the slides take 4 minutes"):
        slides.read(path)
