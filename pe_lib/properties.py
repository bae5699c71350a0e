"""What a good positional code should have, as tests that return their evidence.

Each criterion takes a function ``encode(length)`` that returns a table of codes,
[length, d_model], and answers with a :class:`Verdict`: does it hold, what was
measured, and the positions that show it. A verdict is about these codes at this
length, no more: it says its d and its n.

Numbers within a billionth of the size of the codes count as equal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_callable, as_integer, as_table

Encode = Callable[[int], ArrayLike]
"""A function from a length to a table of codes, [length, d_model]."""

EQUAL = 1e-9
"""Differences below this share of the size of the codes are rounding."""


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
    table = _table(encode, length)
    distances = _distances(table)
    np.fill_diagonal(distances, np.inf)
    smallest = float(distances.min())
    first, second = _first(distances <= smallest + EQUAL * _size(table))
    holds = smallest > EQUAL * _size(table)
    relation = "are nearest" if holds else "are equal"
    return _verdict(holds, smallest, f"codes {first} and {second} {relation}", table)


def equal_length(encode: Encode, length: int) -> Verdict:
    """All codes, as vectors, are equally long.

    Measured: the longest minus the shortest.

    Examples
    --------
    >>> equal_length(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'length 0 at 0, length 19 at 19'
    """
    table = _table(encode, length)
    norms = np.linalg.norm(table, axis=1)
    shortest, longest = float(norms.min()), float(norms.max())
    slack = EQUAL * longest
    low, high = (
        _first(norms <= shortest + slack)[0],
        _first(norms >= longest - slack)[0],
    )
    holds = longest - shortest <= slack
    if holds:
        evidence = f"every code has length {_number(longest)}"
    else:
        evidence = (
            f"length {_number(shortest)} at {low}, length {_number(longest)} at {high}"
        )
    return _verdict(holds, longest - shortest, evidence, table)


def one_shift_matrix(encode: Encode, length: int) -> Verdict:
    r"""One matrix and one constant move every code to the next: :math:`T P_t + b`.

    Then their powers move every code by 2, 3, ... Attention can apply them: its
    projections have biases. Measured, for the best T and b:

    .. math::

       \frac{\lVert T P_t + b - P_{t+1} \rVert}{\lVert P_{t+1} - \bar P \rVert}

    over all t: 0 if they explain every step, 1 if they do no better than the mean
    code. Holds below 1e-6.

    Examples
    --------
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis], 20).evidence
    'one matrix moves every code on by 1'
    >>> one_shift_matrix(lambda n: np.arange(n)[:, np.newaxis] ** 2, 20).holds
    False
    """
    table = _table(encode, length)
    rows, width = length - 1, table.shape[1]
    if rows <= width + 1:
        raise ValueError(
            f"length must be above d_model + 2 = {width + 2}, got {length}: "
            "so few steps fit almost any table"
        )
    scaled = table / (_size(table) or 1)
    before = np.column_stack([scaled[:-1], np.ones(rows)])
    after = scaled[1:]
    solution = np.linalg.lstsq(before, after, rcond=None)[0]
    misses = np.linalg.norm(before @ solution - after, axis=1)
    spread = np.linalg.norm(after - after.mean(axis=0))
    residual = float(np.linalg.norm(misses) / spread) if spread else 0.0
    holds = residual < 1e-6
    if holds:
        evidence = "one matrix moves every code on by 1"
    else:
        (worst,) = _first(misses >= misses.max() * (1 - 1e-6))
        share = f"{residual:.0%}"
        evidence = f"{share} unexplained, worst from {worst} to {worst + 1}"
    return _verdict(holds, residual, evidence, table)


def bounded(encode: Encode, length: int) -> Verdict:
    """The entries do not grow with the length of the sequence.

    Measured: the largest entry at four times the length, divided by the largest
    at `length`. Holds if below 1.2; no finite test can tell a slower growth.

    Examples
    --------
    >>> bounded(lambda n: np.arange(n)[:, np.newaxis], 21).evidence
    'entries reach 20, later 83'
    """
    table, longer = _table(encode, length), _table(encode, 4 * length)
    before, after = _size(table), _size(longer)
    growth = after / before if before else (np.inf if after else 1.0)
    holds = growth < 1.2
    evidence = f"entries reach {_number(before)}, later {_number(after)}"
    return _verdict(holds, float(growth), evidence, table)


def same_at_every_length(encode: Encode, length: int) -> Verdict:
    """A position has the same code in a sequence of twice the length.

    Measured: the largest change of an entry.

    Examples
    --------
    >>> share = lambda n: np.arange(n)[:, np.newaxis] / (n - 1)
    >>> same_at_every_length(share, 5).evidence
    'code 4 is 1, but 0.4444 at length 10'
    """
    table, longer = _table(encode, length), _table(encode, 2 * length)
    if longer.shape[1] != table.shape[1]:
        evidence = (
            f"codes of {table.shape[1]} numbers, "
            f"but of {longer.shape[1]} at length {2 * length}"
        )
        return _verdict(False, np.inf, evidence, table)
    changes = np.abs(longer[:length] - table)
    largest = float(changes.max())
    holds = largest <= EQUAL * _size(table)
    if holds:
        evidence = f"no code changes at length {2 * length}"
    else:
        row, column = _first(changes >= largest - EQUAL * _size(table))
        evidence = (
            f"code {row} is {_number(table[row, column])}, "
            f"but {_number(longer[row, column])} at length {2 * length}"
        )
    return _verdict(holds, largest, evidence, table)


def same_distance(encode: Encode, length: int) -> Verdict:
    """Two codes are as far apart as any two others with the same offset.

    Measured: over all offsets, the largest difference between two such distances,
    as a share of the largest distance.

    Examples
    --------
    >>> same_distance(lambda n: np.arange(n)[:, np.newaxis] ** 2, 5).evidence
    '0 to 2 is 4, 2 to 4 is 12'
    """
    table = _table(encode, length)
    distances = _distances(table)
    largest = float(distances.max())
    spreads = np.array([np.ptp(distances.diagonal(k)) for k in range(length)])
    spread = float(spreads.max())
    holds = spread <= EQUAL * _size(table)
    if holds:
        evidence = "every offset has one distance"
    else:
        (offset,) = _first(spreads >= spread - EQUAL * largest)
        along = distances.diagonal(offset)
        (near,) = _first(along <= along.min() + EQUAL * largest)
        (far,) = _first(along >= along.max() - EQUAL * largest)
        evidence = (
            f"{near} to {near + offset} is {_number(along[near])}, "
            f"{far} to {far + offset} is {_number(along[far])}"
        )
    return _verdict(holds, spread / largest if largest else 0.0, evidence, table)


def smooth(encode: Encode, length: int) -> Verdict:
    """A neighbour is nearer than a stranger.

    Measured: the largest step from one code to the next, divided by the median
    distance between two codes. Holds below 1.

    Examples
    --------
    >>> smooth(lambda n: np.arange(n)[:, np.newaxis] % 8, 16).evidence
    '7 to 8 is 7, median 2.5'
    """
    table = _table(encode, length)
    distances = _distances(table)
    steps = distances.diagonal(1)
    typical = float(np.median(distances[np.triu_indices(length, k=1)]))
    largest = float(steps.max())
    (at,) = _first(steps >= largest - EQUAL * _size(table))
    ratio = largest / typical if typical else np.inf
    evidence = f"{at} to {at + 1} is {_number(largest)}, median {_number(typical)}"
    return _verdict(ratio < 1, ratio, evidence, table)


def monotone(encode: Encode, length: int) -> Verdict:
    """Looking ahead from any position: the further away, the further its code.

    Measured: the largest fall of the distance from one position to the next, as a
    share of the largest distance.

    Examples
    --------
    >>> monotone(lambda n: np.arange(n)[:, np.newaxis] % 8, 20).evidence
    'from 0, 8 is nearer than 7'
    """
    table = _table(encode, length)
    distances = _distances(table)
    largest = float(distances.max())
    falls = np.triu(distances[:, :-1] - distances[:, 1:])
    fall = float(falls.max(initial=0.0))
    holds = fall <= EQUAL * _size(table)
    if holds:
        evidence = "distance never falls with the offset"
    else:
        start, before = _first(falls > EQUAL * _size(table))
        evidence = f"from {start}, {before + 1} is nearer than {before}"
    return _verdict(holds, fall / largest if largest else 0.0, evidence, table)


CRITERIA: dict[str, Callable[[Encode, int], Verdict]] = {
    criterion.__name__.replace("_", " "): criterion
    for criterion in (
        unique,
        equal_length,
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
        From a name to a function ``encode(length)`` that returns a table of codes,
        [length, d_model], finite real numbers.
    length : int
        Number of positions to look at, at least 4. Some criteria also ask for twice
        or four times as many. Time grows with its square.

    Returns
    -------
    Scorecard
        ``card[name][criterion]``, with the criteria ``"unique"``, ``"equal length"``,
        ``"one shift matrix"``, ``"bounded"``, ``"same at every length"``, ``"same
        distance"``, ``"smooth"`` and ``"monotone"``: the functions of this module.
        Where `encode` raises, or returns something else than such a table, the
        verdict says what went wrong, and the other rows are filled all the same.

    Raises
    ------
    TypeError
        If `encodings` is no mapping to callables, or `length` is not an integer.
    ValueError
        If `length` is below 4.

    Examples
    --------
    >>> card = scorecard({"counting": lambda n: np.arange(n)[:, np.newaxis]}, length=8)
    >>> card["counting"]["equal length"].holds
    False
    >>> card["counting"]["equal length"].evidence
    'length 0 at 0, length 7 at 7'
    """
    length = as_integer("length", length, at_least=4)
    if not isinstance(encodings, Mapping):
        raise TypeError(f"encodings must map names to functions, got {encodings!r}")
    for name, encode in encodings.items():
        as_callable(f"encodings[{name!r}]", encode)
    return Scorecard(
        {
            name: {
                title: _judge(criterion, encode, length)
                for title, criterion in CRITERIA.items()
            }
            for name, encode in encodings.items()
        }
    )


def _judge(
    criterion: Callable[[Encode, int], Verdict], encode: Encode, length: int
) -> Verdict:
    """The verdict, or what went wrong: the code of a reader may do anything."""
    try:
        return criterion(encode, length)
    except Exception as error:
        evidence = f"{type(error).__name__}: {error}"
        return Verdict(None, float("nan"), evidence, 0, length)


def _table(encode: Encode, length: int) -> NDArray[np.float64]:
    length = as_integer("length", length, at_least=4)
    as_callable("encode", encode)
    return as_table(f"encode({length})", encode(length), length)


def _verdict(
    holds: bool, measured: float, evidence: str, table: NDArray[np.float64]
) -> Verdict:
    length, width = table.shape
    return Verdict(bool(holds), measured, evidence, width, length)


def _size(table: NDArray[np.float64]) -> float:
    return float(np.abs(table).max())


def _distances(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance between any two codes, exact also where they nearly agree."""
    return np.array([np.linalg.norm(table - row, axis=1) for row in table])


def _first(found: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(index) for index in np.argwhere(found)[0])


def _number(value: float) -> str:
    """Four digits, and nothing where only rounding is left."""
    return f"{value:.4g}" if abs(value) > 1e-9 else "0"
