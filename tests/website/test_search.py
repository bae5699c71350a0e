"""The search: rules that hold for any question, and the dialog in a browser.

The rules are asked of the built index in mini-racer, with the words of the book's own
headings: no question of a test is known to the search.
"""

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from py_mini_racer import MiniRacer

import manuscript
from tests.website import site_checks as checks
from tests.website.site_checks import Opener, Site
from website.search import SCRIPTS

CHAPTER = "book/sinusoidal/formula"
MANY = "position encoding attention rotation table head text number matrix word"
LARGEST = 400_000  # bytes, compressed, of all that a first question fetches

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask(site: Site) -> Iterator[Ask]:
    """Asks the built index as the page does."""
    index = (site.folder / "_static/search-index.js").read_text(encoding="utf-8")
    with MiniRacer() as javascript:
        for script in SCRIPTS:
            javascript.eval(script.read_text(encoding="utf-8") + "; 0")
        javascript.eval(f"{index}; const loaded = Find.load(INDEX); 0")

        def question(words: str) -> dict[str, Any]:
            answer = f"JSON.stringify(Find.ask(loaded, {json.dumps(words)}))"
            return dict(json.loads(str(javascript.eval(answer))))

        yield question


def pages(answer: dict[str, Any], most: int = 3) -> list[str]:
    """The first pages of an answer."""
    return [found[0]["path"].partition("#")[0] for found in answer["pages"][:most]]


@pytest.fixture(scope="module")
def sections(ask: Ask) -> list[dict[str, Any]]:
    """Those that nearly any question about the subject finds."""
    found = [section for page in ask(MANY)["pages"] for section in page]
    assert len(found) > 200
    return sorted(found, key=lambda section: section["path"])


def share_found(
    ask: Ask, sections: list[dict[str, Any]], spoil: Callable[[str], str]
) -> float:
    """How often a heading, spoiled, finds its page among the first three."""
    known = Counter(section["heading"] for section in sections)
    telling = [
        s for s in sections if known[s["heading"]] == 1 and len(s["heading"]) > 24
    ]
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


@pytest.mark.parametrize(
    "spoil", [str, letters_lost, letters_swapped, words_begun, with_others]
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


def test_library_comes_last(ask: Ask) -> None:
    """Of pages that are equally near, the list of names is not the first."""
    assert "book/reference/api.html" not in pages(ask("positional encoding"))


def test_excerpts(sections: list[dict[str, Any]]) -> None:
    """Excerpts are sentences of the text."""
    assert all(len(section["excerpt"]) < 160 for section in sections)
    unread = re.compile(r"import |\\|\b[a-z]+(19|20)\d\d")  # code, TeX, keys of sources
    assert not [s["excerpt"] for s in sections if unread.search(s["excerpt"])]


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
    files = [static / "search-index.js", static / "search.js"]
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
    for word in ("xyzzy", "the"):
        field.fill(word)
        page.wait_for_timeout(100)
        assert dialog.get_by_role("status").inner_text().strip()
        assert dialog.locator("a").count()
    field.fill("shift matrix")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: CHAPTER not in url)
    assert not checks.external_requests(seen) + checks.console(seen)
