"""Slips in a chapter's code that no other linter knows, found by its syntax tree.

All are checks that seem to check more than they do: a loop's variable used after
the loop is its last value only, and a comparison that never saw a computed value
cannot fail.
"""

import ast
from collections.abc import Iterator


def slips(source: str) -> list[str]:
    """What is wrong with a cell, one line each."""
    tree = ast.parse(source)
    return [*_after_the_loop(tree.body), *_empty_asserts(tree)]


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, context)
    }


def _after_the_loop(body: list[ast.stmt]) -> Iterator[str]:
    """A variable of a loop at the top level of the cell, read further down."""
    looped: dict[str, int] = {}
    rewritten: dict[str, int] = {}  # by every pass of a loop, and not known before it
    known: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assert):
            for name in sorted(_free(statement) & set(rewritten)):
                yield (
                    f"line {statement.lineno}: asserts {name!r} of the last pass "
                    f"of the loop in line {rewritten[name]}"
                )
        if isinstance(statement, ast.For):
            inside = _names(statement.iter, ast.Load)
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            inside = set()  # its names are its own
        else:
            inside = _free(statement)
        for name in sorted(inside & set(looped)):
            yield (
                f"line {statement.lineno}: {name!r} is the last value "
                f"of the loop in line {looped[name]}"
            )
        stored = _names(statement, ast.Store)
        for name in stored:
            looped.pop(name, None)
            rewritten.pop(name, None)
        if isinstance(statement, ast.For):
            targets = _names(statement.target, ast.Store)
            looped |= dict.fromkeys(targets, statement.lineno)
            fresh = stored - targets - known
            rewritten |= dict.fromkeys(fresh, statement.lineno)
        known |= stored


def _free(statement: ast.stmt) -> set[str]:
    """The names that a statement reads from outside of it."""
    bound: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.comprehension):
            bound |= _names(node.target, ast.Store)
        elif isinstance(node, ast.Lambda):
            bound |= {argument.arg for argument in node.args.args}
        elif isinstance(node, ast.For):
            bound |= _names(node.target, ast.Store)
    return _names(statement, ast.Load) - bound


def _empty_asserts(tree: ast.Module) -> Iterator[str]:
    given = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _constant(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):  # a name that is computed somewhere is not given
        if isinstance(node, ast.Assign) and not _constant(node.value):
            given -= set().union(*(_names(t, ast.Store) for t in node.targets))
        elif isinstance(node, (ast.AugAssign, ast.For, ast.comprehension)):
            given -= _names(node.target, ast.Store)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        where = f"line {node.lineno}: "
        if not _names(node.test, ast.Load):
            yield where + "this assertion is about constants only"
        if not isinstance(node.test, ast.Compare):
            continue
        sides = [node.test.left, *node.test.comparators]
        if len({ast.dump(side) for side in sides}) < len(sides):
            yield where + "two sides are the same expression"
        names = {side.id for side in sides if isinstance(side, ast.Name)}
        if all(
            _constant(side) or (isinstance(side, ast.Name) and side.id in given)
            for side in sides
        ):
            for name in sorted(names):
                yield where + f"{name!r} is what this cell says it is"


def _constant(node: ast.expr) -> bool:
    """Whether an expression is made of literals alone."""
    return not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))
