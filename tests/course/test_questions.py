"""Three questions for each page of the path and on real models, as Moodle has them."""

import re

import manuscript
from course import kit, questions

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]


def test_each_of_thirteen_pages_has_three() -> None:
    """And no other page has any, which nobody would find."""
    assert list(questions.asked()) == [kit.short(page) for page in PAGES]
    assert all(len(asked) == 3 for asked in questions.asked().values())


def test_wrong_options_are_what_students_thought() -> None:
    """Of the page, or of its companion; two different ones at least."""
    for page in PAGES:
        companion = BOOK.companion(page)
        exercises = [*page.exercises, *(companion.exercises if companion else [])]
        labels = {exercise.label for exercise in exercises}
        for one in questions.asked()[kit.short(page)]:
            assert {place.split()[0] for place in one["wrong"]} <= labels
            assert len({*map(questions.thought, one["wrong"])}) >= 2


def test_gift_has_one_right_option_each(tmp_path) -> None:
    """Its marks inside of a sentence are escaped."""
    questions.write(BOOK.notebooks, tmp_path)
    assert len(list(tmp_path.glob("*.gift"))) == len(PAGES)
    for path in tmp_path.glob("*.gift"):
        text = re.sub(r"\\[~=#{}:\\]", "", path.read_text(encoding="utf-8"))
        category, *asked = text.strip().split("\n\n")
        assert category.startswith("$CATEGORY: ") and len(asked) == 3
        for one in asked:
            assert re.fullmatch(r"::[^:]+ \d::[^={}~]+ \{\n  =.+\n(  ~.+\n){2,}\}", one)
    assert questions.escaped("a = b: ~c") == r"a \= b\: \~c"
