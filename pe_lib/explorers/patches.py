"""Which patches of an image a head attends to, if hands count rows and columns."""

from pe_lib.explorers.drawing import Drawing


class Patches(Drawing):
    """A head built for two opposite patches, and those that it attends to most.

    All patches look alike. Three hands rotate with the row, three with the column, and
    three more with each diagonal if a button adds them; the frequencies are 2, 1 and
    1/2. With the offset k of a key, w the frequencies of a hand along rows and columns
    and d what is wanted, the score is the sum of cos(w . (k - d)) + cos(w . (k + d)).

    Examples
    --------
    >>> str(Patches()).partition(" Weight")[0]
    'Wanted: 1 down, 2 right, and the opposite. Highest: 4 patches, 2 too many.'
    """

    _scripts = ("patches.js",)
