"""A course of one's own: what ``mine.yml`` says is what the kit has."""

import datetime
import re
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import assignments, build, exam, handouts, kit, mine, slides
from manuscript import edition

BOOK = manuscript.read()
COUNTING = BOOK.pages["book/failures/counting"]
WEEK = {"ex-who-wins": 2, "ex-ends-under-a-mask": (2, 6), "ex-net-shift": None}


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a lecturer says."""

    def saying(**said: Any) -> mine.Mine:
        yours = mine.Mine(**said)
        monkeypatch.setattr(mine, "read", lambda: yours)
        return yours

    return saying


@pytest.mark.parametrize(
    "said", ["", "plans:", "plans: []", "exam: []", "language:", "assignments: {}"]
)
def test_what_is_empty_is_as_the_book_has_it(said: str, tmp_path: Path) -> None:
    """So is the file that comes along."""
    path = tmp_path / "mine.yml"
    path.write_text(said, encoding="utf-8")
    assert mine.read(str(path)) == mine.read() == mine.Mine()


EXERCISES = "must be exercises with their points, such as {ex-who-wins: 2}; got "


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("[a]", "slip.yml must be lines of the form word: ...; got ['a']"),
        ("lecture: Ada", "slip.yml: there is no word lecture"),
        ("language: no", "slip.yml, language must be text; got False"),
        ("solutions: {a: soon}", "solutions, a must be a day, such as 2027-03-01; got"),
        ("solutions: {binry: 2027-03-01}", "solutions: there is no chapter binry"),
        ("leave_out: [binry]", "mine.yml, leave_out: there is no chapter binry"),
        ("leave_out: binry", "slip.yml, leave_out must be a list; got binry"),
        ("exam: [counting, dials_deeper]", "there is no question on dials_deeper"),
        ("assignments: [w]", "assignments must be names, each with what belongs"),
        ("assignments: {w: }", f"slip.yml, assignments, w {EXERCISES}nothing"),
        ("assignments: {w: [ex-a]}", f"slip.yml, assignments, w {EXERCISES}['ex-a']"),
        ("assignments: {w: {ex-gone: 2}}", "w: there is no exercise ex-gone"),
        ("assignments: {w: {ex-who-wins: 0}}", "a whole number, above 0; got 0"),
        ("assignments: {w: {ex-who-wins: [1, 2]}}", "points must be a whole number"),
        ("assignments: {w: {ex-ends-under-a-mask: 8}}", "[of the check, of the proof]"),
        ("assignments: {w: {ex-ends-under-a-mask: [8, 0]}}", "[of the check, of the"),
        ("assignments: {w: {ex-ends-under-a-mask: [0, 8]}}", "[of the check, of the"),
        ("plans: [gone.yml]", "mine.yml, plans: there is no file gone.yml"),
        ("plans: [~]", "mine.yml, plans: there is no file None"),
    ],
)
def test_a_slip_is_named(
    said: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word, a day, a name, points that cannot be; before anything is written."""
    path = tmp_path / "slip.yml"
    path.write_text(said, encoding="utf-8")
    monkeypatch.setattr(build, "PARTS", {"otter": print, "slides": print})
    with pytest.raises(SystemExit, match=re.escape(named)):
        yours = mine.read(str(path))
        monkeypatch.setattr(mine, "read", lambda: yours)
        build.build([], ["otter", "slides"], tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_an_assignment_has_its_exercises_and_their_points(say, tmp_path: Path) -> None:
    """Of two chapters, fewer than these have, each with the lecturer's points."""
    say(assignments={"week-1": WEEK})
    rotation = BOOK.pages["book/sinusoidal/rotation"]
    asked = {
        COUNTING: {"ex-who-wins": (2, 0), "ex-ends-under-a-mask": (2, 6)},
        rotation: {"ex-net-shift": assignments.minutes(rotation)["ex-net-shift"]},
    }
    assignments.write_nbgrader(BOOK.notebooks, tmp_path / "nbgrader")
    assignments.write_otter(BOOK.notebooks, tmp_path / "otter")
    for page, worth in asked.items():
        name = page.path.stem
        for place, made in (
            ("nbgrader/source/week-1", assignments.for_nbgrader),
            (f"otter/week-1-{name}", assignments.for_otter),
        ):
            text = (tmp_path / place / f"{name}.ipynb").read_text("utf-8")
            assert text == edition.text_of(made(page, worth))
    assert len(list(tmp_path.rglob("*.ipynb"))) == 4


def test_decks_and_handouts_say_whose_they_are(say, tmp_path: Path) -> None:
    """A plan of one's own may have any figure; the credit of the book stays."""
    plan = tmp_path / "mine.yml"
    slide = "{figure: fig-rotary-gap, minutes: 5, note: n}"
    plan.write_text(f"title: x\nminutes: 5\nslides: [{slide}]\n", encoding="utf-8")
    about = {"institution": "Uni", "lecturer": "Ada L.", "date": "3 May"}
    say(**about, language="de", line="Course 12", plans=(str(plan),))
    (own,) = [p for p in slides.plans(BOOK, []) if p.name == "mine"]
    deck = slides.deck(own, BOOK)
    assert all(f"<p>{line}</p>" in deck for line in about.values())
    for text in (deck, handouts.handout(COUNTING, BOOK)):
        assert '<html lang="de">' in text and f"Course 12. {slides.CREDIT}" in text
    paper = exam.paper(BOOK.notebooks)
    assert '<html lang="de">' in paper and "Ada L., Uni, 3 May" in paper


def test_pages_are_left_out_and_solutions_have_their_day(say, tmp_path: Path) -> None:
    """A part, or a page; from its day on students have what solves it.

    An exam asks about pages by any name that the others have.
    """
    today = datetime.date.today()
    later = today + datetime.timedelta(days=1)
    say(leave_out=("experiments", "failures/binary"), solutions={"failures": today})
    pages = kit.chosen(BOOK.notebooks, [])
    left_out = re.compile("experiments/|failures/binary$")
    assert pages == [p for p in BOOK.notebooks if not left_out.match(kit.short(p))]
    main = [*BOOK.path_pages, *BOOK.model_pages]
    assert slides.with_decks(pages, BOOK) == [page for page in main if page in pages]
    some = [COUNTING, BOOK.pages["book/failures/counting_deeper"]]  # has no exercise
    kit.write_kit("student", some, tmp_path / "open")
    (solved,) = tmp_path.rglob("*_solutions.ipynb")
    made = kit.student(COUNTING, some, solutions=True)
    assert solved.stem == "counting_solutions"
    assert solved.read_text("utf-8") == edition.text_of(made)
    say(exam=("counting", "criteria"))
    assert exam.paper(BOOK.notebooks).count("<section>") == 2
    say(solutions={"failures": today, "failures/counting": later})
    kit.write_kit("student", some, tmp_path / "closed")
    assert not list((tmp_path / "closed").rglob("*_solutions.ipynb"))
