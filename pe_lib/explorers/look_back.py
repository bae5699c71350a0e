"""Attend back: waves that share one crest, and hands of the keys to turn."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing, within


@dataclass(frozen=True, kw_only=True)
class Spike(Drawing):
    """The head T(k) at one query: a wave for each hand, and the softmax of their sum.

    The hands are the first of 32 columns with base 10,000; the scores are the dot
    products of query and turned keys, times four.

    Examples
    --------
    >>> print(Spike())
    2 hands: 61 % of York’s weight is on the word 1 position before.
    """

    _name = "spike"
    _scripts = ("look_back.js",)


@dataclass(frozen=True, kw_only=True)
class LookBack(Drawing):
    """A head to turn by hand: can every position attend to the one before?

    Sixteen positions with four hands each, ``P = sinusoidal(range(16), 8, base=20)``.
    The reader says by which angle each hand of every key is turned. That is a matrix
    W of four turns, and the scores are ``4 * P @ W @ P.T``. Nothing is set up: any
    turn shows where it makes the positions attend.

    Parameters
    ----------
    query : int
        The position to begin with, from 1 to 15.

    Raises
    ------
    TypeError
        If `query` is not an integer.
    ValueError
        If `query` is not within 1 and 15.

    Examples
    --------
    >>> print(LookBack())
    Position 11 attends to itself, with a weight of 0.08 on 10.
    """

    query: int = 11

    _name = "look_back"
    _scripts = ("look_back.js",)

    def __post_init__(self) -> None:
        within("query", self.query, 1, 15)
