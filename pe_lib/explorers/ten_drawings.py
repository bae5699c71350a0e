"""The drawings of the page *Ten drawings*, in its order, and the first page's field.

What each shows is compared with ``pe_lib`` in ``tests/explorers``.
"""

from pe_lib.explorers.drawing import Drawing


class Shuffle(Drawing):
    """Swap the words of "New York beats old York": attention's outputs move along.

    Attention without learned weights: ``softmax(X @ X.T) @ X`` with New = (1, 0),
    York = (1, 1), beats = (0, -1) and old = (-1, 1). A button adds the positions:
    (0.1 t, 0) to the word at position t.

    Examples
    --------
    >>> print(Shuffle())
    New York beats old York. Vectors that changed: 0.
    """

    _scripts = ("shuffle.js",)


class StraightLine(Drawing):
    """What counting lets a head do for one query: scores ``slope * s + height``.

    Whatever the matrix is, the scores of query 4 over the keys 0 to 4 are a straight
    line. The reader lifts its ends; a bubble runs to the highest score.

    Examples
    --------
    >>> print(StraightLine())
    York attends most to New at 0: an end.
    """

    _scripts = ("straight_line.js",)


class Switches(Drawing):
    """A switch, -1, 0 or 1, for each binary digit: which queries look one back?

    The score of key s for query t is the sum over the digits of
    ``switch[j] * P[t, j] * P[s, j]``, with ``P = binary(range(5), 3, centered=True)``.

    Examples
    --------
    >>> print(Switches())
    Each word attends most to itself.
    """

    _scripts = ("switches.js",)


class Wheel(Drawing):
    """A hand of one radian per position, with its sine and its cosine on paper.

    Examples
    --------
    >>> print(Wheel())
    Position 0.9: sine 0.78, cosine 0.62.
    """

    _scripts = ("wheel.js",)


class Galaxy(Drawing):
    """One matrix, 300 times: a turn and a stretch, by the place of dot 1.

    Examples
    --------
    >>> print(Galaxy())
    The norms differ: that of encoding 100 is 0.59 % of the norm of encoding 0.
    """

    _scripts = ("galaxy.js",)


class Field(Drawing):
    """A column of clock hands for each position; small ones are a heat map.

    Up to 64 positions and 16 hands, those of ``sinusoidal(range(64), 32)``. Bars say
    how much each encoding is like encoding 0: the cosine of the angle between the two.

    Examples
    --------
    >>> print(Field())
    16 positions, 2 hands: encoding 12 is most like encoding 0, cosine 0.87.
    """

    _scripts = ("field.js",)


class Turn(Drawing):
    """Find T(1): turn three hands at eight positions at once onto the next ones.

    The hands are the first three of 32 columns with base 10,000.

    Examples
    --------
    >>> print(Turn())
    0 of 3 hands fit, each at all eight positions at once.
    """

    _scripts = ("turn.js",)


class Spike(Drawing):
    """The head T(k) at one query: a wave for each hand, and the softmax of their sum.

    The hands are the first of 32 columns with base 10,000; the scores are the dot
    products of query and turned keys, times four.

    Examples
    --------
    >>> print(Spike())
    2 hands: 61 % of York’s weight is on the word 1 position before.
    """

    _scripts = ("spike.js",)


class Rotary(Drawing):
    """A query and a key, each turned by a radian a position; and their score.

    Examples
    --------
    >>> print(Rotary())
    York at 16, old at 13: 3 apart, 223° between them, score −0.73.
    """

    _scripts = ("rotary.js",)


class Skip(Drawing):
    """Stored answers of SmolLM2-135M, four or twenty of whose heads are rotated.

    The model read one sentence three times, and *The*. Nothing is computed here: the
    answers are those of ``book/beyond/data/smollm_sentences.csv``.

    Examples
    --------
    >>> print(str(Skip()).partition(" to his")[0])
    Stored answer, as trained: old king gave seven golden apples
    """

    _scripts = ("skip_answers.js", "skip.js")


class Hero(Drawing):
    """A column of six hands under each of eighteen words; the field can be moved on.

    The hands are those of ``sinusoidal(range(18), 12, base=50)``.

    Examples
    --------
    >>> print(Hero())
    From word to word each row of hands turns, at a speed of its own.
    """

    _scripts = ("hero.js",)
