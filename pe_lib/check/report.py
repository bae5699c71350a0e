"""What the checker answers: findings in three states, and a report."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

ERROR, WARNING, NOTE = "error", "warning", "note"
PASSED, FAILED, UNCHECKED = "passed", "failed", "not checked"
DECISIVE = "axes", "prefix", "formula"  # without these there is no verdict
Found = Iterator[tuple[str, str, str]]  # level (or UNCHECKED), what, fix


@dataclass(frozen=True)
class Finding:
    """What one check came to.

    Attributes
    ----------
    check : str
        The name of the check, which ``ignore`` takes.
    state : "passed", "failed" or "not checked"
    level : "error", "warning", "note" or ""
        Of what failed: wrong in plain use; wrong once moved, cast, saved or far out; a
        fact.
    what, fix : str
        What happened, or why it was not checked; the fix.
    """

    check: str
    state: str
    level: str = ""
    what: str = ""
    fix: str = ""

    def as_text(self, width: int = 88) -> str:
        """In lines of at most `width` characters."""
        text = f"{self.level or self.state} {self.check}: {self.what} {self.fix}"
        return textwrap.fill(text.rstrip(), width, subsequent_indent="  ")

    __str__ = as_text


@dataclass(frozen=True)
class Recognised:
    """A formula that the numbers follow.

    Attributes
    ----------
    words : str
        Its name, or in what it differs from those that have one.
    base : float or None
        Of a sinusoid or a rotation.
    spacing, layout : str
        "paper" or "endpoint"; "interleaved" or "half_split".
    gap : float
        The largest difference, where it agrees.
    share : float
        Of the numbers, how many agree; if not all, a finding says which do not.
    """

    words: str
    base: float | None = None
    spacing: str = ""
    layout: str = ""
    gap: float = 0.0
    share: float = 1.0

    def __str__(self) -> str:
        near = f", to {self.gap:.0e}".replace("e-0", "e-") if self.base else ""
        return self.words + near + f", in {self.share:.1%}" * (self.share < 1)


@dataclass(frozen=True)
class Report:
    """What :func:`pe_lib.check.check` found out about a module.

    Attributes
    ----------
    name : str
        Its class.
    called : str
        How it was called, in words; empty if that failed.
    recognised : Recognised or None
        The formula that it follows.
    findings : tuple of Finding
        In the order of the checks.
    """

    name: str
    called: str
    recognised: Recognised | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What is wrong in plain use."""
        return tuple(f for f in self.findings if f.level == ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is wrong once moved, cast, saved or far out."""
        return tuple(f for f in self.findings if f.level == WARNING)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Facts."""
        return tuple(f for f in self.findings if f.level == NOTE)

    @property
    def unchecked(self) -> tuple[Finding, ...]:
        """What could not be asked, and why."""
        return tuple(f for f in self.findings if f.state == UNCHECKED)

    @property
    def ran(self) -> bool:
        """Whether it could be built and called."""
        return bool(self.called)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Of axes, prefix and formula those that were not checked."""
        return tuple(f.check for f in self.unchecked if f.check in DECISIVE)

    @property
    def ok(self) -> bool:
        """Whether there is a verdict, and it is: no errors."""
        return self.ran and not self.errors and not self.undecided

    @property
    def verdict(self) -> str:
        """The first line of the text."""
        counted = ((ERROR, self.errors), (WARNING, self.warnings))
        counts = [f"{len(f)} {word}{'s' * (len(f) > 1)}" for word, f in counted if f]
        if not self.errors:
            left = f" ({' and '.join(self.undecided)} not checked)" * self.ran
            counts = ["no errors" if self.ok else f"no verdict{left}", *counts]
        told = f"; {self.recognised}" if self.recognised else ""
        return f"{self.name}: {', '.join(counts)}{told}"

    def as_text(self, width: int = 88, *, verbose: bool = False) -> str:
        """The verdict and what is wrong; if `verbose`, notes and what was not asked."""
        undecided = [f for f in self.unchecked if f.check in (*DECISIVE, "call")]
        more = (*self.notes, *self.unchecked) if verbose else undecided
        heads = [self.verdict, f"  {self.called}"] if self.ran else [self.verdict]
        lines = [textwrap.fill(h, width, subsequent_indent="  ") for h in heads]
        shown = (*self.errors, *self.warnings, *more)
        return "\n".join([*lines, *(f.as_text(width) for f in shown)])

    __str__ = as_text
