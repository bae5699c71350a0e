"""Chapters that run in the browser: they give what is stored; changes, and faults."""

import json
import re
import sys
import time
from collections.abc import Iterator
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

PAGE = "book/beyond/relative"
SMALL, ABOVE, PRINTS = 2, 0, 10  # a small cell, one of values, one that prints a value
ANSWERED, ANSWER = 14, "def wrong(n):\n    return n * (n {} 1) // 2"
EXERCISE = "ex-relative-wrong"
TWO = "book/problem/order_blindness"
TORCH = "book/pytorch/module"
BOOK = manuscript.read()
RUNNING = [page.name for page in BOOK.notebooks if not extension.lacking(page.name)]
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
FIRST_VISIT = 35_000 * checks.KB
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
            assert np.array_equal(inside.to_bfloat16(values), right, equal_nan=True)


def test_what_a_chapter_lacks() -> None:
    """PyTorch is found also where the book's own modules bring it."""
    assert extension.lacking(PAGE) == ""
    assert extension.lacking(TORCH) == "PyTorch"
    assert extension.lacking("book/beyond/far") == "PyTorch"


def test_without_the_engine(monkeypatch: Any, tmp_path: Path) -> None:
    """The site is built without the button, and that is said.

    Nothing that an earlier build left of it stays there.
    """
    lines: list[str] = []
    monkeypatch.setattr(
        extension.logger, "info", lambda *words: lines.append(str(words[0]))
    )
    monkeypatch.setattr(extension, "ENGINE", tmp_path)
    extension.engine.cache_clear()
    assert extension.engine() == {} and not extension.runs(PAGE)
    extension.say_so(None)
    assert len(lines) == 1 and "without" in lines[0]
    folder = tmp_path / extension.FOLDER
    folder.mkdir(parents=True)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path)
    extension.write_files(app, None)
    assert not folder.exists()
    monkeypatch.undo()
    extension.engine.cache_clear()


@needs_engine
@pytest.mark.parametrize("name", RUNNING)
def test_a_first_visit_is_light_and_exercises_have_their_check(name: str) -> None:
    """What the button says is at most 35 MB; a check follows its answer at once."""
    weight = extension.weight(name)
    assert weight <= FIRST_VISIT
    assert f"{-(-weight // 1_000_000)} MB, once" in extension.start(name)
    code = BOOK.pages[name].code_cells
    cells = json.loads(extension.cells(name))["cells"]
    answers = [at for at, cell in enumerate(cells) if "exercise" in cell]
    labels = [cells[at]["exercise"] for at in answers]
    assert labels == [exercise.label for exercise in BOOK.pages[name].exercises]
    for at, label in zip(answers, labels, strict=True):
        assert code[at + 1].tagged("check-") == [label]
        assert cells[at]["stub"] != cells[at]["source"]


def test_a_cell_runs_again_with_the_names_above_it(capfd: Any) -> None:
    """Also with functions that read them; the first of all runs with none."""
    inside.forget()

    def error(index: int, source: str) -> str:
        request = {"do": "run", "index": index, "source": source}
        inside.handle(json.dumps(request))
        lines = capfd.readouterr().out.splitlines()
        return "".join(json.loads(line).get("evalue", "") for line in lines)

    assert not error(0, "a = 1\ndef f(): return a") and not error(1, "a = 2; b = 3")
    assert not error(1, "assert f() == a == 1 and 'b' not in dir()")
    assert error(0, "a") == "name 'a' is not defined"
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
    ],
)
def test_what_went_wrong_is_said(
    source: str, said: str, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    """In one sentence, with what is so only on a page."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # no page has it
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


# In the browser


@pytest.fixture(scope="module")
def seen(browser: Any, site: Site) -> Iterator[Visit]:
    """The chapter, where all cells have run, and give what is stored."""
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        assert_as_stored(visit, PAGE)
        yield visit


@pytest.fixture
def page(seen: Visit) -> Iterator[Any]:
    """The same, put back afterwards."""
    yield seen.page
    for name in ("Stop", "Put all back"):
        if seen.page.locator(".live-buttons button", has_text=name).is_visible():
            steps.press(seen.page, name)


def assert_as_stored(visit: Visit, name: str) -> None:
    """Text and figures, to the byte; nothing from elsewhere, nothing in the console.

    The button runs the cells down to the first in view, and fetches what it says.
    """
    page, code = visit.page, BOOK.pages[name].code_cells
    steps.begin(page)
    assert steps.rest(page).startswith(f"Of {len(code)} cells: ")
    assert steps.fetched(visit) == extension.weight(name)
    said = steps.run_all(page)
    lacking = RAISE.get(name, 0)
    answers = sum(cell.role == "exercise" for cell in code)
    marks = steps.marks(page)
    assert marks.count("as stored") == len(code) - answers - lacking, marks
    assert lacking or said == f"All {len(code)} cells are as stored, figures included."
    assert page.locator(".live-result").count() == lacking
    assert steps.fetched(visit) == extension.weight(name, whole=True)
    faults = checks.external_requests(visit) + checks.missing_files(visit)
    assert not faults + checks.console(visit)


def each_chapter() -> Iterator[Any]:
    """In both browsers."""
    for name in RUNNING:
        for kind in ("browser", "firefox"):
            yield pytest.param(kind, name, id=f"{name}-{kind}")


@pytest.mark.weekly
@needs_engine
@pytest.mark.parametrize(("kind", "name"), [*each_chapter()])
def test_chapter(request: Any, site: Site, kind: str, name: str) -> None:
    """All its cells, run on the page."""
    with checks.visit(request.getfixturevalue(kind), site, site.url(name)) as visit:
        assert_as_stored(visit, name)


@needs_engine
def test_nothing_is_fetched_before_the_button(browser: Any, site: Site) -> None:
    """An ordinary visit fetches one small script; the button is above the first code.

    In view, that is: not above the set-up and the figure.
    """
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        fetched = [url for url in visit.requests if "/live/" in url]
        assert [url.partition("?")[0] for url in fetched] == [
            f"{site.address}_static/live/start.js"
        ]
        box = visit.page.locator(".live-start")
        assert box.count() == 1 and "MB" in box.inner_text()
        assert box.evaluate(f"e => e.nextElementSibling.matches('.c{SMALL}')")
        grown = box.evaluate("e => e.outerHTML.length")
    assert checks.compressed(site.path(fetched[0])) + grown < GROWTH


@needs_engine
def test_a_change_says_what_is_as_stored_and_what_differs(page: Any) -> None:
    """What is below is late, runs again, differs or not; both show on demand."""
    steps.run_all(page)
    source = steps.editor(page, ABOVE).input_value()
    assert "chosen(24," in source
    steps.editor(page, ABOVE).fill(source.replace("chosen(24,", "chosen(20,"))
    assert steps.mark(page, PRINTS) == "not run since your change"
    said = steps.run_all(page)
    assert steps.mark(page, ABOVE) == "as stored, with your change"
    assert steps.mark(page, SMALL) == "as stored, below your change"
    assert steps.mark(page, PRINTS) == "differs, below your change"
    assert "1 changed by you" in said and "differ" in said
    cell = page.locator(f".cell.c{PRINTS}")
    stored = cell.locator(".cell_output:not(.live-result)")
    assert cell.locator(".live-sign").text_content() == "differs, below your change"
    assert "20 queries" in steps.result(page, PRINTS).inner_text()
    assert not stored.is_visible()
    cell.locator("button", has_text="Show both").click()
    assert stored.is_visible() and "24 queries" in stored.inner_text()
    image = page.locator(".cell.c1 .live-result img")
    assert image.evaluate("e => e.decode().then(() => e.naturalWidth)") > 100
    run = f"axe.run({{ include: ['.cell.c{PRINTS}', '.live-bar'] }})"
    assert not page.evaluate(f"{{ {checks.axe()} }} {run}.then(r => r.violations)")
    page.locator(f".cell.c{ABOVE} button", has_text="Put back").click()
    assert steps.run_all(page).startswith(f"All {CELLS} cells are as stored")
    assert page.locator(".live-result").count() == 0


@needs_engine
def test_put_back_and_reset_start_a_fresh_python(page: Any) -> None:
    """What a cell did to a module goes with it."""
    steps.write(page, SMALL, "import math\nmath.pi = 3")
    page.locator(f".cell.c{SMALL} button", has_text="Put back").click()
    asks = "import math\nprint(math.pi)\nmath.pi = 3"
    steps.write(page, SMALL, asks)
    assert "3.14" in steps.result(page, SMALL).inner_text()
    steps.write(page, SMALL, asks + " ")
    assert "3.14" not in steps.result(page, SMALL).inner_text()
    steps.press(page, "Reset")
    assert steps.mark(page, ABOVE) == "not run in this Python"
    steps.write(page, SMALL, asks)
    assert "3.14" in steps.result(page, SMALL).inner_text()


@needs_engine
def test_an_exercise_is_a_cell_and_is_saved(
    page: Any, site: Site, monkeypatch: Any
) -> None:
    """Its check says what is wrong; the notebook keeps it where graders look."""
    place = page.locator(f"#{EXERCISE}")
    area = place.locator("textarea")

    def check(answer: str) -> str:
        area.fill(answer)
        area.press("Shift+Enter")
        steps.rest(page)
        text: str = place.locator(".live-mark").inner_text()
        return text

    stub = area.input_value()
    assert "your code here" in stub and "Write your answer" in check(stub) + (
        steps.message(page)
    )
    said = check("\ndef wrong(n:")
    assert said.startswith("Not yet: SyntaxError in line 2 of your answer: ")
    of_one = "Not yet: wrong(1): of one token nothing is wrong"
    assert check(ANSWER.format("+")) == of_one
    assert check("wrong = 5") == f"{of_one}; wrong is 5"
    said = check("def wrong(n):\n    return n + None")
    assert said.startswith("Not yet: as the check uses your answer, TypeError")
    assert check(ANSWER.format("-") + "\nprint('whatever')") == "Right."
    assert check(ANSWER.format("-")) == "Right."
    key = "answered:/_static/live/"
    assert page.evaluate("key => JSON.parse(localStorage[key])", key) == [EXERCISE]
    source = steps.editor(page, ABOVE).input_value()
    steps.editor(page, ABOVE).fill(source.replace("chosen(24,", "chosen(20,"))
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
    answered = BOOK.pages[PAGE].code_cells[ANSWERED].id
    assert changed.keys() == {"values", answered}
    assert changed[answered] == ANSWER.format("-")
    assert changed["values"].count("chosen(20,") == 1
    names: dict[str, Any] = {"__name__": "__main__"}
    monkeypatch.chdir(path.parent)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    assert names["exercise"].scores[EXERCISE] > 0
    assert saved.value.suggested_filename == path.name
    place.locator("button", has_text="Put back").click()
    assert area.input_value() == stub


@needs_engine
def test_an_exercise_is_answered_where_it_stands(browser: Any, site: Site) -> None:
    """On a phone: two taps, the cells that it needs and no others; then a solution."""
    with checks.visit(browser, site, site.url(PAGE), width=390) as visit:
        place = visit.page.locator(f"#{EXERCISE}")
        solution = visit.page.locator(f"#{EXERCISE} ~ details.solution").first
        place.locator("button", has_text="Answer here").click()
        place.locator("textarea").fill(ANSWER.format("+"))
        assert not solution.is_visible()
        place.locator("button", has_text="Check").click()
        assert steps.rest(visit.page) == ""
        mark = place.locator(".live-mark")
        assert mark.inner_text() == "Not yet: wrong(1): of one token nothing is wrong"
        place.locator("button", has_text="Solution").click()
        assert solution.is_visible()
        place.locator("textarea").fill(ANSWER.format("-"))
        place.locator("button", has_text="Check").click()
        steps.rest(visit.page)
        assert mark.inner_text() == "Right."
        assert steps.marks(visit.page).count("") > 3  # not run
        visit.page.reload()
        visit.page.locator(f"#{EXERCISE}[data-answered]").wait_for()
        assert not visit.console


@needs_engine
@pytest.mark.parametrize("waits", [True, False])
def test_two_answers_are_right(browser: Any, site: Site, waits: bool) -> None:
    """One after the other, each needing other cells, whether or not one waits."""
    cells = BOOK.pages[TWO].code_cells
    answers = {label: c.source for c in cells for label in c.tagged("solution-")}
    one, other, *_ = answers
    with checks.visit(browser, site, site.url(TWO)) as visit:
        visit.page.locator(f"#{one} button", has_text="Answer here").click()
        for label in (one, other):
            place = visit.page.locator(f"#{label}")
            place.locator("textarea").fill(f"{answers[label]}\n# mine")
            place.locator("button", has_text="Check").click()
            if waits or label == other:
                steps.rest(visit.page)
        for label in (one, other):
            mark = visit.page.locator(f"#{label} .live-mark")
            assert mark.inner_text() == "Right.", label
        assert not visit.console


HOSTILE = [
    ("print = lambda *a: None\nprint(1)", "differs"),
    ("import sys\nsys.displayhook = sys.stdout = None\n'x'", "differs"),
    ("import os\nos.write(1, b'0.09 0.24 0.67')", "differs"),
    ('import os\nos.write(1, b\'{"kind": "done"}\\n\')', "differs"),
    ('import os\nos.write(1, b\'{"output_type": "stream"}\\n\')', "differs"),
    ('import os\nos.write(1, b\'{"output_type": "display_data"}\\n\')', "differs"),
    ("import os\nos.write(1, b'[' * 9_000_000)", "differs"),
    ("for _ in range(100):\n    print('x' * 100_000)", "differs"),
    ("plt.figure().text(0, 0, 'x', url='y' * 9_000_000)\nplt.show()", "differs"),
    ("class T:\n  _repr_html_ = lambda s: 'x' * 9_000_000\nT()", "differs"),
    ("class T:\n  _repr_html_ = lambda s: 1 / 0\nT()", "raised ZeroDivisionError"),
    ("class T:\n  __repr__ = lambda s: 1\nT()", "raised TypeError"),
    ("class T:\n  _repr_html_ = lambda s: 'x\\n'\nprint('x')\nT()", "differs"),
    ("raise ValueError('x' * 60_000)", "raised ValueError in line 1: xxx"),
    ("def f(): f()\nf()", "raised RecursionError in line 1: maximum recursion"),
    ("input()", "raised EOFError in line 1: input() cannot ask"),
    ("raise SystemExit(1)", "raised SystemExit in line 1: 1"),
    ("import torch", "raised ModuleNotFoundError in line 1: PyTorch is not in"),
    (
        "from IPython.display import HTML",
        "raised ImportError in line 1: IPython.display.HTML is not in",
    ),
    ("1 / 0", "raised ZeroDivisionError in line 1: division by zero"),
    ("from website.live import inside\ninside._say = print\n1 / 0", "differs"),
    ("import json\njson.dumps = lambda o: '{}'\nprint(1)", "differs"),
    ("import shutil\nshutil.rmtree('/live', ignore_errors=True)", "differs"),
    ("import builtins\nbuiltins.__dict__.clear()", ""),
]
"""What a cell can do to lie, and what is said of it."""


@needs_engine
def test_no_cell_is_falsely_as_stored(page: Any) -> None:
    """Whatever it did; put back, all is as before."""
    for source, said in HOSTILE:
        found = steps.write(page, SMALL, source)
        assert found.startswith(said) and not found.startswith("as stored"), source
        size = page.locator(f".cell.c{SMALL}").evaluate("e => e.textContent.length")
        assert size < 250_000 and "undefined" not in found, source
        assert len(found) < 300, source
    steps.press(page, "Put all back")
    assert "as stored" not in steps.marks(page)
    assert steps.run_all(page).startswith(f"All {CELLS} cells are as stored")


@needs_engine
def test_what_patches_python_below_is_told(page: Any) -> None:
    """A changed cell may print for others what is stored: their words say so."""
    cell = BOOK.pages[PAGE].code_cells[SMALL + 1]
    ((_, text),) = extension.stored(cell)
    source = "from website.live import inside\ninside.run = lambda *a: "
    steps.write(
        page, SMALL, f"{source}inside.tell('stream', name='stdout', text={text!r})"
    )
    steps.editor(page, SMALL + 1).press("Shift+Enter")
    steps.rest(page)
    assert steps.mark(page, SMALL + 1) == "as stored, below your change"
    assert "changed by you" in steps.message(page)


@needs_engine
def test_a_drawing_in_a_cell_moves(page: Any) -> None:
    """Its script is one of those that a frame may run."""
    steps.write(page, SMALL, "from pe_lib.explorers import Spike\nSpike()")
    frame = page.frame_locator(f".cell.c{SMALL} .live-frame")
    frame.locator(".take").first.wait_for(state="visible")  # its script makes them


@needs_engine
def test_keys_of_the_editor(page: Any) -> None:
    """Enter keeps the indentation, Tab moves on, undo works."""
    area = steps.editor(page, SMALL)
    before = area.input_value()
    area.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("for i in x:\np()\n")
    assert area.input_value().startswith(f"for i in x:\n    p()\n    {before[:9]}")
    area.press("Tab")
    assert not area.evaluate("area => area === document.activeElement")
    area.focus()
    undone = []
    while before not in undone:
        page.keyboard.press("Control+z")
        undone.append(area.input_value())
        assert len(undone) < 30


@needs_engine
def test_a_run_away_is_stopped(page: Any) -> None:
    """The loop ends, that is said, and the next run starts afresh from the cache."""
    steps.editor(page, SMALL).fill("print(1)\nwhile True:\n    print(2)")
    steps.editor(page, SMALL).press("Shift+Enter")
    mark = f"document.querySelector('.c{SMALL} .live-mark').textContent"
    checks.wait_until(page, f"{mark} === 'runs …'")
    page.wait_for_timeout(300)
    steps.press(page, "Stop")
    assert "starts a fresh Python" in steps.rest(page)
    assert steps.mark(page, SMALL) == "not finished"
    page.locator(f".cell.c{SMALL} button", has_text="Put back").click()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    assert steps.run_all(page).startswith("All")
    assert not [url for url in requests if url.endswith(".wasm.gz")]


@needs_engine
def test_a_package_that_cannot_be_had(page: Any) -> None:
    """It fails in its cell alone, and comes when there is a network again."""
    page.route("**/engine/*py-*", lambda route: route.abort())
    said = steps.write(page, SMALL, "import sympy")
    assert said.startswith(
        "raised ModuleNotFoundError in line 1: SymPy is fetched when"
    )
    steps.editor(page, SMALL + 1).press("Shift+Enter")
    steps.rest(page)
    assert steps.mark(page, SMALL + 1).startswith("raised NameError")  # needs SMALL
    page.unroute_all()
    assert steps.write(page, SMALL, "import sympy ").startswith("differs")


@needs_engine
def test_cells_of_other_chapters(page: Any) -> None:
    """Each gives what is stored of it, above what it rests on.

    Below the test above, because here the packages come.
    """
    for name, wanted in ELSEWHERE:
        code = BOOK.pages[name].code_cells
        at = [cell.id for cell in code].index(wanted)
        sources = [cell.source for cell in code[: at + 1]]
        needed = cell_dependencies(sources[:-1], sources[-1:])
        said = steps.write(page, SMALL, "\n".join([*needed, sources[-1]]))
        assert said == "differs, with your change", (wanted, said)
        ((_, text),) = extension.stored(code[at])
        assert steps.result(page, SMALL).inner_text().strip().endswith(text.strip()), (
            wanted
        )


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
    ("engine/python-*", {"status": 404}, "the site has no engine/python"),
    ("engine/python-*", {"body": b"\x1f\x8babc"}, "damaged or incomplete"),
    ("*/worker.js", {"body": STUB, "content_type": "text/javascript"}, "Cell 3: "),
    ("*/page.js", {"status": 404}, "could not be started"),
]
MORE_FAULTS = [
    ("engine/python-*", None, "is there a network?"),
    ("*/worker.js", {"status": 404}, "a file of the site is missing"),
    ("cells/*", {"status": 404}, "could not be started"),
]


@needs_engine
@pytest.mark.parametrize(
    ("file", "answer", "expected"),
    [*FAULTS, *(pytest.param(*it, marks=pytest.mark.weekly) for it in MORE_FAULTS)],
)
def test_a_file_is_missing_or_damaged(
    browser: Any, site: Site, file: str, answer: dict[str, Any] | None, expected: str
) -> None:
    """One clear sentence, and the page as it was."""
    context = browser.new_context()
    page = context.new_page()
    page.route(
        f"**/_static/live/{file}",
        lambda route: route.fulfill(**answer) if answer else route.abort(),
    )
    page.goto(site.url(PAGE))
    prose = page.locator("article section > p")
    before = prose.all_text_contents()
    page.locator(".live-start button").click()
    place = page.locator(".live-message, .live-start p", has_text=expected)
    place.first.wait_for()
    sentence = place.first.inner_text()
    assert len(sentence) < 200 and "undefined" not in sentence
    assert page.locator(f".cell.c{SMALL + 1} .cell_output").is_visible()
    assert len(before) > 10 and prose.all_text_contents() == before
    context.close()


@pytest.mark.weekly
@needs_engine
def test_storage_is_full_and_what_it_holds_is_damaged(browser: Any, site: Site) -> None:
    """A damaged file comes anew, all cells run; that nothing is kept is said."""
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
    steps.rest(page)
    assert steps.run_all(page).startswith(f"All {CELLS} cells are as stored")
    kept = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""
    assert not [url for url in page.evaluate(kept) if "/python-" in url]
    steps.editor(page, SMALL).fill("changed = True")
    assert "keeps nothing" in steps.message(page)
    assert steps.editor(page, SMALL).input_value() == "changed = True"
    context.close()


@needs_engine
def test_a_reload_and_a_page_named_proto(browser: Any, site: Site) -> None:
    """A change outlives its page, and a second tab has it; back comes back."""
    context = browser.new_context()
    context.route("**/*.wasm.gz", lambda route: route.abort())
    pages = [context.new_page() for _ in range(2)]
    rename = "document.querySelector('.live-start').dataset.page = '__proto__'"
    for page in pages:
        page.goto(site.url(PAGE))
        page.evaluate(rename)
        steps.begin(page)
        steps.rest(page)
    steps.editor(pages[0], SMALL).fill("changed = True")
    kept = pages[0].evaluate("Object.keys(localStorage).filter(k => /^live/.test(k))")
    cell = BOOK.pages[PAGE].code_cells[SMALL].id
    assert kept == [f"live:/_static/live/:__proto__:{cell}"]
    assert pages[0].evaluate("String({})") == "[object Object]"
    pages[1].reload()
    assert "still here" not in pages[1].locator(".live-start p").inner_text()
    pages[1].evaluate(rename)
    steps.begin(pages[1])
    assert steps.editor(pages[1], SMALL).input_value() == "changed = True"
    pages[1].goto(site.url(TORCH))
    pages[1].go_back()
    assert pages[1].locator(".live-start button, .live-bar").first.is_visible()
    context.close()


@needs_engine
def test_storage_forbidden(browser: Any, site: Site) -> None:
    """Nothing can be kept, which is said; all else works."""
    context = browser.new_context()
    context.add_init_script(
        "for (const name of ['localStorage', 'caches']) Object.defineProperty("
        "window, name, { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    context.route("**/*.wasm.gz", lambda route: route.abort())
    page = context.new_page()
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
def test_from_a_folder_and_in_an_old_browser(browser: Any, site: Site) -> None:
    """One line each, and a button that cannot be pressed."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((site.folder / f"{PAGE}.html").as_uri())
    assert "make serve" in page.locator(".live-start p").inner_text()
    assert page.locator(".live-start button").is_disabled()
    for lacking in ("DecompressionStream", "WebAssembly"):
        page.add_init_script(f"delete window.{lacking}")
        page.goto(site.url(PAGE))
        assert "too old" in page.locator(".live-start p").inner_text()
        page.add_init_script(f"window.{lacking} ??= class {{}}")
    context.close()


@needs_engine
def test_a_page_with_pytorch_says_why_not(site: Site) -> None:
    """In one sentence, with its notebook; without a button or a script."""
    text = site.path(site.url(TORCH)).read_text(encoding="utf-8")
    (sentence,) = re.findall('<div class="live-start"><p>(.*?)</p>', text, re.DOTALL)
    assert "PyTorch" in sentence and "download" in sentence
    assert "live/start.js" not in text
