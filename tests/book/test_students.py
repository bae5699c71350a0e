"""Whoever has not solved an exercise is told so, and whoever has is not.

No kernel is started, and of the cells before the exercises only those are run on which
the exercises rest: nbval runs every cell of every notebook in a kernel of its own. That
none too many was left out is shown by the right answers: in the same place they pass.
"""

import ast
import contextlib
import io
import json
import warnings
from collections.abc import Iterator
from typing import Any

import editions
import manuscript
import pytest
from manuscript import Page

BOOK = manuscript.read()
SEEDS = {"manual_seed": {"torch"}}  # calls that change a module


def root(node: ast.AST) -> set[str]:
    """The name at the front of a dotted or indexed expression."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def gives(statement: ast.AST) -> set[str]:
    """The names that a statement gives a value, without what is inside functions."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    nodes = [n for n in ast.walk(statement) if not isinstance(n, ast.comprehension)]
    names = {
        alias.asname or alias.name for alias in nodes if isinstance(alias, ast.alias)
    }
    return names | {
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def reads(body: list[ast.stmt], known: set[str] | None = None) -> set[str]:
    """The names that some statements need from above, in their order."""
    known, found = known or set(), set()
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            first = [*statement.decorator_list, *getattr(statement, "bases", [])]
            if isinstance(statement, ast.FunctionDef):
                first += [statement.args]
            found |= set().union(*map(loads, first)) - known
            given = {n.arg for n in ast.walk(statement) if isinstance(n, ast.arg)}
            inside = given.union(*map(gives, statement.body), {statement.name})
            found |= reads(statement.body, known | inside)
        elif isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
            if isinstance(statement, ast.For):
                found |= loads(statement.iter) - known
                known |= gives(statement.target)
            elif isinstance(statement, ast.With):
                found |= set().union(*map(loads, statement.items)) - known
                known = known.union(*map(gives, statement.items))
            elif not isinstance(statement, ast.Try):
                found |= loads(statement.test) - known
            for part in ("body", "handlers", "orelse", "finalbody"):
                for line in getattr(statement, part, []):
                    lines = line.body if isinstance(line, ast.ExceptHandler) else [line]
                    found |= reads(lines, known)
                    known = known.union(*map(gives, lines))
        else:
            found |= loads(statement) - known
        known |= gives(statement)
    return found


def loads(node: ast.AST) -> set[str]:
    """The names in an expression that it does not bind itself."""
    every = list(ast.walk(node))
    own = {n.arg for n in every if isinstance(n, ast.arg)}
    own = own.union(
        *(gives(n.target) for n in every if isinstance(n, ast.comprehension))
    )
    changed = isinstance(node, ast.AugAssign)
    return {
        n.id
        for n in every
        if isinstance(n, ast.Name) and (changed or isinstance(n.ctx, ast.Load))
    } - own


def touches(body: list[ast.stmt], modules: set[str]) -> set[str]:
    """The names to which a cell gives a value, or whose value it may change."""
    found = set().union(*map(gives, body))
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= root(node.func) - (modules - SEEDS.get(node.func.attr, set()))
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            found |= root(node)
    return found


def rests_on(above: list[str], below: list[str]) -> list[str]:
    """Of the cells above those that the ones below need, by way of others too."""
    bodies = [ast.parse(source).body for source in above]
    imports = (ast.Import, ast.ImportFrom)
    modules = set().union(
        *(gives(line) for body in bodies for line in body if isinstance(line, imports))
    )
    needed = reads(ast.parse("\n".join(below)).body)
    kept = []
    for source, body in zip(reversed(above), reversed(bodies), strict=True):
        if needed & touches(body, modules):
            kept.append(source)
            anew = (ast.Assign, ast.FunctionDef, ast.ClassDef, *imports)
            needed = needed.difference(
                *(gives(line) for line in body if isinstance(line, anew))
            )
            needed |= reads(body)
    return kept[::-1]


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


def fails(source: str, names: dict[str, Any]) -> bool:
    """Run a cell; whether it raises."""
    try:
        exec(compile(source, "<cell>", "exec"), names)
    except Exception:
        return True
    return False


def is_answer(cell: dict[str, Any]) -> bool:
    """Whether the student's edition has a stub in its place."""
    return any(tag.startswith("solution-") for tag in cell["metadata"].get("tags", []))


def is_check(cell: dict[str, Any]) -> bool:
    """Whether it must fail without an answer."""
    return any(tag.startswith("check-") for tag in cell["metadata"].get("tags", []))


@pytest.mark.parametrize(
    "page", BOOK.notebooks, ids=lambda page: page.name.removeprefix("book/")
)
def test_checks_tell_right_from_wrong(page: Page) -> None:
    """They fail without an answer and with zeros, and pass with the book's."""
    author, student = (
        [cell for cell in edition["cells"] if cell["cell_type"] == "code"]
        for edition in (
            json.loads(page.path.read_bytes()),
            editions.both(page)["student"],
        )
    )
    first = next(i for i, cell in enumerate(author) if is_answer(cell))
    above = ["".join(cell["source"]) for cell in author[:first]]
    right = author[first:]
    zeros = [
        cell | {"source": nothing_but_zeros("".join(cell["source"]))}
        if is_answer(cell)
        else cell
        for cell in right
    ]
    assert all(cell["source"] for cell in zeros)
    names: dict[str, Any] = {"__name__": "__main__"}
    with at_home(page):
        for source in rests_on(above, ["".join(cell["source"]) for cell in right]):
            exec(compile(source, "<cell>", "exec"), names)
        for answers, wrong in ((student[-len(right) :], 1), (zeros, 1), (right, 0)):
            for cell in answers:
                source = "".join(cell["source"])
                assert fails(source, names) == (wrong and is_check(cell)), source


def test_it_would_notice() -> None:
    """It sees errors at all, and what a cell above is needed for."""
    assert fails("assert undefined_name", {})
    cells = ["import a", "x = a.b()", "y = a.b()", "z = 2", "x[0] = z", "f(x)", "x.g()"]
    needed = [cell for cell in cells if cell not in ("y = a.b()", "f(x)")]
    assert rests_on(cells, ["print(x)"]) == needed
