"""What a lecturer says of the course: ``mine.yml``, which has a word for each line.

    read().lecturer

What the file cannot say is refused by name, a chapter once chapters are chosen.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

import yaml

from manuscript import Page

FILE = Path(__file__).with_suffix(".yml")
Points = int | tuple[int, int] | None


@dataclass(frozen=True)
class Mine:
    """All of it; without a file the course is as the book has it."""

    institution: str = ""
    lecturer: str = ""
    date: str = ""
    language: str = "en"
    line: str = ""
    assignments: Mapping[str, Mapping[str, Points]] = field(default_factory=dict)
    plans: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    exam: tuple[str, ...] = (
        *("problem/order_blindness", "failures/counting", "failures/criteria"),
        *("sinusoidal/formula", "sinusoidal/rotation"),
    )
    solutions: Mapping[str, datetime.date] = field(default_factory=dict)

    def credited(self, credit: str) -> str:
        """The credit, which stays, behind the lecturer's own line."""
        return f"{self.line.rstrip('.')}. {credit}" if self.line else credit

    def opened(self, page: Page) -> bool:
        """Whether the day has come from which students may see a page's solutions."""
        days = [day for name, day in self.solutions.items() if name in names(page)]
        return bool(days) and max(days) <= datetime.date.today()


def names(page: Page) -> set[str]:
    """What a lecturer may call a page: failures/counting, counting, or by its part."""
    return {page.name.removeprefix("book/"), *page.name.split("/")[1:]}


def refuse_unknown(where: str, said: Mapping[str, object], kind: type) -> None:
    """Say which words nothing reads."""
    known = {one.name for one in fields(kind)}
    if unknown := sorted(set(said) - known):
        raise ValueError(f"{where}: {', '.join(unknown)} means nothing: {known}")


@cache
def read(path: Path = FILE) -> Mine:
    """What the file says."""
    said = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    refuse_unknown(path.name, said, Mine)
    for name in {"plans", "leave_out", "exam"} & set(said):
        said[name] = tuple(said[name])
    for name, day in (said.get("solutions") or {}).items():
        if not isinstance(day, datetime.date):
            raise ValueError(
                f"{path.name}: solutions of {name} need a day, got {day!r}"
            )
    said["date"] = str(said.get("date") or "")
    return Mine(**said)
