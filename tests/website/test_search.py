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
from string import ascii_lowercase
from typing import Any

import pytest
import yaml
from py_mini_racer import MiniRacer

import manuscript
from tests.website import site_checks as checks
from tests.website.site_checks import Opener, Site
from website.search import SCRIPTS, STATIC, asked

CHAPTER = "book/sinusoidal/formula"
FAQ, LIBRARY = "book/reference/faq.html", "book/reference/api.html"
LARGEST = 400_000  # bytes, compressed, of all that a first question fetches
ASKED = yaml.safe_load(Path(__file__).with_name("questions.yml").read_text("utf-8"))

Ask = Callable[[str], dict[str, Any]]
Sections = list[dict[str, Any]]


@pytest.fixture(scope="module")
def sections(site: Site) -> Sections:
    """All that the search knows."""
    text = (site.folder / "_static/sections.js").read_text(encoding="utf-8")
    return list(json.loads(text.removeprefix("const SECTIONS = ").rstrip(";\n")))


@pytest.fixture(scope="module")
def ask(sections: Sections) -> Iterator[Ask]:
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


@pytest.fixture(scope="module")
def unique(sections: Sections) -> Sections:
    """Those whose heading no other has."""
    known = Counter(section["heading"] for section in sections)
    return [section for section in sections if known[section["heading"]] == 1]


SPOILED = {  # what may happen to a word of more than six letters
    "a letter lost": lambda word: word[:3] + word[4:],
    "two exchanged": lambda word: word[:3] + word[4] + word[3] + word[5:],
    "only begun": lambda word: word[: 2 * len(word) // 3],
    "strange words": lambda word: f"{word} xyzzy",
}


def test_a_heading_that_was_asked_is_first(ask: Ask, unique: Sections) -> None:
    """Every one that no other section has, however short; so each of the FAQ."""
    missed = [
        section["heading"]
        for section in unique
        if ask(section["heading"])["pages"][0][0]["id"] != section["id"]
    ]
    assert not missed


def test_each_question_in_other_words(ask: Ask, sections: Sections) -> None:
    """Each has a paraphrase; of these nine in ten show it among the first two.

    ``book/asked.yml`` has none of them, nor a stranger's question.
    """
    entries = [s for s in sections if s["path"].startswith(f"{FAQ}#")]
    answers = {s["heading"].replace("’", "'"): s["path"] for s in entries}
    assert ASKED["faq"].keys() == answers.keys()
    missed = []
    for title, words in ASKED["faq"].items():
        listed = [found["path"] for page in ask(words)["pages"][:2] for found in page]
        missed += [words] * (answers[title] not in listed)
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
    text = (STATIC / "synonyms.js").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    for many, one in re.findall(r"^([^/=`\n]+) = ([^`\n]+)$", text, re.MULTILINE):
        right = ask(one)
        assert right["pages"] and not right["meant"], one
        for each in many.split(","):
            assert pages(ask(each)) == pages(right), each


def test_short_words_are_not_repaired(ask: Ask) -> None:
    """A word of four letters is near too many others."""
    draw = random.Random(0)
    words = ["".join(draw.choices(ascii_lowercase, k=4)) for _ in range(50)]
    meant = [found for word in words for found in ask(word)["meant"]]
    assert len(meant) > 30 and not any(near for _, near in meant)


@pytest.mark.parametrize("how", SPOILED)
def test_forgives(ask: Ask, unique: Sections, how: str) -> None:
    """Nine in ten headings of which each long word is spoiled find their page."""
    spoil, telling = SPOILED[how], [s for s in unique if len(s["heading"]) > 24]
    found = []
    for section in random.Random(0).sample(telling, 100):
        words = section["heading"].split()
        asked = " ".join(spoil(word) if len(word) > 6 else word for word in words)
        found.append(section["path"].partition("#")[0] in pages(ask(asked)))
    assert sum(found) >= 0.9 * len(found)


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


def test_any_word_is_a_word(ask: Ask) -> None:
    """Names of JavaScript are words like others; nothing is asked with nothing.

    A word that no page has is named, with the nearest that some have.
    """
    for word in ("constructor", "__proto__", "toString", "the"):
        assert ask(word).keys() == {"meant", "pages"}
    assert ask("") == ask(" ?!") == ask("don't") == {"meant": [], "pages": []}
    assert ask("positonal")["meant"] == [["positonal", "positional"]]
    assert ask("xyzzy")["meant"] == [["xyzzy", None]]
    assert ask("positional")["meant"] == []


def test_lists_of_names_come_last(ask: Ask, sections: Sections) -> None:
    """Docstrings are summaries there; and neither they nor sources are the first."""
    library = [s for s in sections if s["path"].startswith(LIBRARY)]
    words = [sum(len(s["text"].split()) for s in some) for some in (library, sections)]
    assert words[0] < 0.04 * words[1]
    for common in ("positional encoding", "rope", "attention head", "shift matrix"):
        assert not {LIBRARY, "book/reference/bibliography.html"} & {*pages(ask(common))}


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
        whole = " ".join((section["text"] + section["about"]).split())
        assert len(text) < 160 and not unread.search(text)
        assert text.strip(" …") in whole
        if {*words.split()} & {*section["text"].split()} and "\\" not in whole:
            assert any(found for _, found in section["excerpt"])


def test_what_a_page_says_of_itself(ask: Ask) -> None:
    """A description finds its page; where a page's top is found, a section is, too."""
    book = manuscript.read()
    found, alone = [], []
    for name in book.listed:
        listed = ask(book.pages[name].description)["pages"]
        found.append(listed[0][0]["path"].partition("#")[0] == f"{name}.html")
        alone += [len(page) == 1 for page in listed if "#" not in page[0]["path"]]
    assert sum(found) > 0.95 * len(found)
    assert sum(alone) < 0.05 * len(alone)  # a page may be its top


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
    field, answer = dialog.locator("input"), dialog.locator("a:focus")
    dialog.locator("li a").first.wait_for()
    assert field.input_value() == "shift matrix"
    assert not checks.accessibility(seen, "#search-dialog")
    page.keyboard.press("ArrowDown")
    assert answer.count()
    page.keyboard.press("ArrowUp")
    assert dialog.locator("input:focus").count()
    page.get_by_role("button", name="To the answers").click()
    assert answer.count()
    assert dialog.locator("mark").count() and CHAPTER in page.url
    for word, said in (("xyzzy", "No page has “xyzzy”."), ("the", "Try another word")):
        field.fill(word)
        dialog.get_by_role("status").filter(has_text=said).wait_for()
        assert dialog.locator("a").count()
    field.fill("shift matrix")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: CHAPTER not in url)
    assert not checks.faults(seen, checks.missing_files, checks.console)


def test_the_way_back_leads_to_the_question(at: Opener) -> None:
    """From an answer on another page, and on this; it closes at once, however."""
    page = at(CHAPTER).page
    dialog = page.locator("#search-dialog")
    field = dialog.locator("input")
    here = f"a[href*='{CHAPTER}.html#']"
    start = page.url
    for question, answer in (("bag of words", "a"), ("sinusoidal formula", here)):
        page.keyboard.press("/")
        field.fill(question)
        dialog.locator(f"li {answer}").first.click()
        page.wait_for_url(lambda url: url != start)
        assert dialog.is_hidden()
        page.go_back()
        dialog.locator("li a").first.wait_for()
        assert field.input_value() == question
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden", timeout=1000)
    page.locator(".search-button").click()
    assert field.input_value() == question
    dialog.get_by_role("button", name="Close").click()
    assert dialog.is_hidden()
