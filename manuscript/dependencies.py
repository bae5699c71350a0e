"""Which cells above do some cells rest on? Compiled and looked at, nothing is run.

    cell_dependencies(above, below)    what the sources `below` need of those above

So an exercise is tested in a second, without the figures and the explorers of its
chapter.
"""

import ast
import dis
from functools import cache
from types import CodeType

SEEDS = {"manual_seed": {"torch"}}  # calls that change a module
IMPORTS = (ast.Import, ast.ImportFrom)
ANEW = (ast.Assign, ast.FunctionDef, ast.ClassDef, *IMPORTS)


def compiled(body: list[ast.stmt]) -> CodeType:
    """Some statements, as Python runs them."""
    return compile(ast.Module(body, []), "<cell>", "exec")


@cache
def parsed(source: str) -> list[ast.stmt]:
    """The statements of a cell: one page asks for them a hundred times."""
    return ast.parse(source).body


def gives(body: list[ast.stmt]) -> list[str]:
    """The names that they give a value, in order, without what is inside functions."""
    steps = dis.get_instructions(compiled(body))
    named = [step.argval for step in steps if step.opname == "STORE_NAME"]
    return list(dict.fromkeys(named))


def reads(code: CodeType) -> set[str]:
    """The names that some code needs from above; functions run when all is there."""
    known: set[str] = set()
    found, later = set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            known.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            found |= {step.argval} - known
        elif isinstance(step.argval, CodeType):
            later |= reads(step.argval)
    return found | (later - known)


def root(node: ast.AST) -> set[str]:
    """The name at the front of a dotted or indexed expression."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


@cache
def given(source: str, *kinds: type[ast.stmt]) -> set[str]:
    """The names to which statements of these kinds in a cell give a value."""
    return {*gives([line for line in parsed(source) if isinstance(line, kinds)])}


@cache
def needs(source: str) -> set[str]:
    """The names that a cell needs from above."""
    return reads(compiled(parsed(source)))


@cache
def touches(source: str, modules: frozenset[str]) -> set[str]:
    """The names to which a cell gives a value, or whose value it may change."""
    found = {*gives(parsed(source))}
    for node in ast.walk(ast.Module(parsed(source), [])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= root(node.func) - (modules - SEEDS.get(node.func.attr, set()))
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            found |= root(node)
    return found


def cell_dependencies(above: list[str], below: list[str]) -> list[str]:
    """Of the cells above those that the ones below need, by way of others too."""
    modules = frozenset[str]().union(*(given(source, *IMPORTS) for source in above))
    needed = needs("\n".join(below))
    kept = []
    for source in reversed(above):
        if needed & touches(source, modules):
            kept.append(source)
            needed = needed - given(source, *ANEW) | needs(source)
    return kept[::-1]
