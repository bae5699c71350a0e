"""What a change since the last commit can touch.

Comments and docstrings touch nothing but their file. Any other change in a module
touches all that import it, also through others; in a script or in data, what names it.
One in the library touches only those of them that name what is new there.
"""

import ast
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import nbformat

from manuscript import read_page

ROOT = Path(__file__).parents[1]
NAMED = [
    *ROOT.glob("book/*/data/**/*.*"),
    *(
        file
        for room in ("benchmarks", "course", "pe_lib", "tests", "website")
        for file in ROOT.glob(f"{room}/**/*.*")
        if file.suffix in (".css", ".html", ".js", ".json", ".txt", ".yml")
    ),
]
"""What a module, a notebook or a script uses where it has the file's name."""

LIBRARY = ROOT / "pe_lib"


def differing() -> set[Path]:
    """The files that differ from the last commit, new and deleted ones too."""
    listed = git("diff", "--name-only", "HEAD")
    listed += git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in listed.splitlines()}


def touching() -> set[Path]:
    """Those of them whose change can be felt elsewhere."""
    return {path for path in differing() if path.suffix != ".py" or acts_anew(path)}


def acts_anew(path: Path) -> bool:
    """Whether a module does something else than at the last commit."""
    if is_new_or_gone(path):
        return True
    return acts(committed(path)) != acts(path.read_text(encoding="utf-8"))


def computes_anew(path: Path) -> bool:
    """Whether a notebook has other code than at the last commit."""
    if is_new_or_gone(path):
        return True
    cells = nbformat.reads(committed(path), as_version=4).cells
    return [c.source for c in cells if c.cell_type == "code"] != sources(path)


def is_new_or_gone(path: Path) -> bool:
    """Whether the last commit or the folder lacks a file."""
    name = path.relative_to(ROOT).as_posix()
    return not path.exists() or not git("ls-tree", "HEAD", name)


def committed(path: Path) -> str:
    """A file as it is in the last commit."""
    return git("show", f"HEAD:{path.relative_to(ROOT).as_posix()}")


def acts(source: str) -> str:
    """What Python runs of a module."""
    return ast.dump(bare(source))


def bare(source: str) -> ast.Module:
    """A module without what does nothing: comments and strings by themselves."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [line for line in body if not is_constant(line)]
    return tree


def is_constant(line: ast.stmt) -> bool:
    """A docstring, or another value that nothing is done with."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def changed_notebooks() -> list[Path]:
    """The notebooks that differ, or rest on a change that can be felt."""
    differ = touching()
    pages = sorted(ROOT.glob("book/[a-z]*/[a-z]*.ipynb"))
    pages = [path for path in pages if not path.name.endswith(".failed.ipynb")]
    return [path for path in pages if path in differ or rests_on(path, differ)]


def rests_on(path: Path, differ: set[Path]) -> bool:
    """Whether it imports or reads what differs; of the library, what is new in it."""
    files = {path, *file_dependencies(path)}
    library = {file for file in files if file.is_relative_to(LIBRARY)}
    if not differ & files <= library:
        return True
    new = new_names(frozenset(differ & library))
    names = {name for file, name in new if file in files}
    return any(names & said(file) for file in files - library)


@cache
def new_names(differ: frozenset[Path]) -> set[tuple[Path, str]]:
    """What the library defines otherwise in these files, or by what they define so."""
    found = {(path, path.name) for path in differ}  # as classes name scripts
    for path in (path for path in differ if path.suffix == ".py"):
        old = {} if is_new_or_gone(path) else definitions(committed(path))
        new = definitions(path.read_text(encoding="utf-8") if path.exists() else "")
        other = {name for name in old | new if old.get(name) != new.get(name)}
        found |= {(path, name) for name in (old | new if "" in other else other)}
    before = set[tuple[Path, str]]()
    while before != found:
        before = {*found}
        for path in LIBRARY.rglob("*.py"):
            its = definitions("".join(sources(path)))
            near = {path, *file_dependencies(path)}
            names = {name for file, name in found if file in near}
            users = {name for name, (_, says) in its.items() if says & names}
            found |= {(path, name) for name in (its if "" in users else users)}
    return found


@cache
def said(path: Path) -> set[str]:
    """What a notebook or a module says."""
    return said_in(parsed(path))


@cache
def definitions(source: str) -> dict[str, tuple[str, set[str]]]:
    """How a module defines each name, and what it says there; the rest is under ""."""
    found = defaultdict[str, list[ast.AST]](list)
    for node in bare(source).body:
        for part in node.body if isinstance(node, ast.With) else [node]:
            if isinstance(part, ast.Import | ast.ImportFrom):
                origin = ast.Constant(getattr(part, "module", ""))
                for alias in part.names:
                    found[alias.asname or alias.name] += [alias, origin]
            elif isinstance(part, ast.FunctionDef | ast.ClassDef):
                found[part.name].append(part)
            else:
                for name in stored_in(part) or {""}:
                    found[name].append(part)
    return {
        name: (
            "".join(map(ast.dump, parts)),
            said_in(node for part in parts for node in ast.walk(part)),
        )
        for name, parts in found.items()
    }


@cache
def file_dependencies(path: Path) -> set[Path]:
    """The files that a notebook or a module imports or reads, and that these do.

    Of a package that hands a name on its list of them, not the others that it has.
    """
    found, waiting = set[Path](), uses(path)
    while waiting:
        found |= waiting
        waiting = set().union(*map(uses, waiting)) - found
    packages = {folder / "__init__.py" for file in found for folder in file.parents}
    return found | {file for file in packages if file.is_file()}


@cache
def uses(path: Path) -> set[Path]:
    """What it imports, and the scripts and data that it names."""
    text = "\n".join(sources(path))
    return imports(path) | {file for file in NAMED if file.name in text} - {path}


@cache
def imports(path: Path) -> set[Path]:
    """The files to which its import statements lead."""
    found: set[Path | None] = set()
    for node in parsed(path):
        if isinstance(node, ast.Import):
            found |= {module(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                within = module(f"{node.module}.{alias.name}")
                found.add(within or module(node.module or ""))
    return {file for file in found if file is not None}


@cache
def parsed(path: Path) -> list[ast.AST]:
    """Its Python, piece by piece."""
    texts = sources(path) if path.suffix in (".py", ".ipynb") else []
    return [node for text in texts for node in ast.walk(ast.parse(text))]


@cache
def sources(path: Path) -> list[str]:
    """The text of a module or a script, or of the code cells of a notebook."""
    if path.suffix not in (".py", ".js", ".ipynb"):
        return []
    if path.suffix != ".ipynb":
        return [path.read_text(encoding="utf-8")]
    return [cell.source for cell in read_page(path.stem, path).code_cells]


@cache
def module(name: str) -> Path | None:
    """The file of a module of ours."""
    stem = ROOT / name.replace(".", "/")
    files = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def said_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names in code, and its strings: what is defined may be meant by either."""
    return {
        word
        for node in nodes
        for field in ("id", "attr", "name", "value")
        if isinstance(word := getattr(node, field, None), str)
    }


def stored_in(statement: ast.stmt) -> set[str]:
    """The names to which a module gives a value there."""
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return {target.id for target in targets if isinstance(target, ast.Name)}


def git(*words: str) -> str:
    """What git prints."""
    git = ["git", *words]
    return subprocess.check_output(git, cwd=ROOT, text=True)
