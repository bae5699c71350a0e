"""Extend a RoPE head: which hands meet new angles, and do neighbours stay apart?"""

from dataclasses import dataclass

from pe_lib._arguments import as_choice
from pe_lib.explorers.drawing import Drawing, one_of

RULES = ("none", "interpolate", "ntk", "yarn", "llama3")
FACTORS = (1, 2, 4, 8, 16, 32)
BASES = (100, 10_000, 500_000, 1_000_000)
LENGTHS = (64, 512, 4096, 8192)


@dataclass(frozen=True, kw_only=True)
class Stretch(Drawing):
    """The 64 hands of a RoPE head on a sequence eight times its context length.

    Above, how far the hands go that never came round in training, relative to their
    largest angle there: :func:`pe_lib.beyond.scaling.unseen_angles`. Below, the new
    frequency of every hand over the old. The gap to the neighbour is
    ``1 - cos(frequencies).mean()``, the fall of the score of equal vectors over one
    position, as a share of what it was.

    Parameters
    ----------
    rule : str
        "none", "interpolate", "ntk", "yarn" (by parts, 1 to 32 turns, as in the
        paper) or "llama3" (by parts, 1 to 4 turns).
    factor : int
        s, 1, 2, 4, 8, 16 or 32.
    base : int
        100, 10,000, 500,000 or 1,000,000.
    trained_length : int
        L, 64, 512, 4096 or 8192.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If an argument is not in its list.

    Examples
    --------
    >>> print(Stretch(rule="interpolate"))  # doctest: +NORMALIZE_WHITESPACE
    Factor 8. No hand goes beyond the angles of training.
    The neighbour keeps 2 % of its gap.
    """

    rule: str = "none"
    factor: int = 8
    base: int = 10_000
    trained_length: int = 4096

    _name = "stretch"
    _scripts = ("stretch.js",)

    def __post_init__(self) -> None:
        as_choice("rule", self.rule, RULES)
        one_of("factor", self.factor, FACTORS)
        one_of("base", self.base, BASES)
        one_of("trained_length", self.trained_length, LENGTHS)
