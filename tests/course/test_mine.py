"""A course of one's own: what ``mine.yml`` says is what the kit has."""

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import exam, graders, handouts, kit, mine, slides
from manuscript import edition

BOOK = manuscript.read()
WEEK = {"ex-who-wins": 2, "ex-ends-under-a-mask": (2, 6), "ex-net-shift": None}


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a lecturer says."""

    def saying(**said: Any) -> mine.Mine:
        yours = mine.Mine(**said)
        monkeypatch.setattr(mine, "read", lambda: yours)
        return yours

    return saying


def test_the_book_says_nothing_and_slips_are_named(say, tmp_path: Path) -> None:
    """The file that comes along changes nothing; a word it cannot have is refused."""
    assert mine.read() == mine.Mine()
    for slip, named in (("lecture: Ada", "lecture"), ("solutions: {a: soon}", "soon")):
        path = tmp_path / f"{named}.yml"
        path.write_text(slip, encoding="utf-8")
        with pytest.raises(SystemExit, match=named):
            mine.read(str(path))
    typo = "failures/binry"
    for key, said, named in (
        ("leave_out", (typo,), f"there is no chapter {typo}"),
        ("solutions", {typo: 0}, f"there is no chapter {typo}"),
        ("exam", ("counting", "counting_deeper"), "no question on counting_deeper"),
    ):
        say(**{key: said})
        with pytest.raises(SystemExit, match=f"mine.yml, {key}: .*{named}"):
            kit.chosen(BOOK.notebooks, [])


def test_an_assignment_has_its_exercises_and_their_points(say, tmp_path: Path) -> None:
    """Of two chapters, fewer than these have, each with the lecturer's points."""
    say(assignments={"week-1": WEEK})
    graders.write_nbgrader(BOOK.notebooks, tmp_path / "nbgrader")
    graders.write_otter(BOOK.notebooks, tmp_path / "otter")
    graded, text = {}, ""
    for path in (tmp_path / "nbgrader/source").rglob("*.ipynb"):
        assert path.parent.name == "week-1"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text += "\n".join(map(edition.source, cells))
        notes = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        graded |= {n["grade_id"]: n["points"] for n in notes if n.get("grade")}
        told = re.findall(r"^# (ex-[\w-]+), (\d+) points?\b", text, re.MULTILINE)
    rotation = BOOK.pages["book/sinusoidal/rotation"]
    assert graded == {
        "check-ex-who-wins": 2,
        "check-ex-ends-under-a-mask": 2,
        "proof-ex-ends-under-a-mask": 6,
        "check-ex-net-shift": edition.check_points(rotation)["ex-net-shift"],
    }
    assert "6 points, which a person gives" in text and len(told) == 3
    masters = [*(tmp_path / "otter").glob("week-1-*/*.ipynb")]
    assert {path.stem for path in masters} == {"counting", "rotation"}
    master = "\n".join(path.read_text(encoding="utf-8") for path in masters)
    asked = dict(re.findall(r"name: (ex_\w+)\\n\",\s+\"points: (\d+)", master))
    assert {n.replace("_", "-") for n in asked} == {*WEEK, "ex-ends-under-a-mask-proof"}
    assert asked["ex_who_wins"] == "2" and asked["ex_ends_under_a_mask_proof"] == "6"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"ex-gone": 2}, "ex-gone"),
        ({"ex-who-wins": 0}, "whole number, above 0; got 0"),
        ({"ex-who-wins": [1, 2]}, "a whole number"),
        ({"ex-ends-under-a-mask": 8}, "of the check, of the proof"),
    ],
)
def test_a_slip_in_an_assignment_is_named(asked, named) -> None:
    """Before anything is written."""
    with pytest.raises(SystemExit, match=named):
        graders.assignments(BOOK.notebooks, mine.Mine(assignments={"w": asked}))


def test_decks_and_handouts_say_whose_they_are(say, tmp_path: Path) -> None:
    """A plan of one's own may have any figure; the credit of the book stays."""
    plan = tmp_path / "mine.yml"
    slide = "{figure: fig-rotary-gap, minutes: 5, note: n}"
    plan.write_text(f"title: x\nminutes: 5\nslides: [{slide}]\n", encoding="utf-8")
    say(
        **{
            "institution": "Uni",
            "lecturer": "Ada L.",
            "date": "3 May",
            "language": "de",
        },
        **{"line": "Course 12", "plans": (str(plan),)},
    )
    (own,) = [p for p in slides.plans(BOOK, []) if p.name == "mine"]
    deck = slides.deck(own, BOOK)
    handout = handouts.handout(BOOK.path_pages[0], BOOK)
    assert all(f"<p>{line}</p>" in deck for line in ("Uni", "Ada L.", "3 May"))
    for text in (deck, handout):
        assert '<html lang="de">' in text and f"Course 12. {slides.CREDIT}" in text


def test_pages_are_left_out_and_solutions_have_their_day(say, tmp_path: Path) -> None:
    """A part, or a page; from its day on students have what solves it.

    An exam asks about pages by any name that the others have.
    """
    today = datetime.date.today()
    later = today + datetime.timedelta(days=1)
    say(leave_out=("experiments", "failures/binary"), solutions={"failures": today})
    pages = kit.chosen(BOOK.notebooks, [])
    assert {kit.short(p).split("/")[0] for p in pages} == {
        kit.short(p).split("/")[0] for p in BOOK.notebooks
    } - {"experiments"}
    assert "failures/binary" not in map(kit.short, pages)
    main = [*BOOK.path_pages, *BOOK.model_pages]
    assert slides.with_decks(pages, BOOK) == [page for page in main if page in pages]
    page = BOOK.pages["book/failures/counting"]
    kit.write_kit("student", [page], tmp_path / "open")
    assert (tmp_path / "open/failures/counting_solutions.ipynb").exists()
    say(exam=("counting", "criteria"))
    assert exam.paper(BOOK.notebooks).count("<section>") == 2
    say(solutions={"failures": today, "failures/counting": later})
    kit.write_kit("student", [page], tmp_path / "closed")
    assert not list((tmp_path / "closed").rglob("*_solutions.ipynb"))
