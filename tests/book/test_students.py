"""Whoever has not solved an exercise is told so, and whoever has is not.

No kernel is started, and of the cells before the exercises only those are run on which
the exercises rest: nbval runs every cell of every notebook in a kernel of its own. That
none too many was left out is shown by the right answers: in the same place they pass.
"""

import ast
import contextlib
import io
import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import editions
import manuscript
import numpy as np
import pytest
import wrong_answers
from manuscript import Page
from needs import rests_on
from stubs import REPORTER

BOOK = manuscript.read()
COLLECTED = wrong_answers.collected()
SWALLOWED = {"ex-table-that-grows"}  # the checker that it calls turns errors into words


def nothing_but_zeros(source: str) -> str:
    """A wrong solution: the names of the right one, each of them zero."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.append(f"{node.name} = lambda *arguments: 0")
        names += [
            f"{name.id} = 0"
            for name in ast.walk(node)
            if isinstance(node, ast.Assign)
            and isinstance(name, ast.Name)
            and isinstance(name.ctx, ast.Store)
        ]
    return "\n".join(names)


def remembered(train: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but no training is repeated whose arguments and codes were seen."""
    from pe_lib.experiments.schemes import WIDTH, Context

    seen: dict[Any, Any] = {}
    noise = np.random.default_rng(0).standard_normal((64, WIDTH))
    context = Context(24, 64, noise[0] / np.linalg.norm(noise[0]), noise)

    def trained(task: Any, given: Any, **how: Any) -> Any:
        if not isinstance(given, dict) or not all(s.encode for s in given.values()):
            return train(task, given, **how)
        low, high = how.get("train_lengths", (8, 24))
        lengths = {*range(low, high + 1), *how.get("test_lengths", (16,))}
        codes = tuple(
            (
                name,
                replace(scheme, encode=None),
                n,
                np.shape(code),
                tuple(np.ravel(code)),
            )
            for name, scheme in given.items()
            for n in sorted(lengths)
            for code in [scheme.encode(n, context)]
        )
        key = task, repr(how), codes
        if key not in seen:
            seen[key] = train(task, given, **how)
        return list(seen[key])

    return trained


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
        label: editions.source(cell)
        for cell in cells
        for label in editions.labels(cell, prefix)
    }


@pytest.mark.parametrize(
    "page", BOOK.notebooks, ids=lambda page: page.name.removeprefix("book/")
)
def test_checks_tell_right_from_wrong(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer, zeros and common slips fail, with a hint; the right one passes."""
    author, student = (
        [cell for cell in edition["cells"] if cell["cell_type"] == "code"]
        for edition in (
            json.loads(page.path.read_bytes()),
            editions.both(page)["student"],
        )
    )
    right, checks = tagged(author, "solution-"), tagged(author, "check-")
    stubs, reports = tagged(student, "answer-"), tagged(student, "check-")
    assert right and right.keys() == checks.keys() == stubs.keys() == reports.keys()
    first = next(i for i, c in enumerate(author) if editions.labels(c, "solution-"))
    above = [editions.source(cell) for cell in author[:first]]
    below = [editions.source(cell) for cell in author[first:]]
    names: dict[str, Any] = {"__name__": "__main__"}
    if "training.train(" in "".join(checks.values()):
        from pe_lib.experiments import training

        monkeypatch.setattr(training, "train", remembered(training.train))
    with at_home(page):
        for source in rests_on(above, below):
            exec(compile(source, "<cell>", "exec"), names)
        for label, check in checks.items():
            for source in (stubs[label], nothing_but_zeros(right[label])):
                tried = dict(names)
                assert run(source, tried) is None and run(check, tried), label
            for wrong in COLLECTED[label].wrong:
                assert_fails_with(wrong, check, dict(names))
            cells = [REPORTER, stubs[label], reports[label]]
            assert_unanswered(label, cells, dict(names))
            assert run(right[label], names) is None
            for source in {check, COLLECTED[label].hidden_check(check)}:
                assert run(source, names) is None, label


def assert_fails_with(
    wrong: wrong_answers.WrongAnswer, check: str, names: dict[str, Any]
) -> None:
    """It runs, and the check says what helps."""
    assert run(wrong.answer, names) is None, wrong.thinks
    problem = run(check, names)
    assert isinstance(problem, AssertionError), (wrong.thinks, problem)
    assert wrong.hint in str(problem), (wrong.thinks, str(problem))


def assert_unanswered(label: str, cells: list[str], names: dict[str, Any]) -> None:
    """The student's check says so, gives no points, and goes on."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert all(run(cell, names) is None for cell in cells), label
    assert names["exercise"].scores == {label: 0}
    said = out.getvalue().splitlines()[-1]
    assert label in SWALLOWED or re.search("not answered yet|your code here", said)


def test_it_would_notice() -> None:
    """It sees errors at all, and what a cell above is needed for."""
    assert run("assert undefined_name", {})
    cells = ["import a", "x = a.b()", "y = a.b()", "z = 2", "x[0] = z", "f(x)", "x.g()"]
    needed = [cell for cell in cells if cell not in ("y = a.b()", "f(x)")]
    assert rests_on(cells, ["print(x)"]) == needed


def test_every_exercise_has_its_wrong_answers() -> None:
    """Two of them at least, a figure that clears them up, and nothing beside."""
    labels = [exercise.label for page in BOOK.notebooks for exercise in page.exercises]
    assert sorted(COLLECTED) == sorted(labels), "see book/exercises/problem.yml"
    for label, found in COLLECTED.items():
        assert len(found.wrong) >= 2, label
        assert len({wrong.answer for wrong in found.wrong}) == len(found.wrong), label
        assert found.cure in BOOK.figures, label


def test_every_assertion_of_an_exercise_says_what_helps() -> None:
    """No student is left with an empty AssertionError."""
    for page in BOOK.notebooks:
        for cell in page.code_cells:
            for node in ast.walk(ast.parse(cell.source if is_check(cell) else "")):
                if isinstance(node, ast.Assert):
                    assert node.msg is not None, (page.name, ast.unparse(node))


def is_check(cell: manuscript.Cell) -> bool:
    """Whether it asks about an answer."""
    return bool(cell.tagged("check-"))
