"""Slips in a chapter's code that no other linter knows, found by its syntax tree.

All are checks that seem to check more than they do: a loop's variable used after
the loop is its last value only, and a comparison that never saw a computed value
cannot fail.
"""

import ast
from collections.abc import Iterator

from manuscript.dependencies import compiled, gives, reads


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
    """What each pass of a loop at the top level of the cell sets, read further down.

    Its own variable anywhere, other names that it brings in assertions.
    """
    last: dict[str, tuple[int, bool]] = {}  # the line of the loop; its own?
    known: set[str] = set()
    for statement in body:
        asserts = isinstance(statement, ast.Assert)
        inside = isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        read = set() if inside else reads(compiled([statement]))
        for name in sorted(read & last.keys()):
            line, own = last[name]
            if own or asserts:
                yield (
                    f"line {statement.lineno}: {name!r} is of the last pass "
                    f"of the loop in line {line}"
                )
        stored = {*gives([statement])}
        last = {name: last[name] for name in last.keys() - stored}
        if isinstance(statement, ast.For):
            own = _names(statement.target, ast.Store)
            for name in own | (stored - known):
                last[name] = statement.lineno, name in own
        known |= stored


def _empty_asserts(tree: ast.Module) -> Iterator[str]:
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    given = {name for node in assigned for name in gives([node])}
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
        if all(_constant(side) for side in sides if not isinstance(side, ast.Name)):
            yield from (
                where + f"{name!r} is what this cell says it is"
                for name in sorted(names if names <= given else ())
            )


def _constant(node: ast.expr) -> bool:
    """Whether an expression is made of literals alone."""
    return not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))
