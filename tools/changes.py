"""What a change since the last commit can touch.

Comments and docstrings touch nothing but their file. Any other change in a module
touches all that import it, also through others; in a script or in data, what names it.
"""

import ast
import subprocess
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
    """What Python runs of a module: comments and strings by themselves do nothing."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [line for line in body if not is_constant(line)]
    return ast.dump(tree)


def is_constant(line: ast.stmt) -> bool:
    """A docstring, or another value that nothing is done with."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def changed_notebooks() -> list[Path]:
    """The notebooks that differ, or rest on a file whose change can be felt."""
    differ = touching()
    pages = sorted(ROOT.glob("book/[a-z]*/[a-z]*.ipynb"))
    pages = [path for path in pages if not path.name.endswith(".failed.ipynb")]
    return [
        path for path in pages if path in differ or differ & file_dependencies(path)
    ]


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
                found |= origins(path, node.module or "", alias)
    return {file for file in found if file is not None}


def origins(path: Path, package: str, alias: ast.alias) -> set[Path | None]:
    """Where a name comes from; of a package used as `package.name`, these names."""
    file = origin(package, alias.name)
    if file is None or file.name != "__init__.py":
        return {file}
    name = alias.asname or alias.name
    dotted = [
        node.attr
        for node in parsed(path)
        if isinstance(node, ast.Attribute) and is_name(node.value, name)
    ]
    if len(dotted) < sum(is_name(node, name) for node in parsed(path)):
        return {file}  # handed on whole
    return {origin(f"{package}.{alias.name}", word) for word in dotted}


def is_name(node: ast.AST, name: str) -> bool:
    """Whether this is that name."""
    return isinstance(node, ast.Name) and node.id == name


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


@cache
def origin(package: str, name: str) -> Path | None:
    """The file that defines a name: a package hands on what it imports."""
    file = module(package)
    if (itself := module(f"{package}.{name}")) or file is None:
        return itself
    for node in parsed(file) if file.name == "__init__.py" else ():
        if isinstance(node, ast.ImportFrom):
            handed_on = {alias.name: node.module or "" for alias in node.names}
            if name in handed_on:
                return origin(handed_on[name], name)
    return file


def git(*words: str) -> str:
    """What git prints."""
    git = ["git", *words]
    return subprocess.check_output(git, cwd=ROOT, text=True)
