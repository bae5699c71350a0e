"""Shuffle the sentence: the new vectors move along with the words."""

from dataclasses import dataclass

from pe_lib._arguments import as_flag
from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class Shuffle(Drawing):
    """Swap the words of "New York beats old York": attention's outputs move along.

    Attention without learned weights: ``softmax(X @ X.T) @ X`` with New = (1, 0),
    York = (1, 1), beats = (0, -1) and old = (-1, 1). A button adds the positions:
    (0.1 t, 0) to the word at position t.

    Parameters
    ----------
    codes : bool
        Begin with the positions added.

    Raises
    ------
    TypeError
        If `codes` is not a bool.

    Examples
    --------
    >>> print(Shuffle())
    New York beats old York. Vectors that changed: 0.
    """

    codes: bool = False

    _name = "shuffle"
    _scripts = ("shuffle.js",)

    def __post_init__(self) -> None:
        as_flag("codes", self.codes)
