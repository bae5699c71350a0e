"""Which cells above do some cells rest on? Compiled and looked at, nothing is run.

    cell_dependencies(above, below)    what the sources `below` need of those above

So an exercise is tested in a second, without the figures and the explorers of its
chapter.
"""

import ast
import dis
from types import CodeType

SEEDS = {"manual_seed": {"torch"}}  # calls that change a module
IMPORTS = (ast.Import, ast.ImportFrom)
ANEW = (ast.Assign, ast.FunctionDef, ast.ClassDef, *IMPORTS)


def compiled(body: list[ast.stmt]) -> CodeType:
    """Some statements, as Python runs them."""
    return compile(ast.Module(body, []), "<cell>", "exec")


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


def touches(body: list[ast.stmt], modules: set[str]) -> set[str]:
    """The names to which a cell gives a value, or whose value it may change."""
    found = set(gives(body))
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= root(node.func) - (modules - SEEDS.get(node.func.attr, set()))
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            found |= root(node)
    return found


def cell_dependencies(above: list[str], below: list[str]) -> list[str]:
    """Of the cells above those that the ones below need, by way of others too."""
    bodies = [ast.parse(source).body for source in above]
    lines = [line for body in bodies for line in body]
    modules = set(gives([line for line in lines if isinstance(line, IMPORTS)]))
    needed = reads(compiled(ast.parse("\n".join(below)).body))
    kept = []
    for source, body in zip(reversed(above), reversed(bodies), strict=True):
        if needed & touches(body, modules):
            kept.append(source)
            needed -= {*gives([line for line in body if isinstance(line, ANEW)])}
            needed |= reads(compiled(body))
    return kept[::-1]
