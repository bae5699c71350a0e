"""Three switches, one per digit: which words attend to the word before?"""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class Switches(Drawing):
    """A switch, -1, 0 or 1, for each binary digit: which queries look one back?

    The score of key s for query t is the sum over the digits of
    ``switch[j] * P[t, j] * P[s, j]``, with ``P = binary(range(5), 3, centered=True)``.

    Examples
    --------
    >>> print(Switches())
    Each word attends most to itself.
    """

    _name = "switches"
    _scripts = ("switches.js",)
