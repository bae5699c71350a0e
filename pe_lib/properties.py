r"""What a good positional code should have, as tests that return their evidence.

Each criterion takes a function ``encode(length)`` that returns a table of codes,
[length, d_model], and answers with a :class:`Verdict`: does it hold, what was
measured, and the positions that show it. A verdict is about these codes at this
length, no more: it says its d and its n.

Two numbers, be they entries, norms or distances, count as equal if they differ by
no more than rounding explains:

.. math::

   10^{-12}\, \max_t \lVert P_t - P_0 \rVert + 2^{-49}\, \max_t \lVert P_t \rVert

A trillionth of the spread of the codes, for the errors of the formula that made
them, and a few units in the last place of the longest code, for the digits that
float64 does not hold. So no verdict changes if all codes are multiplied by one
number, and none but that of :func:`equal_norm` if one code is added to all of them.
Codes that differ by less than a trillionth of their norm are refused: they have too
few digits left to differ in. Codes of fewer digits, float32 for instance, are taken
as they are: they *are* other codes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_callable, as_integer, as_table

Encode = Callable[[int], ArrayLike]
"""A function from a length to a table of codes, [length, d_model]."""

SHARE_OF_SPREAD = 1e-12
SHARE_OF_NORM = 2.0**-49  # 8 units in the last place
LARGEST_ENTRY = 1e300  # and the smallest is its inverse: distances are then floats


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
        Width of the codes and number of positions that were looked at.
    """

    holds: bool | None
    measured: float
    evidence: str
    d: int
    n: int


def unique(encode: Encode, length: int) -> Verdict:
    """No two positions have the same code.

    Measured: the smallest distance between two codes.

    Examples
    --------
    >>> unique(lambda n: np.arange(n)[:, np.newaxis] % 8, 20).evidence
    'codes 0 and 8 are equal'
    """
    codes = _codes(encode, length)
    distances = codes.distances()
    np.fill_diagonal(distances, np.inf)
    smallest = float(distances.min())
    first, second = _first(distances <= smallest + (codes.rounding if smallest else 0))
    holds = smallest > codes.rounding
    if holds:
        apart = codes.show(smallest)
        evidence = f"nearest are {first} and {second}, {apart} apart"
    elif smallest:
        evidence = f"codes {first} and {second} equal up to rounding"
    else:
        evidence = f"codes {first} and {second} are equal"
    return codes.verdict(holds, smallest * codes.unit, evidence)


def equal_norm(encode: Encode, length: int) -> Verdict:
    r"""All codes have the same norm, their length as vectors.

    Measured: the largest norm minus the smallest. Codes that lie very near each
    other get no verdict, but None: if all of them lie within s of the first, and the
    norms agree, but those of codes on a straight line would agree as well, since
    :math:`s^2 / (8 \lVert P \rVert)` is no more than rounding.

    Examples
    --------
    >>> equal_norm(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'norm 0 at 0, norm 19 at 19'
    """
    codes = _codes(encode, length)
    norms = np.linalg.norm(codes.table, axis=1)
    smallest, largest = float(norms.min()), float(norms.max())
    (low,) = _first(norms <= smallest + codes.rounding)
    (high,) = _first(norms >= largest - codes.rounding)
    difference = largest - smallest
    holds: bool | None = difference <= codes.rounding
    if not holds:
        evidence = f"norm {codes.show(smallest)} at {low}, " + (
            f"norm {codes.show(largest)} at {high}"
            if codes.show(largest) != codes.show(smallest)
            else f"{codes.show(difference)} more at {high}"
        )
    elif 0 < codes.spread**2 <= 8 * largest * codes.rounding:
        holds, evidence = None, "cannot tell: the codes are too near"
    else:
        evidence = f"every code has norm {codes.show(largest)}"
    return codes.verdict(holds, difference * codes.unit, evidence)


def one_shift_matrix(encode: Encode, length: int) -> Verdict:
    r"""One matrix and one constant move every code to the next: :math:`T P_t + b`.

    Then their powers move every code by 2, 3, ... Attention can apply them: its
    projections have biases. Holds if the best T and b miss no code by more than
    rounding. Measured, for the best T and b:

    .. math::

       \frac{\lVert T P_t + b - P_{t+1} \rVert}{\lVert P_{t+1} - \bar P \rVert}

    over all t: 0 if they explain every step, 1 if they do no better than the mean
    code.

    Examples
    --------
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'one matrix moves every code on by 1'
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis] ** 2, 20).holds
    False
    """
    codes = _codes(encode, length)
    rows, width = length - 1, codes.table.shape[1]
    if rows <= width + 1:
        raise ValueError(
            f"length must be above d_model + 2 = {width + 2}, got {length}: "
            "so few steps fit almost any table"
        )
    # From the first code on, so that a large constant costs no digits. Each column
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
        evidence = "one matrix moves every code on by 1"
    else:
        (worst,) = _first(misses >= misses.max() * (1 - 1e-6))
        share = f"{residual:.0%}" if residual > 0.01 else f"{100 * residual:.1g}%"
        evidence = f"{share} unexplained, worst from {worst} to {worst + 1}"
    return codes.verdict(holds, residual, evidence)


def bounded(encode: Encode, length: int) -> Verdict:
    """The entries of a column stay within bounds, however long the sequence.

    No finite table can show that. What is tested is a hint: look how far the entries
    of any column get from their first one, at `length`, at twice and at four times as
    many positions. It holds if that grows less the second time than the first, or by
    less than a tenth in all. Straight lines, roots and logarithms fail;
    ``t / (t + 1000)`` passes at 512 positions, though not at 256, where it still looks
    like a line. Growth slower than a logarithm's is not noticed.

    Measured: the second growth divided by the first; 0 where it is less than a tenth
    in all.

    Examples
    --------
    >>> bounded(lambda n: np.arange(n)[:, np.newaxis], 21).evidence
    'up to 20, 41, 83 from code 0'
    """
    codes = _codes(encode, length)
    start, rounding = codes.table[0] * codes.unit, codes.rounding * codes.unit
    longer = [_entries(encode, many * length) for many in (2, 4)]
    reaches = [_reach(start, table) for table in (codes.table * codes.unit, *longer)]
    first, second = (float(growth) for growth in np.diff(reaches))
    if first + second <= reaches[0] / 10 + rounding:
        growth = 0.0
    else:
        growth = second / first if first > rounding else np.inf
    holds = growth == 0 or second < first - rounding
    shown = ", ".join(codes.show(reach / codes.unit) for reach in reaches)
    return codes.verdict(holds, growth, f"up to {shown} from code 0")


def same_at_every_length(encode: Encode, length: int) -> Verdict:
    """A position has the same code in a sequence of twice as many positions.

    Measured: the largest change of an entry.

    Examples
    --------
    >>> share = lambda n: np.arange(n)[:, np.newaxis] / (n - 1)
    >>> same_at_every_length(share, 5).evidence
    'code 4 is 1, but 0.4444 at n=10'
    """
    codes = _codes(encode, length)
    longer = _entries(encode, 2 * length)
    width, at = codes.table.shape[1], f"at n={2 * length}"
    if longer.shape[1] != width:
        evidence = f"codes of {width} numbers, but of {longer.shape[1]} {at}"
        return codes.verdict(False, np.inf, evidence)
    later = longer[:length] / codes.unit
    changes = np.abs(later - codes.table)
    largest = float(changes.max())
    holds = largest <= codes.rounding
    if holds:
        evidence = f"no code changes {at}"
    else:
        place = _first(changes >= largest - codes.rounding)
        now, then = codes.show(codes.table[place]), codes.show(later[place])
        if now != then:
            evidence = f"code {place[0]} is {now}, but {then} {at}"
        else:
            evidence = f"code {place[0]} changes by {codes.show(largest)} {at}"
    return codes.verdict(holds, largest * codes.unit, evidence)


def same_distance(encode: Encode, length: int) -> Verdict:
    """Two codes are as far apart as any two others with the same offset.

    Measured: over all offsets, the largest difference between two such distances,
    as a share of the largest distance.

    Examples
    --------
    >>> same_distance(lambda n: np.arange(n)[:, np.newaxis] ** 2, 5).evidence
    '0 to 2 is 4, 2 to 4 is 12'
    """
    codes = _codes(encode, length)
    distances = codes.distances()
    largest = float(distances.max())
    spreads = np.array([np.ptp(distances.diagonal(k)) for k in range(length)])
    spread = float(spreads.max())
    holds = spread <= codes.rounding
    if holds:
        evidence = "every offset has one distance"
    else:
        (offset,) = _first(spreads >= spread - codes.rounding)
        along = distances.diagonal(offset)
        (near,) = _first(along <= along.min() + codes.rounding)
        (far,) = _first(along >= along.max() - codes.rounding)
        less, more = codes.show(along[near]), codes.show(along[far])
        if less != more:
            more = f"is {more}"
        else:
            more = f"{codes.show(along[far] - along[near])} more"
        evidence = (
            f"{near} to {near + offset} is {less}, {far} to {far + offset} {more}"
        )
    return codes.verdict(holds, spread / largest if largest else 0.0, evidence)


def smooth(encode: Encode, length: int) -> Verdict:
    """A neighbour is nearer than a stranger.

    Measured: the largest step from one code to the next, divided by the median
    distance between two codes. Holds below 1.

    Examples
    --------
    >>> smooth(lambda n: np.arange(n)[:, np.newaxis] % 8, 16).evidence
    '7 to 8 is 7, median 2.5'
    """
    codes = _codes(encode, length)
    distances = codes.distances()
    steps = distances.diagonal(1)
    typical = float(np.median(distances[np.triu_indices(length, k=1)]))
    largest = float(steps.max())
    (at,) = _first(steps >= largest - codes.rounding)
    step, median = codes.show(largest), codes.show(typical)
    if step == median and abs(typical - largest) > codes.rounding:
        relation = "below" if largest < typical else "above"
        step = f"{codes.show(abs(typical - largest))} {relation}"
        evidence = f"{at} to {at + 1} is {step} median {median}"
    else:
        evidence = f"{at} to {at + 1} is {step}, median {median}"
    ratio = largest / typical if typical else np.inf
    return codes.verdict(largest < typical - codes.rounding, ratio, evidence)


def monotone(encode: Encode, length: int) -> Verdict:
    """Looking ahead from any position: the further away, the further its code.

    Measured: the largest fall of the distance from one position to the next, as a
    share of the largest distance.

    Examples
    --------
    >>> monotone(lambda n: np.arange(n)[:, np.newaxis] % 8, 20).evidence
    'from 0, 8 is nearer than 7'
    """
    codes = _codes(encode, length)
    distances = codes.distances()
    largest = float(distances.max())
    falls = np.triu(distances[:, :-1] - distances[:, 1:])
    fall = float(falls.max(initial=0.0))
    holds = fall <= codes.rounding
    if holds:
        evidence = "distance never falls with the offset"
    else:
        start, before = _first(falls > codes.rounding)
        evidence = f"from {start}, {before + 1} is nearer than {before}"
    return codes.verdict(holds, fall / largest if largest else 0.0, evidence)


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


class Scorecard(dict[str, dict[str, Verdict]]):
    """``card[encoding][criterion]`` is a :class:`Verdict`.

    Prints as text; shows as an HTML table in a notebook.
    """

    def __str__(self) -> str:
        wide = max([len(name) for name in self], default=0)
        lines = [f"{number} {name}" for number, name in enumerate(CRITERIA, start=1)]
        numbers = " ".join(str(number + 1) for number in range(len(CRITERIA)))
        lines += ["", " " * wide + "  " + numbers]
        for name, row in self.items():
            marks = " ".join(_MARKS[verdict.holds] for verdict in row.values())
            lines.append(f"{name:<{wide}}  {marks}")
        return "\n".join([*lines, "", "+ holds, - does not, ? not measured"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        turned = "writing-mode: vertical-rl; transform: rotate(180deg)"
        heads = "".join(
            f'<th scope="col"><span style="{turned}">{name}</span></th>'
            for name in CRITERIA
        )
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(_CELLS[verdict.holds] for verdict in row.values())
            + "</tr>\n"
            for name, row in self.items()
        )
        return (
            '<table class="dataframe scorecard">\n<thead><tr><th scope="col">code</th>'
            f"{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
        )


_MARKS = {True: "+", False: "-", None: "?"}
_CELLS = {
    True: '<td style="background: rgba(42, 143, 92, 0.25)">yes</td>',
    False: '<td style="background: rgba(200, 100, 27, 0.25)">no</td>',
    None: "<td>?</td>",
}


def scorecard(encodings: Mapping[str, Encode], *, length: int = 512) -> Scorecard:
    """Every criterion for every encoding.

    Parameters
    ----------
    encodings : mapping
        From a name, a string, to a function ``encode(length)`` that returns a table
        of codes, [length, d_model], finite real numbers.
    length : int
        Number of positions to look at, at least 4. Some criteria also ask for twice
        or four times as many. Time grows with its square.

    Returns
    -------
    Scorecard
        ``card[name][criterion]``, with the criteria ``"unique"``, ``"equal norm"``,
        ``"one shift matrix"``, ``"bounded"``, ``"same at every length"``, ``"same
        distance"``, ``"smooth"`` and ``"monotone"``: the functions of this module.
        Where `encode` raises, or returns something else than such a table, the
        verdict says what went wrong, and the other rows are filled all the same.

    Raises
    ------
    TypeError
        If `encodings` does not map strings to callables, or `length` is not an
        integer.
    ValueError
        If `length` is below 4.

    Examples
    --------
    >>> card = scorecard({"counting": lambda n: np.arange(n)[:, np.newaxis]}, length=8)
    >>> card["counting"]["equal norm"].holds
    False
    >>> card["counting"]["equal norm"].evidence
    'norm 0 at 0, norm 7 at 7'
    """
    length = as_integer("length", length, at_least=4)
    if not isinstance(encodings, Mapping):
        raise TypeError(f"encodings must map names to functions, got {encodings!r}")
    for name, encode in encodings.items():
        if not isinstance(name, str):
            raise TypeError(f"the names in encodings must be strings, got {name!r}")
        as_callable(f"encodings[{name!r}]", encode)
    return Scorecard(
        {name: _row(_steady(encode), length) for name, encode in encodings.items()}
    )


def _row(encode: Encode, length: int) -> dict[str, Verdict]:
    return {
        title: _judge(criterion, encode, length)
        for title, criterion in CRITERIA.items()
    }


def _judge(
    criterion: Callable[[Encode, int], Verdict], encode: Encode, length: int
) -> Verdict:
    """The verdict, or what went wrong: the code of a reader may do anything."""
    try:
        return criterion(encode, length)
    except Exception as error:
        evidence = f"{type(error).__name__}: {error}"
        return Verdict(None, float("nan"), evidence, 0, length)


def _steady(encode: Encode) -> Encode:
    """`encode`, held to one width of its codes for one length."""
    widths: dict[int, int] = {}

    def steady(length: int) -> ArrayLike:
        table = as_table(f"encode({length})", encode(length), length)
        width = widths.setdefault(length, table.shape[1])
        if table.shape[1] != width:
            raise ValueError(
                f"encode({length}) must have the same width at every call, "
                f"got {width}, then {table.shape[1]}"
            )
        return table

    return steady


@dataclass(frozen=True)
class _Codes:
    """A table of codes, and by how much its numbers may differ and still be equal.

    In a unit near the largest entry, so that no square overflows or vanishes.
    """

    table: NDArray[np.float64]
    unit: float
    spread: float
    rounding: float

    def distances(self) -> NDArray[np.float64]:
        """The distance between any two codes, exact also where they nearly agree."""
        return np.array(
            [np.linalg.norm(self.table - row, axis=1) for row in self.table]
        )

    def show(self, value: float) -> str:
        """Four digits, and nothing where only rounding is left."""
        return f"{value * self.unit:.4g}" if abs(value) > self.rounding else "0"

    def verdict(self, holds: bool | None, measured: float, evidence: str) -> Verdict:
        """The answer, with the d and n that it is about."""
        length, width = self.table.shape
        return Verdict(holds, float(measured), evidence, width, length)


def _codes(encode: Encode, length: int) -> _Codes:
    entries = _entries(encode, length)
    unit = 2.0 ** np.frexp(np.abs(entries).max())[1]  # a power of two: no rounding
    table = entries / unit
    spread = float(np.linalg.norm(table - table[0], axis=1).max())
    norm = float(np.linalg.norm(table, axis=1).max())
    if 0 < spread < SHARE_OF_SPREAD * norm:
        raise ValueError(
            f"encode({length}) must have codes that differ by a trillionth of their "
            f"norm or more, got {spread / norm:.1e} of it: subtract one code from all"
        )
    rounding = SHARE_OF_SPREAD * spread + SHARE_OF_NORM * norm
    return _Codes(table, float(unit), spread, rounding)


def _entries(encode: Encode, length: int) -> NDArray[np.float64]:
    length = as_integer("length", length, at_least=4)
    as_callable("encode", encode)
    table = as_table(f"encode({length})", encode(length), length)
    largest = float(np.abs(table).max())
    if largest and not 1 / LARGEST_ENTRY <= largest <= LARGEST_ENTRY:
        raise ValueError(
            f"encode({length}) must have a largest entry between "
            f"{1 / LARGEST_ENTRY:g} and {LARGEST_ENTRY:g}, got {largest:g}"
        )
    return table


def _reach(start: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """How far the entries get from `start`; a column that is new began at 0."""
    width = table.shape[1]
    start = np.pad(start, (0, max(width - len(start), 0)))[:width]
    return float(np.abs(table - start).max())


def _first(found: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(index) for index in np.argwhere(found)[0])
