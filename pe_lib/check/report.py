"""What the checker answers: findings at three levels, and a report."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pe_lib.check.recognise import Recognised

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True)
class Finding:
    """One thing that one check found.

    Attributes
    ----------
    check : str
        The name of the check, which ``ignore`` takes.
    level : "error", "warning" or "note"
        Wrong in plain use; wrong once moved, cast, saved, built on meta, of another
        width or far out; a fact.
    what, fix : str
        What happened, in a sentence; what mends it, where the cause is known.
    """

    check: str
    level: str
    what: str
    fix: str = ""

    def as_text(self, width: int = 88, *, verbose: bool = True) -> str:
        """In lines of at most `width` characters; the fix of a warning if `verbose`."""
        fix = self.fix if verbose or self.level == ERROR else ""
        text = f"{self.level} {self.check}: {self.what} {fix}".rstrip()
        return textwrap.fill(text, width, subsequent_indent="  ")

    def __str__(self) -> str:
        return self.as_text()


Found = tuple[str, str, str]
Findings = Iterator[Found]
"""What a check yields; whoever runs it adds its name."""


def error(what: str, fix: str = "") -> Found:
    """Wrong in plain use."""
    return ERROR, what, fix


def warning(what: str, fix: str = "") -> Found:
    """Wrong once moved, cast, saved, built on meta, of another width or far out."""
    return WARNING, what, fix


def note(what: str) -> Found:
    """A fact."""
    return NOTE, what, ""


@dataclass(frozen=True)
class Report:
    """What :func:`pe_lib.check.check` found out about a module.

    Attributes
    ----------
    name : str
        Its class.
    kind, d_model
        As they were given.
    called : str
        How it was called, in words; empty if that failed.
    recognised : Recognised or None
        The formula that it follows.
    findings : tuple of Finding
        In the order of the checks.
    """

    name: str
    kind: str
    d_model: int
    called: str
    recognised: Recognised | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What is wrong in plain use."""
        return self._at(ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is wrong once moved, cast, saved, of another width or far out."""
        return self._at(WARNING)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Facts."""
        return self._at(NOTE)

    def _at(self, level: str) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.level == level)

    @property
    def ran(self) -> bool:
        """Whether it could be built and called."""
        return bool(self.called)

    @property
    def ok(self) -> bool:
        """Whether it ran, and has no error."""
        return self.ran and not self.errors

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        return asdict(self) | {"ok": self.ok, "ran": self.ran}

    @property
    def verdict(self) -> str:
        """The first line of the text."""
        if not self.ran:
            return f"{self.name}: nothing was checked"
        counts = [
            f"{len(found) or 'no'} {level}{'s' * (len(found) != 1)}"
            for level, found in ((ERROR, self.errors), (WARNING, self.warnings))
            if found or level == ERROR
        ]
        told = f"; {self.recognised}" if self.recognised else ""
        return f"{self.name}: {', '.join(counts)}{told}"

    def as_text(self, width: int = 88, *, verbose: bool = False) -> str:
        """The verdict, what is wrong, and with `verbose` the notes."""
        shown = (*self.errors, *self.warnings, *(self.notes if verbose else ()))
        called = [f"  {self.called}"] if self.called else []
        return "\n".join(
            textwrap.fill(line, width, subsequent_indent="  ")
            for line in [self.verdict, *called]
        ) + "".join(f"\n{found.as_text(width, verbose=verbose)}" for found in shown)

    def __str__(self) -> str:
        return self.as_text()
