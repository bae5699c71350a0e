"""An exercise without an answer, or with a common wrong one, fails with a hint.

Of the cells before the exercises only those are run on which they rest. nbval runs
every cell of every notebook, also each check on its solution; here the solution comes
in other forms to the hidden check, and with fewer digits to the one in view.
"""

import ast
import builtins
import contextlib
import copy
import inspect
import io
import pickle
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manuscript
from manuscript import Page, edition, wrong_answers
from manuscript.dependencies import cell_dependencies
from manuscript.stubs import REPORTER, checked_names, in_view

BOOK = manuscript.read()
COLLECTED = wrong_answers.collected()
LONG = {"fit_pairs", "float32_codes", "guarantees", "sinusoidal"}
SWALLOWED = {"ex-table-that-grows"}  # the checker that it calls turns errors into words


class Trainings:
    """Trains each scheme by itself, and none twice with the same codes in float32.

    While ``ahead`` it only hears what will be asked for; that is trained at once, side
    by side, which takes hardly longer than one.
    """

    def __init__(self, train: Callable[..., Any]) -> None:
        from pe_lib.experiments.schemes import WIDTH, Context

        noise = np.random.default_rng(0).standard_normal((64, WIDTH))
        self.context = Context(24, 64, noise[0] / np.linalg.norm(noise[0]), noise)
        self.train, self.ahead = train, False
        self.asked = defaultdict[Any, dict[Any, Any]](dict)
        self.found = defaultdict[Any, list[Any]](list)

    def hear(
        self, check: str, answers: Sequence[str], given: list[str], names: Any
    ) -> None:
        """What these answers, and others than the first, will ask for."""
        self.ahead = True
        tries = [dict(names) for _ in answers]
        for answer, tried in zip(answers, tries, strict=True):
            run(answer, tried)
        for name in given:
            tries += [tries[0] | {name: x} for x in unlike(tries[0].get(name))]
        for tried in tries:
            run(check, tried)
        self.ahead = False

    def __call__(self, task: Any, given: Any, **how: Any) -> Any:
        if not isinstance(given, dict):
            return self.train(task, given, **how)
        low, high = how.get("train_lengths", (8, 24))
        lengths = sorted({*range(low, high + 1), *how.get("test_lengths", (16,))})
        keys = {}
        for name, scheme in given.items():
            codes = [scheme.encode(n, self.context) for n in lengths if scheme.encode]
            told = [np.asarray(code, np.float32).tobytes() for code in codes]
            keys[name] = task, repr(how), replace(scheme, encode=None), *told
            self.asked[task, repr(how)][keys[name]] = scheme
        if self.ahead:
            return []
        asked = self.asked.pop((task, repr(how)))
        new = [key for key in asked if key not in self.found]
        beside = {str(number): asked[key] for number, key in enumerate(new)}
        for row in self.train(task, beside, **how) if new else ():
            self.found[new[int(row.scheme)]].append(row)
        rows = [(name, row) for name, key in keys.items() for row in self.found[key]]
        return [replace(row, scheme=name) for name, row in rows]


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, which computes nothing twice that can be written down."""
    seen: dict[bytes, Any] = {}

    def asked(*given: Any, **how: Any) -> Any:
        try:
            key = pickle.dumps((given, how))
        except (AttributeError, pickle.PicklingError):
            return function(*given, **how)
        if key not in seen:
            seen[key] = function(*given, **how)
        return copy.deepcopy(seen[key])

    return asked


@contextlib.contextmanager
def at_home(page: Page) -> Iterator[None]:
    """In the folder of a chapter, as a kernel is, and quiet; no figure is kept."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    with (
        contextlib.chdir(page.path.parent),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
        matplotlib.rc_context(),
    ):
        try:
            yield
        finally:
            plt.close("all")


def run(source: str, names: dict[str, Any]) -> Exception | None:
    """Run a cell, and return what it raises."""
    try:
        exec(compile(source, "<cell>", "exec"), names)
    except Exception as problem:
        return problem
    return None


def tagged(cells: list[dict[str, Any]], prefix: str) -> dict[str, str]:
    """The cells with such a tag, by the label in it."""
    return {
        label: edition.source(cell)
        for cell in cells
        for label in edition.labels(cell, prefix)
    }


@pytest.mark.parametrize(
    "page",
    [page for page in BOOK.notebooks if page.exercises],
    ids=lambda page: page.name.removeprefix("book/"),
)
def test_wrong_answers_are_told_from_right(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer and common slips fail, with a hint; the right one passes."""
    right, checks = page.solutions, page.checks
    student = [c for c in edition.make(page)["cells"] if c["cell_type"] == "code"]
    stubs, reports = tagged(student, "answer-"), tagged(student, "check-")
    assert right and right.keys() == checks.keys() == stubs.keys() == reports.keys()
    last = max(i for i, c in enumerate(page.code_cells) if c.tagged("check-"))
    cells = page.code_cells[: last + 1]  # code that an exercise is about, too
    above = [c.source for c in cells if not c.role.startswith("exercise")]
    below = [c.source for c in cells if c.role.startswith("exercise")]
    names: dict[str, Any] = {"__name__": "__main__"}
    trainings = None
    if "training.train(" in "".join(checks.values()):
        from pe_lib.experiments import training

        trainings = Trainings(training.train)
        monkeypatch.setattr(training, "train", trainings)
    with at_home(page):
        for source in cell_dependencies(above, below):
            exec(compile(source, "<cell>", "exec"), names)
        names |= {name: known(names[name]) for name in LONG & names.keys()}
        for label, check in checks.items():
            given = checked_names(right[label], check)
            if trainings:
                answers = right[label], *(w.answer for w in COLLECTED[label].wrong)
                trainings.hear(check, answers, given, names)
            asked = [REPORTER, stubs[label], reports[label]]
            assert_unanswered(label, asked, dict(names))
            for wrong in COLLECTED[label].wrong:
                assert_fails_with(wrong, check, names | {"because": wrong.thinks})
            assert run(right[label], names) is None
            hidden = COLLECTED[label].hidden_check(check)
            problem = run(hidden, names | each(other_form, given, names))
            assert problem is None, (label, problem)
            problem = run(check, names | each(in_float32, given, names))
            assert not problem or "float32" in str(problem), (label, problem)
            for other in COLLECTED[label].right:
                tried = names | {"because": "a form of its own"}
                assert run(other, tried) is None, (label, other)
                for source in {check, hidden}:
                    problem = run(source, dict(tried))
                    assert problem is None, (label, other, problem)
            for name in given:
                value = names[name]
                for other in unlike(value):
                    assert run(check, names | {name: other}), (label, name, other)
                for other in pretenders(value, in_view(check), names):
                    refused = run(without_view(hidden), names | {name: other})
                    alike = isinstance(other, Recited) and other.excused
                    assert refused or alike, (label, name)


def each(
    form: Callable[[Any], Any], given: list[str], names: dict[str, Any]
) -> dict[str, Any]:
    """Some names in that form."""
    return {name: form(names[name]) for name in given}


def without_view(check: str) -> str:
    """What of a check stands in hidden tests alone."""
    return check.removeprefix(in_view(check))


def other_form(value: Any) -> Any:
    """An equal value of another type, or a function that returns such."""
    if callable(value) and not isinstance(value, type):
        return lambda *given, **more: other_form(value(*given, **more))
    match value:
        case np.ndarray():
            return value.tolist()
        case set():
            return sorted(value)
        case tuple():
            return [other_form(each) for each in value]
        case list():
            return tuple(value)
        case bool() | str() | None:
            return value
        case np.generic():
            return value.item()
        case int() | float():
            return np.float64(value)
    return value


def in_float32(value: Any) -> Any:
    """The same with fewer digits, or a function that returns such."""
    if callable(value) and not isinstance(value, type):
        return lambda *given, **more: in_float32(value(*given, **more))
    match value:
        case tuple() | list():
            return type(value)(map(in_float32, value))
        case float():
            return np.float32(value)
        case np.ndarray() if value.dtype.kind == "f":
            return value.astype(np.float32)
    is_tensor = getattr(value, "is_floating_point", bool)()
    return value.float() if is_tensor else value


def unlike(value: Any) -> Iterator[Any]:
    """Other types, and numbers a tenth off; a whole one is also wrong by one."""
    yield from (None, "word", [])
    if np.isscalar(value) and not isinstance(value, bool | str):
        whole = isinstance(value, int | np.integer)
        steps = {1, round(abs(value) / 10)} - {0} if whole else {value / 10}
        for step in steps:
            yield from (value - step, value + step)


def pretenders(value: Any, view: str, names: dict[str, Any]) -> Iterator[Any]:
    """Functions that know a part of the right one, or are one off, or are in view."""
    if not callable(value):
        return
    yield one_more(value)
    if inspect.signature(value).parameters:
        yield Recited(value, list)
        yield Recited(value, sizes)
    for node in ast.walk(ast.parse(view)):
        match node:
            case ast.Lambda() | ast.Name() if ast.unparse(node) not in dir(builtins):
                shown = eval(ast.unparse(node), {"x": None, "t": None} | names)
                if callable(shown) and shown is not value:
                    yield shown


def one_more(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, whose whole numbers are wrong by one; it knows no other results."""

    def counted(*given: Any, **how: Any) -> Any:
        found = function(*given, **how)
        assert isinstance(found, int | np.integer) and not isinstance(found, bool)
        return found + 1

    return counted


class Recited:
    """Knows what it was asked first, and all that is like it; else it repeats that."""

    def __init__(self, function: Callable[..., Any], like: Callable[..., Any]) -> None:
        self.function, self.like = function, like
        self.first: list[Any] = []
        self.excused = like is sizes  # until it was asked something of another size

    def __call__(self, *given: Any) -> Any:
        like = [told(one) for one in self.like(given)]
        self.first = self.first or [like, self.function(*given)]
        if like == self.first[0]:
            return self.function(*given)
        self.excused = False
        return self.first[1]


def told(value: Any) -> Any:
    """What is the same for equal values; to write down a large array takes seconds."""
    if isinstance(value, np.ndarray) and value.size > 99:
        return value.shape, value.tobytes()
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def sizes(given: Sequence[Any]) -> list[Any]:
    """The shapes of what is an array or a list, and all else as it is."""
    return [np.shape(one) or one for one in given]


def assert_fails_with(
    wrong: wrong_answers.WrongAnswer, check: str, names: dict[str, Any]
) -> None:
    """It runs, and the check says what helps."""
    assert run(wrong.answer, names) is None, wrong.thinks
    problem = run(check, names)
    assert problem, f"the check accepts {wrong.answer!r} ({wrong.thinks})"
    assert isinstance(problem, AssertionError), (wrong.thinks, problem)
    assert str(problem), f"{wrong.thinks}: the check needs a message that helps"
    assert wrong.hint in str(problem), (
        f"{wrong.thinks}: the check says {problem}; put it into `hint`, book/exercises"
    )


def assert_unanswered(label: str, cells: list[str], names: dict[str, Any]) -> None:
    """The student's check says so, gives no points, and goes on."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert all(run(cell, names) is None for cell in cells), label
    assert names["exercise"].scores == {label: 0}
    last = out.getvalue().splitlines()[-1]
    assert label in SWALLOWED or re.search("not answered yet|your code here", last)


def test_it_would_notice() -> None:
    """It sees errors at all, and what a cell above is needed for."""
    assert run("assert undefined_name", {})
    cells = [
        "x = 9",
        "import a",
        "x = a.b()",
        "y = a.b()",
        "z = 2",
        "x[0] = z",
        "f(x)",
        "x.g()",
    ]
    needed = [cell for cell in cells if cell not in ("x = 9", "y = a.b()", "f(x)")]
    assert cell_dependencies(cells, ["print(x)"]) == needed


def test_every_exercise_has_its_wrong_answers() -> None:
    """Two of them at least, and a figure that clears them up."""
    labels = {exercise.label for page in BOOK.notebooks for exercise in page.exercises}
    assert COLLECTED.keys() == labels, "book/exercises/<part>.yml: one entry a label"
    for label, found in COLLECTED.items():
        answers = {wrong.answer for wrong in found.wrong}
        assert len(answers) >= 2, f"{label}: two wrong answers in book/exercises"
        assert found.cure in BOOK.figures, f"{label}: 'cure' is the name of a figure"


def test_every_assertion_of_an_exercise_says_what_helps() -> None:
    """With three words beside its values, in whose place a grader's feedback has …"""
    cells = [cell for page in BOOK.notebooks for cell in page.code_cells]
    for check in (cell.source for cell in cells if cell.tagged("check-")):
        for node in ast.walk(ast.parse(check)):
            if isinstance(node, ast.Assert):
                assert node.msg, f"{ast.unparse(node)}: add ', \"what helps\"'"
                if not isinstance(node.msg, ast.Constant):
                    parts = getattr(node.msg, "values", [])
                    known = [p.value for p in parts if isinstance(p, ast.Constant)]
                    said = "…".join(known)
                    assert len(re.findall("[A-Za-z]{2,}", said)) > 2, (
                        f"{said}: of what?"
                    )
