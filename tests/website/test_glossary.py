"""The glossary: every word is there, and its filter."""

import re

import manuscript
from tests.website.site_checks import STAYS, Alone, Opener, dead_without_script

GLOSSARY = "book/reference/glossary"
WORDS = re.findall(
    r"^## (.+)$", manuscript.read().pages[GLOSSARY].text, flags=re.MULTILINE
)


def test_every_word_is_there_without_a_script(alone: Alone) -> None:
    """In the order of the alphabet, and no filter that would not work."""
    page = alone(GLOSSARY, java_script_enabled=False)
    assert not dead_without_script(page)
    assert page.locator("section > section > h2:visible").count() == len(WORDS) > 50
    assert sorted(WORDS, key=str.lower) == WORDS
    assert page.locator(".word-filter").is_hidden()


def test_the_filter_leaves_the_words_that_hold_it(at: Opener) -> None:
    """In the word or in what it means, and counts them; it forgives, and says so."""
    page = at(GLOSSARY).page
    output = page.locator(".word-filter output")
    shown = page.locator("section > section:visible")
    page.fill(".word-filter input", "Matrix")
    left = shown.all_text_contents()
    assert 1 < len(left) < len(WORDS) and all("matrix" in x.lower() for x in left)
    assert output.inner_text() == f"{len(left)} of {len(WORDS)} words"
    assert page.locator(".word-filter").evaluate(STAYS)
    page.fill(".word-filter input", "rotery")
    output.filter(has_text="“rotery” taken for “rotary”").wait_for()
    left = shown.all_text_contents()
    assert left and all("rotary" in text.lower() or "RoPE" in text for text in left)
