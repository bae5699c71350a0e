"""One call: build a module, say how it was called, run the checks of its kind."""

from collections.abc import Callable, Collection
from typing import Any

from torch import nn

from pe_lib._arguments import as_callable, as_choice, as_integer, short_repr
from pe_lib.check import properties
from pe_lib.check.call import (
    ForeignError,
    MisreadError,
    RefusedError,
    UnaskedError,
    foreign,
    isolated,
)
from pe_lib.check.kinds import READERS, Added, Rotary
from pe_lib.check.reader import ELSE, Reader
from pe_lib.check.relations import RELATIONS, Relation, hold
from pe_lib.check.report import (
    ERROR,
    FAILED,
    OURS,
    PASSED,
    UNCHECKED,
    WARNING,
    Finding,
    Found,
    Report,
)
from pe_lib.check.rotations import told_turns
from pe_lib.check.signature import Maker, axes_of
from pe_lib.check.tables import ignored, told_rows

Make = Callable[[int], nn.Module]


def formula(r: Reader) -> Found:
    """Which formula is it, and is every number accounted for?"""
    if isinstance(r, Added) and "prefix" in r.failed:
        yield UNCHECKED, "its rows depend on the length of the input.", ""
    else:
        yield from told_turns(r) if isinstance(r, Rotary) else told_rows(r)
    for name in ignored(r):
        what = f"Whatever {name} is, the numbers are the same."
        yield WARNING, what, f"Pass {name} on, and put it in the key of any cache."


BATCH = next(row for row in RELATIONS if row.name == "batch")
ROWS = (
    RELATIONS[0],
    properties.x,
    properties.axes,
    *RELATIONS[1:],
    properties.positions,
    properties.finite,
    formula,
    properties.distinct,
    properties.limit,
    properties.gradient,
    properties.dtype,
    properties.device,
    properties.writes,
    properties.widths,
)


def check(
    make: Make | nn.Module,
    *,
    d_model: int,
    kind: str = "added",
    axes: str | None = None,
    positions: str | None = None,
    ignore: Collection[str] = (),
) -> Report:
    """Run a positional encoding module through the checks of its kind.

    Nothing in the module is changed, and no random state.

    Parameters
    ----------
    make : callable, or torch.nn.Module
        From a width to a new module; the width goes to the argument that is called
        d_model, dim or the like, or to the first. What its arguments say by default, or
        functools.partial(Class, base=1000), is meant, and no warning. A module that is
        there already is copied, and checked at its one width.
    d_model : int
        The width; of one head for "rotary".
    kind : "added" or "rotary"
        What forward does: it takes x and returns x plus an encoding; it rotates queries
        and keys, or returns cosines and sines. Of a module that returns a table check
        one that returns x + table(...); biases are not checked.
    axes : str, optional
        The axes of x, "batch length dim" for instance; "batch heads length dim" for
        rotary; "rows columns" instead of length for images. Without it the usual orders
        are tried, and the report says which was taken.
    positions : str, optional
        The name of forward's argument for positions, or for the first one.
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
        If `make` cannot be called, `d_model` is no integer, or `ignore` is one word.
    ValueError
        If `d_model` is below 1, there is no such kind or check, or `axes` are none.

    Examples
    --------
    A module that adds nothing gives every position the same encoding:

    >>> from torch import nn
    >>> report = check(lambda d_model: nn.Identity(), d_model=8)
    >>> report.ok, report.errors[0].check
    (False, 'axes')
    """
    as_callable("make", make)
    d_model = as_integer("d_model", d_model, at_least=1)
    as_choice("kind", kind, tuple(READERS))
    if axes is not None:
        axes_of(axes)
    chosen = names_of_checks(kind, ignore)
    name = getattr(make, "__name__", type(make).__name__)
    with isolated():
        try:
            with foreign():
                maker = Maker.of(make, d_model)
                r = READERS[kind](maker, d_model, axes, positions)
                nature, called = r.nature, r.called
            if nature == "other":
                mixed = hold(BATCH, r)
                if "batch" in chosen and mixed.state == FAILED:
                    return Report(name, kind, d_model, called, None, (mixed,))
                raise RefusedError(
                    "What comes back is no sum of x and its encoding. Check the "
                    f"encoding without what follows it, or another kind. {ELSE}"
                )
            found = run_all(chosen, r)
            name = type(r.first).__name__
            return Report(name, kind, d_model, called, r.recognised, found)
        except MisreadError as flaw:
            found = (Finding("shape", FAILED, ERROR, *flaw.args),)
            return Report(name, kind, d_model, "as it was read", None, found)
        except (ForeignError, RefusedError, UnaskedError) as error:
            return Report(name, kind, d_model, "", None, (not_called(error, d_model),))


def name_of(row: Any) -> str:
    """The name of a check."""
    name: str = row.name if isinstance(row, Relation) else row.__name__
    return name


def names_of_checks(kind: str, ignore: Collection[str] = ()) -> list[str]:
    """The names of the checks of a kind, but for those in `ignore`."""
    if isinstance(ignore, str):
        said = short_repr(ignore)
        raise TypeError(f"ignore must be a collection of names, got {said}")
    for name in ignore:
        as_choice("ignore", name, sorted({name_of(row) for row in ROWS}))
    of_kind = (r for r in ROWS if not isinstance(r, Relation) or kind in r.kinds)
    return [name for name in dict.fromkeys(map(name_of, of_kind)) if name not in ignore]


def run_all(names: list[str], r: Reader) -> tuple[Finding, ...]:
    """What the checks find; of what is random, that alone: all else would follow."""
    found: list[Finding] = []
    for row in ROWS:
        if name_of(row) not in names:
            continue
        if not isinstance(row, Relation) or r.kind in row.kinds:
            found += held(row, r)
        if name_of(row) == "random" and found and found[-1].state == FAILED:
            break
        r.failed |= {f.check for f in found if f.level == ERROR}
    return tuple(settled(found))


def held(row: Any, r: Reader) -> list[Finding]:
    """What a check comes to, whatever the module does in it."""
    name, found = name_of(row), []
    try:
        if isinstance(row, Relation):
            return [hold(row, r)]
        for level, *words in row(r):
            told = (UNCHECKED, "") if level == UNCHECKED else (FAILED, level)
            found.append(Finding(name, *told, *words))
    except (ForeignError, UnaskedError) as error:
        found.append(Finding(name, UNCHECKED, "", f"it raises {error}."))
    except Exception as error:  # of the module's own methods, or of the checker
        raised = ForeignError(error)
        what = f"it raises {raised}." if raised.theirs else f"{OURS} {raised}."
        found.append(Finding(name, UNCHECKED, "", what))
    return found or [Finding(name, PASSED)]


def settled(found: list[Finding]) -> list[Finding]:
    """Of rows of one name what failed, or passed, before what was not asked."""
    told = {f.check for f in found if f.state != UNCHECKED}
    failed = {f.check for f in found if f.state == FAILED}
    kept: list[Finding] = []
    for f in found:
        idle = f.state == UNCHECKED and f.check in told
        if not idle and not (f.state == PASSED and f.check in failed) and f not in kept:
            kept.append(f)
    return kept


def not_called(error: Exception, d_model: int) -> Finding:
    """Why there is nothing to check, and what would help."""
    text, fix = str(error), ""
    if isinstance(error, ForeignError):
        text = f"make({d_model}) raised {error}."
        missing = text.partition("required positional argument")[2].split("'")
        if len(missing) > 1:
            name = missing[1]
            fix = f"Say --arg {name}=VALUE, or make=lambda d: Class(d, {name}=VALUE)."
    return Finding("call", UNCHECKED, "", text, fix)


__all__ = ["check", "names_of_checks"]
