"""Which cells above do some cells rest on? Found by their syntax trees, nothing is run.

    cell_dependencies(above, below)    what the sources `below` need of those above

So an exercise is tested in a second, without the figures and the explorers of its
chapter.
"""

import ast

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
    bound = {n.arg for n in every if isinstance(n, ast.arg)}
    bound = bound.union(
        *(gives(n.target) for n in every if isinstance(n, ast.comprehension))
    )
    changed = isinstance(node, ast.AugAssign)
    return {
        n.id
        for n in every
        if isinstance(n, ast.Name) and (changed or isinstance(n.ctx, ast.Load))
    } - bound


def touches(body: list[ast.stmt], modules: set[str]) -> set[str]:
    """The names to which a cell gives a value, or whose value it may change."""
    found = set().union(*map(gives, body))
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= root(node.func) - (modules - SEEDS.get(node.func.attr, set()))
        elif isinstance(getattr(node, "ctx", None), ast.Store):
            found |= root(node)
    return found


def cell_dependencies(above: list[str], below: list[str]) -> list[str]:
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
