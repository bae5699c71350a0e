"""What a change since the last commit can touch.

Docstrings, comments, annotations and added definitions touch nothing but their file.
Any other change in a module touches all that import it, also through others.
"""

import ast
import subprocess
from functools import cache
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def differing() -> set[Path]:
    """The files that differ from the last commit, new and deleted ones too."""
    listed = git("diff", "--name-only", "HEAD")
    listed += git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in listed.splitlines()}


def touching() -> set[Path]:
    """Those of them whose change can be felt elsewhere."""
    return {path for path in differing() if path.suffix != ".py" or not only_adds(path)}


def touched_notebooks() -> list[Path]:
    """The notebooks that differ, or rest on a file whose change can be felt."""
    differ = touching()
    pages = sorted(ROOT.glob("book/[a-z]*/[a-z]*.ipynb"))
    pages = [path for path in pages if not path.name.endswith(".failed.ipynb")]
    return [path for path in pages if path in differ or differ & rests_on(path)]


def rests_on(path: Path) -> set[Path]:
    """The files that a notebook or a module imports or reads, and that these do."""
    found, waiting = set[Path](), uses(path)
    while waiting:
        found |= waiting
        waiting = set().union(*map(uses, waiting)) - found
    return found


@cache
def uses(path: Path) -> set[Path]:
    """What it imports, the data that it names, the scripts beside a module."""
    if path.suffix not in (".py", ".ipynb"):
        return set()
    text = path.read_text(encoding="utf-8")
    sources = [text]
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        sources = [cell.source for cell in cells if cell.cell_type == "code"]
    found = set[Path]().union(*map(imported, sources))
    for kind in ("js", "css", "html", "txt"):
        found |= {
            file for file in path.parent.glob(f"*.{kind}") if path.suffix == ".py"
        }
    data = path.parent.glob("data/*.*")
    return found | {f for f in data if any(f.name in source for source in sources)}


def imported(source: str) -> set[Path]:
    """The files of ours that it imports anywhere, but for the packages around them."""
    found: set[Path | None] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {module(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {origin(node.module or "", alias.name) for alias in node.names}
    return {file for file in found if file is not None}


def module(name: str) -> Path | None:
    """The file of a module of ours."""
    stem = ROOT / name.replace(".", "/")
    files = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def origin(package: str, name: str) -> Path | None:
    """The file that defines a name: a package hands on what it imports."""
    file = module(package)
    if (itself := module(f"{package}.{name}")) or file is None:
        return itself
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if file.name == "__init__.py" and isinstance(node, ast.ImportFrom):
            handed_on = {alias.name: node.module or "" for alias in node.names}
            if name in handed_on:
                return origin(handed_on[name], name)
    return file


def only_adds(path: Path) -> bool:
    """Whether a module does what it did, with definitions added at most."""
    name = path.relative_to(ROOT).as_posix()
    if not path.exists() or not git("ls-tree", "HEAD", name):
        return path.exists()  # a new one: what imports it has changed itself
    old, new = statements(git("show", f"HEAD:{name}")), statements(path.read_text())
    known = {getattr(node, "name", "") for node in old}
    for node in new:
        if old and ast.dump(node) == ast.dump(old[0]):
            old.pop(0)
        elif not isinstance(node, DEFINITIONS) or getattr(node, "name", None) in known:
            return False
    return not old


def statements(source: str) -> list[ast.stmt]:
    """What a module does, without docstrings, annotations and its list of names."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            node.body = [
                n
                for n in node.body
                if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
            ]
    return [node for node in tree.body if "id='__all__'" not in ast.dump(node)]


def git(*words: str) -> str:
    """What git prints."""
    git = ["git", *words]
    return subprocess.check_output(git, cwd=ROOT, text=True)
