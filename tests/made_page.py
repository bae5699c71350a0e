"""A page of the book that a test makes up, in a line for each of its cells."""

from pathlib import Path

from manuscript import Cell, Page


def made_page(*parts: str | tuple, name: str = "book/part/a", folder: str = "") -> Page:
    """A notebook of text, and of code with tags, metadata and outputs."""
    cells: list[Cell] = []
    for part in parts:
        number = f"c{len(cells)}"
        if isinstance(part, str):
            cells.append(Cell(number, "markdown", part, {}))
            continue
        source, *more = part
        tags = [tag for x in more if isinstance(x, str) for tag in x.split()]
        told = [x for x in more if isinstance(x, dict)]
        outputs = tuple(x for x in told if {"data", "text"} & {*x})
        about = {key: x[key] for x in told if x not in outputs for key in x}
        count = sum(cell.kind == "code" for cell in cells) + 1
        metadata = about | ({"tags": tags} if tags else {})
        cells.append(Cell(number, "code", source, metadata, outputs, count))
    return Page(name, Path(folder, "a.ipynb"), tuple(cells))
