"""Execute notebooks in place and keep only what is the same on every machine.

    python tools/execute.py book/sinusoidal/formula.ipynb ...

A file is written only if it changes. A cell that fails, or that prints a
warning, leaves its notebook as it was. The figure of the cell tagged ``cover``
is stored once more as book/_static/cover.svg, for the README and the index.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

COVER = Path(__file__).parents[1] / "book/_static/cover.svg"
CELL_METADATA = {"tags", "mystnb", "checked"}
NOTEBOOK_METADATA = {
    "kernelspec": {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def execute(path: Path) -> None:
    """Execute one notebook in its own folder, as nbval does, and store it."""
    old = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(old, as_version=4)
    normalise(notebook)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,
        record_timing=False,
    )
    client.execute()
    normalise(notebook)
    nbformat.validate(notebook)
    refuse_warnings(path, notebook)
    new = nbformat.writes(notebook) + "\n"
    if new != old:
        path.write_text(new, encoding="utf-8")
    for cell in notebook.cells:
        if "cover" in cell.metadata.get("tags", []):
            COVER.write_text(cell.outputs[0].data["image/svg+xml"], encoding="utf-8")
    print(f"{path}: {'written' if new != old else 'unchanged'}")


def normalise(notebook: NotebookNode) -> None:
    """Drop what depends on the editor, the kernel or the machine."""
    notebook.metadata = NotebookNode(NOTEBOOK_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in CELL_METADATA & set(cell.metadata)}
        cell.metadata = NotebookNode(kept)


def refuse_warnings(path: Path, notebook: NotebookNode) -> None:
    """Raise if a cell wrote to stderr: a warning is an error here."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise SystemExit(f"{path}: a cell wrote to stderr:\n{output.text}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        execute(Path(name))
