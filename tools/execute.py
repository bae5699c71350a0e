"""Execute notebooks in place and keep only what is the same on every machine.

    python tools/execute.py book/sinusoidal/formula.ipynb ...
    python tools/execute.py --changed          those that the last commit has not

A file is written only if it changes. A notebook that fails, or that prints a warning,
stays as it was; beside it lies ``<name>.failed.ipynb`` with what its failed assertion
compared. The figure of the cell tagged ``cover`` is also stored as
website/static/cover.svg, for the README and the index.
"""

import argparse
import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
COVER = ROOT / "website/static/cover.svg"
PATHS = ("", "book", "website", "tools", "course", "tests/lib", "tests/website")
"""Where the modules are that notebooks and tests import."""
SECONDS = 300
CELL_METADATA = {"tags", "mystnb", "checked"}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PAGE_METADATA = {"description"}  # one sentence: what one finds on the page
NOTEBOOK_METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
COMPARED = """\
import ast, linecache, sys
step, found = sys.last_value.__traceback__, ()
while step:
    frame, line, step = step.tb_frame, step.tb_lineno, step.tb_next
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno:
            found = frame, node.test
if found:
    frame, test = found
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    for side in sides:
        if not isinstance(side, ast.Constant):
            code = compile(ast.Expression(side), "assertion", "eval")
            print(ast.unparse(side), "is", eval(code, frame.f_globals, frame.f_locals))
"""


def execute(path: Path) -> str:
    """Execute one notebook in its own folder, as nbval does; return what failed."""
    old = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(old, as_version=4)
    normalise(notebook)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,
        record_timing=False,
    )
    failure = ""
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            try:
                client.execute_cell(cell, index)
            except CellExecutionError as error:
                failure = f"{error.ename}: {error.evalue}\n{compared(client, cell)}"
            except (CellTimeoutError, DeadKernelError) as error:
                failure = str(error)
            if failure:
                break
    failure = failure or warnings(notebook)
    normalise(notebook)
    failed = path.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    if failure:
        nbformat.write(notebook, failed)
        return failure
    nbformat.validate(notebook)
    new = nbformat.writes(notebook) + "\n"
    if new != old:
        path.write_text(new, encoding="utf-8")
    for cell in notebook.cells:
        if "cover" in cell.metadata.get("tags", []):
            COVER.write_text(cell.outputs[0].data["image/svg+xml"], encoding="utf-8")
    print(f"{path}: {'written' if new != old else 'unchanged'}", flush=True)
    return ""


def compared(client: NotebookClient, cell: NotebookNode) -> str:
    """The sides of a failed assertion, evaluated once more; the cell keeps them."""
    values = nbformat.v4.new_code_cell(COMPARED)
    try:
        client.execute_cell(values, 0)
    except CellExecutionError:
        return ""  # what failed is no assertion of a cell
    cell.outputs += values.outputs
    return "".join(output.text for output in values.outputs)


def normalise(notebook: NotebookNode) -> None:
    """Drop what depends on the editor, the kernel or the machine."""
    about = {
        key: notebook.metadata[key] for key in PAGE_METADATA & {*notebook.metadata}
    }
    notebook.metadata = NotebookNode(NOTEBOOK_METADATA | about)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in CELL_METADATA & set(cell.metadata)}
        cell.metadata = NotebookNode(kept)


def warnings(notebook: NotebookNode) -> str:
    """What cells wrote to stderr: a warning is an error here."""
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return "".join(o.text for o in outputs if o.get("name") == "stderr")


def differing() -> set[Path]:
    """The files that differ from HEAD, new ones too; scripts stand for their module."""
    found = set[Path]()
    for command in ("diff --name-only HEAD", "ls-files --others --exclude-standard"):
        git = ["git", *command.split()]
        done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True)
        found |= {ROOT / name for name in done.stdout.splitlines()}
    for path in [path for path in found if path.suffix in (".js", ".css")]:
        script = path.with_suffix(".py")  # of an explorer; else one that all share
        found |= {script} if script.exists() else {*path.parent.glob("*.py")}
    return found


def changed() -> list[Path]:
    """The notebooks that differ from HEAD, and those that import what differs."""
    differ = differing()
    pages = sorted(ROOT.glob("book/[a-z]*/[a-z]*.ipynb"))
    pages = [path for path in pages if not path.name.endswith(".failed.ipynb")]
    return [path for path in pages if path in differ or differ & rests_on(path)]


def rests_on(path: Path) -> set[Path]:
    """The files of the modules that a notebook imports, and that these import."""
    found, waiting = set[Path](), imports(path)
    while waiting:
        found |= waiting
        waiting = set().union(*map(imports, waiting)) - found
    return found


@cache
def imports(path: Path) -> set[Path]:
    """The files to which the import statements of a file lead."""
    sources = [path.read_text(encoding="utf-8")]
    if path.suffix == ".ipynb":
        cells = nbformat.reads(sources[0], as_version=4).cells
        sources = [cell.source for cell in cells if cell.cell_type == "code"]
    found: set[Path | None] = set()
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Import):
            found |= {module(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {origin(node.module or "", alias.name) for alias in node.names}
    return {file for file in found if file is not None}


def module(name: str) -> Path | None:
    """The file of a module of ours."""
    stem = name.replace(".", "/")
    ends = (".py", "/__init__.py")
    files = [ROOT / path / f"{stem}{end}" for path in PATHS for end in ends]
    return next((file for file in files if file.is_file()), None)


def origin(package: str, name: str) -> Path | None:
    """The file that defines a name: a package hands on what it imports."""
    file = module(package)
    if module(f"{package}.{name}") or file is None or file.name != "__init__.py":
        return module(f"{package}.{name}") or file
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:  # noqa: SIM102
            if any(name == (alias.asname or alias.name) for alias in node.names):
                return origin(node.module, name)
    return file


def main() -> int:
    """Execute what is named; the others also if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--changed", action="store_true", help="since the last commit")
    options = parser.parse_args()
    paths = options.notebooks + (changed() if options.changed else [])
    os.environ["OMP_NUM_THREADS"] = "1"
    failures = {path: failure for path in paths if (failure := execute(path))}
    for path, failure in failures.items():
        print(f"\n{path} failed, see {path.stem}.failed.ipynb\n{failure}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
