"""What a page that runs must know of its exercises.

    exercises(page)     label, where its cells are, stub, names to set, hints

The reader's answer is run in the place of the solution, after the cells above it, and
then the check. A message of the check that a collected wrong answer gets brings what
was thought there, and the figure that clears it up.
"""

import os
import re
from typing import Any

from website import manuscript, stubs, wrong_answers

Hint = dict[str, Any]
LEVEL = re.compile(r"(?<=[.?!]) (?:Predict|Modify|Build|Prove), \d+ minutes$")


def exercises(page: manuscript.Page) -> list[dict[str, Any]]:
    """Those of a page that have a check, in order."""
    found = wrong_answers.collected()
    places = {
        tag: number
        for number, cell in enumerate(page.code_cells)
        for tag in cell.tagged("")
    }
    listed = []
    for exercise in page.exercises:
        label = exercise.label
        solution, check = (places.get(f"{k}-{label}") for k in ("solution", "check"))
        if solution is None or check is None:
            continue
        texts = [page.code_cells[place].source for place in (solution, check)]
        listed.append(
            {
                "label": label,
                "title": manuscript.plain(LEVEL.sub("", exercise.title)),
                "solution": solution,
                "check": check,
                "stub": stubs.stub(label, *texts),
                "names": stubs.checked_names(*texts),
                "hints": hints(found[label]),
                "cure": cure(page, found[label].cure),
            }
        )
    return listed


def hints(collected: wrong_answers.Collected) -> list[Hint]:
    """Each message of a check, with the thoughts that lead to it."""
    thoughts: dict[str, list[str]] = {}
    for wrong in collected.wrong:
        thoughts.setdefault(wrong.hint, []).append(manuscript.plain(wrong.thinks))
    return [{"says": says, "thinks": all_} for says, all_ in thoughts.items()]


def cure(page: manuscript.Page, name: str) -> dict[str, str]:
    """The figure that helps: its address from the page, and where it is."""
    where, _ = manuscript.read().figures[name]
    if where.name == page.name:
        return {"href": f"#{name}", "on": ""}
    folder = os.path.dirname(page.name)  # noqa: PTH120 (a name, not a path)
    address = os.path.relpath(f"{where.name}.html", folder)
    return {"href": f"{address}#{name}", "on": manuscript.plain(where.title)}
