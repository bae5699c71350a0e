"""A distance penalty that comes round: where a head of SmolLM2 lets far keys in."""

from pe_lib.explorers.drawing import Drawing


class Penalty(Drawing):
    """The mean score of one head by distance, and its attention on keys that far away.

    The head is one of a copy of SmolLM2-135M in 4 bits. Its means are those of one
    text, within the trained context; the attention, predicted from them, was measured
    on another. The numbers are those of ``book/beyond/data/smollm_means.csv`` and
    ``smollm_gap_heads.csv``.

    Examples
    --------
    >>> print(Penalty())
    Keys about 5,248 positions away, 0.6 contexts: predicted attention 0.01, measured
    0.00.
    """

    _scripts = ("penalty.js",)
