"""The built site in a real browser, page by page: what a reader gets.

The checks are in ``site_checks.py``, and ``test_site_mutations.py`` breaks the
site under each. A test's name says page, width and check:
``test_accessibility[book/sinusoidal/formula-390]``. The browser opens a page
once at each width, and all checks of that page follow.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import manuscript
import pytest
import site_checks as checks
from site_checks import Site, Visit

PAGES = checks.pages()
WIDTHS = (1280, 390)
LANDING = PAGES[0]
CHAPTER = "book/sinusoidal/formula"
LEDGER = "book/reference/claims"
FAQ = "book/reference/faq.html"
API = "book/reference/api.html"
FOUND_FIRST = {
    "RoPE": "book/beyond/rotary.html",
    "rotary": "book/beyond/rotary.html",
    "BERT": f"{FAQ}#which-do-bert",
    "positional embedding": f"{FAQ}#what-is-a-positional-encoding",
    "why 10000": f"{FAQ}#why-10000",
    "extrapolate": f"{FAQ}#does-it-extrapolate",
    "sinusoidal": "book/sinusoidal/formula.html",
    "rotation": "book/sinusoidal/rotation.html",
    "shift_matrix": "book/sinusoidal/attention_head.html",
    # Whole questions.
    "why 10000 in positional encoding": f"{FAQ}#why-10000",
    "why sine and cosine in the transformer": f"{FAQ}#why-sine-and-cosine",
    "RoPE vs sinusoidal": f"{FAQ}#rope-or-sinusoid",
    "what is the difference between RoPE and sinusoidal": f"{FAQ}#rope-or-sinusoid",
    "is positional embedding learned or fixed in BERT": f"{FAQ}#learned-or-fixed",
    "why add instead of concat": f"{FAQ}#why-add",
    "why not just use the numbers of positions": f"{FAQ}#why-not-just-number",
    "does positional encoding work for longer sequences": f"{FAQ}#does-it-extrapolate",
    "which positional encoding does GPT use": f"{FAQ}#which-do-bert",
    "which positional encoding should I use": f"{FAQ}#which-should-i-use",
    "does nn.Transformer add positional encoding": f"{FAQ}#does-nn-transformer",
    "do I need it in a causal decoder": f"{FAQ}#does-a-causal-model",
    "how to read the heat map": f"{FAQ}#how-do-i-read",
    "must the dimension be even or odd": f"{FAQ}#must-d-be-even",
    "what about padding tokens": f"{FAQ}#what-about-padding",
    "are all positional encodings unique": f"{FAQ}#is-every-code-unique",
    "numpy code": f"{FAQ}#where-is-code",
    "positional encoding pytorch code": f"{FAQ}#where-is-code",
    "how are BERT's positions made": f"{FAQ}#which-do-bert",
    "why 10,000": f"{FAQ}#why-10000",
    "10k": f"{FAQ}#why-10000",
    "8x context": f"{FAQ}#my-llama-like-model",
    "can rope extrapolate": f"{FAQ}#does-it-extrapolate",
    "slow decoding": f"{FAQ}#why-does-each-new-word",
    # Names in programs.
    "32k": f"{FAQ}#my-llama-like-model",
    "position_ids": f"{FAQ}#what-about-padding",
    "rotate_half": f"{FAQ}#which-pairs-does-my",
}

# Pages that are checked wide in every respect; those of the hour wide in most. The rest
# waits for `make weekly`, and `make axe` looks at all of them.
SAMPLE = (LANDING, CHAPTER, LEDGER, "search")
# Pages that stand for others of their kind after the hour, where axe alone is slow.
ONE_EACH = (
    "book/beyond/layouts",
    "book/experiments/extrapolation",
    "book/experiments/the_dial",
    "book/fine_print/conventions",
    "book/pytorch/check_yours",
    "book/reference/glossary",
    "book/teach",
)
SPINE = {page.name for page in manuscript.read().spine}
WALKED = (LANDING, CHAPTER, "book/failures/criteria", LEDGER)

Opener = Callable[..., Visit]


def none(faults: list[str]) -> None:
    """There are no faults; those that there are, one a line."""
    assert not faults, "\n".join(["", *faults])


each_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="module")
def loads() -> dict[str, set[Path]]:
    """The files that each page asked for, as far as pages were opened."""
    return {}


@pytest.fixture(scope="module")
def looks() -> checks.Looks:
    """How texts look that were seen on other pages."""
    return {}


@pytest.fixture(
    scope="module",
    params=list(product(PAGES, WIDTHS)),
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def seen(
    request: pytest.FixtureRequest,
    browser: Any,
    site: Site,
    loads: dict[str, set[Path]],
) -> Iterator[Visit]:
    """One page at one width, opened once for all tests that ask for it."""
    name, width = request.param
    with checks.visit(browser, site, site.url(name), width) as visit:
        loads[name] = checks.loaded(visit)
        yield visit


@pytest.fixture
def at(browser: Any, site: Site) -> Iterator[Opener]:
    """Opens further pages, from the server or from the folder on disk."""
    with ExitStack() as stack:

        def open_page(
            name: str, *, query: str = "", folder: bool = False, **options: Any
        ) -> Visit:
            path = site.folder / f"{name}.html"
            url = (path.as_uri() if folder else site.url(name)) + query
            return stack.enter_context(checks.visit(browser, site, url, **options))

        yield open_page


# Files


def test_build_is_clean(built: Any) -> None:
    """No warning of Sphinx or of an extension."""
    assert built.status == 0, built.output[-3000:]


def test_every_page_is_built(site: Site) -> None:
    """The pages of _toc.yml, the search, and no other."""
    assert site.built() == sorted(PAGES)


@each_page
def test_links(site: Site, name: str) -> None:
    """Every local link and file exists, fragments included."""
    none(checks.broken_links(site, name))


@each_page
def test_ids_are_unique(site: Site, name: str) -> None:
    """An anchor is one place."""
    none(checks.repeated_ids(site, name))


def test_claims_have_their_anchors(site: Site) -> None:
    """A claim that a cell settles can be linked to where it is settled."""
    book = manuscript.read()
    settled = {f"claim-{name}" for name in book.settled}
    listed = {f"ledger-{name}" for name in book.claims}
    ids = {
        each for name in PAGES for each in checks.parse(site.path(site.url(name))).ids
    }
    assert settled and sorted((settled | listed) - ids) == []


def test_site_weight(site: Site) -> None:
    """At most 40 MB beside Python for the browser, and no debugging files."""
    none(checks.site_weight(site))


def test_figures_have_addresses(site: Site) -> None:
    """For slides: every figure as a file, with what one needs to show it."""
    listed = json.loads(
        (site.folder / "figures/index.json").read_text(encoding="utf-8")
    )
    assert listed
    for figure in listed:
        assert (site.folder / figure["file"]).is_file()
        page, _, anchor = figure["page"].partition("#")
        assert anchor in checks.parse(site.folder / page).ids
        assert len(figure["alt"]) > checks.SHORTEST_ALT
        assert figure["caption"] and figure["licence"]


# Every page, at two widths


def test_external_requests(seen: Visit) -> None:
    """No request leaves the site."""
    none(checks.external_requests(seen))


def test_missing_files(seen: Visit) -> None:
    """Every file that a page asks for is there."""
    none(checks.missing_files(seen))


def test_console(seen: Visit) -> None:
    """Nothing in the console."""
    none(checks.console(seen))


def test_layout_shift(seen: Visit) -> None:
    """Nothing moves while the page loads."""
    none(checks.layout_shift(seen))


@pytest.mark.phone
def test_first_load(seen: Visit) -> None:
    """A page comes quickly, also to a phone."""
    none(checks.first_load(seen))


@pytest.mark.phone
def test_blocking_scripts(seen: Visit) -> None:
    """No script holds up the first paint."""
    none(checks.blocking_scripts(seen))


@pytest.mark.hour
def test_picture_first(seen: Visit) -> None:
    """Whole or nearly so in the first screen, on a phone within two."""
    none(checks.picture_first(seen))


@pytest.mark.phone
@pytest.mark.alike
def test_skip_link(seen: Visit) -> None:
    """The keyboard's first stop leads past the navigation."""
    none(checks.skip_link(seen))


@pytest.mark.hour
@pytest.mark.wide
def test_quarters(seen: Visit) -> None:
    """Pictures take a quarter of the main text's height or more, code at most one."""
    none(checks.quarters(seen))


def test_overflow(seen: Visit) -> None:
    """Nothing is cut off on the right, folded answers included."""
    none(checks.overflow(seen))


@pytest.mark.phone
def test_mathematics(seen: Visit) -> None:
    """Every formula is drawn."""
    none(checks.mathematics(seen))


@pytest.mark.phone
def test_alt_texts(seen: Visit) -> None:
    """Every figure says what it shows."""
    none(checks.alt_texts(seen))


@pytest.mark.phone
def test_headings(seen: Visit) -> None:
    """One first heading, and no level left out."""
    none(checks.headings(seen))


def test_heading_sizes(seen: Visit) -> None:
    """The higher a heading, the larger, on phones too."""
    none(checks.heading_sizes(seen))


def test_frame(seen: Visit) -> None:
    """Bar and progress are there, and large enough for a finger."""
    none(checks.frame(seen))


@pytest.mark.phone
def test_description(seen: Visit) -> None:
    """A title and a description for those who find the page by a search."""
    none(checks.description(seen))


@pytest.mark.phone
@pytest.mark.sampled
def test_accessibility(seen: Visit, looks: checks.Looks) -> None:
    """axe-core finds nothing, in light and in dark; every page: `make axe`."""
    none(checks.accessibility(seen, looks))


@pytest.mark.phone
@pytest.mark.alike
def test_printing(seen: Visit) -> None:
    """On paper there is the text, and no sidebar; last, since all is laid out anew."""
    none(checks.printing(seen))


# Across pages


def test_later_loads(browser: Any, site: Site, loads: dict[str, set[Path]]) -> None:
    """From one page to any other little has to come."""
    for name in PAGES:
        if name not in loads:
            with checks.visit(browser, site, site.url(name)) as visit:
                loads[name] = checks.loaded(visit)
    none(checks.later_loads(loads))


def test_titles_and_descriptions_differ(site: Site) -> None:
    """A list of search results tells the pages apart."""
    heads = {}
    for name in PAGES:
        text = site.path(site.url(name)).read_text(encoding="utf-8")
        title = re.search("<title>(.*?)</title>", text, re.DOTALL)
        about = re.search('<meta name="description" content="(.*?)"', text, re.DOTALL)
        heads[name] = (title and title[1], about and about[1])
    for found in zip(*heads.values(), strict=True):
        assert len(set(found)) == len(PAGES), sorted(map(str, found))


def test_formulas_and_figures_are_there(at: Opener) -> None:
    """The checks of formulas and of alt texts have something to check."""
    page = at(CHAPTER).page
    assert page.locator(".math .katex").count() > 20
    assert page.locator("svg[role=img][aria-label]").count() > 3


def test_root_leads_in(browser: Any, site: Site) -> None:
    """The site's bare address shows the first page."""
    page = browser.new_page()
    page.goto(site.address)
    page.wait_for_url(f"**/{LANDING}.html")
    page.locator("main section h1").first.wait_for()
    page.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_mode_of_the_system(at: Opener, mode: str) -> None:
    """A page is as light or dark as the reader's system, and so are its figures."""
    page = at(CHAPTER, mode=mode).page
    assert page.evaluate("document.documentElement.dataset.theme") == mode
    paper, ink = page.evaluate(checks.script("paper_and_ink"))
    assert (sum(paper) > sum(ink) + 300) == (mode == "light")
    assert (sum(ink) > sum(paper) + 300) == (mode == "dark")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_mode_switch(at: Opener, mode: str) -> None:
    """The switch turns this page and the next; a second press undoes it."""
    other = {"light": "dark", "dark": "light"}[mode]
    page = at(CHAPTER, mode=mode).page
    shown = "document.documentElement.dataset.theme"
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator(".mode-button").click()
    assert page.evaluate(shown) == other
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.locator(".brand").click()
    page.wait_for_url(f"**/{LANDING}.html")
    assert page.evaluate(shown) == other
    page.locator(".mode-button").click()
    assert page.evaluate(shown) == mode
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_progress_through_the_hour(at: Opener, width: int) -> None:
    """A segment a page, as wide as its minutes; this one fills; below is a list."""
    spine = manuscript.read().spine
    names = [page.name for page in spine]
    page = at(CHAPTER, width=width).page
    parts = page.locator(".hour .strip i")
    widths = [part.bounding_box()["width"] for part in parts.all()]
    each = [wide / chapter.minutes for wide, chapter in zip(widths, spine, strict=True)]
    assert max(each) < 1.2 * min(each)
    now = names.index(CHAPTER)
    assert page.locator(".hour .strip .done").count() == now
    read = "() => document.querySelector('.hour .read').textContent"
    assert int(page.evaluate(read)) == sum(p.minutes for p in spine[:now])
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(100)
    assert int(page.evaluate(read)) == sum(p.minutes for p in spine[: now + 1])
    page.locator(".hour summary").click()
    links = page.locator(".hour li a").all()
    assert [link.evaluate("a => a.pathname") for link in links] == [
        f"/{name}.html" for name in names
    ]
    assert all(link.is_visible() for link in links)


def test_the_hour_leads_on(site: Site) -> None:
    """Each page of the hour ends with the question of the next."""
    spine = manuscript.read().spine
    for page, following in pairwise(spine):
        text = site.path(site.url(page.name)).read_text(encoding="utf-8")
        block = text[text.index('<a class="next"') :].partition("</a>")[0]
        assert f"{following.name.rpartition('/')[2]}.html" in block
        assert f"{following.minutes} minutes" in block


WIDEST = (
    "book/problem/adding",
    "book/problem/order_blindness",
    "book/failures/dials",
    "book/sinusoidal/rotation",
    "book/reference/glossary",
    "book/reference/api",
)


@pytest.mark.parametrize("name", [*SAMPLE, *WIDEST])
def test_narrow(browser: Any, site: Site, name: str) -> None:
    """At 320 px (1280 px at 400 %) nothing is wider than the page, or than its card."""
    with checks.visit(browser, site, site.url(name), 320) as seen:
        checks.unfold(seen.page)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 320
        none(seen.page.evaluate(checks.script("out_of_cards")))


TALL = ("book/problem/order_blindness", "book/notation", "book/reference/glossary")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TALL)
def test_letters_twice_as_large(at: Opener, name: str, width: int) -> None:
    """No page is wider than its window, nor a formula in it."""
    page = at(name, width=width).page
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    checks.unfold(page)
    page.locator(".menu").evaluate("menu => (menu.open = false)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_code_wraps_on_a_phone(at: Opener) -> None:
    """Nobody reads a program through a slit; what it prints keeps its columns."""
    wide = "all => all.filter((e) => e.scrollWidth > e.clientWidth).length"
    page = at(CHAPTER, width=390).page
    checks.unfold(page)
    code = page.locator(".highlight-python pre")
    assert code.count() > 10 and code.evaluate_all(wide) == 0
    printed = code.page.locator(".cell_output pre").first
    assert printed.evaluate("e => getComputedStyle(e).whiteSpace") == "pre"


@pytest.mark.parametrize("name", ["book/problem/adding", "book/experiments/the_dial"])
def test_code_is_not_cut_where_there_is_room(at: Opener, name: str) -> None:
    """Nor where a fold holds it; the text keeps to its lines."""
    wide = "all => all.filter((e) => e.scrollWidth > e.clientWidth).length"
    page = at(name, width=1280).page
    page.evaluate(checks.script("own_letters"))
    checks.unfold(page)
    code = page.locator(".cell_input pre")
    assert code.count() > 10 and code.evaluate_all(wide) == 0
    texts = page.locator(":is(section, .fold-body) > p, summary").evaluate_all(
        "all => Math.max(...all.map((e) => e.getBoundingClientRect().width))"
    )
    assert texts <= 34 * 16


def test_the_first_page_is_one_view(at: Opener) -> None:
    """On a laptop its picture stands beside its first sentences, slider included."""
    page = at(LANDING, width=1280).page
    page.evaluate(checks.script("own_letters"))
    title, picture, slider = (
        page.locator(css).first.bounding_box()
        for css in ("h1", ".pe-explorer", ".pe-explorer [type=range]")
    )
    assert title["x"] + title["width"] <= picture["x"]
    assert abs(title["y"] - picture["y"]) < 10
    assert slider["y"] + slider["height"] < 800


def test_heights_are_those_of_the_own_letters(at: Opener) -> None:
    """Where the book's faces came too late, they are there before heights are taken."""
    height = "document.querySelector('article').offsetHeight"
    page = at(CHAPTER).page
    page.evaluate(checks.script("own_letters"))
    drawn = page.evaluate(height)
    page.route("**/serif*", lambda route: route.abort())
    page.reload()
    assert page.evaluate("[...document.fonts].some((x) => x.status == 'error')")
    page.unroute("**/serif*")
    page.evaluate(checks.script("own_letters"))
    assert page.evaluate(height) == drawn


@pytest.mark.parametrize("name", [LANDING, CHAPTER, LEDGER, "search"])
def test_from_a_folder(at: Opener, name: str) -> None:
    """Opened from disk, a page is complete and quiet."""
    seen = at(name, folder=True)
    none(checks.external_requests(seen) + checks.missing_files(seen))
    none(checks.console(seen))


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(False, id="served", marks=pytest.mark.weekly),
        pytest.param(True, id="from a folder"),
    ],
)
def test_search_answers(at: Opener, folder: bool) -> None:
    """What people ask leads first to where it is answered; the library comes last.

    All of it from a folder: served, every answer fetches the pages for its excerpts.
    """
    seen = at("search", folder=folder)
    for query, place in list(FOUND_FIRST.items())[:: 1 if folder else 4]:
        if not folder:
            address = seen.page.url.partition("?")[0]
            seen.page.goto(f"{address}?q={query.replace(' ', '+')}")
        else:  # from one load of the index; the next test comes by the address
            seen.page.evaluate(checks.script("search_again"), query)
        found = checks.found_by_search(seen.page)
        assert found and place in found[0], (query, found[:3])
        of_library = [API in link for link in found]
        assert of_library == sorted(of_library), (query, found)
        assert any(of_library) or query != "shift_matrix"
    none(checks.external_requests(seen) + checks.console(seen))


def test_search_leads_there(at: Opener) -> None:
    """From the first result to the answer."""
    page = at("search", query="?q=why+10000").page
    checks.found_by_search(page)
    page.locator("#search-results ul.search li > a").first.click()
    page.wait_for_url(f"**/{FAQ}*")
    assert page.locator("#faq-why-10000").count() == 1


def test_search_shows_sentences(at: Opener) -> None:
    """Excerpts are cut between words, and hold no code."""
    page = at("search", query="?q=shift_matrix").page
    checks.found_by_search(page)
    page.wait_for_function("document.querySelectorAll('.search .context').length > 5")
    excerpts = page.locator("#search-results .context").all_inner_texts()
    scraps = re.compile(r"import |assert |np\.|# |^\.\.\.|\.\.\.$")
    assert not list(filter(scraps.search, excerpts))


def test_search_finds_nothing(at: Opener) -> None:
    """What is not in the book is not found, and the page says so."""
    page = at("search", query="?q=xylophone").page
    assert not checks.found_by_search(page)
    assert "did not match" in page.locator("main").inner_text()


@pytest.mark.parametrize("width", WIDTHS)
def test_search_by_keyboard(at: Opener, width: int) -> None:
    """From any page: Ctrl+K, some words, Enter."""
    page = at(CHAPTER, width=width).page
    page.keyboard.press("Control+k")
    page.keyboard.type("rotation")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=rotation*")
    assert checks.found_by_search(page)


@pytest.mark.parametrize(
    ("name", "width"), [(LANDING, 1280), ("search", 1280), *((n, 390) for n in WALKED)]
)
def test_keyboard(at: Opener, name: str, width: int) -> None:
    """Tab reaches every control, shows where it is, and is nowhere trapped."""
    seen = at(name, width=width)
    if name == LEDGER:  # whose claims are alike: the filter leaves some
        word = seen.page.locator(".claim-filter input")
        word.evaluate("e => (e.value = 'bfloat16')")
        word.dispatch_event("input")
        assert 2 < seen.page.locator(".claim-entry:visible").count() < 20
    none(checks.keyboard(seen))


@pytest.mark.weekly
def test_keyboard_through_all_claims(at: Opener) -> None:
    """The same where nothing is filtered: five hundred controls."""
    none(checks.keyboard(at(LEDGER, width=390)))


def test_menu_by_keyboard(at: Opener) -> None:
    """On a phone the list of chapters opens by keyboard, and closes again."""
    page = at(CHAPTER, width=390).page
    links = page.locator(".menu nav a")
    shown = "links => links.filter(e => e.checkVisibility(%s)).length"
    shown %= "{visibilityProperty: true}"
    assert links.evaluate_all(shown) == 0
    page.locator(".menu > summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(400)
    assert links.evaluate_all(shown) > 10
    assert page.locator(".menu > nav").evaluate("e => e.scrollWidth <= e.clientWidth")
    page.keyboard.press("Escape")
    page.wait_for_timeout(400)
    assert links.evaluate_all(shown) == 0
