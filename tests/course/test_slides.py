"""A deck says what the book says, in the minutes that it has, and asks nobody.

On paper there is what the site shows, and nothing that stops ``make course``.
"""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import handouts, mine, slides
from tests.website.built_site import NO_BROWSER, find_browser

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
PLANS = slides.plans()
FETCHED = re.compile(r"""(?:\b(?:src|href)=["']?|url\(["']?|@import )(?:https?:)?//""")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """The page that `make course` prints with."""
    if find_browser() is None:
        pytest.skip(NO_BROWSER)
    with handouts.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of the lectures."""
    return slides.write(tmp_path_factory.mktemp("slides"), BOOK)


def test_the_slides_say_what_the_book_says(decks: list[Path]) -> None:
    """All that a plan names is there, once; nothing comes from elsewhere."""
    lectures = {"45": 45, "90": 90, "lecture-1": 45, "lecture-2": 45}
    assert {plan.name: plan.minutes for plan in PLANS} == lectures
    for path, plan in zip(decks, PLANS, strict=True):
        deck = path.read_text(encoding="utf-8")
        sections = deck.split("<section")[2:]
        for slide, shown in zip(plan.slides, sections, strict=True):
            found = [slides.quoted(kind, place, BOOK) for kind, place in slide.places]
            assert all(text in shown for _, _, text in found)
            foot = shown.partition("<footer>")[2]
            assert not found or slides.inline(found[0][0]) in foot
            heading = slide.title or found[0][1]
            assert f"<h2>{slides.inline(heading)}</h2>" in shown
            assert slide.note and slides.inline(slide.note) in shown
            assert f'data-timing="{round(60 * slide.minutes)}"' in shown
        markup = re.sub(r"<script>.*?</script>", "", deck, flags=re.DOTALL)
        assert not FETCHED.search(markup) and len(deck) < 1_000_000
        assert markup.count("<img") == len(re.findall(r'<img alt="[^"]', markup)) > 0
        assert path.stem == plan.name and not re.search(r":::|\$", markup)
    whole = html.unescape("".join(path.read_text("utf-8") for path in decks))
    parts = ["<h2>Theorem (shift)", "<h2>Proof</h2>", "<h2>Three shifts in one", "∎"]
    parts += ["<math", 'display="block"', "<pre>", "def ", 'class="fragment answer"']
    assert [part for part in parts if part not in whole] == []


def test_a_changed_book_turns_a_deck_red() -> None:
    """A number that no cell prints, and whatever is quoted and gone."""
    (slide,) = [slide for slide in PLANS[1].slides if slide.source]

    def red(**changes: Any) -> str:
        plan = replace(PLANS[1], slides=(replace(slide, **changes),))
        return "\n".join(slides.errors(plan, BOOK))

    assert red() == ""
    assert "159.156 is not printed" in red(title=slide.title.replace(".155", ".156"))
    assert "is not printed by a cell" in red(source="")
    for kind in ("figure", "question", "exercise", "code", *slides.QUOTED):
        for place in ("sinusoidal/rotation#gone", "part/gone#the-formula"):
            if kind != "question" or "part" in place:
                assert f"no {kind} '{place}'" in red(**{kind: place})
    assert "no claim 'gone'" in red(claims=("even-width", "gone"))
    assert "no theorem" in red(theorem="sinusoidal/formula#the-formula")
    bare = replace(PLANS[1], slides=(slides.Slide(1, "note"),))
    with pytest.raises(SystemExit, match="book says:\n90, slide 1: it shows no"):
        slides.deck(bare, BOOK)


OWN = """\
In [room 2](https://a.org), on **3 May**: $T(k)$.

| a | b |
|---|---|
| 1 | 2 |

```python
x < 1
```

- ![A dot](dot.png)
- {cite:t}`denk2019`, on $T$
"""
SLIDE = {"title": "Exam", "markdown": OWN, "minutes": 5, "note": "n", "figure": None}


def test_a_lecturer_adds_a_slide(tmp_path: Path, monkeypatch) -> None:
    """All of Markdown, with pictures beside the plan; the numbers are one's own."""
    path = tmp_path / "mine.yml"
    (tmp_path / "dot.png").write_bytes(b"dot")
    plan = {"title": "x", "minutes": 5, "slides": [SLIDE]}
    path.write_text(json.dumps(plan), encoding="utf-8")
    monkeypatch.setattr(mine, "read", lambda: mine.Mine("Ada", plans=(str(path),)))
    deck = slides.deck(slides.plans()[-1], BOOK)
    for part in (
        "</h1><p>Ada</p>",
        "<h2>Exam</h2>",
        '<a href="https://a.org">room 2</a>, on <strong>3 May</strong>',
        "<td>2</td>",
        '<code class="language-python">x &lt; 1\n</code>',
        '<li><img src="data:image/png;base64,ZG90" alt="A dot"',
        '">Denk (2019)</a>, on <span class="math inline"',
    ):
        assert part in deck, part
    for change, named in (
        ({"minutes": 4}, ": the slides take 5 minutes"),
        ({"minutes": "4"}, ", minutes must be a number; got 4"),
        ({"slides": [SLIDE | {"note": ""}]}, ", slide 1, note must be text; got not"),
        ({"slides": [SLIDE | {"folder": "c"}]}, ", slide 1: there is no word folder"),
    ):
        path.write_text(json.dumps(plan | change), encoding="utf-8")
        with pytest.raises(SystemExit, match=re.escape(f"mine.yml{named}")):
            slides.read(path)


def test_each_slide_fits_its_page(page, decks: list[Path]) -> None:
    """A page for each, where no answer is seen; what hangs out is refused."""
    for path, plan in zip(decks, PLANS, strict=True):
        handouts.lay_out(page, path)
        assert page.locator(".pdf-page").count() == 1 + len(plan.slides)
        box = "all => all.map(one => one.firstChild.getBoundingClientRect())"
        sides = page.locator("[columnalign^=right] > mtr > mtd").evaluate_all(box)
        pairs = zip(sides[::2], sides[1::2], strict=True)  # of aligned formulas
        assert max(abs(left["right"] - right["left"]) for left, right in pairs) < 1
    seen = "all => all.map(one => getComputedStyle(one).visibility)"
    assert {*page.locator(".answer").evaluate_all(seen)} == {"hidden"}  # the verdicts
    deck, text = decks[0].with_stem("long"), decks[0].read_text("utf-8")
    deck.write_text(text.replace("<h2>", "<h2>" + "Long. " * 40), "utf-8")
    handouts.lay_out(page, deck)  # in smaller letters
    deck.write_text(text.replace("<h2>", "<h2>" + "Too long. " * 99), "utf-8")
    with pytest.raises(SystemExit, match=r"long\.html: no room for"):
        handouts.lay_out(page, deck)


def test_a_handout_is_two_pages(page, tmp_path: Path) -> None:
    """Figures, theorems with proofs, else formulas; exercises; the longest fits."""
    texts = {chapter: handouts.handout(chapter, BOOK) for chapter in PAGES}
    for chapter, text in texts.items():
        told = [slides.text_of(section) for section in chapter.main]
        quotes = [("} Theorem" in t) + ("**Proof.**" in t) or "$$" in t for t in told]
        assert text.count("<h2>") == sum(quotes) + 1
        drawn = [its for its, _ in BOOK.figures.values() if its is chapter]
        assert text.count("<figcaption>") == len(drawn) > 0
        assert f"<b>{slides.inline(chapter.question)}</b>" in text
        before, titles = text.partition("Exercises</h2>")[::2]
        for one in chapter.exercises:
            assert f"<h3>{slides.inline(one.title)}</h3>" in titles
            assert slides.inline(one.title) not in before
        assert not re.search("href|file:|:::", text)
        read = html.unescape(text)
        assert not [code for code in chapter.solutions.values() if code in read]
    words = {re.sub('base64,[^"]*', "", text): text for text in texts.values()}
    path = tmp_path / "a.pdf"
    for longest in sorted(words, key=len)[-3:]:
        handouts.to_pdf(page, words[longest], path)
        printed = path.read_bytes()
        assert printed.count(b"/MediaBox") == 2
        assert b"/StructTreeRoot" in printed  # a screen reader can read it
    assert [*handouts.SCALES] == sorted(handouts.SCALES, reverse=True)
    with pytest.raises(SystemExit, match="more than two pages"):
        handouts.to_pdf(page, "<p>Long.</p>" * 400, path)
