"""One call: build a module, say how it was called, run the checks of its kind."""

from collections.abc import Callable, Collection
from typing import Any

from torch import nn

from pe_lib._arguments import as_callable, as_choice, as_integer, short_repr
from pe_lib.check import properties
from pe_lib.check.call import ForeignError, OwnError, RefusedError, foreign, isolated
from pe_lib.check.kinds import READERS
from pe_lib.check.reader import Maker, Reader
from pe_lib.check.relations import RELATIONS, Relation, hold
from pe_lib.check.report import ERROR, FAILED, PASSED, UNCHECKED, Finding, Report

Make = Callable[[int], nn.Module]


def name_of(row: Any) -> str:
    return str(row.name if isinstance(row, Relation) else row.__name__)


ROWS = (
    RELATIONS[0],
    properties.x,
    properties.axes,
    properties.generators,
    *RELATIONS[1:],
    properties.finite,
    properties.formula,
    properties.distinct,
    properties.limit,
    properties.gradient,
    properties.dtype,
    properties.device,
    properties.writes,
    properties.widths,
)
EARLIER = {  # from what is wrong with these all that a check would say may follow
    "batch": {"axes"},
    "formula": {"axes", "batch", "prefix"},
    "distinct": {"finite"},
    "widths": {*map(name_of, ROWS)},
}


def check(
    make: Make | nn.Module,
    *,
    d_model: int,
    kind: str = "added",
    offset: str | None = None,
    positions: str | None = None,
    ignore: Collection[str] = (),
) -> Report:
    """Run a positional encoding module through the checks of its kind.

    Nothing in the module is changed, and no random state. One that is called in another
    way (length first, cosines and sines that come back, a mask, a table in place of a
    sum) is checked in a wrapper, as below.

    Parameters
    ----------
    make : callable, or torch.nn.Module
        ``make(d_model)`` gives a new module. What its other arguments are by default,
        or in functools.partial(Class, base=1000), is meant, and no warning. A module
        that is there already is copied, and checked at its one width.
    d_model : int
        The width; of one head for "rotary".
    kind : "added" or "rotary"
        What forward does. ``forward(x)`` returns x [batch, length, d_model] plus an
        encoding; or it rotates x, or queries and keys, ``forward(q, k)``, each [batch,
        heads, length, d_model], and returns them in that shape.
    offset, positions : str, optional
        The names of forward's arguments for the position of the first token, an int,
        and for all positions, int64 [batch, length]. What neither names is left as it
        is by default, and the report says so.
    ignore : collection of str
        Names of checks that are left out.

    Returns
    -------
    Report
        ``report.ok``, ``report.errors``, ``report.warnings``, ``report.unchecked``,
        ``report.recognised``; ``print(report)`` prints it. A module that cannot be
        built or called has ``report.ran`` False, and one finding, ``call``, says what
        would help.

    Raises
    ------
    TypeError
        If `make` cannot be called, `d_model` is no integer, `offset` or `positions` no
        name, or `ignore` is one word.
    ValueError
        If `d_model` is below 1, `offset` is `positions`, or there is no such kind or
        check.

    Examples
    --------
    A module that adds nothing gives every position the same encoding:

    >>> from torch import nn
    >>> report = check(lambda d_model: nn.Identity(), d_model=8)
    >>> report.ok, report.errors[0].check
    (False, 'axes')

    What takes the length first is checked in a wrapper:

    >>> from pe_lib.nn import SinusoidalPositionalEncoding
    >>> def length_first(d_model):
    ...     return SinusoidalPositionalEncoding(d_model, batch_first=False)
    >>> check(length_first, d_model=8).errors[0].check
    'axes'
    >>> class Wrapped(nn.Module):
    ...     def __init__(self, d_model):
    ...         super().__init__()
    ...         self.inner = length_first(d_model)
    ...     def forward(self, x):
    ...         return self.inner(x.transpose(0, 1)).transpose(0, 1)
    >>> check(Wrapped, d_model=8).ok
    True
    """
    as_callable("make", make)
    d_model = as_integer("d_model", d_model, at_least=1)
    as_choice("kind", kind, tuple(READERS))
    for argument, word in (("offset", offset), ("positions", positions)):
        if word is not None and not isinstance(word, str):
            said = short_repr(word)
            raise TypeError(f"{argument} must be the name of an argument, got {said}")
    if offset is not None and offset == positions:
        raise ValueError(f"offset and positions must differ, got {offset!r} for both")
    chosen = names_of_checks(ignore)
    name = getattr(make, "__name__", type(make).__name__)
    with isolated():
        try:
            with foreign(ours=True):
                maker = Maker.of(make, d_model)
                r = READERS[kind](maker, d_model, offset, positions)
                nature, called = r.nature, r.called
            if nature == "other":
                first = [n for n in chosen if n in ("state", "batch")]
                if broken := [f for f in run_all(first, r) if f.level == ERROR]:
                    return Report(name, called, None, (broken[0],))
                raise RefusedError(
                    "What comes back is no sum of x and its encoding. Check the "
                    "encoding without what follows it, or another kind."
                )
            found = run_all(chosen, r)
            return Report(type(r.first).__name__, called, r.recognised, found)
        except (ForeignError, OwnError, RefusedError) as error:
            return Report(name, "", None, (not_called(error, d_model),))


def names_of_checks(ignore: Collection[str] = ()) -> list[str]:
    """The names of the checks, but for those in `ignore`."""
    if isinstance(ignore, str) or not isinstance(ignore, Collection):
        said = short_repr(ignore)
        raise TypeError(f"ignore must be a collection of names, got {said}")
    for name in ignore:
        as_choice("ignore", name, sorted(map(name_of, ROWS)))
    return [name for name in map(name_of, ROWS) if name not in ignore]


def run_all(names: list[str], r: Reader) -> tuple[Finding, ...]:
    """What the checks find; after what all else would follow from, no more."""
    found: list[Finding] = []
    for row in (properties.state_dict, *ROWS):
        if name_of(row) not in names:
            continue
        found += held(row, r)
        r.failed |= {f.check for f in found if f.level == ERROR}
        if r.failed & {"state_dict", "random", "shape"}:
            break
    return tuple(sorted(found, key=lambda f: f.check != "writes"))  # that is a cause


def held(row: Any, r: Reader) -> list[Finding]:
    """What a check comes to, whatever the module does in it."""
    name, found = name_of(row), []
    if wrong := sorted(r.failed & EARLIER.get(name, set())):
        why = f"what is wrong with {' and '.join(wrong)} comes first."
        return [Finding(name, UNCHECKED, "", why)]
    try:
        with foreign(ours=True):
            if isinstance(row, Relation):
                return [hold(row, r)]
            for level, *words in row(r):
                told = (UNCHECKED, "") if level == UNCHECKED else (FAILED, level)
                found.append(Finding(name, *told, *words))
    except (ForeignError, OwnError) as error:
        theirs = "it raises " * isinstance(error, ForeignError)
        found.append(Finding(name, UNCHECKED, "", f"{theirs}{error}."))
    return found or [Finding(name, PASSED)]


def not_called(error: Exception, d_model: int) -> Finding:
    """Why there is nothing to check, and what would help."""
    text, fix = str(error), "If it is called in another way, check a wrapper."
    if isinstance(error, OwnError):
        return Finding("call", UNCHECKED, "", f"{text}.")
    if isinstance(error, ForeignError):
        text, fix = f"make({d_model}) raised {error}.", ""
        missing = text.partition("required positional argument")[2].split("'")
        if len(missing) > 1:
            fix = f"make=functools.partial(Class, {missing[1]}=VALUE)."
    return Finding("call", UNCHECKED, "", text, fix)
