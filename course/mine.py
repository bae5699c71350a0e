"""What a lecturer says of the course: ``mine.yml``, which has a word for each line.

    read().lecturer
    loaded("exam.yml")    what another file beside it says

What the file cannot say is refused by name, a chapter once chapters are chosen.
"""

import datetime
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from manuscript import Page

HERE = Path(__file__).parent
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

    @property
    def about(self) -> list[str]:
        """Who gives the course, where and when, as far as it is said."""
        return [one for one in (self.lecturer, self.institution, self.date) if one]

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


def refuse_unknown(
    where: str, what: str, names: Iterable[str], known: Collection[str]
) -> None:
    """Say which names are not there, and which are."""
    if unknown := sorted({*names} - {*known}):
        raise SystemExit(
            f"{where}: there is no {what} {', '.join(unknown)}. Try: {sorted(known)}"
        )


@cache
def loaded(name: str) -> Any:
    """What a file in this folder says, or anywhere."""
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@cache
def read(name: str = "mine.yml") -> Mine:
    """What the file says."""
    said = dict(loaded(name) or {})
    refuse_unknown(name, "word", said, Mine.__annotations__)
    for word in {"plans", "leave_out", "exam"} & set(said):
        said[word] = tuple(said[word])
    for page, day in (said.get("solutions") or {}).items():
        if not isinstance(day, datetime.date):
            raise SystemExit(f"{name}: solutions of {page} need a day, not {day}")
    said["date"] = str(said.get("date") or "")
    return Mine(**said)
