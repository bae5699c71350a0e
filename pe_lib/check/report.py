"""What the checker answers: findings at three levels, and a report."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

ERROR, WARNING, NOTE = "error", "warning", "note"
PLAIN = 256  # positions: where these end plain use ends


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

    __str__ = as_text


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
class Recognised:
    """A formula that a table follows.

    Attributes
    ----------
    formula : str
        "sinusoid" if it is right; else the name of the fault, "degrees" for instance;
        "waves" for pairs with frequencies of their own; "trained" for what is learned.
    words : str
        The same in words.
    base : float or None
    spacing, layout, first : str
        "paper" or "endpoint"; "interleaved" or "half_split"; "sine" or "cosine".
    start : int
        The position of the first row.
    scale, gap : float
        By what the formula is multiplied, and the largest difference from it.
    level, hint : str
        "error", "warning" or "note": what following it amounts to; what was meant.
    """

    formula: str
    words: str
    base: float | None = None
    spacing: str = ""
    layout: str = ""
    first: str = ""
    start: int = 0
    scale: float = 1.0
    gap: float = 0.0
    level: str = NOTE
    hint: str = ""

    def __str__(self) -> str:
        near = f", to {self.gap:.0e}".replace("e-0", "e-") if self.base else ""
        return self.words + near


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
        counted = {ERROR: len(self.errors), WARNING: len(self.warnings)}
        counts = [f"{n} {level}{'s' * (n > 1)}" for level, n in counted.items() if n]
        counts = counts if self.errors else ["no errors", *counts]
        told = f"; {self.recognised}" if self.recognised else ""
        return f"{self.name}: {', '.join(counts)}{told}"

    def as_text(self, width: int = 88, *, verbose: bool = False) -> str:
        """The verdict, what is wrong, and with `verbose` the notes."""
        shown = (*self.errors, *self.warnings, *(self.notes if verbose else ()))
        called = [f"  {self.called}"] if self.called else []
        lines = [
            textwrap.fill(line, width, subsequent_indent="  ")
            for line in (self.verdict, *called)
        ]
        lines += [found.as_text(width, verbose=verbose) for found in shown]
        return "\n".join(lines)

    __str__ = as_text
