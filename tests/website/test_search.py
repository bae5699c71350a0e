"""The search: rules that hold for any question, and the dialog in a browser.

The rules are asked of the built sections in mini-racer, with the book's own headings
and the questions of ``questions.yml``: no question of a test is known to the search.
"""

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from py_mini_racer import MiniRacer

import manuscript
from tests.website import site_checks as checks
from tests.website.site_checks import Opener, Site
from website.search import SCRIPTS, STATIC, asked

CHAPTER = "book/sinusoidal/formula"
FAQ = "book/reference/faq.html"
LARGEST = 400_000  # bytes, compressed, of all that a first question fetches
ASKED = yaml.safe_load(Path(__file__).with_name("questions.yml").read_text("utf-8"))

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def sections(site: Site) -> list[dict[str, Any]]:
    """All that the search knows."""
    text = (site.folder / "_static/sections.js").read_text(encoding="utf-8")
    return list(json.loads(text.removeprefix("const SECTIONS = ").rstrip(";\n")))


@pytest.fixture(scope="module")
def ask(sections: list[dict[str, Any]]) -> Iterator[Ask]:
    """Asks as the page does."""
    with MiniRacer() as javascript:
        for script in SCRIPTS:
            javascript.eval(script.read_text(encoding="utf-8") + "; 0")
        javascript.eval(f"const book = Find.make({json.dumps(sections)}); 0")

        def question(words: str) -> dict[str, Any]:
            answer = f"JSON.stringify(book.ask({json.dumps(words)}))"
            return dict(json.loads(str(javascript.eval(answer))))

        yield question


def pages(answer: dict[str, Any], most: int = 3) -> list[str]:
    """The first pages of an answer."""
    return [found[0]["path"].partition("#")[0] for found in answer["pages"][:most]]


def unique(sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those whose heading no other has."""
    known = Counter(section["heading"] for section in sections)
    return [section for section in sections if known[section["heading"]] == 1]


def share_found(
    ask: Ask, sections: list[dict[str, Any]], spoil: Callable[[str], str]
) -> float:
    """How often a heading, spoiled, finds its page among the first three."""
    telling = [s for s in unique(sections) if len(s["heading"]) > 24]
    sample = random.Random(0).sample(telling, 100)
    hits = [
        section["path"].partition("#")[0] in pages(ask(spoil(section["heading"])))
        for section in sample
    ]
    return sum(hits) / len(hits)


def letters_lost(text: str) -> str:
    """Each word of more than six letters without its fourth."""
    return " ".join(w[:3] + w[4:] if len(w) > 6 else w for w in text.split())


def letters_swapped(text: str) -> str:
    """Each word of more than six letters with two of them exchanged."""
    return " ".join(
        w[:3] + w[4] + w[3] + w[5:] if len(w) > 6 else w for w in text.split()
    )


def words_begun(text: str) -> str:
    """The first two thirds of each longer word."""
    return " ".join(w[: max(4, 2 * len(w) // 3)] for w in text.split())


def with_others(text: str) -> str:
    """The words amid some that the book does not have."""
    return f"please xyzzy {text} plugh thanks"


def test_a_heading_that_was_asked_is_first(
    ask: Ask, sections: list[dict[str, Any]]
) -> None:
    """Every one that no other section has, however short; so each of the FAQ."""
    missed = [
        section["heading"]
        for section in unique(sections)
        if ask(section["heading"])["pages"][0][0]["id"] != section["id"]
    ]
    assert not missed


@pytest.fixture(scope="module")
def answers(sections: list[dict[str, Any]]) -> dict[str, int]:
    """The entries of the FAQ, by their titles as the source has them."""
    found = {
        s["heading"].replace("’", "'"): s["id"]
        for s in sections
        if s["path"].startswith(f"{FAQ}#")
    }
    assert len(found) > 50
    return found


def shows(answer: dict[str, Any], entry: int, most: int) -> bool:
    """Whether an entry is listed among the first pages."""
    return entry in (each["id"] for page in answer["pages"][:most] for each in page)


def test_each_question_in_other_words(ask: Ask, answers: dict[str, int]) -> None:
    """Each has a paraphrase; of these nine in ten show it among the first two.

    ``book/asked.yml`` has none of them, nor a stranger's question.
    """
    assert ASKED["faq"].keys() == answers.keys()
    missed = [
        asked
        for title, asked in ASKED["faq"].items()
        if not shows(ask(asked), answers[title], 2)
    ]
    assert len(missed) <= len(answers) / 10, missed
    exam = {*ASKED["faq"].values(), *ASKED["strangers"]}
    assert not exam & {each for phrases in asked().values() for each in phrases}


def test_questions_of_strangers(ask: Ask) -> None:
    """Nine in ten find a page that answers among the first three."""
    missed = [
        asked
        for asked, right in ASKED["strangers"].items()
        if not {f"book/{page}.html" for page in right} & set(pages(ask(asked)))
    ]
    assert len(missed) <= len(ASKED["strangers"]) / 10, missed


def test_synonyms(ask: Ask) -> None:
    """At most sixty lines; each stands for what the book has, and finds the same."""
    lines = (STATIC / "synonyms.js").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    for line in lines:
        if " = " not in line or line.startswith(("//", "const")):
            continue
        many, one = line.split(" = ")
        right = ask(one)
        assert right["pages"] and not right["meant"], one
        for each in many.split(","):
            assert pages(ask(each)) == pages(right), each


def test_short_words_are_not_repaired(ask: Ask) -> None:
    """A word of four letters is near too many others."""
    draw = random.Random(0)
    words = [
        "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=4)) for _ in range(50)
    ]
    meant = [found for word in words for found in ask(word)["meant"]]
    assert len(meant) > 30 and not any(near for _, near in meant)


@pytest.mark.parametrize(
    "spoil", [letters_lost, letters_swapped, words_begun, with_others]
)
def test_forgives(
    ask: Ask, sections: list[dict[str, Any]], spoil: Callable[[str], str]
) -> None:
    """Typos, beginnings of words and strange words between them find the page."""
    assert share_found(ask, sections, spoil) >= 0.9


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt2", "GPT-2"),
        ("10000", "10,000"),
        ("10k", "10000"),
        ("normalized", "normalised"),
        ("normalisation", "normalise"),
        ("interpolations", "interpolate"),
        ("rotation matrices", "Rotation matrix"),
        ("d model", "d_model"),
        ("BERT's", "bert"),
        ("rotationmatrix", "rotation matrix"),
    ],
)
def test_same_word(ask: Ask, one: str, other: str) -> None:
    """Ways to write the same word find the same page first."""
    assert pages(ask(one), 1)
    assert pages(ask(one), 1) == pages(ask(other), 1)


@pytest.mark.parametrize("name", ["register_buffer", "state_dict", "inv_freq"])
def test_names_in_code(ask: Ask, name: str, site: Site) -> None:
    """A name of a program is found where it stands."""
    (found,) = pages(ask(name), 1)
    assert name in (site.folder / found).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word", ["constructor", "__proto__", "toString", "", " ?!", "the"]
)
def test_any_word_is_a_word(ask: Ask, word: str) -> None:
    """Names of JavaScript are words like others; nothing is asked with nothing."""
    answer = ask(word)
    assert set(answer) == {"meant", "pages"}
    if not any(letter.isalpha() for letter in word):
        assert answer == {"meant": [], "pages": []}


def test_did_you_mean(ask: Ask) -> None:
    """A word that no page has is named, with the nearest that some have."""
    assert ask("positonal")["meant"] == [["positonal", "positional"]]
    assert ask("xyzzy")["meant"] == [["xyzzy", None]]
    assert ask("positional")["meant"] == []


def test_lists_of_names_come_last(ask: Ask, sections: list[dict[str, Any]]) -> None:
    """Docstrings are summaries there; and neither they nor sources are the first."""
    library = [s for s in sections if s["path"].startswith("book/reference/api")]
    words = [sum(len(s["text"].split()) for s in some) for some in (library, sections)]
    assert words[0] < 0.04 * words[1]
    first = [
        page
        for words in ("positional encoding", "rope", "attention head", "shift matrix")
        for page in pages(ask(words))
    ]
    assert not {"book/reference/api.html", "book/reference/bibliography.html"} & {
        *first
    }


@pytest.mark.parametrize(
    "words", ["shift matrix", "position", "unique", "kv cache", "bias"]
)
def test_excerpts(ask: Ask, words: str) -> None:
    """A sentence that can be read, round what was found, which is marked."""
    unread = re.compile(r"import |\\|\b[a-z]+(19|20)\d\d")  # code, TeX, keys of sources
    shown = [s for page in ask(words)["pages"] for s in page if s["excerpt"]]
    assert len(shown) > 2
    for section in shown:
        text = " ".join(word for word, _ in section["excerpt"])
        assert len(text) < 160 and not unread.search(text)
        assert text.strip(" …") in " ".join(
            (section["text"] + section["about"]).split()
        )
        if (
            set(words.split()) & set(section["text"].split())
            and "\\" not in section["text"]
        ):
            assert any(found for _, found in section["excerpt"])


def test_what_a_page_says_of_itself(ask: Ask) -> None:
    """A description finds its page."""
    book = manuscript.read()
    found = {
        name: pages(ask(book.pages[name].description), 1)[0] for name in book.listed
    }
    assert sum(found[name] == f"{name}.html" for name in found) > 0.95 * len(found)


def test_weight(site: Site) -> None:
    """All that a first question fetches."""
    static = site.folder / "_static"
    files = [static / "sections.js", static / "search.js"]
    files += [next(static.rglob(script.name)) for script in SCRIPTS]
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < LARGEST
    assert not list(site.folder.rglob("searchindex.js"))


def test_dialog(at: Opener) -> None:
    """From a folder: / and words, arrows, Enter; no panel is empty; axe is content."""
    seen = at(CHAPTER, folder=True)
    page = seen.page
    page.keyboard.press("/")
    page.keyboard.type("shift matrix")
    dialog = page.locator("#search-dialog")
    field = dialog.locator("input")
    dialog.locator("li a").first.wait_for()
    assert field.input_value() == "shift matrix"
    assert not checks.accessibility(seen)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.matches('#search-dialog a')")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.matches('#search-dialog input')")
    page.get_by_role("button", name="To the answers").click()
    assert page.evaluate("document.activeElement.matches('#search-dialog a')")
    assert dialog.locator("mark").count() and CHAPTER in page.url
    for word in ("xyzzy", "the"):
        field.fill(word)
        page.wait_for_timeout(100)
        assert dialog.get_by_role("status").inner_text().strip()
        assert dialog.locator("a").count()
    field.fill("shift matrix")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: CHAPTER not in url)
    assert not checks.external_requests(seen) + checks.console(seen)


def test_dialog_closes_at_once(at: Opener) -> None:
    """By one Escape, with a question in the field, and by its button."""
    page = at(CHAPTER).page
    dialog = page.locator("#search-dialog")
    page.keyboard.press("/")
    page.keyboard.type("shift")
    page.keyboard.press("Escape")
    assert dialog.is_hidden()
    page.locator(".search-button").click()
    assert page.locator("#search-dialog input").input_value() == "shift"
    dialog.get_by_role("button", name="Close").click()
    assert dialog.is_hidden()


@pytest.mark.parametrize("folder", [False, True])
def test_the_way_back_leads_to_the_question(at: Opener, folder: bool) -> None:
    """From an answer on another page, and from one on this."""
    page = at(CHAPTER, folder=folder).page
    dialog = page.locator("#search-dialog")
    here = f"a[href*='{CHAPTER}.html#']"
    start = page.url
    for question, answer in (("bag of words", "a"), ("sinusoidal formula", here)):
        page.keyboard.press("/")
        dialog.locator("input").fill(question)
        dialog.locator(f"li {answer}").first.click()
        page.wait_for_url(lambda url: url != start)
        assert dialog.is_hidden()
        page.go_back()
        dialog.locator("li a").first.wait_for()
        assert dialog.locator("input").input_value() == question
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
