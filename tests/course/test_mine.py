"""A course of one's own: what ``mine.yml`` says is what the kit has."""

import re
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import assignments, build, exam, mine, slides
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
    "said", ["", "plans:", "plans: []", "exam: []", "date:", "assignments: {}"]
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
        ("lecturer: no", "slip.yml, lecturer must be text; got False"),
        ("plans: own.yml", "slip.yml, plans must be a list; got own.yml"),
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
    monkeypatch.setattr(build, "PARTS", {"nbgrader": print, "slides": print})
    with pytest.raises(SystemExit, match=re.escape(named)):
        yours = mine.read(str(path))
        monkeypatch.setattr(mine, "read", lambda: yours)
        build.build([], ["nbgrader", "slides"], tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_an_assignment_has_its_exercises_and_their_points(say, tmp_path: Path) -> None:
    """Of two chapters, fewer than these have, each with the lecturer's points."""
    say(assignments={"week-1": WEEK})
    rotation = BOOK.pages["book/sinusoidal/rotation"]
    asked = {
        COUNTING: {"ex-who-wins": (2, 0), "ex-ends-under-a-mask": (2, 6)},
        rotation: {"ex-net-shift": assignments.minutes(rotation)["ex-net-shift"]},
    }
    assignments.write(BOOK.notebooks, tmp_path)
    for page, worth in asked.items():
        text = (tmp_path / f"source/week-1/{page.path.name}").read_text("utf-8")
        assert text == edition.text_of(assignments.assignment(page, worth))
    assert len(list(tmp_path.rglob("*.ipynb"))) == 2


def test_decks_and_the_exam_say_whose_they_are(say, tmp_path: Path) -> None:
    """A plan of one's own may have any figure; the exam is on the chapters named."""
    plan = tmp_path / "mine.yml"
    slide = "{figure: fig-rotary-gap, minutes: 5, note: n}"
    plan.write_text(f"title: x\nminutes: 5\nslides: [{slide}]\n", encoding="utf-8")
    about = {"institution": "Uni", "lecturer": "Ada L.", "date": "3 May"}
    say(**about, plans=(str(plan),), exam=("counting", "criteria"))
    (own,) = [p for p in slides.plans(BOOK, []) if p.name == "mine"]
    deck = slides.deck(own, BOOK)
    assert all(f"<p>{line}</p>" in deck for line in about.values())
    paper = exam.paper(BOOK.notebooks)
    assert "Ada L., Uni, 3 May" in paper and paper.count("<section>") == 2
