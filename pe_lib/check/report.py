"""What the checker answers: findings, and the report that prints them."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pe_lib.conventions import Convention

# What is right where it is used as it is, and wrong once it is moved, saved or far out.
LATER = "accuracy", "device", "dtype", "half", "meta", "state_dict", "widths"
LATER_WORDS = "Wrong once moved, cast, saved, of another width or far out:"


@dataclass(frozen=True)
class Finding:
    """One thing that one check found out.

    Attributes
    ----------
    check : str
        The check's name, a key of ``pe_lib.check.conformance.CHECKS``.
    severity : "wrong" or "fact"
        A fact is how this module does it, where sound modules differ.
    what, why, fix : str
        What happened, why it matters, and how to fix it; a fact needs no fix, and
        where the cause is not proved there is none.
    """

    check: str
    severity: str
    what: str
    why: str
    fix: str = ""

    @classmethod
    def wrong(cls, what: str, why: str, fix: str = "") -> "Finding":
        """Something that needs a fix; whoever runs the check adds its name."""
        return cls("", "wrong", what, why, fix)

    @classmethod
    def fact(cls, what: str, why: str) -> "Finding":
        """How this module does it."""
        return cls("", "fact", what, why)

    @property
    def later(self) -> bool:
        """Whether plain use is right, and what is moved, saved or far out is wrong."""
        return self.severity == "wrong" and self.check in LATER

    def as_text(self, width: int = 40) -> str:
        """The finding in lines of at most `width` characters."""
        if self.severity == "fact":
            parts = [f"fact: {self.check}", f"{self.what} {self.why}"]
        else:
            parts = [
                f"WRONG: {self.check}",
                self.what,
                f"Why: {self.why}",
                *([f"Fix: {self.fix}"] if self.fix else []),
            ]
        head, *rest = parts
        return "\n".join([head, *(_wrapped(part, width, "  ") for part in rest)])

    def __str__(self) -> str:
        return self.as_text()


Findings = Iterator[Finding]


@dataclass(frozen=True)
class Report:
    """What :func:`pe_lib.nn.check_encoding` found out about a module.

    Attributes
    ----------
    name : str
        The module's class.
    d_model : int
        The width at which it was checked; some checks also take others.
    kind : str
        What it does, "adds the encoding to x" for instance; empty if it is unknown.
    convention : Convention or None
        The published convention that it implements.
    findings : tuple of Finding
        In the order of the checks.
    """

    name: str
    d_model: int
    kind: str
    convention: Convention | None
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that need a fix."""
        return tuple(found for found in self.findings if found.severity == "wrong")

    @property
    def ok(self) -> bool:
        """Whether nothing wrong was found."""
        return not self.wrong

    @property
    def ran(self) -> bool:
        """Whether it could be built and called, and is in scope."""
        return all(found.check not in ("call", "scope") for found in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        convention = self.convention
        return {
            "name": self.name,
            "d_model": self.d_model,
            "kind": self.kind,
            "ok": self.ok,
            "ran": self.ran,
            "convention": None if convention is None else asdict(convention),
            "findings": [asdict(f) | {"later": f.later} for f in self.findings],
        }

    def as_text(self, width: int = 40) -> str:
        """The report in lines of at most `width` characters, what is wrong first."""
        facts = [found for found in self.findings if found.severity == "fact"]
        later = [found for found in self.wrong if found.later]
        share = f" ({len(later)} later)" if later else ""
        count = f"{len(self.wrong)} wrong{share}, {len(facts)} facts"
        return "\n".join(
            [
                _wrapped(f"{self.name}, d_model = {self.d_model}", width),
                *([_wrapped(f"It {self.kind}.", width)] if self.kind else []),
                *(f.as_text(width) for f in self.wrong if not f.later),
                *([_wrapped(LATER_WORDS, width)] if later else []),
                *(f.as_text(width) for f in (*later, *facts)),
                count,
            ]
        )

    def __str__(self) -> str:
        return self.as_text()


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def first_line(error: BaseException) -> str:
    """An exception in one line of bearable length."""
    try:
        text = str(error).strip().encode("utf-8", "replace").decode()
    except Exception:  # not even that
        text = ""
    line = (text or "no message").splitlines()[0]
    return textwrap.shorten(f"{type(error).__name__}: {line}", 110, placeholder=" ...")
