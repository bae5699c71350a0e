"""What a lecturer says of the course: ``mine.yml``, which has a word for each line.

    read().assignments
    loaded("exam.yml")    what another file beside it says

What is empty there is as the book has it. What the file cannot say is refused by name,
an exercise once chapters are chosen.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import yaml

from manuscript import Page

HERE = Path(__file__).parent
Points = int | list[int] | None
EMPTY: tuple[Any, ...] = (None, "", [], {})
KINDS: dict[Any, tuple[Any, str]] = {  # of a field: what a file has there, and its name
    str: (str, "text"),
    float: (int | float, "a number"),
    tuple: (list, "a list"),
    Mapping: (dict, "names, each with what belongs to it"),
}


@dataclass(frozen=True)
class Mine:
    """All of it, and how the book has it."""

    about: str = ""
    assignments: Mapping[str, Mapping[str, Points]] = field(default_factory=dict)
    plans: tuple[str, ...] = ()


def names(page: Page) -> set[str]:
    """What a lecturer may call a page: failures/counting, counting, or by its part."""
    return {page.name.removeprefix("book/"), *page.name.split("/")[1:]}


def refuse_unknown(
    where: str, what: str, said: Iterable[Any], known: Collection[str]
) -> None:
    """Say which names are not there, and which are."""
    if unknown := sorted(map(str, {*said} - {*known})):
        raise SystemExit(
            f"{where}: there is no {what} {', '.join(unknown)}. Try: {sorted(known)}"
        )


def need(where: str, it: Any, kind: Any, wanted: str) -> None:
    """Say what something must be, and what came."""
    if it in EMPTY or not isinstance(it, kind):
        came = "nothing" if it in EMPTY else it
        raise SystemExit(f"{where} must be {wanted}; got {came}")


def words(where: str, said: Any, of: type[Any], **ours: Any) -> dict[str, Any]:
    """What is said of each field of a class that is not ours, but for what is empty."""
    if said not in EMPTY:
        need(where, said, dict, "lines of the form word: ...")
    given = {word: it for word, it in (said or {}).items() if it not in EMPTY}
    theirs = [one for one in fields(of) if one.name not in ours]
    refuse_unknown(where, "word", given, [one.name for one in theirs])
    for one in theirs:
        it = given.get(one.name)
        if it is not None or one.default is one.default_factory is MISSING:
            need(f"{where}, {one.name}", it, *KINDS[get_origin(one.type) or one.type])
        if isinstance(it, list):
            given[one.name] = tuple(it)
    return given | ours


@cache
def loaded(name: str) -> Any:
    """What a file in this folder says, or anywhere."""
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@cache
def read(name: str = "mine.yml") -> Mine:
    """What the file says."""
    said = words(name, loaded(name), Mine)
    for label, asked in said.get("assignments", {}).items():
        wanted = "exercises with their points, such as {ex-who-wins: 2}"
        need(f"{name}, assignments, {label}", asked, dict, wanted)
    return Mine(**said)
