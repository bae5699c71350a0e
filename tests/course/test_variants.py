"""Numbers of their own: drawn again they are the same, and the key is what is right."""

import io
import json
from contextlib import redirect_stdout
from typing import Any

import pytest

from course import kit, report, variants
from website import editions, manuscript, stubs

PAGES = variants.chapters([])
GROUP = variants.Class("2027-spring", "ab" * 32, ("ada", "ben"))
ROTATION = manuscript.read().pages["book/sinusoidal/rotation"]


def test_with_the_numbers_of_the_book_it_is_the_book() -> None:
    """So no text of a plan is out of date; and there are ten exercises at least."""
    seen = 0
    for page in PAGES:
        for label in {e.label for e in page.exercises} & set(variants.plans()):
            plan = variants.plans()[label]
            texts = [variants._changed(cell, label, plan.book) for cell in page.cells]
            changed = [text for text in texts if text]
            assert len(changed) == 3, label  # the question, the solution, the check
            assert set(changed) <= {cell.source for cell in page.cells}, label
            seen += 1
    assert seen == len(variants.plans()) >= 10


def test_who_when_and_the_secret_decide() -> None:
    """All three, and nothing else."""

    def drawn(student: str, term: str = "t", secret: str = "00") -> list[Any]:
        group = variants.Class(term, secret, ())
        return [variants.varied(page, group, student)[1] for page in PAGES]

    assert drawn("ada") == drawn("ada")
    assert drawn("ada") != drawn("ben")
    assert drawn("ada") != drawn("ada", term="u")
    assert drawn("ada") != drawn("ada", secret="01")
    for plan in variants.plans().values():
        some = [plan.picked(GROUP.numbers(str(n), "x")) for n in range(30)]
        assert plan.book not in some and len({*map(str, some)}) > 5


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if not kit.needs_torch(page)],
    ids=lambda page: kit.short(page),
)
def test_an_answer_passes_in_no_other_variant(page: manuscript.Page) -> None:
    """In the student's notebook, which holds no line of the solution."""
    chapter = variants.Chapter(page)
    made, rows = chapter.student(GROUP, "ada")
    mine, _ = variants.varied(page, GROUP, "ada")
    theirs, _ = variants.varied(page, GROUP, "ben")
    cells = {
        tag: editions.source(c) for c in made["cells"] for tag in editions.labels(c, "")
    }
    key = {row[2]: row[4] for row in rows}
    for label in chapter.labels:
        right, check = chapter.cells(mine, label)
        wrong, book = (chapter.cells(p, label)[0] for p in (theirs, page))
        for answer, points in ((right, True), (wrong, False), (book, False)):
            assert scored(chapter, cells, answer, label) == points, (label, answer)
        shown = check in cells[f"check-{label}"].replace("\n    ", "\n")
        assert shown == (not variants.plans()[label].sealed), label
        assert right not in json.dumps(made)
        names = chapter.answered(mine, label)
        for name in stubs.checked_names(right, check):
            assert f"{name} = {names[name]}" in key[label] or right == key[label]


def scored(
    chapter: variants.Chapter, cells: dict[str, str], answer: str, label: str
) -> bool:
    """Whether the check in the student's notebook gives points."""
    names = dict(chapter.names)
    with redirect_stdout(io.StringIO()):
        exec(stubs.REPORTER + variants.SEAL, names)
        exec(answer, names)
        exec(cells[f"check-{label}"], names)
    return bool(names["exercise"].scores[label] > 0)


def test_the_report_asks_for_the_numbers_of_the_student(tmp_path) -> None:
    """Copied answers are red; a file of another name is known by its note."""
    limits = report.Limits(seconds=30, cell_seconds=5)
    made, _ = variants.Chapter(ROTATION).student(GROUP, "ada")
    page, _ = variants.varied(ROTATION, GROUP, "ada")
    right = variants.Chapter.cells(page, "ex-net-shift")[0]
    for cell in made["cells"]:
        if editions.labels(cell, "answer-") == ["ex-net-shift"]:
            cell["source"] = editions.lines(f"# Your answer to ex-net-shift\n{right}")
    for name in ("ben", "upload-17"):
        kit.write(made, tmp_path / f"{name}.ipynb")
    rows = report.grade_all(tmp_path, limits, 2, GROUP)
    found = [(r.student, r.points) for r in rows if r.exercise == "ex-net-shift"]
    assert found == [("ada", 3), ("ben", 0)]


def test_a_class_keeps_its_secret(tmp_path) -> None:
    """Made once, with a term; a name that is no folder's is refused."""
    with pytest.raises(SystemExit, match="one name a line"):
        variants.read(tmp_path)
    (tmp_path / "students.txt").write_text("ada\n\nben\n")
    with pytest.raises(SystemExit, match="say the term"):
        variants.read(tmp_path)
    group = variants.read(tmp_path, "2027-spring")
    assert group == variants.read(tmp_path)
    assert group.students == ("ada", "ben") and len(group.secret) == 64
    assert (tmp_path / "class.yml").stat().st_mode & 0o077 == 0
    with pytest.raises(SystemExit, match="is of the term 2027-spring"):
        variants.read(tmp_path, "2028")
    (tmp_path / "students.txt").write_text("../ada\n")
    with pytest.raises(SystemExit, match="names no folder"):
        variants.read(tmp_path)
