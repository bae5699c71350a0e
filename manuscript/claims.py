"""The claims that people repeat, as ``book/claims.yml`` has them."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from manuscript.markdown import REMARK

UNTRACED = "untraced"  # the source of a claim that was heard often


@dataclass(frozen=True)
class Claim:
    """A sentence as people say it, and what the book says of it."""

    id: str
    question: str
    claim: str
    sources: list[str]  # who says it, by their keys in references.bib, or UNTRACED
    verdict: str
    why: str
    settled_by: str
    place: str = ""

    @property
    def cited(self) -> list[str]:
        """Who says it, as far as it was traced."""
        return [source for source in self.sources if source != UNTRACED]


def read(path: Path, *, remarks: bool = False) -> dict[str, Claim]:
    """All of them, in the file's order; a slip names the file and the claim."""
    claims: dict[str, Claim] = {}
    text = path.read_text(encoding="utf-8")
    told = text if remarks else REMARK.sub("", text)
    for question, entries in yaml.safe_load(told).items():
        for entry in entries:
            try:
                claim = Claim(question=question, **entry)
            except TypeError as error:
                raise ValueError(f"{path.name}, {entry.get('id')}: {error}") from error
            if claim.id in claims:
                raise ValueError(f"{path.name}: there are two claims {claim.id!r}")
            if claim.sources not in ([UNTRACED], claim.cited or None):
                raise ValueError(
                    f"{path.name}, {claim.id}: sources must say who says it, or be"
                    f" [{UNTRACED}] alone; got {claim.sources}"
                )
            claims[claim.id] = claim
    return claims
