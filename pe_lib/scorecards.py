"""Every criterion for every encoding: one table of verdicts."""

from collections.abc import Callable, Mapping
from html import escape

from numpy.typing import ArrayLike

from pe_lib._arguments import Encode, as_callable, as_integer, as_table, short_repr
from pe_lib.properties import CRITERIA, Verdict

Rows = Mapping[str, dict[str, Verdict]]


class Scorecard(dict[str, dict[str, Verdict]]):
    """``card[encoding][criterion]`` is a :class:`Verdict`.

    Prints as text; shows as an HTML table in a notebook. ``notes`` holds, for some
    rows, the constant on which they depend, or why nothing could be measured.
    """

    def __init__(self, rows: Rows, notes: Mapping[str, str] | None = None) -> None:
        super().__init__(rows)
        self.notes = dict(notes or {})

    def _titles(self) -> list[str]:
        return list(next(iter(self.values()), CRITERIA))

    def __str__(self) -> str:
        wide = max([len(name) for name in self], default=0)
        lines = [
            f"{number} {name}" for number, name in enumerate(self._titles(), start=1)
        ]
        numbers = " ".join(str(number + 1) for number in range(len(self._titles())))
        lines += ["", " " * wide + "  " + numbers]
        for name, row in self.items():
            marks = " ".join(_MARKS[verdict.holds] for verdict in row.values())
            lines.append(
                f"{name:<{wide}}  {marks}  {self.notes.get(name, '')}".rstrip()
            )
        return "\n".join([*lines, "", "+ holds, - does not, ? not measured"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        turned = "writing-mode: vertical-rl; transform: rotate(180deg)"
        heads = "".join(
            f'<th scope="col"><span style="{turned}">{name}</span></th>'
            for name in self._titles()
        )
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}{self._note(name)}</th>'
            + "".join(_CELLS[verdict.holds] for verdict in row.values())
            + "</tr>\n"
            for name, row in self.items()
        )
        return (
            '<table class="dataframe scorecard">\n<thead><tr>'
            f'<th scope="col">encoding</th>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}</tbody>\n</table>"
        )

    def _note(self, name: str) -> str:
        note = self.notes.get(name, "")
        return f"<br><small>{escape(note)}</small>" if note else ""


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
        of encodings, [length, d_model], finite real numbers.
    length : int
        Number of positions to test, at least 4. Some criteria also ask for twice
        or four times as many. Time grows with its square.

    Returns
    -------
    Scorecard
        ``card[name][criterion]``, with the criteria ``"unique"``, ``"equal norm"``,
        ``"one shift matrix"``, ``"bounded"``, ``"same at every length"``, ``"same
        distance"``, ``"smooth"`` and ``"monotone"``: the functions of
        ``pe_lib.properties``.
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
    >>> import numpy as np
    >>> card = scorecard({"counting": lambda n: np.arange(n)[:, np.newaxis]}, length=8)
    >>> card["counting"]["equal norm"].holds
    False
    >>> card["counting"]["equal norm"].evidence
    'norm 0 at 0, norm 7 at 7'
    """
    length = as_integer("length", length, at_least=4)
    if not isinstance(encodings, Mapping):
        raise TypeError(
            f"encodings must map names to functions, got {short_repr(encodings)}"
        )
    for name, encode in encodings.items():
        if not isinstance(name, str):
            raise TypeError(
                f"the names in encodings must be strings, got {short_repr(name)}"
            )
        as_callable(f"encodings[{name!r}]", encode)
    rows = {
        name: _row(_of_one_width(encode), length) for name, encode in encodings.items()
    }
    unknown = {
        name: next(iter(row.values())).evidence
        for name, row in rows.items()
        if all(verdict.holds is None for verdict in row.values())
    }
    return Scorecard(rows, unknown)


def _row(encode: Encode, length: int) -> dict[str, Verdict]:
    return {
        title: _judge(criterion, encode, length)
        for title, criterion in CRITERIA.items()
    }


def _judge(
    criterion: Callable[[Encode, int], Verdict], encode: Encode, length: int
) -> Verdict:
    """The verdict, or what went wrong: the encoding of a reader may do anything."""
    try:
        return criterion(encode, length)
    except Exception as error:
        evidence = f"{type(error).__name__}: {error}"
        return Verdict(None, float("nan"), evidence, 0, length)


def _of_one_width(encode: Encode) -> Encode:
    """`encode`, held to one width of its encodings for one length."""
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
