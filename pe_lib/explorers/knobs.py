"""Three knobs to turn, and the queries that are then right."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class Knobs(Drawing):
    """Turn the hands of all keys by three angles: which queries attend one back?

    Hands with the wavelengths 2, 4 and 8, each written as a sine and a cosine. The
    score of key s for query t is the sum of the cosines of the angles between the
    query's hands and the key's hands, these turned by what the reader sets.

    Examples
    --------
    >>> print(Knobs())
    No query attends to the word before: unturned, each finds itself.
    """

    _name = "knobs"
    _scripts = ("knobs.js",)
