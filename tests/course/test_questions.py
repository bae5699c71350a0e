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


def test_each_of_thirteen_pages_has_three() -> None:
    """And no other page has any, which nobody would find."""
    before, *pages = ASKED
    assert before == questions.BEFORE and pages == [kit.short(page) for page in PAGES]
    assert all(len(ASKED[name]) == 3 for name in pages)


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


def test_gift_has_one_right_option_each(tmp_path) -> None:
    """Its marks inside of a sentence are escaped; every option has its feedback."""
    questions.write(BOOK.notebooks, tmp_path)
    assert len(list(tmp_path.glob("*.gift"))) == 1 + len(PAGES)
    for path in tmp_path.glob("*.gift"):
        text = re.sub(r"\\[~=#{}:\\]", "", path.read_text(encoding="utf-8"))
        category, *asked = text.strip().split("\n\n")
        assert category.startswith("$CATEGORY: ") and len(asked) in (3, 5)
        for one in asked:
            option = r"[^#\n]+#[^#\n]+\n"
            form = rf"::[^:]+ \d::[^={{}}~]+ \{{\n  ={option}(  ~{option}){{2,}}\}}"
            assert re.fullmatch(form, one)
    assert questions.escaped("a = b: ~c") == r"a \= b\: \~c"
