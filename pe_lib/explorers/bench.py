"""The bench: one instrument, which changes its mechanism along the path."""

from dataclasses import dataclass
from typing import Any

from pe_lib.explorers.drawing import Drawing, within

PAGES = (
    "none",
    "counting",
    "normalised",
    "binary",
    "dials",
    "formula",
    "rotation",
    "module",
)


@dataclass(frozen=True, kw_only=True)
class Bench(Drawing):
    """Five words, their encodings and a head: stretch the text, see where it attends.

    An arrow leads from each word to the one that it attends to most. The head is made
    at five words: one matrix for one step on, or that of ``fit_head`` for binary
    digits. Three lamps say what holds at this length: all encodings are unique, all
    have the same norm, and the matrix made at five words takes each to the next.

    Parameters
    ----------
    page : str
        The encoding that it begins with: "none", "counting", "normalised", "binary",
        "dials", "formula", "rotation" or "module". Those before it can be chosen, too.
    words : int
        From 2 to 64.

    Raises
    ------
    TypeError
        If `page` is not a string, or `words` not an integer.
    ValueError
        If an argument is not in its list or range.

    Examples
    --------
    >>> print(str(Bench(page="normalised", words=9)).partition(".")[0])
    This head still looks a quarter of the text back: now two words
    """

    page: str = "none"
    words: int = 5

    _scripts = ("bench.js",)

    def __post_init__(self) -> None:
        if not isinstance(self.page, str):
            raise TypeError(f"page must be a string, got {self.page!r}")
        if self.page not in PAGES:
            known = ", ".join(PAGES)
            raise ValueError(f"page must be one of {known}; got {self.page!r}")
        within("words", self.words, 2, 64)

    def _state(self) -> dict[str, Any]:
        page = PAGES.index(self.page)
        return {"home": page, "page": page, "words": self.words}
