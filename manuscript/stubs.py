"""What a student finds in the place of an answer, and around a check.

    stub(label, solution, check)      signatures, docstrings, "your code here"
    reported(label, points, ...)      a check that reports, and goes on
    in_view(check)                    what of a check a grader shows
    REPORTER                          the cell that such a check needs above it

All of it is plain Python, as the student reads it.
"""

import ast
import re
import textwrap

from manuscript.dependencies import IMPORTS, gives, needs, parsed

HERE = "your code here"
MINUTES = re.compile(r"(\d+) minutes?$")
REPORTER = '''\
# Runs a check, says what came of it, and goes on to the next cell.
from contextlib import contextmanager

@contextmanager
def exercise(label, points, *names):
    """Report pass or fail, the points, and a hint."""
    got = 0
    try:
        yield
        got, hint = points, "right"
    except NotImplementedError as problem:
        hint = f"not answered yet: {problem}"
    except Exception as problem:
        unset = [n for n in names if globals().get(n, ...) is ...]
        kind = type(problem).__name__
        if unset:
            hint = f"not answered yet: {', '.join(unset)}"
        elif kind == "AssertionError":
            hint = problem
        else:
            hint = f"as the check uses your answer, {kind}: {problem}"
            given = {n: globals()[n] for n in names if n != "because"}
            if "NoneType" in hint and any(map(callable, given.values())):
                hint += "; a function without return gives None"
            for name in (n for n in given if not callable(given[n])):
                hint += f"; {name} is {given[name]!r:.40}"
    exercise.scores[label] = got
    print(f"{'✓' if got else '✗'} {label}, {got} of {points} points:",
          hint)

exercise.scores = {}
'''
TOTAL = 'print(sum(exercise.scores.values()), "of {points} points so far")'


def points(title: str) -> int:
    """What an exercise is worth: a point for each minute that its title gives it."""
    found = MINUTES.search(title)
    if found is None:
        raise ValueError(f"{title!r} must end with its minutes, as in '5 minutes'")
    return int(found[1])


def stub(label: str, solution: str, check: str) -> str:
    """The names that the check asks for and does not set itself, without values."""
    wanted = checked_names(solution, check)
    kinds = ast.FunctionDef, ast.ClassDef
    bodies = {n.name: n for n in ast.parse(solution).body if isinstance(n, kinds)}
    lines = [f"# Your answer to {label}"]
    for name in wanted:
        lines += ["", *_without_body(bodies[name])] if name in bodies else []
    lines += [f"{name} = ...  # {HERE}" for name in wanted if name not in bodies]
    return "\n".join(lines if wanted else [*lines, f"# {HERE}"])


def reported(label: str, worth: int, names: list[str], check: str) -> str:
    """A check that says what came of it; its own lines stay as they are."""
    arguments = ", ".join([f'"{label}"', str(worth), *(f'"{n}"' for n in names)])
    head = f"with exercise({arguments}):"
    if len(head) > 72:
        head = f"with exercise(\n        {arguments}):"
    return f"{head}\n{textwrap.indent(check, '    ')}"


def in_view(check: str) -> str:
    """The assertions with which a check begins: the form of an answer, an example."""
    body = ast.parse(check).body
    rest = next(node for node in body if not isinstance(node, ast.Assert))
    return "\n".join(check.splitlines()[: rest.lineno - 1]).rstrip()


def checked_names(solution: str, check: str) -> list[str]:
    """The names of a solution that its check uses; what it imports is none."""
    body = [line for line in parsed(solution) if not isinstance(line, IMPORTS)]
    return [name for name in gives(body) if name in needs(check)]


def _without_body(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    doc = ast.get_docstring(node, clean=False)
    docstring = [f'    """{doc}"""'] if doc else []
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        head = f"class {node.name}({bases}):" if bases else f"class {node.name}:"
        return [head, *docstring, f"    ...  # {HERE}"]
    refusal = f'    raise NotImplementedError("{node.name}: {HERE}")'
    return [f"def {node.name}({ast.unparse(node.args)}):", *docstring, refusal]
