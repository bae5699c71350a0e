r"""What a good positional encoding should have, as tests that return their evidence.

Each criterion takes a function ``encode(length)`` that returns a table of encodings,
[length, d_model], and answers with a :class:`Verdict`: does it hold, what was
measured, and the positions that show it. A verdict is about these encodings at this
length, no more: it says its d and its n.

Two numbers, be they entries, norms or distances, count as equal if they differ by
no more than rounding explains:

.. math::

   10^{-12}\, \max_t \lVert P_t - P_0 \rVert + 2^{-49}\, \max_t \lVert P_t \rVert

A trillionth of the spread of the encodings, for the errors of the formula that made
them, and a few units in the last place of the longest encoding, for the digits that
float64 does not hold. So no verdict changes if all encodings are multiplied by one
number, and none but that of :func:`equal_norm` if one encoding is added to all of them.
Encodings that differ by less than a trillionth of their norm are refused: they have too
few digits left to differ in. Encodings of fewer digits, float32 for instance, are taken
as they are: they *are* other encodings.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pe_lib._arguments import Encode
from pe_lib._comparison import (
    SHARE_OF_NORM,
    Codes,
    codes_of,
    entries_of,
    farthest_entry,
    first_true,
)


@dataclass(frozen=True)
class Verdict:
    """The answer of one criterion about one encoding.

    Attributes
    ----------
    holds : bool or None
        None where it could not be measured; `evidence` then says why.
    measured : float
        What was compared, as the criterion defines it.
    evidence : str
        The positions and numbers that show it.
    d, n : int
        Width of the encodings and number of positions that were looked at.
    """

    holds: bool | None
    measured: float
    evidence: str
    d: int
    n: int


def unique(encode: Encode, length: int) -> Verdict:
    """No two positions have the same encoding.

    Measured: the smallest distance between two encodings.

    Examples
    --------
    >>> unique(lambda n: np.arange(n)[:, np.newaxis] % 8, 20).evidence
    'encodings 0 and 8 are equal'
    """
    codes = codes_of(encode, length)
    distances = codes.distances()
    np.fill_diagonal(distances, np.inf)
    smallest = float(distances.min())
    first, second = first_true(
        distances <= smallest + (codes.rounding if smallest else 0)
    )
    holds = smallest > codes.rounding
    if holds:
        apart = codes.show(smallest)
        evidence = f"nearest are {first} and {second}, {apart} apart"
    elif smallest:
        evidence = f"encodings {first} and {second} equal up to rounding"
    else:
        evidence = f"encodings {first} and {second} are equal"
    return _verdict(codes, holds, smallest * codes.unit, evidence)


def equal_norm(encode: Encode, length: int) -> Verdict:
    r"""All encodings have the same norm, their length as vectors.

    Measured: the largest norm minus the smallest. Encodings that lie very near each
    other get no verdict, but None: if all of them lie within s of the first, and the
    norms agree, but those of encodings on a straight line would agree as well, since
    :math:`s^2 / (8 \lVert P \rVert)` is no more than rounding.

    Examples
    --------
    >>> equal_norm(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'norm 0 at 0, norm 19 at 19'
    """
    codes = codes_of(encode, length)
    norms = np.linalg.norm(codes.table, axis=1)
    smallest, largest = float(norms.min()), float(norms.max())
    (low,) = first_true(norms <= smallest + codes.rounding)
    (high,) = first_true(norms >= largest - codes.rounding)
    difference = largest - smallest
    holds: bool | None = difference <= codes.rounding
    if not holds:
        evidence = f"norm {codes.show(smallest)} at {low}, " + (
            f"norm {codes.show(largest)} at {high}"
            if codes.show(largest) != codes.show(smallest)
            else f"{codes.show(difference)} more at {high}"
        )
    elif 0 < codes.spread**2 <= 8 * largest * codes.rounding:
        holds, evidence = None, "cannot tell: the encodings are too near"
    else:
        evidence = f"every encoding has norm {codes.show(largest)}"
    return _verdict(codes, holds, difference * codes.unit, evidence)


def one_shift_matrix(encode: Encode, length: int) -> Verdict:
    r"""One matrix and one constant move every encoding to the next: :math:`T P_t + b`.

    Then their powers move every encoding by 2, 3, ... Attention can apply them: its
    projections have biases. Holds if the best T and b miss no encoding by more than
    rounding. Measured, for the best T and b:

    .. math::

       \frac{\lVert T P_t + b - P_{t+1} \rVert}{\lVert P_{t+1} - \bar P \rVert}

    over all t: 0 if they explain every step, 1 if they do no better than the mean
    encoding.

    Examples
    --------
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'one matrix moves each on by 1'
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis] ** 2, 20).holds
    False
    """
    codes = codes_of(encode, length)
    rows, width = length - 1, codes.table.shape[1]
    if rows <= width + 1:
        raise ValueError(
            f"length must be above d_model + 2 = {width + 2}, got {length}: "
            "so few steps fit almost any table"
        )
    # From the first encoding on, so that a large constant costs no digits. Each column
    # that moves counts alike; what a fit leaves is what lies outside their span.
    moved = codes.table - codes.table[0]
    reach = np.abs(moved).max(axis=0)
    moving = reach > codes.rounding
    before = np.column_stack([(moved[:, moving] / reach[moving])[:-1], np.ones(rows)])
    after = moved[1:]
    directions, sizes, _ = np.linalg.svd(before, full_matrices=False)
    directions = directions[:, sizes > SHARE_OF_NORM * sizes[0]]
    misses = np.linalg.norm(after - directions @ (directions.T @ after), axis=1)
    spread = np.linalg.norm(after - after.mean(axis=0))
    residual = float(np.linalg.norm(misses) / spread) if spread else 0.0
    holds = bool(misses.max() <= codes.rounding)
    if holds:
        evidence = "one matrix moves each on by 1"
    else:
        (worst,) = first_true(misses >= misses.max() * (1 - 1e-6))
        share = f"{residual:.0%}" if residual > 0.01 else f"{100 * residual:.1g}%"
        evidence = f"{share} unexplained, worst from {worst} to {worst + 1}"
    return _verdict(codes, holds, residual, evidence)


def bounded(encode: Encode, length: int) -> Verdict:
    """The entries of a column stay within bounds, however long the sequence.

    No finite table can show that. What is tested is a hint: how far the entries
    of any column get from their first one, at `length`, at twice and at four times as
    many positions. It holds if that grows less the second time than the first, or by
    less than a tenth in all. Straight lines, ``sqrt(t)`` and ``log(t + 1)`` fail at 512
    positions; ``t / (t + 1000)`` passes, though not at 256, where it still looks like
    a line. Growth a little slower, such as that of ``log(t + 1/2)``, is not noticed;
    and rows drawn at random, bounded by their norm, fail at some widths by chance.

    Measured: the second growth divided by the first; 0 where it is less than a tenth
    in all.

    Examples
    --------
    >>> bounded(lambda n: np.arange(n)[:, np.newaxis], 21).evidence
    'up to 20, 41, 83 from encoding 0'
    """
    codes = codes_of(encode, length)
    start, rounding = codes.table[0] * codes.unit, codes.rounding * codes.unit
    longer = [entries_of(encode, many * length) for many in (2, 4)]
    reaches = [
        farthest_entry(start, table) for table in (codes.table * codes.unit, *longer)
    ]
    first, second = (float(growth) for growth in np.diff(reaches))
    if first + second <= reaches[0] / 10 + rounding:
        growth = 0.0
    else:
        growth = second / first if first > rounding else np.inf
    holds = growth == 0 or second < first - rounding
    shown = ", ".join(codes.show(reach / codes.unit) for reach in reaches)
    return _verdict(codes, holds, growth, f"up to {shown} from encoding 0")


def same_at_every_length(encode: Encode, length: int) -> Verdict:
    """A position has the same encoding in a sequence of twice as many positions.

    Measured: the largest change of an entry.

    Examples
    --------
    >>> share = lambda n: np.arange(n)[:, np.newaxis] / (n - 1)
    >>> same_at_every_length(share, 5).evidence
    'encoding 4 is 1, but 0.4444 at n=10'
    """
    codes = codes_of(encode, length)
    longer = entries_of(encode, 2 * length)
    width, at = codes.table.shape[1], f"at n={2 * length}"
    if longer.shape[1] != width:
        evidence = f"encodings of {width} numbers, but of {longer.shape[1]} {at}"
        return _verdict(codes, False, np.inf, evidence)
    later = longer[:length] / codes.unit
    changes = np.abs(later - codes.table)
    largest = float(changes.max())
    holds = largest <= codes.rounding
    if holds:
        evidence = f"no encoding changes {at}"
    else:
        place = first_true(changes >= largest - codes.rounding)
        now, then = codes.show(codes.table[place]), codes.show(later[place])
        if now != then:
            evidence = f"encoding {place[0]} is {now}, but {then} {at}"
        else:
            evidence = f"encoding {place[0]} changes by {codes.show(largest)} {at}"
    return _verdict(codes, holds, largest * codes.unit, evidence)


def same_distance(encode: Encode, length: int) -> Verdict:
    """Two encodings are as far apart as any two others with the same offset.

    Measured: over all offsets, the largest difference between two such distances,
    as a share of the largest distance.

    Examples
    --------
    >>> same_distance(lambda n: np.arange(n)[:, np.newaxis] ** 2, 5).evidence
    '0 to 2 is 4, 2 to 4 is 12'
    """
    codes = codes_of(encode, length)
    distances = codes.distances()
    largest = float(distances.max())
    spreads = np.array([np.ptp(distances.diagonal(k)) for k in range(length)])
    spread = float(spreads.max())
    holds = spread <= codes.rounding
    if holds:
        evidence = "every offset has one distance"
    else:
        (offset,) = first_true(spreads >= spread - codes.rounding)
        along = distances.diagonal(offset)
        (near,) = first_true(along <= along.min() + codes.rounding)
        (far,) = first_true(along >= along.max() - codes.rounding)
        less, more = codes.show(along[near]), codes.show(along[far])
        if less != more:
            more = f"is {more}"
        else:
            more = f"{codes.show(along[far] - along[near])} more"
        evidence = (
            f"{near} to {near + offset} is {less}, {far} to {far + offset} {more}"
        )
    return _verdict(codes, holds, spread / largest if largest else 0.0, evidence)


def smooth(encode: Encode, length: int) -> Verdict:
    """A neighbour is nearer than a stranger.

    Measured: the largest step from one encoding to the next, divided by the median
    distance between two encodings. Holds below 1.

    Examples
    --------
    >>> smooth(lambda n: np.arange(n)[:, np.newaxis] % 8, 16).evidence
    '7 to 8 is 7, median 2.5'
    """
    codes = codes_of(encode, length)
    distances = codes.distances()
    steps = distances.diagonal(1)
    typical = float(np.median(distances[np.triu_indices(length, k=1)]))
    largest = float(steps.max())
    (at,) = first_true(steps >= largest - codes.rounding)
    step, median = codes.show(largest), codes.show(typical)
    if step == median and abs(typical - largest) > codes.rounding:
        relation = "below" if largest < typical else "above"
        step = f"{codes.show(abs(typical - largest))} {relation}"
        evidence = f"{at} to {at + 1} is {step} median {median}"
    else:
        evidence = f"{at} to {at + 1} is {step}, median {median}"
    ratio = largest / typical if typical else np.inf
    return _verdict(codes, largest < typical - codes.rounding, ratio, evidence)


def monotone(encode: Encode, length: int) -> Verdict:
    """Looking ahead from any position: the further away, the further its encoding.

    Measured: the largest fall of the distance from one position to the next, as a
    share of the largest distance.

    Examples
    --------
    >>> monotone(lambda n: np.arange(n)[:, np.newaxis] % 8, 20).evidence
    'from 0, 8 is nearer than 7'
    """
    codes = codes_of(encode, length)
    distances = codes.distances()
    largest = float(distances.max())
    falls = np.triu(distances[:, :-1] - distances[:, 1:])
    fall = float(falls.max(initial=0.0))
    holds = fall <= codes.rounding
    if holds:
        evidence = "distance never falls with the offset"
    else:
        start, before = first_true(falls > codes.rounding)
        evidence = f"from {start}, {before + 1} is nearer than {before}"
    return _verdict(codes, holds, fall / largest if largest else 0.0, evidence)


CRITERIA: dict[str, Callable[[Encode, int], Verdict]] = {
    criterion.__name__.replace("_", " "): criterion
    for criterion in (
        unique,
        equal_norm,
        one_shift_matrix,
        bounded,
        same_at_every_length,
        same_distance,
        smooth,
        monotone,
    )
}


def _verdict(
    codes: Codes, holds: bool | None, measured: float, evidence: str
) -> Verdict:
    """The answer, with the d and n that it is about."""
    length, width = codes.table.shape
    return Verdict(holds, float(measured), evidence, width, length)
