"""Execute notebooks in place and keep only what is the same on every machine.

    python -m tools.execute book/sinusoidal/formula.ipynb ...
    python -m tools.execute                    those that a change touches

A file is written only if it changes. It prints which stored outputs changed; where the
notebook's own code did not, they stay as they were unless the variable ACCEPT is 1.
A notebook that fails, or that prints a warning, stays as it was; beside it lies
``<name>.failed.ipynb``, as far as it came.

The figure of the cell tagged ``cover`` is also stored as website/static/cover.svg, for
the README and the index.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools import arithmetic
from tools.changes import ROOT, changed_notebooks, computes_anew

COVER = ROOT / "website/static/cover.svg"
SECONDS = 1200
CELL_METADATA = {"tags", "mystnb", "checked"}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PAGE_METADATA = {"description"}  # one sentence: what one finds on the page
NOTEBOOK_METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}


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
                failure = f"{error.ename}: {error.evalue}"
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
    different = differing_outputs(nbformat.reads(old, as_version=4), notebook)
    for number in different:
        print(f"{path}: the output of its code cell {number} changed", flush=True)
    if (
        different
        and not computes_anew(path.resolve())
        and os.environ.get("ACCEPT") != "1"
    ):
        nbformat.write(notebook, failed)
        return "its outputs changed, its code did not; to store them: ACCEPT=1"
    new = nbformat.writes(notebook) + "\n"
    if new != old:
        path.write_text(new, encoding="utf-8")
    for cell in notebook.cells:
        if "cover" in cell.metadata.get("tags", []):
            COVER.write_text(cell.outputs[0].data["image/svg+xml"], encoding="utf-8")
    print(f"{path}: {'written' if new != old else 'unchanged'}", flush=True)
    return ""


def differing_outputs(old: NotebookNode, new: NotebookNode) -> list[int]:
    """The numbers of the code cells that give something else than is stored."""
    before, after = (
        [
            [{**output, "execution_count": None} for output in cell.outputs]
            for cell in notebook.cells
            if cell.cell_type == "code"
        ]
        for notebook in (old, new)
    )
    pairs = enumerate(zip(before, after, strict=True), 1)
    return [number for number, (one, other) in pairs if one != other]


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


def main() -> int:
    """Execute what is named; the others also if one fails."""
    paths = [Path(name) for name in sys.argv[1:]] or changed_notebooks()
    arithmetic.pin(arithmetic.DRAWN)
    failures = {path: failure for path in paths if (failure := execute(path))}
    for path, failure in failures.items():
        print(f"\n{path} failed, see {path.stem}.failed.ipynb\n{failure}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
