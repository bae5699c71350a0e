"""Chapters that run in the browser: they give what is stored; changes, and faults."""

import gzip
import hashlib
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import nbformat
import numpy as np
import pytest

import manuscript
from manuscript.dependencies import cell_dependencies
from tests.live import steps
from tests.website import site_checks as checks
from tests.website.site_checks import Site, Visit
from website import editions
from website.live import extension, inside

PAGE = "book/problem/order_blindness"
ABOVE, FIGURE, SMALL, PRINTS = 0, 2, 3, 15  # the values, ..., what depends on them
FIRST, EXERCISE = "ex-numbered-seats", "ex-who-notices"
LAST = "ex-cross-attention"
WRONG = "def causal_attend(X):\n    return -X\nchanged = {1}"
KEY = "live:/_static/live/:problem/order_blindness"
TORCH = "book/pytorch/module"
BOOK = manuscript.read()
RUNNING = [page.name for page in BOOK.notebooks if not page.needs_torch]
CELLS = len(BOOK.pages[PAGE].code_cells)
ELSEWHERE = (  # a file of another folder; bfloat16; SciPy; SymPy
    ("book/beyond/low_precision", "programs"),
    ("book/failures/counting_deeper", "precision"),
    ("book/failures/counting_deeper", "ends"),
    ("book/sinusoidal/rotation_deeper", "symbols"),
)
"""Cells with what PAGE has not; their chapters run once a week, whole."""
RAISE = {"book/fine_print/exact_tables": 2}
"""Cells that need more of ml_dtypes than its rounding, and say so."""
FIRST_VISIT = 40_000 * checks.KB
GROWTH = 10 * checks.KB

needs_engine = pytest.mark.skipif(not extension.engine(), reason=steps.NOTHING)


# What needs no engine


def test_bfloat16_is_rounded_as_by_ml_dtypes() -> None:
    """Any 32 bits, halves of a step, and integers."""
    bits = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    halves = np.arange(0, 2**32, 2**15, dtype=np.uint64).astype(np.uint32)
    floats = (bits.view(np.float32), halves.view(np.float32))
    with np.errstate(invalid="ignore"):
        for values in (*floats, np.arange(70_000)):
            right = values.astype(ml_dtypes.bfloat16).astype(np.float32)
            found = inside.cast(values, inside.BFLOAT16)
            assert found.dtype == right.dtype
            assert np.array_equal(found, right, equal_nan=True)


def test_without_the_engine(monkeypatch: Any, tmp_path: Path) -> None:
    """The site is built without the button; nothing of earlier builds stays, of which
    a second keeps the scripts, also where Sphinx copies no files.
    """
    (tmp_path / "engine").mkdir()
    monkeypatch.setattr(extension, "ENGINE", tmp_path / "engine")
    extension.engine.cache_clear()
    assert extension.engine() == {} and not extension.runs(PAGE)
    folder = tmp_path / extension.FOLDER
    builder, env = SimpleNamespace(format="html"), SimpleNamespace(found_docs=[])
    app = SimpleNamespace(builder=builder, outdir=tmp_path, env=env)
    with monkeypatch.context() as there:
        there.setattr(extension, "engine", lambda: {"book": {"name": "engine/book"}})
        for _ in range(2):
            extension.write_files(app, None)
    assert (folder / extension.FIRST).is_file()
    scripts = {path.name for path in (folder / extension.version()).iterdir()}
    assert {"page.js", "worker.js"} <= scripts
    extension.write_files(app, None)
    assert not folder.exists()
    monkeypatch.undo()
    extension.engine.cache_clear()


@needs_engine
@pytest.mark.parametrize("name", RUNNING)
def test_a_first_visit_is_light_and_exercises_have_their_check(
    site: Site, name: str
) -> None:
    """What the button says is at most 40 MB; a check follows its answer at once."""
    weight = extension.weight(name)
    assert weight <= FIRST_VISIT
    text = site.path(site.url(name)).read_text(encoding="utf-8")
    assert f"{-(-weight // 1_000_000)} MB, once" in text
    (file,) = re.findall('data-cells="([^"]+)"', text)
    told = (site.folder / extension.FOLDER / file).read_text(encoding="utf-8")
    assert hashlib.sha256(told.encode()).hexdigest()[:8] in file
    cells, code = json.loads(told)["cells"], BOOK.pages[name].code_cells
    assert [cell["id"] for cell in cells] == [cell.id for cell in code]
    answers = [at for at, cell in enumerate(cells) if "exercise" in cell]
    labels = [cells[at]["exercise"] for at in answers]
    assert labels == [exercise.label for exercise in BOOK.pages[name].exercises]
    for at, label in zip(answers, labels, strict=True):
        assert code[at + 1].tagged("check-") == [label]
        assert cells[at]["stub"] != cells[at]["source"]


def test_copies_of_jupyter_are_not_packed(monkeypatch: Any, tmp_path: Path) -> None:
    """Nor other hidden files."""
    for name in ("core.py", ".ipynb_checkpoints/core-checkpoint.py"):
        path = tmp_path / "pe_lib" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    for name, value in (("ROOT", tmp_path), ("OURS", []), ("DATA", [])):
        monkeypatch.setattr(extension, name, value)
    packed = io.BytesIO(gzip.decompress(extension.book.__wrapped__()))
    assert zipfile.ZipFile(packed).namelist() == ["pe_lib/core.py"]


@needs_engine
def test_a_visit_weighs_what_its_cells_import() -> None:
    """SciPy, and SymPy with its mpmath, on a page that imports both."""
    packs = sum(extension.engine()[name]["bytes"] for name in extension.PACKS)
    heavy = extension.weight("book/failures/criteria_deeper")
    assert heavy == extension.weight(PAGE) + packs and len(extension.PACKS) == 3


def test_a_cell_runs_again_with_the_names_above_it(capfd: Any) -> None:
    """Also with functions that read them; the first of all runs with none."""
    inside.forget()

    def error(index: int, source: str) -> str:
        request = {"do": "run", "index": index, "source": source}
        inside.handle(json.dumps(request))
        said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        return "".join(f"{it['ename']}: {it['evalue']}" for it in said if "ename" in it)

    assert not error(0, "a = 1\ndef f(): return a") and not error(1, "a = 2; b = 3")
    assert not error(1, "assert f() == a == 1 and 'b' not in dir()")
    assert error(0, "a") == "NameError: name 'a' is not defined"
    assert not error(4, "a = 5") and not error(9, "b = 6")  # an answer needs no others
    assert not error(4, "assert 'a' not in dir() and 'b' not in dir()")


CHECK = """\
for n in (1, 2):
    assert answer(n) == n, "answer: a function that gives 1 for 1"
assert abs(two - size) < 1, f"size: one number, near {two}"
print(size / 0)
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "size = 2; answer = 'abs'",
            "answer: a function that gives 1 for 1; answer is 'abs'",
        ),
        ("size = 'two'; answer = abs", "size: one number, near 2; size is 'two'"),
        ("size = None; answer = abs", "size: one number, near 2; size is None"),
        ("size = [7] * 99; answer = abs", "size: one number, near 2; size is [7, 7"),
        ("size = 7; answer = abs", ""),  # its assertion says so
        ("size = 2; answer = abs", ""),  # what Python refuses is no assertion
        ("size = 2; answer = lambda n: n / 0", ""),  # and here it is the answer's own
    ],
)
def test_a_check_says_what_it_wants_and_was_given(
    answer: str, said: str, capfd: Any
) -> None:
    """Where Python refuses the answer before an assertion can."""
    inside.forget()
    for index, source in enumerate(("two = 2; answer = size = 0", answer, CHECK)):
        inside.handle(json.dumps({"do": "run", "index": index, "source": source}))
    error = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert error["wanted"].startswith(said) and bool(error["wanted"]) == bool(said)
    assert len(error["wanted"]) < 100


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nosuch.thing", "nosuch is not in the Python of a page"),
        ("raise ModuleNotFoundError(name='torch.nn')", "PyTorch is not in the Python"),
        ("raise ModuleNotFoundError(name='pe_lib.nn')", "PyTorch is not in the Python"),
        ("raise ModuleNotFoundError(name='sympy')", "SymPy is fetched when a cell"),
        ("class E(Exception):\n  __str__ = 0\nraise E", "it cannot be said"),
        ("1 +", "invalid syntax"),
        ("raise SystemExit(1)", "1"),
        ("class T:\n  _repr_html_ = lambda s: 1 / 0\nT()", "division by zero"),
        ("class T:\n  __repr__ = lambda s: 1\nT()", "__repr__ returned non-string"),
    ],
)
def test_what_went_wrong_is_said(
    source: str, said: str, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    """In one sentence, with what is so only on a page."""
    for package in ("torch", "sympy"):  # no page has the one, nor at first the other
        monkeypatch.delitem(sys.modules, package, raising=False)
    inside.forget()
    inside.run(source, "cell 1")
    (line,) = capfd.readouterr().out.splitlines()
    words = json.loads(line)["evalue"]
    assert words.startswith(said) and len(words) < 120


def test_what_is_printed_is_sent_once(capfd: Any) -> None:
    """Also when less comes after more."""
    inside.forget()
    inside.run("import sys\nprint('more')\nsys.stdout.flush()\nprint('i')", "cell 1")
    lines = capfd.readouterr().out.splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["more\n", "i\n"]


def test_a_pause_lasts_as_long_as_it_says() -> None:
    """And not as long as Python has run."""
    begun = time.perf_counter()
    inside.sleep(0.02)
    assert 0.02 <= time.perf_counter() - begun < 1


# In the browser: all tests down to "Faults" share one page and its Python, which takes
# ten seconds to come. Each takes it as another left it, or asks for more below.


@pytest.fixture(scope="module")
def opened(browser: Any, site: Site) -> Iterator[Visit]:
    """The chapter on a phone."""
    with phone(browser, site) as visit:
        yield visit


@contextmanager
def phone(browser: Any, site: Site) -> Iterator[Visit]:
    """A first visit to the chapter, before anything is pressed.

    It keeps the stub of an exercise, as an earlier edition did: that is no answer.
    """
    stub = next(c for c in told(PAGE) if c.get("exercise") == LAST)
    kept = json.dumps([[stub["id"], stub["stub"]]])
    with checks.visit(browser, site, site.url(PAGE), width=390) as visit:
        visit.page.evaluate("([k, v]) => localStorage.setItem(k, v)", [KEY, kept])
        yield visit


@pytest.fixture
def unpressed(opened: Visit, browser: Any, site: Site) -> Iterator[Visit]:
    """The same, or where a test has begun it, a visit of its own."""
    if opened.page.locator(".live-start").is_visible():
        yield opened
    else:
        with phone(browser, site) as visit:
            yield visit


@pytest.fixture
def tried(opened: Visit) -> Any:
    """The same, where Python has run; some cells may be changed."""
    if opened.page.locator(".live-start").is_visible():
        steps.begin(opened.page)
        steps.rest(opened.page)
    return opened.page


@pytest.fixture
def page(tried: Any) -> Any:
    """The same, with no cell changed."""
    steps.put_back(tried)
    return tried


def told(name: str) -> list[dict[str, Any]]:
    """What the script knows of the cells of a page."""
    return list(json.loads(extension.cells(name))["cells"])


def assert_as_stored(page: Any, name: str) -> None:
    """All cells, text and figures to the byte; but for those that lack a package."""
    code, lacking = BOOK.pages[name].code_cells, RAISE.get(name, 0)
    answers = sum(cell.role == "exercise" for cell in code)
    said = steps.run_all(page)
    marks, stored = steps.marks(page), len(code) - lacking
    assert marks.count("as stored") == stored - answers, marks
    assert said == f"{stored} of {len(code)} cells are as stored, 0 changed by you."
    assert page.locator(".live-result").count() == lacking


def assert_local(visit: Visit) -> None:
    """Nothing from elsewhere, and nothing in the console."""
    assert not checks.missing_files(visit) + checks.console(visit)


@pytest.mark.weekly
@needs_engine
@pytest.mark.parametrize("name", RUNNING)
def test_chapter(browser: Any, site: Site, name: str) -> None:
    """All its cells, run on the page; they fetch what the button says."""
    with checks.visit(browser, site, site.url(name)) as visit:
        steps.begin(visit.page)
        steps.rest(visit.page)
        assert_as_stored(visit.page, name)
        assert steps.fetched(visit) == extension.weight(name)
        assert_local(visit)


@needs_engine
def test_nothing_is_fetched_before_the_button(unpressed: Visit, site: Site) -> None:
    """An ordinary visit fetches one small script; the button is above the first code.

    In view, that is: not above the set-up and the figure.
    """
    fetched = [url for url in unpressed.requests if "/live/" in url]
    assert [url.partition("?")[0] for url in fetched] == [
        f"{site.address}_static/live/start.js"
    ]
    box = unpressed.page.locator(".live-start")
    assert box.count() == 1 and "MB" in box.inner_text()
    assert box.evaluate(f"e => e.nextElementSibling.matches('.c{SMALL}')")
    grown = box.evaluate("e => e.outerHTML.length")
    assert checks.compressed(site.path(fetched[0])) + grown < GROWTH


@needs_engine
def test_exercises_are_answered_where_they_stand(unpressed: Visit) -> None:
    """On a phone: two taps, the cells that it needs and no others; then a solution.

    Another one needs other cells, and both are right, also if one waits for the other.
    """
    answers = {label: BOOK.pages[PAGE].solutions[label] for label in (FIRST, EXERCISE)}
    page = unpressed.page

    def answer(label: str, text: str) -> None:
        page.locator(f"#{label} textarea").fill(text)
        page.locator(f"#{label} button", has_text="Check").click()

    def said(label: str) -> str:
        text: str = page.locator(f"#{label} .live-mark").inner_text()
        return text

    solution = page.locator(f"#{FIRST} ~ details.solution").first
    page.locator(f"#{FIRST} button", has_text="Answer here").click()
    page.locator(f"#{FIRST} textarea").wait_for()
    answer(FIRST, "yorks = 5")
    assert not solution.is_visible()
    assert steps.rest(page) == ""
    wanted = "expected two rows of two numbers, one for each York"
    assert said(FIRST) == f"Not yet: {wanted}"
    assert solution.is_visible()
    page.locator(f"#{EXERCISE} button", has_text="Check").click()
    assert "Write your answer" in steps.message(page)
    for label, text in answers.items():
        answer(label, text)
        steps.rest(page)
        assert said(label) == "Right."
        assert steps.marks(page).count("") > 3  # not run
    answer(FIRST, f"{answers[FIRST]}\nimport time; time.sleep(0.5)")
    answer(EXERCISE, f"{answers[EXERCISE]}\n# as I said")
    steps.rest(page)
    assert [said(label) for label in answers] == ["Right.", "Right."]
    assert steps.fetched(unpressed) == extension.weight(PAGE)
    assert_local(unpressed)
    with unpressed.page.context.expect_page() as other:
        page.evaluate("open(location)")
    other.value.locator(".live-start p", has_text="still here").wait_for()
    for label in answers:
        other.value.locator(f"#{label}[data-answered]").wait_for()
    other.value.close()
    changed = f"{CELLS} of {CELLS} cells are as stored, 2 changed by you."
    assert steps.run_all(page) == changed  # and none by the stub that was kept


@needs_engine
def test_an_exercise_is_a_cell_and_is_saved(
    page: Any, site: Site, monkeypatch: Any
) -> None:
    """Its check says what is wrong; the notebook keeps it where graders look."""
    place, right = page.locator(f"#{EXERCISE}"), BOOK.pages[PAGE].solutions[EXERCISE]
    area = place.locator("textarea")

    def check(answer: str) -> str:
        area.fill(answer)
        area.press("Shift+Enter")
        steps.rest(page)
        text: str = place.locator(".live-mark").inner_text()
        return text

    said = check("\ndef causal_attend(X:")
    assert said.startswith("Not yet: SyntaxError in line 2 of your answer: ")
    alone = "Not yet: causal_attend: a word that is alone stays as it is"
    assert check(WRONG) == alone
    assert check("changed, causal_attend = {1}, 5") == f"{alone}; causal_attend is 5"
    said = check(WRONG.replace("-X", "X + None"))
    assert said.startswith("Not yet: as the check uses your answer, TypeError")
    assert check(f"{right}\nprint('whatever')") == "Right."
    assert check(f"{right}\n# mine") == "Right."
    key = "answered:/_static/live/"
    assert EXERCISE in page.evaluate("key => JSON.parse(localStorage[key])", key)
    page.locator(f"#{FIRST} textarea").fill("yorks = 5")
    source = steps.editor(page, ABOVE).input_value()
    steps.editor(page, ABOVE).fill(source.replace("chosen(16,", "chosen(20,"))
    with page.expect_download() as saved:
        steps.press(page, "Save as a notebook")
    notebook = nbformat.read(saved.value.path(), as_version=4)
    nbformat.validate(notebook)
    path = BOOK.pages[PAGE].path
    offered = (site.folder / editions.address(PAGE)).with_suffix(".ipynb")
    given = nbformat.read(offered, as_version=4)
    changed = {
        cell.id: cell.source
        for cell, old in zip(notebook.cells, given.cells, strict=True)
        if cell.source != "".join(old.source)
    }
    first, answered = (
        cell.id
        for label in (FIRST, EXERCISE)
        for cell in BOOK.pages[PAGE].code_cells
        if cell.tagged(f"solution-{label}")
    )
    assert changed.keys() == {"values", first, answered}
    assert changed[answered] == f"{right}\n# mine"
    assert changed["values"].count("chosen(20,") == 1
    names: dict[str, Any] = {"__name__": "__main__"}
    monkeypatch.chdir(path.parent)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    (at,) = (at for at, text in enumerate(sources) if text == changed[answered])
    for source in cell_dependencies(sources[: at + 1], [sources[at + 1]]):
        exec(source, names)
    exec(sources[at + 1], names)
    assert names["exercise"].scores[EXERCISE] > 0
    assert saved.value.suggested_filename == path.name


@needs_engine
def test_a_run_away_is_stopped_and_all_put_back(tried: Any) -> None:
    """The loop ends, that is said, and the next run starts afresh from what is kept.

    Also if its cell is put back; and to run all after an answer is no fresh start.
    """
    steps.editor(tried, PRINTS).fill("print(1)\nwhile True: pass")
    steps.editor(tried, PRINTS).press("Shift+Enter")
    mark = f"document.querySelector('.c{PRINTS} .live-mark').textContent"
    checks.wait_until(tried, f"{mark} === 'runs …'")
    (worker,) = tried.workers
    steps.press(tried, "Stop")
    assert "starts a fresh Python" in steps.rest(tried)
    assert steps.mark(tried, PRINTS) == "not finished"
    assert steps.mark(tried, ABOVE) == "not run in this Python"
    for _ in range(50):  # the browser ends it when it can
        if worker in tried.workers:
            tried.wait_for_timeout(100)
    assert not tried.workers
    requests: list[str] = []
    tried.on("request", lambda request: requests.append(request.url))
    steps.editor(tried, SMALL).fill("print(1, flush=True)\nwhile True: pass")
    steps.editor(tried, SMALL).press("Shift+Enter")
    tried.locator(f".cell.c{SMALL} .live-mark", has_text="runs …").wait_for()
    steps.put_back(tried)
    assert "Put back" in steps.rest(tried)
    assert steps.result(tried, SMALL).count() == 0
    for area in tried.locator(".live-answer textarea").all():
        assert "your code here" in area.input_value()
    answer = tried.locator(f"#{LAST} textarea")
    answer.fill(BOOK.pages[PAGE].solutions[LAST])
    answer.press("Shift+Enter")
    steps.rest(tried)
    assert tried.locator(f"#{LAST} .live-mark").inner_text().startswith("Right.")
    (worker,) = tried.workers
    steps.put_back(tried)
    assert_as_stored(tried, PAGE)
    assert tried.workers == [worker]
    assert not [url for url in requests if url.endswith(".gz")]


@needs_engine
def test_a_change_says_what_is_as_stored_and_what_differs(page: Any) -> None:
    """What is below is late, runs again, differs or not; put back, all is as before.

    Also what a changed cell did to a module.
    """
    if steps.mark(page, PRINTS) != "as stored":
        steps.run_all(page)
    source = steps.editor(page, ABOVE).input_value()
    assert "chosen(16," in source
    changed = source.replace("chosen(16,", "chosen(20,") + "\nplotting.WIDTH = 5"
    steps.editor(page, ABOVE).fill(changed)
    assert steps.mark(page, PRINTS) == "not run since your change"
    said = steps.run_all(page)
    assert steps.mark(page, ABOVE) == "as stored, with your change"
    assert steps.mark(page, SMALL) == "as stored, below your change"
    assert steps.mark(page, PRINTS) == "differs, below your change"
    assert f"of {CELLS} cells are as stored, 1 changed by you." in said
    result = steps.result(page, PRINTS)
    stored = result.locator(".cell_output pre")
    printed = BOOK.pages[PAGE].code_cells[PRINTS].printed
    assert "shuffle 4" in result.inner_text() and not stored.is_visible()
    result.locator("summary").click()
    assert stored.is_visible() and stored.inner_text().strip() == printed.strip()
    image = steps.result(page, FIGURE).locator("img")
    assert image.evaluate("e => e.decode().then(() => e.naturalWidth)") > 100
    run = f"axe.run({{ include: ['.cell.c{PRINTS}', '.live-bar'] }})"
    assert not page.evaluate(f"{{ {checks.axe()} }} {run}.then(r => r.violations)")
    page.locator(f".cell.c{ABOVE} button", has_text="Put back").click()
    assert steps.mark(page, ABOVE) == "not run in this Python"
    steps.editor(page, FIGURE).press("Shift+Enter")
    steps.rest(page)
    assert steps.mark(page, FIGURE) == "as stored"
    assert steps.result(page, FIGURE).count() == 0


@needs_engine
def test_a_drawing_in_a_cell_moves(tried: Any) -> None:
    """Its script is one of those that a frame may run."""
    steps.write(tried, SMALL, "from pe_lib.explorers import Spike\nSpike()")
    frame = tried.frame_locator(f".cell.c{SMALL} .live-frame")
    frame.locator(".take").first.wait_for(state="visible")  # its script makes them


@needs_engine
def test_keys_of_the_editor(tried: Any) -> None:
    """Enter keeps the indentation, Tab moves on, undo works."""
    area = steps.editor(tried, SMALL)
    before = area.input_value()
    area.focus()
    tried.keyboard.press("Control+Home")
    tried.keyboard.type("for i in x:\np()\n")
    assert area.input_value().startswith(f"for i in x:\n    p()\n    {before[:9]}")
    area.press("Tab")
    assert not area.evaluate("area => area === document.activeElement")
    area.focus()
    undone = []
    while before not in undone:
        tried.keyboard.press("Control+z")
        undone.append(area.input_value())
        assert len(undone) < 30


@needs_engine
def test_cells_of_other_chapters(tried: Any) -> None:
    """Each gives what is stored of it, above what it rests on.

    A package that cannot be had fails in its cell alone, and comes with the network.
    """
    tried.route("**/engine/*py-*", abort)
    said = steps.write(tried, SMALL, "import sympy")
    steps.editor(tried, SMALL + 1).press("Shift+Enter")
    steps.rest(tried)
    below = steps.mark(tried, SMALL + 1)
    tried.unroute_all()
    wanted = "raised ModuleNotFoundError in line 1: SymPy is fetched when"
    assert said.startswith(wanted)
    assert below.startswith("raised NameError")  # it needs SMALL
    for name, wanted in ELSEWHERE:
        code = BOOK.pages[name].code_cells
        at = [cell.id for cell in code].index(wanted)
        sources = [cell.source for cell in code[: at + 1]]
        needed = cell_dependencies(sources[:-1], sources[-1:])
        said = steps.write(tried, SMALL, "\n".join([*needed, sources[-1]]))
        assert said == "differs, with your change", (wanted, said)
        ((_, text),) = extension.stored(code[at])
        assert text.strip() in steps.result(tried, SMALL).inner_text(), wanted


FROM_PYTHON = """import urllib.request; urllib.request.urlopen("http://FAR/1")
import socket; socket.create_connection(("127.0.0.1", PORT))
import os; os.system("curl http://FAR/2")
import ctypes; ctypes.CDLL(None)
import js; js.fetch("http://FAR/3")
open("/proc/self/environ").read()
import webbrowser; webbrowser.open("http://FAR/4") or 1 / 0"""
"""What Python itself could try to reach another server, or this machine: all fails."""


@needs_engine
def test_python_reaches_nobody(tried: Any, site: Site) -> None:
    """Not even the server of the site."""
    host = site.address.removeprefix("http://").rstrip("/")
    lines = FROM_PYTHON.replace("FAR", host).replace("PORT", host.rpartition(":")[2])
    steps.write(tried, SMALL, "1")  # where Python starts anew, its files are fetched
    requests: list[str] = []
    tried.on("request", lambda request: requests.append(request.url))
    source = f"""for line in {lines.splitlines()}:
    try:
        exec(line)
    except BaseException:
        print("failed")
"""
    steps.write(tried, SMALL, source)
    said = steps.result(tried, SMALL).locator(".output").first.inner_text()
    assert said.split() == ["failed"] * len(lines.splitlines()) and not requests


@needs_engine
def test_what_patches_python_below_is_told(tried: Any) -> None:
    """A changed cell may print for others what is stored: their words say so."""
    below = SMALL + 1
    ((_, text),) = extension.stored(BOOK.pages[PAGE].code_cells[below])
    source = f"""from website.live import inside
def lie(source, name, run=inside.run, tell=inside.tell):
    if name != "cell {below + 1}":
        return run(source, name)
    tell("stream", name="stdout", text={text!r})
inside.run = lie"""
    steps.write(tried, SMALL, source)
    steps.editor(tried, below).press("Shift+Enter")
    steps.rest(tried)
    assert steps.mark(tried, below) == "as stored, below your change"
    assert "changed by you" in steps.message(tried)
    steps.put_back(tried)  # the next run starts a fresh Python


LOST = "raised MemoryError: the output is over 5 MB, and what came after it is lost; "
HOSTILE = [
    ("print = lambda *a: None\nprint(1)", "differs"),
    ("import sys\nsys.displayhook = sys.stdout = None\n'x'", "differs"),
    ("import os\nos.write(1, b'0.09 0.24 0.67')", "differs"),
    ('import os\nos.write(1, b\'{"kind": "done"}\\n\')', "differs"),
    ('import os\nos.write(1, b\'{"output_type": "stream"}\\n\')', "differs"),
    ('import os\nos.write(1, b\'{"output_type": "display_data"}\\n\')', "differs"),
    ("import os\nos.write(1, b'[' * 6_000_000)", LOST),
    ("for _ in range(100):\n    print('x' * 100_000)", LOST),
    ("plt.axes().text(0, 0, 'x', url='y' * 6_000_000)\nplt.show()", LOST),
    ("class T:\n  _repr_html_ = lambda s: 'x' * 6_000_000\nT()", LOST),
    ("class T:\n  _repr_html_ = lambda s: 'x\\n'\nprint('x')\nT()", "differs"),
    ("raise ValueError('x' * 60_000)", "raised ValueError in line 1: xxx"),
    ("def f(): f()\nf()", "raised RecursionError in line 1: maximum recursion"),
    ("import torch", "raised ModuleNotFoundError in line 1: PyTorch is not in"),
    ("from IPython.display import HTML", "raised ModuleNotFoundError in line 1: IPy"),
    ("import scipy.stats", "raised ModuleNotFoundError in line 1: scipy.stats is not"),
    ("input()", "raised EOFError in line 1: input() cannot ask"),
    ("plt.title(r'$\\mathcal{O}(\\omega)\\mathbf{x}$')\n'no font lacks'", "differs"),
    ("from website.live import inside\ninside._say = print\n1 / 0", "differs"),
    ("import json\njson.dumps = lambda o: '{}'\nprint(1)", "differs"),
    ("import shutil\nshutil.rmtree('/live', ignore_errors=True)", "differs"),
    ("import builtins\nbuiltins.__dict__.clear()", ""),
]
"""What a cell can do to lie, and what is said of it."""


@needs_engine
def test_no_cell_is_falsely_as_stored(tried: Any) -> None:
    """Whatever it did, also after what is stored; and nothing is so without Python."""
    ((_, text),) = extension.stored(BOOK.pages[PAGE].code_cells[SMALL])
    more = (
        f"import os\nprint({text!r}, end='', flush=True)\nos.write(1, b'x' * 6_000_000)"
    )
    for source, said in ((more, LOST), *HOSTILE):
        found = steps.write(tried, SMALL, source)
        assert found.startswith(said) and not found.startswith("as stored"), source
        size = tried.locator(f".cell.c{SMALL}").evaluate("e => e.textContent.length")
        assert size < 250_000 and "undefined" not in found, source
        assert len(found) < 300, source
        if said is LOST:
            *given, last = steps.result(tried, SMALL).locator("> .output").all()
            assert last.inner_text().strip() == found.removeprefix("raised ")
            long = [text for one in given if len(text := one.inner_text()) > 100_000]
            assert all(text.strip().endswith("x …") for text in long)
    assert "Python broke down" in steps.message(tried)
    steps.put_back(tried)
    assert "as stored" not in steps.marks(tried)


# Faults: the page stays as readable as before

STUB = """
let runs = 0;
addEventListener("message", ({ data }) => {
  if (data.do === "start") postMessage({ kind: "ready" });
  else if (++runs === 3) postMessage({ kind: "broken", text: "unreachable" });
  else postMessage({ kind: "done" });
});
"""
"""Another engine: it gives nothing, and breaks down in the third cell."""
FAULTS = [
    ("*/page.js", {"status": 404}, "could not be started"),
    ("cells/*", {"status": 404}, "could not be started"),
    ("engine/python-*", {"status": 404}, "the site has no engine/python"),
    ("engine/python-*", {"body": b"\x1f\x8babc"}, "damaged or incomplete"),
    ("engine/*", None, "is there a network?"),
    ("*/worker.js", {"body": STUB, "content_type": "text/javascript"}, "Cell 3: "),
    ("*/worker.js", {"status": 404}, "a file of the site is missing"),
]
"""Each is said, and the next run begins anew, the first two after a reload."""


def abort(route: Any) -> None:
    """As where there is no network."""
    route.abort()


@needs_engine
def test_a_file_is_missing_or_damaged(browser: Any, site: Site) -> None:
    """One clear sentence, and the page as it was."""
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        page = visit.page
        prose = page.locator("article section > p")
        before = prose.all_text_contents()
        for file, answer, expected in FAULTS:
            given = partial(lambda how, route: route.fulfill(**how), answer)
            page.route(f"**/_static/live/{file}", given if answer else abort)
            page.locator(
                ".live-start:visible button, .live-buttons button"
            ).first.click()
            place = page.locator(".live-message, .live-start p", has_text=expected)
            place.first.wait_for()
            sentence = place.first.inner_text()
            assert len(sentence) < 200 and "undefined" not in sentence
            assert page.locator(f".cell.c{SMALL} .cell_output").is_visible()
            page.unroute_all()
            if page.locator(".live-start").is_visible():  # its button is dead now
                page.reload()
        assert len(before) > 10 and prose.all_text_contents() == before


@pytest.mark.weekly
@needs_engine
def test_storage_is_full_and_what_it_holds_is_damaged(browser: Any, site: Site) -> None:
    """A damaged file is told and comes anew; that nothing is kept is told."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(site.url(PAGE))
    quota = {"origin": site.address.rstrip("/"), "quotaSize": 1_000_000}
    keep = """async ([address, letters]) => {
        const { cache } = document.querySelector(".live-start").dataset;
        await (await caches.open(cache)).put(address, new Response(letters));
        for (let size = 5_000_000; size; size >>= 1)
            try { localStorage.setItem(`full${size}`, "x".repeat(size)); } catch {}
    }"""
    book = f"{site.address}{extension.FOLDER}/{extension.engine()['book']['name']}"
    page.evaluate(keep, [book, "damaged"])
    context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", quota)
    steps.begin(page)
    assert "is damaged" in steps.rest(page)
    assert_as_stored(page, PAGE)
    kept = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""
    assert not [url for url in page.evaluate(kept) if "/python-" in url]
    steps.editor(page, SMALL).fill("changed = True")
    assert "keeps nothing" in steps.message(page)
    assert steps.editor(page, SMALL).input_value() == "changed = True"
    context.close()


@needs_engine
def test_what_the_browser_keeps(browser: Any, site: Site) -> None:
    """A change outlives its page, and so does one of a second tab; back comes back.

    Also on a page with a strange name. Where nothing can be kept, that is said, and all
    else works.
    """
    context = browser.new_context()
    context.route("**/engine/*", abort)
    pages = [context.new_page() for _ in range(2)]
    rename = "document.querySelector('.live-start').dataset.page = '__proto__'"
    for page in pages:
        page.goto(site.url(PAGE))
        page.evaluate(rename)
        steps.begin(page)
        steps.rest(page)
    written = {ABOVE: "changed = 1", SMALL: "changed = True"}
    for page, (cell, text) in zip(pages, written.items(), strict=True):
        steps.editor(page, cell).fill(text)
    kept = pages[0].evaluate("Object.keys(localStorage).filter(k => /^live/.test(k))")
    assert kept == ["live:/_static/live/:__proto__"]
    assert pages[0].evaluate("String({})") == "[object Object]"
    pages[1].goto("about:blank")
    pages[1].go_back()
    assert "still here" not in pages[1].locator(".live-start p").inner_text()
    pages[1].evaluate(rename)
    steps.begin(pages[1])
    for cell, text in written.items():
        assert steps.editor(pages[1], cell).input_value() == text
    page = pages[0]
    page.add_init_script(
        "for (const name of ['localStorage', 'caches']) Object.defineProperty("
        "window, name, { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    errors: list[Any] = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(site.url(PAGE))
    steps.begin(page)
    steps.rest(page)
    steps.editor(page, SMALL).fill("changed = True")
    assert "keeps nothing" in steps.message(page)
    assert not errors
    context.close()


@needs_engine
def test_from_a_folder(browser: Any, site: Site) -> None:
    """One line, and a button that cannot be pressed."""
    address = (site.folder / f"{PAGE}.html").as_uri()
    with checks.visit(browser, site, address) as visit:
        box = visit.page.locator(".live-start")
        assert "make serve" in box.locator("p").inner_text()
        assert box.locator("button").is_disabled()


@needs_engine
def test_a_page_with_pytorch_says_why_not(site: Site) -> None:
    """In one sentence, with its notebook; without a button or a script."""
    text = site.path(site.url(TORCH)).read_text(encoding="utf-8")
    (sentence,) = re.findall('<div class="live-start"><p>(.*?)</p>', text, re.DOTALL)
    assert "PyTorch" in sentence and "download" in sentence
    assert "live/start.js" not in text
