"""Three questions for each page of the path and on real models, as Moodle has them."""

import re

import manuscript
from course import kit, mine, questions

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
ASKED = mine.loaded("questions.yml")
ALL = [one for asked in ASKED.values() for one in asked]


def options(one) -> list[str]:
    """Those of a question, the right one first."""
    return [option for option, _ in (one["right"], *one["wrong"])]


def test_the_right_option_cannot_be_told_by_its_form() -> None:
    """It is the longest of its question in at most a third, and the shortest, too."""
    for choose in (max, min):
        lengths = [[len(option) for option in options(one)] for one in ALL]
        told = [of for of in lengths if of[0] == choose(of) and of.count(of[0]) == 1]
        assert 3 * len(told) <= len(ALL), [choose.__name__, len(told)]
        assert all(max(of) <= 15 + min(of) for of in lengths)
    for one in ALL:
        ends = {option[-1] == "." for option in options(one)}
        assert len(ends) == 1 and len({*options(one)}) == len(options(one)) >= 3
        assert all(told.endswith(".") for _, told in (one["right"], *one["wrong"]))


def test_each_of_thirteen_pages_has_three_in_gift(tmp_path) -> None:
    """One right option each; marks in a sentence are escaped; all have feedback.

    Other pages have no questions, which nobody would find, and a quiz comes before.
    """
    questions.write(BOOK.notebooks, tmp_path)
    names = [questions.BEFORE, *map(kit.short, PAGES)]
    assert [*ASKED] == names
    files = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.gift")}
    assert files.keys() == {name.replace("/", "-") for name in names}
    for name, text in files.items():
        category, *asked = re.sub(r"\\[~=#{}:\\]", "", text).strip().split("\n\n")
        assert category.startswith("$CATEGORY: ")
        assert len(asked) == (5 if name == questions.BEFORE else 3)
        for one in asked:
            option = r"[^#\n]+#[^#\n]+\n"
            form = rf"::[^:]+ \d::[^={{}}~]+ \{{\n  ={option}(  ~{option}){{2,}}\}}"
            assert re.fullmatch(form, one)
    assert questions.escaped("a = b: ~c") == r"a \= b\: \~c"
