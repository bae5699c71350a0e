"""The losses that *A transformer, whole* shows, kept.

    python -m evidence.whole

It runs the page's own cells, trains each encoding once, and keeps the loss by position,
eight positions a number. The page trains again, and asserts that it comes near.
"""

import contextlib
import time
from typing import Any

from evidence import ROOT
from manuscript import read_page
from pe_lib.experiments import matrices

PAGE = ROOT / "book/beyond/transformer.ipynb"
KEPT = "data/transformer.csv"
COMMAND = "python -m evidence.whole"
TOLERANCE = "0.15 bits within the trained length"
SETTINGS = {"run": {"STEPS": 1000, "SEED": 0, "LENGTH": 32, "FAR": 128}}


def cells_before_the_run() -> dict[str, Any]:
    """The names that the page has when it begins to train."""
    cells = read_page(PAGE.stem, PAGE).cells
    names: dict[str, Any] = {}
    with contextlib.chdir(PAGE.parent):
        for cell in cells[: [cell.id for cell in cells].index("run")]:
            if cell.kind == "code" and cell.id != "flow":  # a drawing
                exec(cell.source, names)
    return names


def main() -> None:
    """Train as the page does, and keep the losses."""
    began, page = time.process_time(), cells_before_the_run()
    found = {}
    for name, encoding in page["encodings"]().items():
        reach = page["LENGTH"] if name == "learned" else page["FAR"]
        loss = page["by_position"](page["trained"](encoding), reach)
        found[name] = loss.view(1, -1, 8).mean(2)
    made = {"command": COMMAND, "settings": SETTINGS, "tolerance": TOLERANCE}
    seconds = time.process_time() - began
    matrices.save(found, PAGE.parent / KEPT, seconds=seconds, **made)


if __name__ == "__main__":
    main()
