"""Extend a RoPE head: which hands meet new angles, and do neighbours stay apart?"""

from pe_lib.explorers.drawing import Drawing


class Stretch(Drawing):
    """The 64 hands of a RoPE head on a sequence eight times its context length.

    Above, how far the hands go that never came round in training, relative to their
    largest angle there: :func:`pe_lib.beyond.scaling.unseen_angles`. Below, the new
    frequency of every hand over the old. The gap to the neighbour is
    ``1 - cos(frequencies).mean()``, the fall of the score of equal vectors over one
    position, as a share of what it was. YaRN rotates by parts from 1 to 32 turns, as
    in the paper; Llama's rule from 1 to 4.

    Examples
    --------
    >>> print(Stretch())  # doctest: +NORMALIZE_WHITESPACE
    Factor 8. New angles for 18 of 18 slow hands, up to 8.0 times too far.
    The neighbour keeps 100 % of its gap.
    """

    _scripts = ("stretch.js",)
